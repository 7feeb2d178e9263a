-- Every type compares, also those without an equality of their own: the same again is no change, another value is one, a null is one.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION at(day integer) RETURNS timestamptz LANGUAGE sql AS $$ SELECT '2024-03-01 04:00+00'::timestamptz + day * interval '24 hours' $$;
-- A run with v alone: what it said.
CREATE FUNCTION deliver(day integer, v text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    TRUNCATE src;
    EXECUTE format('INSERT INTO src VALUES (1, %s)', v);
    SELECT * INTO r FROM historize('h', reference_timestamp => at(day));
    RETURN r.status;
END $$;
-- From first to second and to null and back: unchanged where nothing has changed, loaded where something has. 'same' is what second is.
CREATE FUNCTION goes(type text, first text, second text, same boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text[];
BEGIN
    DROP TABLE IF EXISTS h, src;
    EXECUTE format('CREATE TABLE src (id integer, v %s)', type);
    PERFORM register_history('h', 'src', 'id');
    said := ARRAY[deliver(1, first), deliver(2, first), deliver(3, second), deliver(4, second), deliver(5, 'NULL'), deliver(6, 'NULL'), deliver(7, second), deliver(8, second), deliver(9, first)];
    IF said = ARRAY['loaded', 'unchanged', CASE WHEN same THEN 'unchanged' ELSE 'loaded' END, 'unchanged', 'loaded', 'unchanged', 'loaded', 'unchanged', CASE WHEN same THEN 'unchanged' ELSE 'loaded' END]
       AND NOT EXISTS (SELECT FROM daybook.check_history('h')) THEN
        RETURN 'ok';
    END IF;
    RETURN said::text;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE pair (n integer GENERATED ALWAYS AS IDENTITY, type text, first text, second text, same boolean DEFAULT false);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN percent AS numeric CHECK (value BETWEEN 0 AND 100);
CREATE DOMAIN raw AS json;
CREATE TYPE pair_of AS (a integer, b numeric);
CREATE TYPE deep AS (p pair_of, j json, l text[]);
INSERT INTO pair (type, first, second, same) VALUES
    ('boolean', 'true', 'false', false), ('smallint', '1', '2', false), ('integer', '1', '2', false), ('bigint', '1', '5000000000', false),
    ('real', '1', '1.0000001', false), ('double precision', '0.1', '0.1::float8 + 1e-16', false), ('money', '1', '2', false), ('oid', '1', '2', false),
    ('"char"', $$'a'$$, $$'b'$$, false), ('name', $$'a'$$, $$'b'$$, false), ('uuid', $$'00000000-0000-0000-0000-000000000000'$$, $$'00000000-0000-0000-0000-000000000001'$$, false),
    ('date', $$'2024-01-01'$$, $$'2024-01-02'$$, false), ('time', $$'12:00'$$, $$'12:01'$$, false), ('timetz', $$'12:00+00'$$, $$'13:00+01'$$, false),
    ('timestamp', $$'2024-01-01 12:00'$$, $$'2024-01-01 12:00:00.000001'$$, false), ('timestamp', $$'infinity'$$, $$'-infinity'$$, false),
    ('inet', $$'10.0.0.1'$$, $$'10.0.0.1/24'$$, false), ('cidr', $$'10.0.0.0/8'$$, $$'10.0.0.0/9'$$, false), ('macaddr', $$'08:00:2b:01:02:03'$$, $$'08:00:2b:01:02:04'$$, false),
    ('bit(3)', $$'101'$$, $$'100'$$, false), ('varbit', $$'101'$$, $$'1010'$$, false), ('pg_lsn', $$'0/1'$$, $$'0/2'$$, false), ('regtype', $$'int4'$$, $$'int8'$$, false),
    ('tsvector', $$'a b'$$, $$'a c'$$, false), ('tsvector', $$'a b'$$, $$'b a'$$, true), ('tsquery', $$'a & b'$$, $$'a | b'$$, false),
    -- Without an equality: by what is stored.
    ('json', $$'{"a": 1}'$$, $$'{"a": 2}'$$, false), ('json', $$'{"a": 1}'$$, $$'{"a":1}'$$, false), ('point', $$'(1,2)'$$, $$'(1,3)'$$, false),
    ('polygon', $$'((0,0),(1,1),(0,1))'$$, $$'((0,0),(1,1),(1,0))'$$, false), ('path', $$'[(0,0),(1,1)]'$$, $$'((0,0),(1,1))'$$, false), ('jsonpath', $$'$.a'$$, $$'$.b'$$, false),
    -- With one that is about something else: two boxes of equal area, two circles of equal area.
    ('box', $$'(0,0),(1,4)'$$, $$'(0,0),(2,2)'$$, false), ('circle', $$'<(0,0),1>'$$, $$'<(5,5),1>'$$, false), ('lseg', $$'[(0,0),(1,1)]'$$, $$'[(0,0),(1,2)]'$$, false),
    -- Equal by their operator, but not the same.
    ('numeric', '1.0', '1.00', false), ('numeric(10,2)', '1.0', '1.00', true), ('jsonb', $$'{"a": 1.0}'$$, $$'{"a": 1.00}'$$, false), ('interval', $$'1 day'$$, $$'24 hours'$$, false),
    ('interval', $$'1 day'$$, $$'1 day 0 hours'$$, true), ('double precision', '0', $$'-0'$$, false), ('real', '0', $$'-0'$$, false), ('numrange', $$'[1.0,2.0]'$$, $$'[1.00,2.00]'$$, false),
    -- The same, written otherwise.
    ('jsonb', $$'{"a": 1, "b": 2}'$$, $$'{"b":2,"a":1}'$$, true), ('timestamptz', $$'2024-01-01 12:00+00'$$, $$'2024-01-01 13:00+01'$$, true), ('int4range', $$'[1,2]'$$, $$'[1,3)'$$, true),
    ('int4range', $$'empty'$$, $$'[1,1)'$$, true), ('int4multirange', $$'{[1,2],[3,4]}'$$, $$'{[1,5)}'$$, true), ('int4multirange', $$'{[1,2]}'$$, $$'{[1,2],[5,6]}'$$, false),
    ('tstzrange', $$'[2024-01-01 00:00+00,)'$$, $$'[2024-01-01 01:00+01,)'$$, true), ('tstzrange', $$'[2024-01-01 00:00+00,)'$$, $$'(2024-01-01 00:00+00,)'$$, false),
    ('char(5)', $$'ab'$$, $$'ab   '$$, true), ('char(5)', $$'ab'$$, $$'abc'$$, false), ('varchar(5)', $$'ab'$$, $$'ab '$$, false), ('text', $$'ab'$$, $$'ab '$$, false), ('text', $$''$$, $$' '$$, false),
    ('text', $$'é'$$, $$e'e\u0301'$$, false), ('text COLLATE "C"', $$'a'$$, $$'A'$$, false), ('bytea', $$'\x00'$$, $$'\x0000'$$, false), ('bytea', $$'\x'$$, $$'\x00'$$, false),
    -- Not a number is not a number.
    ('double precision', $$'NaN'$$, $$'NaN'$$, true), ('real', $$'NaN'$$, $$'NaN'$$, true), ('numeric', $$'NaN'$$, $$'NaN'$$, true), ('double precision', $$'NaN'$$, $$'-NaN'$$, true), ('real', $$'NaN'$$, $$'-NaN'$$, true),
    ('double precision', $$'NaN'$$, $$'Infinity'$$, false), ('numeric', $$'NaN'$$, $$'Infinity'$$, false), ('numeric', $$'Infinity'$$, $$'-Infinity'$$, false),
    ('double precision[]', $$'{1,NaN}'$$, $$'{1,NaN}'$$, true), ('double precision[]', $$'{1,NaN}'$$, $$'{1,2}'$$, false), ('real[]', $$'{NaN}'$$, $$'{NaN}'$$, true), ('numeric[]', $$'{NaN}'$$, $$'{NaN}'$$, true),
    ('double precision[]', $$'{1,NaN}'$$, $$'{1,-NaN}'$$, true),
    -- Arrays: elements, nulls, dimensions, bounds.
    ('integer[]', $$'{1,2}'$$, $$'{2,1}'$$, false), ('integer[]', $$'{1,NULL}'$$, $$'{1}'$$, false), ('integer[]', $$'{}'$$, $$'{NULL}'$$, false), ('integer[]', $$'{1,2}'$$, $$'{{1,2}}'$$, false),
    ('integer[]', $$'{1,2}'$$, $$'[0:1]={1,2}'$$, false), ('text[]', $$'{a,"b c"}'$$, $$'{a,b,c}'$$, false), ('json[]', $$'{"{}"}'$$, $$'{"[]"}'$$, false), ('point[]', $$'{"(1,2)"}'$$, $$'{"(1,3)"}'$$, false),
    ('numeric[]', $$'{1.0}'$$, $$'{1.00}'$$, false),
    -- Composites, enums, domains, and what is made of them.
    ('pair_of', 'row(1, 2.0)', 'row(1, 3.0)', false), ('pair_of', 'row(1, 2.0)', 'row(1, 2.00)', false), ('pair_of', 'row(1, NULL)', 'row(NULL, NULL)', false), ('pair_of[]', 'array[row(1, 2)::pair_of]', 'array[row(1, 3)::pair_of]', false),
    ('deep', $$row(row(1, 2), '{}', '{a}')$$, $$row(row(1, 2), '[]', '{a}')$$, false), ('deep', $$row(row(1, 2), '{}', '{a}')$$, $$row(row(1, 2), '{}', '{b}')$$, false), ('deep', $$row(row(1, 2), '{}', '{a}')$$, $$row(NULL, '{}', '{a}')$$, false),
    ('mood', $$'sad'$$, $$'glad'$$, false), ('mood[]', $$'{sad}'$$, $$'{glad}'$$, false), ('percent', '10', '20', false), ('percent', '10', '10.0', false), ('raw', $$'{}'$$, $$'[]'$$, false), ('percent[]', $$'{10}'$$, $$'{20}'$$, false),
    -- Large values: stored packed, out of line, and either way the same.
    ('text', $$repeat('a', 100000)$$, $$repeat('a', 99999) || 'b'$$, false), ('text', $$(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 2000) AS n)$$, $$(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 2001) AS n)$$, false),
    ('text', $$repeat('a', 100000)$$, $$repeat('aa', 50000)$$, true), ('jsonb', $$to_jsonb(repeat('a', 100000))$$, $$to_jsonb(repeat('a', 100001))$$, false), ('bytea', $$decode(repeat('ab', 50000), 'hex')$$, $$decode(repeat('ab', 49999) || 'ac', 'hex')$$, false);
CREATE TABLE outcome AS SELECT n, type, first, second, same, goes(type, first, second, same) AS outcome FROM pair;
SELECT count(*) > 90 AS many, count(*) FILTER (WHERE outcome = 'ok') = count(*) AS all_ok FROM outcome;
SELECT type, first, second, same, outcome FROM outcome WHERE outcome <> 'ok' ORDER BY n;

-- Types and collations that a server may lack: nothing is shown where they behave.
TRUNCATE pair;
DO $$
BEGIN
    PERFORM '<a/>'::xml;
    INSERT INTO pair (type, first, second, same) VALUES ('xml', '''<a/>''', '''<b/>''', false), ('xml', '''<a/>''', '''<a></a>''', false), ('xml[]', '''{<a/>}''', '''{<b/>}''', false);
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;
DO $$
BEGIN
    CREATE EXTENSION citext;
    INSERT INTO pair (type, first, second, same) VALUES ('citext', '''a''', '''b''', false), ('citext', '''a''', '''A''', false), ('citext[]', '''{a}''', '''{A}''', false);
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;
DO $$
BEGIN
    CREATE EXTENSION hstore;
    INSERT INTO pair (type, first, second, same) VALUES ('hstore', '''a=>1''', '''a=>2''', false), ('hstore', '''a=>1, b=>2''', '''b=>2, a=>1''', true), ('hstore', '''a=>NULL''', '''''', false);
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;
DO $$
BEGIN
    CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    INSERT INTO pair (type, first, second, same) VALUES ('text COLLATE loose', '''a''', '''b''', false), ('text COLLATE loose', '''a''', '''A''', false), ('text[] COLLATE loose', '''{a}''', '''{A}''', false);
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;
SELECT type, first, second, same, o.outcome FROM pair, LATERAL (SELECT goes(type, first, second, same)) AS o (outcome) WHERE o.outcome <> 'ok' ORDER BY n;

-- Keys: by the equality of their type. The same key again, another way of writing it, another key.
CREATE FUNCTION keys(type text, first text, equal text, other text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r record; said text[] := '{}'; input text;
BEGIN
    DROP TABLE IF EXISTS h, src;
    EXECUTE format('CREATE TABLE src (k %s, v integer)', type);
    PERFORM register_history('h', 'src', 'k');
    FOR day IN 1..5 LOOP
        TRUNCATE src;
        input := (ARRAY[format('(%s, 1)', first), format('(%s, 1)', equal), format('(%s, 2)', equal), format('(%s, 2), (%s, 1)', first, other), format('(%s, 1)', other)])[day];
        EXECUTE 'INSERT INTO src VALUES ' || input;
        SELECT * INTO r FROM historize('h', reference_timestamp => at(day));
        said := said || format('%s+%s-%s', left(r.status, 1), r.versions_opened, r.versions_closed);
    END LOOP;
    -- Two rows of one key are two, however it is written.
    EXECUTE format('INSERT INTO src VALUES (%s, 1), (%s, 2)', first, equal);
    BEGIN
        PERFORM historize('h', reference_timestamp => at(9));
        said := said || 'duplicate taken'::text;
    EXCEPTION WHEN cardinality_violation THEN
        said := said || 'refused'::text;
    END;
    RETURN CASE WHEN said = ARRAY['l+1-0', 'u+0-0', 'l+1-1', 'l+1-0', 'l+0-1', 'refused'] AND NOT EXISTS (SELECT FROM daybook.check_history('h')) THEN 'ok' ELSE said::text END;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE key (n integer GENERATED ALWAYS AS IDENTITY, type text, first text, equal text, other text);
INSERT INTO key (type, first, equal, other) VALUES
    ('integer', '1', '1', '2'), ('text', $$'a'$$, $$'a'$$, $$'A'$$), ('text', $$''$$, $$''$$, $$' '$$), ('numeric', '1.0', '1.00', '1.01'), ('double precision', $$'NaN'$$, $$'NaN'$$, '1'), ('double precision', '0', $$'-0'$$, '1'),
    ('char(5)', $$'ab'$$, $$'ab  '$$, $$'abc'$$), ('varchar(5)', $$'ab'$$, $$'ab'$$, $$'ab '$$), ('bytea', $$'\x00'$$, $$'\x00'$$, $$'\x0000'$$), ('uuid', $$'00000000-0000-0000-0000-000000000000'$$, $$'00000000-0000-0000-0000-000000000000'$$, $$'00000000-0000-0000-0000-000000000001'$$),
    ('date', $$'2024-01-01'$$, $$'2024-01-01'$$, $$'infinity'$$), ('timestamptz', $$'2024-01-01 12:00+00'$$, $$'2024-01-01 13:00+01'$$, $$'2024-01-01 13:00+00'$$), ('interval', $$'1 day'$$, $$'24 hours'$$, $$'1 hour'$$),
    ('boolean', 'true', 'true', 'false'), ('mood', $$'sad'$$, $$'sad'$$, $$'glad'$$), ('percent', '10', '10.0', '11'), ('integer[]', $$'{1,2}'$$, $$'{1,2}'$$, $$'{2,1}'$$), ('jsonb', $$'{"a": 1.0}'$$, $$'{"a":1.00}'$$, $$'{"a": 2}'$$),
    ('int4range', $$'[1,2]'$$, $$'[1,3)'$$, $$'[1,4)'$$), ('inet', $$'10.0.0.1'$$, $$'10.0.0.1/32'$$, $$'10.0.0.2'$$), ('pair_of', 'row(1, 2)', 'row(1, 2.0)', 'row(1, 3)'), ('name', $$'a'$$, $$'a'$$, $$'b'$$);
DO $$
BEGIN
    INSERT INTO key (type, first, equal, other) SELECT 'citext', '''a''', '''A''', '''b''' WHERE to_regtype('citext') IS NOT NULL;
    INSERT INTO key (type, first, equal, other) SELECT 'text COLLATE loose', '''a''', '''A''', '''b''' FROM pg_collation WHERE collname = 'loose';
END $$;
CREATE TABLE key_outcome AS SELECT n, type, first, equal, keys(type, first, equal, other) AS outcome FROM key;
SELECT count(*) > 20 AS many, count(*) FILTER (WHERE outcome = 'ok') = count(*) AS all_ok FROM key_outcome;
SELECT type, first, equal, outcome FROM key_outcome WHERE outcome <> 'ok' ORDER BY n;
-- Types that no index can keep unique are no keys.
CREATE TABLE no_key (j json, p point, x xml, t text);
SELECT register_history('h_no_key', 'no_key', 'j'); :sqlstate
SELECT register_history('h_no_key', 'no_key', 't, p'); :sqlstate
SELECT register_history('h_no_key', 'no_key', 'x'); :sqlstate
SELECT to_regclass('h_no_key') IS NULL AS not_made;

-- All of them in one row, with each other type beside it: one row of many columns, nothing changes, then one does.
CREATE TABLE wide (id integer, a json, b polygon, c point, d double precision, e numeric, f char(5), g bytea, h mood, i percent, j pair_of, k json[], l jsonb, m interval);
INSERT INTO wide SELECT n, '{"n": 1}', '((0,0),(1,1))', point(n, n), CASE n % 3 WHEN 0 THEN 'NaN'::float8 ELSE n END, n / 8.0, n, '\x00', 'sad', n, row(n, NULL::numeric)::pair_of, '{"{}"}', '{}', '1 day' FROM generate_series(1, 50) AS n;
SELECT status, versions_opened FROM historize('wide', 'h_wide', 'id', reference_timestamp => at(1));
SELECT status, rows_unchanged FROM historize('h_wide', reference_timestamp => at(2));
UPDATE wide SET a = '{"n":1}' WHERE id = 1;
UPDATE wide SET c = point(0, 0) WHERE id = 2;
UPDATE wide SET j = row(3, 0) WHERE id = 3;
UPDATE wide SET k = NULL WHERE id = 4;
UPDATE wide SET e = round(e, 9) WHERE id = 8;
UPDATE wide SET f = f || ' ' WHERE id = 9;
UPDATE wide SET m = '24 hours' WHERE id = 10;
SELECT status, versions_opened, versions_closed, rows_unchanged FROM historize('h_wide', reference_timestamp => at(3));
SELECT id FROM h_wide WHERE dl_ts_captured = at(3) ORDER BY id;
