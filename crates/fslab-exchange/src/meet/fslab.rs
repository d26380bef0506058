//! fslab itself: what its workloads do, by their parameters.
//!
//! The jobs on data have `direction` and `access`, those on files `operation`; a workload without
//! them, such as a program, has no common word.

use fslab_model::{Bytes, CachePolicy, Parameters, PhaseSpec, Plan};
use fslab_workload::Workload;
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::{Condition, Conditions, WHOLE_FILE};
use super::phase_content::{PhaseContent, number};
use super::sharing::{self, Sharing};

pub(super) fn content(plan: &Plan, spec: &PhaseSpec) -> PhaseContent {
    let parameters = &complete(spec);
    let mut content = PhaseContent::of(activity(parameters));
    let Some(activity) = content.activity else {
        return content;
    };
    let conditions = &mut content.conditions;
    let cache = match spec.cache {
        CachePolicy::Keep => "kept",
        CachePolicy::Cold => "dropped",
        CachePolicy::Warm => "warmed",
    };
    conditions.set(Condition::Cache, cache);
    let workers = workers(plan, parameters);
    conditions.set_count(Condition::Threads, Some(workers));
    let is_of_files = is_of_files(activity);
    if workers > 1 {
        let sharing = text(parameters, "sharing").unwrap_or("own");
        let words = match is_of_files {
            true => {
                let is_flat = number(parameters, "files_per_directory").unwrap_or(0) == 0;
                let is_own = has_own_trees(parameters) || sharing == "own" && !is_flat;
                Some(sharing::of_directories(is_own))
            }
            false => Sharing::named(sharing).map(Sharing::words),
        };
        conditions.set_known(Condition::Sharing, words.map(str::to_owned));
    }
    if plan.ranks > 1 && !writes_anew(activity) {
        let shift = number(parameters, "rank_shift").unwrap_or(0);
        conditions.set_count(Condition::RankShift, Some(shift));
    }
    match is_of_files {
        true => of_files(plan, parameters, conditions),
        false => {
            let engine = text(parameters, "engine").unwrap_or(&plan.engine);
            of_data(parameters, activity, engine, conditions);
        }
    }
    content
}

/// The parameters of a phase with the defaults of its workload. A run of a newer fslab may have
/// workloads that are unknown here: of these they are as they are.
pub(crate) fn complete(spec: &PhaseSpec) -> Parameters {
    let workload = Workload::of_phase(spec).ok();
    let complete = workload.and_then(|it| it.job_parameters(&spec.parameters).ok());
    complete.unwrap_or_else(|| spec.parameters.clone())
}

/// The amount of a job on data, where it is not each record of the file once.
pub(crate) fn data_amount(parameters: &Parameters) -> Option<String> {
    amount(parameters, false)
}

/// The calls by which a job on data makes durable what it writes.
pub(crate) fn data_sync(parameters: &Parameters) -> String {
    sync(parameters)
}

/// The threads of all ranks.
fn workers(plan: &Plan, parameters: &Parameters) -> u64 {
    let threads = number(parameters, "threads").unwrap_or(1);
    threads.saturating_mul(plan.ranks.into())
}

/// True if each worker has a separate tree. Sharing is about the directories of one tree.
fn has_own_trees(parameters: &Parameters) -> bool {
    flag(parameters, "base_per_worker")
}

/// True if it makes what it works on, so that there is nothing of another rank to shift to.
fn writes_anew(activity: Activity) -> bool {
    matches!(
        activity,
        Write | StreamWrite | PutChar | Create | CreateRandom | MakeDirectories
    )
}

/// What a job with these parameters does.
pub(crate) fn activity(parameters: &Parameters) -> Option<Activity> {
    if let Some(operation) = text(parameters, "operation") {
        return of_operation(operation, parameters);
    }
    if parameters.contains_key("update_every") {
        return Some(Seeks);
    }
    let access = word(parameters.get("access")?)?;
    let is_random = access.starts_with("random");
    match word(parameters.get("direction")?)? {
        "update" => Some(Update),
        "mix" if is_random => Some(RandomMix),
        "mix" if access == "sequential" => Some(Mix),
        direction @ ("read" | "write") => {
            let reads = direction == "read";
            if flag(parameters, "by_character") {
                return Some(if reads { GetChar } else { PutChar });
            }
            let is_stream = text(parameters, "engine") == Some("stdio");
            let is_over = text(parameters, "open") == Some("existing");
            match (access, reads) {
                ("sequential", true) if is_stream => Some(StreamRead),
                ("sequential", false) if is_stream && is_over => Some(StreamRewrite),
                ("sequential", false) if is_stream => Some(StreamWrite),
                ("sequential", true) => Some(Read),
                ("sequential", false) if is_over => Some(Rewrite),
                ("sequential", false) => Some(Write),
                ("reverse", true) => Some(BackwardRead),
                ("strided", true) => Some(StridedRead),
                ("first-record", false) => Some(RecordRewrite),
                (_, true) if is_random => Some(RandomRead),
                (_, false) if is_random => Some(RandomWrite),
                _ => None,
            }
        }
        _ => None,
    }
}

fn of_operation(operation: &str, parameters: &Parameters) -> Option<Activity> {
    let is_random = text(parameters, "order") == Some("random");
    let has_random_names = text(parameters, "name_style") == Some("random-number");
    Some(match operation {
        "create" if has_random_names => CreateRandom,
        "create" => Create,
        "stat" if is_random => StatRandom,
        "stat" => Stat,
        "open" => OpenFiles,
        "read" => ReadFiles,
        "rename" => Rename,
        "unlink" if is_random => UnlinkRandom,
        "unlink" => Unlink,
        "mkdir" => MakeDirectories,
        "rmdir" => RemoveDirectories,
        _ => return None,
    })
}

/// True if it works on names and small files.
fn is_of_files(activity: Activity) -> bool {
    activity >= Create
}

fn of_files(plan: &Plan, parameters: &Parameters, conditions: &mut Conditions) {
    // Numbers are those of a rank; each tree of a worker has as many.
    let trees = match has_own_trees(parameters) {
        true => workers(plan, parameters),
        false => plan.ranks.into(),
    };
    let files = number(parameters, "files").and_then(|files| files.checked_mul(trees));
    conditions.set_count(Condition::Files, files);
    let each = parameters.get("file_size");
    let each = each.and_then(|it| it.as_u64().or_else(|| it.get("fixed")?.as_u64()));
    conditions.set_bytes(Condition::FilesEach, each);
    let of_sync = |name: &str| {
        let sync = parameters.get("sync")?;
        sync.get(name)?.as_bool()
    };
    let syncs_each =
        of_sync("fsync_file") == Some(true) || of_sync("fsync_directory") == Some(true);
    let closes = flag(parameters, "closing_syncfs") || of_sync("closing_syncfs") == Some(true);
    let sync = match (syncs_each, closes) {
        (true, _) => "fsync of each",
        (false, true) => "syncfs",
        (false, false) => "none",
    };
    if parameters.contains_key("closing_syncfs") || parameters.contains_key("sync") {
        conditions.set(Condition::Sync, sync);
    }
}

fn of_data(parameters: &Parameters, activity: Activity, engine: &str, conditions: &mut Conditions) {
    let file_size = number(parameters, "file_size");
    let record = number(parameters, "record");
    conditions.set_bytes(Condition::FileSize, file_size);
    conditions.set_bytes(Condition::RecordSize, record);
    let is_of_operations = activity == Seeks;
    let amount = amount(parameters, is_of_operations);
    conditions.set(
        Condition::Amount,
        amount.unwrap_or_else(|| WHOLE_FILE.to_owned()),
    );
    conditions.set(
        Condition::Direct,
        if flag(parameters, "direct") {
            "yes"
        } else {
            "no"
        },
    );
    conditions.set(Condition::Engine, engine);
    let depth = parameters.get("uring").and_then(|it| it.get("queue_depth"));
    let depth = depth.and_then(Value::as_u64).filter(|_| engine == "uring");
    // Other engines have one request in flight.
    conditions.set_count(Condition::QueueDepth, depth.or(Some(1)));
    let mix = parameters.get("direction").and_then(|it| it.get("mix"));
    let reads = mix.and_then(|it| it.get("read_percent")?.as_u64());
    conditions.set_known(
        Condition::ReadShare,
        reads.map(|reads| format!("{reads} %")),
    );
    let stride = number(parameters, "stride").or_else(|| {
        let strided = parameters.get("access")?.get("strided")?;
        strided.get("stride_records")?.as_u64()
    });
    conditions.set_count(
        Condition::Stride,
        stride.filter(|_| activity == StridedRead),
    );
    let writes = ![
        Read,
        BackwardRead,
        StridedRead,
        RandomRead,
        GetChar,
        StreamRead,
        Seeks,
    ]
    .contains(&activity);
    if writes {
        conditions.set(Condition::Sync, sync(parameters));
    }
    let access = parameters.get("access").and_then(word);
    let skewed = access.filter(|it| matches!(*it, "zipf" | "hot-cold"));
    if let Some(skewed) = skewed {
        conditions.set(Condition::Distribution, skewed);
    }
}

/// The amount, where it is not each record of the file once: bytes, or operations where these are
/// not the records' number.
fn amount(parameters: &Parameters, is_of_operations: bool) -> Option<String> {
    let of_records = |count: u64| {
        let record = number(parameters, "record").filter(|_| !is_of_operations);
        let bytes = record.and_then(|record| record.checked_mul(count));
        match bytes {
            Some(bytes) if Some(bytes) == number(parameters, "file_size") => None,
            Some(bytes) => Some(Bytes(bytes).to_string()),
            None => Some(format!("{count} operations")),
        }
    };
    if let Some(operations) = number(parameters, "operations").filter(|count| *count > 0) {
        return of_records(operations);
    }
    let (name, value) = parameters.get("amount")?.as_object()?.iter().next()?;
    match (name.as_str(), value.as_u64()) {
        ("operations" | "total-operations", Some(count)) => of_records(count),
        ("bytes", Some(bytes)) => Some(Bytes(bytes).to_string()),
        _ => Some(format!(
            "{name} {}",
            value.as_str().unwrap_or(&value.to_string())
        )),
    }
}

/// The calls that make what is written durable.
fn sync(parameters: &Parameters) -> String {
    let opened = match text(parameters, "open_sync") {
        Some("data") => return "O_DSYNC".to_owned(),
        Some("full") => return "O_SYNC".to_owned(),
        _ => "none",
    };
    let every = number(parameters, "sync_every").filter(|every| *every > 0);
    if let Some(every) = every {
        return format!("fsync every {every} writes");
    }
    let Some(sync) = parameters.get("sync") else {
        return opened.to_owned();
    };
    if let Some(closing) = sync.as_str() {
        return closing.to_owned();
    }
    let every = sync.get("every").and_then(|every| {
        let (count, call) = (every.get("operations")?, every.get("call")?.as_str()?);
        Some(format!("{call} every {count} writes"))
    });
    let closing = sync.get("closing").and_then(Value::as_str);
    every.unwrap_or_else(|| closing.unwrap_or(opened).to_owned())
}

/// `"read"`, or the name of a variant with values: `{"mix": ...}`.
fn word(value: &Value) -> Option<&str> {
    match value {
        Value::String(word) => Some(word),
        Value::Object(fields) => fields.keys().next().map(String::as_str),
        _ => None,
    }
}

fn text<'p>(parameters: &'p Parameters, name: &str) -> Option<&'p str> {
    parameters.get(name).and_then(Value::as_str)
}

fn flag(parameters: &Parameters, name: &str) -> bool {
    parameters.get(name).and_then(Value::as_bool) == Some(true)
}
