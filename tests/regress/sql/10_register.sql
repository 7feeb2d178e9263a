-- register_load and unregister_load: create or replace, what they keep, and what a run finds again.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
-- Names as Postgres, psql and dbt write them.
CREATE SCHEMA dw;
CREATE TABLE dw.fact2 (LIKE fact);
CREATE TABLE dw."Fact" (LIKE fact);
SELECT register_load('fact', 'src', 'at');
SELECT register_load('dw.fact2', 'public.src', time_column => 'at', grain => '1 hour', zone => 'europe/berlin', origin => '2020-01-01 00:30',
    keys => '{id,kind}', dedup_order_by => 'amount desc nulls last, id', history_starts => '2026-09-01 00:30', settle => '1 day 2 hours',
    extra_columns => 'ignore');
SELECT register_load('"dw"."Fact"', '"public"."src"', 'at', keys => array['id', 'kind']);
\x on
SELECT * FROM daybook.loads ORDER BY target::text COLLATE "C";
\x off
-- The same again changes nothing, not even the rows of the registry.
SELECT register_load('fact', 'src', 'at');
CREATE TABLE versions AS SELECT 'load' AS kind, target, xmin::text AS version FROM daybook.load;
SELECT register_load('fact', 'src', 'at');
SELECT register_load('dw.fact2', 'src', 'at', '60 minutes', 'Europe/Berlin', '2020-01-01 00:30',
    keys => array['id', 'kind'], dedup_order_by => 'amount desc nulls last, id', history_starts => timestamp '2026-09-01 00:30', settle => '1 day 2 hours',
    extra_columns => 'ignore');
SELECT count(*) AS loads_rewritten FROM versions AS v JOIN daybook.load AS l ON l.target = v.target WHERE l.xmin::text <> v.version;
-- A changed option replaces the load; one that is left out has its default again.
SELECT register_load('dw.fact2', 'src', 'at', zone => 'America/New_York');
SELECT target, grain, zone, origin, keys, dedup_order_by, history_starts, settle, extra_columns FROM daybook.loads WHERE target = 'dw.fact2'::regclass;
-- history_starts is read in the load's zone.
SELECT register_load('dw.fact2', 'src', 'at', zone => 'America/New_York', history_starts => '2026-09-01');
SELECT history_starts FROM daybook.loads WHERE target = 'dw.fact2'::regclass;
SELECT register_load('dw.fact2', 'src', 'at', zone => 'America/New_York', history_starts => '2026-09');
SELECT history_starts FROM daybook.loads WHERE target = 'dw.fact2'::regclass;
-- Unregistering leaves rows, rules and the record of intervals.
SELECT register_rule('fact', 'r', filter => 'id < 4');
SELECT rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SELECT unregister_load('fact');
SELECT target, name FROM daybook.rules;
SELECT count(*) FROM fact;
SELECT interval_start, status, is_current FROM daybook.interval_log ORDER BY interval_start;
SELECT register_load('fact', 'src', 'at');
SELECT interval_start, rows_dropped, rows_deleted, rows_inserted FROM load_interval('fact', NULL, as_of => '2026-09-03 00:00+00');
-- settle: an interval closes so long after its end.
SELECT register_load('fact', 'src', 'at', settle => '2 hours 30 minutes');
SELECT daybook.last_closed('fact', '2026-09-03 02:29:59.999999+00'), daybook.last_closed('fact', '2026-09-03 02:30+00');
SELECT interval_start, status FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-03 02:29:59.999999+00'); :sqlstate
SELECT interval_start, status FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-03 02:30+00'); :sqlstate
-- Registering and loading in one transaction, and taking it back.
BEGIN;
CREATE TABLE made (LIKE fact);
SELECT register_load('made', 'src', 'at');
SELECT rows_inserted FROM load_interval('made', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
ROLLBACK;
SELECT target FROM daybook.loads ORDER BY target::text;
SELECT target FROM daybook.target ORDER BY target::text;
