//! Moves a file's data to a socket inside the kernel.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Opens the file `path` below `folder` for reading with openat2(2), without blocking.
///
/// # Errors
/// That of openat2(2); `NotFound` for paths with symbolic links or out of the directory.
pub fn open_to_send(folder: impl AsFd, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(folder, path, flags, Mode::empty(), within) {
        Err(Errno::LOOP | Errno::XDEV | Errno::NOTDIR) => Err(io::ErrorKind::NotFound.into()),
        opened => Ok(opened?.into()),
    }
}

/// Sends up to `count` bytes of `file` from `offset` to `socket` with sendfile(2). Returns the
/// bytes sent; 0 at the end of the file.
///
/// # Errors
/// That of sendfile(2): EINVAL if the file system does not support it.
pub fn send_file(
    socket: impl AsFd,
    file: impl AsFd,
    mut offset: u64,
    count: usize,
) -> io::Result<usize> {
    loop {
        match rustix::fs::sendfile(&socket, &file, Some(&mut offset), count) {
            Err(Errno::INTR) => {}
            sent => return Ok(sent?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn files_below_a_folder_open_and_paths_out_of_it_do_not() {
        let folder = std::env::temp_dir().join(format!("fslab-to-send-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("site/d")).expect("made");
        std::fs::write(folder.join("secret"), "x").expect("written");
        std::fs::write(folder.join("site/d/f"), "x").expect("written");
        let secret = folder.join("secret");
        std::os::unix::fs::symlink(&secret, folder.join("site/link")).expect("a link");
        std::os::unix::fs::symlink("..", folder.join("site/up")).expect("a link");
        let site = File::open(folder.join("site")).expect("opens");
        let opened = |path: &str| open_to_send(&site, Path::new(path)).map_err(|it| it.kind());
        assert!(opened("d/f").is_ok());
        let secret = secret.to_str().expect("text");
        for path in [
            "link",
            "up/secret",
            "../secret",
            "d/../../secret",
            secret,
            "no",
            "d/f/x",
        ] {
            let kind = opened(path).expect_err(path);
            assert_eq!(kind, io::ErrorKind::NotFound, "{path}");
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_part_of_a_file_is_received() {
        let path = std::env::temp_dir().join(format!("fslab-sent-{}", std::process::id()));
        std::fs::write(&path, b"0123456789").expect("written");
        let file = File::open(&path).expect("opens");
        std::fs::remove_file(&path).expect("removed");
        let (mut here, there) = UnixStream::pair().expect("a pair");
        assert_eq!(send_file(&there, &file, 4, 3).expect("sends"), 3);
        assert_eq!(send_file(&there, &file, 10, 3).expect("is at the end"), 0);
        drop(there);
        let mut got = Vec::new();
        here.read_to_end(&mut got).expect("reads");
        assert_eq!(got, b"456");
    }
}
