//! A fresh directory below one of the user's, on whatever file system it is.

use std::path::PathBuf;

use fslab_model::{DeviceSpec, Facts, Failure, FailureKind};

use super::place::{
    Place, Prepared, Preparing, Start, create_folder, ensure_answer, ensure_folder,
    make_marked_folder,
};
use crate::lease::LeasedResources;
use crate::undo::folder_of;

/// The trial's folder, separate from the mark of the scratch folder.
const FILES: &str = "files";

pub(crate) struct Directory {
    parent: PathBuf,
}

impl Directory {
    /// A place below `parent` with room for `bytes`.
    pub(crate) fn open(parent: PathBuf, bytes: u64) -> Result<Self, Failure> {
        ensure_folder(&parent, bytes)?;
        Ok(Self { parent })
    }
}

impl Place for Directory {
    fn resources(&self, name: &str) -> LeasedResources {
        LeasedResources {
            scratch: Some(folder_of(name, &self.parent)),
            ..LeasedResources::default()
        }
    }

    fn check(&self) -> Result<(), Failure> {
        ensure_answer(&self.parent)
    }

    fn prepare(&self, preparing: &Preparing) -> Result<Prepared, Failure> {
        let resources = preparing.resources;
        let scratch = resources.scratch.as_ref().ok_or_else(|| {
            Failure::new(FailureKind::BadInput, "the lease of a directory names none")
        })?;
        let path = scratch.join(FILES);
        preparing.bounded("make a folder for the trial", |_| {
            make_marked_folder(scratch, resources)?;
            create_folder(&path)
        })?;
        Ok(Prepared {
            device: DeviceSpec::Directory { path },
            facts: Facts::new(),
            holder: None,
            start: Start::Here,
        })
    }
}
