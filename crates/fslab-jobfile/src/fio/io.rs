//! What a job does with each record, and how.

use fslab_model::Parameters;
use serde_json::{Map, Value, json};

use super::amounts::time_text;
use super::job::FioJob;
use super::settings::{Advice, Distribution, FioEngine, FioSettings};
use crate::draft::size_text;
use crate::problem::Findings;

/// The parameters of a job that do not depend on its file's size.
pub(super) struct JobIo {
    pub(super) parameters: Parameters,
    /// Bytes of the longest record.
    pub(super) record: u64,
    /// Mean bytes of a record.
    pub(super) mean: u64,
    /// What sizes are multiples of.
    pub(super) unit: u64,
    pub(super) uses_uring: bool,
    /// The rate of the job, if it has one.
    pub(super) bytes_per_second: Option<u64>,
}

/// The parameters of `job`; problems go to `findings`.
pub(super) fn of_job(job: &FioJob, findings: &mut Findings) -> JobIo {
    let settings = &job.settings;
    let direction = usize::from(!settings.pattern.reads);
    let (record, split) = (settings.record[direction], &settings.split[direction]);
    let unit = split
        .iter()
        .map(|(length, _)| *length)
        .min()
        .unwrap_or(record);
    let weighted = split
        .iter()
        .map(|(length, percent)| length * u64::from(*percent));
    let mean = match split.as_slice() {
        [] => record,
        _ => (weighted.sum::<u64>() / 100).max(1),
    };
    let mut io = JobIo {
        parameters: Parameters::new(),
        record,
        mean,
        unit,
        uses_uring: false,
        bytes_per_second: None,
    };
    let is_mixed = settings.pattern.reads && settings.pattern.writes;
    if is_mixed
        && (settings.record[0], &settings.split[0]) != (settings.record[1], &settings.split[1])
    {
        findings.refuse(job.problem("bs", "records of reads and others of writes in one job"));
    }
    if settings.alignment.is_some_and(|it| it != unit) {
        let cause = format!("offsets at other multiples than those of the record of {unit} bytes");
        findings.refuse(job.problem("blockalign", cause));
    }
    if let Some(odd) = split
        .iter()
        .find(|(length, _)| !length.is_multiple_of(unit))
    {
        let cause = format!("{} bytes are no multiple of the shortest, {unit}", odd.0);
        findings.refuse(job.problem("bssplit", cause));
    }
    let mut put = |name: &str, value: Value| {
        io.parameters.insert(name.to_owned(), value);
    };
    put("record", json!(size_text(record)));
    if !split.is_empty() {
        let rows = split.iter();
        let rows: Vec<_> = rows
            .map(|(length, percent)| json!({ "bytes": size_text(*length), "percent": percent }))
            .collect();
        put("record_split", json!(rows));
    }
    put("direction", direction_of(settings));
    access(job, record, &mut put, findings);
    data(job, &mut put, findings);
    let pace = pace(job, mean, findings);
    io.bytes_per_second = pace
        .as_ref()
        .map(|(_, rate)| *rate)
        .filter(|rate| *rate > 0);
    if let Some((pace, _)) = pace {
        io.parameters.insert("pace".into(), pace);
    }
    io.uses_uring = engine(job, &mut io.parameters, findings);
    io
}

fn direction_of(settings: &FioSettings) -> Value {
    match (settings.pattern.reads, settings.pattern.writes) {
        (true, true) => match settings.read_percent {
            0 => json!("write"),
            100 => json!("read"),
            percent => json!({ "mix": { "read_percent": percent } }),
        },
        (true, false) => json!("read"),
        (false, _) => json!("write"),
    }
}

fn access(job: &FioJob, record: u64, put: &mut impl FnMut(&str, Value), findings: &mut Findings) {
    let settings = &job.settings;
    let has_split = settings.split.iter().any(|split| !split.is_empty());
    if !settings.pattern.is_random {
        if settings.distribution != Distribution::Uniform {
            findings.note(job.note("random_distribution", "the accesses are in order"));
        }
        put("access", in_order(job, record, has_split, findings));
        if settings.pattern.reads && settings.pattern.writes {
            findings.note(job.note("rw", "reads and writes follow one position; fio has two"));
        }
        return;
    }
    let access = match &settings.distribution {
        Distribution::Uniform if settings.each_once && !has_split => json!("random-once"),
        Distribution::Uniform | Distribution::Zoned(_) => json!("random-uniform"),
        Distribution::Zipf(theta) => json!({ "zipf": { "theta": theta } }),
        Distribution::Pareto(h) => json!({ "pareto": { "h": h } }),
    };
    if has_split {
        if settings.each_once {
            let why = "records of several lengths: offsets can repeat before all were used";
            findings.note(job.note("bssplit", why));
        }
        if !access.is_string() {
            let cause = "records of several lengths, and offsets that are zipf or pareto";
            findings.refuse(job.problem("random_distribution", cause));
        }
    }
    put("access", access);
    if let Distribution::Zoned(zones) = &settings.distribution {
        let zones = zones
            .iter()
            .map(|(access, space)| json!({ "access_percent": access, "space_percent": space }));
        put("zones", Value::Array(zones.collect()));
    }
}

/// The order of sequential accesses, with the gap after each.
fn in_order(job: &FioJob, record: u64, has_split: bool, findings: &mut Findings) -> Value {
    let gap = job.settings.pattern.gap;
    let bytes = i64::try_from(record).unwrap_or(i64::MAX);
    if gap == 0 {
        return json!("sequential");
    }
    if !has_split && gap == -2 * bytes {
        return json!("reverse");
    }
    if has_split || gap < 0 || gap % bytes != 0 {
        let cause = format!(
            "a gap of {gap} bytes; fslab has multiples of the record, and {} for backwards",
            -2 * bytes
        );
        findings.refuse(job.problem("rw", cause));
        return json!("sequential");
    }
    let why = "after a pass fslab goes on with the records between, fio with the same ones";
    findings.note(job.note("rw", why));
    json!({ "strided": { "stride_records": gap / bytes + 1 } })
}

/// Caches, syncs, contents, verification, and how the file is prepared.
fn data(job: &FioJob, put: &mut impl FnMut(&str, Value), findings: &mut Findings) {
    let settings = &job.settings;
    let writes = settings.pattern.writes;
    if settings.direct {
        put("direct", json!(true));
    }
    if let Some(sync) = settings.open_sync.filter(|_| writes) {
        put("open_sync", json!(sync));
    }
    let mut sync = Map::new();
    for (count, call) in [(settings.fsync, "fsync"), (settings.fdatasync, "fdatasync")] {
        if count > 0 {
            sync.insert("every".into(), json!({ "operations": count, "call": call }));
        }
    }
    if settings.fsync > 0 && settings.fdatasync > 0 {
        findings.refuse(job.problem("fdatasync", "fsync and fdatasync in one job"));
    }
    if settings.end_fsync {
        sync.insert("closing".into(), json!("fsync"));
    }
    if writes && !sync.is_empty() {
        put("sync", Value::Object(sync));
    }
    let is_laid_out =
        settings.pattern.reads || settings.overwrite || settings.engine == FioEngine::Mmap;
    if !is_laid_out && !settings.create_on_open && settings.preparation != "none" {
        put("preparation", json!(settings.preparation));
    }
    let advice = match settings.advice {
        _ if settings.direct => None,
        Advice::None => None,
        Advice::ByPattern if settings.pattern.is_random => Some("random"),
        Advice::ByPattern | Advice::Sequential => Some("sequential"),
        Advice::Random => Some("random"),
        Advice::NoReuse => Some("no-reuse"),
    };
    if let Some(advice) = advice {
        put("advice", json!(advice));
    }
    if settings.compressible_percent > 0 || settings.duplicate_percent > 0 {
        let content = json!({
            "compressible_percent": settings.compressible_percent,
            "duplicate_percent": settings.duplicate_percent,
        });
        put("content", content);
    }
    if settings.verifies {
        let has_split = settings.split.iter().any(|split| !split.is_empty());
        let record = settings.record[usize::from(!settings.pattern.reads)];
        if has_split || !record.is_multiple_of(4096) || !settings.offset.is_multiple_of(4096) {
            let cause = "fslab verifies records of a multiple of 4 KiB, all of one length";
            findings.refuse(job.problem("verify", cause));
        } else if settings.duplicate_percent > 0 {
            findings.refuse(job.problem("verify", "fslab verifies no duplicates"));
        } else if !writes {
            put("verify", json!(true));
        }
    }
    if settings.ramp_ns > 0 {
        put("ramp_up_ns", json!(time_text(settings.ramp_ns)));
    }
    if settings.start_delay_ns > 0 {
        put("start_delay_ns", json!(time_text(settings.start_delay_ns)));
    }
}

/// The pace, and the bytes per second that it allows; 0 if it is a pause.
fn pace(job: &FioJob, mean: u64, findings: &mut Findings) -> Option<(Value, u64)> {
    let settings = &job.settings;
    let is_mixed = settings.pattern.reads && settings.pattern.writes;
    let direction = usize::from(!settings.pattern.reads);
    let has_rate = |rates: &[Option<u64>; 2]| rates.iter().any(Option::is_some);
    let given = has_rate(&settings.rate) || has_rate(&settings.rate_iops);
    let name = match has_rate(&settings.rate) {
        true => "rate",
        false => "rate_iops",
    };
    if given && is_mixed {
        let cause = "a rate of reads and another of writes; fslab has one of both together";
        findings.refuse(job.problem(name, cause));
        return None;
    }
    if given && settings.think_ns > 0 {
        findings.refuse(job.problem("thinktime", "a pause and a rate in one job"));
        return None;
    }
    if settings.think_ns > 0 {
        let pause = json!({ "pause": {
            "pause_ns": settings.think_ns, "operations": settings.think_operations,
        }});
        return Some((pause, 0));
    }
    let of_bytes = settings.rate[direction].map(|rate| rate as f64 / mean as f64);
    let of_operations = settings.rate_iops[direction].map(|rate| rate as f64);
    let per_second = match (of_bytes, of_operations) {
        (Some(one), Some(other)) => one.min(other),
        (one, other) => one.or(other)?,
    };
    let kind = if settings.is_poisson {
        "poisson"
    } else {
        "fixed"
    };
    let pace = json!({ kind: { "per_second": per_second } });
    Some((pace, ((per_second * mean as f64) as u64).max(1)))
}

/// Sets the engine; true for io_uring.
fn engine(job: &FioJob, parameters: &mut Parameters, findings: &mut Findings) -> bool {
    let settings = &job.settings;
    let uses_uring = match settings.engine {
        FioEngine::Uring => true,
        FioEngine::Libaio if settings.direct => {
            let why = "fslab has io_uring in the place of libaio, with the same depth";
            findings.note(job.note("ioengine", why));
            true
        }
        FioEngine::Libaio => {
            let why = "without direct=1 libaio completes each operation when it is submitted: \
                       fslab has pread(2) and pwrite(2)";
            findings.note(job.note("ioengine", why));
            false
        }
        FioEngine::PosixAio => {
            if settings.depth > 1 {
                let cause = "fslab has no POSIX AIO with a queue";
                findings.refuse(job.problem("ioengine", cause).hint("use ioengine=io_uring"));
            }
            findings.note(job.note("ioengine", "fslab has pread(2) and pwrite(2)"));
            false
        }
        FioEngine::Mmap => {
            if settings.direct || settings.open_sync.is_some() {
                let cause = "a mapping has neither O_DIRECT nor O_SYNC";
                findings.refuse(job.problem("ioengine", cause));
            }
            parameters.insert("engine".into(), json!("mmap"));
            false
        }
        FioEngine::Moving => {
            parameters.insert("positioned".into(), json!(false));
            false
        }
        FioEngine::Positioned | FioEngine::Names(_) => false,
    };
    if !uses_uring {
        if settings.depth > 1 && job.has("iodepth") && settings.engine != FioEngine::Libaio {
            findings.note(job.note("iodepth", "the engine has one operation at a time"));
        }
        return false;
    }
    if settings.think_ns > 0 {
        let cause = "fslab pauses only with engines without a queue";
        findings.refuse(job.problem("thinktime", cause));
    }
    if settings.polls && !settings.direct {
        findings.refuse(job.problem("hipri", "polling needs direct=1"));
    }
    let mut uring = json!({
        "queue_depth": settings.depth,
        "batch": settings.batch.min(settings.depth),
        "registered_buffers": settings.registered_buffers,
        "registered_file": settings.registered_file,
        "completion_poll": settings.polls,
    });
    if settings.submission_poll {
        uring["submission_poll_ms"] = json!(1_000);
    }
    parameters.insert("engine".into(), json!("uring"));
    parameters.insert("uring".into(), uring);
    true
}
