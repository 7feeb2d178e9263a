//! A second opinion on what keeping history means: the versions of each key as a sorted list, snapshots and events applied one by one.
//!
//! It knows nothing of SQL. Times are microseconds since 1970 in UTC. A version is held with the instant at which it ended, that is
//! its valid-to plus the unit of the time axis: the next version of the key may begin there, on closed and half-open axes alike.

use std::collections::{BTreeMap, BTreeSet};

/// The values of some columns as text.
pub type Values = Vec<Option<String>>;

/// The SQLSTATEs of all that is wrong with an input; the server names one of them.
pub type Refused = BTreeSet<&'static str>;

pub const ARGUMENT: &str = "22023";
pub const RULE_BROKEN: &str = "23514";
pub const NULL_IN_KEY: &str = "23502";
pub const DUPLICATE: &str = "21000";
pub const NO_DATA: &str = "P0002";

/// What becomes of a row or event that is older than the version it would follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    Delay,
    Insert,
    Ignore,
    Error,
}

/// A column, by its place among those of the key or those of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Key(usize),
    Value(usize),
}

/// What the absence of a key from a snapshot means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// It was deleted.
    Full,
    /// Nothing.
    Delta,
    /// It was deleted, if its values in these columns were delivered.
    Scope(Vec<Column>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnEmpty {
    Error,
    Skip,
    Close,
}

/// What is registered for a history.
#[derive(Clone)]
pub struct Options {
    /// The unit of the time axis; 0 is half-open.
    pub unit: i64,
    /// Which values decide whether something changed.
    pub compared: Vec<bool>,
    /// The rows have a time of their own.
    pub source_timestamp: bool,
    pub late: Late,
    pub delivery: Delivery,
    pub skip_unchanged: bool,
    pub intermediate_versions: bool,
    pub check_input_unique: bool,
    /// The row with the lowest number comes first.
    pub dedup_order_by: Option<fn(&Values) -> i64>,
    pub on_empty: Option<OnEmpty>,
    pub max_closed_percent: Option<usize>,
    /// Current versions that are read: a condition on key and values.
    pub existing_predicate: Option<fn(&Values, &Values) -> bool>,
}

impl Options {
    /// What holds where nothing is said.
    pub fn new(unit: i64, values: usize) -> Self {
        Self {
            unit,
            compared: vec![true; values],
            source_timestamp: false,
            late: Late::Delay,
            delivery: Delivery::Full,
            skip_unchanged: false,
            intermediate_versions: false,
            check_input_unique: true,
            dedup_order_by: None,
            on_empty: None,
            max_closed_percent: None,
            existing_predicate: None,
        }
    }

    /// The shortest validity.
    fn tick(&self) -> i64 {
        self.unit.max(1)
    }

    /// Reference and source timestamps are cut down to the unit, where that is below a second.
    fn cut(&self, at: i64) -> i64 {
        match self.unit {
            1..1_000_000 => at.div_euclid(self.unit) * self.unit,
            _ => at,
        }
    }

    fn same(&self, one: &Values, other: &Values) -> bool {
        let compared = |values: &Values| -> Vec<Option<String>> {
            let pairs = values.iter().zip(&self.compared);
            pairs
                .filter(|(_, on)| **on)
                .map(|(v, _)| v.clone())
                .collect()
        };
        compared(one) == compared(other)
    }

    fn reads(&self, key: &Values, version: &Version) -> bool {
        self.existing_predicate
            .is_none_or(|predicate| predicate(key, &version.values))
    }
}

/// A row of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: Values,
    pub values: Values,
    /// Its time, if it has one.
    pub at: Option<i64>,
}

/// A change event. With columns of a source's own, whatever is no delete is an insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Insert,
    Preimage,
    Postimage,
    Delete,
    Read,
    /// No change type, or none that is known.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub kind: Kind,
    pub key: Values,
    pub values: Values,
    pub at: Option<i64>,
    pub ordinal: Option<i64>,
}

/// How events tell about themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feed {
    /// There are ordinals.
    pub ordinals: bool,
    /// Events have times, and these are used.
    pub times: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub from: i64,
    /// When it ended; a current version has none.
    pub end: Option<i64>,
    pub values: Values,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Loaded,
    Unchanged,
    Skipped,
}

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    pub status: Status,
    pub rows_read: usize,
    pub reappeared: usize,
    pub late_rows: usize,
}

/// A history.
#[derive(Clone)]
pub struct History {
    pub options: Options,
    /// The versions of each key, oldest first. There is no key without any.
    pub versions: BTreeMap<Values, Vec<Version>>,
    /// The newest instant at which a run has found what there was to find.
    pub seen: Option<i64>,
}

/// A change of one key at an instant, and what it may do there.
struct Change<'a> {
    options: &'a Options,
    /// The new values; none for a delete.
    values: Option<&'a Values>,
    at: i64,
    /// The reference timestamp of the run.
    reference: i64,
    /// Values equal to those of the version that it would follow make no version.
    skip: bool,
    /// The change has a time of its own.
    dated: bool,
    /// It comes from a snapshot.
    snapshot: bool,
}

#[derive(Default)]
struct Tally {
    refused: Refused,
    reappeared: usize,
    late: usize,
}

impl Change<'_> {
    fn open(&self, versions: &mut Vec<Version>, from: i64) {
        if let Some(values) = self.values {
            versions.push(Version {
                from,
                end: None,
                values: values.clone(),
            });
        }
    }

    /// Ends the last version at an instant and opens the next there, unless this is a delete.
    fn follow(&self, versions: &mut Vec<Version>, at: i64) {
        if let Some(last) = versions.last_mut() {
            last.end = Some(at);
        }
        self.open(versions, at);
    }

    fn equals(&self, version: &Version) -> bool {
        let same = |values| self.options.same(values, &version.values);
        self.values.is_some_and(same)
    }

    fn apply(&self, versions: &mut Vec<Version>, before: &[Version], tally: &mut Tally) {
        match self.dated {
            true => self.by_source(versions, before, tally),
            false => self.by_reference(versions, tally),
        }
    }

    /// All changes of the run are at one instant, not older than any in the history.
    fn by_reference(&self, versions: &mut Vec<Version>, tally: &mut Tally) {
        let tick = self.options.tick();
        let Some(last) = versions.last().cloned() else {
            self.open(versions, self.at);
            return;
        };
        // The version that ended at this very instant, before the one that began there.
        let ended_here = |versions: &[Version], back: usize| {
            let version = versions.len().checked_sub(back).map(|at| &versions[at]);
            self.skip && version.is_some_and(|v| v.end == Some(self.at) && self.equals(v))
        };
        match last.end {
            None if last.from == self.at => match self.values {
                None => {
                    versions.pop();
                }
                Some(_) if self.snapshot && self.equals(&last) => {}
                Some(values) if !self.snapshot && *values == last.values => {}
                Some(_) if ended_here(versions, 2) => {
                    versions.pop();
                    versions.last_mut().expect("it ended here").end = None;
                }
                Some(values) => {
                    versions.last_mut().expect("it is current").values = values.clone();
                }
            },
            None if self.skip && self.equals(&last) => {}
            None if self.at < last.from + tick => {
                tally.refused.insert(ARGUMENT);
            }
            None => self.follow(versions, self.at),
            Some(_) if self.values.is_none() => {}
            Some(end) if end > self.at => {
                tally.refused.insert(ARGUMENT);
            }
            Some(end) => {
                if ended_here(versions, 1) {
                    versions.last_mut().expect("it ended here").end = None;
                } else {
                    // In a snapshot, what is back at the instant at which it went was never away.
                    tally.reappeared += usize::from(end < self.at || !self.snapshot);
                    self.open(versions, self.at);
                }
            }
        }
    }

    fn by_source(&self, versions: &mut Vec<Version>, before: &[Version], tally: &mut Tally) {
        let tick = self.options.tick();
        if !self.snapshot && self.is_replay(before) {
            return;
        }
        // A chain that begins before the end of the last version does not reach beyond it.
        let ended = before.last().and_then(|version| version.end);
        if self.options.late == Late::Insert && ended.is_some_and(|end| self.at < end) {
            self.insert(versions, before, tally);
            return;
        }
        let Some(last) = versions.last().cloned() else {
            self.open(versions, self.at);
            return;
        };
        match last.end {
            None if self.snapshot && self.equals(&last) => return,
            None if self.at >= last.from + tick => {
                if !(self.skip && self.equals(&last)) {
                    self.follow(versions, self.at);
                }
                return;
            }
            // It went in a run at this reference timestamp: as if this one had been the only one.
            Some(end) if self.snapshot && end == self.reference && self.equals(&last) => {
                versions.last_mut().expect("it ended here").end = None;
                return;
            }
            // A deletion by this run was moved to this instant, where the last counts.
            Some(end)
                if self.at == end
                    && self.skip
                    && self.equals(&last)
                    && before.iter().all(|version| version.end != last.end)
                    && !self.snapshot =>
            {
                versions.last_mut().expect("it ended here").end = None;
                return;
            }
            Some(end) if self.at >= end || self.snapshot => {
                if self.values.is_some() {
                    tally.reappeared += 1;
                    tally.late += usize::from(self.at < end);
                    self.open(versions, self.at.max(end));
                }
                return;
            }
            // What has ended cannot be deleted, but earlier than it was known to be.
            Some(_) if self.values.is_none() && self.options.late != Late::Insert => return,
            _ => {}
        }
        // Too near to what the run itself has brought, and not late: neither is left out.
        let known_until = before.last().map(|version| match version.end {
            None => version.from + tick,
            Some(end) => end,
        });
        if matches!(self.options.late, Late::Ignore | Late::Error)
            && known_until.is_none_or(|until| until <= self.at)
            && !self.snapshot
        {
            if !(self.skip && last.end.is_none() && self.equals(&last)) {
                tally.refused.insert(ARGUMENT);
            }
            return;
        }
        if self.options.late == Late::Insert {
            self.insert(versions, before, tally);
            return;
        }
        tally.late += 1;
        let known = before.last().filter(|version| version.end.is_none());
        match (self.options.late, last.end) {
            (Late::Insert | Late::Ignore, _) => {}
            (Late::Error, _) => {
                tally.refused.insert(RULE_BROKEN);
            }
            (Late::Delay, Some(end)) => {
                tally.reappeared += usize::from(self.values.is_some());
                self.open(versions, end);
            }
            // What began later is not what was deleted.
            (Late::Delay, None)
                if self.values.is_none() && known.is_some_and(|v| self.at < v.from) => {}
            (Late::Delay, None) if self.skip && self.equals(&last) => tally.late -= 1,
            (Late::Delay, None) => self.follow(versions, last.from + tick),
        }
    }

    fn insert(&self, versions: &mut Vec<Version>, before: &[Version], tally: &mut Tally) {
        match self.at_true_place(versions, before, tally) {
            Some(true) => tally.late += 1,
            // Nothing came of it.
            Some(false) => {}
            None => drop(tally.refused.insert(ARGUMENT)),
        }
    }

    /// Whether the history as it was before the run shows that it knows this event.
    fn is_replay(&self, before: &[Version]) -> bool {
        let later_too = self.options.late == Late::Delay;
        before.iter().any(|version| match self.values {
            None => {
                version.end == Some(self.at) && before.iter().all(|other| other.from != self.at)
            }
            Some(values) => {
                (version.from == self.at || later_too && version.from > self.at)
                    && *values == version.values
            }
        })
    }

    /// Puts it among versions that are known already; whether that changed anything. None if there is no room.
    fn at_true_place(
        &self,
        versions: &mut Vec<Version>,
        before: &[Version],
        tally: &mut Tally,
    ) -> Option<bool> {
        let tick = self.options.tick();
        let from = self.at;
        // The versions that began by then; the last of them is in force, or has ended.
        let next = versions.partition_point(|version| version.from <= from);
        let covers =
            |version: &&Version| version.from <= from && version.end.is_none_or(|end| end > from);
        let covering = versions[..next].last().filter(covers).cloned();
        // In a snapshot what is equal says nothing. An event says that the row was written, where a version begins.
        let begins = covering
            .as_ref()
            .is_some_and(|version| version.from == from);
        let skip = self.skip && (self.snapshot || !begins);
        if covering
            .as_ref()
            .is_some_and(|version| skip && self.equals(version))
        {
            return Some(false);
        }
        if begins {
            match self.values {
                Some(values) => versions[next - 1].values = values.clone(),
                None => drop(versions.remove(next - 1)),
            }
            return Some(true);
        }
        let Some(values) = self.values else {
            let Some(version) = covering else {
                return Some(false);
            };
            versions[next - 1].end = Some(from);
            return (from >= version.from + tick).then_some(true);
        };
        let end = match &covering {
            Some(version) => version.end,
            None => {
                let begins = versions.get(next).map(|version| version.from);
                let ends = before.iter().find(covers).and_then(|version| version.end);
                begins.into_iter().chain(ends).min()
            }
        };
        if covering
            .as_ref()
            .is_some_and(|version| from < version.from + tick)
            || end.is_some_and(|end| end < from + tick)
        {
            return None;
        }
        match covering {
            Some(_) => versions[next - 1].end = Some(from),
            None => tally.reappeared += usize::from(next > 0),
        }
        let values = values.clone();
        versions.insert(next, Version { from, end, values });
        Some(true)
    }
}

impl History {
    /// A history without any version.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            versions: BTreeMap::new(),
            seen: None,
        }
    }

    /// The newest instant at which something began or ended, or was found unchanged. An empty history knows of none.
    pub fn newest(&self) -> Option<i64> {
        let all = self.versions.values().flatten();
        let known = all
            .flat_map(|version| [Some(version.from), version.end])
            .flatten()
            .max()?;
        Some(self.seen.map_or(known, |seen| seen.max(known)))
    }

    /// Whether every key has versions, none shorter than a tick or before the end of the one before it, and only the last is current.
    pub fn is_sound(&self) -> bool {
        let tick = self.options.tick();
        self.versions.values().all(|versions| {
            let long = versions
                .iter()
                .all(|v| v.end.is_none_or(|end| end >= v.from + tick));
            let in_order = versions
                .windows(2)
                .all(|pair| pair[0].end.is_some_and(|end| end <= pair[1].from));
            !versions.is_empty() && long && in_order
        })
    }

    /// What the guards of every run say before a row is looked at.
    fn guard(&self, reference: i64, dated: bool, tally: &mut Tally) {
        if !dated && self.newest().is_some_and(|newest| reference < newest) {
            tally.refused.insert(ARGUMENT);
        }
    }

    /// Takes over the versions that a run has made, if nothing is wrong with them. Whether it looks at all current versions, or only
    /// at those that the predicate names.
    fn finish(
        &mut self,
        mut after: BTreeMap<Values, Vec<Version>>,
        mut tally: Tally,
        rows_read: usize,
        reference: Option<i64>,
        all: bool,
    ) -> Result<Outcome, Refused> {
        after.retain(|_, versions| !versions.is_empty());
        if let Some(most) = self.options.max_closed_percent {
            let is_current =
                |versions: &Vec<Version>| versions.last().is_some_and(|v| v.end.is_none());
            let current: Vec<&Values> = self
                .versions
                .iter()
                .filter(|(_, versions)| is_current(versions))
                .filter(|(key, versions)| {
                    let read = |version| self.options.reads(key, version);
                    all || versions.last().is_some_and(read)
                })
                .map(|(key, _)| key)
                .collect();
            let closed = current
                .iter()
                .filter(|key| !after.get(**key).is_some_and(is_current))
                .count();
            if closed * 100 > most * current.len() {
                tally.refused.insert(RULE_BROKEN);
            }
        }
        if !tally.refused.is_empty() {
            return Err(tally.refused);
        }
        let status = match after == self.versions {
            true => Status::Unchanged,
            false => Status::Loaded,
        };
        // What was empty starts anew.
        let seen = self.seen.filter(|_| !self.versions.is_empty());
        self.versions = after;
        self.seen = seen.max(reference);
        Ok(Outcome {
            status,
            rows_read,
            reappeared: tally.reappeared,
            late_rows: tally.late,
        })
    }

    /// What an empty input comes to, unless it closes everything.
    fn empty(&self, absence_closes: bool, tally: &mut Tally) -> Option<Result<Outcome, Refused>> {
        let choice = self.options.on_empty.unwrap_or(match absence_closes {
            true => OnEmpty::Error,
            false => OnEmpty::Skip,
        });
        if choice == OnEmpty::Error {
            tally.refused.insert(NO_DATA);
        }
        if !tally.refused.is_empty() {
            return Some(Err(std::mem::take(&mut tally.refused)));
        }
        (choice == OnEmpty::Skip).then_some(Ok(Outcome {
            status: Status::Skipped,
            rows_read: 0,
            reappeared: 0,
            late_rows: 0,
        }))
    }

    /// One row per key, or what is wrong with the rows.
    fn one_per_key<'a>(&self, rows: &'a [Row], refused: &mut Refused) -> Vec<&'a Row> {
        let mut groups: BTreeMap<&Values, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            if row.key.contains(&None) {
                refused.insert(NULL_IN_KEY);
            } else {
                groups.entry(&row.key).or_default().push(row);
            }
        }
        let mut kept = Vec::new();
        for (_, mut group) in groups {
            if let Some(order) = self.options.dedup_order_by {
                group.sort_by_key(|row| order(&row.values));
                let first = order(&group[0].values);
                group.retain(|row| order(&row.values) == first);
            }
            if group.len() > 1 {
                if self.options.check_input_unique {
                    refused.insert(DUPLICATE);
                }
                // By the text of the whole row: nothing is less than anything, but for a last column, where the bracket follows.
                group.sort_by_key(|row| (&row.values, row.at.is_none(), row.at));
            }
            kept.push(group[0]);
        }
        kept
    }

    /// A snapshot: what its rows say, and what the absence of others says.
    pub fn snapshot(&mut self, rows: &[Row], reference: i64) -> Result<Outcome, Refused> {
        let options = self.options.clone();
        let reference = options.cut(reference);
        let mut tally = Tally::default();
        self.guard(reference, options.source_timestamp, &mut tally);
        if rows.is_empty()
            && let Some(outcome) = self.empty(options.delivery == Delivery::Full, &mut tally)
        {
            return outcome;
        }
        let kept = self.one_per_key(rows, &mut tally.refused);

        let mut after = self.versions.clone();
        for row in &kept {
            let versions = after.entry(row.key.clone()).or_default();
            if versions
                .last()
                .is_some_and(|last| last.end.is_none() && !options.reads(&row.key, last))
            {
                tally.refused.insert(RULE_BROKEN);
                continue;
            }
            let own = row.at.filter(|_| options.source_timestamp);
            let change = Change {
                options: &options,
                values: Some(&row.values),
                reference,
                at: own.map_or(reference, |at| options.cut(at)),
                skip: true,
                dated: options.source_timestamp,
                snapshot: true,
            };
            change.apply(versions, &[], &mut tally);
        }

        let part = |key: &Values, values: &Values, columns: &[Column]| -> Values {
            let value = |column: &Column| match column {
                Column::Key(at) => key[*at].clone(),
                Column::Value(at) => values[*at].clone(),
            };
            columns.iter().map(value).collect()
        };
        let delivered: BTreeSet<&Values> = kept.iter().map(|row| &row.key).collect();
        for (key, versions) in &mut after {
            let Some(last) = versions.last().cloned() else {
                continue;
            };
            let absence_counts = match &options.delivery {
                Delivery::Full => true,
                Delivery::Delta => false,
                Delivery::Scope(columns) => kept.iter().any(|row| {
                    part(&row.key, &row.values, columns) == part(key, &last.values, columns)
                }),
            };
            if delivered.contains(key)
                || last.end.is_some()
                || !absence_counts
                || !options.reads(key, &last)
            {
                continue;
            }
            let change = Change {
                options: &options,
                values: None,
                at: reference,
                reference,
                skip: false,
                dated: false,
                snapshot: true,
            };
            match options.source_timestamp {
                true => change.follow(versions, reference.max(last.from + options.tick())),
                false => change.apply(versions, &[], &mut tally),
            }
        }
        let reference = (!options.source_timestamp).then_some(reference);
        self.finish(after, tally, rows.len(), reference, false)
    }

    /// The events of each key in their order, preimages left out, a key that was changed into another one deleted.
    fn in_order(
        &self,
        events: &[Event],
        feed: Feed,
        reference: i64,
        refused: &mut Refused,
    ) -> BTreeMap<Values, Vec<(i64, Event)>> {
        let time = |event: &Event| event.at.filter(|_| feed.times).unwrap_or(reference);
        // Whether an image of before and one of after tell of the same update.
        let belong = |before: &Event, after: &Event| {
            time(before) == time(after)
                && match (before.ordinal, after.ordinal) {
                    (Some(before), Some(after)) => after == before || after == before + 1,
                    _ => true,
                }
        };
        let preimages: Vec<&Event> = events.iter().filter(|e| e.kind == Kind::Preimage).collect();
        let postimages: Vec<&Event> = events
            .iter()
            .filter(|e| e.kind == Kind::Postimage)
            .collect();
        let becomes_another = |gone: &Event| {
            !postimages
                .iter()
                .any(|e| e.key == gone.key && belong(gone, e))
                && postimages.iter().any(|e| {
                    e.key != gone.key
                        && belong(gone, e)
                        && !preimages.iter().any(|p| p.key == e.key && belong(p, e))
                })
        };
        let mut keys: BTreeMap<Values, Vec<(i64, Event)>> = BTreeMap::new();
        for event in events {
            let mut event = event.clone();
            match event.kind {
                Kind::Unknown => {
                    refused.insert(RULE_BROKEN);
                    continue;
                }
                Kind::Preimage if becomes_another(&event) => event.kind = Kind::Delete,
                Kind::Preimage => continue,
                _ => {}
            }
            keys.entry(event.key.clone())
                .or_default()
                .push((time(&event), event));
        }
        let place = |(at, event): &(i64, Event)| match self.options.dedup_order_by {
            _ if feed.ordinals => (*at, event.ordinal.unwrap_or_default()),
            Some(order) => (*at, -order(&event.values)),
            None => (*at, 0),
        };
        // Deletes are alike, and so is whatever brings the same content. If one of them only was read, the other counts.
        let content = |event: &Event| match event.kind {
            Kind::Delete => None,
            _ => Some(event.values.clone()),
        };
        for events in keys.values_mut() {
            events.sort_by_key(|told| (place(told), told.1.kind == Kind::Read));
            events.dedup_by(|next, event| {
                if place(next) != place(event) {
                    return false;
                }
                if content(&next.1) != content(&event.1) {
                    refused.insert(DUPLICATE);
                }
                true
            });
        }
        keys
    }

    /// A batch of change events.
    pub fn events(
        &mut self,
        events: &[Event],
        feed: Feed,
        reference: i64,
    ) -> Result<Outcome, Refused> {
        let options = self.options.clone();
        let reference = options.cut(reference);
        let mut tally = Tally::default();
        self.guard(reference, feed.times, &mut tally);
        if options.intermediate_versions && !feed.times {
            tally.refused.insert(ARGUMENT);
        }
        if events.is_empty()
            && let Some(outcome) = self.empty(false, &mut tally)
        {
            return outcome;
        }
        if events.iter().any(|event| event.key.contains(&None)) {
            tally.refused.insert(NULL_IN_KEY);
        }
        let with = events
            .iter()
            .filter(|event| event.ordinal.is_some())
            .count();
        if feed.ordinals && with > 0 && with < events.len() {
            tally.refused.insert(RULE_BROKEN);
        }
        let keys = self.in_order(events, feed, reference, &mut tally.refused);

        let mut after = self.versions.clone();
        for (key, events) in keys {
            let versions = after.entry(key).or_default();
            let before = versions.clone();
            for (number, (at, event)) in events.iter().enumerate() {
                let at = options.cut(*at);
                // The last of a batch counts; of a chain, the last of an instant.
                let counts = match events.get(number + 1) {
                    None => true,
                    Some((next, _)) => options.intermediate_versions && options.cut(*next) > at,
                };
                if !counts {
                    continue;
                }
                let change = Change {
                    options: &options,
                    values: (event.kind != Kind::Delete).then_some(&event.values),
                    at,
                    reference,
                    skip: options.skip_unchanged || event.kind == Kind::Read,
                    dated: feed.times,
                    snapshot: false,
                };
                change.apply(versions, &before, &mut tally);
            }
        }
        let reference = (!feed.times).then_some(reference);
        self.finish(after, tally, events.len(), reference, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1000;
    const HOUR: i64 = 3_600_000_000;

    fn instant(text: &str) -> i64 {
        let local: jiff::civil::DateTime = text.parse().expect("a time");
        let utc = local.to_zoned(jiff::tz::TimeZone::UTC).expect("an instant");
        utc.timestamp().as_microsecond()
    }

    fn values(texts: &[&str]) -> Values {
        let value = |text: &&str| (*text != "NULL").then(|| (*text).to_owned());
        texts.iter().map(value).collect()
    }

    fn row(key: &str, value: &str, at: Option<&str>) -> Row {
        Row {
            key: values(&[key]),
            values: values(&[value]),
            at: at.map(instant),
        }
    }

    fn event(key: &str, value: &str, kind: Kind, at: &str, ordinal: i64) -> Event {
        Event {
            kind,
            key: values(&[key]),
            values: values(&[value]),
            at: Some(instant(at)),
            ordinal: Some(ordinal),
        }
    }

    const STANDARD: Feed = Feed {
        ordinals: true,
        times: true,
    };

    fn history(unit: i64) -> History {
        History::new(Options::new(unit, 1))
    }

    /// The table: key, value, valid-from, valid-to.
    fn table(history: &History) -> Vec<[String; 4]> {
        let text = |at: i64| {
            let at = jiff::Timestamp::from_microsecond(at).expect("an instant");
            at.strftime("%Y-%m-%d %H:%M:%S%.f").to_string()
        };
        let mut lines = Vec::new();
        for (key, versions) in &history.versions {
            for version in versions {
                let to = version.end.map(|end| text(end - history.options.unit));
                lines.push([
                    key[0].clone().expect("a key"),
                    version.values[0].clone().unwrap_or("NULL".to_owned()),
                    text(version.from),
                    to.unwrap_or("9999-12-31 00:00:00".to_owned()),
                ]);
            }
        }
        lines
    }

    /// Compares with a table written as `key | value | from | to` lines.
    #[track_caller]
    fn expect(history: &History, lines: &str) {
        let expected: Vec<[String; 4]> = lines
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| {
                let cells: Vec<String> =
                    line.split('|').map(|cell| cell.trim().to_owned()).collect();
                cells.try_into().expect("four cells")
            })
            .collect();
        assert_eq!(table(history), expected);
    }

    #[track_caller]
    fn snapshot(history: &mut History, reference: &str, rows: &[Row]) -> Outcome {
        history
            .snapshot(rows, instant(reference))
            .expect("it is loaded")
    }

    #[track_caller]
    fn events(history: &mut History, reference: &str, events: &[Event]) -> Outcome {
        history
            .events(events, STANDARD, instant(reference))
            .expect("it is loaded")
    }

    // The examples of the specification ------------------------------------------------------------------------------

    fn two_airports(unit: i64) -> History {
        let mut history = history(unit);
        snapshot(
            &mut history,
            "2024-03-01 04:00:00",
            &[
                row("LSZB", "Bern Belp", None),
                row("LSGG", "Geneva Airport", None),
            ],
        );
        expect(
            &history,
            "LSGG | Geneva Airport | 2024-03-01 04:00:00 | 9999-12-31 00:00:00
             LSZB | Bern Belp      | 2024-03-01 04:00:00 | 9999-12-31 00:00:00",
        );
        snapshot(
            &mut history,
            "2024-03-02 04:00:00",
            &[row("LSZB", "Bern Belp Airport", None)],
        );
        history
    }

    #[test]
    fn snapshots_on_a_closed_axis() {
        expect(
            &two_airports(MS),
            "LSGG | Geneva Airport    | 2024-03-01 04:00:00 | 2024-03-02 03:59:59.999
             LSZB | Bern Belp         | 2024-03-01 04:00:00 | 2024-03-02 03:59:59.999
             LSZB | Bern Belp Airport | 2024-03-02 04:00:00 | 9999-12-31 00:00:00",
        );
    }

    #[test]
    fn snapshots_on_a_half_open_axis() {
        expect(
            &two_airports(0),
            "LSGG | Geneva Airport    | 2024-03-01 04:00:00 | 2024-03-02 04:00:00
             LSZB | Bern Belp         | 2024-03-01 04:00:00 | 2024-03-02 04:00:00
             LSZB | Bern Belp Airport | 2024-03-02 04:00:00 | 9999-12-31 00:00:00",
        );
    }

    /// Three batches of change events, read at three instants.
    fn airport_events(feed: Feed) -> History {
        let mut history = history(MS);
        let (read, created) = ("2024-03-01 22:00:00", "2024-03-08 17:40:00");
        let committed = "2024-03-05 09:15:00";
        let batches = [
            (
                "2024-03-02 04:00:00",
                vec![
                    event("LSZB", "Bern Belp", Kind::Read, read, 0),
                    event("LSGG", "Geneva Airport", Kind::Read, read, 1),
                    event("LSZR", "St. Gallen Altenrhein", Kind::Delete, read, 2),
                ],
            ),
            (
                "2024-03-06 04:00:00",
                vec![
                    event("LSZB", "Bern Belp", Kind::Preimage, committed, 0),
                    event("LSZB", "Bern Belp Airport", Kind::Postimage, committed, 1),
                    event("LSGG", "Geneva Airport", Kind::Delete, committed, 2),
                    event("LSZA", "Lugano", Kind::Delete, committed, 3),
                ],
            ),
            (
                "2024-03-09 04:00:00",
                vec![
                    event("LSZH", "Zurich", Kind::Insert, created, 0),
                    event("LSZH", "Zurich Airport", Kind::Postimage, created, 1),
                    event("LSZB", "Bern Airport", Kind::Postimage, created, 2),
                ],
            ),
        ];
        for (reference, batch) in batches {
            history
                .events(&batch, feed, instant(reference))
                .expect("it is loaded");
            // The same batch again has no effect.
            let again = history
                .events(&batch, feed, instant(reference))
                .expect("it is loaded");
            assert_eq!(again.status, Status::Unchanged);
        }
        history
    }

    #[test]
    fn change_events_by_their_commit_times() {
        expect(
            &airport_events(STANDARD),
            "LSGG | Geneva Airport    | 2024-03-01 22:00:00 | 2024-03-05 09:14:59.999
             LSZB | Bern Belp         | 2024-03-01 22:00:00 | 2024-03-05 09:14:59.999
             LSZB | Bern Belp Airport | 2024-03-05 09:15:00 | 2024-03-08 17:39:59.999
             LSZB | Bern Airport      | 2024-03-08 17:40:00 | 9999-12-31 00:00:00
             LSZH | Zurich Airport    | 2024-03-08 17:40:00 | 9999-12-31 00:00:00",
        );
    }

    #[test]
    fn change_events_by_the_reference_timestamp() {
        expect(
            &airport_events(Feed {
                ordinals: true,
                times: false,
            }),
            "LSGG | Geneva Airport    | 2024-03-02 04:00:00 | 2024-03-06 03:59:59.999
             LSZB | Bern Belp         | 2024-03-02 04:00:00 | 2024-03-06 03:59:59.999
             LSZB | Bern Belp Airport | 2024-03-06 04:00:00 | 2024-03-09 03:59:59.999
             LSZB | Bern Airport      | 2024-03-09 04:00:00 | 9999-12-31 00:00:00
             LSZH | Zurich Airport    | 2024-03-09 04:00:00 | 9999-12-31 00:00:00",
        );
    }

    // Source timestamps ----------------------------------------------------------------------------------------------

    const T1: &str = "2024-01-01 00:00:00";
    const T2: &str = "2024-01-02 00:00:00";
    const T3: &str = "2024-01-03 00:00:00";
    const T4: &str = "2024-01-04 00:00:00";
    const T5: &str = "2024-01-05 00:00:00";

    fn by_source(late: Late) -> History {
        let mut history = history(MS);
        history.options.source_timestamp = true;
        history.options.late = late;
        history
    }

    #[test]
    fn a_late_row_is_delayed() {
        let mut history = by_source(Late::Delay);
        snapshot(&mut history, T5, &[row("a", "5", Some(T1))]);
        snapshot(&mut history, T5, &[row("a", "10", Some(T3))]);
        let unchanged = snapshot(&mut history, T5, &[row("a", "10", Some(T4))]);
        assert_eq!(unchanged.status, Status::Unchanged);
        let late = snapshot(&mut history, T5, &[row("a", "20", Some(T2))]);
        assert_eq!(late.late_rows, 1);
        expect(
            &history,
            "a | 5  | 2024-01-01 00:00:00     | 2024-01-02 23:59:59.999
             a | 10 | 2024-01-03 00:00:00     | 2024-01-03 00:00:00
             a | 20 | 2024-01-03 00:00:00.001 | 9999-12-31 00:00:00",
        );
    }

    #[test]
    fn a_late_row_at_its_true_place() {
        let mut history = by_source(Late::Insert);
        snapshot(&mut history, T5, &[row("a", "5", Some(T2))]);
        snapshot(&mut history, T5, &[row("a", "10", Some(T4))]);
        let late = [row("a", "20", Some(T3))];
        snapshot(&mut history, T5, &late);
        snapshot(&mut history, T5, &[row("a", "0", Some(T1))]);
        assert_eq!(snapshot(&mut history, T5, &late).status, Status::Unchanged);
        expect(
            &history,
            "a | 0  | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999
             a | 5  | 2024-01-02 00:00:00 | 2024-01-02 23:59:59.999
             a | 20 | 2024-01-03 00:00:00 | 2024-01-03 23:59:59.999
             a | 10 | 2024-01-04 00:00:00 | 9999-12-31 00:00:00",
        );
        // It begins where another does: that one is replaced. Half a tick off: there is no room.
        snapshot(&mut history, T5, &[row("a", "21", Some(T3))]);
        assert_eq!(table(&history)[2][1], "21");
        let mut close = history.clone();
        close.options.unit = HOUR;
        let near = [row("a", "7", Some("2024-01-02 00:30:00"))];
        assert_eq!(
            close.snapshot(&near, instant(T5)),
            Err(Refused::from([ARGUMENT]))
        );
    }

    #[test]
    fn a_late_row_is_ignored_or_refused() {
        let mut history = by_source(Late::Ignore);
        snapshot(&mut history, T5, &[row("a", "5", Some(T2))]);
        let outcome = snapshot(&mut history, T5, &[row("a", "6", Some(T1))]);
        assert_eq!((outcome.status, outcome.late_rows), (Status::Unchanged, 1));
        history.options.late = Late::Error;
        let refused = history.snapshot(&[row("a", "6", Some(T1))], instant(T5));
        assert_eq!(refused, Err(Refused::from([RULE_BROKEN])));
    }

    #[test]
    fn absence_and_return_by_source_timestamps() {
        let mut history = by_source(Late::Delay);
        snapshot(
            &mut history,
            T2,
            &[row("a", "5", Some(T1)), row("b", "1", None)],
        );
        snapshot(&mut history, T4, &[row("b", "1", Some(T1))]);
        // Back with its old time: from the end of its last version.
        let outcome = snapshot(
            &mut history,
            T5,
            &[row("a", "5", Some(T1)), row("b", "1", Some(T1))],
        );
        assert_eq!((outcome.reappeared, outcome.late_rows), (1, 1));
        // Ahead of the clock, and then missing: one tick long.
        snapshot(
            &mut history,
            T5,
            &[
                row("a", "6", Some("2024-02-01 00:00:00")),
                row("b", "1", None),
            ],
        );
        snapshot(&mut history, T5, &[row("b", "1", None)]);
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 2024-01-03 23:59:59.999
             a | 5 | 2024-01-04 00:00:00 | 2024-01-31 23:59:59.999
             a | 6 | 2024-02-01 00:00:00 | 2024-02-01 00:00:00
             b | 1 | 2024-01-02 00:00:00 | 9999-12-31 00:00:00",
        );
    }

    #[test]
    fn a_late_row_on_a_half_open_axis() {
        let mut history = by_source(Late::Delay);
        history.options.unit = 0;
        snapshot(&mut history, T5, &[row("a", "5", Some(T2))]);
        snapshot(&mut history, T5, &[row("a", "6", Some(T1))]);
        expect(
            &history,
            "a | 5 | 2024-01-02 00:00:00        | 2024-01-02 00:00:00.000001
             a | 6 | 2024-01-02 00:00:00.000001 | 9999-12-31 00:00:00",
        );
    }

    // The same instant twice -----------------------------------------------------------------------------------------

    #[test]
    fn the_last_input_of_an_instant_counts() {
        let mut history = history(MS);
        snapshot(
            &mut history,
            T1,
            &[row("a", "5", None), row("b", "1", None)],
        );
        snapshot(&mut history, T2, &[row("a", "6", None)]);
        // Another value, then the first one, then gone, then back.
        snapshot(
            &mut history,
            T2,
            &[
                row("a", "7", None),
                row("b", "1", None),
                row("c", "1", None),
            ],
        );
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999
             a | 7 | 2024-01-02 00:00:00 | 9999-12-31 00:00:00
             b | 1 | 2024-01-01 00:00:00 | 9999-12-31 00:00:00
             c | 1 | 2024-01-02 00:00:00 | 9999-12-31 00:00:00",
        );
        snapshot(&mut history, T2, &[row("b", "1", None)]);
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999
             b | 1 | 2024-01-01 00:00:00 | 9999-12-31 00:00:00",
        );
        snapshot(
            &mut history,
            T2,
            &[row("a", "5", None), row("b", "1", None)],
        );
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 9999-12-31 00:00:00
             b | 1 | 2024-01-01 00:00:00 | 9999-12-31 00:00:00",
        );
    }

    #[test]
    fn an_older_instant_is_refused() {
        let mut history = history(MS);
        snapshot(
            &mut history,
            T1,
            &[row("a", "5", None), row("b", "1", None)],
        );
        snapshot(&mut history, T5, &[row("b", "1", None)]);
        // No version began after T3, but one ended.
        let refused = history.snapshot(&[row("a", "5", None)], instant(T3));
        assert_eq!(refused, Err(Refused::from([ARGUMENT])));
        // A day is the unit: not twice within one.
        history.options.unit = 24 * HOUR;
        snapshot(&mut history, T5, &[row("b", "2", None)]);
        let refused = history.snapshot(&[row("b", "3", None)], instant("2024-01-05 20:00:00"));
        assert_eq!(refused, Err(Refused::from([ARGUMENT])));
    }

    // Change events --------------------------------------------------------------------------------------------------

    fn changed_twice(late: Late) -> History {
        let mut history = history(MS);
        history.options.late = late;
        events(&mut history, T5, &[event("a", "5", Kind::Insert, T1, 0)]);
        events(&mut history, T5, &[event("a", "6", Kind::Postimage, T4, 0)]);
        history
    }

    #[test]
    fn a_late_event() {
        let late = [event("a", "9", Kind::Postimage, T2, 0)];
        let mut history = changed_twice(Late::Insert);
        events(&mut history, T5, &late);
        assert_eq!(events(&mut history, T5, &late).status, Status::Unchanged);
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999
             a | 9 | 2024-01-02 00:00:00 | 2024-01-03 23:59:59.999
             a | 6 | 2024-01-04 00:00:00 | 9999-12-31 00:00:00",
        );
        events(&mut history, T5, &[event("a", "9", Kind::Delete, T3, 0)]);
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999
             a | 9 | 2024-01-02 00:00:00 | 2024-01-02 23:59:59.999
             a | 6 | 2024-01-04 00:00:00 | 9999-12-31 00:00:00",
        );
        let mut history = changed_twice(Late::Delay);
        events(&mut history, T5, &late);
        assert_eq!(events(&mut history, T5, &late).status, Status::Unchanged);
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00     | 2024-01-03 23:59:59.999
             a | 6 | 2024-01-04 00:00:00     | 2024-01-04 00:00:00
             a | 9 | 2024-01-04 00:00:00.001 | 9999-12-31 00:00:00",
        );
    }

    #[test]
    fn a_delete_at_the_begin_of_the_current_version() {
        let mut history = history(MS);
        events(&mut history, T5, &[event("a", "6", Kind::Insert, T4, 0)]);
        let delete = [event("a", "6", Kind::Delete, T4, 1)];
        events(&mut history, T5, &delete);
        events(&mut history, T5, &[event("a", "6", Kind::Insert, T4, 0)]);
        expect(
            &history,
            "a | 6 | 2024-01-04 00:00:00 | 2024-01-04 00:00:00",
        );
    }

    #[test]
    fn every_event_a_version() {
        let mut history = history(MS);
        history.options.intermediate_versions = true;
        let batch = [
            event("a", "5", Kind::Insert, T1, 0),
            event("a", "5", Kind::Delete, T2, 1),
            event("a", "5", Kind::Insert, T3, 2),
            event("a", "6", Kind::Postimage, T3, 3),
            event("b", "1", Kind::Insert, T1, 4),
            event("b", "1", Kind::Delete, T2, 5),
        ];
        events(&mut history, T5, &batch);
        assert_eq!(events(&mut history, T5, &batch).status, Status::Unchanged);
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999
             a | 6 | 2024-01-03 00:00:00 | 9999-12-31 00:00:00
             b | 1 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999",
        );
        // Two late ones stay in order, a tick apart.
        let late = [
            event("a", "7", Kind::Postimage, T1, 0),
            event("a", "8", Kind::Postimage, T2, 1),
        ];
        events(&mut history, T5, &late);
        assert_eq!(events(&mut history, T5, &late).status, Status::Unchanged);
        assert_eq!(
            table(&history)[1..4],
            [
                ["a", "6", "2024-01-03 00:00:00", "2024-01-03 00:00:00"],
                [
                    "a",
                    "7",
                    "2024-01-03 00:00:00.001",
                    "2024-01-03 00:00:00.001"
                ],
                ["a", "8", "2024-01-03 00:00:00.002", "9999-12-31 00:00:00"],
            ]
        );
    }

    #[test]
    fn a_key_that_becomes_another() {
        let mut history = history(MS);
        events(&mut history, T5, &[event("a", "5", Kind::Insert, T1, 0)]);
        events(
            &mut history,
            T5,
            &[
                event("a", "5", Kind::Preimage, T2, 0),
                event("b", "5", Kind::Postimage, T2, 1),
            ],
        );
        expect(
            &history,
            "a | 5 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999
             b | 5 | 2024-01-02 00:00:00 | 9999-12-31 00:00:00",
        );
    }

    #[test]
    fn events_that_are_refused() {
        let refused = |batch: &[Event]| history(MS).events(batch, STANDARD, instant(T5));
        let one = event("a", "5", Kind::Insert, T1, 0);
        let mut other = one.clone();
        other.values = values(&["6"]);
        assert_eq!(
            refused(&[one.clone(), other]),
            Err(Refused::from([DUPLICATE]))
        );
        assert!(refused(&[one.clone(), one.clone()]).is_ok());
        let mut without = event("b", "5", Kind::Insert, T1, 0);
        without.ordinal = None;
        assert_eq!(
            refused(&[one.clone(), without]),
            Err(Refused::from([RULE_BROKEN]))
        );
        let mut unknown = one.clone();
        unknown.kind = Kind::Unknown;
        assert_eq!(refused(&[unknown]), Err(Refused::from([RULE_BROKEN])));
        let mut nameless = one;
        nameless.key = values(&["NULL"]);
        assert_eq!(refused(&[nameless]), Err(Refused::from([NULL_IN_KEY])));
    }

    #[test]
    fn read_events_and_unchanged_ones() {
        let mut history = history(MS);
        events(&mut history, T5, &[event("a", "5", Kind::Insert, T1, 0)]);
        let read = [event("a", "5", Kind::Read, T2, 0)];
        assert_eq!(events(&mut history, T5, &read).status, Status::Unchanged);
        let update = [event("a", "5", Kind::Postimage, T2, 0)];
        let mut skipping = history.clone();
        skipping.options.skip_unchanged = true;
        assert_eq!(events(&mut skipping, T5, &update).status, Status::Unchanged);
        assert_eq!(events(&mut history, T5, &update).status, Status::Loaded);
    }

    // Delivery and guards --------------------------------------------------------------------------------------------

    #[test]
    fn absence_by_delivery() {
        let mut whole = history(MS);
        snapshot(
            &mut whole,
            T1,
            &[
                row("a", "x", None),
                row("b", "x", None),
                row("c", "y", None),
            ],
        );
        let input = [row("a", "x", None)];
        let open_after = |delivery: Delivery| {
            let mut history = whole.clone();
            history.options.delivery = delivery;
            snapshot(&mut history, T2, &input);
            let current = history.versions.iter().filter(|(_, v)| v[0].end.is_none());
            current
                .map(|(key, _)| key[0].clone().expect("a key"))
                .collect::<String>()
        };
        assert_eq!(open_after(Delivery::Full), "a");
        assert_eq!(open_after(Delivery::Delta), "abc");
        assert_eq!(open_after(Delivery::Scope(vec![Column::Value(0)])), "ac");
    }

    #[test]
    fn empty_and_doubtful_input() {
        let mut whole = history(MS);
        snapshot(&mut whole, T1, &[row("a", "1", None), row("b", "1", None)]);
        assert_eq!(
            whole.snapshot(&[], instant(T2)),
            Err(Refused::from([NO_DATA]))
        );
        let mut delta = whole.clone();
        delta.options.delivery = Delivery::Delta;
        assert_eq!(snapshot(&mut delta, T2, &[]).status, Status::Skipped);
        let mut closing = whole.clone();
        closing.options.on_empty = Some(OnEmpty::Close);
        snapshot(&mut closing, T2, &[]);
        assert!(
            closing
                .versions
                .values()
                .all(|versions| versions[0].end.is_some())
        );

        whole.options.max_closed_percent = Some(49);
        let half = [row("a", "2", None)];
        assert_eq!(
            whole.snapshot(&half, instant(T2)),
            Err(Refused::from([RULE_BROKEN]))
        );
        whole.options.max_closed_percent = Some(50);
        let twice = [row("a", "2", None), row("a", "1", None)];
        assert_eq!(
            whole.snapshot(&twice, instant(T2)),
            Err(Refused::from([DUPLICATE]))
        );
        whole.options.check_input_unique = false;
        snapshot(&mut whole, T2, &twice);
        expect(
            &whole,
            "a | 1 | 2024-01-01 00:00:00 | 9999-12-31 00:00:00
             b | 1 | 2024-01-01 00:00:00 | 2024-01-01 23:59:59.999",
        );
        whole.options.existing_predicate = Some(|_, values| values[0].as_deref() != Some("1"));
        let outside = whole.snapshot(&[row("a", "1", None)], instant(T3));
        assert_eq!(outside, Err(Refused::from([RULE_BROKEN])));
    }
}
