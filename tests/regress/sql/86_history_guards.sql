-- What historize refuses, with its SQLSTATE, message, DETAIL and HINT. Nothing is written by any of it.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, qty integer, st text);
INSERT INTO src VALUES (1, 5, 'a'), (2, 6, 'b'), (3, 7, 'c'), (4, 8, 'd');
CREATE FUNCTION at(day integer) RETURNS timestamptz LANGUAGE sql AS $$ SELECT '2024-03-01 04:00+00'::timestamptz + day * interval '24 hours' $$;
SELECT status, versions_opened FROM historize('src', 'h', 'id', reference_timestamp => at(1));

-- Duplicate keys: ten at most are listed, with how many rows each.
INSERT INTO src SELECT 1 + n % 12, n, 'more' FROM generate_series(0, 23) AS n;
SELECT * FROM historize('h', reference_timestamp => at(2)); :sqlstate
DELETE FROM src WHERE st = 'more';
-- Nulls in keys.
INSERT INTO src VALUES (NULL, 9, 'e'), (NULL, NULL, NULL);
SELECT * FROM historize('h', reference_timestamp => at(2)); :sqlstate
DELETE FROM src WHERE id IS NULL;
-- An empty source; more closed than may be.
BEGIN;
DELETE FROM src;
SAVEPOINT empty;
SELECT * FROM historize('h', reference_timestamp => at(2)); :sqlstate
ROLLBACK;
CREATE TABLE src_few AS SELECT * FROM src WHERE id = 1;
SELECT * FROM historize('src_few', 'h', reference_timestamp => at(2), max_closed_percent => 50); :sqlstate
SELECT register_history('h', 'src_few', 'id', max_closed_percent => 50);
SELECT * FROM historize('h', reference_timestamp => at(2)); :sqlstate
SELECT status, versions_closed FROM historize('h', reference_timestamp => at(2), dry_run => true); :sqlstate
SELECT register_history('h', 'src', 'id');
-- A reference older than the history.
SELECT * FROM historize('h', reference_timestamp => at(0)); :sqlstate
-- In time, but closer than a unit.
SELECT register_history('hd', 'src', 'id', time_axis_unit => '1 day');
SELECT status FROM historize('hd', reference_timestamp => at(1));
UPDATE src SET qty = qty + 1 WHERE id = 1;
SELECT * FROM historize('hd', reference_timestamp => at(1) + interval '1 hour'); :sqlstate
UPDATE src SET qty = qty - 1 WHERE id = 1;
-- Nothing came of any of that.
SELECT count(*), min(dl_ts_captured), max(dl_ts_captured), min(dl_ts_delimited) FROM h;

-- Column lists: unknown names, names twice, the key, technical columns, both lists, lists that leave nothing.
SELECT register_history('h2', 'src', 'id', historize_blacklist => 'quantity, state'); :sqlstate
SELECT register_history('h2', 'src', 'id', historize_whitelist => '"QTY"'); :sqlstate
SELECT register_history('h2', 'src', 'id', historize_blacklist => 'qty', historize_whitelist => 'st'); :sqlstate
SELECT register_history('h2', 'src', 'id', historize_blacklist => 'qty, qty'); :sqlstate
SELECT register_history('h2', 'src', 'ident'); :sqlstate
SELECT register_history('h2', 'src', 'id, id'); :sqlstate
SELECT register_history('h2', 'src', ''); :sqlstate
SELECT register_history('h2', 'src', '{}'); :sqlstate
SELECT register_history('h2', 'src', 'id', delivery_scope => 'region'); :sqlstate
SELECT register_history('h2', 'src', 'id', source_timestamp_column => 'lu'); :sqlstate
SELECT register_history('h2', 'src', 'id', source_timestamp_column => 'st'); :sqlstate
SELECT register_history('h2', 'src', 'id', cdc_column => 'op', cdc_deleted_value => 'D'); :sqlstate
-- No key at all, on a first call.
SELECT * FROM historize('src', 'h2', reference_timestamp => at(1)); :sqlstate
-- Change events: a column without its deleted value, a deleted value without a column, a list of what to compare.
SELECT register_history('h2', 'src', 'id', cdc_column => 'st'); :sqlstate
SELECT register_history('h6', 'src', 'id', cdc_deleted_value => 'D'); :sqlstate
SELECT register_history('h2', 'src', 'id', cdc_column => 'st', cdc_deleted_value => 'D', historize_whitelist => 'qty'); :sqlstate
SELECT register_history('h2', 'src', 'id', intermediate_versions => true, cdc_column => 'st', cdc_deleted_value => 'D'); :sqlstate
-- The source timestamp in a whitelist; a key that is the change type.
CREATE TABLE src_lu (id integer, qty integer, lu timestamptz, op text);
SELECT register_history('h2', 'src_lu', 'id', source_timestamp_column => 'lu', historize_whitelist => 'qty, lu'); :sqlstate
SELECT register_history('h2', 'src_lu', 'id, op', cdc_column => 'op', cdc_deleted_value => 'D'); :sqlstate
SELECT register_history('h2', 'src_lu', 'lu', source_timestamp_column => 'lu'); :sqlstate
-- Words that are none of the choices, numbers out of range.
SELECT register_history('h2', 'src', 'id', delivery => 'partial'); :sqlstate
SELECT register_history('h2', 'src', 'id', delivery => 'FULL'); :sqlstate
SELECT register_history('h2', 'src', 'id', late => 'later'); :sqlstate
SELECT register_history('h2', 'src', 'id', on_empty => 'replace'); :sqlstate
SELECT register_history('h2', 'src', 'id', max_closed_percent => -1); :sqlstate
SELECT register_history('h2', 'src', 'id', max_closed_percent => 101); :sqlstate
SELECT register_history('h2', 'src', 'id', max_closed_percent => 'NaN'); :sqlstate
SELECT register_history('h2', 'src', 'id', delivery => 'delta', delivery_scope => 'st'); :sqlstate
SELECT register_history('h2', 'src', 'id', zone => 'Mars/Olympus'); :sqlstate
SELECT register_history('h2', 'src', 'id', ignore_old_deleted_nested_columns => false); :sqlstate
SELECT * FROM historize('h', on_error => 'ignore'); :sqlstate
SELECT * FROM historize('h', reference_timestamp => 'infinity'); :sqlstate
SELECT * FROM historize('h', reference_timestamp => '9999-12-31 00:00+00'); :sqlstate
-- Times of the source that are none.
INSERT INTO src_lu VALUES (1, 5, 'infinity', 'insert'), (2, 6, '-infinity', 'insert'), (3, 7, '9999-12-31 00:00+00', 'insert'), (4, 8, at(1), 'insert');
\set VERBOSITY sqlstate
SELECT * FROM historize('src_lu', 'h8', 'id', source_timestamp_column => 'lu', reference_timestamp => at(1));
\set VERBOSITY default
ALTER TABLE src_lu RENAME COLUMN op TO _change_type;
SELECT * FROM historize('src_lu', 'h8', 'id', source_timestamp_column => 'lu', reference_timestamp => at(1)); :sqlstate
SELECT to_regclass('h8') IS NULL AS not_made;
-- SQL texts that cannot be used: not parsable, unknown columns, no condition, volatile, an aggregate.
SELECT register_history('h2', 'src', 'id', existing_predicate => 'existing.qty <'); :sqlstate
SELECT register_history('h2', 'src', 'id', existing_predicate => 'existing.quantity > 1'); :sqlstate
SELECT register_history('h2', 'src', 'id', existing_predicate => 'existing.qty'); :sqlstate
SELECT register_history('h2', 'src', 'id', existing_predicate => 'random() < 0.5'); :sqlstate
SELECT register_history('h2', 'src', 'id', existing_predicate => 'count(*) > 0'); :sqlstate
SELECT register_history('h2', 'src', 'id', existing_predicate => 'true); DROP TABLE src; --'); :sqlstate
SELECT register_history('h2', 'src', 'id', dedup_order_by => 'quantity'); :sqlstate
SELECT register_history('h2', 'src', 'id', dedup_order_by => 'random()'); :sqlstate
SELECT to_regclass('h2') IS NULL AS not_made;

-- Later calls: what contradicts what is remembered is refused, what agrees or is left out is not.
SELECT * FROM historize('src', 'h', 'id, st', reference_timestamp => at(3)); :sqlstate
SELECT * FROM historize('src', 'h', 'id', historize_blacklist => 'st', reference_timestamp => at(3)); :sqlstate
SELECT * FROM historize('src', 'h', 'id', time_axis_unit => '0', reference_timestamp => at(3)); :sqlstate
SELECT * FROM historize('src', 'h', 'id', delivery => 'delta', reference_timestamp => at(3)); :sqlstate
SELECT * FROM historize('src', 'h', 'id', late => 'insert', on_empty => 'close', reference_timestamp => at(3)); :sqlstate
SELECT * FROM historize('src', 'h', 'id', skip_unchanged => true, reference_timestamp => at(3)); :sqlstate
SELECT status FROM historize('src', 'h', 'id', time_axis_unit => '1 ms', zone => 'UTC', delivery => 'full', late => 'delay', skip_unchanged => false, reference_timestamp => at(3));
SELECT status FROM historize('src', 'h', reference_timestamp => at(3));
-- The key and the axis of a history that holds versions.
SELECT register_history('h', 'src', 'id, qty'); :sqlstate
SELECT register_history('h', 'src', 'id', time_axis_unit => '0'); :sqlstate
SELECT register_history('h', 'src', 'id', zone => 'Europe/Zurich'); :sqlstate

-- Tables that break what must always hold are not taken over.
CREATE TABLE t_src (id integer, qty integer);
INSERT INTO t_src VALUES (1, 5);
CREATE TABLE taken (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
CREATE PROCEDURE take(VARIADIC rows text[]) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS taken;
    CREATE TABLE taken (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
    EXECUTE 'INSERT INTO taken VALUES ' || array_to_string(rows, ', ');
END $$;
CREATE FUNCTION inf() RETURNS timestamptz LANGUAGE sql AS $$ SELECT '9999-12-31 00:00+00'::timestamptz $$;
-- Two current versions.
CALL take('(1, 5, at(0), inf())', '(1, 6, at(1), inf())', '(2, 5, at(0), inf())');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
-- Overlap; also of a closed end that is the next one's begin.
CALL take('(1, 5, at(0), at(3))', '(1, 6, at(2), at(4))');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
CALL take('(1, 5, at(0), at(2))', '(1, 6, at(2), inf())');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
-- ... which is right where the axis is half-open.
SELECT register_history('taken', 't_src', 'id', time_axis_unit => '0'); :sqlstate
-- A version that begins after a current one.
CALL take('(1, 5, at(0), inf())', '(1, 6, at(2), at(3))');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
-- Negative validity; empty validity, which only a half-open axis knows.
CALL take('(1, 5, at(2), at(1))');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
CALL take('(1, 5, at(2), at(2))');
SELECT register_history('taken', 't_src', 'id', time_axis_unit => '0'); :sqlstate
SELECT register_history('taken', 't_src', 'id'); :sqlstate
-- Null in the key, null in the validity, the same begin twice, beyond the horizon.
CALL take('(NULL, 5, at(0), inf())');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
CALL take('(1, 5, NULL, inf())');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
CALL take('(1, 5, at(0), NULL)');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
CALL take('(1, 5, at(0), at(1))', '(1, 6, at(0), at(1))');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
CALL take('(1, 5, at(0), inf())', '(2, 5, at(0), $$infinity$$)');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
-- Another horizon.
CALL take('(1, 5, at(0), $$infinity$$)', '(2, 5, at(0), $$infinity$$)', '(3, 5, at(0), at(1))');
SELECT register_history('taken', 't_src', 'id'); :sqlstate
SET daybook.upper_horizon = 'infinity';
SELECT register_history('taken', 't_src', 'id'); :sqlstate
RESET daybook.upper_horizon;
-- Settings that cannot be.
SET daybook.upper_horizon = 'never';
SELECT register_history('h7', 't_src', 'id'); :sqlstate
\set VERBOSITY sqlstate
SET daybook.upper_horizon = '';
SELECT register_history('h71', 't_src', 'id');
SET daybook.upper_horizon = '-infinity';
SELECT register_history('h72', 't_src', 'id');
\set VERBOSITY default
RESET daybook.upper_horizon;
SET daybook.captured_column_name = '';
SELECT register_history('h7', 't_src', 'id'); :sqlstate
SET daybook.captured_column_name = 'dl_ts_delimited';
SELECT register_history('h7', 't_src', 'id'); :sqlstate
SET daybook.captured_column_name = 'qty';
SELECT register_history('h7', 't_src', 'id'); :sqlstate
SET daybook.captured_column_name = 'a name that is longer than the sixty-three bytes which a name may have';
SELECT register_history('h7', 't_src', 'id'); :sqlstate
RESET daybook.captured_column_name;
SELECT to_regclass('h7') IS NULL AS not_made;
SET daybook.reference_timestamp = 'soon';
SELECT * FROM historize('h'); :sqlstate
RESET daybook.reference_timestamp;
-- Technical columns: missing, of a wrong type, under other names.
CREATE TABLE lacks (id integer, qty integer, dl_ts_captured timestamptz);
SELECT register_history('lacks', 't_src', 'id'); :sqlstate
CREATE TABLE wrong (id integer, qty integer, dl_ts_captured date, dl_ts_delimited date);
SELECT register_history('wrong', 't_src', 'id'); :sqlstate
CREATE TABLE mixed (id integer, qty integer, dl_ts_captured timestamp, dl_ts_delimited timestamptz);
SELECT register_history('mixed', 't_src', 'id'); :sqlstate
CREATE TABLE other (id integer, qty integer, valid_from timestamptz, valid_to timestamptz);
SELECT register_history('other', 't_src', 'id'); :sqlstate
SET daybook.captured_column_name = 'valid_from';
SET daybook.delimited_column_name = 'valid_to';
SELECT register_history('other', 't_src', 'id'); :sqlstate
RESET daybook.captured_column_name;
RESET daybook.delimited_column_name;
-- A source with columns of these names.
CREATE TABLE t_src_dl (id integer, qty integer, dl_ts_captured timestamptz);
SELECT register_history('h2', 't_src_dl', 'id'); :sqlstate
CREATE TABLE t_src_hash (id integer, qty integer, dl_hash integer);
SELECT register_history('h2', 't_src_hash', 'id'); :sqlstate
-- Kinds of targets that cannot be kept.
CREATE VIEW v AS SELECT *, at(0) AS dl_ts_captured, inf() AS dl_ts_delimited FROM t_src;
SELECT register_history('v', 't_src', 'id'); :sqlstate
CREATE TABLE by_begin (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz) PARTITION BY RANGE (dl_ts_captured);
SELECT register_history('by_begin', 't_src', 'id'); :sqlstate
CREATE TABLE by_value (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz) PARTITION BY LIST (qty);
SELECT register_history('by_value', 't_src', 'id'); :sqlstate
CREATE TABLE parent (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
CREATE TABLE child () INHERITS (parent);
SELECT register_history('parent', 't_src', 'id'); :sqlstate
SELECT register_history('src', 'src', 'id'); :sqlstate
SELECT register_history('nowhere.h', 'src', 'id'); :sqlstate
SELECT register_history('a.b.c.d', 'src', 'id'); :sqlstate
\set VERBOSITY sqlstate
SELECT register_history('', 'src', 'id');
\set VERBOSITY default
SELECT register_history('pg_catalog.h', 'src', 'id'); :sqlstate
-- A target that is a load's, and the other way round.
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
CREATE TABLE fact_src (id integer, at timestamptz);
SELECT register_load('fact', 'fact_src', 'at');
SELECT register_history('fact', 'src', 'id'); :sqlstate
SELECT register_load('h', 'fact_src', 'at'); :sqlstate
-- Histories that there are not.
SELECT * FROM historize('fact'); :sqlstate
SELECT unregister_history('fact'); :sqlstate
SELECT * FROM daybook.check_history('fact'); :sqlstate
SELECT * FROM rewind_history('fact', at(1)); :sqlstate
SELECT create_history_views('fact'); :sqlstate
-- A source that is gone.
SELECT register_history('h3', 't_src', 'id');
DROP TABLE t_src CASCADE;
SELECT * FROM historize('h3', reference_timestamp => at(9)); :sqlstate
SELECT status, error FROM historize('h3', reference_timestamp => at(9), on_error => 'report'); :sqlstate

-- NULL for an argument without a default is 22004; NULL for one that has a default means its default, or what is remembered.
CREATE TABLE call (n integer GENERATED ALWAYS AS IDENTITY, function text, argument text, has_default boolean, call text);
INSERT INTO call (function, argument, has_default, call)
SELECT f.name, a.argument, a.position > f.required,
       format('SELECT * FROM %s(%s)', f.name, (SELECT string_agg(CASE WHEN b.argument = a.argument THEN b.argument || ' => NULL'
                                                                 ELSE b.argument || ' => ' || b.value END, ', ' ORDER BY b.position)
                                        FROM unnest(f.arguments, f.fine) WITH ORDINALITY AS b (argument, value, position)
                                        WHERE b.value IS NOT NULL OR b.argument = a.argument))
FROM (VALUES
    ('register_history', 3, array['dst', 'src', 'pk', 'historize_blacklist', 'historize_whitelist', 'time_axis_unit', 'zone', 'check_input_unique', 'dedup_order_by', 'source_timestamp_column',
        'existing_predicate', 'cdc_column', 'cdc_deleted_value', 'cdc_auto_detect', 'cdc_timestamp_auto_detect', 'skip_unchanged', 'intermediate_versions', 'delivery', 'delivery_scope', 'late',
        'ignore_old_deleted_columns', 'ignore_old_deleted_nested_columns', 'on_empty', 'max_closed_percent'], array['''h''', '''src''', '''id''']),
    ('historize', 1, array['dst', 'reference_timestamp', 'params', 'dry_run', 'on_error'], array['''h''::regclass']),
    ('historize', 2, array['src', 'dst', 'pk', 'reference_timestamp', 'params', 'dry_run', 'on_error', 'time_axis_unit', 'late', 'delivery'], array['''src''', '''h''']),
    ('daybook.check_history', 1, array['dst'], array['''h''']),
    ('create_history_views', 1, array['dst'], array['''h''']),
    ('rewind_history', 2, array['dst', 'to_timestamp', 'dry_run'], array['''h''', 'now()']),
    ('unregister_history', 1, array['dst'], array['''h3'''])) AS f (name, required, arguments, fine),
    unnest(f.arguments) WITH ORDINALITY AS a (argument, position);
CREATE FUNCTION outcome(stmt text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE stmt;
    RETURN 'works';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT function, argument, has_default, outcome(call) FROM call ORDER BY n;

-- Rights. The owner of a history, and members of his role, register; who has INSERT and UPDATE on it, and SELECT on its source, may run
-- what is registered, with the owner's rights and as him; a source of one's own only the owner may bring.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_dh_owner, regress_dh_member, regress_dh_runner, regress_dh_nobody;
SET client_min_messages = warning;
CREATE ROLE regress_dh_owner;
CREATE ROLE regress_dh_member IN ROLE regress_dh_owner;
CREATE ROLE regress_dh_runner;
CREATE ROLE regress_dh_nobody;
CREATE SCHEMA dw AUTHORIZATION regress_dh_owner;
GRANT USAGE ON SCHEMA dw TO regress_dh_runner, regress_dh_nobody;
SET ROLE regress_dh_owner;
CREATE TABLE dw.src (id integer, qty integer);
GRANT SELECT ON dw.src TO regress_dh_nobody;
INSERT INTO dw.src VALUES (1, 5), (2, 7);
SELECT register_history('dw.h', 'dw.src', 'id');
SELECT relowner::regrole FROM pg_class WHERE oid = 'dw.h'::regclass;
-- A member makes, and what he makes there is the table's owner's.
SET ROLE regress_dh_member;
SELECT register_history('dw.h', 'dw.src', 'id');
SELECT status, versions_opened FROM historize('dw.h', reference_timestamp => '2024-03-01 04:00+00');
SELECT status FROM historize('dw.src', 'dw.h', reference_timestamp => '2024-03-01 04:00+00');
-- Nobody.
SET ROLE regress_dh_nobody;
SELECT register_history('dw.h', 'dw.src', 'id'); :sqlstate
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-02 04:00+00'); :sqlstate
SELECT unregister_history('dw.h'); :sqlstate
SELECT * FROM rewind_history('dw.h', '2024-02-01 04:00+00'); :sqlstate
SELECT * FROM daybook.check_history('dw.h'); :sqlstate
SELECT create_history_views('dw.h'); :sqlstate
SELECT register_history('dw.h_mine', 'dw.src', 'id'); :sqlstate
SELECT count(*) FROM daybook.histories;
-- Each right is needed, by name.
RESET ROLE;
GRANT SELECT ON dw.src TO regress_dh_runner;
SET ROLE regress_dh_owner;
UPDATE dw.src SET qty = 6 WHERE id = 1;
SET ROLE regress_dh_runner;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-02 04:00+00'); :sqlstate
SET ROLE regress_dh_owner;
GRANT INSERT ON dw.h TO regress_dh_runner;
SET ROLE regress_dh_runner;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-02 04:00+00'); :sqlstate
SET ROLE regress_dh_owner;
GRANT UPDATE ON dw.h TO regress_dh_runner;
SET ROLE regress_dh_runner;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-02 04:00+00'); :sqlstate
-- A source of his own, or SQL text of his own, would be read with the owner's rights.
CREATE TEMP TABLE mine (id integer, qty integer);
INSERT INTO mine VALUES (1, 5);
SELECT * FROM historize('mine', 'dw.h', reference_timestamp => '2024-03-03 04:00+00'); :sqlstate
SELECT * FROM historize('dw.src', 'dw.h', reference_timestamp => '2024-03-03 04:00+00'); :sqlstate
-- The source is to be readable for who calls.
SET ROLE regress_dh_owner;
REVOKE SELECT ON dw.src FROM regress_dh_runner;
SET ROLE regress_dh_runner;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-03 04:00+00'); :sqlstate
RESET ROLE;
-- A superuser who runs what a low role registered lends it nothing.
SET ROLE regress_dh_owner;
CREATE FUNCTION dw.who(integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'I am %', current_user; END $$;
SELECT register_rule('dw.h', 'who', filter => 'dw.who(id) > 0');
RESET ROLE;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-03 04:00+00'); :sqlstate
SET ROLE regress_dh_owner;
SELECT unregister_rule('dw.h', 'who');
SELECT register_history('dw.h', 'dw.src', 'id', existing_predicate => 'dw.who(existing.id) > 0');
RESET ROLE;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-03 04:00+00'); :sqlstate
-- Rows of the history are shown as evidence to those who may read them.
SET ROLE regress_dh_owner;
SELECT register_history('dw.h', 'dw.src', 'id');
GRANT SELECT ON dw.src TO regress_dh_runner;
INSERT INTO dw.src VALUES (1, 9);
SET ROLE regress_dh_runner;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-03 04:00+00'); :sqlstate
RESET ROLE;
SELECT count(*) FROM dw.h;
-- Row security would hide versions.
SET ROLE regress_dh_owner;
DELETE FROM dw.src WHERE qty = 9;
ALTER TABLE dw.h ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT * FROM historize('dw.h', reference_timestamp => '2024-03-03 04:00+00'); :sqlstate
RESET ROLE;
DROP OWNED BY regress_dh_owner CASCADE;
DROP OWNED BY regress_dh_runner, regress_dh_nobody, regress_dh_member;
DROP ROLE regress_dh_member, regress_dh_owner, regress_dh_runner, regress_dh_nobody;
