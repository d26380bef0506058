//! An image file behind a loop device with direct I/O.

use std::path::PathBuf;

use fslab_model::{Bytes, DeviceSpec, Facts, Failure, FailureKind};
use fslab_sys::LoopDevice;

use super::place::{
    Place, Prepared, Start, create_folder, demand_room, demand_superuser, demand_writable,
};
use crate::lease::Belongings;

/// Logical block size of the loop device: that of most disks sold, as they show themselves.
const BLOCK_BYTES: u32 = 512;
/// Room that is left on the file system below the image: it must not be the one that is full.
const SLACK: Bytes = Bytes::mib(64);

pub(crate) struct Image {
    folder: PathBuf,
    size: Bytes,
}

impl Image {
    /// Images of `size` in `folder`.
    pub(crate) fn open(folder: PathBuf, size: Bytes) -> Result<Self, Failure> {
        demand_superuser("loop")?;
        demand_writable(&folder)?;
        demand_room(&folder, size.0.saturating_add(SLACK.0))?;
        Ok(Self { folder, size })
    }
}

impl Place for Image {
    fn belongings(&self, name: &str) -> Belongings {
        let work = self.folder.join(format!("fslab-{name}"));
        Belongings {
            mount_point: Some(work.join("mnt")),
            image: Some(work.join("disk.img")),
            scratch: None,
            work_folder: Some(work),
        }
    }

    fn prepare(
        &self,
        belongings: &Belongings,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Prepared, Failure> {
        let Belongings {
            mount_point: Some(mount_point),
            image: Some(image),
            work_folder: Some(work),
            ..
        } = belongings
        else {
            let text = "the lease of an image lacks a path";
            return Err(Failure::new(FailureKind::BadInput, text));
        };
        create_folder(work)?;
        create_folder(mount_point)?;
        fslab_sys::create_written(image, self.size.0, go_on).map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
                std::io::ErrorKind::Interrupted => FailureKind::Interrupted,
                _ => FailureKind::Device,
            };
            let text = format!(
                "cannot make the image of {} at {}",
                self.size,
                image.display()
            );
            Failure::new(kind, text)
                .because(&error)
                .hint("--folder names another place for images, --size a smaller one")
        })?;
        let device = LoopDevice::attach(image, BLOCK_BYTES).map_err(|error| {
            Failure::new(
                FailureKind::Device,
                format!("cannot attach {}", image.display()),
            )
            .because(&error)
            .hint("--folder must be on a file system with direct I/O, such as ext4 or XFS")
        })?;
        let mut facts = Facts::new();
        facts.insert("loop.block_bytes".into(), BLOCK_BYTES.to_string());
        facts.insert("loop.direct_io".into(), "yes".into());
        facts.insert("loop.discard".into(), "no".into());
        if let Ok(below) = fslab_fs::recognise(&self.folder) {
            facts.insert("image.on".into(), below.fs_type);
        }
        let path = device.path().to_owned();
        Ok(Prepared {
            device: DeviceSpec::Block {
                path,
                mount_point: mount_point.clone(),
            },
            facts,
            holder: Some(device),
            start: Start::Here,
        })
    }
}
