//! Compiles the libraries that are loaded into a guest kernel's process: one on some processors,
//! one if the disk is recorded.

use std::path::Path;
use std::process::Command;

fn main() {
    let is_for_linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    for name in ["xstate", "record"] {
        match is_for_linux {
            true => compile(name),
            // No other platform starts guests.
            false => write_nothing(name),
        }
    }
}

fn write_nothing(name: &str) {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    let path = Path::new(&out).join(name).with_extension("so");
    std::fs::write(path, []).expect("the output folder takes files");
}

fn compile(name: &str) {
    let source = &Path::new("preload").join(name).with_extension("c");
    println!("cargo::rerun-if-changed={}", source.display());
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    // Without the flags of this build, which may be one of a static program.
    let compiler = cc::Build::new().get_compiler();
    let mut command = Command::new(compiler.path());
    command.args(["-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-s", "-o"]);
    command
        .arg(Path::new(&out).join(name).with_extension("so"))
        .arg(source);
    let status = command.status().expect("the C compiler starts");
    assert!(status.success(), "{command:?} ended with {status}");
}
