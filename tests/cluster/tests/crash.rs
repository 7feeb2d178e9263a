//! Backends killed and servers stopped hard in the middle of loads and of runs of histories: after recovery the target is as before or as
//! after, the log agrees, and the run can be made again.

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

/// Kills a backend. Its run may have ended, but its session goes on.
fn kill(pid: i64) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill runs").success());
}

#[test]
fn killed_backends() {
    rounds("killed", |_, pid| kill(pid));
}

#[test]
fn servers_stopped_at_once() {
    rounds("stopped", |server, _| {
        server.ctl(&["restart", "-m", "immediate"])
    });
}

const HISTORY_ROUNDS: u64 = 4;
const RECORDS: i64 = 10_000;

/// A source all of whose rows change with each round; a tenth of them comes and goes.
fn setup_history(session: &mut Client) {
    session.run(&format!(
        "CREATE TABLE base AS SELECT n AS id, repeat('x', 50) AS note FROM generate_series(1, {RECORDS}) AS n;
         CREATE TABLE param (round int);
         INSERT INTO param VALUES (0);
         CREATE VIEW src AS SELECT base.id, base.note, param.round FROM base, param WHERE base.id % 10 > 0 OR param.round % 2 = 0;
         SELECT status FROM historize('src', 'hist', 'id', reference_timestamp => '2026-01-01 00:00+00');
         SELECT create_history_views('hist')"
    ));
}

/// The round that the current versions are of, and how many runs changed something; checks that the history, what is remembered of it and
/// the log say the same.
fn history_state(session: &mut Client) -> (i64, i64) {
    let current = session.rows("SELECT min(round), max(round), count(*), min(dl_ts_captured) = max(dl_ts_captured) FROM hist_current");
    let round: i64 = current[0][0].parse().expect("a number");
    let records = if round % 2 == 0 {
        RECORDS
    } else {
        RECORDS - RECORDS / 10
    };
    assert_eq!(
        current,
        [[
            round.to_string(),
            round.to_string(),
            records.to_string(),
            "t".to_owned()
        ]]
    );
    assert_eq!(
        session.rows(
            "SELECT (SELECT count(*) FROM daybook.check_history('hist')),
                    (SELECT sum(versions_opened) FROM daybook.runs) = (SELECT count(*) FROM hist),
                    (SELECT sum(versions_closed) FROM daybook.runs) = (SELECT count(*) FROM hist WHERE dl_ts_delimited < '9999-01-01'),
                    (SELECT max(reference_timestamp) FROM daybook.runs WHERE status = 'loaded') = (SELECT max(dl_ts_captured) FROM hist),
                    (SELECT count(*) FROM hist WHERE dl_hash IS NULL)"
        ),
        [["0", "t", "t", "t", "0"]]
    );
    (
        round,
        session.number("SELECT count(*) FROM daybook.runs WHERE status = 'loaded'"),
    )
}

fn history_rounds(name: &str, crash: impl Fn(&Server, i64)) {
    let server = Server::start("fsync = on\nmax_wal_size = '200MB'\nrestart_after_crash = on");
    let database = Database::on(&server.host(), "5432", name);
    setup_history(&mut database.session());
    let (mut last_round, mut runs) = history_state(&mut database.session());
    let mut cut_off = 0;
    let mut longest = Duration::from_millis(500);
    for round in 1..=HISTORY_ROUNDS {
        let mut session = database.session();
        session.run(&format!("UPDATE param SET round = {round}"));
        let pid = session.number("SELECT pg_backend_pid()");
        let statement = format!(
            "SELECT status FROM historize('hist', reference_timestamp => '2026-01-{:02} 00:00+00')",
            round + 1
        );
        let running = statement.clone();
        let started = Instant::now();
        let run = std::thread::spawn(move || (session.attempt(&running).is_ok(), session));
        std::thread::sleep(longest * round as u32 / HISTORY_ROUNDS as u32);
        crash(&server, pid);
        let (went_through, _) = run.join().expect("a thread");
        if went_through {
            longest = longest.min(started.elapsed());
        } else {
            cut_off += 1;
        }

        await_recovery(&server, round + 1);
        let mut session = database.session();
        let (found, found_runs) = history_state(&mut session);
        let after = found == round as i64;
        assert!(
            after || found == last_round,
            "round {found} in round {round}"
        );
        assert!(after || !went_through, "what was committed is lost");
        assert_eq!(found_runs, runs + i64::from(after));
        // Once more, at the same instant: it does what was not done, or nothing.
        let status = session.value(&statement);
        assert_eq!(status, if after { "unchanged" } else { "loaded" });
        (last_round, runs) = history_state(&mut session);
        assert_eq!(last_round, round as i64);
    }
    println!("{cut_off} of {HISTORY_ROUNDS} runs were cut off");
    assert!(cut_off > 0, "no run was cut off");
}

#[test]
fn histories_of_killed_backends() {
    history_rounds("killed_history", |_, pid| kill(pid));
}

#[test]
fn histories_of_servers_stopped_at_once() {
    history_rounds("stopped_history", |server, _| {
        server.ctl(&["restart", "-m", "immediate"])
    });
}
