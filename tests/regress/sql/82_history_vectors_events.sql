-- Change events, as include/history_events.sql tells them, on targets of every kind that a server holds by itself.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set history '\\i ' :abs_srcdir '/include/history.sql'
\set events '\\i ' :abs_srcdir '/include/history_events.sql'
:session
:history
SET client_min_messages = warning;
-- A table that daybook makes.
:events
-- A table as another engine left it: timestamp columns, an integer hash, a dummy.
UPDATE given SET variant = 'taken';
:events
-- Partitioned by valid-to.
UPDATE given SET variant = 'by_valid_to';
:events
-- Partitioned by the key.
UPDATE given SET variant = 'by_key';
:events
-- Timestamp columns and infinity as horizon.
SET daybook.upper_horizon = 'infinity';
UPDATE given SET variant = 'infinity', infinity = 'infinity';
:events
-- NULL as horizon.
SET daybook.upper_horizon = 'null';
UPDATE given SET variant = 'null', infinity = NULL;
:events
