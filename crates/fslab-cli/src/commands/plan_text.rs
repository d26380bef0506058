//! A plan for people to read: what `--dry-run` prints.

use std::fmt::Write;

use fslab_model::{CachePolicy, Plan, VenuePlan};

/// The plan, every value spelled out.
pub(crate) fn plan_text(plan: &Plan) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_plan(&mut text, plan);
    text
}

fn write_plan(text: &mut String, plan: &Plan) -> std::fmt::Result {
    writeln!(text, "study    {} ({})", plan.study, plan.title)?;
    writeln!(text, "venue    {}", venue(&plan.venue))?;
    writeln!(text, "size     {}", plan.size_bytes)?;
    writeln!(text, "cold     {}", plan.cold.as_str())?;
    writeln!(text, "engine   {}", plan.engine)?;
    writeln!(text, "repeats  {}", plan.repeats)?;
    writeln!(text, "limit    {} s a trial", plan.trial_limit_s)?;
    writeln!(text, "seed     {}", plan.seed)?;
    writeln!(text, "hash     {}", plan.hash().short())?;
    writeln!(text, "trials   {}", plan.trials().len())?;
    writeln!(text, "\nsubjects")?;
    for subject in &plan.subjects {
        writeln!(text, "  {}", subject.subject)?;
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
    writeln!(text, "\nphases")?;
    for phase in &plan.phases {
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
        writeln!(text, "  {}: {}{cache}{settle}", phase.name, phase.workload)?;
        for (name, value) in &phase.parameters {
            writeln!(text, "    {name} = {value}")?;
        }
    }
    Ok(())
}

fn venue(venue: &VenuePlan) -> String {
    let place = match venue {
        VenuePlan::Dir { dir } => format!(" below {}", dir.display()),
        VenuePlan::Loop { folder } => format!(", images in {}", folder.display()),
        VenuePlan::Block { device } => format!(", DESTROYING {}", device.display()),
        VenuePlan::Guest {
            folder,
            kernel,
            memory_bytes,
        } => format!(
            ", kernel {kernel} with {memory_bytes} of memory, images in {}",
            folder.display()
        ),
        VenuePlan::Sim {
            folder,
            kernel,
            memory_bytes,
            disk,
        } => format!(
            ", disk {}, kernel {kernel} with {memory_bytes} of memory, images in {}",
            disk.profile,
            folder.display()
        ),
        VenuePlan::Fake => String::new(),
        VenuePlan::Imported { tool } => format!(", from {tool}"),
    };
    format!("{}{place}", venue.kind().as_str())
}
