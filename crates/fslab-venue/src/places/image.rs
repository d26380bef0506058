//! An image file behind a loop device with direct I/O.

use std::path::{Path, PathBuf};

use fslab_model::{Bytes, DeviceSpec, Facts, Failure, FailureKind, MemberDisk};
use fslab_sys::LoopDevice;

use super::block::identify;
use super::place::{
    NeededLimits, Place, Prepared, Preparing, Start, create_folder, ensure_answer, ensure_folder,
    ensure_limits, ensure_superuser, make_marked_folder,
};
use crate::leased_resources::LeasedResources;
use crate::undo::{MOUNT_POINT_NAME, folder_of, image_name};

/// Logical block size of the loop device, as of most disks.
const BLOCK_BYTES: u32 = 512;
/// Space left free on the file system below the image, which must not fill up.
const SLACK: Bytes = Bytes::mib(64);

pub(crate) struct Image {
    folder: PathBuf,
    size: Bytes,
}

impl Image {
    /// Images of `size` in `folder`.
    pub(crate) fn open(folder: PathBuf, size: Bytes) -> Result<Self, Failure> {
        ensure_superuser("loop")?;
        ensure_limits(&NeededLimits {
            file: size,
            address_space: Bytes(0),
        })?;
        ensure_folder(&folder, size.0.saturating_add(SLACK.0))?;
        ensure_blocks(&folder)?;
        Ok(Self { folder, size })
    }

    fn not_made(&self, image: &Path, error: &std::io::Error) -> Failure {
        let kind = match error.kind() {
            std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
            _ => FailureKind::Device,
        };
        let text = format!(
            "cannot make the image of {} at {}",
            self.size,
            image.display()
        );
        Failure::new(kind, text)
            .because(error)
            .hint("use another directory with --images, or a smaller --size")
    }
}

fn attach(image: &Path) -> Result<LoopDevice, Failure> {
    LoopDevice::attach(image, BLOCK_BYTES).map_err(|error| {
        Failure::at(FailureKind::Device, "attach", image, &error).hint(
            "use --images with a directory on a file system that supports direct I/O, for example \
             ext4 or XFS",
        )
    })
}

/// Checks that the disk below `folder` has no larger blocks than the loop device: the kernel would
/// attach that without direct I/O.
fn ensure_blocks(folder: &Path) -> Result<(), Failure> {
    let below = fslab_sys::device_below(folder);
    let bytes = below.and_then(|it| it.logical_block_bytes().ok());
    match bytes.filter(|bytes| *bytes > BLOCK_BYTES) {
        None => Ok(()),
        Some(bytes) => {
            let text = format!(
                "the disk below {} has sectors of {bytes} bytes, and images with sectors of \
                 {BLOCK_BYTES} bytes have no direct I/O there",
                folder.display()
            );
            let hint = "use --images with a directory on a disk with sectors of 512 bytes, or \
                        --venue guest, which needs no loop device";
            Err(Failure::new(FailureKind::Unsupported, text).hint(hint))
        }
    }
}

impl Place for Image {
    fn resources(&self, name: &str, disks: usize) -> LeasedResources {
        let work = folder_of(name, &self.folder);
        let further = (1..disks).map(|disk| work.join(image_name(disk)));
        LeasedResources {
            mount_point: Some(work.join(MOUNT_POINT_NAME)),
            image: Some(work.join(image_name(0))),
            further_images: further.collect(),
            work_folder: Some(work),
            ..LeasedResources::default()
        }
    }

    fn check(&self) -> Result<(), Failure> {
        ensure_answer(&self.folder)
    }

    fn images(&self) -> Option<&Path> {
        Some(&self.folder)
    }

    fn prepare(&self, preparing: &Preparing) -> Result<Prepared, Failure> {
        let LeasedResources {
            mount_point: Some(mount_point),
            work_folder: Some(work),
            ..
        } = preparing.resources
        else {
            let text = "the lease of an image lacks a path";
            return Err(Failure::new(FailureKind::BadInput, text));
        };
        let images: Vec<&PathBuf> = preparing.resources.images().collect();
        let what = format!("make images in {}", work.display());
        preparing.bounded(&what, |alive| {
            make_marked_folder(work, preparing.resources)?;
            create_folder(mount_point)?;
            let go_on = || {
                alive();
                true
            };
            images.iter().try_for_each(|image| {
                fslab_sys::create_written(image, self.size.0, &go_on)
                    .map_err(|error| self.not_made(image, &error))
            })
        })?;
        let attached = images.iter().map(|image| attach(image));
        let holders: Vec<LoopDevice> = attached.collect::<Result<_, Failure>>()?;
        let disks = holders.iter().map(|device| {
            let path = device.path().to_owned();
            let identity = identify(&path)?;
            Ok(MemberDisk { path, identity })
        });
        let mut disks = disks.collect::<Result<Vec<_>, Failure>>()?.into_iter();
        let first = disks.next().ok_or_else(|| {
            Failure::new(FailureKind::BadInput, "the lease of an image names none")
        })?;
        let mut facts = Facts::new();
        facts.insert("loop.block_bytes".into(), BLOCK_BYTES.to_string());
        facts.insert("loop.direct_io".into(), "yes".into());
        facts.insert("loop.discard".into(), "no".into());
        if let Ok(below) = fslab_fs::recognise(&self.folder) {
            facts.insert("image.on".into(), below.fs_type);
        }
        Ok(Prepared {
            device: DeviceSpec::Block {
                path: first.path,
                others: disks.collect(),
                is_used: false,
                mount_point: mount_point.clone(),
                identity: first.identity,
                work_folder: Some(work.clone()),
            },
            facts,
            holders,
            start: Start::Here,
        })
    }
}
