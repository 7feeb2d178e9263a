-- Scenarios S1 to S4: history by a script, then the pipeline. What is bad about them shows in the same figures as in the story.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set scenario '\\i ' :abs_srcdir '/include/scenario.sql'
:session
:scenario
SELECT story.pipeline() \g /dev/null
-- Only the figures of the runs are of interest here.
SET client_min_messages = warning;

-- S1. Raw script: neither rule applied. Script reads everything before 1 Oct.
SELECT story.committed_by('2026-10-01 00:00+00') \g /dev/null
INSERT INTO fact_transactions (txn_id, account_id, txn_type, amount, updated_at, interval_start, loaded_at)
SELECT txn_id, account_id, txn_type, amount, updated_at, '2026-09-01 00:00+00', now()
FROM src_transactions
WHERE updated_at < '2026-10-01 00:00+00';
SELECT * FROM story.report();
-- Daily runs for 1, 2 and 3 Oct.
SELECT story.committed_by('2026-10-04 00:00+00') \g /dev/null
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-10-01', '2026-10-02', as_of => '2026-10-02 00:00+00');
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-10-02', '2026-10-03', as_of => '2026-10-03 00:00+00');
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-10-03', '2026-10-04', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();

-- S2. Script with both rules, run before the day closed, at 18:00 on 30 Sep.
TRUNCATE src_transactions, fact_transactions, daybook.run, daybook.run_interval, daybook.interval_state;
SELECT story.committed_by('2026-09-30 18:00+00') \g /dev/null
SELECT story.script() \g /dev/null
SELECT * FROM story.report();
-- Daily runs for 1, 2 and 3 Oct.
SELECT story.committed_by('2026-10-04 00:00+00') \g /dev/null
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-01', '2026-10-02', as_of => '2026-10-02 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-02', '2026-10-03', as_of => '2026-10-03 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-03', '2026-10-04', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
-- Pipeline run for 30 Sep.
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-30', '2026-10-01', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();

-- S3. Script with both rules, one past day run again. Script reads everything before 1 Oct.
TRUNCATE src_transactions, fact_transactions, daybook.run, daybook.run_interval, daybook.interval_state;
SELECT story.committed_by('2026-10-01 00:00+00') \g /dev/null
SELECT story.script() \g /dev/null
SELECT * FROM story.report();
-- The wrong stamps are visible from the first load.
SELECT * FROM daybook.check_load('fact_transactions') ORDER BY problem, interval_start;
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
-- The two copies of T-0912-1.
SELECT txn_id, account_id, txn_type, amount, updated_at, interval_start
FROM fact_transactions WHERE txn_id = 'T-0912-1' ORDER BY interval_start;
SELECT * FROM daybook.check_load('fact_transactions') ORDER BY problem, interval_start;

-- S4. Script with both rules, rule corrected later. Script reads everything before 1 Oct.
TRUNCATE src_transactions, fact_transactions, daybook.run, daybook.run_interval, daybook.interval_state;
SELECT story.committed_by('2026-10-01 00:00+00') \g /dev/null
SELECT story.script() \g /dev/null
SELECT * FROM story.report();
-- Daily runs for 1, 2 and 3 Oct.
SELECT story.committed_by('2026-10-04 00:00+00') \g /dev/null
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-01', '2026-10-02', as_of => '2026-10-02 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-02', '2026-10-03', as_of => '2026-10-03 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-03', '2026-10-04', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
-- Sign rule corrected, no run yet.
SELECT register_rule('fact_transactions', 'sign_amounts', column_name => 'amount',
                     expression => $$case when txn_type in ('REFUND', 'CHARGEBACK') then -amount else amount end$$) \g /dev/null
SELECT * FROM story.report('{REFUND,CHARGEBACK}');
-- 1, 2 and 3 Oct again, corrected rule.
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-01', '2026-10-02', as_of => '2026-10-04 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-02', '2026-10-03', as_of => '2026-10-04 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-03', '2026-10-04', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report('{REFUND,CHARGEBACK}');
-- Trying to repair September in one run is refused: the script's rows would be lost, or doubled.
SELECT * FROM load_interval('fact_transactions', '2026-09-01', '2026-10-01', wide => true, as_of => '2026-10-04 00:00+00'); :sqlstate
SELECT * FROM story.report('{REFUND,CHARGEBACK}');
