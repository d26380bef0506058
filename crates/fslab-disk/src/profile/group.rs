//! The groups of a profile: a macro that declares a group's keys once, as a type, and derives
//! reading, writing and the JSON Schema from it. An unknown key is an error, and so is a missing
//! one.

use fslab_model::TomlError;
use toml::{Table, Value};

use super::quantity::times;
use super::uncertainty::{UNCERTAIN, Uncertain};

/// A group that is being read.
pub(super) struct Keys<'a> {
    /// The group's name; empty for the keys before the groups.
    group: &'static str,
    table: &'a Table,
}

impl<'a> Keys<'a> {
    pub(super) fn new(group: &'static str, table: &'a Table) -> Self {
        Self { group, table }
    }

    /// Refuses keys that are not in `known`. Called before any key is read, so that a misspelt key
    /// is reported as such, not as a missing one.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), TomlError> {
        let unknown = self.table.keys().find(|key| !known.contains(&key.as_str()));
        unknown.map_or(Ok(()), |key| {
            Err(TomlError::unknown_key(self.path(key), known))
        })
    }

    /// The group of that name; `None` if it is absent.
    pub(super) fn group(&self, name: &'static str) -> Result<Option<Keys<'a>>, TomlError> {
        match self.table.get(name) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(Keys::new(name, table))),
            Some(value) => Err(TomlError::new(
                self.path(name),
                format!(
                    "{}must be a group, which begins with [{name}]",
                    quoted(value)
                ),
            )),
        }
    }

    /// The value of a key.
    pub(super) fn take<Q: super::quantity::Quantity>(
        &self,
        name: &'static str,
    ) -> Result<Q, TomlError> {
        match self.table.get(name) {
            Some(value) => Q::read(value).map_err(|reason| {
                TomlError::new(self.path(name), format!("{}{reason}", quoted(value)))
            }),
            None => Q::absent().ok_or_else(|| missing(self.path(name))),
        }
    }

    /// The uncertainties of the keys `known`, each of which must have a number.
    pub(super) fn uncertain(&self, known: &[&str]) -> Result<Option<Uncertain>, TomlError> {
        let uncertain: Option<Uncertain> = self.take(UNCERTAIN)?;
        for (key, _) in uncertain.iter().flat_map(Uncertain::keys) {
            let path = || self.path(UNCERTAIN).chain([key]);
            if !known.contains(&key) {
                return Err(TomlError::unknown_key(path(), known));
            }
            if self.table.get(key).and_then(|it| times(it, 1.0)).is_none() {
                let text = "has no number that could be uncertain";
                return Err(TomlError::new(path(), text));
            }
        }
        Ok(uncertain)
    }

    fn path<'k>(&self, key: &'k str) -> impl Iterator<Item = &'k str> + use<'k> {
        let group = Some(self.group).filter(|group| !group.is_empty());
        group.into_iter().chain([key])
    }
}

/// The error for a missing key or group.
pub(super) fn missing<'a>(path: impl Iterator<Item = &'a str>) -> TomlError {
    let hint = "`fslab disk show NAME --toml` prints a profile to start from";
    TomlError {
        hint: Some(hint.to_owned()),
        ..TomlError::new(path, "missing")
    }
}

/// The start of an error message: the value, shortened.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}': ", text.chars().take(40).collect::<String>()),
        Value::Array(_) | Value::Table(_) => String::new(),
        other => format!("'{other}': "),
    }
}

/// A group's name with its keys and values, in order.
pub(super) type Written = (&'static str, Vec<(&'static str, Value)>);

/// Declares a type that is a group of a profile. Each group has a `source`.
macro_rules! group {
    (
        $(#[$about:meta])*
        $name:literal => $type:ident {
            $($(#[$doc:meta])* $key:ident: $quantity:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields)]
        pub struct $type {
            $($(#[$doc])* pub $key: $quantity,)*
            /// How uncertain these numbers are.
            pub uncertain: Option<$crate::profile::Uncertain>,
            /// Source of these numbers, and which of them are derived or estimated.
            pub source: String,
        }

        impl $type {
            /// The group's name in a file.
            pub(super) const GROUP: &'static str = $name;

            pub(super) fn read(
                keys: $crate::profile::group::Keys,
            ) -> Result<Self, fslab_model::TomlError> {
                keys.only(&[$(stringify!($key),)* "uncertain", "source"])?;
                Ok(Self {
                    $($key: keys.take(stringify!($key))?,)*
                    uncertain: keys.uncertain(&[$(stringify!($key)),*])?,
                    source: keys.take("source")?,
                })
            }

            pub(super) fn write(&self) -> $crate::profile::group::Written {
                use $crate::profile::quantity::Quantity;
                let keys = [
                    $((stringify!($key), self.$key.write()),)*
                    ("uncertain", self.uncertain.write()),
                    ("source", self.source.write()),
                ];
                let written = keys.into_iter();
                let written = written.filter_map(|(key, value)| value.map(|value| (key, value)));
                (Self::GROUP, written.collect())
            }
        }
    };
}

pub(super) use group;
