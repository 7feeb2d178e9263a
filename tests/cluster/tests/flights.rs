//! All flights that left New York in 2013, and the figures that must come out.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use daybook_tests::{Client, Database, Session};

const COLUMNS: &str = "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int,
    sched_arr_time int, arr_delay int, carrier text, flight int, tailnum text, origin text, dest text, air_time int,
    distance int, hour int, minute int, time_hour timestamptz";

fn load_source(session: &mut Client) {
    session.run(&format!("CREATE UNLOGGED TABLE flights ({COLUMNS})"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/flights.csv.gz");
    let unpacked = Command::new("gzip")
        .arg("-dc")
        .arg(file)
        .output()
        .expect("gzip runs");
    assert!(unpacked.status.success());
    let mut copy = session
        .copy_in("COPY flights FROM STDIN WITH (FORMAT csv, HEADER, NULL 'NA')")
        .expect("a copy");
    copy.write_all(&unpacked.stdout).expect("rows");
    assert_eq!(copy.finish().expect("the end of a copy"), 336_776);
    session.run("CREATE INDEX ON flights (time_hour); ANALYZE flights");
}

fn target(session: &mut Client, name: &str, zone: &str) {
    session.run(&format!(
        "CREATE TABLE {name} ({COLUMNS}, interval_start timestamptz NOT NULL, loaded_at timestamptz);
         CREATE INDEX ON {name} (interval_start);
         SELECT register_load('{name}', 'flights', time_column => 'time_hour', zone => '{zone}')"
    ));
}

#[test]
fn the_figures_of_the_flights() {
    let database = Database::new("flights");
    let mut session = database.session();
    load_source(&mut session);

    // One wide call for the year, in the zone of the airports.
    target(&mut session, "departures", "America/New_York");
    session.run(
        "CREATE TABLE result AS
         SELECT * FROM load_interval('departures', '2013-01-01', '2014-01-01', wide => true)",
    );
    assert_eq!(
        session.rows(
            "SELECT count(*), sum(rows_read), sum(rows_dropped), sum(rows_deleted), sum(rows_inserted),
                    min(rows_inserted), max(rows_inserted), count(*) FILTER (WHERE status = 'loaded') FROM result"
        ),
        [["365", "336776", "0", "0", "336776", "634", "1014", "365"]]
    );
    assert_eq!(session.number("SELECT count(*) FROM departures"), 336_776);
    assert_eq!(
        session.number(
            "SELECT count(*) FROM departures
             WHERE (interval_start AT TIME ZONE 'America/New_York') IS DISTINCT FROM make_date(year, month, day)"
        ),
        0
    );
    assert_eq!(
        session.rows(
            "SELECT (interval_start AT TIME ZONE 'America/New_York')::date, (extract(epoch FROM interval_end - interval_start) / 3600)::int
             FROM result WHERE extract(epoch FROM interval_end - interval_start) <> 86400 ORDER BY 1"
        ),
        [["2013-03-10", "23"], ["2013-11-03", "25"]]
    );
    // Per day, the counts that a query over the source's own date gives.
    assert_eq!(
        session.number(
            "SELECT count(*) FROM result AS r
             JOIN (SELECT make_date(year, month, day) AS date, count(*) AS rows FROM flights GROUP BY 1) AS f
                 ON f.date = (r.interval_start AT TIME ZONE 'America/New_York')::date AND f.rows = r.rows_inserted"
        ),
        365
    );

    // In the wrong zone, evening departures fall on the next day.
    target(&mut session, "departures_utc", "UTC");
    session.run("SELECT count(*) FROM load_interval('departures_utc', '2013-01-01', '2014-01-02', wide => true)");
    assert_eq!(
        session.number("SELECT count(*) FROM departures_utc"),
        336_776
    );
    let wrong = session.number(
        "SELECT count(*) FROM departures_utc WHERE (interval_start AT TIME ZONE 'UTC') <> make_date(year, month, day)",
    );
    assert!(
        (10_000..100_000).contains(&wrong),
        "{wrong} rows on another day"
    );

    // One day again: the same rows.
    let fingerprint = "SELECT md5(string_agg((to_jsonb(d) - 'loaded_at')::text, ',' ORDER BY (to_jsonb(d) - 'loaded_at')::text))
                       FROM departures AS d WHERE month = 11";
    let before = session.value(fingerprint);
    let day = session.value("SELECT count(*) FROM flights WHERE month = 11 AND day = 3");
    let day = day.as_str();
    assert_eq!(
        session.rows("SELECT status, rows_read, rows_deleted, rows_inserted FROM load_interval('departures', '2013-11-03', '2013-11-04')"),
        [["loaded", day, day, day]]
    );
    assert_eq!(session.value(fingerprint), before);

    // A month day by day: the rows of the wide run.
    target(&mut session, "departures_daily", "America/New_York");
    assert_eq!(
        session.rows(
            "SELECT count(*), sum(rows_inserted) = (SELECT count(*) FROM flights WHERE month = 3)
             FROM load_interval('departures_daily', '2013-03-01', '2013-04-01')"
        ),
        [["31", "t"]]
    );
    for (left, right) in [
        ("departures", "departures_daily"),
        ("departures_daily", "departures"),
    ] {
        let different = session.number(&format!(
            "SELECT count(*) FROM (
                 SELECT to_jsonb(t) - 'loaded_at' FROM {left} AS t WHERE month = 3
                 EXCEPT ALL
                 SELECT to_jsonb(t) - 'loaded_at' FROM {right} AS t WHERE month = 3) AS d"
        ));
        assert_eq!(different, 0, "rows of {left} that {right} has not");
    }
    for name in ["departures", "departures_utc", "departures_daily"] {
        assert_eq!(
            session.rows(&format!("SELECT * FROM daybook.check_load('{name}')")),
            Vec::<Vec<String>>::new()
        );
    }
}
