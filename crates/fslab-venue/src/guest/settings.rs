//! The kernel of guests, and the disk that it simulates.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use fslab_model::{DiskQueue, SimulatedDisk};

use super::pc::Emulator;
use super::share::{MODEL, TRACE};
use crate::undo::{image_name, of_disk};

/// The guest kernel of a venue.
#[derive(Clone, Debug)]
pub struct GuestSettings {
    /// The kernel's executable.
    pub kernel: PathBuf,
    /// The root image.
    pub root: PathBuf,
    /// The digest of the lab; stored in each record.
    pub lab: String,
    /// Guests that run in parallel.
    pub at_a_time: NonZeroUsize,
    /// Images of layers over the root, topmost first: `/dev/lab1` and so on.
    pub layers: Vec<PathBuf>,
    /// The further parts of a simulated PC; `None` for User-Mode Linux.
    pub pc: Option<PcSettings>,
}

/// What a PC's guest is started with besides kernel and images.
#[derive(Clone, Debug)]
pub struct PcSettings {
    pub emulator: Emulator,
    /// The initramfs of the lab.
    pub initramfs: PathBuf,
    /// Whether the lab's module has the timer of the machine.
    pub has_timer: bool,
    /// The directory of the lab's snapshots; `None` for a lab of an earlier fslab, whose guests
    /// boot.
    pub snapshots: Option<PathBuf>,
    /// Gets the path of a damaged snapshot, which is removed and taken again.
    pub on_damaged_snapshot: fn(&Path),
    /// The program of the trials, padded to a power of two.
    pub program: PathBuf,
    /// Bytes of the program without the padding.
    pub program_bytes: u64,
}

/// The option of the simulated disk's driver for the disk of a number, from 0.
pub(super) fn simulated_disk(disk: &SimulatedDisk, number: usize) -> String {
    format!(
        "simdisk=model={MODEL},image={},trace={}{}",
        image_name(number),
        of_disk(TRACE, number),
        queue_numbers(disk)
    )
}

pub(super) fn queue_numbers(disk: &SimulatedDisk) -> String {
    let DiskQueue {
        max_request_bytes,
        physical_block_bytes,
        discard_bytes,
        write_cache,
        fua,
        rotational,
        scheduler,
    } = disk.queue;
    let numbers = [
        ("max_request_bytes", max_request_bytes),
        ("physical_block_bytes", physical_block_bytes),
        ("discard_bytes", discard_bytes),
        ("write_cache", write_cache.into()),
        ("fua", fua.into()),
        ("rotational", rotational.into()),
        ("scheduler", scheduler.into()),
    ];
    numbers
        .iter()
        .map(|(name, number)| format!(",{name}={number}"))
        .collect()
}
