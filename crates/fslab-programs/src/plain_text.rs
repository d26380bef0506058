//! Paths without characters that make, a shell or a server's configuration interprets.
//!
//! Quoting differs between them, and nginx cannot quote `$`. So the plain characters are listed,
//! and a path with any other is refused.

use std::path::Path;

/// Plain characters besides letters and digits.
const PLAIN: &str = "/._-+@=,:~ ";

/// The text of `path`.
pub(crate) fn plain_text(path: &Path) -> Result<&str, String> {
    let shown = || path.display().to_string().escape_debug().to_string();
    let Some(text) = path.to_str() else {
        return Err(format!("the path '{}' is not UTF-8", shown()));
    };
    let is_plain = |character: char| character.is_alphanumeric() || PLAIN.contains(character);
    match text.chars().find(|character| !is_plain(*character)) {
        None => Ok(text),
        Some(found) => Err(format!(
            "the path '{}' has the character {found:?}, which a configuration cannot hold; letters, \
             digits, blanks and any of {} are plain",
            shown(),
            PLAIN.trim_end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_unchanged_and_those_with_special_characters_are_refused() {
        for plain in ["/mnt/a b/w-1_2.d", "Größe/web", "a+b@c=d,e:f~"] {
            assert_eq!(plain_text(Path::new(plain)), Ok(plain));
        }
        for character in "\"'`$\\;#%|&<>(){}[]*?!^\n\t\u{0}\u{202e}\u{a0}".chars() {
            let path = format!("/a{character}b");
            assert!(plain_text(Path::new(&path)).is_err(), "{character:?}");
        }
    }
}
