-- A long chain of rules on one column costs no more than its length: each expression is worked out once a row.
\set VERBOSITY default
SET client_min_messages = warning;
SET statement_timeout = '20s';

CREATE TABLE src (id int, at timestamptz, amount numeric);
INSERT INTO src VALUES (1, '2026-03-01 10:00+00', -5), (2, '2026-03-01 11:00+00', 7);
CREATE TABLE fact (id int, at timestamptz, amount numeric, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
SELECT count(register_rule('fact', 'step ' || n, column_name => 'amount',
                           expression => 'CASE WHEN amount < 0 THEN -amount ELSE amount + 1 END')) AS rules
FROM generate_series(1, 40) AS n;
SELECT status, rows_inserted FROM load_interval('fact', '2026-03-01', '2026-03-02');
SELECT id, amount FROM fact ORDER BY id;
