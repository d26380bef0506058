//! A phase: prepare the caches, measure, settle.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use fslab_engine::{Calibration, EngineKind, Measured, RunContext, ThreadMeasured};
use fslab_fs::FileSystem;
use fslab_model::{
    BufferEmptying, Bytes, CachePolicy, Capabilities, ColdMethod, Facts, Failure, FailureKind,
    PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, Round, START_STATE_FACT, Subject,
    ThreadRecord, Window, definitions,
};
use fslab_sys::{FileSystemRoom, Platform, advance_wall_clock};
use fslab_workload::{Finished, RunError, Workload};

use crate::cache_warmer::CacheWarmer;
use crate::confined::Fence;
use crate::counters;
use crate::disturbances::{Backlog, Observation, Watched};
use crate::drive_buffer::empty_buffer;
use crate::host::drop_host_cache;
use crate::start_state;
use crate::target::{CacheDropResult, Steps, Target};
use crate::virtual_time::{HostMoment, timed};

/// Share of the harness in the elapsed time above which the phase gets a note.
const HARNESS_SHARE_MAX: f64 = 0.05;

/// A phase and its context.
pub(crate) struct Phase<'a> {
    pub(crate) spec: &'a PhaseSpec,
    pub(crate) workload: &'a Workload,
    pub(crate) subject: &'a Subject,
    pub(crate) cold: ColdMethod,
    /// By how much the wall clock is advanced before it, if its caches are cold.
    pub(crate) cold_after: Duration,
    /// The device that makes the host drop the disk's pages; `None` if there is no host.
    pub(crate) host_forgets: Option<&'a Path>,
    /// What keeps the medium in memory, so that nothing is cold.
    pub(crate) memory_medium: Option<&'a str>,
    /// How the buffer of a simulated disk is emptied before a cold phase.
    pub(crate) emptied_by: Option<BufferEmptying>,
    /// Its root is the directory of this round, as an outside path.
    pub(crate) context: &'a RunContext,
    /// The confinement to the tree.
    pub(crate) fence: &'a Fence,
    /// The round; `None` if the phases run once.
    pub(crate) round: Option<Round>,
    /// Costs of the harness; `None` in virtual time and for the null engine.
    pub(crate) calibration: Option<Calibration>,
    /// True if the time is virtual.
    pub(crate) virtual_time: bool,
    /// True if each instruction of the processor takes virtual time.
    pub(crate) counted: bool,
    /// Number of phases of this trial recorded before this one.
    pub(crate) number: usize,
    /// The trial's writes that the device has not written yet.
    pub(crate) backlog: &'a RefCell<Backlog>,
    /// Start states of phases in virtual time.
    pub(crate) facts: &'a RefCell<Facts>,
}

/// The note of a phase that was measured with cold caches on a medium in memory.
fn in_memory_note(medium: &str) -> String {
    format!("not cold: the caches were dropped, but the medium is memory, {medium}")
}

/// Result of preparing the caches.
enum Prepared {
    /// Prepared, with a note for the reader if needed.
    Ready(Option<String>),
    /// Not possible: the phase is skipped.
    Impossible(String),
}

impl Phase<'_> {
    /// A record of this phase without results.
    pub(crate) fn without_figures(&self, outcome: PhaseOutcome) -> PhaseRecord {
        let kind = self.workload.kind(&self.spec.parameters);
        let record = PhaseRecord::empty(self.spec, kind, self.workload.headline(), outcome);
        PhaseRecord {
            round: self.round,
            ..record
        }
    }

    /// Runs the phase. After a returned failure, or one in the record, the trial must not continue.
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
                    failure.hint = Some(self.hint_when_full(target));
                }
                (self.without_figures(PhaseOutcome::Failed { failure }), None)
            }
        }
    }

    fn hint_when_full(&self, target: &Target) -> String {
        let room = FileSystemRoom::of(target.root());
        if room.is_ok_and(|room| room.free_files == Some(0)) {
            return "the file system has no inodes left: use a larger --size, fewer files, or an \
                    mkfs option for more inodes, for example ext4:mkfs=-i 4096"
                .into();
        }
        match self.subject.filled_percent() {
            0 => "the file system ran full: use a larger --size, or smaller files".into(),
            filled => format!(
                "the file system ran full: its stages had filled {filled} % of it before the \
                 phases; use a larger --size, or stages that fill less"
            ),
        }
    }

    #[expect(clippy::too_many_lines, reason = "the steps of a phase, in order")]
    fn measure(&self, target: &mut Target, steps: &mut Steps) -> Result<PhaseRecord, Failure> {
        if let Some(reason) = self.at_all_ranks("needs", self.obstacle(target))? {
            return Ok(self.without_figures(PhaseOutcome::Skipped { reason }));
        }
        let laid_out_note = self.lay_out(target)?;
        let mut warm_note = None;
        let prepared = self.prepare_caches(target, steps).and_then(|prepared| {
            target.ensure_mounted()?;
            Ok(match prepared {
                Prepared::Ready(note) => {
                    warm_note = note;
                    None
                }
                Prepared::Impossible(reason) => Some(reason),
            })
        });
        if let Some(reason) = self.at_all_ranks("caches", prepared)? {
            return Ok(self.without_figures(PhaseOutcome::Skipped { reason }));
        }
        if let Some(write_back) = target.write_back_mut() {
            write_back.begin(self.number);
        }
        let observation =
            (!self.virtual_time && !matches!(target, Target::Fake)).then(Observation::begin);
        self.note_start_state();
        let host_before = self.host_moment();
        let meter = target.meter();
        let before = meter.as_ref().and_then(counters::DeviceMeter::read);
        let finished = match self.issue(target)? {
            Err(reason) => return Ok(self.without_figures(PhaseOutcome::Skipped { reason })),
            Ok(finished) => finished,
        };
        let after = meter.as_ref().and_then(counters::DeviceMeter::read);
        let host_after = self.host_moment();
        let ended = observation.map(|observation| {
            let written = before.as_ref().map(counters::DeviceReading::write_bytes);
            let backlog_bytes = observation.backlog(&mut self.backlog.borrow_mut(), written);
            (observation.end(), backlog_bytes)
        });
        let mounted = target.ensure_mounted();
        self.at_all_ranks("the end of the phase", mounted.map(|()| None))?;
        let mut record = self.without_figures(PhaseOutcome::Done);
        record.notes = finished.notes;
        record.notes.extend(laid_out_note);
        record.notes.extend(warm_note);
        record.figures = finished.figures;
        if self.context.ranks.is_some() {
            let skew_ns = finished.measured.start_skew_ns as f64;
            record
                .figures
                .insert(definitions::START_SKEW.name.to_owned(), skew_ns);
        }
        record.lists = finished.lists;
        self.facts.borrow_mut().extend(finished.facts);
        self.take_harness_share(&mut record, &finished.measured);
        if self.virtual_time {
            record.window = Some(window_of(&finished.measured));
            record.host = host_before
                .zip(host_after)
                .map(|(before, after)| before.until(after));
        }
        take_measured(&mut record, finished.measured);
        if self.virtual_time && !self.counted {
            // The guest's accounting has no processor time where only the disk takes time.
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
                is_alone: self.context.ranks.is_none(),
            });
        }
        Ok(record)
    }

    /// Why this rank cannot run the phase; `None` if it can.
    fn obstacle(&self, target: &Target) -> Result<Option<String>, Failure> {
        if let Some(reason) = self.lack(target)? {
            return Ok(Some(reason));
        }
        if self.context.ranks.is_some() && !self.workload.runs_on_ranks() {
            let name = &self.spec.workload;
            return Ok(Some(format!(
                "the workload {name} runs in one process, not on several ranks"
            )));
        }
        let meets_foreign_links = self.workload.has_foreign_names() || self.context.foreign_links;
        if meets_foreign_links && self.context.engine != EngineKind::Null {
            self.fence.demand(&self.spec.name)?;
        }
        Ok(None)
    }

    /// What keeps this rank from going on, or the first of all ranks.
    fn at_all_ranks(
        &self,
        step: &str,
        own: Result<Option<String>, Failure>,
    ) -> Result<Option<String>, Failure> {
        match &self.context.ranks {
            None => own,
            Some(ranks) => ranks.first_text(step, own),
        }
    }

    /// Records the memory state at the start of a phase in virtual time.
    fn note_start_state(&self) {
        let state = self.virtual_time.then(start_state::now).flatten();
        let name = format!("{START_STATE_FACT}{}", self.spec.name);
        let mut facts = self.facts.borrow_mut();
        facts.extend(state.map(|state| (name, state)));
    }

    /// Runs the workload confined to the tree; the inner `Err` says why it cannot run here.
    fn issue(&self, target: &Target) -> Result<Result<Finished, String>, Failure> {
        self.fence.within(target.root(), |inside| {
            let context = inside.context(self.context);
            match self.workload.run(&self.spec.parameters, &context) {
                Err(RunError::Impossible(reason)) => Ok(Err(reason)),
                Err(error) => {
                    let failure = inside.failure(error);
                    // What a platform lacks stays a reason to go without the phase; on Linux, which
                    // lacks nothing, it is a file system that refuses.
                    let is_lack = failure.kind == FailureKind::Unsupported;
                    match is_lack && Platform::here() != Platform::Linux {
                        true => Ok(Err(failure.to_string())),
                        false => Err(failure),
                    }
                }
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

    /// Drops or warms the caches as the phase requires.
    fn prepare_caches(&self, target: &mut Target, steps: &mut Steps) -> Result<Prepared, Failure> {
        let ranks = self.context.ranks.as_ref().map_or(1, |ranks| ranks.count);
        let files = self.workload.data_files(&self.spec.parameters, ranks)?;
        match (self.spec.cache, &*target) {
            (CachePolicy::Keep, _) | (CachePolicy::Warm, Target::Fake) => {}
            (CachePolicy::Cold, _) => {
                let root = &self.context.root;
                let files: Option<Vec<_>> =
                    files.map(|files| files.iter().map(|file| root.join(file)).collect());
                let job = self.workload.job_parameters(&self.spec.parameters)?;
                let is_unbuffered =
                    job.get("direct").and_then(serde_json::Value::as_bool) == Some(true);
                let files = (files.as_deref(), is_unbuffered);
                match target.make_cold(self.cold, files, self.fence, steps)? {
                    CacheDropResult::Cold => {
                        if !self.cold_after.is_zero() {
                            advance_wall_clock(self.cold_after).map_err(|error| {
                                Failure::new(FailureKind::Device, "cannot advance the clock")
                                    .because(&error)
                            })?;
                        }
                        self.host_forgets.map_or(Ok(()), drop_host_cache)?;
                        if let (Some(by), Target::Volume(volume)) = (self.emptied_by, &*target) {
                            volume.disks().try_for_each(|disk| empty_buffer(disk, by))?;
                        }
                        let in_memory = self.memory_medium.map(in_memory_note);
                        return Ok(Prepared::Ready(target.cold_limit().or(in_memory)));
                    }
                    CacheDropResult::Impossible(reason) => return Ok(Prepared::Impossible(reason)),
                }
            }
            (CachePolicy::Warm, _) => {
                let kind = self.workload.kind(&self.spec.parameters);
                let warmed = self.fence.within(target.root(), |inside| {
                    let warmer = CacheWarmer {
                        root: &inside.path(&self.context.root),
                        files,
                        include_data: matches!(kind, PhaseKind::Read | PhaseKind::Mixed),
                        stop: &self.context.stop,
                    };
                    warmer.run().map_err(|it| inside.seen_outside(it))
                })?;
                return Ok(Prepared::Ready(warmed?));
            }
        }
        Ok(Prepared::Ready(None))
    }

    /// What the host has spent; a counted processor has no such figure.
    fn host_moment(&self) -> Option<HostMoment> {
        (self.virtual_time && !self.counted)
            .then(HostMoment::now)
            .flatten()
    }

    /// The first requirement of the workload that the file system lacks, as a sentence.
    fn lack(&self, target: &Target) -> Result<Option<String>, Failure> {
        if let Some(reason) = self.workload.refused_here() {
            return Ok(Some(reason));
        }
        let Some(entry) = entry_of(target) else {
            return Ok(None);
        };
        let needs = self.workload.needs(&self.spec.parameters)?;
        let lacking = needs
            .into_iter()
            .find_map(|need| self.abilities_of(entry).lack(need));
        Ok(lacking.map(|lacking| match self.subject.network() {
            Some(network) => format!("{}:{}: {lacking}", network.protocol, entry.name),
            None => format!("{}: {lacking}", entry.name),
        }))
    }

    /// The file system's capabilities with the subject's options.
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

    /// Times sync and unmount after a phase that asks for it. A failure does not affect the phase's
    /// results.
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

/// The catalogue entry of the target's file system; of a directory, by its mount.
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

/// The capabilities that the file system's entry promises for this target: none if the subject has
/// extra options or a protocol, which may change them, and none for a directory, whose mkfs options
/// are unknown.
pub(crate) fn promises(target: &Target, subject: &Subject) -> Option<Capabilities> {
    let plain = subject.mkfs_arguments().is_empty()
        && subject.mount_options().is_empty()
        && subject.network().is_none();
    match target {
        Target::Volume(volume) if plain => Some(volume.file_system().capabilities),
        Target::Volume(_) | Target::Directory(_) | Target::Fake => None,
    }
}
