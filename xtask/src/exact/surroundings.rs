//! One run of fslab in changed surroundings: the scripts, the namespaces, and whether the change
//! took effect.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::perturbations::{Need, Perturbation};
use super::programs::{cannot, succeed};

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

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Its exact records, and what was read outside and inside.
    Done {
        export: String,
        readings: [String; 2],
    },
    /// Why it could not be run so; says nothing of fslab.
    NotRun(String),
    /// Why there are no records.
    Failed(String),
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
    /// Runs the study once, as `perturbation` says, with `program`.
    pub(crate) fn run(&self, perturbation: &Perturbation, program: &Path) -> Ended {
        if let Some(why) = self.rights.lacks(perturbation.needs) {
            return Ended::NotRun(why.to_owned());
        }
        let run = self.work.join("runs").join(perturbation.name);
        match self.prepare(&run, perturbation) {
            Ok(()) => {}
            Err(why) => return Ended::Failed(why),
        }
        let ended = self.run_in(&run, perturbation, program);
        // The next run needs the room; what a run under another user left is removed by the end.
        let _ = fs::remove_dir_all(run.join("images"));
        ended.unwrap_or_else(Ended::Failed)
    }

    fn prepare(&self, run: &Path, perturbation: &Perturbation) -> Result<(), String> {
        for name in ["images", "home", "out"] {
            let folder = run.join(name);
            fs::create_dir_all(&folder).map_err(|error| cannot("make", &folder, &error))?;
        }
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        let inner = format!(
            "set -eu\nsh -eu -c {} >\"$RUN/reading\"\nexec \"$FSLAB\" compare {} --folder \"$FOLDER\" \
             --store \"$RUN/store.db\" --out \"$RUN/out\" ${{JOBS:+--jobs \"$JOBS\"}}\n",
            quoted(reading(perturbation)),
            words.join(" ")
        );
        let outer = format!("set -eu\n{}\n{}\n", perturbation.change, perturbation.start);
        for (name, text) in [("inner", inner), ("outer", outer)] {
            let path = run.join(name);
            fs::write(&path, text).map_err(|error| cannot("write", &path, &error))?;
        }
        Ok(())
    }

    fn run_in(
        &self,
        run: &Path,
        perturbation: &Perturbation,
        program: &Path,
    ) -> Result<Ended, String> {
        let outside = self.read_outside(run, perturbation)?;
        let mut words: Vec<&str> = Vec::new();
        if perturbation.needs >= Need::Mounts {
            words.push("unshare");
            words.extend(perturbation.spaces);
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
        command.arg(run.join("outer"));
        let out = run.join("console");
        let file = File::create(&out).map_err(|error| cannot("write", &out, &error))?;
        let twin = file.try_clone();
        let twin = twin.map_err(|error| cannot("write", &out, &error))?;
        let command = self.environment(&mut command, run, program);
        let status = command.stdout(file).stderr(twin).status();
        let status = status.map_err(|error| format!("cannot start it: {error}"))?;
        let code = status.code();
        if code == Some(NOT_HERE) {
            return Ok(Ended::NotRun("this machine lacks what it changes".into()));
        }
        let inside = fs::read_to_string(run.join("reading")).unwrap_or_default();
        if !matches!(code, Some(0 | SOME_FAILED)) {
            return Ok(Ended::Failed(format!("{status}: {}", last_lines(&out))));
        }
        if !perturbation.reading.is_empty() && inside == outside {
            let what = outside.trim().replace('\n', ", ");
            return Ok(Ended::NotRun(format!(
                "it had no effect here: still {what}"
            )));
        }
        Ok(Ended::Done {
            export: self.export(run)?,
            readings: [outside, inside],
        })
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

/// Makes the folder of all runs, with a copy of the labs in `cache`, open to every user.
pub(crate) fn make_work(cache: &Path) -> Result<PathBuf, String> {
    let work = Path::new("/var/tmp").join(format!("fslab-exact-{}", std::process::id()));
    let labs = work.join("cache");
    fs::create_dir_all(&labs).map_err(|error| cannot("make", &labs, &error))?;
    let open = fs::set_permissions(&work, fs::Permissions::from_mode(0o755));
    open.map_err(|error| cannot("open", &work, &error))?;
    let mut copy = Command::new("cp");
    copy.args(["-a", "--reflink=auto"]).arg(cache).arg(&labs);
    succeed(&mut copy)?;
    let mut open = Command::new("chmod");
    succeed(open.args(["-R", "a+rX"]).arg(&labs))?;
    Ok(work)
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
        fs::create_dir_all(&work).expect("a folder");
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

    /// Writes what it was given into the folder of the run, and prints it as its records.
    const ECHO: &str = "#!/bin/sh\n[ $1 = export ] && cat said && exit\necho \"$*\" >said\n";

    #[test]
    fn a_run_has_the_words_and_the_changed_surroundings() {
        let (work, surroundings) = surroundings(ECHO);
        let ended = surroundings.run(&named("neighbours"), &surroundings.plain);
        let Ended::Done { export, readings } = ended else {
            panic!("{ended:?}");
        };
        assert!(export.starts_with("compare it's --folder "), "{export}");
        assert!(export.ends_with("--jobs 5\n"), "{export}");
        assert_eq!(readings, ["\n", "5\n"]);
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
        for (perturbation, why) in [(idle, "had no effect"), (named("user"), "needs root")] {
            let ended = surroundings.run(&perturbation, &surroundings.plain);
            let is_not_run = matches!(&ended, Ended::NotRun(text) if text.contains(why));
            assert!(is_not_run, "{ended:?}");
        }
        fs::remove_dir_all(work).expect("removed");
    }

    #[test]
    fn a_program_that_fails_is_a_failure_with_its_words() {
        let (work, surroundings) = surroundings("#!/bin/sh\necho it broke >&2\nexit 2\n");
        let ended = surroundings.run(&named("again"), &surroundings.plain);
        let is_failed = matches!(&ended, Ended::Failed(why) if why.contains("it broke"));
        assert!(is_failed, "{ended:?}");
        fs::remove_dir_all(work).expect("removed");
    }
}
