-- The log and what is known of each interval: daybook.runs, daybook.interval_log, mark_stale.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
SET client_min_messages = warning;
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'no b', filter => $$kind <> 'b'$$);
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', params => '{"note": "first"}', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-09-02', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00');
SELECT unregister_rule('fact', 'no b');
SELECT count(*) FROM load_interval('fact', '2026-09-02', '2026-09-03', on_empty => 'skip', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-09-04', '2026-09-05', on_empty => 'skip', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-09-01 01:00', '2026-09-05', on_error => 'report', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-09-04', '2026-09-06', on_empty => 'error', on_error => 'report', wide => true, as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-02', dry_run => true, as_of => '2026-09-09 00:00+00');
-- One row for each call that wrote, and for each that failed and reports it; none for a dry run.
\x on
SELECT run_id, target, target_name, function, status, interval_start, interval_end, wide, params, rules_version, rows_read, rows_dropped, rows_deleted, rows_inserted, dropped_by, called_by,
       started_at <= finished_at AS in_order, finished_at - started_at < '1 minute' AS soon, sqlstate, error
FROM daybook.runs ORDER BY run_id;
\x off
SELECT target, interval_start, interval_end, status, rows_read, rows_dropped, rows_deleted, rows_inserted, rules_version, run_id, is_current, stale_since, stale_reason
FROM daybook.interval_log ORDER BY run_id, interval_start;
-- The sums of both agree.
SELECT count(*) AS runs_that_disagree
FROM daybook.runs AS r JOIN (SELECT run_id, sum(rows_read) AS read, sum(rows_dropped) AS dropped, sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM daybook.interval_log GROUP BY 1) AS i USING (run_id)
WHERE (r.rows_read, r.rows_dropped, r.rows_deleted, r.rows_inserted) IS DISTINCT FROM (i.read, i.dropped, i.deleted, i.inserted);
-- What is known of each interval is what its last run left; a failed run changes nothing of it.
SELECT interval_start, interval_end, status, run_id, rules_version, rows_inserted, loaded_at IS NOT NULL AS loaded_at, stale_since FROM daybook.interval_state ORDER BY interval_start;

-- mark_stale: counts what it marks; intervals that were never loaded are none; loading clears the mark.
SELECT mark_stale('fact', '2026-08-01', '2026-09-03', 'the source was mended');
SELECT interval_start, status, stale_since IS NOT NULL AS stale, stale_reason FROM daybook.interval_state ORDER BY interval_start;
SELECT interval_start, run_id, is_current, stale_since IS NOT NULL AS stale, stale_reason FROM daybook.interval_log ORDER BY interval_start, run_id;
SELECT mark_stale('fact', '2026-09-02', '2026-09-03', 'once more');
SELECT mark_stale('fact', '2026-10-01', '2026-10-02', 'nothing there');
SELECT mark_stale('fact', '2026-09-01', '2026-09-05', 'all of it');
SELECT count(*) FROM load_interval('fact', '2026-09-02', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00');
SELECT interval_start, status, stale_reason FROM daybook.interval_state ORDER BY interval_start;
-- A failed run, a rolled back one and a dry one leave the mark.
SELECT status FROM load_interval('fact', '2026-09-04', '2026-09-05', on_empty => 'error', on_error => 'report', as_of => '2026-09-09 00:00+00');
BEGIN;
SELECT status FROM load_interval('fact', '2026-09-04', '2026-09-05', as_of => '2026-09-09 00:00+00');
ROLLBACK;
SELECT status FROM load_interval('fact', '2026-09-04', '2026-09-05', dry_run => true, as_of => '2026-09-09 00:00+00');
SELECT interval_start, status, stale_reason FROM daybook.interval_state WHERE stale_since IS NOT NULL ORDER BY interval_start;
-- Intervals last loaded under other rules than now: the question after a correction.
SELECT register_rule('fact', 'sign', column_name => 'amount', expression => '-amount');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT l.interval_start, l.rules_version = v.version AS up_to_date
FROM daybook.interval_log AS l, (SELECT DISTINCT rules_version AS version FROM load_interval('fact', '2026-09-01', '2026-09-02', dry_run => true, as_of => '2026-09-09 00:00+00')) AS v
WHERE l.is_current ORDER BY l.interval_start;
-- Run numbers go on after the log was emptied.
DELETE FROM daybook.run_interval;
DELETE FROM daybook.run;
SELECT run_id FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT interval_start, status, run_id FROM daybook.interval_state ORDER BY interval_start;
SELECT count(*) FROM load_interval('fact', NULL, '2026-09-02', as_of => '2026-09-09 00:00+00');
