//! Words that mean "not finished", "switched off" or "only on my machine".

use super::finding::Finding;
use super::rust_text::RustText;
use super::tree::{File, Tree};

/// In code: no lint forbids it with a reason, too.
const SWITCHED_OFF: &str = "#[ignore";

/// Anywhere in a text. Put together here, so that this file does not hold them.
const MARKS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

/// Beginnings of paths that are one developer's own.
const OWN_PLACES: [&str; 2] = [concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Beginnings of paths in a home folder. The tests inside a source may have them as data.
const HOMES: [&str; 2] = [concat!("/ho", "me/"), concat!("/Us", "ers/")];

/// Outputs of real tools are kept as they were.
const EXEMPT_FOLDER: &str = "fixtures/";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree
        .files
        .iter()
        .filter(|file| !file.path.contains(EXEMPT_FOLDER))
    {
        if let Some(rust) = &file.rust {
            findings.extend(in_code(file, rust));
        }
        findings.extend(in_text(file));
    }
    findings
}

fn in_code(file: &File, rust: &RustText) -> Vec<Finding> {
    let lines = (1..).zip(&rust.code);
    let ignored = lines.filter(|(_, code)| code.contains(SWITCHED_OFF));
    let finding = |(line, _)| Finding {
        file: file.path.clone(),
        line,
        rule: "banned-word",
        message: format!("`{SWITCHED_OFF}`"),
        hint: "a test that cannot run here prints `skipped: REASON`; none is switched off",
    };
    ignored.map(finding).collect()
}

fn in_text(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tests = file.rust.as_ref().and_then(RustText::test_module);
    for (line, text) in (1..).zip(file.text.lines()) {
        let in_tests = tests.is_some_and(|(first, last)| (first + 1..=last + 1).contains(&line));
        let homes = HOMES.iter().filter(|_| !in_tests);
        let mut find = |rule, word: &str, hint| {
            let message = format!("`{word}`");
            findings.push(Finding {
                file: file.path.clone(),
                line,
                rule,
                message,
                hint,
            });
        };
        for word in MARKS.iter().filter(|word| stands_alone(text, word)) {
            find("banned-word", word, "do it now, or open an issue");
        }
        for place in OWN_PLACES
            .iter()
            .chain(homes)
            .filter(|place| begins_a_path(text, place))
        {
            find(
                "developer-path",
                place,
                "take the path from the caller or a temporary folder",
            );
        }
    }
    findings
}

fn stands_alone(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let after = text[at + word.len()..].chars().next();
        !ends_in_word(&text[..at]) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Whether a path in `text` begins with `place`, rather than having it inside.
fn begins_a_path(text: &str, place: &str) -> bool {
    text.match_indices(place).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !ends_in_word(&text[..at]) && !before.is_some_and(|c| "./-~$}*>)".contains(c))
    })
}

fn ends_in_word(text: &str) -> bool {
    text.chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::super::finding::rules_of;
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        rules_of(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn a_test_that_is_switched_off_is_found_in_code() {
        let text =
            format!("fn a() {{}}\n{SWITCHED_OFF}]\n// {SWITCHED_OFF}\nf(\"{SWITCHED_OFF}\");");
        assert_eq!(rules("a.rs", &text), [("banned-word", 2)]);
        assert!(rules("a.md", SWITCHED_OFF).is_empty());
    }

    #[test]
    fn marks_are_found_in_every_text_where_they_stand_alone() {
        for mark in MARKS {
            assert_eq!(
                rules("a.md", &format!("one\n{mark}: two")),
                [("banned-word", 2)]
            );
            assert_eq!(
                rules("a.rs", &format!("//! A.\n// {mark}")),
                [("banned-word", 2)]
            );
            assert!(rules("a.rs", &format!("{mark}X_A{mark}")).is_empty());
        }
    }

    #[test]
    fn a_path_of_one_developer_is_found_and_one_inside_another_is_not() {
        for place in OWN_PLACES.into_iter().chain(HOMES) {
            assert_eq!(
                rules("a.toml", &format!("a = '{place}ann/x'")),
                [("developer-path", 1)]
            );
            assert!(rules("a.md", &format!("https://example.org{place}x")).is_empty());
            assert!(rules("a.sh", &format!("$HOME{place} ..{place} a{place}")).is_empty());
            assert!(rules("tests/fixtures/df.txt", &format!("{place}ann")).is_empty());
        }
    }

    #[test]
    fn a_home_is_let_pass_as_data_of_a_unit_test_and_a_place_of_ones_own_is_not() {
        let test = |place| format!("#[cfg(test)]\nmod tests {{\n    at(\"{place}ann\");\n}}\n");
        assert!(rules("a.rs", &test(HOMES[0])).is_empty());
        assert_eq!(rules("a.rs", &test(OWN_PLACES[1])), [("developer-path", 3)]);
        let behind = test(HOMES[0]) + "at(\"" + HOMES[0] + "ann\");";
        assert_eq!(rules("a.rs", &behind), [("developer-path", 5)]);
    }
}
