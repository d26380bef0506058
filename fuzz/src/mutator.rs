//! How one input becomes another: bytes, words, lines and, where the text has one, its structure.

use std::collections::BTreeSet;

use crate::chance::Chance;
use crate::structure;
use crate::target::Syntax;

/// Inputs are no longer than this: what is long is slow, and finds the same.
const BYTES_MAX: usize = 64 << 10;
/// Words of a dictionary are no longer than this.
const WORD_BYTES_MAX: usize = 40;

/// Words at which readers go wrong.
pub(crate) const AWKWARD: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "64",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e309",
    "-1e308",
    "1e-320",
    "0.1",
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "1/3",
    "0/1",
    "1/0",
    "4294967295/1",
    "16EiB",
    "1B",
    "0B",
    "15.9999EiB",
    "100%",
    "101%",
    "1..1000000000",
    "true",
    "false",
    "null",
    "\"\"",
    "[]",
    "{}",
    "..",
    "../..",
    "/",
    "/dev/zero",
    "\\u0000",
    "\u{0}",
    "\u{1b}[2J",
    "ß",
    "\u{202e}",
    "$size",
    "${x}",
    "%s%n",
    "'",
    "\"",
    "=",
    ",",
    ";",
    ":",
    "\n",
    "\r\n",
    "\t",
    " ",
];

/// Makes inputs of other inputs.
pub(crate) struct Mutator {
    syntax: Syntax,
    chance: Chance,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// `seeds` give the dictionary.
    pub(crate) fn new(syntax: Syntax, seeds: &[Vec<u8>], seed: u64) -> Self {
        let mut words: BTreeSet<Vec<u8>> = AWKWARD.iter().map(|it| it.as_bytes().into()).collect();
        for text in seeds {
            let inside = tokens(text).into_iter().map(|range| text[range].to_vec());
            words.extend(inside.filter(|word| (2..=WORD_BYTES_MAX).contains(&word.len())));
        }
        Self {
            syntax,
            chance: Chance::new(seed),
            words: words.into_iter().collect(),
        }
    }

    /// Another input, made of one or two of `pool`.
    pub(crate) fn next(&mut self, pool: &[Vec<u8>]) -> Vec<u8> {
        let mut input = self.chance.one(pool).clone();
        let other = self.chance.one(pool);
        if self.chance.below(3) > 0
            && let Some(changed) = structure::change(self.syntax, &input, other, &mut self.chance)
        {
            input = changed;
            if self.chance.below(3) > 0 {
                input.truncate(BYTES_MAX);
                return input;
            }
        }
        for _ in 0..=self.chance.below(4) {
            self.step(&mut input, other);
        }
        input.truncate(BYTES_MAX);
        input
    }

    fn step(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        match self.chance.below(10) {
            0 => self.change_byte(input),
            1 => {
                let part = self.chance.part(input.len());
                input.drain(part);
            }
            2 => {
                let part = self.chance.part(input.len());
                let copy = input[part.clone()].to_vec();
                let times = [1, 2, 64][self.chance.below(3)];
                insert(input, part.end, &copy.repeat(times));
            }
            3 => {
                let part = self.chance.part(other.len());
                let at = self.chance.below(input.len() + 1);
                insert(input, at, &other[part]);
            }
            4 => {
                let word = self.chance.one(&self.words).clone();
                let at = self.chance.below(input.len() + 1);
                insert(input, at, &word);
            }
            5 | 6 => self.change_line(input, other),
            _ => self.change_word(input),
        }
    }

    fn change_byte(&mut self, input: &mut [u8]) {
        let at = self.chance.below(input.len());
        if let Some(byte) = input.get_mut(at) {
            *byte = match self.chance.below(3) {
                0 => *byte ^ (1 << self.chance.below(8)),
                1 => byte.wrapping_add(1),
                _ => self.chance.next() as u8,
            };
        }
    }

    fn change_word(&mut self, input: &mut Vec<u8>) {
        let found = tokens(input);
        if found.is_empty() {
            return;
        }
        let at = self.chance.one(&found).clone();
        let word = match self.chance.below(3) {
            0 => self.chance.one(AWKWARD).as_bytes().to_vec(),
            1 => input[self.chance.one(&found).clone()].to_vec(),
            _ => self.chance.one(&self.words).clone(),
        };
        input.splice(at, word);
    }

    /// A line goes, comes twice, changes its place, or comes from elsewhere.
    fn change_line(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
        let others: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.is_empty() || others.is_empty() {
            return;
        }
        let (at, to) = (
            self.chance.below(lines.len()),
            self.chance.below(lines.len()),
        );
        match self.chance.below(4) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(to, lines[at]),
            2 => lines.swap(at, to),
            _ => {
                let part = self.chance.part(others.len());
                lines.splice(at..at, others[part].iter().copied());
            }
        }
        *input = lines.concat();
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if input.len() + bytes.len() <= BYTES_MAX {
        input.splice(at..at, bytes.iter().copied());
    }
}

/// The places of words: letters and digits with what stands inside of numbers and names.
fn tokens(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-+/%".contains(&byte);
    let mut found = Vec::new();
    let mut start = None;
    for (at, byte) in text.iter().copied().chain([b' ']).enumerate() {
        match (is_inside(byte), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_another_one_others() {
        let pool = vec![b"a = 1\nb = 'x'\n".to_vec(), b"[c]\nd = [1, 2]\n".to_vec()];
        let make = |seed| {
            let mut mutator = Mutator::new(Syntax::Toml, &pool, seed);
            (0..200).map(|_| mutator.next(&pool)).collect::<Vec<_>>()
        };
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let different: BTreeSet<_> = make(1).into_iter().collect();
        assert!(different.len() > 150, "{}", different.len());
    }

    #[test]
    fn an_empty_input_is_mutated_too() {
        let pool = vec![Vec::new()];
        let mut mutator = Mutator::new(Syntax::Text, &pool, 1);
        assert!((0..1000).any(|_| !mutator.next(&pool).is_empty()));
    }

    #[test]
    fn words_are_found_with_their_places() {
        let text = b"size = \"1.5GiB\" # x";
        let words: Vec<_> = tokens(text).into_iter().map(|it| &text[it]).collect();
        assert_eq!(words, [&b"size"[..], b"1.5GiB", b"x"]);
    }
}
