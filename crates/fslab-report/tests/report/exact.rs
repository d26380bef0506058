//! A run in virtual time with one repeat: figures are exact, and the report does not mention
//! repeats, medians or intervals.

use std::sync::LazyLock;

use fslab_compare::Analysis;
use fslab_model::{Bytes, DiskQueue, LabPlan, RunRecord, SimulatedDisk, TimeParts, VenuePlan};
use fslab_report::{Table, html, tables};

use crate::disk_story::simulated;
use crate::fixture;

/// The first repeats of the simulated run, declared as virtual time, where the cpu and the switches
/// of the guest are not measured.
fn exact() -> RunRecord {
    static RUN: LazyLock<RunRecord> = LazyLock::new(|| {
        let mut run = several();
        run.trials.retain(|trial| trial.trial.repeat == 0);
        run.header.plan.repeats = 1;
        run
    });
    RUN.clone()
}

pub(crate) fn several() -> RunRecord {
    let mut run = simulated();
    run.header.plan.venue = VenuePlan::Sim {
        folder: "/var/tmp/fslab".into(),
        kernel: "6.12.95@0123".into(),
        lab: "0123456789ab".into(),
        memory_bytes: Bytes::gib(1),
        layers: Vec::new(),
        disk: SimulatedDisk {
            profile: "hdd".into(),
            queue: DiskQueue {
                max_request_bytes: 1 << 20,
                physical_block_bytes: 4096,
                discard_bytes: 0,
                write_cache: true,
                fua: false,
                rotational: true,
                scheduler: true,
            },
            model: String::new(),
            emptied_by: None,
        },
        machine: None,
    };
    let phases = run.trials.iter_mut().flat_map(|trial| &mut trial.phases);
    phases.for_each(|phase| phase.cpu = None);
    run
}

/// All tables that the terminal shows, too.
fn all_tables(analysis: &Analysis) -> Vec<Table> {
    let phases = analysis.phases.iter();
    let mut all: Vec<Table> = phases
        .map(|phase| tables::phase(phase, analysis.subjects()))
        .collect();
    all.extend([tables::overview(analysis), tables::trials(analysis)]);
    all.extend(tables::overview_by_subject(analysis, 4));
    all.extend(tables::steps(analysis));
    all.extend(tables::durable(analysis));
    all
}

#[test]
fn each_of_several_labs_stands_in_the_report_with_its_subjects() {
    let mut run = exact();
    let page = |run: &RunRecord| html(std::slice::from_ref(run)).expect("a report");
    assert!(page(&run).contains("under guest kernel 6.12.95@0123 with"));
    run.header.plan.subjects[1].lab = Some(LabPlan {
        kernel: "6.18.1@4567".into(),
        digest: "456789abcdef".into(),
    });
    let page = page(&run);
    for text in [
        "under guest kernels 6.12.95@0123, 6.18.1@4567 with",
        "lab (ext4, btrfs)",
        "0123456789ab: kernel 6.12.95@0123 and its root image",
        "lab (xfs)",
        "456789abcdef: kernel 6.18.1@4567 and its root image",
        "6.12.95, 6.18.1",
        "0123456789ab, 456789abcdef",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn no_table_of_an_exact_run_speaks_of_repeats_means_or_intervals() {
    let (exact, several) = (exact(), several());
    let text = |run: &RunRecord| {
        let all = all_tables(&Analysis::of(run));
        let text: Vec<String> = all.iter().map(Table::to_markdown).collect();
        text.join("\n").to_lowercase()
    };
    let (exact, several) = (text(&exact), text(&several));
    for word in [
        "repeat",
        "median",
        "geo. mean",
        "interval",
        "switches",
        "processor",
    ] {
        assert!(!exact.contains(word), "{word} in {exact}");
    }
    assert!(exact.contains("figures of virtual time are exact."));
    // Seeds differ between repeats, so their spread is reported as in real time.
    for word in ["repeats", "geo. mean", "95 % interval"] {
        assert!(several.contains(word), "{word} in {several}");
    }
    assert!(!several.contains("figures of virtual time are exact."));
}

#[test]
fn exact_figures_are_said_to_be_exact_once_a_table() {
    let run = exact();
    let analysis = Analysis::of(&run);
    for phase in &analysis.phases {
        let table = tables::phase(phase, analysis.subjects()).to_markdown();
        assert_eq!(table.matches("exact").count(), 1, "{table}");
    }
    insta::assert_snapshot!(tables::steps(&analysis).expect("steps").to_markdown(), @r"
    **mkfs, mount, unmount and check**

    | Subject | mkfs | mount | unmount | check |
    | :-- | --: | --: | --: | --: |
    | ext4 | **32.3 ms** | **5.86 ms** | 28.5 ms | 92.5 ms |
    | xfs | 64.6 ms | 11.7 ms | **23.2 ms** | 44.4 ms |
    | btrfs | 113 ms | 16.8 ms | 25.6 ms | **30.6 ms** |

    Figures of virtual time are exact.
    ");
}

#[test]
fn charts_of_an_exact_run_have_a_point_a_subject_and_no_median() {
    let run = exact();
    let page = html(std::slice::from_ref(&run)).expect("a report");
    for word in [
        "points: repeats",
        "all repeats",
        "a repeat<",
        "class=\"median\"",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("<b>Throughput</b> <span>exact</span>"));
    assert!(page.contains("one line a subject"));
    let chart = page
        .split("<svg ")
        .find(|svg| svg.contains("r1-phase-write.rate-t"))
        .expect("the chart of the first phase");
    assert_eq!(chart.matches("class=\"dot\"").count(), 3);
    assert!(!chart.contains("median"), "{chart}");
}

#[test]
fn a_single_repeat_in_real_time_is_not_exact() {
    let run = fixture::run_of(&["ext4", "xfs"], 1);
    let analysis = Analysis::of(&run);
    assert!(!analysis.is_exact());
    let table = tables::phase(&analysis.phases[0], analysis.subjects()).to_markdown();
    assert!(
        table.contains("95 % interval") && table.contains("1/1"),
        "{table}"
    );
}

#[test]
fn what_the_media_did_in_the_background_is_in_bar_and_table() {
    let mut run = exact();
    let insight = run.trials[0].phases[0].insight.as_mut().expect("simulated");
    insight.reads.time = TimeParts::default();
    insight.writes.time = TimeParts {
        command_ns: 1_000_000_000,
        cache_ns: 7_000_000_000,
        ..TimeParts::default()
    };
    insight.flushes.time = TimeParts::default();
    insight.background_write_time = TimeParts {
        seek_ns: 4_000_000_000,
        rotation_ns: 3_000_000_000,
        transfer_ns: 500_000_000,
        ..TimeParts::default()
    };
    let analysis = Analysis::of(&run);
    let table = tables::disk(&analysis.phases[0], analysis.subjects()).expect("a table");
    let texts = |row: usize| -> Vec<(&str, &str)> {
        let columns = table.columns.iter().zip(&table.rows[row]);
        columns
            .filter(|(column, _)| column.group.as_deref() == Some("Time of the media"))
            .map(|(column, cell)| (column.title.as_str(), cell.text.as_str()))
            .collect()
    };
    let media = [
        ("seek", "4.00 s"),
        ("rotation", "3.00 s"),
        ("transfer", "500 ms"),
    ];
    assert_eq!(texts(0), media);
    let page = html(std::slice::from_ref(&run)).expect("a report");
    assert!(page.contains(
        "ext4, requests: command 1.00 s and cache 7.00 s; \
         media: seek 4.00 s, rotation 3.00 s and transfer 500 ms."
    ));
}

#[test]
fn a_disk_without_heads_has_no_columns_of_seek_and_rotation() {
    let mut run = exact();
    for phase in run.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        let insight = phase.insight.as_mut().expect("simulated");
        for kind in [&mut insight.reads, &mut insight.writes] {
            (kind.time.seek_ns, kind.time.rotation_ns) = (0, 0);
        }
        insight.flushes.time = TimeParts::default();
    }
    let analysis = Analysis::of(&run);
    let table = tables::disk(&analysis.phases[0], analysis.subjects()).expect("a table");
    let titles: Vec<&str> = table.columns.iter().map(|it| it.title.as_str()).collect();
    assert!(titles.contains(&"transfer"), "{titles:?}");
    assert!(
        !titles.contains(&"seek") && !titles.contains(&"rotation"),
        "{titles:?}"
    );
}

/// The head of the page named the host's kernel, which does not affect the figures.
#[test]
fn the_head_of_the_page_names_the_kernel_and_the_disk_of_the_trials() {
    let page = html(&[exact()]).expect("a page");
    let head = page.split("<dl class=\"brief\">").nth(1);
    let head = head.and_then(|rest| rest.split("</dl>").next());
    let head = head.expect("a head");
    for (name, value) in [
        ("kernel", "6.12.95"),
        ("lab", "0123456789ab"),
        ("disk", "hdd"),
    ] {
        let entry = format!("<dt>{name}</dt><dd>{value}</dd>");
        assert!(head.contains(&entry), "{entry} in {head}");
    }
}
