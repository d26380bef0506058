//! Which operation must wait for which, so that a trace that is issued again at another speed does
//! the same.
//!
//! The operations of a thread keep their order. Between threads, an operation waits for those that
//! were over when it began and that it could not be exchanged with:
//!
//! | what | is used | is changed |
//! |---|---|---|
//! | a name | by what is below it, and by what looks at it | where it comes, goes or is replaced |
//! | a directory's entries | where one comes or goes | by a listing (they exclude each other) |
//! | the content of a file | by a read and a sync | by a write and a truncation |
//! | an open file | at a given offset | at its own position, and where it is opened or closed |
//!
//! Users of one thing go on beside each other; whoever changes it waits for all of them, and they
//! for it. Two operations that overlapped when they were recorded have no order, and get none. A
//! thread begins behind the operation that made it, and who waited for its end waits again. What
//! goes from one to another by a pipe, a signal or memory is not seen: see docs/traces.md.

use std::collections::HashMap;

use crate::{Operation, Place, Trace, TraceEvent, TracePath};

/// So many steps of a thread must be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Whose.
    pub thread: u32,
    /// How many.
    pub steps: u32,
}

/// One operation of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its place in the trace's events.
    pub event: usize,
    /// What must be done before.
    pub waits: Vec<Wait>,
    /// How long the program let pass before it, once all that it waits for was done.
    pub think_ns: u64,
}

/// The operations of a thread, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// The operations.
    pub steps: Vec<Step>,
}

/// All threads of a trace, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Their operations.
    pub lanes: Vec<Lane>,
}

/// Something that operations share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Thing {
    Name(TracePath),
    Entries(TracePath),
    Content(u32),
    Handle(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Used,
    Changed,
}

/// An operation in the past.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// Its place among the steps of its thread, from 1.
    step: u32,
    end_ns: u64,
}

/// The last two of one thread: since these do not overlap each other, one of them is over whenever
/// another operation begins.
#[derive(Clone, Copy, Debug, Default)]
struct Lately([Option<Past>; 2]);

impl Lately {
    fn add(&mut self, past: Past) {
        self.0 = [Some(past), self.0[0]];
    }

    /// The last one that was over at `at_ns`.
    fn over_at(&self, at_ns: u64) -> Option<Past> {
        self.0
            .iter()
            .flatten()
            .copied()
            .find(|past| past.end_ns <= at_ns)
    }
}

/// What was done to a thing, by thread.
#[derive(Debug, Default)]
struct History {
    used: HashMap<u32, Lately>,
    changed: HashMap<u32, Lately>,
}

impl Schedule {
    /// The schedule of `trace`.
    #[must_use]
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
    things: HashMap<Thing, History>,
    files: Files,
    /// When each thread could go on, as recorded.
    free_ns: Vec<u64>,
    /// Steps of each other thread that are known to be done, from the point of view of each.
    known: Vec<HashMap<u32, u32>>,
}

impl Planner {
    fn new(trace: &Trace) -> Self {
        let threads = trace.header.threads as usize;
        Self {
            schedule: Schedule {
                lanes: vec![Lane::default(); threads],
            },
            things: HashMap::new(),
            files: Files::default(),
            free_ns: vec![0; threads],
            known: vec![HashMap::new(); threads],
        }
    }

    fn plan(&mut self, index: usize, event: &TraceEvent) {
        let thread = event.thread as usize;
        let mut waits: HashMap<u32, u32> = HashMap::new();
        let mut ready_ns = self.free_ns[thread];
        let things = self.files.things_of(event);
        let step = Past {
            step: self.steps_of(event.thread) + 1,
            end_ns: event.end_ns(),
        };
        for (thing, use_) in things {
            let history = self.things.entry(thing).or_default();
            let before = match use_ {
                Use::Used => [Some(&history.changed), None],
                Use::Changed => [Some(&history.changed), Some(&history.used)],
            };
            for (other, lately) in before.into_iter().flatten().flatten() {
                let Some(past) = lately.over_at(event.at_ns) else {
                    continue;
                };
                if *other != event.thread {
                    let steps = waits.entry(*other).or_default();
                    *steps = past.step.max(*steps);
                    ready_ns = ready_ns.max(past.end_ns);
                }
            }
            let mine = match use_ {
                Use::Used => &mut history.used,
                Use::Changed => &mut history.changed,
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

/// Which file is behind a name, and behind an open file.
#[derive(Debug, Default)]
struct Files {
    by_name: HashMap<TracePath, u32>,
    by_handle: HashMap<u32, u32>,
    next: u32,
}

impl Files {
    /// What `event` uses and changes.
    fn things_of(&mut self, event: &TraceEvent) -> Vec<(Thing, Use)> {
        let mut things = Things::default();
        self.of_names(event, &mut things);
        self.of_open_files(event, &mut things);
        if event.outcome.is_done() {
            self.follow(&event.operation);
        }
        things.0
    }

    fn of_names(&mut self, event: &TraceEvent, things: &mut Things) {
        let done = event.outcome.is_done();
        let change = if done { Use::Changed } else { Use::Used };
        match &event.operation {
            Operation::Open {
                path, real, flags, ..
            } => {
                let creates = flags.contains("O_CREAT") && !self.by_name.contains_key(path);
                let use_ = if creates { change } else { Use::Used };
                things.name(path, use_);
                if let Some(real) = real {
                    things.name(real, use_);
                }
                if flags.contains("O_TRUNC") && done {
                    let name = real.as_ref().unwrap_or(path);
                    things.add(Thing::Content(self.file(name)), Use::Changed);
                }
            }
            Operation::Mkdir { path, .. } | Operation::Symlink { path, .. } => {
                things.name(path, change);
            }
            Operation::Rmdir { path } | Operation::Unlink { path } => things.name(path, change),
            Operation::Rename { path, to, .. } => {
                things.name(path, change);
                things.name(to, change);
            }
            Operation::Link { path, to } => {
                things.name(path, Use::Used);
                things.name(to, change);
            }
            Operation::Access { path, .. } | Operation::Readlink { path } => {
                things.name(path, Use::Used);
            }
            Operation::Stat { place } | Operation::Chmod { place, .. } => things.place(place),
            Operation::Chown { place, .. } | Operation::Touch { place } => things.place(place),
            Operation::Truncate { place, .. } => {
                things.place(place);
                let file = match place {
                    Place::Path { path, .. } => Some(self.file(path)),
                    Place::Handle { handle } => self.by_handle.get(handle).copied(),
                };
                things.content(file, Use::Changed);
            }
            _ => {}
        }
    }

    fn of_open_files(&self, event: &TraceEvent, things: &mut Things) {
        let file = |handle: &u32| self.by_handle.get(handle).copied();
        let position = |offset: &Option<u64>| match offset {
            Some(_) => Use::Used,
            None => Use::Changed,
        };
        match &event.operation {
            Operation::Read { handle, offset, .. } => {
                things.add(Thing::Handle(*handle), position(offset));
                things.content(file(handle), Use::Used);
            }
            Operation::Write { handle, offset, .. } => {
                things.add(Thing::Handle(*handle), position(offset));
                things.content(file(handle), Use::Changed);
            }
            Operation::Copy {
                handle,
                to,
                offset,
                to_offset,
                ..
            } => {
                things.add(Thing::Handle(*handle), position(offset));
                things.content(file(handle), Use::Used);
                things.add(Thing::Handle(*to), position(to_offset));
                things.content(file(to), Use::Changed);
            }
            Operation::Map { handle, .. } | Operation::Sync { handle, .. } => {
                things.add(Thing::Handle(*handle), Use::Used);
                things.content(file(handle), Use::Used);
            }
            Operation::Allocate { handle, .. } => {
                things.add(Thing::Handle(*handle), Use::Used);
                things.content(file(handle), Use::Changed);
            }
            Operation::List { handle, .. } => {
                things.add(Thing::Handle(*handle), Use::Changed);
                let directory = file(handle).and_then(|file| self.name_of(file));
                if let Some(directory) = directory {
                    things.add(Thing::Entries(directory), Use::Changed);
                }
            }
            Operation::Duplicate { handle, to } => {
                things.add(Thing::Handle(*handle), Use::Used);
                things.add(Thing::Handle(*to), Use::Changed);
            }
            operation => operation
                .handles()
                .for_each(|handle| things.add(Thing::Handle(handle), Use::Changed)),
        }
    }

    /// Names and open files after `operation`, which was done.
    fn follow(&mut self, operation: &Operation) {
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

    /// The file behind a name.
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

/// What one operation uses and changes.
#[derive(Debug, Default)]
struct Things(Vec<(Thing, Use)>);

impl Things {
    fn add(&mut self, thing: Thing, use_: Use) {
        self.0.push((thing, use_));
    }

    fn content(&mut self, file: Option<u32>, use_: Use) {
        if let Some(file) = file {
            self.add(Thing::Content(file), use_);
        }
    }

    /// A name, and all that it stands in.
    fn name(&mut self, path: &TracePath, use_: Use) {
        for above in path.ancestors() {
            self.add(Thing::Name(above), Use::Used);
        }
        if let (Use::Changed, Some(parent)) = (use_, path.parent()) {
            self.add(Thing::Entries(parent), Use::Used);
        }
        self.add(Thing::Name(path.clone()), use_);
    }

    fn place(&mut self, place: &Place) {
        match place {
            Place::Path { path, .. } => self.name(path, Use::Used),
            Place::Handle { handle } => self.add(Thing::Handle(*handle), Use::Used),
        }
    }
}
