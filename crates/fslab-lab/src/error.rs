//! Errors of building, finding and importing labs.

use std::io;
use std::path::{Path, PathBuf};

use fslab_model::{Bytes, Failure, FailureKind, did_you_mean};

use crate::tools::{self, BuildTool};

/// An error of building, finding or importing a lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No such name or key in the cache.
    #[error("there is no lab '{name}'")]
    NotBuilt {
        /// The name or key asked for.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// An invalid name.
    #[error("cannot name a lab '{name}': {reason}")]
    BadName {
        /// The text.
        name: String,
        /// A fragment.
        reason: &'static str,
    },
    /// A path without a kernel source.
    #[error("cannot build a kernel from {path}: {reason}", path = .path.display())]
    BadSource {
        path: PathBuf,
        /// A fragment.
        reason: String,
    },
    /// make refuses a tree that has build output in it.
    #[error("cannot build a kernel from {tree}: it holds the files of another build",
            tree = .tree.display())]
    TreeNotClean { tree: PathBuf },
    /// Programs that the build needs are missing.
    #[error("cannot build a kernel without {}", programs(.0))]
    MissingTools(Vec<BuildTool>),
    /// No apt, or none of its sources has the package.
    #[error("cannot get Debian's {package}")]
    NoPackage {
        package: String,
        /// apt's errors, or what is missing.
        reasons: Vec<String>,
    },
    /// dpkg-query fails.
    #[error("cannot list the installed packages: dpkg-query {reason}")]
    Packages {
        /// A fragment.
        reason: String,
    },
    /// Some configuration lines had no effect.
    #[error("the kernel's source ignores these configuration lines: {}",
            .0.join(", "))]
    ConfigRefused(Vec<String>),
    /// Edits of Debian's source do not match.
    #[error("these edits do not match the kernel's source: {}", .0.join("; "))]
    EditsRefused(Vec<String>),
    /// A program failed.
    #[error("cannot {task}: {program} ended with {status}")]
    Failed {
        /// `compile the kernel`.
        task: &'static str,
        /// Name of the program.
        program: String,
        /// Its exit status, or the signal that ended it.
        status: String,
        /// Its error lines.
        said: Vec<String>,
        /// Its complete output.
        log: PathBuf,
    },
    /// The new kernel reports another release than was built.
    #[error("the new kernel reports the release '{found}' instead of '{release}'")]
    WrongRelease {
        /// The release by make.
        release: String,
        /// The release by the kernel.
        found: String,
    },
    /// Too little space for source and build.
    #[error("a build takes {needed} in {folder}, but only {available} are free",
            folder = .folder.display())]
    NoRoom {
        /// The directory.
        folder: PathBuf,
        /// Bytes needed, with a margin.
        needed: Bytes,
        /// Bytes free.
        available: Bytes,
    },
    /// Another process is building in this cache.
    #[error("another fslab is building a kernel")]
    Busy,
    /// Guests cannot run on this machine.
    #[error("guests cannot run on this machine: {0}")]
    NotHere(String),
    /// The build was stopped on request.
    #[error("the build was stopped on request")]
    Interrupted,
    /// A damaged description, or one of another version.
    #[error("cannot use the kernel described by {path}: {reason}", path = .path.display())]
    Unreadable {
        /// The description.
        path: PathBuf,
        /// A fragment.
        reason: String,
    },
    /// A file that an image cannot hold.
    #[error("cannot put {path} into an image: {reason}", path = .path.display())]
    BadTree {
        /// Its path in the guest.
        path: PathBuf,
        /// A fragment.
        reason: &'static str,
    },
    /// A kernel of an older fslab, without a root image.
    #[error("the lab '{name}' has no root image")]
    NoRoot {
        /// The name asked for.
        name: String,
    },
    /// The program that guests run was not installed, or cannot be read.
    #[error("cannot find the program that guests run")]
    NoGuestProgram(#[source] io::Error),
    /// The program that guests run cannot start in a lab.
    #[error("fslab-guest does not run in the lab '{lab}': {reason}")]
    CannotRun {
        /// The lab's name.
        lab: String,
        /// A fragment.
        reason: String,
    },
    /// A file that is no exported lab, or a damaged one.
    #[error("cannot import a lab from {path}: {reason}", path = .path.display())]
    BadArchive {
        /// The file.
        path: PathBuf,
        /// A fragment.
        reason: String,
    },
    /// A damaged program or library.
    #[error("cannot take {path} into a lab: {reason}", path = .path.display())]
    BadProgram {
        /// The file.
        path: PathBuf,
        /// A fragment.
        reason: String,
    },
    /// An error on a file of the cache or of the source.
    #[error("cannot {operation} {path}", path = .path.display())]
    Io {
        /// `read`, `write`, `make`, `remove`, `start`.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl LabError {
    /// A hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotBuilt { name, .. } if name == "default" => {
                Some("build it with fslab lab build, in about 5 minutes".to_owned())
            }
            Self::NotBuilt { nearest, known, .. } => {
                Some(not_built_hint(nearest.as_deref(), known))
            }
            Self::TreeNotClean { tree } => {
                let tree = tree.display();
                Some(format!(
                    "clean it: make -C {tree} mrproper; make -C {tree} ARCH=um mrproper"
                ))
            }
            Self::MissingTools(tools) => Some(tools::install_hint(tools)),
            Self::NoPackage { .. } => {
                Some("use a kernel source tree or tarball with --source instead".to_owned())
            }
            Self::Failed { log, .. } => Some(format!("the full log is in {}", log.display())),
            Self::NoRoom { .. } => Some(
                "kernels are kept below XDG_CACHE_HOME; free space, or set it to another directory"
                    .into(),
            ),
            Self::Busy => Some("wait until it ends".to_owned()),
            Self::NoRoot { .. } => Some("add it with fslab lab build, in a few seconds".to_owned()),
            Self::CannotRun { .. } => Some(
                "use a build of fslab for the lab's glibc or an older one, or build a lab on this \
                 machine: fslab lab build --new-root"
                    .to_owned(),
            ),
            Self::NoGuestProgram(_) => Some(
                "if you copied fslab, copy fslab-guest to the same directory; a build from source \
                 has it beside fslab, a release in lib/fslab"
                    .to_owned(),
            ),
            Self::BadArchive { .. } => Some("use a file that fslab lab export wrote".to_owned()),
            Self::Unreadable { .. } => {
                Some("build it again with fslab lab build --force".to_owned())
            }
            Self::BadName { .. }
            | Self::BadSource { .. }
            | Self::BadTree { .. }
            | Self::BadProgram { .. }
            | Self::ConfigRefused(_)
            | Self::EditsRefused(_)
            | Self::WrongRelease { .. }
            | Self::Packages { .. }
            | Self::NotHere(_)
            | Self::Interrupted
            | Self::Io { .. } => None,
        }
    }

    fn kind(&self) -> FailureKind {
        match self {
            Self::BadName { .. }
            | Self::BadSource { .. }
            | Self::BadTree { .. }
            | Self::BadProgram { .. }
            | Self::BadArchive { .. }
            | Self::TreeNotClean { .. } => FailureKind::BadInput,
            Self::NotBuilt { .. }
            | Self::NoRoot { .. }
            | Self::NoGuestProgram(_)
            | Self::MissingTools(_)
            | Self::NoPackage { .. } => FailureKind::MissingTool,
            Self::ConfigRefused(_)
            | Self::EditsRefused(_)
            | Self::Failed { .. }
            | Self::WrongRelease { .. }
            | Self::Packages { .. }
            | Self::NotHere(_)
            | Self::CannotRun { .. }
            | Self::Unreadable { .. } => FailureKind::Unsupported,
            Self::NoRoom { .. } => FailureKind::NoSpace,
            Self::Busy => FailureKind::Device,
            Self::Interrupted => FailureKind::Interrupted,
            Self::Io { source, .. } => FailureKind::of_users_file(source, FailureKind::Device),
        }
    }

    pub(crate) fn bad_tree(path: &Path, reason: &'static str) -> Self {
        Self::BadTree {
            path: path.to_owned(),
            reason,
        }
    }

    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            operation,
            path,
            source,
        }
    }
}

fn not_built_hint(nearest: Option<&str>, known: &[String]) -> String {
    let nearest = nearest.map_or_else(String::new, |name| did_you_mean(name) + " ");
    let known = match known {
        [] => "there is no lab yet".to_owned(),
        [one] => format!("the only lab is '{one}'"),
        several => format!("the labs are {}", several.join(", ")),
    };
    format!(
        "{nearest}{known}; build one from a kernel tree with fslab lab build --name NAME --source \
         TREE"
    )
}

fn programs(tools: &[BuildTool]) -> String {
    let names: Vec<_> = tools.iter().map(|tool| tool.program).collect();
    names.join(", ")
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let mut failure = Self::of_error(error.kind(), &error).with_hint(error.hint());
        if let LabError::Failed { said, .. } | LabError::NoPackage { reasons: said, .. } = error {
            failure.causes.extend(said);
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_program_is_reported_with_its_errors_and_its_log() {
        let failure = Failure::from(LabError::Failed {
            task: "compile the kernel",
            program: "make".into(),
            status: "status 2".into(),
            said: vec!["a.c:1: error: no".into()],
            log: "/cache/a.log".into(),
        });
        assert_eq!(
            failure.to_string(),
            "cannot compile the kernel: make ended with status 2: a.c:1: error: no"
        );
        assert_eq!(
            failure.hint.as_deref(),
            Some("the full log is in /cache/a.log")
        );
    }

    #[test]
    fn a_missing_kernel_is_reported_with_the_command_that_builds_it() {
        let missing = |name: &str, nearest: Option<&str>| LabError::NotBuilt {
            name: name.to_owned(),
            nearest: nearest.map(str::to_owned),
            known: vec!["default".into(), "patched".into()],
        };
        let hint = missing("default", None).hint().expect("a hint");
        assert!(hint.contains("fslab lab build"), "{hint}");
        let hint = missing("patchd", Some("patched")).hint().expect("a hint");
        for part in [
            "did you mean 'patched'?",
            "the labs are default, patched",
            "fslab lab build --name",
        ] {
            assert!(hint.contains(part), "{hint}");
        }
    }
}
