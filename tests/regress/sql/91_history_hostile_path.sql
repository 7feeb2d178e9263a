-- Objects that somebody put first on the path, or into the temporary schema, under the names of ours and of the catalog's: none is ever called
-- or read by what concerns histories.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
-- Columns of many types, so that many operators are asked for.
CREATE TABLE src (id integer, k text, qty numeric, at timestamptz, day date, flag boolean, doc jsonb, big bigint, f float8, i interval, arr text[]);
INSERT INTO src SELECT n, chr(97 + n % 3), n, '2026-01-01 00:00+00', '2026-01-01', true, '{}', n, n, '1 day', '{a}' FROM generate_series(1, 6) AS n;
CREATE TABLE events (id integer, k text, qty numeric, _change_type text, _commit_timestamp timestamptz, _change_ordinal integer);
INSERT INTO events VALUES (1, 'a', 1, 'insert', '2026-01-01 00:00+00', 0), (1, 'a', 2, 'update_preimage', '2026-01-02 00:00+00', 1), (1, 'a', 2, 'update_postimage', '2026-01-02 00:00+00', 2),
    (2, 'b', 1, 'read', '2026-01-01 00:00+00', 3), (2, 'b', 1, 'delete', '2026-01-03 00:00+00', 4);
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.scream(what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'hostile % was called', what; END $$;
-- Every function and operator of the catalog that one can make another one like, and whatever an aggregate or a window function is called.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.proname, p.oid, pg_get_function_identity_arguments(p.oid) AS args, p.pronargs, format_type(p.prorettype, NULL) AS result
             FROM pg_proc AS p
             WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'w') AND NOT p.proretset AND p.provariadic = 0
               AND NOT EXISTS (SELECT FROM unnest(p.proargtypes || p.prorettype) AS t JOIN pg_type AS y ON y.oid = t WHERE y.typtype = 'p' AND (y.typname <> 'void' OR t <> p.prorettype))
               AND 'void'::regtype <> ALL (p.proargtypes) LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.proname,
            (SELECT string_agg(format_type(t, NULL), ', ' ORDER BY n) FROM unnest((SELECT proargtypes::oid[] FROM pg_proc WHERE oid = f.oid)) WITH ORDINALITY AS a (t, n)), f.result,
            format('BEGIN PERFORM hostile.scream(%L); END', f.proname));
    END LOOP;
    FOR f IN SELECT o.oprname, format_type(o.oprleft, NULL) AS l, format_type(o.oprright, NULL) AS r, format_type(o.oprresult, NULL) AS result, o.oid
             FROM pg_operator AS o
             WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprleft <> 0
               AND NOT EXISTS (SELECT FROM pg_type AS y WHERE y.oid IN (o.oprleft, o.oprright, o.oprresult) AND y.typtype = 'p') LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L', 'operator ' || f.oprname, f.l, f.r, f.result,
            format('BEGIN PERFORM hostile.scream(%L); END', f.oprname || ' ' || f.l));
        EXECUTE format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.%I, LEFTARG = %s, RIGHTARG = %s)', f.oprname, 'operator ' || f.oprname, f.l, f.r);
    END LOOP;
    -- What takes any type, variadic or not, and functions that return sets.
    FOR f IN SELECT unnest(array['format', 'jsonb_build_object', 'jsonb_build_array', 'concat', 'concat_ws', 'greatest', 'least', 'num_nulls']) AS proname LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS %L', f.proname, format('BEGIN PERFORM hostile.scream(%L); END', f.proname));
    END LOOP;
    FOR f IN SELECT unnest(array['to_jsonb', 'lag', 'lead', 'first_value', 'last_value', 'nth_value', 'array_agg', 'max', 'min', 'sum', 'string_agg', 'jsonb_agg', 'row_to_json', 'same']) AS proname LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(anyelement) RETURNS anyelement LANGUAGE plpgsql AS %L', f.proname, format('BEGIN PERFORM hostile.scream(%L); END', f.proname));
        EXECUTE format('CREATE FUNCTION hostile.%I(anyelement, anyelement) RETURNS boolean LANGUAGE plpgsql AS %L', f.proname, format('BEGIN PERFORM hostile.scream(%L); END', f.proname));
    END LOOP;
    CREATE FUNCTION hostile.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''unnest''); END';
    CREATE FUNCTION hostile.generate_series(integer, integer) RETURNS SETOF integer LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''generate_series''); END';
    CREATE FUNCTION hostile.jsonb_array_elements(jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''jsonb_array_elements''); END';
    CREATE FUNCTION hostile.array_position(anyarray, anyelement) RETURNS integer LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''array_position''); END';
    CREATE FUNCTION hostile.array_append(anyarray, anyelement) RETURNS anyarray LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''array_append''); END';
    CREATE FUNCTION hostile.tally(integer, integer, integer, boolean) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''tally''); END';
    CREATE FUNCTION hostile.row_hash(bytea, text[], record) RETURNS bytea LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''row_hash''); END';
    CREATE FUNCTION hostile.may_see(oid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM hostile.scream(''may_see''); END';
    -- Operators that take any array or any record.
    FOR f IN SELECT unnest(array['=', '<>', '<', '>', '<=', '>=']) AS op LOOP
        EXECUTE format('CREATE FUNCTION hostile.%I(anyarray, anyarray) RETURNS boolean LANGUAGE plpgsql AS %L', 'operator ' || f.op, format('BEGIN PERFORM hostile.scream(%L); END', f.op || ' arrays'));
        EXECUTE format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.%I, LEFTARG = anyarray, RIGHTARG = anyarray)', f.op, 'operator ' || f.op);
        EXECUTE format('CREATE FUNCTION hostile.%I(anyelement, anyelement) RETURNS boolean LANGUAGE plpgsql AS %L', 'operator ' || f.op, format('BEGIN PERFORM hostile.scream(%L); END', f.op || ' anything'));
        EXECUTE format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.%I, LEFTARG = anyelement, RIGHTARG = anyelement)', f.op, 'operator ' || f.op);
    END LOOP;
    CREATE AGGREGATE hostile.count(*) (SFUNC = pg_catalog.int8inc, STYPE = int8, INITCOND = '4711');
END $$;
SELECT count(*) > 1500 AS many_functions FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace;
SELECT count(*) > 500 AS many_operators FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace;
-- Types and tables of the catalog's and of our names, in hostile and in the temporary schema.
DO $$
DECLARE
    n text;
BEGIN
    FOREACH n IN ARRAY array['int8', 'int4', 'bool', 'text', 'bytea', 'regclass', 'timestamptz', 'timestamp', 'interval', 'numeric', 'oid', 'tid', 'jsonb', 'date', 'column_list', 'bound'] LOOP
        EXECUTE format('CREATE DOMAIN hostile.%I AS pg_catalog.int4 CHECK (false)', n);
        EXECUTE format('CREATE DOMAIN pg_temp.%I AS pg_catalog.int4 CHECK (false)', n);
    END LOOP;
    FOREACH n IN ARRAY array['pg_class', 'pg_attribute', 'pg_index', 'pg_proc', 'pg_type', 'pg_locks', 'pg_inherits', 'pg_namespace', 'pg_roles', 'pg_trigger', 'pg_constraint',
            'target', 'history', 'rule', 'run', 'load', 'histories', 'existing', 'source', 'old', 'new', 'found', 'event', 'action', 'known', 'judged', 'chosen', 'daybook differences', 'daybook actions'] LOOP
        EXECUTE format('CREATE TABLE hostile.%I (nothing pg_catalog.bool)', n);
        EXECUTE format('CREATE TEMP TABLE %I (nothing pg_catalog.bool)', n);
    END LOOP;
    CREATE TEMP TABLE src (nothing pg_catalog.bool);
    CREATE TABLE hostile.src (nothing pg_catalog.bool);
END $$;
-- With all that first on the path, everything works as without: registered, run and read there.
SET search_path = hostile, pg_temp, public, pg_catalog;
SELECT public.register_history('public.calm', 'public.src', 'id', historize_blacklist => 'flag', dedup_order_by => 'qty desc, big', max_closed_percent => 100,
                               existing_predicate => 'existing.id OPERATOR(pg_catalog.>) 0');
SELECT public.register_rule('public.calm', 'calm', filter => 'OPERATOR(pg_catalog.+) 1 OPERATOR(pg_catalog.>) 0');
SELECT h.status, h.versions_opened FROM public.historize('public.calm', reference_timestamp => '2026-01-01 00:00+00') AS h;
SELECT h.status, h.rows_unchanged FROM public.historize('public.calm', reference_timestamp => '2026-01-02 00:00+00') AS h;
UPDATE public.src SET qty = qty OPERATOR(pg_catalog.+) 1, arr = '{b}', doc = '[]' WHERE id OPERATOR(pg_catalog.<=) 3;
DELETE FROM public.src WHERE id OPERATOR(pg_catalog.=) 6;
SELECT h.status, h.versions_opened, h.versions_closed FROM public.historize('public.calm', reference_timestamp => '2026-01-02 00:00+00', dry_run => true) AS h;
SELECT h.status, h.versions_opened, h.versions_closed FROM public.historize('public.calm', reference_timestamp => '2026-01-02 00:00+00') AS h;
-- The same instant again, with other content: replaced, withdrawn, reopened.
UPDATE public.src SET qty = qty OPERATOR(pg_catalog.+) 1 WHERE id OPERATOR(pg_catalog.=) 1;
SELECT h.status, h.versions_opened, h.versions_closed FROM public.historize('public.src', 'public.calm', reference_timestamp => '2026-01-02 00:00+00') AS h;
SELECT public.create_history_views('public.calm');
SELECT pg_catalog.count(*) FROM public.calm_current;
SELECT pg_catalog.count(*) FROM public.calm_as_of('2026-01-01 12:00+00');
-- A new column, a wider type and a removed column.
ALTER TABLE public.src ADD COLUMN more pg_catalog.text DEFAULT 'x', ALTER COLUMN id TYPE pg_catalog.int8, DROP COLUMN f;
SELECT h.status, h.versions_opened, h.versions_closed FROM public.historize('public.calm', reference_timestamp => '2026-01-03 00:00+00') AS h;
SELECT pg_catalog.count(*) FROM public.calm_current;
SELECT pg_catalog.count(*) FROM daybook.check_history('public.calm');
SELECT r.status, r.versions_withdrawn, r.versions_reopened FROM public.rewind_history('public.calm', '2026-01-02 12:00+00') AS r;
SELECT h.status, h.error FROM public.historize('public.calm', reference_timestamp => '2026-01-01 12:00+00', on_error => 'report') AS h;
-- Change events, in every way in which they may be late.
DO $$
DECLARE
    l pg_catalog.text;
BEGIN
    FOREACH l IN ARRAY array['delay', 'insert', 'ignore', 'error']::pg_catalog.text[] LOOP
        PERFORM public.register_history('public.events_' OPERATOR(pg_catalog.||) l, 'public.events', 'id', late => l, intermediate_versions => true, skip_unchanged => l OPERATOR(pg_catalog.=) 'insert'::pg_catalog.text);
        PERFORM h.status FROM public.historize(('public.events_' OPERATOR(pg_catalog.||) l)::pg_catalog.regclass, reference_timestamp => '2026-02-01 00:00+00') AS h;
        PERFORM h.status FROM public.historize(('public.events_' OPERATOR(pg_catalog.||) l)::pg_catalog.regclass, reference_timestamp => '2026-02-02 00:00+00') AS h;
    END LOOP;
END $$;
INSERT INTO public.events VALUES (2, 'b', 7, 'update_postimage', '2026-01-02 00:00+00', 5);
SELECT h.status, h.mode, h.versions_opened, h.late_rows FROM public.historize('public.events_delay', reference_timestamp => '2026-02-03 00:00+00') AS h;
SELECT h.status, h.mode, h.versions_opened, h.late_rows FROM public.historize('public.events_insert', reference_timestamp => '2026-02-03 00:00+00') AS h;
SELECT h.status, h.mode, h.versions_opened, h.late_rows FROM public.historize('public.events_ignore', reference_timestamp => '2026-02-03 00:00+00') AS h;
-- Snapshots with times of their own, local ones, with delivery by scope; and refusals that list keys.
CREATE VIEW public.timed AS SELECT s.id, s.k, s.qty, s.at::pg_catalog.timestamp AS at FROM public.src AS s;
SELECT h.status, h.versions_opened FROM public.historize('public.timed', 'public.timed_hist', 'id', source_timestamp_column => 'at', delivery_scope => 'k', zone => 'Europe/Berlin', late => 'insert',
    reference_timestamp => '2026-02-01 00:00+00') AS h;
UPDATE public.src SET qty = 0, at = '2026-01-05 00:00+00' WHERE id OPERATOR(pg_catalog.=) 2;
SELECT h.status, h.versions_opened, h.versions_closed FROM public.historize('public.timed_hist', reference_timestamp => '2026-02-02 00:00+00') AS h;
INSERT INTO public.src SELECT s.* FROM public.src AS s WHERE s.id OPERATOR(pg_catalog.=) 1;
SELECT h.status, h.error FROM public.historize('public.timed_hist', reference_timestamp => '2026-02-03 00:00+00', on_error => 'report') AS h;
UPDATE public.src SET id = NULL WHERE id OPERATOR(pg_catalog.=) 3;
SELECT h.status, h.error FROM public.historize('public.timed_hist', reference_timestamp => '2026-02-03 00:00+00', on_error => 'report') AS h;
DELETE FROM public.src WHERE id IS NULL;
DELETE FROM public.src WHERE ctid OPERATOR(pg_catalog.<>) ALL (SELECT pg_catalog.min(s.ctid) FROM public.src AS s GROUP BY s.id);
-- A table that was there before, with times without a zone.
CREATE TABLE public.taken (id pg_catalog.int4, qty pg_catalog.int4, dl_ts_captured pg_catalog.timestamp, dl_ts_delimited pg_catalog.timestamp, dl_hash pg_catalog.int4, dl_dummy pg_catalog.bool);
INSERT INTO public.taken VALUES (1, 1, '2026-01-01', '9999-12-31'), (2, 2, '2026-01-01', '2026-01-02');
CREATE VIEW public.few AS SELECT s.id::pg_catalog.int4 AS id, s.qty::pg_catalog.int4 AS qty FROM public.src AS s;
SELECT h.status FROM public.historize('public.few', 'public.taken', 'id', reference_timestamp => '2026-03-01 00:00+00') AS h;
SELECT public.create_history_views('public.taken');
SELECT pg_catalog.count(*) FROM public.taken_as_of('2026-01-01 12:00+00');
SELECT pg_catalog.count(*) FROM daybook.check_history('public.taken');
-- What tells about histories.
SELECT h.target, h.source, h.keys, h.late FROM daybook.histories AS h ORDER BY h.target::pg_catalog.text USING OPERATOR(pg_catalog.<);
SELECT r.status, pg_catalog.count(*) FROM daybook.runs AS r GROUP BY r.status ORDER BY r.status USING OPERATOR(pg_catalog.<);
-- Registered under a clean path, with rules that mean what they meant there; run and read under the hostile one.
RESET search_path;
SELECT register_history('public.clean', 'public.src', 'id', existing_predicate => 'existing.id > 0 and length(existing.k) = 1', dedup_order_by => 'qty desc, big');
SELECT register_rule('public.clean', 'filter', filter => $$id <> 99 and qty >= param.least and left(k, 1) = k$$);
SELECT register_rule('public.clean', 'set', column_name => 'doc', expression => $$to_jsonb(upper(k) || greatest(qty, 1))$$);
SET search_path = hostile, pg_temp, public, pg_catalog;
SELECT h.status, h.versions_opened FROM public.historize('public.clean', reference_timestamp => '2026-01-01 00:00+00', params => '{"least": 0}') AS h;
UPDATE public.src SET k = 'z' WHERE id OPERATOR(pg_catalog.=) 4;
SELECT h.status, h.versions_opened FROM public.historize('public.clean', reference_timestamp => '2026-01-02 00:00+00', params => '{"least": 0}') AS h;
SELECT public.create_history_views('public.clean');
SELECT c.id, c.doc FROM public.clean_current AS c ORDER BY c.id USING OPERATOR(pg_catalog.<);
SELECT c.id, c.doc FROM public.clean_as_of('2026-01-01 12:00+00') AS c WHERE c.id OPERATOR(pg_catalog.=) 4;
SELECT r.status, r.versions_withdrawn FROM public.rewind_history('public.clean', '2026-01-01 12:00+00') AS r;
SELECT public.unregister_history('public.clean');
DROP TABLE public.clean CASCADE;
DROP TABLE public.taken CASCADE;
RESET search_path;
SELECT target FROM daybook.target ORDER BY target::pg_catalog.text;
SELECT id, qty, dl_ts_captured, dl_ts_delimited FROM calm ORDER BY id, dl_ts_captured;
