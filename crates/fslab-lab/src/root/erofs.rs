//! Writes a tree as an uncompressed EROFS image; the same tree gives the same bytes.
//!
//! ```text
//!     block 0      superblock at 1024, the first inode at 1152
//!     ...          inodes, each with its small directory or link inline, in the tree's order
//!     ...          blocks of larger directories, then of files, each file contiguous
//!     the end      blocks of the appended file, if there is one
//! ```
//!
//! Every time is [`BUILD_UNIX_S`], every owner is root, and the volume has no UUID. The format is
//! defined in the kernel's `fs/erofs/erofs_fs.h`.
//!
//! The digest of what was written is computed while blocks are written.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use fslab_sys::os::OsStrExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::tree::{FileSource, Node, Tree};
use crate::LabError;

/// Base-2 logarithm of the block size.
const BLOCK_BITS: u8 = 12;

const SUPERBLOCK_OFFSET: usize = 1024;

/// Magic number of the superblock.
const MAGIC: u32 = 0xE0F5_E1E2;

/// Lowest offset of the first inode.
const FIRST_INODE: u64 = 1152;

/// Bytes of a compact inode; an inode's number is its offset in this unit.
const INODE: u64 = 32;

/// Bytes of a directory entry without its name.
const ENTRY: usize = 12;

/// Directories and links up to this size are stored inline behind their inode. Larger ones would
/// waste as much of the block before them.
const INLINE_MAX: u64 = 2048;

/// Time of every file: the start of 2025.
const BUILD_UNIX_S: u64 = 1_735_689_600;

/// Permission bits of a link.
const LINK_MODE: u16 = 0o777;

/// A written image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// SHA-256 of the complete image, 64 hexadecimal digits.
    pub sha256: String,
    /// Length, a multiple of 4096.
    pub bytes: u64,
    /// Its regular files in the tree's order, except the appended one.
    pub files: Vec<ImageFile>,
}

/// A regular file of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageFile {
    /// Path in the guest.
    pub path: PathBuf,
    /// Length.
    pub bytes: u64,
    /// SHA-256 of the contents, 64 hexadecimal digits.
    pub sha256: String,
}

impl Tree {
    /// Writes the image into `out`, which must be empty; `name` is its path in errors.
    ///
    /// # Errors
    /// Bad input if a file exceeds the format's limits or changes while it is read.
    pub fn write(&self, out: &mut File, name: &Path) -> Result<Image, LabError> {
        let plan = Plan::of(self)?;
        let failed = |error| LabError::io("write", name)(error);
        let position = out.stream_position().map_err(failed)?;
        if position != 0 {
            return Err(failed(io::Error::from(ErrorKind::InvalidInput)));
        }
        let mut sink = BlockWriter::new(out);
        sink.put(&plan.metadata()).map_err(failed)?;
        for inode in plan.inodes.iter().filter(|inode| !inode.is_inline) {
            if let Content::Bytes(bytes) = &inode.content {
                sink.put(bytes).and_then(|()| sink.pad()).map_err(failed)?;
            }
        }
        let mut files = Vec::new();
        for inode in &plan.inodes {
            if let Content::File(source) = inode.content
                && !matches!(source, FileSource::Appended(_))
            {
                files.push(sink.put_file(inode, source, name)?);
            }
        }
        let (bytes, digest) = sink.finish().map_err(failed)?;
        Ok(Image {
            sha256: fslab_model::hexadecimal(&digest.finalize()),
            bytes,
            files,
        })
    }
}

/// The positions of all parts of an image.
struct Plan<'a> {
    inodes: Vec<Inode<'a>>,
    /// Bytes before the first data block.
    metadata_bytes: u64,
    /// Including the blocks of the appended file.
    blocks: u32,
}

struct Inode<'a> {
    path: PathBuf,
    /// File type and permissions.
    mode: u16,
    links: u16,
    bytes: u32,
    content: Content<'a>,
    is_inline: bool,
    /// Offset in units of [`INODE`].
    number: u64,
    /// First block of its contents.
    block: u32,
}

enum Content<'a> {
    /// Entries of a directory, or target of a link.
    Bytes(Vec<u8>),
    File(&'a FileSource),
    Device {
        major: u8,
        minor: u8,
    },
}

/// File type, with its code in a directory entry.
#[derive(Clone, Copy)]
enum Kind {
    File = 1,
    Folder = 2,
    Device = 3,
    Link = 7,
}

impl Kind {
    fn of(node: &Node) -> Self {
        match node {
            Node::Folder { .. } => Self::Folder,
            Node::File { .. } => Self::File,
            Node::Link { .. } => Self::Link,
            Node::Device { .. } => Self::Device,
        }
    }

    fn mode_bits(self) -> u16 {
        match self {
            Self::File => 0o100_000,
            Self::Folder => 0o040_000,
            Self::Device => 0o020_000,
            Self::Link => 0o120_000,
        }
    }
}

impl<'a> Plan<'a> {
    fn of(tree: &'a Tree) -> Result<Self, LabError> {
        let mut walk = Walk::default();
        walk.visit(Path::new("/"), &tree.top, 0)?;
        let mut plan = Self {
            inodes: walk.inodes,
            metadata_bytes: 0,
            blocks: 0,
        };
        plan.place_inodes();
        for (index, folder) in walk.folders {
            plan.inodes[index].content = Content::Bytes(plan.entries(&folder));
        }
        plan.place_data()?;
        Ok(plan)
    }

    /// Assigns inode numbers. An inode with its inline data never crosses a block boundary.
    fn place_inodes(&mut self) {
        let mut offset = FIRST_INODE;
        for inode in &mut self.inodes {
            let inside = if inode.is_inline {
                u64::from(inode.bytes)
            } else {
                0
            };
            if offset % BLOCK + INODE + inside > BLOCK {
                offset = offset.next_multiple_of(BLOCK);
            }
            inode.number = offset / INODE;
            offset = (offset + INODE + inside).next_multiple_of(INODE);
        }
        self.metadata_bytes = offset.next_multiple_of(BLOCK);
    }

    /// The encoded entries of a directory.
    fn entries(&self, folder: &Listing<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for block in &folder.blocks() {
            bytes.resize(bytes.len().next_multiple_of(BLOCK as usize), 0);
            let mut name_offset = block.len() * ENTRY;
            for (name, (index, kind)) in block {
                bytes.extend(self.inodes[*index].number.to_le_bytes());
                bytes.extend(low_16(name_offset).to_le_bytes());
                bytes.extend([*kind as u8, 0]);
                name_offset += name.len();
            }
            for (name, _) in block {
                bytes.extend(name.as_bytes());
            }
        }
        bytes
    }

    /// Assigns first blocks: to directories and links, then files, then the appended file.
    fn place_data(&mut self) -> Result<(), LabError> {
        let rank = |inode: &Inode<'_>| match &inode.content {
            Content::Bytes(_) if !inode.is_inline => Some(0),
            Content::File(FileSource::Appended(_)) => Some(2),
            Content::File(_) => Some(1),
            Content::Bytes(_) | Content::Device { .. } => None,
        };
        let mut next = self.metadata_bytes / BLOCK;
        for wanted in 0..=2 {
            for inode in &mut self.inodes {
                if rank(inode) != Some(wanted) || inode.bytes == 0 {
                    continue;
                }
                let too_large =
                    || LabError::bad_tree(&inode.path, "the image would have 16 TiB or more");
                inode.block = u32::try_from(next).map_err(|_| too_large())?;
                next += u64::from(inode.bytes).div_ceil(BLOCK);
            }
        }
        let mut appended = self.inodes.iter().filter(|inode| rank(inode) == Some(2));
        if let Some(second) = appended.nth(1) {
            return Err(LabError::bad_tree(
                &second.path,
                "another file is appended already",
            ));
        }
        self.blocks = u32::try_from(next).map_err(|_| {
            LabError::bad_tree(Path::new("/"), "the image would have 16 TiB or more")
        })?;
        Ok(())
    }

    /// The superblock, and the inodes with their inline data.
    fn metadata(&self) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.metadata_bytes).expect("it is planned here")];
        self.put_superblock(&mut bytes[SUPERBLOCK_OFFSET..]);
        for inode in &self.inodes {
            let start = usize::try_from(inode.number * INODE).expect("it is planned here");
            inode.put(&mut bytes[start..]);
        }
        bytes
    }

    fn put_superblock(&self, at: &mut [u8]) {
        let root = low_16(usize::try_from(self.inodes[0].number).unwrap_or(usize::MAX));
        put(at, 0, &MAGIC.to_le_bytes());
        put(at, 12, &[BLOCK_BITS, 0]);
        put(at, 14, &root.to_le_bytes());
        put(at, 16, &(self.inodes.len() as u64).to_le_bytes());
        put(at, 24, &BUILD_UNIX_S.to_le_bytes());
        put(at, 36, &self.blocks.to_le_bytes());
        // The other fields are zero: inodes are counted from block 0, and no feature is used.
    }
}

impl Inode<'_> {
    fn put(&self, at: &mut [u8]) {
        // Compact inode; layout 0: contents in separate blocks, 2: inline.
        let layout: u16 = if self.is_inline { 2 << 1 } else { 0 };
        let place = match self.content {
            Content::Device { major, minor } => u32::from(major) << 8 | u32::from(minor),
            _ => self.block,
        };
        put(at, 0, &layout.to_le_bytes());
        put(at, 4, &self.mode.to_le_bytes());
        put(at, 6, &self.links.to_le_bytes());
        put(at, 8, &self.bytes.to_le_bytes());
        put(at, 16, &place.to_le_bytes());
        put(at, 20, &low_32(self.number).to_le_bytes());
        if let (true, Content::Bytes(inside)) = (self.is_inline, &self.content) {
            put(at, INODE as usize, inside);
        }
    }
}

/// The sorted names of a directory, with `.` and `..`, each with inode index and type.
struct Listing<'a>(Vec<(&'a OsStr, (usize, Kind))>);

impl<'a> Listing<'a> {
    /// The names of each block, filled in order.
    fn blocks(&self) -> Vec<Vec<(&'a OsStr, (usize, Kind))>> {
        let mut blocks: Vec<Vec<_>> = Vec::new();
        let mut room = 0;
        for entry in &self.0 {
            let bytes = ENTRY + entry.0.len();
            if bytes > room {
                blocks.push(Vec::new());
                room = BLOCK as usize;
            }
            room -= bytes;
            if let Some(block) = blocks.last_mut() {
                block.push(*entry);
            }
        }
        blocks
    }

    /// Length of the directory: full blocks, and the used part of the last.
    fn bytes(&self) -> usize {
        let blocks = self.blocks();
        let last = blocks.last().map_or(0, |block| {
            block.iter().map(|(name, _)| ENTRY + name.len()).sum()
        });
        blocks.len().saturating_sub(1) * BLOCK as usize + last
    }
}

/// Visits a tree, parents first.
#[derive(Default)]
struct Walk<'a> {
    inodes: Vec<Inode<'a>>,
    folders: Vec<(usize, Listing<'a>)>,
}

impl<'a> Walk<'a> {
    /// Returns the index of the node's inode.
    fn visit(&mut self, path: &Path, node: &'a Node, above: usize) -> Result<usize, LabError> {
        let index = self.inodes.len();
        let (permissions, bytes, content) = match node {
            Node::Folder { mode, .. } => (*mode, 0, Content::Bytes(Vec::new())),
            Node::File { source, mode } => {
                (*mode, source_bytes(source, path)?, Content::File(source))
            }
            Node::Link { target } => {
                let target = target.as_os_str().as_bytes().to_vec();
                (LINK_MODE, target.len() as u64, Content::Bytes(target))
            }
            Node::Device { mode, major, minor } => {
                let (major, minor) = (*major, *minor);
                (*mode, 0, Content::Device { major, minor })
            }
        };
        let bytes =
            u32::try_from(bytes).map_err(|_| LabError::bad_tree(path, "it has 4 GiB or more"))?;
        self.inodes.push(Inode {
            path: path.to_owned(),
            mode: Kind::of(node).mode_bits() | permissions & 0o7777,
            links: 1,
            bytes,
            is_inline: matches!(node, Node::Link { .. }) && u64::from(bytes) <= INLINE_MAX,
            content,
            number: 0,
            block: 0,
        });
        if let Node::Folder { nodes, .. } = node {
            let mut names = vec![
                (OsStr::new("."), (index, Kind::Folder)),
                (OsStr::new(".."), (above, Kind::Folder)),
            ];
            let mut folders = 0_usize;
            for (name, node) in nodes {
                let below = self.visit(&path.join(name), node, index)?;
                names.push((name, (below, Kind::of(node))));
                folders += usize::from(matches!(node, Node::Folder { .. }));
            }
            names.sort_by_key(|(name, _)| name.as_bytes());
            let listing = Listing(names);
            let inode = &mut self.inodes[index];
            // A link count of 1 means: not counted. Used above 16 bits.
            inode.links = u16::try_from(folders + 2).unwrap_or(1);
            inode.bytes = u32::try_from(listing.bytes())
                .map_err(|_| LabError::bad_tree(&inode.path, "it has too many names"))?;
            inode.is_inline = u64::from(inode.bytes) <= INLINE_MAX;
            self.folders.push((index, listing));
        }
        Ok(index)
    }
}

impl BlockWriter<'_> {
    fn put_file(
        &mut self,
        inode: &Inode<'_>,
        source: &FileSource,
        name: &Path,
    ) -> Result<ImageFile, LabError> {
        let mut digest = Sha256::new();
        match source {
            FileSource::Bytes(bytes) => {
                digest.update(bytes);
                self.put(bytes).map_err(LabError::io("write", name))?;
            }
            FileSource::Host(path) => self.copy(path, inode, &mut digest, name)?,
            FileSource::Appended(_) => {}
        }
        self.pad().map_err(LabError::io("write", name))?;
        Ok(ImageFile {
            path: inode.path.clone(),
            bytes: inode.bytes.into(),
            sha256: fslab_model::hexadecimal(&digest.finalize()),
        })
    }

    fn copy(
        &mut self,
        path: &Path,
        inode: &Inode<'_>,
        digest: &mut Sha256,
        name: &Path,
    ) -> Result<(), LabError> {
        let mut file = File::open(path).map_err(LabError::io("read", path))?;
        let mut part = vec![0; 1 << 18];
        let mut left = u64::from(inode.bytes);
        loop {
            let length = file.read(&mut part).map_err(LabError::io("read", path))?;
            left = left
                .checked_sub(length as u64)
                .ok_or_else(|| LabError::bad_tree(&inode.path, "it changed while it was read"))?;
            if length == 0 {
                break;
            }
            digest.update(&part[..length]);
            self.put(&part[..length])
                .map_err(LabError::io("write", name))?;
        }
        if left > 0 {
            return Err(LabError::bad_tree(
                &inode.path,
                "it changed while it was read",
            ));
        }
        Ok(())
    }
}

fn source_bytes(source: &FileSource, path: &Path) -> Result<u64, LabError> {
    match source {
        FileSource::Bytes(bytes) => Ok(bytes.len() as u64),
        FileSource::Appended(bytes) => Ok((*bytes).into()),
        FileSource::Host(host) => {
            let about = host.metadata().map_err(LabError::io("find", host))?;
            if about.is_file() {
                Ok(about.len())
            } else {
                Err(LabError::bad_tree(path, "it is not a regular file"))
            }
        }
    }
}

fn put(at: &mut [u8], offset: usize, bytes: &[u8]) {
    at[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// Converts a number that the format bounds.
fn low_16(number: usize) -> u16 {
    u16::try_from(number).expect("offsets in a block and the first inode's number are small")
}

/// Converts a number that is only informative.
fn low_32(number: u64) -> u32 {
    (number & u64::from(u32::MAX)) as u32
}

/// Bytes of a block.
pub(super) const BLOCK: u64 = 4096;

/// Writes a file sequentially from its start.
pub(super) struct BlockWriter<'a> {
    out: BufWriter<&'a mut File>,
    digest: Sha256,
    written: u64,
}

impl<'a> BlockWriter<'a> {
    pub(super) fn new(out: &'a mut File) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 18, out),
            digest: Sha256::new(),
            written: 0,
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Fills the block with zeros.
    pub(super) fn pad(&mut self) -> io::Result<()> {
        let missing = self.written.next_multiple_of(BLOCK) - self.written;
        self.put(&[0; BLOCK as usize][..missing as usize])
    }

    /// Bytes written, and their digest.
    pub(super) fn finish(mut self) -> io::Result<(u64, Sha256)> {
        self.out.flush()?;
        Ok((self.written, self.digest))
    }
}
