//! The command line that a tool has printed: its options, as far as they are clear.
//!
//! IOR, mdtest and IO500 print what they were started with, mdtest each word in quotes. An option
//! is a word; its value is the next word, or follows in the same, with an equals sign or without.
//! Old versions take several letters as one word. What is written otherwise is not known.

use super::unit_bytes::unit_bytes;

/// Most words that are read.
const WORDS_MAX: usize = 4096;

/// The words of a command line.
pub(crate) struct CommandLine<'c> {
    words: Vec<&'c str>,
}

impl<'c> CommandLine<'c> {
    pub(crate) fn of(line: &'c str) -> Self {
        let words = line.split_whitespace().take(WORDS_MAX);
        let plain = |word: &'c str| word.trim_matches('\'');
        Self {
            words: words.map(plain).collect(),
        }
    }

    /// True if a word is `option`, or is of letters and has that of it: `-Fu`.
    pub(crate) fn has(&self, option: &str) -> bool {
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        let has_letter = |word: &&str| {
            let letters = word.strip_prefix('-').zip(letter);
            letters.is_some_and(|(letters, letter)| {
                letters.contains(letter) && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            })
        };
        self.words.contains(&option) || self.words.iter().any(has_letter)
    }

    /// The value of `option`; of several the last.
    pub(crate) fn value(&self, option: &str) -> Option<&'c str> {
        let is_option = |(_, word): &(usize, &&str)| {
            let rest = word.strip_prefix(option);
            let is_end = |rest: &str| rest.starts_with(|c: char| c == '=' || c.is_ascii_digit());
            rest.is_some_and(|rest| rest.is_empty() || is_end(rest))
        };
        let (at, word) = self.words.iter().enumerate().rfind(is_option)?;
        match word.strip_prefix(option)? {
            "" => self.words.get(at + 1).copied(),
            value => Some(value.strip_prefix('=').unwrap_or(value)),
        }
    }

    /// A count; `None` if it is none.
    pub(crate) fn count(&self, option: &str) -> Option<u64> {
        let count = self.value(option)?.parse().ok();
        count.filter(|count| i64::try_from(*count).is_ok())
    }

    /// A size in bytes, with one of the binary units of IOR and mdtest: `47008`, `64k`, `2m`.
    pub(crate) fn bytes(&self, option: &str) -> Option<u64> {
        bytes(self.value(option)?)
    }

    /// The value of a directive of IOR: `-O stoneWallingWearOut=1`, several with commas between.
    pub(crate) fn directive(&self, name: &str) -> Option<&'c str> {
        let after = self.words.windows(2).filter(|pair| pair[0] == "-O");
        let directives = after.flat_map(|pair| pair[1].split(','));
        let mut named = directives.filter_map(|it| it.split_once('='));
        named
            .rfind(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &*text[digits.len()..].to_ascii_lowercase() {
        "" => "b".to_owned(),
        unit => unit.to_owned(),
    };
    unit_bytes(digits, &unit, ["b", "k", "m", "g", "t"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_words_with_their_values() {
        let line = CommandLine::of("./mdtest '-n' '10' '-F' '-w=3901' '-W' '300' '-W' '2'");
        assert!(line.has("-F") && !line.has("-D"));
        assert_eq!(line.count("-n"), Some(10));
        assert_eq!(line.count("-w"), Some(3901));
        assert_eq!(line.count("-W"), Some(2), "the last counts");
        assert_eq!((line.value("-d"), line.count("-F")), (None, None));
        let line = CommandLine::of("mdtest -Fu -n10 -d /mnt/e");
        assert!(line.has("-u") && !line.has("-e"));
        assert_eq!(line.count("-n"), Some(10));
    }

    #[test]
    fn sizes_and_directives_are_those_of_ior() {
        let line = CommandLine::of("ior -t 2m -b=64K -s 9t -O a=1,stoneWallingWearOut=1 -O b=2");
        assert_eq!(line.bytes("-t"), Some(2 << 20));
        assert_eq!(line.bytes("-b"), Some(64 << 10));
        assert_eq!(line.directive("stoneWallingWearOut"), Some("1"));
        assert_eq!(
            (line.directive("b"), line.directive("c")),
            (Some("2"), None)
        );
        for wrong in ["2x", "", "m", "99999999t", "-4k", "1.5g"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
