-- Refused registrations: each with its SQLSTATE, message, DETAIL and HINT. Nothing is registered by any of them.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small

-- Grain.
SELECT register_load('fact', 'src', 'at', grain => '0'); :sqlstate
SELECT register_load('fact', 'src', 'at', grain => '-1 day'); :sqlstate
SELECT register_load('fact', 'src', 'at', grain => '-15 minutes'); :sqlstate
SELECT register_load('fact', 'src', 'at', grain => '-1 month'); :sqlstate
SELECT register_load('fact', 'src', 'at', grain => '1 day 12 hours'); :sqlstate
SELECT register_load('fact', 'src', 'at', grain => '1 month 1 day'); :sqlstate
SELECT register_load('fact', 'src', 'at', grain => '1 year -365 days'); :sqlstate
-- Zone: names of the server's list only; the sign of POSIX zones means the opposite of what it seems to.
SELECT register_load('fact', 'src', 'at', zone => 'Mars/Olympus'); :sqlstate
SELECT register_load('fact', 'src', 'at', zone => ''); :sqlstate
SELECT register_load('fact', 'src', 'at', zone => 'UTC+3'); :sqlstate
SELECT register_load('fact', 'src', 'at', zone => '+03'); :sqlstate
-- Origin, settle, extra_columns, history_starts.
SELECT register_load('fact', 'src', 'at', origin => 'infinity'); :sqlstate
SELECT register_load('fact', 'src', 'at', settle => '-1 second'); :sqlstate
SELECT register_load('fact', 'src', 'at', settle => '1 month'); :sqlstate
SELECT register_load('fact', 'src', 'at', extra_columns => 'drop'); :sqlstate
SELECT register_load('fact', 'src', 'at', history_starts => '2026-09-01 12:00'); :sqlstate
SELECT register_load('fact', 'src', 'at', history_starts => 'infinity'); :sqlstate

-- Columns.
SELECT register_load('fact', 'src', 'time'); :sqlstate
SELECT register_load('fact', 'src', ''); :sqlstate
SELECT register_load('fact', 'src', 'kind'); :sqlstate
SELECT register_load('fact', 'src', 'at', stamp_column => 'stamp'); :sqlstate
SELECT register_load('fact', 'src', 'at', stamp_column => 'kind'); :sqlstate
SELECT register_load('fact', 'src', 'at', stamp_column => 'at'); :sqlstate
SELECT register_load('fact', 'src', 'interval_start'); :sqlstate
SELECT register_load('fact', 'src', 'at', stamp_column => 'loaded_at', loaded_at_column => 'loaded_at'); :sqlstate
SELECT register_load('fact', 'src', 'at', loaded_at_column => 'at'); :sqlstate
-- The stamp and the time of the load cannot share a column.
CREATE TABLE fact_both (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz);
\set VERBOSITY sqlstate
SELECT register_load('fact_both', 'src', 'at', loaded_at_column => 'interval_start');
\set VERBOSITY default
-- The time column has the same type on both sides.
CREATE TABLE fact_local (id integer, kind text, amount numeric, at timestamp, interval_start timestamp);
SELECT register_load('fact_local', 'src', 'at'); :sqlstate
-- A stamp holds every boundary exactly.
CREATE TABLE fact_date (id integer, kind text, amount numeric, at timestamptz, interval_start date);
SELECT register_load('fact_date', 'src', 'at', grain => '1 hour'); :sqlstate
SELECT register_load('fact_date', 'src', 'at', origin => '2001-01-01 06:00'); :sqlstate
CREATE TABLE fact_stamp (id integer, kind text, amount numeric, at timestamptz, interval_start timestamp);
SELECT register_load('fact_stamp', 'src', 'at', grain => '24 hours'); :sqlstate
-- A grain finer than the days of a date column.
CREATE TABLE src_date (id integer, at date);
CREATE TABLE fact_by_date (id integer, at date, interval_start date);
SELECT register_load('fact_by_date', 'src_date', 'at', grain => '12 hours'); :sqlstate
SELECT register_load('fact_by_date', 'src_date', 'at', grain => '1440 minutes'); :sqlstate
SELECT register_load('fact_by_date', 'src_date', 'at', origin => '2001-01-01 00:00:01'); :sqlstate

-- Missing, extra and wrongly typed columns, with both lists.
CREATE TABLE less (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('less', 'src', 'at'); :sqlstate
CREATE TABLE more (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz, note text, more text);
SELECT register_load('more', 'src', 'at'); :sqlstate
SELECT register_load('more', 'src', 'at', extra_columns => 'ignore'); :sqlstate
CREATE TABLE other (id integer, sort text, amount numeric, at timestamptz, interval_start timestamptz);
SELECT register_load('other', 'src', 'at'); :sqlstate
SELECT register_load('other', 'src', 'at', extra_columns => 'ignore'); :sqlstate
CREATE TABLE typed (id smallint, kind integer, amount numeric, at timestamptz, interval_start timestamptz);
SELECT register_load('typed', 'src', 'at'); :sqlstate
-- Columns that daybook sets, or the target itself.
CREATE TABLE src_stamped (id integer, at timestamptz, interval_start timestamptz, loaded_at timestamptz);
CREATE TABLE fact_stamped (id integer, at timestamptz, interval_start timestamptz, loaded_at timestamptz);
SELECT register_load('fact_stamped', 'src_stamped', 'at'); :sqlstate
CREATE TABLE generated (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz);
ALTER TABLE generated DROP COLUMN amount, ADD COLUMN amount numeric GENERATED ALWAYS AS (id * 2) STORED;
SELECT register_load('generated', 'src', 'at'); :sqlstate
CREATE TABLE identity (id integer GENERATED ALWAYS AS IDENTITY, kind text, amount numeric, at timestamptz, interval_start timestamptz);
SELECT register_load('identity', 'src', 'at'); :sqlstate

-- Keys.
SELECT register_load('fact', 'src', 'at', keys => 'nr'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'interval_start'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id, id'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => ''); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id kind'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => '"id'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => array[]::text[]); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => array['id', null]); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => array['id', 'id']); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => array[repeat('x', 64)]); :sqlstate
SELECT register_load('fact', 'src', 'at', dedup_order_by => 'id'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => ''); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'at; drop table src'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'at limit 1'); :sqlstate
\set VERBOSITY terse
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'nothing'); :sqlstate
\set VERBOSITY sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'random()');
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'at, now()');
\set VERBOSITY default

-- Nothing is registered.
SELECT count(*) FROM daybook.loads;
SELECT count(*) FROM daybook.target;

-- Rules.
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('nowhere', 'r', filter => 'true'); :sqlstate
SELECT register_rule('', 'r', filter => 'true'); :sqlstate
SELECT register_rule('fact', '', filter => 'true'); :sqlstate
SELECT register_rule('fact', '  ', filter => 'true'); :sqlstate
SELECT register_rule('fact', 'r'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true', column_name => 'kind', expression => 'kind'); :sqlstate
SELECT register_rule('fact', 'r', column_name => 'kind'); :sqlstate
SELECT register_rule('fact', 'r', expression => 'kind'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true', before => 'nothing'); :sqlstate
-- Not one expression.
SELECT register_rule('fact', 'r', filter => ''); :sqlstate
SELECT register_rule('fact', 'r', filter => '-- nothing'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'amount >'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true; select 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true) or (true'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true, true'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true from src'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true where true'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true union select false'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true limit 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true order by 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true as t'); :sqlstate
SELECT register_rule('fact', 'r', filter => '*'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'source.*'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'select true'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'distinct true'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'true for update'); :sqlstate
SELECT register_rule('fact', 'r', filter => '/* open'); :sqlstate
SELECT register_rule('fact', 'r', filter => '$1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'delete from src'); :sqlstate
-- Volatile, or asks the clock or the session.
CREATE FUNCTION unsteady(integer) RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT $1 > 0';
SELECT register_rule('fact', 'r', filter => 'random() < 0.5'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'unsteady(id)'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'exists (select from src as s where unsteady(s.id))'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'at < clock_timestamp()'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'at < now()'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'at < current_timestamp'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'at < localtimestamp'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'at < current_date'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'kind = current_user'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'kind = session_user'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'kind = current_schema'); :sqlstate
SELECT register_rule('fact', 'r', filter => $$kind = current_setting('application_name')$$); :sqlstate
SELECT register_rule('fact', 'r', filter => $$at < 'now'$$); :sqlstate
SELECT register_rule('fact', 'r', filter => $$at < timestamptz 'today'$$); :sqlstate
SELECT register_rule('fact', 'r', filter => $$at::date < date 'yesterday'$$); :sqlstate
SELECT register_rule('fact', 'r', filter => $$at < 'tomorrow'::timestamptz$$); :sqlstate
SELECT register_rule('fact', 'r', filter => 'age(at) > interval ''1 day'''); :sqlstate
SELECT register_rule('fact', 'r', filter => $$at < kind::timestamptz$$); :sqlstate
SELECT unregister_rule('fact', 'r'); :sqlstate
-- More than one row at a time.
SELECT register_rule('fact', 'r', filter => 'count(*) > 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'row_number() over () > 1'); :sqlstate
SELECT register_rule('fact', 'r', column_name => 'id', expression => 'generate_series(1, 2)'); :sqlstate
-- Names and types.
SELECT register_rule('fact', 'r', filter => 'nothing > 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'nothing(id)'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'amount'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'kind > 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'interval_start > at'); :sqlstate
SELECT register_rule('fact', 'r', column_name => 'id', expression => 'kind'); :sqlstate
SELECT register_rule('fact', 'r', column_name => 'id', expression => 'amount'); :sqlstate
SELECT register_rule('fact', 'r', column_name => 'nothing', expression => 'kind'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'param.since > 1 and param.since > ''a'' and kind'); :sqlstate
-- The columns that daybook owns.
SELECT register_rule('fact', 'r', column_name => 'at', expression => 'at + interval ''1 day'''); :sqlstate
SELECT register_rule('fact', 'r', column_name => 'interval_start', expression => 'at'); :sqlstate
SELECT register_rule('fact', 'r', column_name => 'loaded_at', expression => 'at'); :sqlstate
-- A rule that was there before its load is checked when the load comes.
CREATE TABLE fact2 (LIKE fact);
SELECT register_rule('fact2', 'moves', column_name => 'at', expression => 'at + interval ''1 day''');
SELECT register_load('fact2', 'src', 'at'); :sqlstate
SELECT unregister_rule('fact2', 'moves');
SELECT register_rule('fact2', 'lost', filter => 'nothing > 1');
SELECT register_load('fact2', 'src', 'at'); :sqlstate
-- Unregistering what is not there.
SELECT unregister_rule('fact', 'nothing'); :sqlstate
SELECT unregister_load('fact2'); :sqlstate
SELECT unregister_load('src'); :sqlstate
SELECT register_rule('fact', 'one', filter => 'true');
SELECT register_rule('fact', 'two', filter => 'true');
SELECT unregister_rule('fact', 'nothing'); :sqlstate
SELECT target, name, position FROM daybook.rules ORDER BY target::text, position;
SELECT target FROM daybook.loads ORDER BY target::text;
