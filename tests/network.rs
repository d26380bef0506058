//! Network file systems: what a guest serves and mounts again, in virtual time.

use serde_json::Value;

use crate::harness::{Desk, SMALL_STUDY};

/// A run of ext4 and of ext4 over each protocol, with one perturbed repeat.
const WORDS: [&str; 13] = [
    "compare",
    "ext4",
    "nfs:ext4",
    "smb:ext4",
    "9p:ext4",
    "--study",
    SMALL_STUDY,
    "--venue",
    "sim",
    "--images",
    "images",
    "--out",
    "out",
];

/// What belongs to plan and lab of the last run, trial by trial.
fn trials(desk: &Desk) -> Vec<Value> {
    let ended = desk.run(&WORDS);
    ended.expect_code(0);
    desk.expect_nothing_left();
    let exported = desk.run(&["export", "last", "--format", "exact"]);
    exported.expect_code(0);
    serde_json::from_str(&exported.out).expect("JSON")
}

fn steps<'a>(trial: &'a Value, name: &str) -> Vec<&'a str> {
    let steps = trial["steps"].as_array().expect("steps");
    let of_name = steps.iter().filter(|step| step["step"] == name);
    let words = of_name.flat_map(|step| step["command"].as_array().expect("a command"));
    words.filter_map(Value::as_str).collect()
}

/// The word of the command that serves, and an option that the client's kernel reports.
fn served_by(subject: &str) -> Option<(&'static str, &'static str)> {
    Some(match subject {
        "nfs:ext4" => ("exportfs", "vers=4.2"),
        "smb:ext4" => ("ksmbd.mountd", "vers=3.1.1"),
        "9p:ext4" => ("diod", "trans=tcp"),
        _ => return None,
    })
}

/// Ports, ids of sessions and requests, the server's verifier, random keys and times of leases
/// would differ from run to run.
#[test]
fn a_file_system_over_a_network_is_measured_beside_the_local_one_with_the_same_records_twice() {
    let test = "network, twice the same";
    let Some(desk) = Desk::new().with_network_lab(test) else {
        return;
    };
    let first = trials(&desk);
    let again = Desk::new().with_network_lab(test);
    let second = trials(&again.expect("it was there a minute ago"));
    assert!(first.len() >= 8, "four subjects, repeated: {}", first.len());
    for (first, second) in first.iter().zip(&second) {
        let subject = first["subject"].as_str().expect("a subject");
        assert_eq!(first["outcome"], "done", "{subject}: {}", first["failure"]);
        assert_eq!(first, second, "{subject} differs from run to run");
        let mounted = steps(first, "mount");
        let options = first["facts"]["recognised.options"].as_str();
        match served_by(subject) {
            Some((server, option)) => {
                assert!(mounted.contains(&server), "{mounted:?}");
                let options = options.expect("the client's options");
                assert!(options.split(',').any(|word| word == option), "{options}");
            }
            None => assert_eq!(
                (mounted.contains(&"&&"), options),
                (false, None),
                "{mounted:?}"
            ),
        }
        // The local file system is checked, as without a protocol.
        assert!(steps(first, "check").contains(&"e2fsck"), "{subject}");
    }
}

#[test]
fn a_lab_without_a_server_is_refused_before_the_first_trial() {
    let Some(desk) = Desk::new().with_lab("network, a lab without a server") else {
        return;
    };
    let ended = desk.run(&[&WORDS[..], &["--lab", "default"]].concat());
    ended.expect_code(4);
    ended.expect_error("cannot run every subject", "fslab lab build --network");
    assert!(ended.err.contains("nfs:ext4"), "{}", ended.err);
    for lacking in ["CONFIG_NFSD", "CONFIG_SMB_SERVER", "CONFIG_9P_FS"] {
        assert!(ended.err.contains(lacking), "{lacking}: {}", ended.err);
    }
    // The lab of such subjects is another one, and is not there.
    let ended = desk.run(&WORDS);
    ended.expect_error("'network'", "fslab lab build --network");
}

#[test]
fn this_machine_serves_nothing() {
    let desk = Desk::new();
    let ended = desk.run(&["compare", "nfs:ext4", "--venue", "loop", "--dry-run"]);
    ended.expect_code(2);
    ended.expect_error("the venue 'loop'", "--venue sim");
    let ended = desk.run(&["compare", "nfs:ext4:export=insecure", "--dry-run"]);
    ended.expect_code(2);
    ended.expect_error("the export option 'insecure'", "sync, async");
    let ended = desk.run(&["compare", "9p:ext4:export=sync", "--dry-run"]);
    ended.expect_code(2);
    ended.expect_error("the export option 'sync'", "takes no options");
    let ended = desk.run(&["fs", "show", "smb"]);
    ended.expect_code(0);
    assert!(ended.out.contains("(package ksmbd-tools)"), "{}", ended.out);
}
