//! One run of fslab in changed surroundings: the scripts, the namespaces, and whether the change
//! took effect.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::perturbations::{Need, Perturbation};
use super::programs::cannot;
use crate::program::run;

/// What a perturbation's text exits with where this machine lacks what it changes.
const NOT_HERE: i32 = 77;
/// What fslab exits with where a subject failed: a record, too.
const SOME_FAILED: i32 = 3;
/// How many lines of a failed run are shown.
const LINES_SHOWN: usize = 6;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// What all runs have in common.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Holds everything; `cache` in it is the copy of the lab.
    pub(crate) work: PathBuf,
    /// The program that is not changed; it reads all stores.
    pub(crate) plain: PathBuf,
    /// What follows `fslab compare`.
    pub(crate) words: Vec<String>,
    pub(crate) rights: Rights,
}

/// What this process may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    Root,
    /// Root of a namespace of users: it mounts, and no more.
    Mounts,
    None,
}

/// A run under one or more perturbations.
#[derive(Debug)]
pub(crate) struct Run {
    /// The perturbations that it was run without, and why; this says nothing of fslab.
    pub(crate) not_run: Vec<(&'static str, String)>,
    /// `None`: no perturbation is left.
    pub(crate) ended: Option<Ended>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Its exact records, and what was read outside and inside for each perturbation.
    Done {
        export: String,
        readings: Vec<[String; 2]>,
    },
    /// Why there are no records.
    Failed(String),
}

/// How a try to run under some perturbations ended.
enum Tried {
    Ended(Ended),
    /// The perturbation of this name cannot be run here, and why.
    Without(&'static str, String),
}

impl Rights {
    /// What this process may do, found out by doing it.
    pub(crate) fn probe() -> Self {
        let can = |words: &[&str]| {
            let mut unshare = Command::new("unshare");
            let unshare = unshare.args(words).args(["--mount", "true"]);
            let status = unshare.stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        let is_root = fs::metadata("/proc/self").is_ok_and(|own| {
            use std::os::unix::fs::MetadataExt;
            own.uid() == 0
        });
        if is_root && can(&[]) {
            Self::Root
        } else if can(&["--user", "--map-root-user"]) {
            Self::Mounts
        } else {
            Self::None
        }
    }

    /// Why `need` is not met here.
    pub(crate) fn lacks(self, need: Need) -> Option<&'static str> {
        match (need, self) {
            (Need::Nothing, _) | (_, Self::Root) | (Need::Mounts, Self::Mounts) => None,
            (Need::Mounts, Self::None) => Some("this user gets no mount namespace; run it as root"),
            (Need::Root, _) => Some("it needs root"),
        }
    }
}

impl Surroundings {
    /// Runs the study once, under all of `perturbations` that can be run here, with `program`.
    pub(crate) fn run(&self, perturbations: &[Perturbation], program: &Path) -> Run {
        let mut not_run = Vec::new();
        let mut left = Vec::new();
        for one in perturbations {
            match self.rights.lacks(one.needs) {
                Some(why) => not_run.push((one.name, why.to_owned())),
                None => left.push(*one),
            }
        }
        let mut ended = None;
        while !left.is_empty() && ended.is_none() {
            let tried = self.try_run(&left, program);
            match tried.unwrap_or_else(|why| Tried::Ended(Ended::Failed(why))) {
                Tried::Without(name, why) => {
                    not_run.push((name, why));
                    left.retain(|one| one.name != name);
                }
                Tried::Ended(how) => ended = Some(how),
            }
        }
        Run { not_run, ended }
    }

    fn try_run(&self, perturbations: &[Perturbation], program: &Path) -> Result<Tried, String> {
        let run = self.work.join("runs").join(perturbations[0].name);
        self.prepare(&run, perturbations)?;
        let tried = self.run_in(&run, perturbations, program);
        // The next run needs the room; what a run under another user left is removed by the end.
        let _ = fs::remove_dir_all(run.join("images"));
        tried
    }

    /// Writes the texts: each perturbation's starts the next one's, and the last one's the run.
    fn prepare(&self, run: &Path, perturbations: &[Perturbation]) -> Result<(), String> {
        if run.exists() {
            fs::remove_dir_all(run).map_err(|error| cannot("remove", run, &error))?;
        }
        for name in ["images", "home", "out"] {
            let folder = run.join(name);
            fs::create_dir_all(&folder).map_err(|error| cannot("make", &folder, &error))?;
        }
        let write = |name: &str, text: String| {
            let path = run.join(name);
            fs::write(&path, text).map_err(|error| cannot("write", &path, &error))
        };
        let mut inner = "set -eu\n".to_owned();
        for (number, one) in perturbations.iter().enumerate() {
            let text = quoted(reading(one));
            inner.push_str(&format!("sh -eu -c {text} >\"$RUN/reading-{number}\"\n"));
        }
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        inner.push_str(&format!(
            "exec \"$FSLAB\" compare {} --images \"$FOLDER\" --store \"$RUN/store.db\" \
             --out \"$RUN/out\" ${{JOBS:+--jobs \"$JOBS\"}}\n",
            words.join(" ")
        ));
        write(&text_name(perturbations.len()), inner)?;
        for (number, one) in perturbations.iter().enumerate() {
            let next = format!("$RUN/{}", text_name(number + 1));
            let start = one.start.replace("$RUN/inner", &next);
            let text = format!(
                "set -eu\necho {number} >\"$RUN/at\"\n{}\n{start}\n",
                one.change
            );
            write(&text_name(number), text)?;
        }
        Ok(())
    }

    fn run_in(
        &self,
        run: &Path,
        perturbations: &[Perturbation],
        program: &Path,
    ) -> Result<Tried, String> {
        let mut readings = Vec::new();
        for one in perturbations {
            readings.push([self.read_outside(run, one)?, String::new()]);
        }
        let mut words: Vec<&str> = Vec::new();
        if (perturbations.iter()).any(|one| one.needs >= Need::Mounts) {
            words.push("unshare");
            words.extend(perturbations.iter().flat_map(|one| one.spaces));
            if self.rights == Rights::Mounts {
                words.extend(["--user", "--map-root-user"]);
            }
            words.extend(["--mount", "--propagation", "private"]);
        }
        let mut command = Command::new(words.first().copied().unwrap_or("sh"));
        command.args(words.iter().skip(1));
        if !words.is_empty() {
            command.arg("sh");
        }
        command.arg(run.join(text_name(0)));
        let out = run.join("console");
        let file = File::create(&out).map_err(|error| cannot("write", &out, &error))?;
        let twin = file.try_clone();
        let twin = twin.map_err(|error| cannot("write", &out, &error))?;
        let command = self.environment(&mut command, run, program);
        let status = command.stdout(file).stderr(twin).status();
        let status = status.map_err(|error| format!("cannot start it: {error}"))?;
        let code = status.code();
        if code == Some(NOT_HERE) {
            let at = fs::read_to_string(run.join("at")).unwrap_or_default();
            let at = at
                .trim()
                .parse()
                .ok()
                .and_then(|at: usize| perturbations.get(at));
            let name = at.unwrap_or(&perturbations[0]).name;
            let why = "this machine lacks what it changes";
            return Ok(Tried::Without(name, why.to_owned()));
        }
        if !matches!(code, Some(0 | SOME_FAILED)) {
            let why = format!("{status}: {}", last_lines(&out));
            return Ok(Tried::Ended(Ended::Failed(why)));
        }
        for (number, (one, [outside, inside])) in
            perturbations.iter().zip(&mut readings).enumerate()
        {
            *inside = fs::read_to_string(run.join(format!("reading-{number}"))).unwrap_or_default();
            if !one.reading.is_empty() && inside == outside {
                let what = outside.trim().replace('\n', ", ");
                let why = format!("it had no effect here: still {what}");
                return Ok(Tried::Without(one.name, why));
            }
        }
        Ok(Tried::Ended(Ended::Done {
            export: self.export(run)?,
            readings,
        }))
    }

    /// What the perturbation's reading is without it.
    fn read_outside(&self, run: &Path, perturbation: &Perturbation) -> Result<String, String> {
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", reading(perturbation)]);
        let read = self.environment(&mut shell, run, &self.plain).output();
        let read = read.map_err(|error| format!("cannot start sh: {error}"))?;
        Ok(String::from_utf8_lossy(&read.stdout).into_owned())
    }

    fn export(&self, run: &Path) -> Result<String, String> {
        let mut fslab = Command::new(&self.plain);
        fslab.args(["export", "last", "--format", "exact", "--store"]);
        fslab.arg(run.join("store.db"));
        let exported = self.environment(&mut fslab, run, &self.plain).output();
        let exported = exported.map_err(|error| format!("cannot start fslab: {error}"))?;
        if !exported.status.success() {
            let why = String::from_utf8_lossy(&exported.stderr).into_owned();
            return Err(format!("the records cannot be read: {}", why.trim()));
        }
        String::from_utf8(exported.stdout).map_err(|_| "records that are no text".into())
    }

    /// The same environment for every run, whichever user started it.
    fn environment<'a>(
        &self,
        command: &'a mut Command,
        run: &Path,
        program: &Path,
    ) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", run.join("home"))
            .env("XDG_CACHE_HOME", self.work.join("cache"))
            .env("WORK", &self.work)
            .env("RUN", run)
            .env("FOLDER", run.join("images"))
            .env("JOBS", "")
            .env("FSLAB", program)
            .current_dir(run)
            .stdin(Stdio::null())
    }
}

/// Makes the directory of all runs, with a copy of the labs in `cache`, open to every user.
pub(crate) fn make_work(cache: &Path) -> Result<PathBuf, String> {
    let work = Path::new("/var/tmp").join(format!("fslab-exact-{}", std::process::id()));
    let labs = work.join("cache");
    fs::create_dir_all(&labs).map_err(|error| cannot("make", &labs, &error))?;
    let open = fs::set_permissions(&work, fs::Permissions::from_mode(0o755));
    open.map_err(|error| cannot("open", &work, &error))?;
    let mut copy = Command::new("cp");
    copy.args(["-a", "--reflink=auto"]).arg(cache).arg(&labs);
    run(&mut copy)?;
    let mut open = Command::new("chmod");
    run(open.args(["-R", "a+rX"]).arg(&labs))?;
    Ok(work)
}

/// All of `perturbations`, for the same reason.
pub(crate) fn all_not_run(
    perturbations: &[Perturbation],
    why: &str,
) -> Vec<(&'static str, String)> {
    let names = perturbations.iter().map(|one| one.name);
    names.map(|name| (name, why.to_owned())).collect()
}

/// The name of the text of a perturbation of this number; the run follows the last.
fn text_name(number: usize) -> String {
    format!("text-{number}")
}

/// The reading of a perturbation; one that changes nothing has none.
fn reading(perturbation: &Perturbation) -> &str {
    match perturbation.reading {
        "" => ":",
        text => text,
    }
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn last_lines(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let first = lines.len().saturating_sub(LINES_SHOWN);
    lines[first..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::perturbations::PERTURBATIONS;

    fn surroundings(program: &str) -> (PathBuf, Surroundings) {
        static MADE: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = MADE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("fslab-exact-test-{}-{number}", std::process::id());
        let work = std::env::temp_dir().join(name);
        fs::create_dir_all(&work).expect("a directory");
        let plain = work.join("fslab");
        fs::write(&plain, program).expect("written");
        fs::set_permissions(&plain, fs::Permissions::from_mode(0o755)).expect("opened");
        let surroundings = Surroundings {
            work: work.clone(),
            plain,
            words: vec!["it's".into()],
            rights: Rights::None,
        };
        (work, surroundings)
    }

    fn named(name: &str) -> Perturbation {
        let found = PERTURBATIONS.iter().find(|one| one.name == name);
        *found.expect("it is in the list")
    }

    /// Writes what it was given into the directory of the run, and prints it as its records.
    const ECHO: &str = "#!/bin/sh\n[ $1 = export ] && cat said && exit\necho \"$*\" >said\n";

    #[test]
    fn a_run_has_the_words_and_the_changed_surroundings() {
        let (work, surroundings) = surroundings(ECHO);
        let run = surroundings.run(&[named("neighbours")], &surroundings.plain);
        let Some(Ended::Done { export, readings }) = run.ended else {
            panic!("{run:?}");
        };
        assert!(export.starts_with("compare it's --images "), "{export}");
        assert!(export.ends_with("--jobs 5\n"), "{export}");
        assert_eq!(readings, [["\n", "5\n"]]);
        fs::remove_dir_all(work).expect("removed");
    }

    #[test]
    fn a_run_under_several_has_the_changes_of_all() {
        let (work, surroundings) = surroundings(ECHO);
        let together = ["folder-long", "neighbours", "priority"].map(named);
        let run = surroundings.run(&together, &surroundings.plain);
        let Some(Ended::Done { export, readings }) = run.ended else {
            panic!("{run:?}");
        };
        assert!(export.contains("nnnnnn8 --store"), "{export}");
        assert!(export.ends_with("--jobs 5\n"), "{export}");
        assert_eq!(readings[1], ["\n", "5\n"]);
        assert!(readings[2][1].starts_with("0077\n"), "{readings:?}");
        assert!(run.not_run.is_empty());
        fs::remove_dir_all(work).expect("removed");
    }

    // A proof by perturbations that perturb nothing is none.
    #[test]
    fn a_perturbation_without_effect_and_one_without_rights_are_not_run() {
        let (work, surroundings) = surroundings(ECHO);
        let idle = Perturbation {
            reading: "echo the same",
            ..named("again")
        };
        let absent = Perturbation {
            name: "absent",
            change: "exit 77",
            ..named("again")
        };
        let together = [idle, absent, named("neighbours"), named("user")];
        let run = surroundings.run(&together, &surroundings.plain);
        let reasons = [
            ("user", "needs root"),
            ("absent", "this machine lacks"),
            ("again", "had no effect"),
        ];
        assert_eq!(run.not_run.len(), reasons.len());
        for ((name, text), (expected, why)) in run.not_run.iter().zip(reasons) {
            assert!(*name == expected && text.contains(why), "{name}: {text}");
        }
        let is_done =
            matches!(&run.ended, Some(Ended::Done { export, .. }) if export.contains("--jobs 5"));
        assert!(is_done, "{run:?}");
        let run = surroundings.run(&[idle], &surroundings.plain);
        assert!(run.ended.is_none() && run.not_run.len() == 1);
        fs::remove_dir_all(work).expect("removed");
    }

    #[test]
    fn a_program_that_fails_is_a_failure_with_its_words() {
        let (work, surroundings) = surroundings("#!/bin/sh\necho it broke >&2\nexit 2\n");
        let run = surroundings.run(&[named("again")], &surroundings.plain);
        let is_failed = matches!(&run.ended, Some(Ended::Failed(why)) if why.contains("it broke"));
        assert!(is_failed, "{run:?}");
        fs::remove_dir_all(work).expect("removed");
    }
}
