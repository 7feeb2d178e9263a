//! A registered history.

use serde::{Deserialize, Serialize};

use crate::ident::{Ident, QualifiedName, Sql};
use crate::relation::Relation;
use crate::time::TimeType;

use super::{Registration, Rule};
use crate::error::{Error, Result};

/// What an input promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// Everything: a key that is missing was deleted.
    Full,
    /// What changed: a key that is missing is as it was.
    Delta,
}

/// What becomes of a row or an event whose time lies before what is known already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Late {
    /// It begins one tick after what is known.
    Delay,
    /// It goes to its true place.
    Insert,
    /// It is left out.
    Ignore,
    /// It fails the run.
    Error,
}

/// What an empty input does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnEmpty {
    /// It fails the run.
    Error,
    /// It changes nothing.
    Skip,
    /// It closes all current versions, as any other full input closes what is missing in it.
    Close,
}

/// What marks a version as current: its valid-to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Horizon {
    /// A far time; UTC where the column has a time zone.
    Time(String),
    /// Infinity.
    Infinity,
    /// NULL.
    Null,
}

impl Horizon {
    /// Reads the text of the setting or the registry; the time must have been read by the server before.
    pub fn new(text: &str) -> Self {
        match text {
            "infinity" => Self::Infinity,
            "null" => Self::Null,
            time => Self::Time(time.to_owned()),
        }
    }

    /// As it is kept.
    pub fn text(&self) -> &str {
        match self {
            Self::Time(time) => time,
            Self::Infinity => "infinity",
            Self::Null => "null",
        }
    }

    /// As a literal of the type of the technical columns.
    pub fn sql(&self, axis: TimeType) -> Sql {
        let kind = axis.type_sql();
        match (self, axis) {
            (Self::Null, _) => Sql::fixed("NULL::").then(&kind),
            (Self::Infinity, _) => kind.then(&Sql::literal("infinity")),
            (Self::Time(time), TimeType::TimestampTz) => {
                kind.then(&Sql::literal(&format!("{time}+00")))
            }
            (Self::Time(time), _) => kind.then(&Sql::literal(time)),
        }
    }

    /// The condition that a version is current, over the row of an alias.
    pub fn is_current(&self, axis: TimeType, delimited: &Sql) -> Sql {
        match self {
            Self::Null => delimited.then(&Sql::fixed(" IS NULL")),
            _ => delimited
                .then(&Sql::fixed(" OPERATOR(pg_catalog.=) "))
                .then(&self.sql(axis)),
        }
    }
}

/// What a user says about a history. Named as the arguments of `register_history`; what is left out there has its default here.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Options {
    /// The columns that make two rows versions of one record.
    pub keys: Vec<Ident>,
    /// Columns that make no difference.
    pub historize_blacklist: Option<Vec<Ident>>,
    /// The only columns that make a difference.
    pub historize_whitelist: Option<Vec<Ident>>,
    /// Microseconds between the end of a version and the begin of the next; 0: validity is half-open.
    pub time_axis_unit: i64,
    /// Zone of technical and source columns without one.
    pub zone: String,
    /// Whether a key may stand but once in an input.
    pub check_input_unique: bool,
    /// Order in which the first row of a key is kept.
    pub dedup_order_by: Option<String>,
    /// Column that says since when a row is as it is.
    pub source_timestamp_column: Option<Ident>,
    /// Which current versions are compared, and closed where their key is missing.
    pub existing_predicate: Option<String>,
    /// Column that says what happened to a row.
    pub cdc_column: Option<Ident>,
    /// Its value for a deleted row.
    pub cdc_deleted_value: Option<String>,
    /// Whether an input with `_change_type` is taken for change events.
    pub cdc_auto_detect: bool,
    /// Whether such events are dated by `_commit_timestamp`.
    pub cdc_timestamp_auto_detect: bool,
    /// Whether an event that changes nothing makes no version.
    pub skip_unchanged: bool,
    /// Whether each event of a batch makes a version, or the last of a key.
    pub intermediate_versions: bool,
    /// What an input promises.
    pub delivery: Delivery,
    /// Columns by whose delivered values full delivery is limited.
    pub delivery_scope: Option<Vec<Ident>>,
    /// What becomes of late rows.
    pub late: Late,
    /// Whether columns that the source no longer has are dropped.
    pub ignore_old_deleted_columns: bool,
    /// Kept for those who come from elsewhere; true.
    pub ignore_old_deleted_nested_columns: bool,
    /// What an empty input does; `None`: fail where it would close everything, else skip.
    pub on_empty: Option<OnEmpty>,
    /// How many percent of the current versions a run may close without a successor.
    pub max_closed_percent: Option<serde_json::Number>,
}

/// A history as the registry keeps it.
#[derive(Deserialize)]
pub(super) struct HistoryRow {
    source_schema: Option<Ident>,
    source_name: Option<Ident>,
    captured_column: Ident,
    delimited_column: Ident,
    hash_column: Option<Ident>,
    upper_horizon: String,
    newest: Option<i64>,
    source_dated_until: Option<i64>,
    has_views: bool,
    #[serde(flatten)]
    options: Options,
}

/// A registered history.
#[derive(Debug, Clone)]
pub struct History {
    /// The relation it reads, by name; `None` if each call brings its own.
    pub source: Option<QualifiedName>,
    /// What the user said.
    pub options: Options,
    /// The column valid-from.
    pub captured: Ident,
    /// The column valid-to.
    pub delimited: Ident,
    /// The column for the fingerprint.
    pub hash: Option<Ident>,
    /// What marks current versions.
    pub horizon: Horizon,
    /// The newest instant at which a version began or ended, in microseconds on the axis of the technical columns.
    pub newest: Option<i64>,
    /// The newest reference of a run whose versions were dated by the source, likewise.
    pub source_dated_until: Option<i64>,
    /// Whether `create_history_views` made views.
    pub has_views: bool,
    /// Schemas in which registered SQL finds its names.
    pub search_path: String,
    /// Rules, in order.
    pub rules: Vec<Rule>,
}

/// The column that some tables have for the sake of another engine, and that is kept true.
pub const DUMMY_COLUMN: &str = "dl_dummy";

impl History {
    pub(super) fn from_row(row: HistoryRow, search_path: &str, rules: &[Rule]) -> Self {
        let source = row.source_schema.zip(row.source_name);
        Self {
            source: source.map(|(schema, name)| QualifiedName { schema, name }),
            options: row.options,
            captured: row.captured_column,
            delimited: row.delimited_column,
            hash: row.hash_column,
            horizon: Horizon::new(&row.upper_horizon),
            newest: row.newest,
            source_dated_until: row.source_dated_until,
            has_views: row.has_views,
            search_path: search_path.to_owned(),
            rules: rules.to_vec(),
        }
    }

    /// The history of a table; 42704 if none is registered.
    pub fn of(target: &Relation) -> Result<Self> {
        Registration::find(target.oid())?
            .and_then(|registration| registration.history)
            .ok_or_else(|| Self::missing(target))
    }

    /// The refusal that says how to register one.
    pub fn missing(target: &Relation) -> Error {
        let name = target.display_name();
        Error::undefined(format!("no history is registered for \"{name}\"")).hint(format!(
            "SELECT historize('the_source', '{name}', 'the_key'); registers it and runs, register_history registers it only."
        ))
    }

    /// The technical columns, which no source may deliver.
    pub fn technical(&self) -> Vec<&Ident> {
        [&self.captured, &self.delimited]
            .into_iter()
            .chain(&self.hash)
            .collect()
    }

    /// Whether a column is one of ours, `dl_dummy` included.
    pub fn owns(&self, column: &Ident) -> bool {
        self.technical().contains(&column) || column.as_str() == DUMMY_COLUMN
    }

    /// The smallest step on the time axis, in microseconds.
    pub fn tick(&self) -> i64 {
        self.options.time_axis_unit.max(1)
    }

    /// An instant cut to a unit below a second.
    pub fn cut(&self, micros: i64) -> i64 {
        match self.options.time_axis_unit {
            unit @ 1..1_000_000 => micros - micros.rem_euclid(unit),
            _ => micros,
        }
    }
}
