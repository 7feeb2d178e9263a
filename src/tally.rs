//! Counting inside the statements of a run. The statements call [`tally`] once for each row and step and [`tally_target`]
//! once for each row that they delete or insert; the counts are exact because both are called above a fence
//! (`OFFSET 0`) or in RETURNING, where the planner neither moves nor repeats them.
//!
//! Runs nest (a trigger on a target may load another one): each has a number, and a statement names its run's.

use std::cell::RefCell;

use pgrx::{pg_guard, pg_sys};

use crate::call::{argument, version_1};

use crate::error::{EVIDENCE_ROWS, Error, Result};

/// What one run has counted so far, per grain interval (from 0).
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Rows that passed a step; step 0 is the read.
    pub passed: Vec<Vec<u64>>,
    /// Rows deleted from the target.
    pub deleted: Vec<u64>,
    /// Rows inserted into the target, where the insert reports them.
    pub inserted: Vec<u64>,
    /// Number of rows deleted or inserted that no rerun could write back.
    pub foreign_rows: u64,
    /// The first of them, described.
    pub foreign_samples: Vec<String>,
}

thread_local! {
    static RUNS: RefCell<Vec<(pg_sys::Oid, Counts)>> = const { RefCell::new(Vec::new()) };
}

impl Counts {
    fn zero(steps: usize, intervals: usize) -> Self {
        Self {
            passed: vec![vec![0; intervals]; steps],
            deleted: vec![0; intervals],
            inserted: vec![0; intervals],
            ..Self::default()
        }
    }
}

/// A run that counts. Its number is free again when this is dropped, also when an error unwinds.
pub struct Tally {
    run: usize,
}

impl Tally {
    /// Begins to count the rows of a target over `steps` steps, the read being the first. Refused
    /// (55000) while another run of this session is loading the same target: a trigger or a rule has called back.
    pub fn begin(target: pg_sys::Oid, steps: usize) -> Result<Self> {
        RUNS.with_borrow_mut(|runs| {
            if runs.iter().any(|(other, _)| *other == target) {
                return Err(Error::prerequisite("this target is being written by the run that calls now")
                    .detail("A trigger, or a function that a rule calls, has called for another run on the table that is being written.")
                    .hint("Let it write another table."));
            }
            runs.push((target, Counts::zero(steps, 0)));
            Ok(Self { run: runs.len() - 1 })
        })
    }

    /// The number that the statements of the run pass.
    pub fn run(&self) -> i32 {
        self.run as i32
    }

    /// Counts `intervals` grain intervals from now on, from zero.
    pub fn reset(&mut self, intervals: usize) {
        RUNS.with_borrow_mut(|runs| {
            if let Some((_, counts)) = runs.get_mut(self.run) {
                *counts = Counts::zero(counts.passed.len(), intervals);
            }
        });
    }

    /// The counts since the last reset or call; counting goes on from zero.
    pub fn take(&mut self) -> Counts {
        RUNS.with_borrow_mut(|runs| match runs.get_mut(self.run) {
            Some((_, counts)) => {
                let zero = Counts::zero(counts.passed.len(), counts.deleted.len());
                std::mem::replace(counts, zero)
            }
            None => Counts::default(),
        })
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        RUNS.with_borrow_mut(|runs| runs.truncate(self.run));
    }
}

fn outside_a_run() -> Error {
    Error::prerequisite("this function works only inside the statements of a run")
        .hint("Call load_interval or historize instead.")
}

version_1!(pg_finfo_daybook_tally);

/// `daybook.tally(run integer, step integer, interval_number integer, kept boolean)`: see [`tally`]. A filter that is NULL drops the row,
/// as WHERE does.
///
/// # Safety
/// To be called by the server alone.
#[unsafe(no_mangle)]
#[pg_guard]
pub unsafe extern "C-unwind" fn daybook_tally(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    // SAFETY: the server passes a valid call with four arguments of the declared types.
    let (run, step, interval, kept) = unsafe {
        let number = |place| argument(fcinfo, place).map_or(-1, |datum| datum.value() as i32);
        let kept = argument(fcinfo, 3).is_some_and(|datum| datum.value() & 0xff != 0);
        (number(0), number(1), number(2), kept)
    };
    match tally(run, step, interval, kept) {
        Ok(kept) => pg_sys::Datum::from(kept),
        Err(error) => error.raise(),
    }
}

/// Counts a row that arrives at `step`, and whether it is kept there, and says whether it is. Step 0 is the read; what arrives at
/// step 1 was read, too, and need not have been counted before. `interval` counts from 1.
pub fn tally(run: i32, step: i32, interval: i32, kept: bool) -> Result<bool> {
    let (step, interval) = (step as usize, (interval as usize).wrapping_sub(1));
    RUNS.with_borrow_mut(|runs| {
        let passed = match runs.get_mut(run as usize) {
            Some((_, counts)) => &mut counts.passed,
            None => return Err(outside_a_run()),
        };
        if let (1, Some(read)) = (
            step,
            passed.first_mut().and_then(|read| read.get_mut(interval)),
        ) {
            *read += 1;
        }
        let count = passed
            .get_mut(step)
            .and_then(|step| step.get_mut(interval))
            .ok_or_else(outside_a_run)?;
        *count += u64::from(kept);
        Ok(kept)
    })
}

/// Counts a row deleted from or inserted into the target; `foreign` describes it if no rerun could write it back.
pub fn tally_target(
    run: i32,
    inserted: bool,
    interval: i32,
    foreign: Option<String>,
) -> Result<bool> {
    RUNS.with_borrow_mut(|runs| {
        let (_, counts) = runs.get_mut(run as usize).ok_or_else(outside_a_run)?;
        if let Some(sample) = foreign {
            counts.foreign_rows += 1;
            if counts.foreign_samples.len() < EVIDENCE_ROWS {
                counts.foreign_samples.push(sample);
            }
            return Ok(false);
        }
        let per_interval = if inserted {
            &mut counts.inserted
        } else {
            &mut counts.deleted
        };
        let count = per_interval
            .get_mut((interval as usize).wrapping_sub(1))
            .ok_or_else(outside_a_run)?;
        *count += 1;
        Ok(true)
    })
}
