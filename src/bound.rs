//! The type `daybook.bound`: one end of an interval, as a user writes it. Its text form does not depend on any setting of the
//! session; local times are read in the load's zone when a load uses the bound.

use std::fmt;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use pgrx::PgSqlErrorCode;

use crate::calendar;
use crate::error::{Error, Result};

/// One end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// A point in time.
    Instant(i64),
    /// What a clock in the load's zone shows.
    Local(i64),
    /// The start of the current day in the load's zone.
    Today,
    /// The start of the day before.
    Yesterday,
    /// The end of the last grain interval that has closed.
    LastClosed,
    /// An infinite date or timestamp: can be written, and is refused by every load.
    Infinite,
}

impl Bound {
    /// A point in time, in microseconds; `None` if it is beyond what daybook counts.
    pub fn instant(micros: i64) -> Option<Self> {
        calendar::civil(micros).map(|_| Self::Instant(micros))
    }

    /// A local time, in microseconds; `None` if it is beyond what daybook counts.
    pub fn local(micros: i64) -> Option<Self> {
        calendar::civil(micros).map(|_| Self::Local(micros))
    }

    /// Reads the text form. Refused: anything but ISO forms and the known words (22007), days that do not exist and times that
    /// Postgres cannot hold (22008).
    pub fn parse(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        match trimmed.to_ascii_lowercase().as_str() {
            "today" => return Ok(Self::Today),
            "yesterday" => return Ok(Self::Yesterday),
            "last_closed" => return Ok(Self::LastClosed),
            "infinity" | "-infinity" => return Ok(Self::Infinite),
            _ => {}
        }
        let malformed = || {
            Error::new(
                PgSqlErrorCode::ERRCODE_INVALID_DATETIME_FORMAT,
                format!("\"{text}\" is not a bound of an interval"),
            )
            .hint("Write '2026-09-01', '2026-09', '2026-09-01 06:00', '2026-09-01 06:00+02', 'yesterday', 'today' or 'last_closed'.")
        };
        let overflow = || {
            Error::new(
                PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
                format!("\"{text}\" is not a date and time that exists"),
            )
        };
        let (date_text, time_text) = match trimmed.find([' ', 'T', 't']) {
            Some(at) => (&trimmed[..at], trimmed[at + 1..].trim_start()),
            None => (trimmed, ""),
        };
        let unsigned = date_text.trim_start_matches(['-', '+']);
        let is_date = !unsigned.is_empty()
            && date_text.len() <= unsigned.len() + 1
            && unsigned.chars().all(|c| c.is_ascii_digit() || c == '-');
        if !is_date {
            return Err(malformed());
        }
        let dashes = unsigned.matches('-').count();
        let date = match dashes {
            1 if time_text.is_empty() => {
                NaiveDate::parse_from_str(&format!("{date_text}-01"), "%Y-%m-%d")
            }
            2 => NaiveDate::parse_from_str(date_text, "%Y-%m-%d"),
            _ => return Err(malformed()),
        }
        .map_err(|_| overflow())?;

        let (clock_text, offset) = split_offset(time_text).ok_or_else(malformed)?;
        // JDBC writes a date as `2026-09-01 +02`: a date it is, and the offset says nothing.
        let offset = offset.filter(|_| !clock_text.is_empty());
        let time = match clock_text {
            "" => NaiveTime::MIN,
            clock => ["%H:%M", "%H:%M:%S", "%H:%M:%S%.f"]
                .iter()
                .find_map(|form| NaiveTime::parse_from_str(clock, form).ok())
                .ok_or_else(malformed)?,
        };
        let local = calendar::micros(NaiveDateTime::new(date, time)).ok_or_else(overflow)?;
        let value = local
            .checked_sub(offset.unwrap_or(0))
            .ok_or_else(overflow)?;
        match offset {
            Some(_) => Self::instant(value),
            None => Self::local(value),
        }
        .ok_or_else(overflow)
    }
}

/// Splits `06:00+02` into the clock and the offset in microseconds; `None` if the offset makes no sense.
fn split_offset(time: &str) -> Option<(&str, Option<i64>)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock.trim_end(), Some(0)));
    }
    let Some(at) = time.find(['+', '-']) else {
        return Some((time, None));
    };
    let sign = if time[at..].starts_with('-') { -1 } else { 1 };
    let digits: String = time[at + 1..].chars().filter(|c| *c != ':').collect();
    if digits.len() % 2 == 1
        || !(2..=6).contains(&digits.len())
        || !digits.bytes().all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let field = |index: usize| {
        digits
            .get(2 * index..2 * index + 2)
            .map_or(Some(0), |text| text.parse::<i64>().ok())
    };
    let (hours, minutes, seconds) = (field(0)?, field(1)?, field(2)?);
    if hours > 15 || minutes > 59 || seconds > 59 {
        return None;
    }
    Some((
        time[..at].trim_end(),
        Some(sign * ((hours * 60 + minutes) * 60 + seconds) * 1_000_000),
    ))
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (micros, suffix) = match self {
            Self::Today => return f.write_str("today"),
            Self::Yesterday => return f.write_str("yesterday"),
            Self::LastClosed => return f.write_str("last_closed"),
            Self::Infinite => return f.write_str("infinity"),
            Self::Instant(micros) => (*micros, "+00"),
            Self::Local(micros) => (*micros, ""),
        };
        let Some(civil) = calendar::civil(micros) else {
            return Err(fmt::Error);
        };
        if suffix.is_empty() && civil.time() == NaiveTime::MIN {
            return write!(f, "{}", civil.date());
        }
        write!(
            f,
            "{}{suffix}",
            civil
                .format("%Y-%m-%d %H:%M:%S%.6f")
                .to_string()
                .trim_end_matches('0')
                .trim_end_matches('.')
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match Bound::parse(text) {
            Ok(bound) => format!("{bound}"),
            Err(error) => error.sqlstate(),
        }
    }

    #[test]
    fn every_form() {
        assert_eq!(read("2026-09-01"), "2026-09-01");
        assert_eq!(read(" 2026-09 "), "2026-09-01");
        assert_eq!(read("2026-09-01 06:00"), "2026-09-01 06:00:00");
        assert_eq!(read("2026-09-01T06:00:30.25"), "2026-09-01 06:00:30.25");
        assert_eq!(read("2026-09-01 06:00+02"), "2026-09-01 04:00:00+00");
        assert_eq!(read("2026-09-01 06:00:00 +0530"), "2026-09-01 00:30:00+00");
        assert_eq!(read("2026-09-01 00:00-05:30"), "2026-09-01 05:30:00+00");
        assert_eq!(read("2026-09-01 00:00:00Z"), "2026-09-01 00:00:00+00");
        assert_eq!(read("2026-09-01 +02"), "2026-09-01");
        assert_eq!(read("Yesterday"), "yesterday");
        assert_eq!(read("-infinity"), "infinity");
        assert_eq!(read("+12026-09-01"), "+12026-09-01");
        assert_eq!(read("-0043-03-15"), "-0043-03-15");
    }

    #[test]
    fn nothing_else() {
        for text in [
            "",
            "now",
            "09/01/2026",
            "1.9.2026",
            "2026",
            "2026-09-01 6 am",
            "2026-09-01 06:00 CET",
            "2026-09-01+02",
            "20260901",
            "tomorrow",
            "2026-09 06:00",
            "2026-09-01 06:00+2",
            "2026-09-01 06:00+16",
        ] {
            assert_eq!(read(text), "22007", "{text:?}");
        }
        for text in ["2026-02-30", "2026-13-01", "-5000-01-01", "+300000-01-01"] {
            assert_eq!(read(text), "22008", "{text:?}");
        }
    }

    #[test]
    fn written_bounds_read_back() {
        for text in [
            "2026-09-01",
            "2026-09-01 06:00:00.000001",
            "1999-12-31 23:59:59+00",
            "-0043-03-15 01:00",
            "+12026-09-01",
            "today",
        ] {
            let bound = Bound::parse(text);
            assert_eq!(
                bound
                    .as_ref()
                    .map(|b| Bound::parse(&b.to_string()).ok())
                    .ok()
                    .flatten(),
                bound.ok()
            );
        }
    }
}
