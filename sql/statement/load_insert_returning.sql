-- Added to load_insert where a BEFORE trigger could have changed the row: counts what was really written, and reports a row
-- whose time or stamp the trigger has moved out of its grain interval.
-- $3 bounds in the type of the time column; $4 stamps; $7 the number of the run.
RETURNING daybook.tally_target(
    $7, true, pg_catalog.width_bucket(target.{time}, $3),
    CASE WHEN target.{stamp} OPERATOR(pg_catalog.=) ($4)[pg_catalog.width_bucket(target.{time}, $3)] THEN NULL
         ELSE pg_catalog.format('%s stamped %s', coalesce(target.{time}::pg_catalog.text, 'no time'), target.{stamp}) END)
