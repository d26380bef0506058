//! Parses the machine's package sources and adds backports; for a private copy.
//!
//! Pure functions over the two formats of sources.list(5). No server is hard-coded: backports are
//! on the servers of the machine's main suite.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// From a `.list` file: `deb [options] uri suite components`.
    Line {
        /// With the brackets, or empty.
        options: String,
        uri: String,
        suite: String,
        components: Vec<String>,
    },
    /// From a `.sources` file: fields with values of one or more lines.
    Stanza(Vec<(String, String)>),
}

impl Entry {
    /// True if it has the component main of `suite`.
    fn is_main_of(&self, suite: &str) -> bool {
        match self {
            Self::Line {
                suite: found,
                components,
                ..
            } => found == suite && components.iter().any(|name| name == "main"),
            Self::Stanza(fields) => {
                has_word(fields, "Suites", suite) && has_word(fields, "Components", "main")
            }
        }
    }

    /// The same servers with another suite, main alone.
    fn with_suite(&self, suite: &str) -> Self {
        match self {
            Self::Line { options, uri, .. } => Self::Line {
                options: options.clone(),
                uri: uri.clone(),
                suite: suite.to_owned(),
                components: vec!["main".to_owned()],
            },
            Self::Stanza(fields) => {
                let mut fields = fields.clone();
                for (name, value) in &mut fields {
                    if name.eq_ignore_ascii_case("Suites") {
                        suite.clone_into(value);
                    } else if name.eq_ignore_ascii_case("Components") {
                        "main".clone_into(value);
                    }
                }
                Self::Stanza(fields)
            }
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line {
                options,
                uri,
                suite,
                components,
            } => writeln!(f, "deb {options} {uri} {suite} {}", components.join(" ")),
            Self::Stanza(fields) => {
                for (name, value) in fields {
                    writeln!(f, "{name}: {value}")?;
                }
                writeln!(f)
            }
        }
    }
}

/// The binary entries of a `.list` file, without CD-ROMs.
pub(super) fn parse_list(text: &str) -> Vec<Entry> {
    let without_comment = |line| str::split(line, '#').next().unwrap_or_default().trim();
    text.lines()
        .map(without_comment)
        .filter_map(parse_line)
        .collect()
}

fn parse_line(line: &str) -> Option<Entry> {
    let rest = line.strip_prefix("deb")?;
    // `deb-src` has no blank after `deb`.
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.find(']') {
        Some(end) if rest.starts_with('[') => rest.split_at(end + 1),
        _ => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    let (uri, suite) = (words.next()?, words.next()?);
    // A CD-ROM would have to be inserted.
    (!uri.starts_with("cdrom:")).then(|| Entry::Line {
        options: options.to_owned(),
        uri,
        suite,
        components: words.collect(),
    })
}

/// The enabled binary entries of a `.sources` file.
pub(super) fn parse_stanzas(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            entries.extend(stanza(std::mem::take(&mut fields)));
        } else if line.starts_with([' ', '\t']) {
            // An inline key continues over several lines.
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.to_owned(), value.trim().to_owned()));
        }
    }
    entries
}

fn stanza(mut fields: Vec<(String, String)>) -> Option<Entry> {
    let is_off = ["no", "false", "without", "off", "disable", "0"]
        .iter()
        .any(|word| has_word(&fields, "Enabled", word));
    if is_off || !has_word(&fields, "Types", "deb") {
        return None;
    }
    for (name, value) in &mut fields {
        // Lists of source packages are not needed.
        if name.eq_ignore_ascii_case("Types") {
            "deb".clone_into(value);
        }
    }
    Some(Entry::Stanza(fields))
}

fn has_word(fields: &[(String, String)], name: &str, word: &str) -> bool {
    fields
        .iter()
        .filter(|(found, _)| found.eq_ignore_ascii_case(name))
        .any(|(_, value)| value.split_whitespace().any(|found| found == word))
}

/// A backports entry for each entry of the distribution's main archive; none if backports are
/// configured already.
pub(super) fn backports(entries: &[Entry], codename: &str) -> Vec<Entry> {
    let suite = format!("{codename}-backports");
    if entries.iter().any(|entry| entry.is_main_of(&suite)) {
        return Vec::new();
    }
    let mut added = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_main_of(codename)) {
        let backports = entry.with_suite(&suite);
        if !added.contains(&backports) {
            added.push(backports);
        }
    }
    added
}

/// The release's codename from os-release(5).
pub(super) fn codename(os_release: &str) -> Option<&str> {
    let value = os_release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(value.trim_matches(['"', '\''])).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
# deb http://a.example/debian bookworm main
deb http://a.example/debian bookworm main contrib # as installed
deb-src http://a.example/debian bookworm main
deb [arch=amd64 signed-by=/k.asc] https://b.example/x bookworm extra
deb cdrom:[Debian 12]/ bookworm main

debhelper is no entry
";

    const SOURCES: &str = "\
# One comment
Types: deb deb-src
URIs: http://a.example/debian
 http://b.example/debian
suites: bookworm bookworm-updates
# another
Components: main non-free-firmware
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 aaaa

Types: deb
Enabled: no
URIs: http://c.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://d.example/debian
Suites: bookworm
Components: main
";

    fn printed(entries: &[Entry]) -> String {
        entries.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn entries_of_a_list_are_read_without_comments_sources_and_discs() {
        assert_eq!(
            printed(&parse_list(LIST)),
            "deb  http://a.example/debian bookworm main contrib\n\
             deb [arch=amd64 signed-by=/k.asc] https://b.example/x bookworm extra\n"
        );
    }

    #[test]
    fn the_main_archive_of_a_list_gets_backports_with_its_options() {
        let entries = parse_list("deb [trusted=yes] http://a.example/debian bookworm main contrib");
        assert_eq!(
            printed(&backports(&entries, "bookworm")),
            "deb [trusted=yes] http://a.example/debian bookworm-backports main\n"
        );
        assert!(backports(&entries, "trixie").is_empty());
        assert_eq!(backports(&parse_list(LIST), "bookworm").len(), 1);
    }

    #[test]
    fn stanzas_are_read_with_their_long_values_and_without_what_is_off() {
        assert_eq!(
            printed(&parse_stanzas(SOURCES)),
            "Types: deb\nURIs: http://a.example/debian\n http://b.example/debian\n\
             suites: bookworm bookworm-updates\nComponents: main non-free-firmware\n\
             Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n aaaa\n\n"
        );
    }

    #[test]
    fn the_main_archive_of_a_stanza_gets_backports_with_its_servers_and_keys() {
        assert_eq!(
            printed(&backports(&parse_stanzas(SOURCES), "bookworm")),
            "Types: deb\nURIs: http://a.example/debian\n http://b.example/debian\n\
             suites: bookworm-backports\nComponents: main\n\
             Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n aaaa\n\n"
        );
    }

    #[test]
    fn backports_are_added_once_and_not_if_they_are_configured() {
        let line = "deb http://a.example/debian bookworm main\n";
        let twice = parse_list(&[line, line].concat());
        assert_eq!(backports(&twice, "bookworm").len(), 1);
        let there = "deb http://b.example/debian bookworm-backports main contrib\n";
        let there = parse_list(&[line, there].concat());
        assert!(backports(&there, "bookworm").is_empty());
    }

    #[test]
    fn the_codename_is_read_with_and_without_quotes() {
        let read = |text| codename(text);
        assert_eq!(
            read("ID=debian\nVERSION_CODENAME=bookworm\n"),
            Some("bookworm")
        );
        assert_eq!(read("VERSION_CODENAME=\"noble\""), Some("noble"));
        assert_eq!(read("ID=arch\n"), None);
    }
}
