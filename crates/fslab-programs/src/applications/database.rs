//! The job `sqlite`: transactions of SQLite, one after the other. Each COMMIT is timed as an
//! operation; the phase includes the other statements.
//!
//! SQLite marks its journals with random numbers; sizes, and so the I/O, follow from the parameters
//! and the seed. Temporary tables stay in memory: only the database and its journal are on the file
//! system.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use fslab_crash::{COMMIT_TIMES, DatabaseReport};
use fslab_engine::{EngineError, EngineKind, Filler, Measured, Random, RunContext, ThreadRecorder};
use fslab_job::{Finished, Job, RunError, ensure_inside, synthetic_application};
use fslab_model::{Bytes, FailureKind, Need, ValueList};
use fslab_sys::ResourceUse;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::EngineResult;

/// Rows per transaction while the table is filled (not timed).
const FILL_ROWS: u64 = 10_000;
/// Bytes of a row besides its data.
const ROW_ROOM: u64 = 32;
const ROW_MAX: Bytes = Bytes::mib(16);
/// Most commits that are listed.
const LISTED_MAX: u64 = 100_000;

/// The rollback journal: SQLite's journal_mode.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum Journal {
    /// Deleted at each commit.
    #[default]
    Delete,
    /// Truncated at each commit.
    Truncate,
    /// Its header is overwritten at each commit.
    Persist,
    /// A write-ahead log.
    Wal,
}

/// When SQLite syncs.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum Synchronous {
    /// At every commit, and the directory after a rollback journal was deleted.
    Extra,
    /// At every commit. It is durable then, but with the journal `delete` the journal may come back
    /// with a power loss, and take back the last commit.
    #[default]
    Full,
    /// At critical moments only: the database stays consistent.
    Normal,
    /// Never.
    Off,
}

/// Transactions of SQLite, one after the other; each commit is timed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DatabaseParameters {
    /// The database, below the root.
    file: PathBuf,
    /// Number of transactions.
    #[schemars(range(min = 1))]
    transactions: u64,
    /// Rows that each transaction touches.
    #[schemars(range(min = 1))]
    rows: u64,
    /// Size of a row's data.
    #[schemars(extend("minimum" = 1, "maximum" = ROW_MAX.0))]
    row: Bytes,
    /// Rows that are inserted before timing.
    rows_before: u64,
    /// Percent of the rows that are inserted.
    #[schemars(range(max = 100))]
    insert_percent: u64,
    /// Percent of the rows that are updated; the rest are selected.
    #[schemars(range(max = 100))]
    update_percent: u64,
    /// SQLite's journal_mode.
    journal: Journal,
    /// SQLite's synchronous: when it syncs.
    synchronous: Synchronous,
    /// SQLite's page size in bytes: a power of two.
    #[schemars(extend("minimum" = 512, "maximum" = 65_536))]
    page_size: Bytes,
    /// Size of SQLite's page cache.
    page_cache: Bytes,
    /// List begin and duration of every commit, from which it is judged what a power loss leaves;
    /// all rows must be inserted then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    list_commits: bool,
}

impl Default for DatabaseParameters {
    fn default() -> Self {
        Self {
            file: "sqlite.db".into(),
            transactions: 1_000,
            rows: 10,
            row: Bytes(100),
            rows_before: 10_000,
            insert_percent: 50,
            update_percent: 30,
            journal: Journal::default(),
            synchronous: Synchronous::default(),
            page_size: Bytes::kib(4),
            page_cache: Bytes::mib(2),
            list_commits: false,
        }
    }
}

impl Journal {
    fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Synchronous {
    fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Job for DatabaseParameters {
    const NAME: &'static str = "sqlite";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.file)?;
        let page = self.page_size.0;
        if !page.is_power_of_two() {
            return Err(format!(
                "page_size = {}; it must be a power of two",
                self.page_size
            ));
        }
        if self.insert_percent.saturating_add(self.update_percent) > 100 {
            return Err("insert_percent and update_percent, which are more than 100".into());
        }
        if self.list_commits && self.insert_percent != 100 {
            return Err("list_commits, which needs insert_percent = 100".into());
        }
        if self.list_commits && self.transactions > LISTED_MAX {
            return Err(format!("list_commits; at most {LISTED_MAX} are listed"));
        }
        if self.rows_before == 0 && self.insert_percent < 100 {
            return Err("rows_before = 0; there must be rows to change or look up".into());
        }
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        let touched = self.transactions.saturating_mul(self.rows);
        let rows = self.rows_before.saturating_add(touched);
        let table = rows.saturating_mul(self.row.0 + ROW_ROOM);
        // Pages are partly empty, and a write-ahead log holds copies of pages.
        Bytes(table.saturating_mul(3).saturating_add(8 << 20))
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::FileBytes(self.footprint())]
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        commit_transactions(self, context)
    }
}

/// Fills a database, runs the transactions, and checks it.
pub(crate) fn commit_transactions(
    parameters: &DatabaseParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        let moved = parameters.transactions * parameters.rows * parameters.row.0;
        return Ok(synthetic_application(
            context.seed,
            parameters.transactions,
            moved,
        ));
    }
    // SQLite seeds itself from /dev/urandom, which is not in the confined tree.
    let seed_random = || Connection::open_in_memory()?.execute_batch("SELECT random()");
    // A relative path that starts with `file:` would be parsed as a URI.
    let root = std::path::absolute(&context.root)
        .map_err(|error| EngineError::io("find", &context.root, error))?;
    let path = root.join(&parameters.file);
    let failed = |error| failure("prepare to open", &path, error);
    context.outside(seed_random).map_err(failed)?;
    let mut database = Database::open(parameters, context, &path)?;
    database.fill()?;
    let measured = database.transact()?;
    database.check()?;
    let mut finished = Finished::from(measured);
    if parameters.list_commits {
        finished.lists.push(ValueList {
            name: COMMIT_TIMES.into(),
            x: "start of a commit (ns)".into(),
            y: "duration (ns)".into(),
            points: database.commits,
        });
    }
    finished
        .notes
        .push(format!("SQLite {}", rusqlite::version()));
    Ok(finished)
}

struct Database<'a> {
    parameters: &'a DatabaseParameters,
    context: &'a RunContext,
    path: &'a Path,
    connection: Connection,
    filler: Filler,
    random: Random,
    /// Number of rows; their ids are 1 to this.
    rows: u64,
    /// Row writes so far; each writes different data.
    writes: u64,
    /// Begin and duration of each commit.
    commits: Vec<(f64, f64)>,
}

impl<'a> Database<'a> {
    fn open(
        parameters: &'a DatabaseParameters,
        context: &'a RunContext,
        path: &'a Path,
    ) -> Result<Self, RunError> {
        let failed = |error| failure("open", path, error);
        let connection = Connection::open(path).map_err(failed)?;
        let settings = format!(
            "PRAGMA page_size = {}; PRAGMA cache_size = -{}; PRAGMA temp_store = memory;",
            parameters.page_size.0,
            parameters.page_cache.0 / 1024,
        );
        connection.execute_batch(&settings).map_err(failed)?;
        let asked = parameters.journal.as_str();
        let found: String = connection
            .pragma_update_and_check(None, "journal_mode", asked, |row| row.get(0))
            .map_err(failed)?;
        if found != asked {
            let text = format!("SQLite has no journal of the kind '{asked}' here, but '{found}'");
            return Err(RunError::Impossible(text));
        }
        let synchronous = parameters.synchronous.as_str();
        connection
            .pragma_update(None, "synchronous", synchronous)
            .map_err(failed)?;
        let made = connection
            .execute_batch("CREATE TABLE item (id INTEGER PRIMARY KEY, data BLOB NOT NULL)");
        made.map_err(|error| match error.sqlite_error().and_then(lacking) {
            Some(text) => RunError::Impossible(text.to_owned()),
            None => failed(error).into(),
        })?;
        Ok(Self {
            parameters,
            context,
            path,
            connection,
            filler: Filler::new(context.seed, parameters.row.0 as usize),
            random: Random::new(context.seed, 0x7371_6c69),
            rows: 0,
            writes: 0,
            commits: match parameters.list_commits {
                true => Vec::with_capacity(parameters.transactions as usize),
                false => Vec::new(),
            },
        })
    }

    fn fill(&mut self) -> EngineResult<()> {
        while self.rows < self.parameters.rows_before {
            self.check_stop()?;
            let until = (self.rows + FILL_ROWS).min(self.parameters.rows_before);
            self.batch("BEGIN")?;
            while self.rows < until {
                self.insert()?;
            }
            self.batch("COMMIT")?;
        }
        Ok(())
    }

    fn transact(&mut self) -> EngineResult<Measured> {
        let mut book = ThreadRecorder::new(self.context);
        let commit = book.kind("commit");
        let used = ResourceUse::of_process();
        book.begin(ThreadRecorder::now_ns());
        for _ in 0..self.parameters.transactions {
            self.check_stop()?;
            self.batch("BEGIN IMMEDIATE")?;
            let mut moved = 0;
            for _ in 0..self.parameters.rows {
                moved += self.touch_row()?;
            }
            let start_ns = ThreadRecorder::now_ns();
            self.batch("COMMIT")?;
            let end_ns = ThreadRecorder::now_ns();
            if self.parameters.list_commits {
                let took_ns = end_ns - start_ns;
                self.commits.push((start_ns as f64, took_ns as f64));
            }
            book.operation(commit, start_ns, end_ns, moved);
        }
        let used = ResourceUse::of_process().since(used);
        Ok(ThreadRecorder::measured(vec![book], used, true))
    }

    /// Inserts, updates or selects one row, by the mix; returns the bytes of data moved.
    fn touch_row(&mut self) -> EngineResult<u64> {
        let choice = self.random.below(100);
        let (inserts, updates) = (
            self.parameters.insert_percent,
            self.parameters.update_percent,
        );
        if choice < inserts {
            self.insert()?;
        } else if choice < inserts + updates {
            self.update()?;
        } else {
            self.look_up()?;
        }
        Ok(self.parameters.row.0)
    }

    fn insert(&mut self) -> EngineResult<()> {
        self.writes += 1;
        let data = self
            .filler
            .bytes(self.writes, 0, self.parameters.row.0 as usize);
        let statement = "INSERT INTO item (id, data) VALUES (?1, ?2)";
        let id = self.rows + 1;
        let done = self
            .connection
            .prepare_cached(statement)
            .and_then(|mut it| it.execute(params![id.cast_signed(), data]));
        done.map_err(|error| failure("insert into", self.path, error))?;
        self.rows = id;
        Ok(())
    }

    fn update(&mut self) -> EngineResult<()> {
        self.writes += 1;
        let id = 1 + self.random.below(self.rows);
        let data = self
            .filler
            .bytes(self.writes, 0, self.parameters.row.0 as usize);
        let statement = "UPDATE item SET data = ?2 WHERE id = ?1";
        let changed = self
            .connection
            .prepare_cached(statement)
            .and_then(|mut it| it.execute(params![id.cast_signed(), data]))
            .map_err(|error| failure("update", self.path, error))?;
        self.demand(changed == 1, || format!("no row {id}"))
    }

    fn look_up(&mut self) -> EngineResult<()> {
        let id = 1 + self.random.below(self.rows);
        let statement = "SELECT length(data) FROM item WHERE id = ?1";
        let found: Option<i64> = self
            .connection
            .prepare_cached(statement)
            .and_then(|mut it| {
                it.query_row([id.cast_signed()], |row| row.get(0))
                    .optional()
            })
            .map_err(|error| failure("look up a row of", self.path, error))?;
        let expected = self.parameters.row.0.cast_signed();
        self.demand(found == Some(expected), || {
            format!("no row {id} of {expected} bytes")
        })
    }

    /// Fails if SQLite's integrity check does, or if the number of rows is wrong.
    fn check(&self) -> EngineResult<()> {
        let ask = |statement: &str| -> rusqlite::Result<String> {
            self.connection.query_row(statement, [], |row| row.get(0))
        };
        let failed = |error| failure("check", self.path, error);
        let verdict = ask("PRAGMA integrity_check").map_err(failed)?;
        self.demand(verdict == "ok", || format!("a fault: {verdict}"))?;
        let rows = ask("SELECT CAST(count(*) AS TEXT) FROM item").map_err(failed)?;
        self.demand(rows == self.rows.to_string(), || {
            format!("{rows} rows where there should be {}", self.rows)
        })
    }

    fn batch(&self, statement: &'static str) -> EngineResult<()> {
        let done = self
            .connection
            .prepare_cached(statement)
            .and_then(|mut it| it.execute([]));
        done.map(drop)
            .map_err(|error| failure("commit to", self.path, error))
    }

    fn demand(&self, is_so: bool, otherwise: impl FnOnce() -> String) -> EngineResult<()> {
        if is_so {
            return Ok(());
        }
        Err(EngineError::corrupt(self.path, otherwise()))
    }

    fn check_stop(&self) -> EngineResult<()> {
        if self.context.stop.is_raised() {
            return Err(EngineError::interrupted(self.path));
        }
        Ok(())
    }
}

/// What a file system lacks that gives SQLite this error: <https://sqlite.org/rescode.html>.
fn lacking(error: &rusqlite::ffi::Error) -> Option<&'static str> {
    match error.extended_code {
        // IOERR_SHMOPEN, SHMSIZE, SHMLOCK, SHMMAP
        4618 | 4874 | 5130 | 5386 => {
            Some("SQLite's write-ahead log needs a file that can be mapped as shared memory")
        }
        // IOERR_DIR_FSYNC
        1290 => Some("SQLite cannot sync the directory of its journal, as 'extra' asks"),
        _ => None,
    }
}

/// The database at `path` as its next reader finds it, after SQLite's own recovery: without rows
/// where its table is missing. A copy of it and its journals in `folder` is read, since a file
/// system may be mounted read-only.
pub fn read_database(path: &Path, folder: &Path) -> DatabaseReport {
    let copy = folder.join("copy.db");
    let read = || -> Result<(String, i64), Box<dyn Error>> {
        for ending in ["", "-journal", "-wal", "-shm"] {
            let of = |path: &Path| {
                let mut name = path.as_os_str().to_owned();
                name.push(ending);
                PathBuf::from(name)
            };
            let (from, to) = (of(path), of(&copy));
            if to.exists() {
                fs::remove_file(&to)?;
            }
            // Its readers' index is made anew.
            if ending != "-shm" && from.try_exists()? {
                fs::copy(&from, &to)?;
            }
        }
        let connection = Connection::open(&copy)?;
        let verdict = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        let rows = match connection.table_exists(None, "item")? {
            true => connection.query_row("SELECT count(*) FROM item", [], |row| row.get(0))?,
            false => 0,
        };
        Ok((verdict, rows))
    };
    match read() {
        Ok((verdict, rows)) => DatabaseReport {
            rows: u64::try_from(rows).ok(),
            errors: match verdict.as_str() {
                "ok" => String::new(),
                _ => verdict,
            },
        },
        Err(error) => DatabaseReport {
            rows: None,
            errors: error.to_string(),
        },
    }
}

fn failure(operation: &'static str, path: &Path, error: rusqlite::Error) -> EngineError {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => FailureKind::NoSpace,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => FailureKind::Corrupt,
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => FailureKind::Permission,
        _ => FailureKind::Io,
    };
    EngineError::io(operation, path, std::io::Error::other(error)).of_kind(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolved::resolved;

    fn parameters(journal: Journal, synchronous: Synchronous) -> DatabaseParameters {
        let mut parameters = DatabaseParameters {
            transactions: 20,
            rows_before: 500,
            journal,
            synchronous,
            ..DatabaseParameters::default()
        };
        parameters.resolve(Bytes::mib(64)).expect("resolves");
        parameters
    }

    #[test]
    fn with_every_journal_all_rows_are_kept_and_all_commits_timed() {
        for journal in [
            Journal::Delete,
            Journal::Truncate,
            Journal::Persist,
            Journal::Wal,
        ] {
            for synchronous in [
                Synchronous::Extra,
                Synchronous::Full,
                Synchronous::Normal,
                Synchronous::Off,
            ] {
                let folder = tempfile::tempdir().expect("a directory");
                let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
                let parameters = parameters(journal, synchronous);
                let finished = commit_transactions(&parameters, &context).expect("commits");
                let commits = finished.measured.latency("commit").expect("was noted");
                assert_eq!((commits.count(), finished.measured.operations), (20, 20));
                assert_eq!(finished.measured.bytes, Some(20 * 10 * 100));
                let path = folder.path().join("sqlite.db");
                let connection = Connection::open(path).expect("opens");
                let rows: i64 = connection
                    .query_row("SELECT count(*) FROM item", [], |row| row.get(0))
                    .expect("counts");
                assert!(
                    (560..=640).contains(&rows),
                    "{rows}: half of 200 rows are new"
                );
            }
        }
    }

    /// One of no bytes was a corrupt database; it is one whose rows are lost.
    #[test]
    fn a_database_is_read_with_its_journal_and_an_empty_one_has_no_rows() {
        let folder = tempfile::tempdir().expect("a directory");
        let copies = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("sqlite.db");
        let read = || read_database(&path, copies.path());
        fs::write(&path, "").expect("written");
        assert_eq!((read().rows, read().errors), (Some(0), String::new()));
        fs::remove_file(&path).expect("removed");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 5);
        let parameters = parameters(Journal::Delete, Synchronous::Off);
        commit_transactions(&parameters, &context).expect("commits");
        assert!(read().rows > Some(500) && read().errors.is_empty());
        // A name that leads nowhere is no missing journal.
        let journal = folder.path().join("sqlite.db-journal");
        fslab_sys::os::symlink(&journal, &journal).expect("linked");
        assert_eq!(read().rows, None);
        assert!(!read().errors.is_empty());
    }

    #[test]
    fn the_content_follows_from_the_seed() {
        let content = |seed| {
            let folder = tempfile::tempdir().expect("a directory");
            let context = RunContext::new(EngineKind::Psync, folder.path(), seed);
            let parameters = parameters(Journal::Delete, Synchronous::Off);
            commit_transactions(&parameters, &context).expect("commits");
            fs::read(folder.path().join("sqlite.db")).expect("reads")
        };
        assert!(content(1) == content(1));
        assert!(content(1) != content(2));
    }

    /// SQLite parsed a path that starts with `file:` as a URI.
    #[test]
    fn the_path_of_a_database_is_not_parsed_as_a_uri() {
        let folder = tempfile::tempdir().expect("a directory");
        let address = format!("file:{}", folder.path().display());
        let context = RunContext::new(EngineKind::Psync, address, 5);
        let parameters = parameters(Journal::Delete, Synchronous::Off);
        commit_transactions(&parameters, &context).expect_err("there is no such directory");
        assert!(!folder.path().join("sqlite.db").exists());
    }

    #[test]
    fn an_invalid_mix_or_page_size_is_named() {
        let refused = |change: &dyn Fn(&mut DatabaseParameters)| {
            let mut parameters = DatabaseParameters::default();
            change(&mut parameters);
            let given = serde_json::to_value(parameters).expect("a map");
            resolved::<DatabaseParameters>(&given).expect_err("must be refused")
        };
        assert!(refused(&|it| it.page_size = Bytes(1_000)).contains("page_size"));
        assert!(refused(&|it| it.insert_percent = 90).contains("update_percent"));
        assert!(refused(&|it| it.rows_before = 0).contains("rows_before"));
        assert!(refused(&|it| it.transactions = 0).contains("transactions"));
    }
}
