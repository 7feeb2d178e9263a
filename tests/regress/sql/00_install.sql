-- CREATE EXTENSION: where its objects land, what they are marked as, and what it refuses to adopt.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
-- A schema that somebody made first is not adopted.
CREATE SCHEMA daybook;
CREATE EXTENSION daybook; :sqlstate
DROP SCHEMA daybook;
-- Neither is a function of ours in the schema of the verbs.
CREATE FUNCTION unregister_rule(target text, name text) RETURNS void LANGUAGE sql AS 'SELECT';
CREATE EXTENSION daybook; :sqlstate
DROP FUNCTION unregister_rule;
-- One of the same name with other arguments is left alone.
CREATE FUNCTION load_interval(target regclass, interval_start text) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
CREATE EXTENSION daybook; :sqlstate
DROP EXTENSION daybook; :sqlstate
SELECT proname, prosrc FROM pg_proc WHERE proname = 'load_interval' ORDER BY 1;
DROP FUNCTION load_interval;
-- The verbs land in the schema that is named; the rest stays in daybook.
CREATE SCHEMA "Verbs";
CREATE EXTENSION daybook SCHEMA "Verbs";
SELECT p.oid::regproc AS function FROM pg_proc AS p WHERE p.pronamespace = '"Verbs"'::regnamespace ORDER BY p.oid::regproc::text COLLATE "C";
CREATE TABLE src (at timestamptz);
CREATE TABLE fact (at timestamptz, interval_start timestamptz);
SELECT "Verbs".register_load('fact', 'src', 'at');
SELECT interval_start, status FROM "Verbs".load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00');
ALTER EXTENSION daybook SET SCHEMA public; :sqlstate
DROP EXTENSION daybook;
DROP SCHEMA "Verbs";
DROP TABLE src, fact;

CREATE EXTENSION daybook;
SELECT extname, extversion, extrelocatable, extnamespace::regnamespace FROM pg_extension WHERE extname = 'daybook';
SELECT name, superuser, trusted, relocatable, schema, requires FROM pg_available_extension_versions WHERE name = 'daybook';

-- Its objects (servers differ in whether they list array and row types).
SELECT pg_describe_object(classid, objid, objsubid) COLLATE "C" AS object
FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'daybook')
    AND NOT (classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type AS t WHERE t.oid = objid AND (t.typelem <> 0 OR t.typrelid <> 0)))
ORDER BY 1;

-- Every one of them has a comment: members, columns of tables and views.
CREATE VIEW members AS
SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'daybook');
SELECT pg_describe_object(m.classid, m.objid, 0) COLLATE "C" AS without_comment
FROM members AS m
WHERE NOT EXISTS (SELECT FROM pg_description AS d WHERE d.classoid = m.classid AND d.objoid = m.objid AND d.objsubid = 0)
    -- Array types, row types and sequences of identity columns come with what they belong to.
    AND NOT (m.classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type AS t WHERE t.oid = m.objid AND (t.typelem <> 0 OR t.typrelid <> 0)))
    AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = m.objid AND m.classid = 'pg_class'::regclass AND c.relkind IN ('S', 'i', 't'))
ORDER BY 1;
SELECT a.attrelid::regclass AS relation, a.attname AS without_comment
FROM pg_attribute AS a JOIN members AS m ON m.classid = 'pg_class'::regclass AND m.objid = a.attrelid
JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'v')
WHERE a.attnum > 0 AND NOT a.attisdropped AND col_description(a.attrelid, a.attnum) IS NULL
ORDER BY 1, 2;
SELECT count(*) > 100 AS many_columns_have_one
FROM pg_description AS d JOIN members AS m ON m.classid = d.classoid AND m.objid = d.objoid WHERE d.objsubid > 0;

-- Functions: none that writes is STRICT, all that write are volatile and parallel unsafe, and none has a SET clause but the event
-- trigger, which is the only security definer.
SELECT p.oid::regproc AS function, l.lanname AS language,
       CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END AS volatility,
       CASE p.proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END AS parallel,
       p.proisstrict AS strict, p.prosecdef AS definer, p.proconfig AS settings, p.proacl IS NULL AS public
FROM pg_proc AS p JOIN members AS m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid JOIN pg_language AS l ON l.oid = p.prolang
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Tables and their sequences survive pg_dump; their columns hold only types that pg_dump and pg_upgrade carry.
SELECT c.oid::regclass AS relation, c.relkind, c.oid = ANY (e.extconfig) AS dumped
FROM pg_class AS c JOIN members AS m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid, pg_extension AS e
WHERE e.extname = 'daybook' AND c.relkind IN ('r', 'S') ORDER BY c.oid::regclass::text COLLATE "C";
SELECT DISTINCT a.atttypid::regtype AS type
FROM pg_attribute AS a JOIN members AS m ON m.classid = 'pg_class'::regclass AND m.objid = a.attrelid
JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind = 'r'
WHERE a.attnum > 0 ORDER BY 1;

-- The views do not let rows slip through a caller's function, and everyone may read them; nobody may touch the tables.
SELECT c.oid::regclass AS relation, c.reloptions,
       has_table_privilege('public', c.oid, 'SELECT') AS public_reads,
       has_table_privilege('public', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AS public_writes
FROM pg_class AS c JOIN members AS m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
WHERE c.relkind IN ('r', 'v') ORDER BY c.oid::regclass::text COLLATE "C";

-- Settings under daybook.; a misspelt one is refused.
SELECT name, setting, unit, min_val, context, short_desc <> '' AS described FROM pg_settings WHERE name LIKE 'daybook.%' ORDER BY name;
SET daybook.settle_timeout = '1min';
SHOW daybook.settle_timeout;
\set VERBOSITY sqlstate
SET daybook.settle_timeout = -1;
\set VERBOSITY default
SET daybook.setle_timeout = 1; :sqlstate
RESET daybook.settle_timeout;
SHOW daybook.settle_timeout;
