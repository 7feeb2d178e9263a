//! Eight clients load overlapping intervals of a few targets, at all isolation levels, beside writers of the source, registrations and
//! random cancels. At the end every row is there once, under its own stamp, and the log agrees.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use daybook_tests::{Client, Database, NoTls, Session};

const CLIENTS: u64 = 8;
const SECONDS: u64 = 20;
const TARGETS: u64 = 3;
const DAYS: u64 = 12;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn setup(session: &mut Client) {
    // The days lie ahead, so that every writer of the source is one that a load must wait for.
    session.run(&format!(
        "CREATE SEQUENCE ids;
         CREATE TABLE src (id bigint DEFAULT nextval('ids'), at timestamptz, note text);
         INSERT INTO src (at, note) SELECT timestamptz '2100-01-01 00:00+00' + n * interval '{DAYS} days' / 3000, 'first'
         FROM generate_series(0, 2999) AS n;
         CREATE INDEX ON src (at);"
    ));
    for number in 0..TARGETS {
        session.run(&format!(
            "CREATE TABLE fact_{number} (id bigint, at timestamptz, note text, interval_start timestamptz NOT NULL, loaded_at timestamptz);
             SELECT register_load('fact_{number}', 'src', 'at'{});
             SELECT register_rule('fact_{number}', 'some', filter => 'id % 5 <> 0')",
            if number == 0 { ", keys => 'id'" } else { "" }
        ));
    }
}

fn statement(dice: &mut Dice) -> String {
    let target = dice.roll(TARGETS);
    let first = dice.roll(DAYS);
    let last = first + 1 + dice.roll(DAYS - first);
    let bounds = format!("'2100-01-{:02}', '2100-01-{:02}'", first + 1, last + 1);
    let note = dice.roll(1000);
    match dice.roll(20) {
        0..=11 => format!(
            "SELECT count(*) FROM load_interval('fact_{target}', {bounds}, as_of => '2100-02-01 00:00+00', wide => {}, on_empty => '{}')",
            dice.roll(2) == 0,
            ["replace", "skip"][dice.roll(2) as usize]
        ),
        12 => format!(
            "SELECT count(*) FROM load_interval('fact_{target}', {bounds}, as_of => '2100-02-01 00:00+00', on_error => 'report')"
        ),
        13 => format!("SELECT mark_stale('fact_{target}', {bounds}, 'note {note}')"),
        14 => format!("SELECT register_rule('fact_{target}', 'some', filter => 'id % 5 <> 0')"),
        15 => format!("SELECT count(*) FROM daybook.check_load('fact_{target}')"),
        16..=17 => format!(
            "INSERT INTO src (at, note) VALUES (timestamptz '2100-01-{:02} 12:00+00' + {note} * interval '1 second', 'later')",
            first + 1
        ),
        18 => format!("UPDATE src SET note = 'note {note}' WHERE id % 1000 = {note}"),
        _ => format!("DELETE FROM src WHERE id % 3000 = {note}"),
    }
}

#[test]
fn eight_clients() {
    let database = Database::new("clients");
    setup(&mut database.session());
    let outcomes: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let until = Instant::now() + Duration::from_secs(SECONDS);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (database, outcomes) = (&database, &outcomes);
            scope.spawn(move || {
                let mut dice = Dice(0x9e37_79b9 + client * 7919);
                let mut session = database.session();
                session.run("SET deadlock_timeout = '100ms'; SET daybook.settle_timeout = '2s'");
                let (stop, stopped) = std::sync::mpsc::channel::<()>();
                let token = session.cancel_token();
                let canceller = std::thread::spawn(move || {
                    let mut dice = Dice(77 + client);
                    while stopped
                        .recv_timeout(Duration::from_millis(50 + dice.roll(600)))
                        .is_err_and(|e| e == std::sync::mpsc::RecvTimeoutError::Timeout)
                    {
                        token.cancel_query(NoTls).expect("a cancel request");
                    }
                });
                while Instant::now() < until {
                    let level = [
                        "READ COMMITTED",
                        "READ COMMITTED",
                        "REPEATABLE READ",
                        "SERIALIZABLE",
                    ][dice.roll(4) as usize];
                    let mut outcome = session.attempt(&format!("BEGIN ISOLATION LEVEL {level}"));
                    for _ in 0..=dice.roll(3) {
                        outcome = outcome.and_then(|()| session.attempt(&statement(&mut dice)));
                    }
                    if outcome.is_ok() && dice.roll(10) > 0 {
                        outcome = session.attempt("COMMIT");
                    }
                    // A cancel may hit this one too.
                    while session.attempt("ROLLBACK").is_err() {}
                    let code = outcome.map_or_else(
                        |failure| {
                            assert!(
                                ["40001", "40P01", "57014", "55P03"]
                                    .contains(&failure.code.as_str()),
                                "{failure}"
                            );
                            failure.code
                        },
                        |()| "done".to_owned(),
                    );
                    *outcomes.lock().expect("a lock").entry(code).or_default() += 1;
                }
                drop(stop);
                canceller.join().expect("a thread");
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("a lock");
    println!("{outcomes:?}");
    assert!(
        outcomes.get("done").is_some_and(|count| *count > 20),
        "{outcomes:?}"
    );

    let mut session = database.session();
    for number in 0..TARGETS {
        let name = format!("fact_{number}");
        let check = |session: &mut Client| {
            assert_eq!(
                session.rows(&format!(
                    "SELECT count(*) - count(DISTINCT id), count(*) FILTER (WHERE interval_start <> date_trunc('day', at, 'UTC')) FROM {name}"
                )),
                [["0", "0"]],
                "{name}"
            );
            // Every row was written by a run, and each interval holds what its last run says.
            let wrong = session.rows(&format!(
                "SELECT coalesce(s.interval_start, f.interval_start), s.rows_inserted, f.rows
                 FROM (SELECT * FROM daybook.interval_state WHERE target = '{name}'::regclass) AS s
                 FULL JOIN (SELECT interval_start, count(*) AS rows FROM {name} GROUP BY 1) AS f USING (interval_start)
                 WHERE s.status IS DISTINCT FROM 'skipped' AND coalesce(s.rows_inserted, 0) <> coalesce(f.rows, 0)"
            ));
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
            let wrong = session.rows(&format!(
                "SELECT s.interval_start FROM daybook.interval_state AS s
                 LEFT JOIN daybook.run_interval AS i ON i.run_id = s.run_id AND i.interval_start = s.interval_start
                 LEFT JOIN daybook.run AS r ON r.run_id = s.run_id
                 WHERE s.target = '{name}'::regclass
                   AND (i.status, i.rows_inserted, r.target, r.status) IS DISTINCT FROM (s.status, s.rows_inserted, s.target, 'loaded')"
            ));
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        };
        check(&mut session);
        session.run(&format!(
            "SELECT count(*) FROM load_interval('{name}', '2100-01-01', '2100-01-{:02}', as_of => '2100-02-01 00:00+00', wide => true)",
            DAYS + 1
        ));
        check(&mut session);
        assert_eq!(
            session.number(&format!(
                "SELECT count(*) FROM (SELECT id, at, note FROM src WHERE id % 5 <> 0 EXCEPT ALL SELECT id, at, note FROM {name}) AS d"
            )) + session.number(&format!(
                "SELECT count(*) FROM (SELECT id, at, note FROM {name} EXCEPT ALL SELECT id, at, note FROM src WHERE id % 5 <> 0) AS d"
            )),
            0,
            "{name} is not what the source holds"
        );
    }
    assert_eq!(
        session.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"),
        0
    );
}
