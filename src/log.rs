//! The run log and the state of intervals. Written at the end of a run, in the transaction that moved the data: log and data
//! commit together, or neither does. A failed run is logged only where its error is reported instead of raised.

use pgrx::{JsonB, pg_sys};

use crate::error::{Error, Result};
use crate::time::instant;
use crate::{session, statement};

/// What happened to one grain interval.
#[derive(Debug, Clone)]
pub struct IntervalResult {
    /// Start, an instant in microseconds.
    pub start: i64,
    /// End, exclusive.
    pub end: i64,
    /// loaded, empty, skipped, open, planned or failed.
    pub status: &'static str,
    /// Rows read from the source.
    pub read: i64,
    /// Rows dropped by filters or the choice of one row per key.
    pub dropped: i64,
    /// Rows deleted from the target.
    pub deleted: i64,
    /// Rows inserted into the target.
    pub inserted: i64,
}

/// What happened in a run.
pub struct RunResult {
    /// The target.
    pub target: pg_sys::Oid,
    /// Its name at the time.
    pub target_name: String,
    /// One for each grain interval, in order.
    pub intervals: Vec<IntervalResult>,
    /// One delete and insert for all intervals, or one for each.
    pub wide: bool,
    /// Parameters of the call.
    pub params: serde_json::Value,
    /// Version of the rules.
    pub rules_version: Option<String>,
    /// Rows dropped, by the name of what dropped them.
    pub dropped_by: Vec<(String, i64)>,
    /// When the call began.
    pub started_at: i64,
}

impl RunResult {
    /// A total over all grain intervals.
    pub fn total(&self, count: impl Fn(&IntervalResult) -> i64) -> i64 {
        self.intervals.iter().map(count).sum()
    }

    /// Logs the run, and how it leaves its intervals unless it failed; returns its number.
    pub fn record(&self, function: &str, failure: Option<&Error>) -> Result<i64> {
        // Whose call it is must be asked before the role changes for the bookkeeping.
        let caller = session::current_role();
        session::as_extension_owner(|| {
            let run_id = self.record_run(function, failure, caller)?;
            if !self.intervals.is_empty() {
                self.record_intervals(run_id)?;
            }
            if failure.is_none() {
                statement::write_rows(
                    sql_file!("statement/log_state"),
                    &[
                        self.target.into(),
                        run_id.into(),
                        self.rules_version.clone().into(),
                    ],
                )?;
            }
            Ok(run_id)
        })
    }

    fn status(&self, failure: Option<&Error>) -> &'static str {
        match failure {
            Some(_) => "failed",
            None if self.intervals.iter().all(|unit| unit.status == "skipped") => "skipped",
            None => "loaded",
        }
    }

    fn record_run(
        &self,
        function: &str,
        failure: Option<&Error>,
        caller: pg_sys::Oid,
    ) -> Result<i64> {
        let dropped_by: serde_json::Map<String, serde_json::Value> = self
            .dropped_by
            .iter()
            .map(|(name, rows)| (name.clone(), (*rows).into()))
            .collect();
        let start = self
            .intervals
            .first()
            .map(|unit| instant(unit.start))
            .transpose()?;
        let end = self
            .intervals
            .last()
            .map(|unit| instant(unit.end))
            .transpose()?;
        let target = (self.target != pg_sys::InvalidOid).then_some(self.target);
        statement::write(
            sql_file!("statement/log_run"),
            &[
                target.into(),
                self.target_name.as_str().into(),
                function.into(),
                self.status(failure).into(),
                start.into(),
                end.into(),
                self.wide.into(),
                JsonB(self.params.clone()).into(),
                self.rules_version.clone().into(),
                self.total(|unit| unit.read).into(),
                self.total(|unit| unit.dropped).into(),
                self.total(|unit| unit.deleted).into(),
                self.total(|unit| unit.inserted).into(),
                JsonB(dropped_by.into()).into(),
                caller.into(),
                instant(self.started_at)?.into(),
                failure.map(Error::sqlstate).into(),
                failure.map(|error| error.message.clone()).into(),
            ],
        )?
        .ok_or_else(|| Error::internal("the log gave a run no number"))
    }

    fn record_intervals(&self, run_id: i64) -> Result<u64> {
        let times = |time: fn(&IntervalResult) -> i64| {
            self.intervals
                .iter()
                .map(|unit| instant(time(unit)))
                .collect::<Result<Vec<_>>>()
        };
        let counts = |count: fn(&IntervalResult) -> i64| -> Vec<i64> {
            self.intervals.iter().map(count).collect()
        };
        let statuses: Vec<String> = self
            .intervals
            .iter()
            .map(|unit| unit.status.to_owned())
            .collect();
        statement::write_rows(
            sql_file!("statement/log_intervals"),
            &[
                run_id.into(),
                times(|unit| unit.start)?.into(),
                times(|unit| unit.end)?.into(),
                statuses.into(),
                counts(|unit| unit.read).into(),
                counts(|unit| unit.dropped).into(),
                counts(|unit| unit.deleted).into(),
                counts(|unit| unit.inserted).into(),
            ],
        )
    }
}

/// What happened in a run of a history.
#[derive(Debug, Default)]
pub struct HistoryResult {
    /// The history.
    pub target: pg_sys::Oid,
    /// Its name at the time.
    pub target_name: String,
    /// Name of the source.
    pub source_name: String,
    /// loaded, unchanged, skipped, planned or failed.
    pub status: &'static str,
    /// snapshot or events; `None` where it is not known yet.
    pub mode: Option<&'static str>,
    /// The reference timestamp, an instant.
    pub reference: Option<i64>,
    /// The same, for people.
    pub shown_reference: String,
    /// Whether versions were dated by the source.
    pub source_dated: bool,
    /// Parameters of the call.
    pub params: serde_json::Value,
    /// Version of the rules.
    pub rules_version: Option<String>,
    /// Rows read from the source.
    pub rows_read: i64,
    /// Rows that rules, or the choice of one row per key, dropped.
    pub rows_dropped: i64,
    /// The same, by the name of what dropped them.
    pub dropped_by: Vec<(String, i64)>,
    /// Versions written.
    pub opened: i64,
    /// Versions ended.
    pub closed: i64,
    /// Versions taken back.
    pub withdrawn: i64,
    /// Versions made current again.
    pub reopened: i64,
    /// Rows that changed nothing.
    pub unchanged: i64,
    /// Versions of records that had ended.
    pub reappeared: i64,
    /// Rows that came late.
    pub late: i64,
    /// What was changed about the table first, in words.
    pub changes: Vec<String>,
    /// When the call began.
    pub started_at: i64,
}

impl HistoryResult {
    /// Logs the run as one of `historize`; returns its number.
    pub fn record(&self, failure: Option<&Error>) -> Result<i64> {
        self.record_as("historize", failure)
    }

    /// Logs the run as one of a function; returns its number.
    pub fn record_as(&self, function: &str, failure: Option<&Error>) -> Result<i64> {
        let caller = session::current_role();
        let dropped_by: serde_json::Map<String, serde_json::Value> = self
            .dropped_by
            .iter()
            .map(|(name, rows)| (name.clone(), (*rows).into()))
            .collect();
        let target = (self.target != pg_sys::InvalidOid).then_some(self.target);
        session::as_extension_owner(|| {
            statement::write(
                sql_file!("statement/log_history"),
                &[
                    target.into(),
                    self.target_name.as_str().into(),
                    function.into(),
                    self.status.into(),
                    self.mode.into(),
                    self.reference.map(instant).transpose()?.into(),
                    JsonB(self.params.clone()).into(),
                    self.rules_version.clone().into(),
                    self.rows_read.into(),
                    self.rows_dropped.into(),
                    JsonB(dropped_by.into()).into(),
                    self.opened.into(),
                    self.closed.into(),
                    self.withdrawn.into(),
                    self.reopened.into(),
                    self.unchanged.into(),
                    self.reappeared.into(),
                    self.late.into(),
                    caller.into(),
                    instant(self.started_at)?.into(),
                    failure.map(Error::sqlstate).into(),
                    failure.map(|error| error.message.clone()).into(),
                ],
            )
        })?
        .ok_or_else(|| Error::internal("the log gave a run no number"))
    }
}

/// Marks recorded intervals between two instants as in need of a new load; says how many.
pub fn mark_stale(target: pg_sys::Oid, start: i64, end: i64, reason: &str) -> Result<i64> {
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/mark_stale"),
            &[
                target.into(),
                instant(start)?.into(),
                instant(end)?.into(),
                reason.into(),
            ],
        )
    })
    .map(|rows| rows as i64)
}
