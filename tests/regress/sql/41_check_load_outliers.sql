-- Rows that no run owns, far from the others and on fine grains: the check costs what the target holds, not what lies between.
\set VERBOSITY default
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET statement_timeout = '20s';

CREATE TABLE src (id int, at timestamptz);
CREATE TABLE fact (id int, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at', grain => '15 minutes');
INSERT INTO fact VALUES
    (1, '2026-01-01 10:07+00', '2026-01-01 10:00+00'),
    (2, '2026-01-01 10:20+00', '2026-01-01 10:00+00'),
    (3, '9999-01-01 00:00+00', '9999-01-01 00:00+00'),
    (4, '2026-01-01 00:00+00', '2026-01-01 00:01+00'),
    (5, NULL, '2026-01-01 00:00+00'),
    (6, '2026-01-01 00:00+00', NULL),
    (7, 'infinity', 'infinity'),
    (8, '2026-01-01 00:00+00', '-infinity');
SELECT * FROM daybook.check_load('fact');

-- Dates, in months.
CREATE TABLE month_src (id int, at date);
CREATE TABLE month_fact (id int, at date, interval_start date);
SELECT register_load('month_fact', 'month_src', 'at', grain => '1 month');
INSERT INTO month_src VALUES (1, NULL), (2, NULL);
INSERT INTO month_fact VALUES (1, '2026-01-10', '2026-01-01'), (2, '2026-02-10', '2026-01-01'), (3, '2026-02-10', '2026-02-02');
SELECT * FROM daybook.check_load('month_fact');

-- Local times of the hour that comes twice: what a load has written is owned.
CREATE TABLE local_src (id int, at timestamp);
CREATE TABLE local_fact (id int, at timestamp, interval_start timestamp);
SELECT register_load('local_fact', 'local_src', 'at', grain => '1 hour', zone => 'America/New_York');
INSERT INTO local_src SELECT i, timestamp '2025-11-02 00:30' + i * interval '30 minutes' FROM generate_series(0, 8) AS i;
SELECT interval_start, rows_inserted FROM load_interval('local_fact', '2025-11-01', '2025-11-04', wide => true) WHERE rows_read > 0;
SELECT * FROM daybook.check_load('local_fact');

-- A load time that the column cannot hold, and columns that the target generates.
CREATE TABLE odd (id int, at timestamptz, interval_start timestamptz, loaded_at integer);
SELECT register_load('odd', 'src', 'at');
CREATE TABLE made (id int, at timestamptz, interval_start timestamptz GENERATED ALWAYS AS (at) STORED);
SELECT register_load('made', 'src', 'at');

-- A clock that is set back between two boundaries: 00:01 becomes 23:01.
CREATE TABLE johns_src (id int, at timestamp);
CREATE TABLE johns_fact (id int, at timestamp, interval_start timestamp);
SELECT register_load('johns_fact', 'johns_src', 'at', grain => '20 minutes', zone => 'America/St_Johns', origin => '2001-01-01 00:10');
INSERT INTO johns_src SELECT i, timestamp '2010-11-06 22:00' + i * interval '5 minutes' FROM generate_series(0, 36) AS i;
SELECT sum(rows_read) AS read, sum(rows_inserted) AS inserted
FROM load_interval('johns_fact', '2010-11-06 00:10', '2010-11-08 00:10', wide => true);
SELECT * FROM daybook.check_load('johns_fact');
