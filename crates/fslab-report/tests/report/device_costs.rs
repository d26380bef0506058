//! What a subject asks of the device beyond the others is said.

use fslab_compare::Analysis;
use fslab_model::{DeviceUse, PhaseKind, RunRecord};
use fslab_report::sentences;

use crate::exact;

/// A run in which the subject of that number sends so many writes for each MiB of `write`, and the
/// others two.
fn run(subject: u32, per_mib: u64) -> RunRecord {
    let mut run = exact::several();
    for trial in &mut run.trials {
        let own = trial.trial.cell.0 == subject;
        for phase in trial.phases.iter_mut().filter(|it| it.name == "write") {
            assert_eq!(phase.kind, PhaseKind::Write);
            phase.bytes = Some(100 << 20);
            phase.device = Some(DeviceUse {
                writes: 100 * if own { per_mib } else { 2 },
                flushes: Some(0),
                ..DeviceUse::default()
            });
        }
    }
    run
}

fn said(run: &RunRecord) -> Vec<String> {
    let sentences = sentences(&Analysis::of(run)).into_iter();
    let texts = sentences.map(|it| it.text);
    texts
        .filter(|text| text.starts_with("At the device"))
        .collect()
}

/// UFS1 writes zeros to each block before its data, and the report said only that it trails.
#[test]
fn many_times_the_writes_of_the_others_are_named_and_a_few_are_not() {
    let expected = "At the device, XFS causes 258 writes for each MiB in write (the others at \
                    the median 2.0).";
    assert_eq!(said(&run(1, 258)), [expected]);
    assert_eq!(said(&run(1, 60)), [""; 0]);
    let mut uncounted = run(1, 258);
    for trial in &mut uncounted.trials {
        trial
            .phases
            .iter_mut()
            .for_each(|phase| phase.device = None);
    }
    assert_eq!(said(&uncounted), [""; 0]);
}
