-- on_empty, judged for each grain interval; max_deleted_percent, judged for the run.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, at timestamptz);
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
CREATE PROCEDURE fill() LANGUAGE sql AS $$
    TRUNCATE src, fact;
    INSERT INTO src SELECT n, '2026-09-01 12:00+00'::timestamptz + n % 5 * interval '1 day' FROM generate_series(0, 49) AS n;
    SELECT load_interval('fact', '2026-09-01', '2026-09-06', wide => true, as_of => '2026-09-09 00:00+00');
    DELETE FROM src WHERE at::date IN ('2026-09-02', '2026-09-03', '2026-09-05');
$$;
CREATE FUNCTION days() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(to_char(day, 'DD') || ':' || rows, ' ' ORDER BY day) FROM (SELECT interval_start AS day, count(*) AS rows FROM fact GROUP BY 1) AS d $$;
-- replace: what the source no longer has goes.
CALL fill();
SELECT days();
SELECT interval_start, status, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-06', as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT days();
CALL fill();
SELECT interval_start, status, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-06', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT days();
-- skip: the intervals that are empty stay as they are, the others are loaded.
CALL fill();
SELECT interval_start, status, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-06', on_empty => 'skip', as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT days();
CALL fill();
SELECT interval_start, status, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-06', on_empty => 'skip', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT days();
-- It is what the rules leave that is empty.
SELECT register_rule('fact', 'first', filter => $$at < '2026-09-03'$$);
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-06', on_empty => 'skip', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT days();
SELECT unregister_rule('fact', 'first');
-- A skipped interval is not deleted, so rows in it that no load owns do not fail the run.
UPDATE fact SET at = '2026-09-04 12:00+00' WHERE interval_start = '2026-09-02 00:00+00' AND id = 1;
SELECT interval_start, status, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-04', on_empty => 'skip', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT interval_start FROM load_interval('fact', '2026-09-02', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
-- error: nothing is loaded, not even the intervals before the first empty one.
CALL fill();
UPDATE src SET id = id + 1000;
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-06', on_empty => 'error', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-06', on_empty => 'error', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-06', on_empty => 'error', dry_run => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT days(), count(*) FILTER (WHERE id >= 1000) AS new_rows FROM fact;
SELECT interval_start, status FROM load_interval('fact', '2026-09-04', '2026-09-05', on_empty => 'error', as_of => '2026-09-09 00:00+00'); :sqlstate
-- Statuses in the log and in what is known of each interval.
SELECT i.interval_start, i.status FROM daybook.interval_state AS i ORDER BY 1;
-- An open interval that is skipped says so; a loaded open one is open, even when it is empty.
SELECT interval_start, status FROM load_interval('fact', '2026-09-04', '2026-09-06', on_empty => 'skip', allow_open => true, as_of => '2026-09-04 12:00+00') ORDER BY 1;
SELECT interval_start, status FROM load_interval('fact', '2026-09-04', '2026-09-06', allow_open => true, as_of => '2026-09-04 12:00+00') ORDER BY 1;

-- max_deleted_percent: how much smaller the run may leave the table, in percent of what it deletes.
CALL fill();
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 59.99, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 59.99, wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT days();
-- Exactly so much is allowed.
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 60, as_of => '2026-09-09 00:00+00');
SELECT days();
-- 0 allows growth and equality; nothing to delete is never too much.
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 0, as_of => '2026-09-09 00:00+00');
INSERT INTO src VALUES (99, '2026-09-01 12:00+00');
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 0, as_of => '2026-09-09 00:00+00');
TRUNCATE fact;
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 0, as_of => '2026-09-09 00:00+00');
-- With everything gone: 100 percent.
TRUNCATE src;
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 99, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 99, on_empty => 'skip', as_of => '2026-09-09 00:00+00') LIMIT 1; :sqlstate
SELECT count(*) FROM fact;
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-06', max_deleted_percent => 100, as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM fact;
