//! A connection to the server's SQL engine, for the statements of a run: they stay prepared, take [`Value`]s, and may share rows that
//! were read once, a [`Delta`].

use std::ffi::{CStr, CString};

use pgrx::{IntoDatum, PgTupleDesc, Spi, pg_sys};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::ident::{Ident, Sql};
use crate::list;
use crate::statement::{Access, document, first_value};
use crate::time::TimeType;

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

    /// A value of any type, as the server holds it.
    pub fn raw(oid: pg_sys::Oid, datum: pg_sys::Datum) -> Self {
        Self {
            oid,
            datum: Some(datum),
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
    /// Its type's modifier, -1 for none.
    pub type_modifier: i32,
    /// Its collation, if it has one.
    pub collation: pg_sys::Oid,
}

/// A connection to the server's SQL engine, within which statements stay prepared and deltas keep their names.
pub struct Connection {
    access: Access,
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

    /// Runs a statement once that answers with nothing; says how many rows it processed.
    pub fn execute(&mut self, sql: &Sql, values: &[Value]) -> Result<u64> {
        let statement = self.prepare(sql, values)?;
        let rows = self.run(&statement, values)?;
        self.discard(statement);
        Ok(rows)
    }

    /// As [`Self::execute`], for a statement that answers with one jsonb document, or NULL or no row for nothing.
    pub fn look_up<T: DeserializeOwned>(
        &mut self,
        sql: &Sql,
        values: &[Value],
    ) -> Result<Option<T>> {
        let statement = self.prepare(sql, values)?;
        let found = self.fetch(&statement, values)?;
        self.discard(statement);
        Ok(found)
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

    /// Runs `work` with one snapshot of this moment held: rows that it sees stay where they are until the end. What is to be read on that
    /// very snapshot goes through [`Self::reading`].
    pub fn with_snapshot<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // SAFETY: the snapshot is copied when it is pushed; it is popped below, or by the abort of the (sub)transaction.
        unsafe {
            pg_sys::CommandCounterIncrement();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        }
        let result = work(self);
        // SAFETY: what `work` has pushed it has popped.
        unsafe { pg_sys::PopActiveSnapshot() };
        result
    }

    /// Runs `work` with statements that only read, and all see the snapshot that is held.
    pub fn reading<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let access = std::mem::replace(&mut self.access, Access::Read);
        let result = work(self);
        self.access = access;
        result
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
            PgTupleDesc::from_pg_unchecked(descriptor)
                .iter()
                .map(|attribute| {
                    Ok(ResultColumn {
                        name: Ident::new(attribute.name())?,
                        type_oid: attribute.atttypid,
                        type_modifier: attribute.atttypmod,
                        collation: attribute.attcollation,
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
