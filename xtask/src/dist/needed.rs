//! The libraries that a program of another system loads: they must be of that system.

use std::path::Path;
use std::process::Command;

use crate::program::{read, text};

/// Libraries that each Windows 10 has.
const OF_WINDOWS: [&str; 14] = [
    "advapi32.dll",
    "bcrypt.dll",
    "bcryptprimitives.dll",
    "combase.dll",
    "kernel32.dll",
    "msvcrt.dll",
    "ntdll.dll",
    "ole32.dll",
    "oleaut32.dll",
    "psapi.dll",
    "shell32.dll",
    "user32.dll",
    "userenv.dll",
    "ws2_32.dll",
];
/// Begin of the names by which Windows offers parts of its libraries.
const API_SET: &str = "api-ms-win-";
/// Libraries that each FreeBSD 14 has.
const OF_FREEBSD: [&str; 5] = [
    "libc.so.7",
    "libgcc_s.so.1",
    "libm.so.5",
    "librt.so.1",
    "libthr.so.3",
];
/// Where macOS has its own libraries.
const OF_MACOS: [&str; 2] = ["/usr/lib/", "/System/Library/"];

/// The libraries that `program` loads, for the system in `triple`.
pub(super) fn of_system(program: &Path, triple: &str) -> Result<Vec<String>, String> {
    let (needed, is_known): (_, fn(&str) -> bool) = if triple.contains("windows") {
        (of_windows(program)?, |name| {
            let name = name.to_lowercase();
            name.starts_with(API_SET) || OF_WINDOWS.contains(&name.as_str())
        })
    } else if triple.contains("darwin") {
        (of_macos(&read(program)?)?, |name| {
            OF_MACOS.iter().any(|begin| name.starts_with(begin))
        })
    } else {
        (of_freebsd(program)?, |name| OF_FREEBSD.contains(&name))
    };
    match needed.iter().find(|name| !is_known(name)) {
        None if needed.is_empty() => Err(format!("{} loads nothing", program.display())),
        None => Ok(needed),
        Some(name) => Err(format!(
            "{} needs {name}, which its system does not have",
            program.display()
        )),
    }
}

fn of_windows(program: &Path) -> Result<Vec<String>, String> {
    let mut dump = Command::new("x86_64-w64-mingw32-objdump");
    let headers = text(dump.arg("-p").arg(program).env("LC_ALL", "C"))?;
    let names = headers
        .lines()
        .filter_map(|line| line.trim().strip_prefix("DLL Name: "));
    Ok(names.map(str::to_owned).collect())
}

fn of_freebsd(program: &Path) -> Result<Vec<String>, String> {
    let mut dump = Command::new("readelf");
    let headers = text(dump.args(["-d", "-W"]).arg(program).env("LC_ALL", "C"))?;
    let needed = headers.lines().filter(|line| line.contains("(NEEDED)"));
    let names = needed.filter_map(|line| Some(line.split_once('[')?.1.trim_end_matches(']')));
    Ok(names.map(str::to_owned).collect())
}

/// The names in the load commands of a Mach-O file for one processor.
fn of_macos(bytes: &[u8]) -> Result<Vec<String>, String> {
    const MAGIC: u32 = 0xfeed_facf;
    const HEADER_BYTES: usize = 32;
    /// LC_LOAD_DYLIB, LC_LOAD_WEAK_DYLIB, LC_REEXPORT_DYLIB, LC_LOAD_UPWARD_DYLIB.
    const LOADS: [u32; 4] = [0xc, 0x8000_0018, 0x8000_001f, 0x8000_0023];
    let cut_short = || "a Mach-O file is cut short".to_owned();
    let number = |at: usize| -> Result<u32, String> {
        let word = bytes.get(at..at + 4).ok_or_else(cut_short)?;
        Ok(u32::from_le_bytes(
            word.try_into().map_err(|_| cut_short())?,
        ))
    };
    if number(0)? != MAGIC {
        return Err("not a Mach-O file of 64 bits".to_owned());
    }
    let mut names = Vec::new();
    let mut at = HEADER_BYTES;
    for _ in 0..number(16)? {
        let length = number(at + 4)? as usize;
        let command = bytes.get(at..at + length).ok_or_else(cut_short)?;
        if LOADS.contains(&number(at)?) {
            let name = command.get(number(at + 8)? as usize..);
            let name = name.ok_or_else(cut_short)?.split(|byte| *byte == 0).next();
            names.push(String::from_utf8_lossy(name.unwrap_or_default()).into_owned());
        }
        at += length;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_mach_o_file_are_those_of_its_load_commands() {
        let name = b"/usr/lib/libSystem.B.dylib\0\0\0\0\0\0";
        let mut file = vec![0_u8; 32];
        file[..4].copy_from_slice(&0xfeed_facf_u32.to_le_bytes());
        file[16..20].copy_from_slice(&2_u32.to_le_bytes());
        // Another command, then the library.
        file.extend([0x1b_u32, 8].iter().flat_map(|word| word.to_le_bytes()));
        let words = [0xc_u32, 24 + name.len() as u32, 24, 0, 0, 0];
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        file.extend(name);
        assert_eq!(
            of_macos(&file).expect("read"),
            ["/usr/lib/libSystem.B.dylib"]
        );
        file.truncate(60);
        assert!(of_macos(&file).expect_err("short").contains("cut short"));
        assert!(of_macos(b"\x7fELF").is_err());
    }
}
