//! State of the traced processes: threads, descriptor tables, working directories.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// An entry of a descriptor table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenFile {
    /// Its number in the trace.
    pub(crate) handle: u32,
    /// Whether execve(2) closes it.
    pub(crate) close_on_exec: bool,
}

/// Descriptor table of a process, limited to files below the directory.
pub(crate) type Table = BTreeMap<i32, OpenFile>;

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    /// Its number in the trace.
    pub(crate) number: u32,
    /// Shared between threads with CLONE_FILES.
    pub(crate) files: Rc<RefCell<Table>>,
    /// Shared between threads with CLONE_FS.
    pub(crate) directory: Rc<RefCell<Vec<u8>>>,
}

/// What a new thread shares with its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    pub(crate) files: bool,
    pub(crate) directory: bool,
}

/// Running threads by thread id.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    alive: HashMap<u32, Thread>,
    /// Numbers in the trace of all threads, ended ones too, by their last thread id.
    numbers: HashMap<u32, u32>,
    next_thread: u32,
    next_handle: u32,
}

impl Threads {
    /// The thread `id`. An unknown id is a new process in `directory`: the traced command.
    pub(crate) fn get(&mut self, id: u32, directory: &[u8]) -> Thread {
        if let Some(thread) = self.alive.get(&id) {
            return thread.clone();
        }
        let thread = Thread {
            number: self.number(id),
            files: Rc::default(),
            directory: Rc::new(RefCell::new(directory.to_vec())),
        };
        self.alive.insert(id, thread.clone());
        thread
    }

    /// Adds the thread `id`, created by `parent`. Returns its number and the inherited open files
    /// (old number, new number).
    pub(crate) fn spawn(
        &mut self,
        id: u32,
        parent: &Thread,
        sharing: Sharing,
    ) -> (u32, Vec<(u32, u32)>) {
        let mut inherited = Vec::new();
        let files = if sharing.files {
            Rc::clone(&parent.files)
        } else {
            let mut table = parent.files.borrow().clone();
            for file in table.values_mut() {
                let new = self.handle();
                inherited.push((file.handle, new));
                file.handle = new;
            }
            Rc::new(RefCell::new(table))
        };
        let directory = if sharing.directory {
            Rc::clone(&parent.directory)
        } else {
            Rc::new(RefCell::new(parent.directory.borrow().clone()))
        };
        let number = self.number(id);
        let thread = Thread {
            number,
            files,
            directory,
        };
        self.alive.insert(id, thread);
        (number, inherited)
    }

    /// Removes the thread `id`. Returns its number and the open files that are closed.
    pub(crate) fn end(&mut self, id: u32) -> Option<(u32, Vec<u32>)> {
        let thread = self.alive.remove(&id)?;
        // Another thread may still use the table.
        let table = Rc::try_unwrap(thread.files).map(RefCell::into_inner);
        let closed = table.map_or_else(
            |_| Vec::new(),
            |table| table.values().map(|file| file.handle).collect(),
        );
        Some((thread.number, closed))
    }

    /// The thread `by` takes over the id of `id`, which has ended.
    pub(crate) fn supersede(&mut self, id: u32, by: u32) {
        if let Some(thread) = self.alive.remove(&by) {
            self.numbers.insert(id, thread.number);
            self.alive.insert(id, thread);
        }
    }

    /// Number in the trace of the thread `id`, also after its end.
    pub(crate) fn number_of(&self, id: u32) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// A new number for an open file.
    pub(crate) fn handle(&mut self) -> u32 {
        self.next_handle += 1;
        self.next_handle - 1
    }

    /// Open files so far.
    pub(crate) fn handles(&self) -> u32 {
        self.next_handle
    }

    /// Threads so far.
    pub(crate) fn threads(&self) -> u32 {
        self.next_thread
    }

    fn number(&mut self, id: u32) -> u32 {
        let number = self.next_thread;
        self.next_thread += 1;
        self.numbers.insert(id, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_inherits_copies_and_a_thread_shares() {
        let mut threads = Threads::default();
        let first = threads.get(10, b"/");
        let handle = threads.handle();
        let file = OpenFile {
            handle,
            close_on_exec: false,
        };
        first.files.borrow_mut().insert(3, file);
        let all = Sharing {
            files: true,
            directory: true,
        };
        assert_eq!(threads.spawn(11, &first, all), (1, vec![]));
        assert_eq!(
            threads.spawn(12, &first, Sharing::default()),
            (2, vec![(0, 1)])
        );
        drop(first);
        assert_eq!(
            threads.end(10),
            Some((0, vec![])),
            "another thread still uses the table"
        );
        assert_eq!(threads.end(11), Some((1, vec![0])));
        assert_eq!(threads.end(12), Some((2, vec![1])));
        assert_eq!(threads.end(12), None);
        assert_eq!(threads.number_of(12), Some(2));
    }
}
