//! What a plan says and refuses about layers and several disks.

use fslab_model::{Failure, LayerKind, Plan, Subject, SubjectPlan, VenuePlan};

/// Layers and profiles that compute over all data.
fn computes(subject: &Subject) -> bool {
    let layers = subject.layers().iter();
    let is_costly = |kind| {
        matches!(
            kind,
            LayerKind::Luks | LayerKind::Integrity | LayerKind::Raid5 | LayerKind::Raid6
        )
    };
    let has_parity = |profile: &str| {
        ["raid5", "raid6", "raidz"]
            .iter()
            .any(|name| profile.starts_with(name))
    };
    layers.map(|layer| layer.kind).any(is_costly)
        || subject.spread().is_some_and(|it| has_parity(&it.profile))
}

/// The notice that a layer computes, and that this takes no virtual time.
pub(crate) fn costs_no_processor(subjects: &[SubjectPlan], venue: &VenuePlan) -> Option<String> {
    let VenuePlan::Sim { machine: None, .. } = venue else {
        return None;
    };
    let subject = subjects
        .iter()
        .map(|planned| &planned.subject)
        .find(|subject| computes(subject))?;
    let elsewhere = match subject.disks() {
        1 => "--machine, --venue guest or --venue loop",
        _ => "--venue guest or --venue loop",
    };
    Some(format!(
        "in virtual time the processor takes none, so what {subject} computes (encryption, \
         checksums, parity) costs nothing here; {elsewhere} shows its cost"
    ))
}

/// Refuses a subject on more disks than the venue has.
pub(crate) fn ensure_disks(subject: &Subject, venue: &VenuePlan) -> Result<(), Failure> {
    let disks = subject.disks() as usize;
    let (there, text, hint) = match venue {
        VenuePlan::Block { others, .. } => (
            1 + others.len(),
            format!(
                "{subject} has {disks} disks, but --destroy names {}",
                1 + others.len()
            ),
            "name them all, separated by commas: --destroy /dev/sdX,/dev/sdY",
        ),
        VenuePlan::Sim {
            machine: Some(_), ..
        } => (
            1,
            format!("{subject} has {disks} disks, but a counted machine has one"),
            "leave out --machine",
        ),
        _ => return Ok(()),
    };
    match disks <= there {
        true => Ok(()),
        false => Err(Failure::bad_input(text).hint(hint)),
    }
}

/// Refuses to record the disks of a subject that has several: a log is of one.
///
/// # Errors
/// Bad input, with the subject.
pub fn ensure_one_disk(plan: &Plan) -> Result<(), Failure> {
    let mut subjects = plan.subjects.iter().map(|planned| &planned.subject);
    match subjects.find(|subject| subject.disks() > 1) {
        None => Ok(()),
        Some(subject) => {
            let disks = subject.disks();
            let text = format!("a log is of one disk, but {subject} has {disks}");
            Err(Failure::bad_input(text).hint("leave out --record-disk, or this subject"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_subject_needs_as_many_named_devices_as_it_has_disks() {
        let venue = |others: &[&str]| VenuePlan::Block {
            device: "/dev/sda".into(),
            others: others.iter().map(PathBuf::from).collect(),
        };
        let subject = "ext4/raid5x3".parse().expect("a subject");
        assert_eq!(
            ensure_disks(&subject, &venue(&["/dev/sdb", "/dev/sdc"])),
            Ok(())
        );
        let failure = ensure_disks(&subject, &venue(&["/dev/sdb"])).expect_err("two");
        assert_eq!(
            failure.message,
            "ext4/raid5x3 has 3 disks, but --destroy names 2"
        );
    }

    #[test]
    fn encryption_checksums_and_parity_compute_and_mirrors_do_not() {
        for text in [
            "ext4/luks",
            "ext4/lvm/raid6x4",
            "btrfs:raid5x3",
            "zfs:raidz1x3",
        ] {
            assert!(computes(&text.parse().expect(text)), "{text}");
        }
        for text in ["ext4", "ext4/raid1x2", "btrfs:raid1x2", "xfs/lvm"] {
            assert!(!computes(&text.parse().expect(text)), "{text}");
        }
    }
}
