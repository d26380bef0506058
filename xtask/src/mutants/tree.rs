//! The kernel's source: unpacked once, with the patches of one kernel at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exact::cannot;

/// A tree beside which lies what is applied to it, as one patch.
pub(crate) struct KernelTree {
    pub(crate) folder: PathBuf,
    applied: PathBuf,
}

impl KernelTree {
    /// The tree below `work`; what an interrupted run left in it is taken back.
    pub(crate) fn open(work: &Path) -> Result<Self, String> {
        let tree = Self {
            folder: work.join("source"),
            applied: work.join("applied.patch"),
        };
        if tree.applied.exists() {
            tree.revert()?;
        }
        Ok(tree)
    }

    /// Applies patches, all or none.
    pub(crate) fn apply(&self, patches: &[PathBuf]) -> Result<(), String> {
        let mut all = String::new();
        for patch in patches {
            all += &fs::read_to_string(patch).map_err(|error| cannot("read", patch, &error))?;
        }
        fs::write(&self.applied, all).map_err(|error| cannot("write", &self.applied, &error))?;
        if let Err(why) = self.patch(&["--dry-run"]) {
            self.forget()?;
            let names: Vec<_> = patches.iter().map(|it| it.display().to_string()).collect();
            return Err(format!("{} do not apply: {why}", names.join(", ")));
        }
        self.patch(&[])
    }

    /// Takes back what was applied.
    pub(crate) fn revert(&self) -> Result<(), String> {
        // An interrupted run may not have come to apply it.
        if self.patch(&["--reverse", "--dry-run"]).is_ok() {
            self.patch(&["--reverse"])?;
        }
        self.forget()
    }

    fn forget(&self) -> Result<(), String> {
        fs::remove_file(&self.applied).map_err(|error| cannot("remove", &self.applied, &error))
    }

    fn patch(&self, words: &[&str]) -> Result<(), String> {
        let mut patch = Command::new("patch");
        patch.args([
            "--strip=1",
            "--batch",
            "--no-backup-if-mismatch",
            "--fuzz=0",
        ]);
        if !words.contains(&"--reverse") {
            patch.arg("--forward");
        }
        patch.args(words).arg("--directory").arg(&self.folder);
        patch.arg("--input").arg(&self.applied);
        let output = patch
            .output()
            .map_err(|error| format!("cannot start patch: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "--- a/f.c\n+++ b/f.c\n@@ -1,2 +1,2 @@\n-int a;\n+int b;\n int c;\n";

    #[test]
    fn a_patch_that_an_interrupted_run_left_is_taken_back() {
        let work = std::env::temp_dir().join(format!("xtask-tree-{}", std::process::id()));
        let (source, patch) = (work.join("source/f.c"), work.join("one.patch"));
        fs::create_dir_all(work.join("source")).expect("made");
        fs::write(&source, "int a;\nint c;\n").expect("written");
        fs::write(&patch, PATCH).expect("written");
        let text = || fs::read_to_string(&source).expect("read");
        let tree = KernelTree::open(&work).expect("opened");
        tree.apply(std::slice::from_ref(&patch)).expect("applies");
        assert_eq!(text(), "int b;\nint c;\n");
        let tree = KernelTree::open(&work).expect("opened again");
        assert_eq!(text(), "int a;\nint c;\n");
        fs::write(&source, "int d;\n").expect("written");
        let refused = tree.apply(&[patch]).expect_err("does not apply");
        assert!(refused.contains("one.patch do not apply"), "{refused}");
        assert!(!work.join("applied.patch").exists());
        fs::remove_dir_all(&work).expect("removed");
    }
}
