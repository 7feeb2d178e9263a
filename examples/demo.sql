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
\echo '=== 6  Every version of every airport =============================================='
\echo
\echo 'Eight publications of a list of 28,000 airports, 2022 to 2026. Each is loaded into the same'
\echo 'staging table; the history keeps what changed. The first makes it and says what the key is:'
\echo
set timezone = 'UTC';
create table stg_airports (
    icao text, iata text, name text, city text, subd text, country text, elevation text, lat text, lon text, tz text
);
\copy stg_airports from program 'gzip -dc tests/data/airports/20220512.csv.gz' csv header
set client_min_messages = warning;
\timing on
\set ECHO queries
select status, mode, rows_read, versions_opened
from historize('stg_airports', 'airports', 'icao', reference_timestamp => '2022-05-12');
\set ECHO none
\timing off
truncate stg_airports;
\copy stg_airports from program 'gzip -dc tests/data/airports/20221105.csv.gz' csv header
\echo 'The second, half a year later: what it would do, then the run, then the same run once more.'
\echo
set client_min_messages = notice;
\o /dev/null
\set ECHO queries
select * from historize('airports', reference_timestamp => '2022-11-05', dry_run => true);
select * from historize('airports', reference_timestamp => '2022-11-05');
select * from historize('airports', reference_timestamp => '2022-11-05');
\set ECHO none
\o
\echo
\echo 'The third brings a column that the history does not have yet. It comes too late: the'
\echo 'fourth has been loaded already. So it is refused, the fourth taken back, and both loaded.'
\echo
alter table stg_airports add column lid text;
create temp table third as table stg_airports with no data;
\copy third from program 'gzip -dc tests/data/airports/20230303.csv.gz' csv header
truncate stg_airports;
\copy stg_airports from program 'gzip -dc tests/data/airports/20240309.csv.gz' csv header
set client_min_messages = warning;
select status as unseen from historize('airports', reference_timestamp => '2024-03-09') \gset
\set ON_ERROR_STOP off
\set ECHO queries
select * from historize('third', 'airports', reference_timestamp => '2023-03-03');
\set ECHO none
\set ON_ERROR_STOP on
insert into demo.step (as_known) values (:'LAST_ERROR_SQLSTATE' = '22023');
\echo
\set ECHO queries
select * from rewind_history('airports', '2022-11-05');
\set ECHO none
select status as unseen from historize('third', 'airports', reference_timestamp => '2023-03-03') \gset
select status as unseen from historize('airports', reference_timestamp => '2024-03-09') \gset
truncate stg_airports;
\copy stg_airports from program 'gzip -dc tests/data/airports/20240415.csv.gz' csv header
select status as unseen from historize('airports', reference_timestamp => '2024-04-15') \gset
truncate stg_airports;
\copy stg_airports from program 'gzip -dc tests/data/airports/20250224.csv.gz' csv header
select status as unseen from historize('airports', reference_timestamp => '2025-02-24') \gset
truncate stg_airports;
\copy stg_airports from program 'gzip -dc tests/data/airports/20260208.csv.gz' csv header
select status as unseen from historize('airports', reference_timestamp => '2026-02-08') \gset
truncate stg_airports;
\copy stg_airports from program 'gzip -dc tests/data/airports/20260905.csv.gz' csv header
select status as unseen from historize('airports', reference_timestamp => '2026-09-05') \gset
\echo 'All eight are in. What the log says of them (on 15 April 2024 nearly all coordinates were'
\echo 'published with other digits):'
\echo
\set ECHO queries
select distinct on (reference_timestamp) reference_timestamp::date as published, rows_read,
       versions_opened as opened, versions_closed as closed, rows_unchanged as unchanged, reappeared
from daybook.runs where target = 'airports'::regclass and status = 'loaded' and mode = 'snapshot'
order by reference_timestamp, run_id desc;
\set ECHO none
insert into demo.step (as_known)
select array_agg(array[rows_read, versions_opened, versions_closed, reappeared] order by reference_timestamp) = array[
           [28875, 28875, 0, 0], [28894, 25 + 1938, 1938 + 6, 0], [28130, 2109 + 26021, 26021 + 2873, 0],
           [28140, 25 + 1577, 1577 + 15, 0], [28186, 211 + 27556, 27556 + 165, 75], [28258, 76 + 128, 128 + 4, 2],
           [28409, 523 + 12951, 12951 + 372, 152], [28298, 183 + 273, 273 + 294, 58]]::bigint[]
from (select distinct on (reference_timestamp) * from daybook.runs
      where target = 'airports'::regclass and status = 'loaded' and mode = 'snapshot'
      order by reference_timestamp, run_id desc) as r;
insert into demo.step (as_known)
select (count(*), count(*) filter (where dl_ts_delimited = '9999-12-31')) = (102471, 28298) from airports;

\echo 'One airport. Its place took a new name and, two years later, the old one again:'
\echo
\set ECHO queries
select iata, city, dl_ts_captured, dl_ts_delimited
from airports where icao = 'KLSF' order by dl_ts_captured;
\set ECHO none
\echo 'Another was left out of one publication, and came back with the next:'
\echo
\set ECHO queries
select name, lat, lon, dl_ts_captured, dl_ts_delimited
from airports where icao = 'WBGY' order by dl_ts_captured;
\set ECHO none
\echo 'How was it then?'
\echo
\o /dev/null
\set ECHO queries
select create_history_views('airports');
\set ECHO none
\o
\echo
\set ECHO queries
select icao, city from airports_as_of('2025-06-01') where icao in ('KLSF', 'WBGY') order by icao;
select icao, city from airports_as_of('2024-06-01') where icao in ('KLSF', 'WBGY') order by icao;
select count(*) as broken from daybook.check_history('airports');
\set ECHO none
\gset
insert into demo.step (as_known) values (:broken = 0);
insert into demo.step (as_known)
select array_agg(icao || ' ' || city) = array['KLSF Fort Moore (Columbus)'] from airports_as_of('2024-06-01') where icao in ('KLSF', 'WBGY');
insert into demo.step (as_known)
select not exists (
    select to_jsonb(c) - '{dl_ts_captured,dl_ts_delimited,dl_hash}'::text[] from airports_current as c
    except select to_jsonb(s) from stg_airports as s) and (select count(*) from airports_current) = 28298;

\echo
\echo '====================================================================================='
select count(*) as checks, bool_and(as_known) as all_known from demo.step \gset
\if :all_known
\echo 'Shown: history loaded day by day and in one run, with equal tables; two runs refused; a year'
\echo 'of flights stamped with local dates; every version of every airport, as they were published.'
\echo :checks 'checks, all as expected.'
\else
do $$ begin raise exception 'these checks did not come out as expected: %',
    (select string_agg(number::text, ', ' order by number) from demo.step where not as_known); end $$;
\endif
