//! daybook called by the drivers that people use: psycopg 2 and 3, and JDBC where Java and the driver are installed. The calls stand in
//! `drivers/`.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use daybook_tests::server::Server;
use daybook_tests::{Database, Session, variable};

fn drivers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers")
}

/// Runs a command that must succeed, and shows what it prints.
fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn psycopg() {
    // Beside the build, so that it is fetched once.
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let wanted = std::fs::read_to_string(drivers().join("requirements.txt")).expect("requirements");
    let stamp = packages.join("requirements.txt");
    if std::fs::read_to_string(&stamp).ok().as_ref() != Some(&wanted) {
        let _ = std::fs::remove_dir_all(&packages);
        run(Command::new("python3")
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-warn-conflicts",
                "--target",
            ])
            .arg(&packages)
            .arg("--requirement")
            .arg(drivers().join("requirements.txt")));
        std::fs::write(&stamp, wanted).expect("a stamp");
    }
    let database = Database::new("psycopg");
    run(Command::new("python3")
        .arg("-B")
        .arg(drivers().join("drivers.py"))
        .arg(&database.name)
        .env("PYTHONPATH", &packages)
        .env("PGHOST", variable("PGHOST"))
        .env("PGOPTIONS", "-c client_min_messages=warning"));
}

#[test]
fn jdbc() {
    let jar = "/usr/share/java/postgresql.jar";
    let has_java = Command::new("javac")
        .arg("-version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_java || !Path::new(jar).exists() {
        println!(
            "skipped: needs javac and {jar} (Debian: default-jdk-headless, libpostgresql-jdbc-java)"
        );
        return;
    }
    // JDBC speaks TCP only.
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|socket| socket.local_addr())
        .expect("a free port")
        .port();
    let server = Server::start(&format!(
        "fsync = off\nlisten_addresses = '127.0.0.1'\nport = {port}"
    ));
    let database = Database::on(&server.host(), &port.to_string(), "jdbc");
    database.session().run(&format!(
        "ALTER DATABASE {} SET client_min_messages = warning",
        database.name
    ));
    run(Command::new("java")
        .args(["-Duser.timezone=America/New_York", "-classpath", jar])
        .arg(drivers().join("Drivers.java"))
        .arg(format!(
            "jdbc:postgresql://127.0.0.1:{port}/{}",
            database.name
        )));
}
