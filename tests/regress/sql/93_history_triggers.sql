-- Triggers, foreign keys and row security of a history: what a trigger swallows is caught by counting, and nothing is half done.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer PRIMARY KEY, qty integer);
INSERT INTO src VALUES (1, 10), (2, 20), (3, 30), (4, 40);
SELECT status, versions_opened FROM historize('src', 'hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
-- Next: 1 changes, 2 is gone, 3 stays, 5 is new.
UPDATE src SET qty = 11 WHERE id = 1;
DELETE FROM src WHERE id = 2;
INSERT INTO src VALUES (5, 50);
CREATE VIEW shown AS SELECT id, qty, to_char(dl_ts_captured, 'MM-DD') AS begins, to_char(dl_ts_delimited, 'YYYY-MM-DD HH24:MI') AS ends FROM hist ORDER BY id, dl_ts_captured;
CREATE TABLE before AS SELECT * FROM hist;
CREATE FUNCTION changed() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM ((TABLE hist EXCEPT ALL TABLE before) UNION ALL (TABLE before EXCEPT ALL TABLE hist)) AS d
$$;
CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
-- Swallowed: what a run opens, closes, withdraws.
CREATE TRIGGER swallow BEFORE INSERT ON hist FOR EACH ROW WHEN (NEW.id = 5) EXECUTE FUNCTION swallow();
SELECT status FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SELECT status, error FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00', on_error => 'report');
SELECT status FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00', dry_run => true);
DROP TRIGGER swallow ON hist;
CREATE TRIGGER swallow BEFORE UPDATE ON hist FOR EACH ROW WHEN (OLD.id = 2) EXECUTE FUNCTION swallow();
SELECT status FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
DROP TRIGGER swallow ON hist;
CREATE TRIGGER swallow BEFORE DELETE ON hist FOR EACH ROW WHEN (OLD.id = 2) EXECUTE FUNCTION swallow();
SELECT status FROM historize('hist', reference_timestamp => '2026-01-01 00:00+00'); :sqlstate
\set VERBOSITY sqlstate
BEGIN;
SELECT status FROM rewind_history('hist', '2025-12-31 00:00+00'); :sqlstate
ROLLBACK;
\set VERBOSITY default
DROP TRIGGER swallow ON hist;
SELECT changed();
-- Disabled it does nothing, enabled for replicas only neither; always enabled it does.
CREATE TRIGGER swallow BEFORE INSERT ON hist FOR EACH ROW WHEN (NEW.id = 5) EXECUTE FUNCTION swallow();
BEGIN;
ALTER TABLE hist DISABLE TRIGGER swallow;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00');
ROLLBACK;
BEGIN;
ALTER TABLE hist ENABLE REPLICA TRIGGER swallow;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00');
ROLLBACK;
ALTER TABLE hist ENABLE ALWAYS TRIGGER swallow;
SET session_replication_role = replica;
SELECT status FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
RESET session_replication_role;
DROP TRIGGER swallow ON hist;
-- Renewing fingerprints goes through UPDATE as well.
UPDATE hist SET dl_hash = NULL WHERE id = 3;
CREATE TRIGGER swallow BEFORE UPDATE ON hist FOR EACH ROW WHEN (OLD.id = 3) EXECUTE FUNCTION swallow();
SELECT status FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
DROP TRIGGER swallow ON hist;
SELECT dl_hash IS NULL AS unchanged FROM hist WHERE id = 3;
TRUNCATE before; INSERT INTO before TABLE hist;

-- Triggers that write something else: columns of the history's own are theirs; validity is not theirs to change.
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    CASE TG_ARGV[0]
        WHEN 'longer' THEN NEW.dl_ts_delimited := '9999-12-31 00:00+00';
        WHEN 'later' THEN NEW.dl_ts_captured := NEW.dl_ts_captured + interval '1 hour';
        WHEN 'other key' THEN NEW.id := NEW.id + 100;
        WHEN 'null key' THEN NEW.id := NULL;
        WHEN 'note' THEN NEW.note := current_user || ' ' || TG_OP;
        WHEN 'qty' THEN NEW.qty := NEW.qty * 2;
    END CASE;
    RETURN NEW;
END $$;
-- An ended version that a trigger keeps open: the log would say what is not so.
\set VERBOSITY sqlstate
CREATE TRIGGER meddle BEFORE UPDATE ON hist FOR EACH ROW EXECUTE FUNCTION meddle('longer');
BEGIN;
UPDATE src SET qty = 10 WHERE id = 1;
SELECT status, versions_closed FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
ROLLBACK;
DROP TRIGGER meddle ON hist;
-- A version that begins elsewhere, or is another record's, or nobody's.
CREATE TRIGGER meddle BEFORE INSERT ON hist FOR EACH ROW EXECUTE FUNCTION meddle('later');
BEGIN;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
ROLLBACK;
DROP TRIGGER meddle ON hist;
CREATE TRIGGER meddle BEFORE INSERT ON hist FOR EACH ROW EXECUTE FUNCTION meddle('other key');
BEGIN;
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
ROLLBACK;
DROP TRIGGER meddle ON hist;
CREATE TRIGGER meddle BEFORE INSERT ON hist FOR EACH ROW EXECUTE FUNCTION meddle('null key');
SELECT status, versions_opened FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
DROP TRIGGER meddle ON hist;
\set VERBOSITY default
SELECT changed();
-- A column that the source does not deliver.
ALTER TABLE hist ADD COLUMN note text;
ALTER TABLE before ADD COLUMN note text;
CREATE TRIGGER meddle BEFORE INSERT OR UPDATE ON hist FOR EACH ROW EXECUTE FUNCTION meddle('note');
BEGIN;
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00');
SELECT id, qty, note FROM hist ORDER BY id, dl_ts_captured;
SELECT status FROM historize('hist', reference_timestamp => '2026-01-03 00:00+00');
ROLLBACK;
DROP TRIGGER meddle ON hist;
-- A compared column: each run finds the difference again.
CREATE TRIGGER meddle BEFORE INSERT ON hist FOR EACH ROW EXECUTE FUNCTION meddle('qty');
BEGIN;
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00');
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2026-01-03 00:00+00');
SELECT * FROM daybook.check_history('hist');
ROLLBACK;
DROP TRIGGER meddle ON hist;

-- AFTER and statement triggers see each row once, and transition tables too.
CREATE TABLE audit (nr serial, what text, ids text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO audit (what, ids) VALUES (TG_OP, coalesce(NEW.id, OLD.id));
    ELSE
        INSERT INTO audit (what, ids) SELECT 'statement ' || TG_OP, coalesce(string_agg(id::text, ' ' ORDER BY id), 'none') FROM changed;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON hist FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note_insert AFTER INSERT ON hist REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER note_update AFTER UPDATE ON hist REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER note_delete AFTER DELETE ON hist REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note();
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00');
SELECT what, string_agg(ids, ', ' ORDER BY ids) AS ids FROM audit GROUP BY what ORDER BY what;
TRUNCATE audit;
-- A run that changes nothing touches nothing.
SELECT status FROM historize('hist', reference_timestamp => '2026-01-03 00:00+00');
SELECT what, ids FROM audit;
-- The same instant again: withdrawn, reopened.
UPDATE src SET qty = 10 WHERE id = 1;
INSERT INTO src VALUES (2, 20);
DELETE FROM src WHERE id = 5;
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2026-01-03 00:00+00', dry_run => true);
SELECT status, versions_opened, versions_closed FROM historize('hist', reference_timestamp => '2026-01-03 00:00+00');
SELECT what, string_agg(ids, ', ' ORDER BY ids) AS ids FROM audit GROUP BY what ORDER BY what;
SELECT * FROM shown;
TRUNCATE audit;
SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('hist', '2026-01-02 12:00+00');
SELECT what, string_agg(ids, ', ' ORDER BY ids) AS ids FROM audit GROUP BY what ORDER BY what;
DROP TRIGGER note ON hist;
DROP TRIGGER note_insert ON hist;
DROP TRIGGER note_update ON hist;
DROP TRIGGER note_delete ON hist;

-- Triggers that run the history again while it is being written: in the middle of a run there is none.
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM historize('hist', reference_timestamp => TG_ARGV[0]::timestamptz);
    RETURN NULL;
END $$;
TRUNCATE before; INSERT INTO before TABLE hist;
CREATE FUNCTION attempt() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    s text;
BEGIN
    SELECT status || ' ' || versions_opened || ' ' || versions_closed INTO s FROM historize('hist', reference_timestamp => '2026-01-04 00:00+00');
    RETURN s;
EXCEPTION WHEN OTHERS THEN
    -- 54001 would be the stack that is full.
    RETURN CASE WHEN SQLSTATE IN ('54001', 'XX000') THEN SQLSTATE ELSE 'refused in words: ' || SQLERRM END;
END $$;
CREATE TRIGGER again AFTER UPDATE ON hist FOR EACH STATEMENT EXECUTE FUNCTION again('2026-01-04 00:00+00');
SELECT attempt();
SELECT * FROM daybook.check_history('hist');
DROP TRIGGER again ON hist;
CREATE TRIGGER again AFTER INSERT ON hist FOR EACH STATEMENT EXECUTE FUNCTION again('2026-01-04 00:00+00');
SELECT attempt();
SELECT * FROM daybook.check_history('hist');
DROP TRIGGER again ON hist;
CREATE TRIGGER again AFTER INSERT ON hist FOR EACH ROW EXECUTE FUNCTION again('2026-01-05 00:00+00');
SELECT attempt();
SELECT * FROM daybook.check_history('hist');
DROP TRIGGER again ON hist;
CREATE TRIGGER again BEFORE UPDATE ON hist FOR EACH STATEMENT EXECUTE FUNCTION again('2026-01-06 00:00+00');
SELECT attempt();
SELECT * FROM daybook.check_history('hist');
DROP TRIGGER again ON hist;
SELECT changed();
-- In a rule of its own it is refused as well; in a rule of another history it is a run like any other.
CREATE FUNCTION nested_run() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM historize('hist', reference_timestamp => '2026-01-04 00:00+00'); END $$;
CREATE FUNCTION nested(integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM nested_run(); RETURN $1; END $$;
SELECT register_rule('hist', 'nested', column_name => 'qty', expression => 'nested(qty)');
SELECT attempt() ~ '^refused in words' AS refused;
SELECT unregister_rule('hist', 'nested');
SELECT changed();
SELECT register_history('other', 'src', 'id');
SELECT register_rule('other', 'nested', column_name => 'qty', expression => 'nested(qty)');
SELECT status, versions_opened FROM historize('other', reference_timestamp => '2026-01-01 00:00+00');
SELECT * FROM shown;
SELECT * FROM daybook.check_history('hist');

-- Foreign keys: a cascade would write or delete what the run does not know of; others just hold.
CREATE TABLE child (id integer, captured timestamptz);
CREATE FUNCTION try_with(fk text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    s text;
BEGIN
    EXECUTE fk;
    SELECT status INTO s FROM historize('hist', reference_timestamp => '2026-02-01 00:00+00');
    RAISE EXCEPTION '%', s;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
UPDATE src SET qty = qty + 1000 WHERE id = 1;
SELECT try_with('ALTER TABLE child ADD FOREIGN KEY (id, captured) REFERENCES hist');
SELECT try_with('ALTER TABLE child ADD FOREIGN KEY (id, captured) REFERENCES hist ON DELETE CASCADE');
SELECT try_with('ALTER TABLE child ADD FOREIGN KEY (id, captured) REFERENCES hist ON DELETE SET NULL');
SELECT try_with('ALTER TABLE child ADD FOREIGN KEY (id, captured) REFERENCES hist ON UPDATE CASCADE');
SELECT try_with('ALTER TABLE hist ADD FOREIGN KEY (id) REFERENCES src ON DELETE CASCADE NOT VALID');
SELECT try_with('ALTER TABLE hist ADD FOREIGN KEY (id) REFERENCES src NOT VALID');
-- A version that is referred to is not withdrawn.
INSERT INTO src VALUES (6, 60);
SELECT status FROM historize('hist', reference_timestamp => '2026-02-01 00:00+00');
INSERT INTO child VALUES (6, '2026-02-01 00:00+00');
ALTER TABLE child ADD CONSTRAINT refers FOREIGN KEY (id, captured) REFERENCES hist;
DELETE FROM src WHERE id = 6;
\set VERBOSITY sqlstate
SELECT status FROM historize('hist', reference_timestamp => '2026-02-01 00:00+00'); :sqlstate
\set VERBOSITY default
SELECT status, versions_closed FROM historize('hist', reference_timestamp => '2026-02-02 00:00+00');
ALTER TABLE child DROP CONSTRAINT refers;

-- Row security would hide versions from the run: refused, in the history and in the source.
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_dh_trigger_owner, regress_dh_trigger_user;
SET client_min_messages = warning;
CREATE ROLE regress_dh_trigger_owner;
CREATE ROLE regress_dh_trigger_user;
CREATE SCHEMA dw AUTHORIZATION regress_dh_trigger_owner;
GRANT USAGE ON SCHEMA dw TO regress_dh_trigger_user;
SET ROLE regress_dh_trigger_owner;
CREATE TABLE dw.src (id integer, qty integer);
INSERT INTO dw.src VALUES (1, 10), (2, 20);
SELECT status FROM historize('dw.src', 'dw.hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
GRANT SELECT, INSERT, UPDATE ON dw.hist TO regress_dh_trigger_user;
GRANT SELECT ON dw.src TO regress_dh_trigger_user;
CREATE POLICY half ON dw.hist USING (id = 1);
ALTER TABLE dw.hist ENABLE ROW LEVEL SECURITY;
-- It does not apply to the owner, whose run it is.
UPDATE dw.src SET qty = qty + 1;
SELECT status, versions_opened FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SET ROLE regress_dh_trigger_user;
SELECT status, versions_opened FROM historize('dw.hist', reference_timestamp => '2026-01-03 00:00+00'); :sqlstate
SELECT count(*) FROM dw.hist;
SELECT * FROM daybook.check_history('dw.hist'); :sqlstate
SET ROLE regress_dh_trigger_owner;
ALTER TABLE dw.hist FORCE ROW LEVEL SECURITY;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
SELECT status FROM rewind_history('dw.hist', '2026-01-01 12:00+00'); :sqlstate
SELECT register_history('dw.hist', 'dw.src', 'id'); :sqlstate
ALTER TABLE dw.hist NO FORCE ROW LEVEL SECURITY;
ALTER TABLE dw.hist DISABLE ROW LEVEL SECURITY;
CREATE POLICY half ON dw.src USING (id = 1);
ALTER TABLE dw.src ENABLE ROW LEVEL SECURITY;
ALTER TABLE dw.src FORCE ROW LEVEL SECURITY;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
ALTER TABLE dw.src NO FORCE ROW LEVEL SECURITY;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
SELECT count(*) FILTER (WHERE dl_ts_delimited > '9000-01-01') AS current, count(*) AS versions FROM dw.hist;
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA dw CASCADE;
DROP ROLE regress_dh_trigger_owner, regress_dh_trigger_user;
