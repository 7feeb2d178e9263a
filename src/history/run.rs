//! A run: read, decide, check, write, count.

use pgrx::{AnyNumeric, PgSqlErrorCode};
use serde::Deserialize;

use crate::connection::{self, Connection, Delta, Value};
use crate::error::{Error, Result};
use crate::ident::Sql;
use crate::log::HistoryResult;
use crate::registry::{Delivery, OnEmpty};
use crate::statement::Access;
use crate::tally::Tally;
use crate::{intake, session, statement};

use super::Request;
use super::refusal;
use super::setup::{Input, Mode, Setup};
use super::statements::{ACTIONS_NAME, DIFFERENCES_NAME, Statements, events_of};

/// What was decided, in numbers.
#[derive(Debug, Default, Deserialize)]
struct Summary {
    opened: i64,
    closed: i64,
    ended: i64,
    deletions: i64,
    withdrawn: i64,
    reopened: i64,
    rehashed: i64,
    late: i64,
    ignored: i64,
    reappeared: i64,
    duplicates: i64,
    refused: i64,
    infinite: i64,
    null_keys: i64,
    newest: Option<i64>,
}

/// Runs `historize` up to its log.
pub(super) fn run(request: &Request) -> Result<HistoryResult> {
    let mut setup = Setup::prepare(request)?;
    let (path, zone) = (
        setup.history.search_path.clone(),
        setup.history.options.zone.clone(),
    );
    let owner = setup.target.owner();
    session::pinned(&path, &zone, || {
        session::as_role(owner, || {
            connection::connected(Access::Write, |connection| {
                let input = setup.intake(connection, request)?;
                setup.refuse_unknown_lists(&input)?;
                refuse_unfit_options(&setup, &input)?;
                let changes = setup.fit_table(connection, &input)?;
                let (keys, data) = setup.stored_columns(&input)?;
                let mut run = Run {
                    statements: Statements::new(&setup, &input, &keys, &data),
                    setup: &setup,
                    input: &input,
                    request,
                    changes,
                };
                connection.with_snapshot(|connection| run.go(connection))
            })
        })
    })
    .and_then(|(result, newest)| {
        if !request.dry_run {
            note(request, &setup, &result, newest)?;
        }
        Ok(result)
    })
}

/// Notes how far the history has come.
fn note(
    request: &Request,
    setup: &Setup,
    result: &HistoryResult,
    newest: Option<i64>,
) -> Result<()> {
    let time = |micros: i64| -> Result<pgrx::datum::Timestamp> {
        pgrx::datum::Timestamp::try_from(micros)
            .map_err(|_| Error::invalid("the time is beyond what Postgres can hold"))
    };
    let source_dated = match result.source_dated && result.status == "loaded" {
        true => {
            let reference = setup.reference_on_axis()?;
            Some(time(
                newest.map_or(reference, |newest| newest.max(reference)),
            )?)
        }
        false => None,
    };
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/note_history"),
            &[
                request.target.into(),
                newest.map(time).transpose()?.into(),
                source_dated.into(),
            ],
        )
    })
    .map(drop)
}

/// Refuses options that do not fit how the input is taken.
pub(super) fn refuse_unfit_options(setup: &Setup, input: &Input) -> Result<()> {
    let options = &setup.history.options;
    if intake::reads(&input.reads, &setup.target) {
        return Err(Error::prerequisite(format!(
            "the source or a rule reads \"{}\", the history itself",
            setup.target.display_name()
        ))
        .detail("A run would find other rows after it has written than before, and a rerun would not be one.")
        .hint("Leave the history out of the source's query and of the rules."));
    }
    if let Mode::Events(events) = &input.mode {
        if options.historize_whitelist.is_some() {
            return Err(Error::invalid("historize_whitelist and change events exclude each other")
                .detail(format!("Column {} makes the input change events, each of which makes a version.", events.kind))
                .hint("Leave the whitelist out, or have the column ignored: cdc_column => null, cdc_auto_detect => false."));
        }
        if options.intermediate_versions && input.time.is_none() {
            return Err(Error::invalid("intermediate_versions needs times of the events")
                .detail("Without them all events of a run begin at its reference timestamp, and only the last of a key can be a version.")
                .hint("Name the column that has them with source_timestamp_column."));
        }
    }
    Ok(())
}

struct Run<'a> {
    setup: &'a Setup,
    input: &'a Input,
    request: &'a Request,
    statements: Statements<'a>,
    /// What was changed about the table, in words.
    changes: Vec<String>,
}

impl Run<'_> {
    fn go(&mut self, connection: &mut Connection) -> Result<(HistoryResult, Option<i64>)> {
        let known_until = self.refuse_old_reference(connection)?;
        let steps = self.input.intake.steps.len();
        // Step 1 of a tally counts as read, too; those of ours come after all of the intake.
        let joined = steps + 2;
        let mut tally = Tally::begin(self.request.target, steps + 3)?;
        tally.reset(1);
        let compared = self.statements.compared_names();
        let values = self.setup.values(&compared, tally.run())?;
        let mut with_params = values.clone();
        with_params.extend(&self.input.params);

        let read = match events_of(&self.input.mode) {
            Some(events) => self.statements.read_events(events)?,
            None => self.statements.read_snapshot(joined)?,
        };
        let (differences, found) = connection
            .reading(|connection| filled(connection, DIFFERENCES_NAME, &read, &with_params))?;
        let is_full = matches!(self.input.mode, Mode::Snapshot)
            && self.setup.history.options.delivery == Delivery::Full;
        let current = match is_full || self.setup.history.options.max_closed_percent.is_some() {
            true => connection
                // On the snapshot of the differences.
                .reading(|connection| {
                    connection.look_up(&self.statements.current_count()?, &with_params)
                })?
                .unwrap_or_default(),
            false => 0,
        };
        let counts = tally.take();
        let passed = |step: usize| -> i64 {
            counts
                .passed
                .get(step)
                .map_or(0, |rows| rows.iter().sum::<u64>()) as i64
        };
        let (rows_read, kept) = (passed(0), passed(steps));
        let mut dropped_by: Vec<(String, i64)> = Vec::new();
        for (step, name) in self.input.intake.steps.iter().enumerate() {
            dropped_by.push((name.clone(), passed(step) - passed(step + 1)));
        }
        let mut result = HistoryResult {
            target: self.request.target,
            target_name: self.setup.target.display_name(),
            source_name: self.setup.source.display_name(),
            mode: Some(self.input.mode.name()),
            reference: Some(self.setup.history.cut(self.setup.reference)),
            shown_reference: self.shown(self.setup.reference_on_axis()?),
            source_dated: self.input.time.is_some(),
            params: self.request.params.clone(),
            rules_version: Some(self.setup.rules_version.clone()),
            rows_read,
            rows_dropped: rows_read - kept,
            dropped_by,
            changes: std::mem::take(&mut self.changes),
            started_at: self.request.started_at,
            ..HistoryResult::default()
        };
        if kept == 0 {
            match self.setup.on_empty(&self.input.mode) {
                OnEmpty::Error => return Err(refusal::empty(self.setup)),
                OnEmpty::Skip => {
                    result.status = "skipped";
                    connection.end(differences);
                    return Ok((result, known_until));
                }
                OnEmpty::Close => {}
            }
        }
        let decide = match events_of(&self.input.mode) {
            Some(_) => {
                refusal::refuse_event_problems(
                    self.setup,
                    connection,
                    &self.statements.event_problems()?,
                    &values,
                )?;
                self.statements.decide_events()?
            }
            None => {
                if is_full && passed(joined) > current {
                    // Found out by counting; the source is read once more only to say which keys they are.
                    let duplicates = self.statements.duplicates()?;
                    return Err(refusal::duplicates(
                        self.setup,
                        connection,
                        &duplicates,
                        &with_params,
                    ));
                }
                self.statements.decide_snapshot()?
            }
        };
        let summary = match found {
            // A snapshot that differs in nothing.
            0 => Summary::default(),
            _ => self.act(connection, &decide, &values, current)?,
        };
        connection.end(differences);

        result.opened = summary.opened;
        result.closed = summary.closed;
        result.withdrawn = summary.withdrawn;
        result.reopened = summary.reopened;
        result.reappeared = summary.reappeared;
        result.late = summary.late;
        result.unchanged = kept - self.rows_that_changed(&summary);
        let changed = summary.opened + summary.closed + summary.withdrawn + summary.reopened;
        result.status = match (self.request.dry_run, changed) {
            (true, _) => "planned",
            (false, 0) => "unchanged",
            (false, _) => "loaded",
        };
        let reference = match self.input.time {
            // What the source dates may lie anywhere.
            Some(_) => None,
            None => Some(self.setup.reference_on_axis()?),
        };
        Ok((result, known_until.max(summary.newest).max(reference)))
    }

    /// Decides what to do about the differences, checks it and does it.
    fn act(
        &self,
        connection: &mut Connection,
        decide: &Sql,
        values: &[Value],
        current: i64,
    ) -> Result<Summary> {
        let zone = &self.setup.history.options.zone;
        let (actions, summary) = session::pinned("pg_catalog", zone, || {
            session::set_based(|| {
                // On the snapshot that the differences were seen with, or what is committed in between would be decided about.
                connection.reading(|connection| {
                    let (actions, _) = filled(connection, ACTIONS_NAME, decide, values)?;
                    Ok((actions, self.check(connection, values, current)?))
                })
            })
        })?;
        if !self.request.dry_run {
            self.write(connection, values, &summary)?;
            self.refuse_rewritten(connection, &summary)?;
        }
        connection.end(actions);
        Ok(summary)
    }

    /// Refuses (23514) versions that BEFORE triggers have made others than were decided.
    fn refuse_rewritten(&self, connection: &mut Connection, summary: &Summary) -> Result<()> {
        let target = &self.setup.target;
        if !target.has_before_insert_triggers && !target.has_before_update_triggers {
            return Ok(());
        }
        let zone = &self.setup.history.options.zone;
        let written: Option<i64> = session::pinned("pg_catalog", zone, || {
            session::set_based(|| connection.look_up(&self.statements.written()?, &[]))
        })?;
        let expected = summary.opened + summary.closed + summary.reopened;
        match written.unwrap_or_default() {
            written if written == expected => Ok(()),
            written => Err(refusal::rewritten(self.setup, expected - written)),
        }
    }

    /// How many rows of the input did something, or were left out.
    fn rows_that_changed(&self, summary: &Summary) -> i64 {
        let ends = match self.input.mode {
            // A missing key is no row.
            Mode::Snapshot => 0,
            Mode::Events(_) => summary.deletions,
        };
        summary.opened + summary.reopened + ends + summary.ignored
    }

    /// An instant of the axis for people.
    fn shown(&self, micros: i64) -> String {
        Value::time(self.setup.axis, micros)
            .text()
            .unwrap_or_default()
    }

    /// Refuses (22023) a reference older than what the history knows. The registry says what that is; of a table that was emptied
    /// meanwhile nothing is known, and one that was filled by hand is asked.
    fn refuse_old_reference(&self, connection: &mut Connection) -> Result<Option<i64>> {
        let reference = self.setup.reference_on_axis()?;
        let known = self.setup.history.newest;
        if known.is_some_and(|newest| newest <= reference) || self.input.time.is_some() {
            return Ok(known);
        }
        let values = self.setup.values(&[], 0)?;
        let Some(found) = connection.look_up::<i64>(&self.statements.newest()?, &values)? else {
            return Ok(None);
        };
        let newest = known.unwrap_or(found);
        match newest > reference {
            true => Err(refusal::old_reference(
                self.setup,
                &self.shown(reference),
                &self.shown(newest),
            )),
            false => Ok(Some(newest)),
        }
    }

    /// Counts what was decided, and refuses what must not be written.
    fn check(
        &self,
        connection: &mut Connection,
        values: &[Value],
        current: i64,
    ) -> Result<Summary> {
        let summary: Summary = connection
            .look_up(&self.statements.summary()?, values)?
            .unwrap_or_default();
        if matches!(self.input.mode, Mode::Snapshot)
            && (summary.null_keys > 0
                || summary.duplicates > 0
                || summary.opened + summary.reopened > 0)
        {
            let problems = self.statements.key_problems()?;
            if refusal::refuse_key_problems(self.setup, connection, &problems)? {
                let mut with_params = values.to_vec();
                with_params.extend(&self.input.params);
                let duplicates = self.statements.duplicates()?;
                return Err(refusal::duplicates(
                    self.setup,
                    connection,
                    &duplicates,
                    &with_params,
                ));
            }
        }
        if summary.infinite > 0 {
            return Err(refusal::infinite(
                self.setup,
                self.input.time.as_ref(),
                summary.infinite,
            ));
        }
        if summary.refused > 0 {
            return Err(refusal::refused(
                self.setup,
                connection,
                &self.statements.refused()?,
            )?);
        }
        if let Some(limit) = &self.setup.history.options.max_closed_percent {
            let limit = AnyNumeric::try_from(limit.to_string().as_str())
                .map_err(|_| Error::internal("max_closed_percent is no number"))?;
            if AnyNumeric::from(summary.ended) * AnyNumeric::from(100)
                > limit.clone() * AnyNumeric::from(current)
            {
                return Err(refusal::too_many_closed(
                    self.setup,
                    summary.ended,
                    current,
                    &limit,
                ));
            }
        }
        Ok(summary)
    }

    /// Writes what was decided: takes back, ends and reopens, writes anew, in this order, so that at no moment a key has two current
    /// versions.
    fn write(
        &self,
        connection: &mut Connection,
        values: &[Value],
        summary: &Summary,
    ) -> Result<()> {
        let mut touch = |what: &str, sql: &Sql, expected: i64, triggers: bool| -> Result<()> {
            if expected == 0 {
                return Ok(());
            }
            let work = |connection: &mut Connection| connection.execute(sql, values);
            let rows = match self.statements.by_place() {
                true => session::by_place(|| work(connection))?,
                false => work(connection)?,
            };
            match rows as i64 == expected {
                true => Ok(()),
                false => Err(refusal::missed(
                    self.setup,
                    what,
                    rows as i64,
                    expected,
                    triggers,
                )),
            }
        };
        let target = &self.setup.target;
        touch(
            "delete",
            &self.statements.withdraw()?,
            summary.withdrawn,
            target.has_before_delete_triggers,
        )?;
        touch(
            "update",
            &self.statements.close()?,
            summary.closed + summary.reopened,
            target.has_before_update_triggers,
        )?;
        if let Some(rehash) = self.statements.rehash()? {
            touch(
                "update",
                &rehash,
                summary.rehashed,
                target.has_before_update_triggers,
            )?;
        }
        if summary.opened > 0 {
            let rows = connection.execute(&self.statements.open()?, values)? as i64;
            if rows != summary.opened {
                return Err(refusal::missed(
                    self.setup,
                    "insert",
                    rows,
                    summary.opened,
                    target.has_before_insert_triggers,
                ));
            }
        }
        Ok(())
    }
}

/// A delta of what a statement answers with, and how many rows that is.
fn filled(
    connection: &mut Connection,
    name: &'static std::ffi::CStr,
    sql: &Sql,
    values: &[Value],
) -> Result<(Delta, u64)> {
    let statement = connection.prepare(sql, values)?;
    let mut delta = connection.delta(name, &statement)?;
    let rows = connection.fill(&mut delta, &statement, values)?;
    connection.discard(statement);
    Ok((delta, rows))
}

/// The one notice that sums up a run.
pub(super) fn notice(result: &HistoryResult, run_id: Option<i64>) {
    let run = match run_id {
        Some(run_id) => format!("run {run_id}"),
        None => "dry run, nothing written".to_owned(),
    };
    let also: String = [
        (result.withdrawn, "withdrawn"),
        (result.reopened, "reopened"),
        (result.reappeared, "reappeared"),
        (result.late, "late"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!(", {count} {what}"))
    .collect();
    let mut summary = Error::new(
        PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        format!(
            "{}: {} of {} at {}: {} read, {} dropped, {} opened, {} closed, {} unchanged{also}, {run}",
            result.target_name,
            result.mode.unwrap_or("run"),
            result.source_name,
            result.shown_reference,
            result.rows_read,
            result.rows_dropped,
            result.opened,
            result.closed,
            result.unchanged,
        ),
    );
    if !result.changes.is_empty() {
        summary = summary.detail(format!(
            "The table was changed first: {}.",
            result.changes.join("; ")
        ));
    }
    summary.notice();
}
