-- Objects that somebody put first on the path, or into the temporary schema, under the names of ours: none is ever called or read.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, kind text, amount numeric, at timestamptz);
INSERT INTO src SELECT n, chr(97 + n % 3), n, '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 8) AS n;
CREATE TABLE fact (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz, loaded_at timestamptz);
CREATE TABLE calm (LIKE fact);
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.scream(what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'hostile % was called', what; END $$;
-- Functions of the names, and some of the argument types, that daybook's own statements and views use.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT DISTINCT p.proname, pg_get_function_identity_arguments(p.oid) AS args, pg_get_function_result(p.oid) AS result
             FROM pg_proc AS p
             WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
               AND p.proname IN ('format', 'now', 'clock_timestamp', 'transaction_timestamp', 'coalesce', 'jsonb_build_object', 'to_jsonb', 'jsonb_build_array', 'width_bucket', 'quote_ident', 'isfinite',
                   'current_schemas', 'pg_get_userbyid', 'pg_get_viewdef', 'format_type', 'has_table_privilege', 'pg_has_role', 'lower', 'date_part', 'extract', 'timezone', 'array_length',
                   'int8', 'int4', 'text', 'timestamptz', 'timestamp', 'date', 'left', 'textcat', 'timestamptz_ge', 'pg_backend_pid', 'current_database', 'jsonb_array_length', 'to_char', 'concat')
               AND pg_get_function_identity_arguments(p.oid) !~ 'VARIADIC|"any"|anyelement|anycompatible|anyarray'
               AND pg_get_function_result(p.oid) !~ 'any|internal' AND pg_get_function_identity_arguments(p.oid) !~ 'internal' LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.proname, f.args, f.result,
            format('BEGIN PERFORM hostile.scream(%L); RETURN NULL; END', f.proname));
    END LOOP;
    -- Variadic and polymorphic ones by hand.
    FOR f IN SELECT unnest(array['format', 'jsonb_build_object', 'jsonb_build_array', 'concat', 'coalesce']) AS proname LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS %L', f.proname, format('BEGIN PERFORM hostile.scream(%L); END', f.proname));
    END LOOP;
    CREATE FUNCTION hostile.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''unnest''); END';
    CREATE FUNCTION hostile.width_bucket(timestamptz, timestamptz[]) RETURNS integer LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''width_bucket''); END';
    CREATE FUNCTION hostile.tally(integer, integer, integer, boolean) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''tally''); END';
    CREATE FUNCTION hostile.may_see(oid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''may_see''); END';
    CREATE FUNCTION hostile.jsonb_array_elements(jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''jsonb_array_elements''); END';
END $$;
SELECT count(*) > 60 AS many_functions FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace;
CREATE FUNCTION hostile.append(text, text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM hostile.scream('string_agg'); END $$;
CREATE AGGREGATE hostile.count(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '4711');
CREATE AGGREGATE hostile.array_agg(text) (SFUNC = array_append, STYPE = text[], INITCOND = '{hostile}');
CREATE AGGREGATE hostile.min(timestamptz) (SFUNC = timestamptz_larger, STYPE = timestamptz);
CREATE AGGREGATE hostile.max(timestamptz) (SFUNC = timestamptz_smaller, STYPE = timestamptz);
CREATE AGGREGATE hostile.string_agg(text, text) (SFUNC = hostile.append, STYPE = text, INITCOND = 'hostile');
CREATE AGGREGATE hostile.jsonb_agg(jsonb) (SFUNC = jsonb_concat, STYPE = jsonb, INITCOND = '["hostile"]');
-- Operators for the types that are compared.
DO $$
DECLARE
    op text; t text;
BEGIN
    FOREACH t IN ARRAY array['timestamptz', 'timestamp', 'date', 'text', 'name', 'oid', 'integer', 'bigint', 'numeric', 'jsonb', 'regclass', '"char"', 'boolean', 'interval', 'uuid'] LOOP
        FOREACH op IN ARRAY array['=', '<>', '<', '<=', '>', '>='] LOOP
            EXECUTE format('CREATE FUNCTION hostile.%I(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', 'op' || op, t, t, format('BEGIN PERFORM hostile.scream(%L); END', op || ' ' || t));
            EXECUTE format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.%I, LEFTARG = %s, RIGHTARG = %s)', op, 'op' || op, t, t);
        END LOOP;
    END LOOP;
    FOREACH t IN ARRAY array['bigint, integer', 'integer, bigint', 'numeric, integer', 'numeric, bigint', 'bigint, bigint', 'numeric, numeric', 'double precision, double precision'] LOOP
        FOREACH op IN ARRAY array['>', '<', '>=', '<=', '=', '-', '*', '/', '%'] LOOP
            CONTINUE WHEN (t IN ('bigint, bigint', 'numeric, numeric') AND op IN ('>', '<', '>=', '<=', '='));
            EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', 'op' || op, t, CASE WHEN op ~ '[<=>]' THEN 'boolean' ELSE split_part(t, ',', 1) END,
                format('BEGIN PERFORM hostile.scream(%L); END', op || ' ' || t));
            EXECUTE format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.%I, LEFTARG = %s, RIGHTARG = %s)', op, 'op' || op, split_part(t, ', ', 1), split_part(t, ', ', 2));
        END LOOP;
    END LOOP;
    CREATE FUNCTION hostile.opcat(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''||''); END';
    CREATE OPERATOR hostile.|| (FUNCTION = hostile.opcat, LEFTARG = text, RIGHTARG = text);
    CREATE FUNCTION hostile.oparrow(jsonb, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''->>''); END';
    CREATE OPERATOR hostile.->> (FUNCTION = hostile.oparrow, LEFTARG = jsonb, RIGHTARG = text);
    CREATE FUNCTION hostile.opplus(integer, integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''+''); END';
    CREATE OPERATOR hostile.+ (FUNCTION = hostile.opplus, LEFTARG = integer, RIGHTARG = integer);
    CREATE FUNCTION hostile.opmatch(text, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''~''); END';
    CREATE OPERATOR hostile.~ (FUNCTION = hostile.opmatch, LEFTARG = text, RIGHTARG = text);
    CREATE OPERATOR hostile.!~ (FUNCTION = hostile.opmatch, LEFTARG = text, RIGHTARG = text);
    CREATE OPERATOR hostile.&& (FUNCTION = hostile.opmatch, LEFTARG = text, RIGHTARG = text);
END $$;
-- Types and tables of the catalog's and of our names, in hostile and in the temporary schema.
CREATE DOMAIN hostile.int8 AS text CHECK (false);
CREATE DOMAIN hostile.text AS integer CHECK (false);
CREATE DOMAIN hostile.regclass AS integer CHECK (false);
CREATE DOMAIN hostile.timestamptz AS integer CHECK (false);
CREATE TABLE hostile.pg_class (oid oid);
CREATE TABLE hostile.pg_locks (pid integer);
CREATE TABLE hostile.pg_inherits (inhparent oid);
CREATE TEMP TABLE pg_class (oid oid);
CREATE TEMP TABLE pg_proc (oid oid);
CREATE TEMP TABLE pg_namespace (oid oid);
CREATE TEMP TABLE pg_locks (pid integer);
CREATE TEMP TABLE pg_roles (oid oid);
CREATE TEMP TABLE target (target oid);
CREATE TEMP TABLE load (target oid);
CREATE TEMP TABLE rule (target oid);
CREATE TEMP TABLE run (run_id bigint);
CREATE TEMP TABLE interval_state (target oid);
CREATE TEMP TABLE source (id integer);
CREATE TEMP TABLE "daybook delta" (id integer);
CREATE TEMP TABLE delta (id integer);
CREATE TEMP TABLE src (LIKE public.src);
-- With all that first on the path, everything works as without.
SET search_path = hostile, pg_temp, public, pg_catalog;
SELECT public.register_load('public.calm', 'public.src', 'at');
SELECT public.register_rule('public.calm', 'calm', filter => 'OPERATOR(pg_catalog.+) 1 OPERATOR(pg_catalog.>) 0');
SELECT public.register_load('public.calm', 'public.src', 'at', keys => 'id, kind', dedup_order_by => 'amount desc');
SELECT pg_catalog.count(*) FROM public.load_interval('public.calm', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00');
SELECT pg_catalog.count(*) FROM public.load_interval('public.calm', '2026-09-01', '2026-09-04', on_empty => 'skip', wide => true, as_of => '2026-09-09 00:00+00');
SELECT pg_catalog.count(*) FROM public.load_interval('public.calm', '2026-09-01', '2026-09-04', dry_run => true, max_deleted_percent => 10, as_of => '2026-09-09 00:00+00');
SELECT c.* FROM daybook.check_load('public.calm') AS c;
SELECT pg_catalog.count(*) FROM daybook.explain_load('public.calm', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00') AS e;
-- A load that was registered under a clean path, called under the hostile one.
RESET search_path;
SELECT register_load('public.fact', 'public.src', 'at', keys => 'id, kind', dedup_order_by => 'amount desc');
SELECT register_rule('public.fact', 'filter', filter => $$kind <> 'x' and amount >= param.least and left(kind, 1) = kind$$);
SELECT register_rule('public.fact', 'set', column_name => 'kind', expression => $$kind || '/' || to_char(at, 'DD') || coalesce(kind, '')$$);
SET search_path = hostile, pg_temp, public, pg_catalog;
SELECT l.interval_start, l.rows_read, l.rows_inserted FROM public.load_interval('public.fact', '2026-09-01', '2026-09-04', params => '{"least": 0}', as_of => '2026-09-09 00:00+00') AS l;
SELECT l.interval_start, l.rows_deleted, l.rows_inserted FROM public.load_interval('public.fact', '2026-09-01', '2026-09-04', wide => true, on_empty => 'skip', params => '{"least": 0}', as_of => '2026-09-09 00:00+00') AS l;
SELECT l.interval_start, l.status FROM public.load_interval('public.fact', '2026-09-01', '2026-09-02', dry_run => true, params => '{"least": 0}', as_of => '2026-09-09 00:00+00') AS l;
SELECT l.status, l.error FROM public.load_interval('public.fact', '2026-09-01', '2026-09-02', on_error => 'report', as_of => '2026-09-09 00:00+00') AS l;
SELECT public.mark_stale('public.fact', '2026-09-01', '2026-09-02', 'hostile');
SELECT daybook.last_closed('public.fact', '2026-09-03 12:00+00');
SELECT e.step, e.purpose FROM daybook.explain_load('public.fact', '2026-09-01', '2026-09-02', params => '{"least": 0}', as_of => '2026-09-09 00:00+00') AS e;
SELECT c.* FROM daybook.check_load('public.fact') AS c;
SELECT daybook.grain_boundaries('1 day', 'UTC', '2026-09-01', '2026-09-02');
SELECT l.target, l.source, l.search_path FROM daybook.loads AS l WHERE l.target OPERATOR(pg_catalog.=) 'public.fact'::pg_catalog.regclass;
SELECT r.name, r.kind FROM daybook.rules AS r WHERE r.target OPERATOR(pg_catalog.=) 'public.fact'::pg_catalog.regclass ORDER BY r.position USING OPERATOR(pg_catalog.<);
SELECT r.run_id, r.status, r.rows_read FROM daybook.runs AS r ORDER BY r.run_id USING OPERATOR(pg_catalog.<);
SELECT i.interval_start, i.status, i.is_current, i.stale_reason FROM daybook.interval_log AS i WHERE i.status OPERATOR(pg_catalog.=) 'failed'::pg_catalog.text ORDER BY i.interval_start USING OPERATOR(pg_catalog.<);
SELECT array['a', 'b']::pg_catalog.text[]::daybook.column_list, '2026-09-01'::pg_catalog.date::daybook.bound;
-- Dropping a table there, and unregistering.
SELECT public.unregister_rule('public.fact', 'set');
SELECT public.unregister_load('public.fact');
DROP TABLE public.fact;
RESET search_path;
SELECT target FROM daybook.target;
SELECT id, kind FROM calm ORDER BY id LIMIT 1;
