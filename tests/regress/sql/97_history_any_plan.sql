-- Duplicates are found by counting in passing, whichever join the planner takes and whichever side it goes back over.
SET client_min_messages = warning;

CREATE TABLE src (id int, v int);
INSERT INTO src SELECT i, i FROM generate_series(1, 1000) AS i;
CREATE INDEX ON src (id);
SELECT status, versions_opened FROM historize('src', 'hist', 'id', reference_timestamp => '2024-01-01 00:00+00');
UPDATE src SET v = v + 1;
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2024-01-02 00:00+00');
UPDATE src SET v = v + 1;
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2024-01-03 00:00+00');
ANALYZE src;
ANALYZE hist;

-- Two keys twice: rows that are as they were, so that nothing but the count can tell.
INSERT INTO src SELECT * FROM src WHERE id IN (5, 7);

SELECT status, error FROM historize('hist', reference_timestamp => '2024-01-04 00:00+00', on_error => 'report');
SET enable_hashjoin = off;
SELECT status, error FROM historize('hist', reference_timestamp => '2024-01-04 00:00+00', on_error => 'report');
SET enable_sort = off;
SELECT status, error FROM historize('hist', reference_timestamp => '2024-01-04 00:00+00', on_error => 'report');
SET enable_seqscan = off;
SELECT status, error FROM historize('hist', reference_timestamp => '2024-01-04 00:00+00', on_error => 'report');
SET enable_material = off;
SELECT status, error FROM historize('hist', reference_timestamp => '2024-01-04 00:00+00', on_error => 'report');
RESET ALL;
SET client_min_messages = warning;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SELECT status, error FROM historize('hist', reference_timestamp => '2024-01-04 00:00+00', on_error => 'report');
RESET ALL;
SELECT count(*) AS problems FROM daybook.check_history('hist');
