-- Scenarios S6, S8 and D1: what the pipeline of the story let through is refused here, and the table stays as it is.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
\set scenario '\\i ' :abs_srcdir '/include/scenario.sql'
:session
:scenario
SELECT story.pipeline() \g /dev/null
SET client_min_messages = warning;

-- S6. Wide run, rows stamped with the run's start. daybook does not do that; a pipeline that did is written out here.
-- At 18:00 on 30 Sep: one run over 1 to 29 Sep.
SELECT story.committed_by('2026-09-30 18:00+00') \g /dev/null
INSERT INTO fact_transactions
SELECT txn_id, account_id, txn_type, CASE WHEN txn_type = 'REFUND' THEN -amount ELSE amount END, updated_at,
       '2026-09-01 00:00+00', now()
FROM src_transactions
WHERE updated_at >= '2026-09-01 00:00+00' AND updated_at < '2026-09-30 00:00+00' AND account_id NOT LIKE 'TEST-%';
INSERT INTO story.other_run VALUES ('wide, stamped with its start');
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
-- 12 Sep again: the other pipeline's rows are out of its reach.
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-12', '2026-09-13', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
SELECT * FROM daybook.check_load('fact_transactions') ORDER BY problem, interval_start;
-- 1 Sep again: would leave 17 rows, 63 missing. Refused.
SELECT * FROM load_interval('fact_transactions', '2026-09-01', '2026-09-02', as_of => '2026-10-04 00:00+00'); :sqlstate
SELECT * FROM story.report();
-- The same in a wide run, and in a dry run.
SELECT * FROM load_interval('fact_transactions', '2026-09-01', '2026-10-01', wide => true, as_of => '2026-10-04 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact_transactions', '2026-09-01', '2026-09-02', dry_run => true, as_of => '2026-10-04 00:00+00'); :sqlstate
SELECT * FROM story.report();
-- The way out: give each row the stamp of its own day. Then every rerun repairs what it covers.
UPDATE fact_transactions SET interval_start = date_trunc('day', updated_at, 'UTC');
SELECT * FROM daybook.check_load('fact_transactions');
SELECT count(*) AS intervals, sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted
FROM load_interval('fact_transactions', '2026-09-01', '2026-10-01', wide => true, as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();

-- S8. Wide run given a day that is still open: refused at 18:00 on 30 Sep.
TRUNCATE src_transactions, fact_transactions, story.other_run, daybook.run, daybook.run_interval, daybook.interval_state;
SELECT story.committed_by('2026-09-30 18:00+00') \g /dev/null
SELECT * FROM load_interval('fact_transactions', '2026-09-01', '2026-10-01', wide => true, as_of => '2026-09-30 18:00+00'); :sqlstate
SELECT count(*) AS target_rows FROM fact_transactions;
SELECT count(*) AS runs FROM daybook.runs;
-- With allow_open it does what it says, and leaves the day due.
SELECT interval_start, interval_end, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-01', '2026-10-01', wide => true, as_of => '2026-09-30 18:00+00', allow_open => true)
WHERE interval_start >= '2026-09-28 00:00+00';
SELECT * FROM story.report();
-- Daily runs for 1, 2 and 3 Oct.
SELECT story.committed_by('2026-10-04 00:00+00') \g /dev/null
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-01', '2026-10-02', as_of => '2026-10-02 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-02', '2026-10-03', as_of => '2026-10-03 00:00+00');
SELECT count(*) FROM load_interval('fact_transactions', '2026-10-03', '2026-10-04', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
SELECT interval_start, status FROM daybook.interval_log WHERE is_current AND status = 'open' ORDER BY interval_start;
-- 30 Sep again.
SELECT interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
FROM load_interval('fact_transactions', '2026-09-30', '2026-10-01', as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
SELECT interval_start, status FROM daybook.interval_log WHERE is_current AND status = 'open' ORDER BY interval_start;

-- D1. Own-day stamps, bounds off midnight. One run over all 33 days.
TRUNCATE src_transactions, fact_transactions, daybook.run, daybook.run_interval, daybook.interval_state;
SELECT story.committed_by('2026-10-04 00:00+00') \g /dev/null
SELECT count(*) AS intervals, sum(rows_inserted) AS inserted
FROM load_interval('fact_transactions', '2026-09-01', '2026-10-04', wide => true, as_of => '2026-10-04 00:00+00');
SELECT * FROM story.report();
-- One run from 12 Sep 06:00 to 13 Sep 06:00: refused, in both widths.
SELECT * FROM load_interval('fact_transactions', '2026-09-12 06:00', '2026-09-13 06:00', as_of => '2026-10-04 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact_transactions', '2026-09-12 06:00', '2026-09-13 06:00', wide => true, as_of => '2026-10-04 00:00+00'); :sqlstate
SELECT * FROM story.report();
