//! A phase as IOR would run it: what each task writes or reads, and with which options; or why IOR
//! cannot.

use fslab_model::{Parameters, PhaseRecord, PhaseSpec, Plan};
use serde_json::Value;

use crate::Format;
use crate::meet::{Activity, complete, data_amount, data_sync};
use crate::read::ior_options::{FILE_EACH, ONE_FILE};

/// A phase in IOR's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) is_write: bool,
    pub(super) api: String,
    pub(super) transfer: u64,
    pub(super) block: u64,
    pub(super) segments: u64,
    pub(super) tasks: u64,
    pub(super) is_file_each: bool,
    /// 1: each record once; 2: any record again.
    pub(super) random: u64,
    pub(super) is_over_existing: bool,
    /// `None` if it is not known.
    pub(super) fsync: Option<bool>,
    pub(super) is_synced_per_write: bool,
    pub(super) task_offset: u64,
    pub(super) stonewall_s: u64,
    pub(super) is_worn_out: bool,
}

/// Settings for which IOR has no option, with the value at which they do nothing.
const WITHOUT_OPTION: [(&str, &str); 3] = [
    ("offset", "it begins after the start of the file"),
    ("ramp_up_ns", "it has a load before the measurement"),
    ("segment", "its file is divided into segments"),
];

impl Shape {
    /// The shape of a phase of `plan`; or why there is none.
    pub(super) fn of(plan: &Plan, phase: &PhaseRecord) -> Result<Self, String> {
        match Format::of_workload(&phase.workload) {
            Some(Format::Ior) => return of_ior(&phase.parameters),
            Some(other) => return Err(format!("it was measured by {}", other.name())),
            None => {}
        }
        let spec = PhaseSpec::new(&phase.name, &phase.workload, phase.parameters.clone());
        let parameters = complete(&spec);
        of_fslab(plan, &parameters)
    }

    /// The shape of a phase that IO500 has run, whose direction is in its name.
    pub(super) fn of_io500(phase: &PhaseRecord) -> Result<Self, String> {
        let mut parameters = phase.parameters.clone();
        let direction = match phase.name.ends_with("-write") {
            true => "write",
            false => "read",
        };
        parameters.insert("direction".to_owned(), direction.into());
        of_ior(&parameters)
    }

    pub(super) fn access(&self) -> &'static str {
        if self.is_write { "write" } else { "read" }
    }

    /// `aggregate filesize`.
    pub(super) fn bytes(&self) -> u64 {
        let of_task = self.block.saturating_mul(self.segments);
        of_task.saturating_mul(self.tasks)
    }

    pub(super) fn file_access(&self) -> &'static str {
        if self.is_file_each {
            FILE_EACH
        } else {
            ONE_FILE
        }
    }
}

fn of_fslab(plan: &Plan, parameters: &Parameters) -> Result<Shape, String> {
    let number = |name: &str| parameters.get(name).and_then(Value::as_u64);
    let text = |name: &str| parameters.get(name).and_then(Value::as_str);
    let activity = crate::meet::activity(parameters);
    let (is_write, is_random) = match activity {
        Some(Activity::Write | Activity::Rewrite) => (true, false),
        Some(Activity::RandomWrite) => (true, true),
        Some(Activity::Read) => (false, false),
        Some(Activity::RandomRead) => (false, true),
        Some(other) => return Err(format!("IOR has no {}", other.title())),
        None => return Err("IOR only writes or reads the data of files".into()),
    };
    ensure_plain(parameters)?;
    let random = match text("access") {
        _ if !is_random => 0,
        Some("random-once") => 1,
        Some("random-uniform") => 2,
        _ => return Err("IOR has no such order of random access".to_owned()),
    };
    let engine = text("engine").unwrap_or(&plan.engine);
    let api = match engine {
        "psync" => "POSIX",
        "mmap" => "MMAP",
        other => return Err(format!("IOR has no engine like {other}")),
    };
    let (fsync, is_synced_per_write) = match is_write {
        true => syncs(parameters)?,
        false => (false, false),
    };
    let known = |name: &str| number(name).ok_or_else(|| format!("its {name} is not known"));
    let (transfer, file) = (known("record")?, known("file_size")?);
    let threads = number("threads").unwrap_or(1).max(1);
    let tasks = threads.saturating_mul(plan.ranks.into());
    let sharing = text("sharing").unwrap_or("own");
    let is_file_each = sharing == "own" && tasks > 1;
    // The threads of one rank share what is its part.
    let of_task = if sharing == "own" {
        file
    } else {
        file / threads
    };
    if transfer == 0 || !of_task.is_multiple_of(transfer) {
        return Err("its size is not a multiple of its record".to_owned());
    }
    let (block, segments) = match sharing {
        "interleaved" => (transfer, of_task / transfer),
        _ => (of_task, 1),
    };
    Ok(Shape {
        is_write,
        api: api.to_owned(),
        transfer,
        block,
        segments,
        tasks,
        is_file_each,
        random,
        is_over_existing: activity == Some(Activity::Rewrite),
        fsync: Some(fsync),
        is_synced_per_write,
        task_offset: number("rank_shift").unwrap_or(0),
        stonewall_s: stonewall_s(parameters)?,
        is_worn_out: number("stonewall_ns").is_some(),
    })
}

/// Checks that it has no setting for which IOR has no option.
fn ensure_plain(parameters: &Parameters) -> Result<(), String> {
    let number = |name: &str| parameters.get(name).and_then(Value::as_u64);
    let text = |name: &str| parameters.get(name).and_then(Value::as_str);
    for (name, reason) in WITHOUT_OPTION {
        if number(name).is_some_and(|value| value > 0) {
            return Err(reason.to_owned());
        }
    }
    if text("pace").is_some_and(|pace| pace != "as-fast-as-possible")
        || parameters.get("pace").is_some_and(Value::is_object)
    {
        return Err("its operations are paced".to_owned());
    }
    Ok(())
}

/// Whether it syncs at its end, and after each write.
fn syncs(parameters: &Parameters) -> Result<(bool, bool), String> {
    match data_sync(parameters).as_str() {
        "none" => Ok((false, false)),
        "fsync" => Ok((true, false)),
        "fsync every 1 writes" => Ok((false, true)),
        other => Err(format!("IOR does not sync by {other}")),
    }
}

/// The seconds after which it stops; 0 if it accesses each record once.
fn stonewall_s(parameters: &Parameters) -> Result<u64, String> {
    if let Some(ns) = parameters.get("stonewall_ns").and_then(Value::as_u64) {
        let seconds = ns / 1_000_000_000;
        let is_full = seconds > 0 && ns.is_multiple_of(1_000_000_000);
        return match is_full {
            true => Ok(seconds),
            false => Err("its stonewall is not a full number of seconds, as IOR needs".to_owned()),
        };
    }
    let Some(amount) = data_amount(parameters) else {
        return Ok(0);
    };
    let seconds = amount
        .strip_prefix("time ")
        .and_then(|time| time.strip_suffix('s'));
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    seconds.filter(|seconds| *seconds > 0).ok_or_else(|| {
        format!(
            "IOR accesses each record once, or for a time in seconds, but this phase is of {amount}"
        )
    })
}

/// A phase that IOR has run.
fn of_ior(parameters: &Parameters) -> Result<Shape, String> {
    let number = |name: &str| parameters.get(name).and_then(Value::as_u64);
    let text = |name: &str| parameters.get(name).and_then(Value::as_str);
    let flag = |name: &str| parameters.get(name).and_then(Value::as_bool);
    let known = |name: &str| number(name).ok_or_else(|| format!("its {name} is not known"));
    let is_write = match text("direction") {
        Some("write") => true,
        Some("read") => false,
        _ => return Err("it neither writes nor reads".to_owned()),
    };
    Ok(Shape {
        is_write,
        api: text("api").unwrap_or("POSIX").to_owned(),
        transfer: known("transfer_size")?,
        block: known("block_size")?,
        segments: known("segments")?,
        tasks: known("tasks")?,
        is_file_each: text("access") == Some(FILE_EACH),
        random: u64::from(text("order") == Some("random")),
        is_over_existing: flag("existing_file") == Some(true),
        fsync: flag("fsync"),
        is_synced_per_write: flag("fsync_per_write") == Some(true),
        task_offset: number("task_offset").unwrap_or(0),
        stonewall_s: number("stonewall_s").unwrap_or(0),
        is_worn_out: flag("wear_out") == Some(true),
    })
}
