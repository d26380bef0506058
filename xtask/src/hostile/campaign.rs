//! The order of the campaign, and its counts.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::chance::Chance;
use super::damage;
use super::endurance::{Endurance, GROUNDS};
use super::options::{Options, USAGE};
use super::scene::Scene;

/// A study of a second or two.
const STUDY: &str = "tests/fixtures/small.toml";
const FAILED: u8 = 1;
const NOTHING_RUN: u8 = 2;

/// Runs `cargo xtask hostile WORDS` for the workspace in `root`.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let options = match Options::parse(words) {
        Ok(options) => options,
        Err(why) => {
            eprint!("hostile: {why}\n\n{USAGE}");
            return ExitCode::from(NOTHING_RUN);
        }
    };
    let fslab = match &options.fslab {
        Some(path) => std::fs::canonicalize(path)
            .map_err(|error| format!("cannot find {}: {error}", path.display())),
        None => release(root),
    };
    let fslab = match fslab {
        Ok(fslab) => fslab,
        Err(why) => {
            eprintln!("hostile: {why}");
            return ExitCode::from(NOTHING_RUN);
        }
    };
    println!("hostile: seed {}", options.seed);
    let campaign = Campaign {
        root,
        study: root.join(STUDY),
        fslab,
        options,
    };
    match campaign.all() {
        0 => ExitCode::SUCCESS,
        failures => {
            println!("hostile: {failures} parts FAILED");
            ExitCode::from(FAILED)
        }
    }
}

/// Builds the program with all optimisation.
fn release(root: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root);
    cargo.args(["build", "--release", "--locked", "--package", "fslab-cli"]);
    match cargo.status() {
        Ok(status) if status.success() => Ok(root.join("target/release/fslab")),
        Ok(status) => Err(format!("cargo build: {status}")),
        Err(error) => Err(format!("cannot start cargo: {error}")),
    }
}

struct Campaign<'a> {
    root: &'a Path,
    study: PathBuf,
    fslab: PathBuf,
    options: Options,
}

impl Campaign<'_> {
    /// Runs every part; returns how many failed.
    fn all(&self) -> usize {
        let mut failures = 0;
        let mut part = |name: &str, wanted: usize, work: &dyn Fn() -> Result<String, String>| {
            if wanted == 0 {
                return;
            }
            let began = Instant::now();
            let result = work();
            let took_s = began.elapsed().as_secs_f64();
            match result {
                Ok(counts) => println!("hostile: {name}: {counts} [{took_s:.0} s]"),
                Err(why) => {
                    failures += 1;
                    println!("hostile: {name}: FAILED: {why} [{took_s:.0} s]");
                }
            }
        };
        let options = &self.options;
        part("stores", options.stores, &|| self.stores());
        part("logs", options.logs, &|| self.logs());
        part("inputs", options.inputs, &|| self.inputs());
        for (place, ground) in GROUNDS.iter().enumerate() {
            let share = |all: usize| match options.venue.as_deref() {
                None => (all + GROUNDS.len() - 1 - place) / GROUNDS.len(),
                Some(only) if only == ground.venue => all,
                Some(_) => 0,
            };
            let name = |what: &str| format!("{what} in {}", ground.venue);
            part(&name("kills"), share(options.kills), &|| {
                self.endure(place, share(options.kills), true)
            });
            part(&name("stops"), share(options.stops), &|| {
                self.endure(place, share(options.stops), false)
            });
        }
        part("snapshots", options.snapshots, &|| self.snapshots());
        failures
    }

    fn chance(&self, part: u64) -> Chance {
        Chance(self.options.seed.wrapping_mul(1000).wrapping_add(part))
    }

    fn endure(&self, place: usize, count: usize, kills: bool) -> Result<String, String> {
        let ground = GROUNDS[place];
        let scene = Scene::new(
            &format!("{}-{}", ground.venue, u8::from(kills)),
            &self.fslab,
        )?;
        let endurance = Endurance::new(&scene, ground, &self.study)?;
        let mut chance = self.chance(10 + 2 * place as u64 + u64::from(kills));
        let counts = match kills {
            true => endurance.kill(count, &mut chance)?,
            false => endurance.stop(count, &mut chance)?,
        };
        Ok(format!(
            "{} hit a running process, {} runs brought to their end: nothing lost, nothing left, \
             no other number",
            counts.hits, counts.runs
        ))
    }

    fn stores(&self) -> Result<String, String> {
        let scene = Scene::new("stores", &self.fslab)?;
        let counts = damage::stores(&scene, self.options.stores, &mut self.chance(1))?;
        Ok(described(counts))
    }

    fn logs(&self) -> Result<String, String> {
        let scene = Scene::new("logs", &self.fslab)?;
        let counts = damage::logs(&scene, self.options.logs, &mut self.chance(2))?;
        Ok(described(counts))
    }

    fn snapshots(&self) -> Result<String, String> {
        let scene = Scene::new("snapshots", &self.fslab)?;
        let mut chance = self.chance(3);
        let counts = damage::snapshots(&scene, &self.study, self.options.snapshots, &mut chance)?;
        Ok(described(counts))
    }

    fn inputs(&self) -> Result<String, String> {
        let mut search = crate::fuzz::command(self.root);
        search.args(["--inputs", &self.options.inputs.to_string()]);
        search.args(["--seed", &self.options.seed.to_string()]);
        match search.status() {
            Ok(status) if status.success() => Ok(format!(
                "{} inputs at least, none failed",
                self.options.inputs
            )),
            Ok(status) => Err(format!("fslab-fuzz: {status}")),
            Err(error) => Err(format!("cannot start cargo: {error}")),
        }
    }
}

fn described(counts: damage::Counts) -> String {
    format!(
        "{} damaged: {} refused, {} read as if sound, with the same output where that is compared",
        counts.refused + counts.read,
        counts.refused,
        counts.read
    )
}
