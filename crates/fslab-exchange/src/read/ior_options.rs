//! The settings of a test of IOR, from what it prints of them: its options, its parameters and its
//! command line, as parameters of a phase.
//!
//! A size that IOR has rounded (`17.93 MiB`), and an option that stands nowhere, is not known.

use std::collections::BTreeMap;

use fslab_model::Parameters;
use serde_json::Value;

use super::command_line::CommandLine;
use super::ior_test::{Access, Asked, number};
use super::unit_bytes::unit_bytes;
use crate::error::Fault;

/// What IOR prints of a test, by its own names.
pub(super) type Printed = BTreeMap<String, String>;

/// Whether one file is shared by all tasks.
pub(crate) const FILE_EACH: &str = "file-per-process";
pub(crate) const ONE_FILE: &str = "single-shared-file";

/// Settings that are counts: the parameter, and IOR's names of it.
const COUNTS: [(&str, &[&str]); 6] = [
    ("segments", &["segmentCount", "segments"]),
    ("nodes", &["nodes"]),
    ("tasks", &["tasks", "numTasks", "clients"]),
    ("clients_per_node", &["clients per node", "tasksPerNode"]),
    ("stonewall_s", &["deadlineForStonewall", "stonewallingTime"]),
    ("max_minutes", &["maxTimeDuration"]),
];

/// Settings that are on or off: the parameter, IOR's name, and the option and directive of it.
const FLAGS: [(&str, &str, &[&str], &str); 5] = [
    ("fsync", "fsync", &["-e"], "fsync"),
    ("fsync_per_write", "fsyncperwrite", &["-Y"], "fsyncPerWrite"),
    (
        "existing_file",
        "useExistingTestFile",
        &["-E"],
        "useExistingTestFile",
    ),
    (
        "wear_out",
        "stoneWallingWearOut",
        &[],
        "stoneWallingWearOut",
    ),
    (
        "direct",
        "useO_DIRECT",
        &["--posix.odirect", "-B"],
        "useO_DIRECT",
    ),
];

/// The settings of one test.
pub(super) struct Settings {
    pub(super) parameters: Parameters,
    pub(super) repetitions: Option<u64>,
    pub(super) asked: Asked,
}

/// The settings that were printed at `place`, and on the command line.
pub(super) fn settings(place: &str, printed: &Printed, line: &str) -> Result<Settings, Fault> {
    let line = CommandLine::of(line);
    // A script may set anything else for each of its tests.
    let has_script = line.has("-f") || line.value("-f").is_some();
    if count(place, printed, &["dryRun"])?.is_some_and(|run| run > 0) {
        return Err(Fault::no_figure("IOR had to do nothing (dryRun)"));
    }
    let mut parameters = Parameters::new();
    for (parameter, name) in [("api", "api"), ("type", "type")] {
        if let Some(value) = printed.get(name) {
            parameters.insert(parameter.into(), value.as_str().into());
        }
    }
    if let Some(access) = access(printed) {
        parameters.insert("access".into(), access.into());
    }
    if let Some(order) = order(printed) {
        parameters.insert("order".into(), order.into());
    }
    for (parameter, names) in COUNTS {
        if let Some(count) = count(place, printed, names)? {
            parameters.insert(parameter.into(), count.into());
        }
    }
    // 0 is no limit.
    for zero in ["stonewall_s", "max_minutes"] {
        if number(&parameters, zero).is_none() {
            parameters.shift_remove(zero);
        }
    }
    for (parameter, exact, rounded) in [
        ("transfer_size", "transferSize", "xfersize"),
        ("block_size", "blockSize", "blocksize"),
    ] {
        let exact = count(place, printed, &[exact])?;
        let bytes = exact.or(printed.get(rounded).and_then(|text| size(text)));
        if let Some(bytes) = bytes {
            parameters.insert(parameter.into(), bytes.into());
        }
    }
    if let Some(offset) = task_offset(printed) {
        parameters.insert("task_offset".into(), offset);
    }
    for (parameter, name, options, directive) in FLAGS {
        let given = options.iter().any(|option| line.has(option))
            || line.directive(directive).is_some_and(|value| value != "0");
        let known = count(place, printed, &[name])?.map(|value| value > 0);
        if let Some(is_on) = known.or(given.then_some(true)) {
            parameters.insert(parameter.into(), is_on.into());
        }
    }
    let asked = |name: &str, option: &str| -> Result<bool, Fault> {
        let known = count(place, printed, &[name])?.map(|value| value > 0);
        Ok(known.unwrap_or(!has_script && line.has(option)))
    };
    let mut accesses = Vec::new();
    for (access, name, option) in [
        (Access::Write, "writeFile", "-w"),
        (Access::Read, "readFile", "-r"),
    ] {
        if asked(name, option)? {
            accesses.push(access);
        }
    }
    Ok(Settings {
        repetitions: count(place, printed, &["repetitions"])?,
        asked: Asked {
            may_end_early: parameters.contains_key("max_minutes") || line.has("-T"),
            accesses,
        },
        parameters,
    })
}

fn access(printed: &Printed) -> Option<&str> {
    let of_number = |text: &String| match text.as_str() {
        "0" => ONE_FILE,
        _ => FILE_EACH,
    };
    let given = printed.get("access").map(String::as_str);
    given.or(printed.get("filePerProc").map(of_number))
}

/// `sequential` or `random`; 3.0 writes `sequential offsets`.
fn order(printed: &Printed) -> Option<&str> {
    let given = printed.get("ordering in a file")?;
    given.split_whitespace().next()
}

/// By how many tasks the reading of another's data is shifted.
fn task_offset(printed: &Printed) -> Option<Value> {
    let given = printed.get("ordering inter file")?;
    if given.starts_with("no ") {
        return Some(0.into());
    }
    if given.starts_with("constant") {
        let apart = printed.get("task offset").map(String::as_str);
        let digits = apart.or(given.split_whitespace().last())?;
        let offset: u64 = digits.trim().parse().ok()?;
        return i64::try_from(offset).is_ok().then(|| offset.into());
    }
    given.starts_with("random").then(|| "random".into())
}

/// The count of the first of IOR's `names` that was printed.
fn count(place: &str, printed: &Printed, names: &[&str]) -> Result<Option<u64>, Fault> {
    let found = names.iter().find_map(|name| printed.get_key_value(*name));
    let Some((name, text)) = found else {
        return Ok(None);
    };
    // 3.0 writes `4 (4 per node)`.
    let word = text.split_whitespace().next().unwrap_or_default();
    let count = word.parse::<u64>().ok();
    let count = count.filter(|count| i64::try_from(*count).is_ok());
    let wrong = || Fault::value(format!("{place}, {name}"), text, "an integer from 0");
    count.map(Some).ok_or_else(wrong)
}

/// The bytes of `64 MiB`; `None` if IOR has rounded it.
fn size(text: &str) -> Option<u64> {
    let (digits, unit) = text.split_once(' ')?;
    unit_bytes(digits, unit.trim(), ["bytes", "KiB", "MiB", "GiB", "TiB"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(printed: &[(&str, &str)], line: &str) -> Result<Settings, Fault> {
        let printed = printed.iter();
        let printed = printed.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        settings("line 1", &printed.collect(), line)
    }

    #[test]
    fn sizes_that_ior_has_rounded_are_not_known() {
        assert_eq!(size("65536 bytes"), Some(65536));
        assert_eq!(size("64 MiB"), Some(64 << 20));
        assert_eq!(size("3 TiB"), Some(3 << 40));
        for unknown in ["17.93 MiB", "64MiB", "64 MB", "-", "99999999999 TiB"] {
            assert_eq!(size(unknown), None, "{unknown}");
        }
        let settings = of(&[("xfersize", "1.50 MiB"), ("blocksize", "3 MiB")], "").expect("some");
        assert!(!settings.parameters.contains_key("transfer_size"));
        assert_eq!(settings.parameters["block_size"], 3 << 20);
    }

    #[test]
    fn an_option_that_stands_nowhere_is_not_known() {
        let printed = [("api", "POSIX"), ("clients", "8 (4 per node)")];
        let settings = of(&printed, "ior -w -O useO_DIRECT=1").expect("some");
        assert_eq!(settings.parameters["tasks"], 8);
        assert_eq!(settings.parameters["direct"], true);
        assert!(!settings.parameters.contains_key("fsync"));
        assert_eq!(settings.asked.accesses, [Access::Write]);
        let settings = of(&[("fsync", "0")], "ior -e -f script -w").expect("some");
        assert_eq!(
            settings.parameters["fsync"], false,
            "what IOR prints counts"
        );
        assert!(
            settings.asked.accesses.is_empty(),
            "a script may say otherwise"
        );
    }

    #[test]
    fn the_shift_of_the_readers_is_read_in_both_forms() {
        let offset = |printed: &[(&str, &str)]| {
            of(printed, "")
                .expect("some")
                .parameters
                .get("task_offset")
                .cloned()
        };
        let inter = "ordering inter file";
        assert_eq!(offset(&[(inter, "no tasks offsets")]), Some(0.into()));
        let constant = [(inter, "constant task offset"), ("task offset", "2")];
        assert_eq!(offset(&constant), Some(2.into()));
        assert_eq!(
            offset(&[(inter, "constant task offsets = 3")]),
            Some(3.into())
        );
        assert_eq!(
            offset(&[(inter, "random task offset")]),
            Some("random".into())
        );
        assert_eq!(offset(&[]), None);
    }

    #[test]
    fn a_count_that_is_none_is_refused_by_its_name() {
        let fault = of(&[("tasks", "-2")], "").err().expect("no count");
        assert_eq!(
            fault.to_string(),
            "line 1, tasks: \"-2\" is not an integer from 0"
        );
        let fault = of(&[("dryRun", "1")], "").err().expect("nothing was done");
        assert!(fault.to_string().contains("dryRun"), "{fault}");
    }
}
