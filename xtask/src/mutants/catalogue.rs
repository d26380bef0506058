//! The planted faults, as `tests/mutants/mutants.toml` lists them, and what explains the reports on
//! the unchanged kernel.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::exact::cannot;

/// Where the faults are, from the root of the workspace.
const FOLDER: &str = "tests/mutants";

/// A planted fault: the patch of its name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Mutant {
    pub(crate) name: String,
    /// The subjects in which it must be found.
    pub(crate) subjects: Vec<String>,
    /// What is broken.
    pub(crate) fault: String,
    /// A built-in study, or a file of this directory.
    pub(crate) study: String,
    /// The phase that is judged; all of them if it is missing.
    pub(crate) phase: Option<String>,
    /// Whether the disk is judged as one whose cache is volatile or durable; as it is if missing.
    pub(crate) cache: Option<String>,
    /// What must break: one of these.
    pub(crate) breaks: Vec<String>,
    /// True if the fault is in the recovery: then the unchanged kernel records and it judges.
    #[serde(default)]
    pub(crate) judges: bool,
    /// Of a fix that is reverted, the commit and its address.
    pub(crate) reverts: Option<String>,
}

/// Why the unchanged kernel breaks promises.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explained {
    subject: String,
    breaks: Vec<String>,
    /// The document's part that explains it.
    #[expect(dead_code, reason = "for readers of the file")]
    reason: String,
}

/// All of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Catalogue {
    #[serde(skip)]
    folder: PathBuf,
    pub(crate) mutant: Vec<Mutant>,
    #[serde(default)]
    explained: Vec<Explained>,
}

impl Catalogue {
    /// Reads the catalogue of the workspace in `root`.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let folder = root.join(FOLDER);
        let path = folder.join("mutants.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| cannot("read", &path, &error))?;
        let mut read: Self =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        read.folder = folder;
        Ok(read)
    }

    /// The faults with these names, in the catalogue's order; all if there is no name.
    pub(crate) fn chosen(&self, names: &[String]) -> Result<Vec<&Mutant>, String> {
        let known: BTreeSet<&str> = self.mutant.iter().map(|it| it.name.as_str()).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
            return Err(format!("no fault {name}; --list shows them"));
        }
        let is_chosen = |it: &&Mutant| names.is_empty() || names.contains(&it.name);
        Ok(self.mutant.iter().filter(is_chosen).collect())
    }

    /// The patch of a fault.
    pub(crate) fn patch(&self, mutant: &Mutant) -> PathBuf {
        self.folder.join(format!("{}.patch", mutant.name))
    }

    /// What follows `--study` for a fault.
    pub(crate) fn study(&self, mutant: &Mutant) -> String {
        match mutant.study.ends_with(".toml") {
            true => self.folder.join(&mutant.study).display().to_string(),
            false => mutant.study.clone(),
        }
    }

    /// True if it is explained that the unchanged kernel breaks this promise.
    pub(crate) fn is_explained(&self, subject: &str, promise: &str) -> bool {
        let mut explained = self.explained.iter();
        explained.any(|it| it.subject == subject && it.breaks.iter().any(|one| one == promise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        Catalogue::read(here.parent().expect("the root")).expect("right")
    }

    #[test]
    fn every_patch_is_in_the_catalogue_and_every_fault_has_one() {
        let catalogue = catalogue();
        let listed = catalogue.folder.read_dir().expect("listed");
        let files = listed.map(|entry| entry.expect("read").path());
        let mut patches: Vec<PathBuf> = files
            .filter(|path| path.extension().is_some_and(|end| end == "patch"))
            .collect();
        let mut named: Vec<PathBuf> = catalogue
            .mutant
            .iter()
            .map(|it| catalogue.patch(it))
            .collect();
        patches.sort();
        named.sort();
        assert_eq!(patches, named);
    }

    #[test]
    fn a_fault_says_what_it_breaks_and_a_reverted_fix_where_it_is() {
        for mutant in &catalogue().mutant {
            assert!(
                !mutant.breaks.is_empty() && !mutant.subjects.is_empty(),
                "{mutant:?}"
            );
            assert!(mutant.fault.ends_with('.'), "{mutant:?}");
            let reverts = mutant.reverts.as_ref();
            assert!(
                reverts.is_none_or(|it| it.contains("https://")),
                "{mutant:?}"
            );
        }
    }

    #[test]
    fn names_choose_and_a_wrong_one_is_an_error() {
        let catalogue = catalogue();
        let first = catalogue.mutant[0].name.clone();
        let chosen = catalogue
            .chosen(std::slice::from_ref(&first))
            .expect("known");
        assert_eq!(chosen.len(), 1);
        assert_eq!(chosen[0].name, first);
        assert_eq!(
            catalogue.chosen(&[]).expect("all").len(),
            catalogue.mutant.len()
        );
        assert!(catalogue.chosen(&["none".into()]).is_err());
    }
}
