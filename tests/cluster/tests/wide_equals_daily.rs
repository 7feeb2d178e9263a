//! Loading an interval at once, day by day, or in any split gives the same table, and loading again changes nothing: over random tables,
//! time types, grains, zones, rules, keys and ways to treat empty intervals, all compared with a small model of what a load is.
//!
//! Cases that have failed once are kept in proptest-regressions and tried first.

use std::collections::BTreeMap;

use daybook_tests::calendar::{Boundary, DAY, Grain, Zone, days};
use daybook_tests::{Client, Database, Session, failure};
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner};

const HOUR: i64 = 3_600_000_000;
const ZONES: [&str; 10] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Africa/Cairo",
    "Pacific/Apia",
    "America/Havana",
    "Asia/Kolkata",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Antarctica/Casey",
];
const GRAINS: [(&str, Grain); 9] = [
    ("1 day", Grain::Days(1)),
    ("7 days", Grain::Days(7)),
    ("3 days", Grain::Days(3)),
    ("1 month", Grain::Months(1)),
    ("3 months", Grain::Months(3)),
    ("1 hour", Grain::Elapsed(HOUR)),
    ("15 minutes", Grain::Elapsed(HOUR / 4)),
    ("6 hours", Grain::Elapsed(6 * HOUR)),
    ("24 hours", Grain::Elapsed(24 * HOUR)),
];

// What a case consists of ---------------------------------------------------------------------------------------------

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tz,
    Timestamp,
    Date,
}

impl Kind {
    fn sql(self) -> &'static str {
        match self {
            Kind::Tz => "timestamptz",
            Kind::Timestamp => "timestamp",
            Kind::Date => "date",
        }
    }

    /// The value that a boundary has in a column of this type.
    fn of(self, boundary: &Boundary) -> i64 {
        match self {
            Kind::Tz => boundary.instant,
            Kind::Timestamp => boundary.local,
            Kind::Date => boundary.local.div_euclid(DAY) * DAY,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum At {
    Null,
    Infinite,
    Near { boundary: usize, micros: i64 },
}

#[derive(Debug, Clone)]
struct NewRow {
    at: At,
    id: Option<i64>,
    label: Option<u8>,
    amount: Option<i64>,
}

#[derive(Debug, Clone)]
enum Change {
    Delete(usize),
    Insert(NewRow),
    SetAmount(usize, Option<i64>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    LabelIsNotX,
    AmountIsPositive,
    AmountDoubled,
    LabelFilled,
    AmountAtLeastParam,
    IdFolded,
    LabelWithAmount,
}

const RULES: [Rule; 7] = [
    Rule::LabelIsNotX,
    Rule::AmountIsPositive,
    Rule::AmountDoubled,
    Rule::LabelFilled,
    Rule::AmountAtLeastParam,
    Rule::IdFolded,
    Rule::LabelWithAmount,
];

impl Rule {
    /// Column, if it sets one, and expression.
    fn sql(self) -> (Option<&'static str>, &'static str) {
        match self {
            Rule::LabelIsNotX => (None, "label <> 'x'"),
            Rule::AmountIsPositive => (None, "amount > 0"),
            Rule::AmountDoubled => (Some("amount"), "amount * 2"),
            Rule::LabelFilled => (Some("label"), "coalesce(label, 'none')"),
            Rule::AmountAtLeastParam => (None, "amount >= param.least"),
            Rule::IdFolded => (Some("id"), "id % 4"),
            Rule::LabelWithAmount => (Some("label"), "upper(label) || amount::text"),
        }
    }

    /// Applies it to a row; whether the row stays.
    fn apply(self, row: &mut Row) -> bool {
        match self {
            Rule::LabelIsNotX => return row.label.as_ref().is_some_and(|label| label != "x"),
            Rule::AmountIsPositive => return row.amount.is_some_and(|amount| amount > 0),
            Rule::AmountAtLeastParam => return row.amount.is_some_and(|amount| amount >= LEAST),
            Rule::AmountDoubled => row.amount = row.amount.map(|amount| amount * 2),
            Rule::LabelFilled => row.label = Some(row.label.clone().unwrap_or("none".to_owned())),
            Rule::IdFolded => row.id = row.id.map(|id| id % 4),
            Rule::LabelWithAmount => {
                row.label = row
                    .label
                    .as_ref()
                    .zip(row.amount)
                    .map(|(label, amount)| format!("{}{amount}", label.to_uppercase()));
            }
        }
        true
    }
}

/// The value of `param.least`.
const LEAST: i64 = -5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    None,
    Unique,
    LargestAmount,
    LastSeen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnEmpty {
    Replace,
    Skip,
    Error,
}

impl OnEmpty {
    fn sql(self) -> &'static str {
        match self {
            OnEmpty::Replace => "replace",
            OnEmpty::Skip => "skip",
            OnEmpty::Error => "error",
        }
    }
}

/// One round: the source changes, then an interval is loaded in three ways.
#[derive(Debug, Clone)]
struct Round {
    changes: Vec<Change>,
    first: usize,
    length: usize,
    cuts: Vec<bool>,
    wide_pieces: Vec<bool>,
    backwards: bool,
    on_empty: OnEmpty,
    /// The clock stands at this boundary, and what is open is loaded all the same.
    clock: Option<usize>,
}

#[derive(Debug, Clone)]
struct Case {
    zone: usize,
    /// Which change of the zone's clock lies in the middle; without one, this many days after 2010-01-01.
    place: usize,
    grain: usize,
    origin: i64,
    time: Kind,
    stamp: Kind,
    intervals: usize,
    rules: Vec<Rule>,
    keys: Keys,
    rows: Vec<NewRow>,
    rounds: Vec<Round>,
}

fn new_row() -> impl Strategy<Value = NewRow> {
    let at = prop_oneof![
        1 => Just(At::Null),
        1 => Just(At::Infinite),
        6 => (0..14_usize, prop_oneof![Just(0), Just(-1), Just(1)])
            .prop_map(|(boundary, micros)| At::Near { boundary, micros }),
        12 => (0..14_usize, -30 * HOUR..30 * HOUR)
            .prop_map(|(boundary, micros)| At::Near { boundary, micros }),
    ];
    (
        at,
        prop::option::weighted(0.95, 0..20_i64),
        prop::option::weighted(0.8, 0..3_u8),
        prop::option::weighted(0.9, -10..30_i64),
    )
        .prop_map(|(at, id, label, amount)| NewRow {
            at,
            id,
            label,
            amount,
        })
}

fn round() -> impl Strategy<Value = Round> {
    let change = prop_oneof![
        (0..40_usize).prop_map(Change::Delete),
        new_row().prop_map(Change::Insert),
        (0..40_usize, prop::option::of(-10..30_i64))
            .prop_map(|(row, value)| Change::SetAmount(row, value)),
    ];
    (
        prop::collection::vec(change, 0..12),
        0..12_usize,
        1..13_usize,
        prop::collection::vec(any::<bool>(), 14),
        prop::collection::vec(any::<bool>(), 14),
        any::<bool>(),
        prop_oneof![
            4 => Just(OnEmpty::Replace),
            2 => Just(OnEmpty::Skip),
            1 => Just(OnEmpty::Error)
        ],
        prop::option::weighted(0.2, 0..14_usize),
    )
        .prop_map(
            |(changes, first, length, cuts, wide_pieces, backwards, on_empty, clock)| Round {
                changes,
                first,
                length,
                cuts,
                wide_pieces,
                backwards,
                on_empty,
                clock,
            },
        )
}

fn case() -> impl Strategy<Value = Case> {
    (
        (0..ZONES.len(), 0..40_usize, 0..GRAINS.len(), 0..4_usize),
        (
            prop_oneof![3 => Just(Kind::Tz), 3 => Just(Kind::Timestamp), 2 => Just(Kind::Date)],
            prop_oneof![3 => Just(Kind::Tz), 2 => Just(Kind::Timestamp), 2 => Just(Kind::Date)],
        ),
        2..13_usize,
        subsequence(RULES.to_vec(), 0..5).prop_shuffle(),
        prop_oneof![
            6 => Just(Keys::None),
            1 => Just(Keys::Unique),
            2 => Just(Keys::LargestAmount),
            1 => Just(Keys::LastSeen)
        ],
        prop::collection::vec(new_row(), 0..40),
        prop::collection::vec(round(), 1..4),
    )
        .prop_map(
            |(
                (zone, place, grain, origin),
                (time, stamp),
                intervals,
                rules,
                keys,
                rows,
                rounds,
            )| {
                let calendar = !matches!(GRAINS[grain].1, Grain::Elapsed(_));
                let monday = days(2001, 1, 1) * DAY;
                let mut origin = [
                    monday,
                    days(1999, 12, 31) * DAY,
                    monday + 2 * HOUR + HOUR / 2,
                    monday + 23 * HOUR,
                ][origin];
                // What registration refuses: dates finer than a day, stamps that cannot hold every start.
                let (mut time, mut stamp) = (time, stamp);
                if !calendar {
                    if time == Kind::Date {
                        time = Kind::Timestamp;
                    }
                    stamp = time;
                } else if time == Kind::Date || stamp == Kind::Date {
                    origin = origin.div_euclid(DAY) * DAY;
                }
                Case {
                    zone,
                    place,
                    grain,
                    origin,
                    time,
                    stamp,
                    intervals,
                    rules,
                    keys,
                    rows,
                    rounds,
                }
            },
        )
}

// The model -----------------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    seq: i64,
    id: Option<i64>,
    label: Option<String>,
    amount: Option<i64>,
    at: Option<i64>,
}

/// What one grain interval came to: status, rows read, dropped, deleted, inserted.
type Outcome = (String, i64, i64, i64, i64);

/// The target: its rows by the number of their grain interval.
type Target = BTreeMap<usize, Vec<Row>>;

struct Model<'a> {
    case: &'a Case,
    boundaries: &'a [Boundary],
}

impl Model<'_> {
    /// The rows of the source that grain interval `index` reads.
    fn read(&self, source: &[Row], index: usize) -> Vec<Row> {
        let kind = self.case.time;
        let (from, to) = (&self.boundaries[index], &self.boundaries[index + 1]);
        let inside = |at: i64| match kind {
            Kind::Tz => (from.instant..to.instant).contains(&at),
            _ => (from.local..to.local).contains(&at),
        };
        source
            .iter()
            .filter(|row| row.at.is_some_and(inside))
            .cloned()
            .collect()
    }

    /// What is to be written for grain interval `index`, or the SQLSTATE of what is wrong with it.
    fn rows(&self, source: &[Row], index: usize) -> Result<Vec<Row>, &'static str> {
        let mut rows = self.read(source, index);
        for rule in &self.case.rules {
            rows = rows
                .into_iter()
                .filter_map(|mut row| rule.apply(&mut row).then_some(row))
                .collect();
        }
        match self.case.keys {
            Keys::None => return Ok(rows),
            Keys::Unique => {}
            Keys::LargestAmount => rows.sort_by_key(|row| {
                (
                    row.amount.is_none(),
                    row.amount.map(|amount| -amount),
                    row.seq,
                )
            }),
            Keys::LastSeen => rows.sort_by_key(|row| -row.seq),
        }
        if self.case.keys != Keys::Unique {
            let mut seen = Vec::new();
            rows.retain(|row| {
                let first = !seen.contains(&row.id);
                seen.push(row.id);
                first
            });
        }
        if rows.iter().any(|row| row.id.is_none()) {
            return Err("23502");
        }
        let mut ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        ids.sort();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("21000");
        }
        Ok(rows)
    }

    /// Loads grain intervals into the target; without an effect if one of them must fail.
    fn load(
        &self,
        source: &[Row],
        target: &mut Target,
        range: std::ops::Range<usize>,
        round: &Round,
    ) -> Result<Vec<Outcome>, Vec<&'static str>> {
        let clock = clock(round, self.boundaries);
        let (mut outcomes, mut errors, mut after) = (Vec::new(), Vec::new(), target.clone());
        for index in range {
            let read = self.read(source, index).len() as i64;
            let rows = match self.rows(source, index) {
                Ok(rows) => rows,
                Err(code) => {
                    errors.push(code);
                    continue;
                }
            };
            if rows.is_empty() && round.on_empty == OnEmpty::Error {
                errors.push("P0002");
                continue;
            }
            let (inserted, dropped) = (rows.len() as i64, read - rows.len() as i64);
            let skipped = rows.is_empty() && round.on_empty == OnEmpty::Skip;
            let deleted = if skipped {
                0
            } else {
                after.insert(index, rows).map_or(0, |old| old.len() as i64)
            };
            let status = if skipped {
                "skipped"
            } else if clock.is_some_and(|clock| self.boundaries[index + 1].instant > clock) {
                "open"
            } else if inserted == 0 {
                "empty"
            } else {
                "loaded"
            };
            outcomes.push((status.to_owned(), read, dropped, deleted, inserted));
        }
        if errors.is_empty() {
            *target = after;
            Ok(outcomes)
        } else {
            Err(errors)
        }
    }

    /// The table, as the database shows it.
    fn table(&self, target: &Target) -> Vec<(Row, i64)> {
        let mut rows: Vec<(Row, i64)> = target
            .iter()
            .flat_map(|(index, rows)| {
                let stamp = self.case.stamp.of(&self.boundaries[*index]);
                rows.iter().map(move |row| (row.clone(), stamp))
            })
            .collect();
        rows.sort();
        rows
    }
}

fn clock(round: &Round, boundaries: &[Boundary]) -> Option<i64> {
    round
        .clock
        .map(|clock| boundaries[clock % boundaries.len()].instant)
}

// The database --------------------------------------------------------------------------------------------------------

/// A time in microseconds as SQL.
fn time_sql(kind: Kind) -> &'static str {
    match kind {
        Kind::Tz => "timestamptz '1970-01-01 00:00:00+00' + u.at * interval '1 microsecond'",
        _ => "timestamp '1970-01-01 00:00:00' + u.at * interval '1 microsecond'",
    }
}

const INFINITE: i64 = i64::MAX;

fn insert(session: &mut Client, kind: Kind, rows: &[Row]) {
    let statement = format!(
        "INSERT INTO src
         SELECT u.seq, u.id, u.label, u.amount, CASE WHEN u.at = {INFINITE} THEN 'infinity'::{kind} ELSE ({time})::{kind} END
         FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[]) AS u (seq, id, label, amount, at)",
        kind = kind.sql(),
        time = time_sql(kind).replace("u.at", &format!("nullif(u.at, {INFINITE})")),
    );
    let column = |of: fn(&Row) -> Option<i64>| rows.iter().map(of).collect::<Vec<_>>();
    session
        .execute(
            &statement,
            &[
                &column(|row| Some(row.seq)),
                &column(|row| row.id),
                &rows.iter().map(|row| row.label.clone()).collect::<Vec<_>>(),
                &column(|row| row.amount),
                &column(|row| row.at),
            ],
        )
        .expect("an insert");
}

fn table(session: &mut Client, name: &str) -> Vec<(Row, i64)> {
    let rows = session
        .query(
            &format!(
                "SELECT seq, id, label, amount, (extract(epoch FROM at) * 1000000)::bigint,
                        (extract(epoch FROM stamp) * 1000000)::bigint
                 FROM {name}"
            ),
            &[],
        )
        .expect("a table");
    let mut rows: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                Row {
                    seq: row.get(0),
                    id: row.get(1),
                    label: row.get(2),
                    amount: row.get(3),
                    at: row.get(4),
                },
                row.get(5),
            )
        })
        .collect();
    rows.sort();
    rows
}

fn instant_text(micros: i64) -> String {
    let at = jiff::Timestamp::from_microsecond(micros).expect("an instant");
    at.strftime("%Y-%m-%d %H:%M:%S%.f+00").to_string()
}

/// Runs load_interval; the outcomes, or the SQLSTATE. Starts and ends must be the boundaries.
fn load(
    session: &mut Client,
    target: &str,
    boundaries: &[Boundary],
    range: std::ops::Range<usize>,
    wide: bool,
    round: &Round,
) -> Result<Vec<Outcome>, String> {
    let (from, to) = (
        boundaries[range.start].instant,
        boundaries[range.end].instant,
    );
    let as_of = clock(round, boundaries).map(instant_text);
    let rows = session
        .query(
            "SELECT status, rows_read, rows_dropped, rows_deleted, rows_inserted,
                    (extract(epoch FROM interval_start) * 1000000)::bigint, (extract(epoch FROM interval_end) * 1000000)::bigint
             FROM load_interval($1::text::regclass, $2::text, $3::text, wide => $4, on_empty => $5,
                                params => '{\"least\": -5}', as_of => $6::text::timestamptz, allow_open => $7)",
            &[
                &target,
                &instant_text(from),
                &instant_text(to),
                &wide,
                &round.on_empty.sql(),
                &as_of,
                &as_of.is_some(),
            ],
        )
        .map_err(|error| {
            let failure = failure(&error);
            assert!(
                ["23502", "21000", "P0002"].contains(&failure.code.as_str()),
                "{failure}"
            );
            failure.code
        })?;
    let edges: Vec<(i64, i64)> = rows.iter().map(|row| (row.get(5), row.get(6))).collect();
    let expected: Vec<(i64, i64)> = range
        .map(|index| (boundaries[index].instant, boundaries[index + 1].instant))
        .collect();
    assert_eq!(edges, expected, "starts and ends of the intervals");
    Ok(rows
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4)))
        .collect())
}

fn setup(session: &mut Client, case: &Case) {
    let (time, stamp) = (case.time.sql(), case.stamp.sql());
    let mut sql = format!(
        "DROP TABLE IF EXISTS src, at_once, one_by_one, in_pieces;
         CREATE TABLE src (seq bigint, id bigint, label text, amount bigint, at {time});\n"
    );
    let keys = match case.keys {
        Keys::None => "",
        Keys::Unique => ", keys => 'id'",
        Keys::LargestAmount => ", keys => 'id', dedup_order_by => 'amount DESC NULLS LAST, seq'",
        Keys::LastSeen => ", keys => 'id', dedup_order_by => 'seq DESC'",
    };
    for target in TARGETS {
        sql += &format!(
            "CREATE TABLE {target} (amount bigint, stamp {stamp} NOT NULL, at {time}, label text, id bigint, seq bigint,
                                    loaded_at timestamptz);
             SELECT register_load('{target}', 'src', 'at', grain => '{}', zone => '{}', origin => '{}'::timestamptz AT TIME ZONE 'UTC',
                                  stamp_column => 'stamp'{keys});\n",
            GRAINS[case.grain].0,
            ZONES[case.zone],
            instant_text(case.origin),
        );
        for (number, rule) in case.rules.iter().enumerate() {
            let (column, expression) = rule.sql();
            let expression = expression.replace('\'', "''");
            sql += &match column {
                Some(column) => format!(
                    "SELECT register_rule('{target}', 'rule {number}', column_name => '{column}', expression => '{expression}');\n"
                ),
                None => format!(
                    "SELECT register_rule('{target}', 'rule {number}', filter => '{expression}');\n"
                ),
            };
        }
    }
    session.run(&sql);
}

const TARGETS: [&str; 3] = ["at_once", "one_by_one", "in_pieces"];

/// The pieces of a range that a round cuts it into.
fn pieces(round: &Round, range: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = range.start;
    for index in range.start + 1..=range.end {
        if index == range.end || round.cuts[index % round.cuts.len()] {
            pieces.push(start..index);
            start = index;
        }
    }
    if round.backwards {
        pieces.reverse();
    }
    pieces
}

fn check(session: &mut Client, zones: &[Zone], case: &Case) -> Result<(), TestCaseError> {
    let zone = &zones[case.zone];
    let grain = GRAINS[case.grain].1;
    // Around a change of the clock if the zone has one, else somewhere.
    let (first, last) = (days(2003, 1, 1) * DAY, days(2025, 1, 1) * DAY);
    let changes: Vec<i64> = zone
        .changes()
        .map(|(at, _)| at)
        .filter(|at| (first..last).contains(at))
        .collect();
    let middle = match changes.is_empty() {
        true => days(2010, 1, 1) * DAY + case.place as i64 * 17 * DAY,
        false => changes[case.place % changes.len()],
    };
    let length = match grain {
        Grain::Months(months) => months * 31 * DAY,
        Grain::Days(days) => days * DAY,
        Grain::Elapsed(micros) => micros,
    };
    let half = case.intervals as i64 / 2 + 1;
    let mut boundaries = grain.boundaries(
        zone,
        case.origin,
        middle - half * length,
        middle + 2 * (half + 2) * length,
    );
    boundaries.truncate(case.intervals + 1);
    prop_assert!(boundaries.len() >= 3);
    let count = boundaries.len() - 1;

    setup(session, case);
    let model = Model {
        case,
        boundaries: &boundaries,
    };
    let mut next = 0;
    let mut row = |new: &NewRow| {
        next += 1;
        let at = match new.at {
            At::Null => None,
            At::Infinite => Some(INFINITE),
            At::Near { boundary, micros } => {
                let boundary = &boundaries[boundary % boundaries.len()];
                Some(match case.time {
                    Kind::Tz => boundary.instant + micros,
                    Kind::Timestamp => boundary.local + micros,
                    Kind::Date => (boundary.local + micros).div_euclid(DAY) * DAY,
                })
            }
        };
        Row {
            seq: next,
            id: new.id,
            label: new
                .label
                .map(|label| ["x", "a", "b"][usize::from(label)].to_owned()),
            amount: new.amount,
            at,
        }
    };
    let mut source: Vec<Row> = case.rows.iter().map(&mut row).collect();
    insert(session, case.time, &source);
    let mut target = Target::new();

    for round in &case.rounds {
        for change in &round.changes {
            match change {
                Change::Insert(new) => {
                    let row = row(new);
                    insert(session, case.time, std::slice::from_ref(&row));
                    source.push(row);
                }
                Change::Delete(number) if !source.is_empty() => {
                    let gone = source.remove(number % source.len());
                    session.run(&format!("DELETE FROM src WHERE seq = {}", gone.seq));
                }
                Change::SetAmount(number, amount) if !source.is_empty() => {
                    let number = number % source.len();
                    source[number].amount = *amount;
                    let amount = amount.map_or("NULL".to_owned(), |amount| amount.to_string());
                    session.run(&format!(
                        "UPDATE src SET amount = {amount} WHERE seq = {}",
                        source[number].seq
                    ));
                }
                _ => {}
            }
        }
        let start = round.first % count;
        let range = start..(start + round.length).min(count);
        let expected = model.load(&source, &mut target, range.clone(), round);

        let at_once = load(session, "at_once", &boundaries, range.clone(), true, round);
        let one_by_one = load(
            session,
            "one_by_one",
            &boundaries,
            range.clone(),
            false,
            round,
        );
        // All pieces or none, as the other two.
        session.run("BEGIN");
        let mut in_pieces: Result<Vec<(usize, Vec<Outcome>)>, String> = Ok(Vec::new());
        for piece in pieces(round, range.clone()) {
            let wide = round.wide_pieces[piece.start % round.wide_pieces.len()];
            let outcome = load(
                session,
                "in_pieces",
                &boundaries,
                piece.clone(),
                wide,
                round,
            );
            in_pieces = match (in_pieces, outcome) {
                (Ok(mut all), Ok(outcome)) => {
                    all.push((piece.start, outcome));
                    Ok(all)
                }
                (_, Err(error)) | (Err(error), _) => Err(error),
            };
            if in_pieces.is_err() {
                break;
            }
        }
        session.run(if in_pieces.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        });
        let in_pieces = in_pieces.map(|mut pieces| {
            pieces.sort();
            pieces
                .into_iter()
                .flat_map(|(_, outcomes)| outcomes)
                .collect::<Vec<_>>()
        });

        for (name, found) in TARGETS.iter().zip([at_once, one_by_one, in_pieces]) {
            match (&expected, found) {
                (Ok(expected), found) => prop_assert_eq!(found.as_ref(), Ok(expected), "{}", name),
                (Err(codes), Err(code)) => {
                    prop_assert!(
                        codes.contains(&code.as_str()),
                        "{}: {} is none of {:?}",
                        name,
                        code,
                        codes
                    );
                }
                (Err(codes), Ok(_)) => {
                    prop_assert!(false, "{} should fail with one of {:?}", name, codes)
                }
            }
            prop_assert_eq!(table(session, name), model.table(&target), "{}", name);
        }
        // Once more: the same table, and every row deleted and inserted again.
        if expected.is_ok() {
            let again = load(
                session,
                "one_by_one",
                &boundaries,
                range.clone(),
                false,
                round,
            );
            let expected = model
                .load(&source, &mut target, range.clone(), round)
                .expect("as before");
            for outcome in &expected {
                prop_assert!(
                    outcome.3 == outcome.4,
                    "a rerun changes something: {:?}",
                    outcome
                );
            }
            prop_assert_eq!(again, Ok(expected));
            prop_assert_eq!(
                table(session, "one_by_one"),
                model.table(&target),
                "after a rerun"
            );
        }
    }
    let without_time = source.iter().filter(|row| row.at.is_none()).count();
    for name in TARGETS {
        let found = session.rows(&format!(
            "SELECT problem, row_count FROM daybook.check_load('{name}')"
        ));
        let expected: Vec<Vec<String>> = match without_time {
            0 => Vec::new(),
            rows => vec![vec!["source time is null".to_owned(), rows.to_string()]],
        };
        prop_assert_eq!(found, expected, "daybook.check_load('{}')", name);
    }
    Ok(())
}

fn run(name: &str, cases: u32) {
    let database = Database::new(name);
    let session = std::cell::RefCell::new(database.session());
    session
        .borrow_mut()
        .run("SET timezone = 'Asia/Tokyo'; SET datestyle = 'German, DMY'");
    let zones: Vec<Zone> = ZONES.iter().map(|name| Zone::named(name)).collect();
    let mut runner = TestRunner::new(Config {
        cases,
        max_shrink_iters: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/wide_equals_daily.txt",
        ))),
        ..Config::default()
    });
    let outcome = runner.run(&case(), |case| {
        let mut session = session.borrow_mut();
        // A panic in the middle may have left a transaction open.
        session.run("ROLLBACK");
        check(&mut session, &zones, &case)
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn wide_equals_daily_equals_any_split() {
    run("splits", 150);
}

/// The same again: two halves of the cases run side by side.
#[test]
fn wide_equals_daily_equals_any_split_too() {
    run("splits_too", 150);
}
