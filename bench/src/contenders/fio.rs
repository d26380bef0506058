//! fio: psync, mmap, io_uring, and its engines for names; JSON output.

use std::path::PathBuf;

use serde_json::Value;

use super::contender::{Contender, Invocation, Task, ask_version};
use crate::error::BenchError;
use crate::work::{
    DATA_FILE, Figure, QUEUE_BATCH, QUEUE_DEPTH, RECORD_BYTES, SMALL_FILE_BYTES,
    STREAM_RECORD_BYTES, Work,
};

/// The contender `fio`.
pub(crate) struct Fio {
    pub(crate) program: PathBuf,
}

/// Side of a job in fio's output.
const READ: &str = "read";
const WRITE: &str = "write";

impl Fio {
    fn job(&self, options: Vec<String>, figure: Figure, side: &'static str) -> Invocation {
        // One process, so that its use of time and memory is that of the job.
        let mut arguments: Vec<String> = ["--output-format=json", "--thread", "--name=bench"]
            .map(str::to_owned)
            .into();
        arguments.extend(options);
        // fio preallocates and evicts by default, which no other contender does, and its default
        // buffer is not aligned to a page, which halves the speed of copies.
        let fair = ["--fallocate=none", "--invalidate=0", "--iomem=mmap"];
        arguments.extend(fair.map(str::to_owned));
        Invocation::of_figure(&self.program, arguments, figure, move |text| {
            rate(text, figure, side)
        })
    }

    fn reads(&self, task: &Task<'_>) -> Invocation {
        let mut options = vec![
            format!("--bs={RECORD_BYTES}"),
            format!("--filename={}", task.directory.join(DATA_FILE).display()),
            format!("--size={}", task.amounts.data_bytes),
            format!("--io_size={}", task.operations() * RECORD_BYTES),
        ];
        if task.work == Work::Backward {
            // From the end of a record back to the start of the one before it.
            options.push(format!("--rw=read:-{}", 2 * RECORD_BYTES));
        } else {
            options.extend(["--rw=randread", "--norandommap"].map(str::to_owned));
        }
        let engine = match task.work {
            Work::Mmap => "mmap",
            Work::Ring | Work::RingDirect => "io_uring",
            _ => "psync",
        };
        options.push(format!("--ioengine={engine}"));
        if matches!(task.work, Work::Ring | Work::RingDirect) {
            options.extend([
                format!("--iodepth={QUEUE_DEPTH}"),
                format!("--iodepth_batch_submit={QUEUE_BATCH}"),
                format!("--iodepth_batch_complete_min={QUEUE_BATCH}"),
                format!("--iodepth_batch_complete_max={QUEUE_DEPTH}"),
                "--registerfiles=1".to_owned(),
                "--fixedbufs=1".to_owned(),
                format!("--direct={}", u8::from(task.work == Work::RingDirect)),
            ]);
        }
        self.job(options, task.work.figures()[0], READ)
    }

    fn names(&self, task: &Task<'_>, figure: Figure, engine: &str) -> Invocation {
        let files = task.amounts.names;
        let mut options = Self::many_files(task, files, 1);
        options.extend([
            format!("--ioengine={engine}"),
            "--create_on_open=1".to_owned(),
        ]);
        self.job(options, figure, READ)
    }

    fn files(&self, task: &Task<'_>, figure: Figure) -> Invocation {
        let mut options = Self::many_files(task, task.amounts.files, SMALL_FILE_BYTES);
        options.push("--ioengine=psync".to_owned());
        if figure == Figure::FilesWrite {
            options.extend([
                "--rw=write".to_owned(),
                "--create_on_open=1".to_owned(),
                "--verify=crc32c".to_owned(),
                "--do_verify=0".to_owned(),
            ]);
            return self.job(options, figure, WRITE);
        }
        options.push("--rw=read".to_owned());
        if figure == Figure::FilesVerified {
            options.push("--verify=crc32c".to_owned());
        }
        self.job(options, figure, READ)
    }

    /// One access to each of many files, one file open at a time.
    fn many_files(task: &Task<'_>, files: u64, bytes: u64) -> Vec<String> {
        vec![
            format!("--directory={}", task.files().display()),
            "--filename_format=f$filenum".to_owned(),
            format!("--nrfiles={files}"),
            format!("--filesize={bytes}"),
            format!("--size={}", files * bytes),
            format!("--bs={bytes}"),
            "--openfiles=1".to_owned(),
            "--file_service_type=sequential".to_owned(),
        ]
    }

    fn stream(&self, task: &Task<'_>, figure: Figure) -> Invocation {
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
        self.job(options, figure, side)
    }
}

impl Contender for Fio {
    fn name(&self) -> &'static str {
        "fio"
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
                self.names(task, Figure::Create, "filecreate"),
                self.names(task, Figure::Stat, "filestat"),
                self.names(task, Figure::Unlink, "filedelete"),
            ],
            Work::Stream => vec![
                self.stream(task, Figure::StreamWrite),
                self.stream(task, Figure::StreamRead),
            ],
            Work::Files => vec![
                self.files(task, Figure::FilesWrite),
                self.files(task, Figure::FilesRead),
                self.files(task, Figure::FilesVerified),
            ],
            Work::Seeks => Vec::new(),
        }
    }

    fn remark(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Names => {
                Some("fio has no empty files: these are of 1 byte, and nothing is written")
            }
            Work::Files => Some("fio writes and verifies crc32c headers"),
            Work::Stream => Some("fio scrambles its random buffers, its default"),
            Work::Seeks => Some("fio has no operation that reads a record and writes it back"),
            _ => None,
        }
    }

    fn setting(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Names | Work::Seeks => None,
            Work::Ring | Work::RingDirect => Some("iomem=mmap, fixedbufs, registerfiles"),
            _ => Some("iomem=mmap"),
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
    fn every_job_has_an_aligned_buffer_and_says_so() {
        let fio = Fio {
            program: "fio".into(),
        };
        for &work in Work::ALL {
            let task = Task {
                work,
                amounts: crate::work::Amounts::QUICK,
                directory: std::path::Path::new("DIR"),
            };
            for invocation in fio.invocations(&task) {
                let line = invocation.command_line();
                assert!(line.contains("--iomem=mmap"), "{line}");
                let is_said = fio
                    .setting(work)
                    .is_some_and(|it| it.contains("iomem=mmap"));
                assert!(is_said || work == Work::Names, "{work:?}");
                assert_eq!(line.contains("--directory=DIR/files"), work.makes_files());
            }
        }
    }

    #[test]
    fn what_is_no_result_is_an_error() {
        assert!(rate("fio: no such engine", Figure::Stat, READ).is_err());
        assert!(rate(r#"{"jobs":[{"error":5}]}"#, Figure::Stat, READ).is_err());
    }
}
