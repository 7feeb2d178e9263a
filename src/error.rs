//! The one error style. A message says what is wrong, with names and values; DETAIL gives the evidence (at most
//! [`EVIDENCE_ROWS`] rows), HINT the way out. Errors that the server raises pass through untouched; they unwind as
//! panics and never become a value of this type, except where [`crate::session::subtransaction`] catches them.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

/// How many rows of evidence an error or a check lists at most.
pub const EVIDENCE_ROWS: usize = 10;

/// An error to be raised, with everything that its reader needs.
#[derive(Debug, Clone)]
pub struct Error {
    /// SQLSTATE.
    pub code: PgSqlErrorCode,
    /// What is wrong: starts in lower case, ends without a period, names in double quotes.
    pub message: String,
    /// The evidence, in full sentences.
    pub detail: Option<String>,
    /// The way out, in full sentences.
    pub hint: Option<String>,
}

/// The result of everything that can be refused.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with neither DETAIL nor HINT yet.
    pub fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            detail: None,
            hint: None,
        }
    }

    /// 22023: an argument that cannot be used.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
    }

    /// 42704: something that is not registered.
    pub fn undefined(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
    }

    /// 42501: a right that is missing.
    pub fn privilege(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
    }

    /// 42809: a relation of a kind that cannot be used.
    pub fn wrong_kind(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE, message)
    }

    /// 55000: something stands in the way.
    pub fn prerequisite(message: impl Into<String>) -> Self {
        Self::new(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            message,
        )
    }

    /// 23514: rows that must not be written or deleted.
    pub fn check(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_CHECK_VIOLATION, message)
    }

    /// 22004: NULL for an argument that must have a value.
    pub fn null_argument(name: &str) -> Self {
        Self::new(
            PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("argument \"{name}\" must not be null"),
        )
        .hint("Pass a value; only arguments with a default may be left out.")
    }

    /// XX000: a mistake in daybook itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message)
    }

    /// The same error with this DETAIL.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same error with this HINT.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The SQLSTATE as its five characters.
    pub fn sqlstate(&self) -> String {
        let mut code = self.code as i32;
        (0..5)
            .map(|_| {
                let character = char::from(((code & 0x3f) + i32::from(b'0')) as u8);
                code >>= 6;
                character
            })
            .collect()
    }

    /// Raises the error at once, for the few places that cannot return it.
    pub fn raise(self) -> ! {
        ErrorReport::from(self).report(PgLogLevel::ERROR);
        unreachable!("an error does not return")
    }

    /// Sends the text as a NOTICE instead.
    pub fn notice(self) {
        ErrorReport::from(self).report(PgLogLevel::NOTICE);
    }
}

impl From<Error> for ErrorReport {
    fn from(error: Error) -> Self {
        let mut report = Self::new(error.code, error.message, "daybook");
        if let Some(detail) = error.detail {
            report = report.set_detail(detail);
        }
        if let Some(hint) = error.hint {
            report = report.set_hint(hint);
        }
        report
    }
}

impl From<pgrx::spi::SpiError> for Error {
    fn from(error: pgrx::spi::SpiError) -> Self {
        Self::internal(format!("unexpected answer of the server: {error}"))
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(format!("unexpected document from the catalog: {error}"))
    }
}

/// A number of things: `1 row`, `2 rows`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// At most [`EVIDENCE_ROWS`] of `items`, joined by semicolons, with the number of those left out.
pub fn evidence<T: std::fmt::Display>(items: &[T], total: usize) -> String {
    let shown: Vec<String> = items
        .iter()
        .take(EVIDENCE_ROWS)
        .map(ToString::to_string)
        .collect();
    let rest = total.saturating_sub(shown.len());
    match rest {
        0 => shown.join("; "),
        _ => format!("{}; and {rest} more", shown.join("; ")),
    }
}
