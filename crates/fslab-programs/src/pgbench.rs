//! The job `pgbench`: a PostgreSQL with its database on the file system, under its own benchmark.
//!
//! PostgreSQL refuses to run as root. Then its programs run in a user namespace in which the
//! trial's user has another number (unshare(1)): it still owns what the trial made.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, Job, RunError, ensure_inside};
use fslab_model::Bytes;
use fslab_sys::{ChildGroup, PLAIN_PATH};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ProgramError;
use super::figures::{Account, synthetic_program};
use super::locate;
use super::permission::{Permission, ProgramParameters};
use super::private_folder::PrivateFolder;
use super::session::Session;

/// Where Debian has the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The package of Debian.
const PACKAGE: &str = "postgresql";
/// The programs that a phase starts.
const PROGRAMS: [&str; 4] = ["initdb", "postgres", "pg_isready", "pgbench"];
/// Runs a program under another user number: the user `nobody`.
const OTHER_USER: [&str; 5] = [
    "unshare",
    "--user",
    "--map-user=65534",
    "--map-group=65534",
    "--",
];
/// Time limit until the server answers, and until it has stopped.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of the server's output that are kept.
const KEPT_BYTES: usize = 4_096;
/// Bytes of the tables for each unit of scale, with indexes.
const SCALE_BYTES: Bytes = Bytes::mib(16);
/// Bytes of a new database with its write-ahead log.
const EMPTY_BYTES: Bytes = Bytes::mib(72);
/// Limits of the parameters.
const SCALE_MAX: u32 = 10_000;
const CLIENTS_MAX: u32 = 256;
/// Synthetic duration of a transaction.
const SYNTHETIC_NS: u64 = 2_000_000;

/// What a transaction does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum Script {
    /// pgbench's default, as in TPC-B: three updates, a select and an insert.
    TpcbLike,
    /// The same without the updates that wait for each other.
    SimpleUpdate,
    /// One select.
    SelectOnly,
}

impl Script {
    fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Transactions of PostgreSQL by its own benchmark, each durable.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PgbenchParameters {
    /// The directory of the database, below the root.
    directory: PathBuf,
    /// Size of the tables: 100,000 accounts each.
    #[schemars(range(min = 1, max = SCALE_MAX))]
    scale: u32,
    /// Concurrent clients.
    #[schemars(range(min = 1, max = CLIENTS_MAX))]
    clients: u32,
    /// Transactions of each client.
    #[schemars(range(min = 1))]
    transactions: u32,
    /// The transaction.
    script: Script,
}

impl Default for PgbenchParameters {
    fn default() -> Self {
        Self {
            directory: "pgbench".into(),
            scale: 2,
            clients: 4,
            transactions: 500,
            script: Script::TpcbLike,
        }
    }
}

impl Job for PgbenchParameters {
    const NAME: &'static str = "pgbench";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        ensure_inside(&self.directory)
    }

    fn footprint(&self) -> Bytes {
        let tables = u64::from(self.scale) * SCALE_BYTES.0;
        // The log is kept up to a checkpoint, at most 1 GB by default.
        let log = u64::from(self.clients) * u64::from(self.transactions) * 8_192;
        Bytes(EMPTY_BYTES.0 + tables + log.min(1 << 30))
    }

    fn foreign(&self) -> Option<String> {
        ProgramParameters::foreign(self)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        if context.engine == EngineKind::Null {
            return Ok(
                synthetic_program(context.seed, self.operations(), None, SYNTHETIC_NS).into(),
            );
        }
        if fslab_sys::is_time_virtual() {
            let text = "PostgreSQL is measured in real time, see --venue loop";
            return Err(RunError::Impossible(text.to_owned()));
        }
        let Some(programs) = context.outside(program_folder) else {
            let text = format!("not installed: PostgreSQL with pgbench (package {PACKAGE})");
            return Err(RunError::Impossible(text));
        };
        Ok(Database::open(self, context, programs)?.measure()?)
    }
}

impl ProgramParameters for PgbenchParameters {
    /// None: the programs get fixed words and numbers.
    fn foreign(&self) -> Option<String> {
        let Self {
            // It reaches no command: it is the working directory.
            directory: _,
            scale: _,
            clients: _,
            transactions: _,
            script: _,
        } = self;
        None
    }
}

impl PgbenchParameters {
    fn operations(&self) -> u64 {
        u64::from(self.clients) * u64::from(self.transactions)
    }
}

/// The directory with all programs of the newest installed version.
fn program_folder() -> Option<PathBuf> {
    let has_all = |folder: &PathBuf| PROGRAMS.iter().all(|name| folder.join(name).is_file());
    let versions = std::fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let number = |name: &std::ffi::OsStr| name.to_str()?.parse::<u32>().ok();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((number(&entry.file_name())?, entry.path().join("bin"))))
        .filter(|(_, folder)| has_all(folder))
        .collect();
    versions.sort();
    let in_path = || {
        let server = locate::program("postgres")?.canonicalize().ok()?;
        server.parent().map(Path::to_owned).filter(has_all)
    };
    versions.pop().map(|(_, folder)| folder).or_else(in_path)
}

/// A database on the file system.
struct Database<'a> {
    parameters: &'a PgbenchParameters,
    context: &'a RunContext,
    session: Session,
    /// The directory of the programs.
    programs: PathBuf,
    /// The directory of the socket, which is not on the file system that is measured.
    sockets: PrivateFolder,
}

impl<'a> Database<'a> {
    fn open(
        parameters: &'a PgbenchParameters,
        context: &'a RunContext,
        programs: PathBuf,
    ) -> Result<Self, ProgramError> {
        let permission = Permission::of(parameters, context)?;
        let directory = &parameters.directory;
        let elsewhere = std::env::temp_dir();
        let sockets = context.outside(PrivateFolder::make);
        Ok(Self {
            parameters,
            context,
            session: Session::open(context, permission, directory, &directory.join("tmp"))?,
            programs,
            sockets: sockets
                .map_err(|error| ProgramError::io("make a directory in", &elsewhere, &error))?,
        })
    }

    /// The words that start a program of PostgreSQL.
    fn words(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let other_user: &[&str] = match fslab_sys::is_superuser() {
            true => &OTHER_USER,
            false => &[],
        };
        let program = self.programs.join(program).to_string_lossy().into_owned();
        let mut words: Vec<String> = other_user.iter().map(|word| (*word).to_owned()).collect();
        words.push(program);
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        words
    }

    fn client(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let host = self.sockets.path().to_string_lossy().into_owned();
        let host = format!("--host={host}");
        let mut words = self.words(program, &[&host, "--username=fslab"]);
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        words
    }

    /// Makes the database and fills it, which is not timed, and runs the transactions.
    fn measure(&self) -> Result<Finished, ProgramError> {
        let settings = [
            "--pgdata=data",
            "--auth=trust",
            "--username=fslab",
            "--encoding=UTF8",
            "--no-locale",
        ];
        self.session.run_checked(&self.words("initdb", &settings))?;
        let server = self.start()?;
        let measured = self.transactions(&server);
        let stopped = server.stop();
        let finished = measured?;
        stopped?;
        Ok(finished)
    }

    fn start(&self) -> Result<Server, ProgramError> {
        let sockets = self.sockets.path().to_string_lossy().into_owned();
        let sockets = format!("unix_socket_directories={sockets}");
        let words = self.words(
            "postgres",
            &["-D", "data", "-c", "listen_addresses=", "-c", &sockets],
        );
        let directory = fslab_sys::os::open_folder(&self.session.directory)
            .map_err(|error| ProgramError::io("open", &self.session.directory, &error))?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .env_clear()
            .env("PATH", PLAIN_PATH)
            .env("LC_ALL", "C");
        let path = self.context.outer_path(&self.session.directory);
        fslab_sys::work_in(&mut command, directory, &path);
        let group = self
            .context
            .outside(|| ChildGroup::start(command, KEPT_BYTES));
        let mut server = Server {
            group: Some(group.map_err(|error| ProgramError::start("postgres", &error))?),
        };
        let started_at = Instant::now();
        loop {
            let words = self.client("pg_isready", &["--quiet"]);
            if self.session.run(&words, 0)?.end.code == Some(0) {
                return Ok(server);
            }
            if let Some(output) = server.end_of_failed()? {
                let text = "PostgreSQL ended before it answered";
                return Err(ProgramError::other(text).printed(&output));
            }
            if started_at.elapsed() > START_TIMEOUT {
                let seconds = START_TIMEOUT.as_secs();
                let text = format!("PostgreSQL does not answer within {seconds} s");
                return Err(ProgramError::other(text));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn transactions(&self, _server: &Server) -> Result<Finished, ProgramError> {
        let PgbenchParameters {
            scale,
            clients,
            transactions,
            script,
            ..
        } = self.parameters;
        let scale = format!("--scale={scale}");
        let filling = ["--initialize", "--quiet", &scale, "postgres"];
        self.session
            .run_checked(&self.client("pgbench", &filling))?;
        let words = self.client(
            "pgbench",
            &[
                "--no-vacuum",
                &format!("--builtin={}", script.as_str()),
                &format!("--client={clients}"),
                &format!("--transactions={transactions}"),
                "postgres",
            ],
        );
        let ran = self.session.run_checked(&words)?;
        let account = Account {
            start_ns: ran.start_ns,
            elapsed_ns: ran.elapsed_ns,
            operations: self.parameters.operations(),
            bytes: None,
            used: Some(ran.end.used),
        };
        let mut finished = account.finished();
        let is_known = |line: &&str| line.starts_with("pgbench (") || line.starts_with("tps = ");
        let lines: Vec<&str> = ran.end.output.lines().filter(is_known).collect();
        finished.notes.push(lines.join("; "));
        Ok(finished)
    }
}

/// A server that runs.
struct Server {
    /// `None` once it was stopped.
    group: Option<ChildGroup>,
}

impl Server {
    /// The output of a server that has ended by itself; `None` while it runs.
    fn end_of_failed(&mut self) -> Result<Option<String>, ProgramError> {
        let watched = |error| ProgramError::io("watch", Path::new("postgres"), &error);
        let Some(mut group) = self.group.take() else {
            return Ok(None);
        };
        if !group.wait_for_leader(|| true).map_err(watched)? {
            self.group = Some(group);
            return Ok(None);
        }
        Ok(Some(group.reap().map_err(watched)?.output))
    }

    /// Ends the server, which writes a checkpoint, and waits for it: its processes leave its group
    /// and end with it.
    fn stop(mut self) -> Result<(), ProgramError> {
        self.end()
            .map_err(|error| ProgramError::io("stop", Path::new("postgres"), &error))
    }

    fn end(&mut self) -> std::io::Result<()> {
        let Some(mut group) = self.group.take() else {
            return Ok(());
        };
        group.terminate()?;
        let terminated_at = Instant::now();
        group.wait_for_leader(|| terminated_at.elapsed() > STOP_TIMEOUT)?;
        group.reap().map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolved::resolved;

    fn parameters(given: serde_json::Value) -> PgbenchParameters {
        let mut parameters: PgbenchParameters = serde_json::from_value(given).expect("parameters");
        parameters.resolve(Bytes::gib(1)).expect("resolves");
        parameters
    }

    #[test]
    fn postgresql_commits_transactions_and_leaves_no_process() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 1);
        let given = serde_json::json!({ "scale": 1, "clients": 2, "transactions": 20 });
        let finished = match parameters(given).run(&context) {
            Err(RunError::Impossible(reason)) => {
                println!("skipped: {reason}");
                return;
            }
            finished => finished.expect("runs"),
        };
        assert_eq!(finished.measured.operations, 40);
        let tps = finished.notes.iter().find(|note| note.contains("tps = "));
        assert!(tps.is_some(), "{:?}", finished.notes);
        let data = folder.path().join("pgbench/data");
        assert!(data.join("PG_VERSION").exists());
        assert!(!data.join("postmaster.pid").exists(), "a clean end");
    }

    #[test]
    fn invalid_numbers_are_refused_by_name() {
        for (given, word) in [
            (serde_json::json!({ "scale": 0 }), "scale = 0"),
            (serde_json::json!({ "clients": 257 }), "clients = 257"),
            (serde_json::json!({ "directory": "/x" }), "path"),
        ] {
            let problem = resolved::<PgbenchParameters>(&given).expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
