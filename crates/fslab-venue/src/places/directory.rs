//! A fresh directory below one of the user's, on whatever is mounted there.

use std::path::PathBuf;

use fslab_model::{DeviceSpec, Facts, Failure, FailureKind};

use super::place::{
    Place, Prepared, Preparing, Start, create_folder, demand_answer, demand_folder,
    make_marked_folder,
};
use crate::lease::Belongings;
use crate::undo::folder_of;

/// Where the trial works: beside the mark of the scratch folder, and alone.
const FILES: &str = "files";

pub(crate) struct Directory {
    parent: PathBuf,
}

impl Directory {
    /// A place below `parent` with room for `bytes`.
    pub(crate) fn open(parent: PathBuf, bytes: u64) -> Result<Self, Failure> {
        demand_folder(&parent, bytes)?;
        Ok(Self { parent })
    }
}

impl Place for Directory {
    fn belongings(&self, name: &str) -> Belongings {
        Belongings {
            scratch: Some(folder_of(name, &self.parent)),
            ..Belongings::default()
        }
    }

    fn check(&self) -> Result<(), Failure> {
        demand_answer(&self.parent)
    }

    fn prepare(&self, preparing: &Preparing) -> Result<Prepared, Failure> {
        let belongings = preparing.belongings;
        let scratch = belongings.scratch.as_ref().ok_or_else(|| {
            Failure::new(FailureKind::BadInput, "the lease of a directory names none")
        })?;
        let path = scratch.join(FILES);
        preparing.bounded("make a folder for the trial", |_| {
            make_marked_folder(scratch, belongings)?;
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
