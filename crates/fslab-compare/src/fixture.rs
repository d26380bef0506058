//! A run for unit tests.

use fslab_model::{
    Bytes, CellId, Facts, Headline, MachineFacts, Parameters, Perturbation, PhaseKind,
    PhaseOutcome, PhaseRecord, PhaseSpec, Plan, RunHeader, RunRecord, Subject, SubjectPlan,
    TrialId, TrialOutcome, TrialRecord, VenuePlan,
};

/// A run with one trial of ext4 and these phases, each of the workload `write` and without figures.
pub(crate) fn run(name: &str, phases: &[&str]) -> RunRecord {
    let spec = |name: &&str| PhaseSpec::new(*name, "write", Parameters::new());
    let phases: Vec<PhaseSpec> = phases.iter().map(spec).collect();
    let record = |spec: &PhaseSpec| {
        let headline = Headline::OperationRate;
        PhaseRecord::empty(spec, PhaseKind::Write, headline, PhaseOutcome::Done)
    };
    let records = phases.iter().map(record).collect();
    let subject = Subject::plain("ext4");
    let plan = Plan {
        title: "Test".to_owned(),
        venue: VenuePlan::Fake,
        size_bytes: Bytes::mib(64),
        engine: "null".to_owned(),
        subjects: vec![SubjectPlan::existing(subject.clone())],
        phases,
        seed: 1,
        ..Plan::imported("test", "none")
    };
    let trial = TrialRecord {
        trial: TrialId {
            cell: CellId(0),
            repeat: 0,
        },
        subject,
        perturbation: Perturbation::NONE,
        position: 0,
        started_unix_s: 0,
        elapsed_ns: 0,
        outcome: TrialOutcome::Done,
        steps: Vec::new(),
        phases: records,
        facts: Facts::new(),
        console: String::new(),
        insight: None,
        kernel_log: Vec::new(),
        survival: None,
    };
    RunRecord {
        header: RunHeader {
            run: name.parse().expect("a name"),
            plan_hash: plan.hash(),
            plan,
            fslab: "0".to_owned(),
            machine: MachineFacts::default(),
            command: Vec::new(),
            started_unix_s: 0,
        },
        trials: vec![trial],
    }
}
