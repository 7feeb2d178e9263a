-- A filter guards those after it however costly it is: the planner, left to itself, would try the cheap one first.
SET client_min_messages = warning;
CREATE TABLE src (id int, at timestamptz, txt text);
INSERT INTO src VALUES (1, '2026-03-01 10:00+00', '7'), (2, '2026-03-01 11:00+00', 'seven');
CREATE TABLE fact (id int, at timestamptz, txt text, interval_start timestamptz);
CREATE FUNCTION is_number(txt text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 100000 AS
    $$ BEGIN RETURN txt ~ '^[0-9]+$'; END $$;
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'numbers', filter => 'is_number(txt)');
SELECT register_rule('fact', 'positive', filter => 'txt::int > 0');
SELECT status, rows_read, rows_dropped, rows_inserted FROM load_interval('fact', '2026-03-01', '2026-03-02');
