//! Cancelled at random moments, a load leaves the table as it was, reacts at once, and works when it is run again.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use daybook_tests::{Client, Database, Session, failure};

const MOMENTS: u32 = 30;

fn state(session: &mut Client) -> Vec<Vec<String>> {
    session.rows(
        "SELECT (SELECT md5(string_agg(f::text, ',' ORDER BY id)) FROM fact AS f),
                (SELECT count(*) FROM daybook.run), (SELECT count(*) FROM daybook.run_interval),
                (SELECT md5(string_agg(s::text, ',' ORDER BY interval_start)) FROM daybook.interval_state AS s),
                current_user, current_setting('search_path'), current_setting('timezone')",
    )
}

/// Cancels what a backend does, after a while; says when.
fn cancel_after(database: &Database, pid: i64, delay: Duration) -> JoinHandle<Instant> {
    let mut other = database.session();
    std::thread::spawn(move || {
        std::thread::sleep(delay);
        let asked = Instant::now();
        other.run(&format!("SELECT pg_cancel_backend({pid})"));
        asked
    })
}

#[test]
fn random_moments() {
    let database = Database::new("cancel");
    let mut session = database.session();
    session.run(
        "SET timezone = 'Asia/Tokyo';
         CREATE TABLE src (id int, at timestamptz, note text);
         INSERT INTO src SELECT n, timestamptz '2026-01-01 00:00+00' + n * interval '1 minute', 'first' FROM generate_series(0, 39999) AS n;
         CREATE INDEX ON src (at);
         CREATE TABLE fact (id int, at timestamptz, note text, interval_start timestamptz NOT NULL, loaded_at timestamptz);
         CREATE INDEX ON fact (interval_start);
         SELECT register_load('fact', 'src', 'at', grain => '6 hours', keys => 'id');
         SELECT register_rule('fact', 'upper', column_name => 'note', expression => 'upper(note)');
         SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-20', wide => true)",
    );
    let statement = |wide: bool| {
        format!(
            "SELECT count(*) FROM load_interval('fact', '2026-01-01', '2026-01-28', wide => {wide})"
        )
    };
    let mut lengths = [Duration::ZERO; 2];
    for wide in [false, true] {
        session.run("BEGIN");
        let started = Instant::now();
        session.run(&statement(wide));
        lengths[usize::from(wide)] = started.elapsed();
        session.run("ROLLBACK");
    }

    let pid = session.number("SELECT pg_backend_pid()");
    let before = state(&mut session);
    let mut cancelled = 0;
    for moment in 0..MOMENTS {
        let wide = moment % 2 == 0;
        // The golden ratio spreads the moments evenly, however many there are.
        let part = (f64::from(moment) * 0.618_034).fract();
        let delay = lengths[usize::from(wide)].mul_f64(part);
        let canceller = cancel_after(&database, pid, delay);
        session.run("BEGIN");
        let outcome = session.simple_query(&statement(wide));
        let ended = Instant::now();
        let asked = canceller.join().expect("a thread");
        // A cancel that comes late hits the next statement; let it hit this one.
        let _ = session.simple_query("SELECT pg_sleep(0.02)");
        session.run("ROLLBACK");
        if let Err(error) = outcome {
            let failure = failure(&error);
            assert_eq!(failure.code, "57014", "{failure}");
            let took = ended.saturating_duration_since(asked);
            assert!(took < Duration::from_secs(1), "{took:?} from cancel to end");
            cancelled += 1;
        }
        assert_eq!(state(&mut session), before, "after {delay:?}");
    }
    println!("{cancelled} of {MOMENTS} loads were cancelled");
    assert!(
        cancelled >= MOMENTS / 2,
        "only {cancelled} loads were cancelled"
    );

    // The same without a transaction around it, and then again without a cancel.
    let canceller = cancel_after(&database, pid, lengths[0] / 2);
    let outcome = session.attempt(&statement(false));
    canceller.join().expect("a thread");
    let _ = session.simple_query("SELECT pg_sleep(0.02)");
    if outcome.is_err() {
        assert_eq!(state(&mut session), before);
    }
    session.run(&statement(true));
    assert_eq!(
        session.rows(
            "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE interval_start <> date_bin('6 hours', at, '2001-01-01 00:00+00'))
             FROM fact"
        ),
        [["38880", "38880", "0"]]
    );
}
