//! The conditions of a run: machine, plan, versions, facts.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    Bytes, ColdMethod, LabPlan, NetworkMount, Plan, RunRecord, START_STATE_FACT, VenueKind,
    VenuePlan,
};

use crate::wording::{self, NOTHING, command_line, count};
use fslab_compare::Analysis;

/// Named values under a title.
pub(super) struct Facts {
    pub(super) title: &'static str,
    /// Name, value, and whether the value is code.
    pub(super) entries: Vec<(String, String, bool)>,
}

pub(super) fn facts(analysis: &Analysis) -> Vec<Facts> {
    let mut facts = vec![run(analysis.run), plan(analysis.run), machine(analysis.run)];
    let versions = versions(analysis);
    if !versions.entries.is_empty() {
        facts.push(versions);
    }
    facts
}

fn words(name: &str, value: impl Into<String>) -> (String, String, bool) {
    (name.to_owned(), value.into(), false)
}

fn code(name: &str, value: impl Into<String>) -> (String, String, bool) {
    (name.to_owned(), value.into(), true)
}

fn run(run: &RunRecord) -> Facts {
    let header = &run.header;
    let mut entries = vec![
        code("name", header.run.to_string()),
        words(
            "began",
            format!("{} UTC", crate::tables::utc(header.started_unix_s)),
        ),
        words("fslab", header.fslab.clone()),
        code("command", command_line(&header.command)),
        code("plan hash", header.plan_hash.to_string()),
    ];
    if header.plan.venue.kind() != VenueKind::Imported {
        entries.push(code("seed", header.plan.seed.to_string()));
    }
    Facts {
        title: "Run",
        entries,
    }
}

fn plan(run: &RunRecord) -> Facts {
    let plan = &run.header.plan;
    let venue = match &plan.venue {
        VenuePlan::Dir { dir } => match dir.as_slice() {
            [_] => format!("directory {dir}; nothing is formatted"),
            _ => format!("directories {dir}; nothing is formatted"),
        },
        VenuePlan::Loop { folder } => {
            format!(
                "image file in {} behind a loop device, direct I/O",
                folder.display()
            )
        }
        VenuePlan::Block { .. } => format!("block device {}", plan.venue.block_devices()),
        VenuePlan::Guest {
            folder,
            memory_bytes,
            ..
        } => format!(
            "{} with {memory_bytes} of memory, in real time; its disk is an image file in {}, \
             through the host's page cache",
            guest_kernels(plan),
            folder.display()
        ),
        VenuePlan::Sim {
            memory_bytes,
            disk,
            machine,
            ..
        } => format!(
            "simulated disk {} under {} with {memory_bytes} of memory, in virtual time{}",
            disk.profile,
            guest_kernels(plan),
            machine
                .as_ref()
                .map_or_else(String::new, |it| format!("; machine {it}"))
        ),
        VenuePlan::Fake => "fake: no device and no clock".to_owned(),
        VenuePlan::Imported { tool } => format!("imported: what {tool} wrote"),
    };
    let mut entries = vec![
        words("study", format!("{}: {}", plan.study, plan.title)),
        words("venue", venue),
    ];
    entries.extend(labs(plan));
    entries.extend(network_mounts(plan));
    let layers = plan.venue.layers().iter().map(ToString::to_string);
    let layers: Vec<_> = layers.collect();
    if !layers.is_empty() {
        entries.push(words("layers over the guest's root", layers.join(", ")));
    }
    // An imported run has no other plan.
    if plan.venue.kind() != VenueKind::Imported {
        entries.extend([
            words("size", plan.size_bytes.to_string()),
            words("cold", cold(plan)),
            words("engine", plan.engine.clone()),
            words("repeats", repeats(plan)),
            words("time limit", format!("{} s a trial", plan.trial_limit_s)),
        ]);
        if !plan.rounds.is_one() {
            entries.push(words("rounds", wording::rounds(plan.rounds)));
        }
    }
    Facts {
        title: "Plan",
        entries,
    }
}

/// How caches are dropped; on a network mount, where they stay.
fn cold(plan: &Plan) -> String {
    let method = match plan.cold {
        ColdMethod::Remount => "remount: sync, unmount, mount again, drop caches",
        ColdMethod::Drop => "drop: sync and drop caches on the mounted file system",
        ColdMethod::Evict => "evict: fsync and drop the phase's own files, verified",
    };
    let mounts = plan
        .subjects
        .iter()
        .filter_map(|it| it.network_mount.as_ref());
    let limits: BTreeSet<&str> = mounts.map(NetworkMount::cold_limit).collect();
    let limits = limits.iter().map(|limit| format!("; {limit}"));
    limits.fold(method.to_owned(), |text, limit| text + &limit)
}

/// The network mount of each subject that is one.
fn network_mounts(plan: &Plan) -> Vec<(String, String, bool)> {
    let is_only = plan.subjects.len() == 1;
    let mut entries = Vec::new();
    for planned in &plan.subjects {
        let Some(mount) = &planned.network_mount else {
            continue;
        };
        let name = |what: &str| match is_only {
            true => what.to_owned(),
            false => format!("{what} ({})", planned.subject),
        };
        entries.push(words(&name("network mount"), mount.to_string()));
        entries.push(code(&name("its options"), mount.options.join(",")));
    }
    entries
}

/// "guest kernel 6.12@key", or each of several.
fn guest_kernels(plan: &Plan) -> String {
    let kernels: Vec<_> = plan.labs().into_iter().map(|lab| lab.kernel).collect();
    let noun = match kernels.len() {
        1 => "guest kernel",
        _ => "guest kernels",
    };
    format!("{noun} {}", kernels.join(", "))
}

/// The lab of the guests; if there are several, each with its kernel and its subjects.
fn labs(plan: &Plan) -> Vec<(String, String, bool)> {
    let labs = plan.labs();
    let is_only = labs.len() == 1;
    let named = labs.iter().filter(|lab| !lab.digest.is_empty());
    let entry = |lab: &LabPlan| {
        let digest = &lab.digest;
        if is_only {
            return words(
                "lab",
                format!("{digest}: the guest's kernel and root image"),
            );
        }
        let subjects = plan.subjects.iter();
        let its = subjects.filter(|it| plan.lab_of(it).as_ref() == Some(lab));
        let its: Vec<_> = its.map(|it| it.subject.to_string()).collect();
        let text = format!("{digest}: kernel {} and its root image", lab.kernel);
        words(&format!("lab ({})", its.join(", ")), text)
    };
    named.map(entry).collect()
}

fn repeats(plan: &Plan) -> String {
    let perturbed = match plan.perturb && (plan.repeats > 1 || plan.adaptive.is_some()) {
        true => ", each but the first in a perturbed state of the guest",
        false => "",
    };
    match &plan.adaptive {
        None => format!("{}{perturbed}, trials in random order", plan.repeats),
        Some(adaptive) => format!(
            "{} to {}, until a cell is known to within {}{perturbed}; trials in random order",
            plan.repeats, adaptive.repeats_max, adaptive.target
        ),
    }
}

fn machine(run: &RunRecord) -> Facts {
    let machine = &run.header.machine;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| NOTHING.to_owned());
    let number = |value: Option<String>| value.unwrap_or_else(|| NOTHING.to_owned());
    let processors = machine
        .cpu_count
        .map(|number| count(number as usize, "processor"));
    Facts {
        title: "Machine",
        entries: vec![
            words("host", known(&machine.host)),
            words("system", known(&machine.os)),
            words("kernel", known(&machine.kernel)),
            words("processor", known(&machine.cpu)),
            words("online", number(processors)),
            words(
                "memory",
                number(machine.memory_bytes.map(|b| Bytes(b).to_string())),
            ),
            words("architecture", known(&machine.architecture)),
            words("hypervisor", known(&machine.hypervisor)),
        ],
    }
}

/// Facts reported by trials: one entry if all agree, else one per value with its subjects.
fn versions(analysis: &Analysis) -> Facts {
    let mut found: BTreeMap<&str, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for trial in &analysis.run.trials {
        let is_read = |name: &str| !name.starts_with(START_STATE_FACT);
        for (name, value) in trial.facts.iter().filter(|(name, _)| is_read(name)) {
            let values = found.entry(name).or_default();
            let subjects = values.entry(value).or_default();
            subjects.insert(trial.subject.to_string());
        }
    }
    let subjects = analysis.subjects().len();
    let mut entries = Vec::new();
    for (name, values) in &found {
        for (value, holders) in values {
            if values.len() == 1 && holders.len() == subjects {
                entries.push(code(name, *value));
            } else {
                let holders: Vec<String> = holders.iter().cloned().collect();
                entries.push(code(&format!("{name} ({})", holders.join(", ")), *value));
            }
        }
    }
    Facts {
        title: "Facts from the trials",
        entries,
    }
}
