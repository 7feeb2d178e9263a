//! Names in SQL text: the only place that quotes. Everything that goes into a statement is a [`Sql`]; there is no way to
//! make one of a name but by quoting it, and user-written text has a constructor of its own that is easy to search for.

use std::fmt;

use crate::error::{Error, Result};

/// Text that is safe to stand in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sql(String);

impl Sql {
    /// Nothing: fills a hole that stays empty.
    pub fn nothing() -> Self {
        Self(String::new())
    }

    /// Text that is written in this crate.
    pub fn fixed(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// A whole number: a step, a parameter's number.
    pub fn number(number: usize) -> Self {
        Self(number.to_string())
    }

    /// A rendered statement or part of one.
    pub(crate) fn rendered(text: String) -> Self {
        Self(text)
    }

    /// SQL text that a user registered. It must have passed [`crate::expression`] as one expression; it is set off by line
    /// breaks, so that a trailing comment ends with it.
    pub fn registered(text: &str) -> Self {
        Self(format!("(\n{text}\n)"))
    }

    /// A string literal. For what has to stand in a statement as it is: a type's input, a name among values.
    pub fn literal(text: &str) -> Self {
        Self(pgrx::spi::quote_literal(text))
    }

    /// A type, as the server spells it with its schema.
    pub(crate) fn type_name(text: String) -> Self {
        Self(text)
    }

    /// An operator with its schema, set off by spaces; the server has found its name.
    pub(crate) fn operator(schema: &Ident, name: &str) -> Self {
        Self(format!(" OPERATOR({schema}.{name}) "))
    }

    /// A name of ours that is made of a letter and a number, such as k1.
    pub fn numbered(letter: &'static str, number: usize) -> Self {
        Self(format!("{letter}{number}"))
    }

    /// `alias.name`, for a name of ours.
    pub fn of(&self, alias: &'static str) -> Self {
        Self(format!("{alias}.{self}"))
    }

    /// `value AS name`, for a name of ours.
    pub fn named(&self, name: &Sql) -> Self {
        Self(format!("{self} AS {name}"))
    }

    /// A value cast to a type.
    pub fn cast(value: &Sql, kind: &Sql) -> Self {
        Self(format!("CAST({value} AS {kind})"))
    }

    /// The text of a column of `source`.
    pub fn type_text(column: &Ident) -> Self {
        Self(format!("{}::pg_catalog.text", column.of("source")))
    }

    /// The text in parentheses.
    pub fn in_parentheses(&self) -> Self {
        Self(format!("({self})"))
    }

    /// Parts joined by a word, such as ` AND `; `empty` if there are none.
    pub fn joined(
        parts: impl IntoIterator<Item = Sql>,
        word: &'static str,
        empty: &'static str,
    ) -> Self {
        let parts: Vec<String> = parts.into_iter().map(|part| part.0).collect();
        match parts.is_empty() {
            true => Self::fixed(empty),
            false => Self(parts.join(word)),
        }
    }

    /// This text and another one right after it.
    pub fn then(&self, other: &Sql) -> Self {
        Self(format!("{}{}", self.0, other.0))
    }

    /// The same, after a line break.
    pub fn on_a_new_line(&self) -> Self {
        Self(format!("\n{self}"))
    }

    /// A list of parts, joined by commas.
    pub fn list(parts: impl IntoIterator<Item = Sql>) -> Self {
        Self(
            parts
                .into_iter()
                .map(|part| part.0)
                .collect::<Vec<_>>()
                .join(", "),
        )
    }

    /// The parameter of this number.
    pub fn parameter(number: usize) -> Self {
        Self(format!("${number}"))
    }

    /// An element of the array that is the parameter of this number.
    pub fn subscript(number: usize, index: &Sql) -> Self {
        Self(format!("(${number})[{index}]"))
    }

    /// A condition that is true where any of some columns is null.
    pub fn any_null(columns: &[Ident], alias: &'static str) -> Self {
        let tests = columns
            .iter()
            .map(|name| format!("{} IS NULL", name.of(alias)));
        Self(format!("({})", tests.collect::<Vec<_>>().join(" OR ")))
    }

    /// The arguments of a function that takes names and values in turn, such as jsonb_build_object.
    pub fn name_value_pairs(columns: &[Ident], alias: &'static str) -> Self {
        Self::list(columns.iter().map(|name| {
            Self(format!(
                "{}, {}",
                pgrx::spi::quote_literal(name.as_str()),
                name.of(alias)
            ))
        }))
    }
}

impl fmt::Display for Sql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a column or another object. Displays quoted.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(transparent)]
pub struct Ident(String);

impl Ident {
    /// The longest name that Postgres keeps, in bytes.
    pub const MAX_BYTES: usize = 63;

    /// A name as it stands. Refused (42602): empty, with a NUL, or longer than Postgres keeps, which would cut it.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let problem = if name.is_empty() {
            "is empty"
        } else if name.contains('\0') {
            "contains a NUL character"
        } else if name.len() > Self::MAX_BYTES {
            "is longer than 63 bytes"
        } else {
            return Ok(Self(name));
        };
        Err(Error::new(
            pgrx::PgSqlErrorCode::ERRCODE_INVALID_NAME,
            format!("the name \"{name}\" {problem}"),
        ))
    }

    /// The name without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name, quoted.
    pub fn sql(&self) -> Sql {
        Sql(self.to_string())
    }

    /// `qualifier.name`, the qualifier being one of our aliases.
    pub fn of(&self, alias: &'static str) -> Sql {
        Sql(format!("{alias}.{self}"))
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "\"\""))
    }
}

/// A relation by schema and name. Displays quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualifiedName {
    /// The schema.
    pub schema: Ident,
    /// The relation.
    pub name: Ident,
}

impl QualifiedName {
    /// The name, quoted.
    pub fn sql(&self) -> Sql {
        Sql(self.to_string())
    }

    /// The name as a person would write it: quoted only where it must be.
    pub fn display_name(&self) -> String {
        let quoted = |name: &Ident| pgrx::spi::quote_identifier(name.as_str());
        format!("{}.{}", quoted(&self.schema), quoted(&self.name))
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// Reads a `daybook.column_list`: an array literal, or identifiers with commas, folded to lower case unless quoted, as SQL
/// does. Refused (22023): no name at all, a name twice, stray characters.
pub fn parse_column_list(text: &str) -> Result<Vec<Ident>> {
    let malformed = |what: &str| {
        Error::invalid(format!("column list \"{text}\" {what}"))
            .hint("Write array['a', 'b'], '{a,b}' or 'a, \"B c\"'.")
    };
    let trimmed = text.trim();
    let (body, fold) = match trimmed
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        Some(body) => (body, false),
        None => (trimmed, true),
    };
    let mut names = Vec::new();
    let mut characters = body.chars().peekable();
    loop {
        while characters.next_if(|c| c.is_whitespace()).is_some() {}
        let mut name = String::new();
        if characters.next_if_eq(&'"').is_some() {
            loop {
                match characters.next() {
                    // In an array literal a backslash escapes, in an identifier a doubled quote does.
                    Some('\\') if !fold => name.extend(characters.next()),
                    Some('"') if fold && characters.next_if_eq(&'"').is_some() => name.push('"'),
                    Some('"') => break,
                    Some(character) => name.push(character),
                    None => return Err(malformed("has a quote that does not end")),
                }
            }
        } else {
            while let Some(character) = characters.next_if(|c| *c != ',' && *c != '"') {
                name.push(character);
            }
            name = name.trim_end().to_owned();
            if fold {
                if name.contains(char::is_whitespace) {
                    return Err(malformed("has a name with a space that is not quoted"));
                }
                name = name.to_lowercase();
            }
        }
        if name.is_empty() {
            return Err(malformed("has an empty name"));
        }
        let name = Ident::new(name)?;
        if names.contains(&name) {
            return Err(malformed(&format!("names {name} twice")));
        }
        names.push(name);
        while characters.next_if(|c| c.is_whitespace()).is_some() {}
        match characters.next() {
            None => return Ok(names),
            Some(',') => {}
            Some(_) => return Err(malformed("lacks a comma between two names")),
        }
    }
}

/// The canonical text of a column list: quoted identifiers with commas.
pub fn write_column_list(names: &[Ident]) -> String {
    names
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        parse_column_list(text)
            .unwrap_or_default()
            .iter()
            .map(|n| n.as_str().to_owned())
            .collect()
    }

    #[test]
    fn column_lists_of_every_form() {
        assert_eq!(names("a"), ["a"]);
        assert_eq!(names(" A , \"B c\",d "), ["a", "B c", "d"]);
        assert_eq!(names("{A,\"B c\"}"), ["A", "B c"]);
        assert_eq!(names(r#"{"a\"b","c\\d"}"#), ["a\"b", "c\\d"]);
        assert_eq!(names("\"a\"\"b\""), ["a\"b"]);
        for bad in ["", "a,", ",a", "a b", "a,a", "\"a", "a\"b\"", "{}", "{a,a}"] {
            assert!(parse_column_list(bad).is_err(), "{bad:?} was read");
        }
    }

    #[test]
    fn written_lists_read_back() {
        let list = vec![
            "plain",
            "With Space",
            "q\"uote",
            "comma,",
            "{brace}",
            "back\\slash",
        ];
        let list: Vec<Ident> = list
            .into_iter()
            .filter_map(|n| Ident::new(n).ok())
            .collect();
        assert_eq!(
            parse_column_list(&write_column_list(&list)).ok(),
            Some(list)
        );
    }

    #[test]
    fn names_that_postgres_would_cut_are_refused() {
        assert!(Ident::new("a".repeat(63)).is_ok());
        assert!(Ident::new("a".repeat(64)).is_err());
        assert!(Ident::new("ä".repeat(32)).is_err());
        assert!(Ident::new("").is_err());
        assert!(Ident::new("a\0b").is_err());
    }
}
