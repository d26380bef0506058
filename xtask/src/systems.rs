//! The README's two commands in a Debian made from nothing, with debootstrap(8): `make demo` and
//! `make test` as a newcomer types them. The toolchain is this machine's, the rest is the suite's.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::program;

pub(crate) const USAGE: &str = "usage: cargo xtask systems [SUITE...] [--only demo|test] [--keep]

Makes each suite of Debian (default: bookworm trixie sid) in target/systems/SUITE with debootstrap,
clones the checkout into it, and runs `make demo` and `make test` there. Needs root, debootstrap and
about 25 GB and an hour a suite. What was printed is in target/systems/SUITE-STEP.log.

  --only STEP  Run only this step
  --keep       Take the system that an earlier run left, and leave it
";

const SUITES: [&str; 3] = ["bookworm", "trixie", "sid"];
const STEPS: [&str; 2] = ["demo", "test"];
/// What a clone is built with; the rest is installed by scripts/setup.
const FIRST_PACKAGES: &str = "ca-certificates,git,make";

/// Runs `cargo xtask systems WORDS`.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let Some(asked) = Asked::of(words) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut is_good = true;
    let mut rows = Vec::new();
    for suite in &asked.suites {
        let system = System {
            root,
            suite,
            folder: root.join("target/systems").join(suite),
        };
        if let Err(why) = system.make(asked.keeps) {
            eprintln!("systems: {suite}: {why}");
            rows.push(format!("{suite:<10} was not made: {why}"));
            is_good = false;
            continue;
        }
        for step in STEPS
            .iter()
            .filter(|step| asked.only.is_none_or(|only| only == **step))
        {
            let ran = system.step(step);
            is_good &= ran.as_ref().is_ok_and(|ran| ran.is_good);
            rows.push(match ran {
                Ok(ran) => format!("{suite:<10} make {step:<5} {ran}", ran = ran.text()),
                Err(why) => format!("{suite:<10} make {step:<5} did not start: {why}"),
            });
        }
        if !asked.keeps
            && let Err(why) = fs::remove_dir_all(&system.folder)
        {
            eprintln!("systems: cannot remove {}: {why}", system.folder.display());
        }
    }
    println!("{}", rows.join("\n"));
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

struct Asked<'w> {
    suites: Vec<&'w str>,
    only: Option<&'w str>,
    keeps: bool,
}

impl<'w> Asked<'w> {
    fn of(words: &[&'w str]) -> Option<Self> {
        let mut asked = Self {
            suites: Vec::new(),
            only: None,
            keeps: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--keep" => asked.keeps = true,
                "--only" => asked.only = Some(words.next().filter(|it| STEPS.contains(it))?),
                suite if suite.chars().all(|c| c.is_ascii_alphanumeric()) => {
                    asked.suites.push(suite);
                }
                _ => return None,
            }
        }
        if asked.suites.is_empty() {
            asked.suites.extend(SUITES);
        }
        Some(asked)
    }
}

/// A Debian in a folder.
struct System<'r> {
    root: &'r Path,
    suite: &'r str,
    folder: PathBuf,
}

impl System<'_> {
    /// Makes it, with a clone of the checkout.
    fn make(&self, keeps: bool) -> Result<(), String> {
        let is_there = self.folder.join("fslab").is_dir();
        if keeps && is_there {
            return Ok(());
        }
        let folder = self.folder.display().to_string();
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)
                .map_err(|why| format!("cannot empty {folder}: {why}"))?;
        }
        let include = format!("--include={FIRST_PACKAGES}");
        program::run(Command::new("debootstrap").args([
            "--variant=minbase",
            &include,
            self.suite,
            &folder,
        ]))?;
        // A suite's copies of lists may be older than their date allows.
        let settings = self.folder.join("etc/apt/apt.conf.d/99systems");
        fs::write(settings, "Acquire::Check-Valid-Until \"false\";\n")
            .map_err(|why| why.to_string())?;
        let names = self.folder.join("etc/resolv.conf");
        fs::copy("/etc/resolv.conf", names).map_err(|why| why.to_string())?;
        let clone = self.folder.join("fslab");
        program::run(
            Command::new("git")
                .args(["clone", "--quiet", "--no-hardlinks"])
                .arg(self.root)
                .arg(clone),
        )
    }

    /// Runs `make STEP` in it. Its mounts end with it.
    fn step(&self, step: &str) -> Result<Ran, String> {
        let log = PathBuf::from(format!("{}-{step}.log", self.folder.display()));
        let file = File::create(&log).map_err(|why| format!("{}: {why}", log.display()))?;
        let errors = file.try_clone().map_err(|why| why.to_string())?;
        let script = "
            set -eu
            mount -t proc proc \"$1/proc\"
            mount --rbind /sys \"$1/sys\"
            mount --rbind /dev \"$1/dev\"
            mkdir -p \"$1/root/.cargo\" \"$1/root/.rustup\"
            mount --bind \"${CARGO_HOME:-$HOME/.cargo}\" \"$1/root/.cargo\"
            mount --bind \"${RUSTUP_HOME:-$HOME/.rustup}\" \"$1/root/.rustup\"
            unset CARGO_HOME RUSTUP_HOME CARGO CARGO_MANIFEST_DIR CARGO_TARGET_DIR
            export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
            exec chroot \"$1\" sh -c 'cd /fslab && exec make \"$0\"' \"$2\"";
        let begun = Instant::now();
        let status = Command::new("unshare")
            .args([
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                script,
                "systems",
            ])
            .arg(&self.folder)
            .arg(step)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .status()
            .map_err(|why| format!("unshare: {why}"))?;
        Ok(Ran {
            is_good: status.success(),
            minutes: begun.elapsed().as_secs_f64() / 60.0,
            log,
        })
    }
}

/// A step that ended.
struct Ran {
    is_good: bool,
    minutes: f64,
    log: PathBuf,
}

impl Ran {
    fn text(&self) -> String {
        let result = if self.is_good { "passed" } else { "FAILED" };
        format!(
            "{result} in {:.0} min: {}",
            self.minutes,
            self.log.display()
        )
    }
}
