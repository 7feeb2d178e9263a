//! Asking about a load, and marking what no program can know: `last_closed`, `explain_load`, `check_load`, `mark_stale`.

use pgrx::pg_sys;
use serde::Deserialize;

use crate::bound::Bound;
use crate::calendar::Boundary;
use crate::connection::{self, Value};
use crate::error::{Error, Result};
use crate::interval::{last_closed, require_boundary, resolve_bound, shown};
use crate::load::{Request, Setup, Statements};
use crate::registry::{Load, Shape};
use crate::relation::{Relation, require_rights};
use crate::statement::{Access, render};
use crate::time::TimeType;
use crate::{load, lock, log, session};

/// Marks loaded intervals as in need of a new load; says how many.
pub fn mark_stale(target: pg_sys::Oid, start: Bound, end: Bound, reason: &str) -> Result<i64> {
    session::require_writable("mark_stale")?;
    require_rights(target, &["INSERT", "DELETE"])?;
    lock::keep_relation(target, lock::Use::Read);
    let held = lock::hold_target(target)?;
    let found = Relation::describe(target)?;
    if !held {
        return Err(Load::missing(&found));
    }
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

/// Looks a load up for somebody who has a right on its target.
fn load_for(target: pg_sys::Oid, right: &str) -> Result<(Relation, Load)> {
    require_rights(target, &[right])?;
    let target = Relation::describe(target)?;
    let load = session::as_extension_owner(|| Load::of(&target))?;
    Ok((target, load))
}

/// The end of the last grain interval of a target's load that has closed.
pub fn last_closed_of(target: pg_sys::Oid, as_of: Option<i64>) -> Result<i64> {
    // Who may see what is registered may ask, as in the views.
    let (_, load) = load_for(target, "SELECT, INSERT")?;
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
    load::require_permission(request)?;
    let setup = Setup::prepare(request)?;
    session::pinned(&setup.load.search_path, &setup.load.zone_name, || {
        session::as_role(setup.target.owner(), || {
            connection::connected(Access::Read, |connection| {
                let (intake, _, params, written) = setup.intake(connection, request)?;
                let uses_delta = setup.uses_delta(request);
                let read_text = intake.sql.to_string();
                let statements = Statements::render(&setup, request, &intake, &written)?;
                let batch = setup
                    .intervals
                    .batches(request.wide)
                    .into_iter()
                    .next()
                    .unwrap_or(0..0);
                let base = setup.intervals.values(&batch, 0)?;
                let with_params = display_values(&[base.as_slice(), &params].concat());
                let mut deletes = base.clone();
                if request.may_skip() {
                    deletes.push(Value::of(vec![true; batch.len()]));
                }
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
                    &display_values(&deletes),
                );
                if uses_delta {
                    step(
                        "insert what was read",
                        statements.insert.to_string(),
                        &display_values(&base),
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
    let (target, load) = load_for(target, "SELECT")?;
    let source = load.lock_source()?;
    require_rights(source, &["SELECT"])?;
    let source = Relation::describe(source)?;
    let shape = load.shape(&source, &target)?;
    let target_name = target.qualified_name().sql();
    let (time, stamp) = (load.time_column.sql(), load.stamp_column.sql());
    session::pinned(&load.search_path, &load.zone_name, || {
        session::as_role(target.owner(), || {
            connection::connected(Access::Read, |connection| {
                let stamps = render(
                    sql_file!("statement/check_stamps"),
                    &[
                        ("target", &target_name),
                        ("stamp", &stamp),
                        ("epoch", &shape.stamp.epoch()),
                    ],
                )?;
                let stamps = connection.prepare(&stamps, &[])?;
                let stamps: Vec<i64> = connection.fetch(&stamps, &[])?.unwrap_or_default();
                let owned = owned_stamps(&load, shape, &stamps)?;
                let check = render(
                    sql_file!("statement/check_target"),
                    &[("target", &target_name), ("time", &time), ("stamp", &stamp)],
                )?;
                let check = connection.prepare(&check, &owned)?;
                let mut found: Vec<Unowned> = connection.fetch(&check, &owned)?.unwrap_or_default();

                let source_name = source.qualified_name().sql();
                let lost = render(
                    sql_file!("statement/check_source"),
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

/// Of some stamps those that are starts of a grain interval, and where it begins and ends, as three parameters.
fn owned_stamps(load: &Load, shape: Shape, stamps: &[i64]) -> Result<[Value; 3]> {
    let calendar = load.calendar;
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for stamp in stamps {
        let instant = match shape.stamp {
            TimeType::TimestampTz => *stamp,
            TimeType::Timestamp | TimeType::Date => calendar.zone.boundary(*stamp),
        };
        let mut start = calendar.floor(instant)?;
        let mut end = calendar.next(start.instant)?;
        // Where the clock is set back, local times belong to the last time round: go on to the last interval that begins by then.
        while shape.stamp != TimeType::TimestampTz && end.local <= *stamp {
            pgrx::check_for_interrupts!();
            start = end;
            end = calendar.next(start.instant)?;
        }
        if start.as_held(shape.stamp) == *stamp {
            starts.push(start);
            ends.push(end);
        }
    }
    let values = |kind: TimeType, boundaries: &[Boundary]| {
        Value::times(
            kind,
            boundaries.iter().map(|boundary| boundary.as_held(kind)),
        )
    };
    Ok([
        values(shape.stamp, &starts),
        values(shape.time, &starts),
        values(shape.time, &ends),
    ])
}
