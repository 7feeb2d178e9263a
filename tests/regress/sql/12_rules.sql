-- Rules: their order, what they see, and the version that names them.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
SELECT register_load('fact', 'src', 'at');
CREATE FUNCTION rv() RETURNS text LANGUAGE sql AS $$
    SELECT DISTINCT rules_version FROM load_interval('fact', '2026-09-01', '2026-09-02', dry_run => true, as_of => '2026-09-03 00:00+00') $$;
SET client_min_messages = warning;

-- In order, later ones seeing what earlier ones left.
SELECT register_rule('fact', 'double', column_name => 'amount', expression => 'amount * 2');
SELECT register_rule('fact', 'large', filter => 'amount > 30');
SELECT register_rule('fact', 'minus', column_name => 'amount', expression => '-amount');
SELECT sum(rows_read) AS read, sum(rows_dropped) AS dropped, sum(rows_inserted) AS inserted
FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SELECT id, amount FROM fact ORDER BY id;
-- Another order, another result: the filter first.
SELECT register_rule('fact', 'large', filter => 'amount > 30', before => 'double');
SELECT position, name, kind, column_name, expression FROM daybook.rules ORDER BY position;
SELECT sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00');
SELECT id, amount FROM fact ORDER BY id;
-- The same name is replaced in place, also by a rule of another kind.
SELECT register_rule('fact', 'double', column_name => 'amount', expression => 'amount * 3');
SELECT position, name, kind, expression FROM daybook.rules ORDER BY position;
SELECT register_rule('fact', 'double', filter => 'true');
SELECT position, name, kind, column_name, expression FROM daybook.rules ORDER BY position;
-- before its own name it stays where it is.
SELECT register_rule('fact', 'double', filter => 'true', before => 'minus');
SELECT position, name FROM daybook.rules ORDER BY position;
SELECT register_rule('fact', 'double', filter => 'true', before => 'double'); :sqlstate
SELECT unregister_rule('fact', 'double');
SELECT unregister_rule('fact', 'large');
SELECT position, name FROM daybook.rules ORDER BY position;
SELECT unregister_rule('fact', 'minus');

-- NULL in a filter drops the row, as false does.
SELECT register_rule('fact', 'null', filter => $$nullif(kind, 'a') = 'b'$$);
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SELECT register_rule('fact', 'null', filter => 'null::boolean');
SELECT interval_start, status, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SELECT unregister_rule('fact', 'null');

-- A filter guards the casts and divisions of the rules after it, in both widths and with keys.
CREATE TABLE src_text (id text, at timestamptz);
INSERT INTO src_text SELECT CASE WHEN n % 3 = 0 THEN 'no number' ELSE n::text END, '2026-09-01 00:00+00'::timestamptz + n * interval '1 minute'
FROM generate_series(1, 3000) AS n;
CREATE TABLE fact_number (id integer, at timestamptz, interval_start timestamptz);
SELECT register_rule('fact_number', 'numbers', filter => $$id ~ '^[0-9]+$'$$);
SELECT register_rule('fact_number', 'not too small', filter => $$1000 / (id::integer - 100) is not null$$);
SELECT register_rule('fact_number', 'not 100', filter => $$id <> '100'$$, before => 'not too small');
SELECT register_rule('fact_number', 'cast', column_name => 'id', expression => 'id::integer');
SELECT register_load('fact_number', 'src_text', 'at');
SELECT interval_start, rows_read, rows_dropped, rows_inserted FROM load_interval('fact_number', '2026-09-01', '2026-09-04', as_of => '2026-09-04 00:00+00');
SELECT sum(rows_read) AS read, sum(rows_dropped) AS dropped, sum(rows_inserted) AS inserted
FROM load_interval('fact_number', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-04 00:00+00');
SELECT register_load('fact_number', 'src_text', 'at', keys => 'id');
SELECT sum(rows_read) AS read, sum(rows_dropped) AS dropped, sum(rows_inserted) AS inserted
FROM load_interval('fact_number', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-04 00:00+00');
SELECT count(*), sum(id) FROM fact_number;
SELECT jsonb_pretty(dropped_by) FROM daybook.runs ORDER BY run_id DESC LIMIT 1;

-- What a rule sees: columns without a qualifier, the row as source, and columns that earlier rules made.
ALTER TABLE fact ADD COLUMN note text DEFAULT 'default';
SELECT register_rule('fact', 'note', column_name => 'note', expression => $$source.kind || ':' || amount$$);
SELECT register_rule('fact', 'longer', column_name => 'note', expression => $$note || '/' || (source).id$$);
SELECT register_rule('fact', 'sub', filter => $$exists (select from src as s where s.id = source.id and s.kind = source.kind) and id in (select 1 union select 4)$$);
SELECT sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SELECT id, note FROM fact ORDER BY id;
-- A trailing comment ends with the rule; quotes and braces are text.
SELECT register_rule('fact', 'longer', column_name => 'note', expression => $$'{time} "x" $1 ''' || note -- the end$$);
SELECT sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SELECT id, note FROM fact ORDER BY id;
SELECT unregister_rule('fact', 'sub'), unregister_rule('fact', 'longer'), unregister_rule('fact', 'note');
-- Without the rule, the column has its default.
SELECT sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SELECT DISTINCT note FROM fact;

-- A rule may call stable functions; it sees them under the load's settings, and names as they were at registration.
SELECT register_rule('fact', 'note', column_name => 'note', expression => $$to_char(at, 'YYYY-MM-DD HH24:MI TZ') || ' ' || at$$);
SET TimeZone = 'Asia/Kathmandu';
SET DateStyle = 'German';
SELECT sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
SELECT id, note FROM fact ORDER BY id;
SELECT unregister_rule('fact', 'note');

-- The version changes exactly when a text, the order or a kind changes.
CREATE TABLE seen (what text, version text);
INSERT INTO seen SELECT 'none', rv();
SELECT register_rule('fact', 'one', filter => 'id > 0');
INSERT INTO seen SELECT 'one', rv();
SELECT register_rule('fact', 'one', filter => 'id > 0');
INSERT INTO seen SELECT 'one, registered again', rv();
SELECT register_rule('fact', 'two', filter => 'id < 10');
INSERT INTO seen SELECT 'one, two', rv();
SELECT register_rule('fact', 'two', filter => 'id < 10', before => 'one');
INSERT INTO seen SELECT 'two, one', rv();
SELECT register_rule('fact', 'one', filter => 'id > 0', before => 'two');
INSERT INTO seen SELECT 'one, two, as before', rv();
SELECT register_rule('fact', 'two', filter => 'id  < 10');
INSERT INTO seen SELECT 'one, two with another text', rv();
SELECT register_rule('fact', 'two', column_name => 'id', expression => 'id');
INSERT INTO seen SELECT 'one, two an expression', rv();
SELECT register_rule('fact', 'two', column_name => 'kind', expression => 'id::text');
INSERT INTO seen SELECT 'one, two for another column', rv();
SELECT register_rule('fact', 'two', filter => 'id < 10');
INSERT INTO seen SELECT 'one, two, as before', rv();
-- Names of rules, and everything else, do not matter.
SELECT unregister_rule('fact', 'two');
SELECT register_rule('fact', 'zwei', filter => 'id < 10');
INSERT INTO seen SELECT 'one, two, as before', rv();
SELECT register_load('fact', 'src', 'at', keys => 'id', settle => '1 hour', extra_columns => 'ignore', history_starts => '2026-01-01');
INSERT INTO seen SELECT 'one, two, as before', rv();
ALTER TABLE fact RENAME TO fact_renamed;
ALTER TABLE fact_renamed RENAME TO fact;
CREATE TABLE src_copy AS SELECT * FROM src;
SELECT register_load('fact', 'src_copy', 'at');
INSERT INTO seen SELECT 'one, two, as before', rv();
-- Of a view, its query counts.
CREATE VIEW src_view AS SELECT * FROM src;
SELECT register_load('fact', 'src_view', 'at');
INSERT INTO seen SELECT 'a view', rv();
DROP VIEW src_view;
CREATE VIEW src_view AS SELECT * FROM src;
INSERT INTO seen SELECT 'a view, rebuilt', rv();
CREATE OR REPLACE VIEW src_view AS SELECT * FROM src WHERE id < 100;
INSERT INTO seen SELECT 'another view', rv();
SELECT unregister_rule('fact', 'one'), unregister_rule('fact', 'zwei');
SELECT register_load('fact', 'src', 'at');
INSERT INTO seen SELECT 'none', rv();
-- Each line is one version; no line is split, and no two of them share one.
SELECT string_agg(DISTINCT what, ' = ' ORDER BY what) AS what, length(version) AS digits FROM seen GROUP BY version ORDER BY 1;
SELECT what, count(DISTINCT version) FROM seen GROUP BY what HAVING count(DISTINCT version) > 1;
-- It is a hash of texts: the same in every database and on every server.
SELECT what, version FROM seen WHERE what IN ('none', 'one', 'one, two') ORDER BY what COLLATE "C";
