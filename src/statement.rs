//! Statements. Each is written out whole in a file under `sql/statement` or `sql/catalog`, with holes such as `{target}` that only
//! a [`Sql`] can fill, and values bound as parameters. This module renders them and is the only one that runs SQL.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};

use pgrx::datum::DatumWithOid;
use pgrx::{IntoDatum, Spi, pg_sys};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::ident::{Ident, Sql};
use crate::list;
use crate::time::TimeType;

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
fn first_value<T: pgrx::FromDatum>() -> Option<T> {
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

fn document<T: DeserializeOwned>(json: Option<pgrx::JsonB>) -> Result<Option<T>> {
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

/// One bound value of a prepared statement: its type, and its datum or NULL.
#[derive(Clone, Copy)]
pub struct Value {
    oid: pg_sys::Oid,
    datum: Option<pg_sys::Datum>,
}

impl Value {
    /// A value of a type that pgrx knows.
    pub fn of<T: IntoDatum>(value: T) -> Self {
        Self {
            oid: T::type_oid(),
            datum: value.into_datum(),
        }
    }

    /// A time, given in microseconds.
    pub fn time(kind: TimeType, micros: i64) -> Self {
        Self {
            oid: kind.oid(),
            datum: Some(kind.datum(micros)),
        }
    }

    /// An array of times, given in microseconds.
    pub fn times(kind: TimeType, micros: impl IntoIterator<Item = i64>) -> Self {
        let mut elements: Vec<pg_sys::Datum> = micros.into_iter().map(|m| kind.datum(m)).collect();
        let (length, align) = match kind {
            TimeType::Date => (4, pg_sys::TYPALIGN_INT),
            _ => (8, pg_sys::TYPALIGN_DOUBLE),
        };
        // SAFETY: the elements are by-value datums of the given type; the array is allocated in the current context.
        let array = unsafe {
            pg_sys::construct_array(
                elements.as_mut_ptr(),
                elements.len() as i32,
                kind.oid(),
                length,
                true,
                align as std::ffi::c_char,
            )
        };
        Self {
            oid: kind.array_oid(),
            datum: Some(pg_sys::Datum::from(array)),
        }
    }

    /// The value as its type writes it, for people to read; `None` for NULL.
    pub fn text(&self) -> Option<String> {
        let datum = self.datum?;
        // SAFETY: the datum is of the type; the server answers with a null-terminated string.
        unsafe {
            let mut output = pg_sys::InvalidOid;
            let mut is_varlena = false;
            pg_sys::getTypeOutputInfo(self.oid, &mut output, &mut is_varlena);
            let text = pg_sys::OidOutputFunctionCall(output, datum);
            Some(CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }

    /// The type of the value.
    pub fn oid(&self) -> pg_sys::Oid {
        self.oid
    }
}

/// A column that a statement answers with.
#[derive(Debug, Clone)]
pub struct ResultColumn {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub type_oid: pg_sys::Oid,
}

/// A connection to the server's SQL engine, within which statements stay prepared and deltas keep their names.
pub struct Connection {
    access: Access,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading on the snapshot of the caller's statement.
    Read,
    /// Writing: each statement sees what those before it did, and what others have committed if the isolation level allows.
    Write,
}

/// Runs `work` with a connection. What it prepares and collects is freed at the end.
pub fn connected<T>(access: Access, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
    Spi::connect_mut(|_| work(&mut Connection { access }))
}

/// A statement that the server has parsed and will plan.
pub struct Prepared {
    plan: pg_sys::SPIPlanPtr,
    types: Vec<pg_sys::Oid>,
}

impl Connection {
    /// Has the server parse a statement whose parameters have the types of `values`, to run it once or a few times: it is planned
    /// for the values that it is given.
    pub fn prepare(&mut self, sql: &Sql, values: &[Value]) -> Result<Prepared> {
        self.prepare_as(sql, values, 0)
    }

    /// As [`Self::prepare`], to run it many times: it is planned once for all values.
    pub fn prepare_for_many(&mut self, sql: &Sql, values: &[Value]) -> Result<Prepared> {
        self.prepare_as(sql, values, pg_sys::CURSOR_OPT_GENERIC_PLAN as i32)
    }

    /// Gives back what a statement and its plan take.
    pub fn discard(&mut self, statement: Prepared) {
        // SAFETY: the plan belongs to this connection and is used no more.
        unsafe { pg_sys::SPI_freeplan(statement.plan) };
    }

    fn prepare_as(&mut self, sql: &Sql, values: &[Value], options: i32) -> Result<Prepared> {
        let text = CString::new(sql.to_string())
            .map_err(|_| Error::invalid("SQL text cannot contain a NUL character"))?;
        let mut types: Vec<pg_sys::Oid> = values.iter().map(Value::oid).collect();
        // SAFETY: the text is null-terminated, the types are as many as said; SPI is connected.
        let plan = unsafe {
            pg_sys::SPI_prepare_cursor(
                text.as_ptr(),
                types.len() as i32,
                types.as_mut_ptr(),
                options,
            )
        };
        if plan.is_null() {
            return Err(Error::internal("the server could not prepare a statement"));
        }
        Ok(Prepared { plan, types })
    }

    /// Runs a prepared statement; rows that it answers with are thrown away. Returns the number of rows processed.
    pub fn run(&mut self, statement: &Prepared, values: &[Value]) -> Result<u64> {
        // SAFETY: a receiver that does nothing needs no set-up and no clean-up.
        let receiver = unsafe { pg_sys::CreateDestReceiver(pg_sys::CommandDest::DestNone) };
        self.run_into(statement, values, receiver)
    }

    /// Runs a prepared statement that answers with one jsonb document, or NULL or no row for nothing.
    pub fn fetch<T: DeserializeOwned>(
        &mut self,
        statement: &Prepared,
        values: &[Value],
    ) -> Result<Option<T>> {
        self.run_into(statement, values, std::ptr::null_mut())?;
        document(first_value())
    }

    /// As [`Self::fetch`], on a snapshot of this moment, whatever the isolation level.
    pub fn fetch_latest<T: DeserializeOwned>(
        &mut self,
        statement: &Prepared,
        values: &[Value],
    ) -> Result<Option<T>> {
        let mut datums: Vec<pg_sys::Datum> = values
            .iter()
            .map(|value| value.datum.unwrap_or(pg_sys::Datum::from(0)))
            .collect();
        // SAFETY: none of the values is NULL, as `nulls` says by being null; the snapshot is registered by the executor.
        let status = unsafe {
            pg_sys::SPI_execute_snapshot(
                statement.plan,
                datums.as_mut_ptr(),
                std::ptr::null(),
                pg_sys::GetLatestSnapshot(),
                std::ptr::null_mut(),
                true,
                false,
                0,
            )
        };
        if status < 0 {
            return Err(Error::internal(format!(
                "the server answered a statement with {status}"
            )));
        }
        document(first_value())
    }

    fn run_into(
        &mut self,
        statement: &Prepared,
        values: &[Value],
        receiver: *mut pg_sys::DestReceiver,
    ) -> Result<u64> {
        if values
            .iter()
            .map(Value::oid)
            .ne(statement.types.iter().copied())
        {
            return Err(Error::internal(
                "a statement was given other parameters than it has",
            ));
        }
        // SAFETY: the list has room for the values written below; plan, list and receiver outlive the call.
        let (status, rows) = unsafe {
            let params = pg_sys::makeParamList(values.len() as i32);
            let slots = (*params).params.as_mut_ptr();
            for (index, value) in values.iter().enumerate() {
                let slot = &mut *slots.add(index);
                slot.value = value.datum.unwrap_or(pg_sys::Datum::from(0));
                slot.isnull = value.datum.is_none();
                slot.pflags = pg_sys::PARAM_FLAG_CONST as u16;
                slot.ptype = value.oid;
            }
            let options = pg_sys::SPIExecuteOptions {
                params,
                read_only: self.access == Access::Read,
                dest: receiver,
                ..pg_sys::SPIExecuteOptions::default()
            };
            let status = pg_sys::SPI_execute_plan_extended(statement.plan, &options);
            (status, pg_sys::SPI_processed)
        };
        if status < 0 {
            return Err(Error::internal(format!(
                "the server answered a statement with {status}"
            )));
        }
        Ok(rows)
    }

    /// Makes a delta: a named set of rows of the shape that `like` answers with, empty at first.
    pub fn delta(&mut self, name: &'static CStr, like: &Prepared) -> Result<Delta> {
        // SAFETY: the descriptor and the relation are allocated in the current context, which outlives the delta; the relation is
        // registered under a name with a space, which hides no table that a statement of ours could mean.
        unsafe {
            let source = single_source(like)?;
            let context = pg_sys::CurrentMemoryContext;
            let descriptor = pg_sys::CreateTupleDescCopy((*source).resultDesc);
            let relation = pg_sys::palloc0(size_of::<pg_sys::EphemeralNamedRelationData>())
                .cast::<pg_sys::EphemeralNamedRelationData>();
            (*relation).md.name = pg_sys::pstrdup(name.as_ptr());
            (*relation).md.reliddesc = pg_sys::InvalidOid;
            (*relation).md.tupdesc = descriptor;
            (*relation).md.enrtype = pg_sys::EphemeralNameRelationType::ENR_NAMED_TUPLESTORE;
            (*relation).md.enrtuples = 0.0;
            let delta = Delta { relation, context };
            delta.renew();
            if pg_sys::SPI_register_relation(relation) != pg_sys::SPI_OK_REL_REGISTER as i32 {
                return Err(Error::internal("a delta could not be named"));
            }
            Ok(delta)
        }
    }

    /// Replaces the rows of a delta by what a statement answers with, and says how many there are.
    pub fn fill(
        &mut self,
        delta: &mut Delta,
        statement: &Prepared,
        values: &[Value],
    ) -> Result<u64> {
        // SAFETY: store and relation live as long as the connection; the receiver writes into the store only.
        let receiver = unsafe {
            // A fresh store: every scan leaves a read position behind, and each row put would have to pass them all.
            pg_sys::tuplestore_end(delta.store());
            delta.renew();
            let receiver = pg_sys::CreateTuplestoreDestReceiver();
            pg_sys::SetTuplestoreDestReceiverParams(
                receiver,
                delta.store(),
                delta.context,
                false,
                std::ptr::null_mut(),
                std::ptr::null(),
            );
            receiver
        };
        let rows = self.run_into(statement, values, receiver)?;
        // SAFETY: as above; the planner reads this number as the size of the relation.
        unsafe { (*delta.relation).md.enrtuples = rows as f64 };
        Ok(rows)
    }

    /// Ends a delta; one that spilled to disk gives its file back here.
    pub fn end(&mut self, delta: Delta) {
        // SAFETY: the relation is taken out of reach of later statements before its rows go.
        unsafe {
            pg_sys::SPI_unregister_relation((*delta.relation).md.name);
            pg_sys::tuplestore_end(delta.store());
        }
    }
}

/// Rows that were read once and are used by several statements, which see them as a relation of this name.
pub struct Delta {
    relation: *mut pg_sys::EphemeralNamedRelationData,
    context: pg_sys::MemoryContext,
}

impl Delta {
    /// # Safety
    /// The connection of the delta must still be open.
    unsafe fn store(&self) -> *mut pg_sys::Tuplestorestate {
        // SAFETY: see above.
        unsafe { (*self.relation).reldata.cast() }
    }

    /// Gives the relation a store without rows; the one before must have been ended.
    ///
    /// # Safety
    /// As for [`Self::store`].
    unsafe fn renew(&self) {
        // SAFETY: see above; the context lives as long as the relation.
        unsafe {
            let current = pg_sys::MemoryContextSwitchTo(self.context);
            (*self.relation).reldata =
                pg_sys::tuplestore_begin_heap(false, false, pg_sys::work_mem).cast();
            pg_sys::MemoryContextSwitchTo(current);
        }
    }
}

impl Prepared {
    /// The columns that the statement answers with.
    pub fn columns(&self) -> Result<Vec<ResultColumn>> {
        // SAFETY: the plan lives as long as its connection, which the caller holds; names are null-terminated.
        unsafe {
            let descriptor = (*single_source(self)?).resultDesc;
            if descriptor.is_null() {
                return Ok(Vec::new());
            }
            (1..=(*descriptor).natts)
                .map(|number| {
                    let name = CStr::from_ptr(pg_sys::SPI_fname(descriptor, number));
                    Ok(ResultColumn {
                        name: Ident::new(name.to_string_lossy())?,
                        type_oid: pg_sys::SPI_gettypeid(descriptor, number),
                    })
                })
                .collect()
        }
    }

    /// The relations that the statement reads, views and what they read included; not partitions.
    pub fn relations(&self) -> Result<Vec<pg_sys::Oid>> {
        // SAFETY: as above; the list holds OIDs.
        unsafe { Ok(list::oids((*single_source(self)?).relationOids)) }
    }
}

/// # Safety
/// The connection in which the statement was prepared must still be open.
unsafe fn single_source(statement: &Prepared) -> Result<*mut pg_sys::CachedPlanSource> {
    // SAFETY: the list belongs to a valid plan and holds plan sources.
    unsafe {
        let sources = pg_sys::SPI_plan_get_plan_sources(statement.plan);
        if list::length(sources) != 1 {
            return Err(Error::internal(
                "a template must hold exactly one statement",
            ));
        }
        Ok(list::pointer(sources, 0))
    }
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
