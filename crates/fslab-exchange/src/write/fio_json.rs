//! A run in the form of fio's JSON+: a job for each phase of each trial.
//!
//! Fields that fio's own scripts read are as fio writes them; in addition each job has an object
//! `fslab` with the subject and the repeat, for reading it back into the same trial.

use super::fio_sides::{DIRECTIONS, Side, sides};
use super::left_out::note;
use fslab_model::definitions::{CPU_SHARE, CPU_SYSTEM, CPU_USER};
use fslab_model::{
    CpuUse, Failure, MetricDefinition, Parameters, PhaseOutcome, PhaseRecord, RunRecord,
    TrialRecord, VenuePlan,
};
use serde_json::{Map, Value, json};

/// The error number for failures without one: EIO.
const UNKNOWN_ERROR: i32 = 5;

/// The run in the form of fio's JSON+, and a list of what that form cannot hold.
pub fn fio_json(run: &RunRecord) -> Result<(String, Vec<String>), Failure> {
    let (mut jobs, mut left_out) = (Vec::new(), Vec::<String>::new());
    for trial in &run.trials {
        let mut rest = trial.phases.as_slice();
        while let Some((first, others)) = rest.split_first() {
            let same = others
                .iter()
                .take_while(|other| is_same_job(first, other))
                .count();
            let (phases, after) = rest.split_at(same + 1);
            rest = after;
            match job(jobs.len(), trial, phases) {
                Ok(Some(job)) => jobs.push(job),
                Ok(None) => {}
                Err(reason) => note(&mut left_out, first, &reason),
            }
        }
    }
    if jobs.is_empty() {
        let needs = "fio's format needs phases with a duration and a number of operations";
        return Err(Failure::bad_input(needs));
    }
    let started_unix_s = run.trials.first().map_or(0, |trial| trial.started_unix_s);
    let document = json!({
        "fio version": version(run),
        "timestamp": started_unix_s,
        "timestamp_ms": started_unix_s.saturating_mul(1000),
        "global options": {},
        "jobs": jobs,
    });
    Ok((super::left_out::json_text(&document)? + "\n", left_out))
}

/// The measuring program: fio with its version if the run was imported from it.
fn version(run: &RunRecord) -> String {
    match &run.header.plan.venue {
        VenuePlan::Imported { tool } if tool.starts_with("fio ") => tool.replacen(' ', "-", 1),
        _ => format!("fslab-{}", run.header.fslab),
    }
}

/// True if two phases are directions of one fio job.
fn is_same_job(first: &PhaseRecord, other: &PhaseRecord) -> bool {
    let of = |phase: &PhaseRecord, name: &str| phase.parameters.get(name).cloned();
    first.workload == "fio"
        && other.workload == "fio"
        && of(first, "direction") != of(other, "direction")
        && of(first, "direction").is_some()
        && stem(first) == stem(other)
}

/// The name of a phase without its direction.
fn stem(phase: &PhaseRecord) -> &str {
    let direction = phase.parameters.get("direction").and_then(Value::as_str);
    let stem = direction.and_then(|direction| phase.name.strip_suffix(direction));
    let stem = stem.and_then(|stem| stem.strip_suffix('-'));
    stem.filter(|stem| !stem.is_empty()).unwrap_or(&phase.name)
}

/// The job of one phase, or of all directions of one; `None` if it was not run.
fn job(
    number: usize,
    trial: &TrialRecord,
    phases: &[PhaseRecord],
) -> Result<Option<Value>, String> {
    let Some(first) = phases.first() else {
        return Ok(None);
    };
    let (mut done, error) = match &first.outcome {
        PhaseOutcome::Skipped { .. } => return Ok(None),
        PhaseOutcome::Failed { failure } => (
            Vec::new(),
            failure
                .errno
                .filter(|errno| *errno != 0)
                .unwrap_or(UNKNOWN_ERROR),
        ),
        PhaseOutcome::Done => {
            let sides: Result<Vec<Vec<Side>>, String> = phases.iter().map(sides).collect();
            (sides?.into_iter().flatten().collect(), 0)
        }
    };
    let runtime_ms = done
        .iter()
        .map(Side::runtime_ns)
        .max()
        .unwrap_or(0)
        .div_ceil(1_000_000);
    let name = if phases.len() > 1 {
        stem(first)
    } else {
        &first.name
    };
    let mut job = Map::new();
    job.insert("jobname".into(), name.into());
    job.insert("groupid".into(), number.into());
    job.insert("error".into(), error.into());
    job.insert("elapsed".into(), runtime_ms.div_ceil(1000).into());
    job.insert("job options".into(), options(&first.parameters));
    job.insert(
        "fslab".into(),
        json!({"subject": trial.subject.to_string(), "repeat": trial.trial.repeat}),
    );
    for direction in DIRECTIONS {
        let place = done.iter().position(|side| side.direction == direction);
        let side = place.map_or_else(|| Side::idle(direction), |place| done.swap_remove(place));
        job.insert(direction.into(), side.value());
    }
    job.insert("job_runtime".into(), runtime_ms.into());
    processor(&mut job, first, runtime_ms);
    Ok(Some(job.into()))
}

/// The parameters as fio's options, which are texts.
fn options(parameters: &Parameters) -> Value {
    let option = |(name, value): (&String, &Value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), Value::String(text))
    };
    let known = parameters
        .iter()
        .filter(|(name, _)| !["jobname", "direction"].contains(&&***name));
    known.map(option).collect::<Map<_, _>>().into()
}

/// The processor's share in percent of the job's time; nothing if not measured.
fn processor(job: &mut Map<String, Value>, phase: &PhaseRecord, runtime_ms: u64) {
    let figure = |metric: &MetricDefinition| phase.figures.get(metric.name).copied();
    let times = match phase.cpu {
        Some(cpu) => Some((cpu.user_ns as f64, cpu.system_ns as f64)),
        None => figure(&CPU_USER).zip(figure(&CPU_SYSTEM)),
    };
    let percent = |ns: f64| 100.0 * ns / (runtime_ms.max(1) as f64 * 1e6);
    let shares = match (times, figure(&CPU_SHARE)) {
        (Some((user, system)), _) => Some((percent(user), percent(system))),
        // User and system time are not known separately; only the sum is meaningful.
        (None, Some(share)) => Some((0.0, 100.0 * share)),
        (None, None) => None,
    };
    if let Some((user, system)) = shares {
        job.insert("usr_cpu".into(), user.into());
        job.insert("sys_cpu".into(), system.into());
    }
    let switches = |cpu: CpuUse| Some(cpu.voluntary_switches? + cpu.involuntary_switches?);
    if let Some(switches) = phase.cpu.and_then(switches) {
        job.insert("ctx".into(), switches.into());
    }
}
