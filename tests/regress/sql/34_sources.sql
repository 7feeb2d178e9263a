-- Sources: tables, partitioned tables, views, materialized views; all are looked up by name at each run.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, at timestamptz);
INSERT INTO src SELECT n, '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 14) AS n;
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
CREATE FUNCTION loaded() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(to_char(day, 'DD') || ':' || ids, ' ' ORDER BY day)
    FROM (SELECT interval_start AS day, string_agg(id::text, ',' ORDER BY id) AS ids FROM fact GROUP BY 1) AS d $$;
CREATE FUNCTION run(wide boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
    SELECT 'read ' || sum(rows_read) || ', deleted ' || sum(rows_deleted) || ', inserted ' || sum(rows_inserted)
    FROM load_interval('fact', '2026-09-01', '2026-09-03', wide, as_of => '2026-09-09 00:00+00') $$;
-- A partitioned table, by time and by something else.
CREATE TABLE src_parts (LIKE src) PARTITION BY RANGE (at);
CREATE TABLE src_parts_1 PARTITION OF src_parts FOR VALUES FROM (MINVALUE) TO ('2026-09-02 00:00+00') PARTITION BY HASH (id);
CREATE TABLE src_parts_1a PARTITION OF src_parts_1 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE src_parts_1b PARTITION OF src_parts_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE src_parts_2 PARTITION OF src_parts DEFAULT;
INSERT INTO src_parts SELECT * FROM src;
SELECT register_load('fact', 'src_parts', 'at');
SELECT run(), run(true), loaded();
-- A partition leaf, as a source of its own.
SELECT register_load('fact', 'src_parts_1a', 'at');
SELECT run(), run(true), (SELECT count(*) FROM src_parts_1a) AS rows_there;
-- An inheritance parent brings its children.
CREATE TABLE src_parent (LIKE src);
CREATE TABLE src_child () INHERITS (src_parent);
INSERT INTO src_child SELECT * FROM src;
SELECT register_load('fact', 'src_parent', 'at');
SELECT run(), loaded();
-- A view with a join, an aggregate and a union; the window reaches its tables.
CREATE VIEW src_view AS
    SELECT a.id + b.id - b.id AS id, a.at FROM src AS a JOIN src AS b ON b.id = a.id
    UNION ALL SELECT 1000 + max(id), at FROM src GROUP BY at;
SELECT register_load('fact', 'src_view', 'at');
SELECT run(), run(true), loaded();
-- A materialized view gives what it held when it was refreshed.
CREATE MATERIALIZED VIEW src_mat AS SELECT * FROM src WHERE id < 3;
SELECT register_load('fact', 'src_mat', 'at');
SELECT run(), loaded();
INSERT INTO src VALUES (-1, '2026-09-01 00:00+00');
SELECT run(), loaded();
REFRESH MATERIALIZED VIEW src_mat;
SELECT run(), loaded();
DELETE FROM src WHERE id = -1;

-- The source is kept by name. Rebuilt by a swap, as dbt does it, it goes on working, and the old table is not read.
SELECT register_load('fact', 'src', 'at');
SELECT run(), loaded();
CREATE TABLE src__dbt_tmp AS SELECT id + 100 AS id, at FROM src;
BEGIN;
ALTER TABLE src RENAME TO src__dbt_backup;
ALTER TABLE src__dbt_tmp RENAME TO src;
COMMIT;
SELECT run(), loaded();
DROP TABLE src__dbt_backup CASCADE;
SELECT run(), loaded();
-- Dropped and created again, as a view this time.
ALTER TABLE src RENAME TO base;
CREATE VIEW src AS SELECT id - 100 AS id, at FROM base;
SELECT run(), loaded();
-- Gone, it is an error; back, all is well.
DROP VIEW src;
SELECT run(); :sqlstate
SELECT * FROM daybook.check_load('fact'); :sqlstate
CREATE VIEW src AS SELECT id - 100 AS id, at FROM base;
SELECT run(), loaded();
-- Rebuilt in another schema it is another source, even if that comes first on the path.
CREATE SCHEMA other;
CREATE TABLE other.src AS SELECT 7 AS id, '2026-09-01 00:00+00'::timestamptz AS at;
SET search_path = other, public;
SELECT public.run(), public.loaded();
RESET search_path;
-- Rebuilt with another column order it fits; with another type it does not.
DROP VIEW src;
CREATE TABLE src AS SELECT at, id FROM base;
SELECT run(), loaded();
ALTER TABLE src ALTER COLUMN id TYPE bigint;
SELECT run(); :sqlstate
DROP TABLE src;
-- The window reaches an index below a view, and prunes partitions.
CREATE TABLE events (id integer, at timestamptz);
CREATE INDEX events_at ON events (at);
INSERT INTO events SELECT n, '2026-09-01 00:00+00'::timestamptz + n * interval '1 minute' FROM generate_series(0, 20000) AS n;
ANALYZE events;
CREATE VIEW src AS SELECT id, at FROM events WHERE id >= 0;
SELECT pg_stat_force_next_flush() \g /dev/null
CREATE TABLE scans AS SELECT relname, seq_scan, coalesce(idx_scan, 0) AS idx_scan FROM pg_stat_user_tables;
SELECT sum(rows_read) FROM load_interval('fact', '2026-09-03', '2026-09-04', as_of => '2026-10-09 00:00+00');
SELECT register_load('fact', 'src_parts', 'at');
SELECT sum(rows_read) FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-10-09 00:00+00');
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT t.relname, t.seq_scan > s.seq_scan AS read_whole, t.idx_scan > s.idx_scan AS by_index
FROM pg_stat_user_tables AS t JOIN scans AS s USING (relname)
WHERE relname IN ('events', 'src_parts_1a', 'src_parts_1b', 'src_parts_2') ORDER BY relname;
