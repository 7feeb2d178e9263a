//! Whose rights, under which settings, and what is undone together: thin, safe wrappers around what the server's own
//! REFRESH MATERIALIZED VIEW and PL/pgSQL use.
//!
//! On an error nothing here is put back by hand: the (sub)transaction that fails restores role, security context and
//! settings itself.

use std::ffi::{CStr, CString};
use std::panic::AssertUnwindSafe;

use pgrx::pg_sys;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode, PgTryBuilder};

use crate::error::{Error, Result};

/// The role whose rights count at the moment.
pub fn current_role() -> pg_sys::Oid {
    // SAFETY: reads a variable of the backend.
    unsafe { pg_sys::GetUserId() }
}

/// Runs `work` with the rights of `role`. If that is another role than the current one, as a security-restricted operation: no
/// temporary tables, no session settings, no deferred triggers, as for REFRESH MATERIALIZED VIEW.
pub fn as_role<T>(role: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let restriction = if role == current_role() {
        0
    } else {
        pg_sys::SECURITY_RESTRICTED_OPERATION as i32
    };
    switched(role, restriction, work)
}

/// Runs one bookkeeping statement with the rights of the extension's owner, who alone may write its tables.
pub fn as_extension_owner<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let owner = extension_owner()?;
    switched(owner, pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32, || {
        with_settings(&[("search_path", "pg_catalog, pg_temp")], work)
    })
}

fn switched<T>(role: pg_sys::Oid, flags: i32, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut caller = pg_sys::InvalidOid;
    let mut context = 0;
    // SAFETY: the out-pointers are valid; the pair read here is put back below, or by the abort of the (sub)transaction.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut caller, &mut context);
        pg_sys::SetUserIdAndSecContext(role, context | flags);
    }
    let result = work();
    // SAFETY: as above.
    unsafe { pg_sys::SetUserIdAndSecContext(caller, context) };
    result
}

/// The owner of the schema `daybook`, which is the owner of the extension: the install script refuses a schema made by others.
fn extension_owner() -> Result<pg_sys::Oid> {
    // SAFETY: the name is a null-terminated string; the tuple is released after its owner was read.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"daybook".as_ptr(), true);
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::NAMESPACEOID as i32,
            pg_sys::Datum::from(schema),
        );
        if tuple.is_null() {
            return Err(Error::prerequisite("the schema \"daybook\" does not exist")
                .hint("CREATE EXTENSION daybook;"));
        }
        let form = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_namespace>();
        let owner = (*form).nspowner;
        pg_sys::ReleaseSysCache(tuple);
        Ok(owner)
    }
}

/// Everything that could change what a statement means or what its result looks like, apart from zone and names.
const PINNED: [(&str, &str); 17] = [
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("extra_float_digits", "1"),
    ("bytea_output", "hex"),
    ("row_security", "off"),
    ("transform_null_equals", "off"),
    ("array_nulls", "on"),
    ("standard_conforming_strings", "on"),
    ("xmloption", "content"),
    ("xmlbinary", "base64"),
    ("default_text_search_config", "pg_catalog.simple"),
    ("lc_numeric", "C"),
    ("lc_monetary", "C"),
    ("lc_time", "C"),
    ("timezone_abbreviations", "Default"),
    ("quote_all_identifiers", "off"),
    ("gin_fuzzy_search_limit", "0"),
];

/// Runs `work` with every setting pinned that could change a result: names are looked up in `search_path`, times are read and
/// written in `zone`. A statement that row security would filter raises 42501 instead of seeing fewer rows.
pub fn pinned<T>(search_path: &str, zone: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let path = format!(
        "{}pg_temp",
        if search_path.is_empty() {
            String::new()
        } else {
            format!("{search_path}, ")
        }
    );
    let own: Vec<(&str, &str)> = PINNED
        .into_iter()
        .chain([("search_path", path.as_str()), ("TimeZone", zone)])
        .collect();
    with_settings(&own, work)
}

/// Runs `work` with a time limit for each lock that it waits for, in milliseconds; a shorter limit of the caller stays.
pub fn with_lock_timeout<T>(millis: i32, work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: reads a variable of the backend.
    let callers = unsafe { pg_sys::LockTimeout };
    let limit = if callers > 0 {
        callers.min(millis)
    } else {
        millis
    };
    with_settings(&[("lock_timeout", limit.to_string().as_str())], work)
}

fn with_settings<T>(settings: &[(&str, &str)], work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: names and values are null-terminated strings that outlive the calls; the level opened here is closed
    // below, or by the abort of the (sub)transaction.
    let level = unsafe { pg_sys::NewGUCNestLevel() };
    for (name, value) in settings {
        set(name, value)?;
    }
    let result = work();
    // `false`: settings made inside, by set_config in a rule for example, are undone, not kept.
    // SAFETY: as above.
    unsafe { pg_sys::AtEOXact_GUC(false, level) };
    result
}

fn set(name: &str, value: &str) -> Result<()> {
    let nul = |_| Error::invalid(format!("the setting {name} cannot contain a NUL character"));
    let (name_c, value_c) = (
        CString::new(name).map_err(nul)?,
        CString::new(value).map_err(nul)?,
    );
    // SAFETY: the name is null-terminated; the value is compared before anything else is asked.
    let current = unsafe { pg_sys::GetConfigOption(name_c.as_ptr(), true, false) };
    // SAFETY: as above. Setting some to what they are already would read files.
    if !current.is_null() && unsafe { CStr::from_ptr(current) } == value_c.as_c_str() {
        return Ok(());
    }
    // SAFETY: both strings are null-terminated and outlive the call. PGC_USERSET: every pinned setting may be set by anyone.
    unsafe {
        pg_sys::set_config_option(
            name_c.as_ptr(),
            value_c.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
    Ok(())
}

/// Refuses (25006) to write on a standby or in a read-only transaction, before anything else is tried.
pub fn require_writable(function: &str) -> Result<()> {
    // SAFETY: reads variables of the backend.
    let (standby, read_only) = unsafe { (pg_sys::RecoveryInProgress(), pg_sys::XactReadOnly) };
    let place = match (standby, read_only) {
        (true, _) => "on a standby",
        (_, true) => "in a read-only transaction",
        _ => return Ok(()),
    };
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION,
        format!("{function} cannot write {place}"),
    ))
}

/// Whether the transaction keeps one snapshot throughout (REPEATABLE READ and SERIALIZABLE).
pub fn keeps_one_snapshot() -> bool {
    // SAFETY: reads a variable of the backend.
    unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
}

/// Start of the transaction.
pub fn transaction_start() -> i64 {
    // SAFETY: reads a variable of the backend.
    unsafe { pg_sys::GetCurrentTransactionStartTimestamp() }
}

/// The clock.
pub fn clock() -> i64 {
    // SAFETY: asks the operating system for the time.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

/// Runs `work` with a memory context of its own and frees at the end what the server has allocated in it. For each turn of a loop whose
/// number of turns has no limit.
pub fn in_scratch_memory<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: the context is a child of the current one, with which it goes if `work` unwinds; no datum leaves `work`.
    unsafe {
        let outer = pg_sys::CurrentMemoryContext;
        let scratch = pg_sys::AllocSetContextCreateExtended(
            outer,
            c"daybook scratch".as_ptr(),
            pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
            pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        );
        pg_sys::MemoryContextSwitchTo(scratch);
        let result = work();
        pg_sys::MemoryContextSwitchTo(outer);
        pg_sys::MemoryContextDelete(scratch);
        result
    }
}

/// Why a subtransaction failed.
enum Failure {
    /// An error that its caller deals with.
    Caught(Error),
    /// Cancellation or shutdown, which nobody is to swallow.
    PassedOn(Error),
}

/// Runs `work` in a subtransaction. If it fails, by an error of ours or of the server, all it did is undone and the error comes
/// back as a value. Cancellation and shutdown undo it likewise, and go on their way.
pub fn subtransaction<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: the memory context and resource owner of the caller are put back after the subtransaction, as PL/pgSQL does.
    let (context, owner) = unsafe { (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner) };
    // SAFETY: every path below ends the subtransaction.
    unsafe {
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
    }
    let result = PgTryBuilder::new(AssertUnwindSafe(|| work().map_err(Failure::Caught)))
        .catch_others(|caught| {
            let error = said(&caught);
            Err(match passes(&error) {
                true => Failure::PassedOn(error),
                false => Failure::Caught(error),
            })
        })
        .catch_rust_panic(|caught| Err(Failure::Caught(said(&caught))))
        .execute();
    // SAFETY: the subtransaction began above and is still open.
    unsafe {
        match &result {
            Ok(_) => pg_sys::ReleaseCurrentSubTransaction(),
            Err(_) => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
    }
    result.map_err(|failure| match failure {
        Failure::Caught(error) => error,
        // The server has forgotten the error with the subtransaction: it is raised anew.
        Failure::PassedOn(error) => error.raise(),
    })
}

/// Runs `work` and undoes all that it did, whatever comes of it.
pub fn undone<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut result = None;
    let ended = subtransaction(|| {
        result = Some(work()?);
        Err::<(), _>(Error::internal("undone on purpose"))
    });
    match (result, ended) {
        (Some(result), _) => Ok(result),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(Error::internal("a subtransaction ended without a result")),
    }
}

/// Runs `work` with the planner held to nested loops: for statements that find a few rows by their place in a table, which other
/// joins would read whole.
pub fn by_place<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    with_settings(
        &[
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            ("jit", "off"),
        ],
        work,
    )
}

/// Runs `work` with the planner kept from nested loops where another join will do, and without compiling: for statements over rows
/// that were collected, of which it knows little.
pub fn set_based<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    with_settings(&[("enable_nestloop", "off"), ("jit", "off")], work)
}

/// Runs `work`; an error of the server in it is replaced by what `explain` makes of it. The transaction still fails.
pub fn explained<T>(
    work: impl FnOnce() -> Result<T>,
    explain: impl Fn(Error) -> Error,
) -> Result<T> {
    let explain = AssertUnwindSafe(explain);
    PgTryBuilder::new(AssertUnwindSafe(work))
        .catch_others(move |caught| {
            let explain = &explain;
            let error = said(&caught);
            match passes(&error) {
                true => caught.rethrow(),
                false => Err((explain.0)(error)),
            }
        })
        .execute()
}

/// What an error says.
fn said(caught: &CaughtError) -> Error {
    let report = match caught {
        CaughtError::PostgresError(report)
        | CaughtError::ErrorReport(report)
        | CaughtError::RustPanic {
            ereport: report, ..
        } => report,
    };
    Error {
        code: report.sql_error_code(),
        message: report.message().to_owned(),
        detail: report.detail().map(str::to_owned),
        hint: report.hint().map(str::to_owned),
    }
}

/// Whether nobody is to swallow an error.
fn passes(error: &Error) -> bool {
    [
        PgSqlErrorCode::ERRCODE_QUERY_CANCELED,
        PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN,
        PgSqlErrorCode::ERRCODE_CRASH_SHUTDOWN,
    ]
    .contains(&error.code)
}
