//! Reads the dependencies of x86-64 programs and libraries from the dynamic section.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::LabError;

const MAGIC: &[u8] = b"\x7fELF";
/// 64-bit, little-endian.
const CLASS_AND_DATA: [u8; 2] = [2, 1];
/// Machine type x86-64.
const X86_64: u64 = 62;
/// Bytes of the file's header, of a program header, of an entry of the dynamic section.
const FILE_HEADER: u64 = 64;
const HEADER: usize = 56;
const ENTRY: usize = 16;
/// Types of program headers: loaded segment, dynamic section, interpreter.
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
/// Tags of the dynamic section: end, library name, address and size of the string table.
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;

/// A program or library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elf {
    /// The program's loader.
    pub interpreter: Option<PathBuf>,
    /// Names of its libraries, in order.
    pub needed: Vec<String>,
    /// The newest glibc version that it defines or requires, such as `(2, 36)`.
    pub glibc: Option<(u32, u32)>,
    /// End of the last loaded segment in the file. Debug information and symbols follow it.
    pub loaded_bytes: u64,
}

impl Elf {
    /// Reads the file at `path`; `None` if it is no program or library for x86-64. Only the headers
    /// and what they name are read, not its code or debug information.
    pub fn read(path: &Path) -> Result<Option<Self>, LabError> {
        let file = File::open(path).map_err(LabError::io("read", path))?;
        Self::of(&file, path)
    }

    /// Reads the open `file`, whose place it moves; errors name `path`.
    pub fn of(file: &File, path: &Path) -> Result<Option<Self>, LabError> {
        let failed = |error| match error {
            PartError::Io(error) => LabError::io("read", path)(error),
            PartError::Damaged => LabError::bad_program(path, "its headers are damaged"),
        };
        let file = Parts::of(file).map_err(failed)?;
        parse(&file).map_err(failed)
    }
}

/// Why a part of a file cannot be used.
#[derive(Debug)]
enum PartError {
    Io(io::Error),
    Damaged,
}

impl From<io::Error> for PartError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An untrusted file: a part that is not in it is damage, whatever its headers say.
struct Parts<'a> {
    file: &'a File,
    bytes: u64,
}

impl<'a> Parts<'a> {
    fn of(file: &'a File) -> Result<Self, PartError> {
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }

    fn part(&self, offset: u64, length: u64) -> Result<Vec<u8>, PartError> {
        let end = offset.checked_add(length).ok_or(PartError::Damaged)?;
        if end > self.bytes {
            return Err(PartError::Damaged);
        }
        let length = usize::try_from(length).map_err(|_| PartError::Damaged)?;
        let mut part = vec![0; length];
        let mut file = self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(&mut part)?;
        Ok(part)
    }
}

/// A program header.
struct Segment {
    kind: u64,
    offset: u64,
    address: u64,
    bytes: u64,
}

fn parse(file: &Parts<'_>) -> Result<Option<Elf>, PartError> {
    let head = file.part(0, FILE_HEADER.min(file.bytes))?;
    if !head.starts_with(MAGIC) || head.get(4..6) != Some(&CLASS_AND_DATA) {
        return Ok(None);
    }
    if (head.len() as u64) < FILE_HEADER {
        return Err(PartError::Damaged);
    }
    if number(&head, 18, 2) != X86_64 {
        return Ok(None);
    }
    let headers = file.part(number(&head, 32, 8), number(&head, 56, 2) * HEADER as u64)?;
    let segments = headers.chunks_exact(HEADER).map(|header| Segment {
        kind: number(header, 0, 4),
        offset: number(header, 8, 8),
        address: number(header, 16, 8),
        bytes: number(header, 32, 8),
    });
    let segments: Vec<Segment> = segments.collect();
    let mut elf = Elf::default();
    for segment in &segments {
        match segment.kind {
            PT_INTERP => {
                let text = file.part(segment.offset, segment.bytes)?;
                elf.interpreter = Some(text_at(&text, 0).ok_or(PartError::Damaged)?.into());
            }
            PT_LOAD => {
                let end = segment.offset.checked_add(segment.bytes);
                elf.loaded_bytes = elf.loaded_bytes.max(end.ok_or(PartError::Damaged)?);
            }
            PT_DYNAMIC => {
                let section = file.part(segment.offset, segment.bytes)?;
                parse_dynamic(file, &section, &segments, &mut elf)?;
            }
            _ => {}
        }
    }
    Ok(Some(elf))
}

fn parse_dynamic(
    file: &Parts<'_>,
    section: &[u8],
    segments: &[Segment],
    elf: &mut Elf,
) -> Result<(), PartError> {
    let entries = section
        .chunks_exact(ENTRY)
        .map(|entry| (number(entry, 0, 8), number(entry, 8, 8)));
    let entries: Vec<(u64, u64)> = entries.take_while(|(tag, _)| *tag != DT_NULL).collect();
    let value = |wanted| entries.iter().find(|it| it.0 == wanted).map(|it| it.1);
    let (Some(address), Some(length)) = (value(DT_STRTAB), value(DT_STRSZ)) else {
        return Ok(());
    };
    let offset = offset_of(address, segments).ok_or(PartError::Damaged)?;
    let names = file.part(offset, length)?;
    for (_, at) in entries.iter().filter(|(tag, _)| *tag == DT_NEEDED) {
        let at = usize::try_from(*at).map_err(|_| PartError::Damaged)?;
        let name = text_at(&names, at).ok_or(PartError::Damaged)?;
        elf.needed.push(name.to_owned());
    }
    // The names of versions are in the same string table.
    let versions = names.split(|byte| *byte == 0).filter_map(glibc_version);
    elf.glibc = versions.max();
    Ok(())
}

/// File offset of the data loaded at `address`.
fn offset_of(address: u64, segments: &[Segment]) -> Option<u64> {
    segments.iter().find_map(|segment| {
        let distance = address.checked_sub(segment.address)?;
        let is_here = segment.kind == PT_LOAD && distance < segment.bytes;
        is_here.then(|| segment.offset.checked_add(distance))?
    })
}

/// A little-endian number of a header, which has these bytes.
fn number(header: &[u8], offset: usize, length: usize) -> u64 {
    let bytes = header[offset..offset + length].iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The zero-terminated text at `offset`.
fn text_at(names: &[u8], offset: usize) -> Option<&str> {
    let rest = names.get(offset..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Parses `GLIBC_2.36` into `(2, 36)`.
fn glibc_version(name: &[u8]) -> Option<(u32, u32)> {
    let version = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Finds a library by name in this machine's library directories.
pub fn find_library(name: &str) -> Option<PathBuf> {
    const FOLDERS: [&str; 6] = [
        "/usr/lib/x86_64-linux-gnu",
        "/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/lib64",
        "/usr/lib",
        "/lib",
    ];
    let mut paths = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    paths.find(|path| {
        path.metadata().is_ok_and(|found| found.is_file()) && matches!(Elf::read(path), Ok(Some(_)))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_program_names_its_loader_and_its_libraries() {
        let running = std::env::current_exe().expect("it runs");
        let elf = Elf::read(&running).expect("read").expect("a program");
        let loader = elf.interpreter.expect("it is linked dynamically");
        assert!(
            loader.ends_with("ld-linux-x86-64.so.2"),
            "{}",
            loader.display()
        );
        assert!(
            elf.needed.iter().any(|name| name == "libc.so.6"),
            "{:?}",
            elf.needed
        );
        let libc = find_library("libc.so.6").expect("there");
        let libc = Elf::read(&libc).expect("read").expect("a library");
        assert_eq!(libc.needed, ["ld-linux-x86-64.so.2"]);
        assert!(
            libc.glibc >= elf.glibc && elf.glibc > Some((2, 0)),
            "{:?}",
            elf.glibc
        );
    }

    #[test]
    fn other_files_and_truncated_programs_are_distinguished() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("file");
        fs::write(&path, "#!/bin/sh\n").expect("written");
        assert_eq!(Elf::read(&path).expect("read"), None);
        let running = std::env::current_exe().expect("it runs");
        let mut bytes = fs::read(running).expect("read");
        bytes.truncate(200);
        fs::write(&path, bytes).expect("written");
        let cut = Elf::read(&path).expect_err("cut").to_string();
        assert!(cut.ends_with("its headers are damaged"), "{cut}");
    }
}
