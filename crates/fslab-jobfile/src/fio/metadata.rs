//! Jobs on names: filecreate, filestat, filedelete, dircreate, dirdelete.

use fslab_model::{CachePolicy, Parameters};
use serde_json::json;

use super::job::FioJob;
use super::parameters::Translator;
use super::settings::FioEngine;
use crate::draft::{DraftPhase, plain_name, size_text};
use crate::problem::Findings;

/// Space of a file or directory without data: an inode and a name.
const ENTRY_BYTES: u64 = 8_192;

/// The phases of jobs that run at the same time: one tree, of which each copy of each job has its
/// part.
pub(super) fn names_phases(translator: &mut Translator, jobs: &[FioJob], findings: &mut Findings) {
    let Some(first) = jobs.first() else { return };
    let of = |job: &FioJob| {
        (
            job.settings.engine,
            job.settings.files,
            job.settings.file_size,
        )
    };
    if let Some(other) = jobs.iter().find(|job| of(job) != of(first)) {
        let cause = "another engine, nrfiles or filesize than the job before it, at the same time";
        let problem = other.problem("ioengine", cause);
        findings.refuse(problem.hint("give it stonewall, so that it runs after the other"));
        return;
    }
    let FioEngine::Names(operation) = first.settings.engine else {
        return;
    };
    let copies: u64 = jobs.iter().map(|job| job.settings.copies).sum();
    if copies > 1_024 {
        let cause = format!("{copies} jobs at the same time; fslab has up to 1024");
        findings.refuse(first.problem("numjobs", cause));
        return;
    }
    let files = copies * first.settings.files;
    let bytes = first.settings.file_size.unwrap_or(0);
    let directory = plain_name(&first.name);
    let is_thread = jobs.iter().all(|job| job.settings.is_thread);
    let tree = |operation: &str, file_bytes: u64| {
        let mut parameters = Parameters::new();
        let mut put = |name: &str, value| {
            parameters.insert(name.to_owned(), value);
        };
        put("operation", json!(operation));
        put("directory", json!(directory));
        put("files", json!(files));
        // fio has all names in one directory.
        let is_directory = ["mkdir", "rmdir"].contains(&operation);
        put("files_per_directory", json!(u64::from(is_directory)));
        put("threads", json!(copies));
        if copies > 1 && !is_thread {
            put("workers", json!("processes"));
        }
        if file_bytes > 0 {
            put("file_size", json!(size_text(file_bytes)));
        }
        parameters
    };
    let prepared = match operation {
        "stat" | "unlink" => Some(("create", bytes)),
        "rmdir" => Some(("mkdir", 0)),
        _ => None,
    };
    if let Some((operation, file_bytes)) = prepared {
        let name = translator.phase_name(&format!("lay out {}", plain_name(&first.name)));
        translator
            .phases
            .push(phase(name, false, tree(operation, file_bytes)));
    }
    let name = translator.phase_name(&translator.group_name(jobs));
    translator
        .phases
        .push(phase(name, true, tree(operation, 0)));
    let space = files.saturating_mul(bytes.saturating_add(ENTRY_BYTES));
    translator.space.insert(directory, space);
}

fn phase(name: String, is_measured: bool, parameters: Parameters) -> DraftPhase {
    DraftPhase {
        name,
        workload: "files",
        cache: CachePolicy::Keep,
        is_measured,
        parameters,
        seconds: 0,
        bytes: 0,
    }
}
