//! What mkfs made by default up to a version, as options for the mkfs of today: `xfs:mkfs=@6.1`.
//!
//! A version stands for the newest set that is not newer than it. Options that turn off what the
//! mkfs of a trial does not know yet are left out there.

use schemars::JsonSchema;
use serde::Serialize;

/// The character before the version in a subject.
const MARK: char = '@';

/// How the defaults of a mkfs changed.
#[derive(Clone, Copy, Debug)]
pub struct DefaultsHistory {
    /// The versions with a set of defaults, the oldest first: of mkfs, or of the Linux of its time,
    /// whichever the source has.
    pub(crate) versions: &'static [&'static str],
    /// What changed between them.
    pub(crate) changes: &'static [DefaultChange],
    /// Where that is stated.
    pub(crate) source: &'static str,
}

/// A default that changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultChange {
    /// The version that changed it.
    pub(crate) version: &'static str,
    /// The name of the option, such as `-m`.
    pub(crate) option: &'static str,
    /// The element of its list that makes the old default, such as `reflink=0`.
    pub(crate) before: &'static str,
    /// The same of the new one; empty if it needs no option.
    pub(crate) after: &'static str,
    /// The first version of mkfs that knows the element; an earlier one has the old default
    /// anyway. `None` if all know it.
    pub(crate) known_since: Option<&'static str>,
}

/// The defaults of mkfs from a version on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MkfsDefaults {
    /// Its first version, or the first series of Linux of its time, whichever the source has.
    pub since: &'static str,
    /// The options that make them.
    pub options: Vec<DefaultOption>,
    /// Where that is stated.
    pub source: &'static str,
}

/// One option of a set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DefaultOption {
    /// Its name, such as `-m`.
    pub option: &'static str,
    /// An element of its list, such as `reflink=0`.
    pub value: &'static str,
    /// The first version of mkfs that knows the element and does not need it to be turned off
    /// before; `None` if all do.
    pub known_since: Option<&'static str>,
}

/// A change of an element that every mkfs knows.
pub(crate) const fn change(
    version: &'static str,
    option: &'static str,
    before: &'static str,
    after: &'static str,
) -> DefaultChange {
    DefaultChange {
        version,
        option,
        before,
        after,
        known_since: None,
    }
}

impl DefaultChange {
    /// The same, of an element that older versions of mkfs do not know.
    pub(crate) const fn known_since(self, version: &'static str) -> Self {
        Self {
            known_since: Some(version),
            ..self
        }
    }
}

impl DefaultsHistory {
    /// Of a mkfs whose earlier defaults are not known.
    pub(crate) const NONE: Self = Self {
        versions: &[],
        changes: &[],
        source: "",
    };

    /// The sets of defaults, the oldest first.
    pub fn sets(&self) -> Vec<MkfsDefaults> {
        self.versions.iter().map(|since| self.set(since)).collect()
    }

    fn set(&self, since: &'static str) -> MkfsDefaults {
        let option = |change: &DefaultChange| {
            let is_new = numbers(change.version) <= numbers(since);
            let (value, known_since) = match is_new {
                true => (change.after, None),
                false => (change.before, change.known_since),
            };
            (!value.is_empty()).then_some(DefaultOption {
                option: change.option,
                value,
                known_since,
            })
        };
        MkfsDefaults {
            since,
            options: self.changes.iter().filter_map(option).collect(),
            source: self.source,
        }
    }
}

impl MkfsDefaults {
    /// The words of the set for an mkfs that prints `version`, or for a plan, which shows all.
    fn words(&self, version: Option<&str>) -> Vec<String> {
        let printed = version.and_then(numbers);
        let is_known = |it: &&DefaultOption| match (it.known_since.and_then(numbers), printed) {
            (Some(first), Some(printed)) => printed >= first,
            _ => true,
        };
        let mut words: Vec<String> = Vec::new();
        for option in self.options.iter().filter(is_known) {
            match words.iter().position(|word| word == option.option) {
                Some(place) => {
                    let list = &mut words[place + 1];
                    list.push(',');
                    list.push_str(option.value);
                }
                None => words.extend([option.option.to_owned(), option.value.to_owned()]),
            }
        }
        words
    }
}

/// `words` with each set of defaults replaced by its options.
///
/// # Errors
/// The word that names no set of `history`, and why not.
pub(crate) fn expand(
    history: &DefaultsHistory,
    words: &[String],
    version: Option<&str>,
) -> Result<Vec<String>, (String, &'static str)> {
    let mut expanded = Vec::new();
    for word in words {
        let Some(asked) = word.strip_prefix(MARK) else {
            expanded.push(word.clone());
            continue;
        };
        let refused = |reason| (word.clone(), reason);
        if history.versions.is_empty() {
            return Err(refused("no earlier defaults of its mkfs are known"));
        }
        let asked = numbers(asked).ok_or(refused("a version follows '@', such as @6.1"))?;
        let is_older = |since: &&&str| numbers(since).is_some_and(|it| it <= asked);
        let since = history.versions.iter().rev().find(is_older);
        let since = since.ok_or(refused("it is older than the oldest known defaults"))?;
        expanded.extend(history.set(since).words(version));
    }
    Ok(expanded)
}

/// True if `words` names a set of defaults, whose options depend on mkfs.
pub fn has_defaults(words: &[String]) -> bool {
    words.iter().any(|word| word.starts_with(MARK))
}

/// The first two numbers of a version, which may stand in a line: `mke2fs 1.47.0 (5-Feb-2023)`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let mut versions = words.filter_map(|word| {
        let mut numbers = word.split('.').map(str::parse::<u32>);
        let major = numbers.next()?.ok()?;
        let minor = numbers.next().unwrap_or(Ok(0)).ok()?;
        Some((word.contains('.'), (major, minor)))
    });
    let first = versions.next()?;
    // A digit in the name of a program is no version.
    let dotted = [first]
        .into_iter()
        .chain(versions)
        .find(|(dotted, _)| *dotted);
    Some(dotted.unwrap_or(first).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY: DefaultsHistory = DefaultsHistory {
        versions: &["4.19", "6.5"],
        changes: &[
            change("6.5", "-m", "a=0", "a=1"),
            change("6.5", "-n", "p=0", "").known_since("6.10"),
            change("6.5", "-m", "b=0", ""),
        ],
        source: "",
    };

    fn expanded(word: &str, version: Option<&str>) -> Result<String, String> {
        let words = [word.to_owned(), "-q".to_owned()];
        let words = expand(&HISTORY, &words, version).map_err(|(_, reason)| reason.to_owned())?;
        Ok(words.join(" "))
    }

    #[test]
    fn a_version_stands_for_the_newest_set_that_is_not_newer() {
        assert_eq!(
            expanded("@4.19", None).as_deref(),
            Ok("-m a=0,b=0 -n p=0 -q")
        );
        assert_eq!(expanded("@6.4", None), expanded("@4.19", None));
        assert_eq!(expanded("@6.5", None).as_deref(), Ok("-m a=1 -q"));
        assert_eq!(expanded("@7", None), expanded("@6.13.2", None));
        for word in ["@4.18", "@", "@new"] {
            assert!(expanded(word, None).is_err(), "{word}");
        }
        assert!(expand(&DefaultsHistory::NONE, &["@6.1".to_owned()], None).is_err());
    }

    #[test]
    fn what_mkfs_does_not_know_is_left_out() {
        let older = expanded("@4.19", Some("mkfs.xfs version 6.1.0"));
        assert_eq!(older.as_deref(), Ok("-m a=0,b=0 -q"));
        let newer = expanded("@4.19", Some("mkfs.xfs version 7.2.0"));
        assert_eq!(newer, expanded("@4.19", None));
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (line, expected) in [
            ("mke2fs 1.47.0 (5-Feb-2023)", (1, 47)),
            ("mkfs.btrfs, part of btrfs-progs v6.2", (6, 2)),
            ("mkfs.xfs version 7.2.0", (7, 2)),
            ("7", (7, 0)),
        ] {
            assert_eq!(numbers(line), Some(expected), "{line}");
        }
        assert_eq!(numbers("none"), None);
    }
}
