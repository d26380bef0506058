//! What was found, and what must be.

use crate::machine::Fact;
use crate::series::Spread;
use crate::verdict::Judged;

/// Median time at most of a command that asks for one run, or for a list for people.
const COMMAND_MS_MAX: f64 = 1_000.0;
/// Most memory of one.
const RESIDENT_MIB_MAX: f64 = 300.0;
/// How many times as long a trial may take to store as in an empty store.
const ADDING_RATIO_MAX: f64 = 1.5;

/// One command.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) command: String,
    /// With the store in the page cache.
    pub(crate) warm_ms: Spread,
    /// With nothing in it; `None` where it could not be emptied.
    pub(crate) cold_ms: Option<Spread>,
    /// The most of all warm ones.
    pub(crate) resident_mib: f64,
}

/// Trials stored one by one, in milliseconds each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added {
    pub(crate) spread: Spread,
}

/// Everything that was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) machine: Vec<Fact>,
    pub(crate) trials: u64,
    pub(crate) runs: u64,
    pub(crate) store_bytes: u64,
    /// `None` where an earlier store was measured.
    pub(crate) filling_s: Option<f64>,
    pub(crate) commands: Vec<Measured>,
    /// In an empty store, and in this one.
    pub(crate) adding: Option<(Added, Added)>,
    pub(crate) times: u32,
    /// Whether the store was too small for its targets.
    pub(crate) quick: bool,
    pub(crate) notes: Vec<String>,
}

/// Judges the findings; not those of a small store, for which no target is stated.
pub(crate) fn judge(findings: &Findings) -> Vec<Judged> {
    let mut judged = Vec::new();
    if findings.quick {
        return judged;
    }
    for measured in &findings.commands {
        let median_ms = measured.warm_ms.median;
        judged.push(Judged {
            subject: format!("fslab {}", measured.command),
            target: format!("{COMMAND_MS_MAX:.0} ms and {RESIDENT_MIB_MAX:.0} MiB at most"),
            found: format!("{median_ms:.0} ms, {:.0} MiB", measured.resident_mib),
            reached: Some(median_ms <= COMMAND_MS_MAX && measured.resident_mib <= RESIDENT_MIB_MAX),
        });
    }
    if let Some((empty, full)) = findings.adding {
        let ratio = full.spread.median / empty.spread.median;
        judged.push(Judged {
            subject: "storing a trial, against an empty store".to_owned(),
            target: format!("{ADDING_RATIO_MAX} times as long at most"),
            found: format!("{ratio:.2} times as long"),
            reached: Some(ratio <= ADDING_RATIO_MAX),
        });
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_store_is_not_judged() {
        let spread = Spread::of(&[2.0]).expect("a value");
        let mut findings = Findings {
            adding: Some((Added { spread }, Added { spread })),
            ..Findings::default()
        };
        assert_eq!(judge(&findings).len(), 1);
        findings.quick = true;
        assert_eq!(judge(&findings).len(), 0);
    }
}
