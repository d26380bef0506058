//! sysbench fileio; text output.

use std::path::{Path, PathBuf};

use super::contender::{Contender, Invocation, Task, ask_version};
use crate::error::BenchError;
use crate::work::{DATA_FILE, Figure, RECORD_BYTES, SMALL_FILE_BYTES, STREAM_RECORD_BYTES, Work};

/// The contender `sysbench`.
pub(crate) struct Sysbench {
    pub(crate) program: PathBuf,
}

/// sysbench opens all files at once, and systems allow some thousands. It also takes long.
const OPEN_FILES_MAX: u64 = 4_000;

/// Of what a sysbench run consists.
struct Files {
    count: u64,
    bytes: u64,
    record_bytes: u64,
    mode: &'static str,
    io_mode: &'static str,
    events: u64,
}

impl Files {
    fn arguments(&self, command: &str) -> Vec<String> {
        vec![
            "fileio".to_owned(),
            format!("--file-num={}", self.count),
            format!("--file-total-size={}", self.count * self.bytes),
            format!("--file-block-size={}", self.record_bytes),
            format!("--file-test-mode={}", self.mode),
            format!("--file-io-mode={}", self.io_mode),
            "--file-fsync-freq=0".to_owned(),
            "--file-fsync-end=off".to_owned(),
            format!("--validate={}", if self.count > 1 { "on" } else { "off" }),
            "--threads=1".to_owned(),
            format!("--events={}", self.events),
            "--time=0".to_owned(),
            command.to_owned(),
        ]
    }

    fn run(&self, program: &Path, figure: Figure) -> Invocation {
        let bytes_of_event = match figure {
            Figure::StreamWrite | Figure::StreamRead => self.record_bytes as f64,
            _ => 1.0,
        };
        Invocation::of_figure(program, self.arguments("run"), figure, move |text| {
            event_rate(text).map(|events| events * bytes_of_event)
        })
    }
}

impl Sysbench {
    fn random_reads(&self, task: &Task<'_>) -> Vec<Invocation> {
        let directory = task.directory;
        let name = |name: &str| directory.join(name).display().to_string();
        let files = Files {
            count: 1,
            bytes: task.amounts.data_bytes,
            record_bytes: RECORD_BYTES,
            mode: "rndrd",
            io_mode: if task.work == Work::Mmap {
                "mmap"
            } else {
                "sync"
            },
            events: task.amounts.reads,
        };
        let link = vec!["-f".into(), name(DATA_FILE), name("test_file.0")];
        vec![
            Invocation::preparation("ln", link),
            files.run(&self.program, Figure::RandomRead),
        ]
    }

    fn stream(&self, task: &Task<'_>, figure: Figure, mode: &'static str) -> Invocation {
        let files = Files {
            count: 1,
            bytes: task.amounts.stream_bytes,
            record_bytes: STREAM_RECORD_BYTES,
            mode,
            io_mode: "sync",
            events: task.amounts.stream_bytes / STREAM_RECORD_BYTES,
        };
        files.run(&self.program, figure)
    }

    fn verified_files(&self, task: &Task<'_>) -> Vec<Invocation> {
        let count = task.amounts.files.min(OPEN_FILES_MAX);
        let files = Files {
            count,
            bytes: SMALL_FILE_BYTES,
            record_bytes: SMALL_FILE_BYTES,
            mode: "seqrd",
            io_mode: "sync",
            events: count,
        };
        let prepare = Invocation::of_figure(
            &self.program,
            files.arguments("prepare"),
            Figure::FilesWrite,
            |text| prepared_byte_rate(text).map(|bytes| bytes / SMALL_FILE_BYTES as f64),
        );
        vec![prepare, files.run(&self.program, Figure::FilesVerified)]
    }
}

impl Contender for Sysbench {
    fn name(&self) -> &'static str {
        "sysbench"
    }

    fn version(&self) -> Result<String, String> {
        ask_version(&self.program, &["--version"])
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        match task.work {
            Work::Pread | Work::Mmap => self.random_reads(task),
            Work::Stream => vec![
                self.stream(task, Figure::StreamWrite, "seqwr"),
                self.stream(task, Figure::StreamRead, "seqrd"),
            ],
            Work::Files => self.verified_files(task),
            Work::Backward | Work::Ring | Work::RingDirect | Work::Names | Work::Seeks => {
                Vec::new()
            }
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Backward => Some("sysbench does not read backwards"),
            Work::Ring | Work::RingDirect => Some("sysbench has no io_uring"),
            Work::Names => Some("sysbench has no operations on names"),
            Work::Stream => Some("sysbench creates the file before its clock starts"),
            Work::Files => Some(
                "sysbench opens all files before its clock starts, at most 4,000; it writes them \
                 with fsync in `prepare`",
            ),
            Work::Seeks => Some("sysbench does not write back what it read"),
            Work::Pread | Work::Mmap => None,
        }
    }

    fn setting(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Pread | Work::Mmap | Work::Stream => {
                Some("file-fsync-freq=0, file-fsync-end=off, validate=off")
            }
            Work::Files => Some("file-fsync-freq=0, file-fsync-end=off"),
            _ => None,
        }
    }
}

/// Events per second of a run.
fn event_rate(text: &str) -> Result<f64, BenchError> {
    let time_s = number_after(text, "total time:");
    let events = number_after(text, "total number of events:");
    events
        .zip(time_s)
        .filter(|(events, time_s)| *events > 0.0 && *time_s > 0.0)
        .map(|(events, time_s)| events / time_s)
        .ok_or_else(|| BenchError::output("sysbench", "no total time and number of events"))
}

/// Bytes per second of a preparation: `1000 bytes written in 0.00 seconds (0.52 MiB/sec).`
fn prepared_byte_rate(text: &str) -> Result<f64, BenchError> {
    text.lines()
        .find(|line| line.contains(" bytes written in "))
        .and_then(|line| line.split_once('(')?.1.split_whitespace().next())
        .and_then(|mebibytes| mebibytes.parse::<f64>().ok())
        .filter(|mebibytes| *mebibytes > 0.0)
        .map(|mebibytes| mebibytes * f64::from(1 << 20))
        .ok_or_else(|| BenchError::output("sysbench", "no bytes written"))
}

fn number_after(text: &str, label: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.contains(label))?;
    let value = line.split(label).nth(1)?.trim().trim_end_matches('s');
    value.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_becomes_events_per_second() {
        let text = include_str!("../../fixtures/sysbench-rndrd.txt");
        let rate = event_rate(text).expect("reads");
        assert!((rate - 200_000.0 / 0.2497).abs() < 1.0, "{rate}");
    }

    #[test]
    fn a_preparation_becomes_bytes_per_second() {
        let text = include_str!("../../fixtures/sysbench-prepare.txt");
        let rate = prepared_byte_rate(text).expect("reads");
        assert!((rate - 407.47 * 1_048_576.0).abs() < 1.0, "{rate}");
    }

    #[test]
    fn what_is_no_result_is_an_error() {
        assert!(event_rate("FATAL: Cannot open file").is_err());
        assert!(prepared_byte_rate("FATAL: Cannot open file").is_err());
    }
}
