//! The runs one after the other, and what is said of each.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::difference::{count, differences};
use super::options::{Options, Task, USAGE};
use super::perturbations::{PERTURBATIONS, Perturbation};
use super::programs::{Program, Programs, build_dev, copy};
use super::surroundings::{Ended, Rights, Surroundings, make_work};

/// Nothing could be compared.
const NOTHING_RUN: u8 = 2;
/// The seed, the study and all else are the defaults; repeats of virtual time that are perturbed by
/// seed would be equal, too, but take three times as long.
const UNPERTURBED: [&str; 2] = ["--perturb", "off"];

/// How many perturbations ended how.
#[derive(Debug, Default)]
struct Tally {
    equal: usize,
    differ: usize,
    failed: usize,
    not_run: usize,
}

/// Runs `cargo xtask exact WORDS` for the workspace in `root`.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let options = match Options::parse(words) {
        Ok(options) => options,
        Err(why) => {
            eprint!("exact: {why}\n\n{USAGE}");
            return ExitCode::from(NOTHING_RUN);
        }
    };
    match options.task {
        Task::List => {
            list();
            ExitCode::SUCCESS
        }
        Task::Ready if is_demanded() || lab(&options.kernel).is_ok() => ExitCode::SUCCESS,
        Task::Ready => ExitCode::FAILURE,
        Task::Run => match compare(root, &options) {
            Ok(tally) if tally.differ + tally.failed > 0 => ExitCode::FAILURE,
            Ok(tally) if tally.equal == 0 => ExitCode::from(NOTHING_RUN),
            Ok(_) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("exact: {why}");
                ExitCode::from(NOTHING_RUN)
            }
        },
    }
}

fn list() {
    for one in PERTURBATIONS {
        let mark = if one.is_sample { '*' } else { ' ' };
        println!("{mark} {:<19} {}", one.name, one.about);
    }
    println!("\n* is part of the sample");
}

/// Whether a machine without a lab is to fail.
fn is_demanded() -> bool {
    std::env::var("FSLAB_TEST_GUEST").is_ok_and(|word| word == "required")
}

/// The cache of labs that has `kernel`.
fn lab(kernel: &str) -> Result<PathBuf, String> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        PathBuf::from,
    );
    let cache = cache.join("fslab");
    let place = cache.join("names").join(kernel);
    if place.exists() {
        return Ok(cache);
    }
    let hint = "hint: `fslab lab build` makes one";
    Err(format!("there is no lab at {}\n{hint}", place.display()))
}

fn chosen(options: &Options) -> Result<Vec<Perturbation>, String> {
    let is_known = |name: &&String| PERTURBATIONS.iter().any(|one| one.name == **name);
    if let Some(name) = options.only.iter().find(|name| !is_known(name)) {
        return Err(format!("no perturbation {name}\nhint: --list names them"));
    }
    let is_chosen = |one: &&Perturbation| {
        if options.only.is_empty() {
            !options.is_sample || one.is_sample
        } else {
            options.only.iter().any(|name| name == one.name)
        }
    };
    Ok(PERTURBATIONS.iter().filter(is_chosen).copied().collect())
}

/// Runs everything that is wanted. An error: nothing could be compared.
fn compare(root: &Path, options: &Options) -> Result<Tally, String> {
    let chosen = chosen(options)?;
    let cache = lab(&options.kernel)?;
    let program = match &options.fslab {
        Some(path) => path.clone(),
        None => build_dev(root)?,
    };
    let work = make_work(&cache)?;
    let tally = compare_in(&work, root, options, &program, &chosen);
    if options.keep {
        println!("exact: the runs are kept in {}", work.display());
    } else if let Err(error) = std::fs::remove_dir_all(&work) {
        eprintln!("exact: cannot remove {}: {error}", work.display());
    }
    tally
}

fn compare_in(
    work: &Path,
    root: &Path,
    options: &Options,
    program: &Path,
    chosen: &[Perturbation],
) -> Result<Tally, String> {
    let plain = copy(program, &work.join("fslab"))?;
    let programs = Programs {
        root,
        folder: work,
        plain: plain.clone(),
    };
    let surroundings = Surroundings {
        work: work.to_owned(),
        words: words(options, work, &plain)?,
        plain,
        rights: Rights::probe(),
    };
    let base = base(&surroundings)?;
    let mut tally = Tally::default();
    for one in chosen {
        let began = Instant::now();
        let ended = match programs.path(one.program) {
            Ok(program) => surroundings.run(one, &program),
            Err(why) => Ended::NotRun(format!("the program cannot be made: {why}")),
        };
        let took_s = began.elapsed().as_secs_f64();
        println!(
            "exact: {}: {} [{took_s:.0} s]",
            one.name,
            tally.take(&base, ended)
        );
    }
    let Tally {
        equal,
        differ,
        failed,
        not_run,
    } = tally;
    println!("exact: {equal} equal, {differ} differ, {failed} failed, {not_run} not run");
    Ok(tally)
}

/// The records of the host as it is.
fn base(surroundings: &Surroundings) -> Result<String, String> {
    let began = Instant::now();
    let as_it_is = Perturbation {
        name: "base",
        program: Program::AsIs,
        ..PERTURBATIONS[0]
    };
    match surroundings.run(&as_it_is, &surroundings.plain) {
        Ended::Done { export, .. } => {
            let trials = count(&export)?;
            let took_s = began.elapsed().as_secs_f64();
            println!("exact: the host as it is: {trials} trials in {took_s:.0} s");
            Ok(export)
        }
        Ended::NotRun(why) | Ended::Failed(why) => Err(format!("the host as it is: {why}")),
    }
}

/// What follows `fslab compare`.
fn words(options: &Options, work: &Path, fslab: &Path) -> Result<Vec<String>, String> {
    let mut words = options.subjects.clone();
    words.extend(["--venue", "sim", "--kernel"].map(str::to_owned));
    words.push(options.kernel.clone());
    if let Some(study) = &options.study {
        // A file is copied to where every user finds it.
        let copied = work.join("study.toml");
        let is_file = std::fs::copy(study, &copied).is_ok();
        let study = if is_file {
            copied.display().to_string()
        } else {
            study.clone()
        };
        words.extend(["--study".to_owned(), study]);
    }
    let help = Command::new(fslab).args(["compare", "--help"]).output();
    let help = help.map_err(|error| format!("cannot start {}: {error}", fslab.display()))?;
    if String::from_utf8_lossy(&help.stdout).contains(UNPERTURBED[0]) {
        words.extend(UNPERTURBED.map(str::to_owned));
    }
    words.extend(options.further.iter().cloned());
    Ok(words)
}

impl Tally {
    /// Counts a run, and says how it ended.
    fn take(&mut self, base: &str, ended: Ended) -> String {
        let (export, readings) = match ended {
            Ended::Done { export, readings } => (export, readings),
            Ended::NotRun(why) => {
                self.not_run += 1;
                return format!("NOT RUN: {why}");
            }
            Ended::Failed(why) => {
                self.failed += 1;
                return format!("FAILED: {why}");
            }
        };
        if export == base {
            self.equal += 1;
            return format!("equal{}", told(&readings));
        }
        self.differ += 1;
        let found = match differences(base, &export) {
            Ok(found) => found,
            Err(why) => return format!("DIFFERS: {why}"),
        };
        let mut text = format!("DIFFERS in {} trials{}", found.len(), told(&readings));
        if found.is_empty() {
            text.push_str("\n    in its bytes alone: the same values, written otherwise");
        }
        for one in found {
            text.push_str("\n    ");
            text.push_str(&one.to_string());
        }
        text
    }
}

/// What was read outside and inside, where both are short.
fn told(readings: &[String; 2]) -> String {
    const SHOWN_MAX: usize = 40;
    let [outside, inside] = readings.each_ref().map(|text| text.trim());
    let is_short = |text: &str| text.len() <= SHOWN_MAX && !text.contains('\n');
    if outside == inside || !is_short(outside) || !is_short(inside) {
        return String::new();
    }
    format!(" ({}, was {})", or_none(inside), or_none(outside))
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(export: &str) -> Ended {
        Ended::Done {
            export: export.into(),
            readings: ["2\n".into(), "1\n".into()],
        }
    }

    #[test]
    fn equal_bytes_are_equal_and_all_else_is_counted_as_what_it_is() {
        let mut tally = Tally::default();
        let base = r#"[{"subject":"ext4","ns":1}]"#;
        assert_eq!(tally.take(base, done(base)), "equal (1, was 2)");
        let other = tally.take(base, done(r#"[{"subject":"ext4","ns":2}]"#));
        assert!(other.starts_with("DIFFERS in 1 trials (1, was 2)\n    ext4: first in ns"));
        let spaced = tally.take(base, done(r#"[{"subject":"ext4", "ns":1}]"#));
        assert!(spaced.contains("bytes alone"), "{spaced}");
        tally.take(base, Ended::NotRun("no root".into()));
        tally.take(base, Ended::Failed("it broke".into()));
        let Tally {
            equal,
            differ,
            failed,
            not_run,
        } = tally;
        assert_eq!((equal, differ, failed, not_run), (1, 2, 1, 1));
    }

    #[test]
    fn a_perturbation_that_is_not_known_is_refused() {
        let options = |words: &[&str]| Options::parse(words).expect("right");
        assert!(chosen(&options(&["--only", "usr"])).is_err_and(|why| why.contains("usr")));
        let only = chosen(&options(&["--only", "user,limits"])).expect("known");
        assert_eq!(only.len(), 2);
        let sample = chosen(&options(&["--sample"])).expect("known");
        assert!(sample.iter().all(|one| one.is_sample));
    }
}
