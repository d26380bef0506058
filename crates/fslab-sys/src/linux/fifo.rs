//! Named pipes, with which a host makes a guest kernel wait, and files that it may have renamed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};

/// Makes a named pipe that this user alone can open.
pub fn make_fifo(path: &Path) -> io::Result<()> {
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::fs::mknodat(CWD, path, FileType::Fifo, mode, 0)?)
}

/// Sets how many bytes a pipe holds; the kernel rounds up to a page.
pub fn set_pipe_bytes(pipe: &File, bytes: usize) -> io::Result<()> {
    rustix::pipe::fcntl_setpipe_size(pipe, bytes)?;
    Ok(())
}

/// Opens a file again for writing, whatever has its name by now.
pub fn reopen_for_writing(file: &File) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    File::options().write(true).open(path)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// What the host of a guest relies on: a writer of a page waits until another page was read.
    #[test]
    fn a_full_pipe_of_one_page_lets_its_writer_wait() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("pipe");
        make_fifo(&path).expect("made");
        let mut pipe = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .expect("opened");
        set_pipe_bytes(&pipe, 4096).expect("set");
        pipe.write_all(&[1; 4096]).expect("there is room");
        let (sender, receiver) = channel();
        let writer = path.clone();
        std::thread::spawn(move || {
            let mut pipe = File::options().write(true).open(writer).expect("opened");
            pipe.write_all(&[2; 4096]).expect("written");
            let _ = sender.send(());
        });
        assert!(receiver.recv_timeout(Duration::from_millis(100)).is_err());
        pipe.read_exact(&mut [0; 4096]).expect("the first page");
        receiver
            .recv_timeout(Duration::from_secs(60))
            .expect("the writer goes on");
    }
}
