//! The binary: one static file without symbols, which are kept aside; and the program that guests
//! run, linked as in a build from source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::targets::Build;
use crate::program::{make, run, text};

/// The most bytes of the binary.
const BYTES_MAX: u64 = 30_000_000;
/// The program that guests run.
pub(super) const GUEST_PROGRAM: &str = "fslab-guest";
/// What separates the words of `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

/// Builds fslab for a target and writes it to `to`, its symbols to `symbols`; returns its bytes.
pub(super) fn build(root: &Path, build: &Build, to: &Path, symbols: &Path) -> Result<u64, String> {
    let built = compile(root, build, "fslab", Linked::Statically)?;
    let objcopy = format!("{}objcopy", build.tools);
    for path in [to, symbols] {
        make(path.parent().unwrap_or(root))?;
    }
    let mut keep = Command::new(&objcopy);
    run(keep.arg("--only-keep-debug").args([&built, symbols]))?;
    let mut link = std::ffi::OsString::from("--add-gnu-debuglink=");
    link.push(symbols);
    let mut strip = Command::new(&objcopy);
    run(strip.arg("--strip-all").arg(link).args([&built, to]))?;
    ensure_static(build, to)?;
    let bytes = fs::metadata(to)
        .map_err(|error| format!("{}: {error}", to.display()))?
        .len();
    if bytes > BYTES_MAX {
        return Err(format!(
            "the binary has {bytes} bytes; at most {BYTES_MAX} are allowed"
        ));
    }
    Ok(bytes)
}

/// How a program is linked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linked {
    Statically,
    /// With the libraries of the lab, as a build from source: a guest has the same memory then.
    Dynamically,
}

/// Builds the program that guests run and writes it to `to`.
pub(super) fn build_for_guests(root: &Path, build: &Build, to: &Path) -> Result<(), String> {
    let built = compile(root, build, GUEST_PROGRAM, Linked::Dynamically)?;
    make(to.parent().unwrap_or(root))?;
    let mut strip = Command::new(format!("{}objcopy", build.tools));
    run(strip.arg("--strip-all").args([built.as_path(), to]))
}

fn compile(root: &Path, build: &Build, program: &str, linked: Linked) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let sysroot = text(Command::new("rustc").args(["--print", "sysroot"]))?;
    let registry = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))
        .map_err(|_| "neither CARGO_HOME nor HOME is set".to_owned())?;
    let linking = match linked {
        Linked::Statically => "+crt-static",
        Linked::Dynamically => "-crt-static",
    };
    // Messages of errors have paths of sources: without those of this machine.
    let flags = [
        format!("-Ctarget-feature={linking}"),
        format!("--remap-path-prefix={}=fslab", root.display()),
        format!("--remap-path-prefix={registry}=cargo"),
        format!("--remap-path-prefix={sysroot}=rust"),
    ];
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let mut target = target.map_or_else(|| root.join("target"), PathBuf::from);
    if linked == Linked::Dynamically {
        // With other flags, cargo would replace what is there.
        target.push("for-guests");
    }
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &target)
        .args([
            "build",
            "--profile",
            "dist",
            "--locked",
            "--package",
            "fslab-cli",
            "--bin",
            program,
        ])
        .args(["--target", build.triple])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join(SEPARATOR));
    if !build.tools.is_empty() {
        let variable = build.triple.to_ascii_uppercase().replace('-', "_");
        let linker = format!("{}gcc", build.tools);
        command
            .env(format!("CARGO_TARGET_{variable}_LINKER"), &linker)
            .env(format!("CC_{}", build.triple.replace('-', "_")), &linker);
    }
    run(&mut command)?;
    Ok(target.join(build.triple).join("dist").join(program))
}

/// Refuses a binary that the kernel cannot start without another file.
fn ensure_static(build: &Build, binary: &Path) -> Result<(), String> {
    let mut readelf = Command::new(format!("{}readelf", build.tools));
    let headers = text(readelf.args(["-lW", "-d"]).arg(binary).env("LC_ALL", "C"))?;
    for sign in ["INTERP", "(NEEDED)"] {
        if headers.contains(sign) {
            return Err(format!("{} is not static: it has {sign}", binary.display()));
        }
    }
    Ok(())
}
