-- Triggers of the target: rows that a BEFORE trigger swallows or moves are caught by counting; other triggers do what they do.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
SET client_min_messages = warning;
SELECT register_load('fact', 'src', 'at');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
CREATE TABLE before AS SELECT * FROM fact;
CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.id = 2 THEN RETURN NULL; END IF;
        RETURN OLD;
    END IF;
    IF NEW.id = 3 THEN RETURN NULL; END IF;
    RETURN NEW;
END $$;
-- Swallowed by the insert: in both widths, with and without keys.
CREATE TRIGGER swallow BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', on_empty => 'skip', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER swallow ON fact;
-- Swallowed by the delete: without the check the row would be there twice.
CREATE TRIGGER swallow BEFORE DELETE ON fact FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, on_empty => 'skip', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
-- Disabled, it does nothing; enabled for replicas only, it does nothing here.
ALTER TABLE fact DISABLE TRIGGER swallow;
SELECT sum(rows_deleted) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
ALTER TABLE fact ENABLE REPLICA TRIGGER swallow;
SELECT sum(rows_deleted) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
ALTER TABLE fact ENABLE ALWAYS TRIGGER swallow;
SELECT sum(rows_deleted) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER swallow ON fact;
-- Moved: a trigger that changes the stamp, or the time.
CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_ARGV[0] = 'stamp' THEN NEW.interval_start := NEW.interval_start + interval '1 day'; END IF;
    IF TG_ARGV[0] = 'time' THEN NEW.at := NEW.at - interval '1 day'; END IF;
    IF TG_ARGV[0] = 'both' THEN NEW.at := NEW.at + interval '1 day'; NEW.interval_start := NEW.interval_start + interval '1 day'; END IF;
    IF TG_ARGV[0] = 'null' THEN NEW.at := NULL; END IF;
    IF TG_ARGV[0] = 'within' THEN NEW.at := NEW.at + interval '1 minute'; NEW.kind := upper(NEW.kind); END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER move BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION move('stamp');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER move ON fact;
CREATE TRIGGER move BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION move('time');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER move ON fact;
-- Both at once, into an interval that the run does not cover, or that it does.
CREATE TRIGGER move BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION move('both');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER move ON fact;
-- From one interval of the run into another one of it: the next run of that one would lose the row.
CREATE TRIGGER move BEFORE INSERT ON fact FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION move('both');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
\set VERBOSITY sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, on_empty => 'skip', as_of => '2026-09-09 00:00+00'); :sqlstate
\set VERBOSITY default
DROP TRIGGER move ON fact;
CREATE TRIGGER move BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION move('null');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER move ON fact;
SELECT count(*) AS rows_that_differ FROM (
    (SELECT id, kind, amount, at, interval_start FROM fact EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM before)
    UNION ALL
    (SELECT id, kind, amount, at, interval_start FROM before EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM fact)) AS d;
-- Within its interval a row may be changed.
CREATE TRIGGER move BEFORE INSERT ON fact FOR EACH ROW EXECUTE FUNCTION move('within');
SELECT interval_start, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT interval_start, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00');
SELECT id, kind, at FROM fact ORDER BY id;
DROP TRIGGER move ON fact;
-- AFTER and statement triggers see each row once, and transition tables too.
CREATE TABLE audit (nr serial, what text, id integer);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO audit (what, id) VALUES (TG_WHEN || ' ' || TG_OP, coalesce(NEW.id, OLD.id));
    ELSE
        INSERT INTO audit (what, id) SELECT 'statement ' || TG_OP, count(*) FROM changed;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR DELETE ON fact FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note_insert AFTER INSERT ON fact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER note_delete AFTER DELETE ON fact REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note();
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00');
SELECT what, string_agg(id::text, ', ' ORDER BY id) AS ids FROM audit GROUP BY what ORDER BY what;
TRUNCATE audit;
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('fact', '2026-09-01', '2026-09-03', on_empty => 'skip', as_of => '2026-09-09 00:00+00');
SELECT what, string_agg(id::text, ', ' ORDER BY id) AS ids FROM audit GROUP BY what ORDER BY what;
-- Triggers of partitions count too.
CREATE TABLE parts (LIKE fact) PARTITION BY LIST (kind);
CREATE TABLE part_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE part_b PARTITION OF parts FOR VALUES IN ('b');
SELECT register_load('parts', 'src', 'at');
SELECT sum(rows_inserted) FROM load_interval('parts', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
CREATE TRIGGER swallow BEFORE DELETE ON part_b FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT * FROM load_interval('parts', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER swallow ON part_b;
CREATE TRIGGER swallow BEFORE INSERT ON part_a FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT * FROM load_interval('parts', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
DROP TRIGGER swallow ON part_a;
CREATE TRIGGER move BEFORE INSERT ON part_a FOR EACH ROW EXECUTE FUNCTION move('both');
SELECT * FROM load_interval('parts', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT count(*) FROM parts;
