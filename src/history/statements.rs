//! The statements of a run, rendered from their templates. Within them the keys are called k1, k2 and so on, the other columns d1, d2
//! and so on: names of ours and of the user's never meet.

use std::ffi::CStr;

use crate::error::Result;
use crate::ident::{Ident, Sql};
use crate::registry::{DUMMY_COLUMN, Delivery, Late};
use crate::statement::render;
use crate::time::TimeType;

use super::setup::{EventColumns, Input, Mode, Setup, StoredColumn};

/// The rows that differ, or the events, as the server takes their name.
pub const DIFFERENCES_NAME: &CStr = c"daybook differences";
/// What is to be done, likewise.
pub const ACTIONS_NAME: &CStr = c"daybook actions";
const DIFFERENCES: &str = "daybook differences";
const ACTIONS: &str = "daybook actions";

/// The parts that many statements share.
pub struct Statements<'a> {
    setup: &'a Setup,
    input: &'a Input,
    keys: &'a [StoredColumn],
    data: &'a [StoredColumn],
    target: Sql,
    captured: Sql,
    delimited: Sql,
}

impl<'a> Statements<'a> {
    /// The statements over an input whose columns are `keys` and `data`.
    pub fn new(
        setup: &'a Setup,
        input: &'a Input,
        keys: &'a [StoredColumn],
        data: &'a [StoredColumn],
    ) -> Self {
        Self {
            setup,
            input,
            keys,
            data,
            target: setup.target.qualified_name().sql(),
            captured: setup.history.captured.sql(),
            delimited: setup.history.delimited.sql(),
        }
    }

    /// The names of the compared columns, in the order of [`Self::compared`].
    pub fn compared_names(&self) -> Vec<Ident> {
        self.data
            .iter()
            .filter(|column| column.compared)
            .map(|column| column.name.clone())
            .collect()
    }

    fn key_names(&self) -> impl Iterator<Item = Sql> {
        (1..=self.keys.len()).map(|number| Sql::numbered("k", number))
    }

    fn data_names(&self) -> impl Iterator<Item = Sql> {
        (1..=self.data.len()).map(|number| Sql::numbered("d", number))
    }

    fn compared(&self) -> impl Iterator<Item = Sql> {
        self.data
            .iter()
            .zip(self.data_names())
            .filter(|(column, _)| column.compared)
            .map(|(_, name)| name)
    }

    /// The keys of an alias.
    fn keys_of(&self, alias: &'static str) -> Sql {
        Sql::list(self.key_names().map(|name| name.of(alias)))
    }

    /// The keys and the data of an alias.
    fn columns_of(&self, alias: &'static str) -> Sql {
        Sql::list(
            self.key_names()
                .chain(self.data_names())
                .map(|name| name.of(alias)),
        )
    }

    /// The same, after the mark that an action is not the work of an event of deletion.
    fn no_deletion(&self, alias: &'static str) -> Sql {
        Sql::list([Sql::fixed("false AS deletes"), self.columns_of(alias)])
    }

    /// That two rows have the same key, both with names of ours.
    fn same_key(&self, one: &'static str, other: &'static str) -> Sql {
        let pairs = self
            .keys
            .iter()
            .zip(self.key_names())
            .map(|(key, name)| name.of(one).then(&key.equals).then(&name.of(other)));
        Sql::joined(pairs, " AND ", "true")
    }

    /// That a version, with names of its own, has the key of a row.
    fn version_of(&self, version: &'static str, row: &'static str) -> Sql {
        let pairs = self
            .keys
            .iter()
            .zip(self.key_names())
            .map(|(key, name)| key.name.of(version).then(&key.equals).then(&name.of(row)));
        Sql::joined(pairs, " AND ", "true")
    }

    /// That two rows do not differ in what is compared.
    fn same(&self, one: &'static str, other: &'static str) -> Sql {
        same(self.compared(), one, other)
    }

    /// Where a version lies, as columns part and place.
    fn place(&self) -> Sql {
        match self.by_place() {
            true => Sql::fixed("existing.tableoid AS part, existing.ctid AS place"),
            false => Sql::fixed("NULL::pg_catalog.oid AS part, NULL::pg_catalog.tid AS place"),
        }
    }

    /// Whether versions are found again by their place; on other servers by their key and begin.
    pub fn by_place(&self) -> bool {
        self.setup.target.foreign_parts.is_empty()
    }

    fn is_current(&self) -> Sql {
        let delimited = Sql::fixed("existing.").then(&self.delimited);
        self.setup
            .history
            .horizon
            .is_current(self.setup.axis, &delimited)
    }

    fn horizon(&self) -> Sql {
        self.setup.history.horizon.sql(self.setup.axis)
    }

    /// The stored columns of `existing` under names of ours.
    fn old_columns(&self, all: bool) -> Sql {
        let keys = self.keys.iter().zip(self.key_names());
        let data = self
            .data
            .iter()
            .zip(self.data_names())
            .filter(|(column, _)| all || column.compared);
        Sql::list(
            keys.chain(data)
                .map(|(column, name)| column.name.of("existing").named(&name)),
        )
    }

    /// The delivered columns, cast to the types of the history, under names of ours.
    fn delivered_columns(&self) -> Sql {
        let columns = self.keys.iter().zip(self.key_names());
        let columns = columns.chain(self.data.iter().zip(self.data_names()));
        Sql::list(columns.map(|(column, name)| {
            Sql::cast(&column.name.of("source"), &column.kind)
                .then(&column.collate)
                .named(&name)
        }))
    }

    /// The keys as a document for people.
    fn key_document(&self, alias: &'static str) -> Sql {
        let pairs = self.keys.iter().zip(self.key_names()).map(|(key, name)| {
            Sql::literal(key.name.as_str())
                .then(&Sql::fixed(", "))
                .then(&name.of(alias))
        });
        Sql::fixed("pg_catalog.jsonb_build_object(")
            .then(&Sql::list(pairs))
            .then(&Sql::fixed(")"))
    }

    fn any_key_null(&self, alias: &'static str) -> Sql {
        let tests = self
            .key_names()
            .map(|name| name.of(alias).then(&Sql::fixed(" IS NULL")));
        Sql::joined(tests, " OR ", "false").in_parentheses()
    }

    /// An instant cut to the unit of the time axis.
    fn cut(&self, instant: &Sql) -> Sql {
        let unit = self.setup.history.options.time_axis_unit;
        match unit {
            2..1_000_000 => Sql::fixed("CASE WHEN pg_catalog.isfinite(")
                .then(instant)
                .then(&Sql::fixed(") THEN pg_catalog.date_bin($4, "))
                .then(instant)
                .then(&Sql::fixed(", "))
                .then(&self.setup.axis.epoch())
                .then(&Sql::fixed(") ELSE "))
                .then(instant)
                .then(&Sql::fixed(" END")),
            _ => instant.clone(),
        }
    }

    /// The instant that the source names for a row, as the technical columns hold it.
    fn source_time(&self, column: &Ident) -> Sql {
        let kind = self.setup.axis.type_sql();
        Sql::cast(&column.of("source"), &kind)
    }

    /// The delivered rows.
    pub fn delivered(&self) -> Result<Sql> {
        let starts = match &self.input.time {
            Some(column) => Sql::fixed("coalesce(")
                .then(&self.cut(&self.source_time(column)))
                .then(&Sql::fixed(", $1)")),
            None => Sql::fixed("$1"),
        };
        let copies = match self.setup.history.options.delivery {
            Delivery::Full => Sql::nothing(),
            Delivery::Delta => Sql::fixed(", pg_catalog.count(*) OVER (PARTITION BY ")
                .then(&Sql::list(self.keys.iter().map(|key| {
                    Sql::cast(&key.name.of("source"), &key.kind).then(&key.collate)
                })))
                .then(&Sql::fixed(") AS copies")),
        };
        render(
            sql_file!("statement/history_delivered"),
            &[
                ("columns", &self.delivered_columns()),
                ("starts", &starts),
                ("copies", &copies),
                ("rows", &self.input.intake.sql),
            ],
        )
    }

    /// What differs between a snapshot and the current versions. `joined` is the step of the tally that counts current versions.
    pub fn read_snapshot(&self, joined: usize) -> Result<Sql> {
        let delivered = self.delivered()?;
        let options = &self.setup.history.options;
        let (with, new) = match &options.delivery_scope {
            Some(_) => (
                Sql::fixed("WITH delivered AS MATERIALIZED (\n")
                    .then(&delivered)
                    .then(&Sql::fixed("\n)\n")),
                Sql::fixed("delivered"),
            ),
            None => (
                Sql::nothing(),
                Sql::fixed("(\n").then(&delivered).then(&Sql::fixed("\n)")),
            ),
        };
        let hash = self.hash_column();
        let stale = match hash {
            Some(_) => Sql::fixed(" OR old.is_stale"),
            None => Sql::nothing(),
        };
        let old_columns = self.old_columns(options.delivery_scope.is_some());
        let old_columns = match &hash {
            Some(hash) => {
                // The whole fingerprint would be carried through the join.
                let begins = Sql::fixed("NOT daybook.same(pg_catalog.substr(")
                    .then(&hash.of("existing"))
                    .then(&Sql::fixed(", 1, 4), $5)"));
                Sql::list([old_columns, begins.named(&Sql::fixed("is_stale"))])
            }
            None => old_columns,
        };
        let data = Sql::list(self.data_names().map(|name| name.of("new")));
        let data = match self.data.is_empty() {
            true => Sql::fixed("NULL AS d0"),
            false => data,
        };
        let same = self.same("new", "old");
        let place = self.place();
        let is_current = self.is_current();
        let mut holes = vec![
            ("data", data),
            ("same", same),
            ("stale", stale),
            ("place", place),
            ("captured", self.captured.clone()),
            ("old_columns", old_columns),
            ("target", self.target.clone()),
            ("is_current", is_current),
            ("predicate", self.input.predicate.clone()),
            ("delivered", new),
            ("same_key", self.same_key("new", "old")),
        ];
        if options.delivery == Delivery::Delta {
            holes.push(("keys", self.keys_of("new")));
            return rendered(sql_file!("statement/history_read_delta"), &holes);
        }
        let merged = self.key_names().map(|name| {
            Sql::fixed("coalesce(")
                .then(&name.of("new"))
                .then(&Sql::fixed(", "))
                .then(&name.of("old"))
                .then(&Sql::fixed(")"))
                .named(&name)
        });
        holes.extend([
            ("keys", Sql::list(merged)),
            ("with", with),
            ("joined", Sql::number(joined)),
            ("closes", self.closes()?),
        ]);
        rendered(sql_file!("statement/history_read_full"), &holes)
    }

    /// Which missing keys were deleted.
    fn closes(&self) -> Result<Sql> {
        let Some(scope) = &self.setup.history.options.delivery_scope else {
            return Ok(Sql::fixed("true"));
        };
        let columns = self.keys.iter().zip(self.key_names());
        let columns = columns.chain(self.data.iter().zip(self.data_names()));
        let names: Vec<Sql> = columns
            .filter(|(column, _)| scope.contains(&column.name))
            .map(|(_, name)| name)
            .collect();
        let of = |alias: &'static str| Sql::list(names.iter().map(|name| name.of(alias)));
        render(
            sql_file!("statement/history_scope"),
            &[
                ("names", &numbered_names(names.len())),
                ("old", &of("old")),
                ("new", &of("new")),
            ],
        )
    }

    /// The fingerprint column, if it is one of ours.
    fn hash_column(&self) -> Option<&Ident> {
        let hash = self.setup.history.hash.as_ref()?;
        let column = self.setup.target.column(hash)?;
        (column.type_oid == pgrx::pg_sys::BYTEAOID.to_u32()).then_some(hash)
    }

    /// What to do about differences of a snapshot.
    pub fn decide_snapshot(&self) -> Result<Sql> {
        let axis = self.setup.axis.type_sql();
        let mut holes = vec![
            ("columns", self.no_deletion("found")),
            ("same", self.same("found", "former")),
            ("differences", Ident::new(DIFFERENCES)?.sql()),
            ("place", self.place()),
            ("captured", self.captured.clone()),
            ("delimited", self.delimited.clone()),
            ("is_current", self.is_current()),
            ("old_columns", self.old_columns(false)),
            ("target", self.target.clone()),
            ("same_key", self.version_of("existing", "found")),
            ("axis", axis),
            ("horizon", self.horizon()),
        ];
        if self.input.time.is_none() {
            return rendered(sql_file!("statement/history_decide_reference"), &holes);
        }
        let template = match self.setup.history.options.late {
            Late::Delay => sql_file!("statement/history_late_delay"),
            Late::Ignore => sql_file!("statement/history_late_ignore"),
            Late::Error => sql_file!("statement/history_late_error"),
            Late::Insert => sql_file!("statement/history_late_insert"),
        };
        let (horizon, columns) = (self.horizon(), self.no_deletion("found"));
        let mut late_holes = vec![("columns", &columns)];
        if matches!(self.setup.history.options.late, Late::Delay | Late::Insert) {
            late_holes.push(("horizon", &horizon));
        }
        let late = render(template, &late_holes)?;
        let inserts = self.setup.history.options.late == Late::Insert;
        let text = |inserted: &'static str| match inserts {
            true => Sql::fixed(inserted),
            false => Sql::nothing(),
        };
        let next = match inserts {
            true => render(
                sql_file!("statement/history_next"),
                &[
                    ("captured", &self.captured),
                    ("target", &self.target),
                    ("same_key", &self.version_of("existing", "found")),
                ],
            )?
            .on_a_new_line(),
            false => Sql::nothing(),
        };
        holes.extend([
            ("late", late),
            ("next", next),
            ("next_column", text(", next.began AS next_began")),
            ("look_at", text(", for a late row the one at its instant")),
            (
                "look_until",
                text(
                    "
                                          WHEN found.state = 'changed' AND found.starts < found.began + $3 THEN found.starts",
                ),
            ),
        ]);
        rendered(sql_file!("statement/history_decide_dated"), &holes)
    }

    /// The delivered events.
    pub fn read_events(&self, events: &EventColumns) -> Result<Sql> {
        let kind = event_kind(events)?;
        let is_after = match events.standard {
            true => Sql::type_text(&events.kind)
                .then(&Sql::fixed(" OPERATOR(pg_catalog.=) 'update_postimage'")),
            false => Sql::fixed("false"),
        };
        let none = || Sql::fixed("NULL::pg_catalog.numeric");
        let ordinal = events.ordinal.as_ref().map_or_else(none, |ordinal| {
            Sql::cast(&ordinal.of("source"), &Sql::fixed("pg_catalog.numeric"))
        });
        let sequence = match (&events.ordinal, &self.setup.history.options.dedup_order_by) {
            (Some(_), _) => ordinal.clone(),
            (None, Some(order)) => {
                let order = crate::expression::Expression::parse_order("dedup_order_by", order)?;
                let keys = Sql::list(self.keys.iter().map(|key| key.name.of("source")));
                Sql::fixed("OPERATOR(pg_catalog.-) pg_catalog.rank() OVER (PARTITION BY ")
                    .then(&keys)
                    .then(&Sql::fixed(" ORDER BY "))
                    .then(&order)
                    .then(&Sql::fixed(")::pg_catalog.numeric"))
            }
            (None, None) => none(),
        };
        let at = match &self.input.time {
            Some(column) => self.source_time(column),
            None => Sql::fixed("$1"),
        };
        render(
            sql_file!("statement/history_events"),
            &[
                ("columns", &self.delivered_columns()),
                ("cut", &self.cut(&Sql::fixed("event.at"))),
                ("kind", &kind),
                ("is_after", &is_after),
                ("type", &events.kind.sql()),
                ("at", &at),
                ("ordinal", &ordinal),
                ("sequence", &sequence),
                ("rows", &self.input.intake.sql),
            ],
        )
    }

    /// What is wrong with the delivered events.
    pub fn event_problems(&self) -> Result<Sql> {
        let data = Sql::list(self.data_names().map(|name| name.of("event")));
        render(
            sql_file!("statement/history_event_problems"),
            &[
                ("key_document", &self.key_document("event")),
                ("events", &Ident::new(DIFFERENCES)?.sql()),
                ("any_key_null", &self.any_key_null("event")),
                ("keys", &self.keys_of("event")),
                ("data", &data),
                ("names", &numbered_names(self.data.len())),
            ],
        )
    }

    /// What to do about events.
    pub fn decide_events(&self) -> Result<Sql> {
        let options = &self.setup.history.options;
        let late = self.setup.late(self.input);
        let by_reference = self.input.time.is_none();
        let flag = |value: bool| Sql::fixed(if value { "true" } else { "false" });
        let all = |alias: &'static str| self.columns_of(alias);
        let known_same = same(self.data_names(), "known", "chosen");
        let compared = match self.compared().next() {
            Some(_) => Sql::list(self.compared().map(|name| name.of("point"))),
            None => Sql::fixed("true"),
        };
        let start = match late {
            Late::Delay => render(
                sql_file!("statement/history_start_delayed"),
                &[("keys", &self.keys_of("kept"))],
            )?,
            _ => Sql::fixed("kept.starts"),
        };
        let is_void = match late {
            Late::Delay => {
                let compared = match self.compared().next() {
                    Some(_) => Sql::list(self.compared().map(|name| name.of("judged"))),
                    None => Sql::fixed("true"),
                };
                render(
                    sql_file!("statement/history_is_void"),
                    &[("compared", &compared)],
                )?
            }
            _ => Sql::fixed("false"),
        };
        let (stays, refusal) = match late {
            Late::Ignore => (Sql::fixed("NOT judged.is_late"), "'ignore'"),
            Late::Error => (Sql::fixed("NOT judged.is_late"), "'late'"),
            // A deletion before the begin of the current version cannot be one of that.
            Late::Delay => (Sql::fixed("NOT judged.is_outlived"), "'ignore'"),
            Late::Insert => (Sql::fixed("true"), "'ignore'"),
        };
        let again = match late {
            Late::Delay => ">=",
            _ => "=",
        };
        let holes = [
            ("events", Ident::new(DIFFERENCES)?.sql()),
            ("other_of_key", self.same_key("other", "event")),
            ("event_columns", all("event")),
            ("skips", flag(options.skip_unchanged)),
            ("told_keys", self.keys_of("told")),
            (
                "each",
                match options.intermediate_versions {
                    true => Sql::fixed(", told.starts"),
                    false => Sql::nothing(),
                },
            ),
            ("first_keys", self.keys_of("first")),
            ("chosen_keys", self.keys_of("chosen")),
            ("place", self.place()),
            ("captured", self.captured.clone()),
            ("delimited", self.delimited.clone()),
            ("is_current", self.is_current()),
            ("old_columns", self.old_data_columns()),
            ("target", self.target.clone()),
            ("existing_of_first", self.version_of("existing", "first")),
            ("earlier_of_first", self.version_of("earlier", "first")),
            ("known_keys", self.keys_of("known")),
            ("judged_keys", self.keys_of("judged")),
            ("moved_keys", self.keys_of("moved")),
            ("told_columns", all("told")),
            ("last_of_chosen", self.same_key("last", "chosen")),
            ("keeps_places", flag(late == Late::Insert)),
            ("known_of_chosen", self.same_key("known", "chosen")),
            ("again", Sql::fixed(again)),
            ("known_same", known_same),
            ("start", start),
            ("is_void", is_void),
            ("last_same", self.same("last", "chosen")),
            ("stays", stays),
            ("known_columns", all("known")),
            ("placed_columns", all("placed")),
            ("by_reference", flag(by_reference)),
            ("point_keys", self.keys_of("point")),
            ("compared_columns", compared),
            ("axis", self.setup.axis.type_sql()),
            ("point_columns", all("point")),
            ("horizon", self.horizon()),
            ("refusal", Sql::fixed(refusal)),
            ("judged_columns", all("judged")),
        ];
        rendered(sql_file!("statement/history_decide_events"), &holes)
    }

    /// The data of `existing` under names of ours, without the keys.
    fn old_data_columns(&self) -> Sql {
        let data = self.data.iter().zip(self.data_names());
        Sql::list(
            data.map(|(column, name)| column.name.of("existing").named(&name))
                .chain([Sql::fixed("true AS is_known")]),
        )
    }

    /// The counts over what was decided.
    pub fn summary(&self) -> Result<Sql> {
        render(
            sql_file!("statement/history_summary"),
            &[
                ("any_key_null", &self.any_key_null("action")),
                ("horizon", &self.horizon()),
                ("epoch", &self.setup.axis.epoch()),
                ("actions", &Ident::new(ACTIONS)?.sql()),
            ],
        )
    }

    /// Why actions are refused.
    pub fn refused(&self) -> Result<Sql> {
        render(
            sql_file!("statement/history_refused"),
            &[
                ("key_document", &self.key_document("action")),
                ("actions", &Ident::new(ACTIONS)?.sql()),
            ],
        )
    }

    /// Keys that are NULL or begin two versions.
    pub fn key_problems(&self) -> Result<Sql> {
        render(
            sql_file!("statement/history_key_problems"),
            &[
                ("key_document", &self.key_document("action")),
                ("any_key_null", &self.any_key_null("action")),
                ("actions", &Ident::new(ACTIONS)?.sql()),
                ("keys", &self.keys_of("action")),
            ],
        )
    }

    /// Keys that the source delivers more than once.
    pub fn duplicates(&self) -> Result<Sql> {
        let delivered = self.delivered()?.in_parentheses();
        render(
            sql_file!("statement/history_duplicates"),
            &[
                ("key_document", &self.key_document("action")),
                ("delivered", &delivered),
                ("keys", &self.keys_of("action")),
            ],
        )
    }

    /// That a version is the one that an action is about.
    fn this_version(&self) -> Sql {
        let of_key = self.version_of("existing", "action");
        if self.by_place() {
            // The bounds are checked again where another session has moved the row meanwhile; the equality finds it.
            return Sql::fixed(
                "existing.tableoid OPERATOR(pg_catalog.=) action.part
  AND existing.ctid OPERATOR(pg_catalog.=) action.place
  AND existing.ctid OPERATOR(pg_catalog.>=) action.place
  AND existing.ctid OPERATOR(pg_catalog.<=) action.place
  AND ",
            )
            .then(&of_key);
        }
        of_key
            .then(&Sql::fixed(" AND existing."))
            .then(&self.captured)
            .then(&Sql::fixed(" OPERATOR(pg_catalog.=) action.began"))
    }

    /// Takes back versions.
    pub fn withdraw(&self) -> Result<Sql> {
        self.write(
            sql_file!("statement/history_withdraw"),
            &[("keys", &self.keys_of("action"))],
        )
    }

    /// Ends and reopens versions.
    pub fn close(&self) -> Result<Sql> {
        self.write(
            sql_file!("statement/history_close"),
            &[
                ("delimited", &self.delimited),
                ("keys", &self.keys_of("action")),
            ],
        )
    }

    /// Renews fingerprints; `None` where the history keeps none of ours.
    pub fn rehash(&self) -> Result<Option<Sql>> {
        self.hash_column()
            .map(|hash| {
                self.write(
                    sql_file!("statement/history_rehash"),
                    &[("hash", &hash.sql()), ("compared", &self.compared_values())],
                )
            })
            .transpose()
    }

    fn compared_values(&self) -> Sql {
        Sql::list(self.compared().map(|name| name.of("action")))
    }

    fn write(&self, template: &str, more: &[(&str, &Sql)]) -> Result<Sql> {
        let actions = Ident::new(ACTIONS)?.sql();
        let this_version = self.this_version();
        let mut holes = vec![
            ("target", &self.target),
            ("actions", &actions),
            ("this_version", &this_version),
        ];
        holes.extend(more);
        render(template, &holes)
    }

    /// Writes new versions.
    pub fn open(&self) -> Result<Sql> {
        let stored = self.keys.iter().zip(self.key_names());
        let stored = stored.chain(self.data.iter().zip(self.data_names()));
        let (mut columns, mut values): (Vec<Sql>, Vec<Sql>) = stored
            .map(|(column, name)| (column.name.sql(), name.of("action")))
            .unzip();
        columns.extend([self.captured.clone(), self.delimited.clone()]);
        values.extend([
            Sql::fixed("action.valid_from"),
            Sql::fixed("action.valid_to"),
        ]);
        if let Some(hash) = self.hash_column() {
            columns.push(hash.sql());
            values.push(
                Sql::fixed("daybook.row_hash($5, $6, ROW(")
                    .then(&self.compared_values())
                    .then(&Sql::fixed("))")),
            );
        }
        let dummy = Ident::new(DUMMY_COLUMN)?;
        if self
            .setup
            .target
            .column(&dummy)
            .is_some_and(|column| column.type_oid == pgrx::pg_sys::BOOLOID.to_u32())
        {
            columns.push(dummy.sql());
            values.push(Sql::fixed("true"));
        }
        render(
            sql_file!("statement/history_open"),
            &[
                ("target", &self.target),
                ("columns", &Sql::list(columns)),
                ("values", &Sql::list(values)),
                ("actions", &Ident::new(ACTIONS)?.sql()),
            ],
        )
    }

    /// How many current versions a run looks at.
    pub fn current_count(&self) -> Result<Sql> {
        render(
            sql_file!("statement/history_current_count"),
            &[
                ("target", &self.target),
                ("is_current", &self.is_current()),
                ("predicate", &self.input.predicate),
            ],
        )
    }

    /// How many versions are as an action wanted them.
    pub fn written(&self) -> Result<Sql> {
        render(
            sql_file!("statement/history_written"),
            &[
                ("actions", &Ident::new(ACTIONS)?.sql()),
                ("target", &self.target),
                ("same_key", &self.version_of("existing", "action")),
                ("captured", &self.captured),
                ("delimited", &self.delimited),
            ],
        )
    }

    /// The newest instant that the table knows.
    pub fn newest(&self) -> Result<Sql> {
        newest(self.setup.axis, &self.target, &self.setup.history)
    }
}

/// The newest instant that a table knows.
pub fn newest(axis: TimeType, target: &Sql, history: &crate::registry::History) -> Result<Sql> {
    let delimited = history.delimited.of("existing");
    render(
        sql_file!("statement/history_newest"),
        &[
            ("is_current", &history.horizon.is_current(axis, &delimited)),
            ("captured", &history.captured.sql()),
            ("delimited", &history.delimited.sql()),
            ("epoch", &axis.epoch()),
            ("target", target),
        ],
    )
}

/// Names for the columns of a fingerprint that is not kept.
fn numbered_names(count: usize) -> Sql {
    let names = (1..=count).map(|number| Sql::literal(&number.to_string()));
    Sql::fixed("ARRAY[")
        .then(&Sql::list(names))
        .then(&Sql::fixed("]::pg_catalog.text[]"))
}

fn same(names: impl Iterator<Item = Sql>, one: &'static str, other: &'static str) -> Sql {
    let pairs = names.map(|name| {
        Sql::fixed("daybook.same(")
            .then(&name.of(one))
            .then(&Sql::fixed(", "))
            .then(&name.of(other))
            .then(&Sql::fixed(")"))
    });
    Sql::joined(pairs, " AND ", "true").in_parentheses()
}

/// What kind of change an event is.
fn event_kind(events: &EventColumns) -> Result<Sql> {
    let template = match events.standard {
        true => sql_file!("statement/history_kind_standard"),
        false => sql_file!("statement/history_kind_custom"),
    };
    render(
        template,
        &[
            ("type", &Sql::type_text(&events.kind)),
            ("deleted", &Sql::literal(&events.deleted)),
        ],
    )
}

fn rendered(template: &str, holes: &[(&str, Sql)]) -> Result<Sql> {
    let holes: Vec<(&str, &Sql)> = holes.iter().map(|(name, sql)| (*name, sql)).collect();
    render(template, &holes)
}

/// Whether an input is taken as events, and how.
pub fn events_of(mode: &Mode) -> Option<&EventColumns> {
    match mode {
        Mode::Events(events) => Some(events),
        Mode::Snapshot => None,
    }
}
