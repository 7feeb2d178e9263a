//! Servers of a test's own, made from the private copy that `make cluster` has installed daybook into.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::variable;

static SERVERS: AtomicU32 = AtomicU32::new(0);

/// A server with a data directory of its own, stopped and removed with this value.
pub struct Server {
    /// Holds data, log and socket.
    pub directory: PathBuf,
}

/// Runs a program of the server as the server's user; panics with what it says if it fails.
pub fn server_program(program: &str, arguments: &[&str]) {
    let output = command(program).args(arguments).output().expect("it runs");
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn command(program: &str) -> Command {
    let prefix = variable("DAYBOOK_RUN_AS");
    let mut words = prefix.split_whitespace();
    let mut command = Command::new(words.next().expect("a prefix"));
    command
        .args(words)
        .arg(format!("{}/{program}", variable("DAYBOOK_BINDIR")));
    command
}

impl Server {
    /// Makes and starts a server; `settings` are lines for `postgresql.conf`.
    pub fn start(settings: &str) -> Self {
        let server = Self {
            directory: free_directory(),
        };
        server_program(
            "initdb",
            &[
                "-D",
                &server.data(),
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
                "--no-instructions",
            ],
        );
        server.configure(&format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\ntimezone = 'UTC'\nlog_line_prefix = '%m [%p] %a %e '\n{settings}\n",
            server.directory.display(),
        ));
        server.ctl(&["start"]);
        server
    }

    /// Makes a streaming standby of this server and starts it.
    pub fn standby(&self) -> Self {
        let standby = Self {
            directory: free_directory(),
        };
        server_program(
            "pg_basebackup",
            &[
                "--pgdata",
                &standby.data(),
                "--host",
                &self.host(),
                "--username=postgres",
                "--write-recovery-conf",
                "--checkpoint=fast",
                "--no-sync",
            ],
        );
        standby.configure(&format!(
            "unix_socket_directories = '{}'\n",
            standby.directory.display()
        ));
        standby.ctl(&["start"]);
        standby
    }

    /// What sessions call the host.
    pub fn host(&self) -> String {
        self.directory.display().to_string()
    }

    fn data(&self) -> String {
        format!("{}/data", self.directory.display())
    }

    fn log_file(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// What the server has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn configure(&self, lines: &str) {
        let file = Path::new(&self.data()).join("postgresql.conf");
        let text = std::fs::read_to_string(&file).expect("a configuration");
        std::fs::write(&file, text + lines).expect("a writable configuration");
    }

    /// `pg_ctl` on this server.
    pub fn ctl(&self, arguments: &[&str]) {
        let (data, log) = (self.data(), self.log_file().display().to_string());
        let mut all = vec!["-D", &data, "-l", &log, "-w", "-s"];
        all.extend(arguments);
        server_program("pg_ctl", &all);
    }
}

fn free_directory() -> PathBuf {
    // Beside the data directory of the server of `make cluster`, where the server's user may write.
    let root = PathBuf::from(variable("DAYBOOK_PGDATA"));
    let number = SERVERS.fetch_add(1, Ordering::Relaxed);
    let directory = root
        .parent()
        .expect("a directory")
        .join(format!("own{}_{number}", std::process::id()));
    let made = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{} mkdir {}",
            variable("DAYBOOK_RUN_AS"),
            directory.display()
        ))
        .status();
    assert!(
        made.expect("sh runs").success(),
        "cannot make {directory:?}"
    );
    directory
}

impl Drop for Server {
    fn drop(&mut self) {
        if Path::new(&self.data()).join("postmaster.pid").exists() {
            let (data, log) = (self.data(), self.log_file().display().to_string());
            let stopped = command("pg_ctl")
                .args([
                    "-D",
                    &data,
                    "-l",
                    &log,
                    "-w",
                    "-s",
                    "-m",
                    "immediate",
                    "stop",
                ])
                .status();
            if !stopped.is_ok_and(|status| status.success()) {
                eprintln!("the server in {data} does not stop");
            }
        }
        let log = self.log();
        if let Err(error) = std::fs::remove_dir_all(&self.directory) {
            eprintln!("{:?} stays: {error}", self.directory);
        }
        let internal: Vec<&str> = log
            .lines()
            .filter(|line| {
                [" XX000 ", " XX001 ", " XX002 ", "PANIC: ", "TRAP: "]
                    .iter()
                    .any(|sign| line.contains(sign))
            })
            .collect();
        if !internal.is_empty() && !std::thread::panicking() {
            panic!(
                "internal errors in the server's log:\n{}",
                internal.join("\n")
            );
        }
    }
}
