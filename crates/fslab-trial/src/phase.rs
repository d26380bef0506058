//! One phase: cold or not, measured, settled.

use std::cell::RefCell;
use std::path::Path;

use fslab_engine::{Calibration, EngineKind, Measured, RunContext, ThreadMeasured};
use fslab_fs::FileSystem;
use fslab_model::{
    Bytes, CachePolicy, Capabilities, ColdMethod, Facts, Failure, FailureKind, PhaseKind,
    PhaseOutcome, PhaseRecord, PhaseSpec, Round, START_STATE_FACT, Subject, ThreadRecord, Window,
};
use fslab_workload::{Finished, RunError, Workload};

use crate::cache_warmer::CacheWarmer;
use crate::confined::Fence;
use crate::counters;
use crate::disturbances::{Backlog, Vigil, Watched};
use crate::host::drop_host_cache;
use crate::start_state;
use crate::target::{CacheDropResult, Steps, Target};
use crate::virtual_time::{HostMoment, timed};

/// From here on a phase says that the harness is a part of its figures.
const HARNESS_SHARE_MAX: f64 = 0.05;

/// A phase with all that it needs.
pub(crate) struct Phase<'a> {
    pub(crate) spec: &'a PhaseSpec,
    pub(crate) workload: &'a Workload,
    pub(crate) subject: &'a Subject,
    pub(crate) cold: ColdMethod,
    /// Where a host is asked to forget what it keeps of the device; `None` where there is none.
    pub(crate) host_forgets: Option<&'a Path>,
    /// Its root is the folder in which this round of the phases works, as it is called outside.
    pub(crate) context: &'a RunContext,
    /// What keeps names in the tree.
    pub(crate) fence: &'a Fence,
    /// The round that it belongs to; `None` where the phases run once.
    pub(crate) round: Option<Round>,
    /// What the harness costs; `None` where no real time passes.
    pub(crate) calibration: Option<Calibration>,
    /// Whether the clock moves only while the disk works.
    pub(crate) virtual_time: bool,
    /// How many phases of this trial have a record before this one.
    pub(crate) number: usize,
    /// What the trial has written and its device has not.
    pub(crate) backlog: &'a RefCell<Backlog>,
    /// In which state phases in virtual time began.
    pub(crate) start_states: &'a RefCell<Facts>,
}

/// What became of the caches before a phase.
enum Prepared {
    /// They are as they are to be, with what a reader must know of that.
    Ready(Option<String>),
    /// They cannot be: the phase is skipped.
    Impossible(String),
}

impl Phase<'_> {
    /// A record of this phase without figures.
    pub(crate) fn without_figures(&self, outcome: PhaseOutcome) -> PhaseRecord {
        let kind = self.workload.kind(&self.spec.parameters);
        let record = PhaseRecord::empty(self.spec, kind, self.workload.headline(), outcome);
        PhaseRecord {
            round: self.round,
            ..record
        }
    }

    /// Runs it. After a failure, which is in the record or beside it, the trial must not go on.
    pub(crate) fn run(
        &self,
        target: &mut Target,
        steps: &mut Steps,
    ) -> (PhaseRecord, Option<Failure>) {
        match self.measure(target, steps) {
            Ok(mut record) => {
                let failure = self.settle(&mut record, target, steps).err();
                (record, failure)
            }
            Err(mut failure) => {
                if failure.kind == FailureKind::NoSpace && failure.hint.is_none() {
                    failure.hint = Some(self.advice_where_full());
                }
                (self.without_figures(PhaseOutcome::Failed { failure }), None)
            }
        }
    }

    fn advice_where_full(&self) -> String {
        match self.subject.filled_percent() {
            0 => "the file system ran full: take a larger --size, or smaller files".into(),
            filled => format!(
                "the file system ran full: its stages had filled {filled} % of it before the \
                 phases; take a larger --size, or let them fill less"
            ),
        }
    }

    fn measure(&self, target: &mut Target, steps: &mut Steps) -> Result<PhaseRecord, Failure> {
        if let Some(reason) = self.lack(target)? {
            return Ok(self.without_figures(PhaseOutcome::Skipped { reason }));
        }
        let meets_foreign_links = self.workload.has_foreign_names() || self.context.foreign_links;
        if meets_foreign_links && self.context.engine != EngineKind::Null {
            self.fence.demand(&self.spec.name)?;
        }
        let laid_out_note = self.lay_out(target)?;
        let warm_note = match self.prepare_caches(target, steps)? {
            Prepared::Ready(note) => note,
            Prepared::Impossible(reason) => {
                return Ok(self.without_figures(PhaseOutcome::Skipped { reason }));
            }
        };
        target.ensure_mounted()?;
        if let Some(write_back) = target.write_back_mut() {
            write_back.begin(self.number);
        }
        let vigil = (!self.virtual_time && !matches!(target, Target::Fake)).then(Vigil::begin);
        self.note_start_state();
        let host_before = self.host_moment();
        let meter = target.meter();
        let before = meter.and_then(counters::DeviceMeter::read);
        let finished = match self.issue(target)? {
            Err(reason) => return Ok(self.without_figures(PhaseOutcome::Skipped { reason })),
            Ok(finished) => finished,
        };
        let after = meter.and_then(counters::DeviceMeter::read);
        let host_after = self.host_moment();
        let ended = vigil.map(|vigil| {
            let written = before.map(|before| before.write_bytes);
            let backlog_bytes = vigil.backlog(&mut self.backlog.borrow_mut(), written);
            (vigil.end(), backlog_bytes)
        });
        target.ensure_mounted()?;
        let mut record = self.without_figures(PhaseOutcome::Done);
        record.notes = finished.notes;
        record.notes.extend(laid_out_note);
        record.notes.extend(warm_note);
        record.figures = finished.figures;
        record.lists = finished.lists;
        self.take_harness_share(&mut record, &finished.measured);
        if self.virtual_time {
            record.window = Some(window_of(&finished.measured));
            record.host = host_before
                .zip(host_after)
                .map(|(before, after)| before.until(after));
        }
        take_measured(&mut record, finished.measured);
        if self.virtual_time {
            // The guest's own account knows no processor time.
            record.cpu = None;
            record
                .threads
                .iter_mut()
                .for_each(|thread| thread.cpu = None);
        }
        record.device = before
            .zip(after)
            .and_then(|(before, after)| counters::between(&before, &after));
        if let Some((ended, backlog_bytes)) = ended {
            record.disturbances = ended.disturbances(&Watched {
                kind: record.kind,
                threads: record.threads.len().max(1),
                device: record.device,
                backlog_bytes,
            });
        }
        Ok(record)
    }

    /// Notes in which state of memory a phase in virtual time begins.
    fn note_start_state(&self) {
        let state = self.virtual_time.then(start_state::now).flatten();
        let name = format!("{START_STATE_FACT}{}", self.spec.name);
        let mut states = self.start_states.borrow_mut();
        states.extend(state.map(|state| (name, state)));
    }

    /// Runs the workload, confined to the tree; gives the reason where it cannot run here.
    fn issue(&self, target: &Target) -> Result<Result<Finished, String>, Failure> {
        self.fence.within(target.root(), |inside| {
            let context = inside.context(self.context);
            match self.workload.run(&self.spec.parameters, &context) {
                Err(RunError::Impossible(reason)) => Ok(Err(reason)),
                Err(error) => Err(inside.failure(error)),
                Ok(finished) => Ok(Ok(finished)),
            }
        })?
    }

    /// Writes files that the workload reads and that are missing; gives a note where it did.
    fn lay_out(&self, target: &Target) -> Result<Option<String>, Failure> {
        let parameters = &self.spec.parameters;
        let is_null = self.context.engine == EngineKind::Null;
        if is_null || !self.workload.lays_out(parameters)? {
            return Ok(None);
        }
        let missing_bytes = self.fence.within(target.root(), |inside| {
            let context = inside.context(self.context);
            let laid_out = self.workload.lay_out(parameters, &context);
            laid_out.map_err(|error| inside.failure(error))
        })??;
        Ok((missing_bytes > 0).then(|| {
            let missing = Bytes(missing_bytes);
            format!("{missing} of its files were missing and were written before it was timed")
        }))
    }

    /// Makes the caches as cold or as warm as the phase is to find them.
    fn prepare_caches(&self, target: &mut Target, steps: &mut Steps) -> Result<Prepared, Failure> {
        let files = self.workload.data_files(&self.spec.parameters)?;
        match (self.spec.cache, &*target) {
            (CachePolicy::Keep, _) | (CachePolicy::Warm, Target::Fake) => {}
            (CachePolicy::Cold, _) => {
                let root = &self.context.root;
                let files: Option<Vec<_>> =
                    files.map(|files| files.iter().map(|file| root.join(file)).collect());
                match target.make_cold(self.cold, files.as_deref(), self.fence, steps)? {
                    CacheDropResult::Cold => self.host_forgets.map_or(Ok(()), drop_host_cache)?,
                    CacheDropResult::Impossible(reason) => return Ok(Prepared::Impossible(reason)),
                }
            }
            (CachePolicy::Warm, _) => {
                let kind = self.workload.kind(&self.spec.parameters);
                let brought = self.fence.within(target.root(), |inside| {
                    let warmer = CacheWarmer {
                        root: &inside.path(&self.context.root),
                        files,
                        include_data: matches!(kind, PhaseKind::Read | PhaseKind::Mixed),
                        stop: &self.context.stop,
                    };
                    warmer.run().map_err(|it| inside.seen_outside(it))
                })?;
                return Ok(Prepared::Ready(brought?));
            }
        }
        Ok(Prepared::Ready(None))
    }

    fn host_moment(&self) -> Option<HostMoment> {
        self.virtual_time.then(HostMoment::now).flatten()
    }

    /// What the workload needs and the file system has not, as a sentence.
    fn lack(&self, target: &Target) -> Result<Option<String>, Failure> {
        let Some(entry) = entry_of(target) else {
            return Ok(None);
        };
        let needs = self.workload.needs(&self.spec.parameters)?;
        let lacking = needs
            .into_iter()
            .find_map(|need| self.abilities_of(entry).lack(need));
        Ok(lacking.map(|lacking| format!("{}: {lacking}", entry.name)))
    }

    /// What the file system can do with the subject's options.
    fn abilities_of(&self, entry: &FileSystem) -> Capabilities {
        if entry.name == self.subject.fs() {
            entry.capabilities_of(self.subject)
        } else {
            entry.capabilities
        }
    }

    fn take_harness_share(&self, record: &mut PhaseRecord, measured: &Measured) {
        let share = self
            .calibration
            .and_then(|calibration| calibration.harness_share(measured));
        record.harness_share = share;
        if let Some(share) = share.filter(|share| *share > HARNESS_SHARE_MAX) {
            record.notes.push(format!(
                "the operations are so short that fslab itself took {:.0} % of the time",
                share * 100.0
            ));
        }
    }

    /// Times sync and unmount after a phase that asks for it. What was measured stays, whatever
    /// becomes of this.
    fn settle(
        &self,
        record: &mut PhaseRecord,
        target: &mut Target,
        steps: &mut Steps,
    ) -> Result<(), Failure> {
        if !self.spec.settle || record.outcome != PhaseOutcome::Done {
            return Ok(());
        }
        let (settled, window) = timed(|| target.settle(steps));
        record.settled = settled?;
        record.settle_window = record.settled.filter(|_| self.virtual_time).map(|_| window);
        if record.settled.is_none() {
            let note = "durable throughput is not measured: nothing is unmounted by the trial";
            record.notes.push(note.into());
        }
        Ok(())
    }
}

fn window_of(measured: &Measured) -> Window {
    Window {
        begin_ns: measured.start_ns,
        end_ns: measured.start_ns + measured.elapsed_ns,
    }
}

fn take_measured(record: &mut PhaseRecord, measured: Measured) {
    record.elapsed_ns = Some(measured.elapsed_ns);
    record.operations = Some(measured.operations);
    record.bytes = measured.bytes;
    record.latencies = measured.latencies;
    record.series = measured.series;
    record.cpu = measured.cpu;
    if measured.threads.len() > 1 {
        record.first_done_ns = Some(measured.first_done_ns);
        record.threads = measured.threads.into_iter().map(thread_record).collect();
    }
}

fn thread_record(thread: ThreadMeasured) -> ThreadRecord {
    ThreadRecord {
        elapsed_ns: thread.elapsed_ns,
        operations: thread.operations,
        bytes: thread.bytes,
        latencies: thread.latencies,
        cpu: thread.cpu,
    }
}

/// The catalogue's entry of what the target has: of a directory, that of what is mounted there.
fn entry_of(target: &Target) -> Option<&'static FileSystem> {
    match target {
        Target::Directory(directory) => {
            let found = fslab_fs::recognise(directory.path()).ok()?;
            fslab_fs::find(&found.fs_type).ok()
        }
        Target::Volume(volume) => Some(volume.file_system()),
        Target::Fake => None,
    }
}

/// What the entry of the file system promises of this target. Options of the subject's own may take
/// from it or add to it, and then nothing is promised; neither is it of a directory, since nobody
/// knows how the file system there was made.
pub(crate) fn promises(target: &Target, subject: &Subject) -> Option<Capabilities> {
    let plain = subject.mkfs_arguments().is_empty() && subject.mount_options().is_empty();
    match target {
        Target::Volume(volume) if plain => Some(volume.file_system().capabilities),
        Target::Volume(_) | Target::Directory(_) | Target::Fake => None,
    }
}
