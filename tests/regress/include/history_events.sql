-- Change events, step by step; what is expected stands beside each. Runs on every variant of the target.
\set ECHO none
\set standard '''_change_type text, _commit_timestamp timestamptz, _change_ordinal bigint'''
\set custom '$$cdc_column => ''op'', cdc_deleted_value => ''deleted''$$'

-- V33, V34 a column of the source's own: an upsert closes the version that there is and opens one, a delete closes.
CALL fresh('id integer, qty integer, st text', options => :custom, only_source => 'op text');
INSERT INTO h VALUES (1, 5, 'ok', t(0), inf()), (3, 5, 'ok', t(0), inf());
SELECT run('V33', t(1), $$(1, 6, 'ok', 'new'), (2, 7, 'ok', 'new')$$, 'loaded mode events read 2 opened 2 closed 1');
SELECT holds('V33', '1 5 ok T0..T1-1ms', '1 6 ok T1..INF', '2 7 ok T1..INF', '3 5 ok T0..INF');
SELECT run('V34', t(2), $$(1, 6, 'ok', 'deleted')$$, 'loaded mode events read 1 opened 0 closed 1');
SELECT holds('V34', '1 5 ok T0..T1-1ms', '1 6 ok T1..T2-1ms', '2 7 ok T1..INF', '3 5 ok T0..INF');

-- V35 three runs; the third, with another column, is for targets that can get one.
CALL fresh('id text, nm text, qty integer', 'id, nm', :custom, 'op text');
SELECT run('V35', t(1), $$('a', 'x', 5, 'new'), ('b', 'y', 5, 'new')$$, 'loaded mode events opened 2 closed 0');
SELECT holds('V35', 'a x 5 T1..INF', 'b y 5 T1..INF');
SELECT run('V35', t(2), $$('a', 'x', 10, 'updated'), ('b', 'y', 5, 'deleted')$$, 'loaded opened 1 closed 2');
SELECT holds('V35', 'a x 5 T1..T2-1ms', 'a x 10 T2..INF', 'b y 5 T1..T2-1ms');
SELECT variant NOT IN ('foreign', 'mixed') AS evolves FROM given \gset
\if :evolves
DROP TABLE src;
CREATE TABLE src (id text, nm text, qty integer, extra text, op text);
SELECT run('V35', t(3), $$('a', 'x', 10, 'e', 'updated')$$, 'loaded opened 1 closed 1');
SELECT differences('SELECT id, nm, qty, extra, named(dl_ts_captured::timestamptz), named(dl_ts_delimited::timestamptz) FROM h', $$VALUES
    ('a', 'x', 5, NULL, 'T1', 'T2-1ms'), ('a', 'x', 10, NULL, 'T2', 'T3-1ms'), ('a', 'x', 10, 'e', 'T3', 'INF'), ('b', 'y', 5, NULL, 'T1', 'T2-1ms')$$, 'V35');
\endif

-- V36 of several events of a key the last counts; preimages do not.
CALL fresh('id integer, qty integer, st text', only_source => :standard);
SELECT run('V36', t(5), $$(1, 23, 'ok', 'insert', t(1), 0), (1, 24, 'ok', 'update_preimage', t(1), 1), (1, 24, 'bad', 'update_postimage', t(1), 2),
    (2, 30, 'ok', 'update_preimage', t(1), 3), (2, 31, 'ok', 'update_postimage', t(1), 4)$$, 'loaded mode events read 5 opened 2 closed 0');
SELECT holds('V36', '1 24 bad T1..INF', '2 31 ok T1..INF');
-- V37 if that is a delete, it is a delete.
SELECT run('V37', t(6), $$(1, 25, 'ok', 'update_postimage', t(2), 0), (1, 25, 'ok', 'delete', t(2), 1)$$, 'loaded opened 0 closed 1');
SELECT holds('V37', '1 24 bad T1..T2-1ms', '2 31 ok T1..INF');
-- In whatever order the rows come.
SELECT run('V37 shuffled', t(6), $$(2, 34, 'ok', 'update_postimage', t(4), 9), (2, 32, 'ok', 'update_postimage', t(3), 7), (2, 33, 'ok', 'update_postimage', t(4), 8)$$, 'loaded opened 1 closed 1');
SELECT holds('V37 shuffled', '1 24 bad T1..T2-1ms', '2 31 ok T1..T4-1ms', '2 34 ok T4..INF');
-- V38 without ordinals.
CALL fresh('id integer, qty integer, st text', only_source => '_change_type text, _commit_timestamp timestamptz');
SELECT run('V38', t(5), $$(1, 23, 'ok', 'update_preimage', t(1)), (1, 24, 'ok', 'update_postimage', t(1)), (2, 30, 'ok', 'insert', t(1))$$, 'loaded mode events read 3 opened 2');
SELECT holds('V38', '1 24 ok T1..INF', '2 30 ok T1..INF');
-- V39 validity follows the commits, not the run.
CALL fresh('id integer, qty integer, st text', only_source => :standard);
INSERT INTO h VALUES (1, 23, 'ok', t(0), inf());
SELECT run('V39', t(3), $$(1, 24, 'ok', 'update_postimage', t(1), 0)$$, 'loaded mode events opened 1 closed 1');
SELECT holds('V39', '1 23 ok T0..T1-1ms', '1 24 ok T1..INF');

-- V40 three runs; V44 the same of a source's log: its snapshot, then an update and a delete.
CALL fresh('id integer, qty integer', only_source => :standard);
SELECT run('V40', t(5), $$(1, 5, 'read', t(1), 0), (2, 5, 'read', t(1), 1), (3, 5, 'delete', t(1), 2)$$, 'loaded mode events read 3 opened 2 closed 0');
SELECT holds('V40', '1 5 T1..INF', '2 5 T1..INF');
SELECT run('V40', t(6), $$(1, 5, 'update_preimage', t(2), 0), (1, 10, 'update_postimage', t(2), 1), (2, 5, 'delete', t(2), 2), (99, 0, 'delete', t(2), 3)$$, 'loaded opened 1 closed 2');
SELECT holds('V40, V44', '1 5 T1..T2-1ms', '1 10 T2..INF', '2 5 T1..T2-1ms');
SELECT run('V40', t(7), $$(4, 1, 'insert', t(3), 0), (4, 2, 'update_postimage', t(3), 1), (1, 20, 'update_postimage', t(3), 2)$$, 'loaded opened 2 closed 1');
SELECT holds('V40', '1 5 T1..T2-1ms', '1 10 T2..T3-1ms', '1 20 T3..INF', '2 5 T1..T2-1ms', '4 2 T3..INF');
-- The last batch again, and the first: nothing.
SELECT run('V40 replay', t(8), $$(4, 1, 'insert', t(3), 0), (4, 2, 'update_postimage', t(3), 1), (1, 20, 'update_postimage', t(3), 2)$$, 'unchanged opened 0 closed 0');
SELECT run('V40 replay', t(8), $$(1, 5, 'update_preimage', t(2), 0), (2, 5, 'delete', t(2), 2), (99, 0, 'delete', t(2), 3)$$, 'unchanged opened 0 closed 0');
SELECT holds('V40 replay', '1 5 T1..T2-1ms', '1 10 T2..T3-1ms', '1 20 T3..INF', '2 5 T1..T2-1ms', '4 2 T3..INF');

-- V41 the time of the run in place of that of the commit.
CALL fresh('id integer, qty integer', options => 'cdc_timestamp_auto_detect => false', only_source => :standard);
SELECT run('V41', t(1), $$(1, 5, 'insert', t(0), 0)$$, 'loaded mode events opened 1');
SELECT run('V41', t(2), $$(1, 10, 'update_postimage', t(0), 0)$$, 'loaded mode events opened 1 closed 1');
SELECT holds('V41', '1 5 T1..T2-1ms', '1 10 T2..INF');
-- V42 not looked for, the columns are data.
CALL fresh('id integer, qty integer, _change_type text, _commit_timestamp date, _change_ordinal bigint', options => 'cdc_auto_detect => false');
SELECT run('V42', t(1), $$(1, 5, 'insert', '2024-02-01', 0)$$, 'loaded mode snapshot opened 1');
SELECT holds('V42', '1 5 insert 2024-02-01 0 T1..INF');
-- With a whitelist they are neither looked for.
CALL fresh('id integer, qty integer, _change_type text', options => $$historize_whitelist => 'qty'$$);
SELECT run('V42 whitelist', t(1), $$(1, 5, 'insert')$$, 'loaded mode snapshot opened 1');
SELECT run('V42 whitelist', t(2), $$(1, 5, 'update_postimage')$$, 'unchanged mode snapshot');
SELECT holds('V42 whitelist', '1 5 insert T1..INF');
-- V43 a preimage and its postimage may share an ordinal; equal commit times are ordered by it; milliseconds are kept.
CALL fresh('id integer, qty integer', only_source => :standard);
SELECT run('V43', t(5), $$(1, 1, 'read', t(1) + interval '123 ms', 0), (2, 1, 'insert', t(1) + interval '123 ms', 1), (3, 1, 'delete', t(1) + interval '123 ms', 2),
    (1, 1, 'update_preimage', t(1) + interval '123 ms', 3), (1, 2, 'update_postimage', t(1) + interval '123 ms', 3), (1, 3, 'update_postimage', t(1) + interval '123 ms', 4)$$, 'loaded read 6 opened 2');
SELECT holds('V43', '1 3 T1+123ms..INF', '2 1 T1+123ms..INF');

-- A commit timestamp without time zone is a local time of the history's zone; NULL is the reference; it is cut to the unit.
CALL fresh('id integer, qty integer', options => $$zone => 'UTC'$$, only_source => '_change_type text, _commit_timestamp timestamp');
SELECT run('local commit time', t(5), $$(1, 5, 'insert', '2024-03-02 04:00:00.0019'), (2, 6, 'insert', NULL)$$, 'loaded opened 2');
SELECT holds('local commit time', '1 5 T1+1ms..INF', '2 6 T5..INF');
-- The three columns in another order and of other types.
CALL fresh('id integer, qty integer', only_source => '_change_type varchar(20), _change_ordinal integer, _commit_timestamp timestamptz(3)');
SELECT run('other types', t(5), $$(1, 5, 'insert', 1, t(1))$$, 'loaded mode events opened 1');
SELECT holds('other types', '1 5 T1..INF');

-- X09 the same event again has no effect.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(5) - interval '1 ms'), (1, 6, t(5), inf());
SELECT run('X09', t(7), $$(1, 6, 'update_postimage', t(5), 0)$$, 'unchanged opened 0 closed 0 late 0');
SELECT run('X09 the one before', t(7), $$(1, 5, 'insert', t(1), 0)$$, 'unchanged opened 0 closed 0');
SELECT holds('X09', '1 5 T1..T5-1ms', '1 6 T5..INF');
-- X10 an event that comes late: moved to the next tick; the same again: no effect.
SELECT run('X10', t(7), $$(1, 9, 'update_postimage', t(3), 0)$$, 'loaded opened 1 closed 1 late 1');
SELECT holds('X10', '1 5 T1..T5-1ms', '1 6 T5..T5', '1 9 T5+1ms..INF');
SELECT run('X10 again', t(8), $$(1, 9, 'update_postimage', t(3), 0)$$, 'unchanged opened 0 closed 0');
SELECT holds('X10 again', '1 5 T1..T5-1ms', '1 6 T5..T5', '1 9 T5+1ms..INF');
-- At its true place.
CALL fresh('id integer, qty integer', options => $$late => 'insert'$$, only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(5) - interval '1 ms'), (1, 6, t(5), inf());
SELECT run('X10 insert', t(7), $$(1, 9, 'update_postimage', t(3), 0)$$, 'loaded late 1');
SELECT holds('X10 insert', '1 5 T1..T3-1ms', '1 9 T3..T5-1ms', '1 6 T5..INF');
SELECT run('X10 insert again', t(7), $$(1, 9, 'update_postimage', t(3), 0)$$, 'unchanged opened 0 closed 0');
SELECT holds('X10 insert again', '1 5 T1..T3-1ms', '1 9 T3..T5-1ms', '1 6 T5..INF');
-- A late delete at its true place cuts what covers it, and withdraws what begins there.
SELECT run('X10 late delete', t(7), $$(1, 5, 'delete', t(2), 0)$$, 'loaded late 1');
SELECT holds('X10 late delete', '1 5 T1..T2-1ms', '1 9 T3..T5-1ms', '1 6 T5..INF');
CALL fresh('id integer, qty integer', options => $$late => 'insert'$$, only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(2)), (1, 6, t(5), inf());
SELECT run('X10 late delete at a begin', t(7), $$(1, 6, 'delete', t(5), 0)$$, 'loaded late 1');
SELECT holds('X10 late delete at a begin', '1 5 T1..T2');
-- Ignored, and an error.
CALL fresh('id integer, qty integer', options => $$late => 'ignore'$$, only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(5) - interval '1 ms'), (1, 6, t(5), inf()), (2, 7, t(1), inf());
SELECT run('X10 ignore', t(7), $$(1, 9, 'update_postimage', t(3), 0), (2, 8, 'update_postimage', t(3), 0)$$, 'loaded opened 1 closed 1 late 1');
SELECT run('X10 ignore delete', t(7), $$(1, 9, 'delete', t(3), 0)$$, 'unchanged late 1');
SELECT holds('X10 ignore', '1 5 T1..T5-1ms', '1 6 T5..INF', '2 7 T1..T3-1ms', '2 8 T3..INF');
CALL fresh('id integer, qty integer', options => $$late => 'error'$$, only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(5) - interval '1 ms'), (1, 6, t(5), inf()), (2, 7, t(1), inf());
SELECT refused('X10 error', t(7), $$(1, 9, 'update_postimage', t(3), 0), (2, 8, 'update_postimage', t(3), 0)$$, '23514', '1');
SELECT run('X10 error, replay', t(7), $$(1, 6, 'update_postimage', t(5), 0), (2, 8, 'update_postimage', t(3), 0)$$, 'loaded opened 1 closed 1 late 0');

-- X11 a delete at the instant at which the version began: one tick is left of it.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 6, t(5), inf());
SELECT run('X11', t(7), $$(1, 6, 'delete', t(5), 1)$$, 'loaded opened 0 closed 1');
SELECT holds('X11', '1 6 T5..T5');
SELECT run('X11 again', t(7), $$(1, 6, 'delete', t(5), 1)$$, 'unchanged opened 0 closed 0');
SELECT holds('X11 again', '1 6 T5..T5');
CALL fresh('id integer, qty integer', options => $$time_axis_unit => '0'$$, only_source => :standard);
INSERT INTO h VALUES (1, 6, t(5), inf());
SELECT run('X11 half-open', t(7), $$(1, 6, 'delete', t(5), 1)$$, 'loaded opened 0 closed 1');
SELECT holds('X11 half-open', '1 6 T5..T5+1us');
CALL fresh('id integer, qty integer', options => $$late => 'insert'$$, only_source => :standard);
INSERT INTO h VALUES (1, 6, t(5), inf());
SELECT run('X11 insert', t(7), $$(1, 6, 'delete', t(5), 1)$$, 'loaded opened 0');
SELECT holds('X11 insert');

-- Also where another version ended there: that it is the same delete told again cannot be, as a version has begun since.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(5) - interval '1 ms'), (1, 6, t(5), inf());
SELECT run('X11 after another', t(7), $$(1, 6, 'delete', t(5), 1)$$, 'loaded opened 0 closed 1');
SELECT holds('X11 after another', '1 5 T1..T5-1ms', '1 6 T5..T5');
-- A delete from before the version began cannot speak of it: it is late, and does nothing.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(3)), (1, 6, t(5), inf());
SELECT run('X11 older', t(7), $$(1, 6, 'delete', t(4), 1)$$, 'unchanged opened 0 closed 0 late 1');
SELECT run('X11 older', t(7), $$(1, 5, 'delete', t(2), 1)$$, 'unchanged opened 0 closed 0 late 1');
SELECT holds('X11 older', '1 5 T1..T3', '1 6 T5..INF');

-- X12 two updates of the same commit time in two batches: one current version, the later batch's.
CALL fresh('id integer, qty integer', only_source => :standard);
SELECT run('X12', t(6), $$(1, 6, 'update_postimage', t(5), 0)$$, 'loaded opened 1');
SELECT run('X12', t(7), $$(1, 7, 'update_postimage', t(5), 0)$$, 'loaded opened 1 closed 1 late 1');
SELECT holds('X12', '1 6 T5..T5', '1 7 T5+1ms..INF');
CALL fresh('id integer, qty integer', options => $$late => 'insert'$$, only_source => :standard);
SELECT run('X12 insert', t(6), $$(1, 6, 'update_postimage', t(5), 0)$$, 'loaded opened 1');
SELECT run('X12 insert', t(7), $$(1, 7, 'update_postimage', t(5), 0)$$, 'loaded late 1');
SELECT holds('X12 insert', '1 7 T5..INF');

-- X13 a change type that is missing or unknown. X14 an ordinal that is missing beside others. X15 ties.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(0), inf());
SELECT refused('X13', t(2), $$(1, 6, NULL, t(1), 0)$$, '23514', '1');
SELECT refused('X13 unknown', t(2), $$(1, 6, 'update', t(1), 0), (2, 6, 'insert', t(1), 1)$$, '23514', 'update');
SELECT refused('X14', t(2), $$(1, 6, 'update_postimage', t(1), NULL), (1, 7, 'update_postimage', t(1), 1)$$, '23514', '');
SELECT run('X14 all missing', t(2), $$(1, 6, 'update_postimage', t(1), NULL), (2, 7, 'insert', t(1), NULL)$$, 'loaded opened 2 closed 1');
SELECT holds('X14 all missing', '1 5 T0..T1-1ms', '1 6 T1..INF', '2 7 T1..INF');
SELECT refused('X15', t(4), $$(1, 7, 'update_postimage', t(3), 1), (1, 8, 'update_postimage', t(3), 1)$$, '21000', '');
SELECT refused('X15 type', t(4), $$(1, 7, 'update_postimage', t(3), 1), (1, 7, 'delete', t(3), 1)$$, '21000', '');
SELECT refused('X15 no ordinals', t(4), $$(1, 7, 'update_postimage', t(3), NULL), (1, 8, 'update_postimage', t(3), NULL)$$, '21000', '');
SELECT run('X15 twice the same', t(4), $$(1, 7, 'update_postimage', t(3), 1), (1, 7, 'update_postimage', t(3), 1)$$, 'loaded opened 1 closed 1');
SELECT holds('X15 twice the same', '1 5 T0..T1-1ms', '1 6 T1..T3-1ms', '1 7 T3..INF', '2 7 T1..INF');

-- X16 several events of a key with a custom column: refused, but where something orders them.
CALL fresh('id integer, qty integer', options => :custom, only_source => 'op text');
INSERT INTO h VALUES (1, 5, t(0), inf());
SELECT refused('X16', t(1), $$(1, 6, 'u'), (1, 7, 'u')$$, '21000', '');
SELECT refused('X16 null', t(1), $$(1, 6, NULL)$$, '23514', '1');
CALL fresh('id integer, qty integer', options => $$cdc_column => 'op', cdc_deleted_value => 'deleted', dedup_order_by => 'qty desc'$$, only_source => 'op text');
INSERT INTO h VALUES (1, 5, t(0), inf());
SELECT run('X16 ordered', t(1), $$(1, 6, 'u'), (1, 8, 'u'), (1, 7, 'u')$$, 'loaded read 3 opened 1 closed 1');
SELECT holds('X16 ordered', '1 5 T0..T1-1ms', '1 8 T1..INF');
CALL fresh('id integer, qty integer', options => $$cdc_column => 'op', cdc_deleted_value => 'deleted', source_timestamp_column => 'lu'$$, only_source => 'op text, lu timestamptz');
INSERT INTO h VALUES (1, 5, t(0), inf());
SELECT run('X16 by time', t(4), $$(1, 7, 'u', t(2)), (1, 6, 'u', t(1))$$, 'loaded read 2 opened 1 closed 1');
SELECT holds('X16 by time', '1 5 T0..T2-1ms', '1 7 T2..INF');
SELECT run('X16 delete by time', t(4), $$(1, 7, 'deleted', t(3))$$, 'loaded opened 0 closed 1');
SELECT holds('X16 delete by time', '1 5 T0..T2-1ms', '1 7 T2..T3-1ms');

-- X17 a key that changes: the preimage of the old one and the postimage of the new one.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(0), inf()), (3, 5, t(0), inf()), (5, 5, t(0), inf());
SELECT run('X17', t(4), $$(1, 5, 'update_preimage', t(2), 0), (2, 5, 'update_postimage', t(2), 1), (3, 5, 'update_preimage', t(2), 2), (4, 5, 'update_postimage', t(2), 2),
    (5, 5, 'update_preimage', t(2), 3), (5, 6, 'update_postimage', t(2), 4)$$, 'loaded opened 3 closed 3');
SELECT holds('X17', '1 5 T0..T2-1ms', '2 5 T2..INF', '3 5 T0..T2-1ms', '4 5 T2..INF', '5 5 T0..T2-1ms', '5 6 T2..INF');
CALL fresh('id integer, qty integer', only_source => '_change_type text, _commit_timestamp timestamptz');
INSERT INTO h VALUES (1, 5, t(0), inf());
SELECT run('X17 no ordinals', t(4), $$(1, 5, 'update_preimage', t(2)), (2, 5, 'update_postimage', t(2))$$, 'loaded opened 1 closed 1');
SELECT holds('X17 no ordinals', '1 5 T0..T2-1ms', '2 5 T2..INF');
-- A preimage alone means nothing.
SELECT run('X17 alone', t(4), $$(2, 5, 'update_preimage', t(3))$$, 'unchanged opened 0 closed 0');

-- X18 a snapshot row that is read again is no change, an insert or update is one; with skip_unchanged neither.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(0), inf()), (2, 5, t(0), inf()), (3, 5, t(0), inf());
SELECT run('X18', t(4), $$(1, 5, 'read', t(2), 0), (2, 6, 'read', t(2), 1), (3, 5, 'update_postimage', t(2), 2), (4, 5, 'read', t(2), 3)$$, 'loaded opened 3 closed 2');
SELECT holds('X18', '1 5 T0..INF', '2 5 T0..T2-1ms', '2 6 T2..INF', '3 5 T0..T2-1ms', '3 5 T2..INF', '4 5 T2..INF');
CALL fresh('id integer, qty integer', options => 'skip_unchanged => true', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(0), inf()), (2, 5, t(0), inf());
SELECT run('X18 skip', t(4), $$(1, 5, 'update_postimage', t(2), 0), (2, 6, 'update_postimage', t(2), 1)$$, 'loaded opened 1 closed 1');
SELECT holds('X18 skip', '1 5 T0..INF', '2 5 T0..T2-1ms', '2 6 T2..INF');

-- X27, X28 from events to snapshots and back: no version for that.
CALL fresh('id integer, qty integer', only_source => :standard);
SELECT run('X27', t(2), $$(1, 5, 'insert', t(1), 0), (2, 7, 'insert', t(1), 1)$$, 'loaded mode events opened 2');
DROP TABLE src;
CREATE TABLE src (id integer, qty integer);
SELECT run('X27', t(3), '(1, 5), (2, 7)', 'unchanged mode snapshot opened 0 closed 0 unchanged 2');
SELECT holds('X27', '1 5 T1..INF', '2 7 T1..INF');
SELECT run('X27', t(4), '(1, 6), (2, 7)', 'loaded mode snapshot opened 1 closed 1');
DROP TABLE src;
CREATE TABLE src (id integer, qty integer, _change_type text, _commit_timestamp timestamptz, _change_ordinal bigint);
SELECT run('X28', t(7), $$(1, 8, 'update_postimage', t(6), 0)$$, 'loaded mode events opened 1 closed 1');
SELECT holds('X28', '1 5 T1..T4-1ms', '1 6 T4..T6-1ms', '1 8 T6..INF', '2 7 T1..INF');

-- X32 a delete and the same again, X33 an insert and its delete, in one batch: by default the last event counts.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), inf());
SELECT run('X32', t(5), $$(1, 5, 'delete', t(2), 0), (1, 5, 'insert', t(3), 1), (2, 6, 'insert', t(2), 2), (2, 6, 'delete', t(3), 3)$$, 'loaded opened 1 closed 1');
SELECT holds('X32, X33', '1 5 T1..T3-1ms', '1 5 T3..INF');
-- With intermediate_versions every event is one.
CALL fresh('id integer, qty integer', options => 'intermediate_versions => true', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), inf());
SELECT run('X32 all', t(5), $$(1, 5, 'delete', t(2), 0), (1, 5, 'insert', t(3), 1), (2, 6, 'insert', t(2), 2), (2, 6, 'delete', t(3), 3)$$, 'loaded read 4 opened 2');
SELECT holds('X32, X33 all', '1 5 T1..T2-1ms', '1 5 T3..INF', '2 6 T2..T3-1ms');
SELECT run('X32 all again', t(5), $$(1, 5, 'delete', t(2), 0), (1, 5, 'insert', t(3), 1), (2, 6, 'insert', t(2), 2), (2, 6, 'delete', t(3), 3)$$, 'unchanged opened 0 closed 0');
SELECT holds('X32, X33 all', '1 5 T1..T2-1ms', '1 5 T3..INF', '2 6 T2..T3-1ms');
-- A chain; of several at one instant the last.
CALL fresh('id integer, qty integer', options => 'intermediate_versions => true', only_source => :standard);
SELECT run('chain', t(9), $$(1, 8, 'update_postimage', t(5), 4), (1, 5, 'insert', t(1), 0), (1, 6, 'update_postimage', t(3), 2), (1, 7, 'update_postimage', t(3), 3), (2, 1, 'read', t(2), 1)$$, 'loaded read 5 opened 4');
SELECT holds('chain', '1 5 T1..T3-1ms', '1 7 T3..T5-1ms', '1 8 T5..INF', '2 1 T2..INF');
SELECT run('chain goes on', t(9), $$(1, 9, 'update_postimage', t(6), 0), (1, 9, 'delete', t(7), 1), (1, 10, 'insert', t(8), 2), (2, 1, 'update_postimage', t(6), 3)$$, 'loaded read 4 opened 3');
SELECT holds('chain goes on', '1 5 T1..T3-1ms', '1 7 T3..T5-1ms', '1 8 T5..T6-1ms', '1 9 T6..T7-1ms', '1 10 T8..INF', '2 1 T2..T6-1ms', '2 1 T6..INF');
CALL fresh('id integer, qty integer', options => $$intermediate_versions => true, time_axis_unit => '0', skip_unchanged => true$$, only_source => :standard);
SELECT run('chain half-open', t(9), $$(1, 5, 'insert', t(1), 0), (1, 5, 'update_postimage', t(2), 1), (1, 6, 'update_postimage', t(3), 2), (1, 6, 'update_postimage', t(4), 3)$$, 'loaded opened 2');
SELECT holds('chain half-open', '1 5 T1..T3', '1 6 T3..INF');
-- A late chain keeps its order, one tick apart.
CALL fresh('id integer, qty integer', options => 'intermediate_versions => true', only_source => :standard);
INSERT INTO h VALUES (1, 6, t(5), inf());
SELECT run('late chain', t(7), $$(1, 8, 'update_postimage', t(2), 0), (1, 9, 'update_postimage', t(3), 1)$$, 'loaded opened 2 late 2');
SELECT holds('late chain', '1 6 T5..T5', '1 8 T5+1ms..T5+1ms', '1 9 T5+2ms..INF');
SELECT run('late chain again', t(7), $$(1, 8, 'update_postimage', t(2), 0), (1, 9, 'update_postimage', t(3), 1)$$, 'unchanged opened 0 closed 0');
CALL fresh('id integer, qty integer', options => $$intermediate_versions => true, late => 'insert'$$, only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(5) - interval '1 ms'), (1, 6, t(5), inf());
SELECT run('late chain insert', t(7), $$(1, 8, 'update_postimage', t(2), 0), (1, 9, 'update_postimage', t(3), 1), (1, 10, 'update_postimage', t(6), 2)$$, 'loaded late 2');
SELECT holds('late chain insert', '1 5 T1..T2-1ms', '1 8 T2..T3-1ms', '1 9 T3..T5-1ms', '1 6 T5..T6-1ms', '1 10 T6..INF');
-- Events without a time of their own have no place between runs.
CALL fresh('id integer, qty integer', only_source => 'op text');
UPDATE given SET options = $$intermediate_versions => true, cdc_column => 'op', cdc_deleted_value => 'deleted'$$;
SELECT variant IN ('made', 'null') AS made FROM given \gset
\if :made
\else
SELECT refused('chain without times', t(7), $$(1, 6, 'u')$$, '22023', 'intermediate_versions');
\endif

-- Deleted, and an event before or at the end of the last version.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(3) - interval '1 ms'), (2, 5, t(1), t(3) - interval '1 ms');
SELECT run('ended', t(7), $$(1, 9, 'insert', t(2), 0), (2, 9, 'insert', t(3), 1)$$, 'loaded opened 2 closed 0 late 1');
SELECT holds('ended', '1 5 T1..T3-1ms', '1 9 T3..INF', '2 5 T1..T3-1ms', '2 9 T3..INF');
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(3) - interval '1 ms');
SELECT run('deleted again', t(7), $$(1, 5, 'delete', t(3), 0)$$, 'unchanged opened 0 closed 0');
SELECT run('deleted later', t(7), $$(1, 5, 'delete', t(4), 0)$$, 'unchanged opened 0 closed 0');
SELECT run('deleted unknown', t(7), $$(2, 5, 'delete', t(4), 0)$$, 'unchanged opened 0 closed 0');
SELECT holds('deleted again', '1 5 T1..T3-1ms');
SELECT run('back', t(7), $$(1, 5, 'insert', t(5), 0)$$, 'loaded opened 1 closed 0 reappeared 1 late 0');
SELECT holds('back', '1 5 T1..T3-1ms', '1 5 T5..INF');

-- Deleted, and at its true place deleted earlier: the version that is ended is cut.
CALL fresh('id integer, qty integer', options => $$late => 'insert'$$, only_source => :standard);
INSERT INTO h VALUES (1, 5, t(1), t(4) - interval '1 ms');
SELECT run('deleted earlier', t(7), $$(1, 5, 'delete', t(2), 0)$$, 'loaded opened 0 late 1');
SELECT holds('deleted earlier', '1 5 T1..T2-1ms');

-- Dated by the run, at the same instant again: as if only the last input had come for these keys.
CALL fresh('id integer, qty integer', options => :custom, only_source => 'op text');
SELECT run('same instant', t(1), $$(1, 5, 'new'), (2, 7, 'new'), (3, 9, 'new')$$, 'loaded opened 3');
SELECT run('same instant', t(1), $$(1, 5, 'new'), (2, 7, 'new')$$, 'unchanged opened 0 closed 0');
SELECT run('same instant', t(1), $$(1, 6, 'new'), (2, 7, 'deleted')$$, 'loaded');
SELECT holds('same instant', '1 6 T1..INF', '3 9 T1..INF');
SELECT run('same instant', t(2), $$(1, 8, 'new'), (3, 9, 'deleted')$$, 'loaded opened 1 closed 2');
SELECT run('same instant', t(2), $$(1, 7, 'new'), (3, 10, 'new')$$, 'loaded');
SELECT holds('same instant', '1 6 T1..T2-1ms', '1 7 T2..INF', '3 9 T1..T2-1ms', '3 10 T2..INF');
CALL fresh('id integer, qty integer', options => $$skip_unchanged => true, cdc_column => 'op', cdc_deleted_value => 'deleted'$$, only_source => 'op text');
INSERT INTO h VALUES (1, 5, t(0), t(1) - interval '1 ms'), (1, 6, t(1), inf());
SELECT run('same instant, skip', t(1), $$(1, 5, 'u')$$, 'loaded');
SELECT holds('same instant, skip', '1 5 T0..INF');
-- A reference older than what is known is refused here as well; with commit times it is not asked for.
SELECT refused('older', t(-1), $$(1, 7, 'u')$$, '22023', '2024-02-29.*2024-03-0[12]|2024-03-0[12].*2024-02-29');
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(3), inf());
SELECT run('older', t(1), $$(1, 6, 'update_postimage', t(4), 0)$$, 'loaded opened 1 closed 1');
SELECT holds('older', '1 5 T3..T4-1ms', '1 6 T4..INF');

-- An empty batch is skipped; what is not in a batch stays.
CALL fresh('id integer, qty integer', only_source => :standard);
INSERT INTO h VALUES (1, 5, t(0), inf());
SELECT run('empty batch', t(1), '', 'skipped mode events read 0');
SELECT holds('empty batch', '1 5 T0..INF');
-- A batch of nothing but preimages changes nothing.
SELECT run('preimages', t(1), $$(1, 5, 'update_preimage', t(1), 0)$$, 'unchanged mode events read 1 opened 0 closed 0');
-- A list of columns not to compare has no say in whether an event is a version, but in what is equal.
CALL fresh('id integer, qty integer, st text', options => $$skip_unchanged => true, historize_blacklist => 'st'$$, only_source => :standard);
INSERT INTO h VALUES (1, 5, 'a', t(0), inf());
SELECT run('blacklist', t(3), $$(1, 5, 'b', 'update_postimage', t(1), 0)$$, 'unchanged opened 0 closed 0');
SELECT holds('blacklist', '1 5 a T0..INF');
-- The dry run says the same and does nothing.
SELECT run('dry run', t(3), $$(1, 6, 'b', 'update_postimage', t(1), 0)$$, 'planned mode events opened 1 closed 1 run_id', 'dry_run => true');
SELECT holds('dry run', '1 5 a T0..INF');
-- Nulls in keys of events.
SELECT refused('null key', t(3), $$(NULL, 6, 'b', 'update_postimage', t(1), 0)$$, '23502', 'id');
\set ECHO all
