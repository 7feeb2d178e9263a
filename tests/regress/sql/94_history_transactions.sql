-- Runs of histories in transactions of every shape: all or nothing, with the log; and beside what the caller itself is reading.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, qty integer);
INSERT INTO src VALUES (1, 10), (2, 20), (3, 30);
CREATE FUNCTION state() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    versions text := 'no history';
BEGIN
    IF to_regclass('hist') IS NOT NULL THEN
        SELECT format('%s versions, %s current, %s problems', count(*), count(*) FILTER (WHERE dl_ts_delimited > '9000-01-01'), (SELECT count(*) FROM daybook.check_history('hist')))
        INTO versions FROM hist;
    END IF;
    RETURN format('%s, %s registered, %s runs', versions, (SELECT count(*) FROM daybook.histories), (SELECT count(*) FROM daybook.runs));
END $$;
-- The first run, rolled back: no table, no registration, no log. Then for good.
BEGIN;
SELECT status, versions_opened FROM historize('src', 'hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
SELECT create_history_views('hist');
SELECT state();
ROLLBACK;
SELECT state();
SELECT to_regclass('hist'), to_regclass('hist_current'), (SELECT count(*) FROM daybook.target) AS targets;
DO $$
BEGIN
    PERFORM historize('src', 'hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
    RAISE EXCEPTION 'undo this';
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'caught: %', SQLERRM;
END $$;
SELECT state();
SELECT status FROM historize('src', 'hist', 'id', time_axis_unit => '1 month', on_error => 'report'); :sqlstate
SELECT state();
SELECT status, versions_opened FROM historize('src', 'hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
SELECT state();
-- Rolled back.
UPDATE src SET qty = 11 WHERE id = 1;
BEGIN;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00');
SELECT state();
ROLLBACK;
SELECT state();
-- An instant that was rolled back was never there: an older one goes.
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-01 12:00+00');
-- Two runs in one transaction have the same start, so the same instant: what the first has written the second replaces, as if only the
-- last input had come.
BEGIN;
UPDATE src SET qty = 12 WHERE id = 1;
DELETE FROM src WHERE id = 3;
SELECT status, versions_opened, versions_closed FROM historize('hist');
UPDATE src SET qty = 13 WHERE id = 1;
INSERT INTO src VALUES (3, 30), (4, 40);
SELECT status, versions_opened, versions_closed FROM historize('hist');
SELECT id, qty, dl_ts_captured = now() - (extract(microseconds FROM now())::bigint % 1000) * interval '1 microsecond' AS at_start, dl_ts_delimited > '9000-01-01' AS current FROM hist ORDER BY id, dl_ts_captured;
UPDATE src SET qty = 11 WHERE id = 1;
DELETE FROM src WHERE id = 4;
SELECT status, versions_opened, versions_closed FROM historize('hist');
-- All is as before the transaction.
SELECT id, qty, dl_ts_captured, dl_ts_delimited FROM hist ORDER BY id, dl_ts_captured;
SELECT state();
SELECT status, versions_opened, versions_withdrawn, versions_closed, versions_reopened FROM (SELECT * FROM daybook.runs ORDER BY run_id DESC LIMIT 3) AS r ORDER BY run_id;
COMMIT;
-- Savepoints: what was rolled back to is gone, what was before stays.
BEGIN;
UPDATE src SET qty = 14 WHERE id = 1;
SELECT status FROM historize('hist', reference_timestamp => '2030-01-01 00:00+00');
SAVEPOINT s;
UPDATE src SET qty = 15 WHERE id = 1;
SELECT status FROM historize('hist', reference_timestamp => '2030-01-02 00:00+00');
SELECT state();
ROLLBACK TO s;
SELECT state();
SELECT status FROM historize('hist', reference_timestamp => '2029-01-01 00:00+00');
ROLLBACK TO s;
SELECT status FROM historize('hist', reference_timestamp => '2030-01-02 00:00+00');
RELEASE s;
COMMIT;
SELECT id, qty, dl_ts_captured, dl_ts_delimited FROM hist WHERE id = 1 ORDER BY dl_ts_captured;
SELECT state();
-- DO blocks, functions, exception blocks: what failed is undone, what was caught does no harm.
DO $$
BEGIN
    UPDATE src SET qty = 20 WHERE id = 1;
    PERFORM historize('hist', reference_timestamp => '2030-02-01 00:00+00');
    BEGIN
        UPDATE src SET qty = 21 WHERE id = 1;
        ALTER TABLE src ADD COLUMN note text DEFAULT 'x';
        PERFORM historize('hist', reference_timestamp => '2030-02-02 00:00+00');
        RAISE EXCEPTION 'undo this';
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'caught: %', SQLERRM;
    END;
    FOR i IN 1..200 LOOP
        BEGIN
            PERFORM historize('hist', reference_timestamp => '2029-01-01 00:00+00');
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    END LOOP;
    PERFORM historize('hist', reference_timestamp => '2030-02-03 00:00+00', on_error => 'report', params => '[]');
END $$;
SELECT id, qty, dl_ts_captured, dl_ts_delimited FROM hist WHERE id = 1 AND dl_ts_captured > '2029-01-01' ORDER BY dl_ts_captured;
SELECT count(*) AS columns FROM pg_attribute WHERE attrelid = 'hist'::regclass AND attnum > 0 AND NOT attisdropped;
SELECT state();
CREATE FUNCTION run_on(day date) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    UPDATE src SET qty = qty + 1 WHERE id = 2;
    SELECT * INTO r FROM historize('hist', reference_timestamp => day AT TIME ZONE 'UTC');
    RETURN r.status || ' ' || r.versions_opened;
END $$;
SELECT d::date, run_on(d::date) FROM generate_series(date '2030-03-01', '2030-03-03', '1 day') AS d;
SELECT id, qty, dl_ts_captured, dl_ts_delimited FROM hist WHERE id = 2 AND dl_ts_delimited > '2030-01-01' ORDER BY dl_ts_captured;
-- A procedure that commits after each run, and fails in the end.
CREATE PROCEDURE run_days() LANGUAGE plpgsql AS $$
BEGIN
    FOR d IN 1..3 LOOP
        PERFORM run_on(date '2030-04-01' + d);
        COMMIT;
    END LOOP;
    PERFORM run_on(date '2030-04-01');
END $$;
CALL run_days();
SELECT qty, (SELECT qty FROM src WHERE id = 2) AS in_source FROM hist WHERE id = 2 AND dl_ts_delimited > '9000-01-01';
SELECT state();

-- Within a query that reads the history: it sees the history as it was when it began.
SELECT count(*) FROM src WHERE (SELECT status FROM historize('hist', reference_timestamp => '2030-05-01 00:00+00')) = 'unchanged' AND EXISTS (SELECT FROM hist);
UPDATE src SET qty = qty + 1 WHERE id = 2;
SELECT h.status, (SELECT count(*) FROM hist WHERE dl_ts_captured = '2030-05-02 00:00+00') AS seen FROM historize('hist', reference_timestamp => '2030-05-02 00:00+00') AS h;
-- A cursor that is open over the history, and a run below it.
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM hist ORDER BY id, dl_ts_captured;
FETCH 2 FROM c;
UPDATE src SET qty = qty + 1 WHERE id = 2;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-05-03 00:00+00');
FETCH 1 FROM c;
COMMIT;
-- Not where the history needs other columns: refused in words, whoever reads it, and nothing has happened.
ALTER TABLE src ADD COLUMN note text;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM hist;
FETCH 1 FROM c;
SELECT status FROM historize('hist', reference_timestamp => '2030-05-04 00:00+00'); :sqlstate
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM hist;
FETCH 1 FROM c;
SELECT status, error FROM historize('hist', reference_timestamp => '2030-05-04 00:00+00', on_error => 'report'); :sqlstate
ROLLBACK;
SELECT count(*) FROM hist, historize('hist', reference_timestamp => '2030-05-04 00:00+00'); :sqlstate
SELECT count(*) FROM hist, historize('hist', reference_timestamp => '2030-05-04 00:00+00', dry_run => true); :sqlstate
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT id FROM hist LOOP
        PERFORM historize('hist', reference_timestamp => '2030-05-04 00:00+00');
    END LOOP;
EXCEPTION WHEN object_in_use THEN
    RAISE WARNING '%', SQLERRM;
END $$;
SELECT state();
-- Pending triggers of the transaction are the server's own objection.
BEGIN;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER nothing AFTER UPDATE ON hist DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION nothing();
UPDATE hist SET qty = qty WHERE id = 1;
\set VERBOSITY sqlstate
SELECT status FROM historize('hist', reference_timestamp => '2030-05-04 00:00+00'); :sqlstate
\set VERBOSITY default
ROLLBACK;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-05-04 00:00+00');
-- The transaction that has made or emptied the table, or that has dropped it.
BEGIN;
TRUNCATE hist;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-05-05 00:00+00');
DROP TABLE hist;
SELECT status, versions_opened FROM historize('src', 'hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
SELECT state();
ROLLBACK;
-- A history in the middle of which the table was emptied may begin anew at an older instant.
BEGIN;
DELETE FROM hist;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-01 00:00+00');
ROLLBACK;
-- Two-phase commit.
UPDATE src SET qty = qty + 1 WHERE id = 2;
BEGIN;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-06-01 00:00+00');
PREPARE TRANSACTION 'regress_daybook_history';
SELECT state();
COMMIT PREPARED 'regress_daybook_history';
SELECT state();
ALTER TABLE src ADD COLUMN more text;
BEGIN;
SELECT status FROM historize('hist', reference_timestamp => '2030-06-02 00:00+00');
PREPARE TRANSACTION 'regress_daybook_history';
ROLLBACK PREPARED 'regress_daybook_history';
SELECT state();
SELECT status FROM historize('hist', reference_timestamp => '2030-06-02 00:00+00');
-- Each isolation level, alone; with a column to add as well.
ALTER TABLE src ADD COLUMN rr text DEFAULT 'x';
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM src;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-07-01 00:00+00');
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-07-01 00:00+00');
UPDATE src SET qty = qty + 1 WHERE id = 2;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-07-01 00:00+00');
SELECT state();
COMMIT;
ALTER TABLE src ADD COLUMN ser text DEFAULT 'x';
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM src;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2030-07-02 00:00+00');
SELECT status, versions_opened FROM historize('src', 'another', 'id', reference_timestamp => '2030-07-02 00:00+00');
COMMIT;
SELECT unregister_history('another');
DROP TABLE another;
-- Read-only: refused at once; what only reads works.
BEGIN TRANSACTION READ ONLY;
SELECT status FROM historize('hist'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT status FROM historize('hist', on_error => 'report'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT status FROM historize('src', 'hist'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT status FROM historize('src', 'hist', dry_run => true); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT register_history('hist', 'src', 'id'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT unregister_history('hist'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT create_history_views('hist'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT status FROM rewind_history('hist', '2030-01-01 00:00+00'); :sqlstate
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT status, rows_read, rows_unchanged FROM historize('hist', reference_timestamp => '2030-07-03 00:00+00', dry_run => true); :sqlstate
SELECT count(*) FROM daybook.check_history('hist'); :sqlstate
SELECT count(*) FROM daybook.histories; :sqlstate
COMMIT;
-- Except a dry run that needs other columns, which it would have to add.
ALTER TABLE src ADD COLUMN ro text;
BEGIN TRANSACTION READ ONLY;
SELECT status, rows_read, rows_unchanged FROM historize('hist', reference_timestamp => '2030-07-03 00:00+00', dry_run => true); :sqlstate
ROLLBACK;
ALTER TABLE src DROP COLUMN ro;
-- A timeout leaves nothing, in the middle of reading as of writing, and is not reported.
CREATE FUNCTION slow(integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(60); RETURN $1; END $$;
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
SELECT register_rule('hist', 'slow', column_name => 'qty', expression => 'slow(qty)');
SELECT state();
SET statement_timeout = '200ms';
SELECT status FROM historize('hist', reference_timestamp => '2030-08-01 00:00+00'); :sqlstate
SELECT status FROM historize('hist', reference_timestamp => '2030-08-01 00:00+00', on_error => 'report'); :sqlstate
RESET statement_timeout;
SELECT unregister_rule('hist', 'slow');
CREATE TRIGGER slow BEFORE INSERT ON hist FOR EACH ROW EXECUTE FUNCTION slow();
UPDATE src SET qty = qty + 1 WHERE id = 2;
SET statement_timeout = '200ms';
SELECT status FROM historize('hist', reference_timestamp => '2030-08-01 00:00+00'); :sqlstate
RESET statement_timeout;
DROP TRIGGER slow ON hist;
SELECT state();
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2030-08-01 00:00+00');
SELECT state();
