-- Where other tools disagree or are silent, and what is done here: a section for each matter that concerns history.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set history '\\i ' :abs_srcdir '/include/history.sql'
:session
:history
SET client_min_messages = warning;

-- An empty read: refused where absence means deleted, else skipped; on_empty chooses.
CALL fresh('id integer, qty integer');
SELECT run('empty', t(1), '(1, 5)', 'loaded');
SELECT refused('empty, full', t(2), '', 'P0002', 'on_empty');
CALL fresh('id integer, qty integer', options => $$delivery => 'delta'$$);
SELECT run('empty, delta', t(1), '', 'skipped read 0');
CALL fresh('id integer, qty integer', only_source => '_change_type text');
SELECT run('empty, events', t(1), '', 'skipped mode events read 0');
CALL fresh('id integer, qty integer', options => $$on_empty => 'skip'$$);
SELECT run('empty, skip', t(1), '', 'skipped');
CALL fresh('id integer, qty integer', options => $$on_empty => 'error', delivery => 'delta'$$);
SELECT refused('empty, error', t(1), '', 'P0002');
CALL fresh('id integer, qty integer', options => $$on_empty => 'close'$$);
SELECT run('empty, close', t(1), '(1, 5), (2, 7)', 'loaded opened 2');
SELECT run('empty, close', t(2), '', 'loaded opened 0 closed 2');
SELECT holds('empty, close', '1 5 T1..T2-1ms', '2 7 T1..T2-1ms');
-- A skipped run is a success and is in the log; one that filters drop to nothing counts as empty.
SELECT status, mode, rows_read, versions_opened, versions_closed, count(*) FROM daybook.runs WHERE status = 'skipped' GROUP BY 1, 2, 3, 4, 5 ORDER BY 2;
CALL fresh('id integer, qty integer');
SELECT register_rule('h', 'positive', filter => 'qty > 0');
SELECT run('empty, by a filter', t(1), '(1, 5), (2, -1)', 'loaded read 2 opened 1');
SELECT refused('empty, by a filter', t(2), '(1, -5)', 'P0002');
-- A first load of nothing.
CALL fresh('id integer, qty integer');
SELECT refused('empty, first', t(1), '', 'P0002');

-- Duplicate keys: an error that lists them; else one by dedup_order_by, else by a fixed order of the whole row. (Events: below.)
CALL fresh('id integer, qty integer');
SELECT refused('duplicates', t(1), '(1, 5), (2, 7), (1, 6), (3, 8), (3, 8)', '21000', '1.*3');
CALL fresh('id integer, qty integer', options => $$check_input_unique => false, dedup_order_by => 'qty desc nulls last'$$);
SELECT run('duplicates, ordered', t(1), '(1, 5), (2, 7), (1, 6), (1, NULL), (3, 8), (3, 8)', 'loaded read 6 opened 3');
SELECT holds('duplicates, ordered', '1 6 T1..INF', '2 7 T1..INF', '3 8 T1..INF');
CALL fresh('id integer, qty integer', options => 'check_input_unique => false');
SELECT run('duplicates, fixed order', t(1), '(1, 5), (1, 6), (2, 7)', 'loaded opened 2');
SELECT run('duplicates, fixed order', t(2), '(2, 7), (1, 6), (1, 5)', 'unchanged');
-- With dedup_order_by a duplicate is no error, but a tie of different rows is.
CALL fresh('id integer, qty integer, st text', options => $$dedup_order_by => 'qty'$$);
SELECT run('duplicates, dedup_order_by', t(1), $$(1, 5, 'a'), (1, 6, 'b')$$, 'loaded opened 1');
SELECT holds('duplicates, dedup_order_by', '1 5 a T1..INF');
SELECT refused('duplicates, tie', t(2), $$(1, 5, 'a'), (1, 5, 'b')$$, '21000', '1');

-- Null in a key: an error that lists the rows.
CALL fresh('a integer, b integer, qty integer', 'a, b');
SELECT refused('null in key', t(1), '(1, NULL, 5), (NULL, 2, 6), (1, 2, 7)', '23502', 'null');

-- A condition on the existing versions limits what is read: see X21 and X22 in history_snapshot.sql. A key outside of it that is new is new.
CALL fresh('id integer, qty integer', options => $$existing_predicate => 'existing.qty < 100'$$);
SELECT run('predicate', t(1), '(1, 5), (2, 500)', 'loaded opened 2');
SELECT refused('predicate', t(2), '(1, 5), (2, 500)', '23514', '2');
SELECT run('predicate', t(2), '(1, 6)', 'loaded opened 1 closed 1');
SELECT holds('predicate', '1 5 T1..T2-1ms', '1 6 T2..INF', '2 500 T1..INF');

-- The unit: 1 ms by default; a day is 24 hours, also where the clock is changed; 0 is half-open; below a second instants are cut to it.
SELECT time_axis_unit FROM daybook.histories WHERE target = 'h'::regclass;
CREATE TABLE unit (n integer GENERATED ALWAYS AS IDENTITY, unit interval, first timestamptz, second timestamptz, begins timestamptz, ends timestamptz);
INSERT INTO unit (unit, first, second, begins, ends) VALUES
    ('1 microsecond', '2024-03-30 12:00:00.000001+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 12:00:00.123455+00'),
    ('10 microseconds', '2024-03-30 12:00:00.000010+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 12:00:00.123450+00', '2024-03-31 12:00:00.123440+00'),
    ('1 millisecond', '2024-03-30 12:00+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 12:00:00.123+00', '2024-03-31 12:00:00.122+00'),
    ('250 milliseconds', '2024-03-30 12:00+00', '2024-03-31 12:00:00.999+00', '2024-03-31 12:00:00.75+00', '2024-03-31 12:00:00.5+00'),
    ('1 second', '2024-03-30 12:00+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 11:59:59.123456+00'),
    ('5 minutes', '2024-03-30 12:00+00', '2024-03-31 12:00+00', '2024-03-31 12:00+00', '2024-03-31 11:55+00'),
    ('1 hour', '2024-03-30 12:00+00', '2024-03-31 12:00+00', '2024-03-31 12:00+00', '2024-03-31 11:00+00'),
    ('1 day', '2024-03-30 12:00+00', '2024-03-31 12:00+00', '2024-03-31 12:00+00', '2024-03-30 12:00+00'),
    ('2 days', '2024-03-28 12:00+00', '2024-03-31 12:00+00', '2024-03-31 12:00+00', '2024-03-29 12:00+00'),
    ('1 day 12 hours', '2024-03-28 12:00+00', '2024-03-31 12:00+00', '2024-03-31 12:00+00', '2024-03-30 00:00+00'),
    ('0', '2024-03-30 12:00+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 12:00:00.123456+00', '2024-03-31 12:00:00.123456+00');
CREATE FUNCTION with_unit(unit interval, first timestamptz, second timestamptz) RETURNS TABLE (begins timestamptz, ends timestamptz) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS h, src;
    CREATE TABLE src (id integer, qty integer);
    INSERT INTO src VALUES (1, 5);
    PERFORM register_history('h', 'src', 'id', time_axis_unit => unit, zone => 'Europe/Zurich');
    PERFORM historize('h', reference_timestamp => first);
    UPDATE src SET qty = 6;
    PERFORM historize('h', reference_timestamp => second);
    RETURN QUERY EXECUTE 'SELECT (SELECT dl_ts_captured FROM h WHERE qty = 6), (SELECT dl_ts_delimited FROM h WHERE qty = 5)';
END $$;
CREATE TABLE found AS SELECT u.n, u.unit, w.begins, w.ends FROM unit AS u, with_unit(u.unit, u.first, u.second) AS w;
SELECT differences('SELECT unit, begins, ends FROM found', 'SELECT unit, begins, ends FROM unit', 'units');
-- Technical columns without time zone make an axis of local times, here of a zone whose clock went forward in between: a day goes
-- from noon to noon.
CREATE TABLE local (id integer, qty integer, dl_ts_captured timestamp, dl_ts_delimited timestamp);
INSERT INTO local VALUES (1, 5, '2024-03-30 12:00', '9999-12-31 00:00');
TRUNCATE src;
INSERT INTO src VALUES (1, 6);
SELECT status FROM historize('src', 'local', 'id', time_axis_unit => '1 day', zone => 'Europe/Zurich', reference_timestamp => '2024-03-31 12:00 Europe/Zurich'); :sqlstate
SELECT status FROM historize('src', 'local', 'id', time_axis_unit => '1 day', zone => 'Europe/Zurich', reference_timestamp => '2024-03-31 13:00 Europe/Zurich'); :sqlstate
SELECT * FROM local ORDER BY dl_ts_captured;
-- Units that are none.
SELECT register_history('h2', 'src', 'id', time_axis_unit => '-1 ms'); :sqlstate
SELECT register_history('h2', 'src', 'id', time_axis_unit => '1 month'); :sqlstate
SELECT register_history('h2', 'src', 'id', time_axis_unit => '1 month -30 days'); :sqlstate
SELECT register_history('h2', 'src', 'id', time_axis_unit => '1 nanosecond'); :sqlstate
SELECT register_history('h2', 'src', 'id', time_axis_unit => '1ns'); :sqlstate
SET daybook.time_axis_unit = '1ns';
SELECT register_history('h2', 'src', 'id'); :sqlstate
SET daybook.time_axis_unit = '-1ms';
SELECT register_history('h2', 'src', 'id'); :sqlstate
SET daybook.time_axis_unit = '1 month';
SELECT register_history('h2', 'src', 'id'); :sqlstate
SELECT to_regclass('h2') IS NULL AS not_made;
-- The setting is for new histories; what is remembered stays.
SET daybook.time_axis_unit = '0';
CALL fresh('id integer, qty integer');
RESET daybook.time_axis_unit;
SELECT run('setting', t(1), '(1, 5)', 'loaded');
SELECT run('setting', t(2), '(1, 6)', 'loaded');
SELECT holds('setting', '1 5 T1..T2', '1 6 T2..INF');

-- A new version less than a unit after the one that it closes: refused, both instants named (X02); by late where source timestamps rule.
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '1 hour'$$);
SELECT run('less than a unit', t(1), '(1, 5)', 'loaded');
SELECT refused('less than a unit', t(1) + interval '59 minutes', '(1, 6)', '22023', '04:00:00.*04:59:00|04:59:00.*04:00:00');
SELECT run('less than a unit, no change', t(1) + interval '59 minutes', '(1, 5)', 'unchanged');
SELECT run('a unit', t(1) + interval '60 minutes', '(1, 6)', 'loaded');
SELECT holds('a unit', '1 5 T1..T1', '1 6 T1+1h..INF');
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '1 hour', source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
SELECT run('less than a unit, source', t(2), '(1, 5, t(1))', 'loaded');
SELECT run('less than a unit, source', t(3), $$(1, 6, t(1) + interval '59 minutes')$$, 'loaded late 1');
SELECT holds('less than a unit, source', '1 5 T1..T1', '1 6 T1+1h..INF');

-- The same reference twice: as if the last input had been the only one at that instant. Whatever came there before.
CREATE TABLE last_input (n integer, input text);
INSERT INTO last_input VALUES (1, '(1, 5), (2, 7)'), (2, '(1, 6), (2, 7)'), (3, '(1, 5)'), (4, '(2, 8), (3, 9)'), (5, '(3, 9), (1, 6)'), (6, '(1, 5), (2, 7), (3, 9)');
CREATE FUNCTION after(inputs text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    input text;
BEGIN
    CALL fresh('id integer, qty integer');
    INSERT INTO h VALUES (1, 5, t(0), inf()), (2, 7, t(0), inf()), (3, 9, t(-2), t(-1));
    FOREACH input IN ARRAY inputs LOOP
        PERFORM run('', t(1), input);
    END LOOP;
    RETURN ARRAY(SELECT v FROM versions() AS v ORDER BY 1);
END $$;
CREATE TABLE orders AS
SELECT a.n AS first, b.n AS second, c.n AS third, after(ARRAY[a.input, b.input, c.input]) AS as_now, after(ARRAY[c.input]) AS alone
FROM last_input AS a, last_input AS b, last_input AS c WHERE a.n IN (1, 3, 4);
SELECT count(*) AS orders, count(*) FILTER (WHERE as_now = alone) AS as_the_last_alone FROM orders;
SELECT first, second, third, as_now, alone FROM orders WHERE as_now <> alone ORDER BY 1, 2, 3 LIMIT 5;

-- Late source timestamps by the four policies, reappearance before the end of what was closed, missing and begun after the reference:
-- history_snapshot.sql. Only these four words, and none of them where nothing can be late.
SELECT register_history('h2', 'src', 'id', late => 'never'); :sqlstate

-- Change events: one version per insert or update, also when nothing differs; skip_unchanged drops those.
CALL fresh('id integer, qty integer', only_source => '_change_type text, _commit_timestamp timestamptz');
SELECT run('events', t(9), $$(1, 5, 'insert', t(1))$$, 'loaded opened 1');
SELECT run('events', t(9), $$(1, 5, 'update_postimage', t(2))$$, 'loaded opened 1 closed 1');
SELECT run('events', t(9), $$(1, 5, 'insert', t(3))$$, 'loaded opened 1 closed 1');
SELECT holds('events', '1 5 T1..T2-1ms', '1 5 T2..T3-1ms', '1 5 T3..INF');
-- The same event again (key, time, content) has no effect; a NULL time is the reference.
SELECT run('events, again', t(9), $$(1, 5, 'update_postimage', t(2))$$, 'unchanged');
SELECT run('events, null time', t(9), $$(1, 6, 'update_postimage', NULL)$$, 'loaded opened 1 closed 1');
SELECT holds('events, null time', '1 5 T1..T2-1ms', '1 5 T2..T3-1ms', '1 5 T3..T9-1ms', '1 6 T9..INF');
CALL fresh('id integer, qty integer', options => 'skip_unchanged => true', only_source => '_change_type text, _commit_timestamp timestamptz');
SELECT run('events, skip_unchanged', t(9), $$(1, 5, 'insert', t(1))$$, 'loaded opened 1');
SELECT run('events, skip_unchanged', t(9), $$(1, 5, 'update_postimage', t(2))$$, 'unchanged');
SELECT holds('events, skip_unchanged', '1 5 T1..INF');
-- What is guessed elsewhere, in full: an unknown type, none, an ordinal missing beside others, a tie with different content.
CREATE TABLE events (id integer, qty integer, _change_type text, _commit_timestamp timestamptz, _change_ordinal bigint);
INSERT INTO events VALUES (1, 5, 'insert', t(1), 1), (2, 6, 'upsert', t(1), 2), (3, 7, NULL, t(1), 3);
SELECT * FROM historize('events', 'h_events', 'id', reference_timestamp => t(9)); :sqlstate
DELETE FROM events WHERE id > 1;
INSERT INTO events VALUES (1, 6, 'update_postimage', t(1), NULL);
SELECT * FROM historize('events', 'h_events', 'id', reference_timestamp => t(9)); :sqlstate
UPDATE events SET _change_ordinal = 1;
SELECT * FROM historize('events', 'h_events', 'id', reference_timestamp => t(9)); :sqlstate
-- Several events of a key with a column of one's own.
SELECT * FROM historize('events', 'h_events', 'id', cdc_column => '_change_type', cdc_deleted_value => 'delete', cdc_timestamp_auto_detect => false, reference_timestamp => t(9)); :sqlstate
SELECT to_regclass('h_events') IS NULL AS not_made;

-- A column removed from the source: V17, X25 in history_snapshot.sql, and 88_history_columns.
-- From events to snapshots and back: X27, X28 in history_events.sql. Other lists, an older hash: X29 in 84_history_vectors_rest.
-- Columns that are not compared are stored when a version is made, and not refreshed: X30 in history_snapshot.sql.

-- Rewinding: exact for versions dated by the reference.
CALL fresh('id integer, qty integer');
SELECT run('rewind', t(1), '(1, 5), (2, 7)', 'loaded');
SELECT run('rewind', t(2), '(1, 6), (2, 7)', 'loaded');
SELECT run('rewind', t(3), '(1, 6), (3, 9)', 'loaded');
SELECT run('rewind', t(4), '(1, 5), (2, 8), (3, 9)', 'loaded');
SELECT holds('rewind', '1 5 T1..T2-1ms', '1 6 T2..T4-1ms', '1 5 T4..INF', '2 7 T1..T3-1ms', '2 8 T4..INF', '3 9 T3..INF');
SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('h', t(2), dry_run => true);
SELECT holds('rewind, dry run', '1 5 T1..T2-1ms', '1 6 T2..T4-1ms', '1 5 T4..INF', '2 7 T1..T3-1ms', '2 8 T4..INF', '3 9 T3..INF');
SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('h', t(2));
SELECT holds('rewind', '1 5 T1..T2-1ms', '1 6 T2..INF', '2 7 T1..INF');
SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('h', t(2));
-- And on again, as before.
SELECT run('rewind', t(3), '(1, 6), (3, 9)', 'loaded');
SELECT holds('rewind, and on', '1 5 T1..T2-1ms', '1 6 T2..INF', '2 7 T1..T3-1ms', '3 9 T3..INF');
-- To between two runs, and before the first.
SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('h', t(2) + interval '1 hour');
SELECT holds('rewind, between', '1 5 T1..T2-1ms', '1 6 T2..INF', '2 7 T1..INF');
SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('h', t(0));
SELECT holds('rewind, all');
-- Half-open.
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '0'$$);
SELECT run('rewind half-open', t(1), '(1, 5), (2, 7)', 'loaded');
SELECT run('rewind half-open', t(2), '(1, 6)', 'loaded');
SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('h', t(1));
SELECT holds('rewind half-open', '1 5 T1..INF', '2 7 T1..INF');
-- Refused, with counts, where versions dated by the source make it ambiguous.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
SELECT run('rewind, source', t(5), '(1, 5, t(1))', 'loaded');
SELECT run('rewind, source', t(6), '(1, 6, t(3))', 'loaded');
SELECT * FROM rewind_history('h', t(2)); :sqlstate
SELECT holds('rewind, source', '1 5 T1..T3-1ms', '1 6 T3..INF');
