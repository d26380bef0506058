//! A plan as text, for `--dry-run`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use fslab_model::{CachePolicy, PhaseSpec, Plan, Rounds, VenuePlan};
use fslab_run::StudySource;

use crate::terminal::screen;

/// The plan with every value: first in what it differs from the study's original.
pub(crate) fn plan_text(plan: &Plan, differences: &[String], time: Option<&str>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_differences(&mut text, differences);
    let _ = write_plan(&mut text, plan, time);
    text
}

/// What of a job file is left out or expressed otherwise, one line each.
pub(crate) fn notes(source: &StudySource) -> String {
    let StudySource::JobFile { notes, .. } = source else {
        return String::new();
    };
    notes
        .iter()
        .map(|note| format!("note     {note}\n"))
        .collect()
}

/// The number of these, as text; `None` if there are none.
pub(crate) fn count_of_notes(source: &StudySource) -> Option<String> {
    match source {
        StudySource::JobFile { notes, .. } if !notes.is_empty() => {
            Some(screen::counted(notes.len(), "option"))
        }
        _ => None,
    }
}

/// The time of a run whose trials take `expected` together.
pub(crate) fn time(plan: &Plan, expected: Duration, jobs: usize) -> String {
    let minutes = expected.as_secs().div_ceil(60);
    let about = match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes:02} min"),
    };
    let trials = screen::counted(plan.trials().len(), "trial");
    format!("about {about} for {trials}, {jobs} at a time")
}

fn write_differences(text: &mut String, differences: &[String]) -> std::fmt::Result {
    for (index, difference) in differences.iter().enumerate() {
        let name = if index == 0 { "differs" } else { "" };
        writeln!(text, "{name:<9}{difference}")?;
    }
    Ok(())
}

fn write_plan(text: &mut String, plan: &Plan, time: Option<&str>) -> std::fmt::Result {
    writeln!(text, "study    {} ({})", plan.study, plan.title)?;
    writeln!(text, "venue    {}", venue(plan))?;
    for lab in plan.labs().iter().filter(|lab| !lab.digest.is_empty()) {
        writeln!(text, "lab      {}", lab.digest)?;
    }
    for layer in plan.venue.layers() {
        writeln!(text, "layer    {layer}")?;
    }
    writeln!(text, "size     {}", plan.size_bytes)?;
    writeln!(text, "cold     {}", plan.cold.as_str())?;
    writeln!(text, "engine   {}", plan.engine)?;
    writeln!(text, "repeats  {}", repeats(plan))?;
    if !plan.rounds.is_one() {
        writeln!(text, "rounds   {}", rounds(plan.rounds))?;
    }
    writeln!(text, "limit    {} s a trial", plan.trial_limit_s)?;
    writeln!(text, "seed     {}", plan.seed)?;
    writeln!(text, "hash     {}", plan.hash().short())?;
    writeln!(text, "trials   {}", trials(plan))?;
    if let Some(time) = time {
        writeln!(text, "time     {time}")?;
    }
    writeln!(text, "\nsubjects")?;
    for subject in &plan.subjects {
        writeln!(text, "  {}", subject.subject)?;
        if let Some(lab) = &subject.lab {
            writeln!(text, "    kernel {}, lab {}", lab.kernel, lab.digest)?;
        }
        for command in &subject.stack {
            writeln!(text, "    layer  {}", command.join(" "))?;
        }
        let commands = [
            ("mkfs", &subject.mkfs),
            ("mount", &subject.mount),
            ("check", &subject.check),
        ];
        for (name, command) in commands {
            if let Some(command) = command {
                writeln!(text, "    {name:<6} {}", command.join(" "))?;
            }
        }
    }
    write_phases(text, &plan.phases)
}

/// Each phase with its parameters. Of the points of one sweep the first has all of them, and the
/// others have those that differ from it.
fn write_phases(text: &mut String, phases: &[PhaseSpec]) -> std::fmt::Result {
    writeln!(text, "\nphases")?;
    let mut firsts: BTreeMap<&str, &PhaseSpec> = BTreeMap::new();
    for phase in phases {
        let cache = match phase.cache {
            CachePolicy::Keep => "",
            CachePolicy::Cold => ", cold",
            CachePolicy::Warm => ", warm",
        };
        let settle = if phase.settle {
            ", then sync and unmount"
        } else {
            ""
        };
        let first = *firsts.entry(phase.study_phase()).or_insert(phase);
        let is_first = std::ptr::eq(first, phase);
        let like = if is_first {
            String::new()
        } else {
            format!(", otherwise as {}", first.name)
        };
        let workload = &phase.workload;
        writeln!(text, "  {}: {workload}{cache}{settle}{like}", phase.name)?;
        for (name, value) in &phase.parameters {
            if is_first || first.parameters.get(name) != Some(value) {
                writeln!(text, "    {name} = {value}")?;
            }
        }
    }
    Ok(())
}

fn repeats(plan: &Plan) -> String {
    let perturbed = if plan.perturb {
        ", each but the first in a perturbed state of the machine"
    } else {
        ""
    };
    match &plan.adaptive {
        None if plan.venue.kind().is_virtual() && plan.repeats == 1 => {
            "1, not perturbed: the exact point, whose sensitivity is not known".to_owned()
        }
        None => format!("{}{perturbed}", plan.repeats),
        Some(adaptive) => {
            let key = match adaptive.key.as_slice() {
                [] => "every phase".to_owned(),
                key => key.join(", "),
            };
            let decided = match adaptive.until_decided {
                true => "decided or ",
                false => "",
            };
            let budget = adaptive.budget_s.map(|budget_s| {
                format!(
                    "; at most {} in all",
                    crate::terminal::heartbeat::minutes(Duration::from_secs(u64::from(budget_s)))
                )
            });
            format!(
                "{} to {}, until {key} is {decided}known to within {}{perturbed}{}",
                plan.repeats,
                adaptive.repeats_max,
                adaptive.target,
                budget.unwrap_or_default()
            )
        }
    }
}

fn rounds(rounds: Rounds) -> String {
    format!(
        "{} in each repeat, of {} each",
        screen::counted(rounds.mounts as usize, "mount"),
        screen::counted(rounds.iterations as usize, "iteration")
    )
}

fn trials(plan: &Plan) -> String {
    let least = plan.trials().len();
    match &plan.adaptive {
        None => least.to_string(),
        Some(adaptive) => {
            let most = plan.subjects.len() * adaptive.repeats_max as usize;
            format!("{least} to {most}")
        }
    }
}

fn dirty_limit(plan: &Plan) -> String {
    let limit = plan.dirty_limit_bytes;
    limit.map_or_else(String::new, |limit| {
        format!(" (at most {limit} to be written)")
    })
}

fn venue(plan: &Plan) -> String {
    let kernels = || {
        let kernels: Vec<_> = plan.labs().into_iter().map(|lab| lab.kernel).collect();
        kernels.join(", ")
    };
    let place = match &plan.venue {
        VenuePlan::Dir { dir } => format!(" below {dir}"),
        VenuePlan::Loop { folder } => format!(", images in {}", folder.display()),
        VenuePlan::Block { .. } => format!(", DESTROYING {}", plan.venue.block_devices()),
        VenuePlan::Guest {
            folder,
            memory_bytes,
            ..
        } => format!(
            ", kernel {} with {memory_bytes} of memory{}, images in {}",
            kernels(),
            dirty_limit(plan),
            folder.display()
        ),
        VenuePlan::Sim {
            folder,
            memory_bytes,
            disk,
            machine,
            ..
        } => format!(
            ", {}disk {}, kernel {} with {memory_bytes} of memory{}, images in {}",
            machine
                .as_ref()
                .map_or_else(String::new, |it| format!("machine {it}, ")),
            disk.profile,
            kernels(),
            dirty_limit(plan),
            folder.display()
        ),
        VenuePlan::Fake => String::new(),
        VenuePlan::Imported { tool } => format!(", from {tool}"),
    };
    format!("{}{place}", plan.venue.kind().as_str())
}

#[cfg(test)]
mod tests {
    use fslab_model::{Parameters, Swept};
    use serde_json::json;

    use super::*;

    fn point(name: &str, record: u64) -> PhaseSpec {
        let mut parameters = Parameters::new();
        parameters.insert("direct".to_owned(), json!(false));
        parameters.insert("record".to_owned(), json!(record));
        let mut phase = PhaseSpec::new(name, "io", parameters);
        phase.swept = Some(Swept {
            phase: "write".to_owned(),
            point: BTreeMap::new(),
        });
        phase
    }

    #[test]
    fn a_further_point_of_a_sweep_has_what_differs() {
        let mut text = String::new();
        let phases = [point("write 4KiB", 4096), point("write 8KiB", 8192)];
        write_phases(&mut text, &phases).expect("a text");
        let wanted = "\nphases\n  write 4KiB: io\n    direct = false\n    record = 4096\n  \
                      write 8KiB: io, otherwise as write 4KiB\n    record = 8192\n";
        assert_eq!(text, wanted);
    }
}
