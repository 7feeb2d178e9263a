//! `rewind_history`: takes back what runs after an instant have done.

use pgrx::datum::Interval;
use pgrx::pg_sys;
use serde::Deserialize;

use crate::connection::{self, Connection, Value};
use crate::error::{Error, Result, counted};
use crate::ident::Sql;
use crate::log::HistoryResult;
use crate::registry::History;
use crate::relation::Relation;
use crate::statement::{self, Access, render};
use crate::time::instant;
use crate::{lock, session};

use super::setup::on_axis;
use super::table;

/// What was taken back.
pub struct Rewound {
    /// Number of the run; `None` for a dry run.
    pub run_id: Option<i64>,
    /// loaded, unchanged or planned.
    pub status: &'static str,
    /// Versions that are no more.
    pub withdrawn: i64,
    /// Versions that are current again.
    pub reopened: i64,
}

#[derive(Deserialize)]
struct SourceDated {
    runs: u64,
    versions: u64,
}

/// Takes back all that began or ended after an instant. Exact where everything after it was dated by the references of its runs;
/// refused (55000) where a source dated versions since. Reads the whole table.
pub fn rewind_history(target: pg_sys::Oid, to: i64, dry_run: bool) -> Result<Rewound> {
    session::require_writable("rewind_history")?;
    Relation::describe(target)?.require_owner("rewind it")?;
    match dry_run {
        true => session::undone(|| rewind(target, to, true)),
        false => rewind(target, to, false),
    }
}

fn rewind(oid: pg_sys::Oid, to: i64, dry_run: bool) -> Result<Rewound> {
    let started_at = session::clock();
    let held = lock::hold_history(oid)?;
    let target = Relation::describe(oid)?;
    if !held {
        return Err(History::missing(&target));
    }
    let history = session::as_extension_owner(|| History::of(&target))?;
    target.require_safe_target()?;
    target.require_nothing_at_commit()?;
    let axis = table::axis(&history, &target)?;
    let local = on_axis(axis, &history, to)?;
    refuse_source_dated(&target, &history, local, to)?;
    let delimited = history.delimited.of("existing");
    let name = target.qualified_name().sql();
    let withdraw = render(
        sql_file!("statement/rewind_withdraw"),
        &[("target", &name), ("captured", &history.captured.sql())],
    )?;
    let not_current = Sql::fixed("NOT ").then(
        &history
            .horizon
            .is_current(axis, &delimited)
            .in_parentheses(),
    );
    let reopen = render(
        sql_file!("statement/rewind_reopen"),
        &[
            ("target", &name),
            ("delimited", &history.delimited.sql()),
            ("horizon", &history.horizon.sql(axis)),
            ("not_current", &not_current),
        ],
    )?;
    let left = render(
        sql_file!("statement/rewind_left"),
        &[
            ("target", &name),
            ("captured", &history.captured.sql()),
            ("delimited", &history.delimited.sql()),
            ("not_current", &not_current),
        ],
    )?;
    let at = Value::time(axis, local);
    let unit = Value::of(Interval::from_micros(history.options.time_axis_unit));
    let (withdrawn, reopened) =
        session::pinned(&history.search_path, &history.options.zone, || {
            session::as_role(target.owner(), || {
                connection::connected(Access::Write, |connection| {
                    let withdrawn = connection.execute(&withdraw, &[at])?;
                    let reopened = connection.execute(&reopen, &[at, unit])?;
                    refuse_leftover(connection, &target, &left, &[at, unit])?;
                    Ok((withdrawn as i64, reopened as i64))
                })
            })
        })?;
    let changed = withdrawn + reopened > 0;
    let mut rewound = Rewound {
        run_id: None,
        status: if dry_run {
            "planned"
        } else if changed {
            "loaded"
        } else {
            "unchanged"
        },
        withdrawn,
        reopened,
    };
    if dry_run {
        return Ok(rewound);
    }
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/note_rewound"),
            &[
                oid.into(),
                pgrx::datum::Timestamp::try_from(local)
                    .map_err(|_| Error::invalid("the time is beyond what Postgres can hold"))?
                    .into(),
            ],
        )
    })?;
    let result = HistoryResult {
        target: oid,
        target_name: target.display_name(),
        status: rewound.status,
        reference: Some(to),
        params: serde_json::json!({}),
        withdrawn,
        reopened,
        started_at,
        ..HistoryResult::default()
    };
    rewound.run_id = Some(result.record_as("rewind_history", None)?);
    Ok(rewound)
}

/// Refuses (23514) where BEFORE triggers have kept versions from going or from being made current.
fn refuse_leftover(
    connection: &mut Connection,
    target: &Relation,
    left: &Sql,
    values: &[Value],
) -> Result<()> {
    if !target.has_before_delete_triggers && !target.has_before_update_triggers {
        return Ok(());
    }
    match connection.look_up::<u64>(left, values)?.unwrap_or_default() {
        0 => Ok(()),
        versions => Err(Error::check(format!(
            "\"{}\" kept {} from being rewound",
            target.display_name(),
            counted(versions, "version")
        ))
        .detail("A BEFORE trigger that returns NULL, or changes the row, does that.")
        .hint("Change the trigger.")),
    }
}

fn refuse_source_dated(target: &Relation, history: &History, local: i64, to: i64) -> Result<()> {
    if history
        .source_dated_until
        .is_none_or(|until| until <= local)
    {
        return Ok(());
    }
    let found: SourceDated = session::as_extension_owner(|| {
        statement::fetch(
            sql_file!("catalog/source_dated_runs"),
            &[target.oid().into(), instant(to)?.into()],
        )
    })?
    .unwrap_or(SourceDated {
        runs: 0,
        versions: 0,
    });
    Err(Error::prerequisite(format!(
        "\"{}\" cannot be rewound: since then the source dated its versions",
        target.display_name()
    ))
    .detail(format!(
        "The log shows {} since, which wrote or ended {}; which of them began or ended when cannot be told from their times.",
        counted(found.runs, "run"),
        counted(found.versions, "version")
    ))
    .hint("Restore the table, or build the history anew from its inputs."))
}
