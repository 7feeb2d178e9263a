-- The schema and the two small types that let one signature serve every caller.
-- Part 1 of the install script; the parts are joined in the order that the Makefile lists.

\echo Use "CREATE EXTENSION daybook" to load this file. \quit

-- Plain CREATE SCHEMA: if somebody made the schema first, installing fails instead of adopting it.
CREATE SCHEMA daybook;
COMMENT ON SCHEMA daybook IS
    'daybook: what the extension keeps (loads, rules, runs, intervals) and the functions that tell about it';

-- daybook.bound -------------------------------------------------------------------------------------

CREATE TYPE daybook.bound;

CREATE FUNCTION daybook.bound_in(cstring) RETURNS daybook.bound
    AS 'MODULE_PATHNAME', 'bound_in_wrapper' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.bound_in(cstring) IS 'Reads the text form of a bound; other than ISO forms and the known words are refused';

CREATE FUNCTION daybook.bound_out(daybook.bound) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.bound_out(daybook.bound) IS 'Writes a bound in its canonical text form';

CREATE TYPE daybook.bound (INPUT = daybook.bound_in, OUTPUT = daybook.bound_out, LIKE = pg_catalog.text);
COMMENT ON TYPE daybook.bound IS
    'One end of an interval: an instant, a local time read in the load''s zone, or one of the words yesterday, today, last_closed';

CREATE FUNCTION daybook.bound(date) RETURNS daybook.bound
    AS 'MODULE_PATHNAME', 'bound_from_date_wrapper' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.bound(date) IS 'A local midnight, read in the load''s zone';
CREATE CAST (date AS daybook.bound) WITH FUNCTION daybook.bound(date) AS IMPLICIT;

CREATE FUNCTION daybook.bound(timestamp) RETURNS daybook.bound
    AS 'MODULE_PATHNAME', 'bound_from_timestamp_wrapper' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.bound(timestamp) IS 'A local time, read in the load''s zone';
CREATE CAST (timestamp AS daybook.bound) WITH FUNCTION daybook.bound(timestamp) AS IMPLICIT;

CREATE FUNCTION daybook.bound(timestamptz) RETURNS daybook.bound
    AS 'MODULE_PATHNAME', 'bound_from_timestamptz_wrapper' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.bound(timestamptz) IS 'An instant';
CREATE CAST (timestamptz AS daybook.bound) WITH FUNCTION daybook.bound(timestamptz) AS IMPLICIT;

CREATE CAST (text AS daybook.bound) WITH INOUT AS IMPLICIT;
CREATE CAST (varchar AS daybook.bound) WITH INOUT AS IMPLICIT;

COMMENT ON CAST (date AS daybook.bound) IS 'Local midnight in the load''s zone';
COMMENT ON CAST (timestamp AS daybook.bound) IS 'Local time in the load''s zone';
COMMENT ON CAST (timestamptz AS daybook.bound) IS 'Instant';
COMMENT ON CAST (text AS daybook.bound) IS 'ISO date, month, local time, instant with offset, or a word';
COMMENT ON CAST (varchar AS daybook.bound) IS 'ISO date, month, local time, instant with offset, or a word';

-- daybook.column_list -------------------------------------------------------------------------------

CREATE TYPE daybook.column_list;

CREATE FUNCTION daybook.column_list_in(cstring) RETURNS daybook.column_list
    AS 'MODULE_PATHNAME', 'column_list_in_wrapper' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.column_list_in(cstring) IS 'Reads a column list, written as an array or as identifiers with commas';

CREATE FUNCTION daybook.column_list_out(daybook.column_list) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.column_list_out(daybook.column_list) IS 'Writes a column list as quoted identifiers with commas';

CREATE TYPE daybook.column_list (INPUT = daybook.column_list_in, OUTPUT = daybook.column_list_out, LIKE = pg_catalog.text);
COMMENT ON TYPE daybook.column_list IS
    'Names of columns: array[''a'',''b''], ''{a,b}'', ''a, "B c"'' or a single identifier';

CREATE FUNCTION daybook.column_list(text[]) RETURNS daybook.column_list
    AS 'MODULE_PATHNAME', 'column_list_from_array_wrapper' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION daybook.column_list(text[]) IS 'The names in the array, each as it stands';

CREATE FUNCTION daybook.column_list(name[]) RETURNS daybook.column_list
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN daybook.column_list($1::pg_catalog.text[]);
COMMENT ON FUNCTION daybook.column_list(name[]) IS 'The names in the array, each as it stands';

CREATE CAST (text[] AS daybook.column_list) WITH FUNCTION daybook.column_list(text[]) AS IMPLICIT;
CREATE CAST (name[] AS daybook.column_list) WITH FUNCTION daybook.column_list(name[]) AS IMPLICIT;
CREATE CAST (text AS daybook.column_list) WITH INOUT AS IMPLICIT;
CREATE CAST (varchar AS daybook.column_list) WITH INOUT AS IMPLICIT;

COMMENT ON CAST (text[] AS daybook.column_list) IS 'Names as they stand';
COMMENT ON CAST (name[] AS daybook.column_list) IS 'Names as they stand';
COMMENT ON CAST (text AS daybook.column_list) IS 'Identifiers with commas, folded as SQL folds them, or an array literal';
COMMENT ON CAST (varchar AS daybook.column_list) IS 'Identifiers with commas, folded as SQL folds them, or an array literal';
