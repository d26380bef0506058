//! One call with what is known of the thread that made it, and the notes that are taken of it.

use crate::arguments::{angled, descriptor};
use crate::calls::{Answer, Call, quoted};
use crate::processes::{OpenFile, Thread};
use crate::translate::Translator;
use crate::{CallOutcome, Operation, Place, TraceEvent, TracePath};

/// Calls that change nothing on a disk and read nothing from it: no event, and no mention.
const QUIET: [&str; 10] = [
    "chdir",
    "fchdir",
    "getcwd",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_ctl",
    "fcntl",
    "umask",
];

/// One call, and what is known of the thread that made it.
pub(crate) struct Scene<'a> {
    pub(crate) translator: &'a mut Translator,
    pub(crate) call: &'a Call,
    pub(crate) thread: Thread,
}

impl Scene<'_> {
    /// Takes note of it.
    pub(crate) fn play(mut self) {
        let name = self.call.name.as_str();
        if self.call.makes_a_thread() {
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
                .of_data()
                .or_else(|| self.of_names())
                .or_else(|| self.of_attributes()),
        };
        match operation {
            Some(operation) => self.note(operation),
            // What is asked of a device has many names in one call.
            None if name == "ioctl" && self.handle(0).is_some() => {
                self.count_as(&format!("ioctl {}", self.call.argument(1)));
            }
            None => self.count_unseen(),
        }
    }

    /// A number of the table for a new descriptor of this process.
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

    /// The open file of the argument at `index`, where it is one below the folder.
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

    /// What a call of the `at` family is about: its name, or its directory itself where the name
    /// is empty.
    pub(crate) fn place(&mut self, follow: bool) -> Option<Place> {
        if matches!(self.call.argument(1), "\"\"" | "NULL") {
            return self.handle_place(0);
        }
        self.path_place(Some(0), 1, follow)
    }

    /// The name at the argument `at`, relative to that at `directory`, where it is below the
    /// folder.
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
        let base = directory.and_then(angled);
        let base = base.unwrap_or_else(|| self.thread.directory.borrow().clone());
        Some([base.as_slice(), &name].join(&b'/'))
    }

    /// Notes an event with the call's own outcome.
    pub(crate) fn note(&mut self, operation: Operation) {
        let outcome = match &self.call.answer {
            Answer::Error(name) => CallOutcome::Error(name.clone()),
            Answer::Number(number, _) => {
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
            Answer::Word | Answer::None => CallOutcome::Result(0),
        };
        self.note_result(operation, outcome);
    }

    pub(crate) fn note_result_of(&mut self, operation: Operation) {
        self.note_result(operation, CallOutcome::Result(0));
    }

    pub(crate) fn note_result(&mut self, operation: Operation, outcome: CallOutcome) {
        let start_ns = self.translator.start_ns;
        self.translator.done.events.push(TraceEvent {
            thread: self.thread.number,
            at_ns: self.call.at_ns.saturating_sub(start_ns),
            took_ns: self.call.took_ns,
            operation,
            outcome,
        });
    }

    /// Counts a call that has no event, if it is about the folder.
    pub(crate) fn count_unseen(&mut self) {
        let name = self.call.name.as_str();
        if QUIET.contains(&name) {
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
            let below = angled(argument).and_then(|path| self.below(&path));
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
