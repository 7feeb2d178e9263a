//! pg_dump and pg_restore carry registrations, intervals, log and sequences; loads and registrations go on in the restored database.

use std::process::Command;

use daybook_tests::{Client, Database, Session, variable};

fn setup(session: &mut Client) {
    session.run(
        r#"
        CREATE SCHEMA "Data Warehouse";
        CREATE TABLE src (id int, account text, amount numeric(12,2), at timestamptz);
        INSERT INTO src SELECT n, CASE WHEN n % 10 = 0 THEN 'TEST-1' ELSE 'A-1' END, n, timestamptz '2026-01-01 00:00+00' + n * interval '3 hours'
        FROM generate_series(0, 79) AS n;
        CREATE TABLE "Data Warehouse"."The Fact" (id int, account text, amount numeric(12,2), at timestamptz,
                                                  interval_start timestamptz NOT NULL, loaded_at timestamptz);
        CREATE TABLE aardvark (LIKE "Data Warehouse"."The Fact") PARTITION BY RANGE (interval_start);
        CREATE TABLE aardvark_2026 PARTITION OF aardvark FOR VALUES FROM ('2026-01-01 00:00+00') TO ('2027-01-01 00:00+00');
        CREATE VIEW zebra AS SELECT * FROM src WHERE id >= 0;
        SELECT register_load('"Data Warehouse"."The Fact"', 'src', 'at', zone => 'Europe/Berlin', keys => 'id',
                             history_starts => '2026-01-02', settle => '1 hour');
        SELECT register_rule('"Data Warehouse"."The Fact"', 'no tests', filter => $$left(account, 5) <> 'TEST-'$$);
        SELECT register_rule('"Data Warehouse"."The Fact"', 'cents', column_name => 'amount', expression => 'amount * param.factor');
        SELECT register_load('aardvark', 'zebra', 'at', grain => '1 week');
        SELECT count(*) FROM load_interval('"Data Warehouse"."The Fact"', '2026-01-02', '2026-01-10', params => '{"factor": 100}');
        SELECT count(*) FROM load_interval('aardvark', '2026-01-05', '2026-01-12', wide => true);
        SELECT mark_stale('"Data Warehouse"."The Fact"', '2026-01-04', '2026-01-05', 'a correction');
        "#,
    );
}

/// All that daybook keeps and the targets hold, with targets by name.
fn content(session: &mut Client) -> Vec<Vec<String>> {
    session.run("SET search_path = ''");
    let mut all = Vec::new();
    for (table, order) in [
        ("daybook.target", "target::text"),
        ("daybook.load", "target::text"),
        ("daybook.rule", "target::text, position"),
        ("daybook.interval_state", "target::text, interval_start"),
        ("daybook.run", "run_id"),
        ("daybook.run_interval", "run_id, interval_start"),
        ("\"Data Warehouse\".\"The Fact\"", "id"),
        ("public.aardvark", "id"),
    ] {
        let rows = session.rows(&format!(
            "SELECT '{}', t::text FROM {table} AS t ORDER BY {order}",
            table.replace('"', "")
        ));
        assert!(!rows.is_empty(), "{table} is empty");
        all.extend(rows);
    }
    session.run("RESET search_path");
    all
}

fn program(name: &str, arguments: &[&str]) {
    let output = Command::new(format!("{}/{name}", variable("DAYBOOK_BINDIR")))
        .args(arguments)
        .output()
        .expect("it runs");
    assert!(
        output.status.success(),
        "{name} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn empty(name: &str) -> Database {
    Database::empty(&variable("PGHOST"), &variable("PGPORT"), name)
}

/// What a restored database must be good for.
fn goes_on(restored: &Database, before: &[Vec<String>]) {
    let mut session = restored.session();
    assert_eq!(content(&mut session), before);

    let runs = session.number("SELECT max(run_id) FROM daybook.runs");
    let version = session.value("SELECT DISTINCT rules_version FROM daybook.interval_state WHERE target = '\"Data Warehouse\".\"The Fact\"'::regclass");
    // A load: the next number, the same rules version, the same rows.
    let rows = session.rows(
        r#"SELECT DISTINCT status, rows_deleted = rows_inserted, run_id, rules_version
           FROM load_interval('"Data Warehouse"."The Fact"', '2026-01-02', '2026-01-10', params => '{"factor": 100}')"#,
    );
    assert_eq!(
        rows,
        [[
            "loaded".to_owned(),
            "t".to_owned(),
            (runs + 1).to_string(),
            version.clone()
        ]]
    );
    assert_eq!(
        session.number("SELECT count(*) FROM daybook.interval_state WHERE stale_since IS NOT NULL"),
        0
    );
    // Registering the same again changes nothing, a new rule does.
    session.run(
        r#"SELECT register_rule('"Data Warehouse"."The Fact"', 'no tests', filter => $$left(account, 5) <> 'TEST-'$$);
           SELECT register_rule('"Data Warehouse"."The Fact"', 'even', filter => 'id % 2 = 0', before => 'cents')"#,
    );
    assert_eq!(
        session
            .rows("SELECT name FROM daybook.rules ORDER BY position")
            .concat(),
        ["no tests", "even", "cents"]
    );
    let after = session.value(
        r#"SELECT DISTINCT rules_version
           FROM load_interval('"Data Warehouse"."The Fact"', NULL, '2026-01-10', params => '{"factor": 100}')"#,
    );
    assert_ne!(after, version);
    assert_eq!(
        session
            .refused(r#"SELECT register_load('"Data Warehouse"."The Fact"', 'src', 'at')"#)
            .code,
        "55000"
    );
    // A dropped target is forgotten: the event trigger has come along.
    session.run("DROP TABLE aardvark");
    assert_eq!(session.number("SELECT count(*) FROM daybook.loads"), 1);
}

#[test]
fn dumps_carry_everything() {
    let database = Database::new("dump");
    let mut session = database.session();
    setup(&mut session);
    let before = content(&mut session);
    let scratch = env!("CARGO_TARGET_TMPDIR");
    let file = |kind: &str| format!("{scratch}/{}.{kind}", database.name);

    let plain = file("sql");
    program("pg_dump", &["--file", &plain, &database.name]);
    let restored = empty("plain");
    program(
        "psql",
        &[
            "--no-psqlrc",
            "--quiet",
            "--set=ON_ERROR_STOP=1",
            "--output=/dev/null",
            "--dbname",
            &restored.name,
            "--file",
            &plain,
        ],
    );
    goes_on(&restored, &before);

    let custom = file("custom");
    program(
        "pg_dump",
        &["--format=custom", "--file", &custom, &database.name],
    );
    let restored = empty("parallel");
    program(
        "pg_restore",
        &[
            "--exit-on-error",
            "--jobs=2",
            "--dbname",
            &restored.name,
            &custom,
        ],
    );
    goes_on(&restored, &before);

    // A dump of a restored database is the same dump again.
    let again = empty("again");
    let directory = file("directory");
    program(
        "pg_dump",
        &[
            "--format=directory",
            "--jobs=2",
            "--file",
            &directory,
            &database.name,
        ],
    );
    program(
        "pg_restore",
        &[
            "--exit-on-error",
            "--jobs=2",
            "--dbname",
            &again.name,
            &directory,
        ],
    );
    assert_eq!(content(&mut again.session()), before);

    for left in [plain, custom] {
        std::fs::remove_file(left).expect("a file of ours");
    }
    std::fs::remove_dir_all(directory).expect("a directory of ours");
}

#[test]
fn dropped_and_created_again() {
    let database = Database::new("recreate");
    let mut session = database.session();
    setup(&mut session);
    let facts = "SELECT count(*), sum(amount) FROM \"Data Warehouse\".\"The Fact\"";
    let before = session.rows(facts);
    session.run("DROP EXTENSION daybook");
    assert_eq!(
        session.rows(
            "SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = 'daybook'),
                    (SELECT count(*) FROM pg_event_trigger),
                    (SELECT count(*) FROM pg_proc WHERE proname IN ('load_interval', 'register_load')),
                    (SELECT count(*) FROM pg_class WHERE relname LIKE '%interval_state%')"
        ),
        [["0", "0", "0", "0"]]
    );
    assert_eq!(session.rows(facts), before);
    session.run(
        r#"CREATE EXTENSION daybook;
           SELECT register_load('"Data Warehouse"."The Fact"', 'src', 'at', zone => 'Europe/Berlin');
           SELECT register_rule('"Data Warehouse"."The Fact"', 'no tests', filter => $$left(account, 5) <> 'TEST-'$$);
           SELECT register_rule('"Data Warehouse"."The Fact"', 'cents', column_name => 'amount', expression => 'amount * 100')"#,
    );
    // Its rows are there from before: a load takes them over.
    assert_eq!(
        session.rows(
            r#"SELECT sum(rows_deleted) = sum(rows_inserted), min(run_id)
               FROM load_interval('"Data Warehouse"."The Fact"', '2026-01-02', '2026-01-10')"#
        ),
        [["t", "1"]]
    );
    assert_eq!(session.rows(facts), before);
}
