//! The image of a disk, read in pieces.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use crate::SectorContent;

pub(crate) const SECTOR_BYTES: u64 = 512;

/// What an image is read from.
pub trait ImageSource: Read + Seek {}

impl<S: Read + Seek> ImageSource for S {}

pub struct DiskImage<'a> {
    source: &'a mut dyn ImageSource,
}

impl<'a> DiskImage<'a> {
    pub fn new(source: &'a mut dyn ImageSource) -> Self {
        Self { source }
    }

    /// The bytes from `offset` on; zeros beyond the end.
    pub(super) fn bytes(&mut self, offset: u64, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.source.seek(SeekFrom::Start(offset))?;
        let mut done = 0;
        while done < count {
            match self.source.read(&mut bytes[done..]) {
                Ok(0) => break,
                Ok(more) => done += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
    }
}

/// True if a script has written any of the sectors.
pub(super) fn is_data(bytes: &[u8]) -> bool {
    let mut sectors = bytes.chunks(SECTOR_BYTES as usize);
    sectors.any(|it| matches!(SectorContent::of(it), SectorContent::Written(_)))
}

/// Numbers in a block; 0 beyond its end.
pub(super) mod number {
    fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
        let part = bytes.get(at..at + N).and_then(|it| it.try_into().ok());
        part.unwrap_or([0; N])
    }

    pub(in super::super) fn le16(bytes: &[u8], at: usize) -> u16 {
        u16::from_le_bytes(part(bytes, at))
    }

    pub(in super::super) fn le32(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(part(bytes, at))
    }

    pub(in super::super) fn le64(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(part(bytes, at))
    }

    pub(in super::super) fn be16(bytes: &[u8], at: usize) -> u16 {
        u16::from_be_bytes(part(bytes, at))
    }

    pub(in super::super) fn be32(bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(part(bytes, at))
    }

    pub(in super::super) fn be64(bytes: &[u8], at: usize) -> u64 {
        u64::from_be_bytes(part(bytes, at))
    }
}
