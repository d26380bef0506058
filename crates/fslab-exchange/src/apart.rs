//! Distinguishes phases of one name that measured different things, by the parameters in which they
//! differ: the tests of a suite, points of a sweep, jobs with another block size.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{Parameters, PhaseOutcome, PhaseRecord, Point, PointValue, Swept};
use serde_json::Value;

use crate::reading::{Measured, plain_name};

/// Renames the phases of one file whose names are the same and whose parameters are not. Phases
/// with numbered repeats keep their names, which their output has chosen.
pub(crate) fn distinguish(trials: &mut [Measured]) {
    let subjects: Vec<Option<String>> = trials.iter().map(|trial| trial.subject.clone()).collect();
    for (index, subject) in subjects.iter().enumerate() {
        if subjects[..index].contains(subject) {
            continue;
        }
        let of_subject = trials
            .iter_mut()
            .filter(|trial| trial.repeat.is_none() && trial.subject == *subject);
        distinguish_phases(of_subject.flat_map(|trial| &mut trial.phases));
    }
}

/// Renames phases whose names are the same and whose parameters are not.
pub(crate) fn distinguish_phases<'p>(phases: impl Iterator<Item = &'p mut PhaseRecord>) {
    let mut by_name: BTreeMap<String, Vec<&mut PhaseRecord>> = BTreeMap::new();
    for phase in phases.filter(|phase| !matches!(phase.outcome, PhaseOutcome::Skipped { .. })) {
        by_name.entry(phase.name.clone()).or_default().push(phase);
    }
    for phases in by_name.into_values() {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut parameters: Vec<Parameters> = Vec::new();
        let kind_of = |phase: &PhaseRecord| Value::from(phase.parameters.clone()).to_string();
        for phase in &phases {
            kinds.entry(kind_of(phase)).or_insert_with(|| {
                parameters.push(phase.parameters.clone());
                parameters.len() - 1
            });
        }
        if kinds.len() > 1 {
            let keys = distinguishing_keys(&parameters);
            let suffixes = suffixes(&parameters, &keys);
            for phase in phases {
                let kind = kinds[&kind_of(phase)];
                rename(phase, &keys, &suffixes[kind]);
            }
        }
    }
}

/// The fewest keys, the first ones of equals, whose values distinguish all kinds.
fn distinguishing_keys(kinds: &[Parameters]) -> Vec<String> {
    let mut all: Vec<&String> = Vec::new();
    let mut known: BTreeSet<&String> = BTreeSet::new();
    for key in kinds.iter().flat_map(|kind| kind.keys()) {
        if known.insert(key) {
            all.push(key);
        }
    }
    let count = |keys: &[String]| {
        let values = kinds.iter().map(|kind| {
            let values = keys.iter().map(|key| kind.get(key).map(Value::to_string));
            values.collect::<Vec<Option<String>>>()
        });
        values.collect::<BTreeSet<_>>().len()
    };
    let mut keys: Vec<String> = Vec::new();
    let mut distinct = 1;
    while distinct < kinds.len() {
        let with = |key: &&String| count(&[&keys[..], &[(*key).clone()]].concat());
        let counts: Vec<usize> = all.iter().map(with).collect();
        let most = counts.iter().copied().max().unwrap_or_default();
        let Some(best) = counts
            .iter()
            .position(|count| *count == most && most > distinct)
        else {
            break;
        };
        keys.push(all[best].clone());
        distinct = most;
    }
    keys
}

/// What follows the name of each kind.
fn suffixes(kinds: &[Parameters], keys: &[String]) -> Vec<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let suffix = |(number, kind): (usize, &Parameters)| {
        let words = keys.iter().filter_map(|key| word(key, kind.get(key)));
        let mut suffix: String = words.map(|word| format!(" {word}")).collect();
        if !known.insert(suffix.clone()) {
            suffix = format!("{suffix} {number}");
        }
        suffix
    };
    (1..).zip(kinds).map(suffix).collect()
}

/// A value as a word of a name.
fn word(key: &str, value: Option<&Value>) -> Option<String> {
    let key = key.replace('_', "-");
    match value? {
        Value::Bool(true) => Some(key),
        Value::Bool(false) => Some(format!("no-{key}")),
        Value::String(text) => Some(plain_name(text)).filter(|word| !word.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        other => Some(plain_name(&other.to_string())),
    }
}

/// Renames a phase. If its keys are numbers, it is a point of a sweep over them.
fn rename(phase: &mut PhaseRecord, keys: &[String], suffix: &str) {
    let before = phase.name.clone();
    phase.name = format!("{before}{suffix}");
    if let Some(swept) = &mut phase.swept {
        swept.phase.push_str(suffix);
        return;
    }
    let value = |key: &String| -> Option<(String, PointValue)> {
        let number = phase.parameters.get(key)?.as_u64()?;
        let is_size = ["size", "bytes", "record"]
            .iter()
            .any(|word| key.contains(word));
        let value = match is_size {
            true => PointValue::Bytes(number),
            false => PointValue::Count(number),
        };
        Some((key.clone(), value))
    };
    let point: Option<Point> = keys.iter().map(value).collect();
    phase.swept = point.map(|point| Swept {
        phase: before,
        point,
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parameters(value: &Value) -> Parameters {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn the_fewest_settings_distinguish_kinds() {
        let kinds = [
            parameters(&json!({"bs": "4k", "fsync": true, "size": 1})),
            parameters(&json!({"bs": "64k", "fsync": true, "size": 1})),
            parameters(&json!({"bs": "64k", "fsync": false, "size": 1})),
        ];
        assert_eq!(distinguishing_keys(&kinds), ["bs", "fsync"]);
        let names = suffixes(&kinds, &distinguishing_keys(&kinds));
        assert_eq!(names, [" 4k fsync", " 64k fsync", " 64k no-fsync"]);
        assert_eq!(distinguishing_keys(&kinds[..2]), ["bs"]);
    }

    #[test]
    fn words_that_are_the_same_are_numbered() {
        let kinds: Vec<Parameters> = ["a/b", "a b", "a-b"]
            .map(|text| parameters(&json!({"x": text})))
            .into();
        assert_eq!(
            suffixes(&kinds, &["x".to_owned()]),
            [" a-b", " a-b 2", " a-b 3"]
        );
    }
}
