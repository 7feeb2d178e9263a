-- daybook.check_load: rows that no run owns, and source rows without a time.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, at timestamptz);
INSERT INTO src SELECT n, '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 8) AS n;
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
-- An empty target, a loaded one: nothing.
SELECT * FROM daybook.check_load('fact');
SELECT sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00');
SELECT * FROM daybook.check_load('fact');
-- Source rows without a time belong to no interval.
INSERT INTO src VALUES (100, NULL), (101, NULL);
SELECT * FROM daybook.check_load('fact');
-- Stamps that are NULL, off the grain, or another interval's; times that are NULL; times and stamps far away.
INSERT INTO fact VALUES
    (200, '2026-09-01 01:00+00', NULL), (201, '2026-09-02 01:00+00', NULL), (202, NULL, NULL),
    (203, NULL, '2026-09-01 00:00+00'),
    (204, '2026-09-02 01:00+00', '2026-09-01 00:00+00'), (205, '2026-09-03 23:00+00', '2026-09-01 00:00+00'), (206, '2026-09-02 00:00+00', '2026-09-01 00:00+00'),
    (207, '2026-08-31 23:59:59+00', '2026-09-01 00:00+00'), (208, '2026-09-01 12:00+00', '2026-09-02 00:00+00'),
    (209, '2026-09-01 12:00+00', '2026-09-01 12:00+00'), (210, '2026-09-01 12:00+00', '2026-09-01 00:00:00.000001+00'),
    (211, '1999-12-31 00:00+00', '1999-12-31 00:00+00'), (212, '2100-01-01 12:00+00', '2099-12-31 00:00+00');
SELECT * FROM daybook.check_load('fact') ORDER BY problem, interval_start;
-- Infinite times and stamps.
INSERT INTO fact VALUES (213, 'infinity', '2026-09-01 00:00+00'), (214, '2026-09-01 12:00+00', 'infinity'), (215, '-infinity', '-infinity');
SELECT * FROM daybook.check_load('fact') ORDER BY problem, interval_start;
-- A run over their interval refuses those that it would lose, as many as are listed for it.
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
DELETE FROM fact WHERE id > 200;
SELECT * FROM daybook.check_load('fact') ORDER BY problem, interval_start;
-- Rows stamped NULL are in no run's way, and stay.
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00') ORDER BY 1;
SELECT count(*) FROM fact WHERE interval_start IS NULL;
-- It changes nothing and works in a read-only transaction; it waits for no one's lock on the intervals.
BEGIN TRANSACTION READ ONLY;
SELECT * FROM daybook.check_load('fact') ORDER BY problem, interval_start;
COMMIT;
-- Other types and zones: stamps are shown as they stand.
CREATE TABLE src_local (id integer, at timestamp);
INSERT INTO src_local VALUES (1, '2026-10-25 02:30'), (2, '2026-10-25 23:30'), (3, NULL);
CREATE TABLE fact_local (id integer, at timestamp, interval_start date);
SELECT register_load('fact_local', 'src_local', 'at', zone => 'Europe/Berlin');
SELECT sum(rows_inserted) FROM load_interval('fact_local', '2026-10-25', '2026-10-26', as_of => '2026-11-01 00:00+00');
SELECT * FROM daybook.check_load('fact_local');
INSERT INTO fact_local VALUES (9, '2026-10-26 00:00', '2026-10-25'), (10, '2026-10-25 12:00', NULL);
SELECT * FROM daybook.check_load('fact_local') ORDER BY problem, interval_start;
CREATE TABLE src_months (at date);
CREATE TABLE fact_months (at date, interval_start date);
SELECT register_load('fact_months', 'src_months', 'at', grain => '1 month');
INSERT INTO fact_months VALUES ('2026-02-28', '2026-02-01'), ('2026-03-01', '2026-02-01'), ('2026-03-01', '2026-03-01'), ('2026-03-01', '2026-03-02'), ('infinity', '2026-03-01');
SELECT * FROM daybook.check_load('fact_months') ORDER BY problem, interval_start;
-- The rows are found whatever the session's settings are.
SET TimeZone = 'Pacific/Kiritimati';
SET DateStyle = 'German, DMY';
SELECT * FROM daybook.check_load('fact_months') ORDER BY problem, interval_start;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
-- A sum over it: the table may be handed to the pipeline when this is zero.
SELECT coalesce(sum(row_count), 0) AS rows FROM daybook.check_load('fact');
