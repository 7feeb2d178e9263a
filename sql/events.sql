-- A dropped target takes its registrations along; the log keeps the name it had.

CREATE FUNCTION daybook.forget_dropped() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    dropped oid[];
BEGIN
    -- DROP EXTENSION daybook takes the tables below with it and fires this trigger once more on the way.
    IF to_regclass('daybook.target') IS NULL THEN
        RETURN;
    END IF;
    SELECT array_agg(d.objid) INTO dropped
    FROM pg_event_trigger_dropped_objects() AS d
    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0
      AND d.object_type IN ('table', 'foreign table');
    IF dropped IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM daybook.rule AS r WHERE r.target = ANY (dropped::regclass[]);
    DELETE FROM daybook.load AS l WHERE l.target = ANY (dropped::regclass[]);
    DELETE FROM daybook.history AS h WHERE h.target = ANY (dropped::regclass[]);
    DELETE FROM daybook.target AS t WHERE t.target = ANY (dropped::regclass[]);
    DELETE FROM daybook.interval_state AS s WHERE s.target = ANY (dropped::regclass[]);
    UPDATE daybook.run AS r SET target = NULL WHERE r.target = ANY (dropped::regclass[]);
END
$$;
COMMENT ON FUNCTION daybook.forget_dropped() IS 'Event trigger: forgets what is registered for a dropped relation';

CREATE EVENT TRIGGER daybook_forget_dropped ON sql_drop EXECUTE FUNCTION daybook.forget_dropped();
COMMENT ON EVENT TRIGGER daybook_forget_dropped IS 'Forgets what is registered for a dropped relation';
