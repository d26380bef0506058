//! Whether a run may be gone on with: results compare only where all dimensions agree, and the
//! trials of one run are compared.

use fslab_model::{DeviceIdentity, RunHeader, RunId, RunRecord};

/// What a run would be gone on with.
#[derive(Clone, Copy, Debug)]
pub struct Resumption<'a> {
    /// Version of this fslab.
    pub fslab: &'a str,
    /// Name of this machine.
    pub host: Option<&'a str>,
    /// Kernel of this machine.
    pub kernel: Option<&'a str>,
    /// The seed, where one was asked for.
    pub seed: Option<u64>,
}

/// Why a run cannot be gone on with. The answer is always a new run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// It has another seed than the one asked for.
    #[error("the run {run} has the seed {theirs}, and {asked} was asked for")]
    Seed {
        /// The run.
        run: RunId,
        /// Its seed.
        theirs: u64,
        /// The seed that was asked for.
        asked: u64,
    },
    /// It was begun by another fslab, on another machine, or under another kernel.
    #[error("the run {run} was begun with the {what} {theirs}, and this is {ours}")]
    Dimension {
        /// The run.
        run: RunId,
        /// `fslab version`, `host` or `kernel`.
        what: &'static str,
        /// The run's.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// Its trials were made on another device than the one that has the name now.
    #[error("the run {run} was begun on another device: {difference}")]
    Device {
        /// The run.
        run: RunId,
        /// Both devices, as far as they differ.
        difference: String,
    },
}

impl ResumeError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Seed { .. } => "leave out --seed, or leave out --resume to begin a new run",
            Self::Dimension { .. } | Self::Device { .. } => {
                "its trials would not compare; leave out --resume to begin a new run"
            }
        }
    }
}

/// Demands that the trials of `run` were made on the device that new ones would be made on.
///
/// # Errors
/// [`ResumeError::Device`], with how they differ.
pub fn demand_same_device(run: &RunRecord, device: &DeviceIdentity) -> Result<(), ResumeError> {
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
    /// Demands that trials made now are alike to those of the run `header`.
    ///
    /// # Errors
    /// [`ResumeError`], with the first dimension that differs.
    pub fn demand_alike(&self, header: &RunHeader) -> Result<(), ResumeError> {
        let run = || header.run.clone();
        let theirs = header.plan.seed;
        if let Some(asked) = self.seed.filter(|seed| *seed != theirs) {
            return Err(ResumeError::Seed {
                run: run(),
                theirs,
                asked,
            });
        }
        let machine = &header.machine;
        let dimensions = [
            ("fslab version", Some(&*header.fslab), Some(self.fslab)),
            ("host", machine.host.as_deref(), self.host),
            ("kernel", machine.kernel.as_deref(), self.kernel),
        ];
        let known = |value: Option<&str>| value.unwrap_or("unknown").to_owned();
        match dimensions.iter().find(|(_, theirs, ours)| theirs != ours) {
            None => Ok(()),
            Some((what, theirs, ours)) => Err(ResumeError::Dimension {
                run: run(),
                what,
                theirs: known(*theirs),
                ours: known(*ours),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::MachineFacts;

    use super::*;
    use crate::{Request, VenueChoice, resolve};

    const HERE: Resumption<'_> = Resumption {
        fslab: "1.0.0",
        host: Some("desk"),
        kernel: Some("6.1"),
        seed: None,
    };

    fn header() -> RunHeader {
        let request = Request {
            study: crate::load_study("quick").expect("built in").0,
            subjects: vec!["fake".into()],
            venue: VenueChoice::Named(fslab_model::VenuePlan::Fake),
            size: None,
            aged: None,
            scale: None,
            repetition: crate::Repetition::default(),
            trial_limit_s: None,
            seed: 7,
        };
        let plan = resolve(&request).expect("resolves").plan;
        RunHeader {
            run: "r".parse().expect("a run"),
            plan_hash: plan.hash(),
            plan,
            fslab: "1.0.0".into(),
            machine: MachineFacts {
                host: Some("desk".into()),
                kernel: Some("6.1".into()),
                ..MachineFacts::default()
            },
            command: Vec::new(),
            started_unix_s: 0,
        }
    }

    #[test]
    fn the_same_machine_kernel_and_fslab_go_on_with_or_without_the_seed() {
        assert_eq!(HERE.demand_alike(&header()), Ok(()));
        let seeded = Resumption {
            seed: Some(7),
            ..HERE
        };
        assert_eq!(seeded.demand_alike(&header()), Ok(()));
    }

    #[test]
    fn another_seed_fslab_host_or_kernel_is_refused_by_its_name() {
        let others = [
            (
                "seed",
                Resumption {
                    seed: Some(8),
                    ..HERE
                },
            ),
            (
                "fslab version",
                Resumption {
                    fslab: "1.0.1",
                    ..HERE
                },
            ),
            (
                "host",
                Resumption {
                    host: Some("lap"),
                    ..HERE
                },
            ),
            (
                "kernel",
                Resumption {
                    kernel: Some("6.2"),
                    ..HERE
                },
            ),
            (
                "kernel",
                Resumption {
                    kernel: None,
                    ..HERE
                },
            ),
        ];
        for (what, other) in others {
            let error = other.demand_alike(&header()).expect_err(what).to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
