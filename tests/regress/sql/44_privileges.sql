-- Who may register, load and see; and whose rights registered SQL has.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_db_owner, regress_db_member, regress_db_loader, regress_db_reader, regress_db_nobody, regress_db_ext, regress_db_boss;
SET client_min_messages = warning;
CREATE ROLE regress_db_owner;
CREATE ROLE regress_db_member IN ROLE regress_db_owner;
CREATE ROLE regress_db_loader;
CREATE ROLE regress_db_reader;
CREATE ROLE regress_db_nobody;
CREATE ROLE regress_db_boss SUPERUSER;
CREATE SCHEMA dw AUTHORIZATION regress_db_owner;
GRANT USAGE ON SCHEMA dw TO regress_db_loader, regress_db_reader;
SET ROLE regress_db_owner;
CREATE TABLE dw.src (id integer, at timestamptz);
INSERT INTO dw.src SELECT n, '2026-09-01 00:00+00'::timestamptz + n * interval '8 hours' FROM generate_series(0, 8) AS n;
CREATE TABLE dw.fact (id integer, at timestamptz, interval_start timestamptz, note text DEFAULT current_user);
GRANT INSERT, DELETE ON dw.fact TO regress_db_loader;
GRANT SELECT ON dw.src TO regress_db_loader;
GRANT SELECT ON dw.fact TO regress_db_reader;

-- Registering: the owner and members of his role; others not, whatever they may do with the rows.
SELECT register_load('dw.fact', 'dw.src', 'at');
SET ROLE regress_db_member;
SELECT register_load('dw.fact', 'dw.src', 'at', settle => '1 second');
SELECT register_rule('dw.fact', 'all', filter => 'true');
CREATE PROCEDURE pg_temp.attempt() LANGUAGE plpgsql AS $$
DECLARE
    stmt text;
BEGIN
    FOREACH stmt IN ARRAY array[
        $s$register_load('dw.fact', 'dw.src', 'at')$s$, $s$register_rule('dw.fact', 'r', filter => 'true')$s$, $s$unregister_rule('dw.fact', 'all')$s$,
        $s$load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00')$s$,
        $s$load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00', dry_run => true)$s$,
        $s$mark_stale('dw.fact', '2026-09-01', '2026-09-02', 'why')$s$, $s$daybook.last_closed('dw.fact')$s$,
        $s$daybook.explain_load('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00')$s$, $s$daybook.check_load('dw.fact')$s$,
        $s$daybook.grain_boundaries('1 day', 'UTC', '2026-09-01', '2026-09-02')$s$] LOOP
        BEGIN
            EXECUTE 'SELECT ' || stmt;
            RAISE NOTICE '%: allowed', stmt;
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '%: % %', stmt, SQLSTATE, SQLERRM;
        END;
    END LOOP;
    RAISE NOTICE 'sees % loads, % rules, % runs, % intervals', (SELECT count(*) FROM daybook.loads), (SELECT count(*) FROM daybook.rules),
        (SELECT count(*) FROM daybook.runs), (SELECT count(*) FROM daybook.interval_log);
    BEGIN
        PERFORM unregister_load('dw.fact');
        RAISE NOTICE 'unregister_load: allowed';
    EXCEPTION WHEN OTHERS THEN
        RAISE NOTICE 'unregister_load: % %', SQLSTATE, SQLERRM;
    END;
    RAISE EXCEPTION 'back to where it was';
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
SET client_min_messages = notice;
-- The owner; a member; who has INSERT and DELETE, and SELECT on the source; who has SELECT; who has nothing; a superuser.
SET ROLE regress_db_owner;
CALL pg_temp.attempt();
SET ROLE regress_db_member;
CALL pg_temp.attempt();
SET ROLE regress_db_loader;
CALL pg_temp.attempt();
SET ROLE regress_db_reader;
CALL pg_temp.attempt();
SET ROLE regress_db_nobody;
CALL pg_temp.attempt();
SET ROLE regress_db_boss;
CALL pg_temp.attempt();
SET client_min_messages = warning;
-- Each right is needed, by name.
SET ROLE regress_db_owner;
REVOKE INSERT ON dw.fact FROM regress_db_loader;
SET ROLE regress_db_loader;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
SET ROLE regress_db_owner;
GRANT INSERT ON dw.fact TO regress_db_loader;
REVOKE DELETE ON dw.fact FROM regress_db_loader;
SET ROLE regress_db_loader;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
SET ROLE regress_db_owner;
GRANT DELETE ON dw.fact TO regress_db_loader;
REVOKE SELECT ON dw.src FROM regress_db_loader;
SET ROLE regress_db_loader;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
-- A refused registration, in full.
SELECT register_load('dw.fact', 'dw.src', 'at'); :sqlstate
SELECT register_rule('dw.fact', 'r', filter => 'true'); :sqlstate
SET ROLE regress_db_owner;
GRANT SELECT ON dw.src TO regress_db_loader;
-- The run is the owner's: defaults and triggers see him; the log says who called.
SET ROLE regress_db_loader;
SELECT sum(rows_inserted) FROM load_interval('dw.fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00');
RESET ROLE;
SELECT DISTINCT note FROM dw.fact;
SELECT called_by, rows_inserted FROM daybook.runs ORDER BY run_id DESC LIMIT 1;
-- An owner who loses SELECT on the source: the next run is refused, nothing has happened.
ALTER TABLE dw.src OWNER TO regress_db_boss;
REVOKE ALL ON dw.src FROM regress_db_owner;
GRANT SELECT ON dw.src TO regress_db_loader;
SET ROLE regress_db_loader;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
SET ROLE regress_db_owner;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
\set VERBOSITY sqlstate
SELECT register_load('dw.fact', 'dw.src', 'at');
\set VERBOSITY default
SELECT count(*) FROM dw.fact;
RESET ROLE;
ALTER TABLE dw.src OWNER TO regress_db_owner;
-- The owner cannot read through a load what he may not read himself.
CREATE TABLE secret (id integer, at timestamptz);
INSERT INTO secret VALUES (4711, '2026-09-01 12:00+00');
SET ROLE regress_db_owner;
\set VERBOSITY sqlstate
SELECT register_load('dw.fact', 'public.secret', 'at');
\set VERBOSITY default
SELECT register_rule('dw.fact', 'peek', filter => 'exists (select from public.secret)');
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
RESET ROLE;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
SET ROLE regress_db_owner;
SELECT unregister_rule('dw.fact', 'peek');
SELECT register_load('dw.fact', 'dw.src', 'at');

-- A superuser who runs what a low role registered lends it nothing: the run has the owner's rights, restricted.
CREATE FUNCTION dw.does(what text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    CASE what
        WHEN 'create role' THEN EXECUTE 'CREATE ROLE regress_db_made SUPERUSER';
        WHEN 'read secret' THEN EXECUTE 'SELECT id FROM public.secret';
        WHEN 'set role' THEN EXECUTE 'SET ROLE regress_db_boss';
        WHEN 'reset role' THEN EXECUTE 'RESET ROLE';
        WHEN 'session authorization' THEN EXECUTE 'SET SESSION AUTHORIZATION regress_db_boss';
        WHEN 'temp table' THEN EXECUTE 'CREATE TEMP TABLE t (id integer)';
        WHEN 'listen' THEN EXECUTE 'LISTEN regress';
        WHEN 'cursor' THEN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT 1';
        WHEN 'deferred' THEN EXECUTE 'SET CONSTRAINTS ALL DEFERRED';
        WHEN 'set role config' THEN PERFORM set_config('role', 'regress_db_boss', false);
        WHEN 'superuser setting' THEN PERFORM set_config('session_replication_role', 'replica', false);
        WHEN 'copy program' THEN EXECUTE $q$COPY dw.src FROM PROGRAM 'true'$q$;
        WHEN 'registry' THEN EXECUTE 'SELECT 1 FROM daybook.target';
        WHEN 'who am I' THEN RAISE EXCEPTION 'I am %, session %', current_user, session_user;
    END CASE;
END $$;
-- What a rule calls must not be volatile; what that calls can be.
CREATE FUNCTION dw.tries(what text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF current_setting('regress.try', true) = what THEN
        PERFORM dw.does(what);
    END IF;
    RETURN what;
END $$;
CREATE TABLE dw.try (what text, at timestamptz);
INSERT INTO dw.try VALUES ('create role'), ('read secret'), ('set role'), ('reset role'), ('session authorization'), ('temp table'), ('listen'), ('set role config'), ('superuser setting'),
    ('cursor'), ('deferred'), ('copy program'), ('registry'), ('who am I');
UPDATE dw.try SET at = '2026-09-01 12:00+00';
CREATE TABLE dw.tried (what text, at timestamptz, interval_start timestamptz);
SELECT register_load('dw.tried', 'dw.try', 'at');
SELECT register_rule('dw.tried', 'tries', column_name => 'what', expression => 'dw.tries(what)');
GRANT INSERT, DELETE ON dw.tried TO regress_db_loader;
GRANT SELECT ON dw.try TO regress_db_loader;
RESET ROLE;
CREATE FUNCTION try(what text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('regress.try', what, true);
    PERFORM load_interval('dw.tried', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00');
    RETURN 'done, and I am ' || current_user;
EXCEPTION WHEN OTHERS THEN
    RETURN CASE SQLSTATE WHEN 'P0001' THEN SQLERRM ELSE SQLSTATE END || ', and I am ' || current_user;
END $$;
SELECT what, try(what) AS as_superuser FROM dw.try ORDER BY what;
SET ROLE regress_db_loader;
SELECT what, try(what) AS as_loader FROM dw.try ORDER BY what;
RESET ROLE;
SELECT count(*) AS roles_made FROM pg_roles WHERE rolname = 'regress_db_made';
-- Neither does a trigger, a default, a generated column, a check, an index expression or a domain of the target.
SET ROLE regress_db_owner;
CREATE FUNCTION dw.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.by_trigger := current_user;
    RETURN NEW;
END $$;
CREATE FUNCTION dw.who(integer) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT current_user::text';
CREATE TABLE dw.hooks (id integer, at timestamptz, interval_start timestamptz, by_trigger text, by_default text DEFAULT current_user,
    by_column text GENERATED ALWAYS AS (dw.who(id)) STORED, CHECK (dw.who(id) = 'regress_db_owner'));
CREATE TRIGGER note BEFORE INSERT ON dw.hooks FOR EACH ROW EXECUTE FUNCTION dw.note();
CREATE TABLE dw.src_hooks AS SELECT id, at, NULL::text AS by_trigger FROM dw.src;
SELECT register_load('dw.hooks', 'dw.src_hooks', 'at');
RESET ROLE;
SELECT sum(rows_inserted) FROM load_interval('dw.hooks', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00');
SELECT DISTINCT by_trigger, by_default, by_column FROM dw.hooks;
-- What fires at commit would fire with the caller's rights: refused beforehand, but for the owner himself.
SET ROLE regress_db_owner;
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON dw.hooks DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dw.note();
GRANT INSERT, DELETE ON dw.hooks TO regress_db_loader;
GRANT SELECT ON dw.src_hooks TO regress_db_loader;
SET ROLE regress_db_loader;
SELECT sum(rows_inserted) FROM load_interval('dw.hooks', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
RESET ROLE;
SELECT sum(rows_inserted) FROM load_interval('dw.hooks', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate
SET ROLE regress_db_owner;
SELECT sum(rows_inserted) FROM load_interval('dw.hooks', '2026-09-01', '2026-09-04', as_of => '2026-09-09 00:00+00'); :sqlstate

-- Evidence about rows is for those who may read them; the loader may not read the target.
INSERT INTO dw.fact VALUES (99, '2026-08-01 00:00+00', '2026-09-01 00:00+00');
SET ROLE regress_db_loader;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
SET ROLE regress_db_owner;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
DELETE FROM dw.fact WHERE id = 99;
SELECT register_load('dw.fact', 'dw.src', 'at', keys => 'at');
INSERT INTO dw.src VALUES (98, '2026-09-01 00:00+00');
SET ROLE regress_db_loader;
SELECT count(*) FROM load_interval('dw.fact', '2026-09-01', '2026-09-02', as_of => '2026-09-09 00:00+00'); :sqlstate
-- The log hides its rows from those who have no right on the target, and the tables below it from all.
SET ROLE regress_db_nobody;
SELECT count(*) FROM daybook.runs;
SELECT count(*) FROM daybook.run;
SELECT count(*) FROM daybook.interval_state;
DELETE FROM daybook.rule;
INSERT INTO daybook.rule (target, name, position, kind, expression) VALUES ('pg_class'::regclass, 'x', 1, 'filter', 'true');
UPDATE daybook.load SET source_name = 'secret';
TRUNCATE daybook.run;
SELECT nextval('daybook.run_run_id_seq');
SET ROLE regress_db_owner;
UPDATE daybook.rule SET expression = 'false';
-- A function in a query on the views sees no rows of others.
SET ROLE regress_db_reader;
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$;
SET client_min_messages = notice;
SELECT target FROM daybook.loads WHERE pg_temp.leak(source) ORDER BY 1;
SET client_min_messages = warning;
-- A new owner runs it from then on; one who was dropped with his tables leaves nothing behind.
RESET ROLE;
ALTER TABLE dw.tried OWNER TO regress_db_boss;
SELECT try('who am I');
ALTER TABLE dw.tried OWNER TO regress_db_owner;
DROP OWNED BY regress_db_owner CASCADE;
SELECT count(*) FROM daybook.target;
SELECT count(*) FROM daybook.interval_state;
DROP OWNED BY regress_db_loader, regress_db_reader, regress_db_member, regress_db_boss;
DROP TABLE secret;
DROP ROLE regress_db_owner, regress_db_member, regress_db_loader, regress_db_reader, regress_db_nobody, regress_db_boss;
