-- Foreign tables through postgres_fdw: the window is pushed down to a foreign source; a foreign target and a foreign partition are written through plain SQL.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
-- Where the server comes without postgres_fdw there is nothing to show.
SELECT count(*) = 0 AS no_postgres_fdw FROM pg_available_extensions WHERE name = 'postgres_fdw' \gset
\if :no_postgres_fdw
\echo postgres_fdw is not available on this server
\quit
\endif
CREATE EXTENSION postgres_fdw;
DO $$
BEGIN
    EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
        split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user 'postgres');
CREATE SCHEMA remote;
CREATE TABLE remote.src (id integer, kind text, amount numeric, at timestamptz);
INSERT INTO remote.src SELECT n, chr(97 + n % 3), n, '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 14) AS n;
CREATE FOREIGN TABLE src (id integer, kind text, amount numeric, at timestamptz) SERVER loopback OPTIONS (schema_name 'remote', table_name 'src');
CREATE TABLE fact (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz);

-- A foreign source.
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'no c', filter => $$kind <> 'c'$$);
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT sum(rows_read) AS read, sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00');
-- What the other server was asked: the window is part of it. The statement is the one that a run makes.
CREATE FUNCTION remote_sql(target regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    s record;
    plan text;
BEGIN
    -- The statements that explain_load shows, with their parameters written out; they are planned, not run.
    FOR s IN SELECT * FROM daybook.explain_load(target, '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00') LOOP
        FOR i IN REVERSE 10..1 LOOP
            s.statement := replace(s.statement, '$' || i, CASE
                WHEN i IN (1, 2, 5, 6, 8) THEN quote_literal(s.parameters ->> ('$' || i)) || '::timestamptz'
                WHEN i IN (3, 4) THEN quote_literal(s.parameters ->> ('$' || i)) || '::timestamptz[]'
                ELSE coalesce(s.parameters ->> ('$' || i), 'NULL') END);
        END LOOP;
        FOR plan IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || s.statement LOOP
            IF plan LIKE '%Remote SQL%' THEN
                RETURN NEXT s.purpose || ': ' || ltrim(plan);
            END IF;
        END LOOP;
    END LOOP;
END $$;
SELECT * FROM remote_sql('fact');
-- A partitioned source with a foreign partition.
CREATE TABLE src_parts (id integer, kind text, amount numeric, at timestamptz) PARTITION BY RANGE (at);
CREATE TABLE src_parts_new PARTITION OF src_parts FOR VALUES FROM ('2026-09-03 00:00+00') TO (MAXVALUE);
CREATE FOREIGN TABLE src_parts_old PARTITION OF src_parts FOR VALUES FROM (MINVALUE) TO ('2026-09-03 00:00+00') SERVER loopback OPTIONS (schema_name 'remote', table_name 'src_old');
CREATE TABLE remote.src_old AS SELECT * FROM remote.src WHERE at < '2026-09-03 00:00+00';
INSERT INTO src_parts_new SELECT * FROM remote.src WHERE at >= '2026-09-03 00:00+00';
SELECT register_load('fact', 'src_parts', 'at');
SELECT interval_start, rows_read, rows_dropped, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00') ORDER BY 1;

-- A foreign target: delete by range, insert; counts and refusals are the same.
CREATE TABLE remote.fact (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz, loaded_at timestamptz);
CREATE FOREIGN TABLE far (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz, loaded_at timestamptz) SERVER loopback OPTIONS (schema_name 'remote', table_name 'fact');
SELECT register_load('far', 'src_parts', 'at', keys => 'id');
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted FROM load_interval('far', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted FROM load_interval('far', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT id, kind, interval_start, loaded_at IS NOT NULL AS loaded FROM remote.fact ORDER BY id;
SELECT * FROM daybook.check_load('far');
INSERT INTO remote.fact VALUES (99, 'x', 1, '2026-08-01 00:00+00', '2026-09-02 00:00+00');
SELECT * FROM load_interval('far', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM daybook.check_load('far');
SELECT count(*) FROM remote.fact;
DELETE FROM remote.fact WHERE id = 99;
SELECT rows_deleted, rows_inserted FROM load_interval('far', '2026-09-01', '2026-09-02', dry_run => true, as_of => '2026-09-09 00:00+00');
SELECT register_load('far', 'src_parts', 'at');
SELECT * FROM remote_sql('far');

-- A foreign partition of a local target.
CREATE TABLE mixed (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz, loaded_at timestamptz) PARTITION BY LIST (kind);
CREATE TABLE mixed_here PARTITION OF mixed DEFAULT;
CREATE TABLE remote.mixed_a (LIKE remote.fact);
CREATE FOREIGN TABLE mixed_there PARTITION OF mixed FOR VALUES IN ('a') SERVER loopback OPTIONS (schema_name 'remote', table_name 'mixed_a');
SELECT register_load('mixed', 'src_parts', 'at');
SELECT interval_start, rows_read, rows_deleted, rows_inserted FROM load_interval('mixed', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT interval_start, rows_read, rows_deleted, rows_inserted FROM load_interval('mixed', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT (SELECT count(*) FROM mixed_here) AS here, (SELECT count(*) FROM remote.mixed_a) AS there, (SELECT count(*) FROM mixed) AS together;
INSERT INTO remote.mixed_a VALUES (99, 'a', 1, '2026-08-01 00:00+00', '2026-09-02 00:00+00');
SELECT * FROM load_interval('mixed', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
-- A trigger there that swallows rows is caught here.
DELETE FROM remote.mixed_a WHERE id = 99;
CREATE FUNCTION remote.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER swallow BEFORE INSERT ON remote.mixed_a FOR EACH ROW EXECUTE FUNCTION remote.swallow();
SELECT * FROM load_interval('mixed', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER swallow ON remote.mixed_a;
CREATE TRIGGER swallow BEFORE DELETE ON remote.mixed_a FOR EACH ROW EXECUTE FUNCTION remote.swallow();
SELECT * FROM load_interval('mixed', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT (SELECT count(*) FROM mixed_here) AS here, (SELECT count(*) FROM remote.mixed_a) AS there;
