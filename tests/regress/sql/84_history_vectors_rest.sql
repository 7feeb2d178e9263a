-- What is left of the numbered vectors: columns, hashes, tables taken over. Those that other files have, and those that have no
-- meaning here, are named.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set history '\\i ' :abs_srcdir '/include/history.sql'
:session
:history
SET client_min_messages = warning;
-- V01, V02, V05 to V12, V17, V18, V20 to V31, X01 to X08, X19 to X25, X30 are in history_snapshot.sql; V33 to V44, X09 to X18, X27,
-- X28, X32, X33 in history_events.sql. Both run on every kind of target.

-- V03 a new column with a value.
CALL fresh('id text, nm text, qty integer', 'id, nm');
SELECT run('V03', t(1), $$('a', 'x', 5)$$, 'loaded opened 1');
SELECT run('V03', t(2), $$('a', 'x', 10)$$, 'loaded opened 1 closed 1');
ALTER TABLE src ADD COLUMN extra text;
SELECT run('V03', t(3), $$('a', 'x', 10, 'e')$$, 'loaded opened 1 closed 1');
SELECT differences('SELECT id, nm, qty, extra, named(dl_ts_captured), named(dl_ts_delimited) FROM h', $$VALUES
    ('a', 'x', 5, NULL, 'T1', 'T2-1ms'), ('a', 'x', 10, NULL, 'T2', 'T3-1ms'), ('a', 'x', 10, 'e', 'T3', 'INF')$$, 'V03');

-- V04 is of frames of data that are handed from action to action; a run here gives back its counts.

-- V13 the stored hash: equal for equal rows, another where a value moved, the same whether a null column is there or not, and
-- whatever the order of the columns. (Its first four bytes tell its version and which columns were compared.)
CREATE TABLE prints (label text, hash bytea);
CALL fresh('id integer, c1 text, c2 text');
SELECT run('V13', t(1), $$(1, NULL, 'v'), (2, NULL, 'v')$$, 'loaded opened 2');
INSERT INTO prints SELECT 'null v', substr(dl_hash, 5) FROM h WHERE id = 1;
CALL fresh('id integer, c1 text, c2 text');
SELECT run('V13', t(2), $$(1, NULL, 'v')$$, 'loaded opened 1');
INSERT INTO prints SELECT 'null v', substr(dl_hash, 5) FROM h WHERE id = 1;
CALL fresh('c2 text, id integer, c1 text');
SELECT run('V13', t(1), $$('v', 1, NULL)$$, 'loaded opened 1');
INSERT INTO prints SELECT 'null v', substr(dl_hash, 5) FROM h WHERE id = 1;
CALL fresh('id integer, c1 text, c2 text, c3 text');
SELECT run('V13', t(1), $$(1, NULL, 'v', NULL)$$, 'loaded opened 1');
INSERT INTO prints SELECT 'null v', substr(dl_hash, 5) FROM h WHERE id = 1;
CALL fresh('id integer, c1 text, c2 text');
SELECT run('V13', t(1), $$(1, 'v', NULL)$$, 'loaded opened 1');
INSERT INTO prints SELECT 'v null', substr(dl_hash, 5) FROM h WHERE id = 1;
CALL fresh('id integer, c1 text, c2 text, c3 text');
SELECT run('V13', t(1), $$(1, NULL, 'v', 'z')$$, 'loaded opened 1');
INSERT INTO prints SELECT 'null v z', substr(dl_hash, 5) FROM h WHERE id = 1;
SELECT differences('SELECT label, count(*), count(DISTINCT hash) FROM prints WHERE hash IS NOT NULL GROUP BY label', $$VALUES ('null v', 4::bigint, 1::bigint), ('v null', 1, 1), ('null v z', 1, 1)$$, 'V13 equal');
SELECT differences('SELECT count(DISTINCT hash) FROM prints', 'VALUES (3::bigint)', 'V13 distinct');

-- V14, V15 a new column that is null in a row is no change of that row. V16, its opposite in an older version, must not come.
CALL fresh('id integer, qty integer, st text');
SELECT run('V14', t(0), $$(1, 23, 'ok'), (2, 27, 'ok')$$, 'loaded opened 2');
ALTER TABLE src ADD COLUMN c_new text;
SELECT run('V14', t(1), $$(1, 23, 'ok', 'N'), (2, 27, 'ok', NULL)$$, 'loaded opened 1 closed 1 unchanged 1');
SELECT differences('SELECT id, qty, st, c_new, named(dl_ts_captured), named(dl_ts_delimited) FROM h', $$VALUES
    (1, 23, 'ok', NULL, 'T0', 'T1-1ms'), (1, 23, 'ok', 'N', 'T1', 'INF'), (2, 27, 'ok', NULL, 'T0', 'INF')$$, 'V14, V15');
SELECT run('V16', t(2), $$(1, 23, 'ok', 'N'), (2, 27, 'ok', NULL)$$, 'unchanged unchanged 2');

-- V19 no key.
DROP TABLE h;
SELECT count(*) FROM historize('src', 'h', reference_timestamp => t(1)); :sqlstate
SELECT to_regclass('h') IS NULL AS not_made;

-- V32 is of the table that keeps only the latest version of a record, which is another function's.
-- V43's first half, the translation of another tool's messages, is not the business of a database; the second is in history_events.sql.

-- V45 events first, then snapshots: the hash is there.
CALL fresh('id integer, qty integer', only_source => '_change_type text');
SELECT run('V45', t(1), $$(1, 5, 'insert'), (2, 7, 'insert')$$, 'loaded mode events opened 2');
DROP TABLE src;
CREATE TABLE src (id integer, qty integer);
SELECT run('V45', t(2), '(1, 5), (2, 8)', 'loaded mode snapshot opened 1 closed 1 unchanged 1');
SELECT holds('V45', '1 5 T1..INF', '2 7 T1..T2-1ms', '2 8 T2..INF');
SELECT differences('SELECT dl_hash IS NOT NULL FROM h WHERE qty = 8', 'VALUES (true)', 'V45 hash');
-- V46, V47 a history whose rows have no hash: a changed row is closed, an unchanged one is not.
CALL fresh('id integer, qty integer');
INSERT INTO h VALUES (1, 5, t(1), inf()), (2, 7, t(1), inf());
SELECT run('V46', t(2), '(1, 4), (2, 7)', 'loaded opened 1 closed 1 unchanged 1');
SELECT holds('V46, V47', '1 5 T1..T2-1ms', '1 4 T2..INF', '2 7 T1..INF');
SELECT differences('SELECT dl_hash IS NOT NULL FROM h WHERE qty = 4', 'VALUES (true)', 'V46 hash');
-- The same on a table that has no such column, and gets none.
CREATE TABLE bare (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
INSERT INTO bare VALUES (1, 5, t(1), inf()), (2, 7, t(1), inf());
SELECT send('(1, 4), (2, 7)') \g /dev/null
SELECT status, versions_opened, versions_closed, rows_unchanged FROM historize('src', 'bare', 'id', reference_timestamp => t(2));
SELECT differences('SELECT * FROM versions(''bare'')', $$VALUES ('1 5 T1..T2-1ms'), ('1 4 T2..INF'), ('2 7 T1..INF')$$, 'V46 without the column');
SELECT count(*) FROM pg_attribute WHERE attrelid = 'bare'::regclass AND attname = 'dl_hash';

-- X29 a hash of another origin, or that is simply wrong, is never believed: neither for a change nor for its absence.
CALL fresh('id integer, qty integer');
SELECT run('X29', t(1), '(1, 5), (2, 7), (3, 9)', 'loaded opened 3');
INSERT INTO prints SELECT 'of 9', dl_hash FROM h WHERE id = 3;
UPDATE h SET dl_hash = '\x00' WHERE id = 1;
UPDATE h SET dl_hash = sha256('another') WHERE id = 2;
SELECT run('X29', t(2), '(1, 5), (2, 7), (3, 9)', 'unchanged unchanged 3');
UPDATE h SET dl_hash = NULL;
SELECT run('X29', t(3), '(1, 5), (2, 7), (3, 9)', 'unchanged unchanged 3');
SELECT holds('X29', '1 5 T1..INF', '2 7 T1..INF', '3 9 T1..INF');
-- A hash that is that of the row delivered, on a version that holds something else.
UPDATE h SET dl_hash = (SELECT hash FROM prints WHERE label = 'of 9') WHERE id = 1;
SELECT run('X29 equal', t(4), '(1, 9), (2, 7), (3, 9)', 'loaded opened 1 closed 1 unchanged 2');
SELECT holds('X29 equal', '1 5 T1..T4-1ms', '1 9 T4..INF', '2 7 T1..INF', '3 9 T1..INF');
-- Of another list of columns.
CALL fresh('id integer, qty integer, st text');
SELECT run('X29 lists', t(1), $$(1, 5, 'a'), (2, 7, 'b')$$, 'loaded opened 2');
SELECT register_history('h', 'src', 'id', historize_blacklist => 'st');
SELECT run('X29 lists', t(2), $$(1, 5, 'a'), (2, 7, 'c')$$, 'unchanged unchanged 2');
SELECT register_history('h', 'src', 'id');
SELECT run('X29 lists', t(3), $$(1, 5, 'a'), (2, 7, 'b')$$, 'unchanged unchanged 2');
SELECT holds('X29 lists', '1 5 a T1..INF', '2 7 b T1..INF');
-- A hash of integers is left alone, a dummy is kept true.
UPDATE given SET variant = 'taken';
CALL fresh('id integer, qty integer');
INSERT INTO h VALUES (1, 5, t(0), inf(), 4711, true);
SELECT run('X29 integer', t(1), '(1, 6), (2, 7)', 'loaded opened 2 closed 1');
SELECT differences('SELECT id, qty, dl_hash, dl_dummy FROM h', 'VALUES (1, 5, 4711, true), (1, 6, NULL, true), (2, 7, NULL, true)', 'X29 integer');
UPDATE given SET variant = 'made';

-- V48 names are what they are: another case is another column. (The order of columns: V06.)
CREATE TABLE cases (id integer, "Qty" integer);
INSERT INTO cases VALUES (1, 5);
SELECT status FROM historize('cases', 'h_cases', 'id', reference_timestamp => t(1));
ALTER TABLE cases ADD COLUMN qty integer;
UPDATE cases SET qty = 6;
SELECT status, versions_opened FROM historize('h_cases', reference_timestamp => t(2));
SELECT "Qty", qty, named(dl_ts_captured) FROM h_cases ORDER BY dl_ts_captured;

-- V49, V50 columns of either side only: the order is old, technical, new. A column that was renamed is one removed and one added.
CALL fresh('a integer, b text, c text', 'a');
SELECT run('V50', t(1), $$(1, 'x', 'y')$$, 'loaded opened 1');
ALTER TABLE src RENAME COLUMN c TO d;
SELECT run('V50', t(2), $$(1, 'x', 'y')$$, 'loaded opened 1 closed 1');
SELECT differences('SELECT a, b, c, d, named(dl_ts_captured), named(dl_ts_delimited) FROM h', $$VALUES (1, 'x', 'y', NULL, 'T1', 'T2-1ms'), (1, 'x', NULL, 'y', 'T2', 'INF')$$, 'V50');
SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'h'::regclass AND attnum > 0 AND NOT attisdropped;
-- With ignore_old_deleted_columns the old one is dropped.
CALL fresh('a integer, b text, c text', 'a', 'ignore_old_deleted_columns => true');
SELECT run('V50 dropped', t(1), $$(1, 'x', 'y')$$, 'loaded opened 1');
ALTER TABLE src DROP COLUMN c;
SELECT run('V50 dropped', t(2), $$(1, 'x')$$, 'unchanged');
SELECT holds('V50 dropped', '1 x T1..INF');

-- V51, V53, V54 a column of one type, and a source of another: what the column's type is after a run, with no new version when
-- the value is the same; or refused.
CREATE TABLE pair (n integer GENERATED ALWAYS AS IDENTITY, stored text, source text, value text, becomes text);
INSERT INTO pair (stored, source, value, becomes) VALUES
    ('integer', 'bigint', '5', 'bigint'), ('bigint', 'integer', '5', 'bigint'),
    ('smallint', 'integer', '5', 'integer'), ('integer', 'smallint', '5', 'integer'),
    ('integer', 'numeric', '5', 'numeric'), ('bigint', 'numeric', '5', 'numeric'), ('numeric', 'bigint', '5', 'numeric'),
    ('smallint', 'real', '5', 'real'), ('real', 'smallint', '5', 'real'),
    ('integer', 'double precision', '5', 'double precision'), ('double precision', 'integer', '5', 'double precision'),
    ('real', 'double precision', '5.5', 'double precision'), ('double precision', 'real', '5.5', 'double precision'),
    ('bigint', 'double precision', '5', 'refused'), ('numeric', 'double precision', '5', 'refused'), ('numeric(10,2)', 'double precision', '5', 'refused'),
    ('numeric(38,10)', 'numeric(3,0)', '123', 'numeric(38,10)'), ('numeric(3,0)', 'numeric(38,10)', '123', 'numeric(38,10)'),
    ('numeric(10,2)', 'numeric(5,4)', '1.5', 'numeric(12,4)'), ('numeric(5,4)', 'numeric(10,2)', '1.5', 'numeric(12,4)'),
    ('numeric(38,0)', 'numeric(10,5)', '7', 'numeric(43,5)'), ('numeric(10,2)', 'numeric', '7.25', 'numeric'), ('numeric', 'numeric(10,2)', '7.25', 'numeric'),
    ('text', 'integer', '5', 'text'), ('text', 'boolean', 'true', 'text'), ('text', 'numeric', '5.50', 'text'), ('text', 'double precision', '5.5', 'text'),
    ('integer', 'text', '5', 'refused'), ('boolean', 'integer', '1', 'refused'), ('integer', 'boolean', 'true', 'refused'),
    ('date', 'timestamp without time zone', '2024-03-01', 'refused'), ('date', 'timestamp with time zone', '2024-03-01', 'refused'),
    ('timestamp without time zone', 'date', '2024-03-01', 'timestamp without time zone'),
    ('character varying(5)', 'character varying(9)', 'abc', 'character varying(9)'), ('character varying(9)', 'character varying(5)', 'abc', 'character varying(9)'),
    ('character varying(5)', 'text', 'abc', 'text'), ('text', 'character varying(5)', 'abc', 'text'), ('character varying(5)', 'character varying', 'abc', 'character varying'),
    ('timestamp(0) with time zone', 'timestamp(3) with time zone', '2024-03-01 04:00:00+00', 'timestamp(3) with time zone'),
    ('timestamp(3) with time zone', 'timestamp with time zone', '2024-03-01 04:00:00+00', 'timestamp with time zone'),
    ('timestamp(3) without time zone', 'timestamp(0) without time zone', '2024-03-01 04:00:00', 'timestamp(3) without time zone'),
    ('integer[]', 'bigint[]', '{1,2}', 'bigint[]'), ('bigint[]', 'integer[]', '{1,2}', 'bigint[]'), ('real[]', 'double precision[]', '{1,2.5}', 'double precision[]'),
    ('numeric(5,1)[]', 'numeric(10,2)[]', '{1.5}', 'numeric(10,2)[]'), ('character varying(5)[]', 'text[]', '{a}', 'text[]'),
    ('integer', 'integer[]', '{1}', 'refused'), ('integer[]', 'integer', '1', 'refused'), ('jsonb', 'text', '{}', 'refused'), ('uuid', 'text', '00000000-0000-0000-0000-000000000000', 'refused'),
    ('point', 'text', '(1,2)', 'refused'), ('bytea', 'text', 'a', 'refused'), ('boolean', 'text', 'true', 'refused'), ('time without time zone', 'interval', '1 hour', 'refused');
CREATE FUNCTION becomes(stored text, source text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    DROP TABLE IF EXISTS h, src;
    EXECUTE format('CREATE TABLE src (id integer, v %s)', stored);
    PERFORM register_history('h', 'src', 'id');
    EXECUTE format('INSERT INTO src VALUES (1, %L)', value);
    PERFORM historize('h', reference_timestamp => t(1));
    DROP TABLE src;
    EXECUTE format('CREATE TABLE src (id integer, v %s)', source);
    EXECUTE format('INSERT INTO src VALUES (1, %L)', value);
    SELECT * INTO r FROM historize('h', reference_timestamp => t(2));
    IF r.status <> 'unchanged' THEN
        RETURN r.status || ' with ' || r.versions_opened || ' new';
    END IF;
    PERFORM historize('h', reference_timestamp => t(3));
    RETURN (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'h'::regclass AND attname = 'v');
EXCEPTION WHEN datatype_mismatch THEN
    RETURN CASE WHEN SQLERRM ~ ': v is .* in the source and .* in the history$' THEN 'refused' ELSE SQLERRM END;
WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- What is refused is so for its type, whatever the values: they are null.
UPDATE pair SET value = NULL WHERE becomes = 'refused';
CREATE TABLE outcome AS SELECT n, stored, source, becomes(stored, source, value) AS becomes FROM pair;
SELECT differences('SELECT stored, source, becomes FROM outcome', 'SELECT stored, source, becomes FROM pair', 'V51, V53');

-- V54 a narrower input: the stored types stay, but for the one that is wider in the source; the values are as before.
CALL fresh('id integer, d numeric(38,10), e numeric(38,0), b bigint, i integer, s text');
SELECT run('V54', t(1), $$(1, 1.5, 2, 3, 4, '5'), (2, 123, 124, 125, 126, '8')$$, 'loaded opened 2');
DROP TABLE src;
CREATE TABLE src (id integer, d numeric(3,0), e integer, b integer, i bigint, s integer);
SELECT run('V54', t(2), '(2, 123, 124, 125, 126, 8), (3, 123, 4, 5, 6, 8)', 'loaded opened 1 closed 1 unchanged 1');
SELECT holds('V54', '1 1.5000000000 2 3 4 5 T1..T2-1ms', '2 123.0000000000 124 125 126 8 T1..INF', '3 123.0000000000 4 5 6 8 T2..INF');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'h'::regclass AND attnum BETWEEN 1 AND 6 AND NOT attisdropped ORDER BY attnum;

-- V49, V52 fields of composite types: the type is one for both sides, and ALTER TYPE changes it for both; there is nothing left to do.
-- Arrays go by their elements, as above. V55 is of a merge that updates rows in place; here only new versions are written, and what
-- the source does not have is null in them (V17).

-- V56 several at once: a wider key, a column that may now be null, one widened, one added; and the second run has nothing to do.
CREATE TABLE h56 (id integer NOT NULL, name text, old_col text NOT NULL, score numeric(5,1), dl_ts_captured timestamptz, dl_ts_delimited timestamptz, dl_hash bytea);
INSERT INTO h56 VALUES (1, 'x', 'o', 1.5, t(0), inf());
CREATE TABLE src56 (id bigint, name text, city text, score numeric(10,2));
INSERT INTO src56 VALUES (1, 'x', NULL, 1.5), (2, 'y', 'Bern', 2.25);
SELECT status, versions_opened, versions_closed, rows_unchanged FROM historize('src56', 'h56', 'id', reference_timestamp => t(1));
SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'h56'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum;
SELECT id, name, old_col, city, score, named(dl_ts_captured), named(dl_ts_delimited) FROM h56 ORDER BY id;
SELECT pg_relation_filenode('h56') AS before \gset
SELECT status, rows_unchanged FROM historize('h56', reference_timestamp => t(2));
SELECT pg_relation_filenode('h56') = :before AS not_rewritten;
-- A type that cannot follow: the column and both types are named.
CREATE TABLE src57 (id bigint, name text, city text, score text);
SELECT * FROM historize('src57', 'h56', 'id', reference_timestamp => t(3)); :sqlstate

-- X26 a wider type with the same values makes no version.
CALL fresh('id integer, qty integer');
SELECT run('X26', t(1), '(1, 5), (2, 7)', 'loaded opened 2');
ALTER TABLE src ALTER COLUMN qty TYPE bigint;
SELECT run('X26', t(2), '(1, 5), (2, 7)', 'unchanged unchanged 2');
SELECT run('X26', t(3), '(1, 5), (2, 5000000000)', 'loaded opened 1 closed 1');
SELECT holds('X26', '1 5 T1..INF', '2 7 T1..T3-1ms', '2 5000000000 T3..INF');

-- X31 unknown names in a list.
SELECT register_history('h', 'src', 'id', historize_whitelist => 'qty, quantity'); :sqlstate
SELECT register_history('h', 'src', 'id', historize_blacklist => 'quantity'); :sqlstate
-- X34 a table that has two current versions of a key is refused, and told how to find them.
CREATE TABLE two (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
INSERT INTO two VALUES (1, 5, t(0), inf()), (1, 6, t(1), inf()), (2, 7, t(0), inf());
SELECT * FROM historize('src', 'two', 'id', reference_timestamp => t(5)); :sqlstate
SELECT count(*) FROM two;
-- X35 a table whose horizon is not that of the setting is refused, rather than all its records opened once more.
CREATE TABLE horizon (id integer, qty integer, dl_ts_captured timestamptz, dl_ts_delimited timestamptz);
INSERT INTO horizon VALUES (1, 5, t(0), t(1)), (1, 6, t(2), inf()), (2, 7, t(0), inf());
SET daybook.upper_horizon = 'infinity';
SELECT * FROM historize('src', 'horizon', 'id', reference_timestamp => t(5)); :sqlstate
SET daybook.upper_horizon = 'null';
SELECT * FROM historize('src', 'horizon', 'id', reference_timestamp => t(5)); :sqlstate
RESET daybook.upper_horizon;
SELECT count(*) FROM horizon;
-- The horizon of a table is remembered: changing the setting later is no matter.
SELECT status, rows_unchanged, versions_opened FROM historize('src', 'horizon', 'id', reference_timestamp => t(5));
SET daybook.upper_horizon = 'infinity';
SELECT status, rows_unchanged, versions_opened FROM historize('horizon', reference_timestamp => t(6));
RESET daybook.upper_horizon;
