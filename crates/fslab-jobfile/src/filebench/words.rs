//! The words and signs of a personality, each with its line.

use crate::problem::shown;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) line: u32,
    pub(super) text: String,
    /// A text between quotes.
    pub(super) is_quoted: bool,
}

/// Limit of words.
const WORDS_MAX: usize = 100_000;

/// The words of `text`; the error has the line.
pub(super) fn words(text: &str) -> Result<Vec<Word>, (u32, String)> {
    let mut words = Vec::new();
    for (line, text) in (1_u32..).zip(text.lines()) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (taken, is_quoted) = match first {
                '#' => break,
                c if c.is_whitespace() => {
                    rest = &rest[c.len_utf8()..];
                    continue;
                }
                '"' => match rest[1..].find('"') {
                    Some(end) => (end + 2, true),
                    None => return Err((line, "a text without its closing quote".into())),
                },
                '{' | '}' | '(' | ')' | '=' | ',' | '*' | '+' => (1, false),
                c if is_part(c) => (rest.find(|c| !is_part(c)).unwrap_or(rest.len()), false),
                c => {
                    return Err((
                        line,
                        format!("'{}' is no sign of the language", c.escape_debug()),
                    ));
                }
            };
            let (word, after) = rest.split_at(taken);
            if words.len() == WORDS_MAX {
                return Err((line, format!("more than {WORDS_MAX} words")));
            }
            words.push(Word {
                line,
                text: word.trim_matches('"').to_owned(),
                is_quoted,
            });
            rest = after;
        }
    }
    Ok(words)
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$./:;-".contains(c)
}

/// A number with `k`, `m` or `g` as filebench reads them.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{}' is no number", shown(text));
    let (digits, shift) = match text.char_indices().last() {
        Some((end, 'k')) => (&text[..end], 10),
        Some((end, 'm')) => (&text[..end], 20),
        Some((end, 'g')) => (&text[..end], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    match number.checked_mul(1 << shift).filter(|it| *it <= 1 << 60) {
        Some(number) => Ok(number),
        None => Err(format!("{} is too large", shown(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_signs_and_texts_have_their_lines_and_comments_have_none() {
        let words = words("set $n=4k # no\necho \"a b\"\n").expect("words");
        let seen: Vec<_> = words.iter().map(|it| (it.line, it.text.as_str())).collect();
        let wanted = [
            (1, "set"),
            (1, "$n"),
            (1, "="),
            (1, "4k"),
            (2, "echo"),
            (2, "a b"),
        ];
        assert_eq!(seen, wanted);
        assert!(words[5].is_quoted);
        assert!(super::words("echo \"x").is_err() && super::words("a % b").is_err());
    }

    #[test]
    fn numbers_have_binary_units() {
        assert_eq!(number("16k"), Ok(16 << 10));
        assert_eq!((number("2m"), number("1g")), (Ok(2 << 20), Ok(1 << 30)));
        for bad in ["", "k", "-1", "1t", "99999999999g", "1.5k"] {
            assert!(number(bad).is_err(), "{bad}");
        }
    }
}
