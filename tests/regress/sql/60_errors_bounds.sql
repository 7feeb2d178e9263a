-- Refused bounds: each with its SQLSTATE, message, DETAIL and HINT. Nothing is touched.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
SELECT register_load('fact', 'src', time_column => 'at');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
CREATE TABLE before AS SELECT * FROM fact;

-- Off the grain, one end at a time; the hint gives the nearest that fit.
SELECT * FROM load_interval('fact', '2026-09-01 06:00', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02 18:30:15.5', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01 00:00+02', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', timestamptz '2026-09-01 00:00:00.000001+00', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate

-- from >= to.
SELECT * FROM load_interval('fact', '2026-09-02', '2026-09-01', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-02', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-03', as_of => '2026-09-03 05:00+00'); :sqlstate

-- Open.
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-02 23:59:59.999999+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-02 00:00+00', dry_run => true); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2099-01-01', as_of => '2026-09-02 12:00+00', wide => true); :sqlstate
-- One microsecond decides.
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00', dry_run => true);

-- Infinite.
SELECT * FROM load_interval('fact', 'infinity', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '-infinity', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', 'infinity', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', date '-infinity', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', timestamp 'infinity', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', timestamptz 'infinity', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => 'infinity'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '-infinity'); :sqlstate
SELECT daybook.last_closed('fact', 'infinity'); :sqlstate

-- Not a bound.
SELECT * FROM load_interval('fact', '', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', 'last week', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '01.09.2026', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '09/01/2026', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', 'now', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01 06:00 CET', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-02-29', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-13', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '-9999-01-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', 17, '2026-09-03'); :sqlstate

-- The ends of the calendar.
SELECT * FROM load_interval('fact', '+294276-12-31', '+294277-01-01', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '+294276-12-30', '+294276-12-31', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '-4713-11-23', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
-- What Postgres can hold and daybook cannot is refused likewise, whatever type it comes in.
\set VERBOSITY sqlstate
SELECT (date '294276-12-31')::daybook.bound;
SELECT (date '5874897-12-31')::daybook.bound;
SELECT (timestamp '294276-12-31 23:59:59')::daybook.bound;
SELECT (timestamptz '294276-12-31 23:59:59+00')::daybook.bound;
\set VERBOSITY default

-- NULL for the first bound, where nothing says when history starts.
CREATE TABLE fact2 (LIKE fact);
SELECT register_load('fact2', 'src', time_column => 'at');
SELECT * FROM load_interval('fact2', NULL, '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate

-- Where there is nothing to load.
SELECT * FROM load_interval('nowhere', '2026-09-01', '2026-09-03'); :sqlstate
SELECT * FROM load_interval('src', '2026-09-01', '2026-09-03'); :sqlstate
SELECT * FROM load_interval(0, '2026-09-01', '2026-09-03'); :sqlstate
SELECT * FROM load_interval(4000000000::oid, '2026-09-01', '2026-09-03'); :sqlstate
SELECT daybook.last_closed('src'); :sqlstate
SELECT * FROM daybook.explain_load('src', '2026-09-01', '2026-09-03'); :sqlstate
SELECT * FROM daybook.check_load('src'); :sqlstate
SELECT mark_stale('src', '2026-09-01', '2026-09-03', 'why'); :sqlstate

-- Options that are not any.
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_empty => 'delete', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'ignore', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', params => '[1]', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', params => '"x"', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', params => 'null', as_of => '2026-09-03 00:00+00'); :sqlstate
\set VERBOSITY sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', max_deleted_percent => -1, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', max_deleted_percent => 'NaN', as_of => '2026-09-03 00:00+00'); :sqlstate
\set VERBOSITY default

-- mark_stale takes bounds as a load does.
SELECT mark_stale('fact', '2026-09-01 06:00', '2026-09-03', 'why'); :sqlstate
SELECT mark_stale('fact', '2026-09-03', '2026-09-01', 'why'); :sqlstate
SELECT mark_stale('fact', 'infinity', '2026-09-01', 'why'); :sqlstate
-- grain_boundaries too.
SELECT daybook.grain_boundaries('0', 'UTC', '2026-09-01', '2026-09-03'); :sqlstate
SELECT daybook.grain_boundaries('1 month 1 day', 'UTC', '2026-09-01', '2026-09-03'); :sqlstate
SELECT daybook.grain_boundaries('1 day', 'Mars/Olympus', '2026-09-01', '2026-09-03'); :sqlstate
\set VERBOSITY sqlstate
SELECT daybook.grain_boundaries('1 day', 'UTC+3', '2026-09-01', '2026-09-03');
SELECT daybook.grain_boundaries('1 day', '+03', '2026-09-01', '2026-09-03');
\set VERBOSITY default
SELECT daybook.grain_boundaries('1 day', 'UTC', 'yesterday', '2026-09-03'); :sqlstate
SELECT daybook.grain_boundaries('1 day', 'UTC', '2026-09-01', 'infinity'); :sqlstate
SELECT daybook.grain_boundaries('1 day', 'UTC', '2026-09-01', '2026-09-03', 'infinity'); :sqlstate
SELECT daybook.grain_boundaries('1 second', 'UTC', '2000-01-01', '2026-09-03'); :sqlstate

-- All this has changed nothing, and left no trace in the log.
SELECT count(*) AS rows_that_differ FROM ((TABLE fact EXCEPT ALL TABLE before) UNION ALL (TABLE before EXCEPT ALL TABLE fact)) AS d;
SELECT run_id, status, interval_start, interval_end FROM daybook.runs ORDER BY run_id;
SELECT count(*) FROM daybook.interval_state;
