//! Files padded to a power of two: what a PC maps as memory of a device must have such a size.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fslab_sys::AtomicFile;

use crate::LabError;

/// Bytes that are compared at a time.
const PART: usize = 1 << 20;
/// The least size: a page.
const BYTES_MIN: u64 = 4096;

/// The size of a file of `bytes` after padding.
pub fn padded_bytes(bytes: u64) -> u64 {
    bytes.max(BYTES_MIN).next_power_of_two()
}

/// A copy of `file` beside it, padded with zeros that take no space. Made once, and again if it is
/// damaged: guests map the copy, and the digest is that of the file.
pub fn padded(file: &Path) -> Result<PathBuf, LabError> {
    let about = file.metadata().map_err(LabError::io("find", file))?;
    let bytes = padded_bytes(about.len());
    if bytes == about.len() {
        return Ok(file.to_owned());
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".padded");
    let copy = file.with_file_name(name);
    if is_copy(file, &copy, bytes).unwrap_or(false) {
        return Ok(copy);
    }
    write(file, &copy, bytes).map_err(LabError::io("write", &copy))?;
    Ok(copy)
}

/// True if `copy` has `bytes` bytes: those of `file`, and zeros behind them.
fn is_copy(file: &Path, copy: &Path, bytes: u64) -> io::Result<bool> {
    let (mut file, mut copy) = (File::open(file)?, fslab_sys::open_regular(copy)?);
    if copy.metadata()?.len() != bytes {
        return Ok(false);
    }
    let (mut part, mut same) = (vec![0; PART], vec![0; PART]);
    loop {
        let length = file.read(&mut part)?;
        if length == 0 {
            break;
        }
        copy.read_exact(&mut same[..length])?;
        if part[..length] != same[..length] {
            return Ok(false);
        }
    }
    part.fill(0);
    loop {
        let length = copy.read(&mut same)?;
        if length == 0 {
            return Ok(true);
        }
        if same[..length] != part[..length] {
            return Ok(false);
        }
    }
}

/// Writes `copy`, the bytes of `file` padded in the same way: where [`padded`] cannot, since the
/// directory of the file belongs to another user or is read-only.
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
        let folder = tempfile::tempdir().expect("a directory");
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

    /// A copy was believed by its length alone.
    #[test]
    fn a_damaged_copy_is_made_again() {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("a.img");
        fs::write(&file, vec![7; (1 << 20) + 5000]).expect("written");
        let copy = padded(&file).expect("written");
        let sound = fs::read(&copy).expect("read");
        for at in [
            0,
            1 << 20,
            (1 << 20) + 4999,
            (1 << 20) + 5000,
            sound.len() - 1,
        ] {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            fs::write(&copy, &damaged).expect("damaged");
            assert_eq!(padded(&file).expect("written"), copy);
            assert!(fs::read(&copy).expect("read") == sound, "byte {at}");
        }
    }

    #[test]
    fn trials_that_begin_together_all_get_the_copy() {
        let folder = tempfile::tempdir().expect("a directory");
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
