//! The check before each commit and in CI: every step with its time, up to the first that fails.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

use crate::tally::Tally;

/// One step of the gate: a cargo command, or a program that an earlier step has built.
struct Step {
    name: &'static str,
    /// Its path from the root of the workspace; `None` for cargo.
    program: Option<&'static str>,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    needs: Option<Need>,
    /// Whether it takes one processor, and runs beside the next step; at most one in all.
    is_beside: bool,
}

/// What not every machine has; where it is missing, the gate reports the step as not run.
struct Need {
    /// A cargo command that succeeds where it is there.
    probe: &'static [&'static str],
    /// What to say where it is not.
    otherwise: &'static str,
}

const fn step(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step {
        name,
        program: None,
        arguments,
        environment: &[],
        needs: None,
        is_beside: false,
    }
}

/// Quick ones first: what fails, fails soon.
const STEPS: &[Step] = &[
    step("fmt", &["fmt", "--all", "--check"]),
    step(
        "tidy",
        &["run", "--quiet", "--package", "xtask", "--", "tidy"],
    ),
    step(
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    ),
    // What `make demo` builds.
    step(
        "clippy without features",
        &[
            "clippy",
            "--package",
            "fslab-cli",
            "--no-default-features",
            "--",
            "-D",
            "warnings",
        ],
    ),
    Step {
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
        ..step("doc", &["doc", "--workspace", "--no-deps"])
    },
    Step {
        needs: Some(Need {
            probe: &["deny", "--version"],
            otherwise: "cargo-deny is not installed",
        }),
        ..step("deny", &["deny", "check", "bans", "licenses", "sources"])
    },
    Step {
        needs: Some(Need {
            probe: &["deny", "fetch", "db"],
            otherwise: "the database of advisories cannot be fetched",
        }),
        ..step("advisories", &["deny", "check", "advisories"])
    },
    // What follows runs what is built here: a package alone would be built once more, with fewer
    // features of what it depends on.
    step("build", &["test", "--workspace", "--locked", "--no-run"]),
    // A minute for all targets together, always with the same seed: a new failure comes from the
    // change under test. Without coverage, which would compile all crates once more.
    Step {
        program: Some("target/debug/fslab-fuzz"),
        is_beside: true,
        ..step("fuzz", &["--seconds", "60", "--seed", "1"])
    },
    Step {
        needs: Some(Need {
            probe: &[
                "run",
                "--quiet",
                "--package",
                "xtask",
                "--",
                "python",
                "--ready",
            ],
            otherwise: "python3, its module venv or the packages of the tests cannot be had; \
                        `cargo xtask python --ready` says which",
        }),
        ..step(
            "python",
            &["run", "--quiet", "--package", "xtask", "--", "python"],
        )
    },
    // Four subjects on some hosts that differ; `cargo xtask exact` by hand has them all.
    Step {
        needs: Some(Need {
            probe: &[
                "run",
                "--quiet",
                "--package",
                "xtask",
                "--",
                "exact",
                "--ready",
            ],
            otherwise: "there is no lab; `fslab lab build` makes one",
        }),
        ..step(
            "exact",
            &[
                "run",
                "--quiet",
                "--package",
                "xtask",
                "--",
                "exact",
                "--sample",
                "--fslab",
                "target/debug/fslab",
                "--study",
                "tests/fixtures/small.toml",
            ],
        )
    },
];

/// The last step, so that its totals end the log. All tests run: one run shows every failure. No
/// crate has a test in its documentation, for which rustdoc would be started once a crate.
const TEST: Step = step(
    "test",
    &[
        "test",
        "--workspace",
        "--tests",
        "--locked",
        "--no-fail-fast",
        "--",
        "--show-output",
    ],
);

/// The variable by which libtest takes the number of tests that run together.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// Runs the gate over the workspace in `root`.
pub(crate) fn run(root: &Path) -> ExitCode {
    let began = Instant::now();
    let mut not_run = Vec::new();
    if !thread::scope(|scope| run_steps(root, scope, &mut not_run)) {
        return ExitCode::FAILURE;
    }
    let mut tally = Tally::default();
    let passed = timed(&TEST, || {
        let mut command = command(&TEST, root);
        if std::env::var_os(TEST_THREADS).is_none() {
            command.env(TEST_THREADS, threads().to_string());
        }
        tally.run(command, &mut std::io::stdout())
    });
    for notice in not_run {
        println!("{notice}");
    }
    for skip in tally.skips() {
        println!("skipped: {}: {}", skip.test, skip.reason);
    }
    for name in tally.failures() {
        println!("failed: {name}");
    }
    println!(
        "gate: {} in {:.1} s",
        verdict(passed),
        began.elapsed().as_secs_f64()
    );
    println!("{tally}");
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs what comes before the tests; `false` at the first step that fails.
fn run_steps<'scope>(
    root: &'scope Path,
    scope: &'scope Scope<'scope, '_>,
    not_run: &mut Vec<String>,
) -> bool {
    let mut beside: Option<ScopedJoinHandle<bool>> = None;
    for step in STEPS {
        if let Some(need) = step.needs.as_ref().filter(|need| !is_met(need, root)) {
            let notice = format!("gate: {} NOT RUN: {}", step.name, need.otherwise);
            println!("{notice}");
            not_run.push(notice);
            continue;
        }
        let run = move || timed(step, || passes(command(step, root)));
        if step.is_beside {
            beside = Some(scope.spawn(run));
        } else if !run() {
            return false;
        }
    }
    beside.is_none_or(|it| it.join().unwrap_or(false))
}

/// One more than there are processors: a test that mounts waits for the one that does so already.
fn threads() -> usize {
    1 + thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Runs a step and says how it went.
fn timed(step: &Step, run: impl FnOnce() -> Result<(), String>) -> bool {
    println!("gate: {} ...", step.name);
    let began = Instant::now();
    let result = run();
    let took_s = began.elapsed().as_secs_f64();
    match &result {
        Ok(()) => println!("gate: {} passed in {took_s:.1} s", step.name),
        Err(why) => println!("gate: {} FAILED after {took_s:.1} s: {why}", step.name),
    }
    result.is_ok()
}

fn verdict(passed: bool) -> &'static str {
    if passed { "passed" } else { "FAILED" }
}

fn command(step: &Step, root: &Path) -> Command {
    let mut command = match step.program {
        None => cargo(root),
        Some(program) => Command::new(root.join(program)),
    };
    command
        .args(step.arguments)
        .current_dir(root)
        .envs(step.environment.iter().copied());
    command
}

fn passes(mut command: Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("cannot start it: {error}")),
    }
}

fn is_met(need: &Need, root: &Path) -> bool {
    cargo(root)
        .args(need.probe)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_passes_or_fails_as_its_command_does() {
        let result = |arguments| {
            let mut command = command(&step("a", arguments), Path::new("."));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            passes(command)
        };
        assert_eq!(result(&["--version"]), Ok(()));
        assert!(result(&["no-such-command"]).is_err_and(|why| why.contains("exit status")));
    }

    #[test]
    fn a_need_is_met_where_its_probe_succeeds() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let need = |probe| Need {
            probe,
            otherwise: "it is missing",
        };
        assert!(is_met(&need(&["--version"]), here));
        assert!(!is_met(&need(&["no-such-command"]), here));
    }
}
