//! Time zones, with the server's own zone data: an instant to the local time that a clock there shows, and back.
//!
//! Instants and local times are microseconds since 2000-01-01 00:00, as Postgres keeps them.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::error::{Error, Result};
use crate::statement;
use crate::time::MICROS_PER_DAY;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Seconds between the epochs of Unix and of Postgres.
const UNIX_TO_POSTGRES: i64 = 946_684_800;
fn unknown(name: &str) -> Error {
    Error::invalid(format!("there is no time zone \"{name}\""))
        .hint("SELECT name FROM pg_timezone_names lists the zones that this server knows.")
}

/// A time zone that the server knows.
#[derive(Clone, Copy)]
pub struct Zone {
    handle: *mut pg_sys::pg_tz,
}

impl Zone {
    /// Looks a zone up in the server's list, in any case of letters, and gives its name as the list spells it; 22023 if the list
    /// does not have it. POSIX forms such as `UTC+3`, whose sign means the opposite of what it seems to, are not in it.
    pub fn listed(name: &str) -> Result<(Self, String)> {
        // Listing reads every zone file of the server. A POSIX form always has a digit; other names need no list.
        let name = if name.contains(|c: char| c.is_ascii_digit()) {
            statement::fetch(sql_file!("catalog/zone_exists"), &[name.into()])?
                .ok_or_else(|| unknown(name))?
        } else {
            name.to_owned()
        };
        let zone = Self::named(&name)?;
        // SAFETY: the handle is valid; the name it holds is null-terminated and copied at once.
        let spelled = unsafe { CStr::from_ptr(pg_sys::pg_get_timezone_name(zone.handle)) };
        Ok((zone, spelled.to_string_lossy().into_owned()))
    }

    /// Looks a zone up by a name that is known to be none of the POSIX forms.
    pub fn named(name: &str) -> Result<Self> {
        let unknown = || unknown(name);
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

    /// The earliest local time that a clock in the zone shows at `instant` or in the day after it: earlier than what it shows
    /// at `instant` only if it is set back meanwhile. No zone sets its clock back by more than a day.
    pub fn earliest_local_from(self, instant: i64) -> i64 {
        let mut earliest = self.to_local(instant);
        let mut at = instant;
        while let Some(change) = self.next_change(at) {
            if change > instant.saturating_add(MICROS_PER_DAY) {
                break;
            }
            earliest = earliest.min(self.to_local(change));
            at = change;
        }
        earliest
    }

    /// The next instant at which the zone's clock is set forward or back.
    fn next_change(self, instant: i64) -> Option<i64> {
        let seconds = instant.div_euclid(MICROS_PER_SECOND) + UNIX_TO_POSTGRES;
        let (mut before, mut after) = (0, 0);
        let (mut before_is_dst, mut after_is_dst) = (0, 0);
        let mut change = 0;
        // SAFETY: the handle is valid, and so are all out-pointers.
        let found = unsafe {
            pg_sys::pg_next_dst_boundary(
                &seconds,
                &mut before,
                &mut before_is_dst,
                &mut change,
                &mut after,
                &mut after_is_dst,
                self.handle,
            )
        };
        (found == 1).then_some((change - UNIX_TO_POSTGRES) * MICROS_PER_SECOND)
    }
}
