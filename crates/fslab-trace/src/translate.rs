//! Translates calls into events: paths become relative to the directory, descriptors become unique
//! numbers, and calls outside of the directory are dropped.
//!
//! A call on the directory that has no event is counted in `unseen`.

use std::collections::BTreeMap;
use std::path::Path;

use fslab_model::Failure;
use fslab_sys::os::OsStrExt;

use super::translation::{Translation, Translator};
use crate::call_context::CallContext;
use crate::calls::{Call, ReturnValue, StraceItem, parse_output};
use crate::processes::Threads;
use crate::{CallOutcome, Operation, TraceEvent};

/// Translates strace's `output` of a command that started in `directory`; keeps calls below `root`.
pub fn translate(output: &str, root: &Path, directory: &Path) -> Result<Translation, Failure> {
    let items = parse_output(output)?;
    let start_ns = items.iter().map(StraceItem::at_ns).min().unwrap_or(0);
    let mut translator = Translator {
        root: root.as_os_str().as_bytes().to_vec(),
        directory: directory.as_os_str().as_bytes().to_vec(),
        start_ns,
        threads: Threads::default(),
        paths: BTreeMap::new(),
        done: Translation::default(),
    };
    for item in items {
        match item {
            StraceItem::Call(call) => translator.call(&call),
            StraceItem::Ended { thread, at_ns } => translator.thread_ended(thread, at_ns),
            StraceItem::Superseded { thread, by, at_ns } => {
                translator.thread_ended(thread, at_ns);
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

impl StraceItem {
    fn at_ns(&self) -> u64 {
        match self {
            Self::Call(call) => call.at_ns,
            Self::Ended { at_ns, .. } | Self::Superseded { at_ns, .. } => *at_ns,
        }
    }
}

impl Translator {
    fn call(&mut self, call: &Call) {
        let thread = self.threads.get(call.thread, &self.directory);
        if call.returned == ReturnValue::None {
            return;
        }
        let context = CallContext {
            translator: self,
            call,
            thread,
        };
        context.translate();
    }

    fn thread_ended(&mut self, id: u32, at_ns: u64) {
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
