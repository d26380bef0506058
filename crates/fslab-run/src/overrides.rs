//! `--set KEY=VALUE`: replaces a value of a study by its path in the declaration.
//!
//! ```text
//!     repeats=5                          a value of the study
//!     phase.write.record=64KiB           a parameter of a phase, by the phase's name
//!     write.record=64KiB                 the same
//!     phase.per-char-write.enabled=true
//!     sweep.sizes.record=["8KiB"]        a dimension of a sweep
//! ```

use fslab_model::{Failure, FailureKind, Study};
use toml::{Table, Value};

/// The study with all settings applied.
///
/// # Errors
/// Of kind `BadInput`: a malformed setting, an unknown path, or a result that is no valid study.
pub fn override_study(study: &Study, settings: &[String]) -> Result<Study, Failure> {
    if settings.is_empty() {
        return Ok(study.clone());
    }
    let mut table = Table::try_from(study).map_err(|error| {
        Failure::new(FailureKind::BadInput, "cannot change the study").because(&error)
    })?;
    for setting in settings {
        let (path, value) = setting.split_once('=').ok_or_else(|| {
            bad(setting, "it has no =")
                .hint("use KEY=VALUE, for example --set phase.write.record=64KiB")
        })?;
        set(&mut table, path.trim(), parse(value.trim())).map_err(|why| bad(setting, &why))?;
    }
    // The user has not seen this text: a position in it would not help.
    let changed = Study::from_toml(&table.to_string()).map_err(|error| {
        let text = format!(
            "cannot use the study with --set {}",
            settings.join(" --set ")
        );
        Failure::of_toml(text, error.without_position())
    })?;
    // They are no part of the text.
    let workloads = study.workloads.clone();
    Ok(Study {
        workloads,
        ..changed
    })
}

fn bad(setting: &str, why: &str) -> Failure {
    let text = format!("cannot use --set {setting}: {why}");
    Failure::new(FailureKind::BadInput, text)
}

/// Parses a TOML value; other text is taken as a string, so that sizes need no quotes.
fn parse(text: &str) -> Value {
    let document: Result<Table, _> = toml::from_str(&format!("value = {text}"));
    document
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

fn set(table: &mut Table, path: &str, value: Value) -> Result<(), String> {
    let parts: Vec<_> = path.split('.').collect();
    match parts.as_slice() {
        ["phase", name, inside @ ..] if !inside.is_empty() => {
            let phase = phase(table, name);
            put(
                phase.ok_or_else(|| format!("the study has no phase '{name}'"))?,
                inside,
                value,
            )
        }
        ["phase" | "figure", ..] => {
            Err("name a phase's parameter as phase.NAME.PARAMETER".to_owned())
        }
        // `write.record` means the phase, unless it is a key of the study.
        [name, inside @ ..] if !inside.is_empty() && !table.contains_key(*name) => {
            match phase(table, name) {
                Some(phase) => put(phase, inside, value),
                None => put(table, &parts, value),
            }
        }
        parts => put(table, parts, value),
    }
}

/// The phase of this name.
fn phase<'t>(table: &'t mut Table, name: &str) -> Option<&'t mut Table> {
    let phases = table.get_mut("phase").and_then(Value::as_array_mut);
    let mut phases = phases.into_iter().flatten().filter_map(Value::as_table_mut);
    phases.find(|phase| phase.get("name").and_then(Value::as_str) == Some(name))
}

fn put(table: &mut Table, path: &[&str], value: Value) -> Result<(), String> {
    match path {
        [] => Ok(()),
        [last] => {
            table.insert((*last).to_owned(), value);
            Ok(())
        }
        [first, rest @ ..] => {
            let inner = table
                .entry((*first).to_owned())
                .or_insert_with(|| Value::Table(Table::new()));
            let inner = inner
                .as_table_mut()
                .ok_or_else(|| format!("'{first}' has no parts"))?;
            put(inner, rest, value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> Study {
        crate::load_study("quick").expect("built in").0
    }

    fn with(settings: &[&str]) -> Result<Study, Failure> {
        let settings: Vec<_> = settings.iter().map(ToString::to_string).collect();
        override_study(&quick(), &settings)
    }

    /// The workloads beside a study's file were lost, so that its phases had unknown ones.
    #[test]
    fn a_changed_study_keeps_the_workloads_of_the_user() {
        let mut study = quick();
        let text = include_str!("../../../workloads/read.toml");
        let definition = fslab_model::WorkloadDefinition::from_toml(text).expect("a workload");
        study.workloads.insert("mine".to_owned(), definition);
        let changed = override_study(&study, &["repeats=7".to_owned()]).expect("a study");
        assert_eq!(changed.workloads, study.workloads);
    }

    #[test]
    fn values_of_the_study_and_of_its_phases_are_replaced() {
        let study = with(&[
            "repeats=7",
            "phase.write.record=64KiB",
            "phase.read.enabled=false",
        ])
        .expect("a study");
        assert_eq!(study.repeats, 7);
        assert_eq!(study.phases[0].parameters["record"], "64KiB");
        let read = study.phases.iter().find(|phase| phase.name == "read");
        assert!(!read.expect("a phase").enabled);
        assert_eq!(override_study(&quick(), &[]).expect("unchanged"), quick());
    }

    #[test]
    fn invalid_settings_are_refused_and_named() {
        for bad in [
            "repeats",
            "phase.wrote.record=1",
            "phase.write=1",
            "size.x=1",
            "repeat=3",
        ] {
            let failure = with(&[bad]).expect_err(bad);
            assert!(failure.to_string().contains(bad), "{failure}");
        }
    }
}
