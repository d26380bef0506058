//! The bare loops in C: what the kernel and the clock cost, and nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::contender::{Contender, Invocation, Task, ask_version, words};
use crate::error::BenchError;
use crate::work::{
    DATA_FILE, Figure, QUEUE_BATCH, QUEUE_DEPTH, RECORD_BYTES, SEEK_RECORD_BYTES, SEEKERS,
    SEEKS_PER_UPDATE, SMALL_FILE_BYTES, STREAM_RECORD_BYTES, Work,
};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference");
const PROGRAMS: [&str; 8] = [
    "account",
    "touch",
    "pread_loop",
    "mmap_loop",
    "ring_loop",
    "stream_loop",
    "names_loop",
    "seek_loop",
];
const OPTIONS: [&str; 3] = ["-O2", "-Wall", "-Wextra"];

/// The compiled programs.
#[derive(Clone, Debug)]
pub(crate) struct Programs(PathBuf);

/// The contender `C`.
pub(crate) struct Reference(pub(crate) Programs);

impl Programs {
    /// Compiles all of them into `folder`.
    pub(crate) fn compile(folder: &Path) -> Result<Self, BenchError> {
        for program in PROGRAMS {
            let source = Path::new(SOURCES).join(format!("{program}.c"));
            let output = Command::new("cc")
                .args(OPTIONS)
                .arg("-o")
                .arg(folder.join(program))
                .arg(&source)
                .output()
                .map_err(|e| BenchError::io("compile", &source, e))?;
            if !output.status.success() {
                return Err(BenchError::Command {
                    command: format!("cc {}", source.display()),
                    status: output.status.to_string(),
                    output: String::from_utf8_lossy(&output.stderr).into_owned(),
                });
            }
        }
        Ok(Self(folder.to_owned()))
    }

    /// The path of one of them.
    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.0.join(program)
    }

    /// Touches memory, so that what is measured next finds it backed by the host.
    pub(crate) fn touch(&self, bytes: u64) -> Invocation {
        Invocation::preparation(self.path("touch"), vec![bytes.to_string()])
    }

    /// Writes a file of random data.
    pub(crate) fn write_file(&self, path: &Path, bytes: u64) -> Invocation {
        let arguments = stream_arguments(path, bytes, "write");
        Invocation::preparation(self.path("stream_loop"), arguments)
    }
}

fn stream_arguments(path: &Path, bytes: u64, direction: &str) -> Vec<String> {
    words([
        path.display().to_string(),
        bytes.to_string(),
        STREAM_RECORD_BYTES.to_string(),
        direction.to_owned(),
    ])
}

impl Reference {
    fn reads(&self, task: &Task<'_>) -> Invocation {
        let mut arguments = words([
            task.directory.join(DATA_FILE).display().to_string(),
            task.amounts.data_bytes.to_string(),
            RECORD_BYTES.to_string(),
            task.operations().to_string(),
        ]);
        let queue = [QUEUE_DEPTH.to_string(), QUEUE_BATCH.to_string()];
        let program = match task.work {
            Work::Ring => {
                arguments.extend(queue);
                arguments.push("buffered".to_owned());
                "ring_loop"
            }
            Work::RingDirect => {
                arguments.extend(queue);
                arguments.push("direct".to_owned());
                "ring_loop"
            }
            Work::Mmap => "mmap_loop",
            work => {
                let is_backward = work == Work::Backward;
                arguments.push(if is_backward { "backward" } else { "random" }.to_owned());
                "pread_loop"
            }
        };
        let figure = task.work.figures()[0];
        Invocation::of_figure(self.0.path(program), arguments, figure, operation_rate)
    }

    fn seeks(&self, task: &Task<'_>) -> Invocation {
        let arguments = words([
            task.directory.join(DATA_FILE).display().to_string(),
            task.amounts.data_bytes.to_string(),
            SEEK_RECORD_BYTES.to_string(),
            task.operations().to_string(),
            SEEKERS.to_string(),
            SEEKS_PER_UPDATE.to_string(),
        ]);
        let program = self.0.path("seek_loop");
        Invocation::of_figure(program, arguments, Figure::Seek, operation_rate)
    }

    fn names(&self, task: &Task<'_>, figure: Figure, operation: &str) -> Invocation {
        let (files, bytes) = match task.work {
            Work::Files => (task.amounts.files, SMALL_FILE_BYTES),
            _ => (task.amounts.names, 0),
        };
        let arguments = words([
            task.files().display().to_string(),
            files.to_string(),
            bytes.to_string(),
            operation.to_owned(),
        ]);
        Invocation::of_figure(self.0.path("names_loop"), arguments, figure, operation_rate)
    }

    fn stream(&self, task: &Task<'_>, figure: Figure, direction: &str) -> Invocation {
        let arguments = stream_arguments(
            &task.directory.join("stream"),
            task.amounts.stream_bytes,
            direction,
        );
        Invocation::of_figure(self.0.path("stream_loop"), arguments, figure, |text| {
            operation_rate(text).map(|records| records * STREAM_RECORD_BYTES as f64)
        })
    }
}

impl Contender for Reference {
    fn name(&self) -> &'static str {
        "C"
    }

    fn version(&self) -> Result<String, String> {
        ask_version(Path::new("cc"), &["--version"]).map(|cc| format!("bench/reference, {cc}, -O2"))
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        match task.work {
            Work::Pread | Work::Backward | Work::Mmap | Work::Ring | Work::RingDirect => {
                vec![self.reads(task)]
            }
            Work::Names => vec![
                self.names(task, Figure::Create, "create"),
                self.names(task, Figure::Stat, "stat"),
                self.names(task, Figure::Unlink, "unlink"),
            ],
            Work::Stream => vec![
                self.stream(task, Figure::StreamWrite, "write"),
                self.stream(task, Figure::StreamRead, "read"),
            ],
            Work::Files => vec![
                self.names(task, Figure::FilesWrite, "create"),
                self.names(task, Figure::FilesRead, "read"),
            ],
            Work::Seeks => vec![self.seeks(task)],
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Files => Some("the loop in C does not verify"),
            _ => None,
        }
    }

    fn setting(&self, _work: Work) -> Option<&'static str> {
        None
    }
}

/// The value of `key` in a line of `key=value` pairs.
pub(crate) fn value_of(text: &str, key: &str) -> Option<u64> {
    text.split_whitespace()
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| *name == key)?
        .1
        .parse()
        .ok()
}

/// Operations per second.
fn operation_rate(text: &str) -> Result<f64, BenchError> {
    value_of(text, "operations")
        .zip(value_of(text, "elapsed_ns"))
        .map(|(operations, elapsed_ns)| operations as f64 * 1e9 / elapsed_ns as f64)
        .ok_or_else(|| BenchError::output("the loop in C", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_loop_becomes_a_rate() {
        let line = "operations=500 elapsed_ns=250000 latency_sum_ns=240000\n";
        assert!((operation_rate(line).expect("reads") - 2e6).abs() < 1.0);
        assert!(operation_rate("nothing").is_err());
    }

    #[test]
    fn the_ring_is_given_its_depth_batch_and_cache() {
        let reference = Reference(Programs("/opt".into()));
        let task = Task {
            work: Work::RingDirect,
            amounts: crate::work::Amounts::QUICK,
            directory: Path::new("/tmp"),
        };
        let line = reference.invocations(&task)[0].command_line();
        assert_eq!(
            line,
            "/opt/ring_loop /tmp/data 8388608 4096 2000 32 16 direct"
        );
    }
}
