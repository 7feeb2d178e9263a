//! Random snapshots and batches of change events, with deletes, returns, late, repeated and reordered rows, over random options and
//! kinds of tables, give the history that a small model gives; what the model refuses is refused and changes nothing, and
//! daybook.check_history finds nothing after any step.
//!
//! Cases that have failed once are kept in proptest-regressions and tried first, or written out at the end.

use std::collections::BTreeMap;

use daybook_tests::history::{
    Column, Delivery, Event, Feed, History, Kind, Late, OnEmpty, Options, Outcome, Refused, Row,
    Status, Values, Version,
};
use daybook_tests::{Client, Database, Failure, Session, failure};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner};

const UNITS: [(&str, i64); 5] = [
    ("0", 0),
    ("1 ms", 1_000),
    ("1 s", 1_000_000),
    ("1 h", 3_600_000_000),
    ("1 day", 86_400_000_000),
];
/// No clock is set in them in the days around `START`.
const ZONES: [&str; 3] = ["UTC", "Europe/Berlin", "America/St_Johns"];
/// 2024-06-10 00:00 UTC.
const START: i64 = 1_717_977_600_000_000;
/// The half tick of the first run, before it is moved; versions of tables that are taken over are older.
const FIRST_RUN: i64 = 30;

// What a case consists of ---------------------------------------------------------------------------------------------

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Horizon {
    Literal,
    Infinity,
    Null,
}

impl Horizon {
    fn setting(self) -> &'static str {
        match self {
            Horizon::Literal => "9999-12-31 00:00:00",
            Horizon::Infinity => "infinity",
            Horizon::Null => "null",
        }
    }
}

/// A table that is there before daybook.
#[derive(Debug, Clone)]
struct TakenOver {
    timestamps: bool,
    hash: Option<&'static str>,
    dummy: bool,
    constraints: bool,
    /// The versions of each key.
    versions: Vec<Vec<Old>>,
}

/// A version that is there already, in ticks.
#[derive(Debug, Clone)]
struct Old {
    gap: i64,
    length: i64,
    open: bool,
    values: NewValues,
}

/// The number of each value; see `C1` and `C2`.
type NewValues = (usize, usize);

const C1: [Option<&str>; 3] = [None, Some("a"), Some("b")];
const C2: [Option<&str>; 3] = [None, Some("1"), Some("2")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Change events have the standard columns; snapshots have none of them.
    Standard { commit: bool, ordinal: bool },
    /// Change events have a column of their own, and there are no snapshots.
    Custom,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    All,
    ButSecond,
    OnlyFirst,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivered {
    Full,
    Delta,
    ScopeKey,
    ScopeValue,
    ScopeBoth,
}

#[derive(Debug, Clone)]
struct Setup {
    unit: usize,
    zone: usize,
    horizon: Horizon,
    own_names: bool,
    taken_over: Option<TakenOver>,
    composite: bool,
    source: Source,
    /// Times in the sources have no time zone.
    local_times: bool,
    source_timestamp: bool,
    commit_times_used: bool,
    compared: Compared,
    late: Late,
    delivered: Delivered,
    skip_unchanged: bool,
    intermediate_versions: bool,
    check_input_unique: bool,
    dedup: bool,
    on_empty: Option<OnEmpty>,
    max_closed_percent: Option<usize>,
    existing_predicate: bool,
}

/// A row of an input. Times are half ticks after the reference timestamp.
#[derive(Debug, Clone)]
struct NewRow {
    key: Option<usize>,
    values: NewValues,
    at: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
enum Ordinal {
    Next,
    Same,
    Other(i64),
    Null,
}

#[derive(Debug, Clone)]
struct NewEvent {
    row: NewRow,
    kind: Kind,
    ordinal: Ordinal,
    /// Another event of the same time follows, of this kind, key and content.
    twin: Option<(Kind, usize, NewValues, Ordinal)>,
}

#[derive(Debug, Clone)]
enum Input {
    Snapshot(Vec<NewRow>),
    Events(Vec<NewEvent>),
    /// What an earlier step has brought, in another order.
    Again(usize),
}

#[derive(Debug, Clone)]
struct Step {
    /// Half ticks since the step before.
    advance: i64,
    input: Input,
    dry_run_first: bool,
    report: bool,
}

#[derive(Debug, Clone)]
struct Case {
    setup: Setup,
    steps: Vec<Step>,
}

fn values() -> impl Strategy<Value = NewValues> {
    (0..3_usize, 0..3_usize)
}

fn time() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        1 => Just(None),
        8 => (-8..2_i64).prop_map(Some),
        4 => (-4..1_i64).prop_map(|ticks| Some(2 * ticks)),
    ]
}

fn taken_over() -> impl Strategy<Value = TakenOver> {
    let old =
        (0..3_i64, 1..4_i64, any::<bool>(), values()).prop_map(|(gap, length, open, values)| Old {
            gap,
            length,
            open,
            values,
        });
    (
        any::<bool>(),
        prop_oneof![Just(None), Just(Some("integer")), Just(Some("bytea"))],
        any::<bool>(),
        any::<bool>(),
        prop::collection::vec(prop::collection::vec(old, 0..4), 4),
    )
        .prop_map(
            |(timestamps, hash, dummy, constraints, versions)| TakenOver {
                timestamps,
                hash,
                dummy,
                constraints,
                versions,
            },
        )
}

fn setup() -> impl Strategy<Value = Setup> {
    let tables = (
        0..UNITS.len(),
        0..ZONES.len(),
        prop_oneof![3 => Just(Horizon::Literal), 2 => Just(Horizon::Infinity), 1 => Just(Horizon::Null)],
        prop::bool::weighted(0.2),
        prop::option::weighted(0.4, taken_over()),
        prop::bool::weighted(0.3),
    );
    let sources = (
        prop_oneof![
            6 => (prop::bool::weighted(0.8), prop::bool::weighted(0.8))
                .prop_map(|(commit, ordinal)| Source::Standard { commit, ordinal }),
            1 => Just(Source::Custom),
        ],
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.4),
        prop::bool::weighted(0.8),
        prop_oneof![4 => Just(Compared::All), 1 => Just(Compared::ButSecond), 1 => Just(Compared::OnlyFirst)],
        prop_oneof![3 => Just(Late::Delay), 3 => Just(Late::Insert), 1 => Just(Late::Ignore), 1 => Just(Late::Error)],
        prop_oneof![
            8 => Just(Delivered::Full),
            2 => Just(Delivered::Delta),
            1 => Just(Delivered::ScopeKey),
            1 => Just(Delivered::ScopeValue),
            1 => Just(Delivered::ScopeBoth),
        ],
    );
    let choices = (
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.4),
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.2),
        prop_oneof![
            3 => Just(None),
            1 => Just(Some(OnEmpty::Error)),
            1 => Just(Some(OnEmpty::Skip)),
            1 => Just(Some(OnEmpty::Close)),
        ],
        prop::option::weighted(0.1, prop_oneof![Just(0), Just(50), Just(67)]),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
    );
    (tables, sources, choices).prop_map(|(tables, sources, choices)| {
        let (unit, zone, horizon, own_names, taken_over, composite) = tables;
        let (source, local_times, source_timestamp, commit_times_used, compared, late, delivered) =
            sources;
        let (
            skip_unchanged,
            intermediate_versions,
            unique,
            dedup,
            on_empty,
            max_closed_percent,
            existing_predicate,
            without_times_too,
        ) = choices;
        let mut setup = Setup {
            unit,
            zone,
            horizon,
            own_names,
            taken_over,
            composite,
            source,
            local_times,
            source_timestamp,
            commit_times_used,
            compared,
            late,
            delivered,
            skip_unchanged,
            intermediate_versions,
            check_input_unique: unique,
            dedup,
            on_empty,
            max_closed_percent,
            existing_predicate,
        };
        // What registration refuses: a list of compared columns beside a column of change types, closing all where absence
        // closes nothing.
        if source == Source::Custom && compared == Compared::OnlyFirst {
            setup.compared = Compared::All;
        }
        if on_empty == Some(OnEmpty::Close)
            && (delivered != Delivered::Full || source == Source::Custom)
        {
            setup.on_empty = None;
        }
        // Refused at registration, or in every run: once in a while.
        if !setup.feed().times && (source == Source::Custom || !without_times_too) {
            setup.intermediate_versions = false;
        }
        setup
    })
}

fn snapshot() -> impl Strategy<Value = Vec<NewRow>> {
    let rows: Vec<_> = (0..4)
        .map(|key| {
            let row = (values(), time()).prop_map(move |(values, at)| NewRow {
                key: Some(key),
                values,
                at,
            });
            prop::option::weighted(0.65, row)
        })
        .collect();
    let more = (prop::option::weighted(0.7, 0..4_usize), values(), time())
        .prop_map(|(key, values, at)| NewRow { key, values, at });
    (
        rows,
        prop::option::weighted(0.12, more),
        prop::bool::weighted(0.05),
    )
        .prop_map(|(rows, more, none)| match none {
            true => Vec::new(),
            false => rows.into_iter().flatten().chain(more).collect(),
        })
}

fn event() -> impl Strategy<Value = NewEvent> {
    let ordinal = || {
        prop_oneof![
            24 => Just(Ordinal::Next),
            2 => Just(Ordinal::Same),
            2 => (0..4_i64).prop_map(Ordinal::Other),
            1 => Just(Ordinal::Null),
        ]
    };
    let kind = prop_oneof![
        12 => Just(Kind::Insert),
        24 => Just(Kind::Postimage),
        16 => Just(Kind::Delete),
        10 => Just(Kind::Read),
        3 => Just(Kind::Preimage),
        1 => Just(Kind::Unknown),
    ];
    let one = (
        prop::option::weighted(0.99, 0..4_usize),
        values(),
        time(),
        kind,
        ordinal(),
    )
        .prop_map(|(key, values, at, kind, ordinal)| NewEvent {
            row: NewRow { key, values, at },
            kind,
            ordinal,
            twin: None,
        });
    // The images before and after an update, which may be one of the key.
    let update = (
        (0..4_usize, prop::option::weighted(0.4, 0..4_usize)),
        (values(), values()),
        time(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|((key, other), (old, new), at, same, backwards)| {
            let ordinal = if same { Ordinal::Same } else { Ordinal::Next };
            let row = |key, values| NewRow {
                key: Some(key),
                values,
                at,
            };
            let other = other.unwrap_or(key);
            if backwards && same {
                NewEvent {
                    row: row(other, new),
                    kind: Kind::Postimage,
                    ordinal: Ordinal::Next,
                    twin: Some((Kind::Preimage, key, old, ordinal)),
                }
            } else {
                NewEvent {
                    row: row(key, old),
                    kind: Kind::Preimage,
                    ordinal: Ordinal::Next,
                    twin: Some((Kind::Postimage, other, new, ordinal)),
                }
            }
        });
    prop_oneof![3 => one, 1 => update]
}

fn step() -> impl Strategy<Value = Step> {
    (
        prop_oneof![
            4 => Just(0_i64),
            3 => Just(1),
            6 => Just(2),
            4 => Just(3),
            4 => Just(4),
            2 => Just(8),
            1 => Just(-1),
            1 => Just(-3),
        ],
        prop_oneof![
            6 => snapshot().prop_map(Input::Snapshot),
            6 => prop::collection::vec(event(), 0..6).prop_map(Input::Events),
            3 => (1..4_usize).prop_map(Input::Again),
        ],
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(advance, input, dry_run_first, report)| Step {
            advance,
            input,
            dry_run_first,
            report,
        })
}

fn case() -> impl Strategy<Value = Case> {
    (setup(), prop::collection::vec(step(), 1..6)).prop_map(|(setup, steps)| Case { setup, steps })
}

// What the case means -------------------------------------------------------------------------------------------------

/// The rows that a step brings.
#[derive(Debug, Clone)]
enum Rows {
    Snapshot(Vec<Row>),
    Events(Vec<Event>),
}

impl Setup {
    /// Half a tick.
    fn half(&self) -> i64 {
        (UNITS[self.unit].1 / 2).max(1)
    }

    fn instant(&self, half_ticks: i64) -> i64 {
        START + half_ticks * self.half()
    }

    fn key(&self, key: Option<usize>) -> Values {
        let text = |text: &str| Some(text.to_owned());
        match key {
            _ if !self.composite => vec![key.map(|key| key.to_string())],
            // A part of the key is missing.
            None => vec![text("1"), None],
            Some(key) => vec![text(["0", "1"][key / 2 % 2]), text(["x", "y"][key % 2])],
        }
    }

    fn values(values: NewValues) -> Values {
        vec![
            C1[values.0].map(str::to_owned),
            C2[values.1].map(str::to_owned),
        ]
    }

    fn keys(&self) -> &'static [&'static str] {
        match self.composite {
            true => &["k", "k2"],
            false => &["k"],
        }
    }

    fn row(&self, new: &NewRow, reference: i64) -> Row {
        Row {
            key: self.key(new.key),
            values: Self::values(new.values),
            at: new.at.map(|at| self.instant(reference + at)),
        }
    }

    /// How the events say what they are and when they were.
    fn feed(&self) -> Feed {
        match self.source {
            Source::Standard { commit, ordinal } => Feed {
                ordinals: ordinal,
                times: self.source_timestamp || commit && self.commit_times_used,
            },
            Source::Custom => Feed {
                ordinals: false,
                times: self.source_timestamp,
            },
        }
    }

    fn has_ordinals(&self) -> bool {
        matches!(self.source, Source::Standard { ordinal: true, .. })
    }

    fn events(&self, new: &[NewEvent], reference: i64) -> Vec<Event> {
        let mut next = 0;
        let mut events: Vec<Event> = Vec::new();
        let mut add = |row: Row, kind: Kind, ordinal: Ordinal| {
            let ordinal = match ordinal {
                Ordinal::Next => {
                    next += 1;
                    Some(next)
                }
                Ordinal::Same => Some(next),
                Ordinal::Other(number) => Some(number),
                Ordinal::Null => None,
            };
            events.push(Event {
                // With a column of the source's own, there are only deletes and others.
                kind: match (self.source, kind) {
                    (Source::Custom, Kind::Read) => Kind::Insert,
                    (Source::Custom, Kind::Preimage) => Kind::Postimage,
                    _ => kind,
                },
                key: row.key,
                values: row.values,
                at: row.at,
                ordinal: ordinal.filter(|_| self.has_ordinals()),
            });
        };
        for event in new {
            let row = self.row(&event.row, reference);
            let at = row.at;
            add(row, event.kind, event.ordinal);
            if let Some((kind, key, values, ordinal)) = event.twin {
                let twin = Row {
                    key: self.key(Some(key)),
                    values: Self::values(values),
                    at,
                };
                add(twin, kind, ordinal);
            }
        }
        events
    }

    fn options(&self) -> Options {
        Options {
            compared: match self.compared {
                Compared::All => vec![true, true],
                Compared::ButSecond | Compared::OnlyFirst => vec![true, false],
            },
            source_timestamp: self.source_timestamp,
            late: self.late,
            delivery: match self.delivered {
                Delivered::Full => Delivery::Full,
                Delivered::Delta => Delivery::Delta,
                Delivered::ScopeKey => Delivery::Scope(vec![Column::Key(0)]),
                Delivered::ScopeValue => Delivery::Scope(vec![Column::Value(0)]),
                Delivered::ScopeBoth => Delivery::Scope(vec![Column::Value(0), Column::Value(1)]),
            },
            skip_unchanged: self.skip_unchanged,
            intermediate_versions: self.intermediate_versions,
            check_input_unique: self.check_input_unique,
            // The greatest of the second column, without one last.
            dedup_order_by: self.dedup.then_some(|values: &Values| {
                let value = values[1].as_ref();
                value.map_or(0, |value| -value.parse::<i64>().expect("a number"))
            }),
            on_empty: self.on_empty,
            max_closed_percent: self.max_closed_percent,
            existing_predicate: self
                .existing_predicate
                .then_some(|_, values| values[0].as_deref() != Some("b")),
            ..Options::new(UNITS[self.unit].1, 2)
        }
    }

    /// The history before the first run.
    fn history(&self) -> History {
        let mut history = History::new(self.options());
        let Some(table) = &self.taken_over else {
            return history;
        };
        let tick = UNITS[self.unit].1.max(1);
        for (key, olds) in table.versions.iter().enumerate() {
            let mut from = START;
            let mut versions: Vec<Version> = Vec::new();
            for (number, old) in olds.iter().enumerate() {
                from += old.gap * tick;
                let end = from + old.length * tick;
                let open = old.open && number + 1 == olds.len();
                versions.push(Version {
                    from,
                    end: (!open).then_some(end),
                    values: Self::values(old.values),
                });
                from = end;
            }
            if !versions.is_empty() {
                history.versions.insert(self.key(Some(key)), versions);
            }
        }
        history
    }
}

impl Case {
    /// The steps with their half tick and what they bring. Where a source has only snapshots, or only events, the one stands
    /// for the other.
    fn inputs(&self) -> Vec<(&Step, i64, Rows)> {
        let setup = &self.setup;
        let only_events = setup.source == Source::Custom;
        // A list of compared columns makes the columns of change events into data.
        let only_snapshots = setup.compared == Compared::OnlyFirst;
        let mut inputs: Vec<(&Step, i64, Rows)> = Vec::new();
        let mut now = FIRST_RUN;
        for step in &self.steps {
            now += step.advance;
            let rows = match &step.input {
                Input::Again(back) => match inputs
                    .len()
                    .checked_sub(*back)
                    .map(|at| inputs[at].2.clone())
                {
                    None => continue,
                    Some(Rows::Snapshot(mut rows)) => {
                        rows.reverse();
                        Rows::Snapshot(rows)
                    }
                    Some(Rows::Events(mut events)) => {
                        events.reverse();
                        Rows::Events(events)
                    }
                },
                Input::Snapshot(rows) if only_events => {
                    let event = |row: &NewRow| NewEvent {
                        row: row.clone(),
                        kind: Kind::Postimage,
                        ordinal: Ordinal::Next,
                        twin: None,
                    };
                    let events: Vec<NewEvent> = rows.iter().map(event).collect();
                    Rows::Events(setup.events(&events, now))
                }
                Input::Events(events) if only_snapshots => Rows::Snapshot(
                    events
                        .iter()
                        .map(|event| setup.row(&event.row, now))
                        .collect(),
                ),
                Input::Snapshot(rows) => {
                    Rows::Snapshot(rows.iter().map(|row| setup.row(row, now)).collect())
                }
                Input::Events(events) => Rows::Events(setup.events(events, now)),
            };
            inputs.push((step, now, rows));
        }
        inputs
    }
}

// The database --------------------------------------------------------------------------------------------------------

fn text(value: Option<&String>) -> String {
    value.map_or("NULL".to_owned(), |value| format!("'{value}'"))
}

fn instant_text(micros: i64) -> String {
    let at = jiff::Timestamp::from_microsecond(micros).expect("an instant");
    at.strftime("%Y-%m-%d %H:%M:%S%.f+00").to_string()
}

impl Setup {
    fn names(&self) -> [&'static str; 2] {
        match self.own_names {
            true => ["valid from", "valid_to"],
            false => ["dl_ts_captured", "dl_ts_delimited"],
        }
    }

    fn zone(&self) -> &'static str {
        ZONES[self.zone]
    }

    /// An instant as the sources, or a table that is taken over, hold it.
    fn time(&self, local: bool, at: Option<i64>) -> String {
        match at {
            None => "NULL".to_owned(),
            Some(at) if local => format!(
                "timestamptz '{}' AT TIME ZONE '{}'",
                instant_text(at),
                self.zone()
            ),
            Some(at) => format!("timestamptz '{}'", instant_text(at)),
        }
    }

    /// Makes sources and target, and registers the history.
    fn create(&self, session: &mut Client, history: &History) {
        let time = if self.local_times {
            "timestamp"
        } else {
            "timestamptz"
        };
        let keys = if self.composite {
            "k integer, k2 text"
        } else {
            "k integer"
        };
        let own_time = match self.source_timestamp {
            true => format!(", changed {time}"),
            false => String::new(),
        };
        let changes = match self.source {
            Source::Custom => ", op text".to_owned(),
            Source::Standard { commit, ordinal } => format!(
                ", _change_type text{}{}",
                if commit {
                    format!(", _commit_timestamp {time}")
                } else {
                    String::new()
                },
                if ordinal {
                    ", _change_ordinal bigint"
                } else {
                    ""
                },
            ),
        };
        let [captured, delimited] = self.names();
        let mut sql = format!(
            "DROP TABLE IF EXISTS snapshots, events, history;
             CREATE UNLOGGED TABLE snapshots ({keys}, c1 text, c2 integer{own_time});
             CREATE UNLOGGED TABLE events ({keys}, c1 text, c2 integer{own_time}{changes});
             SET daybook.upper_horizon = '{}';
             SET daybook.captured_column_name = '{captured}';
             SET daybook.delimited_column_name = '{delimited}';\n",
            self.horizon.setting(),
        );
        if let Some(table) = &self.taken_over {
            sql += &self.table_sql(table, history);
        }
        let names = |columns: &[&str]| columns.join(", ");
        let mut arguments = vec![
            format!("pk => '{}'", names(self.keys())),
            format!("time_axis_unit => '{}'", UNITS[self.unit].0),
            format!("zone => '{}'", self.zone()),
        ];
        let mut say = |yes: bool, argument: &str| {
            if yes {
                arguments.push(argument.to_owned());
            }
        };
        say(
            self.compared == Compared::ButSecond,
            "historize_blacklist => 'c2'",
        );
        say(
            self.compared == Compared::OnlyFirst,
            "historize_whitelist => 'c1'",
        );
        say(
            self.source_timestamp,
            "source_timestamp_column => 'changed'",
        );
        say(
            self.source == Source::Custom,
            "cdc_column => 'op', cdc_deleted_value => 'D'",
        );
        say(
            !self.commit_times_used,
            "cdc_timestamp_auto_detect => false",
        );
        say(self.skip_unchanged, "skip_unchanged => true");
        say(self.intermediate_versions, "intermediate_versions => true");
        say(!self.check_input_unique, "check_input_unique => false");
        say(self.dedup, "dedup_order_by => 'c2 DESC NULLS LAST'");
        say(
            self.existing_predicate,
            "existing_predicate => $$existing.c1 = 'a' OR existing.c1 IS NULL$$",
        );
        say(self.delivered == Delivered::Delta, "delivery => 'delta'");
        say(
            self.delivered == Delivered::ScopeKey,
            "delivery_scope => 'k'",
        );
        say(
            self.delivered == Delivered::ScopeValue,
            "delivery_scope => 'c1'",
        );
        say(
            self.delivered == Delivered::ScopeBoth,
            "delivery_scope => 'c1, c2'",
        );
        let late = match self.late {
            Late::Delay => "delay",
            Late::Insert => "insert",
            Late::Ignore => "ignore",
            Late::Error => "error",
        };
        say(true, &format!("late => '{late}'"));
        match self.on_empty {
            None => {}
            Some(OnEmpty::Error) => say(true, "on_empty => 'error'"),
            Some(OnEmpty::Skip) => say(true, "on_empty => 'skip'"),
            Some(OnEmpty::Close) => say(true, "on_empty => 'close'"),
        }
        if let Some(percent) = self.max_closed_percent {
            say(true, &format!("max_closed_percent => {percent}"));
        }
        let source = if self.source == Source::Custom {
            "events"
        } else {
            "snapshots"
        };
        sql += &format!(
            "SELECT register_history('history', '{source}', {});",
            arguments.join(", ")
        );
        session.run(&sql);
    }

    /// A table that is taken over, with its versions.
    fn table_sql(&self, table: &TakenOver, history: &History) -> String {
        let time = if table.timestamps {
            "timestamp"
        } else {
            "timestamptz"
        };
        let [captured, delimited] = self.names();
        let not_null = |yes: bool| if yes { " NOT NULL" } else { "" };
        let keys: Vec<String> = self
            .keys()
            .iter()
            .map(|key| {
                let kind = if *key == "k" { "integer" } else { "text" };
                format!("{key} {kind}{}", not_null(table.constraints))
            })
            .collect();
        let mut sql = format!(
            "CREATE TABLE history ({}, c1 text, c2 integer, \"{captured}\" {time}{}, {delimited} {time}{}{}{}{});\n",
            keys.join(", "),
            not_null(table.constraints),
            not_null(table.constraints && self.horizon != Horizon::Null),
            table
                .hash
                .map(|hash| format!(", dl_hash {hash}"))
                .unwrap_or_default(),
            if table.dummy {
                ", dl_dummy boolean"
            } else {
                ""
            },
            match table.constraints {
                true => format!(", PRIMARY KEY ({}, \"{captured}\")", self.keys().join(", ")),
                false => String::new(),
            },
        );
        let horizon = match self.horizon {
            Horizon::Null => "NULL".to_owned(),
            Horizon::Literal if !table.timestamps => "'9999-12-31 00:00:00+00'".to_owned(),
            horizon => format!("'{}'", horizon.setting()),
        };
        for (key, versions) in &history.versions {
            for version in versions {
                let key: Vec<String> = key.iter().map(|value| text(value.as_ref())).collect();
                let to = version.end.map(|end| end - UNITS[self.unit].1);
                sql += &format!(
                    "INSERT INTO history VALUES ({}, {}, {}, {}, {}{}{});\n",
                    key.join(", "),
                    text(version.values[0].as_ref()),
                    text(version.values[1].as_ref()),
                    self.time(table.timestamps, Some(version.from)),
                    match to {
                        Some(to) => self.time(table.timestamps, Some(to)),
                        None => horizon.clone(),
                    },
                    match table.hash {
                        Some("integer") => ", 7",
                        Some(_) => ", NULL",
                        None => "",
                    },
                    if table.dummy { ", true" } else { "" },
                );
            }
        }
        sql
    }

    /// Puts the rows into their source.
    fn fill(&self, session: &mut Client, rows: &Rows) {
        let mut lines = Vec::new();
        let line = |key: &Values, values: &Values, at: Option<i64>| {
            let cells: Vec<String> = key
                .iter()
                .chain(values)
                .map(|value| text(value.as_ref()))
                .collect();
            let own_time = match self.source_timestamp {
                true => format!(", {}", self.time(self.local_times, at)),
                false => String::new(),
            };
            format!("{}{own_time}", cells.join(", "))
        };
        let name = match rows {
            Rows::Snapshot(rows) => {
                lines.extend(rows.iter().map(|row| line(&row.key, &row.values, row.at)));
                "snapshots"
            }
            Rows::Events(events) => {
                for (number, event) in events.iter().enumerate() {
                    let custom = self.source == Source::Custom;
                    let kind = match event.kind {
                        Kind::Insert if custom => "'I'",
                        Kind::Delete if custom => "'D'",
                        Kind::Unknown if custom => "NULL",
                        _ if custom => "'U'",
                        Kind::Insert => "'insert'",
                        Kind::Preimage => "'update_preimage'",
                        Kind::Postimage => "'update_postimage'",
                        Kind::Delete => "'delete'",
                        Kind::Read => "'read'",
                        Kind::Unknown if number % 2 == 0 => "NULL",
                        Kind::Unknown => "'truncate'",
                    };
                    let mut cells =
                        vec![line(&event.key, &event.values, event.at), kind.to_owned()];
                    if let Source::Standard { commit, ordinal } = self.source {
                        if commit {
                            // Where the source's own time counts, this one does not.
                            let at = if self.source_timestamp {
                                Some(START)
                            } else {
                                event.at
                            };
                            cells.push(self.time(self.local_times, at));
                        }
                        if ordinal {
                            cells.push(event.ordinal.map_or("NULL".to_owned(), |o| o.to_string()));
                        }
                    }
                    lines.push(cells.join(", "));
                }
                "events"
            }
        };
        let mut sql = format!("DELETE FROM {name};");
        if !lines.is_empty() {
            sql += &format!("INSERT INTO {name} VALUES ({});", lines.join("), ("));
        }
        session.run(&sql);
    }

    /// Runs historize: the row it returns, or the error.
    fn historize(
        &self,
        session: &mut Client,
        rows: &Rows,
        reference: i64,
        more: &str,
    ) -> Result<BTreeMap<&'static str, String>, Failure> {
        const COLUMNS: [&str; 10] = [
            "run_id",
            "status",
            "mode",
            "rows_read",
            "versions_opened",
            "versions_closed",
            "rows_unchanged",
            "reappeared",
            "late_rows",
            "error",
        ];
        let source = match rows {
            Rows::Snapshot(_) => "snapshots",
            Rows::Events(_) => "events",
        };
        let sql = format!(
            "SELECT {} FROM historize('{source}'::regclass, 'history', reference_timestamp => '{}'{more})",
            COLUMNS.join(", "),
            instant_text(reference),
        );
        let messages = session.simple_query(&sql).map_err(|error| {
            let failure = failure(&error);
            assert!(
                failure.code.len() == 5 && !failure.code.starts_with("XX"),
                "{failure}"
            );
            failure
        })?;
        let mut found = Vec::new();
        for message in &messages {
            if let daybook_tests::SimpleQueryMessage::Row(row) = message {
                found.push(
                    COLUMNS
                        .iter()
                        .map(|column| (*column, row.get(*column).unwrap_or("NULL").to_owned()))
                        .collect(),
                );
            }
        }
        assert_eq!(found.len(), 1, "rows of historize");
        Ok(found.remove(0))
    }

    /// The table as the model holds it.
    fn read(&self, session: &mut Client) -> BTreeMap<Values, Vec<Version>> {
        let [captured, delimited] = self.names();
        let local = self
            .taken_over
            .as_ref()
            .is_some_and(|table| table.timestamps);
        let micros = |column: &str| match local {
            true => format!(
                "(extract(epoch FROM {column} AT TIME ZONE '{}') * 1000000)::bigint",
                self.zone()
            ),
            false => format!("(extract(epoch FROM {column}) * 1000000)::bigint"),
        };
        let to = match self.horizon {
            Horizon::Null => delimited.to_owned(),
            Horizon::Infinity => format!("nullif({delimited}, 'infinity')"),
            Horizon::Literal if local => format!("nullif({delimited}, '9999-12-31 00:00:00')"),
            Horizon::Literal => format!("nullif({delimited}, '9999-12-31 00:00:00+00')"),
        };
        let rows = session.rows(&format!(
            "SELECT {}, c1, c2, {}, {} FROM history ORDER BY \"{captured}\"",
            self.keys().join(", "),
            micros(&format!("\"{captured}\"")),
            micros(&to),
        ));
        let mut history: BTreeMap<Values, Vec<Version>> = BTreeMap::new();
        for row in rows {
            let cells: Values = row
                .into_iter()
                .map(|cell| (cell != "NULL").then_some(cell))
                .collect();
            let (key, rest) = cells.split_at(self.keys().len());
            let time = |cell: &Option<String>| {
                cell.as_ref()
                    .map(|micros| micros.parse::<i64>().expect("a number"))
            };
            history.entry(key.to_vec()).or_default().push(Version {
                from: time(&rest[2]).expect("a begin"),
                end: time(&rest[3]).map(|to| to + UNITS[self.unit].1),
                values: rest[..2].to_vec(),
            });
        }
        history
    }
}

// The comparison ------------------------------------------------------------------------------------------------------

/// Whether the row that historize returns says what the model says.
fn compare(
    setup: &Setup,
    found: &BTreeMap<&'static str, String>,
    rows: &Rows,
    expected: &Outcome,
) -> Result<(), TestCaseError> {
    let status = match expected.status {
        Status::Loaded => "loaded",
        Status::Unchanged => "unchanged",
        Status::Skipped => "skipped",
    };
    let mode = match rows {
        Rows::Snapshot(_) => "snapshot",
        Rows::Events(_) => "events",
    };
    prop_assert_eq!(&found["status"], status, "{:?}", found);
    prop_assert_eq!(&found["mode"], mode, "{:?}", found);
    for (name, number) in [
        ("rows_read", expected.rows_read),
        ("late_rows", expected.late_rows),
        ("reappeared", expected.reappeared),
    ] {
        // Within a chain of events these are not told apart.
        let chain = mode == "events" && setup.intermediate_versions;
        // Nor is what is put into a gap.
        let gaps = name == "reappeared" && setup.late == Late::Insert;
        if name != "rows_read" && (chain || gaps) {
            continue;
        }
        prop_assert_eq!(&found[name], &number.to_string(), "{}: {:?}", name, found);
    }
    prop_assert_eq!(&found["error"], "NULL");
    Ok(())
}

fn check(session: &mut Client, case: &Case) -> Result<(), TestCaseError> {
    let setup = &case.setup;
    let mut history = setup.history();
    setup.create(session, &history);

    for (number, (step, now, rows)) in case.inputs().into_iter().enumerate() {
        setup.fill(session, &rows);

        let reference = setup.instant(now);
        let before = history.versions.clone();
        let expected: Result<Outcome, Refused> = match &rows {
            Rows::Snapshot(rows) => history.snapshot(rows, reference),
            Rows::Events(events) => history.events(events, setup.feed(), reference),
        };
        prop_assert!(history.is_sound(), "the model, after step {}", number);
        if step.dry_run_first {
            let planned = setup.historize(session, &rows, reference, ", dry_run => true");
            match (&expected, &planned) {
                (Ok(_), Ok(row)) => prop_assert_eq!(&row["run_id"], "NULL"),
                (Err(codes), Err(failure)) => {
                    prop_assert!(
                        codes.contains(failure.code.as_str()),
                        "dry run, step {}: {} is none of {:?}",
                        number,
                        failure,
                        codes
                    );
                }
                (expected, found) => {
                    prop_assert!(
                        false,
                        "dry run, step {}: {:?}, not {:?}",
                        number,
                        found,
                        expected
                    )
                }
            }
            prop_assert_eq!(
                setup.read(session),
                before.clone(),
                "after the dry run of step {}",
                number
            );
        }
        let more = if step.report {
            ", on_error => 'report'"
        } else {
            ""
        };
        let found = setup.historize(session, &rows, reference, more);
        match (&expected, &found) {
            (Ok(outcome), Ok(row)) => {
                prop_assert_eq!(
                    setup.read(session),
                    history.versions.clone(),
                    "step {}: {:?}",
                    number,
                    rows
                );
                compare(setup, row, &rows, outcome)?;
            }
            (Err(_), Ok(row)) if step.report && row["status"] == "failed" => {
                prop_assert!(row["error"] != "NULL", "{:?}", row);
            }
            (Err(codes), Err(failure)) if !step.report => {
                prop_assert!(
                    codes.contains(failure.code.as_str()),
                    "step {}: {} is none of {:?}",
                    number,
                    failure,
                    codes
                );
            }
            (expected, found) => prop_assert!(
                false,
                "step {}: {:?}, not {:?}\n{:?}",
                number,
                found,
                expected,
                rows
            ),
        }
        if expected.is_err() {
            prop_assert_eq!(
                setup.read(session),
                before,
                "after the refusal of step {}",
                number
            );
        }
        let problems =
            session.rows("SELECT problem, key, detail FROM daybook.check_history('history')");
        prop_assert!(problems.is_empty(), "step {}: {:?}", number, problems);
    }
    Ok(())
}

/// A quarter of the sequences; more of them with DAYBOOK_SEQUENCES.
fn run(name: &str) {
    let sequences = std::env::var("DAYBOOK_SEQUENCES")
        .map_or(2_000, |number| number.parse().expect("a number"));
    let database = Database::new(name);
    let session = std::cell::RefCell::new(database.session());
    session.borrow_mut().run(
        "SET timezone = 'Asia/Tokyo'; SET datestyle = 'German, DMY'; SET synchronous_commit = off",
    );
    let mut runner = TestRunner::new(Config {
        cases: sequences / 4,
        max_shrink_iters: 800,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/history.txt",
        ))),
        ..Config::default()
    });
    let outcome = runner.run(&case(), |case| {
        let mut session = session.borrow_mut();
        check(&mut session, &case)
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

// The quarters run side by side.

#[test]
fn history_is_as_the_model_says() {
    run("history_1");
}

#[test]
fn history_is_as_the_model_says_2() {
    run("history_2");
}

#[test]
fn history_is_as_the_model_says_3() {
    run("history_3");
}

#[test]
fn history_is_as_the_model_says_4() {
    run("history_4");
}

// Cases that have failed once, written out: they stay what they are when the strategies above change. ----------------

fn plain() -> Setup {
    Setup {
        unit: 2,
        zone: 0,
        horizon: Horizon::Literal,
        own_names: false,
        taken_over: None,
        composite: false,
        source: Source::Standard {
            commit: true,
            ordinal: false,
        },
        local_times: false,
        source_timestamp: false,
        commit_times_used: true,
        compared: Compared::All,
        late: Late::Delay,
        delivered: Delivered::Full,
        skip_unchanged: false,
        intermediate_versions: false,
        check_input_unique: true,
        dedup: false,
        on_empty: None,
        max_closed_percent: None,
        existing_predicate: false,
    }
}

fn told(kind: Kind, key: usize, values: NewValues, at: i64) -> NewEvent {
    NewEvent {
        row: NewRow {
            key: Some(key),
            values,
            at: Some(at),
        },
        kind,
        ordinal: Ordinal::Next,
        twin: None,
    }
}

fn delivered(key: usize, values: NewValues, at: i64) -> NewRow {
    NewRow {
        key: Some(key),
        values,
        at: Some(at),
    }
}

fn run_kept(name: &str, setup: Setup, inputs: Vec<Input>) {
    let steps = inputs
        .into_iter()
        .map(|input| Step {
            advance: 1,
            input,
            dry_run_first: true,
            report: false,
        })
        .collect();
    let database = Database::new(name);
    if let Err(error) = check(&mut database.session(), &Case { setup, steps }) {
        panic!("{error}");
    }
}

#[test]
fn every_way_to_treat_late_rows_where_none_is_late() {
    for late in [Late::Delay, Late::Insert, Late::Ignore, Late::Error] {
        let setup = Setup {
            late,
            source_timestamp: true,
            ..plain()
        };
        let inputs = vec![
            Input::Snapshot(vec![delivered(0, (1, 1), -1)]),
            Input::Snapshot(vec![delivered(0, (1, 2), 1)]),
        ];
        run_kept("history_on_time", setup, inputs);
    }
}

#[test]
fn a_key_that_is_changed_and_read_at_once_is_a_tie() {
    let inputs = vec![Input::Events(vec![
        told(Kind::Read, 2, (0, 0), 0),
        told(Kind::Preimage, 2, (0, 0), 0),
        told(Kind::Postimage, 0, (0, 0), 0),
    ])];
    run_kept("history_tie", plain(), inputs);
}

#[test]
fn columns_that_are_not_compared_count_in_ties() {
    let setup = Setup {
        compared: Compared::ButSecond,
        ..plain()
    };
    let inputs = vec![Input::Events(vec![
        told(Kind::Postimage, 0, (2, 0), 0),
        told(Kind::Postimage, 0, (2, 1), 0),
    ])];
    run_kept("history_blacklist", setup, inputs);
}

#[test]
fn nothing_is_moved_behind_a_deletion() {
    for unit in 0..UNITS.len() {
        let setup = Setup {
            unit,
            intermediate_versions: true,
            ..plain()
        };
        let inputs = vec![Input::Events(vec![
            told(Kind::Insert, 2, (0, 0), -1),
            told(Kind::Delete, 2, (0, 0), 0),
            told(Kind::Read, 2, (0, 0), 1),
        ])];
        run_kept("history_behind", setup, inputs);
    }
}

#[test]
fn images_of_one_time_belong_together_whatever_the_order() {
    let setup = Setup {
        dedup: true,
        ..plain()
    };
    let inputs = vec![Input::Events(vec![
        told(Kind::Preimage, 0, (0, 2), 0),
        told(Kind::Postimage, 0, (0, 0), 0),
        told(Kind::Postimage, 1, (0, 0), 0),
    ])];
    run_kept("history_images", setup, inputs);
}

#[test]
fn what_comes_back_in_the_same_batch_has_not_ended() {
    let setup = Setup {
        intermediate_versions: true,
        max_closed_percent: Some(0),
        ..plain()
    };
    let inputs = vec![
        Input::Events(vec![told(Kind::Insert, 2, (0, 0), -5)]),
        Input::Events(vec![
            told(Kind::Delete, 2, (0, 0), 0),
            told(Kind::Insert, 2, (0, 0), 2),
        ]),
        // Written once more before it is deleted, it has ended all the same.
        Input::Events(vec![
            told(Kind::Postimage, 2, (0, 1), 4),
            told(Kind::Delete, 2, (0, 1), 6),
        ]),
    ];
    run_kept("history_percent", setup, inputs);
}

#[test]
fn a_late_chain_does_not_outlive_what_it_is_put_into() {
    let setup = Setup {
        unit: 0,
        late: Late::Insert,
        intermediate_versions: true,
        ..plain()
    };
    let inputs = vec![
        Input::Events(vec![
            told(Kind::Insert, 3, (0, 0), -5),
            told(Kind::Delete, 3, (0, 0), 0),
        ]),
        Input::Events(vec![
            told(Kind::Delete, 3, (0, 0), -6),
            told(Kind::Insert, 3, (0, 0), -2),
        ]),
    ];
    run_kept("history_chain", setup, inputs);
}

#[test]
fn events_that_make_no_version_take_no_room() {
    let setup = Setup {
        skip_unchanged: true,
        intermediate_versions: true,
        ..plain()
    };
    let inputs = vec![
        Input::Events(vec![
            told(Kind::Insert, 2, (2, 0), -3),
            told(Kind::Insert, 2, (2, 0), -2),
            told(Kind::Postimage, 2, (0, 0), -1),
        ]),
        Input::Events(vec![
            told(Kind::Postimage, 2, (0, 0), 2),
            told(Kind::Postimage, 2, (1, 0), 3),
        ]),
    ];
    run_kept("history_no_room", setup, inputs);
}
