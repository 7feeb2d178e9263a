//! A second opinion on zones and grains: the zone files that the server reads, read by another library, and the rule for boundaries as
//! it is written down, not as daybook computes it.
//!
//! Instants are microseconds since 1970-01-01 in UTC, local times microseconds since the same date and time on the zone's own clock.

use std::path::PathBuf;
use std::process::Command;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;

/// A time during which the clock of a zone keeps one distance from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    start: i64,
    end: i64,
    offset: i64,
}

/// The clock of a zone, from 1880 to 2120.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    stretches: Vec<Stretch>,
}

/// The directory of the zone files that the server of `make cluster` reads.
pub fn zone_directory() -> PathBuf {
    let pg_config = crate::variable("DAYBOOK_PG_CONFIG");
    let ask = |option: &str| {
        let output = Command::new(&pg_config)
            .arg(option)
            .output()
            .expect("pg_config runs");
        String::from_utf8(output.stdout)
            .expect("UTF-8")
            .trim()
            .to_owned()
    };
    let configure = ask("--configure");
    let directory = match configure.split_once("--with-system-tzdata=") {
        Some((_, rest)) => PathBuf::from(rest.split(['\'', ' ']).next().unwrap_or_default()),
        None => PathBuf::from(ask("--sharedir")).join("timezone"),
    };
    assert!(directory.is_dir(), "no zone files in {directory:?}");
    directory
}

impl Zone {
    /// Reads a zone by name.
    pub fn named(name: &str) -> Self {
        let file = zone_directory().join(name);
        let content = std::fs::read(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        Self::read(&content).unwrap_or_else(|error| panic!("{file:?}: {error}"))
    }

    /// Reads the content of a zone file; a few are refused, because their last change and the rule that follows it disagree.
    pub fn read(tzif: &[u8]) -> Result<Self, jiff::Error> {
        let zone = TimeZone::tzif("a zone", tzif)?;
        let at = |year| {
            let midnight = Date::constant(year, 1, 1).to_zoned(TimeZone::UTC);
            midnight.expect("a date").timestamp()
        };
        let (first, last) = (at(1880), at(2120));
        let offset = |at: Timestamp| i64::from(zone.to_offset(at).seconds()) * 1_000_000;
        let mut stretches = vec![Stretch {
            start: first.as_microsecond(),
            end: last.as_microsecond(),
            offset: offset(first),
        }];
        for change in zone.following(first).take_while(|c| c.timestamp() < last) {
            let start = change.timestamp().as_microsecond();
            let before = stretches.last_mut().expect("never empty");
            let offset = i64::from(change.offset().seconds()) * 1_000_000;
            if before.offset != offset {
                before.end = start;
                stretches.push(Stretch {
                    start,
                    end: last.as_microsecond(),
                    offset,
                });
            }
        }
        Ok(Self { stretches })
    }

    /// Instants at which the clock is set to another distance from UTC, with the new distance.
    pub fn changes(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.stretches.iter().skip(1).map(|s| (s.start, s.offset))
    }

    /// What the clock shows.
    pub fn local(&self, instant: i64) -> i64 {
        let next = self.stretches.partition_point(|s| s.start <= instant);
        instant + self.stretches[next.max(1) - 1].offset
    }

    /// The first instant from which on the clock never again shows a time before `local`.
    pub fn boundary(&self, local: i64) -> i64 {
        let near = self.stretches.partition_point(|s| s.end < local - 2 * DAY);
        self.stretches[near..]
            .iter()
            .take_while(|s| s.start < local + 2 * DAY)
            // Within a stretch the clock shows earlier times up to its end or up to `local`, whichever comes first.
            .filter(|s| s.start < local - s.offset)
            .map(|s| s.end.min(local - s.offset))
            .max()
            .expect("times from 1880 to 2120")
    }

    /// The earliest time that the clock shows at `instant` or later.
    pub fn earliest_after(&self, instant: i64) -> i64 {
        let next = self.stretches.partition_point(|s| s.start <= instant);
        let now = instant + self.stretches[next.max(1) - 1].offset;
        let later = self.stretches[next..].iter();
        later
            .take_while(|s| s.start < instant + 2 * DAY)
            .map(|s| s.start + s.offset)
            .fold(now, i64::min)
    }
}

/// A grain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    Months(i64),
    Days(i64),
    /// Microseconds.
    Elapsed(i64),
}

/// A boundary: its instant, and the local time that stands for it in columns without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    pub instant: i64,
    pub local: i64,
}

/// The days since 1970-01-01 of a date.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let date = Date::new(year as i16, month as i8, day as i8).expect("a date");
    let epoch = Date::constant(1970, 1, 1);
    i64::from((date - epoch).get_days())
}

/// The local time `months` months after `local`: the same day of the month, or the last one there is.
pub fn add_months(local: i64, months: i64) -> i64 {
    let (day, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let date = Date::constant(1970, 1, 1)
        .checked_add(jiff::Span::new().days(day))
        .expect("a date");
    let month = i64::from(date.year()) * 12 + i64::from(date.month()) - 1 + months;
    let first = Date::new(
        month.div_euclid(12) as i16,
        month.rem_euclid(12) as i8 + 1,
        1,
    );
    let first = first.expect("a month");
    let day = date.day().min(first.days_in_month());
    days(
        i64::from(first.year()),
        i64::from(first.month()),
        i64::from(day),
    ) * DAY
        + time
}

impl Grain {
    /// All boundaries with an instant from `from` up to and including `to`, in order.
    pub fn boundaries(self, zone: &Zone, origin: i64, from: i64, to: i64) -> Vec<Boundary> {
        let nominal = |index: i64| match self {
            Grain::Months(months) => add_months(origin, months * index),
            Grain::Days(days) => origin + days * DAY * index,
            Grain::Elapsed(micros) => zone.boundary(origin) + micros * index,
        };
        let length = match self {
            Grain::Months(months) => months * 31 * DAY,
            Grain::Days(days) => days * DAY,
            Grain::Elapsed(micros) => micros,
        };
        // Some way before `from`, whatever the length of a month.
        let mut index = ((from - 3 * DAY - origin) / length) - 2;
        if let Grain::Months(_) = self {
            index += index / 50 - 2;
        }
        let mut found: Vec<Boundary> = Vec::new();
        loop {
            let time = nominal(index);
            let boundary = match self {
                Grain::Elapsed(_) => Boundary {
                    instant: time,
                    local: zone.earliest_after(time),
                },
                _ => Boundary {
                    instant: zone.boundary(time),
                    local: time,
                },
            };
            index += 1;
            if boundary.instant > to {
                break;
            }
            if boundary.instant < from {
                continue;
            }
            match found.last_mut() {
                // A day that the zone skipped: the next one begins at the same instant.
                Some(last) if last.instant == boundary.instant => *last = boundary,
                _ => found.push(boundary),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_end_where_they_end() {
        let origin = days(2024, 1, 31) * DAY;
        assert_eq!(add_months(origin, 1), days(2024, 2, 29) * DAY);
        assert_eq!(add_months(origin, 2), days(2024, 3, 31) * DAY);
        assert_eq!(add_months(origin, -11), days(2023, 2, 28) * DAY);
    }
}
