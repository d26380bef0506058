//! Runs go out in the two forms of IO500 and come back, and are marked as IO500 marks them.

use fslab_exchange::{io500_result, io500_summary};
use fslab_model::{
    Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, RunRecord, Scale,
    phase_metrics,
};
use serde_json::json;

use crate::fixture::{run_of, text};
use crate::own::own_run;

const RESULT: &str = "io500-result.txt";
const SUMMARY: &str = "io500-summary.txt";

/// The lines of a text whose beginning is one of these.
fn lines<'t>(text: &'t str, beginnings: &[&str]) -> Vec<&'t str> {
    let is_wanted = |line: &&str| beginnings.iter().any(|it| line.starts_with(it));
    text.lines().filter(is_wanted).collect()
}

#[test]
fn the_result_of_the_real_application_has_the_same_scores_marks_and_checksum_again() {
    let real = text(RESULT);
    let (ours, left_out) = io500_result(&run_of(real.as_str())).expect("phases");
    let optional = "the phase 'ior-rnd4k-easy-read' is left out: IO500 has no such phase in its \
                    standard mode";
    assert_eq!(left_out, [optional]);
    let kept = [
        "[", "score ", "MD ", "BW ", "SCORE ", "hash ", "version ", "procs ", "mode ",
    ];
    let without_optional = |text: &str| {
        let found = lines(text, &kept);
        let end = found.iter().position(|it| it.starts_with("[ior-rnd4K"));
        let mut found: Vec<String> = found.iter().map(|it| (*it).to_owned()).collect();
        end.into_iter().for_each(|at| drop(found.drain(at..at + 2)));
        found
    };
    assert_eq!(without_optional(&ours), without_optional(&real));
    assert!(ours.contains("hash            = 4AACB80E\n"), "{ours}");
    // Each reason of the real run stands there again.
    for reason in lines(&real, &["; ERROR INVALID"]).iter().skip(1) {
        assert!(ours.contains(reason), "{reason}");
    }
    assert!(ours.contains("-t 47008 -b 47008 -s 200 -w -D 1 -O stoneWallingWearOut=1"));
}

#[test]
fn the_summary_of_the_real_application_has_the_same_lines_again() {
    let real = text(SUMMARY);
    let (ours, _) = io500_summary(&run_of(real.as_str())).expect("phases");
    let kept = ["IO500", "[RESULT]", "[SCORE"];
    assert_eq!(lines(&ours, &kept), lines(&real, &kept));
}

/// A run of two repeats with the phases of the study, each of `seconds`.
fn own(seconds: u64) -> RunRecord {
    let mut run = own_run(2);
    let data = |name: &str, direction: &str, sharing: &str, stonewall: bool| {
        let mut parameters = json!({
            "file_size": 1_880_320_000_u64, "record": 47008, "direction": direction,
            "sharing": sharing, "open": "replace", "sync": { "closing": "fsync" },
        });
        if stonewall {
            parameters["stonewall_ns"] = json!(300_000_000_000_u64);
        }
        (name.to_owned(), "io", parameters)
    };
    let names = |name: &str, operation: &str, stonewall: bool| {
        let mut parameters = json!({
            "operation": operation, "directory": &name[..11], "files": 1000,
            "files_per_directory": 0, "sharing": "shared", "file_size": 3901,
        });
        if stonewall {
            parameters["stonewall_ns"] = json!(300_000_000_000_u64);
        }
        (name.to_owned(), "files", parameters)
    };
    let specs = [
        data("ior-easy-write", "write", "own", true),
        names("mdtest-easy-write", "create", true),
        data("ior-hard-write", "write", "interleaved", true),
        names("mdtest-hard-write", "create", true),
        names("find-easy-1", "stat", false),
        names("find-hard-1", "stat", false),
        data("ior-easy-read", "read", "own", false),
        names("mdtest-easy-stat", "stat", false),
        data("ior-hard-read", "read", "interleaved", false),
        names("mdtest-hard-stat", "stat", false),
        names("mdtest-easy-delete", "unlink", false),
        names("mdtest-hard-read", "read", false),
        names("mdtest-hard-delete", "unlink", false),
    ];
    let specs: Vec<PhaseSpec> = specs
        .into_iter()
        .map(|(name, workload, parameters)| {
            let parameters: Parameters = serde_json::from_value(parameters).expect("parameters");
            PhaseSpec::new(name.trim_end_matches("-1"), workload, parameters)
        })
        .collect();
    for (repeat, trial) in (1_u64..).zip(&mut run.trials) {
        let record = |(at, spec): (u64, &PhaseSpec)| {
            let is_data = spec.workload == "io";
            let (kind, headline) = match is_data {
                true => (PhaseKind::Write, Headline::Throughput),
                false => (PhaseKind::Metadata, Headline::OperationRate),
            };
            let mut record = PhaseRecord::empty(spec, kind, headline, PhaseOutcome::Done);
            record.elapsed_ns = Some(seconds * 1_000_000_000);
            record.operations = Some(1_000_000 * at * repeat);
            record.bytes = is_data.then_some((at * repeat) << 33);
            record
        };
        trial.phases = (1_u64..).zip(&specs).map(record).collect();
    }
    run.header.plan.phases = specs;
    run
}

#[test]
fn a_run_of_fslab_comes_back_with_its_subject_and_its_rates() {
    let run = own(320);
    for write in [io500_result, io500_summary] {
        let (exported, left_out) = write(&run).expect("phases");
        assert_eq!(left_out, Vec::<String>::new());
        assert!(!exported.contains("INVALID"), "{exported}");
        let again = run_of(exported);
        assert_eq!(again.trials.len(), 2);
        for (trial, original) in again.trials.iter().zip(&run.trials) {
            assert_eq!(trial.subject.to_string(), "ext4");
            for phase in &trial.phases {
                let found = original.phases.iter().find(|it| it.name == phase.name);
                let Some(found) = found else {
                    assert_eq!(phase.name, "find");
                    // 5 and 6 million files times the repeat, in twice 320 s.
                    let repeat = f64::from(trial.trial.repeat + 1);
                    let expected = 11e6 * repeat / 640.0;
                    let rate = phase.figures["operation_rate"];
                    assert!((rate - expected).abs() < 1e-2, "{rate} {expected}");
                    continue;
                };
                let rate = |of: &PhaseRecord| {
                    let metrics = phase_metrics(of);
                    let names = ["throughput", "operation_rate"];
                    let rate = metrics
                        .iter()
                        .find(|it| names.contains(&it.definition.name));
                    rate.expect("a rate").value
                };
                let (ours, theirs) = (rate(phase), rate(found));
                assert!((ours / theirs - 1.0).abs() < 1e-6, "{}", phase.name);
            }
        }
    }
    let (result, _) = io500_result(&run).expect("phases");
    assert!(
        result.contains("-t 47008 -b 47008 -s 40000 -w -D 300"),
        "{result}"
    );
    assert!(result.contains("exe             = ./mdtest -F -n 1000 -w 3901 -W 300 -C"));
}

#[test]
fn what_is_scaled_down_too_short_or_missing_is_invalid() {
    let marks = |run: &RunRecord| {
        let (result, _) = io500_result(run).expect("phases");
        let (summary, _) = io500_summary(run).expect("phases");
        let is_marked = |text: &str, key: &str| {
            let line = text.lines().find(|line| line.starts_with(key));
            line.expect(key).ends_with("[INVALID]")
        };
        let score = is_marked(&result, "SCORE ");
        assert_eq!(is_marked(&summary, "[SCORE ]"), score);
        let reasons = lines(&result, &["; ERROR INVALID"]);
        (
            score,
            reasons
                .iter()
                .map(|it| (*it).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(marks(&own(300)), (false, Vec::new()));
    let mut scaled = own(300);
    scaled.header.plan.scale = "1/60".parse::<Scale>().expect("a scale");
    let (is_marked, reasons) = marks(&scaled);
    assert!(is_marked);
    assert_eq!(
        reasons[0],
        "; ERROR INVALID the study ran at a scale of 1/60 != 1"
    );
    let (is_marked, reasons) = marks(&own(299));
    assert!(is_marked);
    // Four phases that write, of two repeats.
    assert_eq!(reasons.len(), 8, "{reasons:?}");
    assert!(reasons[0].ends_with("299.000 s of 300 s"), "{reasons:?}");
    let mut incomplete = own(300);
    for trial in &mut incomplete.trials {
        trial.phases.retain(|phase| phase.name != "ior-hard-read");
    }
    let (is_marked, reasons) = marks(&incomplete);
    assert!(is_marked);
    assert!(reasons[0].contains("Resulting score shouldn't be 0.0"));
    let none = io500_result(&run_of(text("mdtest-4.1.0.txt"))).expect_err("other names");
    assert!(none.to_string().contains("needs phases with IO500's names"));
}
