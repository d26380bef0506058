//! A command of a study: a list of words, or a text for the shell.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shell of texts.
const SHELL: &str = "/bin/sh";

/// A command of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it must be a list of words, or a text for the shell"
)]
pub(crate) enum Script {
    /// A program and its arguments, without a shell.
    Words(Vec<String>),
    /// An argument of `sh -c`.
    Text(String),
}

impl Script {
    /// The program `true`.
    pub(crate) fn nothing() -> Self {
        Self::Words(vec!["true".to_owned()])
    }

    /// Validates the command; `name` is the parameter's name.
    pub(crate) fn validate(&self, name: &str) -> Result<(), String> {
        let (is_empty, has_nul) = match self {
            Self::Words(words) => (
                words.first().is_none_or(String::is_empty),
                words.iter().any(|word| word.contains('\0')),
            ),
            Self::Text(text) => (text.trim().is_empty(), text.contains('\0')),
        };
        if is_empty {
            return Err(format!("{name} = {self:?}; it names no program"));
        }
        if has_nul {
            return Err(format!("{name} with a NUL character in it"));
        }
        Ok(())
    }

    /// Program and arguments.
    pub(crate) fn words(&self) -> Vec<String> {
        match self {
            Self::Words(words) => words.clone(),
            Self::Text(text) => [SHELL, "-c", text].map(str::to_owned).into(),
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(&line(words)),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The words quoted for a shell.
pub(crate) fn line(words: &[String]) -> String {
    let is_plain = |word: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "+-./:=@_,".contains(c);
        !word.is_empty() && word.chars().all(plain)
    };
    let quoted = words.iter().map(|word| match is_plain(word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_program_and_a_text_is_for_the_shell() {
        let read = |text: &str| serde_json::from_str::<Script>(text).expect("a script");
        let words = read(r#"["cp", "a b", "it's"]"#);
        assert_eq!(words.words(), ["cp", "a b", "it's"]);
        assert_eq!(words.to_string(), r"cp 'a b' 'it'\''s'");
        let text = read(r#""cd x && make""#);
        assert_eq!(text.words(), ["/bin/sh", "-c", "cd x && make"]);
        for bad in ["[]", r#"[""]"#, r#""  ""#] {
            assert!(read(bad).validate("argv").is_err(), "{bad}");
        }
        assert!(words.validate("argv").is_ok() && text.validate("argv").is_ok());
    }
}
