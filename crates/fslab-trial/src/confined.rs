//! Keeps what a trial does to names in the tree of its subject: no symbolic link, whoever chose its
//! text, leads out of it.
//!
//! ```text
//!     Fence::build --> within(tree) --> Inside: paths as they are called there
//! ```
//!
//! What a trial formats, mounts, unmounts, counts and starts is outside.

use std::path::{Path, PathBuf};

use fslab_engine::RunContext;
use fslab_model::{Failure, FailureKind};
use fslab_sys::{ConfinedBy, Confinement, HostRoot};
use fslab_workload::RunError;

/// What keeps names in the tree.
pub(crate) enum Fence {
    /// Its own root.
    Root(HostRoot),
    /// Nothing, and why.
    Missing(String),
    /// Nothing, since no file is touched.
    NotNeeded,
}

/// A place that names do not lead out of.
pub(crate) struct Inside<'a> {
    tree: &'a Path,
    confinement: Option<&'a Confinement>,
}

impl Fence {
    /// Finds out what this process may do. To be called before it has a second thread.
    pub(crate) fn build() -> Self {
        match HostRoot::find() {
            Ok(host) => Self::Root(host),
            Err(error) => Self::Missing(error.to_string()),
        }
    }

    /// What the record says of it; `None` where there is nothing to say.
    pub(crate) fn fact(&self) -> Option<String> {
        Some(match self {
            Self::NotNeeded => return None,
            Self::Missing(reason) => format!("none: {reason}"),
            Self::Root(host) => match host.confined_by() {
                ConfinedBy::Privilege => "a root of its own".to_owned(),
                ConfinedBy::UserNamespace => "a root of its own, in a user namespace".to_owned(),
            },
        })
    }

    /// Whether nothing keeps names in the tree.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing(_))
    }

    /// Refuses a phase that may meet links that fslab has not chosen, where nothing keeps names in
    /// the tree.
    pub(crate) fn demand(&self, phase: &str) -> Result<(), Failure> {
        let Self::Missing(reason) = self else {
            return Ok(());
        };
        let text = format!(
            "cannot run the phase '{phase}': links that fslab has not chosen could lead out of the \
             file system, and this process may not give itself another root: {reason}"
        );
        Err(Failure::new(FailureKind::Permission, text).hint(
            "run it as root, or where users may make user namespaces (user.max_user_namespaces, \
             and in containers their seccomp profile), or in a guest: --venue guest, --venue sim",
        ))
    }

    /// Does `work` to what is below `tree`.
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
    /// What `path`, one in the tree, is called here.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        match (self.confinement, path.strip_prefix(self.tree)) {
            (Some(_), Ok(below)) => Path::new("/").join(below),
            _ => path.to_owned(),
        }
    }

    /// `context` for jobs that are run here.
    pub(crate) fn context(&self, context: &RunContext) -> RunContext {
        RunContext {
            root: self.path(&context.root),
            confinement: self.confinement.cloned(),
            ..context.clone()
        }
    }

    /// What a phase reports that failed here.
    pub(crate) fn failure(&self, error: RunError) -> Failure {
        // Programs are outside, and so are the paths in their words.
        let is_of_program = matches!(error, RunError::Program(_));
        let failure = Failure::from(error);
        if is_of_program {
            return failure;
        }
        self.seen_outside(failure)
    }

    /// `failure` with the paths as they are called outside, where its reader is.
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

/// `text` with `root` before each absolute path. Failures of jobs name no other paths than those of
/// the tree.
fn with_outer_paths(text: &str, root: &str) -> String {
    let mut outer = String::with_capacity(text.len() + root.len());
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let begins = letter == '/' && matches!(before, ' ' | '\'' | '"' | '(');
        let (_, rest) = text.split_at(at);
        if begins {
            outer.push_str(root);
        }
        // The tree itself is known by its name alone.
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
    fn failures_name_the_paths_of_those_who_read_them() {
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
            ("the folder '/a b/c'", "the folder '/mnt/x/a b/c'"),
        ] {
            assert_eq!(with_outer_paths(inside, "/mnt/x"), outside);
        }
    }

    #[test]
    fn where_nothing_keeps_names_in_the_tree_foreign_ones_are_refused_and_paths_stay() {
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
