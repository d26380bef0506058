//! Failures as data, to cross a process border and be stored.

use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TomlError;

/// The kinds of failure.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FailureKind {
    /// An invalid specification or option.
    BadInput,
    /// A program that the trial needs is not installed.
    MissingTool,
    /// The kernel lacks a driver, or refuses a facility that was requested.
    Unsupported,
    /// The operation needs a privilege that this process does not have.
    Permission,
    /// No room on the device.
    NoSpace,
    /// mkfs failed.
    Format,
    /// mount(2) failed.
    Mount,
    /// umount(2) failed.
    Unmount,
    /// An operation of a phase failed.
    Io,
    /// What was read is not what was written.
    Corrupt,
    /// The checker found errors, or did not run.
    Check,
    /// The trial's process crashed.
    Crash,
    /// The time limit expired.
    Timeout,
    /// The trial was asked to stop.
    Interrupted,
    /// The host failed, or lacked something, or a worker did: no result of the subject.
    Host,
    /// The device could not be prepared or removed.
    Device,
    /// The trial's process violated the protocol.
    Protocol,
}

impl FailureKind {
    /// The kind in the store and in output.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The kind for a failed call on a file of the user, such as a store, a report or an image: no
    /// space, no privilege, `otherwise` for the others. A full or read-only file system that is
    /// measured is [`FailureKind::from`]'s.
    pub fn of_users_file(error: &std::io::Error, otherwise: Self) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::NoSpace
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::Permission,
            _ => otherwise,
        }
    }
}

impl From<&std::io::Error> for FailureKind {
    /// The kind for a failed system call: no space, no privilege, not supported; `Io` for the
    /// others.
    fn from(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::NoSpace,
            ErrorKind::PermissionDenied => Self::Permission,
            ErrorKind::Unsupported => Self::Unsupported,
            _ => Self::Io,
        }
    }
}

/// One failure: what, why, and a hint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// A lower-case fragment: the object and the operation.
    pub message: String,
    /// The chain of causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The errno at the end of the chain, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// What the user can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The hint for EFBIG.
const FILE_SIZE_HINT: &str =
    "the file size limit of this process (ulimit -f) or of the file system is reached";

impl Failure {
    /// A failure without cause and hint.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            causes: Vec::new(),
            errno: None,
            hint: None,
        }
    }

    /// A failure of [`FailureKind::BadInput`].
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(FailureKind::BadInput, message)
    }

    /// A failure of [`FailureKind::MissingTool`].
    pub fn missing_tool(message: impl Into<String>) -> Self {
        Self::new(FailureKind::MissingTool, message)
    }

    /// A failure of [`FailureKind::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Unsupported, message)
    }

    /// The failure of an operation on a file of the user, by [`FailureKind::of_users_file`].
    pub fn of_file(
        otherwise: FailureKind,
        operation: &str,
        path: &Path,
        error: &std::io::Error,
    ) -> Self {
        let kind = FailureKind::of_users_file(error, otherwise);
        Self::at(kind, operation, path, error)
    }

    /// The failure of an operation on a path: `cannot read /etc/x`.
    pub fn at(
        kind: FailureKind,
        operation: &str,
        path: &Path,
        error: &(dyn std::error::Error + 'static),
    ) -> Self {
        let message = format!("cannot {operation} {}", path.display());
        Self::new(kind, message).because(error)
    }

    /// A failed call on a file of the user; `what` names the object and the operation.
    pub fn of_users_file(what: impl Into<String>, error: &std::io::Error) -> Self {
        let kind = FailureKind::of_users_file(error, FailureKind::BadInput);
        Self::new(kind, what).because(error)
    }

    /// The same of a file whose name the user did not type.
    pub fn of_chosen_name(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        let failure = Self::of_users_file(format!("cannot {doing} {}", path.display()), error);
        // The kernel's own refusals have a number.
        let is_own =
            error.kind() == std::io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
        if !is_own {
            return failure;
        }
        let name = path.file_name().unwrap_or("it".as_ref()).to_string_lossy();
        failure.hint(format!(
            "fslab chose this name and follows no link there: remove {name}, or use another \
             directory"
        ))
    }

    /// Takes the chain of causes from an error's sources, and the hint for a cause that has a fixed
    /// one.
    pub fn because(mut self, error: &(dyn std::error::Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(failure) = error.downcast_ref::<Self>() {
                self.causes.push(failure.message.clone());
                self.causes.extend(failure.causes.iter().cloned());
                self.errno = failure.errno.or(self.errno);
                break;
            }
            self.causes.push(error.to_string());
            if let Some(io) = error.downcast_ref::<std::io::Error>() {
                self.errno = io.raw_os_error().or(self.errno);
                if io.kind() == std::io::ErrorKind::FileTooLarge {
                    self.hint.get_or_insert_with(|| FILE_SIZE_HINT.to_owned());
                }
            }
            next = error.source();
        }
        self
    }

    /// The failure of an error: its message, with its sources as causes. A failure gets the kind
    /// and loses its hint.
    pub fn of_error(kind: FailureKind, error: &(dyn std::error::Error + 'static)) -> Self {
        if let Some(failure) = error.downcast_ref::<Self>() {
            return Self {
                kind,
                hint: None,
                ..failure.clone()
            };
        }
        let failure = Self::new(kind, error.to_string());
        match error.source() {
            Some(source) => failure.because(source),
            None => failure,
        }
    }

    /// Bad input: an invalid TOML text. `message` names the file.
    pub fn of_toml(message: impl Into<String>, error: TomlError) -> Self {
        let mut failure = Self::new(FailureKind::BadInput, message).because(&error);
        failure.hint = error.hint;
        failure
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint, if any.
    pub fn with_hint(self, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

impl fmt::Display for Failure {
    /// The message and its causes on one line, without the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_of_causes_and_the_errno_are_kept() {
        let io = std::io::Error::from_raw_os_error(28);
        let failure = Failure::new(FailureKind::NoSpace, "cannot write f").because(&io);
        assert_eq!(failure.errno, Some(28));
        assert!(
            failure
                .to_string()
                .starts_with("cannot write f: No space left")
        );
        let json = serde_json::to_string(&failure).expect("serialises");
        assert_eq!(
            serde_json::from_str::<Failure>(&json).expect("reads"),
            failure
        );
    }

    #[test]
    fn a_failure_as_a_cause_brings_its_own_causes() {
        let io = std::io::Error::from_raw_os_error(2);
        let inner = Failure::at(FailureKind::Io, "read", Path::new("/x"), &io);
        let outer = Failure::bad_input("cannot do it").because(&inner);
        assert_eq!(outer.causes[0], "cannot read /x");
        assert_eq!((outer.causes.len(), outer.errno), (2, Some(2)));
    }

    #[test]
    fn a_file_that_may_not_grow_has_a_hint() {
        let io = std::io::Error::from_raw_os_error(27);
        let failure = Failure::new(FailureKind::Io, "cannot write f").because(&io);
        assert!(failure.hint.is_some_and(|hint| hint.contains("ulimit -f")));
    }

    #[test]
    fn every_kind_prints_as_it_is_serialised() {
        for kind in [
            FailureKind::BadInput,
            FailureKind::NoSpace,
            FailureKind::MissingTool,
        ] {
            assert_eq!(serde_json::json!(kind), kind.as_str());
        }
    }
}
