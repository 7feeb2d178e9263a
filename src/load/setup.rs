//! What a run needs before it reads the first row: everything looked up, locked and checked.

use crate::connection::{Connection, Prepared, Value};
use crate::error::{Result, evidence};
use crate::ident::Ident;
use crate::intake::{self, Intake};
use crate::interval::Intervals;
use crate::params::Params;
use crate::registration::refuse_registered_relatives;
use crate::registry::{Load, rules_version};
use crate::relation::{Relation, require_rights};
use crate::{lock, rule, session};

use super::{OnEmpty, Request};

/// The first parameter number that is free for `param.name`.
const FIRST_PARAM: usize = 9;

/// Everything known before the first row is read.
pub struct Setup {
    /// The load.
    pub load: Load,
    /// What it writes.
    pub target: Relation,
    /// What it reads.
    pub source: Relation,
    /// The grain intervals.
    pub intervals: Intervals,
    /// Version of the rules.
    pub rules_version: String,
}

impl Setup {
    /// Looks up and locks all that a run needs, and refuses what cannot be loaded. A dry run locks no intervals.
    pub fn prepare(request: &Request) -> Result<Self> {
        // The relation before its registration, as DROP and ALTER have it, or the two could wait for each other.
        let usage = if request.dry_run {
            lock::Use::Read
        } else {
            lock::Use::Write
        };
        lock::keep_relation(request.target, usage);
        if !request.dry_run && !lock::hold_target(request.target)? {
            return Err(Load::missing(&Relation::describe(request.target)?));
        }
        let target = Relation::describe(request.target)?;
        let load = session::as_extension_owner(|| Load::of(&target))?;
        target.require_safe_target()?;
        refuse_registered_relatives(&target)?;

        let source_oid = load.lock_source()?;
        require_rights(source_oid, &["SELECT"])?;
        let source = Relation::describe(source_oid)?;
        source.require_source_kind()?;
        target.require_nothing_at_commit()?;
        let intervals = Intervals::new(&request.asked, &load, load.shape(&source, &target)?)?;
        if !request.dry_run {
            let (starts, ends): (Vec<i64>, Vec<i64>) = intervals.intervals().unzip();
            lock::hold_intervals(request.target, &starts, &ends)?;
        }
        let rules_version = rules_version(&load.rules, &source);
        Ok(Self {
            load,
            target,
            source,
            intervals,
            rules_version,
        })
    }

    /// The intake with its parameters, and the columns to write, checked against the target as it is now.
    pub fn intake(
        &self,
        connection: &mut Connection,
        request: &Request,
    ) -> Result<(Intake, Prepared, Vec<Value>, Vec<Ident>)> {
        let mut params = Params::new(&request.params, FIRST_PARAM)?;
        let intake = Intake::build(&self.load.reading(&self.source), |name| {
            params.placeholder(name)
        })?;
        let mut types = self.intervals.values(&(0..0), 0)?;
        types.extend(&params.values);
        // Undone where the server refuses it, to say which rule it is.
        let prepared = session::subtransaction(|| connection.prepare(&intake.sql, &types));
        let prepared = prepared.map_err(|error| {
            rule::find_unfit(&self.load.reading(&self.source), |name| {
                params.type_of(name)
            })
            .err()
            .unwrap_or(error)
        })?;
        intake::refuse_reading_target(&prepared, &self.target)?;
        let written = intake::fit(
            &self.load,
            &self.source,
            &self.target,
            &prepared.columns()?,
            &intake.number,
        )?;
        Ok((intake, prepared, params.values, written))
    }

    /// Whether the rows are collected before anything is deleted, because a check decides by them what is.
    pub fn uses_delta(&self, request: &Request) -> bool {
        self.load.keys.is_some() || request.on_empty != OnEmpty::Replace
    }

    /// Evidence about rows, for those who may read the target.
    pub fn evidence(&self, samples: &[String], total: usize) -> String {
        if self.target.caller_selects || self.target.caller_owns {
            format!("{}.", evidence(samples, total))
        } else {
            format!("{total}, hidden from who may not read the table.")
        }
    }
}
