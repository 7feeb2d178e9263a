//! Registering histories: what the user says, checked against source and table with the rights and the names that a run will have.

use pgrx::datum::Interval;
use pgrx::{JsonB, PgSqlErrorCode, pg_sys};
use serde_json::{Map, Value as Json};

use crate::connection;
use crate::error::{Error, Result};
use crate::expression::Predicate;
use crate::ident::{Ident, QualifiedName};
use crate::params::ParamType;
use crate::registration::refuse_registered_relatives;
use crate::registry::{Delivery, History, Horizon, Options, Registration, rules_version};
use crate::relation::{Relation, require_rights};
use crate::settings::{self, TextSetting};
use crate::statement::{self, Access};
use crate::time::{MICROS_PER_DAY, TimeType};
use crate::zone::Zone;
use crate::{lock, rule, session};

use super::setup::{Input, Setup, no_deleted_value};
use super::table::{self, Place};
use super::{Request, columns, run};

/// What a call says about a history.
pub struct Definition {
    /// Where it is kept.
    pub place: Place,
    /// What it reads.
    pub source: pg_sys::Oid,
    /// The options that were given, named as the arguments are. What is not in here was left out.
    pub given: Map<String, Json>,
    /// The caller's search_path.
    pub path: String,
}

/// Registers or changes a history; makes the table if there is none. Options that are left out have their defaults.
pub fn register_history(definition: &Definition) -> Result<()> {
    let table = hold(definition)?;
    let known = match table {
        None => None,
        Some(oid) => registered(oid)?,
    };
    let mut chosen = defaults(known.as_ref())?;
    chosen.extend(definition.given.clone());
    register(definition, table, known, chosen).map(drop)
}

/// Registers a history on the first call for it, and says what its table is. Options that contradict what is registered are refused
/// (22023), what is left out is as it was.
pub fn register_once(definition: &Definition) -> Result<pg_sys::Oid> {
    let table = hold(definition)?;
    let known = match table {
        None => None,
        Some(oid) => registered(oid)?,
    };
    let (Some(oid), Some(known)) = (table, &known) else {
        let mut chosen = defaults(None)?;
        chosen.extend(definition.given.clone());
        return register(definition, table, None, chosen);
    };
    // What is registered is not for everyone to know.
    Relation::describe(oid)?.require_owner("historize from another source into it")?;
    let remembered = as_map(&known.options)?;
    let mut chosen = remembered.clone();
    chosen.extend(definition.given.clone());
    let chosen = as_map(&options(chosen)?)?;
    let contradictions: Vec<String> = chosen
        .iter()
        .filter(|(name, value)| remembered.get(*name) != Some(*value))
        .map(|(name, value)| {
            let told = |value: Option<&Json>| shown(name, value.unwrap_or(&Json::Null));
            format!(
                "{} is {}, not {}",
                argument(name),
                told(remembered.get(name)),
                told(Some(value))
            )
        })
        .collect();
    if !contradictions.is_empty() {
        let name = Relation::describe(oid)?.display_name();
        return Err(
            Error::invalid(format!("\"{name}\" is registered with other options"))
                .detail(format!("{}.", contradictions.join("; ")))
                .hint("Leave them out, or change what is registered with register_history."),
        );
    }
    Ok(oid)
}

/// The argument that an option is called by.
fn argument(name: &str) -> &str {
    match name {
        "keys" => "pk",
        other => other,
    }
}

/// An option for people.
fn shown(name: &str, value: &Json) -> String {
    match (name, value) {
        ("time_axis_unit", Json::Number(micros)) => format!("{micros} microseconds"),
        (_, Json::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Json::as_str).collect();
            names.join(", ")
        }
        (_, Json::String(text)) => format!("\"{text}\""),
        (_, other) => other.to_string(),
    }
}

/// Holds the name of a definition, and says which table it stands for.
fn hold(definition: &Definition) -> Result<Option<pg_sys::Oid>> {
    match &definition.place {
        Place::Existing(oid) => Ok(Some(*oid)),
        Place::Free(name) => table::hold_name(name),
    }
}

fn registered(target: pg_sys::Oid) -> Result<Option<History>> {
    let found = session::as_extension_owner(|| Registration::find(target))?;
    Ok(found.and_then(|registration| registration.history))
}

fn as_map(options: &Options) -> Result<Map<String, Json>> {
    match serde_json::to_value(options)? {
        Json::Object(map) => Ok(map),
        _ => Err(Error::internal("options are no document")),
    }
}

/// The options of a call that gives none.
fn defaults(known: Option<&History>) -> Result<Map<String, Json>> {
    // The axis of a history is not the setting's to change.
    let unit = match known {
        Some(known) => known.options.time_axis_unit,
        None => unit_setting()?,
    };
    let options = Options {
        keys: known.map_or_else(Vec::new, |known| known.options.keys.clone()),
        historize_blacklist: None,
        historize_whitelist: None,
        time_axis_unit: unit,
        zone: "UTC".to_owned(),
        check_input_unique: true,
        dedup_order_by: None,
        source_timestamp_column: None,
        existing_predicate: None,
        cdc_column: None,
        cdc_deleted_value: None,
        cdc_auto_detect: true,
        cdc_timestamp_auto_detect: true,
        skip_unchanged: false,
        intermediate_versions: false,
        delivery: Delivery::Full,
        delivery_scope: None,
        late: crate::registry::Late::Delay,
        ignore_old_deleted_columns: false,
        ignore_old_deleted_nested_columns: true,
        on_empty: None,
        max_closed_percent: None,
    };
    as_map(&options)
}

/// The unit of the time axis that the session has set, in microseconds.
fn unit_setting() -> Result<i64> {
    let setting = &settings::TIME_AXIS_UNIT;
    let Some(text) = setting.get() else {
        return Ok(1000);
    };
    parse_unit(&text).map_err(|error| Error {
        message: format!(
            "the setting {} is \"{text}\": {}",
            setting.name(),
            error.message
        ),
        ..error
    })
}

/// A unit of the time axis written as a number with us, ms, s, m, h or d, in microseconds.
fn parse_unit(text: &str) -> Result<i64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, suffix) = (&text[..digits], text[digits..].trim());
    let factor = match suffix {
        "us" => 1,
        "ms" => 1000,
        "s" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => MICROS_PER_DAY,
        "" if number.trim_start_matches('0').is_empty() && !number.is_empty() => 0,
        "ns" => return Err(nanoseconds()),
        _ => return Err(not_a_unit()),
    };
    number
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(not_a_unit)
}

fn not_a_unit() -> Error {
    Error::invalid("a unit of the time axis is a number with us, ms, s, m, h or d, or 0")
}

fn nanoseconds() -> Error {
    Error::invalid("Postgres counts time in microseconds: a unit in ns cannot be")
        .hint("Use us, or 0 for half-open validity.")
}

/// A unit of the time axis given as an interval, in microseconds; a day is 24 hours.
pub fn unit_of(unit: Interval) -> Result<i64> {
    let micros = i64::from(unit.days())
        .checked_mul(MICROS_PER_DAY)
        .and_then(|days| days.checked_add(unit.micros()));
    match micros {
        Some(micros) if unit.months() == 0 && micros >= 0 => Ok(micros),
        _ => Err(
            Error::invalid("time_axis_unit must be a time of days or less, not below zero")
                .hint("For example '1 ms', '1 second', '1 day', or 0 for half-open validity."),
        ),
    }
}

/// The options as they are meant; refused (22023): words that are none of the known, and options that contradict each other.
fn options(chosen: Map<String, Json>) -> Result<Options> {
    let words: [(&str, &[&str]); 3] = [
        ("delivery", &["full", "delta"]),
        ("late", &["delay", "insert", "ignore", "error"]),
        ("on_empty", &["error", "skip", "close"]),
    ];
    for (name, allowed) in words {
        if let Some(Json::String(given)) = chosen.get(name)
            && !allowed.contains(&given.as_str())
        {
            let allowed: Vec<String> = allowed.iter().map(|word| format!("'{word}'")).collect();
            return Err(Error::invalid(format!("{name} cannot be \"{given}\""))
                .hint(format!("It is one of {}.", allowed.join(", "))));
        }
    }
    let options: Options = serde_json::from_value(Json::Object(chosen))?;
    let exclude = |one: &str, other: &str, why: &str| {
        Err(Error::invalid(format!("{one} and {other} exclude each other")).detail(why.to_owned()))
    };
    if options.keys.is_empty() {
        return Err(Error::null_argument("pk")
            .detail("Of a table that is not registered yet nothing says which columns make two rows versions of one record.")
            .hint("Name the primary key of the source: pk => 'id'."));
    }
    if let (Some(_), Some(_)) = (&options.historize_blacklist, &options.historize_whitelist) {
        return exclude(
            "historize_blacklist",
            "historize_whitelist",
            "One lists what makes no difference, the other what alone does.",
        );
    }
    if let (Some(column), Some(listed)) = (
        &options.source_timestamp_column,
        &options.historize_whitelist,
    ) && listed.contains(column)
    {
        return Err(Error::invalid(format!(
            "historize_whitelist lists {column}, the source_timestamp_column"
        ))
        .detail("It dates versions; it is neither compared nor stored."));
    }
    if let (Some(column), None) = (&options.cdc_column, &options.cdc_deleted_value)
        && column.as_str() != "_change_type"
    {
        return Err(no_deleted_value(column));
    }
    if let (None, Some(_)) = (&options.cdc_column, &options.cdc_deleted_value) {
        return Err(Error::invalid("cdc_deleted_value needs cdc_column").hint(
            "Say in which column it stands; for the standard one, cdc_column => '_change_type'.",
        ));
    }
    if let (Some(_), Some(_)) = (&options.cdc_column, &options.historize_whitelist) {
        return exclude(
            "cdc_column",
            "historize_whitelist",
            "Change events are not compared: each makes a version.",
        );
    }
    if options.delivery == Delivery::Delta && options.delivery_scope.is_some() {
        return exclude(
            "delivery => 'delta'",
            "delivery_scope",
            "A delta closes nothing that is missing, so there is nothing to limit.",
        );
    }
    if let Some(column) = &options.source_timestamp_column
        && options.keys.contains(column)
    {
        return Err(Error::invalid(format!(
            "{column} cannot be both key and source_timestamp_column"
        ))
        .detail("It dates versions, and is not stored."));
    }
    if !options.ignore_old_deleted_nested_columns {
        return Err(Error::new(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "ignore_old_deleted_nested_columns cannot be false",
        )
        .detail("A composite type is changed with ALTER TYPE, for source and history at once; fields that it loses are gone in both.")
        .hint("To keep a field, keep it in the type, or have a rule make a column of it."));
    }
    if let Some(percent) = &options.max_closed_percent
        && !percent
            .as_f64()
            .is_some_and(|percent| (0.0..=100.0).contains(&percent))
    {
        return Err(
            Error::invalid(format!("max_closed_percent cannot be {percent}"))
                .hint("It is a percentage between 0 and 100."),
        );
    }
    let (_, zone) = Zone::listed(&options.zone)?;
    Ok(Options { zone, ..options })
}

/// A setting that names a column.
fn column_setting(setting: &TextSetting) -> Result<Option<Ident>> {
    setting.get().map(Ident::new).transpose()
}

fn required_setting(setting: &TextSetting) -> Result<Ident> {
    column_setting(setting)?
        .ok_or_else(|| Error::invalid(format!("the setting {} is empty", setting.name())))
}

/// The horizon that the session has set: a time as the server writes it, infinity or null.
fn horizon_setting() -> Result<Horizon> {
    let setting = &settings::UPPER_HORIZON;
    let text = setting.get().ok_or_else(|| {
        Error::invalid(format!("the setting {} is empty", setting.name()))
            .hint("It is a time, or infinity, or null.")
    })?;
    if text.eq_ignore_ascii_case("infinity") || text.eq_ignore_ascii_case("null") {
        return Ok(Horizon::new(&text.to_ascii_lowercase()));
    }
    let written: Option<String> = session::explained(
        || statement::ask(sql_file!("catalog/local_time"), &[text.as_str().into()]),
        |error| {
            Error::invalid(format!(
                "the setting {} is no time: {}",
                setting.name(),
                error.message
            ))
        },
    )?;
    let written = written.unwrap_or_default();
    match written.contains("infinity") {
        true => Err(Error::invalid(format!(
            "the setting {} cannot be {text}",
            setting.name()
        ))),
        false => Ok(Horizon::new(&written)),
    }
}

/// Registers a history as chosen: makes or takes over its table, checks source, rules and conditions, writes the registration.
fn register(
    definition: &Definition,
    table: Option<pg_sys::Oid>,
    known: Option<History>,
    chosen: Map<String, Json>,
) -> Result<pg_sys::Oid> {
    let options = options(chosen)?;
    require_rights(definition.source, &["SELECT"])?;
    lock::keep_relation(definition.source, lock::Use::Read);
    let source = Relation::describe(definition.source)?;
    source.require_source_kind_for(&source)?;
    let technical = match &known {
        Some(known) => (
            known.captured.clone(),
            known.delimited.clone(),
            known.hash.clone(),
            known.horizon.clone(),
        ),
        None => (
            required_setting(&settings::CAPTURED_COLUMN_NAME)?,
            required_setting(&settings::DELIMITED_COLUMN_NAME)?,
            column_setting(&settings::HASH_COLUMN_NAME)?,
            horizon_setting()?,
        ),
    };
    let (captured, delimited, hash, horizon) = technical;
    let mut history = History {
        // What is temporary is seen by one session only, so it cannot be looked up at each run.
        source: (!source.is_temporary()).then(|| source.qualified_name()),
        options,
        captured,
        delimited,
        hash,
        horizon,
        newest: None,
        source_dated_until: None,
        has_views: false,
        search_path: definition.path.clone(),
        rules: Vec::new(),
    };
    let target = match (table, &definition.place) {
        (Some(oid), _) => {
            Relation::describe(oid)?.require_owner("register a history for it")?;
            oid
        }
        (None, Place::Free(name)) => make_table(name, &history, &source)?,
        (None, Place::Existing(_)) => return Err(Error::internal("a table was lost")),
    };
    lock::hold_registration(target, &definition.path, true)?;
    let relation = Relation::describe(target)?;
    relation.require_safe_target()?;
    refuse_same(&source, &relation)?;
    source.require_readable_by_owner_of(&relation)?;
    refuse_registered_relatives(&relation)?;
    let registered = session::as_extension_owner(|| Registration::find(target))?
        .ok_or_else(|| Error::internal("the registry row vanished"))?;
    if registered.load.is_some() {
        return Err(Error::prerequisite(format!(
            "a load is registered for \"{}\"",
            relation.display_name()
        ))
        .detail("Its runs would delete versions.")
        .hint("Keep the history in a table of its own."));
    }
    history.rules = registered.rules;
    if history
        .hash
        .as_ref()
        .is_some_and(|hash| relation.column(hash).is_none())
    {
        // A table that has no fingerprints does without.
        history.hash = None;
    }
    check(
        &history,
        &relation,
        &source,
        known.as_ref(),
        table.is_some(),
    )?;
    write(&history, target)?;
    if table.is_some() && known.is_none() {
        note_newest(&history, &relation)?;
    }
    Ok(target)
}

fn refuse_same(source: &Relation, target: &Relation) -> Result<()> {
    if source.oid() == target.oid() || target.relatives.contains(&source.oid().to_u32()) {
        return Err(Error::wrong_kind(format!(
            "\"{}\" cannot be source and history at once",
            target.display_name()
        )));
    }
    Ok(())
}

/// A setup that is no run's: to look at the input as a run will.
fn looking(history: &History, target: &Relation, source: &Relation, axis: TimeType) -> Setup {
    Setup {
        rules_version: rules_version(&history.rules, source),
        history: history.clone(),
        target: target.clone(),
        source: source.clone(),
        axis,
        reference: session::transaction_start(),
    }
}

fn request(target: pg_sys::Oid) -> Request {
    Request {
        target,
        source: None,
        reference: None,
        params: serde_json::json!({}),
        dry_run: true,
        started_at: session::clock(),
    }
}

/// Makes the table of a history, in the name of the caller.
fn make_table(name: &QualifiedName, history: &History, source: &Relation) -> Result<pg_sys::Oid> {
    session::pinned(&history.search_path, &history.options.zone, || {
        connection::connected(Access::Write, |connection| {
            let setup = looking(history, source, source, TimeType::TimestampTz);
            let input = setup.intake(connection, &request(source.oid()))?;
            let delivered = input.stored(history);
            columns::refuse_columns_of_ours(history, &source.display_name(), &delivered)?;
            columns::require_keys(history, &source.display_name(), &delivered)?;
            table::create(connection, name, history, &input)
        })
    })?;
    lock::keep_named(name)?.ok_or_else(|| Error::internal("the table that was made is gone"))
}

/// Checks a history against its table and its source, as its runs will find them.
fn check(
    history: &History,
    target: &Relation,
    source: &Relation,
    known: Option<&History>,
    existed: bool,
) -> Result<()> {
    let axis = table::axis(history, target)?;
    session::pinned(&history.search_path, &history.options.zone, || {
        session::as_role(target.owner(), || {
            connection::connected(Access::Write, |connection| {
                if let Some(known) = known {
                    refuse_other_axis(connection, history, known, target)?;
                } else if existed {
                    table::take_over(connection, history, target)?;
                }
                let setup = looking(history, target, source, axis);
                let plain = setup.reading(&super::setup::Mode::Snapshot);
                for (position, each) in history.rules.iter().enumerate() {
                    rule::check_rule(&plain, position, each)?;
                }
                if let Some(order) = &history.options.dedup_order_by {
                    rule::check_order(&plain, order)?;
                }
                if let Some(predicate) = &history.options.existing_predicate {
                    check_predicate(predicate, target)?;
                }
                if uses_params(history)? {
                    // What a rule with a parameter delivers is known when it is passed.
                    return Ok(());
                }
                let input: Input = setup.intake(connection, &request(target.oid()))?;
                setup.refuse_unknown_lists(&input)?;
                run::refuse_unfit_options(&setup, &input)?;
                columns::plan(
                    history,
                    target,
                    &source.display_name(),
                    &input.stored(history),
                    true,
                )
                .map(drop)
            })
        })
    })
}

/// Checks a condition with the first type of its parameters that suits it.
fn check_predicate(predicate: &str, target: &Relation) -> Result<()> {
    let name = target.qualified_name().sql();
    let mut result = Ok(());
    for kind in ParamType::ALL {
        let tried =
            session::subtransaction(|| Predicate::check(predicate, &name, kind.typed_null()));
        match tried {
            Ok(()) => return Ok(()),
            Err(error) if result.is_ok() => result = Err(error),
            Err(_) => {}
        }
    }
    result
}

fn uses_params(history: &History) -> Result<bool> {
    if let Some(predicate) = &history.options.existing_predicate
        && !Predicate::parse(predicate)?.params.is_empty()
    {
        return Ok(true);
    }
    for each in &history.rules {
        let parsed = crate::expression::Expression::parse(&each.what(), &each.expression)?;
        if !parsed.params.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses (55000) to change what the versions of a history that has any were made with.
fn refuse_other_axis(
    connection: &mut connection::Connection,
    history: &History,
    known: &History,
    target: &Relation,
) -> Result<()> {
    let (old, new) = (&known.options, &history.options);
    let changed: Vec<&str> = [
        (old.keys != new.keys, "pk"),
        (old.time_axis_unit != new.time_axis_unit, "time_axis_unit"),
        (old.zone != new.zone, "zone"),
    ]
    .into_iter()
    .filter(|(differs, _)| *differs)
    .map(|(_, name)| name)
    .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let empty: Option<bool> = connection.look_up(
        &crate::statement::render(
            sql_file!("statement/history_is_empty"),
            &[("target", &target.qualified_name().sql())],
        )?,
        &[],
    )?;
    // The indexes of a table are made for its key.
    if empty == Some(true) && old.keys == new.keys {
        return Ok(());
    }
    Err(Error::prerequisite(format!(
        "{} of \"{}\" cannot change",
        changed.join(" and "),
        target.display_name()
    ))
    .detail("Its versions and indexes were made with it.")
    .hint(format!(
        "Build another table, or SELECT unregister_history('{}'); change the table yourself and register it again, which checks it.",
        target.display_name()
    )))
}

fn write(history: &History, target: pg_sys::Oid) -> Result<()> {
    let mut row = as_map(&history.options)?;
    let text = |name: &Ident| Json::String(name.as_str().to_owned());
    row.insert(
        "target".to_owned(),
        Json::String(target.to_u32().to_string()),
    );
    row.insert(
        "time_axis_unit".to_owned(),
        Json::String(format!("{} microseconds", history.options.time_axis_unit)),
    );
    row.insert("captured_column".to_owned(), text(&history.captured));
    row.insert("delimited_column".to_owned(), text(&history.delimited));
    if let Some(hash) = &history.hash {
        row.insert("hash_column".to_owned(), text(hash));
    }
    row.insert(
        "upper_horizon".to_owned(),
        Json::String(history.horizon.text().to_owned()),
    );
    if let Some(source) = &history.source {
        row.insert("source_schema".to_owned(), text(&source.schema));
        row.insert("source_name".to_owned(), text(&source.name));
    }
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/register_history"),
            &[JsonB(Json::Object(row)).into()],
        )
    })
    .map(drop)
}

/// Notes the newest instant of a table that was taken over.
fn note_newest(history: &History, target: &Relation) -> Result<()> {
    let axis = table::axis(history, target)?;
    let setup = looking(history, target, target, axis);
    let values = setup.values(&[], 0)?;
    let sql = super::statements::newest(axis, &target.qualified_name().sql(), history)?;
    let newest: Option<i64> = session::pinned("pg_catalog", &history.options.zone, || {
        session::as_role(target.owner(), || {
            connection::connected(Access::Write, |connection| {
                connection.look_up(&sql, &values)
            })
        })
    })?;
    let Some(newest) = newest else { return Ok(()) };
    let newest = pgrx::datum::Timestamp::try_from(newest)
        .map_err(|_| Error::invalid("the time is beyond what Postgres can hold"))?;
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/note_history"),
            &[
                target.oid().into(),
                newest.into(),
                None::<pgrx::datum::Timestamp>.into(),
            ],
        )
    })
    .map(drop)
}

/// Forgets a history; the table, its rules and its views stay.
pub fn unregister_history(path: &str, target: pg_sys::Oid) -> Result<()> {
    Relation::describe(target)?.require_owner("unregister its history")?;
    lock::hold_registration(target, path, false)?;
    let gone = session::as_extension_owner(|| {
        statement::write_rows(sql_file!("statement/unregister_history"), &[target.into()])
    })?;
    if gone == 0 {
        return Err(Error::undefined(format!(
            "no history is registered for \"{}\"",
            Relation::describe(target)?.display_name()
        ))
        .hint("SELECT target FROM daybook.histories lists those that are."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse_unit;

    #[test]
    fn units_are_read_as_they_are_written_elsewhere() {
        let read = |text: &str| parse_unit(text).ok();
        assert_eq!(read("1ms"), Some(1000));
        assert_eq!(read("0"), Some(0));
        assert_eq!(read("0s"), Some(0));
        assert_eq!(read("15m"), Some(900_000_000));
        assert_eq!(read("1d"), Some(86_400_000_000));
        assert_eq!(read("1 h"), Some(3_600_000_000));
        for refused in [
            "1ns",
            "",
            "5",
            "-1s",
            "1 month",
            "1.5s",
            "99999999999999999d",
        ] {
            assert_eq!(read(refused), None, "{refused}");
        }
    }
}
