//! The guest kernels that subjects name: `ext4@mine`.

use fslab_model::{LabPlan, Study, Subject, SubjectPlan, VenueKind, VenuePlan};

use super::request::asked;
use crate::{VenueChoice, bounds};

/// The kernels that the subjects of a request name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedKernels {
    /// The names of their labs, each once, in the order of the subjects.
    pub names: Vec<String>,
    /// True if every subject names one.
    pub is_every: bool,
    /// True if a subject is served over a network, which the kernel of a guest does.
    pub has_network: bool,
    /// True if one of those names no kernel.
    pub needs_network: bool,
}

impl NamedKernels {
    /// The kernels of `subjects`, or of the study's if there are none. Invalid subjects and too
    /// many have none: [`crate::resolve`] reports them.
    pub fn of(study: &Study, subjects: &[String]) -> Self {
        let asked = asked(study, subjects);
        if bounds::ensure_subjects(asked.len()).is_err() {
            return Self::default();
        }
        let subjects = fslab_fs::parse_subjects(asked).unwrap_or_default();
        let mut names: Vec<String> = Vec::new();
        for name in subjects.iter().filter_map(Subject::kernel) {
            if names.iter().all(|known| known != name) {
                names.push(name.to_owned());
            }
        }
        let is_every = !names.is_empty() && subjects.iter().all(|it| it.kernel().is_some());
        let mut networks = subjects.iter().filter(|it| it.network().is_some());
        Self {
            names,
            is_every,
            has_network: networks.clone().next().is_some(),
            needs_network: networks.any(|it| it.kernel().is_none()),
        }
    }
}

/// Of the whole catalogue, the subjects whose driver the version of their kernel has; a notice
/// names each of the others.
pub(crate) fn with_driver(
    subjects: Vec<SubjectPlan>,
    venue: &VenuePlan,
    notices: &mut Vec<String>,
) -> Vec<SubjectPlan> {
    let of_venue = venue.guest_lab().map(|lab| lab.kernel);
    let is_there = |planned: &SubjectPlan| {
        let own = planned.lab.as_ref().map(|lab| lab.kernel.clone());
        let release = own.or_else(|| of_venue.clone());
        let release = release.unwrap_or_else(fslab_sys::kernel_release);
        let entry = fslab_fs::find(planned.subject.fs()).ok();
        let why = entry.and_then(|entry| entry.driver.why_lacking(&release));
        notices.extend(
            why.iter()
                .map(|why| format!("without {}: {why}", planned.subject)),
        );
        why.is_none()
    };
    subjects.into_iter().filter(is_there).collect()
}

/// Why a subject cannot have its kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// A venue without guests.
    #[error(
        "the subject '{subject}' names a guest kernel, but the venue '{venue}' uses this machine's \
         kernel"
    )]
    NoGuest {
        subject: String,
        venue: &'static str,
    },
    /// A subject that a guest serves, in a venue without guests.
    #[error(
        "the subject '{subject}' needs a guest kernel as its server, but the venue '{venue}' uses \
         this machine's kernel"
    )]
    ServesNothing {
        subject: String,
        venue: &'static str,
    },
    /// A name that the request has no lab for.
    #[error("the subject '{subject}' names the lab '{name}', which was not looked up")]
    Unknown { subject: String, name: String },
}

impl KernelError {
    /// A hint for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::NoGuest { .. } => "use the venue guest or sim, or leave out the @".to_owned(),
            Self::ServesNothing { .. } => {
                "use --venue sim or --venue guest; measure a mount from a server with --dir"
                    .to_owned()
            }
            Self::Unknown { .. } => "list the labs with fslab lab status".to_owned(),
        }
    }
}

/// The lab of each subject that names a kernel.
pub(crate) fn labs(
    subjects: &[Subject],
    choice: &VenueChoice,
    venue: VenueKind,
) -> Result<Vec<Option<LabPlan>>, KernelError> {
    let guest = match choice {
        VenueChoice::Guest(guest) | VenueChoice::Sim(guest, _) => Some(guest),
        VenueChoice::Auto { guest, .. } if venue == VenueKind::Guest => guest.as_ref(),
        VenueChoice::Auto { .. } | VenueChoice::Named(_) => None,
    };
    let lab = |subject: &Subject| {
        if subject.network().is_some() && guest.is_none() {
            return Err(KernelError::ServesNothing {
                subject: subject.to_string(),
                venue: venue.as_str(),
            });
        }
        let Some(name) = subject.kernel() else {
            return Ok(None);
        };
        let guest = guest.ok_or_else(|| KernelError::NoGuest {
            subject: subject.to_string(),
            venue: venue.as_str(),
        })?;
        let lab = guest.named.get(name).cloned();
        lab.map(Some).ok_or_else(|| KernelError::Unknown {
            subject: subject.to_string(),
            name: name.to_owned(),
        })
    };
    subjects.iter().map(lab).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GuestChoice, Request, ResolveError, resolve};
    use fslab_model::Plan;

    fn lab(name: &str) -> LabPlan {
        LabPlan {
            kernel: format!("6.12@{name}"),
            digest: format!("digest of {name}"),
        }
    }

    fn guest() -> VenueChoice {
        let named = ["old", "new"].map(|name| (name.to_owned(), lab(name)));
        VenueChoice::Guest(GuestChoice {
            folder: "/var/tmp".into(),
            kernel: lab("default").kernel,
            lab: lab("default").digest,
            named: named.into(),
            memory: None,
        })
    }

    fn study() -> Study {
        crate::load_study("quick").expect("built in").0
    }

    fn plan(venue: VenueChoice, subjects: &[&str]) -> Result<Plan, ResolveError> {
        resolve(&Request::new(study(), subjects, venue, 1)).map(|resolved| resolved.plan)
    }

    #[test]
    fn each_subject_is_planned_with_the_lab_that_it_names_or_the_venues() {
        let named = plan(guest(), &["ext4@old", "ext4@new", "xfs"]).expect("resolves");
        let labs = named.subjects.iter().map(|it| named.lab_of(it));
        let expected = ["old", "new", "default"].map(|name| Some(lab(name)));
        assert_eq!(labs.collect::<Vec<_>>(), expected);
        assert_eq!(named.subjects[0].mkfs, named.subjects[1].mkfs);
        let plain = plan(guest(), &["ext4", "xfs"]).expect("resolves");
        assert!(plain.subjects.iter().all(|it| it.lab.is_none()));
        assert_eq!(plain.labs(), [lab("default")]);
    }

    /// A newcomer's `compare all` ended with a failed trial.
    #[test]
    fn the_whole_catalogue_leaves_out_what_a_kernels_version_does_not_have() {
        let of = |release: &str| {
            let VenueChoice::Guest(choice) = guest() else {
                panic!("it is a guest");
            };
            let kernel = format!("{release}@0123456789ab");
            let venue = VenueChoice::Guest(GuestChoice { kernel, ..choice });
            let resolved = resolve(&Request::new(study(), &["all"], venue, 1)).expect("resolves");
            let subjects = resolved.plan.subjects.iter();
            let names: Vec<String> = subjects.map(|it| it.subject.to_string()).collect();
            (names, resolved.notices.join("\n"))
        };
        let (old, notices) = of("6.12.117-fslab");
        assert!(!old.contains(&"ntfs".to_owned()) && old.contains(&"bcachefs".to_owned()));
        assert!(notices.contains("without ntfs: the driver came with Linux 7.1"));
        let (new, notices) = of("7.2.13-fslab");
        assert_eq!(new.len(), old.len() + 1 - 3);
        assert!(new.contains(&"ntfs".to_owned()) && !new.contains(&"reiserfs-3.6".to_owned()));
        assert!(notices.contains("without bcachefs: Linux 6.18 removed the driver"));
    }

    #[test]
    fn a_kernel_is_refused_where_there_is_no_guest_and_if_it_was_not_looked_up() {
        let loops = VenueChoice::Named(VenuePlan::Loop {
            folder: "/var/tmp".into(),
        });
        let dir = std::env::temp_dir();
        let dirs = VenueChoice::Named(VenuePlan::Dir { dir: dir.into() });
        for (venue, name) in [(loops, "loop"), (dirs, "dir")] {
            let error = plan(venue, &["ext4@old"]).expect_err(name);
            let text = error.to_string();
            assert!(
                text.contains("this machine's kernel") && text.contains(name),
                "{text}"
            );
        }
        let unknown = plan(guest(), &["ext4@newer"]).expect_err("not looked up");
        assert!(unknown.to_string().contains("'newer'"), "{unknown}");
    }

    #[test]
    fn what_is_served_over_a_network_needs_a_guest_and_a_kernel_that_can() {
        let found = |subjects: &[&str]| {
            let subjects: Vec<_> = subjects.iter().map(ToString::to_string).collect();
            let found = NamedKernels::of(&study(), &subjects);
            (found.has_network, found.needs_network)
        };
        assert_eq!(found(&["ext4", "nfs:ext4"]), (true, true));
        assert_eq!(found(&["ext4", "nfs:ext4@old"]), (true, false));
        assert_eq!(found(&["ext4@old"]), (false, false));
        let planned = plan(guest(), &["ext4", "nfs:ext4"]).expect("resolves");
        assert_eq!(planned.subjects[0].mkfs, planned.subjects[1].mkfs);
        assert_ne!(planned.subjects[0].mount, planned.subjects[1].mount);
        let loops = VenueChoice::Named(VenuePlan::Loop {
            folder: "/var/tmp".into(),
        });
        let error = plan(loops, &["nfs:ext4"]).expect_err("this machine serves nothing");
        let failure = fslab_model::Failure::from(error);
        let text = failure.to_string();
        assert!(text.contains("nfs:ext4") && text.contains("loop"), "{text}");
        assert!(
            failure
                .hint
                .is_some_and(|hint| hint.contains("--venue sim"))
        );
    }

    #[test]
    fn the_kernels_of_a_request_are_each_named_once() {
        let kernels = |subjects: &[&str]| {
            let subjects: Vec<_> = subjects.iter().map(ToString::to_string).collect();
            let found = NamedKernels::of(&study(), &subjects);
            (found.names, found.is_every)
        };
        let both = vec!["old".to_owned(), "new".to_owned()];
        assert_eq!(
            kernels(&["ext4@old,xfs@new", "xfs@old"]),
            (both.clone(), true)
        );
        assert_eq!(kernels(&["ext4@old", "xfs", "xfs@new"]), (both, false));
        assert_eq!(kernels(&[]), (Vec::new(), false));
        assert_eq!(kernels(&["no-such@old"]), (Vec::new(), false));
    }
}
