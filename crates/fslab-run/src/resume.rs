//! Checks whether a run can be resumed: its trials are compared, so all dimensions must agree.

use fslab_compare::{Difference, header_differences};
use fslab_model::{
    DeviceIdentity, Failure, FailureKind, MachineFacts, NetworkMount, Plan, RunHeader, RunId,
    RunRecord, SubjectPlan,
};

/// The conditions of the missing trials of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resumption<'a> {
    /// Version of this fslab.
    pub fslab: &'a str,
    pub machine: &'a MachineFacts,
    /// The seed, if given.
    pub seed: Option<u64>,
}

/// Why a run cannot be resumed. The remedy is always a new run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResumeError {
    /// Another seed was requested.
    #[error("the run {run} has the seed {theirs}, not {asked}")]
    Seed {
        run: RunId,
        /// Its seed.
        theirs: u64,
        /// The seed requested.
        asked: u64,
    },
    /// The run was started by another fslab, on another machine or kernel.
    #[error(
        "cannot resume the run {run}: its {} is {}, but here it is {}",
        .difference.dimension, .difference.base, .difference.new
    )]
    Dimension {
        run: RunId,
        /// The first dimension that differs; `base` is the run's.
        difference: Difference,
    },
    /// The run's trials used another device than the path now refers to.
    #[error("the run {run} was begun on another device: {difference}")]
    Device {
        run: RunId,
        /// The differences of the devices.
        difference: String,
    },
}

/// Checks that what is mounted at the directories of a run is what `asked` has found there: the
/// same server, protocol and options.
pub(crate) fn ensure_same_mounts(run: &RunHeader, asked: &Plan) -> Result<(), ResumeError> {
    let identity = |planned: &SubjectPlan| {
        let mount = planned.network_mount.as_ref();
        mount.map_or_else(DeviceIdentity::default, NetworkMount::identity)
    };
    let pairs = run.plan.subjects.iter().zip(&asked.subjects);
    let mut differences = pairs.filter_map(|(then, now)| {
        let difference = identity(then).difference(&identity(now))?;
        Some(format!("for {}, {difference}", then.subject))
    });
    match differences.next() {
        None => Ok(()),
        Some(difference) => Err(ResumeError::Device {
            run: run.run.clone(),
            difference,
        }),
    }
}

impl From<ResumeError> for Failure {
    fn from(error: ResumeError) -> Self {
        let hint = match &error {
            ResumeError::Seed { .. } => {
                "leave out --seed, or leave out --resume to start a new run"
            }
            ResumeError::Dimension { .. } | ResumeError::Device { .. } => {
                "its trials would not be comparable; leave out --resume to start a new run"
            }
        };
        Self::of_error(FailureKind::BadInput, &error).hint(hint)
    }
}

/// Checks that the trials of `run` used the same device.
pub(crate) fn ensure_same_device(
    run: &RunRecord,
    device: &DeviceIdentity,
) -> Result<(), ResumeError> {
    if device.is_empty() {
        return Ok(());
    }
    let mut trials = run.trials.iter();
    match trials.find_map(|trial| device.difference_from_facts(&trial.facts)) {
        None => Ok(()),
        Some(difference) => Err(ResumeError::Device {
            run: run.header.run.clone(),
            difference,
        }),
    }
}

impl Resumption<'_> {
    /// Checks that trials made now are comparable with those of the run `header`.
    pub(crate) fn ensure_alike(&self, header: &RunHeader) -> Result<(), ResumeError> {
        let run = || header.run.clone();
        let theirs = header.plan.seed;
        if let Some(asked) = self.seed.filter(|seed| *seed != theirs) {
            return Err(ResumeError::Seed {
                run: run(),
                theirs,
                asked,
            });
        }
        let here = RunHeader {
            fslab: self.fslab.to_owned(),
            machine: self.machine.clone(),
            ..header.clone()
        };
        match header_differences(header, &here).into_iter().next() {
            None => Ok(()),
            Some(difference) => Err(ResumeError::Dimension {
                run: run(),
                difference,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, VenueChoice, resolve};

    fn machine() -> MachineFacts {
        MachineFacts {
            host: Some("desk".into()),
            kernel: Some("6.1".into()),
            memory_bytes: Some(8 << 30),
            ..MachineFacts::default()
        }
    }

    fn header() -> RunHeader {
        let study = crate::load_study("quick").expect("built in").0;
        let venue = VenueChoice::Named(fslab_model::VenuePlan::Fake);
        let request = Request::new(study, &["fake"], venue, 7);
        let plan = resolve(&request).expect("resolves").plan;
        RunHeader {
            run: "r".parse().expect("a run"),
            plan_hash: plan.hash(),
            plan,
            fslab: "1.0.0".into(),
            machine: machine(),
            command: Vec::new(),
            started_unix_s: 0,
        }
    }

    fn refusal(change: impl FnOnce(&mut MachineFacts), fslab: &str, seed: u64) -> Option<String> {
        let mut machine = machine();
        change(&mut machine);
        let resumption = Resumption {
            fslab,
            machine: &machine,
            seed: Some(seed),
        };
        let refused = resumption.ensure_alike(&header()).err();
        refused.map(|error| error.to_string())
    }

    #[test]
    fn the_same_machine_kernel_and_fslab_resume_with_or_without_the_seed() {
        assert_eq!(refusal(|_| {}, "1.0.0", 7), None);
        let unseeded = Resumption {
            fslab: "1.0.0",
            machine: &machine(),
            seed: None,
        };
        assert_eq!(unseeded.ensure_alike(&header()), Ok(()));
    }

    /// Memory, processor and operating system had not been compared: the list differed from that of
    /// a diff.
    #[test]
    fn another_seed_fslab_machine_system_or_kernel_is_refused_by_its_name() {
        let refusals = [
            ("seed", refusal(|_| {}, "1.0.0", 8)),
            ("fslab", refusal(|_| {}, "1.0.1", 7)),
            (
                "machine",
                refusal(|it| it.host = Some("lap".into()), "1.0.0", 7),
            ),
            ("machine", refusal(|it| it.cpu_count = Some(2), "1.0.0", 7)),
            (
                "machine",
                refusal(|it| it.memory_bytes = Some(4 << 30), "1.0.0", 7),
            ),
            (
                "system",
                refusal(|it| it.os = Some("Debian 13".into()), "1.0.0", 7),
            ),
            (
                "kernel",
                refusal(|it| it.kernel = Some("6.2".into()), "1.0.0", 7),
            ),
            ("kernel", refusal(|it| it.kernel = None, "1.0.0", 7)),
        ];
        for (dimension, refusal) in refusals {
            let text = refusal.expect(dimension);
            assert!(text.contains(dimension), "{text}");
        }
    }

    #[test]
    fn another_option_of_a_network_mount_is_refused() {
        let mut begun = header();
        let mount = |option: &str| NetworkMount {
            protocol: "NFS".into(),
            version: Some("4.2".into()),
            transport: Some("tcp".into()),
            server: Some("nas".into()),
            address: None,
            export: Some("/export".into()),
            options: vec![option.into()],
            by_process: false,
        };
        begun.plan.subjects[0].network_mount = Some(mount("hard"));
        let mut asked = begun.plan.clone();
        assert_eq!(ensure_same_mounts(&begun, &asked), Ok(()));
        asked.subjects[0].network_mount = Some(mount("soft"));
        let refused = ensure_same_mounts(&begun, &asked).expect_err("another option");
        let text = refused.to_string();
        assert!(
            text.ends_with("its option list was hard, and is now soft"),
            "{text}"
        );
    }
}
