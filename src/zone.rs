//! Time zones, with the server's own zone data: an instant to the local time that a clock there shows, and back.
//!
//! Instants and local times are microseconds since 2000-01-01 00:00, as Postgres keeps them.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::error::{Error, Result};

/// Microseconds of a day of 24 hours.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;
const MICROS_PER_SECOND: i64 = 1_000_000;
/// Seconds between the epochs of Unix and of Postgres.
const UNIX_TO_POSTGRES: i64 = 946_684_800;
/// The first instant that Postgres can hold, 4714-11-24 BC.
pub const MIN_INSTANT: i64 = -211_813_488_000_000_000;
/// The first instant that Postgres can no longer hold, in the year 294277.
pub const END_INSTANT: i64 = 9_223_371_331_200_000_000;

/// A time zone that the server knows.
#[derive(Clone, Copy)]
pub struct Zone {
    handle: *mut pg_sys::pg_tz,
}

impl Zone {
    /// Looks a zone up by name; 22023 if there is none. POSIX forms such as `UTC+3`, whose sign means the
    /// opposite of what it seems to, are left to [`crate::registry`], which takes names of the server's list only.
    pub fn named(name: &str) -> Result<Self> {
        let unknown = || {
            Error::invalid(format!("there is no time zone \"{name}\""))
                .hint("SELECT name FROM pg_timezone_names lists the zones that this server knows.")
        };
        let c_name = CString::new(name).map_err(|_| unknown())?;
        // SAFETY: `c_name` is a null-terminated string; the zone returned lives in the server's cache for good.
        let handle = unsafe { pg_sys::pg_tzset(c_name.as_ptr()) };
        if handle.is_null() {
            Err(unknown())
        } else {
            Ok(Self { handle })
        }
    }

    /// The local time that a clock in the zone shows at `instant`.
    pub fn to_local(self, instant: i64) -> i64 {
        let seconds = instant.div_euclid(MICROS_PER_SECOND) + UNIX_TO_POSTGRES;
        // SAFETY: the handle is valid; the result points to a static of the server, read before any other call.
        let offset = unsafe { pg_sys::pg_localtime(&seconds, self.handle).as_ref() }
            .map_or(0, |local| local.tm_gmtoff);
        instant + offset * MICROS_PER_SECOND
    }

    /// The instant that Postgres takes a local time for: of a repeated time the later one, of a skipped one the
    /// instant that the clock would have shown it at, had it not been set forward.
    fn to_instant(self, local: i64) -> i64 {
        let mut tm = pg_sys::pg_tm::default();
        let mut fraction: pg_sys::fsec_t = 0;
        // SAFETY: both out-pointers are valid; no zone is asked for.
        let status = unsafe {
            pg_sys::timestamp2tm(
                local,
                std::ptr::null_mut(),
                &mut tm,
                &mut fraction,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        if status != 0 {
            return local;
        }
        // SAFETY: `tm` was filled above and the handle is valid.
        let west = unsafe { pg_sys::DetermineTimeZoneOffset(&mut tm, self.handle) };
        local + i64::from(west) * MICROS_PER_SECOND
    }

    /// The boundary that a local time makes: the first instant from which on the zone's clock never again shows an
    /// earlier time. For a midnight that is skipped it is the instant at which the clock jumps over it; for one
    /// that comes twice because the clock is set back to it, the first of the two; where the clock is set back over
    /// it, the second.
    pub fn boundary(self, local: i64) -> i64 {
        let instant = self.to_instant(local);
        let shown = self.to_local(instant);
        if shown > local {
            // Skipped: the clock jumps somewhere in (instant - jump, instant]. Find the first instant past `local`.
            let (mut before, mut after) = (instant - (shown - local), instant);
            while self.to_local(before) >= local {
                before -= shown - local;
            }
            while after - before > 1 {
                let middle = before + (after - before) / 2;
                if self.to_local(middle) >= local {
                    after = middle
                } else {
                    before = middle
                }
            }
            return after;
        }
        let just_before = self.to_local(instant - 1);
        if just_before >= local {
            // The clock is set back to exactly this time: it was first shown as much earlier as it is set back.
            return instant - (just_before + 1 - local);
        }
        instant
    }
}
