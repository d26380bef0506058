//! Files padded to a power of two: what a PC maps as memory of a device must have such a size.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use fslab_sys::AtomicFile;

use crate::LabError;

/// The least size: a page.
const BYTES_MIN: u64 = 4096;

/// The size of a file of `bytes` after padding.
#[must_use]
pub fn padded_bytes(bytes: u64) -> u64 {
    bytes.max(BYTES_MIN).next_power_of_two()
}

/// A copy of `file` beside it, padded with zeros that take no space. Made once.
///
/// # Errors
/// [`LabError::Io`] if it cannot be written.
pub fn padded(file: &Path) -> Result<PathBuf, LabError> {
    let about = file.metadata().map_err(LabError::io("find", file))?;
    let bytes = padded_bytes(about.len());
    if bytes == about.len() {
        return Ok(file.to_owned());
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".padded");
    let copy = file.with_file_name(name);
    if copy
        .metadata()
        .is_ok_and(|it| it.is_file() && it.len() == bytes)
    {
        return Ok(copy);
    }
    write(file, &copy, bytes).map_err(LabError::io("write", &copy))?;
    Ok(copy)
}

/// Writes `copy`, the bytes of `file` padded in the same way: where [`padded`] cannot, since the
/// folder of the file belongs to another user or is read-only.
///
/// # Errors
/// Those of reading and writing.
pub fn write_padded(file: &Path, copy: &Path) -> io::Result<()> {
    write(file, copy, padded_bytes(file.metadata()?.len()))
}

/// Other trials, of this process and of others, may do the same at this time.
fn write(file: &Path, copy: &Path, bytes: u64) -> io::Result<()> {
    let mut output = AtomicFile::create(copy)?;
    io::copy(&mut File::open(file)?, &mut output)?;
    output.extend_to(bytes)?;
    output.commit()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_copy_has_the_bytes_of_the_file_and_zeros_up_to_a_power_of_two() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.img");
        fs::write(&file, [7; 5000]).expect("written");
        let copy = padded(&file).expect("written");
        assert_eq!(copy, folder.path().join("a.img.padded"));
        let bytes = fs::read(&copy).expect("read");
        assert_eq!((bytes.len(), &bytes[..5000]), (8192, &[7; 5000][..]));
        assert!(bytes[5000..].iter().all(|byte| *byte == 0));
        assert_eq!(padded(&copy).expect("padded already"), copy);
        assert_eq!(padded(&file).expect("made already"), copy);
        assert_eq!((padded_bytes(0), padded_bytes(4097)), (4096, 8192));
    }

    #[test]
    fn trials_that_begin_together_all_get_the_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.img");
        fs::write(&file, vec![7; 3 << 20]).expect("written");
        for _ in 0..20 {
            let copies: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| padded(&file))).collect();
                let ends = threads.into_iter().map(|it| it.join().expect("ends"));
                ends.collect()
            });
            for copy in copies {
                let copy = copy.expect("written");
                assert_eq!(copy.metadata().expect("is there").len(), 4 << 20);
            }
            fs::remove_file(folder.path().join("a.img.padded")).expect("removed");
        }
        let left = fs::read_dir(folder.path()).expect("listed");
        assert_eq!(left.count(), 1, "no draft is left");
    }
}
