//! What of a run in virtual time is the same on every machine: its records without what the host
//! adds to them, and a fingerprint by which two people compare theirs.

use sha2::{Digest, Sha256};

use crate::{RunRecord, TrialRecord, VenueKind};

/// The fact that says what kept the names of a trial's phases in the tree of its subject.
pub const CONFINEMENT_FACT: &str = "confinement";

/// The fact that names the lab of a trial in a guest: the digest of kernel and root image.
pub const LAB_FACT: &str = "lab";

/// Hexadecimal digits of a fingerprint: 64 bits.
const DIGITS: usize = 16;

impl TrialRecord {
    /// The record without what only its host knows: when it was made, how long that took there and
    /// on which processor time, what the host's console said, by which right the phases were
    /// confined to their tree, which changes no figure, and of the kernel's log what is no error:
    /// its warnings are of the kernel's build.
    #[must_use]
    pub fn exact(&self) -> Self {
        let mut exact = self.clone();
        exact.started_unix_s = 0;
        exact.elapsed_ns = 0;
        exact.console = String::new();
        exact.kernel_log.retain(|message| message.is_error);
        exact.facts.remove(CONFINEMENT_FACT);
        exact.phases.iter_mut().for_each(|phase| phase.host = None);
        exact
    }
}

impl RunRecord {
    /// The records that every machine gets of this plan, as indented JSON; `None` for a run in real
    /// time, of which nothing is the same twice.
    #[must_use]
    pub fn exact_json(&self) -> Option<String> {
        if self.header.plan.venue.kind() != VenueKind::Sim {
            return None;
        }
        let exact: Vec<_> = self.trials.iter().map(TrialRecord::exact).collect();
        let text = serde_json::to_string_pretty(&exact).expect("records serialise");
        Some(text + "\n")
    }

    /// The first digits of the SHA-256 of [`Self::exact_json`]: equal for equal records.
    #[must_use]
    pub fn fingerprint(&self) -> Option<String> {
        let digest = Sha256::digest(self.exact_json()?);
        let mut text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        text.truncate(DIGITS);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::{
        Bytes, CachePolicy, CellId, DiskQueue, HostCost, PhaseKind, PhaseOutcome, PhaseRecord,
    };
    use crate::{Headline, MachineFacts, Parameters, PhaseSpec, RecordBuilder, RunHeader};
    use crate::{SimulatedDisk, Subject, TrialId, VenuePlan};

    fn trial() -> TrialRecord {
        let trial = TrialId {
            cell: CellId(0),
            repeat: 0,
        };
        let mut record = RecordBuilder::default().finish(trial, Subject::plain("ext4"), None);
        let spec = PhaseSpec {
            cache: CachePolicy::Cold,
            settle: false,
            ..PhaseSpec::new("read", "read", Parameters::new())
        };
        let (kind, headline) = (PhaseKind::Read, Headline::Throughput);
        record.phases = vec![PhaseRecord::empty(
            &spec,
            kind,
            headline,
            PhaseOutcome::Done,
        )];
        record
    }

    fn run(venue: VenuePlan, trial: TrialRecord) -> RunRecord {
        let plan = crate::Plan { venue, ..plan() };
        RunRecord {
            header: RunHeader {
                run: "r".parse().expect("a name"),
                plan_hash: plan.hash(),
                plan,
                fslab: "0".into(),
                machine: MachineFacts::default(),
                command: Vec::new(),
                started_unix_s: 1,
            },
            trials: vec![trial],
        }
    }

    fn sim() -> VenuePlan {
        VenuePlan::Sim {
            folder: "/var/tmp".into(),
            kernel: "6.12@0".into(),
            lab: "0123456789ab".into(),
            memory_bytes: Bytes::gib(1),
            layers: Vec::new(),
            disk: SimulatedDisk {
                profile: "p".into(),
                queue: DiskQueue {
                    max_request_bytes: 4096,
                    physical_block_bytes: 512,
                    discard_bytes: 0,
                    write_cache: false,
                    fua: false,
                    rotational: true,
                    scheduler: true,
                },
                model: String::new(),
            },
        }
    }

    #[test]
    fn what_the_host_adds_changes_no_fingerprint_and_every_figure_does() {
        let base = run(sim(), trial()).fingerprint().expect("virtual time");
        let mut elsewhere = trial();
        elsewhere.started_unix_s = 7;
        elsewhere.elapsed_ns = 8;
        elsewhere.console = "noise".into();
        elsewhere.phases[0].host = Some(HostCost {
            cpu_ns: 1,
            real_ns: 2,
        });
        assert_eq!(run(sim(), elsewhere).fingerprint(), Some(base.clone()));
        let mut other = trial();
        other.phases[0].elapsed_ns = Some(1);
        assert_ne!(run(sim(), other).fingerprint(), Some(base));
    }

    #[test]
    fn real_time_has_no_fingerprint() {
        let venue = VenuePlan::Loop {
            folder: "/var/tmp".into(),
        };
        assert_eq!(run(venue, trial()).fingerprint(), None);
    }
}
