//! Which phases start programs that nobody but the study's author knows.

use std::path::Path;

use fslab_model::Parameters;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::script::Script;

/// What of `command` starts a program.
#[derive(Deserialize)]
#[serde(default)]
struct CommandPrograms {
    argv: Script,
    prepare: Option<Script>,
    cleanup: Option<Script>,
}

impl Default for CommandPrograms {
    fn default() -> Self {
        Self {
            argv: Script::nothing(),
            prepare: None,
            cleanup: None,
        }
    }
}

/// What of `compile` starts a program that fslab has not written.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CompilePrograms {
    tarball: Option<Box<Path>>,
}

/// What a phase of `workload` would start that the author of its study chose, in a few words;
/// `None` where it starts nothing, or nothing but what comes with fslab and the machine.
///
/// A study from elsewhere may hold anything there. Who runs one should have allowed it.
#[must_use]
pub fn foreign_program(workload: &str, parameters: &Parameters) -> Option<String> {
    match workload {
        "command" => {
            let Some(programs) = read::<CommandPrograms>(parameters) else {
                return Some("a command that cannot be read".to_owned());
            };
            let scripts = [Some(programs.argv), programs.prepare, programs.cleanup];
            let texts: Vec<_> = scripts.iter().flatten().map(Script::to_string).collect();
            Some(texts.join("; "))
        }
        "compile" => {
            let Some(programs) = read::<CompilePrograms>(parameters) else {
                return Some("a build that cannot be read".to_owned());
            };
            let tarball = programs.tarball?;
            Some(format!("configure and make of {}", tarball.display()))
        }
        _ => None,
    }
}

fn read<T: DeserializeOwned>(parameters: &Parameters) -> Option<T> {
    serde_json::from_value(serde_json::Value::Object(parameters.clone())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(workload: &str, parameters: serde_json::Value) -> Option<String> {
        let parameters = serde_json::from_value(parameters).expect("a map");
        foreign_program(workload, &parameters)
    }

    #[test]
    fn what_a_study_would_start_is_told_and_what_comes_with_fslab_is_not() {
        let command = serde_json::json!({
            "argv": ["rm", "-r", "a b"], "prepare": "echo x >y", "limit_s": 3,
        });
        assert_eq!(
            asked("command", command).as_deref(),
            Some("rm -r 'a b'; echo x >y")
        );
        let tarball = serde_json::json!({ "step": "make", "tarball": "/tmp/x.tar.gz" });
        let told = asked("compile", tarball).expect("somebody else's");
        assert!(told.contains("/tmp/x.tar.gz"), "{told}");
        assert_eq!(asked("compile", serde_json::json!({ "units": 3 })), None);
        assert_eq!(asked("web-server", serde_json::json!({})), None);
    }

    #[test]
    fn what_cannot_be_read_counts_as_foreign() {
        assert!(asked("command", serde_json::json!({ "argv": 7 })).is_some());
        assert!(asked("compile", serde_json::json!({ "tarball": [7] })).is_some());
    }
}
