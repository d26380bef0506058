//! Keeps the log of a trial's simulated disk: joins what was recorded of the guest kernel's process
//! with the disk's trace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fslab_crash::{
    COMMIT_TIMES, DiskLog, LogDatabase, LogError, LogHead, LogScript, PhaseWindow, Recording,
    SCRIPT_LEFT_OUT, SCRIPT_REFUSED, SCRIPT_TIMES, ScriptSet, join, write_log,
};
use fslab_disk::trace::Reader;
use fslab_model::{
    Bytes, Failure, FailureKind, RunId, SimulatedDisk, TrialId, TrialOutcome, TrialRecord, Window,
};

use serde::Deserialize;

use super::share::Share;

/// The library that records, and its file in a guest's directory.
pub(crate) const RECORDER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/record.so"));
/// Its file in a guest's directory.
pub(crate) const RECORDER_FILE: &str = "record.so";
/// What it writes.
pub(crate) const WRITES: &str = "disk.writes";

/// The guest and the disk of a recorded trial.
pub(crate) struct Recorded<'a> {
    pub(crate) share: &'a Share,
    pub(crate) disk: &'a SimulatedDisk,
    pub(crate) lab: &'a str,
    pub(crate) size: Bytes,
    /// The trial's seed, which the data of its scripts follows from.
    pub(crate) seed: u64,
}

/// Where the logs of trials' disks are kept.
#[derive(Clone, Debug)]
pub enum LogKeeping {
    /// In files of this directory.
    Folder(PathBuf),
    Memory(Arc<KeptLogs>),
}

/// Logs in memory, by trial.
#[derive(Debug, Default)]
pub struct KeptLogs(Mutex<BTreeMap<TrialId, DiskLog>>);

impl KeptLogs {
    /// The log of a trial, which is not kept any longer; `None` if the trial has failed.
    pub fn take(&self, trial: TrialId) -> Option<DiskLog> {
        self.0.lock().ok()?.remove(&trial)
    }

    fn keep(&self, trial: TrialId, log: DiskLog) {
        if let Ok(mut logs) = self.0.lock() {
            logs.insert(trial, log);
        }
    }
}

/// Keeps the log of a trial of `run` that has ended. If that fails, so has the trial; an earlier
/// failure is kept.
pub(crate) fn keep_log(
    recorded: &Recorded,
    keeping: &LogKeeping,
    run: &RunId,
    record: &mut TrialRecord,
) {
    if record.outcome != TrialOutcome::Done {
        return;
    }
    let kept = recorded.log(record).and_then(|log| match keeping {
        LogKeeping::Folder(folder) => {
            let name = format!("{run}-{}.disklog", record.trial);
            write_to(&folder.join(name), &log)
        }
        LogKeeping::Memory(logs) => {
            logs.keep(record.trial, log);
            Ok(())
        }
    });
    if let Err(error) = kept {
        let text = "cannot keep the disk log";
        let failure = Failure::new(FailureKind::Device, text).because(&error);
        record.outcome = TrialOutcome::Failed { failure };
    }
}

impl Recorded<'_> {
    fn log(&self, record: &TrialRecord) -> Result<DiskLog, LogError> {
        let reading = |source| LogError::Io {
            doing: "read",
            source,
        };
        let writes = self.share.folder().join(WRITES);
        let writes = File::open(writes).map_err(reading)?;
        let windows = record.phases.iter().filter_map(|phase| {
            let Window { begin_ns, end_ns } = phase.window?;
            Some(PhaseWindow {
                name: phase.name.clone(),
                begin_ns,
                end_ns,
            })
        });
        let head = LogHead {
            subject: record.subject.to_string(),
            lab: self.lab.to_owned(),
            disk: self.disk.profile.clone(),
            sectors: self.size.0 / 512,
            volatile_cache: self.disk.queue.write_cache,
            phases: windows.collect(),
            scripts: self.scripts(record)?,
            databases: databases(record)?,
        };
        let trace = Reader::open(&self.share.trace())?;
        join(head, Recording::new(BufReader::new(writes)), trace)
    }
}

impl Recorded<'_> {
    /// The scripts of the phases. Those of rounds are left out: their files are gone after a round.
    fn scripts(&self, record: &TrialRecord) -> Result<Vec<LogScript>, LogError> {
        let mut scripts = Vec::new();
        for phase in record.phases.iter().filter(|it| it.round.is_none()) {
            let Some(times) = phase.lists.iter().find(|it| it.name == SCRIPT_TIMES) else {
                continue;
            };
            let parameters = serde_json::to_value(&phase.parameters)?;
            let set: ScriptSet = serde_json::from_value(parameters)?;
            let points = times.points.iter();
            // Nanoseconds of a trial are far below 2^53.
            let times = points.map(|(at, took)| (*at as u64, *at as u64 + *took as u64));
            let places = |name: &str| -> BTreeSet<usize> {
                let list = phase.lists.iter().find(|it| it.name == name);
                let points = list.into_iter().flat_map(|it| &it.points);
                points.map(|(place, _)| *place as usize).collect()
            };
            let (left_out, refused) = (places(SCRIPT_LEFT_OUT), places(SCRIPT_REFUSED));
            let done = set.done(&phase.name, self.seed, times, &left_out, &refused);
            scripts.extend(
                done.map_err(|error| {
                    LogError::Unlike(format!("the phase {}: {error}", phase.name))
                })?,
            );
        }
        Ok(scripts)
    }
}

/// The databases of the phases that list their commits. Those of rounds are left out, as scripts
/// are.
fn databases(record: &TrialRecord) -> Result<Vec<LogDatabase>, LogError> {
    /// What is used of a phase's parameters.
    #[derive(Deserialize)]
    struct Parameters {
        file: String,
        rows_before: u64,
        rows: u64,
        row: u64,
        journal: String,
        synchronous: String,
    }

    impl Parameters {
        /// Whether SQLite documents that an acknowledged commit is durable.
        fn is_durable(&self) -> bool {
            match (self.synchronous.as_str(), self.journal.as_str()) {
                ("extra", _) => true,
                ("full", journal) => journal != "delete",
                _ => false,
            }
        }
    }
    let mut databases = Vec::new();
    for phase in record.phases.iter().filter(|it| it.round.is_none()) {
        let Some(times) = phase.lists.iter().find(|it| it.name == COMMIT_TIMES) else {
            continue;
        };
        let parameters = serde_json::to_value(&phase.parameters)?;
        let parameters: Parameters = serde_json::from_value(parameters)?;
        let points = times.points.iter();
        let database = LogDatabase {
            phase: phase.name.clone(),
            is_durable: parameters.is_durable(),
            file: parameters.file,
            rows_before: parameters.rows_before,
            rows: parameters.rows,
            row_bytes: parameters.row,
            // Nanoseconds of a trial are far below 2^53.
            commits: points
                .map(|(at, took)| (*at as u64, *at as u64 + *took as u64))
                .collect(),
        };
        let sound = database.ensure_sound();
        sound.map_err(|error| LogError::Unlike(format!("the phase {}: {error}", phase.name)))?;
        databases.push(database);
    }
    Ok(databases)
}

fn write_to(path: &Path, log: &DiskLog) -> Result<(), LogError> {
    let writing = |source| LogError::Io {
        doing: "write",
        source,
    };
    let mut file = BufWriter::new(File::create_new(path).map_err(writing)?);
    write_log(log, &mut file)?;
    file.flush().map_err(writing)
}
