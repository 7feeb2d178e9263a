//! The intake: source + rules + params → the one SELECT that everything reads from. Rules apply in order, each to the result of the
//! one before; a filter drops a row for which it is false or NULL. Every filter is a layer with a fence of its own, so that a later
//! rule never sees, and never fails on, a row that an earlier one dropped.

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::connection::{Prepared, ResultColumn};
use crate::error::{Error, Result};
use crate::expression::Expression;
use crate::ident::{Ident, Sql};
use crate::params::ParamType;
use crate::registry::{Load, Rule, RuleKind};
use crate::relation::{Column, Relation};
use crate::statement::render;

/// What is read, through which rules.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The relation.
    pub source: &'a Relation,
    /// The rules, in order.
    pub rules: &'a [Rule],
    /// The column by which an interval is cut out; `None` reads everything.
    pub time_column: Option<&'a Ident>,
    /// Which of several rows of a key stay; `None` keeps all.
    pub first_of_key: Option<FirstOfKey<'a>>,
}

/// Keeps the first row of each key.
#[derive(Clone, Copy)]
pub struct FirstOfKey<'a> {
    /// The key.
    pub keys: &'a [Ident],
    /// The members of an ORDER BY; `None`: by the text of the row.
    pub order: Option<&'a str>,
    /// Whether rows that tie for the first place all stay, to be refused, or the texts of the rows decide.
    pub keeps_ties: bool,
}

impl Load {
    /// What a run of this load reads from a source.
    pub fn reading<'a>(&'a self, source: &'a Relation) -> Reading<'a> {
        let first = |keys: &'a Vec<Ident>| {
            self.dedup_order_by.as_deref().map(|order| FirstOfKey {
                keys,
                order: Some(order),
                keeps_ties: true,
            })
        };
        Reading {
            source,
            rules: &self.rules,
            time_column: Some(&self.time_column),
            first_of_key: self.keys.as_ref().and_then(first),
        }
    }
}

/// The intake of a load or a history.
pub struct Intake {
    /// The SELECT.
    pub sql: Sql,
    /// Columns of its rows, apart from the number.
    pub columns: Vec<Ident>,
    /// The column that holds the number of a row's grain interval, from 1; it is 1 where everything is read.
    pub number: Ident,
    /// What drops rows, in order: step n of the tally is the n-th of these, step 0 is the read.
    pub steps: Vec<String>,
}

/// A name for a column of ours that none of `taken` has.
pub fn free_name(wanted: &str, taken: &[Ident]) -> Result<Ident> {
    let mut name = wanted.to_owned();
    while taken.iter().any(|other| other.as_str() == name) {
        name.push('_');
    }
    Ident::new(name)
}

/// The layers of the intake up to some rule.
struct Layers {
    sql: Sql,
    columns: Vec<Ident>,
    number: Ident,
    steps: Vec<String>,
    /// Whether the outermost layer is an expression.
    ends_in_expression: bool,
}

impl Layers {
    /// The innermost layer, over the source itself; `more` are the holes that its template has beside those of every one.
    fn over(source: &Relation, template: &str, more: &[(&str, &Sql)]) -> Result<Self> {
        let columns: Vec<Ident> = source
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        let number = free_name("daybook interval", &columns)?;
        let list = Sql::list(columns.iter().map(|name| name.of("source")));
        let (number_sql, source_sql) = (number.sql(), source.qualified_name().sql());
        let mut holes = vec![
            ("columns", &list),
            ("number", &number_sql),
            ("source", &source_sql),
        ];
        holes.extend(more);
        Ok(Self {
            sql: render(template, &holes)?,
            columns,
            number,
            steps: Vec::new(),
            ends_in_expression: false,
        })
    }

    /// A layer that keeps the rows for which `kept` is true, and counts them as those of `step`.
    fn step(&mut self, step: usize, kept: &Sql) -> Result<()> {
        self.ends_in_expression = false;
        self.sql = render(
            sql_file!("statement/intake_step"),
            &[
                ("rows", &self.sql),
                ("step", &Sql::number(step)),
                ("number", &self.number.sql()),
                ("kept", kept),
            ],
        )?;
        Ok(())
    }

    /// A layer that counts the rows as read.
    fn count(&mut self) -> Result<()> {
        self.sql = render(
            sql_file!("statement/intake_count"),
            &[("rows", &self.sql), ("number", &self.number.sql())],
        )?;
        Ok(())
    }

    fn rule(&mut self, rule: &Rule, param: &mut dyn FnMut(&str) -> Result<Sql>) -> Result<()> {
        let expression = Expression::parse(&rule.what(), &rule.expression)?.sql(param)?;
        match &rule.kind {
            RuleKind::Filter => {
                self.steps.push(rule.name.clone());
                self.step(self.steps.len(), &expression)
            }
            RuleKind::Expression(column) => {
                let others = self.columns.iter().filter(|name| *name != column);
                let fence = match self.ends_in_expression {
                    true => Sql::fixed("OFFSET 0"),
                    false => Sql::nothing(),
                };
                let others = others.chain([&self.number]).map(|name| name.of("source"));
                self.sql = render(
                    sql_file!("statement/intake_expression"),
                    &[
                        ("others", &Sql::list(others)),
                        ("expression", &expression),
                        ("column", &column.sql()),
                        ("rows", &self.sql),
                        ("fence", &fence),
                    ],
                )?;
                self.ends_in_expression = true;
                if !self.columns.contains(column) {
                    self.columns.push(column.clone());
                }
                Ok(())
            }
        }
    }

    fn first_of_key(&mut self, first: FirstOfKey) -> Result<()> {
        let by_text = Sql::fixed("ROW(source.*)::pg_catalog.text");
        let order = match first.order {
            Some(order) => {
                let order = Expression::parse_order("dedup_order_by", order)?;
                match first.keeps_ties {
                    true => order,
                    false => Sql::list([order, by_text]),
                }
            }
            None => by_text,
        };
        let rank = free_name("daybook rank", &self.columns)?;
        let option = match first.order {
            Some(_) => "dedup_order_by",
            None => "check_input_unique",
        };
        self.steps.push(option.to_owned());
        let columns = self
            .columns
            .iter()
            .chain([&self.number])
            .map(|name| name.of("source"));
        let ranked = Sql::fixed(match first.keeps_ties {
            true => "rank",
            false => "row_number",
        });
        self.sql = render(
            sql_file!("statement/intake_first_of_key"),
            &[
                ("columns", &Sql::list(columns)),
                ("number", &self.number.sql()),
                (
                    "keys",
                    &Sql::list(first.keys.iter().map(|name| name.of("source"))),
                ),
                ("ranked", &ranked),
                ("order", &order),
                ("rank", &rank.sql()),
                ("rows", &self.sql),
                ("step", &Sql::number(self.steps.len())),
            ],
        )?;
        Ok(())
    }
}

impl Intake {
    /// The intake of a source as it is now; `param` says what stands for a parameter.
    pub fn build(reading: &Reading, mut param: impl FnMut(&str) -> Result<Sql>) -> Result<Self> {
        let mut layers = match reading.time_column {
            Some(time) => Layers::over(
                reading.source,
                sql_file!("statement/intake_window"),
                &[("time", &time.sql())],
            )?,
            None => Layers::over(reading.source, sql_file!("statement/intake_rows"), &[])?,
        };
        for rule in reading.rules {
            layers.rule(rule, &mut param)?;
        }
        if let Some(first) = reading.first_of_key {
            layers.first_of_key(first)?;
        }
        if layers.steps.is_empty() {
            // The first step counts what arrives, which is what was read; without any, the read is a step of its own.
            match reading.source.is_table()
                && reading.time_column.is_none()
                && reading.rules.is_empty()
            {
                true => {
                    layers.sql = Layers::over(
                        reading.source,
                        sql_file!("statement/intake_count_table"),
                        &[],
                    )?
                    .sql
                }
                false => layers.count()?,
            }
        }
        let Layers {
            sql,
            columns,
            number,
            steps,
            ..
        } = layers;
        Ok(Self {
            sql,
            columns,
            number,
            steps,
        })
    }

    /// The rows that the rule at `position` (from 0) sees, for the parser alone: nothing is counted or filtered. The parameters of
    /// the rules before it are NULLs of type text. Also their columns.
    pub fn before_rule(reading: &Reading, position: usize) -> Result<(Sql, Vec<Ident>)> {
        let mut layers = Layers::over(reading.source, sql_file!("statement/intake_rows"), &[])?;
        for rule in reading.rules.iter().take(position) {
            if let RuleKind::Expression(_) = rule.kind {
                layers.rule(rule, &mut |_| Ok(Sql::fixed(ParamType::Text.typed_null())))?;
            }
        }
        Ok((layers.sql, layers.columns))
    }
}

/// Refuses (55000) an intake that reads the target, in a view or a rule: what a run deletes would be missing from what it reads.
pub fn refuse_reading_target(intake: &Prepared, target: &Relation) -> Result<()> {
    if !reads(&intake.relations()?, target) {
        return Ok(());
    }
    Err(Error::prerequisite(format!(
        "the source or a rule reads \"{}\", the target",
        target.display_name()
    ))
    .detail("A rerun deletes the interval before it reads, so it would not find what it found before.")
    .hint("Leave the target out of the source's query and of the rules; to leave duplicates out, register keys with dedup_order_by."))
}

/// Whether one of some relations is a target or shares rows with it.
pub fn reads(relations: &[pg_sys::Oid], target: &Relation) -> bool {
    relations
        .iter()
        .any(|oid| *oid == target.oid() || target.relatives.contains(&oid.to_u32()))
}

/// Which columns a load writes: those of the intake that the target has, after both sides were compared by name and type.
///
/// Refused, each with both lists: columns that daybook sets itself (42701), that are missing or extra (42703), that the
/// target's INSERT would refuse (428C9), or of a type that does not become the target's without a cast (42804).
pub fn fit(
    load: &Load,
    source: &Relation,
    target: &Relation,
    intake: &[ResultColumn],
    number: &Ident,
) -> Result<Vec<Ident>> {
    let sides = Sides {
        load,
        source,
        target,
        delivered: intake
            .iter()
            .filter(|column| column.name != *number)
            .collect(),
    };
    sides.refuse_columns_of_ours()?;
    sides.refuse_missing_and_extra()?;
    sides.refuse_generated()?;
    sides.refuse_other_types()?;
    Ok(sides
        .common()
        .map(|(column, _)| column.name.clone())
        .collect())
}

/// What a source delivers through the rules, beside the target that is to take it.
struct Sides<'a> {
    load: &'a Load,
    source: &'a Relation,
    target: &'a Relation,
    delivered: Vec<&'a ResultColumn>,
}

impl Sides<'_> {
    /// The delivered columns that the target has, with the target's.
    fn common(&self) -> impl Iterator<Item = (&ResultColumn, &Column)> {
        self.delivered
            .iter()
            .filter_map(|column| Some((*column, self.target.column(&column.name)?)))
    }

    fn is_ours(&self, name: &Ident) -> bool {
        *name == self.load.stamp_column || *name == self.load.loaded_at_column
    }

    fn refusal(&self, code: PgSqlErrorCode, message: String) -> Error {
        Error::new(code, message).detail(format!(
            "Source {} has: {}. Target {} has: {}.",
            self.source.display_name(),
            self.source.column_list(),
            self.target.display_name(),
            self.target.column_list()
        ))
    }

    fn refuse_columns_of_ours(&self) -> Result<()> {
        let claimed: Vec<&Ident> = self
            .delivered
            .iter()
            .map(|column| &column.name)
            .filter(|name| self.is_ours(name))
            .collect();
        if claimed.is_empty() {
            return Ok(());
        }
        Err(self
            .refusal(
                PgSqlErrorCode::ERRCODE_DUPLICATE_COLUMN,
                format!(
                    "the source \"{}\" has columns that daybook sets: {}",
                    self.source.display_name(),
                    names(&claimed)
                ),
            )
            .hint("Give the target's columns other names with stamp_column and loaded_at_column, or leave these out in a view."))
    }

    fn refuse_missing_and_extra(&self) -> Result<()> {
        let extra: Vec<&Ident> = self
            .delivered
            .iter()
            .map(|column| &column.name)
            .filter(|name| self.load.extra_columns_are_errors && self.target.column(name).is_none())
            .collect();
        let missing: Vec<&Ident> = self
            .target
            .columns
            .iter()
            .filter(|column| !self.is_ours(&column.name) && !column.fills_itself())
            .map(|column| &column.name)
            .filter(|name| !self.delivered.iter().any(|column| column.name == **name))
            .collect();
        let mut parts = Vec::new();
        let mut hints = Vec::new();
        if !missing.is_empty() {
            parts.push(format!("missing in the source: {}", names(&missing)));
            hints.push("What the source lacks an expression rule can set (rules may be registered before the load), or a default of the target.");
        }
        if !extra.is_empty() {
            parts.push(format!("missing in the target: {}", names(&extra)));
            hints.push("What the target lacks is left out with extra_columns => 'ignore'.");
        }
        if parts.is_empty() {
            return Ok(());
        }
        Err(self
            .refusal(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "the columns of \"{}\" and \"{}\" do not match: {}",
                    self.source.display_name(),
                    self.target.display_name(),
                    parts.join("; ")
                ),
            )
            .hint(hints.join(" ")))
    }

    fn refuse_generated(&self) -> Result<()> {
        let Some((column, _)) = self.common().find(|(_, into)| into.refuses_values()) else {
            return Ok(());
        };
        Err(self
            .refusal(
                PgSqlErrorCode::ERRCODE_GENERATED_ALWAYS,
                format!(
                    "the target \"{}\" generates its column {}, but the source delivers it too",
                    self.target.display_name(),
                    column.name
                ),
            )
            .hint("Leave the column out of the source, in a view for example, and register the load with that."))
    }

    fn refuse_other_types(&self) -> Result<()> {
        let mismatches: Vec<(&ResultColumn, &Column)> = self
            .common()
            .filter(|(column, into)| !converts(column.type_oid, into.type_oid))
            .collect();
        let Some((first, into)) = mismatches.first() else {
            return Ok(());
        };
        let described: Vec<String> = mismatches
            .iter()
            .map(|(column, into)| {
                format!(
                    "{} is {} in the source and {} in the target",
                    column.name.as_str(),
                    type_name(column.type_oid),
                    into.type_name
                )
            })
            .collect();
        let (target, name) = (self.target.display_name(), first.name.as_str());
        let quoted = pgrx::spi::quote_identifier(name);
        Err(self
            .refusal(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                format!(
                    "columns of \"{}\" and \"{target}\" differ in type: {}",
                    self.source.display_name(),
                    described.join("; ")
                ),
            )
            .hint(format!(
                "Say how to convert them; rules may be registered before the load: SELECT register_rule('{target}', '{name}', column_name => '{name}', expression => '{quoted}::{}');",
                into.type_name
            )))
    }
}

fn names(columns: &[&Ident]) -> String {
    columns
        .iter()
        .map(|name| name.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether values of one type become the other without anybody saying so.
pub fn converts(from: pg_sys::Oid, into: u32) -> bool {
    let into = pg_sys::Oid::from(into);
    // SAFETY: both arrays hold one OID.
    from == into
        || unsafe {
            pg_sys::can_coerce_type(1, &from, &into, pg_sys::CoercionContext::COERCION_IMPLICIT)
        }
}

/// A type as SQL spells it.
pub fn type_name(oid: pg_sys::Oid) -> String {
    // SAFETY: the server answers with a null-terminated string for any OID.
    unsafe { std::ffi::CStr::from_ptr(pg_sys::format_type_be(oid)) }
        .to_string_lossy()
        .into_owned()
}
