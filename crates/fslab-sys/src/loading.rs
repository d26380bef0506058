//! How the programs of a guest in virtual time are loaded: as if every processor were the same.
//!
//! The C library chooses its routines by the processor's features and caches, the loader the
//! folders in which it looks and the stack that it needs to find a function late. Other routines
//! lie in other pages, and a page more that is read or touched moves everything that is measured
//! after it.
//!
//! It does not own what a program itself chooses by the processor.

use std::ffi::OsString;
use std::process::Command;

/// Every function is found before the program begins.
const BIND_NOW: (&str, &str) = ("LD_BIND_NOW", "1");
/// The features of the first processors with 64 bits, and caches of 32 KiB and 1 MiB. Names that a
/// C library does not know have no effect.
const TUNABLES: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.cpu.hwcaps=-SSSE3,-SSE4_1,-SSE4_2,-AVX,-AVX2,-AVX512F,-AVX512CD,-AVX512BW,-AVX512DQ,\
     -AVX512ER,-AVX512PF,-AVX512VL,-BMI1,-BMI2,-ERMS,-FMA,-FMA4,-FSRM,-LZCNT,-MOVBE,-POPCNT,-RTM,\
     -XSAVE,-XSAVEC,-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Copy,-Fast_Unaligned_Load,\
     -Fast_Rep_String,-Fast_Copy_Backward,-Slow_BSF,-Slow_SSE4_2,-Prefer_ERMS,-Prefer_FSRM,\
     -Prefer_No_VZEROUPPER,-Prefer_No_AVX512_Probing,-Prefer_PMINUB_for_stringop\
     :glibc.cpu.x86_data_cache_size=32768:glibc.cpu.x86_shared_cache_size=1048576\
     :glibc.cpu.x86_non_temporal_threshold=786432:glibc.cpu.x86_rep_movsb_threshold=2048\
     :glibc.cpu.x86_rep_stosb_threshold=2048",
);

/// Lets `command`, and what it passes this on to, be loaded alike on every processor.
pub fn load_alike(command: &mut Command) {
    command.envs([BIND_NOW, TUNABLES]);
}

/// What of this process's environment decides how programs are loaded. A trial has it from the
/// first process of its guest, where time is virtual, and else has nothing of it, since a venue
/// starts it with an environment of a few variables.
#[must_use]
pub fn inherited_loading() -> Vec<(&'static str, OsString)> {
    [BIND_NOW, TUNABLES]
        .into_iter()
        .filter_map(|(name, _)| Some((name, std::env::var_os(name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// What the loader says of the processor's features that programs may use, line by line.
    fn diagnostics(command: &mut Command) -> Option<BTreeSet<String>> {
        let output = command.arg("--list-diagnostics").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let active = |line: &&str| {
            line.starts_with("dl_hwcaps_subdirs_active") || line.starts_with("x86.cpu_features.")
        };
        Some(text.lines().filter(active).map(str::to_owned).collect())
    }

    #[test]
    fn the_loader_takes_the_tunables() {
        let loader = Path::new("/lib64/ld-linux-x86-64.so.2");
        let Some(plain) = diagnostics(&mut Command::new(loader)).filter(|it| !it.is_empty()) else {
            return;
        };
        let mut alike = Command::new(loader);
        load_alike(&mut alike);
        let alike = diagnostics(&mut alike).expect("it says so");
        assert!(alike.contains("dl_hwcaps_subdirs_active=0x0"), "{alike:?}");
        for line in [
            "x86.cpu_features.data_cache_size=0x8000",
            "x86.cpu_features.shared_cache_size=0x100000",
            "x86.cpu_features.non_temporal_threshold=0xc0000",
            "x86.cpu_features.rep_movsb_threshold=0x800",
        ] {
            assert!(alike.contains(line), "no {line}, but {alike:?}");
        }
        assert_ne!(plain, alike);
    }
}
