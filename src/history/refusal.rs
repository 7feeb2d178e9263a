//! What a run of a history refuses.

use pgrx::{AnyNumeric, PgSqlErrorCode};
use serde::Deserialize;

use crate::connection::{Connection, Value};
use crate::error::{Error, Result, counted};
use crate::ident::{Ident, Sql};

use super::setup::Setup;

pub(super) fn empty(setup: &Setup) -> Error {
    let name = setup.target.display_name();
    Error::new(
        PgSqlErrorCode::ERRCODE_NO_DATA_FOUND,
        format!("the source \"{}\" delivers no rows", setup.source.display_name()),
    )
    .detail(format!("With full delivery that would end every record of \"{name}\"."))
    .hint("If it is right, register on_empty => 'close'; on_empty => 'skip' leaves the history as it is.")
}

pub(super) fn old_reference(setup: &Setup, reference: &str, newest: &str) -> Error {
    Error::invalid(format!(
        "the reference timestamp {reference} is older than {newest}, the newest instant of \"{}\"",
        setup.target.display_name()
    ))
    .detail("A version begins or ends there; what was true before it is written down already.")
    .hint("Historize inputs in the order of their times. rewind_history takes later runs back; source_timestamp_column dates versions by the source.")
}

#[derive(Deserialize)]
struct KeyProblems {
    nulls: usize,
    duplicates: usize,
    null_samples: Vec<String>,
    duplicate_samples: Vec<String>,
}

fn key_problem(setup: &Setup, found: &KeyProblems) -> Error {
    let source = setup.source.display_name();
    if found.nulls > 0 {
        return null_keys(setup, found.nulls, &found.null_samples);
    }
    Error::new(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        format!(
            "duplicates of {} of \"{source}\"",
            counted(found.duplicates as u64, "key")
        ),
    )
    .detail(format!(
        "Rows of each: {}",
        setup.evidence(&found.duplicate_samples, found.duplicates)
    ))
    .hint(match setup.history.options.dedup_order_by {
        Some(_) => "They tie in dedup_order_by: add a column that tells them apart.",
        None => "Mend the source, or register dedup_order_by to keep the first of each; check_input_unique => false keeps one by a fixed order.",
    })
}

fn null_keys(setup: &Setup, count: usize, samples: &[String]) -> Error {
    Error::new(
        PgSqlErrorCode::ERRCODE_NOT_NULL_VIOLATION,
        format!(
            "null in {} of \"{}\"",
            counted(count as u64, "key"),
            setup.source.display_name()
        ),
    )
    .detail(format!("Rows of each: {}", setup.evidence(samples, count)))
    .hint("A key must be complete. Drop such rows with a filter rule, or let an expression rule fill them.")
}

/// Keys that are NULL among what was decided: the refusal (23502); or whether some stand twice.
pub(super) fn refuse_key_problems(
    setup: &Setup,
    connection: &mut Connection,
    problems: &Sql,
) -> Result<bool> {
    match connection.look_up::<KeyProblems>(problems, &[])? {
        Some(found) if found.nulls > 0 => Err(key_problem(setup, &found)),
        Some(found) => Ok(found.duplicates > 0),
        None => Ok(false),
    }
}

/// The refusal of keys that were delivered twice, looked up in the source.
pub(super) fn duplicates(
    setup: &Setup,
    connection: &mut Connection,
    duplicates: &Sql,
    values: &[Value],
) -> Error {
    let (path, zone) = (&setup.history.search_path, &setup.history.options.zone);
    let found = crate::session::pinned(path, zone, || {
        connection.look_up::<KeyProblems>(duplicates, values)
    });
    match found {
        Ok(Some(found)) => key_problem(setup, &found),
        Ok(None) => Error::new(
            PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
            format!("the source \"{}\" delivers keys twice", setup.source.display_name()),
        )
        .detail("They are not found when it is read again to list them: it has changed meanwhile, or the history itself has two current versions of a key.")
        .hint(format!("SELECT * FROM daybook.check_history('{}');", setup.target.display_name())),
        Err(error) => error,
    }
}

#[derive(Deserialize)]
struct EventProblem {
    problem: String,
    count: usize,
    samples: Vec<String>,
}

/// Refuses events that cannot be understood: NULL in a key (23502), an unknown type, a missing ordinal, an infinite time (23514),
/// ties with different content (21000).
pub(super) fn refuse_event_problems(
    setup: &Setup,
    connection: &mut Connection,
    problems: &Sql,
    values: &[Value],
) -> Result<()> {
    let zone = &setup.history.options.zone;
    let found: Option<Vec<EventProblem>> =
        crate::session::pinned("pg_catalog", zone, || connection.look_up(problems, values))?;
    let Some(first) = found.unwrap_or_default().into_iter().next() else {
        return Ok(());
    };
    let source = setup.source.display_name();
    let events = counted(first.count as u64, "event");
    let evidence = setup.evidence(&first.samples, first.count);
    Err(match first.problem.as_str() {
        "null key" => null_keys(setup, first.count, &first.samples),
        "unknown type" => Error::check(format!("{events} of \"{source}\" of a type that is not known"))
            .detail(format!("They are: {evidence}"))
            .hint("Known are insert, update_preimage, update_postimage, delete and read; of a column of your own every value but NULL. Translate others in a rule."),
        "no ordinal" => Error::check(format!("{events} of \"{source}\" without an ordinal beside others that have one"))
            .detail(format!("They are: {evidence}"))
            .hint("Their place in the order cannot be told. Give every event its _change_ordinal, or none."),
        "infinite time" => infinite_times(&source, first.count).detail(format!("They are: {evidence}")),
        _ => tie(&source, first.count, &evidence),
    })
}

fn tie(source: &str, keys: usize, evidence: &str) -> Error {
    Error::new(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        format!(
            "events of {} of \"{source}\" differ, but tie in their order",
            counted(keys as u64, "key")
        ),
    )
    .detail(format!("They are: {evidence}"))
    .hint("Which came last cannot be told: deliver _change_ordinal or finer times, or register dedup_order_by, by which the newest comes first.")
}

fn infinite_times(source: &str, count: usize) -> Error {
    Error::check(format!(
        "{} of \"{source}\" with a time that is infinite or beyond the horizon",
        counted(count as u64, "row")
    ))
    .hint("A version begins at an instant. Drop such rows with a filter rule, or let an expression rule date them.")
}

pub(super) fn infinite(setup: &Setup, column: Option<&Ident>, count: i64) -> Error {
    let error = infinite_times(&setup.source.display_name(), count as usize);
    match column {
        Some(column) => error.detail(format!("In column {column}.")),
        None => error,
    }
}

#[derive(Deserialize)]
struct Refused {
    what: String,
    count: usize,
    samples: Vec<String>,
}

/// The refusal of actions that would falsify the history.
pub(super) fn refused(setup: &Setup, connection: &mut Connection, sql: &Sql) -> Result<Error> {
    let found: Vec<Refused> = connection.look_up(sql, &[])?.unwrap_or_default();
    let place = |what: &str| found.iter().find(|refused| refused.what == what);
    let name = setup.target.display_name();
    let records = |refused: &Refused| counted(refused.count as u64, "record");
    let evidence = |refused: &Refused| setup.evidence(&refused.samples, refused.count);
    if let Some(outside) = place("outside") {
        return Ok(Error::check(format!("current versions of {} of \"{name}\" lie outside existing_predicate, but the source delivers them", records(outside)))
            .detail(format!("They are: {}", evidence(outside)))
            .hint("A second current version would be the outcome. Widen existing_predicate, or leave the rows out with a filter rule."));
    }
    if let Some(ties) = place("tie") {
        return Ok(tie(
            &setup.source.display_name(),
            ties.count,
            &evidence(ties),
        ));
    }
    if let Some(late) = place("late") {
        return Ok(Error::check(format!("{} of \"{}\" came late", counted(late.count as u64, "row"), setup.source.display_name()))
            .detail(format!("Versions that begin later are known: {}", evidence(late)))
            .hint("late => 'delay' lets them begin after those, 'insert' puts them to their true place, 'ignore' leaves them out."));
    }
    let Some(near) = place("near") else {
        return Err(Error::internal(
            "something was refused, and nothing says why",
        ));
    };
    Ok(Error::invalid(format!(
        "versions of {} of \"{name}\" would have no room of one unit of the time axis",
        records(near)
    ))
    .detail(format!("They would begin or end too near to others: {}", evidence(near)))
    .hint("Use a later reference timestamp, or a history with a smaller time_axis_unit; 0 asks for a microsecond only."))
}

pub(super) fn too_many_closed(
    setup: &Setup,
    ended: i64,
    current: i64,
    limit: &AnyNumeric,
) -> Error {
    Error::check(format!(
        "the run would end {} of {current} records of \"{}\"",
        ended,
        setup.target.display_name()
    ))
    .detail(format!(
        "That is {:.1} percent; max_closed_percent allows {}.",
        ended as f64 * 100.0 / (current.max(1)) as f64,
        limit.normalize()
    ))
    .hint("If the source is right, register a higher max_closed_percent for this run.")
}

pub(super) fn missed(setup: &Setup, what: &str, rows: i64, expected: i64, triggers: bool) -> Error {
    let name = setup.target.display_name();
    if triggers {
        let gone = counted((expected - rows).unsigned_abs(), "row");
        return Error::check(format!("\"{name}\" let {gone} of the {what} go by"))
            .detail("A BEFORE trigger that returns NULL does that: the history would have holes, or two current versions.")
            .hint("Change the trigger; to leave rows out, register a filter rule.");
    }
    Error::new(
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
        format!("rows of \"{name}\" were changed by others while the run decided about them"),
    )
    .detail(format!("The {what} found {rows} of {expected} rows."))
    .hint("Try again; and let nothing but daybook write a history.")
}

pub(super) fn rewritten(setup: &Setup, versions: i64) -> Error {
    Error::check(format!(
        "a BEFORE trigger of \"{}\" changed {} to others than the run has written",
        setup.target.display_name(),
        counted(versions.unsigned_abs(), "version")
    ))
    .detail("Their key or their validity is not what was decided.")
    .hint("Change the trigger, so that it leaves the key and the technical columns alone.")
}
