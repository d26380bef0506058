//! Confines a trial's phases to the tree of its subject: no symbolic link leads out of it.
//!
//! ```text
//!     Fence::build --> within(tree) --> Inside: paths as seen in the tree
//! ```
//!
//! Formatting, mounting, counting and external programs run outside.

use std::path::{Path, PathBuf};

use fslab_engine::RunContext;
use fslab_model::{Failure, FailureKind};
use fslab_sys::{ConfinedBy, Confinement, HostRoot};
use fslab_workload::RunError;

/// How phases are confined.
pub(crate) enum Fence {
    /// By a separate root.
    Root(HostRoot),
    /// Not at all, with the reason.
    Missing(String),
    /// Not needed, since no file is accessed.
    NotNeeded,
}

/// A tree that paths cannot leave.
pub(crate) struct Inside<'a> {
    tree: &'a Path,
    confinement: Option<&'a Confinement>,
}

impl Fence {
    /// Determines how this process can confine threads. Must be called before a second thread
    /// starts.
    pub(crate) fn build() -> Self {
        match HostRoot::find() {
            Ok(host) => Self::Root(host),
            Err(error) => Self::Missing(error.to_string()),
        }
    }

    /// Text for the record; `None` if confinement is not needed.
    pub(crate) fn fact(&self) -> Option<String> {
        Some(match self {
            Self::NotNeeded => return None,
            Self::Missing(reason) => format!("none: {reason}"),
            Self::Root(host) => match host.confined_by() {
                ConfinedBy::Privilege => "a separate root".to_owned(),
                ConfinedBy::UserNamespace => "a separate root, in a user namespace".to_owned(),
            },
        })
    }

    /// True if phases cannot be confined.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing(_))
    }

    /// Refuses a phase that may meet links not made by fslab, if phases cannot be confined.
    pub(crate) fn demand(&self, phase: &str) -> Result<(), Failure> {
        let Self::Missing(reason) = self else {
            return Ok(());
        };
        let text = format!(
            "cannot run the phase '{phase}': links that fslab did not choose could lead out of the \
             file system, and this process cannot change its root: {reason}"
        );
        Err(Failure::new(FailureKind::Permission, text).hint(
            "run it as root, or allow user namespaces (user.max_user_namespaces, and the seccomp \
             profile of containers), or use a guest: --venue guest, --venue sim",
        ))
    }

    /// Runs `work` confined to `tree`.
    pub(crate) fn within<T>(
        &self,
        tree: &Path,
        work: impl FnOnce(&Inside<'_>) -> T,
    ) -> Result<T, Failure> {
        let Self::Root(host) = self else {
            return Ok(work(&Inside {
                tree,
                confinement: None,
            }));
        };
        let confined = host.confine(tree, |confinement| {
            work(&Inside {
                tree,
                confinement: Some(confinement),
            })
        });
        confined.map_err(|error| {
            let text = format!("cannot make {} the root of a phase", tree.display());
            Failure::new(FailureKind::Io, text).because(&error)
        })
    }
}

impl Inside<'_> {
    /// The inside path of `path`, which is in the tree.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        match (self.confinement, path.strip_prefix(self.tree)) {
            (Some(_), Ok(below)) => Path::new("/").join(below),
            _ => path.to_owned(),
        }
    }

    /// `context` with inside paths.
    pub(crate) fn context(&self, context: &RunContext) -> RunContext {
        RunContext {
            root: self.path(&context.root),
            confinement: self.confinement.cloned(),
            ..context.clone()
        }
    }

    /// The failure of a phase that ran inside.
    pub(crate) fn failure(&self, error: RunError) -> Failure {
        // Programs run outside, and their messages have outside paths.
        let is_of_program = matches!(error, RunError::Program(_));
        let failure = Failure::from(error);
        if is_of_program {
            return failure;
        }
        self.seen_outside(failure)
    }

    /// `failure` with outside paths, for its reader.
    pub(crate) fn seen_outside(&self, mut failure: Failure) -> Failure {
        if let Some(confinement) = self.confinement {
            let root = confinement.outer_path(Path::new("/"));
            let root = root.to_string_lossy();
            let root = root.trim_end_matches('/');
            for text in std::iter::once(&mut failure.message).chain(&mut failure.causes) {
                *text = with_outer_paths(text, root);
            }
        }
        failure
    }
}

/// Inserts `root` before each absolute path in `text`. Failures of jobs only name paths in the
/// tree.
fn with_outer_paths(text: &str, root: &str) -> String {
    let mut outer = String::with_capacity(text.len() + root.len());
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let begins = letter == '/' && matches!(before, ' ' | '\'' | '"' | '(');
        let (_, rest) = text.split_at(at);
        if begins {
            outer.push_str(root);
        }
        // The tree itself gets no trailing slash.
        let is_root = begins && !rest[1..].starts_with(|it: char| !" ':;,)\"".contains(it));
        if !is_root {
            outer.push(letter);
        }
        before = letter;
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_outside_paths() {
        for (inside, outside) in [
            ("cannot open /a/b", "cannot open /mnt/x/a/b"),
            (
                "cannot rename /a to /b: EIO",
                "cannot rename /mnt/x/a to /mnt/x/b: EIO",
            ),
            ("cannot sync /", "cannot sync /mnt/x"),
            (
                "/a has 1/2 of it and/or less",
                "/mnt/x/a has 1/2 of it and/or less",
            ),
            ("the directory '/a b/c'", "the directory '/mnt/x/a b/c'"),
        ] {
            assert_eq!(with_outer_paths(inside, "/mnt/x"), outside);
        }
    }

    #[test]
    fn without_confinement_phases_with_foreign_names_are_refused_and_paths_stay() {
        let fence = Fence::Missing("EPERM".into());
        assert_eq!(fence.fact().as_deref(), Some("none: EPERM"));
        let refused = fence.demand("replay").expect_err("refused");
        assert_eq!(refused.kind, FailureKind::Permission);
        assert!(refused.message.contains("'replay'"), "{refused}");
        let path = fence.within(Path::new("/x"), |inside| inside.path(Path::new("/x/y")));
        assert_eq!(path.expect("works"), Path::new("/x/y"));
        assert!(Fence::NotNeeded.demand("replay").is_ok());
    }
}
