//! Runs of several machines in one comparison.

use fslab_compare::{Analysis, MergeError, merge, relabel};
use fslab_model::{Bytes, RunRecord, Subject, VenuePlan};
use fslab_report::{Chapter, html_of, tables};

use crate::fixture::run_of;

fn subject(text: &str) -> Subject {
    text.parse().expect("a subject")
}

/// A run of the venue `dir` on one of two machines.
fn on_machine(name: &str, label: &str) -> RunRecord {
    let mut run = run_of(&["dir"], 3);
    run.header.run = format!("20261118-110640-{name}")
        .parse()
        .expect("a run's name");
    run.header.machine.host = Some(name.to_owned());
    run.header.plan.venue = VenuePlan::Dir {
        dir: std::path::PathBuf::from(format!("/mnt/{name}")).into(),
    };
    relabel(&mut run, &subject(label)).expect("one subject");
    run
}

#[test]
fn the_subjects_of_all_machines_stand_side_by_side_under_their_labels() {
    let runs = [on_machine("aaaa", "ntfs"), on_machine("bbbb", "ext4")];
    let merged = merge(&runs).expect("the same study");
    let analysis = Analysis::of(&merged.run);
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    assert_eq!(names, ["ntfs", "ext4"]);
    assert!(analysis.phases.iter().all(|phase| phase.cells.len() == 2));
    let comparison = analysis.phases[0].comparison.as_ref().expect("compared");
    assert!(
        comparison
            .entries
            .iter()
            .all(|entry| entry.values.len() == 3)
    );
    let positions: Vec<u32> = merged
        .run
        .trials
        .iter()
        .map(|trial| trial.position)
        .collect();
    let mut unique = positions.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), positions.len());
    assert!(
        tables::overview(&analysis).rows[0][2]
            .text
            .ends_with("MB/s")
    );
}

#[test]
fn the_report_says_that_the_law_was_waived_and_in_what_the_machines_differ() {
    let runs = [on_machine("aaaa", "ntfs"), on_machine("bbbb", "ext4")];
    let merged = merge(&runs).expect("the same study");
    assert_eq!(
        merged.differences[1..],
        [
            "They differ in the machine: \
             aaaa, AMD EPYC 9454P 48-Core Processor, 4 processors, 8 GiB, x86_64 (ntfs); \
             bbbb, AMD EPYC 9454P 48-Core Processor, 4 processors, 8 GiB, x86_64 (ext4).",
            "They differ in the device: /mnt/aaaa (ntfs); /mnt/bbbb (ext4).",
        ]
    );
    let chapter = Chapter::of(&merged.run).with_differences(&merged.differences);
    let page = html_of(&[chapter]).expect("a report");
    assert!(
        page.contains("compared across machines: that all but the subject is alike was waived")
    );
    assert!(page.contains("/mnt/bbbb (ext4)"));
}

#[test]
fn another_question_is_never_merged() {
    let first = on_machine("aaaa", "ntfs");
    let refused = |change: fn(&mut RunRecord)| {
        let mut other = on_machine("bbbb", "ext4");
        change(&mut other);
        merge(&[first.clone(), other])
            .expect_err("refused")
            .to_string()
    };
    let phases = refused(|run| drop(run.header.plan.phases.pop()));
    assert!(phases.contains("differ in their phases"), "{phases}");
    let parameter = refused(|run| {
        let parameters = &mut run.header.plan.phases[0].parameters;
        parameters.insert("record".into(), Bytes::kib(4).to_string().into());
    });
    assert!(parameter.contains("differ in their phases"), "{parameter}");
    let scale = refused(|run| run.header.plan.scale = "1/2".parse().expect("a scale"));
    assert!(scale.contains("differ in their scale"), "{scale}");
    let study = refused(|run| run.header.plan.study = "other".into());
    assert!(study.contains("differ in their study"), "{study}");
}

#[test]
fn twins_lone_runs_and_labels_of_many_are_refused() {
    let twins = [on_machine("aaaa", "ext4"), on_machine("bbbb", "ext4")];
    let error = merge(&twins).expect_err("twins");
    assert_eq!(
        error.to_string(),
        "20261118-110640-aaaa and 20261118-110640-bbbb both have the subject ext4"
    );
    assert_eq!(merge(&twins[..1]), Err(MergeError::TooFew));
    let mut several = run_of(&["ext4", "xfs"], 1);
    let error = relabel(&mut several, &subject("ntfs")).expect_err("two subjects");
    assert!(matches!(error, MergeError::Several { count: 2, .. }));
}
