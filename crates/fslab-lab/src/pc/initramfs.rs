//! Writes a lab's initramfs, a cpio archive of the format `newc`, the same bytes for the same
//! files; and makes that of a guest of it, without modules that the guest does not load.
//! Format: Documentation/driver-api/early-userspace/buffer-format.rst of Linux.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Write};
use std::path::Path;

use cpio::newc;

/// Mode bits of cpio(5).
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// Name of the last entry.
const TRAILER: &str = "TRAILER!!!";
/// Bytes of an entry before its name.
const HEADER_BYTES: usize = 110;

/// Directories of modules, and of lists of them: paths from the root, one per line.
pub(super) const FILES: &str = "files";
pub(super) const LISTS: &str = "modules";
/// The list of what every guest loads.
pub(super) const BASE_LIST: &str = "base";
/// Kernel parameters of the lab's guests, one per line; it is for the host alone. An archive
/// without it was written by an earlier fslab, and a guest has all of it.
pub(super) const PARAMETERS: &str = "parameters";

/// An archive that is being written. Entries are owned by root and have the time 0.
pub(super) struct Initramfs<W> {
    out: W,
    entries: u32,
}

impl<W: Write> Initramfs<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, entries: 0 }
    }

    /// Adds a directory; `name` is relative to the root.
    pub(super) fn folder(&mut self, name: &str) -> io::Result<()> {
        let folder = newc::Builder::new(name).mode(DIRECTORY | 0o755).nlink(2);
        self.entry(folder, &[])
    }

    /// Adds a file with the permissions `mode`.
    pub(super) fn file(&mut self, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        self.entry(newc::Builder::new(name).mode(REGULAR | mode), content)
    }

    /// Adds the console, which init has as its standard files.
    pub(super) fn console(&mut self) -> io::Result<()> {
        let console = newc::Builder::new("dev/console").mode(CHARACTER_DEVICE | 0o600);
        self.entry(console.rdev_major(5).rdev_minor(1), &[])
    }

    /// Writes the end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out
            .write_all(&header(newc::Builder::new(TRAILER), 0)?)?;
        self.out.flush()
    }

    fn entry(&mut self, entry: newc::Builder, content: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let bytes = u32::try_from(content.len())
            .map_err(|_| io::Error::other("a file of an initramfs has at most 4 GiB"))?;
        self.out
            .write_all(&header(entry.ino(self.entries), bytes)?)?;
        self.out.write_all(content)?;
        let over = content.len().next_multiple_of(4) - content.len();
        self.out.write_all(&[0; 3][..over])
    }
}

/// An entry up to its content of `bytes`. Its digits are upper case, as they always were: the same
/// archive has the same bytes.
fn header(entry: newc::Builder, bytes: u32) -> io::Result<Vec<u8>> {
    let mut header = entry.write(Vec::new(), bytes).finish()?;
    header[..HEADER_BYTES].make_ascii_uppercase();
    Ok(header)
}

/// An entry as it stands in an archive.
struct Stored<'a> {
    name: &'a str,
    content: &'a [u8],
    /// All of it, with its padding.
    bytes: &'a [u8],
}

/// The entry at the start of `archive`; `None` if there is none.
fn first(archive: &[u8]) -> Option<Stored<'_>> {
    let mut reader = newc::Reader::new(Cursor::new(archive)).ok()?;
    let begin = reader.offset().ok()? as usize;
    let end = begin + reader.entry().file_size() as usize;
    let name = HEADER_BYTES..HEADER_BYTES + reader.entry().name().len();
    Some(Stored {
        name: std::str::from_utf8(archive.get(name)?).ok()?,
        content: archive.get(begin..end)?,
        bytes: archive.get(..end.next_multiple_of(4))?,
    })
}

/// The initramfs of guests, and what their kernel is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestInitramfs {
    pub archive: Vec<u8>,
    /// Kernel parameters besides those of every lab.
    pub parameters: Vec<String>,
}

/// The archive of a lab, of which its guests get parts.
pub struct LabInitramfs(Vec<u8>);

impl LabInitramfs {
    pub fn read(path: &Path) -> io::Result<Self> {
        std::fs::read(path).map(Self)
    }

    /// That of a machine of which a snapshot is taken: with the modules of every guest.
    pub fn of_snapshot(&self) -> io::Result<GuestInitramfs> {
        self.part(&[], |list| list == BASE_LIST)
    }

    /// That of a guest that loads the modules of `lists`, in a lab of which no snapshot is taken.
    pub fn of_guest(&self, lists: &[String]) -> io::Result<GuestInitramfs> {
        self.part(lists, |_| true)
    }

    fn part(
        &self,
        lists: &[String],
        is_list_kept: impl Fn(&str) -> bool,
    ) -> io::Result<GuestInitramfs> {
        let entries = entries(&self.0)?;
        let Some(parameters) = entries.iter().find(|it| it.name == PARAMETERS) else {
            return Ok(GuestInitramfs {
                archive: self.0.clone(),
                parameters: Vec::new(),
            });
        };
        let is_needed = |list: &str| list == BASE_LIST || lists.iter().any(|it| it == list);
        let needed: BTreeSet<String> = entries
            .iter()
            .filter(|entry| entry.below(LISTS).is_some_and(is_needed))
            .flat_map(Stored::lines)
            .collect();
        let is_kept = |entry: &&Stored<'_>| match (entry.below(FILES), entry.below(LISTS)) {
            (Some(_), _) => needed.contains(&format!("/{}", entry.name)),
            (None, Some(list)) => is_list_kept(list),
            (None, None) => entry.name != PARAMETERS,
        };
        let kept: Vec<_> = entries.iter().filter(is_kept).map(|it| it.bytes).collect();
        Ok(GuestInitramfs {
            archive: kept.concat(),
            parameters: parameters.lines(),
        })
    }

    /// The modules of `lists`, in the order in which they are loaded, without those of every guest.
    pub fn modules(&self, lists: &[String]) -> io::Result<Vec<&[u8]>> {
        let entries = entries(&self.0)?;
        let paths = |list: &str| {
            let stored = entries.iter().find(|it| it.below(LISTS) == Some(list));
            stored.map_or_else(Vec::new, Stored::lines)
        };
        let mut begun: BTreeSet<String> = paths(BASE_LIST).into_iter().collect();
        let needed = lists.iter().flat_map(|list| paths(list));
        let needed = needed.filter(|path| begun.insert(path.clone()));
        let module = |path: String| {
            let name = path.strip_prefix('/');
            let stored = entries.iter().find(|it| name == Some(it.name));
            stored.map(|it| it.content).ok_or_else(|| {
                let text = format!("the initramfs lists {path}, which it does not have");
                io::Error::new(io::ErrorKind::InvalidData, text)
            })
        };
        needed.map(module).collect()
    }
}

impl Stored<'_> {
    /// Its name in the directory `folder`; `None` if it is elsewhere.
    fn below(&self, folder: &str) -> Option<&str> {
        self.name.strip_prefix(folder)?.strip_prefix('/')
    }

    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(self.content);
        text.lines().map(str::to_owned).collect()
    }
}

/// The entries of an archive, up to its last.
fn entries(archive: &[u8]) -> io::Result<Vec<Stored<'_>>> {
    let mut entries: Vec<Stored<'_>> = Vec::new();
    let mut rest = archive;
    while entries.last().is_none_or(|last| last.name != TRAILER) {
        let entry = first(rest).ok_or_else(|| {
            let text = format!("entry {} of the initramfs is damaged", entries.len() + 1);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        rest = &rest[entry.bytes.len()..];
        entries.push(entry);
    }
    Ok(entries)
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
        // Of what the first fslab wrote: figures of a lab depend on it.
        let digest = "64a97774a895a289d293f3f96a5fad195de254cdd0f5bfeb18e0da05a4fe91b0";
        assert_eq!(fslab_model::sha256(&bytes), digest);
        assert_eq!(bytes.len() % 4, 0);
        assert!(bytes.starts_with(b"070701"));
    }

    /// With the list of every guest and two others, and with `more` files.
    fn with_modules(more: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut initramfs = Initramfs::new(&mut bytes);
        initramfs.folder("files").expect("written");
        let files = [
            ("init", "the first process"),
            ("files/erofs.ko", "erofs"),
            ("files/ext4.ko", "ext4"),
            ("files/xfs.ko", "xfs"),
            ("files/jbd2.ko", "jbd2"),
            ("modules/base", "/files/erofs.ko\n"),
            ("modules/ext4", "/files/jbd2.ko\n/files/ext4.ko\n"),
            ("modules/xfs", "/files/xfs.ko\n"),
        ];
        for (name, content) in files.iter().chain(more) {
            let written = initramfs.file(name, 0o644, content.as_bytes());
            written.expect("written");
        }
        initramfs.finish().expect("written");
        bytes
    }

    fn names(archive: &[u8]) -> Vec<&str> {
        let entries = entries(archive).expect("an archive");
        entries.iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn a_guest_has_the_modules_of_its_file_system_and_its_kernel_the_parameters() {
        let whole = with_modules(&[(PARAMETERS, "quiet\npmtmr=0\n")]);
        let expect = |list: &str, left_out: &[&str]| {
            let guest = LabInitramfs(whole.clone()).of_guest(&[list.to_owned()]);
            let guest = guest.expect("an archive");
            assert_eq!(guest.parameters, ["quiet", "pmtmr=0"]);
            let mut expected = names(&whole);
            expected.retain(|name| *name != PARAMETERS && !left_out.contains(name));
            assert_eq!(names(&guest.archive), expected, "{list}");
        };
        expect("ext4", &["files/xfs.ko"]);
        expect("xfs", &["files/ext4.ko", "files/jbd2.ko"]);
        // Built in, or not in this kernel: there is no list.
        expect("jfs", &["files/ext4.ko", "files/xfs.ko", "files/jbd2.ko"]);
    }

    #[test]
    fn a_snapshot_has_the_modules_of_every_guest_and_each_guest_those_of_its_file_system() {
        let whole = with_modules(&[(PARAMETERS, "quiet\n")]);
        let lab = LabInitramfs(whole);
        let guest = lab.of_snapshot().expect("an archive");
        let expected = ["files", "init", "files/erofs.ko", "modules/base", TRAILER];
        assert_eq!(names(&guest.archive), expected);
        let modules = |lists: &[&str]| {
            let lists: Vec<_> = lists.iter().map(|it| (*it).to_owned()).collect();
            lab.modules(&lists).expect("they are there")
        };
        assert_eq!(modules(&["ext4", "xfs"]), [&b"jbd2"[..], b"ext4", b"xfs"]);
        // What it needs was loaded by the file system before it, or by every guest.
        assert_eq!(
            modules(&["ext4", "ext4", BASE_LIST]),
            [&b"jbd2"[..], b"ext4"]
        );
        assert!(modules(&["jfs"]).is_empty());
        let lacking = with_modules(&[("modules/jfs", "/files/jfs.ko\n")]);
        let lacking = LabInitramfs(lacking);
        let error = lacking
            .modules(&["jfs".to_owned()])
            .expect_err("it is not there");
        assert!(error.to_string().contains("/files/jfs.ko"), "{error}");
    }

    // Figures of labs that exist stay as they are.
    #[test]
    fn the_archive_of_an_earlier_fslab_is_taken_as_it_is() {
        let whole = with_modules(&[]);
        let guest = LabInitramfs(whole.clone()).of_guest(&["ext4".to_owned()]);
        let guest = guest.expect("an archive");
        assert_eq!(guest.archive, whole);
        assert!(guest.parameters.is_empty());
    }

    #[test]
    fn an_archive_that_ends_early_or_has_other_numbers_is_refused() {
        let whole = with_modules(&[]);
        for end in 0..whole.len() {
            let cut = LabInitramfs(whole[..end].to_vec()).of_guest(&[]);
            assert!(cut.is_err(), "{end} of {}", whole.len());
        }
        // Bytes of the content, and of the name.
        for at in [54, 94] {
            let mut damaged = whole.clone();
            damaged[at..at + 8].copy_from_slice(b"ffffffff");
            let refused = LabInitramfs(damaged).of_guest(&[]).expect_err("too long");
            assert!(refused.to_string().contains("entry 1"), "{refused}");
        }
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
