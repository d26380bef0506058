//! Collects the trials of all files: which of them are repeats, parts of one trial, or copies.
//!
//! Executions of one subject that have no phase in common measured different things: they are parts
//! of one trial. Those with common phases are repeats, unless they are one execution twice, which
//! counts once.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use fslab_model::{Failure, PhaseOutcome, PhaseRecord, Subject};

use crate::assemble::Labels;
use crate::error::Fault;
use crate::reading::{Measured, Reading, push_new};
use crate::{Format, apart};

/// One file, read.
pub(crate) struct Part {
    pub(crate) file: String,
    pub(crate) subject: Option<Subject>,
    pub(crate) reading: Reading,
}

/// A trial with its files.
pub(crate) struct Placed {
    pub(crate) file: String,
    pub(crate) subject: Subject,
    pub(crate) repeat: u32,
    pub(crate) measured: Measured,
}

/// The content of all files.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) tools: Vec<String>,
    pub(crate) engines: Vec<String>,
    pub(crate) subjects: Vec<Subject>,
    pub(crate) trials: Vec<Placed>,
    pub(crate) notes: Vec<String>,
    /// The number of the next repeat of each subject.
    pub(crate) next: BTreeMap<Subject, u32>,
}

/// Collects the files in their order.
pub(crate) fn collect(
    parts: Vec<Part>,
    format: Format,
    labels: &Labels,
) -> Result<Collected, Failure> {
    let mut collection = Collection::default();
    for part in parts {
        collection.take(part, format, labels)?;
    }
    Ok(collection.collected)
}

#[derive(Default)]
struct Collection {
    collected: Collected,
    known: BTreeSet<(Subject, u32)>,
    /// The trials of each subject whose output does not number them.
    unnumbered: BTreeMap<Subject, Unnumbered>,
    /// The executions by their figures and times, with subject and file.
    executions: BTreeMap<u64, (Subject, String)>,
}

impl Collection {
    fn take(&mut self, part: Part, format: Format, labels: &Labels) -> Result<(), Failure> {
        let Part {
            file,
            subject: given,
            mut reading,
        } = part;
        let said = reading.notes.iter();
        self.collected
            .notes
            .extend(said.map(|note| format!("{file}: {note}")));
        push_new(&mut self.collected.tools, reading.tool);
        let engine = reading.engine.into_iter();
        engine.for_each(|engine| push_new(&mut self.collected.engines, engine));
        apart::distinguish(&mut reading.trials);
        let first = self.collected.next.clone();
        for measured in reading.trials {
            let named = measured.subject.as_deref().map(subject_of);
            let subject = given.clone().or(labels.subject.clone()).or(named);
            let subject = subject.unwrap_or_else(|| Subject::plain(format.name()));
            push_new(&mut self.collected.subjects, subject.clone());
            let Some(number) = measured.repeat else {
                self.take_unnumbered(&file, subject, measured);
                continue;
            };
            // Files that number their repeats each start again.
            let base = first.get(&subject).copied().unwrap_or_default();
            let repeat = base + number;
            if self.known.contains(&(subject.clone(), repeat)) {
                let found = format!("repeat {repeat} of {subject}");
                let fault = Fault::value("", found, "a repeat that occurs once");
                return Err(fault.of(&file, Some(format)));
            }
            self.place(&file, subject, repeat, measured);
        }
        Ok(())
    }

    /// Takes an execution whose output does not say which repeat it is.
    fn take_unnumbered(&mut self, file: &str, subject: Subject, measured: Measured) {
        if self.is_copy(file, &subject, &measured) {
            return;
        }
        let names = run_names(&measured.phases);
        let known = self.unnumbered.entry(subject.clone()).or_default();
        if let Some(place) = known.without(&names, &self.collected.trials) {
            self.collected.trials[place].join(file, measured);
            return;
        }
        known.places.push(self.collected.trials.len());
        let repeat = self
            .collected
            .next
            .get(&subject)
            .copied()
            .unwrap_or_default();
        self.place(file, subject, repeat, measured);
    }

    fn place(&mut self, file: &str, subject: Subject, repeat: u32, measured: Measured) {
        let next = self.collected.next.entry(subject.clone()).or_default();
        *next = (*next).max(repeat.saturating_add(1));
        self.known.insert((subject.clone(), repeat));
        self.collected.trials.push(Placed {
            file: file.to_owned(),
            subject,
            repeat,
            measured,
        });
    }

    /// True if the same execution was taken before. Equal figures are those of one execution only
    /// if the output has its time.
    fn is_copy(&mut self, file: &str, subject: &Subject, measured: &Measured) -> bool {
        let has_figures = measured.phases.iter().any(|phase| phase.figures.len() > 1);
        if measured.stamp.is_none() && !has_figures {
            return false;
        }
        let mark = mark(measured);
        let Some((of, known)) = self.executions.get(&mark) else {
            self.executions
                .insert(mark, (subject.clone(), file.to_owned()));
            return false;
        };
        let is_stamped = measured.stamp.is_some();
        let note = match (is_stamped, of == subject) {
            (true, true) => format!(
                "{file}: the same execution as in {known}, with equal figures and time: it counts \
                 once"
            ),
            (true, false) => format!(
                "{file}: the same execution as in {known}, with equal figures and time, and given \
                 as another subject: {subject} and {of} have one measurement"
            ),
            (false, _) => format!(
                "{file}: every figure is as in {known}; if one is a copy of the other, import it \
                 once"
            ),
        };
        push_new(&mut self.collected.notes, note);
        is_stamped && of == subject
    }
}

impl Placed {
    fn has_run(&self, name: &str) -> bool {
        let mut phases = self.measured.phases.iter();
        phases.any(|phase| phase.name == name && is_run(phase))
    }

    /// Adds the phases of another execution, which measured other things.
    fn join(&mut self, file: &str, other: Measured) {
        if !self.file.split(", ").any(|known| known == file) {
            self.file = format!("{}, {file}", self.file);
        }
        for phase in other.phases {
            let phases = &mut self.measured.phases;
            match phases.iter_mut().find(|known| known.name == phase.name) {
                Some(known) if is_run(&phase) => *known = phase,
                Some(_) => {}
                None => phases.push(phase),
            }
        }
        for (name, value) in other.facts {
            let known = self
                .measured
                .facts
                .entry(name)
                .or_insert_with(|| value.clone());
            if *known != value {
                *known = format!("{known}; {value}");
            }
        }
    }
}

/// Trials of one subject, by their places among all.
#[derive(Default)]
struct Unnumbered {
    places: Vec<usize>,
    /// The first of them without a phase of the name; those before have it.
    free: BTreeMap<String, usize>,
}

impl Unnumbered {
    /// The place of the first trial in which none of the phases `names` was run.
    fn without(&mut self, names: &BTreeSet<String>, trials: &[Placed]) -> Option<usize> {
        let mut at = 0;
        for name in names {
            let free = self.free.entry(name.clone()).or_default();
            let has = |place: &usize| trials[*place].has_run(name);
            while self.places.get(*free).is_some_and(has) {
                *free += 1;
            }
            at = at.max(*free);
        }
        let is_free = |place: &&usize| {
            let theirs = run_names(&trials[**place].measured.phases);
            !theirs.is_empty() && names.is_disjoint(&theirs)
        };
        let places = self.places.get(at..).filter(|_| !names.is_empty())?;
        places.iter().find(is_free).copied()
    }
}

/// Of equal executions equal.
fn mark(measured: &Measured) -> u64 {
    let mut hasher = DefaultHasher::new();
    let phases = serde_json::to_string(&measured.phases).expect("phases serialise");
    (phases, &measured.stamp).hash(&mut hasher);
    hasher.finish()
}

fn is_run(phase: &PhaseRecord) -> bool {
    !matches!(phase.outcome, PhaseOutcome::Skipped { .. })
}

/// The names of the phases that were run.
fn run_names(phases: &[PhaseRecord]) -> BTreeSet<String> {
    let run = phases.iter().filter(|phase| is_run(phase));
    run.map(|phase| phase.name.clone()).collect()
}

/// The subject named by a file. A name that is not a valid subject, such as a machine's, is
/// converted.
fn subject_of(name: &str) -> Subject {
    let name = name.trim();
    let plain = || {
        let allowed = |c: char| {
            if c.is_whitespace() || c == ':' {
                '-'
            } else {
                c
            }
        };
        Subject::plain(name.chars().map(allowed).collect::<String>())
    };
    let read: Option<Subject> = name.parse().ok();
    // It must read back from the store unchanged.
    read.filter(|subject| subject.to_string().parse().as_ref() == Ok(subject))
        .unwrap_or_else(plain)
}
