//! How far a build is, as data: who shows it decides how often and in which words.

use std::fmt;
use std::time::{Duration, Instant};

/// How often a running build reports.
const INTERVAL: Duration = Duration::from_millis(200);

/// What a build is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding out what the source is.
    Looking,
    /// Fetching lists of packages, where those at hand do not have the source.
    Indexing,
    /// Fetching the source.
    Downloading,
    /// Unpacking the source.
    Unpacking,
    /// Applying the configuration.
    Configuring,
    /// Compiling, which is nearly all of the time.
    Compiling,
    /// Putting the program together.
    Linking,
    /// Trying the program, and moving it to its place.
    Storing,
    /// Removing the unpacked source and the files of the build.
    Clearing,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Looking => "looking for the source",
            Self::Indexing => "fetching lists of packages",
            Self::Downloading => "downloading the source",
            Self::Unpacking => "unpacking the source",
            Self::Configuring => "configuring",
            Self::Compiling => "compiling",
            Self::Linking => "linking",
            Self::Storing => "storing",
            Self::Clearing => "removing what the build needed",
        })
    }
}

/// Where a build is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What it is at.
    pub stage: Stage,
    /// Since its beginning.
    pub elapsed: Duration,
    /// Files compiled.
    pub objects: Objects,
}

/// A count of files that make puts out, compiled or collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// So far.
    pub done: u32,
    /// In the end, as the last build of the same configuration had it; a guess.
    pub expected: u32,
}

/// Tells a listener of the build's progress, at every new stage and now and then.
pub(crate) struct Reporter<'a> {
    listener: &'a mut dyn FnMut(Progress),
    began: Instant,
    told: Instant,
    stage: Stage,
    objects: Objects,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(listener: &'a mut dyn FnMut(Progress)) -> Self {
        let now = Instant::now();
        Self {
            listener,
            began: now,
            told: now,
            stage: Stage::Looking,
            objects: Objects::default(),
        }
    }

    pub(crate) fn expect(&mut self, objects: u32) {
        self.objects.expected = objects;
    }

    pub(crate) fn objects_done(&self) -> u32 {
        self.objects.done
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.tell();
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self) {
        if self.told.elapsed() >= INTERVAL {
            self.tell();
        }
    }

    /// Takes a line that make has put out.
    pub(crate) fn take(&mut self, line: &str) {
        if !matches!(self.stage, Stage::Compiling | Stage::Linking) {
            return;
        }
        let Some((_, object)) = step_of_make(line) else {
            return;
        };
        self.objects.done += 1;
        if self.stage == Stage::Compiling && object == "vmlinux.o" {
            self.enter(Stage::Linking);
        }
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        (self.listener)(Progress {
            stage: self.stage,
            elapsed: self.began.elapsed(),
            objects: self.objects,
        });
    }
}

/// What make does and to which file, of a line such as `  CC      init/main.o`.
fn step_of_make(line: &str) -> Option<(&str, &str)> {
    let (verb, object) = line.strip_prefix("  ")?.split_once(' ')?;
    let is_verb = !verb.is_empty() && verb.bytes().all(|c| c.is_ascii_uppercase());
    is_verb.then_some((verb, object.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_make_are_told_from_its_chatter() {
        assert_eq!(
            step_of_make("  CC      init/main.o"),
            Some(("CC", "init/main.o"))
        );
        assert_eq!(step_of_make("  LINK linux"), Some(("LINK", "linux")));
        for line in ["make[1]: Entering", "CC a.o", "  note: x", "", "  *** x"] {
            assert_eq!(step_of_make(line), None, "{line}");
        }
    }

    #[test]
    fn objects_are_counted_and_linking_begins_with_the_whole_object() {
        let mut seen = Vec::new();
        let mut listener = |progress: Progress| seen.push((progress.stage, progress.objects.done));
        let mut reporter = Reporter::new(&mut listener);
        reporter.expect(4);
        reporter.take("  HOSTCC  too/early.o");
        reporter.enter(Stage::Compiling);
        for line in [
            "  CC      a.o",
            "a.c: warning",
            "  AR      a.a",
            "  LD      vmlinux.o",
        ] {
            reporter.take(line);
        }
        reporter.take("  LINK linux");
        assert_eq!(reporter.objects_done(), 4);
        assert_eq!(seen, [(Stage::Compiling, 0), (Stage::Linking, 3)]);
    }
}
