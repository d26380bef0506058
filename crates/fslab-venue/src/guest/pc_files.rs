//! The files of a PC's guest: what the table names, and the options of its driver.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use fslab_lab::{PROGRAM_BYTES, padded, padded_bytes, write_padded};
use fslab_model::{Bytes, SimulatedDisk};
use fslab_sys::os::symlink;

use super::pc::{Table, TableFile};
use super::settings::{GuestSettings, PcSettings, simulated_disk};
use super::share::{EVENTS, EXCHANGE, MODEL, PROGRAM, ROOT, TRACE, layer_name};
use crate::undo::IMAGE;

/// Room for the events of a trial, and for the trace of its disk; only what is written takes space.
const EVENTS_BYTES: u64 = 1 << 30;
const TRACE_BYTES: u64 = 16 << 30;
/// Room for the small files of a guest that starts from a snapshot, the modules of its file system
/// among them.
const EXCHANGE_BYTES: u64 = 64 << 20;
/// The slot of the first device after the exchange and the memory of the model.
const FIRST_SLOT: u32 = 6;

/// Where a file of a PC comes from.
enum Origin {
    /// It is made for the guest to write.
    Made,
    /// A link to an image of the lab or of a study, which the guest reads.
    Image(PathBuf),
    /// A padded copy of such an image, which could not be padded in its directory.
    Copied(PathBuf),
}

/// The files of a PC's guest, in the order of their devices.
pub(super) struct PcFiles<'a> {
    settings: &'a GuestSettings,
    memory: Bytes,
    disk: &'a SimulatedDisk,
    files: Vec<(TableFile, Origin)>,
}

impl<'a> PcFiles<'a> {
    /// The files of a guest with `memory` and a disk of `bytes`. Images are padded beside their
    /// files if they are not yet and can be, else in the directory of the guest.
    pub(super) fn new(
        settings: &'a GuestSettings,
        pc: &PcSettings,
        memory: Bytes,
        (bytes, disk): (Bytes, &'a SimulatedDisk),
    ) -> io::Result<Self> {
        let mut files = Self {
            settings,
            memory,
            disk,
            files: Vec::new(),
        };
        let events = format!("{EXCHANGE}/{EVENTS}");
        files.add(&events, EVENTS_BYTES, 0, Origin::Made);
        files.add(TRACE, TRACE_BYTES, 0, Origin::Made);
        files.add(IMAGE, padded_bytes(bytes.0), bytes.0, Origin::Made);
        files.add_image(ROOT, &settings.root, None)?;
        files.add_image(PROGRAM, &pc.program, Some(pc.program_bytes))?;
        for (number, layer) in (1..).zip(&settings.layers) {
            files.add_image(&layer_name(number), layer, None)?;
        }
        Ok(files)
    }

    fn add_image(&mut self, name: &str, image: &Path, bytes: Option<u64>) -> io::Result<()> {
        let length = image.metadata()?.len();
        let origin = match padded(image) {
            Ok(padded) => Origin::Image(padded),
            Err(_) => Origin::Copied(image.to_owned()),
        };
        let (capacity, bytes) = (padded_bytes(length), bytes.unwrap_or(length));
        self.add(name, capacity, bytes, origin);
        Ok(())
    }

    fn add(&mut self, name: &str, capacity: u64, bytes: u64, origin: Origin) {
        let file = TableFile {
            name: name.to_owned(),
            slot: FIRST_SLOT + self.files.len() as u32,
            is_writable: matches!(origin, Origin::Made),
            offset: 0,
            capacity,
            bytes,
        };
        self.files.push((file, origin));
    }

    /// Makes the files and links in `folder`.
    pub(super) fn make(&self, folder: &Path) -> io::Result<()> {
        self.files.iter().try_for_each(|(file, origin)| {
            let path = folder.join(&file.name);
            match origin {
                Origin::Made => File::create_new(path)?.set_len(file.capacity),
                Origin::Image(image) => symlink(image, path),
                Origin::Copied(image) => write_padded(image, &path),
            }
        })
    }

    /// The table of the files, with the options of the guest's driver and the disk's model.
    pub(super) fn table(&self) -> Table {
        let layers = (1..=self.settings.layers.len()).map(layer_name);
        let mut options = vec![
            simulated_disk(self.disk, 0),
            format!("lab_image={ROOT}+{PROGRAM}:{PROGRAM_BYTES}"),
        ];
        options.extend(layers.map(|name| format!("lab_image={name}")));
        options.push(format!("lab_exchange={EXCHANGE}"));
        options.push(format!("lab_memory={}\n", self.memory.0 >> 10));
        // The sizes of devices are a part of a snapshot: what is handed over is not.
        let pc = self.settings.pc.as_ref();
        let mut table = match pc.and_then(|pc| pc.snapshots.as_ref()) {
            Some(_) => Table::with_exchange_of(EXCHANGE_BYTES),
            None => Table::default(),
        };
        for (file, _) in &self.files {
            table.add_device(file.clone());
        }
        table.add("options", options.join("\n").as_bytes(), 0);
        table.add(MODEL, self.disk.model.as_bytes(), 0);
        table
    }
}
