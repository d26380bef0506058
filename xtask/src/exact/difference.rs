//! Where two exact exports differ: which subjects, which steps and phases, and the first field.

use std::fmt;

use serde_json::Value;

/// A longer value is cut when it is shown.
const SHOWN_CHARACTERS: usize = 40;

/// What differs in the record of one trial.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TrialDifference {
    /// The subject, with the repeat where it is not the first.
    pub(crate) trial: String,
    /// Each part of the record that differs, in its order.
    pub(crate) parts: Vec<PartDifference>,
    /// Why the trial failed, if it did not fail before.
    pub(crate) failure: Option<String>,
}

/// What differs in one part of a record: a phase, a step, or a field of the trial.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PartDifference {
    name: String,
    fields: usize,
    first: String,
}

/// The differences between two exact exports, trial by trial; empty where the records are equal.
///
/// # Errors
/// Where one of them is no list of records, or where they hold another number of trials.
pub(crate) fn differences(before: &str, after: &str) -> Result<Vec<TrialDifference>, String> {
    let (before, after) = (records(before)?, records(after)?);
    if before.len() != after.len() {
        return Err(format!("{} trials, not {}", after.len(), before.len()));
    }
    let pairs = before.iter().zip(&after);
    Ok(pairs
        .filter(|(before, after)| before != after)
        .map(|(before, after)| TrialDifference {
            trial: name_of(before),
            parts: parts(before, after),
            failure: failure(after).filter(|_| failure(before).is_none()),
        })
        .collect())
}

/// How many trials an exact export holds.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    records(text).map(|records| records.len())
}

fn records(text: &str) -> Result<Vec<Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("an export is no list of records: {error}"))
}

fn name_of(trial: &Value) -> String {
    let subject = match &trial["subject"] {
        Value::String(name) => name.clone(),
        other => short(other),
    };
    match trial["trial"]["repeat"].as_u64() {
        Some(repeat) if repeat > 0 => format!("{subject} repeat {repeat}"),
        _ => subject,
    }
}

/// The message of a failed trial.
fn failure(trial: &Value) -> Option<String> {
    let failure = &trial["failure"];
    let message = failure["message"].as_str().map(str::to_owned);
    (!failure.is_null()).then(|| message.unwrap_or_else(|| failure.to_string()))
}

/// The parts of two records that differ: lists of phases and steps are compared one by one.
fn parts(before: &Value, after: &Value) -> Vec<PartDifference> {
    let mut parts = Vec::new();
    for key in keys(before, after) {
        let (old, new) = (&before[&key], &after[&key]);
        match (old, new) {
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                let pairs = old.iter().zip(new).enumerate();
                parts.extend(pairs.filter_map(|(at, (old, new))| {
                    part(&format!("{key} {}", element_name(old, at)), old, new)
                }));
            }
            _ => parts.extend(part(&key, old, new)),
        }
    }
    parts
}

/// What a step or phase is called, and its place in the list.
fn element_name(element: &Value, at: usize) -> String {
    let name = ["name", "step"]
        .iter()
        .find_map(|key| element[key].as_str());
    name.map_or_else(|| at.to_string(), |name| format!("{at} ({name})"))
}

fn part(name: &str, before: &Value, after: &Value) -> Option<PartDifference> {
    let mut fields = Vec::new();
    collect(before, after, "", &mut fields);
    let first = fields.first()?.clone();
    Some(PartDifference {
        name: name.to_owned(),
        fields: fields.len(),
        first,
    })
}

/// Notes each leaf in which the two differ.
fn collect(before: &Value, after: &Value, path: &str, fields: &mut Vec<String>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(_), Value::Object(_)) => {
            for key in keys(before, after) {
                let path = format!("{path}/{key}");
                collect(&before[&key], &after[&key], &path, fields);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                collect(old, new, &format!("{path}/{at}"), fields);
            }
        }
        _ => fields.push(format!("{path}: {}, not {}", short(after), short(before))),
    }
}

/// The keys of both, each once, in their order.
fn keys(before: &Value, after: &Value) -> Vec<String> {
    let of = |value: &Value| {
        let object = value.as_object();
        object.map_or_else(Vec::new, |object| object.keys().cloned().collect())
    };
    let mut keys: Vec<String> = of(before);
    for key in of(after) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN_CHARACTERS {
        return text;
    }
    let begin: String = text.chars().take(SHOWN_CHARACTERS).collect();
    format!("{begin}... ({} bytes)", text.len())
}

impl fmt::Display for TrialDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An empty field in one and none in the other.
        let Some(PartDifference {
            name,
            fields,
            first,
        }) = self.parts.first()
        else {
            return write!(
                f,
                "{}: one has an empty field that the other lacks",
                self.trial
            );
        };
        write!(f, "{}: first in {name}, {first}", self.trial)?;
        if *fields > 1 {
            write!(f, ", and {} more fields of it", fields - 1)?;
        }
        let others: Vec<&str> = self.parts[1..]
            .iter()
            .map(|part| part.name.as_str())
            .collect();
        if !others.is_empty() {
            write!(f, "; then in {}", others.join(", "))?;
        }
        match &self.failure {
            Some(failure) => write!(f, "; it failed: {failure}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_failed_says_why() {
        let before = r#"[{"subject":"zfs","outcome":"done"}]"#;
        let after = r#"[{"subject":"zfs","outcome":"failed","failure":{"message":"it hangs"}}]"#;
        let found = differences(before, after).expect("records");
        assert!(
            found[0].to_string().ends_with("; it failed: it hangs"),
            "{}",
            found[0]
        );
    }

    const BEFORE: &str = r#"[
        {"trial":{"repeat":0},"subject":"ext4","steps":[],"phases":[{"name":"read","ns":5}]},
        {"trial":{"repeat":1},"subject":"btrfs","steps":[{"step":"mkfs","ns":1}],
         "phases":[{"name":"read","ns":5,"sizes":[1,2]},{"name":"unlink","ns":7}]}]"#;

    #[test]
    fn equal_records_do_not_differ_and_a_changed_field_is_named() {
        assert_eq!(differences(BEFORE, BEFORE), Ok(Vec::new()));
        let after = BEFORE
            .replace(r#""sizes":[1,2]"#, r#""sizes":[1,3]"#)
            .replace(r#""ns":7"#, r#""ns":8,"more":true"#);
        let found = differences(BEFORE, &after).expect("records");
        let stated: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = "btrfs repeat 1: first in phases 0 (read), /sizes/1: 3, not 2; \
                        then in phases 1 (unlink)";
        assert_eq!(stated, [expected]);
    }

    #[test]
    fn a_trial_or_a_phase_that_is_missing_is_a_difference() {
        let fewer = r#"[{"trial":{"repeat":0},"subject":"ext4"}]"#;
        assert!(differences(BEFORE, fewer).is_err_and(|why| why == "1 trials, not 2"));
        let after = BEFORE.replace(r#",{"name":"unlink","ns":7}"#, "");
        assert_eq!(differences(BEFORE, &after).expect("records").len(), 1);
        let after = BEFORE.replace(r#","steps":[],"#, ",");
        assert_eq!(differences(BEFORE, &after).expect("records").len(), 1);
    }
}
