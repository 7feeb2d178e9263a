-- Relations that cannot be source or target, and what makes a target unsafe: each with its SQLSTATE, message, DETAIL and HINT.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small

-- Kinds that cannot be a target.
CREATE VIEW a_view AS SELECT * FROM fact;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM fact;
CREATE SEQUENCE a_sequence;
CREATE INDEX an_index ON fact (at);
CREATE TYPE a_type AS (id integer);
SELECT register_load('a_view', 'src', 'at'); :sqlstate
SELECT register_load('a_matview', 'src', 'at'); :sqlstate
SELECT register_load('a_sequence', 'src', 'at'); :sqlstate
SELECT register_load('an_index', 'src', 'at'); :sqlstate
SELECT register_load('a_type', 'src', 'at'); :sqlstate
SELECT register_load('pg_class', 'src', 'at'); :sqlstate
-- Kinds that cannot be a source.
SELECT register_load('fact', 'a_sequence', 'at'); :sqlstate
SELECT register_load('fact', 'an_index', 'at'); :sqlstate
SELECT register_load('fact', 'a_type', 'at'); :sqlstate
SELECT register_load('fact', 'fact', 'at'); :sqlstate
-- (the name of the schema differs from session to session)
\set VERBOSITY sqlstate
CREATE TEMP TABLE temp_src (LIKE src);
SELECT register_load('fact', 'temp_src', 'at'); :sqlstate
CREATE TEMP VIEW temp_view AS SELECT * FROM src;
SELECT register_load('fact', 'temp_view', 'at'); :sqlstate
\set VERBOSITY default
DROP VIEW temp_view;

-- Temporary and unlogged targets.
CREATE TEMP TABLE temp_fact (LIKE fact);
\set VERBOSITY sqlstate
SELECT register_load('temp_fact', 'src', 'at'); :sqlstate
\set VERBOSITY default
CREATE UNLOGGED TABLE unlogged_fact (LIKE fact);
SELECT register_load('unlogged_fact', 'src', 'at'); :sqlstate
-- Inheritance parents.
CREATE TABLE parent (LIKE fact);
CREATE TABLE child () INHERITS (parent);
SELECT register_load('parent', 'src', 'at'); :sqlstate
SELECT register_load('child', 'src', 'at'); :sqlstate
-- Rewrite rules.
CREATE TABLE ruled (LIKE fact);
CREATE RULE keep AS ON DELETE TO ruled DO INSTEAD NOTHING;
CREATE RULE also AS ON INSERT TO ruled DO ALSO NOTIFY something;
SELECT register_load('ruled', 'src', 'at'); :sqlstate

-- Foreign keys that would take other rows along, one for each action; of a partition too.
CREATE TABLE referred (LIKE fact, UNIQUE (id));
CREATE TABLE refers (fact_id integer CONSTRAINT follows REFERENCES referred (id) ON DELETE CASCADE);
SELECT register_load('referred', 'src', 'at'); :sqlstate
ALTER TABLE refers DROP CONSTRAINT follows, ADD CONSTRAINT follows FOREIGN KEY (fact_id) REFERENCES referred (id) ON DELETE SET NULL;
SELECT register_load('referred', 'src', 'at'); :sqlstate
ALTER TABLE refers DROP CONSTRAINT follows, ADD CONSTRAINT follows FOREIGN KEY (fact_id) REFERENCES referred (id) ON DELETE SET DEFAULT;
SELECT register_load('referred', 'src', 'at'); :sqlstate
ALTER TABLE refers DROP CONSTRAINT follows, ADD CONSTRAINT follows FOREIGN KEY (fact_id) REFERENCES referred (id) ON DELETE NO ACTION;
SELECT register_load('referred', 'src', 'at'); :sqlstate
CREATE TABLE parts (LIKE fact, UNIQUE (id)) PARTITION BY LIST (id);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE refers_part (fact_id integer CONSTRAINT follows_part REFERENCES part (id) ON DELETE CASCADE);
SELECT register_load('parts', 'src', 'at'); :sqlstate
SELECT register_load('part', 'src', 'at'); :sqlstate

-- Row security: forced on an owner who does not bypass it.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_daybook_owner;
SET client_min_messages = notice;
CREATE ROLE regress_daybook_owner;
CREATE TABLE secured (LIKE fact);
ALTER TABLE secured OWNER TO regress_daybook_owner;
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON src TO regress_daybook_owner;
-- Enabled alone, it does not touch the owner.
SELECT register_load('secured', 'src', 'at'); :sqlstate
ALTER TABLE secured FORCE ROW LEVEL SECURITY;
SELECT register_load('secured', 'src', 'at'); :sqlstate
SELECT * FROM load_interval('secured', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate

DROP MATERIALIZED VIEW a_matview;
DROP VIEW a_view;

-- What becomes unsafe after registration is refused by the next run.
SELECT register_load('fact', 'src', 'at');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
ALTER TABLE fact ADD UNIQUE (id);
CREATE TABLE refers_fact (fact_id integer CONSTRAINT follows_fact REFERENCES fact (id) ON DELETE CASCADE);
INSERT INTO refers_fact VALUES (1), (2);
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT count(*) FROM refers_fact;
DROP TABLE refers_fact;
CREATE RULE nothing AS ON DELETE TO fact DO INSTEAD NOTHING;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
DROP RULE nothing ON fact;
ALTER TABLE fact SET UNLOGGED;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
ALTER TABLE fact SET LOGGED;
CREATE TABLE late_child () INHERITS (fact);
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
DROP TABLE late_child;
-- What changes in the columns on either side is refused too.
ALTER TABLE fact RENAME COLUMN kind TO sort;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
ALTER TABLE fact RENAME COLUMN sort TO kind;
ALTER TABLE fact RENAME COLUMN interval_start TO stamp;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
ALTER TABLE fact RENAME COLUMN stamp TO interval_start;
ALTER TABLE src ADD COLUMN note text;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
ALTER TABLE src DROP COLUMN note, ALTER COLUMN amount TYPE text;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
ALTER TABLE src ALTER COLUMN amount TYPE numeric USING amount::numeric, ALTER COLUMN at TYPE timestamp;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
ALTER TABLE src RENAME TO moved;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
CREATE SEQUENCE src;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT id, kind, amount, at, interval_start FROM fact ORDER BY id;
SELECT run_id, status FROM daybook.runs ORDER BY run_id;

-- How intervals are counted cannot change while intervals are loaded.
DROP SEQUENCE src;
ALTER TABLE moved RENAME TO src;
ALTER TABLE src ALTER COLUMN at TYPE timestamptz, ADD COLUMN seen timestamptz;
ALTER TABLE fact ADD COLUMN seen timestamptz, ADD COLUMN stamp timestamptz DEFAULT 'epoch';
SELECT register_load('fact', 'src', 'at', grain => '12 hours'); :sqlstate
SELECT register_load('fact', 'src', 'at', grain => '24 hours'); :sqlstate
SELECT register_load('fact', 'src', 'at', zone => 'Europe/Berlin'); :sqlstate
SELECT register_load('fact', 'src', 'at', origin => '2001-01-01 06:00'); :sqlstate
SELECT register_load('fact', 'src', 'seen'); :sqlstate
ALTER TABLE fact ALTER COLUMN interval_start DROP NOT NULL, ALTER COLUMN interval_start SET DEFAULT 'epoch';
SELECT register_load('fact', 'src', 'at', stamp_column => 'stamp'); :sqlstate
-- The same in other words, and what does not count intervals, can.
SELECT register_load('fact', 'src', 'at', grain => '1 day', zone => 'utc', keys => 'id', settle => '1 hour'); :sqlstate
SELECT target, grain, zone, keys, settle FROM daybook.loads WHERE target = 'fact'::regclass;
-- Unregistered in between, it can: what was recorded is forgotten, with a notice.
SELECT unregister_load('fact');
SELECT register_load('fact', 'src', 'at', grain => '12 hours'); :sqlstate
SELECT count(*) FROM daybook.interval_state;
-- Registered again with the same calendar, nothing is forgotten.
TRUNCATE fact;
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00');
SELECT unregister_load('fact');
SELECT register_load('fact', 'src', 'at', grain => '12 hours');
SELECT count(*) FROM daybook.interval_state;

DROP TABLE secured;
REVOKE ALL ON src FROM regress_daybook_owner;
DROP ROLE regress_daybook_owner;
