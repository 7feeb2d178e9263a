//! pg_dump and pg_restore carry registrations, intervals, histories, log and sequences; loads, histories and registrations go on in the
//! restored database.

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

fn setup_histories(session: &mut Client) {
    session.run(
        r#"
        CREATE SCHEMA "Data Warehouse";
        CREATE TABLE src (id int, "Name" text, amount numeric(12,2), note text);
        INSERT INTO src SELECT n, 'name ' || n, n, CASE WHEN n % 3 > 0 THEN 'note' END FROM generate_series(1, 30) AS n;
        CREATE VIEW zebra AS SELECT id, "Name", amount FROM src WHERE id > 0;
        SELECT register_history('"Data Warehouse"."The History"', 'src', 'id', historize_blacklist => 'note', max_closed_percent => 50,
                                existing_predicate => 'existing.id < 1000', zone => 'Europe/Berlin');
        SELECT register_rule('"Data Warehouse"."The History"', 'few', filter => 'id % 10 <> 0');
        SELECT register_rule('"Data Warehouse"."The History"', 'cents', column_name => 'amount', expression => 'amount * param.factor::numeric');
        SELECT status FROM historize('"Data Warehouse"."The History"', reference_timestamp => '2026-01-01 00:00+00', params => '{"factor": 100}');
        SELECT create_history_views('"Data Warehouse"."The History"');

        CREATE TABLE events (id int, v text, _change_type text, _commit_timestamp timestamptz, _change_ordinal int);
        INSERT INTO events VALUES (1, 'a', 'insert', '2026-01-01 00:00+00', 1), (1, 'b', 'update_postimage', '2026-01-02 00:00+00', 2),
            (2, 'c', 'insert', '2026-01-02 00:00+00', 3), (2, 'c', 'delete', '2026-01-03 00:00+00', 4);
        SET daybook.captured_column_name = 'valid_from'; SET daybook.delimited_column_name = 'valid_to'; SET daybook.upper_horizon = 'infinity';
        SELECT register_history('aardvark', 'events', 'id', intermediate_versions => true, late => 'insert', time_axis_unit => '0');
        SELECT status FROM historize('aardvark', reference_timestamp => '2026-02-01 00:00+00');
        RESET ALL; SET daybook.upper_horizon = 'null'; SET daybook.hash_column_name = ''; SET client_min_messages = warning;
        SELECT status FROM historize('zebra', 'open_end', 'id', reference_timestamp => '2026-01-01 00:00+00');
        RESET ALL;
        SET client_min_messages = warning;

        UPDATE src SET "Name" = 'changed' WHERE id % 5 = 0;
        DELETE FROM src WHERE id = 3;
        SELECT status FROM historize('"Data Warehouse"."The History"', reference_timestamp => '2026-01-02 00:00+00', params => '{"factor": 100}');
        SELECT status FROM historize('open_end', reference_timestamp => '2026-01-02 00:00+00');
        "#,
    );
    let reader = reader(session);
    session.run(&format!(
        r#"CREATE ROLE {reader};
           GRANT SELECT ON "Data Warehouse"."The History_current" TO {reader} WITH GRANT OPTION"#
    ));
}

/// A role of this test's database; roles are the server's.
fn reader(session: &mut Client) -> String {
    session.value("SELECT current_database() || '_reader'")
}

/// All that daybook keeps of histories and that they hold.
fn history_content(session: &mut Client) -> Vec<Vec<String>> {
    session.run("SET search_path = ''");
    let mut all = Vec::new();
    for (table, order) in [
        ("daybook.target", "target::text"),
        ("daybook.history", "target::text"),
        ("daybook.rule", "target::text, position"),
        ("daybook.run", "run_id"),
        ("\"Data Warehouse\".\"The History\"", "id, dl_ts_captured"),
        ("\"Data Warehouse\".\"The History_current\"", "id"),
        (
            "\"Data Warehouse\".\"The History_as_of\"('2026-01-01 12:00+00')",
            "id",
        ),
        ("public.aardvark", "id, valid_from"),
        ("public.open_end", "id, dl_ts_captured"),
    ] {
        let rows = session.rows(&format!(
            "SELECT {}, t::text FROM {table} AS t ORDER BY {order}",
            quoted(table)
        ));
        assert!(!rows.is_empty(), "{table} is empty");
        all.extend(rows);
    }
    session.run("RESET search_path");
    all
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn histories_go_on(restored: &Database, before: &[Vec<String>], reader: &str) {
    let mut session = restored.session();
    assert_eq!(history_content(&mut session), before);
    let runs = session.number("SELECT max(run_id) FROM daybook.runs");
    let versions = session.value("SELECT string_agg(DISTINCT rules_version, ' ') FROM daybook.runs WHERE status <> 'unchanged'");
    // The same input changes nothing, by the next numbers, and is the same by its rules.
    for (number, history) in ["\"Data Warehouse\".\"The History\"", "aardvark", "open_end"]
        .iter()
        .enumerate()
    {
        assert_eq!(
            session.rows(&format!(
                r#"SELECT status, versions_opened, versions_closed, run_id
                   FROM historize('{history}', reference_timestamp => '2026-03-01 00:00+00', params => '{{"factor": 100}}')"#
            )),
            [["unchanged".to_owned(), "0".to_owned(), "0".to_owned(), (runs + 1 + number as i64).to_string()]],
            "{history}"
        );
        assert_eq!(
            session.number(&format!(
                "SELECT count(*) FROM daybook.check_history('{history}')"
            )),
            0
        );
    }
    let now = session.value(&format!(
        "SELECT string_agg(DISTINCT rules_version, ' ') FROM daybook.runs WHERE run_id > {runs}"
    ));
    assert_eq!(now, versions);
    // What is remembered is: an older reference is refused, other options contradict, a row outside the predicate is one.
    let older = session
        .refused("SELECT historize('open_end', reference_timestamp => '2026-01-15 00:00+00')");
    assert_eq!(older.code, "22023", "{older}");
    let other = session.refused("SELECT historize('events', 'aardvark', late => 'delay')");
    assert_eq!(other.code, "22023", "{other}");
    // The indexes hold what they held.
    let twice = session.refused("INSERT INTO aardvark SELECT id, 'x', valid_from + interval '1 hour', valid_to FROM aardvark WHERE valid_to = 'infinity'");
    assert_eq!(twice.code, "23505", "{twice}");
    // A new column goes through to the views, and their rights are kept.
    session.run(r#"ALTER TABLE src ADD COLUMN extra text DEFAULT 'x'"#);
    assert_eq!(
        session.rows(
            r#"SELECT status, versions_opened, versions_closed
               FROM historize('"Data Warehouse"."The History"', reference_timestamp => '2026-03-02 00:00+00', params => '{"factor": 100}')"#
        ),
        [["loaded", "26", "26"]]
    );
    assert_eq!(
        session.number(
            r#"SELECT count(*) FROM "Data Warehouse"."The History_current" WHERE extra = 'x'"#
        ),
        session.number(r#"SELECT count(*) FROM "Data Warehouse"."The History_current""#)
    );
    assert_eq!(
        session.value(&format!(
            r#"SELECT has_table_privilege('{reader}', '"Data Warehouse"."The History_current"', 'SELECT WITH GRANT OPTION')"#
        )),
        "t"
    );
    // Registering the same again changes nothing.
    session.run(
        r#"SELECT register_history('"Data Warehouse"."The History"', 'src', 'id', historize_blacklist => 'note', max_closed_percent => 50,
                                   existing_predicate => 'existing.id < 1000', zone => 'Europe/Berlin');
           SELECT register_rule('"Data Warehouse"."The History"', 'few', filter => 'id % 10 <> 0')"#,
    );
    assert_eq!(
        session.rows(
            r#"SELECT status, rows_unchanged
               FROM historize('"Data Warehouse"."The History"', reference_timestamp => '2026-03-03 00:00+00', params => '{"factor": 100}')"#
        ),
        [["unchanged", "26"]]
    );
    // A dropped history is forgotten: the event trigger has come along.
    session.run("DROP TABLE aardvark");
    assert_eq!(session.number("SELECT count(*) FROM daybook.histories"), 2);
}

#[test]
fn histories_are_carried() {
    let database = Database::new("history_dump");
    let mut session = database.session();
    setup_histories(&mut session);
    let before = history_content(&mut session);
    let reader = reader(&mut session);
    let scratch = env!("CARGO_TARGET_TMPDIR");
    let file = |kind: &str| format!("{scratch}/{}.{kind}", database.name);

    let custom = file("custom");
    program(
        "pg_dump",
        &["--format=custom", "--file", &custom, &database.name],
    );
    let restored = empty("history_custom");
    program(
        "pg_restore",
        &["--exit-on-error", "--dbname", &restored.name, &custom],
    );
    histories_go_on(&restored, &before, &reader);
    drop(restored);

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
    let restored = empty("history_parallel");
    program(
        "pg_restore",
        &[
            "--exit-on-error",
            "--jobs=2",
            "--dbname",
            &restored.name,
            &directory,
        ],
    );
    histories_go_on(&restored, &before, &reader);
    drop(restored);

    std::fs::remove_file(custom).expect("a file of ours");
    std::fs::remove_dir_all(directory).expect("a directory of ours");

    // Without the extension the tables stay, with their indexes and views; a new one takes them over, and finds nothing to do.
    session.run("DROP EXTENSION daybook; CREATE EXTENSION daybook");
    assert_eq!(
        session.rows(r#"SELECT count(*) > 0, min(id) FROM "Data Warehouse"."The History_as_of"('2026-01-01 12:00+00')"#),
        [["t", "1"]]
    );
    assert_eq!(
        session.rows(
            r#"SET daybook.captured_column_name = 'valid_from'; SET daybook.delimited_column_name = 'valid_to'; SET daybook.upper_horizon = 'infinity';
               SELECT status, versions_opened, run_id FROM historize('events', 'aardvark', 'id', intermediate_versions => true, late => 'insert', time_axis_unit => '0')"#
        ),
        [["unchanged", "0", "1"]]
    );
    assert_eq!(
        session.rows(
            "RESET ALL; SET client_min_messages = warning; SET daybook.upper_horizon = 'null';
             SELECT status, versions_opened, run_id FROM historize('zebra', 'open_end', 'id')"
        ),
        [["unchanged", "0", "2"]]
    );
    session.run(&format!("DROP OWNED BY {reader}; DROP ROLE {reader}"));
}
