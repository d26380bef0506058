//! The files beside a database that SQLite takes for part of it: `-journal`, `-wal` and `-shm`.
//!
//! They come with the directory that a store comes in. A journal can name a further file, its
//! super-journal, which SQLite deletes once the journal is played back: opening a store would
//! delete any file of the user's. fslab changes one database at a time, so none of its journals
//! names another file.

use crate::error::{Fault, STORE};
use crate::{StoreError, bounds::beside};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// What SQLite writes at the end of the name of a super-journal, and at the begin of a journal
/// (pager.c, `aJournalMagic`).
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses a database with a companion that is no regular file, or that names another file.
pub(crate) fn ensure_companions(path: &Path) -> Result<(), Fault> {
    for suffix in ["-journal", "-wal", "-shm"] {
        let file = beside(path, suffix);
        match fs::symlink_metadata(&file) {
            Ok(found) if !found.is_file() => {
                return Err(strange(&file, "is a link, a directory, a pipe or a device"));
            }
            Ok(_) if suffix == "-journal" && names_another(&file).unwrap_or(false) => {
                return Err(strange(
                    &file,
                    "names another file, which SQLite would delete",
                ));
            }
            // What cannot be read is SQLite's to report.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn strange(file: &Path, why: &str) -> Fault {
    StoreError::bad_input(format!("{} beside the store {STORE} {why}", file.display()))
        .hint("SQLite would treat it as part of the store; remove it if you do not know it")
        .into()
}

fn names_another(journal: &Path) -> io::Result<bool> {
    let mut file: File = fslab_sys::open_regular(journal)?;
    let mut end = [0; MAGIC.len()];
    if file.metadata()?.len() < 16 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-(MAGIC.len() as i64)))?;
    file.read_exact(&mut end)?;
    Ok(end == MAGIC)
}
