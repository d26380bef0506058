//! Conversion of values to SQLite: enumerations as words, structures as JSON, counters as integers.
//!
//! `what` names a value as `table.column`: errors report it, and reading finds the column by its
//! second half.

use crate::StoreError;
use fslab_model::LatencyHistogram;
use rusqlite::Row;
use rusqlite::types::{FromSql, Value as Sql};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Fault, STORE};

/// A structure as JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("the model's types serialise")
}

/// A counter as SQLite's signed integer.
pub(crate) fn integer(what: &'static str, value: u64) -> Result<i64, Fault> {
    i64::try_from(value).map_err(|_| unstorable(what))
}

/// A measured number. SQLite does not keep the sign of a zero.
pub(crate) fn real(value: f64) -> Sql {
    Sql::Real(value + 0.0)
}

/// A column, if its SQLite type is the expected one.
pub(crate) fn read<T: FromSql>(row: &Row, what: &'static str) -> Result<T, Fault> {
    let column = what.split_once('.').map_or(what, |(_, column)| column);
    Ok(row.get(column)?)
}

/// A counter, in the model's type.
pub(crate) fn read_integer<T: TryFrom<i64>>(row: &Row, what: &'static str) -> Result<T, Fault> {
    let value: i64 = read(row, what)?;
    T::try_from(value).map_err(|_| unreadable_value(what))
}

/// A counter that may not have been measured.
pub(crate) fn read_optional<T: TryFrom<i64>>(
    row: &Row,
    what: &'static str,
) -> Result<Option<T>, Fault> {
    match read::<Option<i64>>(row, what)? {
        None => Ok(None),
        Some(_) => read_integer(row, what).map(Some),
    }
}

/// Reads what [`json`] wrote.
pub(crate) fn read_json<T: DeserializeOwned>(row: &Row, what: &'static str) -> Result<T, Fault> {
    let text: String = read(row, what)?;
    serde_json::from_str(&text).map_err(|error| unreadable(what, error))
}

/// Reads what [`json`] wrote; `None` for NULL.
pub(crate) fn read_optional_json<T: DeserializeOwned>(
    row: &Row,
    what: &'static str,
) -> Result<Option<T>, Fault> {
    match read::<Option<String>>(row, what)? {
        None => Ok(None),
        Some(_) => read_json(row, what).map(Some),
    }
}

/// An enumeration without fields, from its serialised word.
pub(crate) fn read_word<T: DeserializeOwned>(row: &Row, what: &'static str) -> Result<T, Fault> {
    let word: String = read(row, what)?;
    serde_json::from_value(Value::String(word)).map_err(|error| unreadable(what, error))
}

/// Parses what the type's `Display` wrote.
pub(crate) fn read_parsed<T>(row: &Row, what: &'static str) -> Result<T, Fault>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text: String = read(row, what)?;
    text.parse().map_err(|error| unreadable(what, error))
}

/// A histogram in its serialised form.
pub(crate) fn read_histogram(row: &Row, what: &'static str) -> Result<LatencyHistogram, Fault> {
    let bytes: Vec<u8> = read(row, what)?;
    LatencyHistogram::from_bytes(&bytes).map_err(|error| unreadable(what, error))
}

pub(crate) fn unreadable(
    what: &'static str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Fault {
    let damage = format!("cannot read {what}: {error}");
    cannot_read(what).because(&error).damage(damage).into()
}

/// A value that fslab would not have written.
pub(crate) fn unreadable_value(what: &'static str) -> Fault {
    cannot_read(what)
        .damage(format!("cannot read {what}"))
        .into()
}

fn cannot_read(what: &'static str) -> StoreError {
    StoreError::bad_input(format!("cannot read {what} in the store {STORE}"))
        .hint("a later fslab may have written it; check it for damage with fslab store check")
}

/// A value that exceeds SQLite's integers.
pub(crate) fn unstorable(what: &'static str) -> Fault {
    let text = format!("the value for {what} is too large for the store {STORE}");
    StoreError::bad_input(text).into()
}

#[cfg(test)]
mod tests {
    use fslab_model::{RunId, VenueKind};
    use rusqlite::Connection;

    use super::*;

    /// Calls `reader` with the one row of `SELECT value AS c`.
    fn row_of<T>(value: &str, reader: impl Fn(&Row) -> Result<T, Fault>) -> Result<T, Fault> {
        let connection = Connection::open_in_memory().expect("memory");
        let mut statement = connection
            .prepare(&format!("SELECT {value} AS c"))
            .expect("SQL");
        let mut rows = statement.query([]).expect("runs");
        reader(rows.next().expect("steps").expect("has a row"))
    }

    fn is_unreadable<T>(result: &Result<T, Fault>) -> bool {
        let fault = result.as_ref().err();
        fault.is_some_and(|fault| fault.reason().starts_with("cannot read t.c"))
    }

    #[test]
    fn an_enumeration_is_read_from_its_word() {
        let venue = row_of("'loop'", |row| read_word::<VenueKind>(row, "t.c"));
        assert_eq!(venue.expect("a venue"), VenueKind::Loop);
        assert!(is_unreadable(&row_of(
            "'moon'",
            |row| read_word::<VenueKind>(row, "t.c")
        )));
    }

    #[test]
    fn a_counter_beyond_sqlite_is_refused_rather_than_wrapped() {
        assert_eq!(integer("t.c", 5).expect("small"), 5);
        let refused = integer("t.c", u64::MAX).expect_err("too large");
        assert_eq!(
            refused
                .at("write to", std::path::Path::new("a.db"))
                .to_string(),
            "the value for t.c is too large for the store a.db"
        );
    }

    #[test]
    fn an_absent_counter_is_none_and_a_negative_one_is_unreadable() {
        let absent = row_of("NULL", |row| read_optional::<u64>(row, "t.c"));
        assert_eq!(absent.expect("absent"), None);
        assert!(is_unreadable(&row_of("-1", |row| read_optional::<u64>(
            row, "t.c"
        ))));
        assert!(is_unreadable(&row_of("-1", |row| read_integer::<u32>(
            row, "t.c"
        ))));
    }

    #[test]
    fn broken_json_a_strange_name_and_a_torn_histogram_are_unreadable() {
        assert!(is_unreadable(&row_of(
            "'['",
            |row| read_json::<Vec<String>>(row, "t.c")
        )));
        assert!(is_unreadable(&row_of("'A B'", |row| read_parsed::<RunId>(
            row, "t.c"
        ))));
        assert!(is_unreadable(&row_of("x'00ff'", |row| read_histogram(
            row, "t.c"
        ))));
    }
}
