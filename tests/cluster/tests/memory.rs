//! What a backend holds on to: ten thousand intervals in one call, and hundreds of calls in one session, of loads and of histories.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use daybook_tests::{Client, Database, Session};

/// Memory of a process that is its own, in kilobytes.
fn resident(pid: i64) -> Option<i64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The most that a process holds while `work` runs, in kilobytes.
fn peak(pid: i64, work: impl FnOnce()) -> i64 {
    let (done, most) = (AtomicBool::new(false), AtomicI64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(resident(pid).unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        work();
        done.store(true, Ordering::Relaxed);
    });
    most.into_inner()
}

fn setup(session: &mut Client) {
    session.run(
        "CREATE TABLE src (id int, at timestamptz, note text);
         INSERT INTO src SELECT n, timestamptz '2026-01-01 00:00+00' + n * interval '5 minutes', repeat('x', 100) FROM generate_series(0, 29999) AS n;
         CREATE INDEX ON src (at);
         CREATE TABLE fact (id int, at timestamptz, note text, interval_start timestamptz NOT NULL, loaded_at timestamptz);
         CREATE INDEX ON fact (interval_start);
         ANALYZE;
         SELECT register_load('fact', 'src', 'at', grain => '15 minutes');
         SELECT register_rule('fact', 'some', filter => 'id % 7 <> 0')",
    );
}

/// The bytes of all memory contexts of the session.
fn contexts(session: &mut Client) -> i64 {
    session.number("SELECT sum(total_bytes) FROM pg_backend_memory_contexts")
}

const LAST: &str = "2026-04-15 04:00+00";

#[test]
fn ten_thousand_intervals_in_one_call() {
    let database = Database::new("memory");
    let mut session = database.session();
    setup(&mut session);
    let pid = session.number("SELECT pg_backend_pid()");
    if resident(pid).is_none() {
        eprintln!("skipped: the memory of other processes cannot be seen here");
        return;
    }
    // Warms caches up.
    session.run("SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-02')");
    let base = resident(pid).expect("a process");
    for arguments in [
        "",
        ", wide => true",
        ", on_empty => 'skip'",
        ", dry_run => true",
    ] {
        let most = peak(pid, || {
            let rows = session.number(&format!(
                "SELECT count(*) FROM load_interval('fact', '2026-01-01', '{LAST}'{arguments})"
            ));
            assert_eq!(rows, 10_000);
        });
        println!(
            "load_interval(…{arguments}): {} MB over a base of {} MB",
            (most - base) / 1024,
            base / 1024
        );
        assert!(
            most - base < 100 * 1024,
            "{} MB over the base{arguments}",
            (most - base) / 1024
        );
    }
}

#[test]
fn many_calls_in_one_session() {
    let database = Database::new("many_calls");
    let mut session = database.session();
    setup(&mut session);
    let calls = |count: i32| {
        format!(
            "DO $$ BEGIN
                 FOR n IN 0..{count} LOOP
                     PERFORM * FROM load_interval('fact', timestamptz '2026-01-01 00:00+00' + n % 90 * interval '1 day',
                                                  timestamptz '2026-01-02 00:00+00' + n % 90 * interval '1 day', wide => n % 2 = 0);
                 END LOOP;
             END $$"
        )
    };
    session.run(&calls(20));
    let base = contexts(&mut session);
    // In one transaction, and after it.
    session.run("BEGIN");
    session.run(&calls(100));
    let held = contexts(&mut session) - base;
    session.run("COMMIT");
    let kept = contexts(&mut session) - base;
    println!(
        "100 calls hold {} kB within their transaction, {} kB after it",
        held / 1024,
        kept / 1024
    );
    assert!(held < 30 << 20, "{held} bytes held by 100 calls");
    assert!(kept < 3 << 20, "{kept} bytes kept of 100 calls");
    // Failed calls neither.
    for _ in 0..100 {
        session.refused("SELECT load_interval('fact', '2026-01-01 00:01+00', '2026-01-02')");
        session.refused("SELECT load_interval('fact', '2026-01-01', '2026-01-02', params => '[]')");
    }
    let kept = contexts(&mut session) - base;
    assert!(kept < 3 << 20, "{kept} bytes kept of 200 failures");
}

/// A thousand runs in one session: of a snapshot that changes, of one that does not, of change events, and of what is refused.
#[test]
fn a_thousand_histories_in_one_session() {
    let database = Database::new("many_runs");
    let mut session = database.session();
    session.run(
        "CREATE TABLE src AS SELECT n AS id, n AS qty, repeat('x', 50) AS note FROM generate_series(1, 20) AS n;
         CREATE TABLE events (id int, qty int, _change_type text, _commit_timestamp timestamptz);
         INSERT INTO events SELECT n, 0, 'insert', '2026-01-01 00:00+00' FROM generate_series(1, 3) AS n;
         SELECT register_history('snapshots', 'src', 'id');
         SELECT register_rule('snapshots', 'some', filter => 'id % 7 <> 0');
         SELECT register_history('changes', 'events', 'id', late => 'insert')",
    );
    let pid = session.number("SELECT pg_backend_pid()");
    let calls = |from: i32, to: i32| {
        format!(
            "DO $$ BEGIN
                 FOR n IN {from}..{to} LOOP
                     UPDATE src SET qty = qty + 1 WHERE id = 1 + n % 20 AND n % 2 = 0;
                     UPDATE events SET qty = n, _change_type = 'update_postimage', _commit_timestamp = timestamptz '2026-01-01 00:00+00' + n * interval '1 minute';
                     PERFORM historize('snapshots', reference_timestamp => timestamptz '2026-01-01 00:00+00' + n * interval '1 minute');
                     PERFORM historize('changes', reference_timestamp => timestamptz '2026-01-01 00:00+00' + n * interval '1 minute');
                 END LOOP;
             END $$"
        )
    };
    session.run(&calls(1, 20));
    let base = contexts(&mut session);
    let resident_base = resident(pid);
    // In one transaction, and after it.
    session.run("BEGIN");
    session.run(&calls(21, 120));
    let held = contexts(&mut session) - base;
    session.run("COMMIT");
    let kept = contexts(&mut session) - base;
    println!(
        "200 runs hold {} kB within their transaction, {} kB after it",
        held / 1024,
        kept / 1024
    );
    assert!(held < 30 << 20, "{held} bytes held by 200 runs");
    assert!(kept < 3 << 20, "{kept} bytes kept of 200 runs");
    // A transaction each.
    for n in 121..520 {
        session.run(&calls(n, n));
    }
    let kept = contexts(&mut session) - base;
    println!("800 more runs keep {} kB", kept / 1024);
    assert!(kept < 3 << 20, "{kept} bytes kept of 800 more runs");
    if let (Some(before), Some(after)) = (resident_base, resident(pid)) {
        println!("{} kB of memory more", after - before);
        assert!(after - before < 30 << 10, "{} kB more", after - before);
    }
    // Failed ones neither, dry ones neither.
    for _ in 0..100 {
        session
            .refused("SELECT historize('snapshots', reference_timestamp => '2025-01-01 00:00+00')");
        session.refused("SELECT historize('snapshots', params => '[]')");
        session.run("SELECT historize('snapshots', dry_run => true)");
    }
    let kept = contexts(&mut session) - base;
    assert!(kept < 3 << 20, "{kept} bytes kept of 200 failures");
    assert_eq!(
        session.rows("SELECT (SELECT count(*) FROM daybook.check_history('snapshots')), (SELECT count(*) FROM daybook.check_history('changes'))"),
        [["0", "0"]]
    );
}
