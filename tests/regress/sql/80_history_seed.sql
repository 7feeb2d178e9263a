-- The example tables of a historization action's documentation: airports, delivered as snapshots and as change events.
-- Each comes out as documented there, to the millisecond.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set history '\\i ' :abs_srcdir '/include/history.sql'
:session
:history
SET client_min_messages = warning;

-- Two airports on the first day. On the second, one has another name and the other is gone.
CREATE TABLE stg_airports (ident text, name text);
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp'), ('LSGG', 'Geneva Airport');
SELECT status, mode, rows_read, versions_opened, versions_closed FROM historize('stg_airports', 'int_airports', 'ident', reference_timestamp => '2024-03-01 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM int_airports', $$VALUES
    ('LSZB', 'Bern Belp',      '2024-03-01 04:00:00+00'::timestamptz, '9999-12-31 00:00:00+00'::timestamptz),
    ('LSGG', 'Geneva Airport', '2024-03-01 04:00:00+00',              '9999-12-31 00:00:00+00')$$);
TRUNCATE stg_airports;
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp Airport');
SELECT status, mode, rows_read, versions_opened, versions_closed FROM historize('stg_airports', 'int_airports', 'ident', reference_timestamp => '2024-03-02 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM int_airports', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 04:00:00+00'::timestamptz, '2024-03-02 03:59:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 04:00:00+00',              '2024-03-02 03:59:59.999+00')$$);
-- What is current, as the documentation selects it.
SELECT ident, name FROM int_airports WHERE dl_ts_delimited = '9999-12-31 00:00:00';
-- The columns that were made, and what keeps one current version.
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'int_airports'::regclass AND attnum > 0 ORDER BY attnum;

-- The session's zone and formats make no difference.
BEGIN;
SET LOCAL TimeZone = 'America/New_York';
SET LOCAL DateStyle = 'German';
DROP TABLE int_airports;
TRUNCATE stg_airports;
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp'), ('LSGG', 'Geneva Airport');
SELECT status FROM historize('stg_airports', 'int_airports', 'ident', reference_timestamp => '2024-03-01 04:00:00+00');
TRUNCATE stg_airports;
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp Airport');
SELECT status FROM historize('stg_airports', 'int_airports', 'ident', reference_timestamp => '2024-03-02 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM int_airports', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 04:00:00+00'::timestamptz, '2024-03-02 03:59:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 04:00:00+00',              '2024-03-02 03:59:59.999+00')$$);
COMMIT;

-- The same two runs with half-open intervals, and with a unit of a day; the reference comes from the setting.
TRUNCATE stg_airports;
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp'), ('LSGG', 'Geneva Airport');
SET daybook.reference_timestamp = '2024-03-01 04:00:00+00';
SELECT status FROM historize('stg_airports', 'half_open', 'ident', time_axis_unit => '0');
SELECT status FROM historize('stg_airports', 'daily', 'ident', time_axis_unit => '1 day');
TRUNCATE stg_airports;
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp Airport');
SET daybook.reference_timestamp = '2024-03-02 04:00:00+00';
SELECT status FROM historize('stg_airports', 'half_open', 'ident', time_axis_unit => '0');
SELECT status FROM historize('half_open');
SELECT status FROM historize('daily');
RESET daybook.reference_timestamp;
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM half_open', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 04:00:00+00'::timestamptz, '2024-03-02 04:00:00+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 04:00:00+00',              '2024-03-02 04:00:00+00')$$);
-- With half-open intervals an instant is read so.
SELECT ident, name FROM half_open WHERE '2024-03-02 04:00:00+00' >= dl_ts_captured AND '2024-03-02 04:00:00+00' < dl_ts_delimited;
-- A day before 2 March, 04:00, is 1 March, 04:00: closed intervals of one day, the first and last of which are valid.
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM daily', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 04:00:00+00'::timestamptz, '2024-03-01 04:00:00+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 04:00:00+00',              '2024-03-01 04:00:00+00')$$);

-- A column that changes with every load is stored and not compared.
CREATE TABLE stg_loaded (ident text, name text, dl_ts_load timestamptz);
INSERT INTO stg_loaded VALUES ('LSZB', 'Bern Belp', '2024-03-01 03:50:00+00'), ('LSGG', 'Geneva Airport', '2024-03-01 03:50:00+00');
SELECT status, versions_opened FROM historize('stg_loaded', 'int_loaded', 'ident', historize_blacklist => 'dl_ts_load', reference_timestamp => '2024-03-01 04:00:00+00');
UPDATE stg_loaded SET dl_ts_load = '2024-03-02 03:50:00+00', name = CASE ident WHEN 'LSZB' THEN 'Bern Belp Airport' ELSE name END;
SELECT status, versions_opened, versions_closed, rows_unchanged FROM historize('int_loaded', reference_timestamp => '2024-03-02 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_load, dl_ts_captured, dl_ts_delimited FROM int_loaded', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 03:50:00+00'::timestamptz, '2024-03-01 04:00:00+00'::timestamptz, '2024-03-02 03:59:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-02 03:50:00+00',              '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 03:50:00+00',              '2024-03-01 04:00:00+00',              '9999-12-31 00:00:00+00')$$);

-- Change events: validity follows the commit timestamps of the source. First its snapshot, in which one airport is deleted already.
CREATE TABLE ext_airports (ident text, name text, _change_type text, _commit_timestamp timestamptz, _change_ordinal bigint);
CREATE TABLE batch (run integer, LIKE ext_airports);
INSERT INTO batch VALUES
    (1, 'LSZB', 'Bern Belp',             'read',             '2024-03-01 22:00:00+00', 0),
    (1, 'LSGG', 'Geneva Airport',        'read',             '2024-03-01 22:00:00+00', 1),
    (1, 'LSZR', 'St. Gallen Altenrhein', 'delete',           '2024-03-01 22:00:00+00', 2),
    (2, 'LSZB', 'Bern Belp',             'update_preimage',  '2024-03-05 09:15:00+00', 0),
    (2, 'LSZB', 'Bern Belp Airport',     'update_postimage', '2024-03-05 09:15:00+00', 1),
    (2, 'LSGG', 'Geneva Airport',        'delete',           '2024-03-05 09:15:00+00', 2),
    (2, 'LSZA', 'Lugano',                'delete',           '2024-03-05 09:15:00+00', 3),
    (3, 'LSZH', 'Zurich',                'insert',           '2024-03-08 17:40:00+00', 0),
    (3, 'LSZH', 'Zurich Airport',        'update_postimage', '2024-03-08 17:40:00+00', 1),
    (3, 'LSZB', 'Bern Airport',          'update_postimage', '2024-03-08 17:40:00+00', 2);
CREATE PROCEDURE deliver(batch_run integer) LANGUAGE sql AS $$
    DELETE FROM ext_airports;
    INSERT INTO ext_airports SELECT ident, name, _change_type, _commit_timestamp, _change_ordinal FROM batch WHERE run = batch_run;
$$;
CALL deliver(1);
SELECT status, mode, rows_read, versions_opened, versions_closed FROM historize('ext_airports', 'cdc_airports', 'ident', reference_timestamp => '2024-03-02 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM cdc_airports', $$VALUES
    ('LSZB', 'Bern Belp',      '2024-03-01 22:00:00+00'::timestamptz, '9999-12-31 00:00:00+00'::timestamptz),
    ('LSGG', 'Geneva Airport', '2024-03-01 22:00:00+00',              '9999-12-31 00:00:00+00')$$);
-- The columns of the events are not stored.
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'cdc_airports'::regclass AND attnum > 0 ORDER BY attnum;
-- An update with its preimage, and two deletes, one of an airport that never came.
CALL deliver(2);
SELECT status, mode, rows_read, versions_opened, versions_closed FROM historize('cdc_airports', reference_timestamp => '2024-03-06 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM cdc_airports', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 22:00:00+00'::timestamptz, '2024-03-05 09:14:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-05 09:15:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 22:00:00+00',              '2024-03-05 09:14:59.999+00')$$);
-- One airport is made and changed in the same batch: its last state is the one that counts.
CALL deliver(3);
SELECT status, mode, rows_read, versions_opened, versions_closed FROM historize('cdc_airports', reference_timestamp => '2024-03-09 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM cdc_airports', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 22:00:00+00'::timestamptz, '2024-03-05 09:14:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-05 09:15:00+00',              '2024-03-08 17:39:59.999+00'),
    ('LSZB', 'Bern Airport',      '2024-03-08 17:40:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 22:00:00+00',              '2024-03-05 09:14:59.999+00'),
    ('LSZH', 'Zurich Airport',    '2024-03-08 17:40:00+00',              '9999-12-31 00:00:00+00')$$);

-- The same three batches on the time axis of the runs.
CALL deliver(1);
SELECT status, mode FROM historize('ext_airports', 'own_axis', 'ident', cdc_timestamp_auto_detect => false, reference_timestamp => '2024-03-02 04:00:00+00');
CALL deliver(2);
SELECT status, mode FROM historize('own_axis', reference_timestamp => '2024-03-06 04:00:00+00');
CALL deliver(3);
SELECT status, mode FROM historize('own_axis', reference_timestamp => '2024-03-09 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM own_axis', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-02 04:00:00+00'::timestamptz, '2024-03-06 03:59:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-06 04:00:00+00',              '2024-03-09 03:59:59.999+00'),
    ('LSZB', 'Bern Airport',      '2024-03-09 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-02 04:00:00+00',              '2024-03-06 03:59:59.999+00'),
    ('LSZH', 'Zurich Airport',    '2024-03-09 04:00:00+00',              '9999-12-31 00:00:00+00')$$);
SELECT attname FROM pg_attribute WHERE attrelid = 'own_axis'::regclass AND attnum > 0 ORDER BY attnum;
-- And with every event kept as a version: the state in between of one instant is still no version, having no time of its own.
CALL deliver(1);
SELECT status, mode FROM historize('ext_airports', 'all_airports', 'ident', intermediate_versions => true, reference_timestamp => '2024-03-02 04:00:00+00');
CALL deliver(2);
SELECT status, mode FROM historize('all_airports', reference_timestamp => '2024-03-06 04:00:00+00');
CALL deliver(3);
SELECT status, mode FROM historize('all_airports', reference_timestamp => '2024-03-09 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM all_airports', 'SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM cdc_airports');

-- Without looking for such columns, they are data.
CALL deliver(1);
SELECT status, mode, versions_opened FROM historize('ext_airports', 'as_data', 'ident', cdc_auto_detect => false, reference_timestamp => '2024-03-02 04:00:00+00');
SELECT differences('SELECT ident, _change_type, _commit_timestamp, _change_ordinal, dl_ts_captured, dl_ts_delimited FROM as_data', $$VALUES
    ('LSZB', 'read',   '2024-03-01 22:00:00+00'::timestamptz, 0::bigint, '2024-03-02 04:00:00+00'::timestamptz, '9999-12-31 00:00:00+00'::timestamptz),
    ('LSGG', 'read',   '2024-03-01 22:00:00+00',              1,         '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSZR', 'delete', '2024-03-01 22:00:00+00',              2,         '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00')$$);

-- Events of the source's own kind.
CREATE TABLE stg_airports_cdc (ident text, name text, operation text);
INSERT INTO stg_airports_cdc VALUES ('LSZB', 'Bern Belp', 'I'), ('LSGG', 'Geneva Airport', 'I');
SELECT status, mode, versions_opened FROM historize('stg_airports_cdc', 'own_cdc', 'ident', cdc_column => 'operation', cdc_deleted_value => 'D', reference_timestamp => '2024-03-01 04:00:00+00');
TRUNCATE stg_airports_cdc;
INSERT INTO stg_airports_cdc VALUES ('LSZB', 'Bern Belp Airport', 'U'), ('LSGG', 'Geneva Airport', 'D'), ('LSZA', 'Lugano', 'D');
SELECT status, mode, versions_opened, versions_closed FROM historize('own_cdc', reference_timestamp => '2024-03-02 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM own_cdc', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-03-01 04:00:00+00'::timestamptz, '2024-03-02 03:59:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-02 04:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-03-01 04:00:00+00',              '2024-03-02 03:59:59.999+00')$$);
SELECT attname FROM pg_attribute WHERE attrelid = 'own_cdc'::regclass AND attnum > 0 ORDER BY attnum;
-- Both must be given, and no list of columns to compare.
SELECT * FROM historize('stg_airports_cdc', 'own_cdc2', 'ident', cdc_column => 'operation'); :sqlstate
SELECT * FROM historize('stg_airports_cdc', 'own_cdc2', 'ident', cdc_column => 'operation', cdc_deleted_value => 'D', historize_whitelist => 'name'); :sqlstate
SELECT to_regclass('own_cdc2') IS NULL AS not_made;

-- The time of the last change in the source starts the versions; it is neither compared nor stored. What comes late starts a tick
-- after what it replaces; what is gone is closed by the time of the run.
CREATE TABLE stg_updated (ident text, name text, last_updated timestamptz);
INSERT INTO stg_updated VALUES ('LSZB', 'Bern Belp', '2024-02-20 10:00:00+00'), ('LSGG', 'Geneva Airport', '2024-02-21 11:00:00+00'), ('LSZA', 'Lugano', '2024-02-22 12:00:00+00');
SELECT status, mode, versions_opened FROM historize('stg_updated', 'int_updated', 'ident', source_timestamp_column => 'last_updated', reference_timestamp => '2024-03-01 04:00:00+00');
TRUNCATE stg_updated;
INSERT INTO stg_updated VALUES ('LSZB', 'Bern Belp Airport', '2024-03-01 15:30:00+00'), ('LSGG', 'Geneva Airport', '2024-03-01 16:00:00+00');
SELECT status, versions_opened, versions_closed, rows_unchanged, late_rows FROM historize('int_updated', reference_timestamp => '2024-03-02 04:00:00+00');
UPDATE stg_updated SET name = 'Bern', last_updated = '2024-02-29 09:00:00+00' WHERE ident = 'LSZB';
SELECT status, versions_opened, versions_closed, rows_unchanged, late_rows FROM historize('int_updated', reference_timestamp => '2024-03-03 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM int_updated', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-02-20 10:00:00+00'::timestamptz, '2024-03-01 15:29:59.999+00'::timestamptz),
    ('LSZB', 'Bern Belp Airport', '2024-03-01 15:30:00+00',              '2024-03-01 15:30:00+00'),
    ('LSZB', 'Bern',              '2024-03-01 15:30:00.001+00',          '9999-12-31 00:00:00+00'),
    ('LSGG', 'Geneva Airport',    '2024-02-21 11:00:00+00',              '9999-12-31 00:00:00+00'),
    ('LSZA', 'Lugano',            '2024-02-22 12:00:00+00',              '2024-03-02 03:59:59.999+00')$$);
SELECT attname FROM pg_attribute WHERE attrelid = 'int_updated'::regclass AND attnum > 0 ORDER BY attnum;

-- Only versions of the last seven days are looked at. A record outside of them that is delivered is refused, rather than given a
-- second current version. (The clock rules here, so days are shown as counted from today.)
SET daybook.time_axis_unit = '1d';
SELECT register_history('int_recent', 'stg_airports', 'ident', existing_predicate => $$existing.dl_ts_captured > current_date - interval '7 days'$$);
RESET daybook.time_axis_unit;
CREATE FUNCTION day(n integer) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT (current_date + n)::timestamptz $$;
TRUNCATE stg_airports;
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp'), ('LSGG', 'Geneva Airport');
SELECT status, versions_opened FROM historize('int_recent', reference_timestamp => day(-10));
DELETE FROM stg_airports;
INSERT INTO stg_airports VALUES ('LSZA', 'Lugano');
SELECT status, versions_opened, versions_closed FROM historize('int_recent', reference_timestamp => day(-3));
UPDATE stg_airports SET name = 'Lugano Airport';
SELECT status, versions_opened, versions_closed FROM historize('int_recent', reference_timestamp => day(-1));
INSERT INTO stg_airports VALUES ('LSZR', 'St. Gallen Altenrhein');
SELECT status, versions_opened, versions_closed, rows_unchanged FROM historize('int_recent', reference_timestamp => day(0));
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM int_recent', $$VALUES
    ('LSZB', 'Bern Belp',             day(-10), '9999-12-31 00:00:00+00'::timestamptz),
    ('LSGG', 'Geneva Airport',        day(-10), '9999-12-31 00:00:00+00'),
    ('LSZA', 'Lugano',                day(-3),  day(-2)),
    ('LSZA', 'Lugano Airport',        day(-1),  '9999-12-31 00:00:00+00'),
    ('LSZR', 'St. Gallen Altenrhein', day(0),   '9999-12-31 00:00:00+00')$$);
INSERT INTO stg_airports VALUES ('LSGG', 'Geneva');
\set VERBOSITY terse
SELECT * FROM historize('int_recent', reference_timestamp => day(0)); :sqlstate
\set VERBOSITY default

-- A table that was kept without a hash goes on as it is; the same data makes no version.
CREATE TABLE old_airports (ident text, name text, dl_ts_captured timestamp, dl_ts_delimited timestamp);
INSERT INTO old_airports VALUES ('LSZB', 'Bern Belp', '2024-02-01 04:00:00', '2024-02-29 03:59:59.999'), ('LSZB', 'Bern Belp Airport', '2024-02-29 04:00:00', '9999-12-31 00:00:00');
TRUNCATE stg_airports;
INSERT INTO stg_airports VALUES ('LSZB', 'Bern Belp Airport');
SELECT status, rows_unchanged, versions_opened, versions_closed FROM historize('stg_airports', 'old_airports', 'ident', reference_timestamp => '2024-03-01 04:00:00+00');
UPDATE stg_airports SET name = 'Bern Airport';
SELECT status, rows_unchanged, versions_opened, versions_closed FROM historize('old_airports', reference_timestamp => '2024-03-02 04:00:00+00');
SELECT differences('SELECT ident, name, dl_ts_captured, dl_ts_delimited FROM old_airports', $$VALUES
    ('LSZB', 'Bern Belp',         '2024-02-01 04:00:00'::timestamp, '2024-02-29 03:59:59.999'::timestamp),
    ('LSZB', 'Bern Belp Airport', '2024-02-29 04:00:00',            '2024-03-02 03:59:59.999'),
    ('LSZB', 'Bern Airport',      '2024-03-02 04:00:00',            '9999-12-31 00:00:00')$$);
-- Every history above keeps what must always hold.
SELECT history, c.* FROM unnest(array['int_airports', 'half_open', 'daily', 'int_loaded', 'cdc_airports', 'own_axis', 'all_airports', 'as_data', 'own_cdc', 'int_updated', 'int_recent', 'old_airports']) AS history,
    LATERAL daybook.check_history(history::regclass) AS c;
SELECT count(*) FROM daybook.histories;
