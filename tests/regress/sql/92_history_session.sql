-- The same runs of histories under any TimeZone, DateStyle, IntervalStyle and search_path, and any other setting that reads or writes values: equal
-- histories, equal fingerprints; and the session has its settings back.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, at timestamptz, local_at timestamp, day date, span interval, bytes bytea, f float8, kind text, round integer);
INSERT INTO src SELECT n, '2026-10-24 00:00+02'::timestamptz + n * interval '3 hours 7 minutes', timestamp '2026-10-24 00:00' + n * interval '3 hours 7 minutes',
    date '2026-10-24' + n / 8, n * interval '1 day 1 hour', decode(lpad(to_hex(n), 4, '0'), 'hex'), 1.0 / (n + 1), CASE WHEN n % 5 > 0 THEN chr(97 + n % 3) END, r
FROM generate_series(0, 19) AS n, generate_series(1, 2) AS r;
CREATE FUNCTION helper(text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'helper of public ' || $1 $$;
-- One history by the reference, one by local times of the source, one with local technical columns and a horizon that is a literal, one by events.
CREATE VIEW first AS SELECT id, at, local_at, day, span, bytes, f, kind FROM src WHERE round = 1;
CREATE VIEW second AS SELECT id, at, local_at, day, span, bytes, f, CASE WHEN id % 2 = 0 THEN kind ELSE 'z' END AS kind FROM src WHERE round = 2 AND id % 7 <> 0;
CREATE TABLE now (round integer);
INSERT INTO now VALUES (1);
CREATE VIEW current AS SELECT * FROM first WHERE 1 = (SELECT round FROM now) UNION ALL SELECT * FROM second WHERE 2 = (SELECT round FROM now);
CREATE VIEW timed AS SELECT id, kind, local_at + (SELECT round FROM now) * interval '1 day' AS changed FROM current;
CREATE VIEW events AS SELECT id, kind, CASE WHEN id % 3 = 0 AND round = 2 THEN 'delete' ELSE 'update_postimage' END AS _change_type, local_at + round * interval '1 day' AS _commit_timestamp FROM src;
CREATE TABLE taken (id integer, kind text, at timestamptz, dl_ts_captured timestamp NOT NULL, dl_ts_delimited timestamp NOT NULL, PRIMARY KEY (id, dl_ts_captured));
CREATE UNIQUE INDEX ON taken (id) WHERE dl_ts_delimited = '9999-12-31 00:00:00';
CREATE VIEW narrow AS SELECT id, kind, at FROM current;
SELECT register_history('by_reference', 'current', 'id', zone => 'Europe/Berlin', existing_predicate => $$existing.day >= '2026-10-24' and helper('x') = 'helper of public x'$$,
                        dedup_order_by => 'span, local_at::timestamptz');
-- Rules that show their settings: time and date texts, ambiguous dates, intervals, bytea, floats, names, = null.
SELECT register_rule('by_reference', 'note', column_name => 'kind', expression => $$
    concat_ws('|', kind, at::text, local_at::timestamptz::text, day::timestamptz::text, to_char(at, 'Dy DD TMMon HH24:MI TZ'), extract(hour from at), span, bytes, f,
              ('10/11/12'::text)::date, helper(coalesce(kind, 'null')), local_at::timestamptz > timestamptz '2026-10-25 02:30', E'\\a' || '\a')$$);
SELECT register_rule('by_reference', 'null', filter => 'kind = null is null');
SELECT register_history('by_source', 'timed', 'id', zone => 'Europe/Berlin', source_timestamp_column => 'changed', time_axis_unit => '1 second', late => 'insert');
SELECT register_history('taken', 'narrow', 'id', zone => 'Europe/Berlin', time_axis_unit => '1 hour');
SELECT register_history('by_events', 'events', 'id', zone => 'Europe/Berlin', time_axis_unit => '0', intermediate_versions => true);
SELECT target, time_axis_unit, source_timestamp_column, search_path FROM daybook.histories ORDER BY target::text;
CREATE TABLE result (session text, history text, rows bigint, digest text);
CREATE PROCEDURE note_result(session text) LANGUAGE plpgsql AS $$
DECLARE
    h text;
BEGIN
    FOREACH h IN ARRAY array['by_reference', 'by_source', 'taken', 'by_events'] LOOP
        EXECUTE pg_catalog.format('TRUNCATE public.%I', h);
        UPDATE daybook.history SET newest = NULL, source_dated_until = NULL;
        FOR r IN 1..2 LOOP
            UPDATE public.now SET round = r;
            PERFORM public.historize(('public.' || h)::pg_catalog.regclass, reference_timestamp => timestamptz 'epoch' + pg_catalog.make_interval(secs => 1800000000 + r * 86400));
        END LOOP;
        EXECUTE pg_catalog.format($q$
            INSERT INTO public.result SELECT $1, %2$L, count(*), md5(string_agg(f::text, E'\n' ORDER BY id, n))
            FROM (SELECT id, encode(convert_to(kind, 'UTF8'), 'hex'), extract(epoch FROM dl_ts_captured) AS n, extract(epoch FROM dl_ts_delimited), %3$s FROM public.%1$I) AS f$q$,
            h, h, CASE h WHEN 'taken' THEN 'extract(epoch FROM at)' WHEN 'by_reference' THEN
                $q$encode(dl_hash, 'hex'), extract(epoch FROM at), extract(epoch FROM local_at), day - date 'epoch', extract(epoch FROM span), encode(bytes, 'hex'), encode(float8send(f), 'hex')$q$
                ELSE $q$encode(dl_hash, 'hex')$q$ END)
        USING session;
        IF (SELECT count(*) FROM daybook.check_history(('public.' || h)::pg_catalog.regclass)) > 0 THEN
            RAISE WARNING '% is broken under %', h, session;
        END IF;
    END LOOP;
END $$;
CALL note_result('UTC, ISO');
SELECT history, rows FROM result ORDER BY history;
DO $$
DECLARE
    s text[];
BEGIN
    FOREACH s SLICE 1 IN ARRAY array[['UTC', 'ISO, DMY', ''], ['Asia/Tokyo', 'SQL, MDY', 'public'], ['America/St_Johns', 'Postgres, DMY', 'pg_temp, public'], ['Pacific/Kiritimati', 'German, DMY', ''],
            ['<+03>-3', 'Postgres, MDY', 'public'], ['Europe/Berlin', 'SQL, DMY', 'pg_temp, public'], ['Asia/Tokyo', 'German, DMY', ''], ['America/St_Johns', 'ISO, YMD', 'public']] LOOP
        PERFORM set_config('TimeZone', s[1], true), set_config('DateStyle', s[2], true), set_config('search_path', s[3], true);
        CALL public.note_result(format('%s, %s, %L', s[1], s[2], s[3]));
    END LOOP;
END $$;
-- Other settings, some at a time: those that read and write values, and those that lead to other plans.
DO $$
DECLARE
    g text; s text;
BEGIN
    FOREACH g IN ARRAY array[
            'IntervalStyle=iso_8601;bytea_output=escape;extra_float_digits=-10;transform_null_equals=on;standard_conforming_strings=off;lc_time=POSIX;array_nulls=off;xmloption=document',
            'jit=off;IntervalStyle=sql_standard;extra_float_digits=0;quote_all_identifiers=on;backslash_quote=off;escape_string_warning=off;row_security=off;check_function_bodies=off;default_text_search_config=german',
            'client_encoding=LATIN1;default_transaction_isolation=serializable;session_replication_role=replica;plan_cache_mode=force_generic_plan;jit=off',
            'jit=off;enable_hashagg=off;enable_seqscan=off;enable_hashjoin=off;plan_cache_mode=force_custom_plan;work_mem=64kB', 'jit=off;enable_mergejoin=off;enable_nestloop=off;enable_sort=off;enable_material=off',
            'jit=off;from_collapse_limit=1;join_collapse_limit=1;enable_tidscan=off;enable_incremental_sort=off;geqo_threshold=2', 'jit=off;max_parallel_workers_per_gather=4;parallel_setup_cost=0;min_parallel_table_scan_size=0'] LOOP
        FOREACH s IN ARRAY string_to_array(g, ';') LOOP
            PERFORM set_config(split_part(s, '=', 1), split_part(s, '=', 2), true);
        END LOOP;
        CALL public.note_result(g);
        FOREACH s IN ARRAY string_to_array(g, ';') LOOP
            PERFORM set_config(n.name, CASE n.name WHEN 'client_encoding' THEN 'UTF8' ELSE n.reset_val || coalesce(n.unit, '') END, true) FROM pg_settings AS n WHERE lower(n.name) = lower(split_part(s, '=', 1));
        END LOOP;
    END LOOP;
END $$;
RESET search_path;
-- Each history came out the same each time.
SELECT history, count(*) AS sessions, min(rows) AS least_rows, max(rows) AS most_rows, count(DISTINCT digest) AS tables FROM result GROUP BY history ORDER BY history;
SELECT r.history, r.session, r.rows FROM result AS r JOIN result AS o ON o.session = 'UTC, ISO' AND o.history = r.history WHERE r.digest <> o.digest ORDER BY 1, 2 LIMIT 20;
-- In them, times are read and shown in the zone of the history.
SELECT id, kind FROM by_reference WHERE id IN (1, 8) AND dl_ts_delimited > '9000-01-01' ORDER BY id;
SELECT id, dl_ts_captured, dl_ts_delimited FROM by_source WHERE id = 9 ORDER BY 2;
SELECT id, dl_ts_captured, dl_ts_delimited FROM taken WHERE id = 9 ORDER BY 2;
SELECT id, dl_ts_captured, dl_ts_delimited FROM by_events WHERE id = 9 ORDER BY 2;
-- A reference that is passed is the session's instant; one that is set, like the horizon, is text that means UTC, whatever the session.
CREATE VIEW three AS SELECT id, kind FROM first WHERE id < 3;
SET TimeZone = 'Asia/Tokyo';
SET DateStyle = 'SQL, DMY';
SELECT status FROM historize('three', 'by_argument', 'id', reference_timestamp => '03/02/2026 09:00:00');
SET daybook.reference_timestamp = '2026-02-03 00:00:00';
SELECT status FROM historize('three', 'by_setting', 'id');
SET daybook.reference_timestamp = '2026-02-03 10:00:00+09';
SELECT status FROM historize('three', 'by_setting', 'id');
SET daybook.reference_timestamp = '03/02/2026 09:00:00';
SELECT status FROM historize('three', 'by_setting', 'id'); :sqlstate
SET daybook.reference_timestamp = 'last week';
SELECT status FROM historize('three', 'by_setting', 'id'); :sqlstate
RESET daybook.reference_timestamp;
SELECT DISTINCT dl_ts_captured, dl_ts_delimited FROM by_argument;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
SELECT DISTINCT dl_ts_captured, dl_ts_delimited FROM by_argument;
SELECT DISTINCT dl_ts_captured, dl_ts_delimited FROM by_setting;
SELECT reference_timestamp, status FROM daybook.runs WHERE target = 'by_setting'::regclass ORDER BY run_id;
-- The session has its settings back, also after an error, and after one that was reported.
SET TimeZone = 'Asia/Tokyo';
SET DateStyle = 'SQL, DMY';
SET search_path = pg_catalog, public;
SET IntervalStyle = 'iso_8601';
CREATE VIEW public.settings AS SELECT current_setting('TimeZone') AS zone, current_setting('DateStyle') AS style, current_setting('search_path') AS path, current_setting('IntervalStyle') AS intervals,
    current_setting('row_security') AS row_security, current_setting('lock_timeout') AS lock_timeout, current_setting('enable_hashjoin') AS hash, current_setting('enable_mergejoin') AS merge, current_setting('jit') AS jit;
SELECT * FROM public.settings;
SELECT status FROM public.historize('public.by_reference', reference_timestamp => '2030-01-01 00:00+00');
SELECT * FROM public.settings;
SELECT status FROM public.historize('public.by_reference', reference_timestamp => '2029-01-01 00:00+00'); :sqlstate
SELECT * FROM public.settings;
SELECT status, error FROM public.historize('public.by_reference', params => '[]', on_error => 'report');
SELECT * FROM public.settings;
SELECT status FROM public.historize('public.by_reference', reference_timestamp => '2030-01-02 00:00+00', dry_run => true);
SELECT public.create_history_views('public.by_reference');
SELECT status FROM public.rewind_history('public.by_reference', '2029-12-31 00:00+00');
SELECT count(*) FROM daybook.check_history('public.by_reference');
SELECT public.register_history('public.by_reference', 'public.current', 'id', zone => 'Asia/Tokyo'); :sqlstate
SELECT * FROM public.settings;
-- A setting made for the transaction alone is back for it, and gone after it.
BEGIN;
SET LOCAL TimeZone = 'America/St_Johns';
SELECT status FROM public.historize('public.by_reference', reference_timestamp => '2031-01-01 00:00+00');
SELECT current_setting('TimeZone');
COMMIT;
SELECT current_setting('TimeZone');
-- What a rule's function sets stays inside the run, what a trigger sets as well.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
RESET IntervalStyle;
RESET search_path;
CREATE FUNCTION sets() RETURNS void LANGUAGE sql AS $$ SELECT set_config('TimeZone', 'Asia/Tokyo', false), set_config('application_name', 'changed', false), set_config('my.setting', 'changed', false),
    set_config('enable_hashjoin', 'off', false) $$;
CREATE FUNCTION sets(text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM sets(); RETURN $1; END $$;
CREATE FUNCTION sets_too() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM sets(); RETURN NEW; END $$;
CREATE VIEW own_settings AS SELECT current_setting('TimeZone') AS zone, current_setting('application_name') <> 'changed' AS name_kept, coalesce(current_setting('my.setting', true), '') AS mine, current_setting('enable_hashjoin') AS hash;
SELECT register_rule('by_setting', 'sets', column_name => 'kind', expression => 'sets(kind)');
SELECT status FROM historize('by_setting', reference_timestamp => '2030-01-01 00:00+00');
SELECT * FROM own_settings;
SELECT unregister_rule('by_setting', 'sets');
CREATE TRIGGER sets BEFORE INSERT OR UPDATE ON by_setting FOR EACH ROW EXECUTE FUNCTION sets_too();
INSERT INTO src SELECT 2, at, local_at, day, span, bytes, f, 'new', 3 FROM src WHERE id = 2 AND round = 1;
CREATE OR REPLACE VIEW three AS SELECT id, kind FROM src WHERE id < 3 AND round IN (1, 3) AND NOT (id = 2 AND round = 1);
SELECT status, versions_opened FROM historize('by_setting', reference_timestamp => '2030-01-02 00:00+00');
SELECT * FROM own_settings;

-- Names: the path at registration counts, not the one of the caller, nor his temporary objects.
CREATE SCHEMA other;
CREATE FUNCTION other.helper(text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'helper of other ' || $1 $$;
CREATE FUNCTION pg_temp.helper(text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'helper of pg_temp ' || $1 $$;
CREATE TEMP TABLE current (LIKE public.first);
CREATE TEMP TABLE by_reference (LIKE public.by_reference);
SET search_path = other, public;
SELECT status FROM historize('public.by_reference', reference_timestamp => '2032-01-01 00:00+00');
SELECT DISTINCT split_part(kind, '|', 11) AS helper FROM public.by_reference WHERE kind LIKE 'a|%' ORDER BY 1;
-- A name is found as the caller finds it: his own temporary table comes first, and is no history.
\set VERBOSITY sqlstate
SELECT status FROM historize('by_reference'); :sqlstate
SELECT status FROM historize('public.current', 'by_reference', 'id'); :sqlstate
\set VERBOSITY default
-- A temporary source can be run from, by its session; it is not what later runs look up.
CREATE TEMP TABLE passing AS SELECT * FROM public.first LIMIT 0;
INSERT INTO passing SELECT * FROM public.first WHERE id = 1;
SELECT status, versions_opened, versions_closed FROM historize('passing', 'public.by_reference', reference_timestamp => '2032-01-02 00:00+00', dry_run => true); :sqlstate
SET search_path = public, pg_temp;
SELECT status FROM historize('by_reference', reference_timestamp => '2032-01-03 00:00+00');
-- Registering a rule keeps the path of the history; registering the history anew takes the present one.
SET search_path = other, public, pg_temp;
SELECT register_rule('public.by_reference', 'more', filter => 'true');
SELECT search_path FROM daybook.histories WHERE target = 'public.by_reference'::regclass;
SELECT register_history('public.by_reference', 'public.current', 'id', zone => 'Europe/Berlin', dedup_order_by => 'span, local_at::timestamptz');
SELECT search_path FROM daybook.histories WHERE target = 'public.by_reference'::regclass;
SELECT status FROM historize('public.by_reference', reference_timestamp => '2033-01-01 00:00+00');
SELECT DISTINCT split_part(kind, '|', 11) AS helper FROM public.by_reference WHERE kind LIKE 'a|%' AND dl_ts_delimited > '9000-01-01' ORDER BY 1;
-- With an empty path only what is qualified is found.
SET search_path = '';
SELECT public.register_history('public.by_reference', 'public.current', 'id', zone => 'Europe/Berlin', existing_predicate => $$helper('x') is not null and existing.id > 0$$); :sqlstate
SELECT public.register_history('unqualified', 'public.first', 'id'); :sqlstate
