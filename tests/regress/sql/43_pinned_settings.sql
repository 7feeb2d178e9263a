-- Settings of the session that could change what a rule yields, which rules version it is, or how messages read.
\set VERBOSITY default
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE TABLE base (id int, at timestamptz, txt text);
INSERT INTO base VALUES (1, '2026-03-01 10:00+00', '2026-03-01 10:00 IST');
CREATE VIEW src AS SELECT id, at, txt FROM base;
CREATE TABLE fact (id int, at timestamptz, txt text, read_as timestamptz, interval_start timestamptz, loaded_at timestamptz);
SELECT register_rule('fact', 'read', column_name => 'read_as', expression => 'txt::timestamptz');
SELECT register_load('fact', 'src', 'at');

SELECT rules_version AS plain FROM load_interval('fact', '2026-03-01', '2026-03-02') \gset
CREATE TABLE first AS SELECT id, txt, read_as, interval_start FROM fact;

SET timezone_abbreviations = 'India';
SET quote_all_identifiers = on;
SET transform_null_equals = on;
SET xmloption = document;
SET bytea_output = escape;
SET intervalstyle = iso_8601;
SET extra_float_digits = -10;
SELECT rules_version = :'plain' AS same_version FROM load_interval('fact', '2026-03-01', '2026-03-02');
SELECT count(*) AS rows_that_differ FROM (
    (TABLE first EXCEPT ALL SELECT id, txt, read_as, interval_start FROM fact)
    UNION ALL (SELECT id, txt, read_as, interval_start FROM fact EXCEPT ALL TABLE first)) AS x;
SELECT target_name FROM daybook.runs ORDER BY run_id;

-- They are put back.
SHOW timezone_abbreviations;
SHOW quote_all_identifiers;
SHOW bytea_output;
SHOW extra_float_digits;
