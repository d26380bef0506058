//! The schema of each version, and the comparison of a file's schema with it.
//!
//! SQLite executes what a file's schema says: triggers, views, constraints, generated columns. A
//! store may come from a stranger, so its schema must be that of its version, text for text, before
//! a statement names one of its tables.
//!
//! The expected texts are not written down. They are what the migrations make in memory, as they
//! make them in a file: `ALTER TABLE` edits the text of a table. ANALYZE's `sqlite_stat` tables are
//! strange, too: fslab makes none, and they would decide how its queries run.

use std::collections::BTreeMap;

use crate::StoreError;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, Row};

use crate::error::{Fault, STORE};

/// Longest part of a strange object's name that is shown.
const NAME_CHARS_MAX: usize = 60;

/// What identifies an object: its type and its name.
type Name = (String, String);

/// The objects of a schema: for each, its table and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape(BTreeMap<Name, (String, Option<String>)>);

/// `sqlite_schema` is another name of `sqlite_master`, and not one that every SQLite protects from
/// a view of the file with that name.
const OBJECTS: &str = "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master";

impl Shape {
    /// The schema of a database that fslab made.
    pub(crate) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare(OBJECTS)?;
        let rows = statement.query_map([], |row| {
            Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)))
        })?;
        Ok(Self(rows.collect::<rusqlite::Result<_>>()?))
    }

    /// Refuses a file whose schema is another: the first object in question is named.
    pub(crate) fn ensure(&self, connection: &Connection) -> Result<(), Fault> {
        let mut missing: BTreeMap<_, _> = self.0.iter().collect();
        let mut roots = Vec::new();
        let mut statement = connection.prepare(OBJECTS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name = (text(row, 0)?, text(row, 1)?);
            let Some((table, sql)) = missing.remove(&name) else {
                let object = shown(&name);
                let text = format!("the store {STORE} has a {object} that fslab did not make");
                return Err(strange(text));
            };
            if text(row, 2)? != *table || optional_text(row, 3)? != *sql {
                let object = shown(&name);
                let text =
                    format!("the {object} of the store {STORE} differs from what fslab creates");
                return Err(strange(text));
            }
            roots.extend(Some(row.get::<_, Sql>(4)?).filter(|root| *root != Sql::Integer(0)));
        }
        if let Some((name, _)) = missing.first_key_value() {
            return Err(strange(format!(
                "the store {STORE} lacks the {}",
                shown(name)
            )));
        }
        ensure_distinct(&roots)
    }
}

/// Two tables with the same root page would be one under two names.
fn ensure_distinct(roots: &[Sql]) -> Result<(), Fault> {
    let is_twice = |(at, root): (usize, &Sql)| roots[..at].contains(root);
    match roots.iter().enumerate().any(is_twice) {
        true => Err(StoreError::damaged().into()),
        false => Ok(()),
    }
}

fn text(row: &Row, column: usize) -> Result<String, Fault> {
    Ok(optional_text(row, column)?.unwrap_or_default())
}

/// A text; one that is not UTF-8 is damage. SQLite's binding would panic on such a column's name.
fn optional_text(row: &Row, column: usize) -> Result<Option<String>, Fault> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => Err(StoreError::damaged().into()),
        },
        ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => {
            Err(StoreError::damaged().into())
        }
    }
}

fn strange(text: String) -> Fault {
    let hint = "fslab does not open stores with foreign objects, because SQLite would execute \
                them; if you made it, remove it with sqlite3; otherwise restore a copy, or name another \
                with --store";
    StoreError::bad_input(text).hint(hint).into()
}

/// The object, by its type and its name, which is a stranger's text.
fn shown((kind, name): &Name) -> String {
    let shown = |text: &str| {
        let start: String = text.chars().take(NAME_CHARS_MAX).collect();
        start.escape_debug().to_string()
    };
    format!("{} '{}'", shown(kind), shown(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fault of the schema that `found` makes, where `expected` makes the right one.
    fn fault_of(expected: &str, found: &str) -> String {
        let of = |sql: &str| {
            let connection = Connection::open_in_memory().expect("memory");
            connection.execute_batch(sql).expect(sql);
            connection
        };
        let shape = Shape::of(&of(expected)).expect("its schema");
        shape.ensure(&of(expected)).expect("is its own");
        let fault = shape.ensure(&of(found)).expect_err(found);
        fault.at("open", std::path::Path::new("a.db")).to_string()
    }

    #[test]
    fn each_difference_of_a_schema_names_its_object() {
        let a = "CREATE TABLE a (x INTEGER DEFAULT 1);";
        for (found, object) in [
            ("CREATE VIEW v AS SELECT 1;", "view 'v'"),
            ("CREATE INDEX i ON a (x + 1);", "index 'i'"),
            ("CREATE TABLE b (x);", "table 'b'"),
            ("ANALYZE;", "table 'sqlite_stat1'"),
            (
                "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END;",
                "trigger 't'",
            ),
            ("CREATE VIRTUAL TABLE f USING fts5(x);", "table 'f'"),
            (
                "CREATE VIEW \"\u{1b}[2J\" AS SELECT 1;",
                "view '\\u{1b}[2J'",
            ),
        ] {
            let expected = format!("the store a.db has a {object} that fslab did not make");
            assert_eq!(fault_of(a, &format!("{a}{found}")), expected, "{found}");
        }
        for found in [
            "CREATE TABLE a (x INTEGER DEFAULT 2);",
            "CREATE TABLE a (x INTEGER DEFAULT 1 CHECK (x > 0));",
            "CREATE TABLE a (x INTEGER DEFAULT 1, y AS (x + 1));",
            "CREATE TABLE a (x INTEGER DEFAULT 1 COLLATE NOCASE);",
            "CREATE TABLE a (x INTEGER DEFAULT 1, PRIMARY KEY (x)) WITHOUT ROWID;",
        ] {
            let expected = "the table 'a' of the store a.db differs from what fslab creates";
            assert_eq!(fault_of(a, found), expected);
        }
        assert_eq!(fault_of(a, ""), "the store a.db lacks the table 'a'");
    }

    #[test]
    fn two_tables_on_one_page_are_damage() {
        let connection = Connection::open_in_memory().expect("memory");
        connection
            .execute_batch("CREATE TABLE a (x); CREATE TABLE b (x);")
            .expect("made");
        let shape = Shape::of(&connection).expect("its schema");
        connection
            .execute_batch(
                "PRAGMA writable_schema = ON;
                 UPDATE sqlite_master SET rootpage = 2;
                 PRAGMA writable_schema = RESET;",
            )
            .expect("joined");
        let fault = shape.ensure(&connection).expect_err("one table, two names");
        let error = fault.at("open", std::path::Path::new("a.db"));
        assert_eq!(error.to_string(), "the store a.db is damaged");
    }
}
