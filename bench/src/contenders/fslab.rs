//! fslab itself, as `fslab trial` with a specification of one phase in a directory.

use std::path::PathBuf;

use fslab_model::{
    Bytes, ColdMethod, DeviceSpec, Event, EventBody, Parameters, PhaseOutcome, PhaseRecord,
    PhaseSpec, Subject, TrialSpec,
};
use serde_json::{Value, json};

use super::contender::{Contender, Invocation, Task, ask_version};
use crate::error::BenchError;
use crate::work::{
    DATA_FILE, FILES_FOLDER, Figure, QUEUE_BATCH, QUEUE_DEPTH, RECORD_BYTES, SEEK_RECORD_BYTES,
    SEEKERS, SEEKS_PER_UPDATE, SMALL_FILE_BYTES, STREAM_RECORD_BYTES, Work,
};

/// The contender `fslab`.
pub(crate) struct Fslab {
    /// The command.
    pub(crate) program: PathBuf,
}

/// In a directory nothing is formatted; a trial wants a name of its catalogue nevertheless.
const SUBJECT: &str = "ext4";

impl Fslab {
    fn trial(
        &self,
        task: &Task<'_>,
        figure: Figure,
        workload: &str,
        parameters: &Value,
    ) -> Invocation {
        let parameters: Parameters = parameters.as_object().cloned().unwrap_or_default();
        let spec = TrialSpec {
            phases: vec![PhaseSpec::new(figure.name(), workload, parameters)],
            ..TrialSpec::first(
                Subject::plain(SUBJECT),
                DeviceSpec::Directory {
                    path: task.directory.to_owned(),
                },
                Bytes::gib(1),
                ColdMethod::Drop,
            )
        };
        let mut invocation =
            Invocation::of_figure(&self.program, vec!["trial".into()], figure, move |text| {
                rate(text, figure)
            });
        invocation.input = Some(serde_json::to_string(&spec).expect("a specification is JSON"));
        invocation
    }

    fn reads(&self, task: &Task<'_>) -> Invocation {
        let engine = match task.work {
            Work::Mmap => "mmap",
            Work::Ring | Work::RingDirect => "uring",
            _ => "psync",
        };
        let is_backward = task.work == Work::Backward;
        let parameters = json!({
            "engine": engine,
            "file": DATA_FILE,
            "file_size": task.amounts.data_bytes,
            "record": RECORD_BYTES,
            "direction": "read",
            "access": if is_backward { "reverse" } else { "random-uniform" },
            // As fio and sysbench advise the kernel on a mapping.
            "advice": (task.work == Work::Mmap).then_some("random"),
            "amount": { "operations": task.operations() },
            "open": "existing",
            "direct": task.work == Work::RingDirect,
            "uring": {
                "queue_depth": QUEUE_DEPTH,
                "batch": QUEUE_BATCH,
                "registered_buffers": true,
                "registered_file": true,
                "submission_poll_ms": null,
                "completion_poll": false,
            },
        });
        self.trial(task, task.work.figures()[0], "io", &parameters)
    }

    fn seeks(&self, task: &Task<'_>) -> Invocation {
        let parameters = json!({
            "file": DATA_FILE,
            "file_size": task.amounts.data_bytes,
            "record": SEEK_RECORD_BYTES,
            "operations": task.operations(),
            "threads": SEEKERS,
            "workers": "processes",
            "update_every": SEEKS_PER_UPDATE,
            "sync": "fsync",
            "positioned": false,
        });
        self.trial(task, Figure::Seek, "seeks", &parameters)
    }

    fn stream(&self, task: &Task<'_>, figure: Figure) -> Invocation {
        let writes = figure == Figure::StreamWrite;
        let parameters = json!({
            "file": "stream",
            "file_size": task.amounts.stream_bytes,
            "record": STREAM_RECORD_BYTES,
            "direction": if writes { "write" } else { "read" },
            "access": "sequential",
            "amount": "whole-file",
            "open": if writes { "replace" } else { "existing" },
            "preparation": "none",
        });
        self.trial(task, figure, "io", &parameters)
    }

    fn files(&self, task: &Task<'_>, figure: Figure, operation: &str) -> Invocation {
        let (files, bytes) = match task.work {
            Work::Files => (task.amounts.files, SMALL_FILE_BYTES),
            _ => (task.amounts.names, 0),
        };
        let parameters = json!({
            "operation": operation,
            "directory": FILES_FOLDER,
            "files": files,
            "files_per_directory": 0,
            "file_size": { "fixed": bytes },
            "verify": figure == Figure::FilesVerified,
        });
        self.trial(task, figure, "files", &parameters)
    }
}

impl Contender for Fslab {
    fn name(&self) -> &'static str {
        "fslab"
    }

    fn version(&self) -> Result<String, String> {
        ask_version(&self.program, &["--version"])
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        match task.work {
            Work::Pread | Work::Backward | Work::Mmap | Work::Ring | Work::RingDirect => {
                vec![self.reads(task)]
            }
            Work::Names => vec![
                self.files(task, Figure::Create, "create"),
                self.files(task, Figure::Stat, "stat"),
                self.files(task, Figure::Unlink, "unlink"),
            ],
            Work::Stream => vec![
                self.stream(task, Figure::StreamWrite),
                self.stream(task, Figure::StreamRead),
            ],
            Work::Files => vec![
                self.files(task, Figure::FilesWrite, "create"),
                self.files(task, Figure::FilesRead, "read"),
                self.files(task, Figure::FilesVerified, "read"),
            ],
            Work::Seeks => vec![self.seeks(task)],
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Stream | Work::Files => {
                Some("fslab stamps every block of 4 KiB that it writes, so that it can be verified")
            }
            _ => None,
        }
    }

    fn setting(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Ring | Work::RingDirect => Some("registered buffers and file"),
            _ => None,
        }
    }
}

/// Operations per second, or bytes per second of the stream, of the only phase.
fn rate(text: &str, figure: Figure) -> Result<f64, BenchError> {
    let phase = phase(text)?;
    let moved = match figure {
        Figure::StreamWrite | Figure::StreamRead => phase.bytes,
        _ => phase.operations,
    };
    moved
        .zip(phase.elapsed_ns)
        .map(|(moved, elapsed_ns)| moved as f64 * 1e9 / elapsed_ns as f64)
        .ok_or_else(|| BenchError::output("fslab", "a phase without figures"))
}

fn phase(text: &str) -> Result<PhaseRecord, BenchError> {
    for line in text.lines() {
        let event: Event = serde_json::from_str(line)
            .map_err(|error| BenchError::output("fslab", format!("{error} in {line}")))?;
        match event.body {
            EventBody::Phase(phase) if phase.outcome == PhaseOutcome::Done => return Ok(*phase),
            EventBody::Phase(phase) => {
                let why = format!("the phase ended as {:?}", phase.outcome);
                return Err(BenchError::output("fslab", why));
            }
            EventBody::Failed { failure } => {
                return Err(BenchError::output("fslab", format!("{failure:?}")));
            }
            _ => {}
        }
    }
    Err(BenchError::output("fslab", "no phase"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_of_a_trial_becomes_a_rate() {
        let text = include_str!("../../fixtures/fslab-trial.jsonl");
        let reads = rate(text, Figure::RandomRead).expect("reads");
        let bytes = rate(text, Figure::StreamRead).expect("reads");
        assert!(reads > 1000.0, "{reads}");
        assert!((bytes / reads - 4096.0).abs() < 0.1, "{bytes}");
    }

    #[test]
    fn a_trial_without_a_phase_or_with_garbage_is_an_error() {
        let text = include_str!("../../fixtures/fslab-trial.jsonl");
        let hello = text.lines().next().expect("a line");
        assert!(rate(hello, Figure::Stat).is_err());
        assert!(rate("garbage", Figure::Stat).is_err());
    }
}
