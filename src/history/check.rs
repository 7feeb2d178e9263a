//! `check_history`: whether what must hold of a history does.

use pgrx::datum::Interval;
use pgrx::pg_sys;
use serde::Deserialize;

use crate::connection::{self, Connection, Value};
use crate::error::Result;
use crate::ident::{Ident, Sql};
use crate::registry::History;
use crate::relation::{Relation, require_rights};
use crate::session;
use crate::statement::{Access, render};
use crate::time::TimeType;

use super::table;

/// Something that must not be.
#[derive(Debug, Deserialize)]
pub struct Problem {
    /// What it is: two current versions, overlap, empty or negative validity, null in key, null in validity, beyond the horizon,
    /// same begin twice.
    pub problem: String,
    /// The key of the record.
    pub key: serde_json::Value,
    /// Which version, in words.
    pub detail: String,
}

/// All that is wrong with a history. Reads the whole table.
pub fn check_history(target: pg_sys::Oid) -> Result<Vec<Problem>> {
    require_rights(target, &["SELECT"])?;
    let target = Relation::describe(target)?;
    let history = session::as_extension_owner(|| History::of(&target))?;
    let axis = table::axis(&history, &target)?;
    session::pinned("pg_catalog", &history.options.zone, || {
        connection::connected(Access::Read, |connection| {
            problems(connection, &history, &target, axis)
        })
    })
}

/// As [`check_history`], on a connection.
pub(super) fn problems(
    connection: &mut Connection,
    history: &History,
    target: &Relation,
    axis: TimeType,
) -> Result<Vec<Problem>> {
    let keys = &history.options.keys;
    let delimited = history.delimited.of("existing");
    let numbered = |number: usize| Sql::numbered("k", number).of("version");
    let pairs = keys.iter().zip(1..).map(|(key, number)| {
        Sql::literal(key.as_str())
            .then(&Sql::fixed(", "))
            .then(&numbered(number))
    });
    let document = Sql::fixed("jsonb_build_object(")
        .then(&Sql::list(pairs))
        .then(&Sql::fixed(")"));
    let nulls = (1..=keys.len()).map(|number| numbered(number).then(&Sql::fixed(" IS NULL")));
    let named = keys
        .iter()
        .zip(1..)
        .map(|(key, number)| key.of("existing").named(&Sql::numbered("k", number)));
    let sql = render(
        sql_file!("statement/history_check"),
        &[
            ("key_document", &document),
            (
                "any_key_null",
                &Sql::joined(nulls, " OR ", "false").in_parentheses(),
            ),
            ("keys_named", &Sql::list(named)),
            ("captured", &history.captured.sql()),
            ("delimited", &history.delimited.sql()),
            ("is_current", &history.horizon.is_current(axis, &delimited)),
            (
                "keys",
                &Sql::list(keys.iter().map(|key: &Ident| key.of("existing"))),
            ),
            ("target", &target.qualified_name().sql()),
            ("horizon", &history.horizon.sql(axis)),
        ],
    )?;
    let unit = history.options.time_axis_unit;
    let values = [
        Value::of(0_i32),
        Value::of(Interval::from_micros(unit)),
        Value::of(Interval::from_micros(history.tick())),
    ];
    session::pinned("pg_catalog", &history.options.zone, || {
        Ok(connection.look_up(&sql, &values)?.unwrap_or_default())
    })
}
