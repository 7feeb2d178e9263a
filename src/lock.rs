//! What a run locks, in this order: its target against being dropped, the registry row of the target, its source, and for a load the
//! state rows of its grain intervals. A load shares the registry row with others of its target; a run of a history, and whatever changes
//! what is registered, has it alone, and who has to wait for it waits without a lock on the target. Then a load waits for transactions
//! that may still commit rows of the interval. Readers of the target never wait; overlapping runs do; disjoint loads do not.

use std::ffi::CString;

use pgrx::datum::TimestampWithTimeZone;
use pgrx::{PgSqlErrorCode, pg_sys};
use serde::Deserialize;

use crate::error::{Error, Result, evidence};
use crate::ident::{Ident, QualifiedName};
use crate::time::instant;
use crate::{session, settings, statement};

/// What a relation is locked for.
#[derive(Debug, Clone, Copy)]
pub enum Use {
    /// Reading: nobody may drop or alter it.
    Read,
    /// Writing: the lock that INSERT and DELETE take.
    Write,
}

/// Keeps a relation from being dropped or altered until the transaction ends.
pub fn keep_relation(relation: pg_sys::Oid, usage: Use) {
    // SAFETY: waits for a heavyweight lock, which may raise an error of the server.
    unsafe { pg_sys::LockRelationOid(relation, usage.mode()) };
}

impl Use {
    fn mode(self) -> pg_sys::LOCKMODE {
        let mode = match self {
            Self::Read => pg_sys::AccessShareLock,
            Self::Write => pg_sys::RowExclusiveLock,
        };
        mode as pg_sys::LOCKMODE
    }
}

/// Keeps the relation of a name from being dropped, altered or renamed until the transaction ends; `None` if there is none. A name
/// that came to mean another relation while this waited is looked up again, whatever the isolation level.
pub fn keep_named(name: &QualifiedName) -> Result<Option<pg_sys::Oid>> {
    let c_string = |name: &Ident| {
        CString::new(name.as_str()).map_err(|_| Error::internal("a name with a NUL"))
    };
    let (schema, relation) = (c_string(&name.schema)?, c_string(&name.name)?);
    // SAFETY: both names are null-terminated and copied; no callback is given.
    let oid = unsafe {
        let range = pg_sys::makeRangeVar(
            pg_sys::pstrdup(schema.as_ptr()),
            pg_sys::pstrdup(relation.as_ptr()),
            -1,
        );
        pg_sys::RangeVarGetRelidExtended(
            range,
            pg_sys::AccessShareLock as pg_sys::LOCKMODE,
            pg_sys::RVROption::RVR_MISSING_OK,
            None,
            std::ptr::null_mut(),
        )
    };
    Ok((oid != pg_sys::InvalidOid).then_some(oid))
}

/// Holds what is registered for a target as it is, and says whether anything is. Everything read after this is as fresh as the
/// isolation level allows.
pub fn hold_target(target: pg_sys::Oid) -> Result<bool> {
    let held = session::as_extension_owner(|| {
        statement::write::<i32>(sql_file!("statement/lock_target"), &[target.into()])
    })?;
    match held {
        Some(_) => Ok(true),
        None => unseen(target).map(|()| false),
    }
}

/// Takes a history for a run: its relation against being dropped, and its registry row, as a change. Says whether anything is
/// registered. Runs of one history follow each other.
///
/// The run may have to alter the table, for which nobody else may hold a lock on it: so whoever has to wait for the registry row
/// waits for it without one, and begins anew.
pub fn hold_history(history: pg_sys::Oid) -> Result<bool> {
    hold_alone(history, Use::Write, || {
        statement::write(sql_file!("statement/hold_history"), &[history.into()])
    })
}

/// Takes the registry row of a target for a change of what is registered, in the same way; makes it first if need be. `path` becomes
/// the search_path that is noted if `replace_path` says so, or if none was.
pub fn hold_registration(target: pg_sys::Oid, path: &str, replace_path: bool) -> Result<()> {
    let take = || {
        statement::write::<i32>(
            sql_file!("statement/hold_registration"),
            &[target.into(), path.into(), replace_path.into()],
        )
    };
    let held = hold_alone(target, Use::Read, || {
        let held = take()?;
        let known = statement::ask::<i32>(sql_file!("catalog/is_registered"), &[target.into()])?;
        if held.is_some() || known.is_some() {
            return Ok(held);
        }
        statement::write_rows(
            sql_file!("statement/register_target"),
            &[target.into(), path.into()],
        )?;
        take()
    })?;
    match held {
        true => Ok(()),
        false => Err(Error::internal(
            "a registry row vanished while it was waited for",
        )),
    }
}

/// Locks a relation and then its registry row by `take`, which answers with nothing where another transaction has that; says whether
/// there is such a row.
fn hold_alone(
    target: pg_sys::Oid,
    usage: Use,
    take: impl Fn() -> Result<Option<i32>>,
) -> Result<bool> {
    loop {
        keep_relation(target, usage);
        if session::as_extension_owner(&take)?.is_some() {
            return Ok(true);
        }
        // SAFETY: gives back the lock taken above; one that the transaction had before stays.
        unsafe { pg_sys::UnlockRelationOid(target, usage.mode()) };
        // The lock of waiting goes with the subtransaction.
        let found = session::undone(|| {
            session::as_extension_owner(|| {
                statement::write::<i32>(sql_file!("statement/await_target"), &[target.into()])
            })
        })?;
        if found.is_none() {
            return unseen(target).map(|()| false);
        }
    }
}

/// Refuses (40001) what another transaction has registered since this one took its snapshot.
fn unseen(target: pg_sys::Oid) -> Result<()> {
    if !session::keeps_one_snapshot() {
        return Ok(());
    }
    let registered = session::as_extension_owner(|| {
        statement::ask::<i32>(sql_file!("catalog/is_registered"), &[target.into()])
    })?;
    match registered {
        None => Ok(()),
        Some(_) => Err(Error::new(
            PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
            "what is registered was registered after this transaction took its snapshot",
        )
        .hint("Try again in a new transaction.")),
    }
}

/// The source of this name as it is now, held so that nobody drops or swaps it; 42P01 if there is none.
pub fn keep_source(source: &QualifiedName) -> Result<pg_sys::Oid> {
    keep_named(source)?.ok_or_else(|| {
        Error::new(
            PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
            format!("the source \"{}\" does not exist", source.display_name()),
        )
        .detail("The source is looked up by name at each run, so that it may be dropped and built anew.")
        .hint("Build it again under this name, or register another source.")
    })
}

/// Holds the grain intervals of a run. Starts and ends are instants in microseconds.
pub fn hold_intervals(target: pg_sys::Oid, starts: &[i64], ends: &[i64]) -> Result<()> {
    let times = |micros: &[i64]| {
        micros
            .iter()
            .map(|m| instant(*m))
            .collect::<Result<Vec<_>>>()
    };
    let (starts, ends): (Vec<TimestampWithTimeZone>, _) = (times(starts)?, times(ends)?);
    session::as_extension_owner(|| {
        statement::write_rows(
            sql_file!("statement/lock_intervals"),
            &[target.into(), starts.into(), ends.into()],
        )
    })
    .map(drop)
}

#[derive(Deserialize)]
struct Writer {
    transaction: String,
    pid: Option<i32>,
    relation: String,
    gid: Option<String>,
}

impl std::fmt::Display for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "pid {pid} writes {}", self.relation),
            None => write!(
                f,
                "the prepared transaction {} has written {}",
                pgrx::spi::quote_literal(self.gid.as_deref().unwrap_or_default()),
                self.relation
            ),
        }
    }
}

/// Waits until no transaction that began before `closed` holds a write lock on one of `relations`, for as long as
/// `daybook.settle_timeout` allows; then 55P03. Where one snapshot serves the whole transaction waiting cannot help: 40001.
pub fn await_late_commits(relations: &[pg_sys::Oid], closed: i64, source: &str) -> Result<()> {
    let timeout = i64::from(settings::settle_timeout());
    if timeout == 0 {
        return Ok(());
    }
    let deadline = session::clock() + timeout * 1000;
    loop {
        let writers: Vec<Writer> = session::as_extension_owner(|| {
            statement::fetch(
                sql_file!("catalog/late_writers"),
                &[relations.to_vec().into(), instant(closed)?.into()],
            )
        })?
        .unwrap_or_default();
        let Some(first) = writers.first() else {
            return Ok(());
        };
        if session::keeps_one_snapshot() {
            return Err(Error::new(
                PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
                format!("transactions that write \"{source}\" may still commit rows of the interval"),
            )
            .detail(format!("{}.", evidence(&writers, writers.len())))
            .hint("This transaction's snapshot will not see them. When they have ended (COMMIT PREPARED or ROLLBACK PREPARED for prepared ones), try again in a new transaction."));
        }
        let left = (deadline - session::clock()) / 1000;
        let timed_out = || {
            Error::new(
                PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
                format!("transactions that write \"{source}\" may still commit rows of the interval"),
            )
            .detail(format!("Waited in vain for: {}.", evidence(&writers, writers.len())))
            .hint("Wait for them or end them (COMMIT PREPARED or ROLLBACK PREPARED for prepared ones) and try again; daybook.settle_timeout says how long a load waits.")
        };
        if left <= 0 {
            return Err(timed_out());
        }
        session::explained(
            || {
                session::with_lock_timeout(left.min(i64::from(i32::MAX)) as i32, || {
                    wait_for(&first.transaction)
                })
            },
            |error| match error.code {
                PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE => timed_out(),
                _ => error,
            },
        )?;
    }
}

/// Waits for the end of a transaction, given as `pg_locks` shows it; takes part in deadlock detection, obeys `lock_timeout`.
fn wait_for(transaction: &str) -> Result<()> {
    let malformed = || Error::internal(format!("pg_locks shows the transaction \"{transaction}\""));
    let (backend, local) = transaction.split_once('/').ok_or_else(malformed)?;
    let backend: i32 = backend.parse().map_err(|_| malformed())?;
    let local: u32 = local.parse().map_err(|_| malformed())?;
    let id = pg_sys::VirtualTransactionId {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        backendId: backend,
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        procNumber: backend,
        localTransactionId: pg_sys::LocalTransactionId::from(local),
    };
    // SAFETY: the id is one that the lock manager showed; a transaction that has ended meanwhile is no error.
    unsafe { pg_sys::VirtualXactLock(id, true) };
    Ok(())
}
