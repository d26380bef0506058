//! A personality becomes a study.

use std::collections::BTreeMap;

use super::script::{Attributes, Script};
use super::statements::script;
use super::{database, loops, streams};
use crate::draft::{Draft, DraftPhase, TranslatedStudy};
use crate::problem::{Findings, JobFileError, JobFileProblem};
use crate::reading::JobFileReader;

/// The phases of a personality, with the space that they need.
pub(super) struct Phases {
    pub(super) phases: Vec<DraftPhase>,
    pub(super) space: BTreeMap<String, u64>,
}

/// The study of the personality `text`.
pub(crate) fn read(
    reader: &JobFileReader<'_>,
    text: &str,
) -> Result<TranslatedStudy, JobFileError> {
    let mut findings = Findings::default();
    let script = script(reader, text, &mut findings);
    let mut made = Phases {
        phases: Vec::new(),
        space: BTreeMap::new(),
    };
    if !findings.is_refused() {
        match translated(reader, &script, &mut findings) {
            Ok(phases) => made = phases,
            Err(problem) => findings.refuse(problem),
        }
    }
    let draft = Draft {
        file: reader.file,
        tool: reader.kind.tool(),
        phases: made.phases,
        space: made.space,
    };
    draft.finish(findings)
}

fn translated(
    reader: &JobFileReader<'_>,
    script: &Script,
    findings: &mut Findings,
) -> Result<Phases, JobFileProblem> {
    if script.processes.is_empty() {
        return Err(JobFileProblem::new(reader.file, "it has no process"));
    }
    if let Some(phases) = database::phases(script, findings)? {
        return Ok(phases);
    }
    let operations = || {
        let threads = script.processes.iter().flat_map(|process| &process.threads);
        threads.flat_map(|thread| &thread.operations)
    };
    note_ignored(script, findings);
    let is_stream =
        |operation: &Attributes| ["read", "write", "appendfile"].contains(&operation.head.as_str());
    match operations().any(is_stream) {
        true => streams::phases(script, findings),
        false => loops::phases(script, findings),
    }
}

fn note_ignored(script: &Script, findings: &mut Findings) {
    findings.note("path: the files are in the measured file system".to_owned());
    let sets = script.files.values();
    for (name, why) in [
        ("reuse", "each trial has a new file system"),
        ("paralloc", "files are made before a phase is timed"),
        ("dirgamma", "directories have the mean width"),
        ("trusttree", "each trial has a new file system"),
        ("readonly", "it declares what the operations do"),
        ("writeonly", "it declares what the operations do"),
    ] {
        if sets.clone().any(|set| set.has(name)) {
            findings.note(format!("{name}: {why}"));
        }
    }
    findings.note("memsize, useism: fslab's buffers have the size of a record".to_owned());
    if script.run_s.is_none() && !script.ends_with_first {
        findings.note(format!("without run: it runs for {} s", script.seconds()));
    }
}
