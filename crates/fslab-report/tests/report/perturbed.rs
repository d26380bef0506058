//! A run in virtual time with perturbed repeats: the sensitivity of each figure.

use fslab_compare::Analysis;
use fslab_model::{Perturbation, RunRecord};
use fslab_report::{Cells, csv_long, html, json, sentences, tables};

use crate::exact::several;

fn perturbed() -> RunRecord {
    let mut run = several();
    run.header.plan.perturb = true;
    // A third repeat: the second with slightly longer phases.
    let mut third: Vec<_> = run.trials.clone();
    third.retain(|trial| trial.trial.repeat == 1);
    for (trial, cell) in third.iter_mut().zip(1..) {
        trial.trial.repeat = 2;
        let elapsed = trial
            .phases
            .iter_mut()
            .filter_map(|it| it.elapsed_ns.as_mut());
        elapsed.for_each(|ns| *ns += *ns / 100 * cell);
    }
    run.trials.extend(third);
    run.trials.sort_by_key(|trial| trial.trial);
    run.header.plan.repeats = 3;
    for trial in &mut run.trials {
        trial.perturbation = Perturbation::of(1, trial.trial.repeat);
    }
    run
}

/// The first `count` repeats of it.
fn of(count: u32) -> RunRecord {
    let mut run = perturbed();
    run.trials.retain(|trial| trial.trial.repeat < count);
    run.header.plan.repeats = count;
    run
}

fn summary(run: &RunRecord) -> String {
    let text = sentences(&Analysis::of(run)).into_iter();
    text.map(|sentence| sentence.text + "\n").collect()
}

#[test]
fn the_most_sensitive_figure_is_named_and_every_one_is_in_the_table() {
    let run = of(3);
    let analysis = Analysis::of(&run);
    let most = analysis.sensitive()[0];
    let phase = &analysis.phases[most.phase];
    let values = phase.cells[most.subject].values(phase.comparison.as_ref().expect("it").metric);
    assert_eq!(values.len(), 3);
    assert_eq!(Some(most.share), fslab_stats::sensitivity(&values));
    let percent = format!("± {:.1} %", 100.0 * most.share);
    let text = summary(&run);
    let line = text.lines().find(|line| line.starts_with("Most sensitive"));
    let line = line.expect("a line");
    assert!(
        line.contains("over 3 perturbed runs in virtual time"),
        "{line}"
    );
    assert!(line.contains(&percent), "{line}");
    assert_eq!(text.matches("ensitive").count(), 1, "{text}");
    let table = tables::sensitivity(&analysis).expect("a table");
    assert_eq!(table.rows.len(), analysis.phases.len());
    assert_eq!(table.rows[most.phase][most.subject + 1].text, percent);
    let of_phase = tables::phase(phase, analysis.subjects()).to_markdown();
    assert!(of_phase.contains("sensitivity") && of_phase.contains(&percent));
    let page = html(std::slice::from_ref(&run)).expect("a page");
    assert!(page.contains("How sensitive the figures are"));
    assert!(page.contains(&percent));
    let trials = tables::trials(&analysis).to_markdown();
    assert!(trials.contains("not at all") && trials.contains(" process ids, seed "));
}

#[test]
fn of_two_runs_and_of_runs_with_other_data_it_is_not_known() {
    let two = of(2);
    let analysis = Analysis::of(&two);
    assert!(analysis.sensitive().is_empty());
    assert!(summary(&two).contains("it takes three perturbed runs, and there are 2"));
    let table = tables::sensitivity(&analysis).expect("a table");
    assert_eq!(table.rows[0][1].text, "not known");
    let mut seeds = of(3);
    seeds.header.plan.perturb = false;
    let analysis = Analysis::of(&seeds);
    assert!(analysis.sensitive().is_empty());
    assert_eq!(tables::sensitivity(&analysis), None);
    assert!(!summary(&seeds).contains("ensitive"));
    // With one run the sensitivity is unknown, and "the same" is a convention.
    let text = summary(&of(1));
    assert!(
        text.contains("how sensitive they are is not known"),
        "{text}"
    );
    assert!(text.contains("By convention"), "{text}");
}

#[test]
fn repeats_that_are_equal_to_the_last_digit_are_not_sensitive_and_have_no_nonsense() {
    let mut run = of(3);
    for cell in 0..3 {
        let cell_of = |trial: &&fslab_model::TrialRecord| trial.trial.cell.0 == cell;
        let first = run.trials.iter().find(cell_of).expect("a trial").clone();
        for trial in run.trials.iter_mut().filter(|it| it.trial.cell.0 == cell) {
            trial.phases.clone_from(&first.phases);
            trial.steps.clone_from(&first.steps);
        }
    }
    let text = summary(&run);
    assert!(text.contains("No figure is sensitive"), "{text}");
    let page = html(std::slice::from_ref(&run)).expect("a page");
    for nonsense in [">NaN", "NaN %", "NaN to", "inf ", "∞"] {
        assert!(!page.contains(nonsense), "{nonsense}");
    }
    let analysis = Analysis::of(&run);
    assert!(analysis.phases.iter().any(|phase| {
        let comparison = phase.comparison.as_ref().expect("figures");
        comparison.winner().is_some() && comparison.entries.iter().all(|it| it.test.is_none())
    }));
    let certainty = tables::certainty(&analysis.phases[0], analysis.subjects(), analysis.family);
    let certainty = certainty.expect("a table").to_markdown();
    assert!(
        certainty.contains("0.1 % more on either side"),
        "{certainty}"
    );
}

#[test]
fn the_exports_have_the_sensitivity_and_read_back() {
    let run = of(3);
    let text = json(&run).expect("JSON");
    let read: RunRecord = serde_json::from_str(&text).expect("a run");
    assert_eq!(read, run);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let first = &document["sensitivity"][0];
    assert_eq!(
        (&first["subject"], &first["runs"]),
        (&"ext4".into(), &3.into())
    );
    let share = first["share"].as_f64().expect("a number");
    let csv = csv_long(&run, Cells::Guarded).expect("CSV");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let column = rows
        .headers()
        .expect("a head")
        .iter()
        .position(|it| it == "sensitivity");
    let column = column.expect("the column");
    let phase = first["phase"].as_str().expect("a name");
    let found = rows
        .records()
        .map(|row| row.expect("a row"))
        .find(|row| row.iter().any(|it| it == phase) && row.iter().any(|it| it == "ext4"));
    let found: f64 = found.expect("its row")[column].parse().expect("a number");
    assert!((found - share).abs() < 1e-12);
    let exact = json(&{
        let mut run = run.clone();
        run.header.plan.perturb = false;
        run
    });
    assert!(!exact.expect("JSON").contains("\"sensitivity\": ["));
}
