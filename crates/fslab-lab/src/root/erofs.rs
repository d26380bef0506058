//! Writes a tree as an EROFS image without compression, the same bytes for the same tree.
//!
//! ```text
//!     block 0      superblock at 1024, the first inode at 1152
//!     ...          inodes, small folders and links inside of them, in the tree's order
//!     ...          blocks of larger folders, then of files, each file in one piece
//!     the end      blocks of the file that is appended where the image is used, if there is one
//! ```
//!
//! Every time is [`BUILD_UNIX_S`], every owner root, and the volume has no identifier. The format
//! is that of `fs/erofs/erofs_fs.h` in the kernel's source.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::block_writer::{BLOCK, BlockWriter};
use super::tree::{FileSource, Node, Tree};
use crate::LabError;
use crate::key::hexadecimal;

/// The exponent of a block's bytes.
const BLOCK_BITS: u8 = 12;

/// Where the superblock begins.
const SUPERBLOCK_OFFSET: usize = 1024;

/// What it begins with.
const MAGIC: u32 = 0xE0F5_E1E2;

/// Where the first inode may begin.
const FIRST_INODE: u64 = 1152;

/// Bytes of an inode of the compact kind; an inode's number is its offset in units of them.
const INODE: u64 = 32;

/// Bytes of an entry of a folder, without its name.
const ENTRY: usize = 12;

/// Folders and links of at most so many bytes lie behind their inode: larger ones would waste as
/// much of the block before them.
const INLINE_MAX: u64 = 2048;

/// The time of every file: the beginning of 2025.
const BUILD_UNIX_S: u64 = 1_735_689_600;

/// The permission bits of a link.
const LINK_MODE: u16 = 0o777;

/// An image that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The SHA-256 of all of it, 64 hexadecimal digits.
    pub sha256: String,
    /// Its length, a multiple of 4096.
    pub bytes: u64,
    /// Its regular files in the tree's order, without the appended one.
    pub files: Vec<ImageFile>,
}

/// A regular file of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageFile {
    /// Its path in the guest.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of its content, 64 hexadecimal digits.
    pub sha256: String,
}

impl Tree {
    /// Writes the image into `out`, which is empty and is `name` in what an error says.
    ///
    /// # Errors
    /// [`LabError::BadTree`] where a file is larger than an image can hold or changed while it was
    /// read; [`LabError::Io`].
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
            sha256: hexadecimal(digest),
            bytes,
            files,
        })
    }
}

/// Where everything lies.
struct Plan<'a> {
    inodes: Vec<Inode<'a>>,
    /// Bytes up to the first block of data.
    metadata_bytes: u64,
    /// With the blocks of the appended file.
    blocks: u32,
}

struct Inode<'a> {
    path: PathBuf,
    /// Kind and permissions.
    mode: u16,
    links: u16,
    bytes: u32,
    content: Content<'a>,
    is_inline: bool,
    /// Its offset in units of [`INODE`].
    number: u64,
    /// The first block of its content.
    block: u32,
}

enum Content<'a> {
    /// A folder's entries or a link's target.
    Bytes(Vec<u8>),
    File(&'a FileSource),
    Device {
        major: u8,
        minor: u8,
    },
}

/// The bits of a mode that say what a file is, with the kind in a folder's entry.
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

    /// Gives each inode its number. What lies inside of one never crosses a block's border.
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

    /// The entries of a folder as they lie in it.
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

    /// Gives everything its first block: folders and links, then files, then the appended one.
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
                let too_large = || bad(&inode.path, "the image would have 16 TiB or more");
                inode.block = u32::try_from(next).map_err(|_| too_large())?;
                next += u64::from(inode.bytes).div_ceil(BLOCK);
            }
        }
        let mut appended = self.inodes.iter().filter(|inode| rank(inode) == Some(2));
        if let Some(second) = appended.nth(1) {
            return Err(bad(&second.path, "another file is appended already"));
        }
        self.blocks = u32::try_from(next)
            .map_err(|_| bad(Path::new("/"), "the image would have 16 TiB or more"))?;
        Ok(())
    }

    /// The superblock, the inodes, and what lies inside of them.
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
        // The other fields are zero: inodes count from block 0, and no feature is used.
    }
}

impl Inode<'_> {
    fn put(&self, at: &mut [u8]) {
        // Compact; its content in blocks of its own (0), or behind it (2).
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

/// The names of a folder, with `.` and `..`, each with its inode's index and kind.
struct Listing<'a>(Vec<(&'a OsStr, (usize, Kind))>);

impl<'a> Listing<'a> {
    /// As many of the sorted names for each block as fit into it.
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

    /// The length of the folder: whole blocks, and the used part of the last.
    fn bytes(&self) -> usize {
        let blocks = self.blocks();
        let last = blocks.last().map_or(0, |block| {
            block.iter().map(|(name, _)| ENTRY + name.len()).sum()
        });
        blocks.len().saturating_sub(1) * BLOCK as usize + last
    }
}

/// Visits a tree, a folder before what is in it.
#[derive(Default)]
struct Walk<'a> {
    inodes: Vec<Inode<'a>>,
    folders: Vec<(usize, Listing<'a>)>,
}

impl<'a> Walk<'a> {
    /// Gives the index of the node's inode.
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
        let bytes = u32::try_from(bytes).map_err(|_| bad(path, "it has 4 GiB or more"))?;
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
            // More than can be counted is 1, the sign of a folder that is not counted.
            inode.links = u16::try_from(folders + 2).unwrap_or(1);
            inode.bytes = u32::try_from(listing.bytes())
                .map_err(|_| bad(&inode.path, "it has too many names"))?;
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
            sha256: hexadecimal(digest),
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
                .ok_or_else(|| bad(&inode.path, "it changed while it was read"))?;
            if length == 0 {
                break;
            }
            digest.update(&part[..length]);
            self.put(&part[..length])
                .map_err(LabError::io("write", name))?;
        }
        if left > 0 {
            return Err(bad(&inode.path, "it changed while it was read"));
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
                Err(bad(path, "it is no regular file"))
            }
        }
    }
}

fn put(at: &mut [u8], offset: usize, bytes: &[u8]) {
    at[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// Of a number that the format bounds.
fn low_16(number: usize) -> u16 {
    u16::try_from(number).expect("offsets in a block and the first inode's number are small")
}

/// Of a number that is only shown.
fn low_32(number: u64) -> u32 {
    (number & u64::from(u32::MAX)) as u32
}

fn bad(path: &Path, reason: &'static str) -> LabError {
    LabError::BadTree {
        path: path.to_owned(),
        reason,
    }
}
