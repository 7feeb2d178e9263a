//! Cancelled at random moments, a load or a run of a history leaves the table as it was, reacts at once, and works when it is run again.

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

fn history_state(session: &mut Client) -> Vec<Vec<String>> {
    session.rows(
        "SELECT (SELECT md5(string_agg(h::text, ',' ORDER BY id, dl_ts_captured)) FROM hist AS h),
                (SELECT count(*) FROM daybook.run), (SELECT md5(string_agg(h::text, ',')) FROM daybook.history AS h),
                (SELECT count(*) FROM pg_attribute WHERE attrelid = 'hist'::regclass AND attnum > 0),
                (SELECT count(*) FROM hist_current), current_user, current_setting('search_path'), current_setting('timezone'),
                current_setting('enable_hashjoin'), current_setting('jit')",
    )
}

#[test]
fn random_moments_of_histories() {
    let database = Database::new("cancel_history");
    let mut session = database.session();
    // What comes next: a tenth each is changed, gone, new and back; there is a column to add, and the views with it.
    session.run(
        "SET timezone = 'Asia/Tokyo';
         CREATE TABLE src AS SELECT n AS id, 0 AS qty, repeat('x', 50) AS note FROM generate_series(1, 10000) AS n WHERE n % 10 <> 3;
         SELECT register_history('hist', 'src', 'id');
         SELECT register_rule('hist', 'upper', column_name => 'note', expression => 'upper(note)');
         SELECT status FROM historize('hist', reference_timestamp => '2026-01-01 00:00+00');
         DELETE FROM src WHERE id % 10 = 4;
         SELECT status FROM historize('hist', reference_timestamp => '2026-01-02 00:00+00');
         SELECT create_history_views('hist');
         UPDATE src SET qty = 1 WHERE id % 10 = 1;
         DELETE FROM src WHERE id % 10 = 2;
         INSERT INTO src SELECT n, 0, repeat('x', 50) FROM generate_series(1, 10000) AS n WHERE n % 10 IN (3, 4);
         ALTER TABLE src ADD COLUMN more text;
         UPDATE src SET more = 'y' WHERE id % 10 = 5",
    );
    let statement =
        "SELECT status FROM historize('hist', reference_timestamp => '2026-01-03 00:00+00')";
    session.run("BEGIN");
    let started = Instant::now();
    session.run(statement);
    let length = started.elapsed();
    session.run("ROLLBACK");

    let pid = session.number("SELECT pg_backend_pid()");
    let before = history_state(&mut session);
    let mut cancelled = 0;
    for moment in 0..MOMENTS / 2 {
        let part = (f64::from(moment) * 0.618_034).fract();
        let delay = length.mul_f64(part);
        let canceller = cancel_after(&database, pid, delay);
        session.run("BEGIN");
        let outcome = session.simple_query(statement);
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
        assert_eq!(history_state(&mut session), before, "after {delay:?}");
    }
    println!("{cancelled} runs were cancelled");
    assert!(
        cancelled >= MOMENTS / 4,
        "only {cancelled} runs were cancelled"
    );
    // Then without one.
    assert_eq!(
        session.rows(
            "SELECT status, rows_read, versions_opened, versions_closed, rows_unchanged, reappeared
             FROM historize('hist', reference_timestamp => '2026-01-03 00:00+00')"
        ),
        [["loaded", "9000", "4000", "3000", "5000", "1000"]]
    );
    assert_eq!(
        session.number("SELECT count(*) FROM daybook.check_history('hist')"),
        0
    );
}
