//! `cargo xtask cross`: fslab for another platform, built on Debian.
//!
//! The standard library is built with it, from the sources that Debian has beside its compiler
//! (`rustc-web`, `rust-web-src`): no toolchain is fetched. What it makes stays in `target/cross/`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Debian's compiler, which is beside the sources of its library.
const COMPILER: &str = "/usr/bin/rustc";
/// A file of those sources.
const LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/std/src/lib.rs";

/// A platform.
struct Target {
    name: &'static str,
    triple: &'static str,
    /// The C compiler, which also links.
    linker: &'static str,
    program: &'static str,
}

const TARGETS: [Target; 1] = [Target {
    name: "x86_64-windows",
    triple: "x86_64-pc-windows-gnu",
    linker: "x86_64-w64-mingw32-gcc",
    program: "fslab.exe",
}];

/// Builds for the platform that `words` name, and prints the path of the program.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let (name, is_release) = match words {
        [name] => (*name, false),
        [name, "--release"] => (*name, true),
        _ => {
            eprintln!("usage: cargo xtask cross x86_64-windows [--release]");
            return ExitCode::from(2);
        }
    };
    match build(root, name, is_release) {
        Ok(program) => {
            println!("{}", program.display());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn build(root: &Path, name: &str, is_release: bool) -> Result<PathBuf, String> {
    let target = TARGETS.iter().find(|it| it.name == name);
    let target = target.ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|it| it.name).collect();
        format!(
            "there is no target '{name}'; known are {}",
            known.join(", ")
        )
    })?;
    for file in [COMPILER, LIBRARY] {
        if !Path::new(file).exists() {
            return Err(format!(
                "{file} is missing; scripts/setup cross installs it"
            ));
        }
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let folder = root.join("target/cross");
    let variable = target.triple.to_ascii_uppercase().replace('-', "_");
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .env("RUSTC", COMPILER)
        // The library is built as its own toolchain would.
        .env("RUSTC_BOOTSTRAP", "1")
        .env(format!("CARGO_TARGET_{variable}_LINKER"), target.linker)
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_STRIP", "debuginfo")
        .args(["build", "--locked", "--package", "fslab-cli"])
        .args(["-Zbuild-std=std,panic_abort", "--target", target.triple]);
    if is_release {
        command.args(["--profile", "dist"]);
    }
    let ended = command
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !ended.success() {
        return Err(format!("cargo ended with {ended}"));
    }
    let profile = if is_release { "dist" } else { "debug" };
    Ok(folder
        .join(target.triple)
        .join(profile)
        .join(target.program))
}
