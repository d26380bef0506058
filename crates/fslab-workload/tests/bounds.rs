//! The cost of planning: every number of every workload at its extremes.
//!
//! A study is untrusted: any of its values must be planned or refused quickly and in little memory.
//! A separate binary, because peak memory is measured per process.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fslab_model::{Bytes, Parameters};
use fslab_workload::{Workload, all, find};
use serde_json::{Value, json};

const EXTREMES: [u64; 8] = [0, 1, 3, 1 << 31, 1 << 32, (1 << 53) + 1, 1 << 63, u64::MAX];
/// Extremes for pairs, which are many.
const PAIRED: [u64; 2] = [1 << 32, u64::MAX];
/// Far more than a plan takes even on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
const MEMORY_MAX_KIB: u64 = 512 << 10;

/// The calls of a planner for one phase.
fn plan(workload: &Workload, given: &Parameters) {
    for size in [Bytes(4096), Bytes::gib(1), Bytes(u64::MAX)] {
        let Ok(resolved) = workload.resolve(given, size) else {
            continue;
        };
        let _ = workload.kind(&resolved);
        workload.footprint(&resolved).expect("is resolved");
        workload.data_files(&resolved, 1).expect("is resolved");
        workload.needs(&resolved).expect("is resolved");
    }
}

/// Runs `work` in a thread, which is abandoned if it does not end in time.
fn in_time(what: &str, work: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        sender.send(()).expect("the receiver waits");
    });
    if receiver.recv_timeout(LIMIT).is_err() {
        assert!(worker.is_finished(), "{what} did not end within {LIMIT:?}");
    }
    assert!(worker.join().is_ok(), "{what} panicked");
}

/// The names of all parameters, including those without default.
fn names(workload: &Workload) -> Vec<String> {
    let parameters = workload.parameters(Bytes::gib(1));
    parameters.into_iter().map(|it| it.name).collect()
}

/// JSON pointers of all numbers in `value`.
fn places(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Number(_) => into.push(at.to_owned()),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| places(item, &format!("{at}/{index}"), into));
        }
        Value::Object(map) => map
            .iter()
            .for_each(|(key, item)| places(item, &format!("{at}/{key}"), into)),
        _ => {}
    }
}

/// The resolved defaults, and JSON pointers of their numbers and of all parameters.
fn numbers(workload: &Workload) -> (Value, Vec<String>) {
    let resolved = workload
        .resolve(&Parameters::new(), Bytes::gib(1))
        .expect("the defaults are usable");
    let whole = Value::Object(resolved);
    let mut found = Vec::new();
    places(&whole, "", &mut found);
    found.extend(names(workload).iter().map(|name| format!("/{name}")));
    found.sort();
    found.dedup();
    (whole, found)
}

fn set(whole: &mut Value, place: &str, number: u64) {
    match whole.pointer_mut(place) {
        Some(value) => *value = number.into(),
        None => whole[place.trim_start_matches('/')] = number.into(),
    }
}

fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("is Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|text| text.split_whitespace().next());
    kib.and_then(|text| text.parse().ok()).expect("a number")
}

/// Plans each of `cases` (name, parameters); returns the names of those that panicked.
fn panicking(workload: &'static Workload, cases: Vec<(String, Value)>) -> Vec<String> {
    let (sender, receiver) = mpsc::channel();
    in_time(&format!("a plan of {}", workload.name()), move || {
        for (name, given) in cases {
            let given = given.as_object().expect("a map").clone();
            let work = std::panic::AssertUnwindSafe(|| plan(workload, &given));
            if std::panic::catch_unwind(work).is_err() {
                sender.send(name).expect("the receiver waits");
            }
        }
    });
    receiver.iter().collect()
}

/// `each = 100000000` of `write-files` took 5 GB, and 2^64-1 panicked.
#[test]
fn every_number_of_every_workload_is_planned_or_refused_at_once_and_in_little_memory() {
    let mut panics = Vec::new();
    for workload in all() {
        let name = workload.name();
        let (whole, places) = numbers(workload);
        for place in places {
            let case = |number: &u64| {
                let mut given = whole.clone();
                set(&mut given, &place, *number);
                (format!("{name}: {place} = {number}"), given)
            };
            panics.extend(panicking(workload, EXTREMES.iter().map(case).collect()));
        }
        let peak = memory_kib();
        assert!(peak < MEMORY_MAX_KIB, "{name} took {peak} KiB");
    }
    assert_eq!(panics, Vec::<String>::new());
}

#[test]
fn every_pair_of_numbers_of_a_workload_is_planned_or_refused_at_once() {
    let mut panics = Vec::new();
    for workload in all() {
        let name = workload.name();
        let (whole, places) = numbers(workload);
        for (index, place) in places.iter().enumerate() {
            let mut cases = Vec::new();
            for other in &places[index + 1..] {
                for (one, two) in PAIRED.iter().flat_map(|one| PAIRED.map(|two| (*one, two))) {
                    let mut given = whole.clone();
                    set(&mut given, place, one);
                    set(&mut given, other, two);
                    cases.push((format!("{name}: {place} = {one}, {other} = {two}"), given));
                }
            }
            panics.extend(panicking(workload, cases));
        }
        let peak = memory_kib();
        assert!(peak < MEMORY_MAX_KIB, "{name} took {peak} KiB");
    }
    assert_eq!(panics, Vec::<String>::new());
}

/// A fan-out of 1 was refused only after other checks, one of which counted the levels of an
/// infinite tree.
#[test]
fn a_fan_out_of_one_is_refused_with_any_other_parameters() {
    for given in [
        json!({ "fan_out": 1, "directories": "in-time" }),
        json!({ "fan_out": 1, "operation": "mkdir", "threads": 2 }),
        json!({ "fan_out": 1, "operation": "turnover" }),
        json!({ "fan_out": 1, "remove_directories": true, "operation": "unlink" }),
    ] {
        in_time(&format!("files with {given}"), move || {
            let files = find("files").expect("known");
            let given = given.as_object().expect("a map").clone();
            let refused = files.resolve(&given, Bytes::gib(1)).expect_err("refused");
            assert!(refused.to_string().contains("fan-out of 1"), "{refused}");
        });
    }
}

#[test]
fn a_list_of_sizes_is_refused_with_its_limit_before_it_is_made() {
    for name in ["write-files", "hash"] {
        let workload = find(name).expect("known");
        let given = json!({ "each": 3_000_000_000_u64 });
        let given = given.as_object().expect("a map").clone();
        let refused = workload.resolve(&given, Bytes::gib(1)).expect_err(name);
        let text = refused.to_string();
        assert!(text.contains("each = 3000000000"), "{text}");
        assert!(text.contains("at most"), "{text}");
    }
}
