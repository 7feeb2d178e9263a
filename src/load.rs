//! `load_interval`: replaces the rows of an interval of the target by what its source holds now.
//!
//! A run goes one way: lock, read the source once through the rules, check, write, log. The interval is cut into *batches*, one for all
//! grain intervals (wide) or one for each; a batch is one delete and one insert with the same bounds and stamps in both, so
//! that what is read, what is stamped and what is deleted are the same rows.

use std::ops::Range;

use pgrx::{AnyNumeric, JsonB, PgSqlErrorCode, pg_sys};
use serde::Deserialize;

use crate::bound::Bound;
use crate::calendar::{self, Boundary};
use crate::error::{Error, Result, evidence};
use crate::ident::{Ident, Sql};
use crate::intake::{self, Intake};
use crate::log::{self, IntervalResult, RunResult};
use crate::registry::{Load, Shape, rules_version};
use crate::relation::Relation;
use crate::statement::{self, Connection, Delta, Prepared, TimeType, Value, render};
use crate::tally::{Counts, Tally};
use crate::{lock, session};

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
    /// First bound; `None`: from the start of history.
    pub start: Option<Bound>,
    /// Last bound, exclusive; `None`: up to the last closed interval.
    pub end: Option<Bound>,
    /// One delete and insert for all grain intervals.
    pub wide: bool,
    /// Values for `param.name`.
    pub params: serde_json::Value,
    /// The clock: an instant in microseconds; `None`: the start of the transaction.
    pub as_of: Option<i64>,
    /// Whether an interval that has not closed may be loaded.
    pub allow_open: bool,
    /// What to do with empty intervals.
    pub on_empty: OnEmpty,
    /// How much smaller, in percent of what is deleted, a run may leave the table.
    pub max_deleted_percent: Option<AnyNumeric>,
    /// Count, and write nothing.
    pub dry_run: bool,
}

impl Request {
    fn now(&self) -> i64 {
        self.as_of.unwrap_or_else(session::transaction_start)
    }
}

// Bounds --------------------------------------------------------------------------------------------------------------

/// An instant as a bound that reads back to it: a local date where it is the start of one, else with its offset.
pub fn shown(load: &Load, instant: i64) -> String {
    let zone = load.calendar.zone;
    let local = zone.to_local(instant);
    if calendar::midnight(local, 0) == local && zone.boundary(local) == instant {
        return Bound::Local(local).to_string();
    }
    let minutes = (local - instant) / 60_000_000;
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.abs();
    let text = calendar::civil(local).map_or_else(String::new, |at| {
        at.format("%Y-%m-%d %H:%M:%S%.f").to_string()
    });
    match minutes % 60 {
        0 => format!("{text}{sign}{:02}", minutes / 60),
        rest => format!("{text}{sign}{:02}:{rest:02}", minutes / 60),
    }
}

/// The instant that a bound means to a load at a time.
pub fn resolve_bound(load: &Load, argument: &str, bound: Bound, now: i64) -> Result<i64> {
    let zone = load.calendar.zone;
    match bound {
        Bound::Instant(instant) => Ok(instant),
        Bound::Local(local) => Ok(zone.boundary(local)),
        Bound::Today => Ok(zone.boundary(calendar::midnight(zone.to_local(now), 0))),
        Bound::Yesterday => Ok(zone.boundary(calendar::midnight(zone.to_local(now), -1))),
        Bound::LastClosed => last_closed(load, now),
        Bound::Infinite => Err(Error::invalid(format!("{argument} must not be infinite"))
            .hint("Leave interval_end out to load up to the last closed interval.")),
    }
}

/// The end of the last grain interval that has closed at `now`.
pub fn last_closed(load: &Load, now: i64) -> Result<i64> {
    Ok(load
        .calendar
        .floor(now.saturating_sub(load.settle))?
        .instant)
}

/// Refuses (22023) an instant off the grain, and says which bounds are near.
pub fn require_boundary(load: &Load, argument: &str, instant: i64) -> Result<()> {
    let before = load.calendar.floor(instant)?.instant;
    if before == instant {
        return Ok(());
    }
    let after = load.calendar.next(instant)?.instant;
    Err(Error::invalid(format!(
        "{argument} {} is not on a boundary of the grain {}",
        shown(load, instant),
        load.grain_text
    ))
    .detail(format!(
        "Grain intervals are counted in zone {}; a run must begin and end where one of them does.",
        load.zone_name
    ))
    .hint(format!(
        "The nearest that fit are '{}' and '{}'.",
        shown(load, before),
        shown(load, after)
    )))
}

/// The grain intervals of a run.
struct Plan {
    shape: Shape,
    boundaries: Vec<Boundary>,
    now: i64,
}

impl Plan {
    fn new(request: &Request, load: &Load, shape: Shape) -> Result<Self> {
        let now = request.now();
        let start = match request.start {
            Some(bound) => resolve_bound(load, "interval_start", bound, now)?,
            None => load.history_starts.or(load.first_interval).ok_or_else(|| {
                Error::new(
                    PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
                    "interval_start is null, and the load does not say when its history starts",
                )
                .hint("Pass interval_start, or register the load with history_starts.")
            })?,
        };
        let closed = last_closed(load, now)?;
        let end = match request.end {
            Some(bound) => resolve_bound(load, "interval_end", bound, now)?,
            None => closed,
        };
        if start >= end {
            return Err(Error::invalid(format!(
                "interval_start {} is not before interval_end {}",
                shown(load, start),
                shown(load, end)
            ))
            .detail("An interval is half-open: its start belongs to it, its end does not.")
            .hint(if request.end.is_none() {
                format!(
                    "Without interval_end a run ends at the last closed boundary, '{}'.",
                    shown(load, closed)
                )
            } else {
                format!(
                    "To load the one interval that holds the start, end at '{}'.",
                    shown(load, load.calendar.next(start)?.instant)
                )
            }));
        }
        require_boundary(load, "interval_start", start)?;
        require_boundary(load, "interval_end", end)?;
        if end > closed && !request.allow_open {
            return Err(Error::prerequisite(format!(
                "the interval up to {} has not closed at {}",
                shown(load, end),
                shown(load, now)
            ))
            .detail("Rows that arrive later in an open interval would be missed until somebody loads it again.")
            .hint(format!(
                "The last allowed end is '{}'. as_of sets the clock; allow_open => true loads it all the same and leaves it due.",
                shown(load, closed)
            )));
        }
        Ok(Self {
            shape,
            boundaries: load.calendar.boundaries(start, end)?,
            now,
        })
    }

    fn len(&self) -> usize {
        self.boundaries.len().saturating_sub(1)
    }

    fn start(&self) -> i64 {
        self.boundaries.first().map_or(0, |b| b.instant)
    }

    fn end(&self) -> i64 {
        self.boundaries.last().map_or(0, |b| b.instant)
    }

    /// The grain intervals, as pairs of instants.
    fn intervals(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.boundaries
            .windows(2)
            .map(|pair| (pair[0].instant, pair[1].instant))
    }

    fn batches(&self, wide: bool) -> Vec<Range<usize>> {
        if wide {
            std::iter::once(0..self.len()).collect()
        } else {
            (0..self.len()).map(|index| index..index + 1).collect()
        }
    }

    /// Parameters $1 to $8 of all statements of a run, for the arrays of a batch and the limits of a segment of it.
    fn values(&self, batch: &Range<usize>, segment: &Range<usize>, run: i32) -> Result<Vec<Value>> {
        let column = |kind: TimeType, boundary: &Boundary| match kind {
            TimeType::TimestampTz => boundary.instant,
            TimeType::Timestamp | TimeType::Date => boundary.local,
        };
        let at =
            |kind: TimeType, index: usize| Value::time(kind, column(kind, &self.boundaries[index]));
        let (time, stamp) = (self.shape.time, self.shape.stamp);
        Ok(vec![
            at(time, segment.start),
            at(time, segment.end),
            Value::times(
                time,
                self.boundaries[batch.start..=batch.end]
                    .iter()
                    .map(|b| column(time, b)),
            ),
            Value::times(
                stamp,
                self.boundaries[batch.clone()]
                    .iter()
                    .map(|b| column(stamp, b)),
            ),
            at(stamp, segment.start),
            at(stamp, segment.end),
            Value::of(run),
            Value::of(statement::instant(session::transaction_start())?),
        ])
    }
}

// Parameters ----------------------------------------------------------------------------------------------------------

/// The first parameter number that is free for `param.name`.
const FIRST_PARAM: usize = 9;

/// Values for `param.name`, numbered in the order in which rules use them.
struct Params<'a> {
    given: &'a serde_json::Value,
    used: Vec<String>,
    values: Vec<Value>,
}

impl<'a> Params<'a> {
    fn new(given: &'a serde_json::Value) -> Result<Self> {
        if !given.is_object() {
            return Err(Error::invalid("params must be a JSON object")
                .hint("For example '{\"since\": \"2026-09-01\"}'."));
        }
        Ok(Self {
            given,
            used: Vec::new(),
            values: Vec::new(),
        })
    }

    /// What stands for a parameter in a statement; 22023 if it was not passed.
    fn placeholder(&mut self, name: &str) -> Result<Sql> {
        let index = match self.used.iter().position(|used| used == name) {
            Some(index) => index,
            None => {
                let value = self.given.get(name).ok_or_else(|| self.missing(name))?;
                self.values.push(param_value(value)?);
                self.used.push(name.to_owned());
                self.used.len() - 1
            }
        };
        Ok(Sql::parameter(FIRST_PARAM + index))
    }

    fn missing(&self, name: &str) -> Error {
        let given: Vec<&str> = self
            .given
            .as_object()
            .map(|map| map.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let detail = if given.is_empty() {
            "params is empty.".to_owned()
        } else {
            format!("params has: {}.", given.join(", "))
        };
        Error::invalid(format!("the parameter \"{name}\" is missing"))
            .detail(detail)
            .hint(format!(
                "A rule reads param.{name}: pass params => '{{\"{name}\": …}}'."
            ))
    }
}

/// A JSON value as text, numeric, boolean or jsonb.
fn param_value(value: &serde_json::Value) -> Result<Value> {
    use serde_json::Value as Json;
    Ok(match value {
        Json::Null => Value::of(None::<String>),
        Json::String(text) => Value::of(text.clone()),
        Json::Bool(flag) => Value::of(*flag),
        Json::Number(number) => Value::of(
            AnyNumeric::try_from(number.to_string().as_str()).map_err(|_| {
                Error::invalid(format!("the number {number} in params cannot be read"))
            })?,
        ),
        Json::Array(_) | Json::Object(_) => Value::of(JsonB(value.clone())),
    })
}

// Statements ----------------------------------------------------------------------------------------------------------

/// The statements of a run, as text.
struct Statements {
    delete: Sql,
    insert: Sql,
    preview_delete: Sql,
    leftover: Sql,
    key_problems: Option<Sql>,
}

const DELTA: &str = "daybook delta";
const DELTA_NAME: &std::ffi::CStr = c"daybook delta";

impl Statements {
    /// `uses_delta`: the insert reads the rows that were collected before, not the source.
    fn render(
        load: &Load,
        shape: Shape,
        target: &Relation,
        intake: &Intake,
        written: &[Ident],
        uses_delta: bool,
    ) -> Result<Self> {
        let target_name = target.qualified_name().sql();
        let (time, stamp) = (load.time_column.sql(), load.stamp_column.sql());
        let own_rows = [("target", &target_name), ("time", &time), ("stamp", &stamp)];
        let delta = Ident::new(DELTA)?.sql();

        let mut columns: Vec<Sql> = written.iter().map(Ident::sql).collect();
        let mut values: Vec<Sql> = written.iter().map(|name| name.of("source")).collect();
        columns.push(stamp.clone());
        values.push(Sql::subscript(4, &intake.number.of("source")));
        if shape.has_loaded_at {
            columns.push(load.loaded_at_column.sql());
            values.push(Sql::parameter(8));
        }
        let rows = if uses_delta {
            render(
                include_str!("../sql/statement/delta_rows.sql"),
                &[("delta", &delta), ("number", &intake.number.sql())],
            )?
        } else {
            intake.sql.clone()
        };
        let returning = if target.has_before_insert_triggers {
            render(
                include_str!("../sql/statement/load_insert_returning.sql"),
                &[("time", &time), ("stamp", &stamp)],
            )?
        } else {
            Sql::nothing()
        };
        let delete = if target.foreign_parts.is_empty() {
            include_str!("../sql/statement/load_delete.sql")
        } else {
            include_str!("../sql/statement/load_delete_foreign.sql")
        };
        Ok(Self {
            delete: render(delete, &own_rows)?,
            preview_delete: render(
                include_str!("../sql/statement/load_preview_delete.sql"),
                &own_rows,
            )?,
            leftover: render(
                include_str!("../sql/statement/load_leftover.sql"),
                &[("target", &target_name), ("stamp", &stamp)],
            )?,
            insert: render(
                include_str!("../sql/statement/load_insert.sql"),
                &[
                    ("target", &target_name),
                    ("columns", &Sql::list(columns)),
                    ("values", &Sql::list(values)),
                    ("rows", &rows),
                    ("returning", &returning),
                ],
            )?,
            key_problems: load
                .keys
                .as_ref()
                .map(|keys| key_problems(keys, &delta, &intake.number))
                .transpose()?,
        })
    }
}

fn key_problems(keys: &[Ident], delta: &Sql, number: &Ident) -> Result<Sql> {
    let columns = Sql::list(keys.iter().map(|key| key.of("source")));
    render(
        include_str!("../sql/statement/delta_key_problems.sql"),
        &[
            ("any_key_null", &Sql::any_null(keys, "source")),
            ("key_pairs", &Sql::name_value_pairs(keys, "source")),
            ("delta", delta),
            ("number", &number.sql()),
            ("keys", &columns),
        ],
    )
}

// Running -------------------------------------------------------------------------------------------------------------

/// Everything known before the first row is read.
struct Setup {
    load: Load,
    target: Relation,
    source: Relation,
    plan: Plan,
    rules_version: String,
}

/// Whether a right on a relation is missing: the refusal that says so.
fn require_right(granted: bool, right: &str, relation: &Relation) -> Result<()> {
    if granted || relation.caller_owns {
        return Ok(());
    }
    Err(Error::privilege(format!(
        "permission denied: running this load needs {right} on \"{}\"",
        relation.display_name()
    ))
    .hint(format!(
        "GRANT {right} ON {} TO the_role;",
        relation.display_name()
    )))
}

impl Setup {
    /// Looks up and locks all that a run needs, and refuses what cannot be loaded. A dry run locks no intervals.
    fn prepare(request: &Request) -> Result<Self> {
        let found = Relation::describe(request.target)?;
        require_right(found.caller_inserts, "INSERT", &found)?;
        require_right(found.caller_deletes, "DELETE", &found)?;
        if !request.dry_run {
            lock::hold_target(request.target)?;
        }
        let usage = if request.dry_run {
            lock::Use::Read
        } else {
            lock::Use::Write
        };
        lock::keep_relation(request.target, usage);

        let target = Relation::describe(request.target)?;
        let load = session::as_extension_owner(|| Load::of(&target))?;
        target.require_safe_target()?;
        let source_oid = load.find_source()?;
        require_right(
            Relation::describe(source_oid)?.caller_selects,
            "SELECT",
            &Relation::describe(source_oid)?,
        )?;
        lock::keep_relation(source_oid, lock::Use::Read);
        let source = Relation::describe(source_oid)?;
        source.require_source_kind()?;
        if target.owner() != session::current_role() && !target.deferred_triggers.is_empty() {
            return Err(Error::privilege(format!("only \"{}\" itself can load \"{}\"", target.owner_name, target.display_name()))
                .detail(format!(
                    "What another role runs for the owner runs restricted, where nothing can fire at commit, and these do: {}.",
                    target.deferred_triggers.join(", ")
                ))
                .hint(format!("SET ROLE {}; or make them INITIALLY IMMEDIATE.", target.owner_name)));
        }
        let plan = Plan::new(request, &load, load.shape(&source, &target)?)?;
        if !request.dry_run {
            let (starts, ends): (Vec<i64>, Vec<i64>) = plan.intervals().unzip();
            lock::hold_intervals(request.target, &starts, &ends)?;
        }
        let rules_version = rules_version(&load.rules, &source);
        Ok(Self {
            load,
            target,
            source,
            plan,
            rules_version,
        })
    }

    /// The intake with its parameters, and the columns to write, checked against the target as it is now.
    fn intake(
        &self,
        connection: &mut Connection,
        request: &Request,
    ) -> Result<(Intake, Prepared, Vec<Value>, Vec<Ident>)> {
        let mut params = Params::new(&request.params)?;
        let intake = Intake::build(&self.load, &self.source, |name| params.placeholder(name))?;
        let mut types = self.plan.values(&(0..0), &(0..0), 0)?;
        types.extend(&params.values);
        let prepared = connection.prepare(&intake.sql, &types)?;
        let written = intake::fit(
            &self.load,
            &self.source,
            &self.target,
            &prepared.columns()?,
            &intake.number,
        )?;
        Ok((intake, prepared, params.values, written))
    }

    fn uses_delta(&self, request: &Request) -> bool {
        self.load.keys.is_some() || request.on_empty != OnEmpty::Replace
    }

    /// Evidence about rows, for those who may read the target.
    fn evidence(&self, samples: &[String], total: usize) -> String {
        if self.target.caller_selects || self.target.caller_owns {
            format!("{}.", evidence(samples, total))
        } else {
            format!("{total} in number; who may read the table sees which.")
        }
    }
}

/// What a run did to the grain intervals of one batch.
struct BatchResult {
    counts: Counts,
    skipped: Vec<bool>,
}

/// A run under way, on an open connection with the rights of the target's owner.
struct Run<'a> {
    setup: &'a Setup,
    request: &'a Request,
    tally: Tally,
    steps: usize,
    params: Vec<Value>,
    read: Prepared,
    delete: Prepared,
    insert: Option<Prepared>,
    leftover: Option<Prepared>,
    delta: Option<(Delta, Option<Prepared>)>,
}

impl<'a> Run<'a> {
    fn begin(connection: &mut Connection, setup: &'a Setup, request: &'a Request) -> Result<Self> {
        let (intake, read, params, written) = setup.intake(connection, request)?;
        if !request.dry_run {
            let closed = setup.plan.end().saturating_add(setup.load.settle);
            lock::await_late_commits(&read.relations()?, closed, &setup.source.display_name())?;
        }
        let steps = intake.steps.len();
        let uses_delta = setup.uses_delta(request);
        let statements = Statements::render(
            &setup.load,
            setup.plan.shape,
            &setup.target,
            &intake,
            &written,
            uses_delta,
        )?;

        let base = setup.plan.values(&(0..0), &(0..0), 0)?;
        let mut with_limits = base.clone();
        with_limits.extend([Value::of(0_i32), Value::of(0_i32)]);
        let mut with_params = base.clone();
        with_params.extend(&params);

        let delta = if uses_delta {
            let delta = connection.delta(DELTA_NAME, &read)?;
            let problems = statements
                .key_problems
                .as_ref()
                .map(|sql| connection.prepare(sql, &[]))
                .transpose()?;
            Some((delta, problems))
        } else {
            None
        };
        let delete = if request.dry_run {
            &statements.preview_delete
        } else {
            &statements.delete
        };
        let insert_types = if uses_delta {
            &with_limits
        } else {
            &with_params
        };
        Ok(Self {
            setup,
            request,
            tally: Tally::begin(steps + 1, if request.wide { setup.plan.len() } else { 1 }),
            steps,
            read,
            delete: connection.prepare(delete, &base)?,
            insert: if request.dry_run {
                None
            } else {
                Some(connection.prepare(&statements.insert, insert_types)?)
            },
            leftover: if !request.dry_run && setup.target.has_before_delete_triggers {
                Some(connection.prepare(&statements.leftover, &base)?)
            } else {
                None
            },
            params,
            delta,
        })
    }

    /// Loads the grain intervals of one batch.
    fn batch(&mut self, connection: &mut Connection, batch: &Range<usize>) -> Result<BatchResult> {
        let plan = &self.setup.plan;
        let mut skipped = vec![false; batch.len()];
        let mut counts = None;
        if let Some((delta, key_problems)) = &mut self.delta {
            let mut values = plan.values(batch, batch, self.tally.run())?;
            values.extend(&self.params);
            connection.fill(delta, &self.read, &values)?;
            let read = self.tally.take();
            if let Some(problems) = key_problems {
                refuse_key_problems(self.setup, connection, problems)?;
            }
            let empty: Vec<bool> = read.passed[self.steps]
                .iter()
                .map(|rows| *rows == 0)
                .collect();
            match self.request.on_empty {
                OnEmpty::Error => refuse_empty(self.setup, batch, &empty)?,
                OnEmpty::Skip => skipped = empty,
                OnEmpty::Replace => {}
            }
            counts = Some(read);
        } else if self.request.dry_run {
            let mut values = plan.values(batch, batch, self.tally.run())?;
            values.extend(&self.params);
            connection.run(&self.read, &values)?;
            counts = Some(self.tally.take());
        }

        for segment in segments(batch, &skipped) {
            let known = counts.as_ref().map(|counts| {
                let kept = counts.passed[self.steps].iter().enumerate();
                let inside = |offset: usize| segment.contains(&(batch.start + offset));
                kept.map(|(offset, rows)| if inside(offset) { *rows } else { 0 })
                    .collect()
            });
            let wrote = self.segment(connection, batch, &segment, known)?;
            match &mut counts {
                Some(counts) => {
                    add(&mut counts.deleted, &wrote.deleted);
                    add(&mut counts.inserted, &wrote.inserted);
                }
                None => counts = Some(wrote),
            }
        }
        let counts = counts.unwrap_or_else(|| self.tally.take());
        Ok(BatchResult { counts, skipped })
    }

    /// Deletes and inserts adjacent grain intervals of a batch. `known` is how many rows of each grain interval there are to
    /// insert, where that is known from a delta or a dry run; else the insert counts them as it reads.
    fn segment(
        &mut self,
        connection: &mut Connection,
        batch: &Range<usize>,
        segment: &Range<usize>,
        known: Option<Vec<u64>>,
    ) -> Result<Counts> {
        let mut values = self.setup.plan.values(batch, segment, self.tally.run())?;
        connection.run(&self.delete, &values)?;
        let deleted = self.tally.take();
        refuse_foreign_rows(self.setup, &deleted)?;
        if let Some(leftover) = &self.leftover {
            let kept: i64 = connection.fetch(leftover, &values)?.unwrap_or_default();
            if kept > 0 {
                return Err(swallowed(self.setup, "delete", kept as u64));
            }
        }
        let Some(insert) = &self.insert else {
            return Ok(Counts {
                inserted: known.unwrap_or_default(),
                ..deleted
            });
        };
        if self.delta.is_some() {
            let number = |index: usize| Value::of((index - batch.start) as i32);
            values.extend([number(segment.start + 1), number(segment.end)]);
        } else {
            values.extend(&self.params);
        }
        let rows = connection.run(insert, &values)?;
        let wrote = self.tally.take();
        if wrote.foreign_rows > 0 {
            return Err(moved(self.setup, &wrote));
        }
        let offered = known.unwrap_or_else(|| wrote.passed[self.steps].clone());
        let total: u64 = offered.iter().sum();
        if rows < total {
            return Err(swallowed(self.setup, "insert", total - rows));
        }
        let inserted = if self.setup.target.has_before_insert_triggers {
            wrote.inserted
        } else {
            offered
        };
        Ok(Counts {
            deleted: deleted.deleted,
            inserted,
            passed: wrote.passed,
            ..Counts::default()
        })
    }
}

fn add(total: &mut [u64], more: &[u64]) {
    for (total, more) in total.iter_mut().zip(more) {
        *total += more;
    }
}

/// The runs of adjacent grain intervals that are not skipped.
fn segments(batch: &Range<usize>, skipped: &[bool]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (index, _) in batch.clone().zip(skipped).filter(|(_, skipped)| !**skipped) {
        match found.last_mut() {
            Some(last) if last.end == index => last.end += 1,
            _ => found.push(index..index + 1),
        }
    }
    found
}

fn refuse_foreign_rows(setup: &Setup, counts: &Counts) -> Result<()> {
    if counts.foreign_rows == 0 {
        return Ok(());
    }
    let name = setup.target.display_name();
    Err(Error::check(format!(
        "\"{name}\" holds {} rows in the interval that no load would write back",
        counts.foreign_rows
    ))
    .detail(format!(
        "Their stamp and their own time name different intervals: {}",
        setup.evidence(&counts.foreign_samples, counts.foreign_rows as usize)
    ))
    .hint(format!(
        "Deleting them would lose them. SELECT * FROM daybook.check_load('{name}') lists all; give each row the stamp of its own interval, or remove those that were loaded by other means."
    )))
}

fn moved(setup: &Setup, counts: &Counts) -> Error {
    Error::check(format!(
        "a BEFORE trigger of \"{}\" moved {} rows out of their interval",
        setup.target.display_name(),
        counts.foreign_rows
    ))
    .detail(format!(
        "As written: {}",
        setup.evidence(&counts.foreign_samples, counts.foreign_rows as usize)
    ))
    .hint("Change the trigger, so that it leaves the time and the stamp column alone.")
}

fn swallowed(setup: &Setup, action: &str, rows: u64) -> Error {
    Error::check(format!("\"{}\" let {rows} rows of the {action} go by", setup.target.display_name()))
        .detail("A BEFORE trigger that returns NULL does that: the rows would be missing after an insert, and double after a delete.")
        .hint("Change the trigger; to leave rows out, register a filter rule.")
}

fn refuse_empty(setup: &Setup, batch: &Range<usize>, empty: &[bool]) -> Result<()> {
    let found: Vec<String> = batch
        .clone()
        .zip(empty)
        .filter(|(_, empty)| **empty)
        .map(|(index, _)| shown(&setup.load, setup.plan.boundaries[index].instant))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_NO_DATA_FOUND,
        format!("{} grain intervals have no rows to load", found.len()),
    )
    .detail(format!("They start at: {}.", evidence(&found, found.len())))
    .hint("on_empty => 'replace' empties them in the target too, on_empty => 'skip' leaves them as they are."))
}

#[derive(Deserialize)]
struct KeyProblems {
    nulls: usize,
    duplicates: usize,
    samples: Vec<String>,
}

fn refuse_key_problems(
    setup: &Setup,
    connection: &mut Connection,
    problems: &Prepared,
) -> Result<()> {
    let Some(found) = connection.fetch::<KeyProblems>(problems, &[])? else {
        return Ok(());
    };
    let evidence = setup.evidence(&found.samples, found.nulls + found.duplicates);
    if found.nulls > 0 {
        return Err(Error::new(
            PgSqlErrorCode::ERRCODE_NOT_NULL_VIOLATION,
            format!("{} keys of \"{}\" are null or have nulls", found.nulls, setup.source.display_name()),
        )
        .detail(evidence)
        .hint("A key must be complete. Drop such rows with a filter rule, or register the load with other keys."));
    }
    let ties = setup.load.dedup_order_by.is_some();
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        format!(
            "{} keys of \"{}\" stand more than once in a grain interval",
            found.duplicates,
            setup.source.display_name()
        ),
    )
    .detail(evidence)
    .hint(if ties {
        "They tie in dedup_order_by: add a column that tells them apart."
    } else {
        "Register the load with dedup_order_by to keep the first of each, or mend the source."
    }))
}

/// Runs `load_interval`.
pub fn load_interval(request: &Request) -> Result<(RunResult, Option<i64>)> {
    let started_at = session::clock();
    if !request.dry_run {
        session::require_writable("load_interval")?;
    }
    let setup = Setup::prepare(request)?;
    let plan = &setup.plan;
    let mut intervals = Vec::with_capacity(plan.len());
    let mut steps_dropped: Vec<i64> = Vec::new();

    session::pinned(&setup.load.search_path, &setup.load.zone_name, || {
        session::as_role(setup.target.owner(), || {
            statement::connected(|connection| {
                let mut run = Run::begin(connection, &setup, request)?;
                steps_dropped = vec![0; run.steps];
                for batch in plan.batches(request.wide) {
                    pgrx::check_for_interrupts!();
                    let result = run.batch(connection, &batch)?;
                    for (step, dropped) in steps_dropped.iter_mut().enumerate() {
                        let passed =
                            |step: usize| result.counts.passed[step].iter().sum::<u64>() as i64;
                        *dropped += passed(step) - passed(step + 1);
                    }
                    collect(&setup, request, &batch, &result, run.steps, &mut intervals);
                }
                if let Some((delta, _)) = run.delta.take() {
                    connection.end(delta);
                }
                Ok(())
            })
        })
    })?;

    let names = step_names(&setup.load);
    let result = RunResult {
        target: request.target,
        target_name: setup.target.display_name(),
        intervals,
        wide: request.wide,
        params: request.params.clone(),
        rules_version: Some(setup.rules_version.clone()),
        dropped_by: names.into_iter().zip(steps_dropped).collect(),
        started_at,
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

/// What drops rows in a load, in the order of the intake's steps.
fn step_names(load: &Load) -> Vec<String> {
    let filters = load
        .rules
        .iter()
        .filter(|rule| rule.kind == crate::registry::RuleKind::Filter);
    let mut names: Vec<String> = filters.map(|rule| rule.name.clone()).collect();
    if load.keys.is_some() && load.dedup_order_by.is_some() {
        names.push("dedup_order_by".to_owned());
    }
    names
}

fn collect(
    setup: &Setup,
    request: &Request,
    batch: &Range<usize>,
    result: &BatchResult,
    steps: usize,
    into: &mut Vec<IntervalResult>,
) {
    let counts = &result.counts;
    for (offset, index) in batch.clone().enumerate() {
        let (start, end) = (
            setup.plan.boundaries[index].instant,
            setup.plan.boundaries[index + 1].instant,
        );
        let (read, kept) = (counts.passed[0][offset], counts.passed[steps][offset]);
        let skipped = result.skipped[offset];
        let inserted = counts.inserted[offset];
        let status = if request.dry_run {
            "planned"
        } else if skipped {
            "skipped"
        } else if end.saturating_add(setup.load.settle) > setup.plan.now {
            "open"
        } else if inserted == 0 {
            "empty"
        } else {
            "loaded"
        };
        into.push(IntervalResult {
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
    let (load, plan) = (&setup.load, &setup.plan);
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
    let intervals = match plan.len() {
        1 => "1 interval".to_owned(),
        n => format!("{n} intervals"),
    };
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
    let end_local = load.calendar.zone.to_local(plan.end());
    if request
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
        let source = Relation::describe(load.find_source()?)?;
        let plan = Plan::new(
            &Request {
                allow_open: true,
                params: serde_json::Value::Null,
                max_deleted_percent: None,
                ..*request
            },
            &load,
            load.shape(&source, &target)?,
        )?;
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
        started_at: session::clock(),
    };
    let run_id = if request.dry_run {
        None
    } else {
        Some(result.record("load_interval", Some(error))?)
    };
    Ok((result, run_id))
}

// Asking --------------------------------------------------------------------------------------------------------------

/// Marks loaded intervals as in need of a new load; says how many.
pub fn mark_stale(target: pg_sys::Oid, start: Bound, end: Bound, reason: &str) -> Result<i64> {
    session::require_writable("mark_stale")?;
    let found = Relation::describe(target)?;
    require_right(found.caller_inserts, "INSERT", &found)?;
    require_right(found.caller_deletes, "DELETE", &found)?;
    lock::hold_target(target)?;
    let load = session::as_extension_owner(|| Load::of(&found))?;
    let now = session::transaction_start();
    let start = resolve_bound(&load, "interval_start", start, now)?;
    let end = resolve_bound(&load, "interval_end", end, now)?;
    if start >= end {
        return Err(Error::invalid(format!(
            "interval_start {} is not before interval_end {}",
            shown(&load, start),
            shown(&load, end)
        )));
    }
    require_boundary(&load, "interval_start", start)?;
    require_boundary(&load, "interval_end", end)?;
    log::mark_stale(target, start, end, reason)
}

/// Looks a load up for somebody who may read its target.
fn readable_load(target: pg_sys::Oid) -> Result<(Relation, Load)> {
    let target = Relation::describe(target)?;
    require_right(target.caller_selects, "SELECT", &target)?;
    let load = session::as_extension_owner(|| Load::of(&target))?;
    Ok((target, load))
}

/// The end of the last grain interval of a target's load that has closed.
pub fn last_closed_of(target: pg_sys::Oid, as_of: Option<i64>) -> Result<i64> {
    let (_, load) = readable_load(target)?;
    last_closed(&load, as_of.unwrap_or_else(session::transaction_start))
}

/// A statement that a run would make.
pub struct Explained {
    /// What it does.
    pub purpose: &'static str,
    /// Its text.
    pub statement: String,
    /// Its parameters, by number.
    pub parameters: serde_json::Value,
}

/// The statements that `load_interval` would run for the first batch of a request, in order.
pub fn explain_load(request: &Request) -> Result<Vec<Explained>> {
    let setup = Setup::prepare(request)?;
    session::pinned(&setup.load.search_path, &setup.load.zone_name, || {
        session::as_role(setup.target.owner(), || {
            statement::connected(|connection| {
                let (intake, read, params, written) = setup.intake(connection, request)?;
                let uses_delta = setup.uses_delta(request);
                let read_text = intake.sql.to_string();
                let statements = Statements::render(
                    &setup.load,
                    setup.plan.shape,
                    &setup.target,
                    &intake,
                    &written,
                    uses_delta,
                )?;
                let batch = setup
                    .plan
                    .batches(request.wide)
                    .into_iter()
                    .next()
                    .unwrap_or(0..0);
                let mut values = setup.plan.values(&batch, &batch, 0)?;
                let base = display_values(&values);
                let mut limits = values.clone();
                limits.extend([Value::of(1_i32), Value::of(batch.len() as i32)]);
                values.extend(&params);
                let with_params = display_values(&values);
                drop(read);
                let mut steps = Vec::new();
                let mut step = |purpose, statement: String, parameters: &serde_json::Value| {
                    steps.push(Explained {
                        purpose,
                        statement,
                        parameters: parameters.clone(),
                    });
                };
                if uses_delta {
                    step(
                        "read the source through the rules, once",
                        read_text,
                        &with_params,
                    );
                }
                if let Some(problems) = &statements.key_problems {
                    step(
                        "refuse keys that are null or stand twice",
                        problems.to_string(),
                        &serde_json::json!({}),
                    );
                }
                step(
                    "delete what the target has",
                    statements.delete.to_string(),
                    &base,
                );
                if uses_delta {
                    step(
                        "insert what was read",
                        statements.insert.to_string(),
                        &display_values(&limits),
                    );
                } else {
                    step(
                        "read the source through the rules and insert",
                        statements.insert.to_string(),
                        &with_params,
                    );
                }
                Ok(steps)
            })
        })
    })
}

fn display_values(values: &[Value]) -> serde_json::Value {
    let texts = values
        .iter()
        .enumerate()
        .map(|(index, value)| (format!("${}", index + 1), value.text().into()));
    serde_json::Value::Object(texts.collect())
}

/// A group of rows that no run owns.
#[derive(Deserialize)]
pub struct Unowned {
    /// What is wrong with them.
    pub problem: String,
    /// Their stamp, as text.
    pub stamp: Option<String>,
    /// How many.
    pub rows: i64,
    /// More about them.
    pub detail: String,
}

/// Rows of a target that no run owns, and source rows without a time.
pub fn check_load(target: pg_sys::Oid) -> Result<Vec<Unowned>> {
    let (target, load) = readable_load(target)?;
    let source = Relation::describe(load.find_source()?)?;
    require_right(source.caller_selects, "SELECT", &source)?;
    let shape = load.shape(&source, &target)?;
    let target_name = target.qualified_name().sql();
    let (time, stamp) = (load.time_column.sql(), load.stamp_column.sql());
    let holes = [("target", &target_name), ("time", &time), ("stamp", &stamp)];
    session::pinned(&load.search_path, &load.zone_name, || {
        session::as_role(target.owner(), || {
            statement::connected(|connection| {
                let range = connection.prepare(
                    &render(include_str!("../sql/statement/check_range.sql"), &holes)?,
                    &[],
                )?;
                let range: Option<(i64, i64)> = connection.fetch(&range, &[])?;
                let (first, last) = range.unwrap_or_default();
                let boundaries = load.calendar.boundaries(
                    load.calendar.floor(first)?.instant,
                    load.calendar.next(last)?.instant,
                )?;
                let plan = Plan {
                    shape,
                    boundaries,
                    now: 0,
                };
                let all = 0..plan.len();
                let arrays: Vec<Value> = plan
                    .values(&all, &all, 0)?
                    .into_iter()
                    .skip(2)
                    .take(2)
                    .collect();
                let check = connection.prepare(
                    &render(include_str!("../sql/statement/check_target.sql"), &holes)?,
                    &arrays,
                )?;
                let mut found: Vec<Unowned> =
                    connection.fetch(&check, &arrays)?.unwrap_or_default();

                let source_name = source.qualified_name().sql();
                let lost = render(
                    include_str!("../sql/statement/check_source.sql"),
                    &[("source", &source_name), ("time", &time)],
                )?;
                let lost = connection.prepare(&lost, &[])?;
                let rows: i64 = connection.fetch(&lost, &[])?.unwrap_or_default();
                if rows > 0 {
                    found.push(Unowned {
                        problem: "source time is null".to_owned(),
                        stamp: None,
                        rows,
                        detail: format!(
                            "rows of {} that belong to no interval",
                            source.display_name()
                        ),
                    });
                }
                Ok(found)
            })
        })
    })
}
