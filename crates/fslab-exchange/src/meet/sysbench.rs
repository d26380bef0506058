//! sysbench fileio: what its modes do.

use fslab_model::PhaseSpec;
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::{Condition, Conditions};
use super::phase_content::{self, PhaseContent};

/// The modes. Only `seqwr` makes new files.
const MODES: [(&str, Activity); 6] = [
    ("seqwr", Write),
    ("seqrewr", Rewrite),
    ("seqrd", Read),
    ("rndrd", RandomRead),
    ("rndwr", RandomWrite),
    ("rndrw", RandomMix),
];

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let parameters = &spec.parameters;
    let text = |name: &str| parameters.get(name).and_then(Value::as_str);
    let number = |name: &str| phase_content::number(parameters, name);
    let mode = text("mode").unwrap_or_default();
    let found = MODES.iter().find(|(known, _)| *known == mode);
    let Some((_, activity)) = found else {
        return PhaseContent::default();
    };
    let mut content = PhaseContent::of(Some(*activity));
    let conditions = &mut content.conditions;
    conditions.set_bytes(Condition::FileSize, number("file_size"));
    conditions.set_bytes(Condition::RecordSize, number("block_size"));
    conditions.set_count(Condition::Files, number("files"));
    conditions.set_count(Condition::Threads, number("threads"));
    match text("io_mode") {
        Some("synchronous") => conditions.set(Condition::QueueDepth, "1"),
        Some("asynchronous") => conditions.set(Condition::Engine, "libaio"),
        Some("fast mmaped" | "slow mmaped") => conditions.set(Condition::Engine, "mmap"),
        _ => {}
    }
    if let Some(flags) = text("open_flags") {
        let is_direct = flags.split_whitespace().any(|flag| flag == "directio");
        conditions.set(Condition::Direct, if is_direct { "yes" } else { "no" });
        if !matches!(activity, Read | RandomRead) {
            sync(spec, flags, conditions);
        }
    }
    if *activity == RandomMix {
        let ratio = parameters.get("read_write_ratio").and_then(Value::as_f64);
        let percent = ratio.map(|ratio| 100.0 * ratio / (1.0 + ratio));
        conditions.set_known(
            Condition::ReadShare,
            percent.map(|percent| format!("{percent:.0} %")),
        );
    }
    content
}

/// sysbench prints fsync() for `--file-fsync-mode=fdatasync`, too.
fn sync(spec: &PhaseSpec, flags: &str, conditions: &mut Conditions) {
    const CALL: &str = "fsync or fdatasync";
    let parameters = &spec.parameters;
    let every = phase_content::number(parameters, "fsync_every");
    let words = if flags.split_whitespace().any(|flag| flag == "sync") {
        "O_SYNC".to_owned()
    } else if flags.split_whitespace().any(|flag| flag == "dsync") {
        "O_DSYNC".to_owned()
    } else if parameters.contains_key("fsync_every_write") {
        format!("{CALL} every 1 writes")
    } else if let Some(every) = every {
        format!("{CALL} every {every} requests")
    } else if parameters.contains_key("fsync_at_end") {
        CALL.to_owned()
    } else {
        "none".to_owned()
    };
    conditions.set(Condition::Sync, words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_of_sysbench_has_an_activity() {
        let read = crate::read::sysbench::MODES.iter().map(|mode| mode.name);
        let known: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
        assert_eq!(known, read.collect::<Vec<_>>());
    }

    #[test]
    fn what_sysbench_prints_is_a_condition() {
        let parameters = serde_json::json!({
            "mode": "rndrw", "threads": 2, "open_flags": "directio", "files": 4,
            "file_size": 16 << 20, "block_size": 4096, "read_write_ratio": 1.5,
            "fsync_every_write": true, "io_mode": "synchronous",
        });
        let parameters = serde_json::from_value(parameters).expect("parameters");
        let content = content(&PhaseSpec::new("any", "sysbench", parameters));
        assert_eq!(content.activity, Some(RandomMix));
        let expected = [
            "file size 16 MiB",
            "record size 4 KiB",
            "files 4",
            "threads 2",
            "queue depth 1",
            "share of reads 60 %",
            "sync fsync or fdatasync every 1 writes",
            "direct I/O yes",
        ];
        assert_eq!(content.conditions.in_words(), expected);
    }
}
