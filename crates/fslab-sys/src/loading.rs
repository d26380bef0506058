//! Uniform loading of a guest's programs in virtual time, independent of the host's processor.
//!
//! The C library selects routines by processor features and cache sizes; the loader selects its
//! search directories and the stack for lazy binding. Other routines are on other pages, and one
//! more page read or touched shifts all later measurements.
//!
//! Selections that a program makes itself are not covered.

use std::ffi::OsString;
use std::process::Command;

/// Resolve all functions before the program starts.
const BIND_NOW: (&str, &str) = ("LD_BIND_NOW", "1");
/// Features of the first 64-bit processors, and caches of 32 KiB and 1 MiB. Unknown names have no
/// effect.
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

/// Makes the program of `command` and its children load the same way on every processor.
pub fn load_uniformly(command: &mut Command) {
    command.envs([BIND_NOW, TUNABLES]);
}

/// The environment variables of this process that control loading. In virtual time a trial has them
/// from init; else it has none, since venues start it with a clean environment.
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

    /// The loader's report on usable processor features, by line.
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
        load_uniformly(&mut alike);
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
