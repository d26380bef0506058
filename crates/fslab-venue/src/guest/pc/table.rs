//! The table of a PC's files: which file of the host is where in the memory of which device. The
//! guest's driver reads it; kernel/simdisk/pc/regions.h has the layout.
//!
//! ```text
//!     share/exchange    the table, and the small files: options, model, specification, status
//!     other devices     one file each: the events, the trace, the disk, the images
//! ```
//!
//! Invariant: the guest can write the exchange. What it says about lengths is limited by the files.

use fslab_sys::os::FileExt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use fslab_lab::padded_bytes;

const MAGIC: &[u8; 8] = b"fslab-pc";
const VERSION: u32 = 1;
/// Bytes before the first file of the table, and of each.
const HEAD_BYTES: usize = 16;
const FILE_BYTES: usize = 72;
const NAME_BYTES: usize = 40;
const FILES_MAX: usize = 40;
/// Where the length of a file lies in its part of the table.
const LENGTH_AT: usize = 64;
/// Small files begin at multiples of this.
const ALIGNMENT: u64 = 64;
/// The slot of the exchange's device.
pub(super) const EXCHANGE_SLOT: u32 = 4;

/// A file of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::guest) struct TableFile {
    /// Its name, as the guest's driver asks for it.
    pub(in crate::guest) name: String,
    /// The PCI slot of its device; [`EXCHANGE_SLOT`] for a small file.
    pub(in crate::guest) slot: u32,
    pub(in crate::guest) is_writable: bool,
    /// Its place in the device's memory, and the room for it.
    pub(in crate::guest) offset: u64,
    pub(in crate::guest) capacity: u64,
    pub(in crate::guest) bytes: u64,
}

/// All files of a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::guest) struct Table {
    files: Vec<TableFile>,
    /// The small files' contents, after the table.
    contents: Vec<u8>,
    /// The least size of the exchange.
    exchange_min: u64,
}

impl Table {
    /// A table whose exchange has at least `bytes`.
    pub(in crate::guest) fn with_exchange_of(bytes: u64) -> Self {
        Self {
            exchange_min: bytes,
            ..Self::default()
        }
    }

    /// Adds the file of a device.
    pub(in crate::guest) fn add_device(&mut self, file: TableFile) {
        self.files.push(file);
    }

    /// Adds a small file with `content`; the guest may write up to `capacity` bytes into it if that
    /// is more.
    pub(in crate::guest) fn add(&mut self, name: &str, content: &[u8], capacity: usize) {
        let start = self.contents.len().next_multiple_of(ALIGNMENT as usize);
        let room = content.len().max(capacity);
        self.contents.resize(start, 0);
        self.contents.extend_from_slice(content);
        self.contents.resize(start + room, 0);
        self.files.push(TableFile {
            name: name.to_owned(),
            slot: EXCHANGE_SLOT,
            is_writable: capacity > 0,
            offset: Self::contents_at() + start as u64,
            capacity: room as u64,
            bytes: content.len() as u64,
        });
    }

    fn contents_at() -> u64 {
        ((HEAD_BYTES + FILES_MAX * FILE_BYTES) as u64).next_multiple_of(4096)
    }

    /// Bytes of the exchange: a power of two.
    pub(in crate::guest) fn exchange_bytes(&self) -> u64 {
        let bytes = Self::contents_at() + self.contents.len() as u64;
        padded_bytes(bytes.max(self.exchange_min))
    }

    /// Writes the exchange to `path`.
    pub(in crate::guest) fn write(&self, path: &Path) -> io::Result<()> {
        if self.files.len() > FILES_MAX {
            return Err(io::Error::other("a guest has too many files"));
        }
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(self.files.len() as u32).to_le_bytes());
        for file in &self.files {
            let mut name = [0; NAME_BYTES];
            // The name ends with a zero.
            let fits = name[..NAME_BYTES - 1].get_mut(..file.name.len());
            let place = fits.ok_or_else(|| io::Error::other("the name of a guest's file"))?;
            place.copy_from_slice(file.name.as_bytes());
            bytes.extend_from_slice(&name);
            bytes.extend_from_slice(&file.slot.to_le_bytes());
            bytes.extend_from_slice(&u32::from(file.is_writable).to_le_bytes());
            for number in [file.offset, file.capacity, file.bytes] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        bytes.resize(Self::contents_at() as usize, 0);
        let mut out = File::create(path)?;
        out.write_all(&bytes)?;
        out.write_all(&self.contents)?;
        out.set_len(self.exchange_bytes())
    }

    pub(super) fn files(&self) -> &[TableFile] {
        &self.files
    }

    /// Those that have a device each.
    pub(super) fn devices(&self) -> impl Iterator<Item = &TableFile> {
        self.files.iter().filter(|it| it.slot != EXCHANGE_SLOT)
    }

    /// The slot and the size of each device.
    pub(super) fn device_sizes(&self) -> Vec<(u32, u64)> {
        let exchange = (EXCHANGE_SLOT, self.exchange_bytes());
        let others = self.devices().map(|file| (file.slot, file.capacity));
        std::iter::once(exchange).chain(others).collect()
    }

    /// The position of the file `name`.
    pub(in crate::guest) fn position(&self, name: &str) -> Option<usize> {
        self.files.iter().position(|file| file.name == name)
    }

    /// The length of a file by the guest, at most its room.
    pub(super) fn length(exchange: &File, position: usize, file: &TableFile) -> io::Result<u64> {
        let mut bytes = [0; 8];
        let at = HEAD_BYTES + position * FILE_BYTES + LENGTH_AT;
        exchange.read_exact_at(&mut bytes, at as u64)?;
        Ok(u64::from_le_bytes(bytes).min(file.capacity))
    }

    /// The length that the guest gave the file `name`.
    pub(in crate::guest) fn length_of(&self, exchange: &File, name: &str) -> io::Result<u64> {
        let position = self.position(name).ok_or(io::ErrorKind::NotFound)?;
        Self::length(exchange, position, &self.files[position])
    }

    /// What the guest wrote into the small file `name`.
    pub(in crate::guest) fn content(&self, exchange: &File, name: &str) -> io::Result<Vec<u8>> {
        let position = self.position(name).ok_or(io::ErrorKind::NotFound)?;
        let file = &self.files[position];
        let length = Self::length(exchange, position, file)?;
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        exchange.read_exact_at(&mut bytes, file.offset)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::default();
        table.add("options", b"lab_exchange=share\n", 0);
        table.add("share/status", b"", 256);
        table.add_device(TableFile {
            name: "disk.img".into(),
            slot: 7,
            is_writable: true,
            offset: 0,
            capacity: 1 << 30,
            bytes: 1 << 29,
        });
        table
    }

    #[test]
    fn the_table_has_the_layout_that_the_driver_reads() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("exchange");
        let table = table();
        table.write(&path).expect("written");
        let bytes = std::fs::read(&path).expect("read");
        assert!(bytes.len().is_power_of_two());
        assert_eq!(&bytes[..8], MAGIC);
        assert_eq!(bytes[12..16], 3_u32.to_le_bytes());
        assert!(bytes[16..].starts_with(b"options\0"));
        let third = &bytes[HEAD_BYTES + 2 * FILE_BYTES..][..FILE_BYTES];
        assert!(third.starts_with(b"disk.img\0"));
        assert_eq!(third[40..44], 7_u32.to_le_bytes());
        assert_eq!(third[56..64], (1_u64 << 30).to_le_bytes());
        let at = table.files()[0].offset as usize;
        assert!(bytes[at..].starts_with(b"lab_exchange=share\n"));
    }

    #[test]
    fn what_the_guest_says_about_a_length_is_limited_by_the_room() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("exchange");
        let table = table();
        table.write(&path).expect("written");
        let exchange = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .expect("open");
        let status = &table.files()[1];
        exchange
            .write_all_at(b"{}", status.offset)
            .expect("written");
        let at = (HEAD_BYTES + FILE_BYTES + LENGTH_AT) as u64;
        exchange
            .write_all_at(&2_u64.to_le_bytes(), at)
            .expect("written");
        assert_eq!(
            table.content(&exchange, "share/status").expect("read"),
            b"{}"
        );
        exchange
            .write_all_at(&u64::MAX.to_le_bytes(), at)
            .expect("written");
        assert_eq!(
            table.length_of(&exchange, "share/status").expect("read"),
            256
        );
        assert!(table.content(&exchange, "no such file").is_err());
    }
}
