//! What is registered: loads, histories and their rules, read from the extension's tables into plain structs.

mod history;

use pgrx::pg_sys;
use serde::{Deserialize, Deserializer, Serialize};

use crate::calendar::{Calendar, Grain};
use crate::error::{Error, Result};
use crate::ident::{Ident, QualifiedName};
use crate::lock;
use crate::relation::Relation;
use crate::statement;
use crate::time::MICROS_PER_DAY;
use crate::time::TimeType;
use crate::zone::Zone;

pub use history::{DUMMY_COLUMN, Delivery, History, Horizon, Late, OnEmpty, Options};

/// What a rule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleKind {
    /// Keeps a row only where the expression is true.
    Filter,
    /// Sets this column to the value of the expression.
    Expression(Ident),
}

/// One registered step between reading and writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name, unique per target.
    pub name: String,
    /// What it does.
    pub kind: RuleKind,
    /// The SQL expression as registered.
    pub expression: String,
}

#[derive(Deserialize, Serialize)]
struct RuleRow {
    name: String,
    column_name: Option<Ident>,
    expression: String,
}

impl Rule {
    /// How messages speak of it.
    pub fn what(&self) -> String {
        match &self.kind {
            RuleKind::Filter => format!("the filter of rule \"{}\"", self.name),
            RuleKind::Expression(_) => format!("the expression of rule \"{}\"", self.name),
        }
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let RuleRow {
            name,
            column_name,
            expression,
        } = RuleRow::deserialize(deserializer)?;
        let kind = column_name.map_or(RuleKind::Filter, RuleKind::Expression);
        Ok(Self {
            name,
            kind,
            expression,
        })
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        let column_name = match &self.kind {
            RuleKind::Filter => None,
            RuleKind::Expression(column) => Some(column.clone()),
        };
        RuleRow {
            name: self.name.clone(),
            column_name,
            expression: self.expression.clone(),
        }
        .serialize(serializer)
    }
}

/// The version of an ordered list of rules over a source: the first 16 hexadecimal digits of a blake3 hash of the rules' kinds,
/// columns and texts in order, and of the source's query if it is a view. It holds no name of a rule and no OID.
pub fn rules_version(rules: &[Rule], source: &Relation) -> String {
    let mut hash = blake3::Hasher::new();
    let mut add = |part: &str| {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    };
    add("daybook rules 1");
    for rule in rules {
        match &rule.kind {
            RuleKind::Filter => add("filter"),
            RuleKind::Expression(column) => {
                add("expression");
                add(column.as_str());
            }
        }
        add(&rule.expression);
    }
    if let Some(definition) = &source.view_definition {
        add("view");
        add(definition);
    }
    hash.finalize().to_hex()[..16].to_owned()
}

#[derive(Deserialize)]
struct LoadRow {
    source_schema: Ident,
    source_name: Ident,
    time_column: Ident,
    grain_text: String,
    grain_months: i32,
    grain_days: i32,
    grain_micros: i64,
    zone: String,
    origin: i64,
    stamp_column: Ident,
    loaded_at_column: Ident,
    keys: Option<Vec<Ident>>,
    dedup_order_by: Option<String>,
    history_starts: Option<i64>,
    settle: i64,
    extra_columns_are_errors: bool,
}

#[derive(Deserialize)]
struct RegistrationRow {
    search_path: String,
    calendar: Option<String>,
    has_intervals: bool,
    first_interval: Option<i64>,
    rules: Vec<Rule>,
    load: Option<LoadRow>,
    history: Option<history::HistoryRow>,
}

/// What is registered for a target.
pub struct Registration {
    /// Schemas in which registered SQL finds its names.
    pub search_path: String,
    /// What recorded intervals were counted with, in words.
    pub calendar: Option<String>,
    /// Whether any interval is recorded.
    pub has_intervals: bool,
    /// Rules, in order.
    pub rules: Vec<Rule>,
    /// The load.
    pub load: Option<Load>,
    /// The history.
    pub history: Option<History>,
}

impl Registration {
    /// Looks up what is registered for a target; `None` if nothing is.
    pub fn find(target: pg_sys::Oid) -> Result<Option<Self>> {
        let row: Option<RegistrationRow> =
            statement::fetch(sql_file!("catalog/registration"), &[target.into()])?;
        row.map(|row| {
            let load = row
                .load
                .map(|load| Load::from_row(load, &row.search_path, &row.rules, row.first_interval));
            let history = row
                .history
                .map(|history| History::from_row(history, &row.search_path, &row.rules));
            Ok(Self {
                search_path: row.search_path,
                calendar: row.calendar,
                has_intervals: row.has_intervals,
                rules: row.rules,
                load: load.transpose()?,
                history,
            })
        })
        .transpose()
    }
}

/// A registered interval load.
#[derive(Clone)]
pub struct Load {
    /// The relation it reads, by name.
    pub source: QualifiedName,
    /// Column of source and target that says when a row happened.
    pub time_column: Ident,
    /// Length of a grain interval, as SQL writes it.
    pub grain_text: String,
    /// Grain, zone and origin.
    pub calendar: Calendar,
    /// Name of the zone.
    pub zone_name: String,
    /// Target column that holds the start of a row's grain interval.
    pub stamp_column: Ident,
    /// Target column that is filled with the time of the load, if the target has it.
    pub loaded_at_column: Ident,
    /// Columns that are unique within a grain interval.
    pub keys: Option<Vec<Ident>>,
    /// Order in which the first row of a key is kept.
    pub dedup_order_by: Option<String>,
    /// Start of the first interval that is due.
    pub history_starts: Option<i64>,
    /// Start of the first interval that was loaded.
    pub first_interval: Option<i64>,
    /// Microseconds from the end of an interval until it counts as closed.
    pub settle: i64,
    /// Whether source columns that the target lacks are errors.
    pub extra_columns_are_errors: bool,
    /// Schemas in which registered SQL finds its names.
    pub search_path: String,
    /// Rules, in order.
    pub rules: Vec<Rule>,
}

/// The types of the columns that a load lives by.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Type of the time column, in source and target.
    pub time: TimeType,
    /// Type of the stamp column.
    pub stamp: TimeType,
    /// Whether the target has the column for the time of the load.
    pub has_loaded_at: bool,
}

impl Load {
    fn from_row(
        row: LoadRow,
        search_path: &str,
        rules: &[Rule],
        first_interval: Option<i64>,
    ) -> Result<Self> {
        Ok(Self {
            source: QualifiedName {
                schema: row.source_schema,
                name: row.source_name,
            },
            time_column: row.time_column,
            grain_text: row.grain_text,
            calendar: Calendar {
                grain: Grain::new(row.grain_months, row.grain_days, row.grain_micros)?,
                zone: Zone::named(&row.zone)?,
                origin: row.origin,
            },
            zone_name: row.zone,
            stamp_column: row.stamp_column,
            loaded_at_column: row.loaded_at_column,
            keys: row.keys,
            dedup_order_by: row.dedup_order_by,
            history_starts: row.history_starts,
            first_interval,
            settle: row.settle,
            extra_columns_are_errors: row.extra_columns_are_errors,
            search_path: search_path.to_owned(),
            rules: rules.to_vec(),
        })
    }

    /// The load of a target; 42704 if none is registered.
    pub fn of(target: &Relation) -> Result<Self> {
        Registration::find(target.oid())?
            .and_then(|registration| registration.load)
            .ok_or_else(|| Self::missing(target))
    }

    /// The refusal that says how to register one.
    pub fn missing(target: &Relation) -> Error {
        let name = target.display_name();
        Error::undefined(format!("no load is registered for \"{name}\"")).hint(format!(
            "SELECT register_load('{name}', 'the_source', time_column => 'the_time_column');"
        ))
    }

    /// The source as it is now, held so that nobody drops or swaps it; 42P01 if there is none of that name.
    pub fn lock_source(&self) -> Result<pg_sys::Oid> {
        lock::keep_source(&self.source)
    }

    /// What intervals are counted with, in words: kept with the recorded intervals and compared when a load is registered again.
    pub fn calendar_in_words(&self) -> String {
        let origin = crate::bound::Bound::Local(self.calendar.origin);
        format!(
            "grain {} in zone {} from {origin}, time column {}, stamp column {}",
            self.grain_text, self.zone_name, self.time_column, self.stamp_column
        )
    }

    /// The types of the time and stamp columns, which must fit each other and the grain.
    ///
    /// Refused: columns that do not exist (42703); a time column that is not a date or timestamp or differs between source and
    /// target, a stamp column that cannot hold every boundary exactly (42804); a grain below a day for dates (22023).
    pub fn shape(&self, source: &Relation, target: &Relation) -> Result<Shape> {
        let find = |relation: &Relation, name: &Ident, role: &str| -> Result<(TimeType, String)> {
            let column = relation.column(name).ok_or_else(|| {
                let hint = match role {
                    "stamp column" => format!(
                        "ALTER TABLE {} ADD COLUMN {} timestamp with time zone NOT NULL; or name another with stamp_column. The first argument is the target, the second the source.",
                        relation.display_name(),
                        pgrx::spi::quote_identifier(name.as_str())
                    ),
                    _ => "Source and target must both have the time column. The first argument is the target, the second the source.".to_owned(),
                };
                Error::new(
                    pgrx::PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                    format!("\"{}\" has no column {name}, the {role}", relation.display_name()),
                )
                .detail(format!("It has: {}.", relation.column_list()))
                .hint(hint)
            })?;
            let kind = TimeType::from_oid(column.type_oid).ok_or_else(|| {
                Error::new(
                    pgrx::PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                    format!(
                        "the {role} {name} of \"{}\" is of type {}",
                        relation.display_name(),
                        column.type_name
                    ),
                )
                .hint("It must be timestamp with time zone, timestamp without time zone, or date.")
            })?;
            Ok((kind, column.type_name.clone()))
        };
        let roles = [
            (&self.time_column, "time"),
            (&self.stamp_column, "stamp"),
            (&self.loaded_at_column, "load time"),
        ];
        for (index, (column, role)) in roles.iter().enumerate() {
            if let Some((_, other)) = roles[..index].iter().find(|(earlier, _)| earlier == column) {
                return Err(Error::invalid(format!(
                    "column {column} cannot be both {other} and {role}"
                ))
                .hint("Stamp and load time are set by the load: give each a column of its own."));
            }
        }
        let (time, time_name) = find(source, &self.time_column, "time column")?;
        let (target_time, target_time_name) = find(target, &self.time_column, "time column")?;
        let (stamp, stamp_name) = find(target, &self.stamp_column, "stamp column")?;
        let mismatch =
            |message: String| Error::new(pgrx::PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message);
        if time != target_time {
            return Err(mismatch(format!(
                "the time column {} is {time_name} in the source and {target_time_name} in the target",
                self.time_column
            ))
            .hint("Both must have the same type, so that a row's interval is the same on both sides."));
        }
        let whole_days = self.calendar.grain.is_calendar()
            && self.calendar.origin.rem_euclid(MICROS_PER_DAY) == 0;
        if time == TimeType::Date && !whole_days {
            return Err(Error::invalid(format!(
                "the grain {} is finer than the days of the time column {}",
                self.grain_text, self.time_column
            ))
            .hint("For a date column count days or longer, from an origin at midnight."));
        }
        let exact = match (time, stamp) {
            (TimeType::TimestampTz, TimeType::TimestampTz)
            | (TimeType::Timestamp, TimeType::Timestamp) => true,
            (_, TimeType::Date) => whole_days,
            _ => self.calendar.grain.is_calendar(),
        };
        if !exact {
            return Err(mismatch(format!(
                "the stamp column {} of type {stamp_name} cannot hold every start of a grain of {}",
                self.stamp_column, self.grain_text
            ))
            .hint(format!("Give it the type of the time column, {time_name}.")));
        }
        let ours = [&self.stamp_column, &self.loaded_at_column];
        if let Some(column) = ours
            .into_iter()
            .filter_map(|name| target.column(name))
            .find(|column| column.refuses_values())
        {
            return Err(Error::new(
                pgrx::PgSqlErrorCode::ERRCODE_GENERATED_ALWAYS,
                format!(
                    "the target \"{}\" generates its column {}, which the load sets",
                    target.display_name(),
                    column.name
                ),
            )
            .hint(
                "Make it a plain column, or name another with stamp_column or loaded_at_column.",
            ));
        }
        let loaded_at = target.column(&self.loaded_at_column);
        if let Some(column) = loaded_at.filter(|column| !column.takes_times()) {
            return Err(mismatch(format!(
                "the column {} of type {} cannot hold the time of the load",
                column.name, column.type_name
            ))
            .hint("Make it timestamp with time zone, or name another with loaded_at_column."));
        }
        let has_loaded_at = loaded_at.is_some();
        Ok(Shape {
            time,
            stamp,
            has_loaded_at,
        })
    }
}
