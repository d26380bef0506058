//! What phases need from the machine that plans a run and a guest lacks: its root is the lab's
//! image, which has only the tools of file systems.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The guest's directory of files that a study names by content: each is named by its SHA-256. A
/// guest sees no directories of the host.
pub const INPUTS_FOLDER: &str = "/fslab/inputs";

/// What phases need from the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brings {
    /// Programs, by name in PATH or by absolute path.
    pub programs: BTreeMap<String, ProgramNeed>,
    /// Files, by their absolute paths.
    pub files: BTreeMap<PathBuf, InputPlace>,
}

/// The need for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramNeed {
    /// Whether the phase needs it to run; otherwise it is brought if installed.
    pub is_required: bool,
    /// The Debian package that has it, if known.
    pub package: Option<String>,
}

/// The place of a file in a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPlace {
    /// In [`INPUTS_FOLDER`], named by the SHA-256 in the plan; empty if the file could not be read
    /// when the plan was made.
    Content {
        /// 64 hexadecimal digits.
        sha256: String,
    },
    /// At its path on the host.
    SamePath,
}

impl Brings {
    /// True if nothing has to be brought.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.files.is_empty()
    }

    /// Adds required programs: name and Debian package, which may be empty.
    pub fn with_required(mut self, programs: &[(&str, &str)]) -> Self {
        for (name, package) in programs {
            let need = self.programs.entry((*name).to_owned()).or_default();
            need.is_required = true;
            if !package.is_empty() {
                need.package = Some((*package).to_owned());
            }
        }
        self
    }

    /// Adds programs that are brought if installed.
    pub fn with_helpful<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        for name in names {
            self.programs.entry(name.into()).or_default();
        }
        self
    }

    /// Adds a file.
    pub fn with_file(mut self, path: PathBuf, place: InputPlace) -> Self {
        self.files.insert(path, place);
        self
    }

    /// Adds all of `other`. What either requires is required.
    pub fn merge(&mut self, other: Self) {
        for (name, need) in other.programs {
            let known = self.programs.entry(name).or_default();
            known.is_required |= need.is_required;
            known.package = known.package.take().or(need.package);
        }
        self.files.extend(other.files);
    }
}

/// The path in a guest of the file with this SHA-256; `None` if the text is not one.
pub fn input_path(sha256: &str) -> Option<PathBuf> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_digest = sha256.len() == 64 && sha256.bytes().all(is_digit);
    is_digest.then(|| Path::new(INPUTS_FOLDER).join(sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_either_requires_is_required_and_packages_are_kept() {
        let mut both = Brings::default().with_helpful(["cc", "sed"]);
        both.merge(Brings::default().with_required(&[("cc", "gcc")]));
        both.merge(Brings::default().with_helpful(["cc"]));
        let need = &both.programs["cc"];
        assert!(need.is_required);
        assert_eq!(need.package.as_deref(), Some("gcc"));
        assert!(!both.programs["sed"].is_required);
    }

    /// A plan may come from another user's store, and its digest is part of a path.
    #[test]
    fn only_a_digest_names_an_input() {
        let digest = "0123456789abcdef".repeat(4);
        let path = input_path(&digest).expect("a digest");
        assert_eq!(path, Path::new(INPUTS_FOLDER).join(&digest));
        for bad in ["", "../../etc/passwd", &digest[1..], &digest.to_uppercase()] {
            assert_eq!(input_path(bad), None, "{bad}");
        }
    }
}
