//! Grain boundaries. Grains below a day count elapsed time from the origin; days and longer count local calendar time from
//! the origin and become instants through [`Zone::boundary`]. Boundaries strictly increase: of two local times that fall
//! on one instant (a day that a zone skipped) only the later makes a boundary.

use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime};

use crate::error::{Error, Result};
use crate::time::{MICROS_PER_DAY, TimeType};
use crate::zone::Zone;

/// The length of a grain interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Calendar months; quarters and years are multiples.
    Months(u32),
    /// Calendar days; weeks are multiples.
    Days(u64),
    /// Elapsed microseconds.
    Elapsed(i64),
}

impl Grain {
    /// From the three fields of a Postgres interval. Refused (22023): mixed fields, nothing, less than nothing.
    pub fn new(months: i32, days: i32, micros: i64) -> Result<Self> {
        let refused = |message: &str| {
            Error::invalid(format!("the grain {message}"))
                .detail(format!("It has {months} months, {days} days and {micros} microseconds."))
                .hint("A grain is a positive number of months, of days, or of elapsed time: '1 month', '7 days', '15 minutes'.")
        };
        match (months, days, micros) {
            (0, 0, micros) if micros > 0 => Ok(Self::Elapsed(micros)),
            (0, days, 0) if days > 0 => Ok(Self::Days(days as u64)),
            (months, 0, 0) if months > 0 => Ok(Self::Months(months as u32)),
            (0, 0, _) | (0, _, 0) | (_, 0, 0) => Err(refused("is not longer than nothing")),
            _ => Err(refused("mixes units of different kinds")),
        }
    }

    /// Whether the grain counts local calendar time.
    pub fn is_calendar(self) -> bool {
        !matches!(self, Self::Elapsed(_))
    }
}

/// One boundary between two grain intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// When it is.
    pub instant: i64,
    /// The local time that stands for it in columns without a time zone.
    pub local: i64,
}

impl Boundary {
    /// The boundary as a column of a type holds it, in microseconds.
    pub fn as_held(&self, kind: TimeType) -> i64 {
        match kind {
            TimeType::TimestampTz => self.instant,
            TimeType::Timestamp | TimeType::Date => self.local,
        }
    }
}

/// A grain, counted from an origin in a zone.
#[derive(Clone, Copy)]
pub struct Calendar {
    /// The length of an interval.
    pub grain: Grain,
    /// The zone in which it is counted.
    pub zone: Zone,
    /// The local time from which it is counted.
    pub origin: i64,
}

/// How many boundaries one call may ask for: the server holds them as one array.
const MAX_BOUNDARIES: usize = 10_000_000;

impl Calendar {
    fn nominal(self, index: i64) -> Option<Boundary> {
        let in_range = |time: i64| civil(time).map(|_| time);
        let local = match self.grain {
            Grain::Elapsed(micros) => {
                let origin = self.zone.boundary(self.origin);
                let instant = in_range(micros.checked_mul(index)?.checked_add(origin)?)?;
                return Some(Boundary {
                    instant,
                    local: self.zone.earliest_local_from(instant),
                });
            }
            Grain::Days(days) => i64::try_from(days)
                .ok()?
                .checked_mul(MICROS_PER_DAY)?
                .checked_mul(index)?
                .checked_add(self.origin)?,
            Grain::Months(months) => {
                add_months(self.origin, i64::from(months).checked_mul(index)?)?
            }
        };
        let local = in_range(local)?;
        Some(Boundary {
            instant: in_range(self.zone.boundary(local))?,
            local,
        })
    }

    fn at(self, index: i64) -> Result<Boundary> {
        self.nominal(index).ok_or_else(|| {
            Error::new(
                pgrx::PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
                "the interval reaches beyond the times that daybook counts",
            )
        })
    }

    /// The number of the last boundary that is not after `instant`; of several on one instant, the last.
    fn index_of(self, instant: i64) -> Result<i64> {
        let mut index = match self.grain {
            Grain::Elapsed(micros) => {
                (instant - self.zone.boundary(self.origin)).div_euclid(micros)
            }
            Grain::Days(days) => (self.zone.to_local(instant) - self.origin)
                .div_euclid(MICROS_PER_DAY)
                .div_euclid(days as i64),
            Grain::Months(months) => months_between(self.origin, self.zone.to_local(instant))
                .div_euclid(i64::from(months)),
        };
        while self.at(index)?.instant > instant {
            index -= 1;
        }
        while self
            .nominal(index + 1)
            .is_some_and(|next| next.instant <= instant)
        {
            index += 1;
        }
        Ok(index)
    }

    /// The last boundary that is not after `instant`.
    pub fn floor(self, instant: i64) -> Result<Boundary> {
        self.at(self.index_of(instant)?)
    }

    /// The first boundary that is after `instant`.
    pub fn next(self, instant: i64) -> Result<Boundary> {
        // Two local times may fall on one instant: the later makes the boundary.
        let next = self.at(self.index_of(instant)? + 1)?;
        self.floor(next.instant)
    }

    /// All boundaries from `first` to `last`. Their `local` values never decrease: where the clock is set back, local times that come
    /// twice belong to the last time round, which is what Postgres takes them for.
    pub fn boundaries(self, first: i64, last: i64) -> Result<Vec<Boundary>> {
        let mut index = self.index_of(first)?;
        let mut found: Vec<Boundary> = Vec::new();
        loop {
            pgrx::check_for_interrupts!();
            let boundary = self.at(index)?;
            if boundary.instant > last {
                break;
            }
            match found.last_mut() {
                Some(previous) if previous.instant == boundary.instant => *previous = boundary,
                _ => found.push(boundary),
            }
            if found.len() > MAX_BOUNDARIES {
                return Err(Error::invalid(
                    "the interval has more than 10 million grain intervals",
                )
                .hint("Ask for a shorter interval."));
            }
            index += 1;
        }
        Ok(found)
    }
}

/// 2000-01-01, from which Postgres counts.
const EPOCH: NaiveDateTime = match NaiveDate::from_ymd_opt(2000, 1, 1) {
    Some(day) => match day.and_hms_opt(0, 0, 0) {
        Some(midnight) => midnight,
        None => NaiveDateTime::MIN,
    },
    None => NaiveDateTime::MIN,
};

/// The first moment that Postgres can hold, 4714-11-24 BC.
const FIRST: i64 = -211_813_488_000_000_000;

/// Local microseconds as a calendar date and time; `None` before what Postgres can hold and after the year 262142.
pub fn civil(local: i64) -> Option<NaiveDateTime> {
    EPOCH
        .checked_add_signed(chrono::TimeDelta::microseconds(local))
        .filter(|_| local >= FIRST)
}

/// A calendar date and time as local microseconds.
pub fn micros(civil: NaiveDateTime) -> Option<i64> {
    civil.signed_duration_since(EPOCH).num_microseconds()
}

/// Midnight of the day of `local`, `days` days on.
pub fn midnight(local: i64, days: i64) -> i64 {
    local
        .div_euclid(MICROS_PER_DAY)
        .saturating_add(days)
        .saturating_mul(MICROS_PER_DAY)
}

/// Whether a local time is the first moment of the last day of its month.
pub fn is_last_day_of_month(local: i64) -> bool {
    civil(local).is_some_and(|day| {
        day.time() == chrono::NaiveTime::MIN
            && day
                .checked_add_days(Days::new(1))
                .is_some_and(|next| next.month() != day.month())
    })
}

/// `months` months on from `local`, which is always counted from the origin: the 31st gives the last day of shorter months and
/// the 31st of longer ones.
fn add_months(local: i64, months: i64) -> Option<i64> {
    let start = civil(local)?;
    let step = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    micros(if months < 0 {
        start.checked_sub_months(step)?
    } else {
        start.checked_add_months(step)?
    })
}

fn months_between(from: i64, to: i64) -> i64 {
    let months = |local: i64| {
        civil(local).map_or(0, |day| {
            i64::from(day.year()) * 12 + i64::from(day.month0())
        })
    };
    months(to) - months(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(text: &str) -> i64 {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M")
            .ok()
            .and_then(micros)
            .unwrap_or(0)
    }

    #[test]
    fn months_are_counted_from_the_origin() {
        let origin = local("2024-01-31 00:00");
        assert_eq!(add_months(origin, 1), Some(local("2024-02-29 00:00")));
        assert_eq!(add_months(origin, 2), Some(local("2024-03-31 00:00")));
        assert_eq!(add_months(origin, -11), Some(local("2023-02-28 00:00")));
        assert_eq!(add_months(origin, i64::MAX), None);
    }

    #[test]
    fn grains_of_one_kind_only() {
        assert_eq!(Grain::new(0, 7, 0).ok(), Some(Grain::Days(7)));
        assert_eq!(Grain::new(3, 0, 0).ok(), Some(Grain::Months(3)));
        assert_eq!(Grain::new(0, 0, 1).ok(), Some(Grain::Elapsed(1)));
        for (months, days, micros) in [(0, 0, 0), (1, 1, 0), (0, -1, 0), (0, 1, 1), (-1, 0, 0)] {
            assert!(Grain::new(months, days, micros).is_err());
        }
    }

    #[test]
    fn last_days_of_months() {
        assert!(is_last_day_of_month(local("2026-09-30 00:00")));
        assert!(is_last_day_of_month(local("2024-02-29 00:00")));
        assert!(!is_last_day_of_month(local("2023-02-27 00:00")));
        assert!(!is_last_day_of_month(local("2026-09-30 06:00")));
    }
}
