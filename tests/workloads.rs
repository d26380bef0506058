//! `fslab workload`: what a study may set, what a workload fixes, what a job takes.

use crate::harness::Desk;

#[test]
fn a_workload_is_shown_with_what_it_fixes() {
    let desk = Desk::new();
    let shown = desk.run(&["workload", "show", "chmod"]);
    shown.expect_code(0);
    let (settable, fixed) = shown.out.split_once("fixes\n").expect("two lists");
    assert!(settable.contains("  files = 10000\n") && !settable.contains("operation = "));
    assert!(fixed.contains("  operation = \"chmod\"\n") && !fixed.contains("files ="));
    let shown = desk.run(&["workload", "show", "io"]);
    assert!(!shown.out.contains("fixes"), "{}", shown.out);
}

#[test]
fn every_job_is_listed_and_shown_with_its_parameters() {
    let desk = Desk::new();
    let listed = desk.run(&["workload", "jobs"]);
    listed.expect_code(0);
    let names: Vec<_> = listed
        .out
        .lines()
        .filter(|line| !line.starts_with(' '))
        .collect();
    assert!(
        names.contains(&"small-files") && names.is_sorted(),
        "{names:?}"
    );
    for name in names {
        let shown = desk.run(&["workload", "jobs", name]);
        shown.expect_code(0);
        assert!(
            shown.out.starts_with(&format!("{name}\n\n")),
            "{}",
            shown.out
        );
    }
    let one = desk.run(&["workload", "jobs", "small-files"]);
    assert!(one.out.contains("\n  operation = "), "{}", one.out);
    desk.run(&["workload", "jobs", "dato"])
        .expect_code(2)
        .expect_error("there is no job 'dato'", "did you mean 'data'?");
}
