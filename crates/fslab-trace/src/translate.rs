//! From calls to events: names become relative to the folder, descriptors become numbers that are
//! given once, and what is not about the folder falls away.
//!
//! A call that touches the folder and has no event here is counted in `unseen`, never dropped in
//! silence.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::calls::{Answer, Call, Happening, happenings};
use crate::processes::Threads;
use crate::scene::Scene;
use crate::{CallOutcome, Operation, TraceError, TraceEvent, TracePath};

/// What a recording says about a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// What was done, in the order in which it began.
    pub events: Vec<TraceEvent>,
    /// How many open files there were.
    pub handles: u32,
    /// How many threads there were.
    pub threads: u32,
    /// Calls that touched the folder and have no event, with their number.
    pub unseen: BTreeMap<String, u64>,
    /// Every name that was used.
    pub touched: BTreeSet<TracePath>,
    /// Directories that were listed.
    pub listed: BTreeSet<TracePath>,
}

/// Reads strace's `output` of a command that began in `directory`; keeps what is below `root`.
///
/// # Errors
/// [`TraceError::Line`] where a line is not strace's.
pub fn translate(output: &str, root: &Path, directory: &Path) -> Result<Translation, TraceError> {
    let happenings = happenings(output)?;
    let start_ns = happenings.iter().map(Happening::at_ns).min().unwrap_or(0);
    let mut translator = Translator {
        root: root.as_os_str().as_bytes().to_vec(),
        directory: directory.as_os_str().as_bytes().to_vec(),
        start_ns,
        threads: Threads::default(),
        paths: BTreeMap::new(),
        done: Translation::default(),
    };
    for happening in happenings {
        match happening {
            Happening::Call(call) => translator.call(&call),
            Happening::Ended { thread, at_ns } => translator.ended(thread, at_ns),
            Happening::Superseded { thread, by, at_ns } => {
                translator.ended(thread, at_ns);
                translator.threads.supersede(thread, by);
            }
        }
    }
    let mut done = translator.done;
    done.handles = translator.threads.handles();
    done.threads = translator.threads.threads();
    done.events.sort_by_key(|event| event.at_ns);
    Ok(done)
}

impl Happening {
    fn at_ns(&self) -> u64 {
        match self {
            Self::Call(call) => call.at_ns,
            Self::Ended { at_ns, .. } | Self::Superseded { at_ns, .. } => *at_ns,
        }
    }
}

pub(crate) struct Translator {
    pub(crate) root: Vec<u8>,
    pub(crate) directory: Vec<u8>,
    pub(crate) start_ns: u64,
    pub(crate) threads: Threads,
    /// What an open file was opened as.
    pub(crate) paths: BTreeMap<u32, TracePath>,
    pub(crate) done: Translation,
}

impl Translator {
    fn call(&mut self, call: &Call) {
        let thread = self.threads.get(call.thread, &self.directory);
        if call.answer == Answer::None {
            return;
        }
        let scene = Scene {
            translator: self,
            call,
            thread,
        };
        scene.play();
    }

    fn ended(&mut self, id: u32, at_ns: u64) {
        if let Some((thread, closed)) = self.threads.end(id) {
            self.done.events.push(TraceEvent {
                thread,
                at_ns: at_ns.saturating_sub(self.start_ns),
                took_ns: 0,
                operation: Operation::Exit { closed },
                outcome: CallOutcome::Result(0),
            });
        }
    }
}
