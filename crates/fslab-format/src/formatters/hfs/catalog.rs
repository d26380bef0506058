//! The catalog's only records: the root directory and its thread.

use crate::formatters::mac::Leaf;
use crate::record::Record;

const ROOT_PARENT_ID: u32 = 1;
const ROOT_ID: u32 = 2;
const FOLDER: u8 = 1;
const FOLDER_THREAD: u8 = 3;
const FOLDER_BYTES: usize = 70;
const THREAD_BYTES: usize = 46;

pub(super) fn catalog_leaf(label: &[u8], created: u32) -> Leaf {
    let mut folder = Record::new(FOLDER_BYTES);
    folder.put_u8(0, FOLDER);
    folder.put_be32(6, ROOT_ID);
    // Created, modified; never backed up.
    folder.put_be32(10, created);
    folder.put_be32(14, created);
    let mut thread = Record::new(THREAD_BYTES);
    thread.put_u8(0, FOLDER_THREAD);
    thread.put_be32(10, ROOT_PARENT_ID);
    thread.put_u8(14, length(label));
    thread.put(15, label);
    let mut leaf = Leaf::default();
    leaf.push(&key(ROOT_PARENT_ID, label), folder.as_bytes());
    leaf.push(&key(ROOT_ID, &[]), thread.as_bytes());
    leaf
}

/// Its length, a reserved byte, the parent, the name's length, the name.
fn key(parent: u32, name: &[u8]) -> Vec<u8> {
    let name_length = length(name);
    [
        &[6 + name_length, 0][..],
        &parent.to_be_bytes(),
        &[name_length],
        name,
    ]
    .concat()
}

fn length(name: &[u8]) -> u8 {
    u8::try_from(name.len()).expect("names have at most 31 characters")
}
