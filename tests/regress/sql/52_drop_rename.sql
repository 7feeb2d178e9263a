-- DROP and RENAME of a target and its source: registrations follow, and go with the table.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE SCHEMA dw;
CREATE TABLE src (id integer, at timestamptz);
INSERT INTO src SELECT n, '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 8) AS n;
CREATE TABLE dw.fact (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('dw.fact', 'src', 'at', keys => 'id');
SELECT register_rule('dw.fact', 'r', filter => 'id >= 0');
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
CREATE FUNCTION known() RETURNS text LANGUAGE sql AS $$
    SELECT (SELECT coalesce(string_agg(target::text, ' ' ORDER BY target::text), 'no target') FROM daybook.target) || ', ' || (SELECT count(*) FROM daybook.loads) || ' loads, '
        || (SELECT count(*) FROM daybook.rules) || ' rules, ' || (SELECT count(*) FROM daybook.interval_state) || ' intervals, '
        || (SELECT count(*) FROM daybook.run WHERE target IS NOT NULL) || '/' || (SELECT count(*) FROM daybook.run) || ' runs' $$;
SELECT known();
-- RENAME of the table, of its schema, and a move to another schema.
ALTER TABLE dw.fact RENAME TO renamed;
SELECT known();
SELECT rows_deleted, rows_inserted FROM load_interval('dw.renamed', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
ALTER SCHEMA dw RENAME TO warehouse;
SELECT rows_deleted, rows_inserted FROM load_interval('warehouse.renamed', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
ALTER TABLE warehouse.renamed SET SCHEMA public;
SELECT rows_deleted, rows_inserted FROM load_interval('renamed', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT known();
SELECT run_id, target, target_name FROM daybook.runs ORDER BY run_id;
-- Columns that are renamed on both sides need the registration to say so.
ALTER TABLE renamed RENAME COLUMN at TO happened;
ALTER TABLE src RENAME COLUMN at TO happened;
SELECT * FROM load_interval('renamed', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
ALTER TABLE renamed RENAME COLUMN happened TO at;
ALTER TABLE src RENAME COLUMN happened TO at;
-- Another table under the old name is another table.
CREATE SCHEMA dw;
CREATE TABLE dw.fact (LIKE renamed);
SELECT * FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
-- TRUNCATE, ALTER and column drops do not touch the registration.
ALTER TABLE renamed ADD COLUMN more text;
ALTER TABLE renamed DROP COLUMN more;
CREATE INDEX renamed_at ON renamed (at);
DROP INDEX renamed_at;
TRUNCATE renamed;
SELECT known();
-- A DROP that is rolled back keeps everything.
BEGIN;
DROP TABLE renamed;
SELECT known();
ROLLBACK;
SELECT known();
SELECT rows_deleted, rows_inserted FROM load_interval('renamed', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
BEGIN;
SAVEPOINT s;
DROP TABLE renamed;
ROLLBACK TO s;
COMMIT;
SELECT known();
-- DROP takes registration, rules and intervals along; the log keeps the name.
DROP TABLE renamed;
SELECT known();
SELECT run_id, target, target_name FROM daybook.runs ORDER BY run_id;
-- A new table of the same name knows nothing of the old one.
CREATE TABLE renamed (id integer, at timestamptz, interval_start timestamptz);
SELECT * FROM load_interval('renamed', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT register_load('renamed', 'src', 'at');
SELECT name FROM daybook.rules;
SELECT count(*) FROM load_interval('renamed', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
-- DROP SCHEMA CASCADE, DROP of a partitioned table, of a partition, of a foreign key's owner, CREATE TABLE AS in between.
CREATE TABLE dw.parts (id integer, at timestamptz, interval_start timestamptz) PARTITION BY RANGE (at);
CREATE TABLE dw.part_1 PARTITION OF dw.parts DEFAULT;
SELECT register_load('dw.parts', 'src', 'at');
SELECT register_load('dw.fact', 'src', 'at');
SELECT known();
DROP TABLE dw.part_1;
SELECT known();
DROP SCHEMA dw CASCADE;
SELECT known();
CREATE TABLE parts (id integer, at timestamptz, interval_start timestamptz) PARTITION BY RANGE (at);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
SELECT register_load('part_1', 'src', 'at');
DROP TABLE parts;
SELECT known();
-- A role without any right on daybook's tables may drop his own: registered ones, and others.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_daybook_dropper;
SET client_min_messages = warning;
CREATE ROLE regress_daybook_dropper;
CREATE SCHEMA own AUTHORIZATION regress_daybook_dropper;
GRANT SELECT ON src TO regress_daybook_dropper;
SET ROLE regress_daybook_dropper;
CREATE TABLE own.fact (id integer, at timestamptz, interval_start timestamptz);
CREATE TABLE own.other (id integer);
CREATE VIEW own.view AS SELECT * FROM own.fact;
CREATE TEMP TABLE scratch (id integer);
SELECT register_load('own.fact', 'src', 'at');
DROP TABLE own.other, scratch;
DROP VIEW own.view;
RESET ROLE;
SELECT known();
SET ROLE regress_daybook_dropper;
SET search_path = own;
DROP TABLE fact;
RESET search_path;
RESET ROLE;
SELECT known();
SET ROLE regress_daybook_dropper;
CREATE TABLE own.fact (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('own.fact', 'src', 'at');
RESET ROLE;
DROP OWNED BY regress_daybook_dropper CASCADE;
SELECT known();
DROP ROLE regress_daybook_dropper;
-- A table rebuilt and swapped in as the target is another table: the registration stays with the old one.
CREATE TABLE renamed_new (LIKE renamed INCLUDING ALL);
ALTER TABLE renamed RENAME TO renamed_old;
ALTER TABLE renamed_new RENAME TO renamed;
SELECT known();
-- DROP of the source is no matter until the next run.
DROP TABLE src;
SELECT known();
SELECT * FROM load_interval('renamed_old', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
-- DISCARD, REASSIGN and the like leave the registration.
DISCARD ALL;
SELECT known();
