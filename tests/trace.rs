//! `fslab trace`: a program is recorded, its trace shown, and issued again.

use std::fs;

use crate::harness::Desk;

/// Records a shell at work; `None` where this machine cannot.
fn recorded(desk: &Desk) -> Option<()> {
    let script = "cd work; mkdir d; seq 5000 > d/a; cp d/a d/b; mv d/b c; cat none 2> /dev/null; \
                  ln -s d/a l; sort -r l > sorted; rm d/a; sync sorted";
    let ended = desk.record_trace("trace", script)?;
    assert!(ended.out.starts_with("the.trace: "), "{}", ended.out);
    Some(())
}

#[test]
fn a_recorded_program_is_shown_and_issued_again_with_the_same_outcome() {
    let desk = Desk::new();
    if recorded(&desk).is_none() {
        return;
    }
    let shown = desk.run(&["trace", "show", "the.trace"]);
    shown.expect_code(0);
    assert!(shown.out.contains("open ENOENT"), "{}", shown.out);
    let shown = desk.run(&["trace", "show", "the.trace", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).expect("JSON");
    assert_eq!(shown["kinds"]["rename"]["calls"], 1);
    assert!(shown["kinds"]["write"]["bytes"].as_u64() >= Some(2 * 23_893));
    let run = desk.replay_trace();
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    let phase = phases
        .iter()
        .find(|phase| phase["name"] == "replay")
        .expect("the phase");
    assert_eq!(phase["outcome"], "done", "{phase}");
    assert_eq!(phase["operations"], shown["operations"]);
    assert_eq!(phase["figures"]["replay_deviations"], 0.0);
    assert_eq!(phase["figures"]["replay_differences"], 0.0);
    assert_eq!(
        phase["parameters"]["sha256"].as_str().map(str::len),
        Some(64)
    );
}

/// The guest looked for the trace at the path of the host.
#[test]
fn a_recorded_program_is_issued_again_in_guests() {
    let Some(desk) = Desk::new().with_lab("a recorded trace, in guests") else {
        return;
    };
    if recorded(&desk).is_none() {
        return;
    }
    for venue in ["sim", "guest"] {
        let words = format!(
            "trace replay the.trace --fs ext4 --venue {venue} --images images --repeats 1 --out out"
        );
        let words: Vec<_> = words.split(' ').collect();
        desk.run(&words).expect_code(0);
        let run = desk.last_run();
        let phases = run["trials"][0]["phases"].as_array().expect("phases");
        let phase = phases.iter().find(|phase| phase["name"] == "replay");
        let phase = phase.expect("the phase");
        assert_eq!(phase["outcome"], "done", "{venue}: {phase}");
        assert_eq!(phase["figures"]["replay_deviations"], 0.0, "{venue}");
    }
}

#[test]
fn a_program_in_virtual_time_is_the_same_twice_on_every_file_system() {
    let Some(desk) = Desk::new().with_lab("trace, in virtual time") else {
        return;
    };
    let exact = || {
        let replay = [
            "trace",
            "replay",
            "sample",
            "--venue",
            "sim",
            "--images",
            "images",
            "--perturb",
            "off",
        ];
        desk.run(&[&replay[..], &["--out", "out"]].concat())
            .expect_code(0);
        let exported = desk.run(&["export", "last", "--format", "exact"]);
        exported.expect_code(0);
        exported.out
    };
    let first = exact();
    assert!(
        first.contains("\"replay_deviations\": 0.0"),
        "no deviation anywhere"
    );
    assert_eq!(
        first.matches("\"replay_differences\": 0.0").count(),
        3,
        "ext4, xfs, btrfs"
    );
    assert_eq!(first, exact());
}

#[test]
fn what_is_no_trace_and_what_cannot_be_recorded_is_said() {
    let desk = Desk::new();
    fs::write(desk.path("bad.trace"), "{\"fslab_trace\":1}\n").expect("a file");
    let shown = desk.run(&["trace", "show", "bad.trace"]);
    shown.expect_code(2);
    assert!(
        shown.err.contains("bad.trace is not a trace"),
        "{}",
        shown.err
    );
    assert!(shown.err.contains("fslab trace record"), "{}", shown.err);
    let imports = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/imports/");
    for (name, cause, hint) in [
        (
            "strace-ttt.txt",
            "no call shows the working directory (AT_FDCWD</path>), which -y prints",
            "strace -f -ttt -T -y -o FILE COMMAND",
        ),
        (
            "numbers-28.csv",
            "its first line is not the header of a trace",
            "fslab trace record",
        ),
    ] {
        let shown = desk.run(&["trace", "show", &format!("{imports}{name}")]);
        shown.expect_code(2).expect_error(cause, hint);
        assert!(shown.err.contains(name), "{}", shown.err);
        assert!(!shown.err.contains("expected"), "{}", shown.err);
    }
    let iolog = desk.run(&["trace", "show", &format!("{imports}iolog-v2.txt")]);
    iolog.expect_code(0);
    let missing = desk.run(&["trace", "replay", "none.trace"]);
    missing.expect_code(2);
    assert!(
        missing.err.contains("cannot read none.trace"),
        "{}",
        missing.err
    );
    let nowhere = desk.run(&["trace", "record", "--root", "nowhere", "--", "true"]);
    nowhere.expect_code(2);
    assert!(
        nowhere.err.contains("cannot record below nowhere"),
        "{}",
        nowhere.err
    );
    let idle = desk.run(&["trace", "record", "--root", "out", "--", "true"]);
    if idle.code != Some(4) {
        idle.expect_code(2);
        assert!(
            idle.err.contains("did no file operations below"),
            "{}",
            idle.err
        );
    }
}
