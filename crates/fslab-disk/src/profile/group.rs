//! The groups of a profile: which keys there are, how they are read, and how they are written back.
//!
//! A group is declared once, as a type; that declaration is what reads it, what writes it, and what
//! describes it in the JSON Schema. A key that is not declared is an error, as is one that is
//! missing.

use fslab_model::TomlError;
use toml::{Table, Value};

/// A group of a file while it is read.
pub(super) struct Keys<'a> {
    /// The group's name, empty for the keys that stand before all groups.
    group: &'static str,
    table: &'a Table,
}

impl<'a> Keys<'a> {
    pub(super) fn new(group: &'static str, table: &'a Table) -> Self {
        Self { group, table }
    }

    /// Refuses what is none of `known`. Called before any key is read: a misspelt key
    /// is a better error than the missing key that it stands for.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), TomlError> {
        let foreign = self.table.keys().find(|key| !known.contains(&key.as_str()));
        foreign.map_or(Ok(()), |key| {
            Err(TomlError::unknown_key(self.path(key), known))
        })
    }

    /// The group of that name; `None` where it is left out.
    pub(super) fn group(&self, name: &'static str) -> Result<Option<Keys<'a>>, TomlError> {
        match self.table.get(name) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(Keys::new(name, table))),
            Some(value) => Err(TomlError::new(
                self.path(name),
                format!("{}it is a group, and begins with [{name}]", shown(value)),
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
                TomlError::new(self.path(name), format!("{}{reason}", shown(value)))
            }),
            None => Q::left_out().ok_or_else(|| missing(self.path(name))),
        }
    }

    fn path<'k>(&self, key: &'k str) -> impl Iterator<Item = &'k str> + use<'k> {
        let group = Some(self.group).filter(|group| !group.is_empty());
        group.into_iter().chain([key])
    }
}

/// A key or a group that must be there.
pub(super) fn missing<'a>(path: impl Iterator<Item = &'a str>) -> TomlError {
    let hint = "`fslab disk show NAME --toml` prints a profile to start from";
    TomlError {
        hint: Some(hint.to_owned()),
        ..TomlError::new(path, "missing")
    }
}

/// The beginning of an error: the value as it was written, short.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}': ", text.chars().take(40).collect::<String>()),
        Value::Array(_) | Value::Table(_) => String::new(),
        other => format!("'{other}': "),
    }
}

/// A group as it is written: its name, its keys in their order.
pub(super) type Written = (&'static str, Vec<(&'static str, Value)>);

/// A type that is a group of a profile. Each has a `source`: where its numbers are from.
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
            /// Where these numbers are from, and which of them are derived or estimated.
            pub source: String,
        }

        impl $type {
            /// The group's name in a file.
            pub(super) const GROUP: &'static str = $name;

            pub(super) fn read(
                keys: $crate::profile::group::Keys,
            ) -> Result<Self, fslab_model::TomlError> {
                keys.only(&[$(stringify!($key),)* "source"])?;
                Ok(Self {
                    $($key: keys.take(stringify!($key))?,)*
                    source: keys.take("source")?,
                })
            }

            pub(super) fn write(&self) -> $crate::profile::group::Written {
                use $crate::profile::quantity::Quantity;
                let keys = [
                    $((stringify!($key), self.$key.write()),)*
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
