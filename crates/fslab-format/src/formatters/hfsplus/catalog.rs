//! The catalog's only records: the root directory and its thread.

use super::formatter::Variant;
use crate::formatters::mac::Leaf;
use crate::record::Record;

const ROOT_PARENT_ID: u32 = 1;
const ROOT_ID: u32 = 2;
const FOLDER: u16 = 1;
const FOLDER_THREAD: u16 = 3;
const FOLDER_BYTES: usize = 88;
/// HFSX counts the directories in a directory.
const HAS_FOLDER_COUNT: u16 = 0x10;
/// Writable by its owner, root, and readable by all.
const MODE: u16 = 0o040_755;
/// The encoding used last: Unicode.
const ENCODING_UNICODE: u32 = 0x7e;

pub(super) fn catalog_leaf(variant: Variant, label: &[u16], created: u32) -> Leaf {
    let mut folder = Record::new(FOLDER_BYTES);
    folder.put_be16(0, FOLDER);
    folder.put_be32(8, ROOT_ID);
    // Created; contents and attributes changed; read.
    folder.put_be32(12, created);
    folder.put_be32(16, created);
    folder.put_be32(20, created);
    folder.put_be32(24, created);
    folder.put_be16(42, MODE);
    folder.put_be32(80, ENCODING_UNICODE);
    if variant == Variant::Hfsx {
        folder.put_be16(2, HAS_FOLDER_COUNT);
    }
    let name = name_bytes(label);
    let mut thread = Record::new(8 + name.len());
    thread.put_be16(0, FOLDER_THREAD);
    thread.put_be32(4, ROOT_PARENT_ID);
    thread.put(8, &name);
    let mut leaf = Leaf::default();
    leaf.push(&key(ROOT_PARENT_ID, label), folder.as_bytes());
    leaf.push(&key(ROOT_ID, &[]), thread.as_bytes());
    leaf
}

fn key(parent: u32, name: &[u16]) -> Vec<u8> {
    let name = name_bytes(name);
    let length = u16::try_from(4 + name.len()).expect("names have at most 255 units");
    [&length.to_be_bytes()[..], &parent.to_be_bytes(), &name].concat()
}

/// A name preceded by its length in units.
fn name_bytes(name: &[u16]) -> Vec<u8> {
    let length = u16::try_from(name.len()).expect("names have at most 255 units");
    std::iter::once(&length)
        .chain(name)
        .flat_map(|unit| unit.to_be_bytes())
        .collect()
}
