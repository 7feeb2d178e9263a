-- A source or a rule that reads the target: a rerun deletes the interval before it reads, so it would not find what it found before.
\set VERBOSITY default
SET client_min_messages = warning;

CREATE TABLE fact (id int, at timestamptz, interval_start timestamptz);
INSERT INTO fact VALUES (1, '2026-03-01 10:00+00', '2026-03-01');
CREATE VIEW over_fact AS SELECT id, at FROM fact;
SELECT register_load('fact', 'over_fact', 'at');

CREATE TABLE src (id int, at timestamptz);
INSERT INTO src VALUES (1, '2026-03-01 10:00+00');
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'only new', filter => 'NOT EXISTS (SELECT FROM public.fact AS f WHERE f.id = source.id)');

-- Also when a view comes to read the target after it was registered.
CREATE VIEW later AS SELECT id, at FROM src;
SELECT register_load('fact', 'later', 'at');
CREATE OR REPLACE VIEW later AS SELECT s.id, s.at FROM src AS s WHERE NOT EXISTS (SELECT FROM fact AS f WHERE f.id = s.id);
SELECT load_interval('fact', '2026-03-01', '2026-03-02');

-- And through a partition.
CREATE TABLE parted (id int, at timestamptz, interval_start timestamptz) PARTITION BY RANGE (at);
CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
CREATE VIEW over_leaf AS SELECT id, at FROM parted_1;
SELECT register_load('parted', 'over_leaf', 'at');
TABLE fact;
