//! Eight snapshots of the world's airports, 2022 to 2026: every figure of their history, and the same history from other sources,
//! in other targets, and from change events.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use daybook_tests::{Client, Database, Session};

/// A snapshot and what must come out of it, as a program that knows nothing of daybook has counted.
struct Snapshot {
    day: &'static str,
    rows: i64,
    /// New keys, and among them those that had ended before.
    new: i64,
    reappeared: i64,
    changed: i64,
    missing: i64,
    /// What the history holds afterwards.
    versions: i64,
    current: i64,
}

const fn snapshot(day: &'static str, figures: [i64; 7]) -> Snapshot {
    let [rows, new, changed, missing, reappeared, versions, current] = figures;
    Snapshot {
        day,
        rows,
        new,
        reappeared,
        changed,
        missing,
        versions,
        current,
    }
}

const SNAPSHOTS: [Snapshot; 8] = [
    snapshot("2022-05-12", [28875, 28875, 0, 0, 0, 28875, 28875]),
    snapshot("2022-11-05", [28894, 25, 1938, 6, 0, 30838, 28894]),
    snapshot("2023-03-03", [28130, 2109, 26021, 2873, 0, 58968, 28130]),
    snapshot("2024-03-09", [28140, 25, 1577, 15, 0, 60570, 28140]),
    snapshot("2024-04-15", [28186, 211, 27556, 165, 75, 88337, 28186]),
    snapshot("2025-02-24", [28258, 76, 128, 4, 2, 88541, 28258]),
    snapshot("2026-02-08", [28409, 523, 12951, 372, 152, 102_015, 28409]),
    snapshot("2026-09-05", [28298, 183, 273, 294, 58, 102_471, 28298]),
];

impl Snapshot {
    /// The table that holds it.
    fn table(&self) -> String {
        format!("airports_{}", self.day.replace('-', ""))
    }

    /// What `historize` must answer with, see [`result`].
    fn result(&self) -> Vec<String> {
        let words = ["loaded".to_owned(), "snapshot".to_owned()];
        let numbers = [
            self.rows,
            self.new + self.changed,
            self.changed + self.missing,
            self.rows - self.new - self.changed,
            self.reappeared,
            0,
        ];
        words
            .into_iter()
            .chain(numbers.map(|number| number.to_string()))
            .collect()
    }
}

/// All columns, in the order of the later snapshots.
const COLUMNS: &str = "icao, iata, name, city, subd, country, elevation, lat, lon, tz, lid";

/// A database with a table for each snapshot, with the columns of its file; `snapshots`, a view of them all; and `expected`, the
/// history that plain SQL makes of them.
fn airports(name: &str) -> (Database, Client) {
    let database = Database::new(name);
    let mut session = database.session();
    let mut all = Vec::new();
    for (number, snapshot) in SNAPSHOTS.iter().enumerate() {
        let table = snapshot.table();
        let file = table.replace("airports_", "airports/");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/{file}.csv.gz"));
        let unpacked = Command::new("gzip")
            .arg("-dc")
            .arg(file)
            .output()
            .expect("gzip runs");
        assert!(unpacked.status.success());
        let header = unpacked.stdout.split(|byte| *byte == b'\n').next();
        let header = String::from_utf8_lossy(header.expect("a header"));
        session.run(&format!(
            "CREATE UNLOGGED TABLE {table} ({} text)",
            header.trim().replace(',', " text, ")
        ));
        let mut copy = session
            .copy_in(&format!(
                "COPY {table} FROM STDIN WITH (FORMAT csv, HEADER)"
            ))
            .expect("a copy");
        copy.write_all(&unpacked.stdout).expect("rows");
        let rows = copy.finish().expect("the end of a copy");
        assert_eq!(rows as i64, snapshot.rows);
        let columns = match header.contains("lid") {
            true => COLUMNS.to_owned(),
            false => COLUMNS.replace("lid", "NULL AS lid"),
        };
        all.push(format!(
            "SELECT {number} AS number, timestamptz '{} 00:00:00+00' AS day, {columns} FROM {table}",
            snapshot.day
        ));
    }
    // A version is a run of snapshots, one after the other, in which the row is the same.
    session.run(&format!(
        "SET work_mem = '128MB';
         CREATE VIEW snapshots AS {all};
         CREATE TABLE days AS SELECT DISTINCT number, day FROM snapshots;
         CREATE TABLE expected AS
         WITH images AS (
             SELECT icao COLLATE \"C\" AS icao, number, hash_record_extended(ROW({COLUMNS}), 0) AS image FROM snapshots),
         marked AS (
             SELECT *, lag(number) OVER key IS DISTINCT FROM number - 1 OR lag(image) OVER key <> image AS begins
             FROM images WINDOW key AS (PARTITION BY icao ORDER BY number)),
         numbered AS (
             SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY icao ORDER BY number) AS version FROM marked),
         versions AS (
             SELECT icao, min(number) AS number, max(number) AS last FROM numbered GROUP BY icao, version)
         SELECT {columns}, s.day AS dl_ts_captured, coalesce(d.day - interval '1 ms', '9999-12-31 00:00:00+00') AS dl_ts_delimited
         FROM versions AS v JOIN snapshots AS s ON (s.number, s.icao) = (v.number, v.icao) LEFT JOIN days AS d ON d.number = v.last + 1",
        all = all.join(" UNION ALL "),
        columns = COLUMNS.replace("icao", "s.icao")
    ));
    (database, session)
}

/// What `historize` answers with: status, mode and its counts.
fn result(session: &mut Client, call: &str) -> Vec<String> {
    let mut rows = session.rows(&format!(
        "SELECT status, mode, rows_read, versions_opened, versions_closed, rows_unchanged, reappeared, late_rows FROM {call}"
    ));
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

/// Versions and current ones of a history.
fn size(session: &mut Client, table: &str) -> Vec<String> {
    session
        .rows(&format!(
            "SELECT count(*), count(*) FILTER (WHERE dl_ts_delimited = '9999-12-31 00:00:00+00') FROM {table}"
        ))
        .remove(0)
}

/// Fails unless a history is the one expected, up to a snapshot.
fn assert_history(session: &mut Client, table: &str, last: &Snapshot) {
    let columns = format!("{COLUMNS}, dl_ts_captured, dl_ts_delimited");
    let day = last.day;
    let expected = format!(
        "SELECT {COLUMNS}, dl_ts_captured,
                CASE WHEN dl_ts_delimited > '{day}' THEN '9999-12-31 00:00:00+00' ELSE dl_ts_delimited END AS dl_ts_delimited
         FROM expected WHERE dl_ts_captured <= '{day}'"
    );
    let different = session.rows(&format!(
        "WITH history AS (SELECT {columns} FROM {table}), expected AS ({expected})
         SELECT count(*), min(icao) FROM ((TABLE history EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE history)) AS d"
    ));
    assert_eq!(different, [["0", "NULL"]], "{table} on {day}");
}

/// Fails if daybook finds anything wrong with a history.
fn assert_sound(session: &mut Client, table: &str) {
    assert_eq!(
        session.rows(&format!("SELECT * FROM daybook.check_history('{table}')")),
        Vec::<Vec<String>>::new(),
        "{table}"
    );
}

fn strings(numbers: &[i64]) -> Vec<String> {
    numbers.iter().map(i64::to_string).collect()
}

/// The table as it stands, whatever columns it has.
fn fingerprint(session: &mut Client, table: &str) -> String {
    session.value(&format!(
        "SELECT sum(hashtextextended(t::text, 0)) FROM {table} AS t"
    ))
}

#[test]
fn the_figures_of_the_airports() {
    let (_database, mut session) = airports("airports");
    for snapshot in &SNAPSHOTS {
        let call = format!(
            "historize('{}', 'airports', 'icao', reference_timestamp => '{}'",
            snapshot.table(),
            snapshot.day
        );
        // What it would do, where a column comes too; then the same done, then the same again.
        if snapshot.day == "2023-03-03" {
            let before = fingerprint(&mut session, "airports");
            let mut planned = result(&mut session, &format!("{call}, dry_run => true)"));
            assert_eq!(planned[0], "planned");
            "loaded".clone_into(&mut planned[0]);
            assert_eq!(planned, snapshot.result(), "a dry run on {}", snapshot.day);
            assert_eq!(fingerprint(&mut session, "airports"), before);
        }
        let done = result(&mut session, &format!("{call})"));
        assert_eq!(done, snapshot.result(), "{}", snapshot.day);
        assert_eq!(
            size(&mut session, "airports"),
            strings(&[snapshot.versions, snapshot.current]),
            "{}",
            snapshot.day
        );
        assert_sound(&mut session, "airports");

        let before = fingerprint(&mut session, "airports");
        assert_eq!(
            result(&mut session, &format!("{call})")),
            [
                "unchanged",
                "snapshot",
                &snapshot.rows.to_string(),
                "0",
                "0",
                &snapshot.rows.to_string(),
                "0",
                "0"
            ],
            "{} again",
            snapshot.day
        );
        assert_eq!(fingerprint(&mut session, "airports"), before);
    }
    assert_history(&mut session, "airports", &SNAPSHOTS[7]);
}

/// A snapshot that comes late, one that was the wrong file, and the way back.
#[test]
fn airports_out_of_turn() {
    let (_database, mut session) = airports("airports_turn");
    let load = |session: &mut Client, snapshot: &Snapshot, day: &str| {
        result(
            session,
            &format!(
                "historize('{}', 'airports', 'icao', reference_timestamp => '{day}')",
                snapshot.table()
            ),
        )
    };
    for snapshot in &SNAPSHOTS[..5] {
        load(&mut session, snapshot, snapshot.day);
    }
    assert_history(&mut session, "airports", &SNAPSHOTS[4]);

    // The reference of a snapshot that was there before is refused: its versions would overlap.
    let refused = session.refused(
        "SELECT * FROM historize('airports_20240309', 'airports', 'icao', reference_timestamp => '2024-03-09')",
    );
    assert_eq!(refused.code, "22023", "{refused}");
    for instant in ["2024-03-09", "2024-04-15"] {
        assert!(refused.text.contains(instant), "{refused}");
    }

    // The wrong file at the instant of the last one: as if nothing had come at that instant. Then the right one.
    load(&mut session, &SNAPSHOTS[3], SNAPSHOTS[4].day);
    assert_history(&mut session, "airports", &SNAPSHOTS[3]);
    load(&mut session, &SNAPSHOTS[4], SNAPSHOTS[4].day);
    assert_history(&mut session, "airports", &SNAPSHOTS[4]);

    // Back by three snapshots and on again.
    assert_eq!(
        session.rows(
            "SELECT status, versions_withdrawn, versions_reopened FROM rewind_history('airports', '2022-11-05')"
        ),
        [[
            "loaded".to_owned(),
            (SNAPSHOTS[4].versions - SNAPSHOTS[1].versions).to_string(),
            session.value(
                "SELECT count(*) FROM expected WHERE dl_ts_captured <= '2022-11-05' AND dl_ts_delimited BETWEEN '2022-11-05' AND '2024-04-15'"
            ),
        ]]
    );
    assert_history(&mut session, "airports", &SNAPSHOTS[1]);
    for snapshot in &SNAPSHOTS[2..] {
        let done = load(&mut session, snapshot, snapshot.day);
        assert_eq!(done, snapshot.result(), "{}", snapshot.day);
    }
    assert_history(&mut session, "airports", &SNAPSHOTS[7]);
    assert_sound(&mut session, "airports");
}

#[test]
fn one_history_from_any_source_in_any_target() {
    let (_database, mut session) = airports("airports_sources");

    // Rows and columns in another order.
    let mixed: Vec<&str> = COLUMNS.split(", ").collect();
    for (number, snapshot) in SNAPSHOTS.iter().enumerate() {
        let mut columns = mixed[..if number < 2 { 10 } else { 11 }].to_vec();
        columns.rotate_left(number);
        columns.reverse();
        let columns = columns.join(", ");
        session.run(&format!(
            "CREATE TEMP TABLE mixed AS SELECT {columns} FROM {} ORDER BY md5(icao || {number});
             SELECT * FROM historize('pg_temp.mixed', 'from_mixed', 'icao', reference_timestamp => '{}');
             DROP TABLE mixed",
            snapshot.table(),
            snapshot.day
        ));
    }
    assert_history(&mut session, "from_mixed", &SNAPSHOTS[7]);
    assert_sound(&mut session, "from_mixed");

    // A view, registered once, into a table in partitions; the column that comes later is there from the start, and NULL.
    let columns = COLUMNS.replace(',', " text,");
    session.run(&format!(
        "CREATE TABLE published (day timestamptz);
         CREATE VIEW latest AS SELECT {COLUMNS} FROM snapshots WHERE day = (SELECT max(p.day) FROM published AS p);
         CREATE TABLE in_partitions ({columns} text, dl_ts_captured timestamptz, dl_ts_delimited timestamptz, dl_hash bytea,
             PRIMARY KEY (icao, dl_ts_captured)) PARTITION BY HASH (icao);
         CREATE TABLE in_partitions_0 PARTITION OF in_partitions FOR VALUES WITH (MODULUS 3, REMAINDER 0);
         CREATE TABLE in_partitions_1 PARTITION OF in_partitions FOR VALUES WITH (MODULUS 3, REMAINDER 1);
         CREATE TABLE in_partitions_2 PARTITION OF in_partitions FOR VALUES WITH (MODULUS 3, REMAINDER 2);
         SELECT register_history('in_partitions', 'latest', 'icao')"
    ));
    for snapshot in &SNAPSHOTS {
        session.run(&format!(
            "INSERT INTO published VALUES ('{}')",
            snapshot.day
        ));
        let call = format!(
            "historize('in_partitions', reference_timestamp => '{}')",
            snapshot.day
        );
        let done = result(&mut session, &call);
        assert_eq!(done, snapshot.result(), "{}", snapshot.day);
    }
    assert_history(&mut session, "in_partitions", &SNAPSHOTS[7]);
    assert_sound(&mut session, "in_partitions");

    // The two agree in their hashes too, which do not know an order of columns, once they have the same columns.
    assert_eq!(
        session.number(
            "SELECT count(*) FROM from_mixed AS m JOIN in_partitions AS p
             USING (icao, dl_ts_captured, dl_hash) WHERE dl_ts_captured >= '2023-03-03'"
        ),
        SNAPSHOTS[7].versions - SNAPSHOTS[1].versions
    );
}

/// A table on another server, as far as postgres_fdw can tell. Every row there costs a message, so only one region is kept.
#[test]
fn airports_in_a_foreign_table() {
    let (_database, mut session) = airports("airports_foreign");
    if session.number("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'")
        == 0
    {
        println!("skipped: this server has no postgres_fdw");
        return;
    }
    let columns = COLUMNS.replace(',', " text,");
    let columns = format!(
        "{columns} text, dl_ts_captured timestamptz, dl_ts_delimited timestamptz, dl_hash bytea"
    );
    session.run(&format!(
        "CREATE EXTENSION postgres_fdw;
         DO $$ BEGIN
             EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw
                             OPTIONS (host %L, port %L, dbname %L, batch_size ''1000'')',
                 split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
         END $$;
         CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user 'postgres');
         CREATE TABLE there ({columns}, PRIMARY KEY (icao, dl_ts_captured));
         CREATE UNIQUE INDEX ON there (icao) WHERE dl_ts_delimited = '9999-12-31 00:00:00+00';
         CREATE FOREIGN TABLE here ({columns}) SERVER loopback OPTIONS (table_name 'there');
         DELETE FROM expected WHERE icao NOT LIKE 'L%'"
    ));
    for snapshot in &SNAPSHOTS {
        session.run(&format!(
            "CREATE TEMP TABLE part AS SELECT * FROM {} WHERE icao LIKE 'L%'",
            snapshot.table()
        ));
        let call = format!(
            "historize('pg_temp.part', 'here', 'icao', reference_timestamp => '{}')",
            snapshot.day
        );
        assert_eq!(result(&mut session, &call)[0], "loaded", "{}", snapshot.day);
        let again = result(&mut session, &call);
        assert_eq!(again[0], "unchanged", "{}", snapshot.day);
        session.run("DROP TABLE part");
    }
    assert_history(&mut session, "here", &SNAPSHOTS[7]);
    assert_sound(&mut session, "here");
}

/// What changed from one snapshot to the next, as events with preimages, in no order.
fn change_events(session: &mut Client) {
    let (old, new) = (
        COLUMNS
            .replace("icao", "(old).icao")
            .replace(", ", ", (old)."),
        COLUMNS
            .replace("icao", "(new).icao")
            .replace(", ", ", (new)."),
    );
    session.run(&format!(
        "CREATE TABLE events AS
         WITH pairs AS (
             SELECT coalesce(n.number, o.number + 1) AS number, o AS old, n AS new, ROW({old_row}) IS DISTINCT FROM ROW({new_row}) AS differs
             FROM snapshots AS o FULL JOIN snapshots AS n ON n.icao = o.icao AND n.number = o.number + 1),
         changes AS (
             SELECT number, 'insert' AS _change_type, {new} FROM pairs WHERE (old).icao IS NULL
             UNION ALL
             SELECT number, 'update_preimage', {old} FROM pairs WHERE (old).icao = (new).icao AND differs
             UNION ALL
             SELECT number, 'update_postimage', {new} FROM pairs WHERE (old).icao = (new).icao AND differs
             UNION ALL
             SELECT number, 'delete', {old} FROM pairs WHERE (new).icao IS NULL)
         SELECT _change_type, day AS _commit_timestamp, {COLUMNS}
         FROM changes JOIN days USING (number)
         ORDER BY md5(icao || number || _change_type);
         CREATE TABLE published (day timestamptz);
         CREATE VIEW batch AS SELECT * FROM events WHERE _commit_timestamp = (SELECT max(p.day) FROM published AS p)",
        old_row = COLUMNS.replace("icao", "o.icao").replace(", ", ", o."),
        new_row = COLUMNS.replace("icao", "n.icao").replace(", ", ", n."),
    ));
}

#[test]
fn one_history_from_change_events() {
    let (_database, mut session) = airports("airports_events");
    change_events(&mut session);
    session.run("SELECT register_history('from_events', 'batch', 'icao')");
    for (number, snapshot) in SNAPSHOTS.iter().enumerate() {
        session.run(&format!(
            "INSERT INTO published VALUES ('{}')",
            snapshot.day
        ));
        let events = snapshot.new + 2 * snapshot.changed + snapshot.missing;
        let mut expected = vec!["loaded".to_owned(), "events".to_owned()];
        expected.extend(strings(&[
            events,
            snapshot.new + snapshot.changed,
            snapshot.changed + snapshot.missing,
            snapshot.changed, // the preimages
            snapshot.reappeared,
            0,
        ]));
        let done = result(&mut session, "historize('from_events')");
        assert_eq!(done, expected, "{}", snapshot.day);
        assert_eq!(
            size(&mut session, "from_events"),
            strings(&[snapshot.versions, snapshot.current])
        );
        // The batch is delivered again.
        if number == 4 {
            let again = result(&mut session, "historize('from_events')");
            assert_eq!(again[0], "unchanged", "{}: {again:?}", snapshot.day);
        }

        // A history that takes snapshots and events in turn.
        match number % 2 {
            0 => session.run(&format!(
                "SELECT * FROM historize('{}', 'in_turn', 'icao', reference_timestamp => '{}')",
                snapshot.table(),
                snapshot.day
            )),
            _ => session.run("SELECT * FROM historize('batch', 'in_turn', 'icao')"),
        }
    }
    assert_history(&mut session, "from_events", &SNAPSHOTS[7]);
    assert_history(&mut session, "in_turn", &SNAPSHOTS[7]);
    assert_sound(&mut session, "in_turn");

    // All events at once: each a version, or the last of each key.
    let all = result(
        &mut session,
        "historize('events', 'at_once', 'icao', intermediate_versions => true)",
    );
    assert_eq!(all[..2], ["loaded", "events"]);
    assert_eq!(all[3], SNAPSHOTS[7].versions.to_string());
    assert_history(&mut session, "at_once", &SNAPSHOTS[7]);
    assert_sound(&mut session, "at_once");
    session.run("SELECT * FROM historize('events', 'last_only', 'icao')");
    assert_eq!(
        size(&mut session, "last_only"),
        strings(&[SNAPSHOTS[7].current, SNAPSHOTS[7].current])
    );
    assert_eq!(
        session.number(
            "SELECT count(*) FROM last_only AS l JOIN expected AS e USING (icao, dl_ts_captured, dl_ts_delimited)
             WHERE l.name = e.name"
        ),
        SNAPSHOTS[7].current
    );
    assert_sound(&mut session, "last_only");
    // All of them once more, in another order than they came: nothing.
    let again = result(&mut session, "historize('events', 'at_once', 'icao')");
    assert_eq!(again[0], "unchanged", "{again:?}");
}
