//! Disturbances and kernel messages in a report.

use fslab_compare::Analysis;
use fslab_model::{Disturbance, DisturbanceKind, KernelMessage, Rounds, RunRecord};
use fslab_report::{html, sentences, tables};

use crate::fixture::{trial_mut, usual};

fn disturbed() -> RunRecord {
    let mut run = usual();
    let trial = trial_mut(&mut run, 0, 1);
    trial.phases[0].disturbances = vec![Disturbance {
        kind: DisturbanceKind::Stopped,
        amount: 3_000_000_000,
        share: 0.5,
        threshold: 0.1,
        text: "the trial did not run for 3 s of 6 s".into(),
    }];
    trial.kernel_log = vec![KernelMessage {
        during: "write".into(),
        text: "I/O error, dev <loop0>".into(),
        times: 7,
        is_error: true,
    }];
    run
}

/// The figure of a trial that was stopped for three seconds looked like any other.
#[test]
fn a_figure_that_rests_on_a_disturbed_repeat_has_a_mark_and_a_note_and_no_other_has() {
    let run = disturbed();
    let analysis = Analysis::of(&run);
    let overview = tables::overview(&analysis);
    assert!(overview.rows[0][1].text.ends_with(" †"), "{overview:?}");
    let marks = overview.rows.iter().flatten();
    assert_eq!(marks.filter(|cell| cell.text.contains('†')).count(), 1);
    assert!(overview.notes.iter().any(|note| note.starts_with('†')));
    let subjects = run.header.plan.subjects.iter().map(|plan| &plan.subject);
    let phase = tables::phase(&analysis.phases[0], subjects);
    assert!(
        phase.rows[0].iter().any(|cell| cell.text.ends_with(" †")),
        "{phase:?}"
    );
    let stated = "the trial did not run for 3 s of 6 s";
    assert!(phase.notes.iter().any(|note| note == stated));
    let table = tables::disturbances(&analysis).expect("a table");
    assert_eq!(table.rows.len(), 1);
    assert_eq!(table.rows[0][4].text, stated);
    let sentences = sentences(&analysis);
    let is_said = |it: &fslab_report::Sentence| it.text.contains("1 measurement was disturbed");
    assert!(sentences.iter().any(is_said), "{sentences:?}");
    let page = html(&[run]).expect("a report");
    assert!(page.contains(stated) && page.contains("What disturbed the measurements"));
}

/// Each disturbed round counted as a repeat: "6 of 5".
#[test]
fn a_repeat_that_was_disturbed_in_several_rounds_counts_once() {
    let mut run = disturbed();
    run.header.plan.rounds = Rounds {
        mounts: 2,
        iterations: 1,
    };
    for trial in &mut run.trials {
        let once = std::mem::take(&mut trial.phases);
        for round in run.header.plan.rounds.each() {
            trial.phases.extend(once.iter().cloned().map(|mut record| {
                record.round = Some(round);
                record
            }));
        }
    }
    let repeats = run.header.plan.repeats;
    let table = tables::disturbances(&Analysis::of(&run)).expect("a table");
    assert_eq!(table.rows.len(), 1);
    assert_eq!(table.rows[0][3].text, format!("1 of {repeats}"));
}

#[test]
fn what_the_kernel_said_is_a_table_and_harmless_on_a_page() {
    let run = disturbed();
    let table = tables::kernel_log(&Analysis::of(&run)).expect("a table");
    assert_eq!(table.rows[0][3].detail.as_deref(), Some("7 times"));
    let page = html(&[run]).expect("a report");
    assert!(page.contains("dev &lt;loop0&gt;") || page.contains("dev &#60;loop0&#62;"));
    assert!(!page.contains("dev <loop0>"));
}

#[test]
fn where_nothing_was_disturbed_nothing_is_said_of_it() {
    let run = usual();
    let analysis = Analysis::of(&run);
    assert_eq!(tables::disturbances(&analysis), None);
    assert_eq!(tables::kernel_log(&analysis), None);
    let page = html(&[run]).expect("a report");
    assert!(!page.contains('†') && !page.contains("disturbed by"));
}
