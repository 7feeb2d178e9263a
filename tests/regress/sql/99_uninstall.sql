-- DROP EXTENSION leaves nothing behind, and nothing of the users is touched.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
-- Everything that there is before, by name.
CREATE FUNCTION objects() RETURNS TABLE (object text) LANGUAGE sql AS $$
    SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)'
    UNION ALL SELECT 'relation ' || oid::regclass::text FROM pg_class WHERE relnamespace <> 'pg_catalog'::regnamespace AND relnamespace::regnamespace::text !~ '^(pg_toast|information_schema)'
    UNION ALL SELECT 'function ' || oid::regprocedure::text FROM pg_proc WHERE pronamespace <> 'pg_catalog'::regnamespace
    UNION ALL SELECT 'type ' || oid::regtype::text FROM pg_type WHERE typnamespace <> 'pg_catalog'::regnamespace AND typnamespace::regnamespace::text !~ '^(pg_toast|information_schema)'
    UNION ALL SELECT 'cast ' || castsource::regtype::text || ' ' || casttarget::regtype::text FROM pg_cast
    UNION ALL SELECT 'operator ' || oid::regoperator::text FROM pg_operator WHERE oprnamespace <> 'pg_catalog'::regnamespace
    UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger
    UNION ALL SELECT 'extension ' || extname FROM pg_extension
    UNION ALL SELECT 'trigger ' || tgname || ' on ' || tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'description of ' || classoid::regclass::text || ' ' || count(*) FROM pg_description GROUP BY classoid
    UNION ALL SELECT 'dependencies in ' || classid::regclass::text || ' ' || count(*) FROM pg_depend WHERE classid <> 'pg_class'::regclass GROUP BY classid
    UNION ALL SELECT 'shared dependencies ' || count(*) FROM pg_shdepend WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    UNION ALL SELECT 'default right ' || oid::text FROM pg_default_acl
    UNION ALL SELECT 'initial rights ' || count(*) FROM pg_init_privs
$$;
CREATE TABLE src (id integer, at timestamptz);
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
INSERT INTO src VALUES (1, '2026-09-01 12:00+00'), (2, '2026-09-02 12:00+00');
CREATE TABLE before (object text);
INSERT INTO before SELECT * FROM objects();
CREATE EXTENSION daybook;
SELECT count(*) > 40 AS many_objects FROM objects() AS o WHERE NOT EXISTS (SELECT FROM before AS b WHERE b.object = o.object);
SELECT register_load('fact', 'src', 'at', keys => 'id');
SELECT register_rule('fact', 'r', filter => 'id > 0');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT mark_stale('fact', '2026-09-01', '2026-09-02', 'why');
-- What stands on daybook's objects is named; nothing is dropped behind its back.
CREATE VIEW my_view AS SELECT target FROM daybook.loads;
DROP EXTENSION daybook; :sqlstate
DROP VIEW my_view;
-- Rolled back, all is as before.
BEGIN;
DROP EXTENSION daybook;
ROLLBACK;
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
DROP EXTENSION daybook;
SELECT object AS left_behind FROM objects() EXCEPT SELECT object FROM before ORDER BY 1;
SELECT object AS lost FROM before EXCEPT SELECT object FROM objects() ORDER BY 1;
-- The users' tables are whole, and may be dropped.
SELECT * FROM fact ORDER BY id;
SELECT * FROM src ORDER BY id;
SELECT load_interval('fact', '2026-09-01', '2026-09-02'); :sqlstate
CREATE TABLE later (id integer);
DROP TABLE later, fact;
-- Installed again, it knows nothing of before, and works.
CREATE EXTENSION daybook;
SELECT (SELECT count(*) FROM daybook.target) AS targets, (SELECT count(*) FROM daybook.runs) AS runs;
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
SELECT run_id, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
DROP EXTENSION daybook;
SELECT object AS left_behind FROM objects() EXCEPT SELECT object FROM before ORDER BY 1;
