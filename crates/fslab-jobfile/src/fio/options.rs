//! What an option of fio is, and what is done with one. Every option is in the table next to this.

use super::option_table::TABLES;
use super::setters::Setter;

/// An option of fio, and its rule.
#[derive(Clone, Copy, Debug)]
pub struct FioOption {
    pub name: &'static str,
    /// Its other name; empty if it has none.
    pub alias: &'static str,
    pub rule: FioRule,
}

/// What is done with an option.
#[derive(Clone, Copy, Debug)]
pub enum FioRule {
    /// It becomes a part of the study.
    Translated(FioTranslation),
    /// It changes nothing that is measured: why.
    Ignored(&'static str),
    /// It is left out with one of these values, and refused with others: why.
    Neutral(&'static [&'static str], &'static str),
    /// It cannot be expressed, or needs a permission: why.
    Refused(&'static str),
}

/// What an option becomes.
#[derive(Clone, Copy, Debug)]
pub struct FioTranslation {
    /// In words.
    pub to: &'static str,
    pub(super) setter: Setter,
}

/// All options that fslab knows, by subject.
pub fn fio_options() -> impl Iterator<Item = &'static FioOption> {
    TABLES.iter().copied().flatten()
}

/// The option of this name or alias.
pub(super) fn find(name: &str) -> Option<&'static FioOption> {
    fio_options().find(|it| it.name == name || (!it.alias.is_empty() && it.alias == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_stands_once_with_a_reason() {
        let mut names: Vec<&str> = Vec::new();
        for option in fio_options() {
            names.extend(
                [option.name, option.alias]
                    .iter()
                    .filter(|it| !it.is_empty()),
            );
            let reason = match option.rule {
                FioRule::Translated(translation) => translation.to,
                FioRule::Ignored(why) | FioRule::Refused(why) | FioRule::Neutral(_, why) => why,
            };
            assert!(!reason.is_empty(), "{}", option.name);
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "an option stands twice");
        assert!(all > 280, "{all}");
    }

    #[test]
    fn each_rule_is_found_by_name_and_alias() {
        assert_eq!(find("blocksize").expect("bs").name, "bs");
        assert_eq!(find("timeout").expect("runtime").name, "runtime");
        assert!(find("recrod").is_none() && find("").is_none());
    }
}
