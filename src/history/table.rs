//! The table of a history: finding its name, making it, taking one over.

use pgrx::{PgSqlErrorCode, pg_sys};
use serde::Deserialize;

use crate::connection::Connection;
use crate::error::{Error, Result, counted};
use crate::ident::{Ident, QualifiedName, Sql};
use crate::registry::{History, Horizon};
use crate::relation::Relation;
use crate::statement::{self, render};
use crate::time::TimeType;
use crate::{lock, session};

use super::check;
use super::columns::{Kind, collate, equality, require_own_keys};
use super::setup::Input;

/// What a name stands for.
pub enum Place {
    /// A relation.
    Existing(pg_sys::Oid),
    /// Nothing yet.
    Free(QualifiedName),
}

#[derive(Deserialize)]
struct Named {
    oid: Option<u32>,
    parts: Vec<String>,
    schema: Option<String>,
}

/// What a text names in the caller's search_path; to be asked for before it is pinned.
pub fn named_place(text: &str) -> Result<Place> {
    let named: Option<Named> = session::explained(
        || statement::fetch(sql_file!("catalog/place"), &[text.into()]),
        |error| {
            match error.code {
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE
            | PgSqlErrorCode::ERRCODE_INVALID_NAME => Error::new(
                PgSqlErrorCode::ERRCODE_INVALID_NAME,
                format!("\"{text}\" is no name of a table"),
            )
            .hint("After the source comes the history. A reference timestamp is passed by name: reference_timestamp => '2026-03-01'."),
            _ => error,
        }
        },
    )?;
    let named = named.ok_or_else(|| Error::internal("a name was not read"))?;
    if let Some(oid) = named.oid {
        return Ok(Place::Existing(pg_sys::Oid::from(oid)));
    }
    let mut parts = named.parts.into_iter().rev();
    let name = Ident::new(parts.next().unwrap_or_default())?;
    let schema = parts.next().or(named.schema).ok_or_else(|| {
        Error::new(
            PgSqlErrorCode::ERRCODE_INVALID_SCHEMA_NAME,
            format!("there is no schema to make {name} in"),
        )
        .hint("Write it with its schema, or set search_path.")
    })?;
    Ok(Place::Free(QualifiedName {
        schema: Ident::new(schema)?,
        name,
    }))
}

/// Holds a name, and says what it stands for once it is held.
pub fn hold_name(name: &QualifiedName) -> Result<Option<pg_sys::Oid>> {
    let text = name.display_name();
    session::as_extension_owner(|| {
        statement::write::<i32>(sql_file!("catalog/lock_name"), &[text.as_str().into()])
    })?;
    lock::keep_named(name)
}

/// The type of the technical columns. 42703 if the table lacks one, 42804 if they are no timestamps or differ.
pub fn axis(history: &History, target: &Relation) -> Result<TimeType> {
    let find = |name: &Ident, setting: &str| {
        target.column(name).ok_or_else(|| {
            Error::new(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "the history \"{}\" has no column {name}",
                    target.display_name()
                ),
            )
            .detail(format!("It has: {}.", target.column_list()))
            .hint(format!(
                "The setting {setting} says how it is called when a table is taken over."
            ))
        })
    };
    let captured = find(&history.captured, "daybook.captured_column_name")?;
    let delimited = find(&history.delimited, "daybook.delimited_column_name")?;
    match TimeType::from_oid(captured.type_oid) {
        Some(axis @ (TimeType::Timestamp | TimeType::TimestampTz))
            if captured.type_oid == delimited.type_oid =>
        {
            Ok(axis)
        }
        _ => Err(Error::new(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!(
                "columns {} and {} of \"{}\" are {} and {}",
                captured.name,
                delimited.name,
                target.display_name(),
                captured.type_name,
                delimited.type_name
            ),
        )
        .hint("Both must be timestamp with time zone, or both timestamp without time zone.")),
    }
}

/// Makes the table of a history for what is delivered.
pub fn create(
    connection: &mut Connection,
    name: &QualifiedName,
    history: &History,
    input: &Input,
) -> Result<()> {
    let axis = TimeType::TimestampTz;
    let stored = input.stored(history);
    let mut columns = Vec::new();
    for column in &stored {
        if history.options.keys.contains(&column.name) {
            equality(&column.name, column.type_oid)?;
        }
        let kind = Kind {
            oid: column.type_oid,
            modifier: column.type_modifier,
        }
        .base();
        columns.push(
            column
                .name
                .sql()
                .then(&Sql::fixed(" "))
                .then(&kind.sql())
                .then(&collate(kind.oid, column.collation)),
        );
    }
    let technical = |name: &Ident, kind: &'static str| name.sql().then(&Sql::fixed(kind));
    columns.push(technical(
        &history.captured,
        " pg_catalog.timestamptz NOT NULL",
    ));
    columns.push(technical(
        &history.delimited,
        match history.horizon {
            Horizon::Null => " pg_catalog.timestamptz",
            _ => " pg_catalog.timestamptz NOT NULL",
        },
    ));
    if let Some(hash) = &history.hash {
        columns.push(technical(hash, " pg_catalog.bytea"));
    }
    let key = Sql::list(history.options.keys.iter().map(Ident::sql));
    let create = render(
        sql_file!("statement/history_create"),
        &[
            ("target", &name.sql()),
            ("columns", &Sql::list(columns)),
            ("key", &key),
            ("captured", &history.captured.sql()),
        ],
    )?;
    // Without the text of the statement, which nobody wrote.
    session::explained(|| connection.execute(&create, &[]), |error| error)?;
    connection.execute(
        &current_index(name, history, axis, &history.options.keys)?,
        &[],
    )?;
    Ok(())
}

fn current_index(
    name: &QualifiedName,
    history: &History,
    axis: TimeType,
    columns: &[Ident],
) -> Result<Sql> {
    render(
        sql_file!("statement/history_current_index"),
        &[
            ("target", &name.sql()),
            ("columns", &Sql::list(columns.iter().map(Ident::sql))),
            (
                "nulls",
                // One NULL for each key, where NULL marks current versions.
                &Sql::fixed(match columns.contains(&history.delimited) {
                    true => " NULLS NOT DISTINCT",
                    false => "",
                }),
            ),
            (
                "is_current",
                &history.horizon.is_current(axis, &history.delimited.sql()),
            ),
        ],
    )
}

#[derive(Deserialize)]
struct UniqueIndex {
    columns: Vec<Ident>,
    nulls_not_distinct: bool,
    predicate: Option<String>,
}

#[derive(Deserialize)]
struct TableFacts {
    unique: Vec<UniqueIndex>,
    partition_columns: Vec<Ident>,
    partitioned_by_expression: bool,
}

/// Takes a table over: refuses one that is no history or breaks what must hold of one, and gives it the unique indexes that it
/// lacks.
pub fn take_over(connection: &mut Connection, history: &History, target: &Relation) -> Result<()> {
    let axis = axis(history, target)?;
    require_own_keys(history, target)?;
    for key in &history.options.keys {
        if let Some(column) = target.column(key) {
            equality(key, pg_sys::Oid::from(column.type_oid))?;
        }
    }
    let facts: Option<TableFacts> = session::pinned("pg_catalog", "UTC", || {
        statement::fetch(sql_file!("catalog/history_table"), &[target.oid().into()])
    })?;
    let facts = facts.ok_or_else(|| Error::internal("a table without facts"))?;
    refuse_partitioning(history, target, &facts)?;
    refuse_other_horizon(connection, history, target, axis)?;
    refuse_broken(connection, history, target, axis)?;
    if !target.foreign_parts.is_empty() {
        return Ok(());
    }
    let by_end: Vec<Ident> = history
        .options
        .keys
        .iter()
        .cloned()
        .chain(
            facts
                .partition_columns
                .contains(&history.delimited)
                .then(|| history.delimited.clone()),
        )
        .collect();
    let covers = |index: &UniqueIndex, columns: &[Ident]| {
        index.columns.len() == columns.len()
            && columns.iter().all(|column| index.columns.contains(column))
    };
    let current = current_predicate(history, axis);
    let has_current = facts.unique.iter().any(|index| {
        index.predicate.as_deref() == Some(current.as_str())
            && covers(index, &by_end)
            && (index.nulls_not_distinct || !by_end.contains(&history.delimited))
    });
    if !has_current {
        connection.execute(
            &current_index(&target.qualified_name(), history, axis, &by_end)?,
            &[],
        )?;
    }
    let mut by_begin = history.options.keys.clone();
    by_begin.push(history.captured.clone());
    by_begin.extend(
        by_end
            .iter()
            .filter(|name| **name == history.delimited)
            .cloned(),
    );
    let has_versions = facts
        .unique
        .iter()
        .any(|index| index.predicate.is_none() && covers(index, &by_begin));
    if !has_versions {
        let index = render(
            sql_file!("statement/history_version_index"),
            &[
                ("target", &target.qualified_name().sql()),
                ("columns", &Sql::list(by_begin.iter().map(Ident::sql))),
            ],
        )?;
        connection.execute(&index, &[])?;
    }
    Ok(())
}

/// The predicate of the index over current versions, as the server writes it under pinned settings.
fn current_predicate(history: &History, axis: TimeType) -> String {
    let column = pgrx::spi::quote_identifier(history.delimited.as_str());
    let (zone, kind) = match axis {
        TimeType::TimestampTz => ("+00", "timestamp with time zone"),
        _ => ("", "timestamp without time zone"),
    };
    match &history.horizon {
        Horizon::Null => format!("({column} IS NULL)"),
        Horizon::Infinity => format!("({column} = 'infinity'::{kind})"),
        Horizon::Time(time) => format!("({column} = '{time}{zone}'::{kind})"),
    }
}

fn refuse_partitioning(history: &History, target: &Relation, facts: &TableFacts) -> Result<()> {
    let unfit: Vec<String> = facts
        .partition_columns
        .iter()
        .filter(|name| !history.options.keys.contains(name) && **name != history.delimited)
        .map(ToString::to_string)
        .chain(
            facts
                .partitioned_by_expression
                .then(|| "an expression".to_owned()),
        )
        .collect();
    if unfit.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!(
            "the history \"{}\" is partitioned by {}",
            target.display_name(),
            unfit.join(", ")
        ),
    )
    .detail("No unique index can hold across its partitions that lets a key have but one current version.")
    .hint(format!(
        "Partition by the key, or by {}, so that closed versions move out of the way.",
        history.delimited
    )))
}

fn refuse_other_horizon(
    connection: &mut Connection,
    history: &History,
    target: &Relation,
    axis: TimeType,
) -> Result<()> {
    let delimited = history.delimited.of("existing");
    let sql = render(
        sql_file!("statement/history_other_horizon"),
        &[
            ("delimited", &history.delimited.sql()),
            (
                "null_is_current",
                &Sql::fixed(if history.horizon == Horizon::Null {
                    "true"
                } else {
                    "false"
                }),
            ),
            ("horizon", &history.horizon.sql(axis)),
            ("is_current", &history.horizon.is_current(axis, &delimited)),
            ("target", &target.qualified_name().sql()),
        ],
    )?;
    let other: Option<String> = connection.look_up(&sql, &[])?;
    let Some(other) = other else { return Ok(()) };
    Err(Error::prerequisite(format!(
        "current versions of \"{}\" end at {other}, not at {}",
        target.display_name(),
        history.horizon.text()
    ))
    .detail("With another horizon every version would look closed, and all would be written again.")
    .hint(match other.as_str() {
        "null" => format!(
            "Give all of them one: UPDATE {} SET {} = … WHERE {} IS NULL; or, if NULL marks all current versions, SET daybook.upper_horizon = 'null';",
            target.display_name(),
            history.delimited,
            history.delimited
        ),
        other => format!(
            "SET daybook.upper_horizon = '{}'; and try again.",
            other.trim_end_matches("+00")
        ),
    }))
}

fn refuse_broken(
    connection: &mut Connection,
    history: &History,
    target: &Relation,
    axis: TimeType,
) -> Result<()> {
    let problems = check::problems(connection, history, target, axis)?;
    if problems.is_empty() {
        return Ok(());
    }
    let samples: Vec<String> = problems
        .iter()
        .map(|problem| format!("{} {}: {}", problem.key, problem.problem, problem.detail))
        .collect();
    Err(Error::prerequisite(format!(
        "\"{}\" breaks what must hold of a history in {}",
        target.display_name(),
        counted(problems.len() as u64, "place")
    ))
    .detail(format!("{}.", crate::error::evidence(&samples, samples.len())))
    .hint("Mend them first: one current version for each key, none that overlap, none that end before they begin."))
}
