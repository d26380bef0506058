//! The values of a run's dimensions, or of one subject: its guest kernel and its directory may be
//! other than those of the rest.

use fslab_model::{Bytes, LabPlan, NetworkMount, RunHeader, SubjectPlan, VenuePlan};

use crate::Dimension;
use crate::dimension::is_imported;

/// Granularity of the comparison: kernels reserve different amounts of the same memory.
const MEMORY_STEP_BYTES: u64 = 256 << 20;

/// The dimensions of a run or of one subject.
pub(crate) struct Values<'a> {
    header: &'a RunHeader,
    /// The subject's index in the plan; `None` for all of them.
    place: Option<usize>,
}

impl<'a> Values<'a> {
    /// Those of all subjects.
    pub(crate) fn of_run(header: &'a RunHeader) -> Self {
        Self {
            header,
            place: None,
        }
    }

    /// Those of the subject at `place` in the plan.
    pub(crate) fn of_subject(header: &'a RunHeader, place: usize) -> Self {
        Self {
            header,
            place: Some(place),
        }
    }

    /// True if another tool has measured.
    pub(crate) fn is_imported(&self) -> bool {
        is_imported(&self.header.plan)
    }

    /// The value of `dimension`; empty for what a subject is by itself, and for what figures in
    /// virtual time do not depend on.
    pub(crate) fn value(&self, dimension: Dimension) -> String {
        let (header, plan) = (self.header, &self.header.plan);
        let is_virtual = plan.venue.kind().is_virtual();
        let is_imported = is_imported(plan);
        let unknown = || "unknown".to_owned();
        let machine = &header.machine;
        let known = |value: &Option<String>| value.clone().unwrap_or_else(unknown);
        match dimension {
            // The output of another tool has none of them.
            Dimension::Device | Dimension::Size | Dimension::Cold if is_imported => unknown(),
            // What virtual time depends on is in the plan.
            Dimension::Machine | Dimension::System if is_virtual => String::new(),
            Dimension::Machine => self.machine(),
            // A guest's own kernel is another dimension; the host's affects its times.
            Dimension::System if matches!(plan.venue, VenuePlan::Guest { .. }) => {
                format!("{}, {}", known(&machine.os), known(&machine.kernel))
            }
            Dimension::System => known(&machine.os),
            Dimension::Kernel => {
                let guests = self.of_labs(|lab| lab.kernel);
                guests.unwrap_or_else(|| known(&machine.kernel))
            }
            Dimension::Lab => {
                let digest = |lab: LabPlan| match lab.digest.is_empty() {
                    true => unknown(),
                    false => lab.digest,
                };
                self.of_labs(digest).unwrap_or_default()
            }
            Dimension::Fslab => header.fslab.clone(),
            Dimension::Venue => match &plan.venue {
                VenuePlan::Imported { tool } => format!("imported from {tool}"),
                venue => venue.kind().as_str().to_owned(),
            },
            Dimension::Device => self.device(),
            Dimension::Server => self.of_mounts(NetworkMount::server_text),
            Dimension::Protocol => self.of_mounts(NetworkMount::protocol_text),
            Dimension::Memory => match &plan.venue {
                VenuePlan::Guest { memory_bytes, .. } | VenuePlan::Sim { memory_bytes, .. } => {
                    match plan.dirty_limit_bytes {
                        None => memory_bytes.to_string(),
                        Some(limit) => format!("{memory_bytes}, at most {limit} to be written"),
                    }
                }
                _ => String::new(),
            },
            Dimension::Processor if is_virtual => match plan.venue.counted_machine() {
                None => "takes no time".to_owned(),
                Some(machine) => format!("{} instructions/s", machine.instructions_per_s),
            },
            Dimension::Size => plan.size_bytes.to_string(),
            Dimension::Ranks => plan.ranks.to_string(),
            Dimension::Cold => match plan.cold_after_s {
                0 => plan.cold.as_str().to_owned(),
                after_s => format!("{}, {after_s} s later", plan.cold.as_str()),
            },
            Dimension::Engine => plan.engine.clone(),
            Dimension::Seed if is_virtual => plan.seed.to_string(),
            Dimension::Subject
            | Dimension::Features
            | Dimension::Options
            | Dimension::Driver
            | Dimension::Tools
            | Dimension::Seed
            | Dimension::Processor => String::new(),
        }
    }

    fn machine(&self) -> String {
        let machine = &self.header.machine;
        let rounded = |bytes: u64| Bytes(bytes.next_multiple_of(MEMORY_STEP_BYTES));
        let memory = machine.memory_bytes.map(|bytes| rounded(bytes).to_string());
        let count = machine.cpu_count.map(|count| format!("{count} processors"));
        let parts = [
            machine.host.clone(),
            machine.cpu.clone(),
            count,
            memory,
            machine.architecture.clone(),
        ];
        let known: Vec<String> = parts.into_iter().flatten().collect();
        match known.is_empty() {
            true => "unknown".to_owned(),
            false => known.join(", "),
        }
    }

    fn subject(&self) -> Option<&SubjectPlan> {
        self.header.plan.subjects.get(self.place?)
    }

    fn mounts(&self) -> impl Iterator<Item = &'a NetworkMount> {
        let header = self.header;
        let subjects = header.plan.subjects.iter().enumerate();
        let place = self.place;
        let chosen = subjects.filter(move |(at, _)| place.is_none_or(|place| *at == place));
        chosen.filter_map(|(_, subject)| subject.network_mount.as_ref())
    }

    /// The protocol of the network mount, without its version; `None` for a local file system.
    pub(crate) fn protocol(&self) -> Option<&'a str> {
        self.mounts().next().map(|mount| mount.protocol.as_str())
    }

    /// True if the subjects have the same name, wherever they are.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let name = |of: &Self| of.subject().map(|it| it.subject.without_place());
        name(self) == name(other)
    }

    /// A part of the network mount, or of each that differs; empty without any.
    fn of_mounts(&self, part: impl Fn(&NetworkMount) -> String) -> String {
        let mut parts: Vec<String> = Vec::new();
        for part in self.mounts().map(part) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.join(", ")
    }

    /// A part of the subject's lab, or of every lab; `None` without a guest.
    fn of_labs(&self, part: impl Fn(LabPlan) -> String) -> Option<String> {
        let plan = &self.header.plan;
        let of_venue = plan.venue.guest_lab()?;
        let labs = match self.subject() {
            Some(subject) => plan.lab_of(subject).into_iter().collect(),
            None => plan.labs(),
        };
        let mut parts: Vec<String> = Vec::new();
        for lab in labs {
            let part = part(lab);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        match parts.is_empty() {
            true => Some(part(of_venue)),
            false => Some(parts.join(", ")),
        }
    }

    /// The profile of a simulated disk, the device, or the directory in its place; empty for an
    /// import.
    pub(crate) fn device(&self) -> String {
        match self.subject().and_then(|it| it.subject.directory()) {
            Some(directory) => directory.to_owned(),
            None => device(&self.header.plan.venue),
        }
    }
}

fn device(venue: &VenuePlan) -> String {
    match venue {
        VenuePlan::Dir { dir } => dir.to_string(),
        VenuePlan::Loop { folder } => folder.display().to_string(),
        VenuePlan::Block { .. } => venue.block_devices(),
        VenuePlan::Guest { folder, .. } => folder.display().to_string(),
        VenuePlan::Sim { disk, .. } => disk.profile.clone(),
        VenuePlan::Fake | VenuePlan::Imported { .. } => String::new(),
    }
}
