//! SQL text that a user registers: one expression over one row. The server's own parser judges it, first alone (is it one
//! expression?), then over the row it will see (which type, which functions?).
//!
//! Rules are deterministic, or a rerun would give other rows: volatile functions, and functions and literals that ask the clock
//! or the session, are refused.

use std::ffi::{CStr, CString, c_void};

use pgrx::{PgSqlErrorCode, pg_guard, pg_sys};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::ident::Sql;
use crate::statement::render;
use crate::{list, session, statement};

/// A use of `param.name` in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamUse {
    /// The parameter.
    pub name: String,
    /// Where it stands in the text, in bytes.
    pub place: std::ops::Range<usize>,
}

/// A text that is one expression.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    /// The parameters it uses, in order of place.
    pub params: Vec<ParamUse>,
}

impl Expression {
    /// Takes a text for one expression; 42601 if it is none or more than one.
    pub fn parse(what: &str, text: &str) -> Result<Self> {
        let select = parse_alone(what, text, text)?;
        // SAFETY: the node was made by the parser and lives in the current memory context.
        let is_plain = unsafe {
            let stmt = &*select;
            let only_target = list::length(stmt.targetList) == 1 && {
                let target = &*list::pointer::<pg_sys::ResTarget>(stmt.targetList, 0);
                target.name.is_null() && target.indirection.is_null() && !is_star(target.val)
            };
            only_target && stmt.sortClause.is_null() && has_no_other_clause(stmt)
        };
        if !is_plain {
            return Err(not_one(what, text));
        }
        Ok(Self {
            text: text.to_owned(),
            params: params_of(select, text)?,
        })
    }

    /// Takes a text for the members of an ORDER BY; 42601 if it is anything else. Parameters have no place in it.
    pub fn parse_order(what: &str, text: &str) -> Result<Sql> {
        let not_order =
            |error: Error| error.hint("Write it as after ORDER BY: updated_at desc, id");
        let select = parse_alone(what, text, &format!("1 ORDER BY {text}")).map_err(not_order)?;
        // SAFETY: as above.
        let is_order = unsafe { !(*select).sortClause.is_null() && has_no_other_clause(&*select) };
        if !is_order {
            return Err(not_order(not_one(what, text)));
        }
        Ok(Sql::rendered(format!("\n{text}\n")))
    }

    /// The expression as it goes into a statement, each parameter replaced by what `param` says.
    pub fn sql(&self, mut param: impl FnMut(&str) -> Result<Sql>) -> Result<Sql> {
        let mut text = String::new();
        let mut done = 0;
        for used in &self.params {
            text.push_str(&self.text[done..used.place.start]);
            text.push_str(&param(&used.name)?.to_string());
            done = used.place.end;
        }
        text.push_str(&self.text[done..]);
        Ok(Sql::registered(&text))
    }
}

const PREDICATE: &str = "existing_predicate";

/// A condition on rows of a history, over the alias `existing`.
pub struct Predicate;

impl Predicate {
    /// Takes a text for one expression; 42601 if it is none.
    pub fn parse(text: &str) -> Result<Expression> {
        Expression::parse(PREDICATE, text)
    }

    /// Checks it over the rows of a history: its names, that it is a condition (42804), and that no function in it is volatile. It may
    /// ask the clock: it says how far a run looks, not what it finds. `null` is what stands for a parameter.
    pub fn check(text: &str, history: &Sql, null: &'static str) -> Result<()> {
        let condition = Self::parse(text)?.sql(|_| Ok(Sql::fixed(null)))?;
        let select = render(
            sql_file!("statement/predicate_check"),
            &[("predicate", &condition), ("target", history)],
        )?;
        let found = analyze_for(PREDICATE, &select, Clock::Allowed)?;
        match found.type_oid == pg_sys::BOOLOID {
            true => Ok(()),
            false => Err(Error::new(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                format!("{PREDICATE} is no condition"),
            )
            .hint("Write it over the alias existing: existing.dl_ts_captured > '2026-01-01'")),
        }
    }
}

fn not_one(what: &str, text: &str) -> Error {
    Error::new(PgSqlErrorCode::ERRCODE_SYNTAX_ERROR, format!("{what} is not one SQL expression"))
        .detail(format!("It reads: {text}"))
        .hint("Write a single expression over the columns of one row, such as: case when kind = 'REFUND' then -amount else amount end")
}

/// The SELECT that the parser makes of `text`, read as an expression.
fn parse_alone(what: &str, shown: &str, text: &str) -> Result<*mut pg_sys::SelectStmt> {
    let refused = |error: Error| {
        let syntax = not_one(what, shown);
        Error {
            detail: Some(format!(
                "{}. It reads: {shown}",
                capitalised(&error.message)
            )),
            ..syntax
        }
    };
    if shown.trim().is_empty() {
        return Err(not_one(what, shown));
    }
    let text = CString::new(text).map_err(|_| not_one(what, shown))?;
    session::explained(
        // SAFETY: the text is null-terminated; a syntax error is raised by the server and caught by `explained`.
        || unsafe {
            let parsed =
                pg_sys::raw_parser(text.as_ptr(), pg_sys::RawParseMode::RAW_PARSE_PLPGSQL_EXPR);
            let raw = list::pointer::<pg_sys::RawStmt>(parsed, 0);
            Ok((*raw).stmt.cast())
        },
        refused,
    )
}

fn capitalised(message: &str) -> String {
    let mut characters = message.chars();
    characters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

fn has_no_other_clause(stmt: &pg_sys::SelectStmt) -> bool {
    stmt.distinctClause.is_null()
        && stmt.intoClause.is_null()
        && stmt.fromClause.is_null()
        && stmt.whereClause.is_null()
        && stmt.groupClause.is_null()
        && stmt.havingClause.is_null()
        && stmt.windowClause.is_null()
        && stmt.valuesLists.is_null()
        && stmt.limitOffset.is_null()
        && stmt.limitCount.is_null()
        && stmt.lockingClause.is_null()
        && stmt.withClause.is_null()
        && stmt.op == pg_sys::SetOperation::SETOP_NONE
}

/// # Safety
/// `node` must be null or a node of a parse tree.
unsafe fn tag(node: *mut pg_sys::Node) -> pg_sys::NodeTag {
    // SAFETY: every node begins with its tag.
    unsafe { node.as_ref() }.map_or(pg_sys::NodeTag::T_Invalid, |node| node.type_)
}

/// # Safety
/// As for [`tag`].
unsafe fn is_star(node: *mut pg_sys::Node) -> bool {
    // SAFETY: the tag says that the node is a column reference, whose fields are nodes.
    unsafe {
        if tag(node) != pg_sys::NodeTag::T_ColumnRef {
            return false;
        }
        let fields = (*node.cast::<pg_sys::ColumnRef>()).fields;
        let last = list::pointer(fields, list::length(fields).saturating_sub(1));
        tag(last) == pg_sys::NodeTag::T_A_Star
    }
}

/// The places at which a parse tree refers to `param.something`.
struct ParamPlaces {
    found: Vec<(usize, String)>,
}

#[pg_guard]
unsafe extern "C-unwind" fn collect_params(node: *mut pg_sys::Node, context: *mut c_void) -> bool {
    // SAFETY: the context is the collector that `params_of` passed; tags say what nodes are.
    unsafe {
        if node.is_null() {
            return false;
        }
        if tag(node) == pg_sys::NodeTag::T_ColumnRef {
            let reference = &*node.cast::<pg_sys::ColumnRef>();
            if list::length(reference.fields) == 2 {
                let name = |n| {
                    let field: *mut pg_sys::Node = list::pointer(reference.fields, n);
                    (tag(field) == pg_sys::NodeTag::T_String).then(|| {
                        CStr::from_ptr((*field.cast::<pg_sys::String>()).sval)
                            .to_string_lossy()
                            .into_owned()
                    })
                };
                if let (Some("param"), Some(param)) = (name(0).as_deref(), name(1)) {
                    (*context.cast::<ParamPlaces>())
                        .found
                        .push((reference.location as usize, param));
                }
            }
            return false;
        }
        pg_sys::raw_expression_tree_walker(node, Some(collect_params), context)
    }
}

fn params_of(select: *mut pg_sys::SelectStmt, text: &str) -> Result<Vec<ParamUse>> {
    let mut places = ParamPlaces { found: Vec::new() };
    // SAFETY: the tree is valid and the collector outlives the walk.
    unsafe {
        pg_sys::raw_expression_tree_walker(
            select.cast(),
            Some(collect_params),
            (&raw mut places).cast(),
        );
    }
    places.found.sort();
    places
        .found
        .into_iter()
        .map(|(start, name)| {
            let end = end_of_reference(text, start).ok_or_else(|| {
                Error::new(
                    PgSqlErrorCode::ERRCODE_SYNTAX_ERROR,
                    format!("the parameter \"{name}\" is not written as param.name"),
                )
                .hint("Write it without comments inside, and quoted as \"...\" only.")
            })?;
            Ok(ParamUse {
                name,
                place: start..end,
            })
        })
        .collect()
}

/// Where the two identifiers and the dot that begin at `start` end.
fn end_of_reference(text: &str, start: usize) -> Option<usize> {
    let skip_space = |at: usize| at + text[at..].len() - text[at..].trim_start().len();
    let skip_name = |at: usize| {
        let rest = text.get(at..)?;
        if rest.starts_with('"') {
            let mut from = 1;
            loop {
                let quote = from + rest.get(from..)?.find('"')?;
                if rest.as_bytes().get(quote + 1) != Some(&b'"') {
                    return Some(at + quote + 1);
                }
                from = quote + 2;
            }
        }
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()))
            .unwrap_or(rest.len());
        (length > 0).then_some(at + length)
    };
    let dot = skip_space(skip_name(start)?);
    text[dot..].starts_with('.').then_some(())?;
    skip_name(skip_space(dot + 1))
}

/// What an expression is, over the row it sees.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Its type.
    pub type_oid: pg_sys::Oid,
}

#[derive(Default)]
struct Findings {
    functions: Vec<pg_sys::Oid>,
    session_values: Vec<&'static str>,
    literals: Vec<(pg_sys::Oid, usize)>,
}

#[pg_guard]
unsafe extern "C-unwind" fn note_function(function: pg_sys::Oid, context: *mut c_void) -> bool {
    // SAFETY: the context is the `Findings` that `analyze` passed.
    unsafe { (*context.cast::<Findings>()).functions.push(function) };
    false
}

#[pg_guard]
unsafe extern "C-unwind" fn note_node(node: *mut pg_sys::Node, context: *mut c_void) -> bool {
    // SAFETY: the context is the `Findings` that `analyze` passed; tags say what nodes are.
    unsafe {
        if node.is_null() {
            return false;
        }
        let findings = &mut *context.cast::<Findings>();
        match tag(node) {
            pg_sys::NodeTag::T_Query => {
                return pg_sys::query_tree_walker(node.cast(), Some(note_node), context, 0);
            }
            pg_sys::NodeTag::T_SQLValueFunction => {
                use pg_sys::SQLValueFunctionOp as Op;
                findings
                    .session_values
                    .push(match (*node.cast::<pg_sys::SQLValueFunction>()).op {
                        Op::SVFOP_CURRENT_DATE => "current_date",
                        Op::SVFOP_CURRENT_TIME | Op::SVFOP_CURRENT_TIME_N => "current_time",
                        Op::SVFOP_CURRENT_TIMESTAMP | Op::SVFOP_CURRENT_TIMESTAMP_N => {
                            "current_timestamp"
                        }
                        Op::SVFOP_LOCALTIME | Op::SVFOP_LOCALTIME_N => "localtime",
                        Op::SVFOP_LOCALTIMESTAMP | Op::SVFOP_LOCALTIMESTAMP_N => "localtimestamp",
                        Op::SVFOP_CURRENT_CATALOG => "current_catalog",
                        Op::SVFOP_CURRENT_SCHEMA => "current_schema",
                        Op::SVFOP_SESSION_USER => "session_user",
                        _ => "current_user",
                    });
            }
            pg_sys::NodeTag::T_CoerceViaIO => {
                // A text that is read as a time only when the rule runs.
                let coerced = &*node.cast::<pg_sys::CoerceViaIO>();
                if tag(coerced.arg.cast()) == pg_sys::NodeTag::T_Const {
                    let constant = &*coerced.arg.cast::<pg_sys::Const>();
                    findings
                        .literals
                        .push((coerced.resulttype, constant.location.max(0) as usize));
                }
                pg_sys::check_functions_in_node(node, Some(note_function), context);
            }
            pg_sys::NodeTag::T_Const => {
                let constant = &*node.cast::<pg_sys::Const>();
                if constant.location >= 0 {
                    findings
                        .literals
                        .push((constant.consttype, constant.location as usize));
                }
            }
            _ => {
                pg_sys::check_functions_in_node(node, Some(note_function), context);
            }
        }
        pg_sys::expression_tree_walker(node, Some(note_node), context)
    }
}

/// Analyzes `select`, a SELECT whose first column is the expression, and refuses what is not deterministic: 42P17 for volatile
/// functions and for those that ask the clock or the session, 42803 and alike for aggregates, windows and sets.
pub fn analyze(what: &str, select: &Sql) -> Result<Analysis> {
    analyze_for(what, select, Clock::Refused)
}

/// Whether an expression may ask what time it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// Not where a rerun must give the same rows.
    Refused,
    /// Where it only says how far a run looks.
    Allowed,
}

fn analyze_for(what: &str, select: &Sql, clock: Clock) -> Result<Analysis> {
    let text = select.to_string();
    let c_text = CString::new(text.as_str()).map_err(|_| not_one(what, &text))?;
    let (type_oid, findings) = session::explained(
        // SAFETY: the text is null-terminated; the query tree lives in the current memory context; errors of the server are
        // caught by `explained`.
        || unsafe {
            let parsed =
                pg_sys::raw_parser(c_text.as_ptr(), pg_sys::RawParseMode::RAW_PARSE_DEFAULT);
            let raw = list::pointer::<pg_sys::RawStmt>(parsed, 0);
            let query = pg_sys::parse_analyze_fixedparams(
                raw,
                c_text.as_ptr(),
                std::ptr::null(),
                0,
                std::ptr::null_mut(),
            );
            let refused = |feature: &str| {
                Error::new(
                    PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION,
                    format!("{what} uses {feature}"),
                )
                .hint("A rule sees one row at a time. Put such a step into a view and register the view as the source.")
            };
            if (*query).hasAggs {
                return Err(refused("an aggregate function"));
            }
            if (*query).hasWindowFuncs {
                return Err(refused("a window function"));
            }
            if (*query).hasTargetSRFs {
                return Err(refused("a function that returns a set"));
            }
            let mut findings = Findings::default();
            pg_sys::query_tree_walker(query, Some(note_node), (&raw mut findings).cast(), 0);
            let target = list::pointer::<pg_sys::TargetEntry>((*query).targetList, 0);
            Ok((pg_sys::exprType((*target).expr.cast()), findings))
        },
        |error| Error {
            message: format!("{what} cannot be used: {}", error.message),
            ..error
        },
    )?;
    refuse_indeterminate(what, &text, &findings, clock)?;
    Ok(Analysis { type_oid })
}

#[derive(Deserialize)]
struct UnsteadyFunction {
    name: String,
    volatile: bool,
}

fn refuse_indeterminate(what: &str, text: &str, findings: &Findings, clock: Clock) -> Result<()> {
    let refused =
        |message: String| {
            Err(Error::new(PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION, message)
            .detail("Running an interval again must give the same rows; this would not.")
            .hint("Take times from the row, and pass what differs between runs as param.name."))
        };
    let asks_clock = clock == Clock::Refused;
    if let (true, Some(value)) = (asks_clock, findings.session_values.first()) {
        return refused(format!("{what} asks the clock or the session: {value}"));
    }
    if let Some(literal) = findings
        .literals
        .iter()
        .find_map(|(kind, place)| clock_literal(*kind, text, *place))
        .filter(|_| asks_clock)
    {
        return refused(format!(
            "{what} asks the clock: the literal '{literal}' is the time of registration"
        ));
    }
    let functions: Vec<pg_sys::Oid> = findings.functions.clone();
    let unsteady: Option<Vec<UnsteadyFunction>> = session::as_extension_owner(|| {
        statement::fetch(sql_file!("catalog/functions"), &[functions.into()])
    })?;
    match unsteady
        .unwrap_or_default()
        .iter()
        .find(|function| asks_clock || function.volatile)
    {
        Some(function) if function.volatile => refused(format!(
            "{what} calls the volatile function {}",
            function.name
        )),
        Some(function) if asks_clock => refused(format!(
            "{what} asks the clock or the session: {}",
            function.name
        )),
        _ => Ok(()),
    }
}

/// The words of a date or time literal at `place` that mean the current time.
fn clock_literal(kind: pg_sys::Oid, text: &str, place: usize) -> Option<String> {
    let is_time = [
        pg_sys::DATEOID,
        pg_sys::TIMEOID,
        pg_sys::TIMETZOID,
        pg_sys::TIMESTAMPOID,
        pg_sys::TIMESTAMPTZOID,
    ]
    .contains(&kind);
    let literal = text.get(place..)?;
    let literal = &literal[literal.find('\'')? + 1..];
    let literal = &literal[..literal.find('\'')?];
    let asks = |word: &str| ["now", "today", "tomorrow", "yesterday"].contains(&word);
    let asks_the_clock = literal
        .to_ascii_lowercase()
        .split(|c: char| !c.is_ascii_alphabetic())
        .any(asks);
    (is_time && asks_the_clock).then(|| literal.to_owned())
}

#[cfg(test)]
mod tests {
    use super::end_of_reference;

    #[test]
    fn references_end_where_their_second_name_does() {
        let end = |text: &str| end_of_reference(text, 0).map(|end| text[..end].to_owned());
        assert_eq!(end("param.since::date").as_deref(), Some("param.since"));
        assert_eq!(end("param . since>1").as_deref(), Some("param . since"));
        assert_eq!(
            end("\"param\".\"Si\"\"n ce\" = 1").as_deref(),
            Some("\"param\".\"Si\"\"n ce\"")
        );
        assert_eq!(end("PARAM.größe+1").as_deref(), Some("PARAM.größe"));
        assert_eq!(end("param/* */.since"), None);
    }
}
