//! Schema versions and migrations.
//!
//! A version is a file in `schema/` that never changes after its release. A migration and the
//! record of its version are one transaction, so a file always has one version. Missing digests, of
//! rows written by an earlier fslab, are added in the same way.

use std::sync::LazyLock;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::{Fault, STORE};
use crate::{StoreError, shape::Shape};
use crate::{digest, sealing};

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

/// The versions, with the schema of each.
struct Versions {
    migrations: Vec<&'static str>,
    /// By version, from 0.
    shapes: Vec<Shape>,
}

static VERSIONS: LazyLock<Versions> = LazyLock::new(|| Versions::of(&MIGRATIONS));

impl Versions {
    /// Applies the migrations in memory; a migration that fails ends the list of schemas.
    fn of(migrations: &[&'static str]) -> Self {
        let memory = Connection::open_in_memory();
        let shape_after = |sql: &&str| {
            let memory = memory.as_ref().ok()?;
            memory.execute_batch(sql).ok()?;
            Shape::of(memory).ok()
        };
        let made = migrations.iter().map_while(shape_after);
        Self {
            shapes: std::iter::once(Shape::default()).chain(made).collect(),
            migrations: migrations.to_vec(),
        }
    }

    fn latest(&self) -> u32 {
        self.migrations.len() as u32
    }

    /// The file's schema version; `None` for an empty file.
    fn check(&self, connection: &Connection) -> Result<Option<u32>, Fault> {
        // The head and the schema must be those of the same moment: another process may make or
        // migrate the store.
        let _snapshot = match connection.is_autocommit() {
            true => Some(Transaction::new_unchecked(
                connection,
                TransactionBehavior::Deferred,
            )?),
            false => None,
        };
        let head = Head::read(connection)?;
        if head.application_id != APPLICATION_ID {
            return match head == Head::default() {
                true => Ok(None),
                false => Err(StoreError::foreign().into()),
            };
        }
        let found = u32::try_from(head.version).map_err(|_| StoreError::damaged())?;
        let known = self.latest();
        let shape = self.shapes.get(found as usize).filter(|_| found <= known);
        let shape = shape.ok_or_else(|| {
            let reads = format!("but this fslab reads up to {known}");
            StoreError::bad_input(format!("the store {STORE} has format {found}, {reads}"))
                .hint("use the fslab that wrote it, or a later one")
        })?;
        shape.ensure(connection)?;
        Ok(Some(found))
    }

    /// Migrates the file to the latest version.
    fn migrate(&self, connection: &mut Connection) -> Result<(), Fault> {
        let latest = Some(self.latest());
        if self.check(connection)? == latest && digest::is_complete(connection)? {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have migrated it since; read the version again.
        let from = self.check(&transaction)?.unwrap_or(0);
        // Version 5 edits texts of the schema, which a defensive connection refuses.
        transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
        for (version, sql) in (1..).zip(&self.migrations).skip(from as usize) {
            apply(&transaction, version, sql)?;
        }
        transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        sealing::complete(&transaction)?;
        self.check(&transaction)?;
        transaction.commit()?;
        Ok(())
    }
}

/// The file's schema version; `None` for an empty file.
///
/// Refuses files of other programs and of a later fslab, and files whose schema is not that of
/// their version.
pub(crate) fn check(connection: &Connection) -> Result<Option<u32>, Fault> {
    VERSIONS.check(connection)
}

/// Refuses a file that is not of the current version.
pub(crate) fn ensure_current(connection: &Connection) -> Result<(), Fault> {
    match check(connection)? {
        Some(SCHEMA_VERSION) => Ok(()),
        _ => Err(StoreError::foreign().into()),
    }
}

/// Migrates the file to the current version.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    VERSIONS.migrate(connection)
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
    /// By pragmas: a view of the file could have the name of a pragma's function.
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            application_id: connection
                .pragma_query_value(None, "application_id", |row| row.get(0))?,
            version: connection.pragma_query_value(None, "user_version", |row| row.get(0))?,
            objects: connection
                .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?,
        })
    }
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

    fn shown(fault: Fault) -> String {
        fault.at("open", std::path::Path::new("a.db")).to_string()
    }

    #[test]
    fn every_migration_has_the_schema_that_it_makes() {
        assert_eq!(VERSIONS.shapes.len(), MIGRATIONS.len() + 1);
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
        let longer = Versions::of(&migrations);
        longer.migrate(&mut connection).expect("migrates");
        longer.migrate(&mut connection).expect("nothing to do");
        assert_eq!(versions(&connection).last(), Some(&(SCHEMA_VERSION + 1)));
        let newer = check(&connection);
        assert!(shown(newer.expect_err("newer")).contains(" has format "));
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let mut connection = fresh();
        let mut migrations = MIGRATIONS.to_vec();
        migrations.push("CREATE TABLE half (a); CREATE TABLE runs (a)");
        assert!(Versions::of(&migrations).migrate(&mut connection).is_err());
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
            let foreign = shown(foreign.expect_err("foreign"));
            assert_eq!(foreign, "a.db is not an fslab store", "{sql}");
        }
    }

    /// A damaged byte in the name of a column made the SQLite binding panic.
    #[test]
    fn a_schema_that_is_not_text_is_damage() {
        let connection = fresh();
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
            .expect("set");
        let damage = "PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = CAST(
                replace(CAST(sql AS BLOB), CAST('subject' AS BLOB), X'FF7562') AS TEXT)
            WHERE name = 'trials';";
        connection.execute_batch(damage).expect("damaged");
        let fault = check(&connection).expect_err("is no text");
        assert_eq!(shown(fault), "the store a.db is damaged");
    }
}
