-- What is known of an interval when a run skips it: what was loaded before stays as it was, its stale mark too; one that was never
-- loaded is noted as skipped.
\set VERBOSITY default
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE TABLE src (id int, at timestamptz);
INSERT INTO src VALUES (1, '2026-03-01 10:00+00');
CREATE TABLE fact (id int, at timestamptz, interval_start timestamptz NOT NULL);
SELECT register_load('fact', 'src', 'at');
SELECT status FROM load_interval('fact', '2026-03-01', '2026-03-02');
SELECT mark_stale('fact', '2026-03-01', '2026-03-02', 'the source was corrected');

DELETE FROM src;
SELECT status, rows_deleted FROM load_interval('fact', '2026-03-01', '2026-03-03', on_empty => 'skip');
SELECT id FROM fact;
SELECT interval_start, status, is_current, stale_reason FROM daybook.interval_log ORDER BY run_id, interval_start;

-- A load that does replace it clears the mark.
SELECT status, rows_deleted FROM load_interval('fact', '2026-03-01', '2026-03-03');
SELECT interval_start, status, stale_reason FROM daybook.interval_log WHERE is_current ORDER BY interval_start;
