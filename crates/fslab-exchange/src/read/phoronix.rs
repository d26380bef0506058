//! The composite.xml of the Phoronix Test Suite: each result of a test of storage is a phase, each
//! system of it a subject, and each of its runs a repeat.
//!
//! Only results whose unit has one meaning are read: operations a second, seconds, and bytes a
//! second where it is known of the test what its megabyte is. Others are left out by name.

use std::collections::BTreeMap;

use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{Facts, Headline, MetricDefinition, Parameters, PhaseKind, PhaseRecord};

use super::xml::{Element, documents};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, plain_name, push_new, put};

const ROOT: &str = "PhoronixTestSuite";
const HINT: &str = "import the composite.xml of a result of the Phoronix Test Suite";
const MIB: f64 = 1_048_576.0;
/// Most runs of a result.
const RUNS_MAX: usize = 1000;
/// The tests of storage, with the bytes of what each calls a megabyte, as its results are made:
/// dbench's own, Iozone's KiB by 1024, IOR's MiB. fio's are KiB by 1000 or MiB, without saying
/// which; of the others it is not known.
const TESTS: [(&str, Option<f64>); 16] = [
    ("aio-stress", None),
    ("blogbench", None),
    ("compilebench", None),
    ("dbench", Some(1e6)),
    ("fio", None),
    ("fs-mark", None),
    ("hdparm-read", None),
    ("ior", Some(MIB)),
    ("iozone", Some(MIB)),
    ("leveldb", None),
    ("pjdfstest", None),
    ("postmark", None),
    ("sqlite", None),
    ("sqlite-speedtest", None),
    ("tiobench", None),
    ("unpack-linux", None),
];
/// Units of operations a second.
const RATES: [&str; 5] = ["iops", "files/s", "tps", "op/s", "transactions per second"];
/// Units of seconds.
const TIMES: [&str; 3] = ["seconds", "second", "sec"];
/// Units of bytes a second that say what they are.
const BYTE_RATES: [(&str, f64); 3] = [("kib/s", 1024.0), ("mib/s", MIB), ("gib/s", 1024.0 * MIB)];

/// True for a line that only the Phoronix Test Suite writes.
pub(crate) fn is_mark(line: &str) -> bool {
    line.contains("<PhoronixTestSuite>")
}

/// Reads every document.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut composite = Composite::default();
    documents(text, ROOT, HINT, |document| composite.document(&document))?;
    let Composite {
        tools,
        trials,
        notes,
        ..
    } = composite;
    if trials.is_empty() {
        let reason = match notes.is_empty() {
            true => "it has no element <Result>".to_owned(),
            false => notes.join("; "),
        };
        return Err(Fault::no_figure(reason).hint(HINT));
    }
    Ok(Reading {
        tool: tools.join(", "),
        trials: trials.into_values().collect(),
        notes,
        ..Reading::default()
    })
}

/// What the documents have.
#[derive(Default)]
struct Composite {
    tools: Vec<String>,
    /// By the subject's place, and the repeat.
    trials: BTreeMap<(usize, u32), Measured>,
    subjects: Vec<String>,
    notes: Vec<String>,
}

/// A metric, its factor to the unit of the metric, and its headline.
struct Scale {
    metric: &'static MetricDefinition,
    factor: f64,
    headline: Headline,
}

impl Scale {
    /// The meaning of a unit in results of a test; an error in words if it has none.
    fn of(test: &str, unit: &str, proportion: &str) -> Result<Self, String> {
        let name = test.rsplit('/').next().unwrap_or_default();
        let Some((name, megabyte)) = TESTS.iter().find(|(known, _)| *known == name) else {
            return Err("it is no test of storage that is known".to_owned());
        };
        let unit_plain = unit.to_ascii_lowercase();
        let byte_rate = BYTE_RATES.iter().find(|(known, _)| *known == unit_plain);
        let factor = match byte_rate {
            Some((_, factor)) => Some(*factor),
            None if unit_plain == "mb/s" && megabyte.is_none() => {
                return Err(format!("it is not known how many bytes an MB of {name} is"));
            }
            None => megabyte.filter(|_| unit_plain == "mb/s"),
        };
        let (metric, factor, headline, wanted) = if let Some(factor) = factor {
            (&THROUGHPUT, factor, Headline::Throughput, "HIB")
        } else if RATES.contains(&&*unit_plain) {
            (&OPERATION_RATE, 1.0, Headline::OperationRate, "HIB")
        } else if TIMES.contains(&&*unit_plain) {
            (&ELAPSED, 1e9, Headline::Duration, "LIB")
        } else {
            return Err(format!(
                "its unit '{unit}' is neither a rate nor a time in seconds"
            ));
        };
        if proportion != wanted {
            return Err(format!(
                "it is in '{unit}' and marked as '{proportion}', not '{wanted}'"
            ));
        }
        Ok(Self {
            metric,
            factor,
            headline,
        })
    }
}

impl Composite {
    fn document(&mut self, document: &Element) -> Result<(), Fault> {
        let generated = document.child("Generated");
        let client = generated.as_ref().and_then(|it| it.text("TestClient"));
        let version = client.and_then(|client| client.rsplit_once(" v"));
        let version = version.map_or("", |(_, version)| version);
        push_new(
            &mut self.tools,
            format!("phoronix {version}").trim_end().to_owned(),
        );
        for result in document.children("Result") {
            self.result(&result)?;
        }
        Ok(())
    }

    fn result(&mut self, result: &Element) -> Result<(), Fault> {
        let text = |name: &str| -> Result<&str, Fault> {
            let text = result.text(name);
            text.ok_or_else(|| Fault::missing(&*result.place, name).hint(HINT))
        };
        let (test, title) = (text("Identifier")?, text("Title")?);
        let description = text("Description")?;
        let unit = text("Scale")?;
        let scale = match Scale::of(test, unit, text("Proportion")?) {
            Ok(scale) => scale,
            Err(reason) => {
                self.notes.push(format!(
                    "the result '{test}, {description}' is left out, because {reason}"
                ));
                return Ok(());
            }
        };
        let data = result.child("Data");
        let data = data.ok_or_else(|| Fault::missing(&*result.place, "Data").hint(HINT))?;
        let mut parameters = Parameters::new();
        for (name, value) in [
            ("test", test),
            ("version", result.text("AppVersion").unwrap_or_default()),
            ("arguments", result.text("Arguments").unwrap_or_default()),
        ] {
            if !value.is_empty() {
                parameters.insert(name.to_owned(), value.into());
            }
        }
        let draft = || Draft {
            name: plain_name(&format!("{title} {description}")),
            workload: "phoronix".to_owned(),
            kind: PhaseKind::Mixed,
            headline: scale.headline,
            parameters: parameters.clone(),
            swept: None,
        };
        for entry in data.children("Entry") {
            self.entry(&entry, &scale, draft)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        entry: &Element,
        scale: &Scale,
        draft: impl Fn() -> Draft,
    ) -> Result<(), Fault> {
        let subject = entry.text("Identifier").unwrap_or_default();
        if subject.is_empty() {
            return Err(Fault::missing(&*entry.place, "Identifier").hint(HINT));
        }
        let value = entry.text("Value").unwrap_or_default();
        let draft = draft();
        if value.is_empty() {
            // A test that failed has no value.
            self.notes.push(format!(
                "'{}' has no value of {subject}: the test failed there",
                draft.name
            ));
            return Ok(());
        }
        let raw = entry.text("RawString").filter(|raw| !raw.is_empty());
        let runs: Vec<&str> = raw.unwrap_or(value).split(':').collect();
        if runs.len() > RUNS_MAX {
            let wanted = format!("at most {RUNS_MAX} runs");
            return Err(Fault::fields(entry.path("RawString"), runs.len(), wanted));
        }
        push_new(&mut self.subjects, subject.to_owned());
        let place = self.subjects.iter().position(|known| known == subject);
        let place = place.unwrap_or_default();
        let template = draft.record();
        for (repeat, run) in (0..).zip(runs) {
            let wrong = || Fault::value(entry.path("RawString"), run, "a figure from 0");
            let figure = number(run).ok_or_else(wrong)?;
            let trial = self
                .trials
                .entry((place, repeat))
                .or_insert_with(|| Measured {
                    subject: Some(subject.to_owned()),
                    repeat: Some(repeat),
                    facts: Facts::new(),
                    ..Measured::default()
                });
            let record = record_of(&mut trial.phases, &template);
            if record.figures.contains_key(scale.metric.name) {
                let text = format!("'{}' has two results in one unit", template.name);
                return Err(Fault::new(&*entry.place, text)
                    .hint("import the results of each execution separately"));
            }
            put(record, scale.metric, figure * scale.factor);
        }
        Ok(())
    }
}

/// The record of a phase: a test can have one description in two units.
fn record_of<'p>(phases: &'p mut Vec<PhaseRecord>, template: &PhaseRecord) -> &'p mut PhaseRecord {
    let known = phases
        .iter()
        .position(|it| it.name == template.name && it.parameters == template.parameters);
    let place = known.unwrap_or_else(|| {
        let mut record = template.clone();
        let namesakes = phases.iter().filter(|it| {
            let base = it
                .name
                .rsplit_once(" #")
                .map_or(&*it.name, |(base, _)| base);
            base == template.name
        });
        let number = namesakes.count() + 1;
        if number > 1 {
            record.name = format!("{} #{number}", template.name);
        }
        phases.push(record);
        phases.len() - 1
    });
    &mut phases[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_one_meaning_or_is_refused() {
        let factor = |test, unit, proportion| Scale::of(test, unit, proportion).map(|it| it.factor);
        assert_eq!(factor("pts/dbench", "MB/s", "HIB"), Ok(1e6));
        assert_eq!(factor("pts/iozone", "MB/s", "HIB"), Ok(MIB));
        assert_eq!(factor("pts/fio", "IOPS", "HIB"), Ok(1.0));
        assert_eq!(factor("pts/sqlite", "Seconds", "LIB"), Ok(1e9));
        for (test, unit, proportion, reason) in [
            (
                "pts/fio",
                "MB/s",
                "HIB",
                "it is not known how many bytes an MB of fio is",
            ),
            ("pts/x264", "Frames Per Second", "HIB", "no test of storage"),
            (
                "pts/blogbench",
                "Final Score",
                "HIB",
                "neither a rate nor a time",
            ),
            ("pts/dbench", "MB/s", "LIB", "marked as 'LIB'"),
        ] {
            let shown = factor(test, unit, proportion).expect_err(test);
            assert!(shown.contains(reason), "{shown}");
        }
    }
}
