-- on_error => report: the work is undone, the error comes back as rows, and the failed run is logged.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
SET client_min_messages = warning;
SELECT register_load('fact', 'src', 'at');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
CREATE TABLE before AS SELECT * FROM fact;
-- Success looks as without it.
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00');
DROP TABLE before;
CREATE TABLE before AS SELECT * FROM fact;
-- Refusals that know their intervals, refusals that do not.
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'report', as_of => '2026-09-02 12:00+00');
SELECT * FROM load_interval('fact', '2026-09-01 06:00', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00');
SELECT * FROM load_interval('fact', 'infinity', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00');
SELECT * FROM load_interval('fact', '2026-08-31', '2026-09-02', on_error => 'report', on_empty => 'error', wide => true, as_of => '2026-09-09 00:00+00');
-- An error of the server, in the middle: what was done before it is undone.
SELECT register_rule('fact', 'divide', column_name => 'amount', expression => 'amount / (id - 3)');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'report', wide => true, as_of => '2026-09-09 00:00+00');
SELECT unregister_rule('fact', 'divide');
SELECT count(*) AS rows_that_differ FROM ((TABLE fact EXCEPT ALL TABLE before) UNION ALL (TABLE before EXCEPT ALL TABLE fact)) AS d;
-- Nothing registered, no such table, a table without rights: the row says so, the log keeps what there is.
CREATE TABLE other (LIKE fact);
SELECT * FROM load_interval('other', '2026-09-01', '2026-09-03', on_error => 'report');
SELECT * FROM load_interval(4000000000::oid, '2026-09-01', '2026-09-03', on_error => 'report');
ALTER TABLE src RENAME TO moved;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00');
ALTER TABLE moved RENAME TO src;
-- What is wrong with the call itself is an error all the same.
SELECT * FROM load_interval(NULL, '2026-09-01', '2026-09-03', on_error => 'report'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'report', on_empty => 'x'); :sqlstate
-- The log, and what is known of the intervals: as the last good run left them.
SELECT run_id, target, target_name, status, interval_start, interval_end, wide, sqlstate, error FROM daybook.runs ORDER BY run_id;
SELECT interval_start, status, run_id FROM daybook.interval_log ORDER BY run_id, interval_start;
SELECT interval_start, status, run_id FROM daybook.interval_state ORDER BY interval_start;
-- In a transaction, the work before and after it stays, and so does the log when it commits; the next run goes on as ever.
BEGIN;
INSERT INTO src VALUES (5, 'a', 50, '2026-09-02 20:00+00');
SELECT status, error FROM load_interval('fact', '2026-09-01 06:00', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00');
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-09 00:00+00');
COMMIT;
SELECT count(*) FROM fact;
SELECT count(*) FROM daybook.runs WHERE status = 'failed';
-- Many in one transaction.
DO $$
BEGIN
    FOR i IN 1..300 LOOP
        PERFORM load_interval('fact', '2026-09-01 06:00', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00');
    END LOOP;
END $$;
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM daybook.runs WHERE status = 'failed';
-- A caller without rights is told so, and cannot fill the log of a table that is not his.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_daybook_stranger;
SET client_min_messages = warning;
CREATE ROLE regress_daybook_stranger;
SET ROLE regress_daybook_stranger;
SELECT DISTINCT status, error FROM load_interval('fact', '2026-09-01', '2026-09-03', on_error => 'report', as_of => '2026-09-09 00:00+00'); :sqlstate
RESET ROLE;
SELECT count(*) FROM daybook.runs WHERE called_by = 'regress_daybook_stranger';
DROP ROLE regress_daybook_stranger;
