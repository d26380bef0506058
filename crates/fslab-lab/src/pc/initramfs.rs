//! Writes an initramfs: a cpio archive of the format `newc`, the same bytes for the same files.
//! Format: Documentation/driver-api/early-userspace/buffer-format.rst of Linux.

use std::io::{self, Write};

/// Mode bits of cpio(5).
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// Name of the last entry.
const TRAILER: &str = "TRAILER!!!";

/// An archive that is being written. Entries are owned by root and have the time 0.
pub(super) struct Initramfs<W> {
    out: W,
    entries: u32,
}

/// An entry: its mode, and the device numbers of a device.
#[derive(Clone, Copy)]
struct Entry<'a> {
    name: &'a str,
    mode: u32,
    device: (u32, u32),
    links: u32,
    content: &'a [u8],
}

impl<W: Write> Initramfs<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, entries: 0 }
    }

    /// Adds a folder; `name` is relative to the root.
    pub(super) fn folder(&mut self, name: &str) -> io::Result<()> {
        self.entry(Entry {
            name,
            mode: DIRECTORY | 0o755,
            device: (0, 0),
            links: 2,
            content: &[],
        })
    }

    /// Adds a file with the permissions `mode`.
    pub(super) fn file(&mut self, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        self.entry(Entry {
            name,
            mode: REGULAR | mode,
            device: (0, 0),
            links: 1,
            content,
        })
    }

    /// Adds the console, which init has as its standard files.
    pub(super) fn console(&mut self) -> io::Result<()> {
        self.entry(Entry {
            name: "dev/console",
            mode: CHARACTER_DEVICE | 0o600,
            device: (5, 1),
            links: 1,
            content: &[],
        })
    }

    /// Writes the end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.entries = u32::MAX;
        self.entry(Entry {
            name: TRAILER,
            mode: 0,
            device: (0, 0),
            links: 1,
            content: &[],
        })?;
        self.out.flush()
    }

    fn entry(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.entries = self.entries.wrapping_add(1);
        let bytes = u32::try_from(entry.content.len())
            .map_err(|_| io::Error::other("a file of an initramfs has at most 4 GiB"))?;
        let name_bytes = u32::try_from(entry.name.len() + 1).unwrap_or(u32::MAX);
        let (major, minor) = entry.device;
        let fields = [
            self.entries,
            entry.mode,
            0,
            0,
            entry.links,
            0,
            bytes,
            0,
            0,
            major,
            minor,
            name_bytes,
            0,
        ];
        let mut header = String::from("070701");
        for field in fields {
            header.push_str(&format!("{field:08X}"));
        }
        self.out.write_all(header.as_bytes())?;
        self.out.write_all(entry.name.as_bytes())?;
        self.out.write_all(&[0])?;
        self.pad(header.len() + entry.name.len() + 1)?;
        self.out.write_all(entry.content)?;
        self.pad(entry.content.len())
    }

    /// Pads what has `bytes` to a multiple of four.
    fn pad(&mut self, bytes: usize) -> io::Result<()> {
        let over = bytes.next_multiple_of(4) - bytes;
        self.out.write_all(&[0; 3][..over])
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn archive() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut initramfs = Initramfs::new(&mut bytes);
        initramfs.folder("dev").expect("written");
        initramfs.console().expect("written");
        initramfs
            .file("init", 0o755, b"#!/bin/sh\n")
            .expect("written");
        initramfs.file("empty", 0o644, b"").expect("written");
        initramfs.finish().expect("written");
        bytes
    }

    #[test]
    fn an_archive_has_the_same_bytes_every_time_and_its_parts_are_aligned() {
        let bytes = archive();
        assert_eq!(bytes, archive());
        assert_eq!(bytes.len() % 4, 0);
        assert!(bytes.starts_with(b"070701"));
    }

    #[test]
    fn cpio_lists_what_was_added_with_modes_and_device_numbers() {
        let started = Command::new("cpio")
            .args(["--list", "--verbose", "--quiet", "--numeric-uid-gid"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut cpio) = started else {
            println!("skipped: this machine has no cpio");
            return;
        };
        let mut input = cpio.stdin.take().expect("a pipe");
        input.write_all(&archive()).expect("read by cpio");
        drop(input);
        let output = cpio.wait_with_output().expect("ends");
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<_> = text.lines().collect();
        let starts = ["drwxr-xr-x", "crw-------", "-rwxr-xr-x", "-rw-r--r--"];
        assert_eq!(lines.len(), starts.len(), "{text}");
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.starts_with(start), "{text}");
        }
        assert!(lines[1].contains("5,   1"), "{text}");
    }
}
