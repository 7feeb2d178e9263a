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
    refuse_taken(&target, history.has_views)?;
    session::as_role(target.owner(), || {
        connection::connected(Access::Write, |connection| {
            make(connection, &history, &target, axis, None)
        })
    })?;
    session::as_extension_owner(|| {
        statement::write_rows(sql_file!("statement/note_views"), &[target.oid().into()])
    })
    .map(drop)
}

/// Refuses (42710) to replace what is not ours: something else may have come to stand where the views of a history go, by renaming.
pub fn refuse_taken(target: &Relation, has_views: bool) -> Result<()> {
    let (view, function) = (current_view(target)?, as_of_function(target)?);
    let taken: Option<Vec<String>> = session::pinned("pg_catalog", "UTC", || {
        statement::fetch(
            sql_file!("catalog/view_taken"),
            &[
                view.schema.as_str().into(),
                view.name.as_str().into(),
                function.name.as_str().into(),
                target.oid().into(),
                has_views.into(),
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

/// Makes, or makes anew, both on a connection with the owner's rights; `taken` is what the view had that was taken away for it.
pub fn make(
    connection: &mut Connection,
    history: &History,
    target: &Relation,
    axis: TimeType,
    taken: Option<TakenAway>,
) -> Result<()> {
    let delimited = history.delimited.of("existing");
    let shown = target
        .columns
        .iter()
        .map(|column| &column.name)
        .filter(|name| Some(*name) != history.hash.as_ref() && name.as_str() != DUMMY_COLUMN);
    let shown: Vec<&Ident> = shown.collect();
    let name = current_view(target)?;
    // Replacing a view can add columns at its end, nothing else.
    let existing = existing_columns(&name)?;
    let is_new = taken.is_none() && existing.is_none();
    let before = taken.or(match existing {
        Some(columns) if !is_prefix(&columns, &shown, target) => {
            Some(take_away(connection, target)?)
        }
        _ => None,
    });
    let view = render(
        sql_file!("statement/history_view"),
        &[
            ("view", &name.sql()),
            (
                "columns",
                &Sql::list(shown.iter().map(|name| name.of("existing"))),
            ),
            ("target", &target.qualified_name().sql()),
            ("is_current", &history.horizon.is_current(axis, &delimited)),
        ],
    )?;
    connection.execute(&view, &[])?;
    let comment = |what: &str| {
        Sql::literal(&format!(
            "{what} of {}, kept by daybook",
            target.display_name()
        ))
    };
    if is_new {
        let comment_view = render(
            sql_file!("statement/history_view_comment"),
            &[
                ("view", &name.sql()),
                ("comment", &comment("Current versions")),
            ],
        )?;
        connection.execute(&comment_view, &[])?;
    }
    if let Some(before) = before {
        before.give_back(connection, &name)?;
    }

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
    if is_new {
        let comment_function = render(
            sql_file!("statement/history_as_of_comment"),
            &[
                ("function", &as_of_function(target)?.sql()),
                ("comment", &comment("Versions at an instant")),
            ],
        )?;
        connection.execute(&comment_function, &[])?;
    }
    Ok(())
}

/// The columns of a view, by name and type; `None` if there is no such view.
fn existing_columns(view: &QualifiedName) -> Result<Option<Vec<(Ident, String)>>> {
    let Some(oid) = lock::keep_named(view)? else {
        return Ok(None);
    };
    let view = session::pinned("pg_catalog", "UTC", || Relation::describe(oid))?;
    let columns = view.columns.into_iter();
    Ok(Some(
        columns
            .map(|column| (column.name, column.type_name))
            .collect(),
    ))
}

/// Whether a view with these columns can be replaced by one that shows some columns of a table.
fn is_prefix(columns: &[(Ident, String)], shown: &[&Ident], target: &Relation) -> bool {
    columns.len() <= shown.len()
        && columns.iter().zip(shown).all(|((name, kind), wanted)| {
            name == *wanted
                && target
                    .column(wanted)
                    .is_some_and(|column| column.type_name == *kind)
        })
}

/// What a view that was taken away had beside its columns.
pub struct TakenAway {
    statements: Vec<String>,
}

/// Takes the view away, because columns that it shows are about to change. 2BP01 if other views stand on it.
pub fn take_away(connection: &mut Connection, target: &Relation) -> Result<TakenAway> {
    let view = current_view(target)?;
    let statements = match lock::keep_named(&view)? {
        Some(oid) => statements(sql_file!("catalog/view_rights"), oid)?,
        None => Vec::new(),
    };
    let drop = render(
        sql_file!("statement/history_view_drop"),
        &[("view", &view.sql())],
    )?;
    session::explained(
        || connection.execute(&drop, &[]),
        |error| match error.code {
            PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST => Error {
                message: format!(
                    "\"{}\" must be made anew, because columns of the history change, but others stand on it",
                    view.display_name()
                ),
                hint: Some("Drop those, run the history, and make them again.".to_owned()),
                ..error
            },
            _ => error,
        },
    )?;
    Ok(TakenAway { statements })
}

/// Statements about a view that the catalog has written.
fn statements(sql: &'static str, view: pg_sys::Oid) -> Result<Vec<String>> {
    let found: Option<Vec<String>> =
        session::as_extension_owner(|| statement::fetch(sql, &[view.into()]))?;
    Ok(found.unwrap_or_default())
}

impl TakenAway {
    /// Gives the view that was made anew what it had, and nothing that it got by default.
    fn give_back(self, connection: &mut Connection, view: &QualifiedName) -> Result<()> {
        let Some(oid) = lock::keep_named(view)? else {
            return Ok(());
        };
        let revokes = statements(sql_file!("catalog/view_revokes"), oid)?;
        for each in revokes.into_iter().chain(self.statements) {
            connection.execute(&Sql::rendered(each), &[])?;
        }
        Ok(())
    }
}
