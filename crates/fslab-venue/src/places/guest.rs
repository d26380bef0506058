//! An image file as the disk of a guest kernel, as it is or with the times of a simulated disk.

use std::path::{Path, PathBuf};

use fslab_model::{Bytes, DeviceSpec, Facts, Failure, FailureKind};

use super::place::{Place, Prepared, Start, create_folder, demand_room, demand_writable};
use crate::guest::{Clock, DISK, Guest, MOUNT_POINT, SIMULATED_DISK, Share};
use crate::lease::Belongings;

/// Room that is left on the file system below the image: it must not be the one that is full.
const SLACK: Bytes = Bytes::mib(64);

pub(crate) struct GuestDisk {
    folder: PathBuf,
    size: Bytes,
    guest: Guest,
}

impl GuestDisk {
    /// Disks of `size` in `folder`. The images are sparse and take what is written to them; there
    /// must be room for `footprint` all the same.
    pub(crate) fn open(
        folder: PathBuf,
        size: Bytes,
        footprint: Bytes,
        guest: Guest,
    ) -> Result<Self, Failure> {
        demand_visible(&folder)?;
        demand_writable(&folder)?;
        demand_room(&folder, footprint.min(size).0.saturating_add(SLACK.0))?;
        Ok(Self {
            folder,
            size,
            guest,
        })
    }

    fn make(&self, share: &Share) -> std::io::Result<()> {
        share.bring_program()?;
        std::fs::File::create_new(share.image())?.set_len(self.size.0)?;
        if let Clock::Virtual { disk } = self.guest.clock() {
            std::fs::write(share.model(), &disk.model)?;
        }
        std::fs::File::create_new(share.events()).map(drop)
    }
}

/// Demands a folder that a guest can see: these it has of its own.
fn demand_visible(folder: &Path) -> Result<(), Failure> {
    let hidden = ["/dev", "/proc", "/sys"];
    let Some(hidden) = hidden.iter().find(|hidden| folder.starts_with(hidden)) else {
        return Ok(());
    };
    let text = format!(
        "a guest cannot use the folder {}: it has a {hidden} of its own",
        folder.display()
    );
    Err(Failure::new(FailureKind::BadInput, text)
        .hint("name another with --folder; a tmpfs may be mounted anywhere else"))
}

impl Place for GuestDisk {
    fn belongings(&self, name: &str) -> Belongings {
        Belongings {
            scratch: Some(self.folder.join(format!("fslab-{name}"))),
            ..Belongings::default()
        }
    }

    fn prepare(
        &self,
        belongings: &Belongings,
        _go_on: &dyn Fn() -> bool,
    ) -> Result<Prepared, Failure> {
        let folder = belongings.scratch.as_ref().ok_or_else(|| {
            Failure::new(
                FailureKind::BadInput,
                "the lease of a guest names no folder",
            )
        })?;
        create_folder(folder)?;
        let share = Share::at(folder);
        self.make(&share).map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
                _ => FailureKind::Device,
            };
            let text = format!(
                "cannot make a guest's disk of {} in {}",
                self.size,
                folder.display()
            );
            Failure::new(kind, text)
                .because(&error)
                .hint("--folder names another place for images, --size a smaller one")
        })?;
        let mut facts = Facts::new();
        facts.insert("guest.memory".into(), self.guest.memory().to_string());
        let disk = match self.guest.clock() {
            Clock::Real { .. } => {
                if let Ok(below) = fslab_fs::recognise(&self.folder) {
                    facts.insert("image.on".into(), below.fs_type);
                }
                DISK
            }
            // Where its image lies has no part in its figures.
            Clock::Virtual { disk } => {
                facts.insert("disk".into(), disk.profile.clone());
                SIMULATED_DISK
            }
        };
        Ok(Prepared {
            device: DeviceSpec::Block {
                path: disk.into(),
                mount_point: MOUNT_POINT.into(),
            },
            facts,
            holder: None,
            start: Start::InGuest(self.guest.clone(), share),
        })
    }
}
