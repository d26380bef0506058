//! What was judged of a log: in how many states each promise is broken, and whether that shows a
//! planted fault.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// States that do not mount, beside the promises.
const UNMOUNTABLE: &str = "mount";
/// States in which the check finds errors, beside the promises.
const CHECK_ERRORS: &str = "check";

/// The states of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) states: u64,
    /// States in which a document's promise is broken, by promise; those that do not mount, as
    /// `mount`.
    pub(crate) promised: BTreeMap<String, u64>,
    /// States by everything that is wrong in them, whether a document promises otherwise or not.
    wrong: BTreeMap<String, u64>,
    /// The same of states that mount: where none does, everything is lost.
    wrong_if_mounted: BTreeMap<String, u64>,
}

impl Judged {
    /// Reads what `fslab crash judge --json` prints of one log.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, String> {
        let document: Value =
            serde_json::from_slice(json).map_err(|error| format!("no JSON: {error}"))?;
        let log = &document[0];
        let states = log["survival"]["states"].as_u64();
        let mut judged = Self {
            states: states.ok_or("the judge's JSON has no number of states")?,
            ..Self::default()
        };
        for state in log["failing"].as_array().into_iter().flatten() {
            let texts = |list: &Value| -> Vec<String> {
                let list = list.as_array().into_iter().flatten();
                list.filter_map(|it| it.as_str().map(str::to_owned))
                    .collect()
            };
            let broken = texts(&state["breaks"]);
            let is_mounted = state["unmountable"].is_null();
            let unmounted = [UNMOUNTABLE.to_owned()];
            let reported = if is_mounted { &*broken } else { &unmounted };
            for promise in reported {
                *judged.promised.entry(promise.clone()).or_default() += 1;
            }
            let findings = state["findings"].as_array().into_iter().flatten();
            let findings = findings.filter_map(|it| it["promise"].as_str().map(str::to_owned));
            let mut wrong: BTreeSet<String> = broken.into_iter().chain(findings).collect();
            if !is_mounted {
                wrong.insert(UNMOUNTABLE.to_owned());
            }
            if state["check"] == "errors" {
                wrong.insert(CHECK_ERRORS.to_owned());
            }
            for what in wrong {
                if is_mounted {
                    *judged.wrong_if_mounted.entry(what.clone()).or_default() += 1;
                }
                *judged.wrong.entry(what).or_default() += 1;
            }
        }
        Ok(judged)
    }

    /// States in which this is wrong: a promise by its name, `mount` or `check`.
    pub(crate) fn count(&self, what: &str) -> u64 {
        self.wrong.get(what).copied().unwrap_or(0)
    }

    /// Of what a fault must break, that which most states break with it and none without it. If
    /// the unchanged kernel does not mount every state, those that mount are compared.
    pub(crate) fn shown<'a>(&self, unchanged: &Self, breaks: &'a [String]) -> Option<&'a str> {
        let are_all_mounted = unchanged.count(UNMOUNTABLE) == 0;
        let count = |judged: &Self, what: &str| {
            let counts = match are_all_mounted || what == UNMOUNTABLE {
                true => &judged.wrong,
                false => &judged.wrong_if_mounted,
            };
            counts.get(what).copied().unwrap_or(0)
        };
        let new = breaks.iter().filter(|it| count(unchanged, it) == 0);
        let most = new.max_by_key(|it| count(self, it))?;
        (count(self, most) > 0).then_some(most.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"[{"survival": {"states": 9}, "failing": [
        {"breaks": ["fsync"], "findings": [{"promise": "fsync"}, {"promise": "fsync"}],
         "unmountable": null, "check": "clean"},
        {"breaks": [], "findings": [{"promise": "rename"}],
         "unmountable": "refused", "check": "errors"}]}]"#;

    #[test]
    fn a_state_counts_once_for_each_thing_that_is_wrong_in_it() {
        let judged = Judged::parse(JSON.as_bytes()).expect("right");
        assert_eq!(judged.states, 9);
        let reported = [("fsync".to_owned(), 1), ("mount".to_owned(), 1)];
        assert_eq!(judged.promised, BTreeMap::from(reported));
        let counts = ["fsync", "rename", "mount", "check", "sync"].map(|it| judged.count(it));
        assert_eq!(counts, [1, 1, 1, 1, 0]);
        assert!(Judged::parse(b"[]").is_err());
    }

    #[test]
    fn what_the_unchanged_kernel_breaks_shows_no_fault() {
        let judged = Judged::parse(JSON.as_bytes()).expect("right");
        let breaks = ["fsync".to_owned(), "sync".to_owned()];
        assert_eq!(judged.shown(&Judged::default(), &breaks), Some("fsync"));
        assert_eq!(judged.shown(&judged, &breaks), None);
    }

    /// A torn super block hid a fault that broke the same promise in 174 of 188 states.
    #[test]
    fn states_that_the_unchanged_kernel_does_not_mount_hide_no_fault() {
        let state = |unmountable: &str| {
            format!(
                r#"{{"breaks": ["fsync"], "findings": [{{"promise": "fsync"}}],
                    "unmountable": {unmountable}, "check": "clean"}}"#
            )
        };
        let judged = |states: &[String]| {
            let states = states.join(",");
            let json = format!(r#"[{{"survival": {{"states": 9}}, "failing": [{states}]}}]"#);
            Judged::parse(json.as_bytes()).expect("right")
        };
        let torn = judged(&[state("\"torn\"")]);
        let faulty = judged(&[state("\"torn\""), state("null")]);
        let breaks = ["fsync".to_owned()];
        assert_eq!(faulty.shown(&torn, &breaks), Some("fsync"));
        assert_eq!(torn.shown(&torn, &breaks), None);
        assert_eq!(torn.shown(&Judged::default(), &breaks), Some("fsync"));
    }
}
