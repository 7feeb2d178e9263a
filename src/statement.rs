//! Statements. Each is written out whole in a file under `sql/statement` or `sql/catalog`, with holes such as `{target}` that only
//! a [`Sql`] can fill, and values bound as parameters. This module renders them and runs those without holes; those of a run go
//! through [`crate::connection`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;

use pgrx::datum::DatumWithOid;
use pgrx::{Spi, pg_sys};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::ident::Sql;

/// Fills the holes of a template. An unknown or unfilled hole is a mistake in daybook (XX000); a test renders every template.
pub fn render(template: &str, holes: &[(&str, &Sql)]) -> Result<Sql> {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = strip_head(template);
    let mut filled = vec![false; holes.len()];
    while let Some(open) = rest.find('{') {
        let (before, from_hole) = rest.split_at(open);
        text.push_str(before);
        let close = from_hole
            .find('}')
            .ok_or_else(|| Error::internal("a hole does not end"))?;
        let name = &from_hole[1..close];
        let index = holes
            .iter()
            .position(|(hole, _)| *hole == name)
            .ok_or_else(|| Error::internal(format!("nothing fills the hole {{{name}}}")))?;
        filled[index] = true;
        text.push_str(&holes[index].1.to_string());
        rest = &from_hole[close + 1..];
    }
    text.push_str(rest);
    match filled.iter().position(|done| !done) {
        Some(unused) => Err(Error::internal(format!(
            "there is no hole {{{}}}",
            holes[unused].0
        ))),
        None => Ok(Sql::rendered(text.trim_end().to_owned())),
    }
}

/// A template without the comment at its head.
fn strip_head(template: &str) -> &str {
    let mut rest = template;
    while rest.starts_with("--") {
        rest = rest.split_once('\n').map_or("", |(_, after)| after);
    }
    rest
}

thread_local! {
    /// Plans of the fixed statements, kept for the life of the backend, as PL/pgSQL keeps those of a function: planning them anew
    /// would cost more than running them. The server plans one again when something it depends on has changed.
    static PLANS: RefCell<HashMap<*const u8, pg_sys::SPIPlanPtr>> = RefCell::default();
}

/// The plan of a fixed statement, made on first use. SPI must be connected.
fn plan(sql: &'static str, args: &[DatumWithOid]) -> Result<pg_sys::SPIPlanPtr> {
    let known = PLANS.with_borrow(|plans| plans.get(&sql.as_ptr()).copied());
    if let Some(plan) = known {
        return Ok(plan);
    }
    let text = CString::new(strip_head(sql))
        .map_err(|_| Error::internal("a statement holds a NUL character"))?;
    let mut types: Vec<pg_sys::Oid> = args.iter().map(DatumWithOid::oid).collect();
    // SAFETY: the text is null-terminated, the types are as many as said; a plan that is kept outlives the connection.
    let plan = unsafe {
        let plan = pg_sys::SPI_prepare(text.as_ptr(), types.len() as i32, types.as_mut_ptr());
        if plan.is_null() || pg_sys::SPI_keepplan(plan) != 0 {
            return Err(Error::internal("the server could not prepare a statement"));
        }
        plan
    };
    PLANS.with_borrow_mut(|plans| plans.insert(sql.as_ptr(), plan));
    Ok(plan)
}

/// Runs a fixed statement: its first value, if it answers with one, and the number of rows.
fn run_fixed<T: pgrx::FromDatum>(
    access: Access,
    sql: &'static str,
    args: &[DatumWithOid],
) -> Result<(Option<T>, u64)> {
    Spi::connect_mut(|_| {
        let plan = plan(sql, args)?;
        let mut datums: Vec<pg_sys::Datum> = args
            .iter()
            .map(|arg| {
                arg.datum()
                    .map_or(pg_sys::Datum::from(0), |datum| datum.sans_lifetime())
            })
            .collect();
        let nulls: Vec<std::ffi::c_char> = args
            .iter()
            .map(|arg| if arg.datum().is_some() { b' ' } else { b'n' } as std::ffi::c_char)
            .collect();
        // SAFETY: as many values and marks as the plan has parameters; the snapshot, if any, is pushed by the executor, which
        // copies it.
        let (status, rows) = unsafe {
            let snapshot = match access {
                // A parallel worker, and its leader meanwhile, must do with the snapshot of the query.
                Access::Read if !pg_sys::IsInParallelMode() => pg_sys::GetLatestSnapshot(),
                Access::Read => std::ptr::null_mut(),
                Access::Write => {
                    // Statements from here on see what is committed after this one, also if it finds nothing to lock.
                    pg_sys::GetCurrentTransactionId();
                    std::ptr::null_mut()
                }
            };
            let status = pg_sys::SPI_execute_snapshot(
                plan,
                datums.as_mut_ptr(),
                nulls.as_ptr(),
                snapshot,
                std::ptr::null_mut(),
                access == Access::Read,
                true,
                0,
            );
            (status, pg_sys::SPI_processed)
        };
        if status < 0 {
            return Err(Error::internal(format!(
                "the server answered a statement with {status}"
            )));
        }
        Ok((first_value(), rows))
    })
}

/// The first value of the first row that a statement answered with. What it points to is copied.
pub(crate) fn first_value<T: pgrx::FromDatum>() -> Option<T> {
    // SAFETY: without a receiver of ours the rows are in SPI_tuptable, which lives until the next statement.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() {
            return None;
        }
        let mut is_null = true;
        let datum = match (*table).numvals {
            0 => pg_sys::Datum::from(0),
            _ => pg_sys::SPI_getbinval(*(*table).vals, (*table).tupdesc, 1, &mut is_null),
        };
        let value = T::from_datum(datum, is_null);
        pg_sys::SPI_freetuptable(table);
        value
    }
}

/// A jsonb document as the struct that it stands for.
pub(crate) fn document<T: DeserializeOwned>(json: Option<pgrx::JsonB>) -> Result<Option<T>> {
    json.map(|json| serde_json::from_value(json.0))
        .transpose()
        .map_err(Error::from)
}

/// Runs a read of the catalog that answers with one jsonb document, or NULL or no row for nothing. It sees what is committed at this
/// moment, whatever the isolation level: what the server checks when it writes is the catalog of this moment, too.
pub fn fetch<T: DeserializeOwned>(sql: &'static str, args: &[DatumWithOid]) -> Result<Option<T>> {
    document(ask(sql, args)?)
}

/// As [`fetch`], for a read that answers with one value of another type.
pub fn ask<T: pgrx::FromDatum>(sql: &'static str, args: &[DatumWithOid]) -> Result<Option<T>> {
    run_fixed(Access::Read, sql, args).map(|(value, _)| value)
}

/// Runs a statement that writes or locks and answers with at most one value.
pub fn write<T: pgrx::FromDatum>(sql: &'static str, args: &[DatumWithOid]) -> Result<Option<T>> {
    run_fixed(Access::Write, sql, args).map(|(value, _)| value)
}

/// Runs a statement that writes and says how many rows it touched.
pub fn write_rows(sql: &'static str, args: &[DatumWithOid]) -> Result<u64> {
    run_fixed::<i64>(Access::Write, sql, args).map(|(_, rows)| rows)
}

/// What a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading on the snapshot of the caller's statement.
    Read,
    /// Writing: each statement sees what those before it did, and what others have committed if the isolation level allows.
    Write,
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn holes_are_filled_once_and_all() {
        let (a, b) = (Sql::fixed("x{y}"), Sql::fixed("2"));
        let rendered = |template: &str, holes: &[(&str, &Sql)]| {
            render(template, holes).map(|sql| sql.to_string()).ok()
        };
        assert_eq!(
            rendered("-- head\nA {a} {b} {a}", &[("a", &a), ("b", &b)]).as_deref(),
            Some("A x{y} 2 x{y}")
        );
        assert_eq!(rendered("A {a}", &[]), None);
        assert_eq!(rendered("A", &[("a", &a)]), None);
        assert_eq!(rendered("A {a", &[("a", &a)]), None);
    }

    /// Every template says at its head what it does, holds one statement, and has no hole that does not end.
    #[test]
    fn every_template_is_well_formed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
        let mut seen = 0;
        for part in ["statement", "catalog"] {
            for file in fs::read_dir(folder.join(part))
                .into_iter()
                .flatten()
                .flatten()
            {
                let text = fs::read_to_string(file.path()).unwrap_or_default();
                let name = file.path().display().to_string();
                assert!(
                    text.starts_with("-- "),
                    "{name} lacks a comment at its head"
                );
                let body = strip_head(&text);
                assert!(!body.contains(';'), "{name} holds a semicolon");
                let holes: Vec<&str> = body
                    .split('{')
                    .skip(1)
                    .filter_map(|rest| rest.split('}').next())
                    .collect();
                let is_name = |hole: &&str| {
                    !hole.is_empty() && hole.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                };
                assert!(
                    holes.iter().all(is_name),
                    "{name} has a brace that is no hole"
                );
                let filler = Sql::fixed("1");
                let mut distinct: Vec<(&str, &Sql)> =
                    holes.iter().map(|hole| (*hole, &filler)).collect();
                distinct.sort_by_key(|(hole, _)| *hole);
                distinct.dedup_by_key(|(hole, _)| *hole);
                assert!(render(&text, &distinct).is_ok(), "{name} does not render");
                seen += 1;
            }
        }
        assert!(seen > 20, "only {seen} templates were found");
    }
}
