-- A failed run that is reported says when it began, not when it was written down.
SET client_min_messages = warning;
CREATE TABLE src (id int, at timestamptz);
INSERT INTO src VALUES (0, '2026-03-01 10:00+00');
CREATE TABLE fact (id int, at timestamptz, interval_start timestamptz);
CREATE FUNCTION slow(id int) RETURNS int LANGUAGE plpgsql STABLE AS
    $$ BEGIN PERFORM pg_sleep(0.3); RETURN 1 / id; END $$;
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'slow', filter => 'slow(id) > 0');
SELECT status, error FROM load_interval('fact', '2026-03-01', '2026-03-02', on_error => 'report');
SELECT status, sqlstate, finished_at - started_at > interval '0.2 s' AS took_its_time FROM daybook.runs;
