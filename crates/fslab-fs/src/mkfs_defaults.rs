//! What mkfs made by default up to a version, as options for the mkfs of today: `xfs:mkfs=@6.1`.
//!
//! A version stands for the newest set that is not newer than it. Options that turn off what the
//! mkfs of a trial does not know yet are left out there.

use schemars::JsonSchema;
use serde::Serialize;

/// The character before the version in a subject.
const MARK: char = '@';

/// The defaults of mkfs from a version on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MkfsDefaults {
    /// Its first version, or the first series of Linux of its time, whichever the source has.
    pub since: &'static str,
    /// The options that make them.
    pub options: &'static [DefaultOption],
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

pub(crate) const fn always(option: &'static str, value: &'static str) -> DefaultOption {
    DefaultOption {
        option,
        value,
        known_since: None,
    }
}

pub(crate) const fn since(
    version: &'static str,
    option: &'static str,
    value: &'static str,
) -> DefaultOption {
    DefaultOption {
        option,
        value,
        known_since: Some(version),
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
/// The word that names no set of `sets`, and why not.
pub(crate) fn expand(
    sets: &[MkfsDefaults],
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
        if sets.is_empty() {
            return Err(refused("no earlier defaults of its mkfs are known"));
        }
        let asked = numbers(asked).ok_or(refused("a version follows '@', such as @6.1"))?;
        let is_older = |set: &&MkfsDefaults| numbers(set.since).is_some_and(|it| it <= asked);
        let set = sets.iter().rev().find(is_older);
        let set = set.ok_or(refused("it is older than the oldest known defaults"))?;
        expanded.extend(set.words(version));
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

    const SETS: &[MkfsDefaults] = &[
        MkfsDefaults {
            since: "4.19",
            options: &[
                always("-m", "a=0"),
                since("6.10", "-n", "p=0"),
                always("-m", "b=0"),
            ],
            source: "",
        },
        MkfsDefaults {
            since: "6.5",
            options: &[always("-m", "a=1")],
            source: "",
        },
    ];

    fn expanded(word: &str, version: Option<&str>) -> Result<String, String> {
        let words = [word.to_owned(), "-q".to_owned()];
        let words = expand(SETS, &words, version).map_err(|(_, reason)| reason.to_owned())?;
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
        assert!(expand(&[], &["@6.1".to_owned()], None).is_err());
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
