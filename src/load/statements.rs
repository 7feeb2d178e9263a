//! The statements of a run, rendered from their templates.

use crate::error::Result;
use crate::ident::{Ident, Sql};
use crate::intake::Intake;
use crate::statement::render;

use super::{Request, Setup};

/// The statements of a run, as text.
pub struct Statements {
    /// Deletes the rows of an interval.
    pub delete: Sql,
    /// Inserts the rows of an interval.
    pub insert: Sql,
    /// What would be deleted.
    pub preview_delete: Sql,
    /// How many rows a delete left.
    pub leftover: Sql,
    /// Keys that are null or stand twice; `None` without keys.
    pub key_problems: Option<Sql>,
}

/// The name by which statements know the rows that were read once.
const DELTA: &str = "daybook delta";
/// The same, as the server takes it.
pub(super) const DELTA_NAME: &std::ffi::CStr = c"daybook delta";

impl Statements {
    /// The statements over an intake whose columns `written` go into the target. Where rows are collected first, the insert reads
    /// those, not the source; where grain intervals may be skipped, the delete takes as $9 which are replaced.
    pub fn render(
        setup: &Setup,
        request: &Request,
        intake: &Intake,
        written: &[Ident],
    ) -> Result<Self> {
        let uses_delta = setup.uses_delta(request);
        let Setup { load, target, .. } = setup;
        let shape = setup.intervals.shape;
        let target_name = target.qualified_name().sql();
        let (time, stamp) = (load.time_column.sql(), load.stamp_column.sql());
        let chosen = if request.may_skip() {
            render(sql_file!("statement/load_chosen"), &[("stamp", &stamp)])?.on_a_new_line()
        } else {
            Sql::nothing()
        };
        let own_rows = [
            ("target", &target_name),
            ("time", &time),
            ("stamp", &stamp),
            ("chosen", &chosen),
        ];
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
                sql_file!("statement/delta_rows"),
                &[
                    (
                        "columns",
                        &Sql::list(written.iter().map(|name| name.of("source"))),
                    ),
                    ("delta", &delta),
                    ("number", &intake.number.sql()),
                ],
            )?
        } else {
            intake.sql.clone()
        };
        let returning = if target.has_before_insert_triggers {
            render(
                sql_file!("statement/load_insert_returning"),
                &[("time", &time), ("stamp", &stamp)],
            )?
        } else {
            Sql::nothing()
        };
        let delete = if target.foreign_parts.is_empty() {
            sql_file!("statement/load_delete")
        } else {
            sql_file!("statement/load_delete_foreign")
        };
        Ok(Self {
            delete: render(delete, &own_rows)?,
            preview_delete: render(sql_file!("statement/load_preview_delete"), &own_rows)?,
            leftover: render(
                sql_file!("statement/load_leftover"),
                &[
                    ("target", &target_name),
                    ("stamp", &stamp),
                    ("chosen", &chosen),
                ],
            )?,
            insert: render(
                sql_file!("statement/load_insert"),
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
        sql_file!("statement/delta_key_problems"),
        &[
            ("any_key_null", &Sql::any_null(keys, "source")),
            ("key_pairs", &Sql::name_value_pairs(keys, "source")),
            ("delta", delta),
            ("number", &number.sql()),
            ("keys", &columns),
        ],
    )
}
