//! What SQL sees. Each function checks its arguments, pins the settings under which daybook's own statements are read, and makes one
//! call. Signatures, defaults and comments stand in `sql/`; a test compares the two.

// The error type is pgrx's own; these functions return it once, straight to the server.
#![allow(clippy::result_large_err)]

use std::ffi::CStr;

use pgrx::datum::{Date, Interval, Timestamp, TimestampWithTimeZone};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::{AnyNumeric, JsonB, PgSqlErrorCode, pg_sys};

use crate::bound::Bound;
use crate::calendar::{Calendar, Grain};
use crate::error::{Error, Result};
use crate::ident::{self, Ident};
use crate::inspect;
use crate::interval::Asked;
use crate::load::{self, OnEmpty, Request};
use crate::log::{HistoryResult, RunResult};
use crate::registration::{self, LoadDefinition};
use crate::registry::{Rule, RuleKind};
use crate::time::MICROS_PER_DAY;
use crate::time::instant;
use crate::zone::Zone;
use crate::{history, session, statement, tally as counting};

type Raised<T> = std::result::Result<T, ErrorReport>;

/// Runs a function of the interface: settings pinned, errors of ours raised.
fn answer<T>(work: impl FnOnce() -> Result<T>) -> Raised<T> {
    session::pinned("pg_catalog", "UTC", work).map_err(ErrorReport::from)
}

fn required<T>(name: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::null_argument(name))
}

fn identifier(name: &str, value: Option<&CStr>) -> Result<Ident> {
    Ident::new(required(name, value)?.to_string_lossy())
}

fn columns(value: Option<&str>) -> Result<Option<Vec<Ident>>> {
    value.map(ident::parse_column_list).transpose()
}

fn bound(value: Option<&str>) -> Result<Option<Bound>> {
    value.map(Bound::parse).transpose()
}

fn micros(value: Option<TimestampWithTimeZone>, name: &str) -> Result<Option<i64>> {
    match value {
        Some(at) if at.is_infinity() || at.is_neg_infinity() => {
            Err(Error::invalid(format!("{name} must not be infinite")))
        }
        at => Ok(at.map(TimestampWithTimeZone::into_inner)),
    }
}

/// The local time from which grains are counted; 2001-01-01, a Monday, unless told otherwise.
fn finite_origin(origin: Option<Timestamp>) -> Result<Timestamp> {
    let default = || {
        Timestamp::new(2001, 1, 1, 0, 0, 0.0)
            .map_err(|_| Error::internal("the default origin is no time"))
    };
    let origin = origin.map_or_else(default, Ok)?;
    match origin.is_infinity() || origin.is_neg_infinity() {
        true => Err(Error::invalid("the origin must be a finite time")),
        false => Ok(origin),
    }
}

/// The relation that a text names, as the caller's search_path finds it.
fn relation(name: &str, value: Option<&str>) -> Result<pg_sys::Oid> {
    let text = required(name, value)?;
    statement::ask::<pg_sys::Oid>(sql_file!("catalog/named_relation"), &[text.into()])?
        .ok_or_else(|| Error::null_argument(name))
}

// Types -----------------------------------------------------------------------------------------------------------------

#[pg_extern(sql = false)]
fn bound_in(text: &CStr) -> Raised<String> {
    Ok(Bound::parse(&text.to_string_lossy())
        .map_err(ErrorReport::from)?
        .to_string())
}

/// The text of a bound that was made from a time; 22008 if it is beyond what daybook counts.
fn bound_text(bound: Option<Bound>) -> Raised<String> {
    let bound = bound.ok_or_else(|| {
        Error::new(
            PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
            "the time is beyond what daybook counts",
        )
        .hint("Bounds lie between the years -4713 and 262142.")
    });
    Ok(bound.map_err(ErrorReport::from)?.to_string())
}

#[pg_extern(sql = false)]
fn bound_from_date(date: Date) -> Raised<String> {
    bound_text(match date.is_infinity() || date.is_neg_infinity() {
        true => Some(Bound::Infinite),
        false => i64::from(date.into_inner())
            .checked_mul(MICROS_PER_DAY)
            .and_then(Bound::local),
    })
}

#[pg_extern(sql = false)]
fn bound_from_timestamp(at: Timestamp) -> Raised<String> {
    bound_text(match at.is_infinity() || at.is_neg_infinity() {
        true => Some(Bound::Infinite),
        false => Bound::local(at.into_inner()),
    })
}

#[pg_extern(sql = false)]
fn bound_from_timestamptz(at: TimestampWithTimeZone) -> Raised<String> {
    bound_text(match at.is_infinity() || at.is_neg_infinity() {
        true => Some(Bound::Infinite),
        false => Bound::instant(at.into_inner()),
    })
}

#[pg_extern(sql = false)]
fn column_list_in(text: &CStr) -> Raised<String> {
    let names = ident::parse_column_list(&text.to_string_lossy()).map_err(ErrorReport::from)?;
    Ok(ident::write_column_list(&names))
}

#[pg_extern(sql = false)]
fn column_list_from_array(names: Vec<Option<String>>) -> Raised<String> {
    let mut list: Vec<Ident> = Vec::new();
    for name in names {
        let name = required("an element of the column list", name)
            .and_then(Ident::new)
            .map_err(ErrorReport::from)?;
        if list.contains(&name) {
            return Err(Error::invalid(format!("the column list names {name} twice")).into());
        }
        list.push(name);
    }
    if list.is_empty() {
        return Err(Error::invalid("the column list is empty")
            .hint("Pass null for no columns.")
            .into());
    }
    Ok(ident::write_column_list(&list))
}

// Registering -----------------------------------------------------------------------------------------------------------

#[allow(clippy::too_many_arguments)]
#[pg_extern(sql = false)]
fn register_load(
    target: Option<pg_sys::Oid>,
    source: Option<pg_sys::Oid>,
    time_column: Option<&CStr>,
    grain: Option<Interval>,
    zone: Option<&str>,
    origin: Option<Timestamp>,
    stamp_column: Option<&CStr>,
    loaded_at_column: Option<&CStr>,
    keys: Option<&str>,
    dedup_order_by: Option<&str>,
    history_starts: Option<&str>,
    settle: Option<Interval>,
    extra_columns: Option<&str>,
) -> Raised<()> {
    let path = registration::callers_path().map_err(ErrorReport::from)?;
    answer(|| {
        session::require_writable("register_load")?;
        let origin = finite_origin(origin)?;
        registration::register_load(
            &path,
            LoadDefinition {
                target: required("target", target)?,
                source: required("source", source)?,
                time_column: identifier("time_column", time_column)?,
                grain: grain.unwrap_or_else(|| Interval::from_days(1)),
                zone: zone.unwrap_or("UTC").to_owned(),
                origin,
                stamp_column: identifier("stamp_column", stamp_column.or(Some(c"interval_start")))?,
                loaded_at_column: identifier(
                    "loaded_at_column",
                    loaded_at_column.or(Some(c"loaded_at")),
                )?,
                keys: columns(keys)?,
                dedup_order_by: dedup_order_by.map(str::to_owned),
                history_starts: bound(history_starts)?,
                settle: settle.unwrap_or_else(|| Interval::from_micros(0)),
                extra_columns: extra_columns.unwrap_or("error").to_owned(),
            },
        )
    })
}

#[pg_extern(sql = false)]
fn unregister_load(target: Option<pg_sys::Oid>) -> Raised<()> {
    let path = registration::callers_path().map_err(ErrorReport::from)?;
    answer(|| {
        session::require_writable("unregister_load")?;
        registration::unregister_load(&path, required("target", target)?)
    })
}

#[pg_extern(sql = false)]
fn register_rule(
    target: Option<&str>,
    name: Option<&str>,
    filter: Option<&str>,
    column_name: Option<&CStr>,
    expression: Option<&str>,
    before: Option<&str>,
) -> Raised<()> {
    let (path, target) = caller_names(target)?;
    answer(|| {
        session::require_writable("register_rule")?;
        let name = required("name", name)?.to_owned();
        if name.trim().is_empty() {
            return Err(Error::invalid("a rule needs a name"));
        }
        let column = column_name
            .map(|column| identifier("column_name", Some(column)))
            .transpose()?;
        let (kind, expression) = match (filter, column, expression) {
            (Some(filter), None, None) => (RuleKind::Filter, filter),
            (None, Some(column), Some(expression)) => (RuleKind::Expression(column), expression),
            _ => {
                let given = [
                    (filter.is_some(), "a filter"),
                    (column_name.is_some(), "a column_name"),
                    (expression.is_some(), "an expression"),
                ];
                let given: Vec<&str> = given
                    .into_iter()
                    .filter(|(is, _)| *is)
                    .map(|(_, what)| what)
                    .collect();
                let given = match given.is_empty() {
                    true => "neither a filter nor an expression".to_owned(),
                    false => given.join(" and "),
                };
                return Err(Error::invalid(format!("rule \"{name}\" has {given}"))
                    .detail("A rule is a filter alone, or an expression for a column.")
                    .hint("Pass them by name: either filter => '…', or column_name => '…' and expression => '…'."));
            }
        };
        let rule = Rule {
            name,
            kind,
            expression: expression.to_owned(),
        };
        registration::register_rule(&path, target, rule, before)
    })
}

#[pg_extern(sql = false)]
fn unregister_rule(target: Option<&str>, name: Option<&str>) -> Raised<()> {
    let (path, target) = caller_names(target)?;
    answer(|| {
        session::require_writable("unregister_rule")?;
        registration::unregister_rule(&path, target, required("name", name)?)
    })
}

/// The caller's search_path, and the relation that a text names in it: before the path is pinned.
fn caller_names(target: Option<&str>) -> Raised<(String, pg_sys::Oid)> {
    let names = || Ok((registration::callers_path()?, relation("target", target)?));
    names().map_err(|error: Error| ErrorReport::from(error))
}

// Loading ---------------------------------------------------------------------------------------------------------------

type LoadRow = (
    Option<TimestampWithTimeZone>,
    Option<TimestampWithTimeZone>,
    &'static str,
    i64,
    i64,
    i64,
    i64,
    Option<String>,
    Option<i64>,
    Option<String>,
);

fn on_empty(value: Option<&str>) -> Result<OnEmpty> {
    match value.unwrap_or("replace") {
        "replace" => Ok(OnEmpty::Replace),
        "skip" => Ok(OnEmpty::Skip),
        "error" => Ok(OnEmpty::Error),
        other => Err(Error::invalid(format!("on_empty cannot be \"{other}\""))
            .hint("It is 'replace', 'skip' or 'error'.")),
    }
}

fn reports_errors(value: Option<&str>) -> Result<bool> {
    match value.unwrap_or("raise") {
        "raise" => Ok(false),
        "report" => Ok(true),
        other => Err(Error::invalid(format!("on_error cannot be \"{other}\""))
            .hint("It is 'raise' or 'report'.")),
    }
}

fn percent(value: Option<AnyNumeric>) -> Result<Option<AnyNumeric>> {
    match value {
        Some(percent)
            if percent.is_nan()
                || percent < AnyNumeric::from(0)
                || percent > AnyNumeric::from(100) =>
        {
            Err(
                Error::invalid(format!("max_deleted_percent cannot be {percent}"))
                    .hint("It is a percentage between 0 and 100."),
            )
        }
        percent => Ok(percent),
    }
}

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = false)]
fn load_interval(
    target: Option<pg_sys::Oid>,
    interval_start: Option<&str>,
    interval_end: Option<&str>,
    wide: Option<bool>,
    params: Option<JsonB>,
    as_of: Option<TimestampWithTimeZone>,
    allow_open: Option<bool>,
    empty: Option<&str>,
    max_deleted_percent: Option<AnyNumeric>,
    dry_run: Option<bool>,
    on_error: Option<&str>,
) -> Raised<
    TableIterator<
        'static,
        (
            name!(interval_start, Option<TimestampWithTimeZone>),
            name!(interval_end, Option<TimestampWithTimeZone>),
            name!(status, &'static str),
            name!(rows_read, i64),
            name!(rows_dropped, i64),
            name!(rows_deleted, i64),
            name!(rows_inserted, i64),
            name!(rules_version, Option<String>),
            name!(run_id, Option<i64>),
            name!(error, Option<String>),
        ),
    >,
> {
    let rows = answer(|| {
        let reports = reports_errors(on_error)?;
        let request = Request {
            target: required("target", target)?,
            asked: Asked {
                start: bound(interval_start)?,
                end: bound(interval_end)?,
                as_of: micros(as_of, "as_of")?,
                allow_open: allow_open.unwrap_or(false),
            },
            wide: wide.unwrap_or(false),
            params: params.map_or_else(|| serde_json::json!({}), |params| params.0),
            on_empty: on_empty(empty)?,
            max_deleted_percent: percent(max_deleted_percent)?,
            dry_run: dry_run.unwrap_or(false),
            started_at: session::clock(),
        };
        if !reports {
            let (result, run_id) = load::load_interval(&request)?;
            return load_rows(result, run_id, None);
        }
        // What the caller may not do at all is refused, not reported: the log is not for everyone to write.
        load::require_permission(&request)?;
        match session::subtransaction(|| load::load_interval(&request)) {
            Ok((result, run_id)) => load_rows(result, run_id, None),
            Err(error) => {
                let (result, run_id) = load::record_failure(&request, &error)?;
                load_rows(result, run_id, Some(error))
            }
        }
    })?;
    Ok(TableIterator::new(rows))
}

/// One row for each grain interval; a failure whose intervals cannot be told is one row without them.
fn load_rows(result: RunResult, run_id: Option<i64>, error: Option<Error>) -> Result<Vec<LoadRow>> {
    let message = error.as_ref().map(|error| error.message.clone());
    let version = result.rules_version.clone();
    if result.intervals.is_empty() {
        return Ok(vec![(
            None, None, "failed", 0, 0, 0, 0, version, run_id, message,
        )]);
    }
    let rows = result.intervals.iter().map(|unit| {
        Ok((
            Some(instant(unit.start)?),
            Some(instant(unit.end)?),
            unit.status,
            unit.read,
            unit.dropped,
            unit.deleted,
            unit.inserted,
            version.clone(),
            run_id,
            message.clone(),
        ))
    });
    rows.collect()
}

#[pg_extern(sql = false)]
fn mark_stale(
    target: Option<pg_sys::Oid>,
    interval_start: Option<&str>,
    interval_end: Option<&str>,
    reason: Option<&str>,
) -> Raised<i64> {
    answer(|| {
        inspect::mark_stale(
            required("target", target)?,
            required("interval_start", bound(interval_start)?)?,
            required("interval_end", bound(interval_end)?)?,
            required("reason", reason)?,
        )
    })
}

// Keeping history --------------------------------------------------------------------------------------------------------

/// The options that a call gives, by name. NULL is the same as left out.
#[derive(Default)]
struct Given {
    options: serde_json::Map<String, serde_json::Value>,
}

impl Given {
    fn put(&mut self, name: &str, value: Option<impl Into<serde_json::Value>>) {
        if let Some(value) = value {
            self.options.insert(name.to_owned(), value.into());
        }
    }

    fn columns(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let list = columns(value)?.map(serde_json::to_value).transpose()?;
        self.put(name, list);
        Ok(())
    }

    fn name(&mut self, name: &str, value: Option<&CStr>) -> Result<()> {
        let value = value.map(|value| identifier(name, Some(value)));
        self.put(
            name,
            value.transpose()?.map(|name| name.as_str().to_owned()),
        );
        Ok(())
    }

    fn unit(&mut self, value: Option<Interval>) -> Result<()> {
        self.put("time_axis_unit", value.map(history::unit_of).transpose()?);
        Ok(())
    }

    fn number(&mut self, name: &str, value: Option<AnyNumeric>) -> Result<()> {
        let number = |value: AnyNumeric| {
            value
                .normalize()
                .parse::<serde_json::Number>()
                .map_err(|_| Error::invalid(format!("{name} cannot be {value}")))
        };
        self.put(
            name,
            value
                .map(number)
                .transpose()?
                .map(serde_json::Value::Number),
        );
        Ok(())
    }
}

/// The options of a history as a call gives them, named as the arguments.
struct HistoryOptions<'a> {
    pk: Option<&'a str>,
    historize_blacklist: Option<&'a str>,
    historize_whitelist: Option<&'a str>,
    time_axis_unit: Option<Interval>,
    zone: Option<&'a str>,
    check_input_unique: Option<bool>,
    dedup_order_by: Option<&'a str>,
    source_timestamp_column: Option<&'a CStr>,
    existing_predicate: Option<&'a str>,
    cdc_column: Option<&'a CStr>,
    cdc_deleted_value: Option<&'a str>,
    cdc_auto_detect: Option<bool>,
    cdc_timestamp_auto_detect: Option<bool>,
    skip_unchanged: Option<bool>,
    intermediate_versions: Option<bool>,
    delivery: Option<&'a str>,
    delivery_scope: Option<&'a str>,
    late: Option<&'a str>,
    ignore_old_deleted_columns: Option<bool>,
    ignore_old_deleted_nested_columns: Option<bool>,
    on_empty: Option<&'a str>,
    max_closed_percent: Option<AnyNumeric>,
}

impl HistoryOptions<'_> {
    /// Those that are given, by name.
    fn given(self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let mut given = Given::default();
        given.columns("keys", self.pk)?;
        given.columns("historize_blacklist", self.historize_blacklist)?;
        given.columns("historize_whitelist", self.historize_whitelist)?;
        given.unit(self.time_axis_unit)?;
        given.put("zone", self.zone);
        given.put("check_input_unique", self.check_input_unique);
        given.put("dedup_order_by", self.dedup_order_by);
        given.name("source_timestamp_column", self.source_timestamp_column)?;
        given.put("existing_predicate", self.existing_predicate);
        given.name("cdc_column", self.cdc_column)?;
        given.put("cdc_deleted_value", self.cdc_deleted_value);
        given.put("cdc_auto_detect", self.cdc_auto_detect);
        given.put("cdc_timestamp_auto_detect", self.cdc_timestamp_auto_detect);
        given.put("skip_unchanged", self.skip_unchanged);
        given.put("intermediate_versions", self.intermediate_versions);
        given.put("delivery", self.delivery);
        given.columns("delivery_scope", self.delivery_scope)?;
        given.put("late", self.late);
        given.put(
            "ignore_old_deleted_columns",
            self.ignore_old_deleted_columns,
        );
        given.put(
            "ignore_old_deleted_nested_columns",
            self.ignore_old_deleted_nested_columns,
        );
        given.put("on_empty", self.on_empty);
        given.number("max_closed_percent", self.max_closed_percent)?;
        Ok(given.options)
    }
}

/// The caller's search_path, and what a text names in it: before the path is pinned.
fn caller_place(dst: Option<&str>) -> Raised<(String, history::Place)> {
    let names = || {
        Ok((
            registration::callers_path()?,
            history::named_place(required("dst", dst)?)?,
        ))
    };
    names().map_err(|error: Error| ErrorReport::from(error))
}

#[allow(clippy::too_many_arguments)]
#[pg_extern(sql = false)]
fn register_history(
    dst: Option<&str>,
    src: Option<pg_sys::Oid>,
    pk: Option<&str>,
    historize_blacklist: Option<&str>,
    historize_whitelist: Option<&str>,
    time_axis_unit: Option<Interval>,
    zone: Option<&str>,
    check_input_unique: Option<bool>,
    dedup_order_by: Option<&str>,
    source_timestamp_column: Option<&CStr>,
    existing_predicate: Option<&str>,
    cdc_column: Option<&CStr>,
    cdc_deleted_value: Option<&str>,
    cdc_auto_detect: Option<bool>,
    cdc_timestamp_auto_detect: Option<bool>,
    skip_unchanged: Option<bool>,
    intermediate_versions: Option<bool>,
    delivery: Option<&str>,
    delivery_scope: Option<&str>,
    late: Option<&str>,
    ignore_old_deleted_columns: Option<bool>,
    ignore_old_deleted_nested_columns: Option<bool>,
    on_empty: Option<&str>,
    max_closed_percent: Option<AnyNumeric>,
) -> Raised<()> {
    let (path, place) = caller_place(dst)?;
    answer(|| {
        session::require_writable("register_history")?;
        let given = HistoryOptions {
            pk,
            historize_blacklist,
            historize_whitelist,
            time_axis_unit,
            zone,
            check_input_unique,
            dedup_order_by,
            source_timestamp_column,
            existing_predicate,
            cdc_column,
            cdc_deleted_value,
            cdc_auto_detect,
            cdc_timestamp_auto_detect,
            skip_unchanged,
            intermediate_versions,
            delivery,
            delivery_scope,
            late,
            ignore_old_deleted_columns,
            ignore_old_deleted_nested_columns,
            on_empty,
            max_closed_percent,
        }
        .given()?;
        required("pk", pk)?;
        history::register_history(&history::Definition {
            place,
            source: required("src", src)?,
            given,
            path,
        })
    })
}

#[pg_extern(sql = false)]
fn unregister_history(dst: Option<pg_sys::Oid>) -> Raised<()> {
    let path = registration::callers_path().map_err(ErrorReport::from)?;
    answer(|| {
        session::require_writable("unregister_history")?;
        history::unregister_history(&path, required("dst", dst)?)
    })
}

type HistoryRow = (
    Option<i64>,
    &'static str,
    Option<&'static str>,
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    Option<String>,
);

fn history_row(result: HistoryResult, run_id: Option<i64>, error: Option<&Error>) -> HistoryRow {
    (
        run_id,
        result.status,
        result.mode,
        result.rows_read,
        result.opened,
        result.closed,
        result.unchanged,
        result.reappeared,
        result.late,
        error.map(|error| error.message.clone()),
    )
}

/// Runs a history, or reports that it failed: `prepare` says of which table, and is undone with the rest.
fn historized(
    reports: bool,
    name: &str,
    table: Option<pg_sys::Oid>,
    request: impl Fn(pg_sys::Oid) -> history::Request,
    prepare: impl Fn() -> Result<pg_sys::Oid>,
) -> Result<HistoryRow> {
    let work = || {
        let request = request(prepare()?);
        history::historize(&request)
    };
    if !reports {
        let (result, run_id) = work()?;
        return Ok(history_row(result, run_id, None));
    }
    // What the caller may not do at all is refused, not reported: the log is not for everyone to write.
    if let Some(table) = table {
        history::require_permission(&request(table))?;
    }
    match session::subtransaction(work) {
        Ok((result, run_id)) => Ok(history_row(result, run_id, None)),
        Err(error) => {
            let request = request(table.unwrap_or(pg_sys::InvalidOid));
            let (result, run_id) = history::record_failure(&request, name, &error)?;
            Ok(history_row(result, run_id, Some(&error)))
        }
    }
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn historize(
    dst: Option<pg_sys::Oid>,
    reference_timestamp: Option<TimestampWithTimeZone>,
    params: Option<JsonB>,
    dry_run: Option<bool>,
    on_error: Option<&str>,
) -> Raised<
    TableIterator<
        'static,
        (
            name!(run_id, Option<i64>),
            name!(status, &'static str),
            name!(mode, Option<&'static str>),
            name!(rows_read, i64),
            name!(versions_opened, i64),
            name!(versions_closed, i64),
            name!(rows_unchanged, i64),
            name!(reappeared, i64),
            name!(late_rows, i64),
            name!(error, Option<String>),
        ),
    >,
> {
    let row = answer(|| {
        let dst = required("dst", dst)?;
        let reference = micros(reference_timestamp, "reference_timestamp")?;
        let params = params.map_or_else(|| serde_json::json!({}), |params| params.0);
        let started_at = session::clock();
        let request = |target| history::Request {
            target,
            source: None,
            reference,
            params: params.clone(),
            dry_run: dry_run.unwrap_or(false),
            started_at,
        };
        historized(
            reports_errors(on_error)?,
            &dst.to_u32().to_string(),
            Some(dst),
            request,
            || Ok(dst),
        )
    })?;
    Ok(TableIterator::once(row))
}

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = false)]
fn historize_from(
    src: Option<pg_sys::Oid>,
    dst: Option<&str>,
    pk: Option<&str>,
    historize_blacklist: Option<&str>,
    historize_whitelist: Option<&str>,
    time_axis_unit: Option<Interval>,
    zone: Option<&str>,
    check_input_unique: Option<bool>,
    dedup_order_by: Option<&str>,
    source_timestamp_column: Option<&CStr>,
    existing_predicate: Option<&str>,
    cdc_column: Option<&CStr>,
    cdc_deleted_value: Option<&str>,
    cdc_auto_detect: Option<bool>,
    cdc_timestamp_auto_detect: Option<bool>,
    skip_unchanged: Option<bool>,
    intermediate_versions: Option<bool>,
    delivery: Option<&str>,
    delivery_scope: Option<&str>,
    late: Option<&str>,
    ignore_old_deleted_columns: Option<bool>,
    ignore_old_deleted_nested_columns: Option<bool>,
    on_empty: Option<&str>,
    max_closed_percent: Option<AnyNumeric>,
    reference_timestamp: Option<TimestampWithTimeZone>,
    params: Option<JsonB>,
    dry_run: Option<bool>,
    on_error: Option<&str>,
) -> Raised<
    TableIterator<
        'static,
        (
            name!(run_id, Option<i64>),
            name!(status, &'static str),
            name!(mode, Option<&'static str>),
            name!(rows_read, i64),
            name!(versions_opened, i64),
            name!(versions_closed, i64),
            name!(rows_unchanged, i64),
            name!(reappeared, i64),
            name!(late_rows, i64),
            name!(error, Option<String>),
        ),
    >,
> {
    let (path, place) = caller_place(dst)?;
    let row = answer(|| {
        let dry_run = dry_run.unwrap_or(false);
        session::require_writable("historize")?;
        let given = HistoryOptions {
            pk,
            historize_blacklist,
            historize_whitelist,
            time_axis_unit,
            zone,
            check_input_unique,
            dedup_order_by,
            source_timestamp_column,
            existing_predicate,
            cdc_column,
            cdc_deleted_value,
            cdc_auto_detect,
            cdc_timestamp_auto_detect,
            skip_unchanged,
            intermediate_versions,
            delivery,
            delivery_scope,
            late,
            ignore_old_deleted_columns,
            ignore_old_deleted_nested_columns,
            on_empty,
            max_closed_percent,
        }
        .given()?;
        let source = required("src", src)?;
        let reference = micros(reference_timestamp, "reference_timestamp")?;
        let params = params.map_or_else(|| serde_json::json!({}), |params| params.0);
        let started_at = session::clock();
        let (table, name) = match &place {
            history::Place::Existing(oid) => (Some(*oid), oid.to_u32().to_string()),
            history::Place::Free(name) => (None, name.display_name()),
        };
        let definition = history::Definition {
            place,
            source,
            given,
            path,
        };
        let request = |target| history::Request {
            target,
            source: Some(source),
            reference,
            params: params.clone(),
            dry_run,
            started_at,
        };
        let reports = reports_errors(on_error)?;
        let work = || {
            historized(reports, &name, table, request, || {
                history::register_once(&definition)
            })
        };
        match dry_run {
            // What a first call would register and make is undone with the rest.
            true => session::undone(work),
            false => work(),
        }
    })?;
    Ok(TableIterator::once(row))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn rewind_history(
    dst: Option<pg_sys::Oid>,
    to_timestamp: Option<TimestampWithTimeZone>,
    dry_run: Option<bool>,
) -> Raised<
    TableIterator<
        'static,
        (
            name!(run_id, Option<i64>),
            name!(status, &'static str),
            name!(versions_withdrawn, i64),
            name!(versions_reopened, i64),
        ),
    >,
> {
    let rewound = answer(|| {
        let to = required("to_timestamp", micros(to_timestamp, "to_timestamp")?)?;
        history::rewind_history(required("dst", dst)?, to, dry_run.unwrap_or(false))
    })?;
    Ok(TableIterator::once((
        rewound.run_id,
        rewound.status,
        rewound.withdrawn,
        rewound.reopened,
    )))
}

#[pg_extern(sql = false)]
fn create_history_views(dst: Option<pg_sys::Oid>) -> Raised<()> {
    answer(|| history::create_history_views(required("dst", dst)?))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn check_history(
    dst: Option<pg_sys::Oid>,
) -> Raised<
    TableIterator<
        'static,
        (
            name!(problem, String),
            name!(key, JsonB),
            name!(detail, String),
        ),
    >,
> {
    let found = answer(|| history::check_history(required("dst", dst)?))?;
    let rows = found
        .into_iter()
        .map(|problem| (problem.problem, JsonB(problem.key), problem.detail));
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

// Asking ----------------------------------------------------------------------------------------------------------------

#[pg_extern(sql = false)]
fn last_closed(
    target: Option<pg_sys::Oid>,
    as_of: Option<TimestampWithTimeZone>,
) -> Raised<TimestampWithTimeZone> {
    answer(|| {
        instant(inspect::last_closed_of(
            required("target", target)?,
            micros(as_of, "as_of")?,
        )?)
    })
}

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = false)]
fn explain_load(
    target: Option<pg_sys::Oid>,
    interval_start: Option<&str>,
    interval_end: Option<&str>,
    wide: Option<bool>,
    params: Option<JsonB>,
    as_of: Option<TimestampWithTimeZone>,
    empty: Option<&str>,
) -> Raised<
    TableIterator<
        'static,
        (
            name!(step, i32),
            name!(purpose, &'static str),
            name!(statement, String),
            name!(parameters, JsonB),
        ),
    >,
> {
    let steps = answer(|| {
        inspect::explain_load(&Request {
            target: required("target", target)?,
            asked: Asked {
                start: bound(interval_start)?,
                end: bound(interval_end)?,
                as_of: micros(as_of, "as_of")?,
                allow_open: true,
            },
            wide: wide.unwrap_or(false),
            params: params.map_or_else(|| serde_json::json!({}), |params| params.0),
            on_empty: on_empty(empty)?,
            max_deleted_percent: None,
            dry_run: true,
            started_at: session::clock(),
        })
    })?;
    let rows = steps
        .into_iter()
        .zip(1..)
        .map(|(step, number)| (number, step.purpose, step.statement, JsonB(step.parameters)));
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn check_load(
    target: Option<pg_sys::Oid>,
) -> Raised<
    TableIterator<
        'static,
        (
            name!(problem, String),
            name!(interval_start, Option<String>),
            name!(row_count, i64),
            name!(detail, String),
        ),
    >,
> {
    let found = answer(|| inspect::check_load(required("target", target)?))?;
    let rows = found
        .into_iter()
        .map(|group| (group.problem, group.stamp, group.rows, group.detail));
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}

#[pg_extern(sql = false)]
fn grain_boundaries(
    grain: Option<Interval>,
    zone: Option<&str>,
    interval_start: Option<&str>,
    interval_end: Option<&str>,
    origin: Option<Timestamp>,
) -> Raised<Vec<TimestampWithTimeZone>> {
    answer(|| {
        let grain = required("grain", grain)?;
        let origin = finite_origin(origin)?;
        let calendar = Calendar {
            grain: Grain::new(grain.months(), grain.days(), grain.micros())?,
            zone: Zone::listed(required("zone", zone)?)?.0,
            origin: origin.into_inner(),
        };
        let resolve = |name: &str, value| match required(name, bound(value)?)? {
            Bound::Instant(instant) => Ok(instant),
            Bound::Local(local) => Ok(calendar.zone.boundary(local)),
            _ => Err(Error::invalid(format!(
                "{name} must be a date or a time here"
            ))),
        };
        let start = resolve("interval_start", interval_start)?;
        let end = resolve("interval_end", interval_end)?;
        let found = calendar.boundaries(start, end)?;
        found
            .into_iter()
            .map(|at| at.instant)
            .filter(|at| *at >= start)
            .map(instant)
            .collect()
    })
}

// Counting --------------------------------------------------------------------------------------------------------------

#[pg_extern(sql = false)]
fn tally_target(
    run: Option<i32>,
    inserted: Option<bool>,
    interval_number: Option<i32>,
    foreign_row: Option<String>,
) -> Raised<bool> {
    counting::tally_target(
        run.unwrap_or(-1),
        inserted.unwrap_or(false),
        interval_number.unwrap_or(0),
        foreign_row,
    )
    .map_err(ErrorReport::from)
}
