//! `create_history_views`: plain SQL over a history, for whoever reads it: the current versions, and those valid at an instant.

use pgrx::datum::Interval;
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::connection::{self, Connection, Value};
use crate::error::{Error, Result};
use crate::ident::{Ident, QualifiedName, Sql};
use crate::registry::{DUMMY_COLUMN, History, Horizon};
use crate::relation::Relation;
use crate::statement::{self, Access, render};
use crate::time::TimeType;
use crate::{lock, session};

use super::table;

/// A name with an ending, shortened in front of it so that Postgres keeps all of it.
fn ended(name: &QualifiedName, ending: &str) -> Result<QualifiedName> {
    let mut base = name.name.as_str().to_owned();
    while base.len() + ending.len() > Ident::MAX_BYTES {
        base.pop();
    }
    Ok(QualifiedName {
        schema: name.schema.clone(),
        name: Ident::new(format!("{base}{ending}"))?,
    })
}

fn current_view(target: &Relation) -> Result<QualifiedName> {
    ended(&target.qualified_name(), "_current")
}

fn as_of_function(target: &Relation) -> Result<QualifiedName> {
    ended(&target.qualified_name(), "_as_of")
}

/// Makes, or makes anew, the view and the function of a history.
pub fn create_history_views(target: pg_sys::Oid) -> Result<()> {
    session::require_writable("create_history_views")?;
    Relation::describe(target)?.require_owner("make views over it")?;
    let held = lock::hold_history(target)?;
    let target = Relation::describe(target)?;
    if !held {
        return Err(History::missing(&target));
    }
    let history = session::as_extension_owner(|| History::of(&target))?;
    let axis = table::axis(&history, &target)?;
    refuse_taken(&target)?;
    session::as_role(target.owner(), || {
        connection::connected(Access::Write, |connection| {
            make(connection, &history, &target, axis)
        })
    })?;
    session::as_extension_owner(|| {
        statement::write_rows(sql_file!("statement/note_views"), &[target.oid().into()])
    })
    .map(drop)
}

/// Refuses (42710) to replace what is not ours: something else may have come to stand where the views of a history go, by renaming.
pub fn refuse_taken(target: &Relation) -> Result<()> {
    let (view, function) = (current_view(target)?, as_of_function(target)?);
    let taken: Option<Vec<String>> = session::pinned("pg_catalog", "UTC", || {
        statement::fetch(
            sql_file!("catalog/view_taken"),
            &[
                view.schema.as_str().into(),
                view.name.as_str().into(),
                function.name.as_str().into(),
                target.oid().into(),
            ],
        )
    })?;
    match taken {
        None => Ok(()),
        Some(taken) => Err(Error::new(
            PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
            format!(
                "something else stands where the views of \"{}\" go",
                target.display_name()
            ),
        )
        .detail(format!("They are: {}.", taken.join(", ")))
        .hint("Rename it, or the history.")),
    }
}

/// Makes, or makes anew, both on a connection with the owner's rights.
pub fn make(
    connection: &mut Connection,
    history: &History,
    target: &Relation,
    axis: TimeType,
) -> Result<()> {
    let delimited = history.delimited.of("existing");
    let shown = target
        .columns
        .iter()
        .map(|column| &column.name)
        .filter(|name| Some(*name) != history.hash.as_ref() && name.as_str() != DUMMY_COLUMN);
    let view = render(
        sql_file!("statement/history_view"),
        &[
            ("view", &current_view(target)?.sql()),
            ("columns", &Sql::list(shown.map(|name| name.of("existing")))),
            ("target", &target.qualified_name().sql()),
            ("is_current", &history.horizon.is_current(axis, &delimited)),
        ],
    )?;
    connection.execute(&view, &[])?;

    let at = match axis {
        TimeType::TimestampTz => Sql::parameter(1),
        _ => Sql::fixed("pg_catalog.timezone(")
            .then(&Sql::literal(&history.options.zone))
            .then(&Sql::fixed(", $1)")),
    };
    let at_less_unit = match history.options.time_axis_unit {
        0 => at.clone(),
        unit => {
            let unit = Value::of(Interval::from_micros(unit))
                .text()
                .unwrap_or_default();
            at.then(&Sql::fixed(" OPERATOR(pg_catalog.-) "))
                .then(&Sql::literal(&unit))
                .then(&Sql::fixed("::pg_catalog.interval"))
                .in_parentheses()
        }
    };
    let open = match history.horizon {
        Horizon::Null => delimited.then(&Sql::fixed(" IS NULL OR ")),
        _ => Sql::nothing(),
    };
    let body = render(
        sql_file!("statement/history_as_of_body"),
        &[
            ("target", &target.qualified_name().sql()),
            ("captured", &history.captured.sql()),
            ("at", &at),
            ("open", &open),
            ("delimited", &history.delimited.sql()),
            ("at_less_unit", &at_less_unit),
        ],
    )?;
    let function = render(
        sql_file!("statement/history_as_of"),
        &[
            ("function", &as_of_function(target)?.sql()),
            ("target", &target.qualified_name().sql()),
            ("body", &Sql::literal(&body.to_string())),
        ],
    )?;
    connection.execute(&function, &[])?;
    Ok(())
}

/// What a view that was taken away had beside its columns.
pub struct TakenAway {
    grants: Vec<String>,
}

/// Takes the view away, because columns that it shows are about to change.
pub fn take_away(connection: &mut Connection, target: &Relation) -> Result<TakenAway> {
    let view = current_view(target)?;
    let grants: Option<Vec<String>> = session::as_extension_owner(|| {
        statement::fetch(
            sql_file!("catalog/view_rights"),
            &[view.schema.as_str().into(), view.name.as_str().into()],
        )
    })?;
    let drop = render(
        sql_file!("statement/history_view_drop"),
        &[("view", &view.sql())],
    )?;
    connection.execute(&drop, &[])?;
    Ok(TakenAway {
        grants: grants.unwrap_or_default(),
    })
}

impl TakenAway {
    /// Gives the view that was made anew the rights that it had.
    pub fn give_back_rights(self, connection: &mut Connection) -> Result<()> {
        for grant in self.grants {
            connection.execute(&Sql::rendered(grant), &[])?;
        }
        Ok(())
    }
}
