-- Keys: unique in each grain interval, checked on the rows that would be written; or the first of each is kept.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, part text, amount numeric, seen integer, at timestamptz);
INSERT INTO src VALUES
    (1, 'a', 10, 1, '2026-09-01 01:00+00'), (1, 'a', 11, 2, '2026-09-01 02:00+00'), (1, 'b', 12, 1, '2026-09-01 03:00+00'),
    (2, 'a', 20, 1, '2026-09-01 04:00+00'), (1, 'a', 13, 3, '2026-09-02 01:00+00'), (3, 'a', 30, 1, '2026-09-02 02:00+00');
CREATE TABLE fact (id integer, part text, amount numeric, seen integer, at timestamptz, interval_start timestamptz);
-- Unique in a grain interval, so that wide and daily agree: id 1 may come again the next day.
SELECT register_load('fact', 'src', 'at', keys => 'id, part, seen');
SELECT interval_start, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT interval_start, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT register_load('fact', 'src', 'at', keys => 'id, part');
SELECT interval_start, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-03 00:00+00') ORDER BY 1;
-- Refused before anything is written, in both widths and in a dry run, whatever else is in the interval.
SELECT interval_start, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT interval_start, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT interval_start, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', dry_run => true, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT count(*), sum(amount) FROM fact;
-- Ten keys at most are listed.
INSERT INTO src SELECT 100 + n, 'z', 0, 0, '2026-09-01 05:00+00' FROM generate_series(1, 12) AS n, generate_series(1, 2);
SELECT interval_start, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
DELETE FROM src WHERE part = 'z';
-- Rules come first: what they drop or change counts.
SELECT register_rule('fact', 'last', filter => 'seen <> 1 or id <> 1');
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT register_rule('fact', 'last', column_name => 'part', expression => $$part || seen$$);
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT register_rule('fact', 'last', column_name => 'part', expression => $$'same'$$);
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT unregister_rule('fact', 'last');

-- dedup_order_by keeps the first of each, and counts the others as dropped.
SELECT register_load('fact', 'src', 'at', keys => 'id, part', dedup_order_by => 'seen desc');
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT id, part, amount, at FROM fact ORDER BY at;
CREATE TABLE daily AS TABLE fact;
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT count(*) AS rows_that_differ FROM ((TABLE fact EXCEPT ALL TABLE daily) UNION ALL (TABLE daily EXCEPT ALL TABLE fact)) AS d;
SELECT dropped_by FROM daybook.runs ORDER BY run_id DESC LIMIT 1;
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'part desc nulls first, amount');
SELECT interval_start, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT id, part, amount, at FROM fact ORDER BY at;
-- A row that a filter drops is not the first; rules see all rows before one is chosen.
SELECT register_rule('fact', 'no b', filter => $$part <> 'b'$$);
SELECT interval_start, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00') ORDER BY 1;
SELECT id, part, amount, at FROM fact ORDER BY at;
SELECT dropped_by FROM daybook.runs ORDER BY run_id DESC LIMIT 1;
SELECT unregister_rule('fact', 'no b');
-- Ties are refused, at the first place and no other.
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'seen');
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'seen desc');
SELECT interval_start, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00') ORDER BY 1;
-- NULL in a key, in part or in whole, also where one would be kept.
INSERT INTO src VALUES (4, NULL, 1, 1, '2026-09-01 06:00+00'), (NULL, NULL, 1, 1, '2026-09-01 06:00+00');
SELECT register_load('fact', 'src', 'at', keys => 'id, part', dedup_order_by => 'seen desc');
SELECT interval_start FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT register_rule('fact', 'whole', filter => 'id is not null and part is not null');
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00') ORDER BY 1;
-- Equality is that of the type: 1.0 is 1.00, and char(3) ignores trailing blanks.
CREATE TABLE src_types (n numeric, c character(3), f float8, at timestamptz);
INSERT INTO src_types VALUES (1.0, 'a', 'NaN', '2026-09-01 01:00+00'), (1.00, 'a  ', 'NaN', '2026-09-01 01:00+00');
CREATE TABLE fact_types (n numeric, c character(3), f float8, at timestamptz, interval_start timestamptz);
SELECT register_load('fact_types', 'src_types', 'at', keys => 'n, c, f');
SELECT interval_start FROM load_interval('fact_types', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
-- Odd names.
CREATE TABLE "src ""odd""" ("the ""key""" integer, "K, 2" integer, at timestamptz);
INSERT INTO "src ""odd""" VALUES (1, 2, '2026-09-01 01:00+00'), (1, 2, '2026-09-01 01:00+00');
CREATE TABLE "fact ""odd""" ("the ""key""" integer, "K, 2" integer, at timestamptz, interval_start timestamptz);
SELECT register_load('"fact ""odd"""', '"src ""odd"""', 'at', keys => array['the "key"', 'K, 2']);
SELECT keys FROM daybook.loads WHERE target = '"fact ""odd"""'::regclass;
SELECT register_load('"fact ""odd"""', '"src ""odd"""', 'at', keys => '"the ""key""", "K, 2"');
SELECT keys FROM daybook.loads WHERE target = '"fact ""odd"""'::regclass;
SELECT interval_start FROM load_interval('"fact ""odd"""', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
