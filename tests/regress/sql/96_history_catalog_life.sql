-- The life of a history in the catalog: renamed, moved, given away, altered by hand, dropped; its views, and the registration that follows or goes.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE SCHEMA dw;
CREATE TABLE src (id integer, qty integer);
INSERT INTO src VALUES (1, 10), (2, 20);
SELECT status FROM historize('src', 'dw.hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
SELECT register_rule('dw.hist', 'all', filter => 'true');
SELECT create_history_views('dw.hist');
CREATE FUNCTION known() RETURNS text LANGUAGE sql AS $$
    SELECT (SELECT coalesce(string_agg(target::text, ' ' ORDER BY target::text), 'no target') FROM daybook.target) || ', ' || (SELECT count(*) FROM daybook.histories) || ' histories, '
        || (SELECT count(*) FROM daybook.rules) || ' rules, ' || (SELECT count(*) FROM daybook.run WHERE target IS NOT NULL) || '/' || (SELECT count(*) FROM daybook.run) || ' runs' $$;
CREATE FUNCTION views() RETURNS TABLE (name text, of text) LANGUAGE sql AS $$
    SELECT c.oid::regclass::text, c.relkind::text FROM pg_class AS c WHERE c.relname LIKE '%\_current'
    UNION ALL SELECT p.oid::regprocedure::text, p.prorettype::regtype::text FROM pg_proc AS p WHERE p.proname LIKE '%\_as\_of' ORDER BY 1 $$;
SELECT known();
SELECT * FROM views();
-- RENAME of the table, of its schema, a move to another schema, RENAME of a column that is a key, and of others.
ALTER TABLE dw.hist RENAME TO renamed;
SELECT status FROM historize('dw.renamed', reference_timestamp => '2026-01-02 00:00+00');
ALTER SCHEMA dw RENAME TO warehouse;
SELECT status FROM historize('warehouse.renamed', reference_timestamp => '2026-01-03 00:00+00');
ALTER TABLE warehouse.renamed SET SCHEMA public;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-04 00:00+00');
SELECT known();
SELECT run_id, target, target_name FROM daybook.runs ORDER BY run_id;
-- Its views keep the names that they had, and show what they showed.
SELECT * FROM views();
SELECT count(*) FROM warehouse.hist_current;
-- Now the history gets a column: views under its present name and place are made, the old ones are no more its own.
ALTER TABLE src ADD COLUMN note text DEFAULT 'x';
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-05 00:00+00'); :sqlstate
SELECT * FROM views();
SELECT count(*) FROM warehouse.hist_current;
DROP VIEW IF EXISTS warehouse.hist_current;
DROP FUNCTION IF EXISTS warehouse.hist_as_of;
SELECT create_history_views('renamed');
SELECT * FROM views();
SELECT id, note FROM renamed_current ORDER BY id;
-- Views that somebody has dropped, one or both, do not stand in the way, nor does a column that the view shows and the source has lost.
DROP VIEW renamed_current;
ALTER TABLE src ADD COLUMN more text DEFAULT 'y';
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-06 00:00+00'); :sqlstate
SELECT * FROM views();
DROP FUNCTION renamed_as_of;
ALTER TABLE src ADD COLUMN again text DEFAULT 'z';
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-07 00:00+00'); :sqlstate
SELECT * FROM views();
ALTER TABLE src DROP COLUMN again;
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-08 00:00+00'); :sqlstate
-- A view over the view: in the way of a column that changes its type, named, and nothing is done; not in the way of a new one.
CREATE VIEW report AS SELECT count(*) AS n, max(qty) AS most FROM renamed_current;
ALTER TABLE src ALTER COLUMN qty TYPE bigint;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-09 00:00+00'); :sqlstate
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'renamed'::regclass AND attname = 'qty';
DROP VIEW report;
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-09 00:00+00'); :sqlstate
CREATE VIEW report AS SELECT count(*) AS n, max(qty) AS most FROM renamed_current;
ALTER TABLE src ADD COLUMN last text;
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-10 00:00+00'); :sqlstate
SELECT * FROM report;
DROP VIEW report;
-- A comment, an owner and grants of the view stay.
COMMENT ON VIEW renamed_current IS 'what is so now';
ALTER TABLE src ADD COLUMN very_last text;
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-11 00:00+00'); :sqlstate
SELECT obj_description('renamed_current'::regclass, 'pg_class');
-- What somebody else has put where its views would go is not replaced, whether a column comes or changes.
\set VERBOSITY sqlstate
BEGIN;
CREATE VIEW other_current AS SELECT v.id, v.qty FROM (VALUES (1, 2::bigint)) AS v (id, qty);
ALTER TABLE renamed RENAME TO other;
ALTER TABLE src ADD COLUMN another text;
SELECT status FROM historize('other', reference_timestamp => '2026-01-12 00:00+00'); :sqlstate
ROLLBACK;
BEGIN;
CREATE VIEW other_current AS SELECT v.id, v.qty FROM (VALUES (1, 2::bigint)) AS v (id, qty);
ALTER TABLE renamed RENAME TO other;
DROP VIEW renamed_current;
ALTER TABLE src ALTER COLUMN qty TYPE numeric;
SELECT status FROM historize('other', reference_timestamp => '2026-01-12 00:00+00'); :sqlstate
ROLLBACK;
\set VERBOSITY default
-- Altered by hand: a column more, one less, an index more, the technical columns under other names.
ALTER TABLE renamed ADD COLUMN mine text DEFAULT 'mine';
CREATE INDEX renamed_note ON renamed (note);
ALTER TABLE renamed DROP COLUMN last CASCADE;
UPDATE src SET qty = 11 WHERE id = 1;
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-12 00:00+00'); :sqlstate
SELECT id, qty, mine FROM renamed WHERE dl_ts_delimited > '9000-01-01' ORDER BY id;
BEGIN;
ALTER TABLE renamed RENAME COLUMN dl_ts_delimited TO valid_to;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-13 00:00+00'); :sqlstate
ROLLBACK;
BEGIN;
ALTER TABLE renamed RENAME COLUMN id TO number;
\set VERBOSITY sqlstate
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-13 00:00+00'); :sqlstate
\set VERBOSITY default
ROLLBACK;
BEGIN;
ALTER TABLE renamed DROP COLUMN dl_ts_captured CASCADE;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-13 00:00+00'); :sqlstate
ROLLBACK;
-- Without the index that allows one current version it goes on; what somebody breaks then is found.
DO $$
DECLARE
    i text;
BEGIN
    FOR i IN SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'renamed'::regclass AND indpred IS NOT NULL LOOP
        EXECUTE 'DROP INDEX ' || i;
    END LOOP;
END $$;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-13 00:00+00'); :sqlstate
INSERT INTO renamed (id, qty, dl_ts_captured, dl_ts_delimited) VALUES (1, 99, '2026-01-12 12:00+00', '9999-12-31 00:00+00');
SELECT problem, key FROM daybook.check_history('renamed');
\set VERBOSITY sqlstate
UPDATE src SET qty = 12 WHERE id = 1;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-14 00:00+00'); :sqlstate
\set VERBOSITY default
DELETE FROM renamed WHERE qty = 99;
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2026-01-14 00:00+00'); :sqlstate
-- Given to another owner, with or without the views: the new one's rights count.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_dh_heir, regress_dh_dropper;
SET client_min_messages = warning;
CREATE ROLE regress_dh_heir;
GRANT CREATE, USAGE ON SCHEMA public TO regress_dh_heir;
ALTER TABLE renamed OWNER TO regress_dh_heir;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-15 00:00+00'); :sqlstate
GRANT SELECT ON src TO regress_dh_heir;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-15 00:00+00'); :sqlstate
ALTER TABLE src ADD COLUMN heir text;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-16 00:00+00'); :sqlstate
ALTER VIEW renamed_current OWNER TO regress_dh_heir;
ALTER FUNCTION renamed_as_of OWNER TO regress_dh_heir;
SELECT status FROM historize('renamed', reference_timestamp => '2026-01-16 00:00+00'); :sqlstate
SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'renamed_current';
ALTER TABLE renamed OWNER TO postgres;
ALTER VIEW renamed_current OWNER TO postgres;
ALTER FUNCTION renamed_as_of OWNER TO postgres;
-- A DROP that is rolled back keeps everything; a DROP takes registration and rules along, the log keeps the name.
BEGIN;
DROP TABLE renamed CASCADE;
SELECT known();
ROLLBACK;
SELECT known();
DROP TABLE renamed; :sqlstate
DROP TABLE renamed CASCADE;
SELECT known();
SELECT * FROM views();
SELECT DISTINCT target, target_name FROM daybook.runs ORDER BY target_name;
-- A new table of the name knows nothing of the old one, its rules and its instants.
SELECT status, versions_opened FROM historize('src', 'renamed', 'id', reference_timestamp => '2020-01-01 00:00+00');
SELECT count(*) FROM daybook.rules;
-- Unregistered: table, rules and views stay, and are taken over again with what they hold.
SELECT create_history_views('renamed');
SELECT register_rule('renamed', 'few', filter => 'id < 2');
SELECT unregister_history('renamed');
SELECT status FROM historize('renamed'); :sqlstate
SELECT unregister_history('renamed'); :sqlstate
SELECT daybook.check_history('renamed'); :sqlstate
SELECT create_history_views('renamed'); :sqlstate
SELECT rewind_history('renamed', '2020-01-01 00:00+00'); :sqlstate
SELECT count(*) FROM renamed_current;
SELECT name FROM daybook.rules;
SELECT status, versions_closed FROM historize('src', 'renamed', 'id', reference_timestamp => '2020-01-02 00:00+00');
SELECT status FROM historize('renamed', reference_timestamp => '2020-01-01 12:00+00'); :sqlstate
-- A table rebuilt and swapped in is another table: the registration stays with the old one.
CREATE TABLE renamed_new (LIKE renamed INCLUDING ALL);
INSERT INTO renamed_new TABLE renamed;
ALTER TABLE renamed RENAME TO renamed_old;
ALTER TABLE renamed_new RENAME TO renamed;
SELECT known();
SELECT status FROM historize('renamed', reference_timestamp => '2020-01-03 00:00+00'); :sqlstate
SELECT status FROM historize('src', 'renamed', 'id', reference_timestamp => '2020-01-03 00:00+00'); :sqlstate
-- The source dropped, and built again under the same name.
DROP TABLE src;
SELECT status FROM historize('renamed', reference_timestamp => '2020-01-04 00:00+00'); :sqlstate
CREATE VIEW src AS SELECT 1 AS id, 5 AS qty;
SELECT status, versions_opened FROM historize('renamed', reference_timestamp => '2020-01-04 00:00+00'); :sqlstate
-- DROP SCHEMA CASCADE, DROP of a partitioned history and of a partition, DROP OWNED by a role without any right on daybook's tables.
CREATE TABLE warehouse.parts (id integer NOT NULL, qty integer, dl_ts_captured timestamptz NOT NULL, dl_ts_delimited timestamptz NOT NULL) PARTITION BY LIST (id);
CREATE TABLE warehouse.part_1 PARTITION OF warehouse.parts FOR VALUES IN (1);
CREATE TABLE warehouse.part_2 PARTITION OF warehouse.parts FOR VALUES IN (2);
ALTER TABLE warehouse.parts ADD PRIMARY KEY (id, dl_ts_captured);
CREATE UNIQUE INDEX ON warehouse.parts (id) WHERE dl_ts_delimited = '9999-12-31 00:00:00+00';
SELECT status, versions_opened FROM historize('src', 'warehouse.parts', 'id', reference_timestamp => '2020-01-01 00:00+00');
SELECT register_history('warehouse.part_1', 'src', 'id'); :sqlstate
DROP TABLE warehouse.part_2;
SELECT known();
DROP SCHEMA warehouse CASCADE;
SELECT known();
CREATE ROLE regress_dh_dropper;
CREATE SCHEMA own AUTHORIZATION regress_dh_dropper;
GRANT SELECT ON src TO regress_dh_dropper;
SET ROLE regress_dh_dropper;
SELECT status FROM historize('src', 'own.hist', 'id');
SELECT create_history_views('own.hist');
DROP TABLE own.hist CASCADE;
SELECT status FROM historize('src', 'own.hist', 'id');
RESET ROLE;
DROP OWNED BY regress_dh_dropper CASCADE;
DROP OWNED BY regress_dh_heir CASCADE;
DROP ROLE regress_dh_dropper, regress_dh_heir;
SELECT known();
DISCARD ALL;
SELECT known();
