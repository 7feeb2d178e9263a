-- NULL for an argument without a default is 22004; NULL for one that has a default means its default.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
-- Calls every function of the interface with NULL for each argument in turn, the others being fine.
CREATE TABLE call (function text, argument text, has_default boolean, call text);
INSERT INTO call
SELECT f.name, a.argument, a.position > f.required,
       format('SELECT %s(%s)', f.name, (SELECT string_agg(CASE WHEN b.argument = a.argument THEN b.argument || ' => NULL'
                                                                 ELSE b.argument || ' => ' || b.value END, ', ' ORDER BY b.position)
                                        FROM unnest(f.arguments, f.fine) WITH ORDINALITY AS b (argument, value, position)
                                        WHERE b.position <= f.required OR b.argument = a.argument))
FROM (VALUES
    ('register_load', 3, array['target', 'source', 'time_column', 'grain', 'zone', 'origin', 'stamp_column', 'loaded_at_column', 'keys',
        'dedup_order_by', 'history_starts', 'settle', 'extra_columns'], array['''fact''', '''src''', '''at''']),
    ('unregister_load', 1, array['target'], array['''fact''']),
    ('register_rule', 2, array['target', 'name', 'filter', 'column_name', 'expression', 'before'], array['''fact''', '''r''']),
    ('unregister_rule', 2, array['target', 'name'], array['''fact''', '''r''']),
    ('mark_stale', 4, array['target', 'interval_start', 'interval_end', 'reason'], array['''fact''', '''2026-09-01''', '''2026-09-02''', '''why''']),
    ('daybook.last_closed', 1, array['target', 'as_of'], array['''fact''']),
    ('daybook.check_load', 1, array['target'], array['''fact''']),
    ('daybook.grain_boundaries', 4, array['grain', 'zone', 'interval_start', 'interval_end', 'origin'],
        array['''1 day''', '''UTC''', '''2026-09-01''', '''2026-09-02'''])) AS f (name, required, arguments, fine),
    unnest(f.arguments) WITH ORDINALITY AS a (argument, position);
CREATE FUNCTION outcome(stmt text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE stmt;
    RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'r', filter => 'true');
-- Of those, register_rule without any expression is refused for another reason.
SELECT function, argument, has_default, outcome(call) FROM call ORDER BY function, has_default, argument;
-- None of them has done anything: no default is ever a silent nothing.
SELECT count(*) FROM daybook.loads;
SELECT count(*) FROM daybook.rules;
SELECT register_load('fact', 'src', 'at', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT * FROM daybook.loads;

SELECT * FROM load_interval(NULL, '2026-09-01'); :sqlstate
SELECT interval_start, status FROM load_interval('fact', '2026-09-01', '2026-09-02', NULL, NULL, as_of => '2026-09-02 00:00+00', allow_open => NULL,
    on_empty => NULL, max_deleted_percent => NULL, dry_run => NULL, on_error => NULL); :sqlstate
-- NULL bounds: from the first recorded interval, to the last closed boundary.
SELECT interval_start, interval_end, status FROM load_interval('fact', NULL, NULL, as_of => '2026-09-03 12:00+00'); :sqlstate
SELECT interval_start, interval_end, status FROM load_interval('fact', NULL, '2026-09-02', as_of => '2026-09-03 12:00+00'); :sqlstate
SELECT interval_start, interval_end, status FROM load_interval('fact', '2026-09-02', NULL, as_of => '2026-09-03 12:00+00'); :sqlstate
-- history_starts comes first.
SELECT register_load('fact', 'src', 'at', history_starts => '2026-08-31');
SELECT interval_start, interval_end, status FROM load_interval('fact', NULL, NULL, as_of => '2026-09-03 12:00+00'); :sqlstate
SELECT * FROM daybook.explain_load(NULL, '2026-09-01', '2026-09-02'); :sqlstate
SELECT step, purpose FROM daybook.explain_load('fact', NULL, NULL, NULL, NULL, '2026-09-03 12:00+00', NULL); :sqlstate
-- NULLs in typed parameters, as drivers send them.
PREPARE load_dates (date, date) AS SELECT interval_start, status FROM load_interval('fact', $1, $2, as_of => '2026-09-03 12:00+00');
EXECUTE load_dates (NULL, NULL);
EXECUTE load_dates ('2026-09-02', NULL);

-- The counters answer only within a run.
SELECT daybook.tally(1, 0, 1, true); :sqlstate
SELECT daybook.tally(NULL, NULL, NULL, NULL); :sqlstate
SELECT daybook.tally_target(0, true, 1, NULL); :sqlstate
SELECT daybook.tally_target(NULL, NULL, NULL, NULL); :sqlstate
