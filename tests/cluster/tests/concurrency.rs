//! Eight clients load overlapping intervals of a few targets, at all isolation levels, beside writers of the source, registrations and
//! random cancels. At the end every row is there once, under its own stamp, and the log agrees. Then eight clients run a few histories in
//! the same way, and what must hold of a history holds.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use daybook_tests::{Client, Database, Failure, NoTls, Session};

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

/// Runs what the clients think of, at all isolation levels and with cancels, until `seconds` have passed; how often each outcome came.
fn storm(
    database: &Database,
    seconds: u64,
    statement: impl Fn(&mut Dice) -> String + Sync,
) -> BTreeMap<String, u32> {
    let outcomes: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let until = Instant::now() + Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (outcomes, statement) = (&outcomes, &statement);
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
                        let statement = statement(&mut dice);
                        outcome = outcome.and_then(|()| {
                            session.attempt(&statement).map_err(|failure| Failure {
                                text: format!("{}\nin: {statement}", failure.text),
                                ..failure
                            })
                        });
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
    outcomes
}

#[test]
fn eight_clients() {
    let database = Database::new("clients");
    setup(&mut database.session());
    storm(&database, SECONDS, statement);

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

const HISTORIES: [&str; 3] = ["snapshots", "by_source", "parts"];

fn setup_histories(session: &mut Client) {
    session.run(
        "CREATE SEQUENCE ids;
         CREATE TABLE src (id bigint DEFAULT nextval('ids') PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), note text);
         INSERT INTO src (note) SELECT 'first' FROM generate_series(1, 300);
         SELECT register_history('snapshots', 'src', 'id', historize_blacklist => 'at');
         SELECT create_history_views('snapshots');
         SELECT register_history('by_source', 'src', 'id', source_timestamp_column => 'at', time_axis_unit => '0');
         CREATE TABLE parts (id bigint NOT NULL, at timestamptz, note text, dl_ts_captured timestamptz NOT NULL, dl_ts_delimited timestamptz NOT NULL)
             PARTITION BY HASH (id);
         CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
         CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
         ALTER TABLE parts ADD PRIMARY KEY (id, dl_ts_captured);
         CREATE UNIQUE INDEX ON parts (id) WHERE dl_ts_delimited = '9999-12-31 00:00:00+00';
         SELECT register_history('parts', 'src', 'id', historize_blacklist => 'at');",
    );
    for history in HISTORIES {
        session.run(&format!(
            "SELECT register_rule('{history}', 'some', filter => 'id % 5 <> 0');
             SELECT status FROM historize('{history}')"
        ));
    }
}

fn history_statement(dice: &mut Dice) -> String {
    let history = HISTORIES[dice.roll(HISTORIES.len() as u64) as usize];
    let note = dice.roll(1000);
    let id = 1 + dice.roll(300);
    match dice.roll(24) {
        0..=9 => format!("SELECT status FROM historize('{history}')"),
        10 => format!("SELECT status FROM historize('{history}', on_error => 'report')"),
        11 => format!("SELECT status FROM historize('src', '{history}')"),
        12 => format!("SELECT status FROM historize('{history}', dry_run => true)"),
        13 => format!("SELECT register_rule('{history}', 'some', filter => 'id % 5 <> 0')"),
        14 => "SELECT create_history_views('snapshots')".to_owned(),
        15 => format!("SELECT count(*) FROM daybook.check_history('{history}')"),
        16 => {
            "SELECT count(*) FROM rewind_history('parts', now() - interval '1 second')".to_owned()
        }
        17 => "SELECT count(*) FROM snapshots_current, snapshots_as_of(now())".to_owned(),
        // Now and then the source gets a column; the histories follow.
        18 => format!(
            "ALTER TABLE src ADD COLUMN IF NOT EXISTS more_{} text",
            dice.roll(6)
        ),
        19 => "INSERT INTO src (note) VALUES ('later')".to_owned(),
        20 => format!("DELETE FROM src WHERE id = {id}"),
        _ => format!(
            "UPDATE src SET note = 'note {note}', at = clock_timestamp() WHERE id % 300 = {id}"
        ),
    }
}

#[test]
fn eight_clients_of_histories() {
    let database = Database::new("history_clients");
    setup_histories(&mut database.session());
    storm(&database, SECONDS * 3 / 4, history_statement);

    let mut session = database.session();
    for history in HISTORIES {
        let check = |session: &mut Client| {
            let problems =
                session.rows(&format!("SELECT * FROM daybook.check_history('{history}')"));
            assert!(problems.is_empty(), "{history}: {problems:?}");
            // Every version was written by a run, and none was taken back that is there.
            assert_eq!(
                session.number(&format!(
                    "SELECT sum(versions_opened) - sum(versions_withdrawn) - (SELECT count(*) FROM {history})
                     FROM daybook.runs WHERE target = '{history}'::regclass AND status = 'loaded'"
                )),
                0,
                "{history}: the log says otherwise"
            );
            // So was every version ended; rewinding takes ended ones back, too.
            if history != "parts" {
                assert_eq!(
                    session.number(&format!(
                        "SELECT sum(versions_closed) - sum(versions_reopened)
                                - (SELECT count(*) FROM {history} WHERE dl_ts_delimited < '9999-12-31 00:00+00')
                         FROM daybook.runs WHERE target = '{history}'::regclass AND status = 'loaded'"
                    )),
                    0,
                    "{history}: the log says otherwise"
                );
            }
        };
        check(&mut session);
        session.run(&format!("SELECT status FROM historize('{history}')"));
        check(&mut session);
        for (more, less) in [("src", history), (history, "src")] {
            let of = |table: &str| match table {
                "src" => "SELECT id, note FROM src WHERE id % 5 <> 0".to_owned(),
                _ => format!(
                    "SELECT id, note FROM {history} WHERE dl_ts_delimited = '9999-12-31 00:00+00'"
                ),
            };
            assert_eq!(
                session.number(&format!(
                    "SELECT count(*) FROM ({} EXCEPT ALL {}) AS d",
                    of(more),
                    of(less)
                )),
                0,
                "{history} is not what the source holds"
            );
        }
        assert_eq!(
            session.value(&format!("SELECT status FROM historize('{history}')")),
            "unchanged"
        );
    }
    assert_eq!(
        session.number("SELECT count(*) FROM snapshots_current"),
        session.number("SELECT count(*) FROM src WHERE id % 5 <> 0")
    );
}
