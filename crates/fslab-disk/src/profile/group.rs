//! The groups of a profile: which keys there are, how they are read, and how they are written back.
//!
//! A group is declared once, as a type; that declaration is what reads it, what writes it, and what
//! lists it. A key that nobody declared is an error, as is one that is missing.

use fslab_model::nearest_name;
use toml::{Table, Value};

use super::ProfileFault;

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

    /// Refuses what is none of `known`. Asked before any key is read: a key that is misspelt is
    /// more to be told than the one that it should have been.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), ProfileFault> {
        let foreign = self.table.keys().find(|key| !known.contains(&key.as_str()));
        foreign.map_or(Ok(()), |key| {
            Err(ProfileFault::Unknown {
                key: self.path(key),
                nearest: nearest_name(key, known.iter().copied()).map(str::to_owned),
                known: known.iter().map(|name| (*name).to_owned()).collect(),
            })
        })
    }

    /// The group of that name; `None` where it is left out.
    pub(super) fn group(&self, name: &'static str) -> Result<Option<Keys<'a>>, ProfileFault> {
        match self.table.get(name) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(Keys::new(name, table))),
            Some(value) => Err(ProfileFault::Value {
                key: self.path(name),
                value: shown(value),
                reason: format!("it is a group, and begins with [{name}]"),
            }),
        }
    }

    /// The value of a key.
    pub(super) fn take<Q: super::quantity::Quantity>(
        &self,
        name: &'static str,
    ) -> Result<Q, ProfileFault> {
        match self.table.get(name) {
            Some(value) => Q::read(value).map_err(|reason| ProfileFault::Value {
                key: self.path(name),
                value: shown(value),
                reason,
            }),
            None => Q::left_out().ok_or_else(|| ProfileFault::Missing {
                key: self.path(name),
            }),
        }
    }

    fn path(&self, key: &str) -> String {
        if self.group.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.group)
        }
    }
}

/// A value in an error: short, and as it was written.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().take(40).collect(),
        Value::Array(_) | Value::Table(_) => String::new(),
        other => other.to_string(),
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
        #[derive(Clone, Debug, PartialEq, Eq)]
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
            ) -> Result<Self, $crate::profile::ProfileFault> {
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
