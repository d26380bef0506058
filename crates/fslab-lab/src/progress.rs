//! Progress of a build as data; the caller decides how to show it.

use std::fmt;
use std::time::{Duration, Instant};

/// Interval of progress reports.
const INTERVAL: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildStage {
    /// Identifying the source.
    Looking,
    /// Fetching package lists, if the present ones lack the source.
    Indexing,
    /// Fetching the source.
    Downloading,
    /// Unpacking the source.
    Unpacking,
    /// Applying the configuration.
    Configuring,
    /// Compiling, nearly all of the time.
    Compiling,
    /// Linking the kernel.
    Linking,
    /// Testing the kernel and moving it into place.
    Storing,
    /// Removing the unpacked source and the build output.
    Clearing,
}

impl fmt::Display for BuildStage {
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
            Self::Clearing => "removing build files",
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub stage: BuildStage,
    /// Time since its start.
    pub elapsed: Duration,
    /// Files compiled.
    pub objects: Objects,
}

/// Count of files that make produces, compiled or linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// Done so far.
    pub done: u32,
    /// Expected at the end: the count of the last build of the same configuration.
    pub expected: u32,
}

/// Reports progress to a listener: at each new stage and at intervals.
pub(crate) struct Reporter<'a> {
    listener: &'a mut dyn FnMut(Progress),
    began: Instant,
    reported: Instant,
    stage: BuildStage,
    objects: Objects,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(listener: &'a mut dyn FnMut(Progress)) -> Self {
        let now = Instant::now();
        Self {
            listener,
            began: now,
            reported: now,
            stage: BuildStage::Looking,
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

    pub(crate) fn enter(&mut self, stage: BuildStage) {
        self.stage = stage;
        self.report();
    }

    /// Reports if the interval has passed.
    pub(crate) fn tick(&mut self) {
        if self.reported.elapsed() >= INTERVAL {
            self.report();
        }
    }

    /// Counts a line of make's output.
    pub(crate) fn take(&mut self, line: &str) {
        if !matches!(self.stage, BuildStage::Compiling | BuildStage::Linking) {
            return;
        }
        let Some((_, object)) = step_of_make(line) else {
            return;
        };
        self.objects.done += 1;
        if self.stage == BuildStage::Compiling && object == "vmlinux.o" {
            self.enter(BuildStage::Linking);
        }
    }

    fn report(&mut self) {
        self.reported = Instant::now();
        (self.listener)(Progress {
            stage: self.stage,
            elapsed: self.began.elapsed(),
            objects: self.objects,
        });
    }
}

/// Parses a line of make such as `  CC      init/main.o` into verb and file.
fn step_of_make(line: &str) -> Option<(&str, &str)> {
    let (verb, object) = line.strip_prefix("  ")?.split_once(' ')?;
    let is_verb = !verb.is_empty() && verb.bytes().all(|c| c.is_ascii_uppercase());
    is_verb.then_some((verb, object.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_make_are_distinguished_from_other_output() {
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
    fn objects_are_counted_and_linking_begins_with_vmlinux() {
        let mut seen = Vec::new();
        let mut listener = |progress: Progress| seen.push((progress.stage, progress.objects.done));
        let mut reporter = Reporter::new(&mut listener);
        reporter.expect(4);
        reporter.take("  HOSTCC  too/early.o");
        reporter.enter(BuildStage::Compiling);
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
        assert_eq!(seen, [(BuildStage::Compiling, 0), (BuildStage::Linking, 3)]);
    }
}
