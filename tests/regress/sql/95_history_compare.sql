-- daybook.same and daybook.row_hash, called by hand: what they say of values, and of arguments that no run would pass.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\pset null NULL
-- Stored alike: NULL is NULL, a NaN is a NaN, 1.0 is not 1.00, and a sign of zero or a lower bound counts.
SELECT daybook.same(NULL::integer, NULL), daybook.same(1, NULL), daybook.same(NULL, 1), daybook.same(1, 1), daybook.same(1, 2);
SELECT daybook.same(1.0, 1.00) AS scale, daybook.same('NaN'::numeric, 'NaN') AS nan, daybook.same('a'::char(3), 'a  ') AS padded, daybook.same('a'::text, 'A') AS upper;
SELECT daybook.same('NaN'::float8, '-NaN') AS nan, daybook.same('NaN'::float4, '-NaN') AS small_nan, daybook.same(array['NaN'::float8], array['-NaN'::float8]) AS in_array, daybook.same(0::float8, '-0') AS zero;
SELECT daybook.same(array[1, NULL], array[1, NULL]) AS nulls, daybook.same('[0:0]={1}'::integer[], '{1}') AS bounds, daybook.same('{}'::integer[], '{}') AS empty, daybook.same('{{1}}'::integer[], '{1}') AS dimensions;
SELECT daybook.same('{"a": 1}'::json, '{"a":1}') AS json, daybook.same('{"a": 1}'::jsonb, '{"a":1}') AS jsonb, daybook.same('(0,0)'::point, '(0,0)') AS point, daybook.same('1 day'::interval, '24 hours') AS interval;
SELECT daybook.same(row(1, 'a'::text), row(1, 'a'::text)) AS records, daybook.same(row(1), row(1::bigint)) AS types, daybook.same(row(1), row(1, 2)) AS lengths, daybook.same(row(), row()) AS empty,
    daybook.same(row(NULL::integer), row(NULL::integer)) AS nulls, daybook.same(row(row('NaN'::float8)), row(row('-NaN'::float8))) AS nested;
CREATE DOMAIN amount AS numeric;
CREATE TYPE pair AS (a integer, b float8);
SELECT daybook.same(1.0::amount, 1.00::amount), daybook.same(1::amount, 1::amount), daybook.same((1, 'NaN')::pair, (1, '-NaN')::pair), daybook.same((1, 1)::pair, (1, NULL)::pair);
-- Compressed, out of line, with columns dropped and added: what counts is the value.
CREATE TABLE long (id integer, gone text, v text);
ALTER TABLE long ALTER COLUMN v SET STORAGE EXTERNAL;
INSERT INTO long VALUES (1, 'x', repeat('long ', 20000));
ALTER TABLE long DROP COLUMN gone, ADD COLUMN added integer DEFAULT 7;
SELECT daybook.same(v, repeat('long ', 20000)), daybook.same(v, repeat('long ', 20000) || '.'), daybook.same(l, (1, repeat('long ', 20000), 7)::long),
    daybook.row_hash('\x01', array['id', 'v', 'added'], l) = daybook.row_hash('\x01', array['id', 'v', 'added'], row(1, repeat('long ', 20000), 7)) AS hashes FROM long AS l;
-- Fingerprints: the prefix, then 16 bytes. Neither order nor a column that is null matters; names and places of values do, a wider type does not.
SELECT length(daybook.row_hash('\x01020304', array['a'], row(repeat('x', 100000)))), substr(daybook.row_hash('\x01020304', array['a'], row(1)), 1, 4), length(daybook.row_hash('\x', array['a'], row(1)));
SELECT daybook.row_hash('\x01', array['a', 'b'], row(1, 2)) = daybook.row_hash('\x01', array['b', 'a'], row(2, 1)) AS order,
    daybook.row_hash('\x01', array['a', 'b'], row(1, NULL)) = daybook.row_hash('\x01', array['a'], row(1)) AS null,
    daybook.row_hash('\x01', array['a', 'b'], row(NULL, 1)) = daybook.row_hash('\x01', array['a', 'b'], row(1, NULL)) AS place,
    daybook.row_hash('\x01', array['a', 'b'], row('x', 'yz')) = daybook.row_hash('\x01', array['a', 'b'], row('xy', 'z')) AS cut,
    daybook.row_hash('\x01', array['a'], row(1)) = daybook.row_hash('\x01', array['b'], row(1)) AS name,
    daybook.row_hash('\x01', array['a'], row(1)) = daybook.row_hash('\x01', array['a'], row(1::bigint)) AS wider;
SELECT count(*) AS rows, count(DISTINCT h) AS hashes FROM (SELECT daybook.row_hash('\x01', array['a', 'b'], row(n, CASE WHEN n % 2 = 0 THEN 'x'::text END)) AS h FROM generate_series(1, 1000) AS n) AS d;
-- Other names and types in turn, in one session and in one statement.
DO $$
DECLARE
    h bytea[];
BEGIN
    FOR i IN 1..3 LOOP
        h := h || daybook.row_hash('\x01', array['a'], row(1)) || daybook.row_hash('\x01', array['a', 'b'], row(1, 2.0)) || daybook.row_hash('\x01', array['a', 'b'], row(1, 2)) || daybook.row_hash('\x01', array['b'], row('x'::text));
    END LOOP;
    RAISE NOTICE '% hashes, % of them different', array_length(h, 1), (SELECT count(DISTINCT u) FROM unnest(h) AS u);
END $$;
-- What no run would pass.
SELECT daybook.row_hash(NULL, array['a'], row(1)), daybook.row_hash('\x01', NULL, row(1)), daybook.row_hash('\x01', array['a'], NULL);
SELECT length(daybook.row_hash('\x01', '{}', row()));
\set VERBOSITY sqlstate
SELECT daybook.same(NULL, NULL);
SELECT daybook.row_hash('\x01', array['a', NULL], row(1, 2));
SELECT daybook.tally(1, 1, 1, true);
SELECT daybook.tally_target(1, true, 1, 'x');
SELECT daybook.row_hash('\x01', array['a', 'b', 'c'], row(1, 2));
SELECT daybook.row_hash('\x01', array['a'], row(1, 2));
\set VERBOSITY default
-- Both may be called by anyone, in parallel, and tell nothing that is not passed.
SELECT proname, provolatile, proparallel, proisstrict, has_function_privilege('public', oid, 'EXECUTE') AS anyone FROM pg_proc WHERE pronamespace = 'daybook'::regnamespace AND proname IN ('same', 'row_hash') ORDER BY 1;
