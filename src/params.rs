//! Parameters of a call: what rules read as `param.name`. A value is bound as text, numeric, boolean or jsonb, as its JSON value is.

use pgrx::{AnyNumeric, JsonB};

use crate::connection::Value;
use crate::error::{Error, Result};
use crate::ident::Sql;

/// The types that a parameter can have, by the kind of its JSON value.
#[derive(Debug, Clone, Copy)]
pub enum ParamType {
    /// A JSON string, or null.
    Text,
    /// A JSON number.
    Numeric,
    /// true or false.
    Boolean,
    /// A JSON object or array.
    Jsonb,
}

impl ParamType {
    /// All types, in the order in which a rule is tried with them.
    pub const ALL: [Self; 4] = [Self::Text, Self::Numeric, Self::Boolean, Self::Jsonb];

    /// A NULL of the type.
    pub fn typed_null(self) -> &'static str {
        match self {
            Self::Text => "(NULL::pg_catalog.text)",
            Self::Numeric => "(NULL::pg_catalog.numeric)",
            Self::Boolean => "(NULL::pg_catalog.bool)",
            Self::Jsonb => "(NULL::pg_catalog.jsonb)",
        }
    }
}

/// Values for `param.name`, numbered in the order in which rules use them.
pub struct Params<'a> {
    given: &'a serde_json::Value,
    first: usize,
    used: Vec<String>,
    /// The values to bind.
    pub values: Vec<Value>,
}

impl<'a> Params<'a> {
    /// Takes the params of a call, of which the first that is used becomes the parameter of number `first`; 22023 if they are not a
    /// JSON object.
    pub fn new(given: &'a serde_json::Value, first: usize) -> Result<Self> {
        if !given.is_object() {
            return Err(Error::invalid("params must be a JSON object")
                .hint("For example '{\"since\": \"2026-09-01\"}'."));
        }
        Ok(Self {
            given,
            first,
            used: Vec::new(),
            values: Vec::new(),
        })
    }

    /// What stands for a parameter in a statement; 22023 if it was not passed.
    pub fn placeholder(&mut self, name: &str) -> Result<Sql> {
        let index = match self.used.iter().position(|used| used == name) {
            Some(index) => index,
            None => {
                let value = self.given.get(name).ok_or_else(|| self.missing(name))?;
                self.values.push(param_value(value)?);
                self.used.push(name.to_owned());
                self.used.len() - 1
            }
        };
        Ok(Sql::parameter(self.first + index))
    }

    /// The type that a parameter has as it was passed.
    pub fn type_of(&self, name: &str) -> ParamType {
        use serde_json::Value as Json;
        match self.given.get(name) {
            Some(Json::Number(_)) => ParamType::Numeric,
            Some(Json::Bool(_)) => ParamType::Boolean,
            Some(Json::Array(_) | Json::Object(_)) => ParamType::Jsonb,
            Some(Json::String(_) | Json::Null) | None => ParamType::Text,
        }
    }

    fn missing(&self, name: &str) -> Error {
        let given: Vec<&str> = self
            .given
            .as_object()
            .map(|map| map.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let detail = if given.is_empty() {
            "params is empty.".to_owned()
        } else {
            format!("params has: {}.", given.join(", "))
        };
        Error::invalid(format!("the parameter \"{name}\" is missing"))
            .detail(detail)
            .hint(format!(
                "A rule reads param.{}: pass params => '{{\"{name}\": …}}'.",
                pgrx::spi::quote_identifier(name)
            ))
    }
}

/// A JSON value as text, numeric, boolean or jsonb.
fn param_value(value: &serde_json::Value) -> Result<Value> {
    use serde_json::Value as Json;
    Ok(match value {
        Json::Null => Value::of(None::<String>),
        Json::String(text) => Value::of(text.clone()),
        Json::Bool(flag) => Value::of(*flag),
        Json::Number(number) => Value::of(
            AnyNumeric::try_from(number.to_string().as_str()).map_err(|_| {
                Error::invalid(format!("the number {number} in params cannot be read"))
            })?,
        ),
        Json::Array(_) | Json::Object(_) => Value::of(JsonB(value.clone())),
    })
}
