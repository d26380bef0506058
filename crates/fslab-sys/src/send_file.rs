//! Moves a file's data to a socket inside the kernel.

use std::io;
use std::os::fd::AsFd;

/// Sends up to `count` bytes of `file`, from `offset` on, to `socket`: sendfile(2). Gives how many
/// it sent; 0 at the end of the file.
///
/// # Errors
/// That of sendfile(2): EINVAL where the file system does not support it.
pub fn send_file(
    socket: impl AsFd,
    file: impl AsFd,
    mut offset: u64,
    count: usize,
) -> io::Result<usize> {
    loop {
        match rustix::fs::sendfile(&socket, &file, Some(&mut offset), count) {
            Err(rustix::io::Errno::INTR) => {}
            sent => return Ok(sent?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_part_of_a_file_arrives_at_the_other_end() {
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
