//! Reads the dependencies of x86-64 programs and libraries from the dynamic section.

use std::fs;
use std::path::{Path, PathBuf};

use crate::LabError;

const MAGIC: &[u8] = b"\x7fELF";
/// 64-bit, little-endian.
const CLASS_AND_DATA: [u8; 2] = [2, 1];
/// Machine type x86-64.
const X86_64: u64 = 62;
/// Bytes of a program header.
const HEADER: usize = 56;
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
    /// Reads the file at `path`; `None` if it is no program or library for x86-64.
    ///
    /// # Errors
    /// [`LabError::Io`]; [`LabError::BadProgram`] if it is damaged.
    pub fn read(path: &Path) -> Result<Option<Self>, LabError> {
        let bytes = fs::read(path).map_err(LabError::io("read", path))?;
        if !bytes.starts_with(MAGIC) || bytes.get(4..6) != Some(&CLASS_AND_DATA) {
            return Ok(None);
        }
        let damaged = || LabError::BadProgram {
            path: path.to_owned(),
            reason: "its headers are damaged".to_owned(),
        };
        let file = Headers(&bytes);
        if file.number(18, 2).ok_or_else(damaged)? != X86_64 {
            return Ok(None);
        }
        file.parse().map(Some).ok_or_else(damaged)
    }
}

/// An untrusted file: every offset is checked.
struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    fn parse(&self) -> Option<Elf> {
        let mut elf = Elf::default();
        let first = self.number(32, 8)?;
        let headers: Vec<usize> = (0..self.number(56, 2)?)
            .map(|at| usize::try_from(first.checked_add(at * HEADER as u64)?).ok())
            .collect::<Option<_>>()?;
        for &header in &headers {
            match self.number(header, 4)? {
                PT_INTERP => {
                    let text = self.part(self.number(header + 8, 8)?, self.number(header + 32, 8)?);
                    elf.interpreter = Some(text_at(text?, 0)?.into());
                }
                PT_LOAD => {
                    let end = self
                        .number(header + 8, 8)?
                        .checked_add(self.number(header + 32, 8)?)?;
                    elf.loaded_bytes = elf.loaded_bytes.max(end);
                }
                PT_DYNAMIC => {
                    let section =
                        self.part(self.number(header + 8, 8)?, self.number(header + 32, 8)?)?;
                    self.parse_dynamic(section, &headers, &mut elf)?;
                }
                _ => {}
            }
        }
        Some(elf)
    }

    fn parse_dynamic(&self, section: &[u8], headers: &[usize], elf: &mut Elf) -> Option<()> {
        let section = Headers(section);
        let entries: Vec<(u64, u64)> = (0..section.0.len() / 16)
            .map(|at| Some((section.number(at * 16, 8)?, section.number(at * 16 + 8, 8)?)))
            .take_while(|entry| entry.is_none_or(|(tag, _)| tag != DT_NULL))
            .collect::<Option<_>>()?;
        let value = |wanted| {
            entries
                .iter()
                .find(|(tag, _)| *tag == wanted)
                .map(|it| it.1)
        };
        let (Some(address), Some(length)) = (value(DT_STRTAB), value(DT_STRSZ)) else {
            return Some(());
        };
        let names = self.part(self.offset_of(address, headers)?, length)?;
        for (tag, at) in &entries {
            if *tag == DT_NEEDED {
                elf.needed
                    .push(text_at(names, usize::try_from(*at).ok()?)?.to_owned());
            }
        }
        // The names of versions are in the same string table.
        let versions = names.split(|byte| *byte == 0).filter_map(glibc_version);
        elf.glibc = versions.max();
        Some(())
    }

    /// File offset of the data loaded at `address`.
    fn offset_of(&self, address: u64, headers: &[usize]) -> Option<u64> {
        headers.iter().find_map(|&header| {
            let start = self.number(header + 16, 8)?;
            let is_here = self.number(header, 4)? == PT_LOAD
                && address >= start
                && address - start < self.number(header + 32, 8)?;
            is_here.then(|| self.number(header + 8, 8)?.checked_add(address - start))?
        })
    }

    fn part(&self, offset: u64, length: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.0.get(start..end)
    }

    fn number(&self, offset: usize, length: usize) -> Option<u64> {
        let bytes = self.0.get(offset..offset.checked_add(length)?)?;
        let number = bytes.iter().rev();
        Some(number.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
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

/// Finds a library by name in this machine's library folders.
#[must_use]
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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "#!/bin/sh\n").expect("written");
        assert_eq!(Elf::read(&path).expect("read"), None);
        let running = std::env::current_exe().expect("it runs");
        let mut bytes = fs::read(running).expect("read");
        bytes.truncate(200);
        fs::write(&path, bytes).expect("written");
        assert!(matches!(Elf::read(&path), Err(LabError::BadProgram { .. })));
    }
}
