//! What phases need of the machine on which a run is planned, and that a guest does not have: its
//! root is the lab's image, in which there are the tools of file systems and nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where a guest finds the files that a study names by their content: the name of each is its
/// SHA-256. Folders of the host have no part in what a guest sees.
pub const INPUTS_FOLDER: &str = "/fslab/inputs";

/// What phases need of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brings {
    /// Programs, by the name by which they are found in PATH, or by an absolute path.
    pub programs: BTreeMap<String, ProgramNeed>,
    /// Files, by their absolute paths.
    pub files: BTreeMap<PathBuf, InputPlace>,
}

/// How much a program is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramNeed {
    /// Whether nothing runs without it; else it is brought where it is installed.
    pub is_required: bool,
    /// The package of Debian that has it, where that is known.
    pub package: Option<String>,
}

/// Where a guest has a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPlace {
    /// In [`INPUTS_FOLDER`], by the SHA-256 that the plan has; empty where the file could not be
    /// read when the plan was made.
    Content {
        /// 64 hexadecimal digits.
        sha256: String,
    },
    /// At the path that it has here.
    SamePath,
}

impl Brings {
    /// Whether there is nothing to be brought.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.files.is_empty()
    }

    /// Adds programs without which nothing runs: each a name and its package of Debian; no package
    /// where it is not known.
    #[must_use]
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

    /// Adds programs that are brought where they are installed.
    #[must_use]
    pub fn with_helpful<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        for name in names {
            self.programs.entry(name.into()).or_default();
        }
        self
    }

    /// Adds a file.
    #[must_use]
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

/// The path of the file of this SHA-256 in a guest; `None` where the text is none.
#[must_use]
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

    /// A plan may come from somebody else's store: its digest is a part of a path.
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
