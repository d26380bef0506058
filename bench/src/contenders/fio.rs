//! fio: psync, io_uring, and its engines for names; JSON output.

use serde_json::Value;

use super::contender::{Contender, Invocation, Task, ask_version};
use crate::error::BenchError;
use crate::work::{
    DATA_FILE, Figure, QUEUE_BATCH, QUEUE_DEPTH, RECORD_BYTES, SMALL_FILE_BYTES,
    STREAM_RECORD_BYTES, Work,
};

/// The contender `fio`.
pub(crate) struct Fio;

/// Side of a job in fio's output.
const READ: &str = "read";
const WRITE: &str = "write";

impl Fio {
    fn job(options: Vec<String>, figure: Figure, side: &'static str) -> Invocation {
        // One process, so that its use of time and memory is that of the job.
        let mut arguments: Vec<String> = ["--output-format=json", "--thread", "--name=bench"]
            .map(str::to_owned)
            .into();
        arguments.extend(options);
        // fio preallocates and evicts by default; no other contender does.
        arguments.extend(["--fallocate=none", "--invalidate=0"].map(str::to_owned));
        Invocation::of_figure("fio", arguments, figure, move |text| {
            rate(text, figure, side)
        })
    }

    fn random_reads(task: &Task<'_>) -> Invocation {
        let mut options = vec![
            "--rw=randread".to_owned(),
            "--norandommap".to_owned(),
            format!("--bs={RECORD_BYTES}"),
            format!("--filename={}", task.directory.join(DATA_FILE).display()),
            format!("--size={}", task.amounts.data_bytes),
            format!("--io_size={}", task.operations() * RECORD_BYTES),
        ];
        if task.work == Work::Pread {
            options.push("--ioengine=psync".to_owned());
        } else {
            options.extend([
                "--ioengine=io_uring".to_owned(),
                format!("--iodepth={QUEUE_DEPTH}"),
                format!("--iodepth_batch_submit={QUEUE_BATCH}"),
                format!("--iodepth_batch_complete_min={QUEUE_BATCH}"),
                format!("--iodepth_batch_complete_max={QUEUE_DEPTH}"),
                "--registerfiles=1".to_owned(),
                "--fixedbufs=1".to_owned(),
                format!("--direct={}", u8::from(task.work == Work::RingDirect)),
            ]);
        }
        Self::job(options, Figure::RandomRead, READ)
    }

    fn names(task: &Task<'_>, figure: Figure, engine: &str) -> Invocation {
        let files = task.amounts.names;
        let mut options = Self::many_files(task, files, 1);
        options.extend([
            format!("--ioengine={engine}"),
            "--create_on_open=1".to_owned(),
        ]);
        Self::job(options, figure, READ)
    }

    fn files(task: &Task<'_>, figure: Figure) -> Invocation {
        let mut options = Self::many_files(task, task.amounts.files, SMALL_FILE_BYTES);
        options.push("--ioengine=psync".to_owned());
        if figure == Figure::FilesWrite {
            options.extend([
                "--rw=write".to_owned(),
                "--create_on_open=1".to_owned(),
                "--verify=crc32c".to_owned(),
                "--do_verify=0".to_owned(),
            ]);
            return Self::job(options, figure, WRITE);
        }
        options.push("--rw=read".to_owned());
        if figure == Figure::FilesVerified {
            options.push("--verify=crc32c".to_owned());
        }
        Self::job(options, figure, READ)
    }

    /// One access to each of many files, one file open at a time.
    fn many_files(task: &Task<'_>, files: u64, bytes: u64) -> Vec<String> {
        vec![
            format!("--directory={}", task.directory.display()),
            "--filename_format=f$filenum".to_owned(),
            format!("--nrfiles={files}"),
            format!("--filesize={bytes}"),
            format!("--size={}", files * bytes),
            format!("--bs={bytes}"),
            "--openfiles=1".to_owned(),
            "--file_service_type=sequential".to_owned(),
        ]
    }

    fn stream(task: &Task<'_>, figure: Figure) -> Invocation {
        let side = if figure == Figure::StreamWrite {
            WRITE
        } else {
            READ
        };
        let options = vec![
            "--ioengine=psync".to_owned(),
            format!("--rw={side}"),
            format!("--bs={STREAM_RECORD_BYTES}"),
            format!("--filename={}", task.directory.join("stream").display()),
            format!("--size={}", task.amounts.stream_bytes),
        ];
        Self::job(options, figure, side)
    }
}

impl Contender for Fio {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn version(&self) -> Result<String, String> {
        ask_version("fio", &["--version"])
    }

    fn invocations(&self, task: &Task<'_>) -> Vec<Invocation> {
        match task.work {
            Work::Pread | Work::Ring | Work::RingDirect => vec![Self::random_reads(task)],
            Work::Names => vec![
                Self::names(task, Figure::Create, "filecreate"),
                Self::names(task, Figure::Stat, "filestat"),
                Self::names(task, Figure::Unlink, "filedelete"),
            ],
            Work::Stream => vec![
                Self::stream(task, Figure::StreamWrite),
                Self::stream(task, Figure::StreamRead),
            ],
            Work::Files => vec![
                Self::files(task, Figure::FilesWrite),
                Self::files(task, Figure::FilesRead),
                Self::files(task, Figure::FilesVerified),
            ],
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Names => {
                Some("fio has no empty files: these are of 1 byte, and nothing is written")
            }
            Work::Files => Some("fio writes and verifies crc32c headers"),
            Work::Stream => Some("fio scrambles its random buffers, its default"),
            _ => None,
        }
    }
}

/// Operations per second, or bytes per second of the stream, of the only job.
fn rate(text: &str, figure: Figure, side: &str) -> Result<f64, BenchError> {
    let bad = |why: String| BenchError::output("fio", why);
    // Notes stand before the document, even where a machine's format is asked for.
    let start = text
        .find('{')
        .ok_or_else(|| bad("no JSON document".into()))?;
    let document: Value =
        serde_json::from_str(&text[start..]).map_err(|error| bad(error.to_string()))?;
    let job = &document["jobs"][0];
    if job["error"] != 0 {
        return Err(bad(format!("the job ended with error {}", job["error"])));
    }
    let key = match figure {
        Figure::StreamWrite | Figure::StreamRead => "bw_bytes",
        _ => "iops",
    };
    let rate = job[side][key].as_f64().filter(|rate| *rate > 0.0);
    rate.ok_or_else(|| bad(format!("no {side}.{key}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_reads_becomes_operations_per_second() {
        let text = include_str!("../../fixtures/fio-randread.json");
        let reads = rate(text, Figure::RandomRead, READ).expect("reads");
        assert!((reads - 819_672.131).abs() < 0.1, "{reads}");
    }

    #[test]
    fn a_job_of_writes_becomes_bytes_per_second() {
        let text = include_str!("../../fixtures/fio-write.json");
        let bytes = rate(text, Figure::StreamWrite, WRITE).expect("reads");
        assert!((bytes - 2_581_110_153.0).abs() < 1.0, "{bytes}");
        assert!(rate(text, Figure::StreamRead, READ).is_err());
    }

    #[test]
    fn what_is_no_result_is_an_error() {
        assert!(rate("fio: no such engine", Figure::Stat, READ).is_err());
        assert!(rate(r#"{"jobs":[{"error":5}]}"#, Figure::Stat, READ).is_err());
    }
}
