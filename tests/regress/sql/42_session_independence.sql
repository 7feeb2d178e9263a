-- The same load under any TimeZone, DateStyle and search_path, and any other setting that reads or writes values: equal tables, equal versions.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, at timestamptz, local_at timestamp, day date, span interval, bytes bytea, f float8, kind text);
INSERT INTO src SELECT n, '2026-10-24 00:00+02'::timestamptz + n * interval '3 hours 7 minutes', timestamp '2026-10-24 00:00' + n * interval '3 hours 7 minutes',
    date '2026-10-24' + n / 8, n * interval '1 day 1 hour', decode(lpad(to_hex(n), 4, '0'), 'hex'), 1.0 / (n + 1), CASE WHEN n % 5 > 0 THEN chr(97 + n % 3) END
FROM generate_series(0, 39) AS n;
CREATE TABLE fact (id integer, at timestamptz, local_at timestamp, day date, span interval, bytes bytea, f float8, kind text, note text, interval_start timestamptz);
CREATE FUNCTION helper(text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'helper of public ' || $1 $$;
-- Rules that show their settings: time and date texts, ambiguous dates, intervals, bytea, floats, names, = null.
SELECT register_rule('fact', 'note', column_name => 'note', expression => $$
    concat_ws('|', at::text, local_at::timestamptz::text, day::timestamptz::text, to_char(at, 'Dy DD TMMon HH24:MI TZ'), extract(hour from at), span, bytes, f,
              ('10/11/12'::text)::date, helper(coalesce(kind, 'null')), local_at::timestamptz > timestamptz '2026-10-25 02:30', E'\\a' || '\a')$$);
SELECT register_load('fact', 'src', 'at', zone => 'Europe/Berlin');
-- Not even this setting changes what a rule means.
SELECT register_rule('fact', 'null', filter => 'kind = null is null');
-- Each session gets a table of its own to compare.
CREATE TABLE result (session text, wide boolean, rows bigint, digest text, version text);
CREATE PROCEDURE note_result(session text) LANGUAGE plpgsql AS $$
DECLARE
    w boolean;
    v text;
BEGIN
    FOREACH w IN ARRAY array[false, true] LOOP
        TRUNCATE public.fact;
        SELECT DISTINCT rules_version INTO v FROM public.load_interval('public.fact', '2026-10-24', date '2026-10-28', w, as_of => '2026-11-01 00:00+00');
        INSERT INTO public.result SELECT session, w, count(*), md5(string_agg(f::text, E'\n' ORDER BY id)), v
        FROM (SELECT id, extract(epoch FROM at), extract(epoch FROM local_at), day - date '2000-01-01' AS day, extract(epoch FROM span), encode(bytes, 'hex'), encode(float8send(f), 'hex'), kind, note,
                     extract(epoch FROM interval_start) FROM public.fact) AS f;
    END LOOP;
END $$;
CALL note_result('UTC, ISO');
DO $$
DECLARE
    zone text; style text; path text;
BEGIN
    FOREACH zone IN ARRAY array['UTC', 'Asia/Tokyo', 'America/St_Johns', 'Pacific/Kiritimati', 'Europe/Berlin', '<+03>-3'] LOOP
        FOREACH style IN ARRAY array['ISO, YMD', 'ISO, DMY', 'SQL, DMY', 'SQL, MDY', 'Postgres, DMY', 'German, DMY'] LOOP
            FOREACH path IN ARRAY array['public', '', 'pg_temp, public'] LOOP
                PERFORM set_config('TimeZone', zone, true), set_config('DateStyle', style, true), set_config('search_path', path, true);
                CALL public.note_result(format('%s, %s, %L', zone, style, path));
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
-- Other settings, each alone.
DO $$
DECLARE
    s text[];
BEGIN
    FOREACH s SLICE 1 IN ARRAY array[['IntervalStyle', 'iso_8601'], ['IntervalStyle', 'sql_standard'], ['bytea_output', 'escape'], ['extra_float_digits', '-10'], ['extra_float_digits', '0'],
            ['transform_null_equals', 'on'], ['standard_conforming_strings', 'off'], ['lc_time', 'POSIX'], ['row_security', 'off'], ['array_nulls', 'off'], ['xmloption', 'document'],
            ['default_text_search_config', 'german'], ['quote_all_identifiers', 'on'], ['backslash_quote', 'off'], ['escape_string_warning', 'off'], ['client_encoding', 'LATIN1'],
            ['enable_hashagg', 'off'], ['enable_seqscan', 'off'], ['plan_cache_mode', 'force_generic_plan'], ['plan_cache_mode', 'force_custom_plan'], ['jit', 'off'],
            ['from_collapse_limit', '1'], ['join_collapse_limit', '1'], ['check_function_bodies', 'off'], ['default_transaction_isolation', 'serializable'], ['session_replication_role', 'replica']] LOOP
        PERFORM set_config(s[1], s[2], true);
        CALL public.note_result(s[1] || ' = ' || s[2]);
        PERFORM set_config(s[1], CASE s[1] WHEN 'client_encoding' THEN 'UTF8' ELSE (SELECT reset_val FROM pg_settings WHERE name = s[1]) END, true);
        PERFORM set_config('DateStyle', 'ISO, YMD', true), set_config('TimeZone', 'UTC', true);
    END LOOP;
END $$;
RESET search_path;
-- One table, one version.
SELECT count(*) AS runs, count(DISTINCT session) AS sessions, min(rows) AS least_rows, max(rows) AS most_rows, count(DISTINCT digest) AS tables, count(DISTINCT version) AS versions FROM result;
SELECT session, wide, rows FROM result WHERE digest <> (SELECT digest FROM result WHERE session = 'UTC, ISO' AND NOT wide) ORDER BY session, wide;
-- In it, times are read and shown in the zone of the load.
SELECT id, note FROM fact WHERE id IN (1, 8, 9) ORDER BY id;
-- The session has its settings back, also after an error.
SET TimeZone = 'Asia/Tokyo';
SET DateStyle = 'SQL, DMY';
SET search_path = pg_catalog, public;
SET IntervalStyle = 'iso_8601';
SELECT count(*) FROM public.load_interval('public.fact', '2026-10-24', '2026-10-25', as_of => '2026-11-01 00:00+00');
SELECT current_setting('TimeZone'), current_setting('DateStyle'), current_setting('search_path'), current_setting('IntervalStyle'), current_setting('row_security'), current_setting('lock_timeout');
SELECT count(*) FROM public.load_interval('public.fact', '2026-10-24 01:00', '2026-10-25', as_of => '2026-11-01 00:00+00');
SELECT current_setting('TimeZone'), current_setting('DateStyle'), current_setting('search_path'), current_setting('IntervalStyle'), current_setting('row_security'), current_setting('lock_timeout');
SELECT error FROM public.load_interval('public.fact', '2026-10-24', '2026-10-25', on_error => 'report', params => '[]', as_of => '2026-11-01 00:00+00');
SELECT current_setting('TimeZone'), current_setting('DateStyle'), current_setting('search_path'), current_setting('IntervalStyle'), current_setting('row_security'), current_setting('lock_timeout');
-- A setting made for the transaction alone is back for it, and gone after it.
BEGIN;
SET LOCAL TimeZone = 'America/St_Johns';
SELECT count(*) FROM public.load_interval('public.fact', '2026-10-24', '2026-10-25', as_of => '2026-11-01 00:00+00');
SELECT current_setting('TimeZone');
COMMIT;
SELECT current_setting('TimeZone');
-- What a rule's function sets stays inside the run.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
RESET search_path;
CREATE FUNCTION sets(text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM set_config('TimeZone', 'Asia/Tokyo', false), set_config('application_name', 'changed by a rule', false), set_config('my.setting', 'changed', false);
    RETURN $1;
END $$;
SELECT register_rule('fact', 'sets', column_name => 'kind', expression => 'sets(kind)');
SELECT count(*) FROM load_interval('fact', '2026-10-24', '2026-10-25', as_of => '2026-11-01 00:00+00');
SELECT current_setting('TimeZone'), current_setting('application_name') <> 'changed by a rule' AS application_name_kept, coalesce(current_setting('my.setting', true), '') AS my_setting;
SELECT unregister_rule('fact', 'sets');

-- Names: the path at registration counts, not the one of the caller, nor his temporary objects.
CREATE SCHEMA other;
CREATE FUNCTION other.helper(text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'helper of other ' || $1 $$;
CREATE FUNCTION pg_temp.helper(text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'helper of pg_temp ' || $1 $$;
CREATE TEMP TABLE src (LIKE public.src);
CREATE TEMP TABLE fact (LIKE public.fact);
SET search_path = other, public;
SELECT count(*) FROM load_interval('public.fact', '2026-10-24', '2026-10-25', as_of => '2026-11-01 00:00+00');
SELECT DISTINCT split_part(note, '|', 10) AS helper FROM public.fact ORDER BY 1;
-- An argument is found as the caller finds it: his own temporary table comes first.
\set VERBOSITY sqlstate
SELECT * FROM load_interval('fact', '2026-10-24', '2026-10-25'); :sqlstate
\set VERBOSITY default
SET search_path = public, pg_temp;
SELECT count(*) FROM load_interval('fact', '2026-10-24', '2026-10-25', as_of => '2026-11-01 00:00+00');
-- Registering a rule keeps the path of the load; registering the load anew takes the present one.
SET search_path = other, public, pg_temp;
SELECT register_rule('public.fact', 'more', filter => 'true');
SELECT count(*) FROM load_interval('public.fact', '2026-10-24', '2026-10-25', as_of => '2026-11-01 00:00+00');
SELECT DISTINCT split_part(note, '|', 10) AS helper FROM public.fact ORDER BY 1;
SELECT search_path FROM daybook.loads;
SELECT register_load('public.fact', 'public.src', 'at', zone => 'Europe/Berlin');
SELECT search_path FROM daybook.loads;
SELECT count(*) FROM load_interval('public.fact', '2026-10-24', '2026-10-25', as_of => '2026-11-01 00:00+00');
SELECT DISTINCT split_part(note, '|', 10) AS helper FROM public.fact ORDER BY 1;
-- With an empty path only what is qualified is found.
SET search_path = '';
SELECT public.register_load('public.fact', 'public.src', 'at', zone => 'Europe/Berlin'); :sqlstate
