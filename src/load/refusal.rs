//! What a run refuses once it has seen rows.

use std::ops::Range;

use pgrx::PgSqlErrorCode;
use serde::Deserialize;

use crate::connection::{Connection, Prepared};
use crate::error::{Error, Result, counted, evidence};
use crate::interval::shown;
use crate::tally::Counts;

use super::setup::Setup;

pub(super) fn refuse_foreign_rows(setup: &Setup, counts: &Counts) -> Result<()> {
    if counts.foreign_rows == 0 {
        return Ok(());
    }
    let name = setup.target.display_name();
    Err(Error::check(format!(
        "\"{name}\" holds {} in the interval that no load would write back",
        counted(counts.foreign_rows, "row")
    ))
    .detail(format!(
        "Their stamp and their own time name different intervals: {}",
        setup.evidence(&counts.foreign_samples, counts.foreign_rows as usize)
    ))
    .hint(format!(
        "Deleting them would lose them. SELECT * FROM daybook.check_load('{name}') lists all; give each row the stamp of its own interval, or remove those that were loaded by other means."
    )))
}

pub(super) fn moved(setup: &Setup, counts: &Counts) -> Error {
    let error = Error::check(format!(
        "a BEFORE trigger of \"{}\" moved rows out of their interval",
        setup.target.display_name()
    ))
    .hint("Change the trigger, so that it leaves the time and the stamp column alone.");
    if counts.foreign_rows == 0 {
        return error
            .detail("Grain intervals were given more or fewer rows than were read for them.");
    }
    error.detail(format!(
        "As written: {}",
        setup.evidence(&counts.foreign_samples, counts.foreign_rows as usize)
    ))
}

pub(super) fn swallowed(setup: &Setup, action: &str, rows: u64) -> Error {
    Error::check(format!("\"{}\" let {rows} rows of the {action} go by", setup.target.display_name()))
        .detail("A BEFORE trigger that returns NULL does that: the rows would be missing after an insert, and double after a delete.")
        .hint("Change the trigger; to leave rows out, register a filter rule.")
}

pub(super) fn refuse_empty(setup: &Setup, batch: &Range<usize>, empty: &[bool]) -> Result<()> {
    let found: Vec<String> = batch
        .clone()
        .zip(empty)
        .filter(|(_, empty)| **empty)
        .map(|(index, _)| shown(&setup.load, setup.intervals.boundaries[index].instant))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_NO_DATA_FOUND,
        format!(
            "no rows to load in {}",
            counted(found.len() as u64, "grain interval")
        ),
    )
    .detail(format!("They start at: {}.", evidence(&found, found.len())))
    .hint("on_empty => 'replace' empties them in the target too, on_empty => 'skip' leaves them as they are."))
}

#[derive(Deserialize)]
struct KeyProblems {
    nulls: usize,
    duplicates: usize,
    null_samples: Vec<String>,
    duplicate_samples: Vec<String>,
}

pub(super) fn refuse_key_problems(
    setup: &Setup,
    connection: &mut Connection,
    problems: &Prepared,
) -> Result<()> {
    let Some(found) = connection.fetch::<KeyProblems>(problems, &[])? else {
        return Ok(());
    };
    if found.nulls > 0 {
        return Err(Error::new(
            PgSqlErrorCode::ERRCODE_NOT_NULL_VIOLATION,
            format!("null in {} of \"{}\"", counted(found.nulls as u64, "key"), setup.source.display_name()),
        )
        .detail(format!("Rows of each: {}", setup.evidence(&found.null_samples, found.nulls)))
        .hint("A key must be complete. Drop such rows with a filter rule, or register the load with other keys."));
    }
    let ties = setup.load.dedup_order_by.is_some();
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        format!(
            "duplicates of {} of \"{}\" within a grain interval",
            counted(found.duplicates as u64, "key"),
            setup.source.display_name()
        ),
    )
    .detail(format!(
        "Rows of each: {}",
        setup.evidence(&found.duplicate_samples, found.duplicates)
    ))
    .hint(if ties {
        "They tie in dedup_order_by: add a column that tells them apart."
    } else {
        "Register the load with dedup_order_by to keep the first of each, or mend the source."
    }))
}
