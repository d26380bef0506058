//! Schema versions and migrations.
//!
//! A version is a file in `schema/` that never changes after its release. A migration and the
//! record of its version are one transaction, so a file always has one version. Missing digests, of
//! rows written by an earlier fslab, are added in the same way.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::Fault;
use crate::{StoreErrorKind, digest};

/// `MIGRATIONS[i]` migrates version `i` to `i + 1`; version 0 is the empty file.
const MIGRATIONS: [&str; 8] = [
    include_str!("schema/v1.sql"),
    include_str!("schema/v2.sql"),
    include_str!("schema/v3.sql"),
    include_str!("schema/v4.sql"),
    include_str!("schema/v5.sql"),
    include_str!("schema/v6.sql"),
    include_str!("schema/v7.sql"),
    include_str!("schema/v8.sql"),
];

/// The schema version that this fslab writes, and the latest that it reads.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// "fslb" in the file's header, which identifies a store (also to file(1)).
const APPLICATION_ID: i32 = 0x6673_6c62;

/// The file's schema version; `None` for an empty file.
///
/// Refuses files of other programs and of a later fslab.
pub(crate) fn check(connection: &Connection) -> Result<Option<u32>, Fault> {
    check_up_to(connection, SCHEMA_VERSION)
}

fn check_up_to(connection: &Connection, known: u32) -> Result<Option<u32>, Fault> {
    let head = Head::read(connection)?;
    if head.application_id == APPLICATION_ID {
        let found = u32::try_from(head.version).map_err(|_| StoreErrorKind::Damaged)?;
        if found > known {
            return Err(StoreErrorKind::Newer { found, known }.into());
        }
        ensure_text(connection)?;
        return Ok(Some(found));
    }
    if head == Head::default() {
        Ok(None)
    } else {
        Err(StoreErrorKind::Foreign.into())
    }
}

/// What identifies the file. That of an empty one is all 0.
#[derive(Default, PartialEq)]
struct Head {
    application_id: i32,
    version: i64,
    /// Tables, indices and the like.
    objects: i64,
}

impl Head {
    /// Reads it in one statement: between two, another process may make the store.
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let columns = "(SELECT application_id FROM pragma_application_id), \
                       (SELECT user_version FROM pragma_user_version), count(*)";
        let query = format!("SELECT {columns} FROM sqlite_schema");
        connection.query_row(&query, [], |row| {
            Ok(Self {
                application_id: row.get(0)?,
                version: row.get(1)?,
                objects: row.get(2)?,
            })
        })
    }
}

/// Checks that the schema is text: SQLite's binding panics on a column name that is not UTF-8.
fn ensure_text(connection: &Connection) -> Result<(), Fault> {
    let mut statement = connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..3 {
            let value = row.get_ref(column)?;
            if matches!(value, ValueRef::Text(bytes) if std::str::from_utf8(bytes).is_err()) {
                return Err(StoreErrorKind::Damaged.into());
            }
        }
    }
    Ok(())
}

/// Migrates the file to the current version.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    migrate_with(connection, &MIGRATIONS)
}

fn migrate_with(connection: &mut Connection, migrations: &[&str]) -> Result<(), Fault> {
    let target = migrations.len() as u32;
    if check_up_to(connection, target)? == Some(target) && digest::is_complete(connection)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated it since; read the version again.
    let from = check_up_to(&transaction, target)?.unwrap_or(0);
    for (version, sql) in (1..).zip(migrations).skip(from as usize) {
        apply(&transaction, version, sql)?;
    }
    digest::complete(&transaction)?;
    transaction.commit()?;
    Ok(())
}

fn apply(transaction: &Transaction, version: u32, sql: &str) -> Result<(), Fault> {
    transaction.execute_batch(sql)?;
    transaction.execute(
        "INSERT INTO migrations (version, applied_unix_s, fslab) VALUES (?1, unixepoch(), ?2)",
        (version, env!("CARGO_PKG_VERSION")),
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", version)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(connection: &Connection) -> Vec<u32> {
        let mut statement = connection
            .prepare("SELECT version FROM migrations ORDER BY version")
            .expect("the table of versions");
        let rows = statement.query_map([], |row| row.get(0)).expect("reads");
        rows.map(|row| row.expect("a version")).collect()
    }

    fn fresh() -> Connection {
        let mut connection = Connection::open_in_memory().expect("memory");
        assert_eq!(check(&connection).expect("empty"), None);
        migrate(&mut connection).expect("migrates");
        connection
    }

    #[test]
    fn an_empty_file_becomes_the_current_version_and_stays_it() {
        let mut connection = fresh();
        assert_eq!(check(&connection).expect("ours"), Some(SCHEMA_VERSION));
        migrate(&mut connection).expect("nothing to do");
        assert_eq!(
            versions(&connection),
            (1..=SCHEMA_VERSION).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_next_version_is_applied_to_the_last_one_only_once() {
        let mut connection = fresh();
        let next = "ALTER TABLE runs ADD COLUMN mood TEXT";
        let mut migrations = MIGRATIONS.to_vec();
        migrations.push(next);
        migrate_with(&mut connection, &migrations).expect("migrates");
        migrate_with(&mut connection, &migrations).expect("nothing to do");
        assert_eq!(versions(&connection).last(), Some(&(SCHEMA_VERSION + 1)));
        let newer = check(&connection);
        assert!(matches!(
            newer,
            Err(Fault::Kind(StoreErrorKind::Newer { .. }, None))
        ));
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let mut connection = fresh();
        let mut migrations = MIGRATIONS.to_vec();
        migrations.push("CREATE TABLE half (a); CREATE TABLE runs (a)");
        assert!(migrate_with(&mut connection, &migrations).is_err());
        assert_eq!(check(&connection).expect("ours"), Some(SCHEMA_VERSION));
        let half = connection.prepare("SELECT * FROM half");
        assert!(half.is_err(), "the table of the failed migration is gone");
    }

    #[test]
    fn a_database_with_other_tables_or_its_own_version_is_foreign() {
        for sql in [
            "CREATE TABLE bookmarks (a)",
            "PRAGMA user_version = 3",
            "PRAGMA application_id = 9",
        ] {
            let connection = Connection::open_in_memory().expect("memory");
            connection.execute_batch(sql).expect("another program");
            let foreign = check(&connection);
            assert!(
                matches!(foreign, Err(Fault::Kind(StoreErrorKind::Foreign, None))),
                "{sql}"
            );
        }
    }

    /// A damaged byte in the name of a column made the SQLite binding panic.
    #[test]
    fn a_schema_that_is_not_text_is_damage() {
        let connection = fresh();
        let damage = "PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = CAST(
                replace(CAST(sql AS BLOB), CAST('subject' AS BLOB), X'FF7562') AS TEXT)
            WHERE name = 'trials';";
        connection.execute_batch(damage).expect("damaged");
        let fault = check(&connection).expect_err("is no text");
        assert!(
            matches!(fault, Fault::Kind(StoreErrorKind::Damaged, _)),
            "{fault:?}"
        );
    }
}
