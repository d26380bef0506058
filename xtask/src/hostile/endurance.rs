//! Runs that are killed at random moments and resumed, and runs whose processes are all stopped and
//! continued. In virtual time they end with the records of a run that nothing has disturbed.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::processes::{signal, tree};
use super::progress::Progress;
use super::scene::Scene;

/// How long all processes are stopped.
const STOPPED: Duration = Duration::from_secs(3);
/// What fslab exits with where there is no run to resume, and where a trial has failed.
const BAD_INPUT: i32 = 2;
const TRIALS_FAILED: i32 = 3;
/// A run that is not done after so many kills is killed no more.
const KILLS_OF_A_RUN: usize = 60;
const STORE: &str = "runs.db";

/// A venue with what it is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    pub(super) venue: &'static str,
    words: &'static [&'static str],
}

pub(super) const GROUNDS: [Ground; 3] = [
    Ground {
        venue: "sim",
        words: &["ext4", "xfs", "--perturb", "off", "--repeats", "1"],
    },
    Ground {
        venue: "guest",
        words: &["ext4", "xfs", "--repeats", "1"],
    },
    Ground {
        venue: "loop",
        words: &["ext4", "xfs", "--repeats", "1"],
    },
];

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Kills or stops that hit a running process.
    pub(super) hits: usize,
    /// Runs that were brought to their end.
    pub(super) runs: usize,
}

/// A study in a venue, and what it gives undisturbed.
pub(super) struct Endurance<'a> {
    scene: &'a Scene,
    words: Vec<String>,
    /// The exact records; `None` in real time.
    exact: Option<Vec<u8>>,
    took: Duration,
}

impl<'a> Endurance<'a> {
    /// Runs the study once, undisturbed.
    pub(super) fn new(scene: &'a Scene, ground: Ground, study: &Path) -> Result<Self, String> {
        let mut words = vec!["compare".to_owned()];
        words.extend(ground.words.iter().map(|word| (*word).to_owned()));
        let paths = [
            ("--study", study.to_owned()),
            ("--images", scene.at("images")),
            ("--store", scene.at(STORE)),
            ("--out", scene.at("out")),
        ];
        words.extend(["--venue", ground.venue, "--seed", "1"].map(str::to_owned));
        for (option, path) in paths {
            words.extend([option.to_owned(), path.display().to_string()]);
        }
        let mut endurance = Self {
            scene,
            words,
            exact: None,
            took: Duration::ZERO,
        };
        let began = Instant::now();
        let ended = scene.run(&endurance.words)?;
        endurance.took = began.elapsed();
        if ended.code != Some(0) {
            return Err(format!(
                "undisturbed in {}: {}",
                ground.venue,
                ended.words()
            ));
        }
        if ground.venue == "sim" {
            endurance.exact = Some(endurance.exported()?);
        }
        endurance.begin_anew()?;
        Ok(endurance)
    }

    /// Kills runs at random moments until `kills` have hit one.
    pub(super) fn kill(&self, kills: usize, chance: &mut Chance) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let mut progress = Progress::new("kills", kills);
        while counts.hits < kills {
            let mut of_run = 0;
            let mut is_first = true;
            loop {
                let most = match of_run < KILLS_OF_A_RUN && counts.hits < kills {
                    true => Some(self.took),
                    false => None,
                };
                let moment = most.map(|most| chance.moment(most));
                let (code, was_hit) = self.run_until(moment, is_first, chance)?;
                if was_hit {
                    counts.hits += 1;
                    of_run += 1;
                }
                progress.reached(counts.hits);
                self.clean()?;
                match code {
                    Some(0) => break,
                    // Nothing was stored before the kill.
                    Some(BAD_INPUT) if !is_first => is_first = true,
                    // A part of the run was killed, and is repeated.
                    None | Some(TRIALS_FAILED | 4..) => is_first = false,
                    Some(code) => {
                        return Err(format!("exit {code} of a run: {}", self.scene.said()));
                    }
                }
            }
            counts.runs += 1;
            self.ensure_whole()?;
            self.begin_anew()?;
        }
        Ok(counts)
    }

    /// Starts or resumes the run, and kills it, or one of its processes, at `moment`. Returns the
    /// exit code, `None` after a signal, and whether something was killed.
    fn run_until(
        &self,
        moment: Option<Duration>,
        is_first: bool,
        chance: &mut Chance,
    ) -> Result<(Option<i32>, bool), String> {
        let mut words = self.words.clone();
        if !is_first {
            words.push("--resume".to_owned());
        }
        let mut child = self.scene.start(&words)?;
        let mut was_hit = false;
        if let Some(moment) = moment {
            thread::sleep(moment);
            if matches!(child.try_wait(), Ok(None)) {
                let all = tree(child.id());
                // Mostly fslab itself, else whatever runs below it.
                let victim = match chance.below(4) {
                    0 => all[chance.below(all.len())],
                    _ => child.id(),
                };
                signal(&[victim], "KILL")?;
                was_hit = true;
            }
        }
        Ok((self.scene.wait(&mut child)?, was_hit))
    }

    /// Stops all processes of runs for a time, `stops` times.
    pub(super) fn stop(&self, stops: usize, chance: &mut Chance) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let mut progress = Progress::new("stops", stops);
        while counts.hits < stops {
            progress.reached(counts.hits);
            let mut child = self.scene.start(&self.words)?;
            thread::sleep(chance.moment(self.took));
            if matches!(child.try_wait(), Ok(None)) {
                let all = tree(child.id());
                signal(&all, "STOP")?;
                thread::sleep(STOPPED);
                signal(&all, "CONT")?;
                counts.hits += 1;
            }
            let code = self.scene.wait(&mut child)?;
            if code != Some(0) {
                return Err(format!(
                    "exit {code:?} of a stopped run: {}",
                    self.scene.said()
                ));
            }
            counts.runs += 1;
            self.clean()?;
            self.ensure_whole()?;
            self.begin_anew()?;
        }
        Ok(counts)
    }

    fn clean(&self) -> Result<(), String> {
        let ended = self.scene.run(&["clean"])?;
        if ended.code != Some(0) {
            return Err(format!("clean: {}", ended.words()));
        }
        match &self.scene.left()[..] {
            [] => Ok(()),
            left => Err(format!("left behind: {}", left.join("; "))),
        }
    }

    /// Every trial is done, the store is sound, and in virtual time no number is another.
    fn ensure_whole(&self) -> Result<(), String> {
        let store = self.scene.at(STORE).display().to_string();
        let checked = self.scene.run(&["store", "check", "--store", &store])?;
        if checked.code != Some(0) {
            return Err(format!("the store: {}", checked.words()));
        }
        let shown = self
            .scene
            .run(&["show", "last", "--json", "--store", &store])?;
        let run: serde_json::Value =
            serde_json::from_slice(&shown.out).map_err(|error| format!("show: {error}"))?;
        let trials = run["trials"].as_array().map_or(&[][..], Vec::as_slice);
        let is_done = |trial: &serde_json::Value| trial["outcome"] == "done";
        let subjects = run["plan"]["subjects"].as_array().map_or(0, Vec::len);
        let repeats = run["plan"]["repeats"].as_u64().unwrap_or(1) as usize;
        if trials.len() < subjects * repeats || !trials.iter().all(is_done) {
            let text = "trials, and not all of the planned ones are done";
            return Err(format!("{} {text}", trials.len()));
        }
        match &self.exact {
            Some(exact) if *exact != self.exported()? => Err("another number".to_owned()),
            _ => Ok(()),
        }
    }

    fn exported(&self) -> Result<Vec<u8>, String> {
        let store = self.scene.at(STORE).display().to_string();
        let words = ["export", "last", "--format", "exact", "--store", &store];
        let ended = self.scene.run(&words)?;
        match ended.code {
            Some(0) => Ok(ended.out),
            _ => Err(format!("export: {}", ended.words())),
        }
    }

    /// Removes the store and the pages of a run.
    fn begin_anew(&self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("cannot remove a run: {error}");
        for suffix in ["", "-wal", "-shm"] {
            match fs::remove_file(self.scene.at(&format!("{STORE}{suffix}"))) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                _ => {}
            }
        }
        fs::remove_dir_all(self.scene.at("out")).map_err(failed)?;
        fs::create_dir(self.scene.at("out")).map_err(failed)
    }
}
