-- The demo: run by "make demo", or from the root of the repository in an empty database:
--   psql --no-psqlrc --quiet <examples/demo.sql 2>&1
-- What is worth reading is echoed; the rest prepares and checks.

\set ON_ERROR_STOP on
\set ECHO none
\pset footer off
set timezone = 'UTC';
set client_min_messages = warning;
create extension if not exists daybook;
\i examples/figures.sql

create table src_transactions (
    txn_id text primary key, account_id text, txn_type text, amount numeric(12, 2), updated_at timestamptz
);
\copy src_transactions from 'tests/data/transactions.csv' csv header
set client_min_messages = notice;

\echo
\echo '=== 1  Register once ==============================================================='
\echo
\echo 'The source holds 83 card transactions of 1 September to 3 October. Refunds are positive'
\echo 'there and must be negative in the table; test accounts must stay out.'
\echo
\o /dev/null
\set ECHO queries
create table fact_daily (
    txn_id text, account_id text, txn_type text, amount numeric(12, 2), updated_at timestamptz,
    interval_start timestamptz not null,    -- the day that owns the row; daybook sets it
    loaded_at timestamptz                   -- when it was loaded; daybook sets this too
);
select register_load('fact_daily', 'src_transactions', time_column => 'updated_at');
select register_rule('fact_daily', 'drop_test_accounts',
    filter => $$ left(account_id, 5) <> 'TEST-' $$);
select register_rule('fact_daily', 'sign_amounts', column_name => 'amount',
    expression => $$ case when txn_type = 'REFUND' then -amount else amount end $$);
\set ECHO none
\o

\echo
\echo '=== 2  History, one run a day ======================================================'
\echo
\echo 'It is 18:00 on 30 September. One run for each day that has closed, as a scheduler would'
\echo 'start them. This is the first; the other 28 are not shown.'
\echo
\set ECHO queries
select interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
from load_interval('fact_daily', '2026-09-01', '2026-09-02', as_of => '2026-09-30 18:00+00');
\set ECHO none
set client_min_messages = warning;
select count(*) as unseen from generate_series(date '2026-09-02', '2026-09-29', '1 day') as day,
    load_interval('fact_daily', day::date, day::date + 1, as_of => '2026-09-30 18:00+00') \gset
select * from demo.check_step('fact_daily', '2026-09-30 18:00+00', '{REFUND}',
    29, 67, 5045.00, missing => 'T-0930-1, T-0930-2, T-0930-3');

\echo '30 September is missing because it is still open. After midnight, its own run:'
\echo
select count(*) as unseen from load_interval('fact_daily', '2026-09-30', as_of => '2026-10-01 00:00+00') \gset
select * from demo.check_step('fact_daily', '2026-10-01 00:00+00', '{REFUND}', 30, 72, 5440.50);
\echo 'And a run for each of 1, 2 and 3 October:'
\echo
select count(*) as unseen from generate_series(date '2026-10-01', '2026-10-03', '1 day') as day,
    load_interval('fact_daily', day::date, day::date + 1, as_of => day + interval '1 day') \gset
select * from demo.check_step('fact_daily', '2026-10-04 00:00+00', '{REFUND}', 33, 80, 5907.50);

\echo '12 September again: its two rows are replaced by the same two rows.'
\echo
set client_min_messages = notice;
\set ECHO queries
select interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
from load_interval('fact_daily', '2026-09-12', '2026-09-13', as_of => '2026-10-04 00:00+00');
\set ECHO none
select * from demo.check_step('fact_daily', '2026-10-04 00:00+00', '{REFUND}', 34, 80, 5907.50);

\echo 'A mistake is found: chargebacks are negative too. The rule is corrected in its place.'
\echo
\o /dev/null
\set ECHO queries
select register_rule('fact_daily', 'sign_amounts', column_name => 'amount',
    expression => $$ case when txn_type in ('REFUND', 'CHARGEBACK') then -amount else amount end $$);
\set ECHO none
\o
\echo
select * from demo.check_step('fact_daily', '2026-10-04 00:00+00', '{REFUND,CHARGEBACK}',
    34, 80, 5907.50, wrong_amount => '5 chargebacks');
\echo 'All 33 days again, under the corrected rule:'
\echo
set client_min_messages = warning;
select count(*) as unseen from generate_series(date '2026-09-01', '2026-10-03', '1 day') as day,
    load_interval('fact_daily', day::date, day::date + 1, as_of => '2026-10-04 00:00+00') \gset
set client_min_messages = notice;
select * from demo.check_step('fact_daily', '2026-10-04 00:00+00', '{REFUND,CHARGEBACK}', 67, 80, 5307.50);

\echo
\echo '=== 3  The same history in one wide run ============================================'
\echo
\echo 'A second table, with the same source and the same rules as they were at first.'
\echo
set client_min_messages = warning;
create table fact_wide (like fact_daily including all);
select register_load('fact_wide', 'src_transactions', time_column => 'updated_at') as unseen \gset
select register_rule('fact_wide', 'drop_test_accounts', filter => $$ left(account_id, 5) <> 'TEST-' $$) as unseen \gset
select register_rule('fact_wide', 'sign_amounts', column_name => 'amount',
    expression => $$ case when txn_type = 'REFUND' then -amount else amount end $$) as unseen \gset
set client_min_messages = notice;
\set ECHO queries
select count(*) as days, sum(rows_inserted) as rows_inserted
from load_interval('fact_wide', '2026-09-01', '2026-09-30', wide => true,
                   as_of => '2026-09-30 18:00+00');
\set ECHO none
select * from demo.check_step('fact_wide', '2026-09-30 18:00+00', '{REFUND}',
    1, 67, 5045.00, missing => 'T-0930-1, T-0930-2, T-0930-3');

\echo 'From here on daily. 30 September:'
\echo
set client_min_messages = warning;
select count(*) as unseen from load_interval('fact_wide', '2026-09-30', as_of => '2026-10-01 00:00+00') \gset
select * from demo.check_step('fact_wide', '2026-10-01 00:00+00', '{REFUND}', 2, 72, 5440.50);
\echo '1, 2 and 3 October:'
\echo
select count(*) as unseen from generate_series(date '2026-10-01', '2026-10-03', '1 day') as day,
    load_interval('fact_wide', day::date, day::date + 1, as_of => day + interval '1 day') \gset
select * from demo.check_step('fact_wide', '2026-10-04 00:00+00', '{REFUND}', 5, 80, 5907.50);

\echo 'Two days out of the wide run again, each on its own: 12 September, then 1 September, where'
\echo 'a run that stamps its rows with its own start would lose the whole month.'
\echo
set client_min_messages = notice;
\set ECHO queries
select interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
from load_interval('fact_wide', '2026-09-12', '2026-09-13', as_of => '2026-10-04 00:00+00');
\set ECHO none
select * from demo.check_step('fact_wide', '2026-10-04 00:00+00', '{REFUND}', 6, 80, 5907.50);
\set ECHO queries
select interval_start, status, rows_read, rows_dropped, rows_deleted, rows_inserted
from load_interval('fact_wide', '2026-09-01', '2026-09-02', as_of => '2026-10-04 00:00+00');
\set ECHO none
select * from demo.check_step('fact_wide', '2026-10-04 00:00+00', '{REFUND}', 7, 80, 5907.50);

\echo 'The rule is corrected, and one wide run applies it to both months:'
\echo
select register_rule('fact_wide', 'sign_amounts', column_name => 'amount',
    expression => $$ case when txn_type in ('REFUND', 'CHARGEBACK') then -amount else amount end $$) as unseen \gset
select * from demo.check_step('fact_wide', '2026-10-04 00:00+00', '{REFUND,CHARGEBACK}',
    7, 80, 5907.50, wrong_amount => '5 chargebacks');
\set ECHO queries
select count(*) as days, sum(rows_deleted) as rows_deleted, sum(rows_inserted) as rows_inserted
from load_interval('fact_wide', '2026-09-01', '2026-10-04', wide => true,
                   as_of => '2026-10-04 00:00+00');
\set ECHO none
select * from demo.check_step('fact_wide', '2026-10-04 00:00+00', '{REFUND,CHARGEBACK}', 8, 80, 5307.50);

\echo 'That table took 67 runs, this one 8. How many rows differ, in any column but loaded_at?'
\echo
\set ECHO queries
with daily as (select to_jsonb(d) - 'loaded_at' as row from fact_daily as d),
     wide as (select to_jsonb(w) - 'loaded_at' as row from fact_wide as w)
select count(*) as rows_that_differ
from ((table daily except all table wide) union all (table wide except all table daily)) as x;
\set ECHO none
\gset
insert into demo.step (as_known) values (:rows_that_differ = 0);

\echo 'What the log says of the 8 runs:'
\echo
\set ECHO queries
select row_number() over (order by run_id) as run, interval_start::date, interval_end::date, wide,
       rows_read, rows_dropped, rows_deleted, rows_inserted, rules_version
from daybook.runs where target = 'fact_wide'::regclass order by run_id;
\set ECHO none

\echo
\echo '=== 4  Refused before a row is touched ============================================='
\echo
\echo 'At 18:00 on 30 September, a run that reaches into the open day; its evening rows would be'
\echo 'missed for good:'
\echo
\set ON_ERROR_STOP off
\set ECHO queries
select * from load_interval('fact_wide', '2026-09-01', '2026-10-01', wide => true,
                            as_of => '2026-09-30 18:00+00');
\set ECHO none
insert into demo.step (as_known) values (:'LAST_ERROR_SQLSTATE' = '55000');
\echo
\echo 'A run from 06:00 to 06:00; it would load 12 September twice and lose the 13th:'
\echo
\set ECHO queries
select * from load_interval('fact_wide', '2026-09-12 06:00', '2026-09-13 06:00',
                            as_of => '2026-10-04 00:00+00');
\set ECHO none
insert into demo.step (as_known) values (:'LAST_ERROR_SQLSTATE' = '22023');
\set ON_ERROR_STOP on
\echo
\echo 'The table is as it was:'
\echo
select * from demo.check_step('fact_wide', '2026-10-04 00:00+00', '{REFUND,CHARGEBACK}', 8, 80, 5307.50);

\echo
\echo '=== 5  336,776 flights, days of New York ==========================================='
\echo
\echo 'All departures from New York City in 2013. The day that owns a flight is the local date,'
\echo 'on 10 March (23 hours) and 3 November (25 hours) too.'
\echo
create table src_flights (
    year integer, month integer, day integer, dep_time integer, sched_dep_time integer, dep_delay integer,
    arr_time integer, sched_arr_time integer, arr_delay integer, carrier text, flight integer, tailnum text,
    origin text, dest text, air_time integer, distance integer, hour integer, minute integer, time_hour timestamptz
);
\copy src_flights from program 'gzip -dc tests/data/flights.csv.gz' csv header null 'NA'
create index on src_flights (time_hour);
analyze src_flights;
create table flights (like src_flights, interval_start timestamptz not null, loaded_at timestamptz);
create index on flights (interval_start);
set timezone = 'America/New_York';

\o /dev/null
\set ECHO queries
select register_load('flights', 'src_flights', time_column => 'time_hour', zone => 'America/New_York');
\set ECHO none
\o
\echo
\echo 'The year in one wide run:'
\echo
\timing on
\set ECHO queries
select count(*) as days, sum(rows_inserted) as rows,
       min(rows_inserted) as fewest, max(rows_inserted) as most
from load_interval('flights', '2013-01-01', '2014-01-01', wide => true);
\set ECHO none
\timing off
insert into demo.step (as_known)
select (count(*), sum(rows_inserted), min(rows_inserted), max(rows_inserted)) = (365, 336776, 634, 1014)
from daybook.interval_log where target = 'flights'::regclass;
create table demo.flights as table flights;
alter table demo.flights drop column loaded_at;

\echo
\echo 'One day again, the longest of the year:'
\echo
\timing on
\set ECHO queries
select interval_start, interval_end, status, rows_deleted, rows_inserted
from load_interval('flights', '2013-11-03', '2013-11-04');
\set ECHO none
\timing off

\echo
\echo 'One month again, day by day in one call:'
\echo
\timing on
\set ECHO queries
select count(*) as days, sum(rows_deleted) as rows_deleted, sum(rows_inserted) as rows_inserted
from load_interval('flights', '2013-07', '2013-08');
\set ECHO none
\timing off

\echo
\echo 'Is every stamp the local date, which the source has in columns of its own? How many would not'
\echo 'be, had the days been counted in UTC?'
\echo
\set ECHO queries
select count(*) as flights,
       count(*) filter (where (interval_start at time zone 'America/New_York')::date
                              <> make_date(year, month, day)) as not_the_local_date,
       count(*) filter (where (time_hour at time zone 'UTC')::date
                              <> make_date(year, month, day)) as not_the_date_in_utc
from flights;
\set ECHO none
\gset
insert into demo.step (as_known) values ((:flights, :not_the_local_date) = (336776, 0));
alter table flights drop column loaded_at;
select count(*) as rows_changed
from ((table flights except all table demo.flights) union all (table demo.flights except all table flights)) as x \gset
insert into demo.step (as_known) values (:rows_changed = 0);
\echo 'Rows that the reruns of a day and a month have changed:' :rows_changed

\echo
\echo '====================================================================================='
select count(*) as checks, bool_and(as_known) as all_known from demo.step \gset
\if :all_known
\echo 'Shown: history loaded day by day and in one run, with equal tables; two runs refused; a year'
\echo 'of flights stamped with local dates.' :checks 'checks, all as expected.'
\else
do $$ begin raise exception 'these checks did not come out as expected: %',
    (select string_agg(number::text, ', ' order by number) from demo.step where not as_known); end $$;
\endif
