//! Phases of two tools' outputs meet by what they do.

use fslab_compare::{ComparedSide, Diff, Meeting, Question};
use fslab_exchange::{Meet, PhaseMap, gather, meet};
use fslab_model::{Failure, Headline, RunRecord, Subject};

use crate::fixture::{run_of, text};
use crate::own::own_run;

/// A run of an output, with a name and ext4 as its subject.
fn run(file: &str, name: &str) -> RunRecord {
    let mut run = run_of(text(file));
    run.header.run = name.parse().expect("a name");
    fslab_compare::relabel(&mut run, &Subject::plain("ext4")).expect("one subject");
    run
}

fn bonnie() -> RunRecord {
    run("bonnie-2.00a-thrice.csv", "bonnie")
}

fn fio() -> RunRecord {
    run("fio-3.33-four-jobs.json", "jobs")
}

fn meet_two(base: RunRecord, new: RunRecord, maps: &[&str]) -> Result<Meet, Failure> {
    let maps: Vec<PhaseMap> = maps.iter().map(|it| it.parse().expect("a map")).collect();
    meet(&[base], &[new], &maps)
}

fn names(pairs: &[Meeting]) -> Vec<(&str, &str)> {
    let each = pairs.iter();
    each.map(|pair| (pair.base.name.as_str(), pair.new.name.as_str()))
        .collect()
}

#[test]
fn bonnie_and_fio_meet_where_they_write_and_read_in_order() {
    let met = meet_two(bonnie(), fio(), &[]).expect("they meet");
    assert!(met.is_mapped && met.is_across_tools);
    assert_eq!(
        names(&met.meetings.pairs),
        [("block-write", "write"), ("block-read", "read")]
    );
    let write = &met.meetings.pairs[0];
    assert_eq!(
        write.does.as_deref(),
        Some("sequential write of a new file")
    );
    let differences = write.differences.iter();
    let differences: Vec<String> = differences
        .map(|it| format!("{}: {:?} {:?}", it.condition, it.base, it.new))
        .collect();
    assert_eq!(
        differences,
        [
            "file size: Some(\"300 MiB\") Some(\"64 MiB\")",
            "record size: Some(\"8 KiB\") Some(\"1 MiB\")",
            "cache before it: None Some(\"dropped\")",
            "I/O engine: None Some(\"psync\")",
        ]
    );
    let left: Vec<&str> = met
        .meetings
        .left
        .iter()
        .map(|it| it.phase.name.as_str())
        .collect();
    assert!(
        left.contains(&"seeks") && left.contains(&"mixed"),
        "{left:?}"
    );
    let question = Question {
        meetings: Some(met.meetings),
        across_tools: true,
        ..Question::default()
    };
    let diff = Diff::of_runs(&met.base, &met.new, &question).expect("they compare");
    let write = &diff.contrasts[0];
    assert_eq!(
        (&*write.phase, write.base.values().count()),
        ("block-write", 3)
    );
    assert_eq!(write.new.values().count(), 2);
    assert!(write.speed.is_some());
}

/// The job of fio was two phases, `mixed read` and `mixed write`, and met nothing.
#[test]
fn both_directions_of_a_job_are_one_phase() {
    let whole = fio();
    let met = meet_two(whole.clone(), bonnie(), &[]).expect("they meet");
    assert!(met.meetings.left.iter().any(|it| it.phase.name == "mixed"));
    let part = |direction: &str| {
        let name = format!("mixed-{direction}");
        let mut phases = whole.trials[0].phases.iter();
        phases
            .find(|it| it.name == name)
            .expect("a direction")
            .clone()
    };
    let (read, write) = (part("read"), part("write"));
    let joined = fslab_exchange::as_compared(&whole);
    let mut phases = joined.trials[0].phases.iter();
    let mixed = phases.find(|it| it.name == "mixed").expect("the job");
    assert_eq!(
        mixed.bytes,
        Some(read.bytes.unwrap() + write.bytes.unwrap())
    );
    let operations = read.operations.unwrap() + write.operations.unwrap();
    assert_eq!(mixed.operations, Some(operations));
    assert_eq!(mixed.elapsed_ns, read.elapsed_ns.max(write.elapsed_ns));
    assert_eq!(
        joined.trials[0].phases.len() + 1,
        whole.trials[0].phases.len()
    );
    assert_eq!(
        joined.header.plan.phases.len(),
        joined.trials[0].phases.len()
    );
    // A direction that the user maps stays apart.
    let met = meet_two(bonnie(), whole, &["rewrite=mixed-read"]).expect("they meet");
    assert!(names(&met.meetings.pairs).contains(&("rewrite", "mixed-read")));
}

#[test]
fn a_mapping_counts_before_what_phases_do() {
    let met = meet_two(bonnie(), fio(), &["rewrite=write"]).expect("they meet");
    let pairs = names(&met.meetings.pairs);
    assert_eq!(pairs, [("rewrite", "write"), ("block-read", "read")]);
    let first = &met.meetings.pairs[0].differences[0];
    assert_eq!(first.condition, "what they do");
    let left = met
        .meetings
        .left
        .iter()
        .find(|it| it.phase.name == "block-write");
    assert_eq!(left.expect("left over").place, ComparedSide::Base);
}

#[test]
fn unknown_and_repeated_names_of_a_mapping_are_refused_with_those_that_there_are() {
    let error = meet_two(bonnie(), fio(), &["blockwrite=write"]).expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "cannot use --map blockwrite=write: bonnie has no phase 'blockwrite'"
    );
    assert!(error.hint.expect("a hint").contains("block-write, rewrite"));
    let error = meet_two(bonnie(), fio(), &["rewrite=nothing"]).expect_err("unknown");
    assert!(
        error
            .hint
            .expect("a hint")
            .ends_with("write, read, random-read, mixed")
    );
    let twice = ["rewrite=write", "block-write=write"];
    let error = meet_two(bonnie(), fio(), &twice).expect_err("twice");
    assert!(
        error.message.ends_with(" is already in another --map"),
        "{error}"
    );
    assert!("rewrite".parse::<PhaseMap>().is_err());
}

/// One point of many would have been an arbitrary one.
#[test]
fn points_of_a_sweep_meet_only_at_the_same_sizes() {
    let sweep = run("iozone-3.489-all.txt", "sweep");
    let writes = sweep.header.plan.phases.iter();
    let writes = writes.filter(|it| it.study_phase() == "write");
    assert!(writes.count() > 1);
    let met = meet_two(sweep.clone(), bonnie(), &[]).expect("no sizes in common");
    assert_eq!(names(&met.meetings.pairs), []);
    let why = met
        .meetings
        .left
        .iter()
        .find(|it| it.phase.study_phase == "write");
    assert!(
        why.expect("left over")
            .why
            .contains("a different file size")
    );
    // The same sweep from another tool, as far as the names tell.
    let mut other = sweep.clone();
    let venue = fslab_model::VenuePlan::Imported {
        tool: "other 1".into(),
    };
    other.header.plan.venue = venue;
    let met = meet_two(sweep.clone(), other, &[]).expect("they meet");
    assert_eq!(met.meetings.pairs.len(), sweep.header.plan.phases.len());
    assert!(met.meetings.pairs.iter().all(|it| it.base == it.new));
    assert!(
        met.meetings
            .pairs
            .iter()
            .all(|it| it.shared.swept.is_some())
    );
}

/// Iozone prints no operations: the headline of a random read, its rate, was in one run alone.
#[test]
fn phases_are_compared_by_a_metric_that_both_have() {
    let mut sweep = run("iozone-3.489-all.txt", "sweep");
    let point = sweep
        .header
        .plan
        .phases
        .iter()
        .find(|it| it.name.starts_with("random-read"));
    let point = point.expect("a random read").name.clone();
    sweep.header.plan.phases.retain(|it| it.name == point);
    sweep
        .trials
        .iter_mut()
        .for_each(|trial| trial.phases.retain(|it| it.name == point));
    let met = meet_two(fio(), sweep, &[]).expect("they meet");
    let [pair] = met.meetings.pairs.as_slice() else {
        panic!("{:?}", names(&met.meetings.pairs));
    };
    assert_eq!(pair.headline, Headline::Throughput);
    assert_eq!(pair.shared.name, "random-read");
    assert!(pair.shared.swept.is_none());
}

#[test]
fn runs_gathered_for_one_table_keep_the_phases_that_they_do_not_share() {
    let gathered = gather(&[bonnie(), fio()], &[]).expect("no mapping");
    let gathered = gathered.expect("they share phases");
    let phases = |at: usize| -> Vec<&str> {
        let run: &RunRecord = &gathered[at].run;
        run.header
            .plan
            .phases
            .iter()
            .map(|it| it.name.as_str())
            .collect()
    };
    assert!(phases(0).contains(&"block-write") && phases(0).contains(&"seeks"));
    assert_eq!(
        phases(1),
        ["block-write", "block-read", "random-read", "mixed"]
    );
    assert!(gathered[0].meetings.is_none() && gathered[1].meetings.is_some());
    let runs: Vec<RunRecord> = gathered.into_iter().map(|it| it.run).collect();
    let merged = fslab_compare::merge_gathered(&runs);
    let subjects = merged.run.header.plan.subjects.iter();
    let subjects: Vec<String> = subjects.map(|it| it.subject.to_string()).collect();
    assert_eq!(subjects, ["ext4 (bonnie)", "ext4 (jobs)"]);
    assert_eq!(merged.run.header.run.as_str(), "bonnie-with-jobs");
    assert_eq!(merged.run.trials.len(), 5);
    let mdtest = run("mdtest-4.0.0.txt", "names");
    assert!(gather(&[fio(), mdtest], &[]).expect("no mapping").is_none());
}

/// The phases of the study `ior` that IOR's tests meet: those that divide the file alike.
#[test]
fn tests_of_ior_meet_the_phases_that_divide_the_file_alike() {
    let each = run("ior-4.1.0-each.json", "each");
    let met = meet_two(each.clone(), own_run(2), &[]).expect("they meet");
    let pairs = names(&met.meetings.pairs);
    assert_eq!(
        pairs,
        [("write", "file-each-write"), ("read", "shared-read")]
    );
    let differences = |at: usize| {
        let all = met.meetings.pairs[at].differences.iter();
        all.map(|it| it.condition).collect::<Vec<_>>()
    };
    assert!(!differences(0).contains(&"sharing"), "{:?}", differences(0));
    assert!(!differences(0).contains(&"threads"), "{:?}", differences(0));
    assert!(!differences(0).contains(&"sync"), "{:?}", differences(0));
    assert!(differences(1).contains(&"sharing"), "{:?}", differences(1));
    let hard = run("io500-result.txt", "hard");
    let met = meet_two(hard, own_run(2), &[]).expect("they meet");
    let pairs = names(&met.meetings.pairs);
    for pair in [
        ("ior-easy-write", "file-each-write"),
        ("ior-hard-write", "interleaved-write"),
        ("mdtest-easy-write", "own-create"),
        ("mdtest-hard-write", "shared-create"),
    ] {
        assert!(pairs.contains(&pair), "{pair:?} of {pairs:?}");
    }
    let alone = meet_two(each, own_run(1), &[]).expect("they meet");
    let first = alone.meetings.pairs[0].differences.iter();
    assert!(first.map(|it| it.condition).any(|it| it == "threads"));
}

#[test]
fn rows_of_mdtest_meet_the_phases_with_the_same_tree() {
    let met = meet_two(run("mdtest-4.1.0-hard.txt", "hard"), own_run(2), &[]).expect("they meet");
    assert_eq!(
        names(&met.meetings.pairs),
        [("file-creation", "shared-create")]
    );
    let opened = run("mdtest-4.1.0-rates-and-times.txt", "opened");
    let met = meet_two(opened, own_run(2), &[]).expect("they meet");
    let pairs = names(&met.meetings.pairs);
    assert!(pairs.contains(&("file-read", "own-read")), "{pairs:?}");
}
