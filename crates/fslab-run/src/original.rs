//! How a plan compares with the original that its study repeats.

use std::time::Duration;

use fslab_model::{Bytes, DataToMemory, PhaseSpec, Plan, Study, Subject, VenuePlan};

use super::footprint::footprint;
use crate::ResolveError;

/// The data of the largest phase and the memory, beside the original's; `None` if the study
/// repeats none, or the memory is not known.
pub(crate) fn data_to_memory(
    study: &Study,
    phases: &[PhaseSpec],
    venue: &VenuePlan,
) -> Result<Option<DataToMemory>, ResolveError> {
    let Some(original) = &study.original else {
        return Ok(None);
    };
    let of_machine = || Some(Bytes(fslab_sys::MachineMemory::now()?.total_bytes));
    let Some(memory_bytes) = venue.guest_memory().or_else(of_machine) else {
        return Ok(None);
    };
    let mut data_bytes = Bytes(0);
    let is_original = |phase: &&PhaseSpec| {
        let name = phase
            .swept
            .as_ref()
            .map_or(&phase.name, |swept| &swept.phase);
        original.phases.is_empty() || original.phases.contains(name)
    };
    for phase in phases.iter().filter(is_original) {
        data_bytes = data_bytes.max(footprint(std::slice::from_ref(phase))?);
    }
    Ok(Some(DataToMemory {
        data_bytes,
        memory_bytes,
        original: original.clone(),
    }))
}

/// In what `plan` differs from the original that `study` repeats, each as a clause; the ratio of
/// data to memory first. Empty if it repeats none.
pub fn differences(study: &Study, plan: &Plan) -> Vec<String> {
    let mut differences = Vec::new();
    if study.original.is_none() {
        return differences;
    }
    differences.extend(
        plan.data_to_memory
            .as_ref()
            .and_then(DataToMemory::difference),
    );
    if !plan.scale.is_full() {
        let smaller = match study.scale.parameters.is_empty() {
            true => "its sweeps end earlier".to_owned(),
            false => {
                let names = study.scale.parameters.join(", ").replace('_', " ");
                format!("fewer or smaller {names}")
            }
        };
        differences.push(format!("scale {}: {smaller}", plan.scale));
    }
    differences.push(match &plan.venue {
        VenuePlan::Sim { disk, .. } => {
            format!(
                "the disk is simulated ({}), the kernel is of today",
                disk.profile
            )
        }
        VenuePlan::Guest { .. } => {
            "the disk is a file of this machine, the kernel is of today".to_owned()
        }
        _ => "the disk, the memory and the kernel are this machine's".to_owned(),
    });
    let is_missing = |text: &&String| {
        let subject: Result<Subject, _> = text.parse();
        let mut planned = plan.subjects.iter();
        subject.is_ok_and(|subject| !planned.any(|it| it.subject == subject))
    };
    let missing = study.subjects.iter().filter(is_missing);
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if !missing.is_empty() {
        differences.push(format!("without {}", missing.join(", ")));
    }
    differences
}

/// Estimate of the time that the trials of `plan` take in virtual time, `jobs` at a time; `None`
/// if the study has no measured time of such a trial: in real time, with a processor that takes
/// time, with aged subjects.
pub fn expected_time(study: &Study, plan: &Plan, jobs: usize) -> Option<Duration> {
    let mut subjects = plan.subjects.iter().map(|it| &it.subject);
    if !plan.venue.kind().is_virtual()
        || plan.venue.counted_machine().is_some()
        || subjects.any(|subject| !subject.stages().is_empty())
    {
        return None;
    }
    let of_trial = f64::from(study.scale.sim_trial_s?);
    let scale = plan.scale.ratio() / study.scale.default.ratio();
    let trials = plan.trials().len();
    let one_after_another = trials.div_ceil(jobs.max(1));
    Some(Duration::from_secs_f64(
        of_trial * scale * one_after_another as f64,
    ))
}

#[cfg(test)]
mod tests {
    use fslab_model::{PlanHash, Scale};

    use super::*;
    use crate::{GuestChoice, Hardware, Request, VenueChoice, load_study, resolve};

    fn guest(memory: Option<Bytes>) -> GuestChoice {
        GuestChoice {
            folder: "/tmp".into(),
            kernel: "k@1".into(),
            lab: "1".into(),
            named: Default::default(),
            memory,
        }
    }

    fn sim(memory: Option<Bytes>) -> VenueChoice {
        VenueChoice::Sim(guest(memory), Hardware::default())
    }

    fn counted() -> Hardware {
        let machine = fslab_disk::machine::find("pc-2010").expect("a machine");
        Hardware {
            machine: Some(machine),
            ..Hardware::default()
        }
    }

    fn planned(name: &str, scale: Option<&str>, memory: Option<Bytes>) -> (Study, Plan) {
        let (study, _) = load_study(name).expect("a study");
        let scale = scale.map(|text| text.parse::<Scale>().expect("a scale"));
        let request = Request {
            scale,
            ..Request::new(study.clone(), &[], sim(memory), 1)
        };
        (study, resolve(&request).expect("a plan").plan)
    }

    const PUBLISHED: [&str; 5] = [
        "iozone-2003",
        "bonnie-2010",
        "ntfs-ext4",
        "small-files",
        "home-usb",
    ];

    #[test]
    fn published_studies_keep_the_originals_ratio_of_data_to_memory_at_their_scales() {
        for name in PUBLISHED {
            for scale in [None, Some("1")] {
                let (study, plan) = planned(name, scale, None);
                let compared = plan.data_to_memory.as_ref().expect("the original's data");
                assert_eq!(compared.difference(), None, "{name} at {}", plan.scale);
                let first = differences(&study, &plan).remove(0);
                assert!(!first.starts_with("data is"), "{name}: {first}");
            }
        }
    }

    #[test]
    fn a_plan_with_other_memory_says_so_first_and_keeps_its_hash_without_the_comparison() {
        let (study, plan) = planned("bonnie-2010", None, Some(Bytes::mib(256)));
        let all = differences(&study, &plan);
        let expected = "data is 7.8 times the memory (2000 MiB with 256 MiB), in the original 2.0 \
                        times (2000 MiB with 999 MiB)";
        assert_eq!(all[0], expected);
        assert_eq!(all[1], "scale 1/10: fewer or smaller files");
        assert!(all[2].contains("simulated (hdd-7200-sata-2010)"), "{all:?}");
        assert_eq!(all.len(), 3);
        let hash: PlanHash = plan.hash();
        let without = Plan {
            data_to_memory: None,
            survival: None,
            ..plan
        };
        assert_eq!(without.hash(), hash);
    }

    #[test]
    fn what_a_run_leaves_out_is_named_and_a_study_without_an_original_has_no_differences() {
        let (study, _) = load_study("bonnie-2010").expect("a study");
        let request = Request::new(study.clone(), &["ext4", "ext3:barrier=0"], sim(None), 1);
        let plan = resolve(&request).expect("a plan").plan;
        let last = differences(&study, &plan).pop().expect("a difference");
        assert!(
            last.starts_with("without affs, btrfs, ext2:driver=ext2, ext3, fat16"),
            "{last}"
        );
        assert!(
            !last.contains("ext4") && !last.contains("barrier=0"),
            "{last}"
        );
        let (study, plan) = planned("quick", None, None);
        assert_eq!(differences(&study, &plan), Vec::<String>::new());
        assert_eq!(plan.data_to_memory, None);
    }

    #[test]
    fn the_time_of_a_run_follows_trials_scale_and_parallel_trials() {
        let (mut study, plan) = planned("bonnie-2010", Some("1/20"), None);
        study.scale.sim_trial_s = Some(100);
        // 24 subjects, three repeats, half of the default scale: 50 s each.
        assert_eq!(plan.trials().len(), 72);
        let of = |jobs| {
            expected_time(&study, &plan, jobs)
                .expect("virtual time")
                .as_secs()
        };
        assert_eq!((of(1), of(2), of(5)), (3600, 1800, 750));
        let mut aged = plan.clone();
        aged.subjects[0].subject = "ext4:age=churn".parse().expect("a subject");
        assert_eq!(expected_time(&study, &aged, 1), None);
        let request = Request {
            venue: VenueChoice::Sim(guest(None), counted()),
            ..Request::new(study.clone(), &["ext4"], sim(None), 1)
        };
        let counted = resolve(&request).expect("a plan").plan;
        assert_eq!(expected_time(&study, &counted, 1), None);
        study.scale.sim_trial_s = None;
        assert_eq!(expected_time(&study, &plan, 1), None);
    }
}
