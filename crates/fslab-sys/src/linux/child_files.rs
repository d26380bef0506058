//! Files without a name that a child process gets: memory, a pipe with its content, a socket.
//!
//! A command owns what it gives its child: it is dropped with the command.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

use rustix::fs::{MemfdFlags, SeekFrom};

use super::process::inherit;

/// Memory of `bytes` zeros as a file.
pub fn memory_file(bytes: u64) -> io::Result<File> {
    let file = File::from(rustix::fs::memfd_create("fslab", MemfdFlags::CLOEXEC)?);
    file.set_len(bytes)?;
    Ok(file)
}

/// The next of a memory file's bytes from `offset` that take memory; `None` if all of the rest are
/// zeros that take none.
pub fn next_used(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Err(rustix::io::Errno::NXIO) => Ok(None),
        at => Ok(Some(at?)),
    }
}

/// Gives `file` to the process of `command`, and returns its descriptor there.
pub fn give_to_child(command: &mut Command, file: File) -> i32 {
    give(command, file.into())
}

fn give(command: &mut Command, file: OwnedFd) -> i32 {
    let descriptor = file.as_raw_fd();
    inherit(command, file);
    descriptor
}

/// Gives the process of `command` a pipe with `content`, and returns its descriptor there: memory
/// as a file if a pipe does not hold so much.
pub fn give_content_to_child(command: &mut Command, content: &[u8]) -> io::Result<i32> {
    let (reader, mut writer) = io::pipe()?;
    let flags = rustix::fs::fcntl_getfl(&writer)?;
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK)?;
    match writer.write_all(content) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let mut memory = memory_file(0)?;
            memory.write_all(content)?;
            memory.rewind()?;
            Ok(give_to_child(command, memory))
        }
        written => written.map(|()| give(command, reader.into())),
    }
}

/// Gives the process of `command` one end of a stream, and returns the other end and the descriptor
/// there.
pub fn give_stream_to_child(command: &mut Command) -> io::Result<(UnixStream, i32)> {
    let (here, there) = UnixStream::pair()?;
    Ok((here, give(command, there.into())))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use super::*;

    fn shell(script: String, mut command: Command) -> String {
        command.arg("-c").arg(script).stdout(Stdio::piped());
        let output = command.output().expect("runs");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn a_child_writes_memory_that_this_process_reads() {
        let mut memory = memory_file(16).expect("made");
        let mut command = Command::new("bash");
        let descriptor = give_to_child(&mut command, memory.try_clone().expect("cloned"));
        let path = format!("/proc/self/fd/{descriptor}");
        shell(format!("printf hello 1<>{path} >{path}"), command);
        memory.rewind().expect("rewound");
        let mut text = Vec::new();
        memory.read_to_end(&mut text).expect("read");
        assert!(text.starts_with(b"hello"));
    }

    #[test]
    fn what_was_not_written_of_memory_takes_none() {
        use std::os::unix::fs::FileExt;
        let memory = memory_file(1 << 30).expect("made");
        assert_eq!(next_used(&memory, 0).expect("found"), None);
        memory.write_all_at(b"x", 1 << 29).expect("written");
        let page = next_used(&memory, 4096).expect("found").expect("there");
        assert!(page <= 1 << 29 && page > (1 << 29) - (1 << 22), "{page}");
        assert_eq!(
            next_used(&memory, (1 << 29) + (1 << 22)).expect("found"),
            None
        );
    }

    #[test]
    fn a_child_reads_a_pipe_to_its_end() {
        let mut command = Command::new("bash");
        let content = vec![b'x'; 40_000];
        let descriptor = give_content_to_child(&mut command, &content).expect("given");
        assert_eq!(shell(format!("cat <&{descriptor}"), command).len(), 40_000);
        let mut command = Command::new("bash");
        // More than a pipe holds.
        let content = vec![b'x'; 1 << 22];
        let descriptor = give_content_to_child(&mut command, &content).expect("given");
        let text = shell(format!("cat <&{descriptor}"), command);
        assert_eq!(text.len(), content.len());
    }

    #[test]
    fn the_other_end_of_a_stream_is_closed_once_the_child_has_ended() {
        let mut command = Command::new("bash");
        let (mut here, descriptor) = give_stream_to_child(&mut command).expect("given");
        shell(format!("echo done >&{descriptor}"), command);
        let mut text = String::new();
        here.read_to_string(&mut text).expect("read");
        assert_eq!(text, "done\n");
    }
}
