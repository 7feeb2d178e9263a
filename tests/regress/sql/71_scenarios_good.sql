-- Scenarios S5 and S7: history through the pipeline, one run per day and one wide run. Both end with the same table.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set scenario '\\i ' :abs_srcdir '/include/scenario.sql'
:session
:scenario
SELECT story.pipeline() \g /dev/null
SET client_min_messages = warning;

-- S5. At 18:00 on 30 Sep: one run for each of 1 to 29 Sep, a call each.
SELECT story.committed_by('2026-09-30 18:00+00') \g /dev/null
SELECT count(*) AS calls, sum(l.rows_inserted) AS inserted
FROM generate_series(date '2026-09-01', date '2026-09-29', '1 day') AS day,
     LATERAL load_interval('fact_transactions', day::date, day::date + 1, as_of => '2026-09-30 18:00+00') AS l;
SELECT * FROM story.report();
-- Daily run for 30 Sep.
SELECT story.committed_by('2026-10-01 00:00+00') \g /dev/null
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-30', '2026-10-01', as_of => '2026-10-01 00:00+00');
SELECT * FROM story.report();
-- Daily runs for 1, 2 and 3 Oct.
SELECT story.committed_by('2026-10-04 00:00+00') \g /dev/null
SELECT count(*) AS calls, sum(l.rows_inserted) AS inserted
FROM generate_series(date '2026-10-01', date '2026-10-03', '1 day') AS day,
     LATERAL load_interval('fact_transactions', day::date, day::date + 1, as_of => '2026-10-04 00:00+00') AS l;
SELECT * FROM story.report();
-- 12 Sep again.
CREATE TABLE story.before AS SELECT * FROM fact_transactions;
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-12', '2026-09-13', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
SELECT count(*) AS rows_that_differ FROM (
    (SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM fact_transactions
     EXCEPT ALL SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM story.before)
    UNION ALL
    (SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM story.before
     EXCEPT ALL SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM fact_transactions)) AS d;
-- Sign rule corrected, no run yet.
SELECT register_rule('fact_transactions', 'sign_amounts', column_name => 'amount',
                     expression => $$case when txn_type in ('REFUND', 'CHARGEBACK') then -amount else amount end$$) \g /dev/null
SELECT * FROM story.report('{REFUND,CHARGEBACK}');
-- All 33 days again, corrected rule.
SELECT count(*) AS calls, sum(l.rows_deleted) AS deleted, sum(l.rows_inserted) AS inserted
FROM generate_series(date '2026-09-01', date '2026-10-03', '1 day') AS day,
     LATERAL load_interval('fact_transactions', day::date, day::date + 1, as_of => '2026-10-04 00:00+00') AS l;
SELECT * FROM story.report('{REFUND,CHARGEBACK}');
SELECT * FROM daybook.check_load('fact_transactions');
CREATE TABLE story.s5 AS SELECT * FROM fact_transactions;

-- S7. At 18:00 on 30 Sep: one wide run over 1 to 29 Sep.
TRUNCATE src_transactions, fact_transactions, daybook.run, daybook.run_interval, daybook.interval_state;
SELECT register_rule('fact_transactions', 'sign_amounts', column_name => 'amount',
                     expression => $$case when txn_type = 'REFUND' then -amount else amount end$$) \g /dev/null
SELECT story.committed_by('2026-09-30 18:00+00') \g /dev/null
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-01', '2026-09-30', wide => true, as_of => '2026-09-30 18:00+00');
SELECT * FROM story.report();
-- Daily run for 30 Sep.
SELECT story.committed_by('2026-10-01 00:00+00') \g /dev/null
SELECT count(*) FROM load_interval('fact_transactions', '2026-09-30', '2026-10-01', as_of => '2026-10-01 00:00+00');
SELECT * FROM story.report();
-- Daily runs for 1, 2 and 3 Oct.
SELECT story.committed_by('2026-10-04 00:00+00') \g /dev/null
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-01', '2026-10-02', as_of => '2026-10-02 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-02', '2026-10-03', as_of => '2026-10-03 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-03', '2026-10-04', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
-- 12 Sep again.
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-12', '2026-09-13', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
-- 1 Sep again.
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-01', '2026-09-02', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
-- Sign rule corrected, no run yet.
SELECT register_rule('fact_transactions', 'sign_amounts', column_name => 'amount',
                     expression => $$case when txn_type in ('REFUND', 'CHARGEBACK') then -amount else amount end$$) \g /dev/null
SELECT * FROM story.report('{REFUND,CHARGEBACK}');
-- One run over all 33 days, corrected rule.
SELECT count(*) AS intervals, sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted
FROM load_interval('fact_transactions', '2026-09-01', '2026-10-04', wide => true, as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report('{REFUND,CHARGEBACK}');
SELECT * FROM daybook.check_load('fact_transactions');

-- The final tables of S5 and S7 are equal on every column but loaded_at.
SELECT count(*) AS s5_rows FROM story.s5;
SELECT count(*) AS rows_that_differ FROM (
    (SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM fact_transactions
     EXCEPT ALL SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM story.s5)
    UNION ALL
    (SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM story.s5
     EXCEPT ALL SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start FROM fact_transactions)) AS d;
SELECT count(*) AS stamps_that_are_not_the_day FROM fact_transactions
WHERE interval_start IS DISTINCT FROM date_trunc('day', updated_at, 'UTC');
