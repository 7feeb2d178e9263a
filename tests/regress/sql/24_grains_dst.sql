-- Grains of any length, in zones whose clocks are set, on time columns of all three types. Every figure here can be checked with a calendar.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
-- Boundaries, shown in the zone they are counted in.
CREATE FUNCTION shown(grain interval, zone text, start daybook.bound, stop daybook.bound, origin timestamp DEFAULT '2001-01-01')
RETURNS TABLE (local text, hours numeric) LANGUAGE sql AS $$
    SELECT to_char(b AT TIME ZONE zone, 'Dy YYYY-MM-DD HH24:MI'),
           round(extract(epoch FROM lead(b) OVER (ORDER BY b) - b) / 3600, 2)
    FROM unnest(daybook.grain_boundaries(grain, zone, start, stop, origin)) AS b ORDER BY b
$$;
-- Days of 23 and 25 hours.
SELECT * FROM shown('1 day', 'America/New_York', '2013-03-09', '2013-03-12');
SELECT * FROM shown('1 day', 'America/New_York', '2013-11-02', '2013-11-05');
SELECT * FROM shown('1 day', 'Australia/Lord_Howe', '2026-04-04', '2026-04-07');
-- A day that does not exist: in Samoa 30 December 2011 was skipped. It makes no interval.
SELECT * FROM shown('1 day', 'Pacific/Apia', '2011-12-28', '2012-01-02');
SELECT array_length(daybook.grain_boundaries('1 day', 'Pacific/Apia', '2011-12-30', '2011-12-31'), 1) AS boundaries;
-- Weeks and months go on counting local days.
SELECT * FROM shown('7 days', 'Pacific/Apia', '2011-12-19', '2012-01-09');
SELECT * FROM shown('1 month', 'Pacific/Apia', '2011-12', '2012-02');
-- Midnights that do not exist: in Cairo the clock went from 00:00 to 01:00 on 28 April 2023.
SELECT * FROM shown('1 day', 'Africa/Cairo', '2023-04-27', '2023-04-30');
-- Midnight that comes twice because the clock is set back to it: the first of the two. Havana, 1 November 2026: 01:00 to 00:00.
SELECT b AS havana FROM unnest(daybook.grain_boundaries('1 day', 'America/Havana', '2026-10-31', '2026-11-03')) AS b;
SELECT * FROM shown('1 day', 'America/Havana', '2026-10-31', '2026-11-03');
-- Midnight that the clock is set back over: the second of the two. Cairo, 27 October 2023: 00:00 back to 23:00 of the day before.
SELECT b AS cairo FROM unnest(daybook.grain_boundaries('1 day', 'Africa/Cairo', '2023-10-26', '2023-10-28')) AS b;
SELECT * FROM shown('1 day', 'Africa/Cairo', '2023-10-25', '2023-10-29');
-- Grains below a day count elapsed time: 24 hours are not a day where a day has 25.
SELECT * FROM shown('24 hours', 'America/New_York', '2013-11-02', '2013-11-05 12:00');
SELECT * FROM shown('1 hour', 'America/New_York', '2013-11-03 00:00', '2013-11-03 03:00');
SELECT * FROM shown('15 minutes', 'UTC', '2026-09-01', '2026-09-01 01:00');
SELECT * FROM shown('7 hours', 'UTC', '2026-09-01', '2026-09-02', '2026-09-01');
SELECT * FROM shown('1.5 seconds', 'UTC', '2026-09-01', '2026-09-01 00:00:04.5', '2026-09-01');
-- Weeks from a Monday, or from another day; N days; months; quarters; years; longer.
SELECT * FROM shown('1 week', 'UTC', '2026-08-31', '2026-09-14');
SELECT * FROM shown('7 days', 'UTC', '2026-08-30', '2026-09-13', '2000-01-02');
SELECT * FROM shown('10 days', 'Europe/Berlin', '2026-10-20', '2026-11-10', '2026-10-10');
SELECT * FROM shown('1 month', 'Europe/Berlin', '2026-02', '2026-05');
SELECT * FROM shown('3 months', 'UTC', '2026-01', '2027-01');
SELECT * FROM shown('1 year', 'UTC', '2024-01-01', '2027-01-01');
SELECT * FROM shown('100 years', 'UTC', '1901-01-01', '2101-01-01');
-- Months from the 31st: the last day where there is none, and the 31st again where there is. From a leap day: the 28th in other years.
SELECT * FROM shown('1 month', 'UTC', '2024-01-31', '2024-06-30', '2024-01-31');
SELECT * FROM shown('1 month', 'UTC', '2023-01-31', '2023-04-30', '2024-01-31');
SELECT * FROM shown('1 year', 'UTC', '2023-02-28', '2028-02-29', '2024-02-29');
-- An origin within the day: days from 06:00 to 06:00.
SELECT * FROM shown('1 day', 'America/New_York', '2013-03-09 06:00', '2013-03-12 06:00', '2001-01-01 06:00');
-- Days from 02:30, which was skipped on 10 March.
SELECT * FROM shown('1 day', 'America/New_York', '2013-03-09 02:30', '2013-03-12 02:30', '2001-01-01 02:30');
-- Before the origin, and before zones had whole offsets.
SELECT * FROM shown('1 day', 'Europe/Amsterdam', '1890-01-01', '1890-01-03');
SELECT b FROM unnest(daybook.grain_boundaries('1 month', 'UTC', '-0001-11-01', '0001-02-01')) AS b;
-- Boundaries strictly increase, and tile the range.
SELECT zone, count(*) AS boundaries, bool_and(b < next) AS increase, min(next - b) AS shortest, max(next - b) AS longest
FROM unnest(array['America/New_York', 'Pacific/Apia', 'Africa/Cairo', 'America/Havana', 'Australia/Lord_Howe', 'Asia/Kathmandu']) AS zone,
     LATERAL (SELECT b, lead(b) OVER (ORDER BY n) AS next
              FROM unnest(daybook.grain_boundaries('1 day', zone, '2000-01-01', '2030-01-01')) WITH ORDINALITY AS u (b, n)) AS s
GROUP BY zone ORDER BY zone;

-- Loads. Rows every 30 minutes, in three kinds of time column; each row is stamped with its interval.
SET client_min_messages = warning;
CREATE TABLE src_tz AS SELECT n AS id, '2013-11-02 00:00-04'::timestamptz + n * interval '30 minutes' AS at FROM generate_series(0, 200) AS n;
CREATE TABLE src_local AS SELECT id, at AT TIME ZONE 'America/New_York' AS at FROM src_tz;
CREATE TABLE src_date AS SELECT id, (at AT TIME ZONE 'America/New_York')::date AS at FROM src_tz;
CREATE TABLE tz_tz (id integer, at timestamptz, interval_start timestamptz);
CREATE TABLE tz_local (id integer, at timestamptz, interval_start timestamp);
CREATE TABLE tz_date (id integer, at timestamptz, interval_start date);
CREATE TABLE local_tz (id integer, at timestamp, interval_start timestamptz);
CREATE TABLE local_local (id integer, at timestamp, interval_start timestamp);
CREATE TABLE local_date (id integer, at timestamp, interval_start date);
CREATE TABLE date_tz (id integer, at date, interval_start timestamptz);
CREATE TABLE date_local (id integer, at date, interval_start timestamp);
CREATE TABLE date_date (id integer, at date, interval_start date);
SELECT register_load(format('%s_%s', t, s)::regclass, format('src_%s', t)::regclass, 'at', zone => 'America/New_York')
FROM unnest(array['tz', 'local', 'date']) AS t, unnest(array['tz', 'local', 'date']) AS s \g /dev/null
-- One day after another, and all at once, give the same.
CREATE TABLE result (target text, wide boolean, id integer, day date);
DO $$
DECLARE
    target text;
    wide boolean;
BEGIN
    FOR target, wide IN SELECT t || '_' || s, w FROM unnest(array['tz', 'local', 'date']) AS t, unnest(array['tz', 'local', 'date']) AS s,
                               unnest(array[false, true]) AS w LOOP
        PERFORM load_interval(target::regclass, '2013-11-02', '2013-11-06', wide, as_of => '2013-11-07 00:00+00');
        EXECUTE format('INSERT INTO result SELECT %L, %L, id, %s FROM %I', target, wide,
            CASE WHEN target LIKE '%\_tz' THEN $q$(interval_start AT TIME ZONE 'America/New_York')::date$q$ ELSE 'interval_start::date' END, target);
    END LOOP;
END $$;
SELECT target, wide, string_agg(day || ' ' || rows, ', ' ORDER BY day) AS rows_by_stamp
FROM (SELECT target, wide, day, count(*) AS rows FROM result GROUP BY target, wide, day) AS g GROUP BY target, wide ORDER BY target, wide;
SELECT count(*) AS stamps_that_are_not_the_local_day
FROM result AS r JOIN src_tz AS s USING (id) WHERE r.day <> (s.at AT TIME ZONE 'America/New_York')::date;
SELECT count(*) AS stamps_that_are_not_midnight FROM tz_local WHERE interval_start <> date_trunc('day', interval_start);
-- Hours over a clock that is set back: the repeated hour is two intervals for instants; local times are taken for the second.
CREATE TABLE hours (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('hours', 'src_tz', 'at', '1 hour', 'America/New_York');
SELECT interval_start, interval_end, rows_inserted
FROM load_interval('hours', '2013-11-03 00:00', '2013-11-03 03:00', as_of => '2013-11-07 00:00+00') ORDER BY interval_start;
CREATE TABLE hours_local (id integer, at timestamp, interval_start timestamp);
SELECT register_load('hours_local', 'src_local', 'at', '1 hour', 'America/New_York');
SELECT interval_start, interval_end, rows_inserted
FROM load_interval('hours_local', '2013-11-03 00:00', '2013-11-03 03:00', as_of => '2013-11-07 00:00+00') ORDER BY interval_start;
SELECT interval_start, count(*) FROM hours_local GROUP BY interval_start ORDER BY interval_start;
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted
FROM load_interval('hours_local', '2013-11-03 00:00', '2013-11-03 03:00', wide => true, as_of => '2013-11-07 00:00+00');
SELECT interval_start, count(*) FROM hours_local GROUP BY interval_start ORDER BY interval_start;
-- Samoa: rows of 29 and 31 December lie in neighbouring days; rows stamped with the day that never was have a home too.
CREATE TABLE src_samoa (id integer, at timestamp);
INSERT INTO src_samoa VALUES (29, '2011-12-29 12:00'), (30, '2011-12-30 12:00'), (31, '2011-12-31 12:00');
CREATE TABLE samoa (id integer, at timestamp, interval_start timestamp);
SELECT register_load('samoa', 'src_samoa', 'at', zone => 'Pacific/Apia');
SELECT interval_start, interval_end, rows_inserted FROM load_interval('samoa', '2011-12-29', '2012-01-01', as_of => '2012-01-02 00:00+00') ORDER BY interval_start;
SELECT * FROM samoa ORDER BY id;
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('samoa', '2011-12-29', '2012-01-01', wide => true, as_of => '2012-01-02 00:00+00');
SELECT * FROM samoa ORDER BY id;
SELECT * FROM daybook.check_load('samoa');
-- Cairo: the first row of 28 April is at 01:00 local time.
CREATE TABLE src_cairo AS SELECT n AS id, '2023-04-27 00:00+02'::timestamptz + n * interval '1 hour' AS at FROM generate_series(0, 71) AS n;
CREATE TABLE cairo (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('cairo', 'src_cairo', 'at', zone => 'Africa/Cairo');
SELECT interval_start, rows_inserted FROM load_interval('cairo', '2023-04-27', '2023-04-29', as_of => '2023-05-01 00:00+00') ORDER BY interval_start;
SELECT interval_start, rows_inserted FROM load_interval('cairo', '2023-04-28', '2023-04-29', as_of => '2023-05-01 00:00+00') ORDER BY interval_start;
SELECT interval_start, rows_inserted FROM load_interval('cairo', '2023-04-28 01:00', '2023-04-29', as_of => '2023-05-01 00:00+00') ORDER BY interval_start;
-- Months from the 31st, and leap days.
CREATE TABLE src_2024 AS SELECT d::date AS at FROM generate_series(date '2024-01-01', date '2024-12-31', '1 day') AS d;
CREATE TABLE months (at date, interval_start date);
SELECT register_load('months', 'src_2024', 'at', '1 month', origin => '2024-01-31');
SELECT interval_start::date, interval_end::date, rows_inserted FROM load_interval('months', '2024-01-31', '2024-04-30', as_of => '2025-01-01 00:00+00') ORDER BY 1;
SELECT sum(rows_deleted) AS deleted, sum(rows_inserted) AS inserted FROM load_interval('months', '2024-01-31', '2024-12-31', wide => true, as_of => '2025-01-01 00:00+00');
SELECT interval_start, count(*), min(at), max(at) FROM months GROUP BY interval_start ORDER BY interval_start;
CREATE TABLE days (at date, interval_start date);
SELECT register_load('days', 'src_2024', 'at');
SELECT interval_start::date, rows_inserted FROM load_interval('days', '2024-02-28', '2024-03-02', as_of => '2025-01-01 00:00+00') ORDER BY 1;
