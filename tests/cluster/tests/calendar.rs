//! Boundaries tile time in every zone of the server's list, 1900 to 2100: compared one by one with what the zone files and the written
//! rule give, and checked against the server's own AT TIME ZONE.

use std::collections::BTreeMap;
use std::error::Error;

use daybook_tests::calendar::{DAY, Grain, Zone, days, zone_directory};
use daybook_tests::{Client, Database, Session};
use postgres::types::{FromSql, Type};

/// Zones by the content of their file: the server's list has many names for one zone.
struct Zones {
    /// The names of each, with the clock.
    all: Vec<(Vec<String>, Zone)>,
}

impl Zones {
    fn of_server(session: &mut Client) -> Self {
        let directory = zone_directory();
        let mut by_content: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
        for row in session.rows("SELECT name FROM pg_timezone_names ORDER BY name") {
            let name = row[0].clone();
            let content = std::fs::read(directory.join(&name)).expect("a zone file");
            by_content.entry(content).or_default().push(name);
        }
        let mut all = Vec::new();
        let mut refused = 0;
        for (content, names) in by_content {
            match Zone::read(&content) {
                Ok(zone) => all.push((names, zone)),
                Err(error) => {
                    println!("left out: {names:?}: {error}");
                    refused += 1;
                }
            }
        }
        assert!(refused < 3, "{refused} zones cannot be read");
        assert!(all.len() > 300, "only {} zones", all.len());
        Self { all }
    }

    /// One name of each zone.
    fn each(&self) -> impl Iterator<Item = (&str, &Zone)> {
        self.all
            .iter()
            .map(|(names, zone)| (names[0].as_str(), zone))
    }
}

/// An instant in the server's binary form.
struct Instant(i64);

impl<'a> FromSql<'a> for Instant {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        // Postgres counts from 2000.
        Ok(Self(i64::from_be_bytes(raw.try_into()?) + 10_957 * DAY))
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TIMESTAMPTZ
    }
}

/// The boundaries between two bounds, as daybook gives them.
fn given(
    session: &mut Client,
    grain: &str,
    zone: &str,
    range: (&str, &str),
    origin: &str,
) -> Vec<i64> {
    let boundaries: Vec<Instant> = session
        .query_one(
            "SELECT daybook.grain_boundaries($1::text::interval, $2, $3::text::daybook.bound,
                                             $4::text::daybook.bound, $5::text::timestamp)",
            &[&grain, &zone, &range.0, &range.1, &origin],
        )
        .unwrap_or_else(|error| panic!("{grain} in {zone}: {}", daybook_tests::failure(&error)))
        .get(0);
    boundaries.into_iter().map(|instant| instant.0).collect()
}

/// Compares the boundaries of a grain in a zone, one by one.
fn compare(
    session: &mut Client,
    (name, zone): (&str, &Zone),
    (text, grain): (&str, Grain),
    (from, to): (i64, i64),
    origin: i64,
) {
    let (from_text, to_text) = (local_text(from), local_text(to));
    let found = given(
        session,
        text,
        name,
        (&from_text, &to_text),
        &local_text(origin),
    );
    let expected: Vec<i64> = grain
        .boundaries(zone, origin, zone.boundary(from), zone.boundary(to))
        .iter()
        .map(|boundary| boundary.instant)
        .collect();
    assert!(
        expected.windows(2).all(|pair| pair[0] < pair[1]),
        "{text} in {name}: the boundaries of the test itself do not increase"
    );
    if found != expected {
        let first = found.iter().zip(&expected).position(|(a, b)| a != b);
        panic!(
            "{text} in {name} from {from_text} to {to_text}: {} boundaries, expected {}; the first that differs: {:?}",
            found.len(),
            expected.len(),
            first.map(|n| (n, utc(found[n]), utc(expected[n])))
        );
    }
}

fn local_text(micros: i64) -> String {
    let at = jiff::civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0)
        .checked_add(jiff::Span::new().microseconds(micros))
        .expect("a time");
    at.strftime("%Y-%m-%d %H:%M:%S%.f").to_string()
}

fn utc(micros: i64) -> String {
    jiff::Timestamp::from_microsecond(micros)
        .expect("an instant")
        .to_string()
}

fn span(from: i64, to: i64) -> (i64, i64) {
    (days(from, 1, 1) * DAY, days(to, 1, 1) * DAY)
}

const MONDAY: i64 = 11_323 * DAY;

#[test]
fn the_zone_files_are_those_of_the_server() {
    let database = Database::new("zones");
    let mut session = database.session();
    let zones = Zones::of_server(&mut session);
    assert_eq!(local_text(MONDAY), "2001-01-01 00:00:00");
    session.run("CREATE TEMP TABLE change (zone text, at bigint, shown bigint, before bigint)");
    for (name, zone) in zones.each() {
        let (mut at, mut shown, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for (instant, offset) in zone.changes() {
            at.push(instant);
            shown.push(instant + offset);
            before.push(zone.local(instant - 1));
        }
        session
            .execute(
                "INSERT INTO change SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[])",
                &[&name, &at, &shown, &before],
            )
            .expect("an insert");
    }
    assert!(session.number("SELECT count(*) FROM change") > 30_000);
    // AT TIME ZONE takes CET and a few others for abbreviations, which know no summer.
    let wrong = session.rows(
        "SELECT zone, to_timestamp(at / 1000000)
         FROM (SELECT * FROM change WHERE zone NOT IN (SELECT abbrev FROM pg_timezone_abbrevs)) AS change
         CROSS JOIN LATERAL (VALUES (timestamptz 'epoch' + at * interval '1 microsecond')) AS i (instant)
         WHERE instant AT TIME ZONE zone <> timestamp 'epoch' + shown * interval '1 microsecond'
            OR (instant - interval '1 microsecond') AT TIME ZONE zone <> timestamp 'epoch' + before * interval '1 microsecond'
         LIMIT 10",
    );
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Runs a check of each zone on two sessions.
fn in_every_zone(name: &str, check: impl Fn(&mut Client, (&str, &Zone)) + Sync) {
    let database = Database::new(name);
    let zones = Zones::of_server(&mut database.session());
    let zones: Vec<_> = zones.each().collect();
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (zones, check, database) = (&zones, &check, &database);
            scope.spawn(move || {
                let mut session = database.session();
                for zone in zones.iter().skip(half).step_by(2) {
                    check(&mut session, *zone);
                }
            });
        }
    });
}

#[test]
fn days_in_every_zone() {
    in_every_zone("days", |session, zone| {
        compare(
            session,
            zone,
            ("1 day", Grain::Days(1)),
            span(1900, 2100),
            MONDAY,
        );
    });
}

#[test]
fn other_grains_in_every_zone() {
    in_every_zone("grains", |session, zone| {
        let weeks = (days(1899, 12, 25) * DAY, days(2100, 1, 4) * DAY);
        compare(session, zone, ("7 days", Grain::Days(7)), weeks, MONDAY);
        compare(
            session,
            zone,
            ("1 month", Grain::Months(1)),
            span(1900, 2100),
            MONDAY,
        );
        compare(
            session,
            zone,
            ("3 months", Grain::Months(3)),
            span(1900, 2100),
            MONDAY,
        );
        compare(
            session,
            zone,
            ("1 year", Grain::Months(12)),
            span(1900, 2100),
            MONDAY,
        );
        // A day that begins in the hours in which clocks change.
        let early = MONDAY + 2 * DAY / 24 + DAY / 48;
        let from = days(1990, 1, 1) * DAY + 2 * DAY / 24 + DAY / 48;
        compare(
            session,
            zone,
            ("1 day", Grain::Days(1)),
            (from, from + 20 * 365 * DAY),
            early,
        );
        // Months from the 31st.
        let origin = days(2000, 1, 31) * DAY;
        let ends = (days(1930, 8, 31) * DAY, days(2060, 2, 29) * DAY);
        compare(session, zone, ("1 month", Grain::Months(1)), ends, origin);
    });
}

#[test]
fn hours_and_minutes_in_every_zone() {
    in_every_zone("hours", |session, (name, zone)| {
        // Elapsed grains tile from the origin, so ranges begin and end at multiples.
        for (text, minutes, years) in [
            ("6 hours", 360, 12),
            ("15 minutes", 15, 1),
            ("24 hours", 1440, 30),
        ] {
            let grain = minutes * 60_000_000;
            let first = zone.boundary(MONDAY) + (days(2010, 1, 1) - days(2001, 1, 1)) * DAY;
            let last = first + years * 365 * DAY;
            let range = (
                format!("{}+00", local_text(first)),
                format!("{}+00", local_text(last)),
            );
            let found = given(session, text, name, (&range.0, &range.1), "2001-01-01");
            let expected: Vec<i64> = Grain::Elapsed(grain)
                .boundaries(zone, MONDAY, first, last)
                .iter()
                .map(|boundary| boundary.instant)
                .collect();
            assert!(found == expected, "{text} in {name}");
        }
    });
}

/// Every name of a zone gives what its first name gives.
#[test]
fn every_name_of_a_zone() {
    let database = Database::new("names");
    let mut session = database.session();
    let zones = Zones::of_server(&mut session);
    session.run("CREATE TEMP TABLE alias (zone text, same_as text)");
    for (names, _) in &zones.all {
        session
            .execute(
                "INSERT INTO alias SELECT unnest($1::text[]), $2",
                &[names, &names[0]],
            )
            .expect("an insert");
    }
    let wrong = session.rows(
        "SELECT zone, same_as FROM alias
         WHERE zone <> same_as
           AND daybook.grain_boundaries('1 day', zone, '2000-01-01', '2030-01-01')
               <> daybook.grain_boundaries('1 day', same_as, '2000-01-01', '2030-01-01')",
    );
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Days as the server's own AT TIME ZONE sees them: each shows its date from the first instant to the last, or will show it again, and
/// the instant after it does not.
#[test]
fn days_as_the_server_sees_them() {
    let database = Database::new("server_days");
    let mut session = database.session();
    session.run(
        "CREATE TABLE day AS
         SELECT z.name AS zone, b AS starts, lead(b) OVER (PARTITION BY z.name ORDER BY n) AS ends
         FROM unnest(array['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/St_Johns',
                           'Africa/Cairo', 'Pacific/Apia', 'America/Sao_Paulo', 'Asia/Beirut', 'America/Asuncion',
                           'America/Havana', 'Asia/Tehran', 'Atlantic/Azores', 'Pacific/Kwajalein', 'Asia/Gaza',
                           'Antarctica/Casey', 'Asia/Kolkata', 'Africa/Casablanca']) AS z (name)
         CROSS JOIN LATERAL unnest(daybook.grain_boundaries('1 day', z.name, '1990-01-01', '2030-01-01'))
              WITH ORDINALITY AS u (b, n)",
    );
    assert!(session.number("SELECT count(*) FROM day") > 200_000);
    // Does the clock show the date of a day at t, or again within the next three hours?
    session.run(
        "CREATE FUNCTION belongs(t timestamptz, starts timestamptz, zone text) RETURNS boolean LANGUAGE sql STABLE
         RETURN (t AT TIME ZONE zone)::date = (starts AT TIME ZONE zone)::date
             OR (t AT TIME ZONE zone)::date > (starts AT TIME ZONE zone)::date
                AND EXISTS (SELECT FROM generate_series(10, 180, 10) AS m
                            WHERE ((t + m * interval '1 minute') AT TIME ZONE zone)::date = (starts AT TIME ZONE zone)::date)",
    );
    let wrong = session.rows(
        "SELECT zone, starts, ends FROM day
         WHERE ends IS NOT NULL
           AND NOT (ends > starts
                    AND (starts AT TIME ZONE zone)::date > ((starts - interval '1 day') AT TIME ZONE zone)::date
                    AND belongs(starts, starts, zone)
                    AND belongs(starts + (ends - starts) / 4, starts, zone)
                    AND belongs(starts + (ends - starts) / 2, starts, zone)
                    AND belongs(ends - interval '1 microsecond', starts, zone)
                    AND NOT belongs(ends, starts, zone))
         LIMIT 10",
    );
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The days that every account of time zones tells of.
#[test]
fn days_that_are_known_to_be_odd() {
    let database = Database::new("odd_days");
    let mut session = database.session();
    let mut check = |zone: &str, from: &str, to: &str, expected: &[&str]| {
        let found = session.rows(&format!(
            "SELECT to_char(b AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
             FROM unnest(daybook.grain_boundaries('1 day', '{zone}', '{from}', '{to}')) AS b"
        ));
        assert_eq!(found.concat(), expected, "{zone}");
    };
    // 30 December 2011 did not exist.
    check(
        "Pacific/Apia",
        "2011-12-29",
        "2012-01-01",
        &["2011-12-29 10:00", "2011-12-30 10:00", "2011-12-31 10:00"],
    );
    // The day begins at 01:00.
    check(
        "Africa/Cairo",
        "2023-04-27",
        "2023-04-29",
        &["2023-04-26 22:00", "2023-04-27 22:00", "2023-04-28 21:00"],
    );
    // 23 and 25 hours.
    check(
        "America/New_York",
        "2013-03-10",
        "2013-03-11",
        &["2013-03-10 05:00", "2013-03-11 04:00"],
    );
    check(
        "America/New_York",
        "2013-11-03",
        "2013-11-04",
        &["2013-11-03 04:00", "2013-11-04 05:00"],
    );
    // At 01:00 the clock was set back to midnight: the day has 25 hours and begins with the first of the two.
    check(
        "America/Havana",
        "2013-11-03",
        "2013-11-04",
        &["2013-11-03 04:00", "2013-11-04 05:00"],
    );
    // At midnight it was set back to 23:00: the hour before midnight came twice, and belongs to the day that ends.
    check(
        "America/Asuncion",
        "2013-03-23",
        "2013-03-25",
        &["2013-03-23 03:00", "2013-03-24 04:00", "2013-03-25 04:00"],
    );
    // The clock was set back by a whole day: the 18th has 48 hours.
    check(
        "America/Juneau",
        "1867-10-18",
        "1867-10-20",
        &["1867-10-17 08:57", "1867-10-19 08:57", "1867-10-20 08:57"],
    );
    // A minute after midnight it was set back to the day before, to which that minute belongs.
    check(
        "America/St_Johns",
        "1987-10-24",
        "1987-10-26",
        &["1987-10-24 02:30", "1987-10-25 03:30", "1987-10-26 03:30"],
    );
}

/// Around each change of a clock, the day of an instant is the earliest date that the clock shows from then on.
#[test]
fn instants_around_every_change() {
    const STEP: i64 = 15 * 60_000_000;
    in_every_zone("around", |session, (name, zone)| {
        let from = days(1970, 1, 1) * DAY;
        let to = days(2040, 1, 1) * DAY;
        let range = (local_text(from), local_text(to));
        let found = given(session, "1 day", name, (&range.0, &range.1), "2001-01-01");
        for (change, _) in zone.changes() {
            if !(from + 3 * DAY..to - 3 * DAY).contains(&change) {
                continue;
            }
            let instants: Vec<i64> = (-120..=220).map(|steps| change + steps * STEP).collect();
            let mut earliest = i64::MAX;
            for instant in instants.into_iter().rev() {
                earliest = earliest.min(zone.local(instant));
                if instant > change + 120 * STEP {
                    continue;
                }
                let day = found[found.partition_point(|boundary| *boundary <= instant) - 1];
                assert!(
                    zone.local(day).div_euclid(DAY) == earliest.div_euclid(DAY),
                    "{name}: {} lies in the day from {}, but the clock goes on to show {}",
                    utc(instant),
                    utc(day),
                    local_text(earliest)
                );
            }
        }
    });
}
