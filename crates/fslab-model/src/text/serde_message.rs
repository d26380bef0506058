//! Messages of serde, in the words of the files that users write.

/// A message of serde, parsed.
pub(crate) enum Message<'a> {
    UnknownKey { key: &'a str, known: Vec<&'a str> },
    UnknownWord { word: &'a str, known: Vec<&'a str> },
    Missing { key: &'a str },
    WrongValue { found: &'a str, expected: &'a str },
    Other(&'a str),
}

impl<'a> Message<'a> {
    pub(crate) fn read(message: &'a str) -> Self {
        let found = ["invalid type: ", "invalid value: "];
        let found = found.iter().find_map(|start| message.strip_prefix(start));
        if let Some((found, expected)) = found.and_then(|rest| rest.rsplit_once(", expected ")) {
            return Self::WrongValue { found, expected };
        }
        let mut quoted = message.split('`').skip(1).step_by(2);
        let (first, known) = (quoted.next(), quoted.collect());
        match first {
            Some(key) if message.starts_with("unknown field") => Self::UnknownKey { key, known },
            Some(word) if message.starts_with("unknown variant") => {
                Self::UnknownWord { word, known }
            }
            Some(key) if message.starts_with("missing field") => Self::Missing { key },
            _ => Self::Other(message),
        }
    }
}

/// `'many' instead of an integer from 0 to 255`
pub(crate) fn wrong_value(found: &str, expected: &str) -> String {
    format!(
        "{} instead of {}",
        found_words(found),
        expected_words(expected)
    )
}

fn found_words(found: &str) -> String {
    let kind = found.split([' ', '`', '"']).next().unwrap_or_default();
    match kind {
        "string" => {
            let text = found.strip_prefix("string \"");
            let text = text.and_then(|text| text.strip_suffix('"'));
            text.map_or_else(|| "a string".to_owned(), |text| format!("'{text}'"))
        }
        "integer" | "floating" | "boolean" => {
            let value = found.split('`').nth(1);
            value.unwrap_or(found).to_owned()
        }
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit" => "nothing".to_owned(),
        _ => found.to_owned(),
    }
}

fn expected_words(expected: &str) -> &str {
    match expected {
        "u8" => "an integer from 0 to 255",
        "u16" => "an integer from 0 to 65535",
        "u32" => "an integer from 0 to 4294967295",
        "u64" | "usize" => "an integer, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "an integer",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "path string" => "a string",
        "a map" => "a table",
        "a sequence" => "a list",
        "string or map" => "a string or a table",
        "map with a single key" => "a table with one key",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_is_described_without_types_of_the_program() {
        for (message, expected) in [
            (
                "invalid type: string \"a, expected b\", expected u32",
                "'a, expected b' instead of an integer from 0 to 4294967295",
            ),
            (
                "invalid value: integer `-1`, expected u64",
                "-1 instead of an integer, 0 or more",
            ),
            (
                "invalid type: floating point `1.5`, expected usize",
                "1.5 instead of an integer, 0 or more",
            ),
            (
                "invalid type: boolean `true`, expected a string",
                "true instead of a string",
            ),
            (
                "invalid type: map, expected a sequence",
                "a table instead of a list",
            ),
            (
                "invalid type: sequence, expected struct Rounds",
                "a list instead of a table",
            ),
        ] {
            let Message::WrongValue {
                found,
                expected: wanted,
            } = Message::read(message)
            else {
                panic!("{message}");
            };
            assert_eq!(wrong_value(found, wanted), expected);
        }
    }
}
