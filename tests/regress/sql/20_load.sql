-- load_interval: what is read, stamped, deleted and inserted, in both widths, and what it says about it.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
CREATE TABLE src (id integer, kind text, amount numeric, at timestamptz);
INSERT INTO src
SELECT n, chr(97 + n % 3), n * 1.5, '2026-09-01 00:00+00'::timestamptz + n * interval '95 minutes' FROM generate_series(0, 99) AS n;
CREATE TABLE fact (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz NOT NULL, loaded_at timestamptz);
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'no c', filter => $$kind <> 'c'$$);
SELECT register_rule('fact', 'not big', filter => 'amount < 140');
-- One row for each grain interval, in order; one notice for the run. The half-open interval takes its start and leaves its end.
INSERT INTO src VALUES (200, 'a', 1, '2026-09-03 00:00+00'), (201, 'a', 1, '2026-09-02 23:59:59.999999+00'), (202, 'a', 1, '2026-09-08 00:00+00'),
    (203, 'a', 1, '2026-08-31 23:59:59.999999+00'), (204, 'a', 1, NULL);
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-08', as_of => '2026-09-09 00:00+00');
CREATE TABLE daily AS SELECT * FROM fact;
SELECT id, at, interval_start FROM fact WHERE id >= 200 ORDER BY id;
-- Wide: the same rows, the same result rows.
TRUNCATE fact;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-08', wide => true, as_of => '2026-09-09 00:00+00');
SELECT count(*) AS rows_that_differ FROM (
    (SELECT id, kind, amount, at, interval_start FROM fact EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM daily)
    UNION ALL
    (SELECT id, kind, amount, at, interval_start FROM daily EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM fact)) AS d;
-- Any split, in any order, gives the same table again, and says so.
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-05', '2026-09-08', wide => true, as_of => '2026-09-09 00:00+00');
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-03', '2026-09-05', wide => true, as_of => '2026-09-09 00:00+00');
SELECT count(*) AS rows_that_differ FROM (
    (SELECT id, kind, amount, at, interval_start FROM fact EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM daily)
    UNION ALL
    (SELECT id, kind, amount, at, interval_start FROM daily EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM fact)) AS d;
-- Only the interval is touched: neighbours keep their rows, to the last version of them.
CREATE TABLE places AS SELECT ctid AS place, xmin::text AS version, id FROM fact;
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-04', '2026-09-05', as_of => '2026-09-09 00:00+00');
SELECT f.interval_start, count(*) FILTER (WHERE p.id IS NULL) AS rewritten, count(p.id) AS untouched
FROM fact AS f LEFT JOIN places AS p ON p.id = f.id AND p.place = f.ctid AND p.version = f.xmin::text
GROUP BY f.interval_start ORDER BY f.interval_start;
-- What the source lost is gone, what it gained is there; changed rows are as they are now.
DELETE FROM src WHERE id = 201;
UPDATE src SET amount = -7 WHERE id = 200;
INSERT INTO src VALUES (205, 'a', 5, '2026-09-02 12:00+00');
SELECT interval_start, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00');
SELECT id, amount, at, interval_start FROM fact WHERE id >= 200 ORDER BY id;
-- A row that moved to a later interval leaves its old copy behind until that interval is loaded again: as documented.
UPDATE src SET at = '2026-09-06 12:00+00' WHERE id = 205;
SELECT interval_start, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-06', '2026-09-07', as_of => '2026-09-09 00:00+00');
SELECT id, interval_start FROM fact WHERE id = 205 ORDER BY interval_start;
SELECT interval_start, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT id, interval_start FROM fact WHERE id = 205 ORDER BY interval_start;
-- Rows without a time are loaded by no run.
SELECT count(*) FROM fact WHERE id = 204;
-- Two rows that are equal in every column are two rows.
INSERT INTO src VALUES (206, 'a', 5, '2026-09-07 12:00+00'), (206, 'a', 5, '2026-09-07 12:00+00');
SELECT rows_inserted FROM load_interval('fact', '2026-09-07', '2026-09-08', as_of => '2026-09-09 00:00+00');
SELECT rows_deleted FROM load_interval('fact', '2026-09-07', '2026-09-08', as_of => '2026-09-09 00:00+00');
SELECT count(*) FROM fact WHERE id = 206;
-- An empty interval, and a target without loaded_at and with other column names.
SELECT interval_start, status, rows_read FROM load_interval('fact', '2026-10-01', '2026-10-03', as_of => '2026-10-09 00:00+00');
CREATE TABLE other (stamp timestamptz, at timestamptz, written timestamptz, amount numeric, kind text, id integer);
SELECT register_load('other', 'src', 'at', stamp_column => 'stamp', loaded_at_column => 'written');
BEGIN;
SELECT sum(rows_inserted) FROM load_interval('other', '2026-09-01', '2026-09-08', as_of => '2026-09-09 00:00+00');
SELECT bool_and(written = now()) AS written_is_the_transaction, bool_and(stamp = date_trunc('day', at)) AS stamps_are_days, count(*) FROM other;
COMMIT;
-- A function in a join, a lateral call and LIMIT: what is called is done.
SELECT d::date AS day, l.rows_inserted FROM generate_series(date '2026-09-02', '2026-09-03', '1 day') AS d, load_interval('other', d::date, d::date + 1, as_of => '2026-09-09 00:00+00') AS l;
SELECT (load_interval('other', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00')).rows_inserted;
SELECT rows_inserted FROM load_interval('other', '2026-09-01', '2026-09-08', as_of => '2026-09-09 00:00+00') LIMIT 1;
SELECT count(*) FROM other;
-- A load takes ROW EXCLUSIVE on the target and ACCESS SHARE on the source, and leaves no other lock on either.
BEGIN;
SELECT rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('fact'::regclass, 'src'::regclass) ORDER BY relation::regclass::text, mode;
ROLLBACK;
