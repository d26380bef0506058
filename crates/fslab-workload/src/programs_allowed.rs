//! The check of a plan before anything of it runs: which phases would start programs with texts of
//! the study.

use fslab_model::{Failure, FailureKind, PhaseSpec};
use fslab_programs::{ALLOW_PROGRAMS_HINT, shown_text};

use crate::workload::Workload;

/// Checks that no phase starts a program with foreign texts.
///
/// # Errors
/// Kind `BadInput`, with each such phase and its texts. A phase with an unknown workload or invalid
/// parameters counts as one.
pub fn ensure_programs_allowed(phases: &[PhaseSpec]) -> Result<(), Failure> {
    let mut foreign = phases.iter().filter_map(|phase| {
        let found = match Workload::of_phase(phase) {
            Ok(workload) => workload.foreign(&phase.parameters)?,
            Err(error) => error.to_string(),
        };
        Some((shown_text(&phase.name), shown_text(&found)))
    });
    let Some((phase, program)) = foreign.next() else {
        return Ok(());
    };
    let text = format!("the phase '{phase}' would start a program that the study names: {program}");
    let mut failure = Failure::new(FailureKind::BadInput, text).hint(ALLOW_PROGRAMS_HINT);
    let more = foreign.map(|(phase, program)| format!("the phase '{phase}' too: {program}"));
    failure.causes.extend(more);
    Err(failure)
}

#[cfg(test)]
mod tests {
    use fslab_engine::{EngineKind, RunContext};
    use fslab_model::Bytes;

    use super::*;
    use crate::catalogue::{all, find, names};

    fn phase(workload: &str, parameters: serde_json::Value) -> PhaseSpec {
        let parameters = serde_json::from_value(parameters).expect("a map");
        PhaseSpec::new("p", workload, parameters)
    }

    fn refused(workload: &str, parameters: serde_json::Value) -> Option<Failure> {
        ensure_programs_allowed(&[phase(workload, parameters)]).err()
    }

    #[test]
    fn foreign_texts_are_named_and_those_of_fslab_are_allowed() {
        let command = serde_json::json!({
            "argv": ["rm", "-r", "a b"], "prepare": "echo x >y", "limit_s": 3,
        });
        let failure = refused("command", command).expect("is foreign");
        assert!(
            failure.message.ends_with("rm -r 'a b'; echo x >y"),
            "{failure}"
        );
        let tarball = serde_json::json!({ "step": "make", "tarball": "/tmp/x.tar.gz" });
        let failure = refused("compile", tarball).expect("is foreign");
        assert!(failure.message.contains("/tmp/x.tar.gz"), "{failure}");
        for name in names().filter(|name| *name != "command") {
            assert_eq!(refused(name, serde_json::json!({})), None, "{name}");
        }
    }

    /// `cflags = "-O0 -DX=`id>FILE`"` and `make_arguments = ["CC=id > FILE; cc"]` ran as root: only
    /// `tarball` needed permission.
    #[test]
    fn parameters_that_a_shell_or_make_reads_need_permission_unless_their_words_are_known() {
        for given in [
            serde_json::json!({ "cflags": "-O0 -DX=`id>FILE`" }),
            serde_json::json!({ "cflags": "-O0 -DX=$(id)" }),
            serde_json::json!({ "cflags": "-O1\t-g;id" }),
            serde_json::json!({ "cflags": "-O1 @/etc/passwd" }),
            serde_json::json!({ "cflags": "-fplugin=/tmp/x.so" }),
            serde_json::json!({ "cflags": "-wrapper id" }),
            serde_json::json!({ "cflags": "-B/tmp" }),
            serde_json::json!({ "cflags": "-specs=/tmp/x" }),
            serde_json::json!({ "cflags": "-include /etc/shadow" }),
            serde_json::json!({ "cflags": "-o /etc/cron.d/x" }),
            serde_json::json!({ "cflags": "-save-temps=/etc" }),
            serde_json::json!({ "cflags": "-march=$(id)" }),
            serde_json::json!({ "cflags": "-O1#" }),
            serde_json::json!({ "make_arguments": ["CC=id > FILE; cc"] }),
            serde_json::json!({ "make_arguments": ["--eval=$(shell id)"] }),
            serde_json::json!({ "make_arguments": ["-f", "/tmp/x"] }),
            serde_json::json!({ "make_arguments": ["-C/tmp"] }),
            serde_json::json!({ "make_arguments": ["SHELL=/tmp/x"] }),
            serde_json::json!({ "make_arguments": ["DESTDIR=/"] }),
            serde_json::json!({ "make_arguments": ["-n"] }),
            serde_json::json!({ "make_arguments": ["-j"] }),
            serde_json::json!({ "make_arguments": ["-j1\nid"] }),
            serde_json::json!({ "configure_arguments": ["--prefix=/x|e id;#"] }),
            serde_json::json!({ "tarball": [7] }),
            serde_json::json!({ "a_new_one": 1 }),
        ] {
            assert!(refused("compile", given.clone()).is_some(), "{given}");
        }
        for given in [
            serde_json::json!({ "cflags": "-O2 -g  -march=native -pipe" }),
            serde_json::json!({ "cflags": "" }),
            serde_json::json!({ "make_arguments": ["-j8", "V=1", "-s"], "jobs": 2 }),
        ] {
            assert_eq!(refused("compile", given.clone()), None, "{given}");
        }
    }

    #[test]
    fn invalid_parameters_and_unknown_workloads_count_as_foreign() {
        assert!(refused("command", serde_json::json!({ "argv": 7 })).is_some());
        assert!(refused("no-such-workload", serde_json::json!({})).is_some());
    }

    /// The phases after a harmless first one were not shown.
    #[test]
    fn all_phases_that_start_programs_are_named_without_control_characters() {
        let first = phase("command", serde_json::json!({ "argv": ["true"] }));
        let evil = format!("echo \u{1b}[2J\u{202e}x {}", "y".repeat(9_000));
        let second = phase("command", serde_json::json!({ "argv": evil }));
        let failure = ensure_programs_allowed(&[first, second]).expect_err("two are foreign");
        assert!(failure.message.ends_with(": true"), "{failure}");
        let [cause] = &failure.causes[..] else {
            panic!("{failure:?}")
        };
        assert!(
            !cause.contains(char::is_control) && !cause.contains('\u{202e}'),
            "{cause}"
        );
        assert!(
            cause.contains("characters more") && cause.len() < 1_000,
            "{cause}"
        );
    }

    /// The check of the plan is repeated where a program would start, since a plan may come from a
    /// store.
    #[test]
    fn a_phase_without_permission_starts_no_program_at_run_time() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut context = RunContext::new(EngineKind::Psync, folder.path(), 1);
        let bad = [
            ("command", serde_json::json!({ "argv": "touch ran" })),
            (
                "compile",
                serde_json::json!({ "step": "configure", "cflags": "`touch ran`" }),
            ),
        ];
        for (name, given) in bad {
            let workload = find(name).expect("known");
            let given = serde_json::from_value(given).expect("a map");
            let parameters = workload.resolve(&given, Bytes::mib(64)).expect("resolves");
            let refused = workload.run(&parameters, &context).expect_err(name);
            let failure = Failure::from(refused);
            assert_eq!(failure.kind, FailureKind::BadInput, "{failure}");
            assert!(failure.message.contains("touch ran"), "{failure}");
        }
        let left = std::fs::read_dir(folder.path())
            .expect("the directory")
            .count();
        assert_eq!(left, 0, "no directory was made");
        context.allow_commands = true;
        let command = find("command").expect("known");
        let given = serde_json::from_value(serde_json::json!({ "argv": "touch ran" }));
        let parameters = command
            .resolve(&given.expect("a map"), Bytes::mib(64))
            .expect("resolves");
        command.run(&parameters, &context).expect("is allowed");
        assert!(folder.path().join("command/ran").exists());
    }

    #[test]
    fn only_the_workload_command_has_foreign_texts_in_its_defaults() {
        for workload in all() {
            let parameters = workload
                .resolve(&fslab_model::Parameters::new(), Bytes::mib(64))
                .expect("resolves");
            let foreign = workload.foreign(&parameters).is_some();
            assert_eq!(foreign, workload.name() == "command", "{}", workload.name());
        }
    }
}
