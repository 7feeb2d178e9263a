//! Registering and unregistering loads and rules. What is registered is checked against source and target at once, with the
//! rights and the names that a run will have, so that a run meets no mistake that could have been seen before.

use pgrx::datum::{Interval, Timestamp};
use pgrx::{JsonB, PgSqlErrorCode, pg_sys};

use crate::bound::Bound;
use crate::calendar::Grain;
use crate::connection::{self, Value};
use crate::error::{Error, Result};
use crate::expression::Expression;
use crate::ident::{Ident, QualifiedName, Sql};
use crate::intake::{self, Intake, Reading};
use crate::interval::{require_boundary, resolve_bound};
use crate::registry::{History, Load, Registration, Rule, RuleKind, Shape};
use crate::relation::Relation;
use crate::statement::{self, Access};
use crate::time::MICROS_PER_DAY;
use crate::time::instant;
use crate::zone::Zone;
use crate::{lock, rule, session};

/// Arguments of `register_load`, with their defaults filled in.
pub struct LoadDefinition {
    /// The table that is written.
    pub target: pg_sys::Oid,
    /// The relation that is read.
    pub source: pg_sys::Oid,
    /// See [`Load`], as for all that follow.
    pub time_column: Ident,
    /// Length of a grain interval.
    pub grain: Interval,
    /// Name of the zone.
    pub zone: String,
    /// Local time from which grains are counted.
    pub origin: Timestamp,
    /// Column for the stamp.
    pub stamp_column: Ident,
    /// Column for the time of the load.
    pub loaded_at_column: Ident,
    /// Unique columns.
    pub keys: Option<Vec<Ident>>,
    /// Order in which the first row of a key is kept.
    pub dedup_order_by: Option<String>,
    /// Start of the first interval that is due.
    pub history_starts: Option<Bound>,
    /// Delay after which an interval counts as closed.
    pub settle: Interval,
    /// `error` or `ignore`.
    pub extra_columns: String,
}

/// The caller's search_path; to be asked for before it is pinned.
pub fn callers_path() -> Result<String> {
    Ok(statement::fetch(sql_file!("catalog/caller_path"), &[])?.unwrap_or_default())
}

/// Takes the registry row of a target, whose owner the caller must be, and describes the target under that lock.
fn lock_for_registration(
    target: pg_sys::Oid,
    path: &str,
    replace_path: bool,
    action: &str,
) -> Result<Relation> {
    Relation::describe(target)?.require_owner(action)?;
    lock::hold_registration(target, path, replace_path)?;
    Relation::describe(target)
}

/// Registers or changes a load. `path` is the search_path of the caller.
pub fn register_load(path: &str, definition: LoadDefinition) -> Result<()> {
    let target = lock_for_registration(definition.target, path, true, "register a load for it")?;
    target.require_safe_target()?;
    let source = Relation::describe(definition.source)?;
    source.require_source_kind()?;
    source.require_readable_by_owner_of(&target)?;
    if source.oid() == target.oid() {
        return Err(Error::wrong_kind(format!(
            "\"{}\" cannot be source and target at once",
            target.display_name()
        )));
    }
    if target.relatives.contains(&source.oid().to_u32()) {
        return Err(Error::wrong_kind(format!(
            "\"{}\" and \"{}\" hold the same rows",
            source.display_name(),
            target.display_name()
        ))
        .detail("One is a partition of the other; a load would delete what it reads."));
    }
    refuse_registered_relatives(&target)?;

    let registered = session::as_extension_owner(|| Registration::find(target.oid()))?
        .ok_or_else(|| Error::internal("the registry row vanished"))?;
    if registered.history.is_some() {
        return Err(
            Error::prerequisite(format!("\"{}\" is a history", target.display_name()))
                .detail("A load would delete versions.")
                .hint("Load into a table of its own."),
        );
    }
    let load = load_from(&definition, &source, path, registered.rules.clone())?;
    check_load(&load, &source, &target)?;
    settle_calendar(&load, &registered, &target)?;

    let keys: Option<Vec<String>> = load
        .keys
        .as_ref()
        .map(|keys| keys.iter().map(|key| key.as_str().to_owned()).collect());
    let history_starts = load.history_starts.map(instant).transpose()?;
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/register_load"),
            &[
                target.oid().into(),
                load.source.schema.as_str().into(),
                load.source.name.as_str().into(),
                load.time_column.as_str().into(),
                definition.grain.into(),
                load.zone_name.as_str().into(),
                definition.origin.into(),
                load.stamp_column.as_str().into(),
                load.loaded_at_column.as_str().into(),
                keys.clone().into(),
                load.dedup_order_by.clone().into(),
                history_starts.into(),
                definition.settle.into(),
                definition.extra_columns.as_str().into(),
            ],
        )
    })?;
    Ok(())
}

fn load_from(
    definition: &LoadDefinition,
    source: &Relation,
    path: &str,
    rules: Vec<Rule>,
) -> Result<Load> {
    let (zone, zone_name) = Zone::listed(&definition.zone)?;
    let grain = Grain::new(
        definition.grain.months(),
        definition.grain.days(),
        definition.grain.micros(),
    )?;
    let settle = i64::from(definition.settle.days()) * MICROS_PER_DAY + definition.settle.micros();
    if definition.settle.months() != 0 || settle < 0 {
        return Err(
            Error::invalid("settle must be a delay of days or less, not below zero")
                .hint("For example settle => '2 hours'."),
        );
    }
    if !["error", "ignore"].contains(&definition.extra_columns.as_str()) {
        return Err(Error::invalid(format!(
            "extra_columns cannot be \"{}\"",
            definition.extra_columns
        ))
        .hint("It is 'error' or 'ignore'."));
    }
    if definition.dedup_order_by.is_some() && definition.keys.is_none() {
        return Err(Error::invalid("dedup_order_by needs keys")
            .hint("Say which columns make two rows duplicates of each other: keys => 'id'."));
    }
    let QualifiedName { schema, name } = source.qualified_name();
    let mut load = Load {
        source: QualifiedName { schema, name },
        time_column: definition.time_column.clone(),
        grain_text: Value::of(definition.grain).text().unwrap_or_default(),
        calendar: crate::calendar::Calendar {
            grain,
            zone,
            origin: definition.origin.into_inner(),
        },
        zone_name,
        stamp_column: definition.stamp_column.clone(),
        loaded_at_column: definition.loaded_at_column.clone(),
        keys: definition.keys.clone(),
        dedup_order_by: definition.dedup_order_by.clone(),
        history_starts: None,
        first_interval: None,
        settle,
        extra_columns_are_errors: definition.extra_columns == "error",
        search_path: path.to_owned(),
        rules,
    };
    if let Some(bound) = definition.history_starts {
        let start = resolve_bound(&load, "history_starts", bound, session::transaction_start())?;
        require_boundary(&load, "history_starts", start)?;
        load.history_starts = Some(start);
    }
    Ok(load)
}

/// Refuses a change of what recorded intervals are counted with while the load is registered; forgets them, with a notice, where it
/// was unregistered in between.
fn settle_calendar(load: &Load, registered: &Registration, target: &Relation) -> Result<()> {
    let now = load.calendar_in_words();
    if let (true, Some(before)) = (registered.has_intervals, &registered.calendar)
        && *before != now
    {
        let name = target.display_name();
        if registered.load.is_some() {
            return Err(Error::prerequisite(format!("intervals of \"{name}\" are loaded, so how they are counted cannot change"))
                .detail(format!("They were counted with {before}. Asked for is {now}."))
                .hint(format!("SELECT unregister_load('{name}'); empty the table, register the load anew and load again.")));
        }
        session::as_extension_owner(|| {
            statement::write_rows(
                sql_file!("statement/forget_intervals"),
                &[target.oid().into()],
            )
        })?;
        Error::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, format!("what was recorded of the intervals of \"{name}\" is forgotten"))
            .detail(format!("They were counted with {before}, now with {now}."))
            .hint("Rows that were loaded before keep their stamps: daybook.check_load lists those that no longer fit.")
            .notice();
    }
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/register_calendar"),
            &[target.oid().into(), now.as_str().into()],
        )
    })?;
    Ok(())
}

/// Refuses to register a partition beside its partitioned table: two loads would own the same rows.
pub fn refuse_registered_relatives(target: &Relation) -> Result<()> {
    if target.relatives.is_empty() {
        return Ok(());
    }
    let relatives: Vec<pg_sys::Oid> = target
        .relatives
        .iter()
        .map(|oid| pg_sys::Oid::from(*oid))
        .collect();
    let registered: Option<Vec<String>> = session::as_extension_owner(|| {
        statement::fetch(
            sql_file!("catalog/registered_relatives"),
            &[relatives.into()],
        )
    })?;
    match registered.unwrap_or_default().first() {
        None => Ok(()),
        Some(relative) => Err(Error::prerequisite(format!(
            "\"{}\" and \"{relative}\" hold the same rows, and the latter is registered",
            target.display_name()
        ))
        .detail("One is a partition of the other; two would own the same rows.")
        .hint(format!(
            "Unregister \"{relative}\" first, or write through that one."
        ))),
    }
}

/// Checks a load against source and target: columns, keys, and every rule over the row it will see.
fn check_load(load: &Load, source: &Relation, target: &Relation) -> Result<()> {
    load.shape(source, target)?;
    for key in load.keys.iter().flatten() {
        if target.column(key).is_none() {
            return Err(Error::new(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "\"{}\" has no column {key}, which keys names",
                    target.display_name()
                ),
            )
            .detail(format!("It has: {}.", target.column_list())));
        }
    }
    let owner = target.owner();
    session::pinned(&load.search_path, &load.zone_name, || {
        session::as_role(owner, || {
            for (position, each) in load.rules.iter().enumerate() {
                rule::check_load_rule(load, source, target, position, each)?;
            }
            if let Some(order) = &load.dedup_order_by {
                rule::check_order(&load.reading(source), order)?;
            }
            check_columns(load, source, target)
        })
    })
}

/// Checks every rule of a history over the row it will see, if the source is known.
fn check_history_rules(history: &History, rules: &[Rule], target: &Relation) -> Result<()> {
    for each in rules {
        if let RuleKind::Expression(column) = &each.kind
            && history.owns(column)
        {
            return Err(Error::invalid(format!(
                "rule \"{}\" cannot set {column}, a technical column of the history",
                each.name
            ))
            .hint("Its runs set it. To date versions by the source, register source_timestamp_column."));
        }
    }
    let Some(source) = &history.source else {
        return Ok(());
    };
    let source = Relation::describe(lock::keep_source(source)?)?;
    let reading = Reading {
        source: &source,
        rules,
        time_column: None,
        first_of_key: None,
    };
    session::pinned(&history.search_path, &history.options.zone, || {
        session::as_role(target.owner(), || {
            for (position, each) in rules.iter().enumerate() {
                rule::check_rule(&reading, position, each)?;
            }
            Ok(())
        })
    })
}

/// Values of the types of $1 to $7 of a run's statements, to have these parsed.
fn placeholders(shape: Shape) -> [Value; 7] {
    [
        Value::time(shape.time, 0),
        Value::time(shape.time, 0),
        Value::times(shape.time, [0, 0]),
        Value::times(shape.stamp, [0]),
        Value::time(shape.stamp, 0),
        Value::time(shape.stamp, 0),
        Value::of(0_i32),
    ]
}

/// Checks the columns that all rules together deliver.
fn check_columns(load: &Load, source: &Relation, target: &Relation) -> Result<()> {
    let shape = load.shape(source, target)?;
    // Parameters are NULLs here: the columns do not depend on them, but for expressions that consist of one alone.
    let intake = Intake::build(&load.reading(source), |_| Ok(Sql::fixed("NULL")))?;
    let values = placeholders(shape);
    connection::connected(Access::Read, |connection| {
        let prepared = connection.prepare(&intake.sql, &values)?;
        intake::refuse_reading_target(&prepared, target)?;
        let delivered = prepared.columns()?;
        for key in load.keys.iter().flatten() {
            if !delivered.iter().any(|column| column.name == *key) {
                return Err(Error::new(
                    PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                    format!(
                        "the source \"{}\" delivers no column {key}, which keys names",
                        source.display_name()
                    ),
                )
                .detail(format!("It has: {}.", source.column_list())));
            }
        }
        intake::fit(load, source, target, &delivered, &intake.number).map(drop)
    })
}

/// Forgets a load.
pub fn unregister_load(path: &str, target: pg_sys::Oid) -> Result<()> {
    let target = lock_for_registration(target, path, false, "unregister its load")?;
    let gone = session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/unregister_load"),
            &[target.oid().into()],
        )
    })?;
    if gone == 0 {
        return Err(Error::undefined(format!(
            "no load is registered for \"{}\"",
            target.display_name()
        ))
        .hint("SELECT target FROM daybook.loads lists those that are."));
    }
    Ok(())
}

/// Registers a rule: appends it, puts it before another, or replaces the one of the same name in place.
pub fn register_rule(
    path: &str,
    target: pg_sys::Oid,
    rule: Rule,
    before: Option<&str>,
) -> Result<()> {
    Expression::parse(&rule.what(), &rule.expression)?;
    change_rules(
        path,
        target,
        "register rules for it",
        Check::Now,
        |rules, target| {
            let name = rule.name.clone();
            let old_place = rules.iter().position(|other| other.name == name);
            if let Some(place) = old_place {
                rules.remove(place);
            }
            let place = match before {
                Some(before) => rules
                    .iter()
                    .position(|other| other.name == before)
                    .ok_or_else(|| unknown_rule(before, rules, target))?,
                None => old_place.unwrap_or(rules.len()),
            };
            rules.insert(place, rule);
            Ok(())
        },
    )
}

/// Forgets a rule.
pub fn unregister_rule(path: &str, target: pg_sys::Oid, name: &str) -> Result<()> {
    change_rules(
        path,
        target,
        "unregister its rules",
        Check::AtNextRun,
        |rules, target| {
            let place = rules
                .iter()
                .position(|rule| rule.name == name)
                .ok_or_else(|| unknown_rule(name, rules, target))?;
            rules.remove(place);
            Ok(())
        },
    )
}

fn unknown_rule(name: &str, rules: &[Rule], target: &Relation) -> Error {
    let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
    let detail = if names.is_empty() {
        "It has no rules.".to_owned()
    } else {
        format!("It has, in this order: {}.", names.join(", "))
    };
    Error::undefined(format!(
        "\"{}\" has no rule \"{name}\"",
        target.display_name()
    ))
    .detail(detail)
}

/// When changed rules are checked against source and target.
#[derive(PartialEq, Eq)]
enum Check {
    /// Before they are written.
    Now,
    /// By the next run: a rule can be taken away while the source is missing.
    AtNextRun,
}

/// Changes the rules of a target, checks what comes out against its load, and writes it if it differs.
fn change_rules(
    path: &str,
    target: pg_sys::Oid,
    action: &str,
    check: Check,
    change: impl FnOnce(&mut Vec<Rule>, &Relation) -> Result<()>,
) -> Result<()> {
    let target = lock_for_registration(target, path, false, action)?;
    let registered = session::as_extension_owner(|| Registration::find(target.oid()))?
        .ok_or_else(|| Error::internal("the registry row vanished"))?;
    let mut rules = registered.rules.clone();
    change(&mut rules, &target)?;
    if rules == registered.rules {
        return Ok(());
    }
    match (check, registered.load, registered.history) {
        (Check::Now, Some(mut load), _) => {
            load.rules = rules.clone();
            let source = Relation::describe(load.lock_source()?)?;
            check_load(&load, &source, &target)?;
        }
        (Check::Now, None, Some(history)) => check_history_rules(&history, &rules, &target)?,
        _ => {}
    }
    let document = JsonB(serde_json::to_value(&rules)?);
    session::as_extension_owner(|| {
        statement::write_rows(sql_file!("statement/forget_rules"), &[target.oid().into()])?;
        statement::write_rows(
            sql_file!("statement/register_rules"),
            &[target.oid().into(), document.into()],
        )
    })?;
    Ok(())
}
