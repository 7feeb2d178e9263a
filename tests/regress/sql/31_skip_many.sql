-- Skipping every second of a thousand days costs one delete and one insert, not one for each.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET statement_timeout = '30s';

CREATE TABLE src (id int, at timestamptz);
INSERT INTO src SELECT i, timestamptz '2020-01-01 00:00+00' + (i % 500) * interval '2 days' FROM generate_series(1, 100000) AS i;
CREATE TABLE fact (id int, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
INSERT INTO fact SELECT 0, day, day FROM generate_series('2020-01-01 00:00+00', '2022-09-26 00:00+00', interval '1 day') AS day;
SELECT status, count(*), sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted
FROM load_interval('fact', '2020-01-01', '2022-09-27', wide => true, on_empty => 'skip') GROUP BY status ORDER BY status;
SELECT count(*) FILTER (WHERE id = 0) AS left_alone, count(*) FILTER (WHERE id > 0) AS loaded FROM fact;
SELECT count(*) FROM daybook.check_load('fact');
