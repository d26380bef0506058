//! Reads the dependencies of x86-64 programs and libraries from the dynamic section.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use object::LittleEndian as Little;
use object::elf::{DT_NEEDED, DT_NULL, DT_STRSZ, DT_STRTAB, EM_X86_64, FileHeader64, PT_LOAD};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef, StringTable};

use crate::LabError;

/// Start of a file for a 64-bit, little-endian machine.
const MAGIC: [u8; 6] = *b"\x7fELF\x02\x01";

type Header = FileHeader64<Little>;
type Segments<'a> = &'a [<Header as FileHeader>::ProgramHeader];

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
        let mut start = Vec::new();
        let mut whole = file;
        let begun = whole.rewind().and_then(|()| {
            let head = whole.take(MAGIC.len() as u64);
            { head }.read_to_end(&mut start)
        });
        begun.map_err(LabError::io("read", path))?;
        if start != MAGIC {
            return Ok(None);
        }
        parse(&ReadCache::new(file))
            .map_err(|_| LabError::bad_program(path, "its headers are damaged"))
    }
}

/// What a header says is not in the file, or is none.
struct Damaged;

impl From<object::Error> for Damaged {
    fn from(_: object::Error) -> Self {
        Self
    }
}

fn parse(file: &ReadCache<&File>) -> Result<Option<Elf>, Damaged> {
    let header = Header::parse(file)?;
    if header.e_machine(Little) != EM_X86_64 {
        return Ok(None);
    }
    let segments = header.program_headers(Little, file)?;
    let mut elf = Elf::default();
    for segment in segments {
        if let Some(name) = segment.interpreter(Little, file)? {
            elf.interpreter = Some(text(name)?.into());
        }
        if segment.p_type(Little) == PT_LOAD {
            let (offset, bytes) = segment.file_range(Little);
            let end = offset.checked_add(bytes).ok_or(Damaged)?;
            elf.loaded_bytes = elf.loaded_bytes.max(end);
        }
        if let Some(entries) = segment.dynamic(Little, file)? {
            parse_dynamic(file, entries, segments, &mut elf)?;
        }
    }
    Ok(Some(elf))
}

fn parse_dynamic(
    file: &ReadCache<&File>,
    entries: &[impl Dyn<Endian = Little, Word: Into<u64>>],
    segments: Segments<'_>,
    elf: &mut Elf,
) -> Result<(), Damaged> {
    let values = |wanted| {
        let entries = entries.iter().map(|it| (it.tag(Little), it.val(Little)));
        let entries = entries.take_while(|(tag, _)| *tag != DT_NULL);
        entries.filter_map(move |(tag, value)| (tag == wanted).then_some(value))
    };
    let (Some(address), Some(length)) = (values(DT_STRTAB).next(), values(DT_STRSZ).next()) else {
        return Ok(());
    };
    let offset = offset_of(address, segments).ok_or(Damaged)?;
    let names = file.read_bytes_at(offset, length).map_err(|()| Damaged)?;
    let table = StringTable::new(names, 0, length);
    for at in values(DT_NEEDED) {
        let at = u32::try_from(at).map_err(|_| Damaged)?;
        let name = table.get(at).map_err(|()| Damaged)?;
        elf.needed.push(text(name)?.to_owned());
    }
    // The names of versions are in the same string table.
    let versions = names.split(|byte| *byte == 0).filter_map(glibc_version);
    elf.glibc = versions.max();
    Ok(())
}

/// File offset of the data loaded at `address`.
fn offset_of(address: u64, segments: Segments<'_>) -> Option<u64> {
    segments.iter().find_map(|segment| {
        let distance = address.checked_sub(segment.p_vaddr(Little))?;
        let (offset, bytes) = segment.file_range(Little);
        let is_here = segment.p_type(Little) == PT_LOAD && distance < bytes;
        is_here.then(|| offset.checked_add(distance))?
    })
}

fn text(name: &[u8]) -> Result<&str, Damaged> {
    std::str::from_utf8(name).map_err(|_| Damaged)
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
