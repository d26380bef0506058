//! `fslab lab status`: lists labs, and what is missing to build or run one.

use std::time::Duration;

use fslab_lab::{BuildTool, Cache, Lab, LabList};
use fslab_model::Failure;
use fslab_report::{Column, Table, TableCell, Tone};
use schemars::JsonSchema;
use serde::Serialize;

use crate::exit::CommandError;
use crate::terminal::{screen, table};

/// The output of `fslab lab status --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LabStatuses<'a> {
    cache: String,
    labs: Vec<LabStatus<'a>>,
    /// Names of kernels without a root image, built by an earlier fslab.
    without_root: &'a [String],
    unreadable: Vec<String>,
    missing_to_build: Vec<BuildTool>,
    /// Why guests cannot run on this machine.
    obstacle: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LabStatus<'a> {
    #[serde(flatten)]
    lab: &'a Lab,
    stale: bool,
}

/// Prints the status as a table or as JSON.
pub(crate) fn print(cache: &Cache, json: bool) -> Result<(), CommandError> {
    let list = cache.labs().map_err(Failure::from)?;
    let status = LabStatuses {
        cache: cache.folder().display().to_string(),
        labs: list.labs.iter().map(lab_status).collect(),
        without_root: &list.without_root,
        unreadable: list
            .unreadable
            .iter()
            .map(|it| it.message.clone())
            .collect(),
        missing_to_build: fslab_lab::missing_tools(),
        obstacle: fslab_lab::runs_here().err(),
    };
    if json {
        return screen::print_json(&status);
    }
    if list.labs.is_empty() {
        let mut lines = vec![format!("no lab in {}", status.cache)];
        lines.extend(notes(&status));
        return screen::print(&(lines.join("\n") + "\n"));
    }
    screen::print_styled(&table::render(&table(&list, &status)))
}

/// A sentence about programs that were not installed when the root image was built.
pub(crate) fn missing_programs(lab: &Lab) -> Option<String> {
    let missing = &lab.root.missing;
    let mut packages: Vec<_> = missing.iter().map(|it| it.package.as_str()).collect();
    packages.dedup();
    let names: Vec<_> = missing
        .iter()
        .map(|it| format!("{} ({})", it.name, it.reason))
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "the root image of {} lacks {}; install them with apt-get install {}, then run fslab \
             lab build --new-root",
            lab.name,
            names.join(", "),
            packages.join(" ")
        )
    })
}

fn lab_status(lab: &Lab) -> LabStatus<'_> {
    LabStatus {
        lab,
        stale: lab.is_stale(),
    }
}

fn table(list: &LabList, status: &LabStatuses<'_>) -> Table {
    let now_unix_s = fslab_sys::unix_seconds();
    let columns = ["Name", "Lab", "Release", "Built", "Source", "State"];
    Table {
        caption: format!(
            "{} in {}",
            screen::counted(list.labs.len(), "lab"),
            status.cache
        ),
        columns: columns.map(Column::left).into(),
        rows: list.labs.iter().map(|lab| row(lab, now_unix_s)).collect(),
        notes: notes(status),
    }
}

fn row(lab: &Lab, now_unix_s: u64) -> Vec<TableCell> {
    let facts = &lab.kernel.facts;
    let built_unix_s = facts.built_unix_s.max(lab.root.built_unix_s);
    let age = Duration::from_secs(now_unix_s.saturating_sub(built_unix_s));
    let stale = |text: &str| TableCell {
        tone: Tone::Bad,
        ..TableCell::new(text)
    };
    let state = if lab.kernel.is_stale() {
        stale("stale: kernel configuration of another fslab version")
    } else if lab.root.is_stale() {
        stale("stale: program list of another fslab version")
    } else if !facts.config_ignored.is_empty() {
        TableCell::new(format!("without {}", facts.config_ignored.join(", ")))
    } else if !lab.root.missing.is_empty() {
        let missing = lab.root.missing.iter().map(|it| it.name.as_str());
        TableCell::new(format!(
            "without {}",
            missing.collect::<Vec<_>>().join(", ")
        ))
    } else {
        TableCell::new("current")
    };
    vec![
        TableCell::new(&lab.name),
        TableCell::new(lab.digest.as_str()),
        TableCell::new(&facts.release),
        TableCell::new(format!("{} ago", in_one_unit(age))),
        TableCell::new(&facts.source),
        state,
    ]
}

fn notes(status: &LabStatuses<'_>) -> Vec<String> {
    let mut notes = status.unreadable.clone();
    for name in status.without_root {
        notes.push(format!(
            "{name} is a kernel without a root image: `fslab lab build` adds one, in seconds if \
             the kernel is current."
        ));
    }
    if status.labs.is_empty() && status.without_root.is_empty() {
        notes.push("`fslab lab build` builds one, `fslab lab import` imports one.".into());
    } else if status.labs.iter().any(|lab| lab.stale) {
        notes.push("`fslab lab build` rebuilds a stale lab.".into());
    }
    if !status.missing_to_build.is_empty() {
        let missing = &status.missing_to_build;
        let programs: Vec<_> = missing.iter().map(|tool| tool.program).collect();
        let hint = fslab_lab::install_hint(missing);
        notes.push(format!(
            "Missing to build a lab: {}; {hint}",
            programs.join(", ")
        ));
    }
    if let Some(obstacle) = &status.obstacle {
        notes.push(format!("Cannot run a lab: {obstacle}"));
    }
    notes
}

/// An age in one unit: `40 s`, `5 min`, `3 h`, `12 days`.
fn in_one_unit(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_the_largest_fitting_unit() {
        let text = |seconds| in_one_unit(Duration::from_secs(seconds));
        assert_eq!((text(59), text(60)), ("59 s".into(), "1 min".into()));
        assert_eq!((text(3_599), text(3_600)), ("59 min".into(), "1 h".into()));
        assert_eq!(
            (text(172_799), text(172_800)),
            ("47 h".into(), "2 days".into())
        );
    }
}
