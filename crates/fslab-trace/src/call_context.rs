//! Translation of one call: dispatches on its name, and adds its event or counts it as unseen.

use super::translation::Translator;
use crate::arguments::{descriptor, descriptor_path};
use crate::calls::{Call, ReturnValue, quoted};
use crate::processes::{OpenFile, Thread};
use crate::{CallOutcome, Operation, Place, TraceEvent, TracePath};

/// Calls that neither read nor change a file system: no event, and not counted as unseen.
const IGNORED: [&str; 7] = [
    "getcwd",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_ctl",
    "umask",
];

/// One call, with its thread.
pub(crate) struct CallContext<'a> {
    pub(crate) translator: &'a mut Translator,
    pub(crate) call: &'a Call,
    pub(crate) thread: Thread,
}

impl CallContext<'_> {
    /// Adds the call's events to the translation.
    pub(crate) fn translate(mut self) {
        let name = self.call.name.as_str();
        if self.call.creates_thread() {
            return self.spawn();
        }
        let operation = match name {
            "open" | "creat" | "openat" | "openat2" => return self.open(),
            "close" => return self.close(),
            "close_range" => return self.close_range(),
            "dup" | "dup2" | "dup3" | "fcntl" => return self.duplicate(),
            "chdir" | "fchdir" => return self.change_directory(),
            "execve" | "execveat" => return self.exec(),
            "wait4" | "waitid" => return self.wait(),
            _ => self
                .data_operation()
                .or_else(|| self.name_operation())
                .or_else(|| self.attribute_operation()),
        };
        match operation {
            Some(operation) => self.add_event(operation),
            // The request, not the call, names the operation.
            None if name == "ioctl" && self.handle(0).is_some() => {
                self.count_as(&format!("ioctl {}", self.call.argument(1)));
            }
            None => self.count_unseen(),
        }
    }

    /// Enters a new descriptor into the process's table; returns the open file's number.
    pub(crate) fn insert(&mut self, descriptor: i64, close_on_exec: bool) -> u32 {
        let handle = self.translator.threads.handle();
        if let Ok(descriptor) = i32::try_from(descriptor) {
            let file = OpenFile {
                handle,
                close_on_exec,
            };
            self.thread.files.borrow_mut().insert(descriptor, file);
        }
        handle
    }

    /// The open file of the argument at `index`; `None` if it is not below the directory.
    pub(crate) fn handle(&self, index: usize) -> Option<u32> {
        let descriptor = descriptor(self.call.argument(index))?;
        let files = self.thread.files.borrow();
        files.get(&descriptor).map(|file| file.handle)
    }

    pub(crate) fn handle_place(&self, index: usize) -> Option<Place> {
        self.handle(index).map(|handle| Place::Handle { handle })
    }

    pub(crate) fn path_place(
        &mut self,
        directory: Option<usize>,
        at: usize,
        follow: bool,
    ) -> Option<Place> {
        let path = self.path(directory, at)?;
        Some(Place::Path { path, follow })
    }

    /// The object of a call of the `at` family: the path, or the descriptor if the path is empty.
    pub(crate) fn place(&mut self, follow: bool) -> Option<Place> {
        if matches!(self.call.argument(1), "\"\"" | "NULL") {
            return self.handle_place(0);
        }
        self.path_place(Some(0), 1, follow)
    }

    /// The path in the argument `at`, relative to the descriptor in `directory`; `None` if it is
    /// not below the directory. Marks it as used.
    pub(crate) fn path(&mut self, directory: Option<usize>, at: usize) -> Option<TracePath> {
        let path = self.path_at(directory, at)?;
        self.translator.done.touched.insert(path.clone());
        Some(path)
    }

    pub(crate) fn path_at(&self, directory: Option<usize>, at: usize) -> Option<TracePath> {
        let directory = directory.map(|index| self.call.argument(index));
        let absolute = self.absolute(directory, self.call.argument(at))?;
        self.below(&absolute)
    }

    pub(crate) fn below(&self, absolute: &[u8]) -> Option<TracePath> {
        TracePath::below(&self.translator.root, absolute)
    }

    pub(crate) fn absolute(&self, directory: Option<&str>, name: &str) -> Option<Vec<u8>> {
        let name = quoted(name)?;
        if name.starts_with(b"/") {
            return Some(name);
        }
        let base = directory.and_then(descriptor_path);
        let base = base.unwrap_or_else(|| self.thread.directory.borrow().clone());
        Some([base.as_slice(), &name].join(&b'/'))
    }

    /// Adds an event with the call's outcome.
    pub(crate) fn add_event(&mut self, operation: Operation) {
        let outcome = match &self.call.returned {
            ReturnValue::Error(name) => CallOutcome::Error(name.clone()),
            ReturnValue::Number(number, _) => {
                let counts = matches!(
                    operation,
                    Operation::Read { .. }
                        | Operation::Write { .. }
                        | Operation::Copy { .. }
                        | Operation::Seek { .. }
                );
                let number = u64::try_from(*number).unwrap_or(0);
                CallOutcome::Result(if counts { number } else { 0 })
            }
            ReturnValue::Word | ReturnValue::None => CallOutcome::Result(0),
        };
        self.add_event_with(operation, outcome);
    }

    pub(crate) fn add_success(&mut self, operation: Operation) {
        self.add_event_with(operation, CallOutcome::Result(0));
    }

    pub(crate) fn add_event_with(&mut self, operation: Operation, outcome: CallOutcome) {
        let start_ns = self.translator.start_ns;
        self.translator.done.events.push(TraceEvent {
            thread: self.thread.number,
            at_ns: self.call.at_ns.saturating_sub(start_ns),
            took_ns: self.call.took_ns,
            operation,
            outcome,
        });
    }

    /// Counts a call without event if it concerns the directory.
    pub(crate) fn count_unseen(&mut self) {
        let name = self.call.name.as_str();
        if IGNORED.contains(&name) {
            return;
        }
        let arguments = 0..self.call.arguments.len();
        let names = arguments.clone().any(|index| {
            let before = index.checked_sub(1);
            self.call.argument(index) != "\"\"" && self.path_at(before, index).is_some()
        });
        let opened = arguments.clone().find_map(|index| {
            let argument = self.call.argument(index);
            descriptor(argument)?;
            let below = descriptor_path(argument).and_then(|path| self.below(&path));
            below.map(|_| self.handle(index))
        });
        match opened {
            _ if names => self.count_as(name),
            Some(Some(_)) => self.count_as(name),
            Some(None) if name == "ioctl" => {}
            Some(None) => self.count_as(&format!("{name} of a file that was open before")),
            None => {}
        }
    }

    pub(crate) fn count_as(&mut self, what: &str) {
        let count = self.translator.done.unseen.entry(what.to_owned());
        *count.or_default() += 1;
    }
}
