//! Schedule of a replay: which operation waits for which, so that another speed gives the same
//! result.
//!
//! The operations of a thread keep their order. An operation waits for those of other threads that
//! had ended when it started and with which it does not commute. The rule is that of shared and
//! exclusive locks:
//!
//! | resource | shared by | exclusive to |
//! |---|---|---|
//! | name | operations on it or below it | its creation, removal, replacement |
//! | entries of a directory | creation and removal of an entry | a listing |
//! | content of a file | read, sync | write, truncation |
//! | open file | operations at a given offset | those at its position, open, close |
//!
//! Operations that overlapped when recorded stay unordered. A thread starts after the operation
//! that created it, and a recorded wait for its end is kept. Dependences through pipes, signals
//! and memory are not seen: see docs/traces.md.

use std::collections::HashMap;

use crate::{Operation, Place, Trace, TraceEvent, TracePath};

/// Wait until a thread has done this many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub thread: u32,
    /// Number of its steps.
    pub steps: u32,
}

/// One operation of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index in the trace's events.
    pub event: usize,
    /// What it waits for.
    pub waits: Vec<Wait>,
    /// Think time: from the end of all that it waits for to its start, as recorded.
    pub think_ns: u64,
}

/// The operations of a thread, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// The operations.
    pub steps: Vec<Step>,
}

/// The operations of all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// One lane per thread, by number.
    pub lanes: Vec<Lane>,
}

/// A resource that orders operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Resource {
    Name(TracePath),
    Entries(TracePath),
    Content(u32),
    Handle(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Shared,
    Exclusive,
}

/// An earlier operation.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// Its number among the steps of its thread, from 1.
    step: u32,
    end_ns: u64,
}

/// The last two uses by one thread. They do not overlap each other, so that when an operation of
/// another thread starts, at most the later one is still running.
#[derive(Clone, Copy, Debug, Default)]
struct LastTwo([Option<Past>; 2]);

impl LastTwo {
    fn add(&mut self, past: Past) {
        self.0 = [Some(past), self.0[0]];
    }

    /// The later one of those that had ended at `at_ns`.
    fn over_at(&self, at_ns: u64) -> Option<Past> {
        self.0
            .iter()
            .flatten()
            .copied()
            .find(|past| past.end_ns <= at_ns)
    }
}

/// Earlier uses of a resource, by thread.
#[derive(Debug, Default)]
struct History {
    shared: HashMap<u32, LastTwo>,
    exclusive: HashMap<u32, LastTwo>,
}

impl Schedule {
    /// The schedule of `trace`.
    pub fn of(trace: &Trace) -> Self {
        let mut planner = Planner::new(trace);
        for (index, event) in trace.events.iter().enumerate() {
            planner.plan(index, event);
        }
        planner.schedule
    }
}

struct Planner {
    schedule: Schedule,
    resources: HashMap<Resource, History>,
    files: Files,
    /// When each thread was free to continue, as recorded.
    free_ns: Vec<u64>,
    /// For each thread: steps of other threads that it has already waited for.
    known: Vec<HashMap<u32, u32>>,
}

impl Planner {
    fn new(trace: &Trace) -> Self {
        let threads = trace.header.threads as usize;
        Self {
            schedule: Schedule {
                lanes: vec![Lane::default(); threads],
            },
            resources: HashMap::new(),
            files: Files::default(),
            free_ns: vec![0; threads],
            known: vec![HashMap::new(); threads],
        }
    }

    fn plan(&mut self, index: usize, event: &TraceEvent) {
        let thread = event.thread as usize;
        let mut waits: HashMap<u32, u32> = HashMap::new();
        let mut ready_ns = self.free_ns[thread];
        let uses = self.files.uses_of(event);
        let step = Past {
            step: self.steps_of(event.thread) + 1,
            end_ns: event.end_ns(),
        };
        for (resource, mode) in uses {
            let history = self.resources.entry(resource).or_default();
            let before = match mode {
                Mode::Shared => [Some(&history.exclusive), None],
                Mode::Exclusive => [Some(&history.exclusive), Some(&history.shared)],
            };
            for (other, last_two) in before.into_iter().flatten().flatten() {
                let Some(past) = last_two.over_at(event.at_ns) else {
                    continue;
                };
                if *other != event.thread {
                    let steps = waits.entry(*other).or_default();
                    *steps = past.step.max(*steps);
                    ready_ns = ready_ns.max(past.end_ns);
                }
            }
            let mine = match mode {
                Mode::Shared => &mut history.shared,
                Mode::Exclusive => &mut history.exclusive,
            };
            mine.entry(event.thread).or_default().add(step);
        }
        match &event.operation {
            Operation::Spawn { child, .. } => self.free_ns[*child as usize] = event.at_ns,
            Operation::Wait { child } if *child != event.thread => {
                waits.insert(*child, self.steps_of(*child));
                ready_ns = ready_ns.max(self.free_ns[*child as usize]);
            }
            _ => {}
        }
        let known = &mut self.known[thread];
        waits.retain(|other, steps| known.get(other).is_none_or(|done| *done < *steps));
        known.extend(&waits);
        let mut waits: Vec<_> = waits
            .into_iter()
            .map(|(thread, steps)| Wait { thread, steps })
            .collect();
        waits.sort_by_key(|wait| wait.thread);
        self.free_ns[thread] = event.end_ns();
        self.schedule.lanes[thread].steps.push(Step {
            event: index,
            waits,
            think_ns: event.at_ns.saturating_sub(ready_ns),
        });
    }

    fn steps_of(&self, thread: u32) -> u32 {
        let count = self.schedule.lanes[thread as usize].steps.len();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

/// The files behind names and open files.
#[derive(Debug, Default)]
struct Files {
    by_name: HashMap<TracePath, u32>,
    by_handle: HashMap<u32, u32>,
    next: u32,
}

impl Files {
    /// The resources of `event`.
    fn uses_of(&mut self, event: &TraceEvent) -> Vec<(Resource, Mode)> {
        let mut uses = ResourceUses::default();
        self.add_names(event, &mut uses);
        self.add_open_files(event, &mut uses);
        if event.outcome.is_done() {
            self.apply(&event.operation);
        }
        uses.0
    }

    fn add_names(&mut self, event: &TraceEvent, uses: &mut ResourceUses) {
        let done = event.outcome.is_done();
        let change = if done { Mode::Exclusive } else { Mode::Shared };
        match &event.operation {
            Operation::Open {
                path, real, flags, ..
            } => {
                let creates = flags.contains("O_CREAT") && !self.by_name.contains_key(path);
                let mode = if creates { change } else { Mode::Shared };
                uses.name(path, mode);
                if let Some(real) = real {
                    uses.name(real, mode);
                }
                if flags.contains("O_TRUNC") && done {
                    let name = real.as_ref().unwrap_or(path);
                    uses.add(Resource::Content(self.file(name)), Mode::Exclusive);
                }
            }
            Operation::Mkdir { path, .. } | Operation::Symlink { path, .. } => {
                uses.name(path, change);
            }
            Operation::Rmdir { path } | Operation::Unlink { path } => uses.name(path, change),
            Operation::Rename { path, to, .. } => {
                uses.name(path, change);
                uses.name(to, change);
            }
            Operation::Link { path, to } => {
                uses.name(path, Mode::Shared);
                uses.name(to, change);
            }
            Operation::Access { path, .. } | Operation::Readlink { path } => {
                uses.name(path, Mode::Shared);
            }
            Operation::Stat { place } | Operation::Chmod { place, .. } => uses.place(place),
            Operation::Chown { place, .. } | Operation::Touch { place } => uses.place(place),
            Operation::Truncate { place, .. } => {
                uses.place(place);
                let file = match place {
                    Place::Path { path, .. } => Some(self.file(path)),
                    Place::Handle { handle } => self.by_handle.get(handle).copied(),
                };
                uses.content(file, Mode::Exclusive);
            }
            _ => {}
        }
    }

    fn add_open_files(&self, event: &TraceEvent, uses: &mut ResourceUses) {
        let file = |handle: &u32| self.by_handle.get(handle).copied();
        let position = |offset: &Option<u64>| match offset {
            Some(_) => Mode::Shared,
            None => Mode::Exclusive,
        };
        match &event.operation {
            Operation::Read { handle, offset, .. } => {
                uses.add(Resource::Handle(*handle), position(offset));
                uses.content(file(handle), Mode::Shared);
            }
            Operation::Write { handle, offset, .. } => {
                uses.add(Resource::Handle(*handle), position(offset));
                uses.content(file(handle), Mode::Exclusive);
            }
            Operation::Copy {
                handle,
                to,
                offset,
                to_offset,
                ..
            } => {
                uses.add(Resource::Handle(*handle), position(offset));
                uses.content(file(handle), Mode::Shared);
                uses.add(Resource::Handle(*to), position(to_offset));
                uses.content(file(to), Mode::Exclusive);
            }
            Operation::Map { handle, .. } | Operation::Sync { handle, .. } => {
                uses.add(Resource::Handle(*handle), Mode::Shared);
                uses.content(file(handle), Mode::Shared);
            }
            Operation::Allocate { handle, .. } => {
                uses.add(Resource::Handle(*handle), Mode::Shared);
                uses.content(file(handle), Mode::Exclusive);
            }
            Operation::List { handle, .. } => {
                uses.add(Resource::Handle(*handle), Mode::Exclusive);
                let directory = file(handle).and_then(|file| self.name_of(file));
                if let Some(directory) = directory {
                    uses.add(Resource::Entries(directory), Mode::Exclusive);
                }
            }
            Operation::Duplicate { handle, to } => {
                uses.add(Resource::Handle(*handle), Mode::Shared);
                uses.add(Resource::Handle(*to), Mode::Exclusive);
            }
            operation => operation
                .handles()
                .for_each(|handle| uses.add(Resource::Handle(handle), Mode::Exclusive)),
        }
    }

    /// Updates names and open files after the successful `operation`.
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Open {
                path,
                real,
                handle: Some(handle),
                ..
            } => {
                let file = self.file(real.as_ref().unwrap_or(path));
                self.by_handle.insert(*handle, file);
            }
            Operation::Duplicate { handle, to } => self.inherit(*handle, *to),
            Operation::Spawn { inherited, .. } => {
                inherited
                    .iter()
                    .for_each(|(old, new)| self.inherit(*old, *new));
            }
            Operation::Unlink { path } | Operation::Rmdir { path } => {
                self.by_name.remove(path);
            }
            Operation::Link { path, to } => {
                let file = self.file(path);
                self.by_name.insert(to.clone(), file);
            }
            Operation::Rename { path, to, .. } => {
                let moves = |name: &TracePath| name.moved(path, to);
                let moved: Vec<_> = self.by_name.keys().cloned().collect();
                for old in moved {
                    if let (Some(new), Some(file)) = (moves(&old), self.by_name.get(&old).copied())
                    {
                        self.by_name.remove(&old);
                        self.by_name.insert(new, file);
                    }
                }
            }
            _ => {}
        }
    }

    fn inherit(&mut self, old: u32, new: u32) {
        if let Some(file) = self.by_handle.get(&old).copied() {
            self.by_handle.insert(new, file);
        }
    }

    /// The file behind a name; a new one if unknown.
    fn file(&mut self, name: &TracePath) -> u32 {
        if let Some(file) = self.by_name.get(name) {
            return *file;
        }
        self.next += 1;
        self.by_name.insert(name.clone(), self.next);
        self.next
    }

    fn name_of(&self, file: u32) -> Option<TracePath> {
        let found = self.by_name.iter().find(|(_, number)| **number == file);
        found.map(|(name, _)| name.clone())
    }
}

/// The resources of one operation.
#[derive(Debug, Default)]
struct ResourceUses(Vec<(Resource, Mode)>);

impl ResourceUses {
    fn add(&mut self, resource: Resource, mode: Mode) {
        self.0.push((resource, mode));
    }

    fn content(&mut self, file: Option<u32>, mode: Mode) {
        if let Some(file) = file {
            self.add(Resource::Content(file), mode);
        }
    }

    /// Adds a name, shared use of its parents, and of its directory's entries if they change.
    fn name(&mut self, path: &TracePath, mode: Mode) {
        for above in path.ancestors() {
            self.add(Resource::Name(above), Mode::Shared);
        }
        if let (Mode::Exclusive, Some(parent)) = (mode, path.parent()) {
            self.add(Resource::Entries(parent), Mode::Shared);
        }
        self.add(Resource::Name(path.clone()), mode);
    }

    fn place(&mut self, place: &Place) {
        match place {
            Place::Path { path, .. } => self.name(path, Mode::Shared),
            Place::Handle { handle } => self.add(Resource::Handle(*handle), Mode::Shared),
        }
    }
}
