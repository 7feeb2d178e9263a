//! Backends killed and servers stopped hard in the middle of loads: after recovery the target is as before or as after, the log agrees, and
//! the load can be run again.

use std::process::Command;
use std::time::{Duration, Instant};

use daybook_tests::server::Server;
use daybook_tests::{Client, Database, Session};

const ROUNDS: u64 = 8;
const DAYS: i64 = 30;
const ROWS: i64 = 45_000;

fn setup(session: &mut Client) {
    session.run(&format!(
        "CREATE TABLE src (id int, at timestamptz, round int);
         INSERT INTO src SELECT n, timestamptz '2026-01-01 00:00+00' + n * interval '{DAYS} days' / {ROWS}, 0
         FROM generate_series(0, {ROWS} - 1) AS n;
         CREATE TABLE fact (id int, at timestamptz, round int, interval_start timestamptz NOT NULL, loaded_at timestamptz);
         CREATE INDEX ON fact (interval_start);
         CREATE TABLE param (round int);
         INSERT INTO param VALUES (0);
         CREATE VIEW now_src AS SELECT src.id, src.at, param.round FROM src, param;
         SELECT register_load('fact', 'now_src', time_column => 'at');
         SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-31', wide => true)"
    ));
}

/// The round whose rows the target holds; checks that it holds them all, and nothing else, and that the log says the same.
fn state(session: &mut Client) -> (i64, i64) {
    let rows = session.rows(
        "SELECT min(round), max(round), count(*), count(DISTINCT id),
                count(*) FILTER (WHERE interval_start <> date_trunc('day', at, 'UTC')) FROM fact",
    );
    let round: i64 = rows[0][0].parse().expect("a number");
    let all = ROWS.to_string();
    assert_eq!(
        rows,
        [[
            round.to_string(),
            round.to_string(),
            all.clone(),
            all,
            "0".to_owned()
        ]]
    );
    let log = session.rows(&format!(
        "SELECT count(*), sum(s.rows_inserted), count(DISTINCT s.run_id), bool_and(s.run_id = (SELECT max(run_id) FROM daybook.run)),
                (SELECT count(*) = {DAYS} * count(DISTINCT run_id) FROM daybook.run_interval),
                bool_and(s.rows_inserted = (SELECT count(*) FROM fact AS f WHERE f.interval_start = s.interval_start))
         FROM daybook.interval_state AS s"
    ));
    assert_eq!(
        log,
        [[
            DAYS.to_string(),
            ROWS.to_string(),
            "1".to_owned(),
            "t".to_owned(),
            "t".to_owned(),
            "t".to_owned()
        ]]
    );
    (round, session.number("SELECT count(*) FROM daybook.runs"))
}

/// Waits until the server has come up for the `starts`-th time.
fn await_recovery(server: &Server, starts: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let ready = "database system is ready to accept connections";
    while (server.log().matches(ready).count() as u64) < starts {
        assert!(Instant::now() < deadline, "the server does not come back");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn rounds(name: &str, crash: impl Fn(&Server, i64)) {
    let server = Server::start("fsync = on\nmax_wal_size = '200MB'\nrestart_after_crash = on");
    let database = Database::on(&server.host(), "5432", name);
    setup(&mut database.session());
    let (mut last_round, mut runs) = state(&mut database.session());
    let mut cut_off = 0;
    let mut longest = Duration::from_millis(300);
    for round in 1..=ROUNDS {
        let mut session = database.session();
        session.run(&format!("UPDATE param SET round = {round}"));
        let pid = session.number("SELECT pg_backend_pid()");
        let wide = round % 2 == 0;
        let started = Instant::now();
        let loading = std::thread::spawn(move || {
            let statement = format!(
                "SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-31', wide => {wide})"
            );
            (session.attempt(&statement).is_ok(), session)
        });
        // Spread over the time that a load takes, the commit included.
        std::thread::sleep(longest * round as u32 / ROUNDS as u32);
        crash(&server, pid);
        let (went_through, _) = loading.join().expect("a thread");
        if went_through {
            longest = longest.min(started.elapsed());
        } else {
            cut_off += 1;
        }

        await_recovery(&server, round + 1);
        let mut session = database.session();
        let (found, found_runs) = state(&mut session);
        let after = found == round as i64;
        assert!(
            after || found == last_round,
            "round {found} in round {round}"
        );
        assert!(after || !went_through, "what was committed is lost");
        assert_eq!(found_runs, runs + i64::from(after));
        session.run(&format!(
            "SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-31', wide => {wide})"
        ));
        assert_eq!(state(&mut session), (round as i64, found_runs + 1));
        (last_round, runs) = (round as i64, found_runs + 1);
    }
    assert!(cut_off > 0, "no load was cut off");
}

#[test]
fn killed_backends() {
    rounds("killed", |_, pid| {
        // Its load may have ended, but its session goes on.
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.expect("kill runs").success());
    });
}

#[test]
fn servers_stopped_at_once() {
    rounds("stopped", |server, _| {
        server.ctl(&["restart", "-m", "immediate"])
    });
}
