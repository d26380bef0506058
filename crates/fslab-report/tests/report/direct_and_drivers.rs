//! O_DIRECT that the page cache serves, and subjects that another file system's driver mounts.

use fslab_compare::Analysis;
use fslab_model::{CellId, RunRecord};
use fslab_report::{html, tables};

use crate::fixture;

/// `phase` asks for O_DIRECT, and the device moves nothing for the subject of that number.
fn run_with_direct(phase: &str, buffered: &[u32]) -> RunRecord {
    let mut run = fixture::run_of(&["ext4", "xfs", "ntfs-3g"], 3);
    let of_it = run.header.plan.phases.iter_mut();
    for spec in of_it.filter(|spec| spec.name == phase) {
        spec.parameters.insert("direct".into(), true.into());
    }
    for trial in &mut run.trials {
        let is_buffered = buffered.contains(&trial.trial.cell.0);
        for record in trial.phases.iter_mut().filter(|it| it.name == phase) {
            let device = record.device.as_mut().expect("counters");
            if is_buffered {
                (device.read_bytes, device.write_bytes) = (0, 0);
            }
        }
    }
    run
}

#[test]
fn direct_io_that_the_page_cache_served_takes_no_rank_as_direct() {
    let run = run_with_direct("read", &[2]);
    let analysis = Analysis::of(&run);
    let read = |it: &&fslab_compare::PhaseAnalysis| it.name == "read";
    let phase = analysis.phases.iter().find(read).expect("the phase");
    let comparison = phase.comparison.as_ref().expect("measured");
    assert_eq!(comparison.order().len(), 2);
    assert!(comparison.entries[2].values.is_empty());
    let reason = phase.cells[2].absence().expect("no figure");
    assert!(reason.starts_with("buffered: "), "{reason}");
    let overview = tables::overview(&analysis);
    let row = overview.rows.iter().find(|row| row[0].text == "Read");
    assert_eq!(row.expect("the phase")[3].text, "buffered");
    let failures = tables::failures(&analysis).expect("one thing is missing");
    let cells = failures.rows.iter().flatten();
    let shown: Vec<&str> = cells.map(|cell| cell.text.as_str()).collect();
    assert!(
        shown
            .iter()
            .any(|text| text.contains("the page cache served its O_DIRECT"))
    );
}

/// Where nothing reached a device, all are compared with their like.
#[test]
fn direct_io_that_is_buffered_everywhere_is_compared() {
    let run = run_with_direct("read", &[0, 1, 2]);
    let analysis = Analysis::of(&run);
    let phase = analysis
        .phases
        .iter()
        .find(|it| it.name == "read")
        .expect("the phase");
    assert!(phase.cells.iter().all(|cell| cell.absence().is_none()));
}

#[test]
fn a_driver_of_another_file_system_stands_below_each_table_that_names_its_subject() {
    let mut run = fixture::run_of(&["ext2", "xfs"], 3);
    for trial in run
        .trials
        .iter_mut()
        .filter(|it| it.trial.cell == CellId(0))
    {
        for (name, value) in [
            ("driver", "ext4"),
            ("driver.origin", "module"),
            ("driver.owner", "ext4"),
        ] {
            trial.facts.insert(name.into(), value.into());
        }
    }
    let note = "ext2 is mounted by the driver ext4 (module) of ext4.";
    let analysis = Analysis::of(&run);
    let drivers = tables::ForeignDrivers::of(&analysis);
    for table in [Some(tables::overview(&analysis)), tables::steps(&analysis)] {
        let table = drivers.noted(table.expect("a table"));
        assert!(table.notes.iter().any(|it| it == note), "{:?}", table.notes);
    }
    assert!(
        html(std::slice::from_ref(&run))
            .expect("a page")
            .contains(note)
    );
    let page = html(&[fixture::run_of(&["ext2", "xfs"], 3)]).expect("a page");
    assert!(!page.contains("is mounted by the driver"));
}
