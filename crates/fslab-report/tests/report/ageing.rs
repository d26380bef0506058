//! Fresh and aged file systems side by side.

use fslab_compare::Analysis;
use fslab_model::RunRecord;
use fslab_report::tables;

use crate::fixture::run_of;

fn aged() -> RunRecord {
    let mut run = run_of(&["ext4", "xfs", "ext4:age=churn"], 3);
    for trial in &mut run.trials {
        let (is_aged, repeat) = (trial.trial.cell.0 == 2, trial.trial.repeat);
        for phase in &mut trial.phases {
            phase.elapsed_ns = Some(1_000_000_000 + u64::from(repeat) * 10_000_000);
            if is_aged && phase.name == "read" {
                phase.elapsed_ns = phase.elapsed_ns.map(|ns| ns * 2);
            }
        }
        if is_aged {
            for (name, value) in [
                ("age.layout_score.full", "0.9700".to_owned()),
                ("age.layout_score.aged", format!("0.61{repeat}0")),
                ("age.files", "12034".to_owned()),
                ("age.fullness_percent", "80.2".to_owned()),
            ] {
                trial.facts.insert(name.to_owned(), value);
            }
        }
    }
    run
}

#[test]
fn an_aged_subject_is_compared_with_the_fresh_one_phase_by_phase() {
    let run = aged();
    let table = tables::aged(&Analysis::of(&run)).expect("a pair");
    assert_eq!(table.rows.len(), 9);
    let texts = |row: usize| -> Vec<&str> {
        table.rows[row]
            .iter()
            .map(|cell| cell.text.as_str())
            .collect()
    };
    assert_eq!(texts(0)[..2], ["ext4:age=churn", "write"]);
    assert_eq!((texts(0)[4], texts(0)[6]), ("1.00", "the same within 5 %"));
    let read = texts(2);
    assert_eq!((read[1], read[4], read[6]), ("read", "0.50", "slower"));
    assert_eq!(
        table.notes,
        [
            "ext4:age=churn: 80.2 % full, 12,034 files, layout score 0.97 when full, \
          layout score 0.61 to 0.612 when aged."
        ]
    );
}

#[test]
fn without_a_fresh_namesake_there_is_no_table() {
    let alone = run_of(&["xfs", "ext4:age=churn"], 2);
    assert_eq!(tables::aged(&Analysis::of(&alone)), None);
    let other = run_of(&["ext4:noatime", "ext4:age=churn"], 2);
    assert_eq!(
        tables::aged(&Analysis::of(&other)),
        None,
        "another mount is another subject"
    );
}
