//! The guest kernel that a run is to use.

use std::path::PathBuf;

use fslab_model::{Failure, FailureKind};

pub(crate) struct Kernel {
    path: PathBuf,
}

impl Kernel {
    pub(crate) fn identity(&self) -> String {
        "default@000000000000".into()
    }
}

pub(crate) fn find(_name: Option<&str>) -> Result<Kernel, Failure> {
    let path = std::env::var_os("FSLAB_TRY_KERNEL")
        .ok_or_else(|| Failure::new(FailureKind::MissingTool, "there is no guest kernel"))?;
    Ok(Kernel { path: path.into() })
}

pub(crate) fn of_identity(_identity: &str) -> Result<PathBuf, Failure> {
    find(None).map(|kernel| kernel.path)
}
