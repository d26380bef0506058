//! Tells apart phases of one name that measured different things, by the parameters in which they
//! differ: the tests of a suite, points of a sweep, jobs with another block size.

use std::collections::BTreeMap;

use fslab_model::{Parameters, PhaseOutcome, PhaseRecord, Point, PointValue, Swept};
use serde_json::Value;

use crate::reading::{Measured, plain_name};

/// Renames the phases of one file whose names are the same and whose parameters are not. Phases
/// with numbered repeats keep their names, which their output has chosen.
pub(crate) fn tell_apart(trials: &mut [Measured]) {
    let subjects: Vec<Option<String>> = trials.iter().map(|trial| trial.subject.clone()).collect();
    for (index, subject) in subjects.iter().enumerate() {
        if subjects[..index].contains(subject) {
            continue;
        }
        let of_subject = trials
            .iter_mut()
            .filter(|trial| trial.repeat.is_none() && trial.subject == *subject);
        tell_phases_apart(of_subject.flat_map(|trial| &mut trial.phases));
    }
}

/// Renames phases whose names are the same and whose parameters are not.
pub(crate) fn tell_phases_apart<'p>(phases: impl Iterator<Item = &'p mut PhaseRecord>) {
    let mut by_name: BTreeMap<String, Vec<&mut PhaseRecord>> = BTreeMap::new();
    for phase in phases.filter(|phase| !matches!(phase.outcome, PhaseOutcome::Skipped { .. })) {
        by_name.entry(phase.name.clone()).or_default().push(phase);
    }
    for mut phases in by_name.into_values() {
        let mut kinds: Vec<Parameters> = Vec::new();
        for phase in &phases {
            if !kinds.contains(&phase.parameters) {
                kinds.push(phase.parameters.clone());
            }
        }
        if kinds.len() > 1 {
            let keys = telling_keys(&kinds);
            let suffixes = suffixes(&kinds, &keys);
            for phase in &mut phases {
                let kind = kinds.iter().position(|kind| *kind == phase.parameters);
                rename(phase, &keys, &suffixes[kind.unwrap_or_default()]);
            }
        }
    }
}

/// The fewest keys, the first ones of equals, whose values tell all kinds apart.
fn telling_keys(kinds: &[Parameters]) -> Vec<String> {
    let mut all: Vec<&String> = Vec::new();
    for key in kinds.iter().flat_map(|kind| kind.keys()) {
        if !all.contains(&key) {
            all.push(key);
        }
    }
    let count = |keys: &[String]| {
        let mut told: Vec<Vec<Option<&Value>>> = Vec::new();
        for kind in kinds {
            let values: Vec<Option<&Value>> = keys.iter().map(|key| kind.get(key)).collect();
            if !told.contains(&values) {
                told.push(values);
            }
        }
        told.len()
    };
    let mut keys: Vec<String> = Vec::new();
    while count(&keys) < kinds.len() {
        let with = |key: &&String| count(&[&keys[..], &[(*key).clone()]].concat());
        let most = all.iter().map(&with).max().unwrap_or_default();
        let Some(best) = all
            .iter()
            .find(|key| with(key) == most && most > count(&keys))
        else {
            break;
        };
        keys.push((*best).clone());
    }
    keys
}

/// What follows the name of each kind.
fn suffixes(kinds: &[Parameters], keys: &[String]) -> Vec<String> {
    let mut suffixes: Vec<String> = Vec::new();
    for kind in kinds {
        let words = keys.iter().filter_map(|key| word(key, kind.get(key)));
        let mut suffix: String = words.map(|word| format!(" {word}")).collect();
        if suffixes.contains(&suffix) {
            suffix = format!("{suffix} {}", suffixes.len() + 1);
        }
        suffixes.push(suffix);
    }
    suffixes
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
