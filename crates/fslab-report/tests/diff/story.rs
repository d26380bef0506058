//! Runs with given rates.

use fslab_model::{
    Bytes, CellId, ColdMethod, Headline, MachineFacts, Parameters, PhaseKind, PhaseOutcome,
    PhaseRecord, PhaseSpec, Plan, RunHeader, RunRecord, Subject, SubjectPlan, TrialId,
    TrialOutcome, TrialRecord, VenuePlan,
};

/// The rates of one phase, one per repeat.
pub(crate) type Phase<'a> = (&'a str, Vec<f64>);

/// A run of `subjects`, each with its phases.
pub(crate) fn run(name: &str, subjects: &[(&str, Vec<Phase>)]) -> RunRecord {
    let specs = specs(&subjects[0].1);
    let repeats = subjects.iter().flat_map(|(_, phases)| phases);
    let repeats = repeats.map(|(_, rates)| rates.len()).max().unwrap_or(0);
    let trials = subjects
        .iter()
        .zip(0..)
        .flat_map(|((subject, phases), cell)| {
            (0..repeats).map(move |repeat| trial(subject, cell, repeat, phases))
        });
    let plan = Plan {
        title: "Story".into(),
        venue: VenuePlan::Loop {
            folder: "/var/tmp".into(),
        },
        size_bytes: Bytes::gib(1),
        cold: ColdMethod::Remount,
        cold_after_s: 0,
        dirty_limit_bytes: None,
        engine: "psync".into(),
        subjects: subjects.iter().map(|(name, _)| planned(name)).collect(),
        phases: specs,
        repeats: u32::try_from(repeats).expect("few"),
        trial_limit_s: 60,
        seed: 1,
        ..Plan::imported("story", "none")
    };
    RunRecord {
        header: RunHeader {
            run: name.parse().expect("a name"),
            plan_hash: plan.hash(),
            plan,
            fslab: "1.0.0".into(),
            machine: MachineFacts {
                host: Some("desk".into()),
                kernel: Some("6.12".into()),
                memory_bytes: Some(8 << 30),
                ..MachineFacts::default()
            },
            command: Vec::new(),
            started_unix_s: 0,
        },
        trials: trials.collect(),
    }
}

fn planned(name: &str) -> SubjectPlan {
    let subject: Subject = name.parse().expect("a subject");
    SubjectPlan {
        mkfs: Some(vec![format!("mkfs.{}", subject.fs()), "DEVICE".into()]),
        ..SubjectPlan::existing(subject)
    }
}

fn specs(phases: &[Phase]) -> Vec<PhaseSpec> {
    let spec = |(name, _): &Phase| PhaseSpec::new(*name, "read", Parameters::new());
    phases.iter().map(spec).collect()
}

fn trial(subject: &str, cell: u32, repeat: usize, phases: &[Phase]) -> TrialRecord {
    let records = phases
        .iter()
        .zip(specs(phases))
        .filter_map(|((_, rates), spec)| {
            let rate = *rates.get(repeat)?;
            let mut record = PhaseRecord::empty(
                &spec,
                PhaseKind::Read,
                Headline::Throughput,
                PhaseOutcome::Done,
            );
            record.figures.insert("throughput".into(), rate);
            Some(record)
        });
    TrialRecord {
        trial: TrialId {
            cell: CellId(cell),
            repeat: u32::try_from(repeat).expect("few"),
        },
        subject: subject.parse().expect("a subject"),
        perturbation: fslab_model::Perturbation::NONE,
        position: 0,
        started_unix_s: 0,
        elapsed_ns: 1,
        outcome: TrialOutcome::Done,
        steps: Vec::new(),
        phases: records.collect(),
        facts: [("tool.mkfs".to_owned(), "mkfs 1.47".to_owned())].into(),
        console: String::new(),
        insight: None,
        kernel_log: Vec::new(),
        survival: None,
    }
}
