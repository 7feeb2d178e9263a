//! Checking rules over the rows they will see: when they are registered, and again where a run finds that one no longer fits.

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::error::{Error, Result};
use crate::expression::{self, Analysis, Expression};
use crate::ident::{Ident, Sql};
use crate::intake::{self, Intake, Reading};
use crate::params::ParamType;
use crate::registry::{Load, Rule, RuleKind};
use crate::relation::Relation;
use crate::session;
use crate::statement::render;

/// A rule beside the rows that the rules before it leave.
struct InPlace {
    what: String,
    expression: Expression,
    rows: Sql,
    columns: Vec<Ident>,
}

impl InPlace {
    fn new(reading: &Reading, position: usize, rule: &Rule) -> Result<Self> {
        let what = rule.what();
        let expression = Expression::parse(&what, &rule.expression)?;
        let (rows, columns) = Intake::before_rule(reading, position)?;
        Ok(Self {
            what,
            expression,
            rows,
            columns,
        })
    }

    /// The parameters that the rule uses, each once.
    fn params(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .expression
            .params
            .iter()
            .map(|used| used.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What the rule is if its parameters have these types.
    fn analyze(&self, mut type_of: impl FnMut(&str) -> ParamType) -> Result<Analysis> {
        let expression = self
            .expression
            .sql(|name| Ok(Sql::fixed(type_of(name).typed_null())))?;
        let statement = render(
            sql_file!("statement/rule_check"),
            &[("expression", &expression), ("rows", &self.rows)],
        )?;
        expression::analyze(&self.what, &statement)
            .map_err(|error| with_columns(error, &self.columns))
    }

    /// What the rule is with the first types of its parameters that suit it: they are known only when they are passed. Each
    /// parameter is tried with each type; beyond the third they share one.
    fn analyze_with_any_types(&self) -> Result<Analysis> {
        let names = self.params();
        if names.is_empty() {
            return self.analyze(|_| ParamType::Text);
        }
        let types = ParamType::ALL;
        let mut first_error = None;
        for choice in 0..types.len().pow(names.len().min(3) as u32) {
            let type_of = |name: &str| {
                let place = names
                    .iter()
                    .position(|other| *other == name)
                    .unwrap_or(0)
                    .min(2);
                types[choice / types.len().pow(place as u32) % types.len()]
            };
            match session::subtransaction(|| self.analyze(type_of)) {
                Ok(analysis) => return Ok(analysis),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        let error = first_error.unwrap_or_else(|| Error::internal("no type was tried"));
        let hint = error.hint.clone().unwrap_or_else(|| {
            "A parameter is text, numeric, boolean or jsonb, as its JSON value is: cast it, for example param.since::timestamptz.".to_owned()
        });
        Err(error.hint(hint))
    }
}

/// Checks one rule over the row it will see: its names, that it is deterministic, and that a filter is a condition. Returns the type
/// of its expression.
pub fn check_rule(reading: &Reading, position: usize, rule: &Rule) -> Result<pg_sys::Oid> {
    let found = InPlace::new(reading, position, rule)?
        .analyze_with_any_types()?
        .type_oid;
    if rule.kind == RuleKind::Filter && found != pg_sys::BOOLOID {
        return Err(mismatch(format!(
            "{} is of type {}, not boolean",
            rule.what(),
            intake::type_name(found)
        ))
        .hint("A filter says, for each row, whether to keep it."));
    }
    Ok(found)
}

fn mismatch(message: String) -> Error {
    Error::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message)
}

/// Checks one rule of a load: as [`check_rule`], and what it sets against the column of the target.
pub fn check_load_rule(
    load: &Load,
    source: &Relation,
    target: &Relation,
    position: usize,
    rule: &Rule,
) -> Result<()> {
    refuse_owned_column(load, rule)?;
    let found = check_rule(&load.reading(source), position, rule)?;
    let RuleKind::Expression(column) = &rule.kind else {
        return Ok(());
    };
    refuse_or_tell_of_helper(load, source, target, rule, column)?;
    let fits = |into: u32| found == pg_sys::UNKNOWNOID || intake::converts(found, into);
    match target.column(column).filter(|into| !fits(into.type_oid)) {
        None => Ok(()),
        Some(into) => Err(mismatch(format!(
            "{} is of type {}, but the column {column} of \"{}\" is {}",
            rule.what(),
            intake::type_name(found),
            target.display_name(),
            into.type_name
        ))
        .hint(format!("Cast the expression: (…)::{}.", into.type_name))),
    }
}

/// Says which rule makes the intake unfit for the server, if one does: asked when the intake as a whole was refused. `type_of` says
/// which type a parameter has as it was passed.
pub fn find_unfit(reading: &Reading, mut type_of: impl FnMut(&str) -> ParamType) -> Result<()> {
    for (position, rule) in reading.rules.iter().enumerate() {
        let rule = InPlace::new(reading, position, rule)?;
        rule.analyze(&mut type_of).map_err(|error| match rule.params().is_empty() {
            true => error,
            false => error.hint("A parameter has the type of its JSON value: pass 5, not \"5\", for a number, or cast it in the rule: param.name::numeric."),
        })?;
    }
    reading
        .first_of_key
        .and_then(|first| first.order)
        .map_or(Ok(()), |order| check_order(reading, order))
}

/// Checks the order in which the first row of a key is kept: as deterministic as a rule, over the rows that all rules leave.
pub fn check_order(reading: &Reading, order: &str) -> Result<()> {
    let (rows, columns) = Intake::before_rule(reading, reading.rules.len())?;
    let statement = render(
        sql_file!("statement/order_check"),
        &[
            ("rows", &rows),
            ("order", &Expression::parse_order("dedup_order_by", order)?),
        ],
    )?;
    expression::analyze("dedup_order_by", &statement)
        .map(drop)
        .map_err(|error| with_columns(error, &columns))
}

/// An error about a name, with the columns that there are.
fn with_columns(error: Error, columns: &[Ident]) -> Error {
    let about_a_name = [
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
    ];
    if !about_a_name.contains(&error.code) || error.detail.is_some() {
        return error;
    }
    let names: Vec<&str> = columns.iter().map(Ident::as_str).collect();
    let hint = error.hint.clone().unwrap_or_else(|| {
        "Text stands in single quotes; a column is written without a table name, or as source.column.".to_owned()
    });
    error
        .detail(format!("It sees the columns: {}.", names.join(", ")))
        .hint(hint)
}

/// Refuses (42703) a rule that sets a column which the target lacks; where such columns are ignored, says so, for it may be misspelt.
fn refuse_or_tell_of_helper(
    load: &Load,
    source: &Relation,
    target: &Relation,
    rule: &Rule,
    column: &Ident,
) -> Result<()> {
    if target.column(column).is_some() {
        return Ok(());
    }
    let error = Error::new(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        format!(
            "rule \"{}\" sets {column}, which \"{}\" does not have",
            rule.name,
            target.display_name()
        ),
    )
    .detail(format!("It has: {}.", target.column_list()));
    if load.extra_columns_are_errors {
        return Err(error.hint("A column that only serves later rules needs a load registered with extra_columns => 'ignore'."));
    }
    if source.column(column).is_none() {
        error.hint("The column serves later rules only.").notice();
    }
    Ok(())
}

/// Refuses a rule that sets the time or the stamp: read, stamp and delete must have one scope.
fn refuse_owned_column(load: &Load, rule: &Rule) -> Result<()> {
    let RuleKind::Expression(column) = &rule.kind else {
        return Ok(());
    };
    let role = match column {
        column if *column == load.time_column => "time",
        column if *column == load.stamp_column => "stamp",
        column if *column == load.loaded_at_column => "load time",
        _ => return Ok(()),
    };
    Err(Error::invalid(format!("rule \"{}\" cannot set {column}, the {role} column of the load", rule.name))
        .detail("What is read, what is stamped and what is deleted must be the same rows; a rule that moved them would break that.")
        .hint("Do it in a view and register the view as the source, or write to another column."))
}
