//! Where nothing may be written: read-only transactions and standbys. What tells about loads works, what writes raises 25006 at once.

use std::time::{Duration, Instant};

use daybook_tests::server::Server;
use daybook_tests::{Client, Database, Session};

fn setup(session: &mut Client) {
    session.run(
        "CREATE TABLE src (id int, at timestamptz);
         INSERT INTO src SELECT n, timestamptz '2026-01-01 00:00+00' + n * interval '6 hours' FROM generate_series(0, 39) AS n;
         CREATE TABLE fact (id int, at timestamptz, interval_start timestamptz NOT NULL);
         SELECT register_load('fact', 'src', 'at');
         SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-05');
         SELECT status FROM historize('src', 'hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
         SELECT create_history_views('hist');
         UPDATE src SET at = at + interval '1 minute' WHERE id < 10;",
    );
}

fn check(session: &mut Client) {
    for statement in [
        "SELECT load_interval('fact', '2026-01-01', '2026-01-02')",
        "SELECT load_interval('fact', '2026-01-01', '2026-01-02', on_error => 'report')",
        "SELECT register_load('fact', 'src', 'at')",
        "SELECT unregister_load('fact')",
        "SELECT register_rule('fact', 'all', filter => 'true')",
        "SELECT unregister_rule('fact', 'all')",
        "SELECT mark_stale('fact', '2026-01-01', '2026-01-02', 'a note')",
        "SELECT historize('hist')",
        "SELECT historize('hist', on_error => 'report')",
        "SELECT historize('src', 'hist')",
        "SELECT historize('src', 'another', 'id')",
        "SELECT historize('src', 'another', 'id', dry_run => true)",
        "SELECT register_history('hist', 'src', 'id')",
        "SELECT unregister_history('hist')",
        "SELECT create_history_views('hist')",
        "SELECT rewind_history('hist', '2025-01-01 00:00+00')",
        "SELECT rewind_history('hist', '2025-01-01 00:00+00', dry_run => true)",
    ] {
        let failure = session.refused(statement);
        assert_eq!(failure.code, "25006", "{statement}: {failure}");
    }
    assert_eq!(
        session
            .value("SELECT daybook.last_closed('fact', '2026-01-03 12:00+00') AT TIME ZONE 'UTC'"),
        "2026-01-03 00:00:00"
    );
    assert!(
        session.number(
            "SELECT count(*) FROM daybook.explain_load('fact', '2026-01-01', '2026-01-03')"
        ) > 1
    );
    assert_eq!(
        session.number("SELECT count(*) FROM daybook.check_load('fact')"),
        0
    );
    assert_eq!(session.number("SELECT array_length(daybook.grain_boundaries('1 day', 'UTC', '2026-01-01', '2026-01-03'), 1)"), 3);
    assert_eq!(
        session.rows("SELECT status, rows_read, rows_deleted, rows_inserted FROM load_interval('fact', '2026-01-04', '2026-01-06', dry_run => true)"),
        [["planned", "4", "4", "4"], ["planned", "4", "0", "4"]]
    );
    // What a run would do, what is wrong, and what the history holds.
    assert_eq!(
        session.rows("SELECT status, run_id, rows_read, versions_opened, versions_closed, rows_unchanged FROM historize('hist', dry_run => true)"),
        [["planned", "NULL", "40", "10", "10", "30"]]
    );
    assert_eq!(
        session.number("SELECT count(*) FROM daybook.check_history('hist')"),
        0
    );
    assert_eq!(
        session.rows("SELECT (SELECT count(*) FROM hist_current), (SELECT count(*) FROM hist_as_of('2026-01-02 00:00+00'))"),
        [["40", "40"]]
    );
    for (view, rows) in [
        ("loads", 1),
        ("histories", 1),
        ("rules", 0),
        ("runs", 2),
        ("interval_log", 4),
    ] {
        assert_eq!(
            session.number(&format!("SELECT count(*) FROM daybook.{view}")),
            rows,
            "{view}"
        );
    }
}

#[test]
fn read_only_transactions() {
    let database = Database::new("read_only");
    let mut session = database.session();
    setup(&mut session);
    session.run("SET default_transaction_read_only = on");
    check(&mut session);
    session.run("RESET default_transaction_read_only");
    session.run("BEGIN READ ONLY");
    assert_eq!(
        session
            .refused("SELECT load_interval('fact', '2026-01-01', '2026-01-02')")
            .code,
        "25006"
    );
    session.run("ROLLBACK");
    session.run("SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-02')");
}

#[test]
fn standbys() {
    let primary = Server::start("fsync = off\nwal_level = replica\nmax_wal_senders = 4");
    let database = Database::on(&primary.host(), "5432", "standby");
    setup(&mut database.session());
    let standby = primary.standby();
    let mut session = daybook_tests::connect_to(&standby.host(), "5432", &database.name);
    assert_eq!(session.value("SELECT pg_is_in_recovery()"), "t");
    check(&mut session);

    // Loads arrive there as a whole.
    database.session().run(
        "SELECT count(*) FROM load_interval('fact', '2026-01-05', '2026-01-08', wide => true)",
    );
    let deadline = Instant::now() + Duration::from_secs(30);
    while session.number("SELECT count(*) FROM fact") < 28 {
        assert!(Instant::now() < deadline, "the standby does not follow");
        std::thread::sleep(Duration::from_millis(50));
    }
    // So do runs of histories.
    database
        .session()
        .run("SELECT status FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00')");
    while session.number("SELECT count(*) FROM hist") < 50 {
        assert!(Instant::now() < deadline, "the standby does not follow");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(
        session.number("SELECT count(*) FROM daybook.check_history('hist')"),
        0
    );
    assert_eq!(
        session.rows("SELECT count(*), (SELECT count(*) FROM daybook.interval_log) FROM fact"),
        [["28", "7"]]
    );
    drop(session);
    drop(standby);
}
