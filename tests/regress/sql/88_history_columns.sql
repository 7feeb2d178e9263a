-- Columns come, widen and go in the source; the history follows, in the same transaction, and makes no version for that alone.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set history '\\i ' :abs_srcdir '/include/history.sql'
:session
:history
SET client_min_messages = warning;
CREATE FUNCTION columns(history text DEFAULT 'h') RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY attnum)
    FROM pg_attribute WHERE attrelid = history::regclass AND attnum > 0 AND NOT attisdropped
$$;

-- What a first run makes: the source's columns, then the technical ones; a primary key, and one current version per key.
CREATE TABLE src (id integer NOT NULL, name varchar(10) DEFAULT 'x', qty numeric(8,2), tags text[], _change_type text, lu timestamptz);
INSERT INTO src VALUES (1, 'a', 1.5, '{x}', 'insert', t(0));
SELECT status, mode FROM historize('src', 'h', 'id', source_timestamp_column => 'lu', reference_timestamp => t(1));
SELECT columns();
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'h'::regclass ORDER BY indisprimary DESC;
SELECT count(*) FROM pg_attrdef WHERE adrelid = 'h'::regclass;
-- Names of 63 bytes: the indexes get names that fit.
CREATE TABLE "a table with a name that fills all of the sixty-three bytes, é" ("a key with a name that fills all of the sixty-three bytes, é" integer, v integer);
INSERT INTO "a table with a name that fills all of the sixty-three bytes, é" VALUES (1, 5);
SELECT status FROM historize('"a table with a name that fills all of the sixty-three bytes, é"', '"a history with a name that fills all of the sixty-three bytes"', '"a key with a name that fills all of the sixty-three bytes, é"', reference_timestamp => t(1));
SELECT status FROM historize('"a history with a name that fills all of the sixty-three bytes"', reference_timestamp => t(2));
SELECT count(*), max(octet_length(c.relname)) <= 63 AS fit FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE i.indrelid = '"a history with a name that fills all of the sixty-three bytes"'::regclass;
-- Other names of the technical columns; odd names of the others.
SET daybook.captured_column_name = 'Valid From';
SET daybook.delimited_column_name = 'to';
SET daybook.hash_column_name = 'select';
CREATE TABLE odd ("ID x" integer, "order" integer, "sÿnthetic""q" text, existing integer, param integer, source text);
INSERT INTO odd VALUES (1, 1, 'a', 1, 1, 'a');
SELECT status FROM historize('odd', 'h_odd', '"ID x"', reference_timestamp => t(1));
RESET daybook.captured_column_name;
RESET daybook.delimited_column_name;
RESET daybook.hash_column_name;
SELECT columns('h_odd');
UPDATE odd SET "order" = 2, "sÿnthetic""q" = 'b', existing = 2, param = 2, source = 'b';
SELECT status, versions_opened, versions_closed FROM historize('h_odd', reference_timestamp => t(2));
SELECT "ID x", "order", "sÿnthetic""q", existing, param, source, named("Valid From"), named("to") FROM h_odd ORDER BY "Valid From";

-- Added: with values, and without.
CALL fresh('id integer, qty integer');
SELECT run('added', t(1), '(1, 5), (2, 7)', 'loaded opened 2');
ALTER TABLE src ADD COLUMN st text, ADD COLUMN at date;
SELECT run('added, null', t(2), '(1, 5, NULL, NULL), (2, 7, NULL, NULL)', 'unchanged unchanged 2');
SELECT columns();
SELECT run('added', t(3), $$(1, 5, 'a', NULL), (2, 7, NULL, NULL)$$, 'loaded opened 1 closed 1 unchanged 1');
SELECT differences('SELECT id, qty, st, named(dl_ts_captured), named(dl_ts_delimited) FROM h', $$VALUES (1, 5, NULL, 'T1', 'T3-1ms'), (1, 5, 'a', 'T3', 'INF'), (2, 7, NULL, 'T1', 'INF')$$, 'added');
-- In the same place as before, and by a rule.
SELECT register_rule('h', 'twice', column_name => 'twice', expression => 'qty * 2');
SELECT run('added by a rule', t(4), $$(1, 5, 'a', NULL)$$, 'loaded opened 1 closed 2');
SELECT columns();
-- A dry run adds nothing, a failed run neither.
ALTER TABLE src ADD COLUMN note text;
SELECT run('added, dry run', t(5), $$(1, 5, 'a', NULL, 'n')$$, 'planned opened 1 closed 1', 'dry_run => true');
SELECT refused('added, failed', t(5), $$(1, 5, 'a', NULL, 'n'), (1, 6, 'a', NULL, 'n')$$, '21000');
SELECT columns() !~ 'note' AS not_added;
SELECT run('added, later', t(5), $$(1, 5, 'a', NULL, 'n')$$, 'loaded opened 1 closed 1');
SELECT columns() ~ 'note' AS added;
BEGIN;
ALTER TABLE src ADD COLUMN undone text;
SELECT run('added, rolled back', t(6), $$(1, 5, 'a', NULL, 'n', 'u')$$, 'loaded');
ROLLBACK;
SELECT columns() !~ 'undone' AS not_added;
-- Not compared, but stored: an added column in the blacklist.
CALL fresh('id integer, qty integer, st text', options => $$historize_blacklist => 'st'$$);
SELECT run('added, blacklist', t(1), $$(1, 5, 'a')$$, 'loaded');
SELECT register_history('h', 'src', 'id', historize_whitelist => 'qty');
ALTER TABLE src ADD COLUMN more text;
SELECT run('added, whitelist', t(2), $$(1, 5, 'b', 'm')$$, 'unchanged');
SELECT columns();
SELECT run('added, whitelist', t(3), $$(1, 6, 'b', 'm')$$, 'loaded');
SELECT id, qty, st, more, named(dl_ts_captured) FROM h ORDER BY dl_ts_captured;

-- Removed: kept, not compared, null in new versions, and allowed to be so; back again, it is compared again.
CREATE TABLE h_nn (id integer NOT NULL, qty integer NOT NULL, st text NOT NULL, dl_ts_captured timestamptz NOT NULL, dl_ts_delimited timestamptz NOT NULL, dl_hash bytea);
INSERT INTO h_nn VALUES (1, 5, 'a', t(0), inf()), (2, 7, 'b', t(0), inf());
CREATE TABLE src_nn (id integer, qty integer);
INSERT INTO src_nn VALUES (1, 5), (2, 8);
SELECT status, versions_opened, versions_closed, rows_unchanged FROM historize('src_nn', 'h_nn', 'id', reference_timestamp => t(1));
SELECT columns('h_nn');
SELECT id, qty, st, named(dl_ts_captured), named(dl_ts_delimited) FROM h_nn ORDER BY 1, dl_ts_captured;
ALTER TABLE src_nn ADD COLUMN st text;
UPDATE src_nn SET st = 'a' WHERE id = 1;
SELECT status, versions_opened, rows_unchanged FROM historize('h_nn', reference_timestamp => t(2));
UPDATE src_nn SET st = 'c' WHERE id = 2;
SELECT status, versions_opened, rows_unchanged FROM historize('h_nn', reference_timestamp => t(3));
-- Removed where a list names it: the list goes on without it.
CALL fresh('id integer, qty integer, st text', options => $$historize_whitelist => 'qty, st'$$);
SELECT run('removed, in a list', t(1), $$(1, 5, 'a')$$, 'loaded');
ALTER TABLE src DROP COLUMN st;
SELECT * FROM historize('h', reference_timestamp => t(2)); :sqlstate
-- A key, the source timestamp, the change type removed.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', cdc_column => 'op', cdc_deleted_value => 'D'$$, only_source => 'lu timestamptz, op text');
SELECT run('removed, technical', t(2), $$(1, 5, t(1), 'I')$$, 'loaded mode events');
ALTER TABLE src DROP COLUMN lu;
SELECT * FROM historize('h', reference_timestamp => t(3)); :sqlstate
ALTER TABLE src ADD COLUMN lu timestamptz, DROP COLUMN op;
SELECT * FROM historize('h', reference_timestamp => t(3)); :sqlstate
ALTER TABLE src ADD COLUMN op text, DROP COLUMN id;
SELECT * FROM historize('h', reference_timestamp => t(3)); :sqlstate
-- With ignore_old_deleted_columns: dropped with its values, and no version for that.
CALL fresh('id integer, qty integer, st text', options => 'ignore_old_deleted_columns => true');
SELECT run('dropped', t(1), $$(1, 5, 'a'), (2, 7, 'b')$$, 'loaded opened 2');
ALTER TABLE src DROP COLUMN st;
SELECT run('dropped, dry run', t(2), '(1, 5), (2, 7)', 'planned', 'dry_run => true');
SELECT columns();
SELECT run('dropped', t(2), '(1, 5), (2, 7)', 'unchanged unchanged 2');
SELECT columns();
SELECT holds('dropped', '1 5 T1..INF', '2 7 T1..INF');
-- A view of one's own that reads it stands in the way.
CALL fresh('id integer, qty integer, st text', options => 'ignore_old_deleted_columns => true');
SELECT run('dropped, used', t(1), $$(1, 5, 'a')$$, 'loaded');
CREATE VIEW reads AS SELECT id, st FROM h;
ALTER TABLE src DROP COLUMN st;
SELECT * FROM historize('h', reference_timestamp => t(2)); :sqlstate
SELECT columns();
DROP VIEW reads;

-- Widened: the values are as they were. (Pairs of types: 84_history_vectors_rest.)
CALL fresh('id integer, qty integer, st varchar(3), amount numeric(5,2)');
SELECT run('widened', t(1), $$(1, 5, 'abc', 1.25), (2, 7, 'abc', 1.25)$$, 'loaded opened 2');
ALTER TABLE src ALTER COLUMN id TYPE bigint, ALTER COLUMN qty TYPE bigint, ALTER COLUMN st TYPE varchar(9), ALTER COLUMN amount TYPE numeric(9,4);
SELECT run('widened', t(2), $$(1, 5, 'abc', 1.25), (2, 5000000000, 'abcdef', 10000.1234)$$, 'loaded opened 1 closed 1 unchanged 1');
SELECT holds('widened', '1 5 abc 1.2500 T1..INF', '2 7 abc 1.2500 T1..T2-1ms', '2 5000000000 abcdef 10000.1234 T2..INF');
SELECT columns();
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'h'::regclass ORDER BY indisprimary DESC;
-- Refused: all columns that cannot follow, with both types; nothing else of the run is done.
ALTER TABLE src ALTER COLUMN qty TYPE double precision, ALTER COLUMN st TYPE boolean USING false, ADD COLUMN more text;
SELECT * FROM historize('h', reference_timestamp => t(3)); :sqlstate
SELECT columns();
-- A value that does not fit a narrower column stays what it is: the column is not narrowed, and a value that is too long is refused.
CREATE TABLE h_text (id integer, st varchar(3), dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
INSERT INTO h_text VALUES (1, 'abc', t(0), inf());
CREATE VIEW src_text AS SELECT 1 AS id, 'abc'::varchar(2) AS st;
SELECT status, versions_opened FROM historize('src_text', 'h_text', 'id', reference_timestamp => t(1));
SELECT columns('h_text');
-- A table in use by a view of one's own cannot be changed; daybook's own views are made again.
CALL fresh('id integer, qty integer');
SELECT run('views', t(1), '(1, 5), (2, 7)', 'loaded');
SELECT create_history_views('h');
CREATE ROLE regress_dh_reader;
GRANT SELECT ON h_current TO regress_dh_reader;
ALTER TABLE src ALTER COLUMN qty TYPE bigint, ADD COLUMN st text;
SELECT run('views', t(2), $$(1, 5000000000, 'a')$$, 'loaded opened 1 closed 2');
SELECT columns('h_current');
SELECT has_table_privilege('regress_dh_reader', 'h_current', 'SELECT') AS grant_kept;
SELECT id, qty, st, named(dl_ts_captured) FROM h_current;
SELECT id, qty, st, named(dl_ts_captured) FROM h_as_of(t(1)) ORDER BY id;
SELECT id, qty, st, named(dl_ts_captured) FROM h_as_of(t(2)) ORDER BY id;
-- Between two ticks the one before still holds.
SELECT id, qty, named(dl_ts_captured) FROM h_as_of(t(2) - interval '1 microsecond') ORDER BY id;
DROP OWNED BY regress_dh_reader;
DROP ROLE regress_dh_reader;
CREATE VIEW mine AS SELECT id, qty FROM h;
ALTER TABLE src ALTER COLUMN qty TYPE numeric;
SELECT * FROM historize('h', reference_timestamp => t(3)); :sqlstate
DROP VIEW mine;
SELECT run('views', t(3), $$(1, 5000000000, 'a')$$, 'unchanged');

-- An empty history takes the types of the source where its own could not hold them.
CREATE TABLE h_empty (id text, qty text, gone text, dl_ts_captured timestamptz, dl_ts_delimited timestamptz, dl_hash bytea);
CREATE TABLE src_empty (id integer, qty date);
INSERT INTO src_empty VALUES (1, '2024-01-01');
SELECT status FROM historize('src_empty', 'h_empty', 'id', reference_timestamp => t(1));
SELECT columns('h_empty');
-- Columns that a table has of its own, and fills by itself.
CREATE TABLE h_own (id integer, qty integer, nr bigint GENERATED ALWAYS AS IDENTITY, twice integer GENERATED ALWAYS AS (qty * 2) STORED, note text DEFAULT 'own', dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
CREATE TABLE src_own (id integer, qty integer);
INSERT INTO src_own VALUES (1, 5);
SELECT status FROM historize('src_own', 'h_own', 'id', reference_timestamp => t(1));
UPDATE src_own SET qty = 6;
SELECT status, versions_opened FROM historize('h_own', reference_timestamp => t(2));
SELECT id, qty, nr, twice, note, named(dl_ts_captured) FROM h_own ORDER BY nr;
-- Columns dropped on either side before.
CREATE TABLE h_dropped (gone integer, id integer, gone2 text, qty integer, dl_ts_captured timestamptz, gone3 text, dl_ts_delimited timestamptz, dl_hash bytea);
ALTER TABLE h_dropped DROP COLUMN gone, DROP COLUMN gone2, DROP COLUMN gone3;
CREATE TABLE src_dropped (gone date, qty integer, gone2 date, id integer);
ALTER TABLE src_dropped DROP COLUMN gone, DROP COLUMN gone2;
INSERT INTO src_dropped VALUES (5, 1);
SELECT status, versions_opened FROM historize('src_dropped', 'h_dropped', 'id', reference_timestamp => t(1));
UPDATE src_dropped SET qty = 6;
SELECT status, versions_opened, versions_closed FROM historize('h_dropped', reference_timestamp => t(2));
SELECT id, qty, named(dl_ts_captured), named(dl_ts_delimited) FROM h_dropped ORDER BY dl_ts_captured;
-- A composite type grows for both sides at once.
CREATE TYPE place AS (city text, zip text);
CREATE TABLE src_place (id integer, p place);
INSERT INTO src_place VALUES (1, row('Bern', '3000'));
SELECT status FROM historize('src_place', 'h_place', 'id', reference_timestamp => t(1));
ALTER TYPE place ADD ATTRIBUTE land text CASCADE;
SELECT status, versions_opened FROM historize('h_place', reference_timestamp => t(2));
UPDATE src_place SET p.land = 'CH';
SELECT status, versions_opened FROM historize('h_place', reference_timestamp => t(3));
SELECT id, p, named(dl_ts_captured) FROM h_place ORDER BY dl_ts_captured;
