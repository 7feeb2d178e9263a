//! `load_interval`: replaces the rows of an interval of the target by what its source holds now.
//!
//! A run goes one way: lock, read the source once through the rules, check, write, log. The interval is cut into *batches*, one for all
//! grain intervals (wide) or one for each; a batch is one delete and one insert with the same bounds and stamps in both, so
//! that what is read, what is stamped and what is deleted are the same rows.

mod refusal;
mod run;
mod setup;
mod statements;

use pgrx::{AnyNumeric, PgSqlErrorCode, pg_sys};

use crate::bound::Bound;
use crate::calendar;
use crate::connection;
use crate::error::{Error, Result, counted};
use crate::interval::{Asked, Intervals, shown};
use crate::log::{IntervalResult, RunResult};
use crate::registry::{Load, rules_version};
use crate::relation::{Relation, require_rights};
use crate::session;
use crate::statement::Access;

pub use setup::Setup;
pub use statements::Statements;

use run::Run;

/// What to do with a grain interval for which the read, through the rules, returns nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnEmpty {
    /// Delete what the target has.
    Replace,
    /// Leave what the target has.
    Skip,
    /// Fail the run.
    Error,
}

/// Arguments of `load_interval`, with their defaults filled in.
pub struct Request {
    /// The target.
    pub target: pg_sys::Oid,
    /// Which intervals.
    pub asked: Asked,
    /// One delete and insert for all grain intervals.
    pub wide: bool,
    /// Values for `param.name`.
    pub params: serde_json::Value,
    /// What to do with empty intervals.
    pub on_empty: OnEmpty,
    /// How much smaller, in percent of what is deleted, a run may leave the table.
    pub max_deleted_percent: Option<AnyNumeric>,
    /// Count, and write nothing.
    pub dry_run: bool,
    /// When the call began.
    pub started_at: i64,
}

impl Request {
    /// Whether grain intervals may be left as they are.
    pub fn may_skip(&self) -> bool {
        self.on_empty == OnEmpty::Skip
    }
}

/// Refuses a caller who lacks the rights on the target (42501), and to write where nothing can be written (25006).
pub fn require_permission(request: &Request) -> Result<()> {
    if !request.dry_run {
        session::require_writable("load_interval")?;
    }
    // Rights come before locks: who has none may not make others wait.
    require_rights(request.target, &["INSERT", "DELETE"])
}

/// Runs `load_interval`.
pub fn load_interval(request: &Request) -> Result<(RunResult, Option<i64>)> {
    require_permission(request)?;
    let setup = Setup::prepare(request)?;
    let access = if request.dry_run {
        Access::Read
    } else {
        Access::Write
    };
    let (intervals, dropped_by) =
        session::pinned(&setup.load.search_path, &setup.load.zone_name, || {
            session::as_role(setup.target.owner(), || {
                connection::connected(access, |connection| {
                    let mut run = Run::begin(connection, &setup, request)?;
                    for batch in setup.intervals.batches(request.wide) {
                        pgrx::check_for_interrupts!();
                        session::in_scratch_memory(|| run.batch(connection, &batch))?;
                    }
                    Ok(run.end(connection))
                })
            })
        })?;
    let result = RunResult {
        target: request.target,
        target_name: setup.target.display_name(),
        intervals,
        wide: request.wide,
        params: request.params.clone(),
        rules_version: Some(setup.rules_version.clone()),
        dropped_by,
        started_at: request.started_at,
    };
    refuse_shrinking(&setup, request, &result)?;
    let run_id = if request.dry_run {
        None
    } else {
        Some(result.record("load_interval", None)?)
    };
    notice(&setup, request, &result, run_id);
    Ok((result, run_id))
}

/// Refuses a run that leaves the table smaller by more than `max_deleted_percent` of what it deletes.
fn refuse_shrinking(setup: &Setup, request: &Request, result: &RunResult) -> Result<()> {
    let Some(limit) = &request.max_deleted_percent else {
        return Ok(());
    };
    let (deleted, inserted) = (
        result.total(|unit| unit.deleted),
        result.total(|unit| unit.inserted),
    );
    let lost = (deleted - inserted).max(0);
    if deleted == 0
        || AnyNumeric::from(lost) * AnyNumeric::from(100)
            <= limit.clone() * AnyNumeric::from(deleted)
    {
        return Ok(());
    }
    Err(Error::check(format!(
        "the run would delete {deleted} rows of \"{}\" and insert {inserted}",
        setup.target.display_name()
    ))
    .detail(format!(
        "The table would lose {:.1} percent of them; allowed are {}.",
        lost as f64 * 100.0 / deleted as f64,
        limit.normalize()
    ))
    .hint("If the source is right, run it again with a higher max_deleted_percent, or without."))
}

/// The one notice that sums up a run.
fn notice(setup: &Setup, request: &Request, result: &RunResult, run_id: Option<i64>) {
    let (load, plan) = (&setup.load, &setup.intervals);
    let dropped: Vec<String> = result
        .dropped_by
        .iter()
        .filter(|(_, rows)| *rows > 0)
        .map(|(name, rows)| format!("{name} {rows}"))
        .collect();
    let dropped = match dropped.is_empty() {
        true => "0 dropped".to_owned(),
        false => format!(
            "{} dropped ({})",
            result.total(|unit| unit.dropped),
            dropped.join(", ")
        ),
    };
    let intervals = counted(plan.count() as u64, "interval");
    let run = match run_id {
        Some(run_id) => format!("run {run_id}"),
        None => "dry run, nothing written".to_owned(),
    };
    let mut summary = Error::new(
        PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        format!(
            "{}: {intervals} from {} to {} ({}), {}: {} read, {dropped}, {} deleted, {} inserted, {run}",
            result.target_name,
            shown(load, plan.start()),
            shown(load, plan.end()),
            load.zone_name,
            if request.wide { "wide" } else { "one by one" },
            result.total(|unit| unit.read),
            result.total(|unit| unit.deleted),
            result.total(|unit| unit.inserted),
        ),
    );
    if request.asked.end.is_none() {
        summary =
            summary.hint("No interval_end was given: the run went on to the last closed boundary.");
    }
    let end_local = load.calendar.zone.to_local(plan.end());
    if request
        .asked
        .end
        .is_some_and(|end| matches!(end, Bound::Local(_) | Bound::Instant(_)))
        && calendar::is_last_day_of_month(end_local)
    {
        summary = summary.hint(format!(
            "interval_end is exclusive: {} itself is not loaded.",
            shown(load, plan.end())
        ));
    }
    summary.notice();
}

/// Logs a run that failed and whose error is reported instead of raised. Intervals that were asked for are listed where they can be
/// told.
pub fn record_failure(request: &Request, error: &Error) -> Result<(RunResult, Option<i64>)> {
    let told = session::subtransaction(|| {
        let target = Relation::describe(request.target)?;
        let load = session::as_extension_owner(|| Load::of(&target))?;
        let source = Relation::describe(load.lock_source()?)?;
        let asked = Asked {
            allow_open: true,
            ..request.asked
        };
        let plan = Intervals::new(&asked, &load, load.shape(&source, &target)?)?;
        let version = rules_version(&load.rules, &source);
        Ok((
            target.display_name(),
            plan.intervals().collect::<Vec<_>>(),
            Some(version),
        ))
    });
    let name = session::subtransaction(|| Ok(Relation::describe(request.target)?.display_name()));
    let (target_name, intervals, rules_version) = told.unwrap_or_else(|_| {
        (
            name.unwrap_or_else(|_| request.target.to_string()),
            Vec::new(),
            None,
        )
    });
    let failed = |(start, end)| IntervalResult {
        start,
        end,
        status: "failed",
        read: 0,
        dropped: 0,
        deleted: 0,
        inserted: 0,
    };
    let result = RunResult {
        target: request.target,
        target_name,
        intervals: intervals.into_iter().map(failed).collect(),
        wide: request.wide,
        params: request.params.clone(),
        rules_version,
        dropped_by: Vec::new(),
        started_at: request.started_at,
    };
    let run_id = if request.dry_run {
        None
    } else {
        Some(result.record("load_interval", Some(error))?)
    };
    Ok((result, run_id))
}
