//! How large a job's file is, and how much the job does.

use fslab_model::Parameters;
use serde_json::json;

use super::io::JobIo;
use super::job::FioJob;
use super::settings::FioSettings;
use super::units::FioSize;
use crate::draft::size_text;
use crate::problem::Findings;

/// The file of a job.
#[derive(Clone, Debug)]
pub(super) struct FileSpan {
    /// `file_size` and `segment`.
    pub(super) parameters: Parameters,
    /// Bytes with the offset; 0 for a share of the file system.
    pub(super) bytes: u64,
    /// Bytes that the job covers; `None` for a share.
    region: Option<u64>,
}

/// What a job does.
#[derive(Clone, Debug)]
pub(super) struct JobAmount {
    /// `amount` and `time_limit_ns`.
    pub(super) parameters: Parameters,
    /// True if each part of the file is accessed as often.
    pub(super) is_whole_file: bool,
    /// Least time.
    pub(super) seconds: u64,
    /// Bytes of all copies, if they decide the time.
    pub(super) bytes: u64,
}

/// Whether the job is for a device whose size it does not say.
pub(super) fn is_unsized_device(settings: &FioSettings) -> bool {
    let is_device = settings
        .filename
        .as_ref()
        .is_some_and(|file| file.is_device);
    is_device && settings.size.is_none() && settings.file_size.is_none()
}

/// The file of `job`; a problem goes to `findings`. `devices` have no size.
pub(super) fn span(
    job: &FioJob,
    io: &JobIo,
    devices: u64,
    findings: &mut Findings,
) -> Option<FileSpan> {
    let settings = &job.settings;
    let mut parameters = Parameters::new();
    let total = match (settings.file_size, settings.size) {
        (Some(each), _) => each.saturating_mul(settings.files),
        (None, Some(FioSize::Bytes(bytes))) => bytes,
        (None, Some(FioSize::Percent(percent @ 1..))) => {
            parameters.insert("file_size".into(), json!(format!("{percent}/100")));
            return whole_share(job, parameters, findings);
        }
        (None, Some(FioSize::Percent(0))) => {
            findings.refuse(job.problem("size", "a file of 0 %"));
            return None;
        }
        (None, None) if is_unsized_device(settings) => {
            let share = format!("1/{}", 2 * devices.max(1));
            let why = format!(
                "a device with no size in the job: the file has {share} of the measured file system"
            );
            findings.note(job.note("filename", &why));
            parameters.insert("file_size".into(), json!(share));
            return whole_share(job, parameters, findings);
        }
        // What was wrong with the size has been said.
        (None, None) if findings.has_refused("size") => return None,
        (None, None) => {
            let cause = "no size: fio takes the size of an existing file, and there is none in a \
                         new file system";
            findings.refuse(job.problem("size", cause).hint("for example size=1g"));
            return None;
        }
    };
    let per_file = total / settings.files;
    let per_file = per_file - per_file % io.unit;
    if per_file < io.record {
        let cause = format!(
            "a file of {per_file} bytes, shorter than a record of {}",
            io.record
        );
        findings.refuse(job.problem("size", cause));
        return None;
    }
    let region = per_file * settings.files;
    if region != total {
        let why = format!("the file is rounded down to whole records: {region} bytes");
        findings.note(job.note("size", &why));
    }
    parameters.insert("file_size".into(), json!(size_text(region)));
    if settings.files > 1 {
        if settings.files_in_turn && !settings.pattern.is_random {
            let cause = "fslab goes through files one after the other";
            let problem = job.problem("nrfiles", cause);
            findings.refuse(problem.hint("add file_service_type=sequential"));
            return None;
        }
        if io.uses_uring || settings.files > 512 {
            let cause = "fslab has several files only with engines without a queue, up to 512";
            findings.refuse(job.problem("nrfiles", cause));
            return None;
        }
        parameters.insert("segment".into(), json!(size_text(per_file)));
    }
    let increments = settings
        .offset_increment
        .saturating_mul(settings.copies - 1);
    let offset = settings.offset.saturating_add(increments);
    Some(FileSpan {
        parameters,
        bytes: region.saturating_add(offset),
        region: Some(region),
    })
}

/// The span of a file that is a share of the file system.
fn whole_share(job: &FioJob, parameters: Parameters, findings: &mut Findings) -> Option<FileSpan> {
    if job.settings.loops > 1 || job.settings.files > 1 {
        let cause = "loops and nrfiles need a size in bytes";
        findings.refuse(job.problem("size", cause).hint("for example size=1g"));
        return None;
    }
    Some(FileSpan {
        parameters,
        bytes: 0,
        region: None,
    })
}

const SECOND_NS: u64 = 1_000_000_000;

/// How much `job` does with its file.
pub(super) fn amount(
    job: &FioJob,
    io: &JobIo,
    span: &FileSpan,
    findings: &mut Findings,
) -> Option<JobAmount> {
    let settings = &job.settings;
    let mut parameters = Parameters::new();
    let before_s = (settings.ramp_ns.saturating_add(settings.start_delay_ns)).div_ceil(SECOND_NS);
    let runtime_s = settings.runtime_ns.div_ceil(SECOND_NS);
    if settings.time_based {
        return timed(job, before_s.saturating_add(runtime_s), findings);
    }
    if settings.runtime_ns > 0 {
        parameters.insert(
            "time_limit_ns".into(),
            json!(time_text(settings.runtime_ns)),
        );
    }
    let once = bytes_once(job, span, findings)?;
    let bytes = once.map(|once| once.saturating_mul(settings.loops));
    let operations = match settings.operations {
        None => None,
        Some(operations) => {
            let most = bytes.map_or(u64::MAX, |bytes| (bytes / io.mean).max(1));
            Some(operations.min(most))
        }
    };
    let mut is_whole_file = settings.runtime_ns == 0;
    match (operations, bytes) {
        (Some(operations), _) => {
            is_whole_file = false;
            parameters.insert("amount".into(), json!({ "operations": operations }));
        }
        (None, Some(bytes)) if Some(bytes) != span.region => {
            let passes = span
                .region
                .filter(|region| *region > 0 && bytes.is_multiple_of(*region));
            is_whole_file &= passes.is_some();
            parameters.insert("amount".into(), json!({ "bytes": bytes }));
        }
        (None, _) => {}
    }
    let moved = match operations {
        Some(operations) => operations.saturating_mul(io.record),
        None => bytes.unwrap_or(0),
    };
    let paced_s = io.bytes_per_second.map_or(0, |rate| moved / rate.max(1));
    let seconds = match settings.runtime_ns {
        0 => paced_s,
        _ => runtime_s,
    };
    let counts = settings.runtime_ns == 0;
    Some(JobAmount {
        parameters,
        is_whole_file,
        seconds: before_s.saturating_add(seconds),
        bytes: if counts {
            moved.saturating_mul(settings.copies)
        } else {
            0
        },
    })
}

/// The amount of a job that works for its runtime.
fn timed(job: &FioJob, seconds: u64, findings: &mut Findings) -> Option<JobAmount> {
    let settings = &job.settings;
    let mut parameters = Parameters::new();
    if settings.runtime_ns == 0 {
        let cause = "no runtime, of which it would be the whole";
        findings.refuse(
            job.problem("time_based", cause)
                .hint("for example runtime=60"),
        );
        return None;
    }
    if settings.operations.is_some() {
        findings.refuse(job.problem("number_ios", "a number, and time_based"));
        return None;
    }
    parameters.insert(
        "amount".into(),
        json!({ "time": time_text(settings.runtime_ns) }),
    );
    Some(JobAmount {
        parameters,
        is_whole_file: false,
        seconds,
        bytes: 0,
    })
}

/// Bytes of one loop; `None` inside for a share of the file system.
fn bytes_once(job: &FioJob, span: &FileSpan, findings: &mut Findings) -> Option<Option<u64>> {
    let settings = &job.settings;
    Some(match (settings.io_size, settings.size, span.region) {
        (None | Some(FioSize::Percent(100)), Some(FioSize::Bytes(size)), Some(region)) => {
            // `filesize` may be another.
            Some(if settings.file_size.is_some() {
                size
            } else {
                region
            })
        }
        (None | Some(FioSize::Percent(100)), _, region) => region,
        (Some(FioSize::Bytes(bytes)), ..) => Some(bytes),
        (Some(FioSize::Percent(percent)), _, Some(region)) => {
            Some(((u128::from(region) * u128::from(percent)) / 100) as u64)
        }
        (Some(FioSize::Percent(_)), _, None) => {
            findings.refuse(job.problem("io_size", "a share of a size that is a share"));
            return None;
        }
    })
}

/// A time as a study has it.
pub(super) fn time_text(ns: u64) -> String {
    match ns {
        ns if ns.is_multiple_of(SECOND_NS) => format!("{}s", ns / SECOND_NS),
        ns if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns.div_ceil(1_000)),
    }
}
