-- dry_run counts without writing; explain_load shows the statements without running them.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'no b', filter => $$kind <> 'b' or id > 3$$);
SELECT register_rule('fact', 'sign', column_name => 'amount', expression => '-amount');
-- A dry run tells what a run would do, in the same rows.
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', dry_run => true, as_of => '2026-09-09 00:00+00');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', dry_run => true, wide => true, as_of => '2026-09-09 00:00+00');
SELECT count(*) AS rows, (SELECT count(*) FROM daybook.runs) AS runs, (SELECT count(*) FROM daybook.interval_state) AS intervals FROM fact;
SELECT interval_start, rows_read, rows_dropped, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted, run_id FROM load_interval('fact', '2026-09-01', '2026-09-04', dry_run => true, as_of => '2026-09-09 00:00+00');
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted, run_id FROM load_interval('fact', '2026-09-01', '2026-09-04', dry_run => true, wide => true, on_empty => 'skip', as_of => '2026-09-09 00:00+00');
SELECT interval_start, status, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-03', dry_run => true, allow_open => true, as_of => '2026-09-02 12:00+00');
-- The same with keys.
SELECT register_load('fact', 'src', 'at', keys => 'kind', dedup_order_by => 'id');
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-04', dry_run => true, as_of => '2026-09-09 00:00+00');
-- No trigger fires, no sequence moves, no lock on an interval is taken.
CREATE SEQUENCE numbers;
ALTER TABLE fact ADD COLUMN nr bigint DEFAULT nextval('numbers');
SELECT setval('numbers', 100);
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''fired''; END';
CREATE TRIGGER shout BEFORE INSERT OR DELETE ON fact FOR EACH ROW EXECUTE FUNCTION shout();
CREATE TRIGGER shout_statement BEFORE INSERT OR DELETE ON fact FOR EACH STATEMENT EXECUTE FUNCTION shout();
BEGIN;
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', dry_run => true, as_of => '2026-09-09 00:00+00');
SELECT relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('fact'::regclass, 'src'::regclass) ORDER BY relation::regclass::text, mode;
SELECT pg_current_xact_id_if_assigned() IS NULL AS nothing_written;
COMMIT;
SELECT last_value FROM numbers;
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER shout ON fact;
DROP TRIGGER shout_statement ON fact;
ALTER TABLE fact DROP COLUMN nr;
-- What a run would refuse, a dry run refuses.
INSERT INTO fact VALUES (9, 'x', 1, '2026-09-05 00:00+00', '2026-09-01 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', dry_run => true, as_of => '2026-09-09 00:00+00'); :sqlstate
DELETE FROM fact WHERE id = 9;
SELECT status, error, run_id FROM load_interval('fact', '2026-09-01', '2026-09-02', dry_run => true, on_error => 'report', on_empty => 'error', params => '[]', as_of => '2026-09-09 00:00+00');
SELECT status, error, run_id FROM load_interval('fact', '2026-09-05', '2026-09-07', dry_run => true, on_error => 'report', on_empty => 'error', as_of => '2026-09-09 00:00+00');
SELECT count(*) AS failed_runs_logged FROM daybook.runs WHERE status = 'failed';

-- explain_load: the statements of a run, in order, with their parameters.
SELECT register_load('fact', 'src', 'at');
SELECT step, purpose, regexp_match(statement, '^(DELETE FROM|INSERT INTO|SELECT)\M[^(\n]*') AS begins, statement LIKE '%FROM "public"."src"%' AS reads_source, statement LIKE '%kind <> ''b'' or id > 3%' AS filters,
       parameters ->> '$1' AS "$1", parameters ->> '$2' AS "$2"
FROM daybook.explain_load('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00') ORDER BY step;
-- All intervals at once: the bounds of the whole, and each boundary.
SELECT step, parameters ->> '$1' AS "$1", parameters ->> '$2' AS "$2", parameters ->> '$3' AS "$3"
FROM daybook.explain_load('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY step;
-- Where the rows must be known before anything is deleted, they are read once, into a place of their own.
SELECT step, purpose FROM daybook.explain_load('fact', '2026-09-01', '2026-09-03', on_empty => 'skip', as_of => '2026-09-09 00:00+00') ORDER BY step;
SELECT register_load('fact', 'src', 'at', keys => 'id, kind', dedup_order_by => 'amount');
SELECT step, purpose, statement LIKE '%FROM "public"."src"%' AS reads_source, statement ~ 'PARTITION BY [^)]*"id", [^)]*"kind" ORDER BY\s+amount' AS chooses
FROM daybook.explain_load('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00') ORDER BY step;
-- It plans open intervals and bad bounds as a run would, and writes nothing.
SELECT count(*) FROM daybook.explain_load('fact', '2026-09-01', '2099-01-01', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM daybook.explain_load('fact', '2026-09-01 06:00', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT count(*) FROM daybook.explain_load('fact', '2026-09-03', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT count(*) FROM daybook.explain_load('fact', '2026-09-01', '2026-09-03', on_empty => 'x', as_of => '2026-09-09 00:00+00'); :sqlstate
BEGIN;
SELECT count(*) FROM daybook.explain_load('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT pg_current_xact_id_if_assigned() IS NULL AS nothing_written;
COMMIT;
SELECT count(*) AS runs FROM daybook.runs;
