-- Targets: tables, partitioned tables by any key, and partition leaves.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, kind text, at timestamptz);
INSERT INTO src SELECT n, chr(97 + n % 3), '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 14) AS n;
CREATE TABLE plain (id integer, kind text, at timestamptz, interval_start timestamptz);
SELECT register_load('plain', 'src', 'at');
SELECT sum(rows_inserted) FROM load_interval('plain', '2026-09-01', '2026-09-06', as_of => '2026-09-09 00:00+00');
-- By the stamp, by the time, by a list and by a hash of other columns, in two levels.
CREATE TABLE by_stamp (LIKE plain) PARTITION BY RANGE (interval_start);
CREATE TABLE by_stamp_1 PARTITION OF by_stamp FOR VALUES FROM (MINVALUE) TO ('2026-09-03 00:00+00');
CREATE TABLE by_stamp_2 PARTITION OF by_stamp FOR VALUES FROM ('2026-09-03 00:00+00') TO (MAXVALUE);
CREATE TABLE by_time (LIKE plain) PARTITION BY RANGE (at);
CREATE TABLE by_time_1 PARTITION OF by_time FOR VALUES FROM ('2026-09-01 00:00+00') TO ('2026-09-02 12:00+00');
CREATE TABLE by_time_2 PARTITION OF by_time DEFAULT;
CREATE TABLE by_kind (LIKE plain) PARTITION BY LIST (kind);
CREATE TABLE by_kind_a PARTITION OF by_kind FOR VALUES IN ('a');
-- A leaf with its columns in another order.
CREATE TABLE by_kind_b (interval_start timestamptz, gone integer, kind text, at timestamptz, id integer);
ALTER TABLE by_kind_b DROP COLUMN gone;
ALTER TABLE by_kind ATTACH PARTITION by_kind_b FOR VALUES IN ('b');
CREATE TABLE by_kind_c PARTITION OF by_kind FOR VALUES IN ('c') PARTITION BY HASH (id);
CREATE TABLE by_kind_c0 PARTITION OF by_kind_c FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE by_kind_c1 PARTITION OF by_kind_c FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE FUNCTION differs(a regclass, b regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((SELECT id, kind, at, interval_start FROM %1$s EXCEPT ALL SELECT id, kind, at, interval_start FROM %2$s)
        UNION ALL (SELECT id, kind, at, interval_start FROM %2$s EXCEPT ALL SELECT id, kind, at, interval_start FROM %1$s)) AS d', a, b) INTO n;
    RETURN n;
END $$;
SELECT register_load(t, 'src', 'at') FROM unnest(array['by_stamp', 'by_time', 'by_kind']::regclass[]) AS t \g /dev/null
SELECT t AS target, w AS wide, sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted
FROM unnest(array['by_stamp', 'by_time', 'by_kind']::regclass[]) AS t, unnest(array[false, true]) AS w,
     LATERAL load_interval(t, '2026-09-01', '2026-09-06', w, as_of => '2026-09-09 00:00+00') GROUP BY t, w ORDER BY t::text, w;
SELECT t AS target, differs(t, 'plain') FROM unnest(array['by_stamp', 'by_time', 'by_kind']::regclass[]) AS t ORDER BY t::text;
SELECT tableoid::regclass, count(*) FROM by_kind GROUP BY 1 ORDER BY 1;
-- A row that changes its partition is deleted here and inserted there.
UPDATE src SET kind = 'b' WHERE id = 0;
UPDATE src SET kind = 'c' WHERE id = 1;
SELECT rows_deleted, rows_inserted FROM load_interval('by_kind', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT rows_deleted, rows_inserted FROM load_interval('plain', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT differs('by_kind', 'plain');
-- Keys, on_empty and triggers reach into partitions.
SELECT register_load('by_kind', 'src', 'at', keys => 'id');
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('by_kind', '2026-09-01', '2026-09-06', wide => true, on_empty => 'error', as_of => '2026-09-09 00:00+00');
SELECT differs('by_kind', 'plain');
SELECT * FROM daybook.check_load('by_kind');
INSERT INTO by_kind VALUES (99, 'c', '2026-09-01 00:00+00', '2026-09-02 00:00+00');
SELECT * FROM load_interval('by_kind', '2026-09-01', '2026-09-06', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM daybook.check_load('by_kind');
DELETE FROM by_kind WHERE id = 99;
-- Generated and identity columns of a partitioned target.
CREATE TABLE gen (id integer, kind text, at timestamptz, interval_start timestamptz, twice integer GENERATED ALWAYS AS (id * 2) STORED, note text DEFAULT 'd') PARTITION BY LIST (kind);
CREATE TABLE gen_all PARTITION OF gen DEFAULT;
SELECT register_load('gen', 'src', 'at');
SELECT sum(rows_inserted) AS inserted FROM load_interval('gen', '2026-09-01', '2026-09-06', wide => true, as_of => '2026-09-09 00:00+00');
SELECT count(*), sum(twice), min(note) FROM gen;

-- Root and leaf cannot both be registered: they hold the same rows.
SELECT register_load('by_stamp_1', 'src', 'at'); :sqlstate
SELECT register_load('by_kind_c', 'src', 'at'); :sqlstate
SELECT register_load('by_kind_c0', 'src', 'at'); :sqlstate
SELECT unregister_load('by_kind');
SELECT register_load('by_kind_c0', 'src', 'at'); :sqlstate
SELECT register_load('by_kind_c1', 'src', 'at'); :sqlstate
SELECT register_load('by_kind', 'src', 'at'); :sqlstate
SELECT register_load('by_kind_c', 'src', 'at'); :sqlstate
SELECT unregister_load('by_kind_c0'), unregister_load('by_kind_c1');
-- A leaf alone: rows that its bounds refuse are the server's error; a filter leaves them out.
SELECT register_load('by_kind_b', 'src', 'at');
SELECT * FROM load_interval('by_kind_b', '2026-09-01', '2026-09-06', as_of => '2026-09-09 00:00+00', on_error => 'report') LIMIT 1; :sqlstate
SELECT register_rule('by_kind_b', 'mine', filter => $$kind = 'b'$$);
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('by_kind_b', '2026-09-01', '2026-09-06', as_of => '2026-09-09 00:00+00');
SELECT differs('by_kind', 'plain');
-- A leaf that was attached to a registered table after it was registered itself: the next run of either is refused.
CREATE TABLE alone (LIKE plain);
SELECT register_load('alone', 'src', 'at');
SELECT unregister_load('by_kind_b');
SELECT register_load('by_kind', 'src', 'at');
ALTER TABLE by_kind ATTACH PARTITION alone FOR VALUES IN ('d');
\set VERBOSITY sqlstate
SELECT * FROM load_interval('by_kind', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT * FROM load_interval('alone', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
\set VERBOSITY default
-- A foreign key without an action lets rows be replaced within a transaction when it is deferred.
CREATE TABLE parent (id integer PRIMARY KEY, kind text, at timestamptz, interval_start timestamptz);
SELECT register_load('parent', 'src', 'at');
SELECT sum(rows_inserted) AS inserted FROM load_interval('parent', '2026-09-01', '2026-09-06', as_of => '2026-09-09 00:00+00');
CREATE TABLE child (parent_id integer REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO child VALUES (1), (2);
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('parent', '2026-09-01', '2026-09-06', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM child;
