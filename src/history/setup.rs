//! What a run needs before it reads the first row: everything looked up, locked and checked.

use pgrx::datum::Interval;
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::connection::{Connection, Prepared, ResultColumn, Value};
use crate::error::{Error, Result, evidence};
use crate::expression::Predicate;
use crate::ident::{Ident, Sql};
use crate::intake::{self, FirstOfKey, Intake, Reading};
use crate::params::Params;
use crate::registration::refuse_registered_relatives;
use crate::registry::{Delivery, History, Horizon, Late, OnEmpty, rules_version};
use crate::relation::{Relation, require_rights};
use crate::statement::render;
use crate::time::TimeType;
use crate::zone::Zone;
use crate::{compare, lock, rule, session, settings, statement};

use super::columns::{self, Change, Kind};
use super::table;
use super::{Request, views};

/// How a change event says what happened.
#[derive(Debug, Clone)]
pub struct EventColumns {
    /// The column with the type of the change.
    pub kind: Ident,
    /// Its value for a deleted row.
    pub deleted: String,
    /// Whether the other types are the known ones.
    pub standard: bool,
    /// The column that orders events of one instant.
    pub ordinal: Option<Ident>,
}

/// How an input is taken.
#[derive(Debug, Clone)]
pub enum Mode {
    /// Rows as they are now.
    Snapshot,
    /// Changes, one by one.
    Events(EventColumns),
}

impl Mode {
    /// As results and the log name it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Events(_) => "events",
        }
    }
}

/// A delivered column that the history stores.
#[derive(Debug, Clone)]
pub struct StoredColumn {
    /// Its name.
    pub name: Ident,
    /// Its type in the history, to which values are cast.
    pub kind: Sql,
    /// For keys: the operator of equality.
    pub equals: Sql,
    /// Its collation in the history, where it is not that of the type.
    pub collate: Sql,
    /// Whether a difference in it is a change.
    pub compared: bool,
}

/// Everything known before the first row is read.
pub struct Setup {
    /// The history.
    pub history: History,
    /// What it is kept in.
    pub target: Relation,
    /// What it reads.
    pub source: Relation,
    /// Type of the technical columns.
    pub axis: TimeType,
    /// The reference timestamp, an instant.
    pub reference: i64,
    /// Version of the rules.
    pub rules_version: String,
}

/// The first parameter number that is free for `param.name`.
const FIRST_PARAM: usize = 8;

const CHANGE_TYPE: &str = "_change_type";
const COMMIT_TIMESTAMP: &str = "_commit_timestamp";
const CHANGE_ORDINAL: &str = "_change_ordinal";

impl Setup {
    /// Looks up and locks all that a run needs, and refuses what cannot be historized.
    pub fn prepare(request: &Request) -> Result<Self> {
        match request.dry_run {
            true => lock::keep_relation(request.target, lock::Use::Read),
            false if lock::hold_history(request.target)? => {}
            false => return Err(History::missing(&Relation::describe(request.target)?)),
        }
        let held_at = session::clock();
        let target = Relation::describe(request.target)?;
        let history = session::as_extension_owner(|| History::of(&target))?;
        target.require_safe_target()?;
        refuse_registered_relatives(&target)?;
        target.require_nothing_at_commit()?;
        let axis = table::axis(&history, &target)?;

        let source_oid = match (request.source, &history.source) {
            (Some(source), _) => {
                lock::keep_relation(source, lock::Use::Read);
                source
            }
            (None, Some(source)) => lock::keep_source(source)?,
            (None, None) => {
                return Err(Error::prerequisite(format!(
                    "the history \"{}\" has no registered source",
                    target.display_name()
                ))
                .hint("Pass one: historize('the_source', 'the_history'); or register one with register_history."));
            }
        };
        require_rights(source_oid, &["SELECT"])?;
        let source = Relation::describe(source_oid)?;
        source.require_source_kind_for(&target)?;
        let mut setup = Self {
            rules_version: rules_version(&history.rules, &source),
            history,
            target,
            source,
            axis,
            reference: 0,
        };
        setup.reference = setup.choose_reference(request, held_at)?;
        setup.refuse_far_reference()?;
        Ok(setup)
    }

    /// The reference of the call, of the setting, or the start of the transaction; if another run got in between, the instant at
    /// which this one got its turn.
    fn choose_reference(&self, request: &Request, held_at: i64) -> Result<i64> {
        let given = match request.reference {
            Some(reference) => Some(reference),
            None => reference_setting()?,
        };
        if let Some(reference) = given {
            return Ok(reference);
        }
        let start = session::transaction_start();
        let overtaken = match self.history.newest {
            Some(newest) => newest > self.history.cut(self.on_axis(start)?),
            None => false,
        };
        Ok(if overtaken { held_at } else { start })
    }

    /// Refuses (22023) a reference at or beyond the horizon: a version that begins there could never be current.
    fn refuse_far_reference(&self) -> Result<()> {
        let Horizon::Time(horizon) = &self.history.horizon else {
            return Ok(());
        };
        let horizon: Option<i64> =
            statement::ask(sql_file!("catalog/instant"), &[horizon.as_str().into()])?;
        match horizon {
            Some(horizon) if self.reference_on_axis()? >= horizon => Err(Error::invalid(format!(
                "the reference timestamp lies at or beyond the horizon of \"{}\", {}",
                self.target.display_name(),
                self.history.horizon.text()
            ))),
            _ => Ok(()),
        }
    }

    /// An instant as the technical columns hold it.
    pub fn on_axis(&self, instant: i64) -> Result<i64> {
        on_axis(self.axis, &self.history, instant)
    }

    /// The reference on the axis, cut to its unit.
    pub fn reference_on_axis(&self) -> Result<i64> {
        Ok(self.history.cut(self.on_axis(self.reference)?))
    }

    /// What the source is read through.
    pub fn reading(&self, mode: &Mode) -> Reading<'_> {
        let options = &self.history.options;
        let first = match mode {
            // The order of events is another matter.
            Mode::Events(_) => None,
            Mode::Snapshot if options.dedup_order_by.is_some() || !options.check_input_unique => {
                Some(FirstOfKey {
                    keys: &options.keys,
                    order: options.dedup_order_by.as_deref(),
                    keeps_ties: options.check_input_unique,
                })
            }
            Mode::Snapshot => None,
        };
        Reading {
            source: &self.source,
            rules: &self.history.rules,
            time_column: None,
            first_of_key: first,
        }
    }

    /// The intake with its parameters, how it is to be taken, and its columns.
    pub fn intake(&self, connection: &mut Connection, request: &Request) -> Result<Input> {
        let mut params = Params::new(&request.params, FIRST_PARAM)?;
        let plain = Reading {
            first_of_key: None,
            ..self.reading(&Mode::Snapshot)
        };
        let intake = Intake::build(&plain, |name| params.placeholder(name))?;
        let prepared = self.prepare_intake(connection, &intake, &params, &plain)?;
        let columns: Vec<ResultColumn> = prepared
            .columns()?
            .into_iter()
            .filter(|column| column.name != intake.number)
            .collect();
        let reads = prepared.relations()?;
        let mode = self.mode(&columns)?;
        let intake = match self.reading(&mode) {
            Reading {
                first_of_key: None, ..
            } => intake,
            reading => {
                let intake = Intake::build(&reading, |name| params.placeholder(name))?;
                let prepared = self.prepare_intake(connection, &intake, &params, &reading)?;
                connection.discard(prepared);
                intake
            }
        };
        connection.discard(prepared);
        let time = self.time_column(&mode, &columns)?;
        let predicate = match (&mode, &self.history.options.existing_predicate) {
            // Events look their keys up.
            (Mode::Events(_), _) | (_, None) => Sql::nothing(),
            (Mode::Snapshot, Some(text)) => Sql::fixed(" AND ")
                .then(&Predicate::parse(text)?.sql(|name| params.placeholder(name))?),
        };
        Ok(Input {
            intake,
            params: params.values,
            mode,
            time,
            columns,
            reads,
            predicate,
        })
    }

    fn prepare_intake(
        &self,
        connection: &mut Connection,
        intake: &Intake,
        params: &Params,
        reading: &Reading,
    ) -> Result<Prepared> {
        let mut values = self.values(&[], 0)?;
        values.extend(&params.values);
        // Undone where the server refuses it, to say which rule it is.
        session::subtransaction(|| connection.prepare(&intake.sql, &values)).map_err(|error| {
            rule::find_unfit(reading, |name| params.type_of(name))
                .err()
                .unwrap_or(error)
        })
    }

    /// Whether the input is a snapshot or change events.
    fn mode(&self, columns: &[ResultColumn]) -> Result<Mode> {
        let options = &self.history.options;
        let has = |name: &str| columns.iter().any(|column| column.name.as_str() == name);
        let standard = |name: &str| -> Result<Option<Ident>> {
            has(name).then(|| Ident::new(name)).transpose()
        };
        let detected =
            options.cdc_auto_detect && options.historize_whitelist.is_none() && has(CHANGE_TYPE);
        let kind = match &options.cdc_column {
            Some(column) => column.clone(),
            None if detected => Ident::new(CHANGE_TYPE)?,
            None => return Ok(Mode::Snapshot),
        };
        if !has(kind.as_str()) {
            return Err(self.no_column(&kind, "cdc_column", columns));
        }
        let is_standard = kind.as_str() == CHANGE_TYPE;
        let deleted = match (&options.cdc_deleted_value, is_standard) {
            (Some(value), _) => value.clone(),
            (None, true) => "delete".to_owned(),
            (None, false) => return Err(no_deleted_value(&kind)),
        };
        let ordinal = match is_standard {
            true => standard(CHANGE_ORDINAL)?,
            false => None,
        };
        Ok(Mode::Events(EventColumns {
            kind,
            deleted,
            standard: is_standard,
            ordinal,
        }))
    }

    /// The column that dates what is delivered; `None`: the reference does.
    fn time_column(&self, mode: &Mode, columns: &[ResultColumn]) -> Result<Option<Ident>> {
        let options = &self.history.options;
        let find = |name: &Ident| columns.iter().find(|column| column.name == *name);
        let is_time = |column: &ResultColumn| {
            matches!(
                TimeType::from_oid(column.type_oid.to_u32()),
                Some(TimeType::Timestamp | TimeType::TimestampTz)
            )
        };
        if let Some(name) = &options.source_timestamp_column {
            let column = find(name)
                .ok_or_else(|| self.no_column(name, "source_timestamp_column", columns))?;
            if !is_time(column) {
                return Err(Error::new(
                    PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                    format!(
                        "source_timestamp_column {name} of \"{}\" is of type {}",
                        self.source.display_name(),
                        intake::type_name(column.type_oid)
                    ),
                )
                .hint("It must be timestamp with or without time zone; a rule can cast it."));
            }
            return Ok(Some(name.clone()));
        }
        match mode {
            Mode::Events(EventColumns { standard: true, .. })
                if options.cdc_timestamp_auto_detect =>
            {
                let name = Ident::new(COMMIT_TIMESTAMP)?;
                Ok(find(&name).filter(|column| is_time(column)).map(|_| name))
            }
            _ => Ok(None),
        }
    }

    fn no_column(&self, name: &Ident, option: &str, columns: &[ResultColumn]) -> Error {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        Error::new(
            PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            format!(
                "the source \"{}\" delivers no column {name}, which {option} names",
                self.source.display_name()
            ),
        )
        .detail(format!("It delivers: {}.", names.join(", ")))
    }

    /// Values of $1 to $7: the reference, the unit of the time axis, its tick, the unit to which times are cut, what fingerprints
    /// begin with, the columns they cover, the number of the run.
    pub fn values(&self, compared: &[Ident], run: i32) -> Result<Vec<Value>> {
        let unit = self.history.options.time_axis_unit;
        let names: Vec<String> = compared
            .iter()
            .map(|name| name.as_str().to_owned())
            .collect();
        Ok(vec![
            Value::time(self.axis, self.reference_on_axis()?),
            Value::of(Interval::from_micros(unit)),
            Value::of(Interval::from_micros(self.history.tick())),
            Value::of(Interval::from_micros(unit)),
            Value::of(compare::hash_prefix(compared)),
            Value::of(names),
            Value::of(run),
        ])
    }

    /// Changes the table so that it can take what is delivered, and describes it anew. Says in words what was changed.
    pub fn fit_table(&mut self, connection: &mut Connection, input: &Input) -> Result<Vec<String>> {
        let name = self.target.qualified_name().sql();
        let empty: Option<bool> = connection.look_up(
            &render(
                sql_file!("statement/history_is_empty"),
                &[("target", &name)],
            )?,
            &[],
        )?;
        let plan = columns::plan(
            &self.history,
            &self.target,
            &self.source.display_name(),
            &input.stored(&self.history),
            empty == Some(true),
        )?;
        if plan.changes.is_empty() {
            return Ok(Vec::new());
        }
        self.refuse_foreign_changes(&plan.changes)?;
        if self.history.has_views {
            views::refuse_taken(&self.target, true)?;
        }
        let disturbs = plan.changes.iter().any(Change::disturbs_views);
        let views = match self.history.has_views && disturbs {
            true => Some(views::take_away(connection, &self.target)?),
            false => None,
        };
        let changes = Sql::list(plan.changes.iter().map(Change::sql));
        let alter = render(
            sql_file!("statement/history_alter"),
            &[("target", &name), ("changes", &changes)],
        )?;
        let words: Vec<String> = plan.changes.iter().map(Change::words).collect();
        session::explained(
            || connection.execute(&alter, &[]),
            |error| match error.code {
                PgSqlErrorCode::ERRCODE_OBJECT_IN_USE => Error {
                    message: format!(
                        "\"{}\" needs other columns, but is in use by the statement that calls",
                        self.target.display_name()
                    ),
                    detail: Some(format!("To be done: {}.", words.join("; "))),
                    hint: Some(
                        "Call historize in a statement that does not read the history itself."
                            .to_owned(),
                    ),
                    ..error
                },
                _ => error,
            },
        )?;
        self.target = session::pinned("pg_catalog", "UTC", || self.target.again())?;
        if self.history.has_views {
            views::make(connection, &self.history, &self.target, self.axis, views)?;
        }
        Ok(words)
    }

    fn refuse_foreign_changes(&self, changes: &[Change]) -> Result<()> {
        if self.target.foreign_parts.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = changes.iter().map(Change::words).collect();
        Err(Error::new(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("the columns of \"{}\" do not match the source", self.target.display_name()),
        )
        .detail(format!("To be done: {}.", words.join("; ")))
        .hint("The table, or a part of it, lives on another server: change it there and here by hand."))
    }

    /// The delivered columns as the history stores them: keys first, in the order of the key.
    pub fn stored_columns(&self, input: &Input) -> Result<(Vec<StoredColumn>, Vec<StoredColumn>)> {
        let options = &self.history.options;
        let mut keys = Vec::new();
        let mut data = Vec::new();
        for column in input.stored(&self.history) {
            let own = self.target.column(&column.name).ok_or_else(|| {
                Error::internal(format!("the history lacks the column {}", column.name))
            })?;
            let kind = Kind {
                oid: pg_sys::Oid::from(own.type_oid),
                modifier: own.type_modifier,
            };
            let is_key = options.keys.contains(&column.name);
            let listed =
                |list: &Option<Vec<Ident>>| list.as_ref().map(|list| list.contains(&column.name));
            let compared = match (
                listed(&options.historize_blacklist),
                listed(&options.historize_whitelist),
            ) {
                (Some(excluded), _) => !excluded,
                (None, Some(included)) => included,
                (None, None) => true,
            };
            let stored = StoredColumn {
                name: column.name.clone(),
                kind: kind.sql(),
                equals: match is_key {
                    true => columns::equality(&column.name, kind.oid)?,
                    false => Sql::nothing(),
                },
                collate: columns::collate(kind.oid, pg_sys::Oid::from(own.collation)),
                compared,
            };
            match is_key {
                true => keys.push(stored),
                false => data.push(stored),
            }
        }
        keys.sort_by_key(|key| options.keys.iter().position(|name| *name == key.name));
        Ok((keys, data))
    }

    /// Refuses (42703) lists that name columns which are not delivered: a misspelt one would never detect a change.
    pub fn refuse_unknown_lists(&self, input: &Input) -> Result<()> {
        let options = &self.history.options;
        let lists = [
            ("historize_blacklist", &options.historize_blacklist),
            ("historize_whitelist", &options.historize_whitelist),
            ("delivery_scope", &options.delivery_scope),
        ];
        for (option, list) in lists {
            for name in list.iter().flatten() {
                // What the source has lost is still known to the table.
                let known = input.columns.iter().any(|column| column.name == *name)
                    || (option != "delivery_scope" && self.target.column(name).is_some());
                if !known {
                    return Err(self.no_column(name, option, &input.columns));
                }
            }
        }
        Ok(())
    }

    /// What an empty input does.
    pub fn on_empty(&self, mode: &Mode) -> OnEmpty {
        let options = &self.history.options;
        let closes = matches!(mode, Mode::Snapshot)
            && options.delivery == Delivery::Full
            && options.delivery_scope.is_none();
        match options.on_empty {
            Some(chosen) => chosen,
            None if closes => OnEmpty::Error,
            None => OnEmpty::Skip,
        }
    }

    /// Where late rows go; where the reference dates everything, nothing is late, and what begins at one instant is laid over what
    /// began there before.
    pub fn late(&self, input: &Input) -> Late {
        match input.time {
            Some(_) => self.history.options.late,
            None => Late::Insert,
        }
    }

    /// Evidence about rows, for those who may read the history.
    pub fn evidence(&self, samples: &[String], total: usize) -> String {
        if self.target.caller_selects || self.target.caller_owns {
            format!("{}.", evidence(samples, total))
        } else {
            format!("{total}, hidden from who may not read the table.")
        }
    }
}

/// An instant as technical columns of a type hold it.
pub fn on_axis(axis: TimeType, history: &History, instant: i64) -> Result<i64> {
    Ok(match axis {
        TimeType::TimestampTz => instant,
        _ => Zone::named(&history.options.zone)?.to_local(instant),
    })
}

/// The reference timestamp that the session has set, an instant in microseconds.
fn reference_setting() -> Result<Option<i64>> {
    let Some(text) = settings::REFERENCE_TIMESTAMP.get() else {
        return Ok(None);
    };
    session::explained(
        || statement::ask::<i64>(sql_file!("catalog/instant"), &[text.as_str().into()]),
        |error| {
            Error::invalid(format!(
                "the setting {} is no instant: {}",
                settings::REFERENCE_TIMESTAMP.name(),
                error.message
            ))
        },
    )
}

/// The refusal of change events without a value for deleted rows.
pub fn no_deleted_value(column: &Ident) -> Error {
    Error::invalid(format!("cdc_column {column} needs cdc_deleted_value"))
        .hint("Say which of its values stands for a deleted row: cdc_deleted_value => 'D'.")
}

/// What is read, and how it is taken.
pub struct Input {
    /// The intake.
    pub intake: Intake,
    /// Values for its parameters, from $8 on.
    pub params: Vec<Value>,
    /// Snapshot or events.
    pub mode: Mode,
    /// The column that dates what is delivered.
    pub time: Option<Ident>,
    /// All its columns.
    pub columns: Vec<ResultColumn>,
    /// The relations that it reads.
    pub reads: Vec<pg_sys::Oid>,
    /// The condition that limits which current versions are read, after an AND; or nothing.
    pub predicate: Sql,
}

impl Input {
    /// The columns that are stored: all but those that say when and what happened.
    pub fn stored(&self, history: &History) -> Vec<&ResultColumn> {
        let standard = [CHANGE_TYPE, COMMIT_TIMESTAMP, CHANGE_ORDINAL];
        let is_meta = |column: &&ResultColumn| match &self.mode {
            Mode::Snapshot => false,
            Mode::Events(events) => {
                events.kind == column.name
                    || (events.standard && standard.contains(&column.name.as_str()))
            }
        };
        let dates = |column: &&ResultColumn| {
            self.time.as_ref() == Some(&column.name)
                || history.options.source_timestamp_column.as_ref() == Some(&column.name)
        };
        self.columns
            .iter()
            .filter(|column| !is_meta(column) && !dates(column))
            .collect()
    }
}
