//! Outputs of real tools, read.

use std::fs;
use std::path::Path;

use fslab_exchange::{Imported, Labels, Source, import};
use fslab_model::{Failure, PhaseRecord, RunRecord, phase_metrics};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/exchange");

/// Files written by hand: rare forms, and what is no output of a tool.
const WRITTEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/imports");

pub(crate) fn written(name: &str) -> Vec<u8> {
    fs::read(Path::new(WRITTEN).join(name)).expect(name)
}

/// Every output, by file name.
pub(crate) fn names() -> Vec<String> {
    let entries = fs::read_dir(FOLDER)
        .expect("the directory of outputs")
        .flatten();
    let names = entries.map(|entry| entry.file_name().into_string().expect("a name of text"));
    let mut names: Vec<String> = names.filter(|name| name != "README.md").collect();
    names.sort();
    names
}

pub(crate) fn content(name: &str) -> Vec<u8> {
    fs::read(Path::new(FOLDER).join(name)).expect(name)
}

pub(crate) fn text(name: &str) -> String {
    String::from_utf8(content(name)).expect("an output of text")
}

pub(crate) fn source(name: &str, content: impl Into<Vec<u8>>) -> Source {
    Source {
        name: name.to_owned(),
        content: content.into(),
        subject: None,
    }
}

pub(crate) fn labels() -> Labels {
    Labels {
        run: "imported".parse().expect("a name"),
        subject: None,
        fslab: "0".to_owned(),
        command: Vec::new(),
        now_unix_s: 1_000_000_000,
    }
}

pub(crate) fn read(sources: &[Source]) -> Result<Imported, Failure> {
    import(sources, None, &labels())
}

/// The one run of a text.
pub(crate) fn run_of(content: impl Into<Vec<u8>>) -> RunRecord {
    let mut imported = read(&[source("file", content)]).expect("an output");
    assert_eq!(imported.runs.len(), 1);
    imported.runs.remove(0)
}

/// A run as lines: its tool, then each trial with its phases and their metrics.
pub(crate) fn lines(run: &RunRecord) -> String {
    let mut text = format!("{}\n", run.header.plan.title);
    for trial in &run.trials {
        text.push_str(&format!("{} {}\n", trial.trial, trial.subject));
        for phase in &trial.phases {
            let outcome = serde_json::to_value(&phase.outcome).expect("serialises");
            let parameters = serde_json::to_string(&phase.parameters).expect("serialises");
            text.push_str(&format!(
                "  {} {} {parameters}\n",
                phase.name,
                outcome["outcome"].as_str().unwrap_or_default()
            ));
            for metric in phase_metrics(phase) {
                text.push_str(&format!(
                    "    {} {}\n",
                    metric.definition.name, metric.value
                ));
            }
            for latency in &phase.latencies {
                let (operation, count) = (&latency.operation, latency.histogram.count());
                text.push_str(&format!("    {count} latencies of {operation}\n"));
            }
            for note in &phase.notes {
                text.push_str(&format!("    {note}\n"));
            }
        }
    }
    text
}

pub(crate) fn imported(name: &str) -> Imported {
    read(&[source(name, written(name))]).expect(name)
}

pub(crate) fn run(name: &str) -> RunRecord {
    let mut runs = imported(name).runs;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

pub(crate) fn phase<'r>(run: &'r RunRecord, trial: usize, name: &str) -> &'r PhaseRecord {
    let mut phases = run.trials[trial].phases.iter();
    phases.find(|phase| phase.name == name).expect(name)
}

/// A metric that the store has of a phase.
pub(crate) fn metric(phase: &PhaseRecord, name: &str) -> Option<f64> {
    let metrics = phase_metrics(phase);
    let mut of_name = metrics.iter().filter(|it| it.definition.name == name);
    of_name.next().map(|it| it.value)
}
