//! fio: what its options do. Sizes are in binary units, as by `kb_base=1024`, its default.

use fslab_model::{Bytes, Parameters, PhaseSpec};
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::{Condition, Conditions, WHOLE_FILE};
use super::fslab;
use super::phase_content::PhaseContent;
use crate::read::fio_text::KNOWN_OPTIONS;

/// The value of `rw` and the direction of the phase, and what they do. A direction that is not in
/// the table is that of a job with both.
const MODES: [(&str, &str, Activity); 7] = [
    ("read", "read", Read),
    ("write", "write", Write),
    ("randread", "read", RandomRead),
    ("randwrite", "write", RandomWrite),
    ("rw", "mixed", Mix),
    ("readwrite", "mixed", Mix),
    ("randrw", "mixed", RandomMix),
];
/// Engines for names instead of data.
const NAME_ENGINES: [(&str, Activity); 3] = [
    ("filecreate", Create),
    ("filestat", Stat),
    ("filedelete", Unlink),
];
/// fio's share of reads in a mixed job.
const READ_PERCENT: &str = "50";

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let options = Options(&spec.parameters);
    let mut content = PhaseContent::of(options.activity());
    if let Some(activity) = content.activity {
        options.conditions(activity, &mut content.conditions);
    }
    content
}

struct Options<'p>(&'p Parameters);

impl<'p> Options<'p> {
    /// The option under any of its names.
    fn get(&self, names: &[&str]) -> Option<&'p str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str())
    }

    /// False for outputs without options, of which no default is known to apply: the terse output,
    /// and JSON of versions before 2.3.
    fn are_known(&self) -> bool {
        const NOT_OPTIONS: [&str; 4] = ["jobname", "direction", "processes", "log"];
        self.0
            .keys()
            .any(|name| !NOT_OPTIONS.contains(&name.as_str()))
    }

    fn activity(&self) -> Option<Activity> {
        if !self.are_known() {
            return None;
        }
        let engine = self.get(&["ioengine"]).unwrap_or_default();
        if let Some((_, activity)) = NAME_ENGINES.iter().find(|(name, _)| *name == engine) {
            return Some(*activity);
        }
        // What fslab has exported has its own parameters.
        if self.get(&["rw", "readwrite"]).is_none() && self.0.contains_key("access") {
            return fslab::activity(self.0);
        }
        let mode = self.get(&["rw", "readwrite"]).unwrap_or("read");
        // `randread:8` and `write:4k` change the places of some records.
        let (mode, modified) = mode.split_once(':').unwrap_or((mode, ""));
        let direction = self.0.get("direction").and_then(Value::as_str)?;
        let found = MODES
            .iter()
            .find(|(name, side, _)| (*name, *side) == (mode, direction));
        let activity = found
            .map(|(.., activity)| *activity)
            .filter(|_| modified.is_empty())?;
        Some(match activity {
            Write if self.is_set(&["overwrite"]) => Rewrite,
            activity => activity,
        })
    }

    /// The conditions of an output for people, which has four options: no default is known.
    fn few_conditions(&self, conditions: &mut Conditions) {
        conditions.set_known(Condition::RecordSize, self.size(&["bs"]));
        conditions.set_known(
            Condition::Threads,
            self.get(&["numjobs"]).map(str::to_owned),
        );
        for (condition, option) in [
            (Condition::QueueDepth, "iodepth"),
            (Condition::Engine, "ioengine"),
        ] {
            conditions.set_known(condition, self.get(&[option]).map(str::to_owned));
        }
    }

    fn conditions(&self, activity: Activity, conditions: &mut Conditions) {
        if self.0.contains_key(KNOWN_OPTIONS) {
            self.few_conditions(conditions);
            return;
        }
        if activity >= Create {
            conditions.set_known(Condition::Files, self.get(&["nrfiles"]).map(str::to_owned));
            conditions.set_known(Condition::FilesEach, self.size(&["filesize"]));
            conditions.set(Condition::Threads, self.get(&["numjobs"]).unwrap_or("1"));
            return;
        }
        let size = self.size(&["size"]);
        conditions.set_known(
            Condition::FileSize,
            self.size(&["filesize"]).or(size.clone()),
        );
        // fio's default.
        let record = self.get(&["bs", "blocksize"]).unwrap_or("4k");
        conditions.set_known(Condition::RecordSize, bytes(record));
        let time = self
            .get(&["runtime"])
            .filter(|_| self.is_set(&["time_based"]));
        let moved = self
            .size(&["io_size", "io_limit"])
            .filter(|moved| Some(moved) != size.as_ref());
        let amount = time.map(in_seconds).or(moved);
        // A share of the file, as a percentage, is not computed.
        if amount.is_some()
            || self
                .get(&["io_size", "io_limit"])
                .is_none_or(|it| !it.contains('%'))
        {
            conditions.set(
                Condition::Amount,
                amount.unwrap_or_else(|| WHOLE_FILE.to_owned()),
            );
        }
        conditions.set(Condition::Threads, self.get(&["numjobs"]).unwrap_or("1"));
        conditions.set(Condition::QueueDepth, self.get(&["iodepth"]).unwrap_or("1"));
        let direct = self.is_set(&["direct"]) || self.get(&["buffered"]) == Some("0");
        conditions.set(Condition::Direct, if direct { "yes" } else { "no" });
        // By default fio drops the file's pages first.
        let keeps = self.get(&["invalidate"]) == Some("0");
        conditions.set(Condition::Cache, if keeps { "kept" } else { "dropped" });
        conditions.set_known(
            Condition::Engine,
            self.get(&["ioengine"]).map(str::to_owned),
        );
        if matches!(activity, Mix | RandomMix) {
            let reads = match (self.get(&["rwmixread"]), self.get(&["rwmixwrite"])) {
                (None, Some(writes)) => writes.parse().ok().map(|it: u8| 100_u8.saturating_sub(it)),
                (reads, _) => reads.unwrap_or(READ_PERCENT).parse().ok(),
            };
            conditions.set_known(
                Condition::ReadShare,
                reads.map(|reads| format!("{reads} %")),
            );
        }
        if matches!(activity, RandomRead | RandomWrite | RandomMix) {
            let skewed = self
                .get(&["random_distribution"])
                .filter(|it| *it != "random");
            conditions.set_known(Condition::Distribution, skewed.map(str::to_owned));
        }
        if !matches!(activity, Read | RandomRead) {
            conditions.set(Condition::Sync, self.sync());
        }
    }

    fn sync(&self) -> String {
        match self.get(&["sync"]).unwrap_or("0") {
            "0" | "none" => {}
            "dsync" => return "O_DSYNC".to_owned(),
            _ => return "O_SYNC".to_owned(),
        }
        for call in ["fsync", "fdatasync"] {
            if let Some(every) = self.get(&[call]).filter(|every| *every != "0") {
                return format!("{call} every {every} writes");
            }
        }
        let closes = self.is_set(&["end_fsync"]) || self.is_set(&["fsync_on_close"]);
        if closes { "fsync" } else { "none" }.to_owned()
    }

    /// True for `1`, and for an option without a value.
    fn is_set(&self, names: &[&str]) -> bool {
        self.get(names).is_some_and(|value| value != "0")
    }

    fn size(&self, names: &[&str]) -> Option<String> {
        self.get(names).and_then(bytes)
    }
}

/// A duration without a unit is in seconds.
fn in_seconds(time: &str) -> String {
    match time.parse::<u64>() {
        Ok(seconds) => format!("{seconds} s"),
        Err(_) => time.to_owned(),
    }
}

/// `64k`, `1M`, `4KiB` or `4096`; `None` for shares and ranges.
fn bytes(text: &str) -> Option<String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().ok()?;
    let unit = unit.to_ascii_lowercase();
    let unit = unit
        .strip_suffix("ib")
        .or(unit.strip_suffix('b'))
        .unwrap_or(&unit);
    let shift = match unit {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    number
        .checked_mul(1 << shift)
        .map(|bytes| Bytes(bytes).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults of fio were taken for what an output without options had measured.
    #[test]
    fn what_an_output_without_options_measured_is_not_known() {
        let none = [("jobname", "j"), ("direction", "read")];
        assert_eq!(deed_of(&none).activity, None);
        let some = [("jobname", "j"), ("direction", "read"), ("size", "1m")];
        assert_eq!(deed_of(&some).activity, Some(Read));
    }

    fn deed_of(options: &[(&str, &str)]) -> PhaseContent {
        let options = options.iter();
        let parameters = options.map(|(name, value)| ((*name).to_owned(), (*value).into()));
        content(&PhaseSpec::new("job", "fio", parameters.collect()))
    }

    #[test]
    fn options_are_conditions_in_common_words() {
        let content = deed_of(&[
            ("rw", "randrw"),
            ("direction", "mixed"),
            ("bs", "4k"),
            ("size", "1G"),
            ("rwmixwrite", "30"),
            ("numjobs", "4"),
            ("iodepth", "16"),
            ("ioengine", "libaio"),
            ("direct", "1"),
            ("fdatasync", "8"),
            ("runtime", "60"),
            ("time_based", "1"),
            ("random_distribution", "zipf:1.2"),
        ]);
        assert_eq!(content.activity, Some(RandomMix));
        assert_eq!(
            content.conditions.in_words(),
            [
                "file size 1 GiB",
                "record size 4 KiB",
                "amount 60 s",
                "threads 4",
                "queue depth 16",
                "share of reads 70 %",
                "sync fdatasync every 8 writes",
                "direct I/O yes",
                "cache before it dropped",
                "I/O engine libaio",
                "order of random access zipf:1.2",
            ]
        );
    }

    #[test]
    fn what_fio_does_without_an_option_is_known() {
        let content = deed_of(&[("direction", "read"), ("size", "1m")]);
        assert_eq!(content.activity, Some(Read));
        assert!(
            content
                .conditions
                .in_words()
                .contains(&"record size 4 KiB".to_owned())
        );
        let content = deed_of(&[("rw", "write"), ("overwrite", "1"), ("direction", "write")]);
        assert_eq!(content.activity, Some(Rewrite));
        for (rw, direction) in [("randread:8", "read"), ("trim", "trim"), ("write", "read")] {
            assert_eq!(
                deed_of(&[("rw", rw), ("direction", direction)]).activity,
                None
            );
        }
    }

    #[test]
    fn sizes_of_fio_are_binary() {
        for (text, expected) in [
            ("64k", Some("64 KiB")),
            ("1M", Some("1 MiB")),
            ("4KiB", Some("4 KiB")),
            ("2gb", Some("2 GiB")),
            ("512", Some("512 B")),
            ("20%", None),
            ("4k-16k", None),
            ("4k,8k", None),
        ] {
            assert_eq!(bytes(text).as_deref(), expected, "{text}");
        }
    }
}
