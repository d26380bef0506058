//! Untrusted names and messages must not become markup.

use fslab_compare::Analysis;
use fslab_model::{Failure, FailureKind, PhaseOutcome, TrialOutcome};
use fslab_report::{Cells, csv_long, html, tables};

use crate::fixture::run_of;

const EVIL: &str = "</script><img src=x onerror=alert(1)>&\"'`|";

#[test]
fn no_text_of_a_record_becomes_markup() {
    let mut run = run_of(&["ext4:mount=<b>&\"'", "xfs"], 2);
    run.header.plan.title = EVIL.into();
    run.header.plan.study = EVIL.into();
    run.header.command = vec![EVIL.into()];
    run.header.machine.host = Some(EVIL.into());
    run.header.plan.phases[0].name = EVIL.into();
    run.header.plan.phases[1]
        .parameters
        .insert(EVIL.into(), EVIL.into());
    for trial in &mut run.trials {
        trial.phases[0].name = EVIL.into();
        trial.phases[1].notes = vec![EVIL.into()];
        trial.phases[2].outcome = PhaseOutcome::Skipped {
            reason: EVIL.into(),
        };
        trial.facts.insert(EVIL.into(), EVIL.into());
        trial.steps[0].command = vec![EVIL.into()];
        trial.console = EVIL.into();
        trial.outcome = TrialOutcome::Failed {
            failure: Failure::new(FailureKind::Io, EVIL).hint(EVIL),
        };
    }
    let page = html(std::slice::from_ref(&run)).expect("a report");
    assert!(!page.contains("<img"), "an element came from a name");
    assert!(!page.contains("<b>&\""), "a subject became markup");
    assert_eq!(page.matches("</script>").count(), 1, "the page's own alone");
    assert!(page.contains("&lt;"));
    let overview = tables::overview(&Analysis::of(&run)).to_markdown();
    assert!(!overview.contains("<img"), "{overview}");
    let csv = csv_long(&run, Cells::Guarded).expect("a record");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let columns = reader.headers().expect("a head").len();
    assert!(
        reader
            .records()
            .all(|row| row.is_ok_and(|row| row.len() == columns))
    );
}
