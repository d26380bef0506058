//! The options that a subject may pass to a program or a driver, as lists.
//!
//! A subject may come from another user's study, and mkfs programs run as root: some of their
//! options read or write a file or a directory, or name a second device. A list of refused options
//! would never be complete, so each permitted option is listed, with the form of its value. No form
//! allows a path, and options whose value names a file are not listed, because a name without a
//! slash is a file, too.

/// An option that a subject may pass to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionRule {
    /// Its spellings, with their dashes: `-b`, `--blocksize`.
    pub names: &'static [&'static str],
    pub value: OptionValue,
}

/// A `key=value` that a subject may pass, alone or in the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRule {
    pub key: &'static str,
    pub value: OptionValue,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// No value.
    Nothing,
    /// A number, with or without a unit: `4096`, `64k`, `0.5`, `0x3f`, `5%`.
    Number,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// A word that the program looks up, such as `zstd:3`: letters, digits and `_.:+-`.
    Word,
    /// Words separated by commas, such as `^has_journal,extent`, except these.
    WordsBut(&'static [&'static str]),
    /// A name that is stored: a label, a UUID, an owner. Not a path.
    Text,
    /// `key=value` separated by commas; a key alone has its default.
    Keys(&'static [KeyRule]),
}

/// An option, abbreviated for the entries' lists.
pub(crate) const fn option(names: &'static [&'static str], value: OptionValue) -> OptionRule {
    OptionRule { names, value }
}

/// A key, abbreviated for the entries' lists.
pub(crate) const fn key(key: &'static str, value: OptionValue) -> KeyRule {
    KeyRule { key, value }
}

impl KeyRule {
    /// The key with the form of its value, as in help pages.
    pub fn usage(&self) -> String {
        match self.value.usage() {
            Some(value) => format!("{}={value}", self.key),
            None => self.key.to_owned(),
        }
    }
}

impl OptionRule {
    /// The option as in help pages.
    fn usage(&self) -> String {
        let names = self.names.join("|");
        match self.value.usage() {
            Some(value) => format!("{names} {value}"),
            None => names,
        }
    }
}

impl OptionValue {
    /// Why `value` does not have this form; a fragment.
    pub(crate) fn refusal(self, value: &str) -> Option<String> {
        let is_right = match self {
            Self::Nothing => return Some("it takes no value".to_owned()),
            Self::Number => is_number(value),
            Self::OneOf(words) => words.contains(&value),
            Self::Word => is_word(value),
            Self::WordsBut(refused) => value.split(',').all(|word| {
                let bare = word.strip_prefix('^').unwrap_or(word);
                is_word(bare) && !refused.contains(&bare)
            }),
            Self::Text => is_text(value),
            Self::Keys(keys) => return keys_refusal(keys, value),
        };
        (!is_right).then(|| format!("its value is not {}", self.expected()))
    }

    fn expected(self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Number => "a number, with or without a unit".to_owned(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Word => "a word of letters, digits and _.:+-".to_owned(),
            Self::WordsBut(&[]) => "a list of words".to_owned(),
            Self::WordsBut(refused) => format!("a list of words without {}", refused.join(", ")),
            Self::Text => "a name without a slash, which does not begin with a dash".to_owned(),
            Self::Keys(_) => "a list of keys and values".to_owned(),
        }
    }

    fn usage(self) -> Option<String> {
        Some(match self {
            Self::Nothing => return None,
            Self::Number => "NUMBER".to_owned(),
            Self::OneOf(words) => words.join("|"),
            Self::Word => "WORD".to_owned(),
            Self::WordsBut(_) => "WORD,...".to_owned(),
            Self::Text => "TEXT".to_owned(),
            Self::Keys(keys) => format!("{}[=VALUE],...", key_names(keys).join("|")),
        })
    }
}

/// The permitted options, for hints.
pub(crate) fn usage(rules: &[OptionRule]) -> String {
    let usages: Vec<_> = rules.iter().map(OptionRule::usage).collect();
    usages.join(", ")
}

/// The keys, for hints.
pub(crate) fn key_names(keys: &[KeyRule]) -> Vec<&'static str> {
    keys.iter().map(|it| it.key).collect()
}

/// Why `key=value`, or `key`, is not permitted by `keys`; a fragment.
pub(crate) fn key_refusal(keys: &[KeyRule], part: &str) -> Option<String> {
    let (name, value) = match part.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (part, None),
    };
    let Some(rule) = keys.iter().find(|it| it.key == name) else {
        return Some(format!("'{name}' is not a key that a subject may set"));
    };
    let refusal = rule.value.refusal(value?)?;
    Some(format!("'{name}': {refusal}"))
}

fn keys_refusal(keys: &[KeyRule], list: &str) -> Option<String> {
    list.split(',').find_map(|part| key_refusal(keys, part))
}

/// Digits with at most one point, and a unit of at most three letters; or hexadecimal digits.
fn is_number(text: &str) -> bool {
    const LENGTH_MAX: usize = 24;
    if text.len() > LENGTH_MAX {
        return false;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let is_digits = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_digits
        && number.bytes().next().is_some_and(|it| it.is_ascii_digit())
        && number.matches('.').count() <= 1
        && text.len() - number.len() <= 3
}

/// A word that a program can only look up in a table: not a path, an option or a list.
pub(crate) fn is_word(text: &str) -> bool {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_.:+-".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(is_inside)
        && !text.contains("..")
}

fn is_text(text: &str) -> bool {
    const BYTES_MAX: usize = 255;
    !text.is_empty()
        && text.len() <= BYTES_MAX
        && !text.starts_with('-')
        && ![".", ".."].contains(&text)
        && !text.contains(|c: char| c == '/' || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_digits_and_a_short_unit() {
        for text in ["0", "4096", "64k", "1.5", "8GiB", "0x3f", "5%", "512b"] {
            assert!(is_number(text), "{text}");
        }
        for text in [
            "", "k", "-1", ".5", "1.2.3", "1kkkk", "0x", "0xg", "1/2", "1,2", "1 ", "sdb1",
        ] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn words_lists_and_texts_have_no_room_for_a_path_or_an_option() {
        for text in ["/etc", "a/b", "-x", "..", "a..b", "", "a b", "a\nb", "a,b"] {
            assert!(OptionValue::Word.refusal(text).is_some(), "{text}");
        }
        for text in ["/etc", "a/b", "-x", "..", "", "a\nb"] {
            assert!(OptionValue::Text.refusal(text).is_some(), "{text}");
        }
        let features = OptionValue::WordsBut(&["journal_dev"]);
        assert_eq!(features.refusal("^has_journal,extent"), None);
        for list in [
            "journal_dev",
            "^journal_dev",
            "extent,journal_dev",
            "a,",
            "",
        ] {
            assert!(features.refusal(list).is_some(), "{list}");
        }
    }

    #[test]
    fn every_key_of_a_list_is_checked() {
        const KEYS: &[KeyRule] = &[
            key("size", OptionValue::Number),
            key("align", OptionValue::Nothing),
        ];
        let list = OptionValue::Keys(KEYS);
        for accepted in ["size=4k", "align", "size=1,align", "size"] {
            assert_eq!(list.refusal(accepted), None, "{accepted}");
        }
        for refused in [
            "",
            "size=x",
            "size=1,file=x",
            "name=sdb",
            "align=1",
            "size=1,,",
        ] {
            assert!(list.refusal(refused).is_some(), "{refused}");
        }
    }
}
