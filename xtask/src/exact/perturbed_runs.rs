//! The runs one after the other, and what is said of each.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::difference::{count, differences};
use super::options::{Options, Task, USAGE};
use super::perturbations::{PERTURBATIONS, Perturbation, TOGETHER};
use super::programs::{Program, Programs, build_dev, copy};
use super::surroundings::{Ended, Rights, Run, Surroundings, all_not_run, make_work};

/// Nothing could be compared.
const NOTHING_RUN: u8 = 2;
/// The seed, the study and all else are the defaults; repeats of virtual time that are perturbed by
/// seed would be equal, too, but take three times as long.
const UNPERTURBED: [&str; 2] = ["--perturb", "off"];

/// The time limit of a trial is one of real time, which a busy machine exceeds: that says nothing
/// of the records.
const UNLIMITED: [&str; 2] = ["--trial-limit", "4h"];

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
        println!("{:<19} {}", one.name, one.about);
    }
    println!("\nTogether:");
    for names in TOGETHER {
        println!("{}", names.join("+"));
    }
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

/// The runs, each with its perturbations in the order of the list.
fn chosen(options: &Options) -> Result<Vec<Vec<Perturbation>>, String> {
    let is_known = |name: &&String| PERTURBATIONS.iter().any(|one| one.name == **name);
    if let Some(name) = options.only.iter().flatten().find(|name| !is_known(name)) {
        return Err(format!("no perturbation {name}\nhint: --list names them"));
    }
    let of_names = |is_named: &dyn Fn(&str) -> bool| -> Vec<Perturbation> {
        let named = PERTURBATIONS.iter().filter(|one| is_named(one.name));
        named.copied().collect()
    };
    if !options.only.is_empty() {
        let runs = options.only.iter();
        return Ok(runs
            .map(|names| of_names(&|name| names.iter().any(|one| one == name)))
            .collect());
    }
    if !(options.is_sample || options.is_together) {
        return Ok(PERTURBATIONS.iter().map(|one| vec![*one]).collect());
    }
    let mut runs: Vec<_> = TOGETHER
        .iter()
        .map(|names| of_names(&|name| names.contains(&name)))
        .collect();
    if options.is_sample {
        for run in &mut runs {
            run.retain(|one| !one.program.needs_build());
        }
    }
    Ok(runs)
}

/// Runs everything that is wanted. An error: nothing could be compared.
fn compare(root: &Path, options: &Options) -> Result<Tally, String> {
    let chosen = chosen(options)?;
    let cache = lab(&options.kernel)?;
    let program = match &options.fslab {
        Some(path) => std::fs::canonicalize(path)
            .map_err(|error| format!("cannot find {}: {error}", path.display()))?,
        None => build_dev(root)?,
    };
    let work = make_work(&cache)?;
    // That of the runs, which is a copy.
    let copied = work.join("cache/fslab/names").join(&options.kernel);
    let snapshots = Snapshots(copied.join("snapshots"));
    let tally = compare_in(&work, root, options, &program, &chosen, &snapshots);
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
    chosen: &[Vec<Perturbation>],
    snapshots: &Snapshots,
) -> Result<Tally, String> {
    let plain = copy(program, work)?;
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
    snapshots.remove()?;
    let base = base(&surroundings)?;
    let mut tally = Tally::default();
    for together in chosen {
        let program = together.iter().map(|one| one.program);
        let program = program.max().unwrap_or(Program::AsIs);
        let began = Instant::now();
        snapshots.remove()?;
        let run = match programs.path(program) {
            Ok(program) => surroundings.run(together, &program),
            Err(why) => Run {
                not_run: all_not_run(together, &format!("the program cannot be made: {why}")),
                ended: None,
            },
        };
        for (name, why) in &run.not_run {
            tally.not_run += 1;
            println!("exact: {name}: NOT RUN: {why}");
        }
        let Some(ended) = run.ended else { continue };
        let names: Vec<_> = (together.iter().map(|one| one.name))
            .filter(|name| run.not_run.iter().all(|(other, _)| other != name))
            .collect();
        let took_s = began.elapsed().as_secs_f64();
        let words = tally.take(&base, names.len(), ended);
        println!("exact: {}: {words} [{took_s:.0} s]", names.join(" + "));
        if names.len() > 1 && !words.starts_with("equal") {
            println!("hint: --only {} runs each alone", names.join(","));
        }
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

/// The directory of the lab's snapshots, of which each run takes new ones: they must be equal, too.
struct Snapshots(PathBuf);

impl Snapshots {
    fn remove(&self) -> Result<(), String> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("cannot remove {}: {error}", self.0.display()))
            }
            _ => Ok(()),
        }
    }
}

/// The records of the host as it is.
fn base(surroundings: &Surroundings) -> Result<String, String> {
    let began = Instant::now();
    let as_it_is = Perturbation {
        name: "base",
        program: Program::AsIs,
        ..PERTURBATIONS[0]
    };
    match surroundings.run(&[as_it_is], &surroundings.plain).ended {
        Some(Ended::Done { export, .. }) => {
            let trials = count(&export)?;
            let took_s = began.elapsed().as_secs_f64();
            println!("exact: the host as it is: {trials} trials in {took_s:.0} s");
            Ok(export)
        }
        Some(Ended::Failed(why)) => Err(format!("the host as it is: {why}")),
        None => Err("the host as it is: it was not run".into()),
    }
}

/// What follows `fslab compare`.
fn words(options: &Options, work: &Path, fslab: &Path) -> Result<Vec<String>, String> {
    let mut words = options.subjects.clone();
    words.extend(["--venue", "sim", "--lab"].map(str::to_owned));
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
    words.extend(UNLIMITED.map(str::to_owned));
    words.extend(options.further.iter().cloned());
    Ok(words)
}

impl Tally {
    /// Counts a run under so many perturbations, and says how it ended.
    fn take(&mut self, base: &str, perturbations: usize, ended: Ended) -> String {
        let (export, readings) = match ended {
            Ended::Done { export, readings } => (export, readings),
            Ended::Failed(why) => {
                self.failed += perturbations;
                return format!("FAILED: {why}");
            }
        };
        let shown = match &readings[..] {
            [readings] => shown(readings),
            _ => String::new(),
        };
        if export == base {
            self.equal += perturbations;
            return format!("equal{shown}");
        }
        self.differ += perturbations;
        let found = match differences(base, &export) {
            Ok(found) => found,
            Err(why) => return format!("DIFFERS: {why}"),
        };
        let mut text = format!("DIFFERS in {} trials{shown}", found.len());
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
fn shown(readings: &[String; 2]) -> String {
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
            readings: vec![["2\n".into(), "1\n".into()]],
        }
    }

    #[test]
    fn equal_bytes_are_equal_and_all_else_is_counted_as_what_it_is() {
        let mut tally = Tally::default();
        let base = r#"[{"subject":"ext4","ns":1}]"#;
        assert_eq!(tally.take(base, 1, done(base)), "equal (1, was 2)");
        let other = tally.take(base, 1, done(r#"[{"subject":"ext4","ns":2}]"#));
        assert!(other.starts_with("DIFFERS in 1 trials (1, was 2)\n    ext4: first in ns"));
        let spaced = tally.take(base, 3, done(r#"[{"subject":"ext4", "ns":1}]"#));
        assert!(spaced.contains("bytes alone"), "{spaced}");
        tally.take(base, 1, Ended::Failed("it broke".into()));
        let Tally {
            equal,
            differ,
            failed,
            not_run,
        } = tally;
        assert_eq!((equal, differ, failed, not_run), (1, 4, 1, 0));
    }

    #[test]
    fn a_perturbation_that_is_not_known_is_refused() {
        let options = |words: &[&str]| Options::parse(words).expect("right");
        assert!(chosen(&options(&["--only", "usr"])).is_err_and(|why| why.contains("usr")));
        let only = chosen(&options(&["--only", "user+limits,load"])).expect("known");
        let names = only.iter().map(|run| run.iter().map(|one| one.name));
        let names: Vec<Vec<_>> = names.map(Iterator::collect).collect();
        assert_eq!(names, [vec!["limits", "user"], vec!["load"]]);
    }

    #[test]
    fn a_sample_has_all_perturbations_that_need_no_build() {
        let count = |word: &str| {
            let options = Options::parse(&[word]).expect("right");
            let runs = chosen(&options).expect("known");
            assert_eq!(runs.len(), TOGETHER.len());
            runs.iter().map(Vec::len).sum::<usize>()
        };
        assert_eq!(count("--together"), PERTURBATIONS.len() - 1);
        assert_eq!(count("--sample"), PERTURBATIONS.len() - 3);
    }
}
