//! The file that the emulator boots: the kernel's ELF file, taken out of its bzImage.
//!
//! A bzImage decompresses itself in the guest, which takes seconds of real time when instructions
//! are counted. An ELF file with a PVH entry (CONFIG_PVH) is loaded by the emulator. The header of
//! a bzImage is described in the kernel's Documentation/arch/x86/boot.rst.

use std::fs;
use std::path::Path;

use crate::LabError;
use crate::build_dir::BuildDir;
use crate::tools::{self, BuildTool, tool};

/// Offset and value of the header's magic number.
const MAGIC: (usize, &[u8]) = (0x202, b"HdrS");
/// Offset of the protocol's version; the fields of the payload came with 2.08.
const VERSION: (usize, u16) = (0x206, 0x0208);
/// Offset of the number of sectors before the protected-mode code, less one.
const SETUP_SECTORS: usize = 0x1f1;
const SECTOR: usize = 512;
/// Offsets of the payload's place in the protected-mode code, and of its length.
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;
/// The build appends the length of the decompressed kernel.
const APPENDED: usize = 4;

/// How a kernel is compressed: its first bytes, and the program that reads it.
const COMPRESSIONS: [(&[u8], BuildTool); 3] = [
    (&[0x1f, 0x8b], tool("gzip", "gzip")),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], tool("xz", "xz-utils")),
    (&[0x28, 0xb5, 0x2f, 0xfd], tool("zstd", "zstd")),
];

const ELF: &[u8] = b"\x7fELF";
/// The end of the head of the note XEN_ELFNOTE_PHYS32_ENTRY: its type and its owner.
const PVH_NOTE: &[u8] = b"\x12\0\0\0Xen\0";

/// Writes the kernel `from` to `to`: as an ELF file where it has a PVH entry, else as it is.
///
/// # Errors
/// [`LabError`]: a program is missing, or a file cannot be read or written.
pub(super) fn write(from: &Path, to: &Path, build_dir: &mut BuildDir<'_>) -> Result<(), LabError> {
    let image = fs::read(from).map_err(LabError::io("read", from))?;
    let kernel = match Payload::of(&image) {
        Some(payload) => payload.decompress(build_dir)?,
        None => Vec::new(),
    };
    let is_bootable = kernel.starts_with(ELF) && has_pvh_entry(&kernel);
    let bytes = if is_bootable { &kernel } else { &image };
    fs::write(to, bytes).map_err(LabError::io("write", to))
}

fn has_pvh_entry(kernel: &[u8]) -> bool {
    kernel
        .windows(PVH_NOTE.len())
        .any(|bytes| bytes == PVH_NOTE)
}

/// The compressed kernel in a bzImage.
#[derive(Debug, PartialEq, Eq)]
struct Payload<'a> {
    bytes: &'a [u8],
    program: BuildTool,
}

impl<'a> Payload<'a> {
    /// `None` for another format, and for a compression that is not read.
    fn of(image: &'a [u8]) -> Option<Self> {
        let field = |at: usize, bytes: usize| image.get(at..at + bytes);
        let number = |at: usize| Some(u32::from_le_bytes(field(at, 4)?.try_into().ok()?) as usize);
        let version = u16::from_le_bytes(field(VERSION.0, 2)?.try_into().ok()?);
        if field(MAGIC.0, MAGIC.1.len())? != MAGIC.1 || version < VERSION.1 {
            return None;
        }
        let code = (usize::from(*image.get(SETUP_SECTORS)?) + 1) * SECTOR;
        let begin = code.checked_add(number(PAYLOAD_OFFSET)?)?;
        let end = begin.checked_add(number(PAYLOAD_LENGTH)?)?;
        let bytes = image.get(begin..end.checked_sub(APPENDED)?)?;
        let (_, program) = COMPRESSIONS
            .into_iter()
            .find(|(magic, _)| bytes.starts_with(magic))?;
        // The length at the end of gzip's format is the appended one.
        let end = if program.program == "gzip" {
            end
        } else {
            end - APPENDED
        };
        Some(Self {
            bytes: &image[begin..end],
            program,
        })
    }

    fn decompress(&self, build_dir: &mut BuildDir<'_>) -> Result<Vec<u8>, LabError> {
        tools::demand_none(&tools::missing_of(&[self.program]))?;
        let compressed = build_dir.path("kernel.compressed");
        fs::write(&compressed, self.bytes).map_err(LabError::io("write", &compressed))?;
        let mut command = build_dir.command(self.program.program);
        command.args(["--decompress", "--stdout"]);
        command.stdin(fs::File::open(&compressed).map_err(LabError::io("read", &compressed))?);
        build_dir.ask("decompress the kernel", command)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// What `program` makes of `kernel`, with its length behind it if the format has none.
    fn compressed(program: &str, kernel: &[u8]) -> Vec<u8> {
        let mut child = Command::new(program)
            .args(["--stdout"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(kernel).expect("written");
        drop(input);
        let mut bytes = child.wait_with_output().expect("ended").stdout;
        if program != "gzip" {
            bytes.extend((kernel.len() as u32).to_le_bytes());
        }
        bytes
    }

    /// A bzImage with two sectors of setup and the payload 16 bytes behind them.
    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 3 * SECTOR + 16];
        image[SETUP_SECTORS] = 2;
        image[MAGIC.0..MAGIC.0 + 4].copy_from_slice(MAGIC.1);
        image[VERSION.0..VERSION.0 + 2].copy_from_slice(&0x020f_u16.to_le_bytes());
        image[PAYLOAD_OFFSET] = 16;
        let length = (payload.len() as u32).to_le_bytes();
        image[PAYLOAD_LENGTH..PAYLOAD_LENGTH + 4].copy_from_slice(&length);
        image.extend(payload);
        image.extend(b"behind the payload");
        image
    }

    /// What is stored of `image`.
    fn stored(image: &[u8]) -> Vec<u8> {
        let place = tempfile::tempdir().expect("a directory");
        let (from, to) = (place.path().join("bzImage"), place.path().join("linux"));
        fs::write(&from, image).expect("written");
        let (stop, mut listener) = (AtomicBool::new(false), |_| {});
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        let mut build_dir = BuildDir::open(&folder, &log, &stop, &mut listener).expect("opened");
        write(&from, &to, &mut build_dir).expect("stored");
        fs::read(to).expect("read")
    }

    #[test]
    fn a_kernel_with_a_pvh_entry_is_stored_decompressed() {
        let mut kernel = ELF.to_vec();
        kernel.extend(b"\x04\0\0\0\x08\0\0\0\x12\0\0\0Xen\0\0\0\0\x01");
        for program in ["gzip", "xz"] {
            let image = image(&compressed(program, &kernel));
            assert_eq!(stored(&image), kernel, "{program}");
        }
    }

    #[test]
    fn without_a_pvh_entry_and_in_other_formats_a_kernel_stays_as_it_is() {
        let without = image(&compressed("gzip", b"\x7fELF of an old kernel"));
        let unknown = image(b"\x02\x21\x4c\x18 lz4, which nothing here reads");
        let truncated = &without[..SECTOR * 3];
        for kernel in [&without[..], &unknown, truncated, b"no kernel", b""] {
            assert_eq!(stored(kernel), kernel);
        }
    }
}
