-- Who may register, run, rewind and see histories; and whose rights registered SQL has.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_dh_owner, regress_dh_member, regress_dh_loader, regress_dh_reader, regress_dh_nobody, regress_dh_boss;
SET client_min_messages = warning;
CREATE ROLE regress_dh_owner;
CREATE ROLE regress_dh_member IN ROLE regress_dh_owner;
CREATE ROLE regress_dh_loader;
CREATE ROLE regress_dh_reader;
CREATE ROLE regress_dh_nobody;
CREATE ROLE regress_dh_boss SUPERUSER;
CREATE SCHEMA dw AUTHORIZATION regress_dh_owner;
GRANT USAGE ON SCHEMA dw TO regress_dh_loader, regress_dh_reader;
SET ROLE regress_dh_owner;
CREATE TABLE dw.src (id integer, qty integer);
INSERT INTO dw.src VALUES (1, 10), (2, 20);
SELECT register_history('dw.hist', 'dw.src', 'id');
SELECT status, versions_opened FROM historize('dw.hist', reference_timestamp => '2026-01-01 00:00+00');
GRANT INSERT, UPDATE ON dw.hist TO regress_dh_loader;
GRANT SELECT ON dw.src TO regress_dh_loader;
GRANT SELECT ON dw.hist TO regress_dh_reader;
UPDATE dw.src SET qty = 11 WHERE id = 1;

-- Everything that can be called, by the owner, a member of his role, who has INSERT and UPDATE, who has SELECT, who has nothing, a superuser.
RESET ROLE;
CREATE PROCEDURE pg_temp.attempt() LANGUAGE plpgsql AS $$
DECLARE
    stmt text;
BEGIN
    FOREACH stmt IN ARRAY array[
        $s$register_history('dw.hist', 'dw.src', 'id')$s$, $s$register_history('dw.another', 'dw.src', 'id')$s$,
        $s$register_rule('dw.hist', 'r', filter => 'true')$s$, $s$unregister_rule('dw.hist', 'r')$s$,
        $s$historize('dw.hist', dry_run => true)$s$, $s$historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00')$s$,
        $s$historize('dw.hist', reference_timestamp => '2026-01-03 00:00+00', on_error => 'report')$s$,
        $s$historize('dw.src', 'dw.hist')$s$, $s$historize('dw.src', 'dw.hist', dry_run => true)$s$, $s$historize('dw.src', 'dw.hist', on_error => 'report')$s$,
        $s$historize('dw.src', 'dw.new', 'id')$s$,
        $s$create_history_views('dw.hist')$s$, $s$rewind_history('dw.hist', '2026-01-01 12:00+00', dry_run => true)$s$,
        $s$rewind_history('dw.hist', '2026-01-01 12:00+00')$s$, $s$daybook.check_history('dw.hist')$s$] LOOP
        BEGIN
            EXECUTE 'SELECT count(*) FROM ' || stmt;
            RAISE WARNING '%: allowed', stmt;
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING '%: % %', stmt, SQLSTATE, SQLERRM;
        END;
    END LOOP;
    RAISE WARNING 'sees % histories, % rules, % runs', (SELECT count(*) FROM daybook.histories), (SELECT count(*) FROM daybook.rules), (SELECT count(*) FROM daybook.runs);
    BEGIN
        PERFORM unregister_history('dw.hist');
        RAISE WARNING 'unregister_history: allowed';
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'unregister_history: % %', SQLSTATE, SQLERRM;
    END;
    RAISE EXCEPTION 'back to where it was';
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;
SET ROLE regress_dh_owner;
CALL pg_temp.attempt();
SET ROLE regress_dh_member;
CALL pg_temp.attempt();
SET ROLE regress_dh_loader;
CALL pg_temp.attempt();
SET ROLE regress_dh_reader;
CALL pg_temp.attempt();
SET ROLE regress_dh_nobody;
CALL pg_temp.attempt();
SET ROLE regress_dh_boss;
CALL pg_temp.attempt();
-- Each right is needed, by name; a right on some columns is not one on the table.
SET ROLE regress_dh_owner;
REVOKE INSERT ON dw.hist FROM regress_dh_loader;
SET ROLE regress_dh_loader;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SET ROLE regress_dh_owner;
GRANT INSERT ON dw.hist TO regress_dh_loader;
REVOKE UPDATE ON dw.hist FROM regress_dh_loader;
SET ROLE regress_dh_loader;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SET ROLE regress_dh_owner;
GRANT UPDATE (dl_ts_delimited) ON dw.hist TO regress_dh_loader;
SET ROLE regress_dh_loader;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SET ROLE regress_dh_owner;
GRANT UPDATE ON dw.hist TO regress_dh_loader;
REVOKE SELECT ON dw.src FROM regress_dh_loader;
SET ROLE regress_dh_loader;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00', on_error => 'report'); :sqlstate
SELECT status FROM historize('dw.hist', dry_run => true); :sqlstate
SET ROLE regress_dh_owner;
GRANT SELECT ON dw.src TO regress_dh_loader;
-- With INSERT and UPDATE alone all that a run does is done: the run is the owner's. The log says who called.
SET ROLE regress_dh_loader;
SELECT status, versions_opened, versions_closed FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00');
SET ROLE regress_dh_owner;
UPDATE dw.src SET qty = 10 WHERE id = 1;
DELETE FROM dw.src WHERE id = 2;
INSERT INTO dw.src VALUES (3, 30);
SET ROLE regress_dh_loader;
SELECT status, versions_opened, versions_closed FROM historize('dw.hist', reference_timestamp => '2026-01-02 00:00+00');
SELECT * FROM dw.hist; :sqlstate
RESET ROLE;
SELECT id, qty, dl_ts_captured, dl_ts_delimited FROM dw.hist ORDER BY id, dl_ts_captured;
SELECT called_by, status, versions_opened, versions_closed, versions_withdrawn, versions_reopened FROM daybook.runs ORDER BY run_id DESC LIMIT 2;
-- A column that the run adds is added by the owner, too; a view keeps its owner and its grants.
SET ROLE regress_dh_owner;
SELECT create_history_views('dw.hist');
GRANT SELECT ON dw.hist_current TO regress_dh_reader;
GRANT SELECT (id) ON dw.hist_current TO regress_dh_loader;
ALTER TABLE dw.src ADD COLUMN note text DEFAULT 'x';
SET ROLE regress_dh_loader;
SELECT status, versions_opened, versions_closed FROM historize('dw.hist', reference_timestamp => '2026-01-03 00:00+00');
SELECT id FROM dw.hist_current ORDER BY id;
SELECT note FROM dw.hist_current; :sqlstate
SET ROLE regress_dh_reader;
SELECT id, note FROM dw.hist_current ORDER BY id;
SELECT id, note FROM dw.hist_as_of('2026-01-02 12:00+00') ORDER BY id;
SET ROLE regress_dh_loader;
SELECT id FROM dw.hist_as_of('2026-01-02 12:00+00') ORDER BY id; :sqlstate
RESET ROLE;
SELECT relname, pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relname IN ('hist', 'hist_current') ORDER BY 1;
-- A source of the caller's own: only for the owner, or the caller would read through it with his rights.
CREATE TABLE secret (id integer, qty integer, note text);
INSERT INTO secret VALUES (4711, 1, 'secret');
CREATE SCHEMA loader AUTHORIZATION regress_dh_loader;
GRANT USAGE ON SCHEMA loader TO PUBLIC;
SET ROLE regress_dh_loader;
CREATE VIEW loader.mine AS SELECT id, qty FROM dw.src;
GRANT SELECT ON loader.mine TO regress_dh_owner;
SELECT status FROM historize('loader.mine', 'dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
SELECT status FROM historize('loader.mine', 'dw.hist', reference_timestamp => '2026-01-04 00:00+00', dry_run => true); :sqlstate
SELECT status FROM historize('loader.mine', 'dw.hist', reference_timestamp => '2026-01-04 00:00+00', on_error => 'report'); :sqlstate
SELECT status FROM historize('loader.mine', 'dw.made_here', 'id'); :sqlstate
SELECT register_history('dw.hist', 'loader.mine', 'id'); :sqlstate
-- In a schema of his own he may do as he likes.
SELECT status FROM historize('loader.mine', 'loader.hist', 'id', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
SELECT id, qty FROM loader.hist ORDER BY id;
-- The owner cannot read through a history what he may not read himself, nor can others have him do so.
SET ROLE regress_dh_owner;
SELECT status FROM historize('public.secret', 'dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
SELECT register_history('dw.hist', 'public.secret', 'id'); :sqlstate
SELECT register_history('dw.other', 'public.secret', 'id'); :sqlstate
SELECT to_regclass('dw.other');
SELECT register_rule('dw.hist', 'peek', filter => 'exists (select from public.secret)');
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
RESET ROLE;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
SELECT unregister_rule('dw.hist', 'peek');
SELECT status FROM historize('public.secret', 'dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate
SELECT register_history('dw.hist', 'public.secret', 'id'); :sqlstate
-- What the owner may read is a source for a superuser, too.
SELECT status, versions_opened FROM historize('dw.src', 'dw.hist', reference_timestamp => '2026-01-04 00:00+00'); :sqlstate

SET ROLE regress_dh_owner;
-- A superuser who runs what a low role registered lends it nothing: rules, predicate, order and triggers have the owner's rights, restricted.
CREATE FUNCTION dw.does(what text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    CASE what
        WHEN 'create role' THEN EXECUTE 'CREATE ROLE regress_dh_made SUPERUSER';
        WHEN 'read secret' THEN EXECUTE 'SELECT id FROM public.secret';
        WHEN 'set role' THEN EXECUTE 'SET ROLE regress_dh_boss';
        WHEN 'reset role' THEN EXECUTE 'RESET ROLE';
        WHEN 'session authorization' THEN EXECUTE 'SET SESSION AUTHORIZATION regress_dh_boss';
        WHEN 'temp table' THEN EXECUTE 'CREATE TEMP TABLE t (id integer)';
        WHEN 'listen' THEN EXECUTE 'LISTEN regress';
        WHEN 'cursor' THEN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT 1';
        WHEN 'deferred' THEN EXECUTE 'SET CONSTRAINTS ALL DEFERRED';
        WHEN 'set role config' THEN PERFORM set_config('role', 'regress_dh_boss', false);
        WHEN 'superuser setting' THEN PERFORM set_config('session_replication_role', 'replica', false);
        WHEN 'registry' THEN EXECUTE 'SELECT 1 FROM daybook.history';
        WHEN 'who am I' THEN RAISE EXCEPTION 'I am %, session %', current_user, session_user;
    END CASE;
END $$;
CREATE FUNCTION dw.tries(place text, what text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF current_setting('regress.try', true) = what AND current_setting('regress.place', true) = place THEN
        PERFORM dw.does(what);
    END IF;
    RETURN what;
END $$;
CREATE FUNCTION dw.tries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dw.tries('trigger', what) FROM dw.try;
    RETURN NEW;
END $$;
CREATE TABLE dw.try (what text, nr integer DEFAULT 0);
INSERT INTO dw.try VALUES ('create role'), ('read secret'), ('set role'), ('reset role'), ('session authorization'), ('temp table'), ('listen'), ('set role config'), ('superuser setting'),
    ('cursor'), ('deferred'), ('registry'), ('who am I');
SELECT register_history('dw.tried', 'dw.try', 'what', existing_predicate => $$dw.tries('predicate', existing.what) = existing.what$$,
                        dedup_order_by => $$dw.tries('order', what)$$);
SELECT register_rule('dw.tried', 'tries', column_name => 'what', expression => $$dw.tries('rule', what)$$);
SELECT status, versions_opened FROM historize('dw.tried', reference_timestamp => '2026-01-01 00:00+00');
CREATE TRIGGER tries BEFORE INSERT OR UPDATE ON dw.tried FOR EACH ROW EXECUTE FUNCTION dw.tries();
UPDATE dw.try SET nr = 1;
GRANT INSERT, UPDATE ON dw.tried TO regress_dh_loader;
GRANT SELECT ON dw.try TO regress_dh_loader, regress_dh_reader;
RESET ROLE;
CREATE FUNCTION try(place text, what text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('regress.try', what, true), set_config('regress.place', place, true);
    PERFORM historize('dw.tried', reference_timestamp => '2026-01-02 00:00+00');
    RAISE EXCEPTION 'done';
EXCEPTION WHEN OTHERS THEN
    RETURN CASE SQLSTATE WHEN 'P0001' THEN SQLERRM ELSE SQLSTATE END || ', and I am ' || current_user;
END $$;
CREATE FUNCTION outcomes(OUT what text, OUT rule text, OUT predicate text, OUT "order" text, OUT trigger text) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT what, try('rule', what), try('predicate', what), try('order', what), try('trigger', what) FROM dw.try ORDER BY what
$$;
SELECT * FROM outcomes();
SET ROLE regress_dh_loader;
SELECT * FROM outcomes();
RESET ROLE;
SELECT count(*) AS roles_made FROM pg_roles WHERE rolname = 'regress_dh_made';
SELECT count(*) AS versions FROM dw.tried;
-- Registering executes none of it; what is computed while planning is computed as the owner.
SET ROLE regress_dh_owner;
CREATE FUNCTION dw.tell(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION '% is planned by %', $1, current_user; END $$;
RESET ROLE;
SELECT register_rule('dw.tried', 'tells', filter => $$dw.tell('the rule')$$);
SELECT status FROM historize('dw.tried', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SELECT unregister_rule('dw.tried', 'tells');
SELECT register_history('dw.tried', 'dw.try', 'what', existing_predicate => $$dw.tell('the predicate') AND existing.what IS NOT NULL$$);
SELECT status FROM historize('dw.tried', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SELECT register_history('dw.tried', 'dw.try', 'what', dedup_order_by => $$dw.tell('the order')$$);
SELECT status FROM historize('dw.tried', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
-- What fires at commit would fire with the caller's rights: refused beforehand, but for the owner himself.
SET ROLE regress_dh_owner;
CREATE TABLE dw.child (id integer);
CREATE FUNCTION dw.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO dw.child VALUES (NEW.id); RETURN NULL; END $$;
SELECT status FROM historize('dw.src', 'dw.hooks', 'id', reference_timestamp => '2026-01-01 00:00+00');
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON dw.hooks DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dw.note();
GRANT INSERT, UPDATE ON dw.hooks TO regress_dh_loader;
INSERT INTO dw.src VALUES (5, 50);
SET ROLE regress_dh_loader;
SELECT status FROM historize('dw.hooks', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
RESET ROLE;
SELECT status FROM historize('dw.hooks', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SELECT status FROM rewind_history('dw.hooks', '2025-12-01 00:00+00'); :sqlstate
SET ROLE regress_dh_owner;
SELECT status, versions_opened FROM historize('dw.hooks', reference_timestamp => '2026-01-02 00:00+00'); :sqlstate
SELECT * FROM dw.child;

-- Evidence about rows is for those who may read them; the loader may not read the history.
INSERT INTO dw.src VALUES (5, 51), (NULL, 52);
SET ROLE regress_dh_loader;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-05 00:00+00'); :sqlstate
SET ROLE regress_dh_owner;
DELETE FROM dw.src WHERE id IS NULL;
SET ROLE regress_dh_loader;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-05 00:00+00'); :sqlstate
SET ROLE regress_dh_owner;
SELECT status FROM historize('dw.hist', reference_timestamp => '2026-01-05 00:00+00'); :sqlstate
-- What the log tells goes to those who may read or write the table.
SET ROLE regress_dh_loader;
SELECT DISTINCT target_name FROM daybook.runs ORDER BY 1;
SELECT target FROM daybook.histories ORDER BY target::text;
SET ROLE regress_dh_reader;
SELECT DISTINCT target_name FROM daybook.runs ORDER BY 1;
SET ROLE regress_dh_nobody;
SELECT count(*) FROM daybook.runs;
SELECT count(*) FROM daybook.histories;
SELECT count(*) FROM daybook.history; :sqlstate
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA dw, loader CASCADE;
DROP OWNED BY regress_dh_owner, regress_dh_member, regress_dh_loader, regress_dh_reader, regress_dh_nobody, regress_dh_boss;
DROP ROLE regress_dh_owner, regress_dh_member, regress_dh_loader, regress_dh_reader, regress_dh_nobody, regress_dh_boss;
SELECT count(*) FROM daybook.histories;
