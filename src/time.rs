//! Times as the server holds them: microseconds since 2000-01-01, and the column types that keep them.

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::ident::Sql;

/// Microseconds of a day of 24 hours.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;

/// An instant in microseconds as the type that the server binds; 22023 if Postgres cannot hold it.
pub fn instant(micros: i64) -> Result<pgrx::datum::TimestampWithTimeZone> {
    pgrx::datum::TimestampWithTimeZone::try_from(micros)
        .map_err(|_| Error::invalid("the time is beyond what Postgres can hold"))
}

/// The types that a time or stamp column may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeType {
    /// Days.
    Date,
    /// Local times in the load's zone.
    Timestamp,
    /// Instants.
    TimestampTz,
}

impl TimeType {
    /// The type with this OID, if it is one of the three.
    pub fn from_oid(oid: u32) -> Option<Self> {
        match pg_sys::Oid::from(oid) {
            pg_sys::DATEOID => Some(Self::Date),
            pg_sys::TIMESTAMPOID => Some(Self::Timestamp),
            pg_sys::TIMESTAMPTZOID => Some(Self::TimestampTz),
            _ => None,
        }
    }

    /// The type's OID.
    pub fn oid(self) -> pg_sys::Oid {
        match self {
            Self::Date => pg_sys::DATEOID,
            Self::Timestamp => pg_sys::TIMESTAMPOID,
            Self::TimestampTz => pg_sys::TIMESTAMPTZOID,
        }
    }

    /// 2000-01-01 in the type, or one that it subtracts from.
    pub fn epoch(self) -> Sql {
        Sql::fixed(match self {
            Self::TimestampTz => "pg_catalog.timestamptz '2000-01-01 00:00:00+00'",
            Self::Timestamp | Self::Date => "pg_catalog.timestamp '2000-01-01 00:00:00'",
        })
    }

    /// The type as SQL spells it, followed by a space.
    pub fn type_sql(self) -> Sql {
        Sql::fixed(match self {
            Self::Date => "pg_catalog.date ",
            Self::Timestamp => "pg_catalog.timestamp ",
            Self::TimestampTz => "pg_catalog.timestamptz ",
        })
    }

    /// The OID of its array type.
    pub fn array_oid(self) -> pg_sys::Oid {
        match self {
            Self::Date => pg_sys::DATEARRAYOID,
            Self::Timestamp => pg_sys::TIMESTAMPARRAYOID,
            Self::TimestampTz => pg_sys::TIMESTAMPTZARRAYOID,
        }
    }

    /// A time in microseconds as the server holds it.
    pub fn datum(self, micros: i64) -> pg_sys::Datum {
        match self {
            Self::Date => pg_sys::Datum::from(micros.div_euclid(MICROS_PER_DAY) as i32),
            Self::Timestamp | Self::TimestampTz => pg_sys::Datum::from(micros),
        }
    }
}
