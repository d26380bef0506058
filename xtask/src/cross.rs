//! `cargo xtask cross`: fslab for another platform, built on Debian.
//!
//! The standard library is built with it, from the sources that Debian has beside its compiler
//! (`rustc-web`, `rust-web-src`): no toolchain is fetched. For Windows Debian has a C compiler, for
//! the others zig is one, with what their systems declare. What is made stays in `target/cross/`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::zig;

/// Debian's compiler, which is beside the sources of its library.
const COMPILER: &str = "/usr/bin/rustc";
/// A file of those sources.
const LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/std/src/lib.rs";
/// What separates the words of `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

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

/// What is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Without optimisation.
    Plain,
    /// So, without PNG, PDF and Parquet, which take a third of the time.
    WithoutFeatures,
    /// What is published.
    Release,
    /// Unit tests of [`TESTED`], as programs in `target/cross/tests`.
    Tests,
}

impl Variant {
    /// The words of cargo's command.
    fn command(self) -> Vec<&'static str> {
        match self {
            Self::Tests => {
                let packages = TESTED.iter().flat_map(|it| ["--package", *it]);
                let test = [
                    "test",
                    "--lib",
                    "--no-run",
                    "--message-format=json-render-diagnostics",
                ];
                test.into_iter()
                    .chain(SAME_FOR_TESTS)
                    .chain(packages)
                    .collect()
            }
            // fslab-guest, too, which only compiles there.
            Self::WithoutFeatures => [&BUILD[..], &SAME_FOR_TESTS].concat(),
            Self::Plain | Self::Release => {
                let program = ["--bin", "fslab", "-Zbuild-std=std,panic_abort"];
                [&BUILD[..], &program].concat()
            }
        }
    }
}

const BUILD: [&str; 3] = ["build", "--package", "fslab-cli"];

/// With the same library, packages and features the tests take what was compiled for the program,
/// which has no library to test.
const SAME_FOR_TESTS: [&str; 2] = ["--no-default-features", "-Zbuild-std=std,panic_abort,test"];

/// The crates whose unit tests are built: what differs between platforms, and what stands on it. Of
/// fslab-cli, which has no library, there are none: it is named for its features.
const TESTED: [&str; 5] = [
    "fslab-cli",
    "fslab-sys",
    "fslab-engine",
    "fslab-job",
    "fslab-store",
];

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
    let (name, variant) = match words {
        [name] => (*name, Variant::Plain),
        [name, "--no-default-features"] => (*name, Variant::WithoutFeatures),
        [name, "--release"] => (*name, Variant::Release),
        [name, "--tests"] => (*name, Variant::Tests),
        _ => {
            let known: Vec<_> = TARGETS.iter().map(|it| it.name).collect();
            eprintln!(
                "usage: cargo xtask cross {} [--release | --no-default-features | --tests]",
                known.join(" | ")
            );
            return ExitCode::from(2);
        }
    };
    match build(root, name, variant) {
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
pub(crate) fn missing(root: &Path, name: &str) -> Option<String> {
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
        Linker::Zig(_) => format!("{} version", zig::command(root)),
    };
    let asked = Command::new("sh").arg("-c").arg(&ask).output();
    (!asked.is_ok_and(|it| it.status.success())).then(|| match target.linker {
        Linker::Named(name) => format!("{name} is missing; scripts/setup cross installs it"),
        Linker::Zig(_) => {
            "zig is missing: scripts/setup cross installs it; or ZIG=PROGRAM".to_owned()
        }
    })
}

/// Builds fslab for the target `name`; returns the program's path.
pub(crate) fn build(root: &Path, name: &str, variant: Variant) -> Result<PathBuf, String> {
    let target = TARGETS.iter().find(|it| it.name == name);
    let target = target.ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|it| it.name).collect();
        format!(
            "there is no target '{name}'; the targets are {}",
            known.join(", ")
        )
    })?;
    if let Some(reason) = missing(root, name) {
        return Err(reason);
    }
    let folder = root.join("target/cross");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let variable = target.triple.replace('-', "_");
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .env("RUSTC", COMPILER)
        // The library is built as its own toolchain would.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        // There is nothing to strip, and Debian's compiler lacks what strips a program of macOS.
        .env("CARGO_PROFILE_DEV_STRIP", "none")
        .env("CARGO_PROFILE_DIST_STRIP", "none")
        .args(variant.command())
        .args(["--locked", "--target", target.triple]);
    let compiler = match target.linker {
        Linker::Named(name) => PathBuf::from(name),
        Linker::Zig(platform) => {
            let tools = zig::tools(root, &folder, platform)?;
            command
                .env(format!("AR_{variable}"), tools.archiver)
                // Else they ask a program of macOS for it.
                .env("SDKROOT", tools.libraries);
            tools.compiler
        }
    };
    let linker = format!("CARGO_TARGET_{}_LINKER", variable.to_ascii_uppercase());
    command
        .env(format!("CC_{variable}"), &compiler)
        .env(linker, &compiler);
    if variant == Variant::Release {
        command
            .args(["--profile", "dist"])
            .env("CARGO_PROFILE_DIST_DEBUG", "0")
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                release_flags(root).join(SEPARATOR),
            );
    } else {
        command.args(without_optimisation(root)?);
    }
    if variant == Variant::Tests {
        return keep_tests(&mut command, &folder.join("tests").join(target.name));
    }
    run_to_end(&mut command)?;
    let profile = match variant {
        Variant::Release => "dist",
        _ => "debug",
    };
    Ok(folder
        .join(target.triple)
        .join(profile)
        .join(target.program))
}

/// Options of cargo that leave all packages without optimisation: for tests on Linux it makes some
/// faster, and for another platform there are few tests.
fn without_optimisation(root: &Path) -> Result<Vec<String>, String> {
    let file = root.join("Cargo.toml");
    let text = std::fs::read_to_string(&file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let manifest: toml::Table =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let packages = manifest
        .get("profile")
        .and_then(|it| it.get("dev")?.get("package")?.as_table())
        .ok_or("there is no profile.dev.package in Cargo.toml")?;
    let is_optimised = |settings: &toml::Value| settings.get("opt-level").is_some();
    let options = packages.iter().filter(|(_, it)| is_optimised(it));
    Ok(options
        .map(|(name, _)| format!("--config=profile.dev.package.{name}.opt-level=0"))
        .collect())
}

/// Without symbols, and without paths of this machine in the messages of errors.
fn release_flags(root: &Path) -> Vec<String> {
    let registry = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))
        .unwrap_or_default();
    let sources = LIBRARY.split_once("/library/").map_or("", |(root, _)| root);
    vec![
        format!("--remap-path-prefix={}=fslab", root.display()),
        format!("--remap-path-prefix={registry}=cargo"),
        format!("--remap-path-prefix={sources}=rust"),
        // The linker does it: what rustc would start for it is not in Debian's.
        "-Clink-arg=-s".to_owned(),
    ]
}

/// Builds tests and links each as `folder/CRATE.exe`; returns the directory.
fn keep_tests(command: &mut Command, folder: &Path) -> Result<PathBuf, String> {
    let built = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !built.status.success() {
        return Err(format!("cargo ended with {}", built.status));
    }
    let failed =
        |error: std::io::Error| format!("cannot keep tests in {}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(failed)?;
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let Some(program) = message["executable"].as_str() else {
            continue;
        };
        let name = message["target"]["name"].as_str().unwrap_or("test");
        let kept = folder.join(name).with_extension("exe");
        std::fs::copy(program, kept).map_err(failed)?;
    }
    Ok(folder.to_owned())
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
