//! What must change about the table of a history so that it can take the columns that its source delivers, and how types widen.

use std::ffi::CStr;

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::connection::{ResultColumn, Value};
use crate::error::{Error, Result};
use crate::ident::{Ident, Sql};
use crate::intake;
use crate::registry::History;
use crate::relation::{Column, Relation};

/// A type with its modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The type.
    pub oid: pg_sys::Oid,
    /// Its modifier, -1 for none.
    pub modifier: i32,
}

impl Kind {
    fn of(column: &Column) -> Self {
        Self {
            oid: pg_sys::Oid::from(column.type_oid),
            modifier: column.type_modifier,
        }
    }

    fn plain(oid: pg_sys::Oid) -> Self {
        Self { oid, modifier: -1 }
    }

    /// The type as SQL spells it, with its schema where it is not one of the system's.
    pub fn sql(self) -> Sql {
        let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
        // SAFETY: the server answers with a null-terminated string for any type.
        let text = unsafe {
            CStr::from_ptr(pg_sys::format_type_extended(
                self.oid,
                self.modifier,
                flags as pg_sys::bits16,
            ))
        };
        Sql::type_name(text.to_string_lossy().into_owned())
    }

    /// The type that holds what this one, a column's, holds and what comes in as another; `None` if neither holds the other without a
    /// loss, or both are of different families. Nothing that is stored changes its value by it.
    pub fn widened(self, input: Self) -> Option<Self> {
        if self.oid == input.oid && self.base().oid != self.oid {
            return Some(self);
        }
        let (base, input) = (self.base(), input.base());
        if base.oid != self.oid {
            // What a domain limits would be cut without a word by a cast.
            return (base.modifier == -1 || base == input)
                .then(|| base.widened(input))
                .flatten()
                .filter(|wider| *wider == base)
                .map(|_| self);
        }
        use pg_sys::{
            BPCHAROID, FLOAT4OID, FLOAT8OID, INT2OID, INT4OID, INT8OID, NAMEOID, NUMERICOID,
            TEXTOID, VARCHAROID,
        };
        if self == input {
            return Some(self);
        }
        if let (Some(one), Some(other)) = (self.element(), input.element()) {
            let element = one.widened(other)?;
            // SAFETY: asks the catalog.
            let oid = unsafe { pg_sys::get_array_type(element.oid) };
            return Some(Self {
                oid,
                modifier: element.modifier,
            });
        }
        if self.oid == input.oid {
            return same_type(self.oid, self.modifier, input.modifier);
        }
        let is_integer = |oid| [INT2OID, INT4OID, INT8OID].contains(&oid);
        let is_float = |oid| [FLOAT4OID, FLOAT8OID].contains(&oid);
        let wide = |oid| oid == INT8OID || oid == NUMERICOID;
        match (self.oid, input.oid) {
            (one, other) if is_integer(one) && is_integer(other) => {
                Some(if digits(one) >= digits(other) {
                    self
                } else {
                    input
                })
            }
            (NUMERICOID, other) if is_integer(other) => {
                Some(numeric(self.modifier, digits(other), 0))
            }
            (one, NUMERICOID) if is_integer(one) => Some(numeric(input.modifier, digits(one), 0)),
            (one, other) if (is_float(one) && wide(other)) || (is_float(other) && wide(one)) => {
                None
            }
            (FLOAT4OID, INT2OID) | (INT2OID, FLOAT4OID) => Some(Self::plain(FLOAT4OID)),
            (one, other)
                if (is_float(one) || is_float(other))
                    && numeric_like(one)
                    && numeric_like(other) =>
            {
                Some(Self::plain(FLOAT8OID))
            }
            (VARCHAROID, TEXTOID) | (TEXTOID, VARCHAROID | BPCHAROID) => Some(Self::plain(TEXTOID)),
            (VARCHAROID, BPCHAROID) => same_type(VARCHAROID, self.modifier, input.modifier),
            (NAMEOID, _) | (BPCHAROID, TEXTOID | VARCHAROID) => None,
            (TEXTOID, other) if numeric_like(other) || other == pg_sys::BOOLOID => Some(self),
            // Of another type nothing says that it keeps within the limits of this column.
            _ => (intake::converts(input.oid, self.oid.to_u32()) || relabels(input.oid, self.oid))
                .then_some(Self::plain(self.oid)),
        }
    }

    /// The type under a domain, with the domain's own limits; any other type as it is. A history takes domains over as what is
    /// under them: casting to one would run its conditions, which are the work of whoever owns the source, and a domain may refuse NULL
    /// or fill it in, where a column that the source lost must be NULL.
    pub fn base(self) -> Self {
        let mut modifier = self.modifier;
        // SAFETY: asks the catalog; the out-pointer is valid.
        let oid = unsafe { pg_sys::getBaseTypeAndTypmod(self.oid, &mut modifier) };
        Self { oid, modifier }
    }

    fn element(self) -> Option<Self> {
        // SAFETY: asks the catalog.
        let oid = unsafe { pg_sys::get_element_type(self.oid) };
        (oid != pg_sys::InvalidOid).then_some(Self {
            oid,
            modifier: self.modifier,
        })
    }
}

/// Whether a value of one type is one of the other as it stands, as a text is a citext.
fn relabels(from: pg_sys::Oid, into: pg_sys::Oid) -> bool {
    let mut function = pg_sys::InvalidOid;
    // SAFETY: asks the catalog; the out-pointer is valid.
    let path = unsafe {
        pg_sys::find_coercion_pathway(
            into,
            from,
            pg_sys::CoercionContext::COERCION_ASSIGNMENT,
            &mut function,
        )
    };
    path == pg_sys::CoercionPathType::COERCION_PATH_RELABELTYPE
}

fn numeric_like(oid: pg_sys::Oid) -> bool {
    use pg_sys::{FLOAT4OID, FLOAT8OID, INT2OID, INT4OID, INT8OID, NUMERICOID};
    [INT2OID, INT4OID, INT8OID, NUMERICOID, FLOAT4OID, FLOAT8OID].contains(&oid)
}

/// How many decimal digits an integer type may need.
fn digits(oid: pg_sys::Oid) -> i32 {
    match oid {
        pg_sys::INT2OID => 5,
        pg_sys::INT4OID => 10,
        _ => 19,
    }
}

/// Digits before and after the point of a numeric modifier.
fn precision(modifier: i32) -> (i32, i32) {
    let packed = modifier - 4;
    // The scale has 11 bits and a sign.
    let scale = ((packed & 0x7ff) ^ 1024) - 1024;
    (((packed >> 16) & 0xffff) - scale, scale)
}

/// The numeric that holds one with this modifier and numbers with so many digits before and after the point.
fn numeric(modifier: i32, before: i32, after: i32) -> Kind {
    let modifier = match modifier {
        -1 => -1,
        modifier => {
            let (own_before, own_after) = precision(modifier);
            let (before, after) = (before.max(own_before), after.max(own_after));
            match before + after {
                precision @ 1..=1000 => ((precision << 16) | (after & 0x7ff)) + 4,
                _ => -1,
            }
        }
    };
    Kind {
        oid: pg_sys::NUMERICOID,
        modifier,
    }
}

/// The type with the modifier that holds what two modifiers of it hold.
fn same_type(oid: pg_sys::Oid, one: i32, other: i32) -> Option<Kind> {
    let kind = |modifier| Some(Kind { oid, modifier });
    if one == other {
        return kind(one);
    }
    match oid {
        pg_sys::NUMERICOID if one != -1 && other != -1 => {
            let (before, after) = precision(other);
            Some(numeric(one, before, after))
        }
        pg_sys::BITOID => None,
        pg_sys::VARCHAROID
        | pg_sys::BPCHAROID
        | pg_sys::VARBITOID
        | pg_sys::TIMESTAMPOID
        | pg_sys::TIMESTAMPTZOID
        | pg_sys::TIMEOID
        | pg_sys::TIMETZOID
            if one != -1 && other != -1 =>
        {
            kind(one.max(other))
        }
        _ => kind(-1),
    }
}

/// The collation of a column as SQL spells it; nothing where it is that of the type.
pub fn collate(type_oid: pg_sys::Oid, collation: pg_sys::Oid) -> Sql {
    // SAFETY: asks the catalog.
    let usual = unsafe { pg_sys::get_typcollation(type_oid) };
    if collation == pg_sys::InvalidOid || collation == usual {
        return Sql::nothing();
    }
    Sql::fixed(" COLLATE ").then(&Sql::type_name(
        Value::raw(pg_sys::REGCOLLATIONOID, collation.into())
            .text()
            .unwrap_or_default(),
    ))
}

/// The operator by which two values of a key column are equal: that of the type's default operator class. 42883 if it has none.
pub fn equality(name: &Ident, oid: pg_sys::Oid) -> Result<Sql> {
    // SAFETY: the cache entry lives as long as the session; the operator's row is released after its use.
    let found = unsafe {
        let entry = pg_sys::lookup_type_cache(oid, pg_sys::TYPECACHE_EQ_OPR as i32);
        let operator = (*entry).eq_opr;
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::OPEROID as i32,
            pg_sys::Datum::from(operator),
        );
        if tuple.is_null() {
            None
        } else {
            let row = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_operator>();
            let schema = CStr::from_ptr(pg_sys::get_namespace_name((*row).oprnamespace))
                .to_string_lossy()
                .into_owned();
            let operator = CStr::from_ptr((*row).oprname.data.as_ptr())
                .to_string_lossy()
                .into_owned();
            pg_sys::ReleaseSysCache(tuple);
            Some((schema, operator))
        }
    };
    let (schema, operator) = found.ok_or_else(|| {
        Error::new(
            PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION,
            format!(
                "column {name} of type {} cannot be a key",
                intake::type_name(oid)
            ),
        )
        .detail("The type has no equality by which a record could be found again.")
        .hint("Let a rule make a key of it, its text for example.")
    })?;
    Ok(Sql::operator(&Ident::new(schema)?, &operator))
}

/// A change that the table needs before a run can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The source has a column that the table lacks.
    Add { name: Ident, kind: Sql },
    /// The source's column holds more than the table's.
    Retype { name: Ident, kind: Sql, using: Sql },
    /// The source no longer has a column that must not be NULL.
    Nullable { name: Ident },
    /// The source no longer has a column, and such are to go.
    Drop { name: Ident },
}

impl Change {
    /// The change as a member of ALTER TABLE.
    pub fn sql(&self) -> Sql {
        let column = |before: &'static str, name: &Ident| Sql::fixed(before).then(&name.sql());
        match self {
            Self::Add { name, kind } => column("ADD COLUMN ", name)
                .then(&Sql::fixed(" "))
                .then(kind),
            Self::Retype { name, kind, using } => column("ALTER COLUMN ", name)
                .then(&Sql::fixed(" TYPE "))
                .then(kind)
                .then(using),
            Self::Nullable { name } => {
                column("ALTER COLUMN ", name).then(&Sql::fixed(" DROP NOT NULL"))
            }
            Self::Drop { name } => column("DROP COLUMN ", name),
        }
    }

    /// Whether views over the table must be taken away for it.
    pub fn disturbs_views(&self) -> bool {
        matches!(self, Self::Retype { .. } | Self::Drop { .. })
    }

    /// The change in words.
    pub fn words(&self) -> String {
        match self {
            Self::Add { name, kind } => format!("column {name} {} added", plain(kind)),
            Self::Retype { name, kind, .. } => format!("column {name} widened to {}", plain(kind)),
            Self::Nullable { name } => format!("column {name} may be null"),
            Self::Drop { name } => format!("column {name} dropped"),
        }
    }
}

/// A type without the schema that every type of the system has.
fn plain(kind: &Sql) -> String {
    kind.to_string().replace("pg_catalog.", "")
}

/// What the delivered columns of a history are to become columns of.
pub struct Plan {
    /// What the table needs first.
    pub changes: Vec<Change>,
}

/// Compares delivered columns with those of the table. `empty`: the table has no rows yet, and takes the types of the source.
///
/// Refused: columns that daybook sets itself (42701), keys that are not delivered (42703), types that do not fit (42804), and
/// columns that the table generates (428C9).
pub fn plan(
    history: &History,
    target: &Relation,
    source_name: &str,
    delivered: &[&ResultColumn],
    empty: bool,
) -> Result<Plan> {
    refuse_columns_of_ours(history, source_name, delivered)?;
    require_keys(history, source_name, delivered)?;
    require_own_keys(history, target)?;
    let mut changes = Vec::new();
    let mut misfits = Vec::new();
    for column in delivered {
        let input = Kind {
            oid: column.type_oid,
            modifier: column.type_modifier,
        };
        let Some(own) = target.column(&column.name) else {
            changes.push(Change::Add {
                name: column.name.clone(),
                kind: input
                    .base()
                    .sql()
                    .then(&collate(input.base().oid, column.collation)),
            });
            continue;
        };
        if own.refuses_values() {
            return Err(Error::new(
                PgSqlErrorCode::ERRCODE_GENERATED_ALWAYS,
                format!(
                    "the table \"{}\" generates its column {}, but the source delivers it too",
                    target.display_name(),
                    column.name
                ),
            )
            .hint("Leave the column out of the source, in a view for example."));
        }
        match Kind::of(own).widened(input) {
            Some(kind) if kind == Kind::of(own) => {}
            Some(kind) => changes.push(Change::Retype {
                name: column.name.clone(),
                kind: kind.sql(),
                using: Sql::nothing(),
            }),
            None if empty => changes.push(Change::Retype {
                name: column.name.clone(),
                kind: input.base().sql(),
                using: Sql::fixed(" USING NULL"),
            }),
            None => misfits.push(format!(
                "{} is {} in the source and {} in the history",
                column.name.as_str(),
                intake::type_name(column.type_oid),
                own.type_name
            )),
        }
    }
    if !misfits.is_empty() {
        return Err(Error::new(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!(
                "columns of \"{source_name}\" and \"{}\" differ in type: {}",
                target.display_name(),
                misfits.join("; ")
            ),
        )
        .detail("Neither type holds all values of the other, so one side would have to change values.")
        .hint("Convert the source's column in an expression rule or a view, or ALTER the table yourself."));
    }
    let is_delivered = |name: &Ident| delivered.iter().any(|column| column.name == *name);
    for own in &target.columns {
        if is_delivered(&own.name) || history.owns(&own.name) || own.fills_itself() {
            continue;
        }
        if history.options.ignore_old_deleted_columns {
            changes.push(Change::Drop {
                name: own.name.clone(),
            });
        } else if own.not_null {
            changes.push(Change::Nullable {
                name: own.name.clone(),
            });
        }
    }
    Ok(Plan { changes })
}

/// Refuses (42701) a source that delivers a column which daybook sets.
pub fn refuse_columns_of_ours(
    history: &History,
    source_name: &str,
    delivered: &[&ResultColumn],
) -> Result<()> {
    let claimed: Vec<&str> = delivered
        .iter()
        .filter(|column| history.owns(&column.name))
        .map(|column| column.name.as_str())
        .collect();
    if claimed.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_DUPLICATE_COLUMN,
        format!(
            "the source \"{source_name}\" has columns that daybook sets: {}",
            claimed.join(", ")
        ),
    )
    .hint("Leave them out in a view, or give the columns of a new history other names with daybook.captured_column_name and alike."))
}

/// Refuses (42703) a table that does not have the key.
pub fn require_own_keys(history: &History, target: &Relation) -> Result<()> {
    let is_missing = |key: &&Ident| target.column(key).is_none();
    match history.options.keys.iter().find(is_missing) {
        None => Ok(()),
        Some(key) => Err(Error::new(
            PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            format!(
                "the history \"{}\" has no column {key}, which pk names",
                target.display_name()
            ),
        )
        .detail(format!("It has: {}.", target.column_list()))),
    }
}

/// Refuses (42703) a source that does not deliver the key.
pub fn require_keys(
    history: &History,
    source_name: &str,
    delivered: &[&ResultColumn],
) -> Result<()> {
    let missing: Vec<&str> = history
        .options
        .keys
        .iter()
        .filter(|key| !delivered.iter().any(|column| column.name == **key))
        .map(Ident::as_str)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = delivered
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    Err(Error::new(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        format!(
            "the source \"{source_name}\" does not deliver the key: {}",
            missing.join(", ")
        ),
    )
    .detail(format!("It delivers: {}.", names.join(", "))))
}
