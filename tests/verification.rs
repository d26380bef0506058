//! What is written is read back and compared: a flipped bit is found, and named.

use std::fs;
use std::os::unix::fs::FileExt;

use crate::harness::Desk;

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
