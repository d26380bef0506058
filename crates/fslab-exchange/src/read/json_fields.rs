//! Fields of a tool's JSON objects, with checked types.

use serde_json::{Map, Value};

use crate::error::Fault;
use crate::reading::is_plausible;

/// An object with its path.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'d> {
    pub(crate) place: String,
    object: &'d Map<String, Value>,
}

impl<'d> Fields<'d> {
    pub(crate) fn of(place: impl Into<String>, value: &'d Value) -> Result<Self, Fault> {
        let place = place.into();
        match value {
            Value::Object(object) => Ok(Self { place, object }),
            other => Err(Fault::value(place, other.to_string(), "an object")),
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}, {name}", self.place)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'d Value> {
        self.object.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'d String, &'d Value)> + use<'d> {
        self.object.iter()
    }

    /// A nested object; `None` if missing.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Self>, Fault> {
        let found = self.get(name);
        found
            .map(|value| Self::of(self.path(name), value))
            .transpose()
    }

    /// The elements of a list; `None` if missing.
    pub(crate) fn list(&self, name: &str) -> Result<Option<&'d [Value]>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(Fault::value(self.path(name), other.to_string(), "a list")),
        }
    }

    /// A text; `None` if missing.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'d str>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(Fault::value(self.path(name), other.to_string(), "a string")),
        }
    }

    /// A finite number of at least 0; `None` if missing.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| is_plausible(*number));
        let wrong = || Fault::value(self.path(name), value.to_string(), "a number from 0");
        number.map(Some).ok_or_else(wrong)
    }

    /// A count; `None` if missing.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let wrong = || Fault::value(self.path(name), value.to_string(), "an integer from 0");
        as_count(value).map(Some).ok_or_else(wrong)
    }
}

/// An integer that SQLite can store.
pub(crate) fn as_count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| i64::try_from(*count).is_ok())
}
