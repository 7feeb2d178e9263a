-- Loads in transactions of every shape: all or nothing, with the log.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, at timestamptz);
INSERT INTO src SELECT n, '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 8) AS n;
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM fact) || ' rows, ' || (SELECT count(*) FROM daybook.runs) || ' runs, ' || (SELECT count(*) FROM daybook.interval_log) || ' logged, '
        || (SELECT count(*) FROM daybook.interval_state WHERE status IS NOT NULL) || ' known, ' || (SELECT count(*) FROM daybook.interval_state WHERE status IS NULL) || ' held' $$;
-- Rolled back: nothing of it is left, no lock row either.
BEGIN;
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-09 00:00+00');
SELECT state();
ROLLBACK;
SELECT state();
-- Savepoints: what was rolled back to is gone, what was before stays.
BEGIN;
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SAVEPOINT s;
SELECT count(*) FROM load_interval('fact', '2026-09-02', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00');
SELECT state();
ROLLBACK TO s;
SELECT state();
SELECT count(*) FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-09 00:00+00');
SAVEPOINT s;
SELECT count(*) FROM load_interval('fact', '2026-09-01 06:00', '2026-09-03', as_of => '2026-09-09 00:00+00');
ROLLBACK TO s;
SELECT state();
RELEASE s;
COMMIT;
SELECT state();
-- DO blocks, functions, exception blocks: what failed is undone, what was caught does no harm.
DO $$
BEGIN
    PERFORM load_interval('fact', '2026-09-03', '2026-09-04', as_of => '2026-09-09 00:00+00');
    BEGIN
        PERFORM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00');
        RAISE EXCEPTION 'undo this';
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'caught: %', SQLERRM;
    END;
    FOR i IN 1..200 LOOP
        BEGIN
            PERFORM load_interval('fact', '2026-09-01 06:00', '2026-09-04', as_of => '2026-09-09 00:00+00');
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    END LOOP;
END $$;
SELECT state();
CREATE FUNCTION loads(day date) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    SELECT sum(rows_inserted) INTO n FROM load_interval('fact', day, day + 1, as_of => '2026-09-09 00:00+00');
    RETURN n;
END $$;
SELECT d::date, loads(d::date) FROM generate_series(date '2026-09-01', '2026-09-03', '1 day') AS d;
SELECT state();
-- A procedure that commits after each day.
CREATE PROCEDURE load_days() LANGUAGE plpgsql AS $$
BEGIN
    FOR d IN 1..3 LOOP
        PERFORM load_interval('fact', date '2026-08-31' + d, date '2026-09-01' + d, as_of => '2026-09-09 00:00+00');
        COMMIT;
    END LOOP;
    PERFORM load_interval('fact', '2026-09-01 06:00', '2026-09-04');
END $$;
CALL load_days();
SELECT state();
-- A cursor that is open over the target, and a load below it.
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM fact ORDER BY id;
FETCH 2 FROM c;
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00');
FETCH 2 FROM c;
COMMIT;
-- Two-phase commit.
BEGIN;
SELECT sum(rows_inserted) FROM load_interval('fact', '2026-09-04', '2026-09-05', as_of => '2026-09-09 00:00+00');
PREPARE TRANSACTION 'regress_daybook_load';
SELECT state();
COMMIT PREPARED 'regress_daybook_load';
SELECT state();
BEGIN;
SELECT sum(rows_deleted) FROM load_interval('fact', '2026-09-01', '2026-09-04', on_empty => 'skip', wide => true, as_of => '2026-09-09 00:00+00');
PREPARE TRANSACTION 'regress_daybook_load';
ROLLBACK PREPARED 'regress_daybook_load';
SELECT state();
-- A prepared transaction that has written the source: a load waits for it, in vain, and says so. settle_timeout => 0 does not look.
BEGIN;
INSERT INTO src VALUES (100, '2026-09-01 12:00+00');
PREPARE TRANSACTION 'regress_daybook_source';
SET daybook.settle_timeout = '100ms';
SELECT status FROM load_interval('fact', '2101-01-01', '2101-01-02', allow_open => true); :sqlstate
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT status FROM load_interval('fact', '2101-01-01', '2101-01-02', allow_open => true); :sqlstate
ROLLBACK;
SET daybook.settle_timeout = 0;
SELECT status FROM load_interval('fact', '2101-01-01', '2101-01-02', allow_open => true); :sqlstate
RESET daybook.settle_timeout;
ROLLBACK PREPARED 'regress_daybook_source';
SELECT status FROM load_interval('fact', '2101-01-01', '2101-01-02', allow_open => true); :sqlstate
-- The load's own transaction may have written the source.
BEGIN;
INSERT INTO src VALUES (200, '2101-01-01 12:00+00');
SELECT status, rows_inserted FROM load_interval('fact', '2101-01-01', '2101-01-02', allow_open => true); :sqlstate
ROLLBACK;
-- Each isolation level, alone.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00');
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-04', wide => true, as_of => '2026-09-09 00:00+00');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT sum(rows_deleted), sum(rows_inserted) FROM load_interval('fact', '2026-09-01', '2026-09-04', on_empty => 'error', as_of => '2026-09-09 00:00+00');
COMMIT;
-- Read-only: refused at once; what only reads works.
BEGIN TRANSACTION READ ONLY;
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT register_load('fact', 'src', 'at'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT unregister_load('fact'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT register_rule('fact', 'r', filter => 'true'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT unregister_rule('fact', 'r'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT mark_stale('fact', '2026-09-01', '2026-09-02', 'why'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT status, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', dry_run => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT count(*) FROM daybook.explain_load('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SELECT daybook.last_closed('fact', '2026-09-02 12:00+00');
SELECT count(*) FROM daybook.check_load('fact');
COMMIT;
SET default_transaction_read_only = on;
\set VERBOSITY sqlstate
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00', on_error => 'report');
\set VERBOSITY default
RESET default_transaction_read_only;
-- Timeouts and cancels leave nothing.
CREATE FUNCTION slow(integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(60); RETURN $1; END $$;
SELECT register_rule('fact', 'slow', column_name => 'id', expression => 'slow(id)');
SELECT state();
SET statement_timeout = '200ms';
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-04', on_error => 'report', as_of => '2026-09-09 00:00+00'); :sqlstate
RESET statement_timeout;
SELECT state();
SELECT unregister_rule('fact', 'slow');
-- A load inside a rule of another load works; inside a rule of its own it is refused.
CREATE FUNCTION nested(integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM nested_load(); RETURN $1; END $$;
CREATE FUNCTION nested_load() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); END $$;
CREATE TABLE other (LIKE fact);
SELECT register_load('other', 'src', 'at');
SELECT register_rule('other', 'nested', column_name => 'id', expression => 'nested(id)');
SELECT sum(rows_inserted) FROM load_interval('other', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00'); :sqlstate
SELECT count(*) FROM other;
SELECT register_rule('fact', 'nested', column_name => 'id', expression => 'nested(id)');
DO $$
BEGIN
    PERFORM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-09 00:00+00');
    RAISE WARNING 'a load inside itself was not refused';
EXCEPTION WHEN OTHERS THEN
    -- 54001 would be the stack that is full.
    RAISE WARNING 'refused in words: %', SQLSTATE <> '54001';
END $$;
SELECT unregister_rule('fact', 'nested');
SELECT count(*), count(DISTINCT id) FROM fact WHERE at < '2026-09-04 00:00+00';
SELECT * FROM daybook.check_load('fact');
