//! What the tests of this crate share: databases of their own on the server of `make cluster`, servers of their own, and second
//! opinions on time zones and grains, and on history.
//!
//! Every test makes its own database and drops it again, so that they can run side by side. A test that stops or kills a
//! server starts one for itself.

pub mod calendar;
pub mod history;
pub mod server;

use std::sync::atomic::{AtomicU32, Ordering};

pub use postgres::{Client, NoTls, SimpleQueryMessage};

/// A variable that `make cluster` sets.
pub fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run these tests with make cluster"))
}

/// A new session in a database of the server that `make cluster` started.
pub fn connect(database: &str) -> Client {
    connect_to(&variable("PGHOST"), &variable("PGPORT"), database)
}

/// A new session of the superuser, found by the directory of the server's socket. Loads take their time from the UTC clock, and say
/// nothing.
pub fn connect_to(host: &str, port: &str, database: &str) -> Client {
    let mut client = postgres::Config::new()
        .host(host)
        .port(port.parse().expect("a port"))
        .user("postgres")
        .dbname(database)
        .connect(NoTls)
        .unwrap_or_else(|error| panic!("no connection to {database}: {error:?}"));
    client
        .batch_execute("SET client_min_messages = warning")
        .expect("a fresh session");
    client
}

static DATABASES: AtomicU32 = AtomicU32::new(0);

/// A database with daybook in it, dropped again with this value.
pub struct Database {
    host: String,
    port: String,
    /// Its name.
    pub name: String,
}

impl Database {
    /// Makes a database on the server of `make cluster`. `name` tells the tests apart.
    pub fn new(name: &str) -> Self {
        Self::on(&variable("PGHOST"), &variable("PGPORT"), name)
    }

    /// Makes a database on another server.
    pub fn on(host: &str, port: &str, name: &str) -> Self {
        let database = Self::empty(host, port, name);
        database.session().run("CREATE EXTENSION daybook");
        database
    }

    /// Makes a database without daybook.
    pub fn empty(host: &str, port: &str, name: &str) -> Self {
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let database = Self {
            host: host.to_owned(),
            port: port.to_owned(),
            name: format!("{name}_{}_{number}", std::process::id()),
        };
        connect_to(host, port, "postgres").run(&format!("CREATE DATABASE {}", database.name));
        database
    }

    /// A new session in it.
    pub fn session(&self) -> Client {
        connect_to(&self.host, &self.port, &self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropping = postgres::Config::new()
            .host(&self.host)
            .port(self.port.parse().unwrap_or(5432))
            .user("postgres")
            .dbname("postgres")
            .connect(NoTls)
            .and_then(|mut client| {
                client.batch_execute(&format!(
                    "DROP DATABASE IF EXISTS {} WITH (FORCE)",
                    self.name
                ))
            });
        if let Err(error) = dropping {
            eprintln!("database {} stays: {error}", self.name);
        }
    }
}

/// Shorter ways to say what tests say all the time. All of them panic with the server's whole message.
pub trait Session {
    /// Runs statements.
    fn run(&mut self, sql: &str);
    /// The rows of the last statement, every column as text, NULL as `NULL`.
    fn rows(&mut self, sql: &str) -> Vec<Vec<String>>;
    /// The one value of one row.
    fn value(&mut self, sql: &str) -> String;
    /// The one value of one row, as a number.
    fn number(&mut self, sql: &str) -> i64;
    /// Runs statements; the SQLSTATE and message of what went wrong.
    fn attempt(&mut self, sql: &str) -> Result<(), Failure>;
    /// Runs statements that must fail.
    fn refused(&mut self, sql: &str) -> Failure;
}

/// An error of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// SQLSTATE; `lost` if the connection is gone.
    pub code: String,
    /// Message, DETAIL and HINT.
    pub text: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.text)
    }
}

/// What the server said.
pub fn failure(error: &postgres::Error) -> Failure {
    match error.as_db_error() {
        Some(said) => Failure {
            code: said.code().code().to_owned(),
            text: format!(
                "{}\nDETAIL: {}\nHINT: {}\nWHERE: {}",
                said.message(),
                said.detail().unwrap_or_default(),
                said.hint().unwrap_or_default(),
                said.where_().unwrap_or_default()
            ),
        },
        None => Failure {
            code: "lost".to_owned(),
            text: format!("{error:?}"),
        },
    }
}

impl Session for Client {
    fn run(&mut self, sql: &str) {
        if let Err(failure) = self.attempt(sql) {
            panic!("{failure}\nin: {sql}");
        }
    }

    fn rows(&mut self, sql: &str) -> Vec<Vec<String>> {
        let messages = self
            .simple_query(sql)
            .unwrap_or_else(|error| panic!("{}\nin: {sql}", failure(&error)));
        let mut rows = Vec::new();
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => rows.push(
                    (0..row.len())
                        .map(|column| row.get(column).unwrap_or("NULL").to_owned())
                        .collect(),
                ),
                SimpleQueryMessage::RowDescription(_) => rows.clear(),
                _ => {}
            }
        }
        rows
    }

    fn value(&mut self, sql: &str) -> String {
        let rows = self.rows(sql);
        match rows.as_slice() {
            [row] if row.len() == 1 => row[0].clone(),
            _ => panic!("not one value but {rows:?}\nfrom: {sql}"),
        }
    }

    fn number(&mut self, sql: &str) -> i64 {
        let value = self.value(sql);
        value
            .parse()
            .unwrap_or_else(|_| panic!("not a number but {value}\nfrom: {sql}"))
    }

    fn attempt(&mut self, sql: &str) -> Result<(), Failure> {
        self.batch_execute(sql).map_err(|error| failure(&error))
    }

    fn refused(&mut self, sql: &str) -> Failure {
        match self.attempt(sql) {
            Ok(()) => panic!("it went through: {sql}"),
            Err(failure) => failure,
        }
    }
}
