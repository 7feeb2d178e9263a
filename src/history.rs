//! `historize` and all about histories: tables that keep every version of every record.
//!
//! A run goes one way: lock, read the source once through the rules beside the current versions, decide what to do about each
//! difference, check, write, log. What was decided is a set of *actions* on versions: open, close, reopen, withdraw. Closing a version
//! changes its valid-to and nothing else.

mod check;
mod columns;
mod refusal;
mod register;
mod rewind;
mod run;
mod setup;
mod statements;
mod table;
mod views;

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::log::HistoryResult;
use crate::relation::{Relation, require_rights};
use crate::session;

pub use check::{Problem, check_history};
pub use register::{Definition, register_history, register_once, unit_of, unregister_history};
pub use rewind::{Rewound, rewind_history};
pub use table::{Place, named_place};
pub use views::create_history_views;

/// Arguments of a run, with their defaults filled in.
pub struct Request {
    /// The history.
    pub target: pg_sys::Oid,
    /// Where to read from, if not from what is registered.
    pub source: Option<pg_sys::Oid>,
    /// The reference timestamp, an instant in microseconds.
    pub reference: Option<i64>,
    /// Values for `param.name`.
    pub params: serde_json::Value,
    /// Count, and write nothing.
    pub dry_run: bool,
    /// When the call began.
    pub started_at: i64,
}

/// Refuses a caller who lacks the rights on the history (42501), and to write where nothing can be written (25006).
pub fn require_permission(request: &Request) -> Result<()> {
    if !request.dry_run {
        session::require_writable("historize")?;
    }
    // Rights come before locks: who has none may not make others wait.
    require_rights(request.target, &["INSERT", "UPDATE"])?;
    match request.source {
        None => Ok(()),
        Some(_) => Relation::describe(request.target)?
            .require_owner("historize from another source into it"),
    }
}

/// Runs `historize`.
pub fn historize(request: &Request) -> Result<(HistoryResult, Option<i64>)> {
    require_permission(request)?;
    // Columns that a run would add are added by a dry run, too, and then undone with it.
    let result = match request.dry_run {
        true => session::undone(|| run::run(request))?,
        false => run::run(request)?,
    };
    let run_id = match request.dry_run {
        true => None,
        false => Some(result.record(None)?),
    };
    run::notice(&result, run_id);
    Ok((result, run_id))
}

/// Logs a run that failed and whose error is reported instead of raised; `name` is what the call named, where no table has come to be.
pub fn record_failure(
    request: &Request,
    name: &str,
    error: &Error,
) -> Result<(HistoryResult, Option<i64>)> {
    let found = session::subtransaction(|| Ok(Relation::describe(request.target)?.display_name()));
    let result = HistoryResult {
        target: request.target,
        target_name: found.unwrap_or_else(|_| name.to_owned()),
        status: "failed",
        reference: request.reference,
        params: request.params.clone(),
        started_at: request.started_at,
        ..HistoryResult::default()
    };
    let run_id = match request.dry_run {
        true => None,
        false => Some(result.record(Some(error))?),
    };
    Ok((result, run_id))
}
