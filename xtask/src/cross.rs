//! `cargo xtask cross`: fslab for another platform, built on Debian.
//!
//! The standard library is built with it, from the sources that Debian has beside its compiler
//! (`rustc-web`, `rust-web-src`): no toolchain is fetched. For Windows Debian has a C compiler, for
//! the others zig is one, with what their systems declare. What is made stays in `target/cross/`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Debian's compiler, which is beside the sources of its library.
const COMPILER: &str = "/usr/bin/rustc";
/// A file of those sources.
const LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/std/src/lib.rs";
/// Libraries of FreeBSD that Rust's library names, and of which fslab uses nothing.
const FREEBSD_LIBRARIES: [&str; 7] = [
    "devstat", "execinfo", "kvm", "memstat", "procstat", "rt", "util",
];

/// A platform.
struct Target {
    name: &'static str,
    triple: &'static str,
    linker: Linker,
    program: &'static str,
}

/// The C compiler, which also links.
enum Linker {
    Named(&'static str),
    /// Zig, with its name of the platform.
    Zig(&'static str),
}

const TARGETS: [Target; 4] = [
    Target {
        name: "x86_64-windows",
        triple: "x86_64-pc-windows-gnu",
        linker: Linker::Named("x86_64-w64-mingw32-gcc"),
        program: "fslab.exe",
    },
    Target {
        name: "x86_64-macos",
        triple: "x86_64-apple-darwin",
        linker: Linker::Zig("x86_64-macos"),
        program: "fslab",
    },
    Target {
        name: "aarch64-macos",
        triple: "aarch64-apple-darwin",
        linker: Linker::Zig("aarch64-macos"),
        program: "fslab",
    },
    Target {
        name: "x86_64-freebsd",
        triple: "x86_64-unknown-freebsd",
        linker: Linker::Zig("x86_64-freebsd"),
        program: "fslab",
    },
];

/// Builds for the platform that `words` name, and prints the path of the program.
pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let (name, is_release) = match words {
        [name] => (*name, false),
        [name, "--release"] => (*name, true),
        _ => {
            let known: Vec<_> = TARGETS.iter().map(|it| it.name).collect();
            eprintln!("usage: cargo xtask cross {} [--release]", known.join(" | "));
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

/// What this machine lacks to build for the target `name`; `None` if nothing.
pub(crate) fn missing(name: &str) -> Option<String> {
    let target = TARGETS.iter().find(|it| it.name == name)?;
    let file = [COMPILER, LIBRARY]
        .into_iter()
        .find(|it| !Path::new(it).exists());
    if let Some(file) = file {
        return Some(format!(
            "{file} is missing; scripts/setup cross installs it"
        ));
    }
    let ask = match target.linker {
        Linker::Named(name) => format!("{name} --version"),
        Linker::Zig(_) => format!("{} version", zig()),
    };
    let asked = Command::new("sh").arg("-c").arg(&ask).output();
    (!asked.is_ok_and(|it| it.status.success())).then(|| match target.linker {
        Linker::Named(name) => format!("{name} is missing; scripts/setup cross installs it"),
        Linker::Zig(_) => "zig is missing: `pip install ziglang`, or ZIG=PROGRAM".to_owned(),
    })
}

fn zig() -> String {
    std::env::var("ZIG").unwrap_or_else(|_| "python3 -m ziglang".to_owned())
}

/// Builds fslab for the target `name`; returns the program's path.
pub(crate) fn build(root: &Path, name: &str, is_release: bool) -> Result<PathBuf, String> {
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
    let folder = root.join("target/cross");
    let linker = match target.linker {
        Linker::Named(name) => PathBuf::from(name),
        Linker::Zig(platform) => zig_compiler(&folder, platform)?,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let variable = target.triple.replace('-', "_");
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .env("RUSTC", COMPILER)
        // The library is built as its own toolchain would.
        .env("RUSTC_BOOTSTRAP", "1")
        .env(format!("CC_{variable}"), &linker)
        .env(
            format!("CARGO_TARGET_{}_LINKER", variable.to_ascii_uppercase()),
            &linker,
        )
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_STRIP", "debuginfo")
        .args(["build", "--locked", "--package", "fslab-cli"])
        .args(["-Zbuild-std=std,panic_abort", "--target", target.triple]);
    if is_release {
        command.args(["--profile", "dist"]);
    }
    run_to_end(&mut command)?;
    let profile = if is_release { "dist" } else { "debug" };
    Ok(folder
        .join(target.triple)
        .join(profile)
        .join(target.program))
}

/// Writes a program that is a C compiler for `platform`, by zig; returns its path.
fn zig_compiler(folder: &Path, platform: &str) -> Result<PathBuf, String> {
    let zig = zig();
    let libraries = folder.join(format!("libraries-{platform}"));
    let program = folder.join(format!("cc-{platform}"));
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", program.display());
    std::fs::create_dir_all(&libraries).map_err(failed)?;
    // Other compilers name the platform by Rust's words, which zig does not know.
    let script = format!(
        "#!/bin/sh\n\
         left=$#\n\
         while [ $left -gt 0 ]; do\n    \
             word=$1; shift; left=$((left - 1))\n    \
             case \"$word\" in\n    \
             --target=*) ;;\n    \
             *) set -- \"$@\" \"$word\" ;;\n    \
             esac\n\
         done\n\
         exec {zig} cc -target {platform} -L'{}' \"$@\"\n",
        libraries.display()
    );
    std::fs::write(&program, script).map_err(failed)?;
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, runs).map_err(failed)?;
    if platform.ends_with("freebsd") {
        let nothing = libraries.join("nothing.c");
        std::fs::write(&nothing, "\n").map_err(failed)?;
        for library in FREEBSD_LIBRARIES {
            let to = libraries.join(format!("lib{library}.so"));
            run_to_end(
                Command::new(&program)
                    .arg("-shared")
                    .arg("-o")
                    .args([&to, &nothing]),
            )?;
        }
    }
    Ok(program)
}

fn run_to_end(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let ended = command
        .status()
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    match ended.success() {
        true => Ok(()),
        false => Err(format!("{name} ended with {ended}")),
    }
}
