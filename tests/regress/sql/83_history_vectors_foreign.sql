-- Snapshots and change events on a foreign target, which rows cannot be addressed in: closed, reopened and inserted by key.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set history '\\i ' :abs_srcdir '/include/history.sql'
\set snapshot '\\i ' :abs_srcdir '/include/history_snapshot.sql'
\set events '\\i ' :abs_srcdir '/include/history_events.sql'
:session
SET client_min_messages = warning;
-- Where the server comes without postgres_fdw there is nothing to show.
SELECT count(*) = 0 AS no_postgres_fdw FROM pg_available_extensions WHERE name = 'postgres_fdw' \gset
\if :no_postgres_fdw
\echo postgres_fdw is not available on this server
\quit
\endif
:history
CREATE EXTENSION postgres_fdw;
DO $$
BEGIN
    EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
        split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user 'postgres');
CREATE SCHEMA remote;
UPDATE given SET variant = 'foreign';
:snapshot
:events
-- A partition of a local table that is foreign.
DROP FOREIGN TABLE h;
DROP TABLE remote.h;
UPDATE given SET variant = 'mixed';
:snapshot
:events
