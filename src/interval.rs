//! The intervals of a load: what a bound means to it, which bounds it takes, and the grain intervals between two of them.

use std::ops::Range;

use pgrx::PgSqlErrorCode;

use crate::bound::Bound;
use crate::calendar::{self, Boundary};
use crate::connection::Value;
use crate::error::{Error, Result};
use crate::registry::{Load, Shape};
use crate::session;
use crate::time::{self, TimeType};

/// An instant as a bound that reads back to it: a local date where it is the start of one, else with its offset.
pub fn shown(load: &Load, instant: i64) -> String {
    let zone = load.calendar.zone;
    let local = zone.to_local(instant);
    if calendar::midnight(local, 0) == local && zone.boundary(local) == instant {
        return Bound::Local(local).to_string();
    }
    let minutes = (local - instant) / 60_000_000;
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.abs();
    let text = calendar::civil(local).map_or_else(String::new, |at| {
        at.format("%Y-%m-%d %H:%M:%S%.f").to_string()
    });
    match minutes % 60 {
        0 => format!("{text}{sign}{:02}", minutes / 60),
        rest => format!("{text}{sign}{:02}:{rest:02}", minutes / 60),
    }
}

/// The instant that a bound means to a load at a time.
pub fn resolve_bound(load: &Load, argument: &str, bound: Bound, now: i64) -> Result<i64> {
    let zone = load.calendar.zone;
    match bound {
        Bound::Instant(instant) => Ok(instant),
        Bound::Local(local) => Ok(zone.boundary(local)),
        Bound::Today => Ok(zone.boundary(calendar::midnight(zone.to_local(now), 0))),
        Bound::Yesterday => Ok(zone.boundary(calendar::midnight(zone.to_local(now), -1))),
        Bound::LastClosed => last_closed(load, now),
        Bound::Infinite => Err(Error::invalid(format!("{argument} must not be infinite"))
            .hint("Write 'last_closed' for the end of the last interval that has closed.")),
    }
}

/// The end of the last grain interval that has closed at `now`.
pub fn last_closed(load: &Load, now: i64) -> Result<i64> {
    Ok(load
        .calendar
        .floor(now.saturating_sub(load.settle))?
        .instant)
}

/// Refuses (22023) an instant off the grain, and says which bounds are near.
pub fn require_boundary(load: &Load, argument: &str, instant: i64) -> Result<()> {
    let before = load.calendar.floor(instant)?.instant;
    if before == instant {
        return Ok(());
    }
    let after = load.calendar.next(instant)?.instant;
    Err(Error::invalid(format!(
        "{argument} {} is not on a boundary of the grain {}",
        shown(load, instant),
        load.grain_text
    ))
    .detail(format!(
        "Grain intervals are counted in zone {}; a run must begin and end where one of them does.",
        load.zone_name
    ))
    .hint(format!(
        "The nearest that fit are '{}' and '{}'.",
        shown(load, before),
        shown(load, after)
    )))
}

/// Which intervals a call asks for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// First bound; `None`: from the start of history.
    pub start: Option<Bound>,
    /// Last bound, exclusive; `None`: up to the last closed interval.
    pub end: Option<Bound>,
    /// The clock: an instant in microseconds; `None`: the start of the transaction.
    pub as_of: Option<i64>,
    /// Whether an interval that has not closed may be loaded.
    pub allow_open: bool,
}

/// The grain intervals of a run.
pub struct Intervals {
    /// Types of the columns that boundaries are compared with.
    pub shape: Shape,
    /// All boundaries, in order: one more than there are intervals.
    pub boundaries: Vec<Boundary>,
    /// The clock that says which of them have closed.
    pub now: i64,
}

impl Intervals {
    /// The intervals that a call asks for.
    ///
    /// Refused: bounds off the grain, infinite, or in the wrong order (22023), an interval that has not closed (55000), no start where
    /// the load does not say when its history starts (22004).
    pub fn new(asked: &Asked, load: &Load, shape: Shape) -> Result<Self> {
        let now = asked.as_of.unwrap_or_else(session::transaction_start);
        let start = match asked.start {
            Some(bound) => resolve_bound(load, "interval_start", bound, now)?,
            None => load.history_starts.or(load.first_interval).ok_or_else(|| {
                Error::new(
                    PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
                    "interval_start is null, and the load does not say when its history starts",
                )
                .hint("Pass interval_start, or register the load with history_starts.")
            })?,
        };
        let closed = last_closed(load, now)?;
        let end = match asked.end {
            Some(bound) => resolve_bound(load, "interval_end", bound, now)?,
            None => closed,
        };
        if start >= end {
            return Err(Error::invalid(format!(
                "interval_start {} is not before interval_end {}",
                shown(load, start),
                shown(load, end)
            ))
            .detail("An interval is half-open: its start belongs to it, its end does not.")
            .hint(if start >= closed {
                format!(
                    "The last interval that has closed ends at '{}'.",
                    shown(load, closed)
                )
            } else {
                format!(
                    "To load the one interval that holds the start, end at '{}'.",
                    shown(load, load.calendar.next(start)?.instant)
                )
            }));
        }
        require_boundary(load, "interval_start", start)?;
        require_boundary(load, "interval_end", end)?;
        if end > closed && !asked.allow_open {
            return Err(Error::prerequisite(format!(
                "the interval up to {} has not closed at {}",
                shown(load, end),
                shown(load, now)
            ))
            .detail("Rows that arrive later in an open interval would be missed until somebody loads it again.")
            .hint(format!(
                "The last allowed end is '{}'. as_of sets the clock; allow_open => true loads it all the same and leaves it due.",
                shown(load, closed)
            )));
        }
        Ok(Self {
            shape,
            boundaries: load.calendar.boundaries(start, end)?,
            now,
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.boundaries.len().saturating_sub(1)
    }

    /// Where the first begins.
    pub fn start(&self) -> i64 {
        self.boundaries.first().map_or(0, |b| b.instant)
    }

    /// Where the last ends.
    pub fn end(&self) -> i64 {
        self.boundaries.last().map_or(0, |b| b.instant)
    }

    /// The grain intervals, as pairs of instants.
    pub fn intervals(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.boundaries
            .windows(2)
            .map(|pair| (pair[0].instant, pair[1].instant))
    }

    /// What is deleted and inserted together: all intervals, or each by itself.
    pub fn batches(&self, wide: bool) -> Vec<Range<usize>> {
        if wide {
            std::iter::once(0..self.count()).collect()
        } else {
            (0..self.count()).map(|index| index..index + 1).collect()
        }
    }

    /// Parameters $1 to $8 of all statements of a run, for adjacent grain intervals.
    pub fn values(&self, part: &Range<usize>, run: i32) -> Result<Vec<Value>> {
        let at =
            |kind: TimeType, index: usize| Value::time(kind, self.boundaries[index].as_held(kind));
        let (time, stamp) = (self.shape.time, self.shape.stamp);
        let bounds = self.boundaries[part.start..=part.end].iter();
        let starts = self.boundaries[part.clone()].iter();
        Ok(vec![
            at(time, part.start),
            at(time, part.end),
            Value::times(time, bounds.map(|boundary| boundary.as_held(time))),
            Value::times(stamp, starts.map(|boundary| boundary.as_held(stamp))),
            at(stamp, part.start),
            at(stamp, part.end),
            Value::of(run),
            Value::of(time::instant(session::transaction_start())?),
        ])
    }
}
