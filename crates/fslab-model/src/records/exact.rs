//! The exact part of a run in virtual time: its records without what the host adds, and their
//! fingerprint, by which two people compare theirs.

use crate::{RunRecord, TrialRecord};

/// The fact that names the confinement of a trial's phases to the tree of its subject.
pub const CONFINEMENT_FACT: &str = "confinement";

/// The fact with the lab of a trial in a guest: the digest of kernel and root image.
pub const LAB_FACT: &str = "lab";

/// The fact that says whether the host's kernel confines the guest.
pub const GUEST_CONFINED_FACT: &str = "guest.confined";

/// The fact that names what keeps the medium in memory: "tmpfs at /dev/shm". Missing for a disk.
pub const MEMORY_MEDIUM_FACT: &str = "medium.memory";

/// Prefix of facts on the state of memory at the start of each phase in virtual time, followed by
/// the phase's name. They serve to compare two guests and are not shown.
pub const START_STATE_FACT: &str = "start_state.";

/// Hexadecimal digits of a fingerprint: 64 bits.
const DIGITS: usize = 16;

impl TrialRecord {
    /// The record without what depends on the host: time and duration, processor time, the host's
    /// console, the method by which phases and guest were confined, which changes no figure, and
    /// the kernel's warnings, which depend on its build. What is left after a power loss is judged
    /// apart from the trial and left out, too.
    pub fn exact(&self) -> Self {
        let mut exact = self.clone();
        exact.started_unix_s = 0;
        exact.elapsed_ns = 0;
        exact.console = String::new();
        exact.survival = None;
        exact.kernel_log.retain(|message| message.is_error);
        for fact in [CONFINEMENT_FACT, GUEST_CONFINED_FACT] {
            exact.facts.remove(fact);
        }
        exact.phases.iter_mut().for_each(|phase| phase.host = None);
        exact
    }
}

impl RunRecord {
    /// The digests of the labs of all guests, each once, in the order of the subjects; for runs
    /// older than labs, what the trials name, or the guest kernel.
    pub fn labs(&self) -> Vec<String> {
        let named = self.trials.iter().find_map(|it| it.facts.get(LAB_FACT));
        let labs = self.header.plan.labs().into_iter();
        labs.map(|lab| match lab.digest.is_empty() {
            true => named.cloned().unwrap_or(lab.kernel),
            false => lab.digest,
        })
        .collect()
    }

    /// The exact records as indented JSON; `None` for a run in real time, which has none.
    pub fn exact_json(&self) -> Option<String> {
        if !self.header.plan.venue.kind().is_virtual() {
            return None;
        }
        let exact: Vec<_> = self.trials.iter().map(TrialRecord::exact).collect();
        let text = serde_json::to_string_pretty(&exact).expect("records serialise");
        Some(text + "\n")
    }

    /// The first digits of the SHA-256 of [`Self::exact_json`]: equal for equal records.
    pub fn fingerprint(&self) -> Option<String> {
        let mut text = crate::sha256(self.exact_json()?);
        text.truncate(DIGITS);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::{plan, sim};
    use crate::{Bytes, CachePolicy, CellId, HostCost, PhaseKind, PhaseOutcome, PhaseRecord};
    use crate::{
        Headline, MachineFacts, Parameters, PhaseSpec, RecordBuilder, RunHeader, TrialRun,
    };
    use crate::{Subject, TrialId, VenuePlan};

    fn trial() -> TrialRecord {
        let trial = TrialId {
            cell: CellId(0),
            repeat: 0,
        };
        let mut record = RecordBuilder::default().finish(None).into_record(TrialRun {
            trial,
            subject: Subject::plain("ext4"),
            perturbation: crate::Perturbation::NONE,
            position: 0,
            started_unix_s: 0,
            elapsed_ns: 0,
            console: String::new(),
        });
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

    fn simulated(trial: TrialRecord) -> RunRecord {
        run(sim("/var/tmp", Bytes::gib(1)), trial)
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

    #[test]
    fn what_the_host_adds_changes_no_fingerprint_and_every_figure_does() {
        let base = simulated(trial()).fingerprint().expect("virtual time");
        let mut elsewhere = trial();
        elsewhere.started_unix_s = 7;
        elsewhere.elapsed_ns = 8;
        elsewhere.console = "noise".into();
        // A host whose kernel lacks Landlock gave another fingerprint.
        let unbounded = (GUEST_CONFINED_FACT.into(), "without Landlock".into());
        elsewhere.facts.extend([unbounded]);
        elsewhere.phases[0].host = Some(HostCost {
            cpu_ns: 1,
            real_ns: 2,
        });
        assert_eq!(simulated(elsewhere).fingerprint(), Some(base.clone()));
        let mut other = trial();
        other.phases[0].elapsed_ns = Some(1);
        assert_ne!(simulated(other).fingerprint(), Some(base));
    }

    #[test]
    fn another_perturbation_is_another_record() {
        let base = simulated(trial()).fingerprint().expect("virtual time");
        let mut perturbed = trial();
        perturbed.perturbation = crate::Perturbation::of(1, 1);
        assert_ne!(simulated(perturbed).fingerprint(), Some(base));
    }

    #[test]
    fn the_lab_of_an_old_plan_is_what_the_trials_name_and_else_their_kernel() {
        assert_eq!(simulated(trial()).labs(), ["6.12@0"]);
        let mut named = trial();
        named.facts.insert(LAB_FACT.into(), "0123".into());
        assert_eq!(simulated(named).labs(), ["0123"]);
        assert_eq!(run(VenuePlan::Fake, trial()).labs(), Vec::<String>::new());
    }

    #[test]
    fn real_time_has_no_fingerprint() {
        let venue = VenuePlan::Loop {
            folder: "/var/tmp".into(),
        };
        assert_eq!(run(venue, trial()).fingerprint(), None);
    }
}
