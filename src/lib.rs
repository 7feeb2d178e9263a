//! daybook: loads intervals and keeps history inside Postgres, in the caller's transaction.
//!
//! A reader who looks for a thing finds it by its name; each module may use those above it in this list.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`error`] | the one error style: SQLSTATE, message, DETAIL, HINT |
//! | [`settings`] | the settings under `daybook.` |
//! | [`ident`] | identifiers and column lists; the only place that quotes |
//! | [`time`] | times as the server holds them |
//! | [`compare`] | whether two values are the same, and the fingerprint of a row |
//! | [`list`] | reading the server's lists |
//! | [`call`] | functions that statements call for each row |
//! | [`session`] | acting role, pinned settings, subtransactions |
//! | [`statement`] | statement templates in `sql/`, and running the fixed ones |
//! | [`connection`] | the prepared statements of a run |
//! | [`zone`], [`calendar`], [`bound`] | time zones, grain boundaries, the ends of an interval |
//! | [`relation`] | a relation as the catalog describes it |
//! | [`expression`] | checking SQL text that a user registers |
//! | [`lock`] | what a run locks, and waiting for late commits |
//! | [`registry`] | what is registered: loads and rules |
//! | [`params`] | parameters of a call |
//! | [`intake`] | source + rules + params → the one SELECT that writers read from |
//! | [`interval`] | what bounds mean to a load, and the grain intervals between them |
//! | [`rule`] | checking rules over the rows they will see |
//! | [`registration`] | registering loads and rules, checked against source and target |
//! | [`tally`] | counting rows inside the statements of a run |
//! | [`log`] | the run log and the state of intervals |
//! | [`load`] | `load_interval` |
//! | [`history`] | `historize`, and all about histories |
//! | [`inspect`] | `explain_load`, `check_load`, `last_closed`, `mark_stale` |
//! | [`api`] | what SQL sees: argument checks and one call each |
//!
//! The SQL side (types, tables, views, function signatures, comments, rights) stands in `sql/`.

/// The text of a file under `sql/`, named without its ending.
macro_rules! sql_file {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/", $name, ".sql"))
    };
}

pub mod api;
pub mod bound;
pub mod calendar;
pub mod call;
pub mod compare;
pub mod connection;
pub mod error;
pub mod expression;
pub mod history;
pub mod ident;
pub mod inspect;
pub mod intake;
pub mod interval;
pub mod list;
pub mod load;
pub mod lock;
pub mod log;
pub mod params;
pub mod registration;
pub mod registry;
pub mod relation;
pub mod rule;
pub mod session;
pub mod settings;
pub mod statement;
pub mod tally;
pub mod time;
pub mod zone;

pgrx::pg_module_magic!();

/// Called by the server when it loads the library: defines the settings.
#[pgrx::pg_guard]
#[allow(non_snake_case)]
pub extern "C-unwind" fn _PG_init() {
    settings::define();
}
