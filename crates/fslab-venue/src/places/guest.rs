//! An image file as the disk of a guest kernel, plain or simulated.

use std::path::{Path, PathBuf};

use fslab_model::{
    Bytes, DeviceIdentity, DeviceSpec, Facts, Failure, FailureKind, GUEST_CONFINED_FACT, MemberDisk,
};

use super::place::{
    NeededLimits, Place, Prepared, Preparing, Start, ensure_answer, ensure_folder, ensure_limits,
    make_marked_folder,
};
use crate::guest::{Clock, Guest, MOUNT_POINT, disk_path, simulated_disk_path};
use crate::leased_resources::LeasedResources;
use crate::undo::folder_of;

/// Space left free on the file system below the image, which must not fill up.
const SLACK: Bytes = Bytes::mib(64);

pub(crate) struct GuestDisk {
    folder: PathBuf,
    size: Bytes,
    guest: Guest,
}

impl GuestDisk {
    /// Disks of `size` in `folder`. The images are sparse, but there must be room for `footprint`
    /// and the other files of each parallel guest.
    pub(crate) fn open(
        folder: PathBuf,
        size: Bytes,
        footprint: Bytes,
        guest: Guest,
    ) -> Result<Self, Failure> {
        let others = guest.room().map_err(|error| {
            Failure::new(
                FailureKind::Device,
                "cannot determine the size of fslab-guest",
            )
            .because(&error)
        })?;
        ensure_limits(&NeededLimits {
            file: size.max(guest.largest_file()),
            address_space: guest.address_space(),
        })?;
        let each = footprint.min(size).0.saturating_add(others.0);
        let guests = guest.at_a_time().get() as u64;
        let wanted = each.saturating_mul(guests).saturating_add(SLACK.0);
        ensure_folder(&folder, wanted).map_err(|failure| match failure.kind {
            FailureKind::NoSpace => failure.hint(
                "free space, use another directory with --images, or use a smaller --size, \
                 --memory or --jobs",
            ),
            _ => failure,
        })?;
        Ok(Self {
            folder,
            size,
            guest,
        })
    }

    fn not_made(&self, folder: &Path, error: &std::io::Error) -> Failure {
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
            .because(error)
            .hint("use another directory with --images, or a smaller --size")
    }
}

impl Place for GuestDisk {
    fn resources(&self, name: &str, _disks: usize) -> LeasedResources {
        LeasedResources {
            scratch: Some(folder_of(name, &self.folder)),
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
        let resources = preparing.resources;
        let folder = resources.scratch.as_ref().ok_or_else(|| {
            Failure::new(
                FailureKind::BadInput,
                "the lease of a guest names no directory",
            )
        })?;
        let what = format!("make a guest's disk in {}", folder.display());
        let share = self.guest.share(folder, self.size);
        let share = share.map_err(|error| self.not_made(folder, &error))?;
        preparing.bounded(&what, |_| {
            make_marked_folder(folder, resources)?;
            self.guest
                .provide(&share, Some((self.size, preparing.disks)))
                .map_err(|error| self.not_made(folder, &error))
        })?;
        let mut facts = Facts::new();
        facts.insert("guest.memory".into(), self.guest.memory().to_string());
        facts.insert(fslab_model::LAB_FACT.into(), self.guest.lab().to_owned());
        if let Some(pc) = self.guest.pc() {
            facts.insert("tool.qemu".into(), pc.emulator.version.clone());
        }
        if fslab_sys::WriteLimits::new().is_ok_and(|limits| limits.is_none()) {
            let text = "without Landlock: by the guest's kernel alone";
            facts.insert(GUEST_CONFINED_FACT.into(), text.into());
        }
        if preparing.disks > 1 && self.guest.pc().is_some() {
            let text = "a simulated PC has one disk";
            let failure = Failure::new(FailureKind::Unsupported, text);
            return Err(failure.hint("use --venue sim without --machine for several disks"));
        }
        let device = |disk: usize| -> PathBuf {
            match self.guest.clock() {
                Clock::Real { .. } => disk_path(disk).into(),
                Clock::Virtual { .. } => simulated_disk_path(disk).into(),
            }
        };
        match self.guest.clock() {
            Clock::Real { .. } => {
                if let Ok(below) = fslab_fs::recognise(&self.folder) {
                    facts.insert("image.on".into(), below.fs_type);
                }
            }
            // The location of the image does not affect the results.
            Clock::Virtual { disk, .. } => {
                facts.insert("disk".into(), disk.profile.clone());
            }
        }
        let others = (1..preparing.disks).map(|disk| MemberDisk {
            path: device(disk),
            identity: DeviceIdentity::default(),
        });
        Ok(Prepared {
            device: DeviceSpec::Block {
                path: device(0),
                others: others.collect(),
                is_used: false,
                mount_point: MOUNT_POINT.into(),
                identity: DeviceIdentity::default(),
                work_folder: None,
            },
            facts,
            holders: Vec::new(),
            start: Start::InGuest(Box::new(self.guest.clone()), share),
        })
    }
}
