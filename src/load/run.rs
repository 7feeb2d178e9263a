//! A run under way: batch by batch, read, check, delete, insert, count.

use std::ops::Range;

use pgrx::PgSqlErrorCode;

use crate::connection::{Connection, Delta, Prepared, Value};
use crate::error::{Error, Result};
use crate::ident::Sql;
use crate::log::IntervalResult;
use crate::statement::render;
use crate::tally::{Counts, Tally};
use crate::{lock, session, settings};

use super::refusal::{moved, refuse_empty, refuse_foreign_rows, refuse_key_problems, swallowed};
use super::setup::Setup;
use super::statements::{DELTA_NAME, Statements};
use super::{OnEmpty, Request};

/// The statements of a run as the server has them prepared.
struct Plans {
    read: Prepared,
    delete: Prepared,
    insert: Option<Prepared>,
    leftover: Option<Prepared>,
    key_problems: Option<Prepared>,
}

type Prepare = fn(&mut Connection, &Sql, &[Value]) -> Result<Prepared>;

impl Plans {
    fn new(
        connection: &mut Connection,
        prepare: Prepare,
        setup: &Setup,
        request: &Request,
        read: &Sql,
        statements: &Statements,
        params: &[Value],
    ) -> Result<Self> {
        let base = setup.intervals.values(&(0..0), 0)?;
        let and = |more: &[Value]| [base.as_slice(), more].concat();
        let with_params = and(params);
        let deletes = match request.may_skip() {
            true => and(&[chosen(&[])]),
            false => base.clone(),
        };
        let inserts = if setup.uses_delta(request) {
            &base
        } else {
            &with_params
        };
        let writes = !request.dry_run;
        let delete = if writes {
            &statements.delete
        } else {
            &statements.preview_delete
        };
        // What triggers a foreign server has is not known here.
        let leftover = writes
            && (setup.target.has_before_delete_triggers || !setup.target.foreign_parts.is_empty());
        Ok(Self {
            read: prepare(connection, read, &with_params)?,
            delete: prepare(connection, delete, &deletes)?,
            insert: writes
                .then(|| prepare(connection, &statements.insert, inserts))
                .transpose()?,
            leftover: leftover
                .then(|| prepare(connection, &statements.leftover, &deletes))
                .transpose()?,
            key_problems: statements
                .key_problems
                .as_ref()
                .map(|sql| prepare(connection, sql, &[]))
                .transpose()?,
        })
    }

    fn discard(self, connection: &mut Connection) {
        let others = [self.insert, self.leftover, self.key_problems];
        for plan in [self.read, self.delete]
            .into_iter()
            .chain(others.into_iter().flatten())
        {
            connection.discard(plan);
        }
    }
}

/// A run under way, on an open connection with the rights of the target's owner.
pub(super) struct Run<'a> {
    setup: &'a Setup,
    request: &'a Request,
    tally: Tally,
    /// What drops rows, in order, and how many it has dropped.
    steps: Vec<(String, i64)>,
    /// What has happened to the grain intervals so far.
    results: Vec<IntervalResult>,
    params: Vec<Value>,
    read: Sql,
    statements: Statements,
    plans: Plans,
    delta: Option<Delta>,
    batches_done: usize,
}

impl<'a> Run<'a> {
    pub(super) fn begin(
        connection: &mut Connection,
        setup: &'a Setup,
        request: &'a Request,
    ) -> Result<Self> {
        let (intake, read, params, written) = setup.intake(connection, request)?;
        if !request.dry_run {
            let closed = setup.intervals.end().saturating_add(setup.load.settle);
            lock::await_late_commits(&read.relations()?, closed, &setup.source.display_name())?;
            refuse_stale_snapshot(connection, setup)?;
        }
        let statements = Statements::render(setup, request, &intake, &written)?;
        let delta = if setup.uses_delta(request) {
            Some(connection.delta(DELTA_NAME, &read)?)
        } else {
            None
        };
        let prepare: Prepare = Connection::prepare;
        let plans = Plans::new(
            connection,
            prepare,
            setup,
            request,
            &intake.sql,
            &statements,
            &params,
        )?;
        connection.discard(read);
        Ok(Self {
            setup,
            request,
            tally: Tally::begin(request.target, intake.steps.len() + 1)?,
            steps: intake.steps.into_iter().map(|name| (name, 0)).collect(),
            results: Vec::with_capacity(setup.intervals.count()),
            params,
            read: intake.sql,
            statements,
            plans,
            delta,
            batches_done: 0,
        })
    }

    /// Plans the statements anew, for all values, before batches 1, 2, 4, 8 and so on: planning each batch for its own values would
    /// cost more than running it, and a plan that was made for an empty table would be kept for a full one.
    fn plan_again(&mut self, connection: &mut Connection) -> Result<()> {
        let plans = Plans::new(
            connection,
            Connection::prepare_for_many,
            self.setup,
            self.request,
            &self.read,
            &self.statements,
            &self.params,
        )?;
        std::mem::replace(&mut self.plans, plans).discard(connection);
        Ok(())
    }

    /// Loads the grain intervals of one batch.
    pub(super) fn batch(
        &mut self,
        connection: &mut Connection,
        batch: &Range<usize>,
    ) -> Result<()> {
        if self.batches_done.is_power_of_two() {
            self.plan_again(connection)?;
        }
        self.batches_done += 1;

        let ahead = self.read_ahead(connection, batch)?;
        let skipped = self.skipped(batch, ahead.as_ref())?;
        let counts = self.replace(connection, batch, &skipped, ahead)?;
        self.collect(batch, &counts, &skipped);
        Ok(())
    }

    /// Reads a batch before anything of it is deleted, where a check or a dry run wants that, and counts it. The rows stay in the
    /// delta, those of a dry run are let go.
    fn read_ahead(
        &mut self,
        connection: &mut Connection,
        batch: &Range<usize>,
    ) -> Result<Option<Counts>> {
        if self.delta.is_none() && !self.request.dry_run {
            return Ok(None);
        }
        self.tally.reset(batch.len());
        let mut values = self.setup.intervals.values(batch, self.tally.run())?;
        values.extend(&self.params);
        match &mut self.delta {
            Some(delta) => connection.fill(delta, &self.plans.read, &values)?,
            None => connection.run(&self.plans.read, &values)?,
        };
        if let Some(problems) = &self.plans.key_problems {
            refuse_key_problems(self.setup, connection, problems)?;
        }
        Ok(Some(self.tally.take()))
    }

    /// Which grain intervals of a batch are left as they are, because there is nothing to load into them.
    fn skipped(&self, batch: &Range<usize>, ahead: Option<&Counts>) -> Result<Vec<bool>> {
        let empty: Vec<bool> = ahead.map_or_else(Vec::new, |ahead| {
            ahead.passed[self.steps.len()]
                .iter()
                .map(|rows| *rows == 0)
                .collect()
        });
        match self.request.on_empty {
            OnEmpty::Error => refuse_empty(self.setup, batch, &empty)?,
            OnEmpty::Skip => return Ok(empty),
            OnEmpty::Replace => {}
        }
        Ok(vec![false; batch.len()])
    }

    /// Adds what was counted in a batch to what has happened so far.
    fn collect(&mut self, batch: &Range<usize>, counts: &Counts, skipped: &[bool]) {
        for (step, (_, dropped)) in self.steps.iter_mut().enumerate() {
            let passed = |step: usize| counts.passed[step].iter().sum::<u64>() as i64;
            *dropped += passed(step) - passed(step + 1);
        }
        let (setup, steps) = (self.setup, self.steps.len());
        for (offset, index) in batch.clone().enumerate() {
            let boundaries = &setup.intervals.boundaries;
            let (start, end) = (boundaries[index].instant, boundaries[index + 1].instant);
            let (read, kept) = (counts.passed[0][offset], counts.passed[steps][offset]);
            let inserted = counts.inserted[offset];
            let status = if self.request.dry_run {
                "planned"
            } else if skipped[offset] {
                "skipped"
            } else if end.saturating_add(setup.load.settle) > setup.intervals.now {
                "open"
            } else if inserted == 0 {
                "empty"
            } else {
                "loaded"
            };
            self.results.push(IntervalResult {
                start,
                end,
                status,
                read: read as i64,
                dropped: (read - kept) as i64,
                deleted: counts.deleted[offset] as i64,
                inserted: inserted as i64,
            });
        }
    }

    /// Ends the run: what happened to each grain interval, and what was dropped by what.
    pub(super) fn end(
        self,
        connection: &mut Connection,
    ) -> (Vec<IntervalResult>, Vec<(String, i64)>) {
        if let Some(delta) = self.delta {
            connection.end(delta);
        }
        (self.results, self.steps)
    }

    /// Deletes and inserts the grain intervals of a batch that are not skipped. `ahead` is what was counted in reading ahead; without
    /// it the insert counts as it reads.
    fn replace(
        &mut self,
        connection: &mut Connection,
        batch: &Range<usize>,
        skipped: &[bool],
        ahead: Option<Counts>,
    ) -> Result<Counts> {
        self.tally.reset(batch.len());
        let base = self.setup.intervals.values(batch, self.tally.run())?;
        let mut values = base.clone();
        if self.request.may_skip() {
            values.push(chosen(skipped));
        }
        connection.run(&self.plans.delete, &values)?;
        let mut counts = self.tally.take();
        refuse_foreign_rows(self.setup, &counts)?;
        if let Some(leftover) = &self.plans.leftover {
            let left: i64 = connection.fetch(leftover, &values)?.unwrap_or_default();
            if left > 0 {
                return Err(swallowed(self.setup, "delete", left as u64));
            }
        }
        let Some(insert) = &self.plans.insert else {
            counts.passed = ahead.unwrap_or_default().passed;
            counts.inserted = counts.passed[self.steps.len()].clone();
            return Ok(counts);
        };
        let mut values = base;
        if self.delta.is_none() {
            values.extend(&self.params);
        }
        let rows = connection.run(insert, &values)?;
        let wrote = self.tally.take();
        if wrote.foreign_rows > 0 {
            return Err(moved(self.setup, &wrote));
        }
        counts.passed = ahead.map_or_else(|| wrote.passed.clone(), |ahead| ahead.passed);
        counts.inserted = counts.passed[self.steps.len()].clone();
        let total: u64 = counts.inserted.iter().sum();
        if rows < total {
            return Err(swallowed(self.setup, "insert", total - rows));
        }
        if self.setup.target.has_before_insert_triggers && wrote.inserted != counts.inserted {
            return Err(moved(self.setup, &wrote));
        }
        Ok(counts)
    }
}

/// Which grain intervals are replaced: the parameter $9 of a delete that may skip some.
fn chosen(skipped: &[bool]) -> Value {
    Value::of(
        skipped
            .iter()
            .map(|skipped| !skipped)
            .collect::<Vec<bool>>(),
    )
}

/// Refuses (40001) to read with a snapshot that does not see what others have committed into the interval since it was taken: where
/// one snapshot serves the whole transaction, waiting for them has not helped.
fn refuse_stale_snapshot(connection: &mut Connection, setup: &Setup) -> Result<()> {
    if settings::settle_timeout() == 0 || !session::keeps_one_snapshot() {
        return Ok(());
    }
    let all = 0..setup.intervals.count();
    let values: Vec<Value> = setup
        .intervals
        .values(&all, 0)?
        .into_iter()
        .take(2)
        .collect();
    let fingerprint = render(
        sql_file!("statement/source_fingerprint"),
        &[
            ("source", &setup.source.qualified_name().sql()),
            ("time", &setup.load.time_column.sql()),
        ],
    )?;
    let fingerprint = connection.prepare(&fingerprint, &values)?;
    let ours: Option<serde_json::Value> = connection.fetch(&fingerprint, &values)?;
    let latest: Option<serde_json::Value> = connection.fetch_latest(&fingerprint, &values)?;
    if ours == latest {
        return Ok(());
    }
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
        format!(
            "rows of \"{}\" in the interval were committed after this transaction took its snapshot",
            setup.source.display_name()
        ),
    )
    .detail("The run would miss them, and log the interval as loaded.")
    .hint("Try again in a new transaction, or load under READ COMMITTED."))
}
