-- Snapshots, step by step; what is expected stands beside each. Runs on every variant of the target.
\set ECHO none

-- V01 first load, V02 update: a key of two columns.
CALL fresh('id text, nm text, qty integer', 'id, nm');
SELECT run('V01', t(1), $$('a', 'x', 5)$$, 'loaded mode snapshot read 1 opened 1 closed 0 unchanged 0 reappeared 0 late 0');
SELECT holds('V01', 'a x 5 T1..INF');
SELECT run('V02', t(2), $$('a', 'x', 10)$$, 'loaded mode snapshot read 1 opened 1 closed 1 unchanged 0 reappeared 0 late 0');
SELECT holds('V02', 'a x 5 T1..T2-1ms', 'a x 10 T2..INF');

-- V05 identical reload.
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
SELECT run('V05', t(1), $$(1, 23, 'ok'), (2, 27, 'ok')$$, 'unchanged mode snapshot read 2 opened 0 closed 0 unchanged 2');
SELECT holds('V05', '1 23 ok T0..INF', '2 27 ok T0..INF');

-- V06 other column order.
DROP TABLE src;
CREATE TABLE src (st text, qty integer, id integer);
SELECT run('V06', t(2), $$('ok', 27, 2), ('ok', 23, 1)$$, 'unchanged read 2 opened 0 closed 0 unchanged 2');
SELECT holds('V06', '1 23 ok T0..INF', '2 27 ok T0..INF');

-- V07 one of two changed; the closed version keeps what it held.
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
SELECT run('V07', t(1), $$(1, 23, 'bad'), (2, 27, 'ok')$$, 'loaded read 2 opened 1 closed 1 unchanged 1');
SELECT holds('V07', '1 23 ok T0..T1-1ms', '1 23 bad T1..INF', '2 27 ok T0..INF');

-- V08 record missing.
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
SELECT run('V08', t(1), $$(2, 27, 'ok')$$, 'loaded read 1 opened 0 closed 1 unchanged 1');
SELECT holds('V08', '1 23 ok T0..T1-1ms', '2 27 ok T0..INF');

-- V09 record added.
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
SELECT run('V09', t(1), $$(1, 23, 'ok'), (2, 27, 'ok'), (3, 54, 'ok')$$, 'loaded read 3 opened 1 closed 0 unchanged 2 reappeared 0');
SELECT holds('V09', '1 23 ok T0..INF', '2 27 ok T0..INF', '3 54 ok T1..INF');

-- V10 reappearing record, with another value and with the same; the gap stays.
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, 23, 'ok', t(2), inf()), (2, 27, 'ok', t(0), t(1));
SELECT run('V10', t(3), $$(1, 23, 'ok'), (2, 28, 'ok')$$, 'loaded read 2 opened 1 closed 0 unchanged 1 reappeared 1');
SELECT holds('V10', '1 23 ok T2..INF', '2 27 ok T0..T1', '2 28 ok T3..INF');
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, 23, 'ok', t(2), inf()), (2, 27, 'ok', t(0), t(1));
SELECT run('V10 same value', t(3), $$(1, 23, 'ok'), (2, 27, 'ok')$$, 'loaded opened 1 closed 0 reappeared 1');
SELECT holds('V10 same value', '1 23 ok T2..INF', '2 27 ok T0..T1', '2 27 ok T3..INF');

-- V11 a null moves between columns of different types, V12 of the same type.
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, NULL, 'ok', t(0), inf());
SELECT run('V11', t(1), $$(1, 23, NULL)$$, 'loaded opened 1 closed 1');
SELECT holds('V11', '1 null ok T0..T1-1ms', '1 23 null T1..INF');
CALL fresh('id integer, c1 text, c2 text');
INSERT INTO h VALUES (1, NULL, 'v', t(0), inf());
SELECT run('V12', t(1), $$(1, 'v', NULL)$$, 'loaded opened 1 closed 1');
SELECT holds('V12', '1 null v T0..T1-1ms', '1 v null T1..INF');
-- The same once more, from what daybook itself has written.
SELECT run('V12 again', t(2), $$(1, 'v', NULL)$$, 'unchanged');
SELECT run('V12 back', t(3), $$(1, NULL, 'v')$$, 'loaded opened 1 closed 1');
SELECT holds('V12 back', '1 null v T0..T1-1ms', '1 v null T1..T3-1ms', '1 null v T3..INF');

-- V17, X25 a column that the source no longer has is kept, is not compared, and is null in new versions.
CALL fresh('id integer, qty integer, st text');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
DROP TABLE src;
CREATE TABLE src (id integer, qty integer);
SELECT run('V17', t(1), '(1, 23), (2, 27)', 'unchanged unchanged 2');
SELECT holds('V17', '1 23 ok T0..INF', '2 27 ok T0..INF');
SELECT run('X25', t(2), '(1, 24), (2, 27)', 'loaded opened 1 closed 1 unchanged 1');
SELECT holds('X25', '1 23 ok T0..T2-1ms', '1 24 null T2..INF', '2 27 ok T0..INF');

-- V18 half-open: one ends where the next begins.
CALL fresh('id integer, qty integer, st text', options => $$time_axis_unit => '0'$$);
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
SELECT run('V18', t(1), $$(1, 23, 'bad'), (2, 27, 'ok')$$, 'loaded opened 1 closed 1 unchanged 1');
SELECT holds('V18', '1 23 ok T0..T1', '1 23 bad T1..INF', '2 27 ok T0..INF');
SELECT run('V18 missing', t(2), $$(2, 27, 'ok')$$, 'loaded opened 0 closed 1');
SELECT holds('V18 missing', '1 23 ok T0..T1', '1 23 bad T1..T2', '2 27 ok T0..INF');

-- V20 a run without changes says so.
CALL fresh('id text, nm text, qty integer', 'id, nm');
SELECT run('V20', t(1), $$('a', 'x', 5)$$, 'loaded opened 1');
SELECT run('V20', t(2), $$('a', 'x', 10)$$, 'loaded opened 1 closed 1');
SELECT run('V20', t(3), $$('a', 'x', 10)$$, 'unchanged opened 0 closed 0');
SELECT holds('V20', 'a x 5 T1..T2-1ms', 'a x 10 T2..INF');

-- V21 to V25 uniqueness.
CALL fresh('id integer, qty integer, st text');
SELECT run('V21', t(1), $$(1, 23, 'ok'), (2, 27, 'ok'), (3, 54, 'ok')$$, 'loaded read 3 opened 3');
SELECT holds('V21', '1 23 ok T1..INF', '2 27 ok T1..INF', '3 54 ok T1..INF');
SELECT refused('V22', t(2), $$(1, 23, 'ok'), (2, 27, 'ok'), (1, 24, 'bad')$$, '21000', 'id.*1');
-- With the whole row twice, too.
SELECT refused('V22 equal rows', t(2), $$(1, 23, 'ok'), (1, 23, 'ok')$$, '21000');
CALL fresh('id integer, qty integer, st text', options => 'check_input_unique => false');
SELECT run('V23', t(1), $$(1, 23, 'ok'), (2, 27, 'ok'), (1, 24, 'bad')$$, 'loaded read 3 opened 2');
SELECT differences('SELECT id, dl_ts_captured::timestamptz FROM h', 'VALUES (1, t(1)), (2, t(1))', 'V23');
-- Whatever the order of the input, the same row is kept.
SELECT run('V23 again', t(2), $$(1, 24, 'bad'), (2, 27, 'ok'), (1, 23, 'ok')$$, 'unchanged opened 0 closed 0');
CALL fresh('id integer, qty integer, st text', options => $$check_input_unique => false, dedup_order_by => 'qty desc'$$);
SELECT run('V23 by order', t(1), $$(1, 23, 'ok'), (2, 27, 'ok'), (1, 24, 'bad'), (1, 22, 'ok')$$, 'loaded read 4 opened 2');
SELECT holds('V23 by order', '1 24 bad T1..INF', '2 27 ok T1..INF');
CALL fresh('c text, d text, qty integer', 'c, d');
SELECT run('V24', t(1), $$('A', 'm', 1), ('A', 'n', 2), ('B', 'o', 3)$$, 'loaded opened 3');
SELECT holds('V24', 'A m 1 T1..INF', 'A n 2 T1..INF', 'B o 3 T1..INF');
SELECT refused('V25', t(2), $$('A', 'm', 1), ('A', 'n', 2), ('A', 'm', 3)$$, '21000', 'c.*d');

-- V26 source timestamps: the new version starts there; a timestamp that changes alone is no change.
CALL fresh('id integer, qty integer, st text', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
SELECT run('V26', t(2), $$(1, 23, 'bad', t(1)), (2, 27, 'ok', t(1))$$, 'loaded mode snapshot opened 1 closed 1 unchanged 1 late 0');
SELECT holds('V26', '1 23 ok T0..T1-1ms', '1 23 bad T1..INF', '2 27 ok T0..INF');
-- V27 a missing one is closed relative to the reference.
CALL fresh('id integer, qty integer, st text', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf()), (2, 27, 'ok', t(0), inf());
SELECT run('V27', t(2), $$(2, 27, 'ok', t(1))$$, 'loaded opened 0 closed 1 unchanged 1');
SELECT holds('V27', '1 23 ok T0..T2-1ms', '2 27 ok T0..INF');
-- V28 late: delayed to the tick after the one that it replaces.
CALL fresh('id integer, qty integer, st text', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf());
SELECT run('V28', t(2), $$(1, 23, 'bad', t(-1))$$, 'loaded opened 1 closed 1 late 1');
SELECT holds('V28', '1 23 ok T0..T0', '1 23 bad T0+1ms..INF');
-- V29 first load: each starts at its own. X07: without one, at the reference.
CALL fresh('id integer, qty integer, st text', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
SELECT run('V29', t(6), $$(1, 23, 'ok', t(5)), (2, 27, 'ok', t(1)), (3, 54, 'ok', NULL)$$, 'loaded opened 3 late 0');
SELECT holds('V29', '1 23 ok T5..INF', '2 27 ok T1..INF', '3 54 ok T6..INF');
SELECT run('X07', t(7), $$(1, 23, 'ok', t(5)), (2, 27, 'ok', t(1)), (3, 55, 'ok', NULL)$$, 'loaded opened 1 closed 1 late 0');
SELECT holds('X07', '1 23 ok T5..INF', '2 27 ok T1..INF', '3 54 ok T6..T7-1ms', '3 55 ok T7..INF');
-- V30 four runs, the last one late.
CALL fresh('id text, nm text, qty integer', 'id, nm', $$source_timestamp_column => 'lu'$$, 'lu timestamptz');
SELECT run('V30', t(5), $$('a', 'x', 5, t(1))$$, 'loaded opened 1');
SELECT holds('V30', 'a x 5 T1..INF');
SELECT run('V30', t(6), $$('a', 'x', 10, t(3))$$, 'loaded opened 1 closed 1');
SELECT holds('V30', 'a x 5 T1..T3-1ms', 'a x 10 T3..INF');
SELECT run('V30', t(7), $$('a', 'x', 10, t(4))$$, 'unchanged opened 0 closed 0');
SELECT run('V30', t(8), $$('a', 'x', 20, t(2))$$, 'loaded opened 1 closed 1 late 1');
SELECT holds('V30', 'a x 5 T1..T3-1ms', 'a x 10 T3..T3', 'a x 20 T3+1ms..INF');
-- V31 without the option such a column is data.
CALL fresh('id text, nm text, qty integer, lu integer', 'id, nm');
SELECT run('V31', t(1), $$('a', 'x', 5, 1)$$, 'loaded opened 1');
SELECT run('V31', t(2), $$('a', 'x', 5, 2)$$, 'loaded opened 1 closed 1');
SELECT holds('V31', 'a x 5 1 T1..T2-1ms', 'a x 5 2 T2..INF');
-- A source timestamp without time zone is a local time of the history's zone.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', zone => 'Europe/Zurich'$$, only_source => 'lu timestamp');
SELECT run('V29 local', t(6), $$(1, 23, '2024-03-02 05:00:00')$$, 'loaded opened 1');
SELECT CASE WHEN (SELECT atttypid FROM pg_attribute WHERE attrelid = 'h'::regclass AND attname = 'dl_ts_captured') = 'timestamptz'::regtype
            THEN (SELECT string_agg(d, ', ') FROM holds('V29 local', '1 23 T1..INF') AS d)
            ELSE (SELECT string_agg(d, ', ') FROM differences('SELECT dl_ts_captured FROM h', $$VALUES ('2024-03-02 05:00:00'::timestamp)$$, 'V29 local') AS d) END;

-- X01 the same instant again: as if only the last input had come.
CALL fresh('id integer, qty integer');
SELECT run('X01', t(1), '(1, 5), (2, 7)', 'loaded opened 2');
SELECT run('X01', t(1), '(1, 5), (2, 7)', 'unchanged opened 0 closed 0 unchanged 2');
SELECT holds('X01 same', '1 5 T1..INF', '2 7 T1..INF');
SELECT run('X01', t(1), '(1, 6), (2, 7)', 'loaded unchanged 1');
SELECT holds('X01 replaced', '1 6 T1..INF', '2 7 T1..INF');
SELECT run('X01', t(1), '(1, 6), (3, 9)', 'loaded unchanged 1');
SELECT holds('X01 withdrawn', '1 6 T1..INF', '3 9 T1..INF');
SELECT run('X01', t(2), '(1, 8), (3, 9)', 'loaded opened 1 closed 1');
SELECT holds('X01 next', '1 6 T1..T2-1ms', '1 8 T2..INF', '3 9 T1..INF');
SELECT run('X01', t(2), '(1, 7), (3, 9)', 'loaded');
SELECT holds('X01 replaced again', '1 6 T1..T2-1ms', '1 7 T2..INF', '3 9 T1..INF');
SELECT run('X01', t(2), '(1, 6), (3, 9)', 'loaded');
SELECT holds('X01 reopened', '1 6 T1..INF', '3 9 T1..INF');
SELECT run('X01', t(2), '(1, 8)', 'loaded');
SELECT holds('X01 closed', '1 6 T1..T2-1ms', '1 8 T2..INF', '3 9 T1..T2-1ms');
SELECT run('X01', t(2), '(3, 9)', 'loaded');
SELECT holds('X01 the other way', '1 6 T1..T2-1ms', '3 9 T1..INF');
SELECT run('X01', t(2), '(1, 6), (3, 10)', 'loaded');
SELECT holds('X01 back again', '1 6 T1..INF', '3 9 T1..T2-1ms', '3 10 T2..INF');
-- With half-open intervals.
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '0'$$);
SELECT run('X01 half-open', t(1), '(1, 5), (2, 7)', 'loaded opened 2');
SELECT run('X01 half-open', t(2), '(1, 6)', 'loaded opened 1 closed 2');
SELECT run('X01 half-open', t(2), '(1, 5), (2, 8)', 'loaded');
SELECT holds('X01 half-open', '1 5 T1..INF', '2 7 T1..T2', '2 8 T2..INF');
SELECT run('X01 half-open', t(2), '(2, 7)', 'loaded');
SELECT holds('X01 half-open', '1 5 T1..T2', '2 7 T1..INF');

-- X02 a unit of a day, two changes in one: refused, both instants named.
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '1 day'$$);
SELECT run('X02', t(0) + interval '4 hours', '(1, 5)', 'loaded opened 1');
SELECT refused('X02', t(0) + interval '16 hours', '(1, 6)', '22023', '2024-03-01 (08:00.*2024-03-01 20:00|20:00.*2024-03-01 08:00)');
SELECT holds('X02', '1 5 T0+4h..INF');
SELECT refused('X02 missing', t(0) + interval '16 hours', '(2, 6)', '22023', '2024-03-01 (08:00.*2024-03-01 20:00|20:00.*2024-03-01 08:00)');
SELECT run('X02 a day later', t(1) + interval '4 hours', '(1, 6)', 'loaded opened 1 closed 1');
SELECT holds('X02 a day later', '1 5 T0+4h..T0+4h', '1 6 T1+4h..INF');

-- X03 a reference finer than the unit is cut down to it: no hole.
CALL fresh('id integer, qty integer');
SELECT run('X03', t(0), '(1, 5)', 'loaded opened 1');
SELECT run('X03', t(1) + interval '0.800645 seconds', '(1, 6)', 'loaded opened 1 closed 1');
SELECT holds('X03', '1 5 T0..T1+799ms', '1 6 T1+800ms..INF');
-- Within the same millisecond it is the same instant.
SELECT run('X03 same tick', t(1) + interval '0.800999 seconds', '(1, 7)', 'loaded');
SELECT holds('X03 same tick', '1 5 T0..T1+799ms', '1 7 T1+800ms..INF');
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '0'$$);
SELECT run('X03 half-open', t(0), '(1, 5)', 'loaded opened 1');
SELECT run('X03 half-open', t(1) + interval '0.800645 seconds', '(1, 6)', 'loaded opened 1 closed 1');
SELECT holds('X03 half-open', '1 5 T0..T1+800645us', '1 6 T1+800645us..INF');
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '1 microsecond'$$);
SELECT run('X03 microseconds', t(0), '(1, 5)', 'loaded opened 1');
SELECT run('X03 microseconds', t(1) + interval '0.800645 seconds', '(1, 6)', 'loaded opened 1 closed 1');
SELECT holds('X03 microseconds', '1 5 T0..T1+800644us', '1 6 T1+800645us..INF');
-- A unit of a second or more only spaces: nothing is cut.
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '1 second'$$);
SELECT run('X03 seconds', t(0), '(1, 5)', 'loaded opened 1');
SELECT run('X03 seconds', t(1) + interval '0.8 seconds', '(1, 6)', 'loaded opened 1 closed 1');
SELECT holds('X03 seconds', '1 5 T0..T1-200ms', '1 6 T1+800ms..INF');

-- X04 a reference older than an instant at which a version ended is refused, both named; so is one older than a begin.
CALL fresh('id integer, qty integer');
SELECT run('X04', t(1), '(1, 5), (2, 7)', 'loaded opened 2');
SELECT run('X04', t(5), '(2, 7)', 'loaded opened 0 closed 1');
SELECT refused('X04', t(3), '(1, 5), (2, 7)', '22023', '2024-03-(04.*2024-03-06|06.*2024-03-04)');
SELECT run('X04 at that instant', t(5), '(1, 5), (2, 7)', 'loaded');
SELECT holds('X04 at that instant', '1 5 T1..INF', '2 7 T1..INF');
CALL fresh('id integer, qty integer');
SELECT run('X04 older than a begin', t(3), '(1, 5)', 'loaded opened 1');
SELECT refused('X04 older than a begin', t(2), '(1, 6)', '22023', '2024-03-(03.*2024-03-04|04.*2024-03-03)');
SELECT refused('X04 older, nothing changed', t(2), '(1, 5)', '22023');

-- A run that found nothing new is known as well: what was true before it is written down. A skipped one says nothing.
CALL fresh('id integer, qty integer', options => $$on_empty => 'skip'$$);
SELECT run('X04 after no change', t(1), '(1, 5)', 'loaded opened 1');
SELECT run('X04 after no change', t(5), '(1, 5)', 'unchanged');
SELECT run('X04 after no change', t(8), '', 'skipped');
SELECT refused('X04 after no change', t(3), '(1, 6)', '22023', '2024-03-(04.*2024-03-06|06.*2024-03-04)');
SELECT run('X04 after no change', t(6), '(1, 6)', 'loaded opened 1 closed 1');
SELECT holds('X04 after no change', '1 5 T1..T6-1ms', '1 6 T6..INF');
-- A table that was emptied begins anew.
DELETE FROM h;
SELECT run('X04 emptied', t(2), '(1, 6)', 'loaded opened 1');
SELECT holds('X04 emptied', '1 6 T2..INF');

-- X05 a deleted record comes back with a source timestamp within its last version: it starts one tick after that one's end.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(1), t(3) - interval '1 ms');
SELECT run('X05', t(4), '(1, 5, t(1))', 'loaded opened 1 closed 0 reappeared 1 late 1');
SELECT holds('X05', '1 5 T1..T3-1ms', '1 5 T3..INF');
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(1), t(3) - interval '1 ms');
SELECT run('X05 in time', t(5), '(1, 5, t(4))', 'loaded opened 1 closed 0 reappeared 1 late 0');
SELECT holds('X05 in time', '1 5 T1..T3-1ms', '1 5 T4..INF');
-- That holds for every kind of late but insert, as nothing is dropped there.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', late => 'ignore'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(1), t(3) - interval '1 ms');
SELECT run('X05 ignore', t(4), '(1, 5, t(1))', 'loaded opened 1 reappeared 1');
SELECT holds('X05 ignore', '1 5 T1..T3-1ms', '1 5 T3..INF');

-- X06 missing, but begun after the reference: closed one tick after it began.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu'$$, only_source => 'lu timestamptz');
SELECT run('X06', t(1), $$(1, 5, t(1) + interval '1 hour'), (2, 7, t(0))$$, 'loaded opened 2');
SELECT run('X06', t(1) + interval '30 minutes', '(2, 7, t(0))', 'loaded opened 0 closed 1');
SELECT holds('X06', '1 5 T1+1h..T1+1h', '2 7 T0..INF');
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', time_axis_unit => '0'$$, only_source => 'lu timestamptz');
SELECT run('X06 half-open', t(1), $$(1, 5, t(1) + interval '1 hour'), (2, 7, t(0))$$, 'loaded opened 2');
SELECT run('X06 half-open', t(1) + interval '30 minutes', '(2, 7, t(0))', 'loaded opened 0 closed 1');
SELECT holds('X06 half-open', '1 5 T1+1h..T1+3600000001us', '2 7 T0..INF');

-- X08 late on a half-open axis: delayed by a microsecond.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', time_axis_unit => '0'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(2), inf());
SELECT run('X08', t(3), '(1, 6, t(1))', 'loaded opened 1 closed 1 late 1');
SELECT holds('X08', '1 5 T2..T2+1us', '1 6 T2+1us..INF');
SELECT run('X08 next', t(4), '(1, 7, t(4))', 'loaded opened 1 closed 1 late 0');
SELECT holds('X08 next', '1 5 T2..T2+1us', '1 6 T2+1us..T4', '1 7 T4..INF');

-- What is late by the other three policies. Ignored:
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', late => 'ignore'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(2), inf()), (2, 7, t(2), inf());
SELECT run('late ignore', t(4), '(1, 6, t(1)), (2, 8, t(3))', 'loaded opened 1 closed 1 late 1');
SELECT holds('late ignore', '1 5 T2..INF', '2 7 T2..T3-1ms', '2 8 T3..INF');
-- The instant of the begin itself is late too.
SELECT run('late ignore', t(5), '(1, 6, t(2)), (2, 8, t(3))', 'unchanged late 1');
-- An error:
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', late => 'error'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(2), inf()), (2, 7, t(2), inf());
SELECT refused('late error', t(4), '(1, 6, t(1)), (2, 8, t(3))', '23514', '1');
SELECT run('late error, but no change', t(4), '(1, 5, t(1)), (2, 8, t(3))', 'loaded opened 1 closed 1 late 0');
SELECT holds('late error, but no change', '1 5 T2..INF', '2 7 T2..T3-1ms', '2 8 T3..INF');
-- At its true place: within a version, which it cuts and whose end it takes over.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', late => 'insert'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(1), t(4) - interval '1 ms'), (1, 6, t(4), inf());
SELECT run('late insert', t(6), '(1, 9, t(2))', 'loaded late 1');
SELECT holds('late insert', '1 5 T1..T2-1ms', '1 9 T2..T4-1ms', '1 6 T4..INF');
-- Where a version begins: replaced, and keeps its end.
SELECT run('late insert at a begin', t(6), '(1, 10, t(2))', 'loaded late 1');
SELECT holds('late insert at a begin', '1 5 T1..T2-1ms', '1 10 T2..T4-1ms', '1 6 T4..INF');
SELECT run('late insert at the last begin', t(6), '(1, 11, t(4))', 'loaded late 1');
SELECT holds('late insert at the last begin', '1 5 T1..T2-1ms', '1 10 T2..T4-1ms', '1 11 T4..INF');
-- Equal to what covers it: nothing.
SELECT run('late insert, equal', t(6), '(1, 10, t(3))', 'unchanged opened 0 closed 0');
SELECT holds('late insert, equal', '1 5 T1..T2-1ms', '1 10 T2..T4-1ms', '1 11 T4..INF');
-- Before the first.
SELECT run('late insert before all', t(6), '(1, 3, t(0))', 'loaded late 1');
SELECT holds('late insert before all', '1 3 T0..T1-1ms', '1 5 T1..T2-1ms', '1 10 T2..T4-1ms', '1 11 T4..INF');
-- Into a gap.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', late => 'insert'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(0), t(1)), (1, 6, t(4), inf());
SELECT run('late insert into a gap', t(6), '(1, 9, t(2))', 'loaded late 1');
SELECT holds('late insert into a gap', '1 5 T0..T1', '1 9 T2..T4-1ms', '1 6 T4..INF');
-- Half-open.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', late => 'insert', time_axis_unit => '0'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(1), t(4)), (1, 6, t(4), inf());
SELECT run('late insert half-open', t(6), '(1, 9, t(2))', 'loaded late 1');
SELECT holds('late insert half-open', '1 5 T1..T2', '1 9 T2..T4', '1 6 T4..INF');
-- No room of a tick.
CALL fresh('id integer, qty integer', options => $$source_timestamp_column => 'lu', late => 'insert', time_axis_unit => '1 hour'$$, only_source => 'lu timestamptz');
INSERT INTO h VALUES (1, 5, t(1), inf());
SELECT refused('late insert without room', t(6), $$(1, 9, t(1) - interval '30 minutes')$$, '22023');
SELECT refused('late insert without room', t(6), $$(1, 9, t(1) + interval '30 minutes')$$, '22023');
SELECT run('late insert with room', t(6), $$(1, 9, t(1) - interval '1 hour')$$, 'loaded late 1');
SELECT holds('late insert with room', '1 9 T1-1h..T1-1h', '1 5 T1..INF');

-- X19, X20 a null in a key is refused.
CALL fresh('c integer, d text, qty integer', 'c, d');
SELECT refused('X19', t(1), $$(1, NULL, 5), (2, 'b', 6)$$, '23502', 'd');
SELECT refused('X20', t(1), $$(1, NULL, 5), (1, NULL, 5)$$, '23502', 'd');

-- X21 what the predicate leaves out is neither compared nor closed, and may not be delivered. X22 it is one condition, or and all.
CALL fresh('id integer, qty integer, st text', options => $$existing_predicate => 'existing.qty < 100'$$);
INSERT INTO h VALUES (1, 500, 'ok', t(0), inf()), (2, 5, 'ok', t(0), inf()), (3, 6, 'ok', t(0), inf());
SELECT refused('X21', t(5), $$(1, 6, 'ok'), (2, 6, 'ok')$$, '23514', '1');
SELECT run('X21', t(5), $$(2, 6, 'ok')$$, 'loaded opened 1 closed 2');
SELECT holds('X21', '1 500 ok T0..INF', '2 5 ok T0..T5-1ms', '2 6 ok T5..INF', '3 6 ok T0..T5-1ms');
CALL fresh('id integer, qty integer, st text', options => $$existing_predicate => 'existing.qty < 100 or existing.st = ''x'''$$);
INSERT INTO h VALUES (1, 500, 'ok', t(0), inf()), (2, 5, 'ok', t(0), inf()), (3, 500, 'x', t(0), inf());
SELECT run('X22', t(5), $$(2, 6, 'ok')$$, 'loaded opened 1 closed 2');
SELECT holds('X22', '1 500 ok T0..INF', '2 5 ok T0..T5-1ms', '2 6 ok T5..INF', '3 500 x T0..T5-1ms');

-- X23 what a delivery promises: with delta nothing is closed; with a scope only what belongs to the delivered values.
CALL fresh('id integer, qty integer, st text', options => $$delivery => 'delta'$$);
INSERT INTO h VALUES (1, 5, 'A', t(0), inf()), (2, 5, 'A', t(0), inf()), (3, 5, 'B', t(0), inf());
SELECT run('X23', t(1), $$(1, 6, 'A')$$, 'loaded opened 1 closed 1');
SELECT holds('X23', '1 5 A T0..T1-1ms', '1 6 A T1..INF', '2 5 A T0..INF', '3 5 B T0..INF');
-- At the same instant again, what is not delivered stays.
SELECT run('X23 same instant', t(1), $$(2, 7, 'A')$$, 'loaded opened 1 closed 1');
SELECT holds('X23 same instant', '1 5 A T0..T1-1ms', '1 6 A T1..INF', '2 5 A T0..T1-1ms', '2 7 A T1..INF', '3 5 B T0..INF');
CALL fresh('id integer, qty integer, st text', options => $$delivery_scope => 'st'$$);
INSERT INTO h VALUES (1, 5, 'A', t(0), inf()), (2, 5, 'A', t(0), inf()), (3, 5, 'B', t(0), inf()), (4, 5, NULL, t(0), inf());
SELECT run('X23 scope', t(1), $$(1, 6, 'A')$$, 'loaded opened 1 closed 2');
SELECT holds('X23 scope', '1 5 A T0..T1-1ms', '1 6 A T1..INF', '2 5 A T0..T1-1ms', '3 5 B T0..INF', '4 5 null T0..INF');
-- NULL is such a value as well.
SELECT run('X23 scope null', t(2), '(5, 5, NULL)', 'loaded opened 1 closed 1');
SELECT holds('X23 scope null', '1 5 A T0..T1-1ms', '1 6 A T1..INF', '2 5 A T0..T1-1ms', '3 5 B T0..INF', '4 5 null T0..T2-1ms', '5 5 null T2..INF');

-- X24 an empty input.
CALL fresh('id integer, qty integer');
INSERT INTO h VALUES (1, 5, t(0), inf()), (2, 7, t(0), inf());
SELECT refused('X24', t(1), '', 'P0002');
CALL fresh('id integer, qty integer', options => $$on_empty => 'close'$$);
INSERT INTO h VALUES (1, 5, t(0), inf()), (2, 7, t(0), inf());
SELECT run('X24 close', t(1), '', 'loaded read 0 opened 0 closed 2');
SELECT holds('X24 close', '1 5 T0..T1-1ms', '2 7 T0..T1-1ms');
CALL fresh('id integer, qty integer', options => $$on_empty => 'skip'$$);
INSERT INTO h VALUES (1, 5, t(0), inf()), (2, 7, t(0), inf());
SELECT run('X24 skip', t(1), '', 'skipped read 0 opened 0 closed 0');
SELECT holds('X24 skip', '1 5 T0..INF', '2 7 T0..INF');
CALL fresh('id integer, qty integer', options => $$delivery => 'delta'$$);
INSERT INTO h VALUES (1, 5, t(0), inf());
SELECT run('X24 delta', t(1), '', 'skipped read 0 opened 0 closed 0');
SELECT holds('X24 delta', '1 5 T0..INF');
CALL fresh('id integer, qty integer, st text', options => $$delivery_scope => 'st'$$);
INSERT INTO h VALUES (1, 5, 'A', t(0), inf());
SELECT run('X24 scope', t(1), '', 'skipped read 0 opened 0 closed 0');
SELECT holds('X24 scope', '1 5 A T0..INF');
CALL fresh('id integer, qty integer', options => $$delivery => 'delta', on_empty => 'error'$$);
SELECT refused('X24 delta, error', t(1), '', 'P0002');

-- X30 a column that is not compared is stored when a version is made, and not refreshed.
CALL fresh('id integer, qty integer, st text', options => $$historize_blacklist => 'st'$$);
INSERT INTO h VALUES (1, 5, 'a', t(0), inf());
SELECT run('X30', t(1), $$(1, 5, 'b')$$, 'unchanged opened 0 closed 0 unchanged 1');
SELECT holds('X30', '1 5 a T0..INF');
SELECT run('X30 with a change', t(2), $$(1, 6, 'c')$$, 'loaded opened 1 closed 1');
SELECT holds('X30 with a change', '1 5 a T0..T2-1ms', '1 6 c T2..INF');
CALL fresh('id integer, qty integer, st text', options => $$historize_whitelist => 'qty'$$);
INSERT INTO h VALUES (1, 5, 'a', t(0), inf());
SELECT run('whitelist', t(1), $$(1, 5, 'b')$$, 'unchanged opened 0 closed 0 unchanged 1');
SELECT run('whitelist', t(2), $$(1, 6, 'c')$$, 'loaded opened 1 closed 1');
SELECT holds('whitelist', '1 5 a T0..T2-1ms', '1 6 c T2..INF');

-- More than may be closed.
CALL fresh('id integer, qty integer', options => 'max_closed_percent => 40');
INSERT INTO h VALUES (1, 5, t(0), inf()), (2, 5, t(0), inf()), (3, 5, t(0), inf()), (4, 5, t(0), inf()), (5, 5, t(0), inf()), (6, 5, t(-3), t(-2));
SELECT refused('max_closed_percent', t(1), '(1, 5), (2, 5)', '23514', '60');
-- Those that go on in a new version do not count.
SELECT run('max_closed_percent', t(1), '(1, 6), (2, 6), (3, 6)', 'loaded opened 3 closed 5');
SELECT holds('max_closed_percent', '1 5 T0..T1-1ms', '1 6 T1..INF', '2 5 T0..T1-1ms', '2 6 T1..INF', '3 5 T0..T1-1ms', '3 6 T1..INF', '4 5 T0..T1-1ms', '5 5 T0..T1-1ms', '6 5 T-3..T-2');

-- A table that grows over many runs: deleted and back, and back again.
CALL fresh('id integer, qty integer');
SELECT run('many runs', t(1), '(1, 1), (2, 1)', 'loaded opened 2 closed 0');
SELECT run('many runs', t(2), '(2, 2)', 'loaded opened 1 closed 2');
SELECT run('many runs', t(3), '(1, 1), (2, 2)', 'loaded opened 1 closed 0 reappeared 1 unchanged 1');
SELECT run('many runs', t(4), '(2, 2)', 'loaded opened 0 closed 1');
SELECT run('many runs', t(5), '(1, 3), (2, 2)', 'loaded opened 1 closed 0 reappeared 1');
SELECT holds('many runs', '1 1 T1..T2-1ms', '2 1 T1..T2-1ms', '2 2 T2..INF', '1 1 T3..T4-1ms', '1 3 T5..INF');
-- The dry run says the same and does nothing.
SELECT run('dry run', t(6), '(1, 4), (3, 1)', 'planned mode snapshot read 2 opened 2 closed 2 run_id', 'dry_run => true');
SELECT holds('dry run', '1 1 T1..T2-1ms', '2 1 T1..T2-1ms', '2 2 T2..INF', '1 1 T3..T4-1ms', '1 3 T5..INF');
SELECT run('dry run', t(6), '(1, 4), (3, 1)', 'loaded read 2 opened 2 closed 2');
\set ECHO all
