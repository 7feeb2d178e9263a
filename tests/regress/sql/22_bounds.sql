-- Bounds: every form in every mix means the same interval, read in the zone of the load.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
-- The text form does not depend on the session, and reads back.
SELECT b::text, b::text::daybook.bound::text = b::text AS reads_back FROM (VALUES
    ('2026-09-01'::daybook.bound), ('2026-09'), (' 2026-09-01 '), ('2026-09-01 06:00'), ('2026-09-01T06:00:30'), ('2026-09-01 06:00:30.25'),
    ('2026-09-01 06:00+02'), ('2026-09-01 06:00:00+05:30'), ('2026-09-01 00:00:00Z'), ('2026-09-01 00:00:00.000001-11'),
    ('yesterday'), ('TODAY'), ('Last_Closed'), ('infinity'), ('-infinity'), ('-0043-03-15'), ('+12026-09-01'),
    ((date '2026-09-01')::daybook.bound), ((timestamp '2026-09-01 06:00')::daybook.bound), ((timestamptz '2026-09-01 06:00+02')::daybook.bound),
    ('2026-09-01'::text::daybook.bound), ('2026-09-01'::varchar::daybook.bound), ((date '0044-03-15 BC')::daybook.bound),
    ((timestamp 'infinity')::daybook.bound), ((date '-infinity')::daybook.bound)) AS v (b);
-- A load in New York: midnight there is 04:00 UTC in summer, 05:00 in winter.
CREATE TABLE src (id integer, at timestamptz);
INSERT INTO src SELECT n, '2026-10-31 00:00-04'::timestamptz + n * interval '1 hour' FROM generate_series(0, 99) AS n;
CREATE TABLE fact (id integer, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at', zone => 'America/New_York');
SET client_min_messages = warning;
CREATE FUNCTION loaded(stmt text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE 'SELECT string_agg(interval_start::text || '' '' || rows_read, '', '' ORDER BY interval_start) FROM ' || stmt INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE form (start text, stop text);
INSERT INTO form SELECT a, b FROM (VALUES ($$'2026-10-31'$$), ($$'2026-10-31 00:00'$$), ($$'2026-10-31 04:00+00'$$), ($$'2026-10-31T00:00:00-04:00'$$),
    ($$date '2026-10-31'$$), ($$timestamp '2026-10-31'$$), ($$timestamptz '2026-10-31 00:00-04'$$), ($$'2026-10-31'::text$$), ($$'2026-10-31'::varchar$$),
    ($$'2026-10-31'::varchar(20)$$), ($$'2026-10-31'::daybook.bound$$)) AS a (a), (VALUES ($$'2026-11-02'$$), ($$'2026-11-02 00:00'$$), ($$'2026-11-02 05:00+00'$$), ($$'2026-11-02T00:00:00-05:00'$$),
    ($$date '2026-11-02'$$), ($$timestamp '2026-11-02'$$), ($$timestamptz '2026-11-02 00:00-05'$$), ($$'2026-11-02'::text$$), ($$'2026-11-02'::varchar$$),
    ($$'2026-11-02'::varchar(20)$$), ($$'2026-11-02'::daybook.bound$$)) AS b (b);
-- 121 mixes, one result, in sessions that read dates and zones differently. The second day has 25 hours.
SELECT loaded, count(*) FROM form, LATERAL loaded(format('load_interval(''fact'', %s, %s, as_of => ''2026-11-05 00:00+00'', dry_run => true)', start, stop)) GROUP BY loaded;
SET TimeZone = 'Asia/Tokyo';
SET DateStyle = 'SQL, DMY';
SELECT loaded, count(*) FROM form, LATERAL loaded(format('load_interval(''fact'', %s, %s, as_of => ''2026-11-05 00:00+00'', dry_run => true)', start, stop)) GROUP BY loaded;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';

-- Parameters as drivers send them: typed, untyped and text.
PREPARE p_unknown AS SELECT interval_start, rows_read FROM load_interval('fact', $1, $2, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_unknown ('2026-10-31', '2026-11-01');
PREPARE p_text (text, text) AS SELECT interval_start, rows_read FROM load_interval('fact', $1, $2, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_text ('2026-10-31', '2026-11-01');
PREPARE p_varchar (varchar, varchar) AS SELECT interval_start, rows_read FROM load_interval('fact', $1, $2, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_varchar ('2026-10-31', '2026-11-01');
PREPARE p_date (date, date) AS SELECT interval_start, rows_read FROM load_interval('fact', $1, $2, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_date ('2026-10-31', '2026-11-01');
PREPARE p_timestamp (timestamp, timestamp) AS SELECT interval_start, rows_read FROM load_interval('fact', $1, $2, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_timestamp ('2026-10-31', '2026-11-01');
PREPARE p_timestamptz (timestamptz, timestamptz) AS SELECT interval_start, rows_read FROM load_interval('fact', $1, $2, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_timestamptz ('2026-10-31 04:00+00', '2026-11-01 04:00+00');
PREPARE p_mix (date, timestamptz) AS SELECT interval_start, rows_read FROM load_interval('fact', $1, $2, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_mix ('2026-10-31', '2026-11-01 04:00+00');
PREPARE p_target (text, date) AS SELECT interval_start, rows_read FROM load_interval($1::regclass, $2, $2 + 1, as_of => '2026-11-05 00:00+00', dry_run => true);
EXECUTE p_target ('public.fact', '2026-10-31');
-- Expressions.
SELECT interval_start, rows_read FROM load_interval('fact', date '2026-11-01' - 1, (date '2026-11-01' + interval '0 days'), as_of => '2026-11-05 00:00+00', dry_run => true);

-- The words, at 23:30 in New York, which is the next day in UTC.
SELECT loaded('load_interval(''fact'', ''yesterday'', ''today'', as_of => ''2026-11-02 04:30+00'', dry_run => true)');
SELECT loaded('load_interval(''fact'', ''yesterday'', ''last_closed'', as_of => ''2026-11-02 04:30+00'', dry_run => true)');
SELECT loaded('load_interval(''fact'', ''2026-10-31'', ''last_closed'', as_of => ''2026-11-02 04:30+00'', dry_run => true)');
SELECT loaded('load_interval(''fact'', ''today'', ''last_closed'', as_of => ''2026-11-02 04:30+00'', dry_run => true)');
SELECT loaded('load_interval(''fact'', ''today'', ''2026-11-02'', as_of => ''2026-11-02 04:30+00'', dry_run => true, allow_open => true)');
SELECT loaded('load_interval(''fact'', ''2026-10-31'', as_of => ''2026-11-02 04:30+00'', dry_run => true)');
SELECT daybook.last_closed('fact', '2026-11-02 04:30+00'), daybook.last_closed('fact', '2026-11-02 05:00+00'), daybook.last_closed('fact', '2026-11-02 04:59:59.999999+00');
-- With settle, yesterday may be open still, and last_closed lags behind.
SELECT register_load('fact', 'src', 'at', zone => 'America/New_York', settle => '2 hours');
SELECT loaded('load_interval(''fact'', ''yesterday'', ''today'', as_of => ''2026-11-02 06:30+00'', dry_run => true)');
SELECT loaded('load_interval(''fact'', ''2026-10-31'', ''last_closed'', as_of => ''2026-11-02 06:30+00'', dry_run => true)');
SELECT loaded('load_interval(''fact'', ''yesterday'', ''today'', as_of => ''2026-11-02 07:00+00'', dry_run => true)');
SELECT register_load('fact', 'src', 'at', zone => 'America/New_York');

-- The clock is the start of the transaction where as_of is not given: what closed long ago is closed, what closes in a century is open.
INSERT INTO src VALUES (1000, '2001-01-01 12:00-05');
SELECT interval_start, status, rows_read FROM load_interval('fact', '2001-01-01', '2001-01-02');
SELECT loaded('load_interval(''fact'', ''2101-01-01'', ''2101-01-02'')') LIKE '55000 the interval up to 2101-01-02 has not closed at %' AS refused;
SELECT daybook.last_closed('fact') = date_trunc('day', now(), 'America/New_York') AS last_closed_is_midnight;
-- An interval that is open is loaded on request, and stays due.
SELECT interval_start, interval_end, status, rows_inserted
FROM load_interval('fact', '2026-10-31', '2026-11-02', as_of => '2026-11-01 20:00+00', allow_open => true);
SELECT interval_start, status, is_current FROM daybook.interval_log WHERE interval_start > '2026-01-01' ORDER BY interval_start;
SELECT interval_start, status FROM load_interval('fact', '2026-11-01', '2026-11-02', as_of => '2026-11-02 05:00+00', allow_open => true);
SELECT interval_start, status, is_current FROM daybook.interval_log WHERE interval_start > '2026-01-01' ORDER BY interval_start, run_id;

-- An end on the last day of a month is the commonest slip: the notice says that it is exclusive.
SET client_min_messages = notice;
SELECT count(*) FROM load_interval('fact', '2026-10-01', '2026-10-31', wide => true, as_of => '2026-11-05 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-10-01', timestamptz '2026-10-31 00:00-04', wide => true, as_of => '2026-11-05 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-10-01', '2026-11-01', wide => true, as_of => '2026-11-05 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-10-01', '2026-10-30', wide => true, as_of => '2026-11-05 00:00+00');
SELECT count(*) FROM load_interval('fact', '2026-10-01', 'last_closed', wide => true, as_of => '2026-10-31 12:00+00');
