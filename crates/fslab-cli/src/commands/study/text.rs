//! A study as text, for `fslab study show`.

use std::fmt::Write;

use fslab_claims::Original;
use fslab_model::{Adaptive, CachePolicy, PhaseEntry, Scale, Study, Sweep, Values, Written};
use fslab_report::wording::{list, rounds};

use crate::terminal::paragraph::wrap;

/// Columns of a line.
const LINE_LENGTH: usize = 100;

/// The study with its original.
pub(crate) fn study_text(study: &Study, original: Option<&Original>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_head(&mut text, study);
    let _ = write_sweeps(&mut text, study);
    let _ = write_phases(&mut text, study);
    let _ = write_figures(&mut text, study);
    if let Some(original) = original {
        let _ = write_claims(&mut text, original);
    }
    text
}

fn write_head(text: &mut String, study: &Study) -> std::fmt::Result {
    writeln!(text, "{}: {}", study.name, study.title)?;
    if let Some(question) = &study.question {
        writeln!(text, "\n{}", question.text)?;
    }
    if !study.description.trim().is_empty() {
        writeln!(text)?;
        for line in wrapped(&study.description, 0) {
            writeln!(text, "{line}")?;
        }
    }
    writeln!(text)?;
    if !study.aliases.is_empty() {
        write_entry(text, "aliases", &study.aliases.join(", "))?;
    }
    let subjects = match study.subjects.as_slice() {
        [] => "as given on the command line".to_owned(),
        subjects => subjects.join(", "),
    };
    write_entry(text, "subjects", &subjects)?;
    write_entry(text, "size", &study.size)?;
    for (name, value) in [("memory", &study.memory), ("disk", &study.disk)] {
        if let Some(value) = value {
            write_entry(text, name, value)?;
        }
    }
    let limit = format!("{}, {} s a trial", repeats(study), study.trial_limit_s);
    write_entry(text, "repeats", &limit)?;
    if !study.rounds.is_one() {
        write_entry(text, "rounds", &rounds(study.rounds))?;
    }
    write_entry(text, "scale", &scale(study))?;
    for (name, value) in &study.required_facts {
        write_entry(text, "requires", &format!("{name} = {value}"))?;
    }
    Ok(())
}

/// `3`, or `3 to 20, until write and read are known to within 5%`.
fn repeats(study: &Study) -> String {
    let Some(most) = study.repeats_max else {
        return study.repeats.to_string();
    };
    let target = study.target.unwrap_or(Adaptive::TARGET);
    let key = match study.key.as_slice() {
        [] => "all phases".to_owned(),
        key => list(key),
    };
    format!(
        "{} to {most}, until {key} are known to within {target}",
        study.repeats
    )
}

/// A name and a value, which is wrapped.
fn write_entry(text: &mut String, name: &str, value: &str) -> std::fmt::Result {
    for (index, line) in wrapped(value, 10).into_iter().enumerate() {
        let name = if index == 0 { name } else { "" };
        writeln!(text, "{name:<10}{line}")?;
    }
    Ok(())
}

/// `text` in lines that leave `margin` columns free.
fn wrapped(text: &str, margin: usize) -> Vec<String> {
    wrap(text, LINE_LENGTH - margin)
}

fn scale(study: &Study) -> String {
    let rules = &study.scale;
    let mut smaller = rules.parameters.clone();
    if let Some(least) = rules.size_min {
        smaller.push(format!("the file system (not below {least})"));
    }
    if let Some(least) = rules.memory_min {
        smaller.push(format!("a guest's memory (not below {least})"));
    }
    let is_scaled = |values: &Values| matches!(values, Values::Range(range) if range.scaled);
    let mut dimensions = study
        .sweeps
        .values()
        .flat_map(|sweep| sweep.dimensions.values());
    if dimensions.any(is_scaled) {
        smaller.push("the end of sweeps".to_owned());
    }
    if smaller.is_empty() {
        return format!("{}; --scale changes nothing", rules.default);
    }
    let of = format!("{}; --scale reduces: ", rules.default);
    of + &smaller.join(", ")
}

fn write_sweeps(text: &mut String, study: &Study) -> std::fmt::Result {
    for (name, sweep) in &study.sweeps {
        writeln!(text, "\nsweep {name}")?;
        for (dimension, values) in &sweep.dimensions {
            writeln!(text, "  {dimension:<12}{}", values_text(values))?;
        }
        if let Some(condition) = &sweep.condition {
            writeln!(text, "  {:<12}{condition}", "where")?;
        }
        writeln!(
            text,
            "  {:<12}{}",
            "points",
            points(sweep, study.scale.default)
        )?;
    }
    Ok(())
}

fn points(sweep: &Sweep, default: Scale) -> String {
    let count = |scale: Scale| sweep.points(scale.ratio()).map(|points| points.len());
    match (count(Scale::FULL), count(default)) {
        (Ok(full), Ok(scaled)) if full != scaled => {
            format!("{full} at scale 1, {scaled} at {default}")
        }
        (Ok(full), _) => full.to_string(),
        (Err(error), _) => format!("none: {error}"),
    }
}

fn values_text(values: &Values) -> String {
    match values {
        Values::List(list) => list.iter().map(written).collect::<Vec<_>>().join(", "),
        Values::Range(range) => {
            let (from, to) = (written(&range.from), written(&range.to));
            let scaled = if range.scaled {
                "; ends earlier at a smaller scale"
            } else {
                ""
            };
            format!(
                "{from} to {to}, each {} times the previous one{scaled}",
                range.factor
            )
        }
    }
}

fn written(value: &Written) -> String {
    match value {
        Written::Count(count) => count.to_string(),
        Written::Size(size) => size.clone(),
    }
}

fn write_phases(text: &mut String, study: &Study) -> std::fmt::Result {
    writeln!(text, "\nphases")?;
    for phase in &study.phases {
        writeln!(
            text,
            "  {}: {}{}",
            phase.name,
            phase.workload,
            phase_settings(phase)
        )?;
        for (name, value) in &phase.parameters {
            writeln!(text, "    {name} = {value}")?;
        }
    }
    Ok(())
}

/// The settings of a phase beside its workload.
fn phase_settings(phase: &PhaseEntry) -> String {
    let mut settings = String::new();
    if let Some(sweep) = &phase.sweep {
        settings += &format!(", at each point of {sweep}");
    }
    settings += match phase.cache {
        CachePolicy::Keep => "",
        CachePolicy::Cold => ", cold",
        CachePolicy::Warm => ", warm",
    };
    if phase.settle {
        settings += ", then sync and unmount";
    }
    if let Some(group) = &phase.group {
        settings += &format!(", group {group}");
    }
    if !phase.enabled {
        settings += &format!("; off unless --set phase.{}.enabled=true", phase.name);
    }
    settings
}

fn write_figures(text: &mut String, study: &Study) -> std::fmt::Result {
    if study.figures.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nfigures")?;
    for figure in &study.figures {
        writeln!(text, "  {}: {}", figure.id, figure.title)?;
    }
    Ok(())
}

fn write_claims(text: &mut String, original: &Original) -> std::fmt::Result {
    let claims = &original.claims;
    writeln!(
        text,
        "\noriginal: {} published values, {} claims, {} of them required",
        original.published.values(),
        claims.claims.len(),
        claims.required()
    )?;
    for (name, stand_in) in &claims.stand_in {
        writeln!(text, "  {stand_in} stands in for {name}")?;
    }
    for claim in &claims.claims {
        let required = if claim.required { ", required" } else { "" };
        let kind = claim.holds.kind.as_str();
        let phases = claim.holds.kind.phases().join(", ");
        writeln!(text, "  {} ({kind}: {phases}{required})", claim.id)?;
        for line in wrapped(&claim.text, 4) {
            writeln!(text, "    {line}")?;
        }
    }
    Ok(())
}
