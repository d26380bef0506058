//! The faults one after the other, and what is said of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use super::catalogue::{Catalogue, Mutant};
use super::fslab::Fslab;
use super::options::{Options, USAGE};
use super::rounds::rounds;
use super::tree::KernelTree;
use super::verdict::Judged;
use crate::exact::{build_dev, cannot};

/// Nothing was judged.
const NOTHING_RUN: u8 = 2;
/// The lab of the unchanged source.
const UNCHANGED: &str = "unchanged";
/// The lab of the fault that is planted.
const PLANTED: &str = "planted";

/// Runs `cargo xtask mutants WORDS` for the workspace in `root`.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let options = match Options::parse(words) {
        Ok(options) => options,
        Err(why) => {
            eprint!("mutants: {why}\n\n{USAGE}");
            return ExitCode::from(NOTHING_RUN);
        }
    };
    match session(root, &options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("mutants: {why}");
            ExitCode::from(NOTHING_RUN)
        }
    }
}

/// True if every fault was found and everything else is explained.
fn session(root: &Path, options: &Options) -> Result<bool, String> {
    let catalogue = Catalogue::read(root)?;
    let chosen = catalogue.chosen(&options.names)?;
    if options.is_list {
        for mutant in chosen {
            let reverts = mutant.reverts.as_ref();
            let reverts = reverts.map_or(String::new(), |fix| format!(" It reverts {fix}"));
            let subjects = mutant.subjects.join(", ");
            println!("{:32} {subjects}: {}{reverts}", mutant.name, mutant.fault);
        }
        return Ok(true);
    }
    let work = root.join("target/mutants");
    fs::create_dir_all(&work).map_err(|error| cannot("make", &work, &error))?;
    let program = match &options.fslab {
        Some(program) => std::path::absolute(program).map_err(|error| error.to_string())?,
        None => build_dev(root)?,
    };
    let tree = KernelTree::open(&work)?;
    let fslab = Fslab { program, work };
    let began = Instant::now();
    fslab.unpack_source(&tree.folder)?;
    fslab.build(UNCHANGED, &tree.folder)?;
    println!(
        "mutants: the unchanged kernel is there after {:.0} s",
        began.elapsed().as_secs_f64()
    );
    let mut session = Session {
        catalogue: &catalogue,
        tree: &tree,
        fslab: &fslab,
        states_max: options.states_max,
        logs: BTreeMap::new(),
        unchanged: BTreeMap::new(),
        tally: Tally::default(),
    };
    println!("{HEAD}");
    for round in rounds(&with_patches(&catalogue, chosen)?) {
        session.plant(&round)?;
    }
    let Tally {
        found,
        missed,
        failed,
        unexplained,
    } = session.tally;
    println!(
        "mutants: {found} found, {missed} not found, {failed} not run, {unexplained} reports of \
         the unchanged kernel not explained, {:.0} s",
        began.elapsed().as_secs_f64()
    );
    if !options.keep {
        for folder in ["logs", "cache", "data"] {
            let folder = fslab.work.join(folder);
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(|error| cannot("remove", &folder, &error))?;
            }
        }
    }
    Ok(missed + failed + unexplained == 0)
}

/// The faults with the texts of their patches.
fn with_patches<'a>(
    catalogue: &Catalogue,
    mutants: Vec<&'a Mutant>,
) -> Result<Vec<(&'a Mutant, String)>, String> {
    let read = |mutant: &'a Mutant| {
        let path = catalogue.patch(mutant);
        let text = fs::read_to_string(&path).map_err(|error| cannot("read", &path, &error))?;
        Ok((mutant, text))
    };
    mutants.into_iter().map(read).collect()
}

/// The head of the table.
const HEAD: &str = "fault                            subject   states  before  with it  \
                    promise          found  seconds (log, states)";

/// How many faults ended how; each subject counts.
#[derive(Debug, Default)]
struct Tally {
    found: usize,
    missed: usize,
    failed: usize,
    unexplained: usize,
}

struct Session<'a> {
    catalogue: &'a Catalogue,
    tree: &'a KernelTree,
    fslab: &'a Fslab,
    states_max: usize,
    /// Logs of the unchanged kernel, by subject and study.
    logs: BTreeMap<(String, String), PathBuf>,
    /// Their states, by log, phase and cache.
    unchanged: BTreeMap<(PathBuf, Option<String>, Option<String>), Judged>,
    tally: Tally,
}

impl Session<'_> {
    /// Builds a kernel with faults and looks for each in its subjects.
    fn plant(&mut self, round: &[&Mutant]) -> Result<(), String> {
        let began = Instant::now();
        let patches: Vec<PathBuf> = round.iter().map(|it| self.catalogue.patch(it)).collect();
        let built = self.tree.apply(&patches);
        let built = built.and_then(|()| {
            let built = self.fslab.build(PLANTED, &self.tree.folder);
            self.tree.revert()?;
            built
        });
        println!(
            "kernel with {}, {:.0} s",
            names(round),
            began.elapsed().as_secs_f64()
        );
        let each = round.iter().copied();
        let each = each.flat_map(|mutant| mutant.subjects.iter().map(move |it| (mutant, it)));
        for (mutant, subject) in each {
            let line = match &built {
                Ok(()) => self.look_for(mutant, subject),
                Err(why) => Err(why.clone()),
            };
            match line {
                Ok(line) => println!("{line}"),
                Err(why) => {
                    self.tally.failed += 1;
                    println!("{:32} {subject:9} NOT RUN: {why}", mutant.name);
                }
            }
        }
        Ok(())
    }

    /// The row of a fault in a subject.
    fn look_for(&mut self, mutant: &Mutant, subject: &str) -> Result<String, String> {
        let unchanged_log = self.unchanged_log(mutant, subject)?;
        let before = self.unchanged(mutant, subject, &unchanged_log)?;
        let began = Instant::now();
        let log = match mutant.judges {
            true => unchanged_log,
            false => {
                let (study, folder) = (self.catalogue.study(mutant), folder(&mutant.name, subject));
                self.fslab.record(subject, &study, PLANTED, &folder)?
            }
        };
        let record_s = began.elapsed().as_secs_f64();
        let judge = if mutant.judges { PLANTED } else { UNCHANGED };
        let with_it = self.fslab.judge(&log, judge, mutant, self.states_max)?;
        let judge_s = began.elapsed().as_secs_f64() - record_s;
        let shown = with_it.shown(&before, &mutant.breaks);
        match shown {
            Some(_) => self.tally.found += 1,
            None => self.tally.missed += 1,
        }
        let promise = shown.unwrap_or(&mutant.breaks[0]);
        let found = if shown.is_some() { "yes" } else { "NO" };
        Ok(format!(
            "{:32} {subject:9} {:6}  {:6}  {:7}  {promise:15}  {found:5}  {record_s:.0}, {judge_s:.0}",
            mutant.name,
            with_it.states,
            before.count(promise),
            with_it.count(promise),
        ))
    }

    fn unchanged_log(&mut self, mutant: &Mutant, subject: &str) -> Result<PathBuf, String> {
        let study = self.catalogue.study(mutant);
        let key = (subject.to_owned(), study);
        if let Some(log) = self.logs.get(&key) {
            return Ok(log.clone());
        }
        let number = self.logs.len();
        let folder = folder(&format!("{UNCHANGED}-{number}"), subject);
        let log = self.fslab.record(subject, &key.1, UNCHANGED, &folder)?;
        self.logs.insert(key, log.clone());
        Ok(log)
    }

    /// The states of the unchanged kernel; what it breaks and nothing explains is said once.
    fn unchanged(&mut self, mutant: &Mutant, subject: &str, log: &Path) -> Result<Judged, String> {
        let key = (log.to_owned(), mutant.phase.clone(), mutant.cache.clone());
        if let Some(judged) = self.unchanged.get(&key) {
            return Ok(judged.clone());
        }
        let judged = self.fslab.judge(log, UNCHANGED, mutant, self.states_max)?;
        for (promise, states) in &judged.promised {
            if !self.catalogue.is_explained(subject, promise) {
                self.tally.unexplained += 1;
                println!(
                    "the unchanged kernel breaks {promise} with {subject} in {states} of {} states \
                     of {}, and tests/mutants/mutants.toml does not explain it",
                    judged.states, mutant.study
                );
            }
        }
        self.unchanged.insert(key, judged.clone());
        Ok(judged)
    }
}

fn names(round: &[&Mutant]) -> String {
    let names: Vec<&str> = round.iter().map(|it| it.name.as_str()).collect();
    names.join(", ")
}

/// The directory of a log; a subject may have mount options.
fn folder(name: &str, subject: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.+".contains(c);
    let subject = subject.replace(|c| !is_plain(c), "_");
    format!("{name}-{subject}")
}
