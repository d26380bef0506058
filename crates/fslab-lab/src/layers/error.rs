//! Errors of finding and writing layers.

use std::io;
use std::path::{Path, PathBuf};

use fslab_model::{Bytes, Failure, FailureKind};

use crate::LabError;

/// An error of finding or writing a layer.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// Programs that are not installed.
    #[error("this machine lacks programs that '{layer}' brings into a guest: {}", listed(.missing))]
    Missing {
        layer: String,
        /// Name, and the Debian package if known.
        missing: Vec<(String, Option<String>)>,
    },
    /// A program whose version in the lab's root image is another.
    #[error(
        "{path} of the layer '{layer}' differs from the one in the lab's root: it was updated \
         since the lab was built",
        path = .path.display()
    )]
    Differs {
        layer: String,
        /// The guest path.
        path: PathBuf,
    },
    /// The layer exceeds the size limit.
    #[error("the layer '{layer}' would hold {bytes}, more than {max}")]
    TooLarge {
        layer: String,
        /// Its size.
        bytes: Bytes,
        /// The limit.
        max: Bytes,
    },
    /// A file of the study that cannot be stored.
    #[error("cannot bring {path} into a guest: {reason}", path = .path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// A fragment.
        reason: String,
        /// A hint for the user.
        hint: Option<&'static str>,
    },
    /// A layer of a plan that is not in the cache.
    #[error("there is no layer {digest} for '{layer}'")]
    Unknown { layer: String, digest: String },
    /// An error on the image, or on a file of the machine or of the cache.
    #[error(transparent)]
    Lab(#[from] LabError),
}

impl LayerError {
    pub(super) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let about = LabError::io(operation, path);
        move |source| Self::Lab(about(source))
    }

    /// A hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { missing, .. } => {
                let packages = missing.iter().filter_map(|(_, package)| package.as_deref());
                let packages: Vec<_> = packages.collect();
                let places = fslab_sys::PLAIN_PATH;
                Some(match packages.as_slice() {
                    [] => format!("programs are searched for in {places}"),
                    packages => format!("on Debian, run apt install {}", packages.join(" ")),
                })
            }
            Self::Differs { .. } => Some(
                "build a lab of this machine's programs with fslab lab build --new-root".to_owned(),
            ),
            Self::TooLarge { .. } => Some("name fewer programs or smaller files".to_owned()),
            Self::Input { hint, .. } => hint.map(str::to_owned),
            Self::Unknown { .. } => {
                Some("it was removed since; run the same command again".to_owned())
            }
            Self::Lab(error) => error.hint(),
        }
    }
}

fn listed(missing: &[(String, Option<String>)]) -> String {
    let each = missing.iter().map(|(name, package)| match package {
        Some(package) => format!("{name} (package {package})"),
        None => name.clone(),
    });
    each.collect::<Vec<_>>().join(", ")
}

impl From<LayerError> for Failure {
    fn from(error: LayerError) -> Self {
        let kind = match error {
            LayerError::Missing { .. } | LayerError::Unknown { .. } => FailureKind::MissingTool,
            LayerError::Differs { .. } => FailureKind::Unsupported,
            LayerError::TooLarge { .. } | LayerError::Input { .. } => FailureKind::BadInput,
            LayerError::Lab(error) => return error.into(),
        };
        let mut failure = Self::new(kind, error.to_string());
        failure.hint = error.hint();
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let failure = Failure::from(LayerError::Missing {
            layer: "compile".into(),
            missing: vec![("cc".into(), Some("gcc".into())), ("no-such".into(), None)],
        });
        assert_eq!(failure.kind, FailureKind::MissingTool);
        let text = failure.to_string();
        assert!(text.contains("cc (package gcc), no-such"), "{text}");
        assert_eq!(
            failure.hint.as_deref(),
            Some("on Debian, run apt install gcc")
        );
    }
}
