//! A fresh directory below one of the user's, on whatever is mounted there.

use std::path::PathBuf;

use fslab_model::{DeviceSpec, Facts, Failure, FailureKind};

use super::place::{Place, Prepared, Start, create_folder, demand_room, demand_writable};
use crate::lease::Belongings;

pub(crate) struct Directory {
    parent: PathBuf,
}

impl Directory {
    /// A place below `parent` with room for `bytes`.
    pub(crate) fn open(parent: PathBuf, bytes: u64) -> Result<Self, Failure> {
        demand_writable(&parent)?;
        demand_room(&parent, bytes)?;
        Ok(Self { parent })
    }
}

impl Place for Directory {
    fn belongings(&self, name: &str) -> Belongings {
        Belongings {
            scratch: Some(self.parent.join(format!("fslab-{name}"))),
            ..Belongings::default()
        }
    }

    fn prepare(
        &self,
        belongings: &Belongings,
        _go_on: &dyn Fn() -> bool,
    ) -> Result<Prepared, Failure> {
        let path = belongings.scratch.clone().ok_or_else(|| {
            Failure::new(FailureKind::BadInput, "the lease of a directory names none")
        })?;
        create_folder(&path)?;
        Ok(Prepared {
            device: DeviceSpec::Directory { path },
            facts: Facts::new(),
            holder: None,
            start: Start::Here,
        })
    }
}
