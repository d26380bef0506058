//! What is written is read back and compared: a flipped bit is found, and named.

use std::fs;
use std::os::unix::fs::FileExt;

use crate::harness::{Desk, can_mount};

/// Runs one `io` phase below `work` and returns its record.
fn phase(desk: &Desk, parameters: &str) -> serde_json::Value {
    let spec = format!(
        r#"{{"format": 1, "trial": {{"cell": 0, "repeat": 0}}, "subject": "ext4", "seed": 9,
            "device": {{"device": "directory", "path": "{}"}}, "size_bytes": 1048576,
            "cold": "evict", "engine": "psync", "phases": [{{"name": "p", "workload": "io",
            "cache": "keep", "settle": false, "parameters": {parameters}}}]}}"#,
        desk.path("out").display()
    );
    let ended = desk.run_with_input(&["trial"], &spec);
    ended.expect_code(0);
    let events = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    events
        .into_iter()
        .find(|event: &serde_json::Value| event["event"] == "phase")
        .expect("the phase's event")
}

const WRITE: &str = r#"{"file_size": 1048576, "record": 65536}"#;
const VERIFY: &str = r#"{"file_size": 1048576, "record": 4096, "direction": "read",
    "access": "random-once", "open": "existing", "verify": true}"#;

#[test]
fn what_was_written_is_verified_whatever_the_records() {
    let desk = Desk::new();
    assert_eq!(phase(&desk, WRITE)["outcome"], "done");
    assert_eq!(phase(&desk, VERIFY)["outcome"], "done");
}

#[test]
fn a_flipped_bit_is_found_with_its_file_and_its_offset() {
    let desk = Desk::new();
    phase(&desk, WRITE);
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(desk.path("out/data"));
    let file = file.expect("the file that was written");
    let mut byte = [0];
    for offset in [0, 4095, 777_777, 1_048_575] {
        file.read_exact_at(&mut byte, offset).expect("a byte");
        file.write_all_at(&[byte[0] ^ 0x10], offset)
            .expect("flipped");
        let verified = phase(&desk, VERIFY);
        assert_eq!(
            verified["outcome"], "failed",
            "the bit at {offset} was not found"
        );
        let failure = &verified["failure"];
        assert_eq!(failure["kind"], "corrupt");
        let text = failure.to_string();
        assert!(text.contains("out/data"), "{text}");
        assert!(
            text.contains(&offset.to_string()),
            "no offset {offset} in {text}"
        );
        file.write_all_at(&byte, offset).expect("restored");
    }
    assert_eq!(phase(&desk, VERIFY)["outcome"], "done");
}

/// Sizes of files around a buffer of 64 KiB.
const SIZES: [u64; 6] = [4096, 65_535, 65_536, 65_537, 131_072, 200_000];

/// Files of each size, which are read back; with `damage`, one byte of one file is changed between.
fn files_study(damage: bool) -> String {
    let mut study = "format = 1\nname = \"verified-files\"\ntitle = \"Files that are read back\"\n\
                     subjects = [\"ext4\"]\nsize = \"320MiB\"\nrepeats = 1\ntrial_limit_s = 120\n"
        .to_owned();
    for size in SIZES {
        let common = format!(
            "group = \"{size}\"\nworkload = \"files\"\ndirectory = \"d{size}\"\nfiles = 12\n\
             files_per_directory = 4\nrecord = \"64KiB\"\nfile_size = {size}\n"
        );
        study += &format!("[[phase]]\nname = \"create-{size}\"\n{common}operation = \"create\"\n");
        if damage {
            study += &format!(
                "[[phase]]\nname = \"damage-{size}\"\ngroup = \"{size}\"\nworkload = \"io\"\n\
                 file = \"d{size}/d0001/f00000006\"\nfile_size = 4096\nrecord = \"4KiB\"\n\
                 direction = \"update\"\nopen = \"existing\"\namount = {{ operations = 1 }}\n"
            );
        }
        study += &format!(
            "[[phase]]\nname = \"read-{size}\"\n{common}operation = \"read\"\nverify = true\n"
        );
    }
    study
}

/// `verify` of the job `files` accused every sound file system of corruption: of files of one
/// buffer or more the read that finds the end, of 0 bytes, was compared. Here with each size around
/// the buffer, in each venue.
#[test]
fn files_of_every_size_verify_in_every_venue_and_a_changed_byte_does_not() {
    let compare = |desk: &Desk, words: &[&str]| {
        for damage in [false, true] {
            fs::write(desk.path("verified.toml"), files_study(damage)).expect("written");
            let all = [
                "compare",
                "--study",
                "./verified.toml",
                "--repeats",
                "1",
                "--out",
                "out",
            ];
            let ended = desk.run(&[&all[..], words].concat());
            ended.expect_code(if damage { 3 } else { 0 });
            expect_verified(&desk.last_run(), damage);
        }
    };
    let desk = Desk::new();
    compare(&desk, &["--dir", "images"]);
    let folder = ["ext4", "--images", "images"];
    if let Some(_turn) = can_mount("verified files", &["mkfs.ext4"]) {
        compare(&Desk::new(), &[&folder[..], &["--venue", "loop"]].concat());
    }
    if let Some(desk) = Desk::new().with_lab("verified files") {
        compare(&desk, &[&folder[..], &["--venue", "guest"]].concat());
        compare(&desk, &[&folder[..], &["--venue", "sim"]].concat());
    }
}

/// Every phase is done, but those that read a changed byte.
fn expect_verified(run: &serde_json::Value, damage: bool) {
    let phases = run["trials"][0]["phases"].as_array().expect("phases");
    for phase in phases {
        let is_read = phase["name"]
            .as_str()
            .is_some_and(|it| it.starts_with("read-"));
        let expected = if damage && is_read { "failed" } else { "done" };
        assert_eq!(phase["outcome"], expected, "{phase}");
        if expected == "failed" {
            let text = phase["failure"].to_string();
            assert_eq!(phase["failure"]["kind"], "corrupt", "{text}");
            assert!(
                text.contains("f00000006") && text.contains("offset"),
                "{text}"
            );
        }
    }
    let reads = phases
        .iter()
        .filter(|it| it["name"].to_string().contains("read-"));
    assert_eq!(reads.count(), SIZES.len());
}
