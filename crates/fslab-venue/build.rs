//! Compiles the libraries that are loaded into a guest kernel's process: one always, one on some
//! processors, one if the disk is recorded or fails.

use std::path::Path;
use std::process::Command;

fn main() {
    let is_for_linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    println!("cargo::rerun-if-changed=preload");
    for (name, sources) in [
        ("xstate", &["xstate.c"][..]),
        ("stopped", &["stopped.c"]),
        ("record", &["record.c", "faults.c"]),
    ] {
        match is_for_linux {
            true => compile(name, sources),
            // No other platform starts guests.
            false => write_nothing(name),
        }
    }
}

fn write_nothing(name: &str) {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    let path = Path::new(&out).join(name).with_extension("so");
    std::fs::write(path, []).expect("the output directory takes files");
}

fn compile(name: &str, sources: &[&str]) {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    // Without the flags of this build, which may be one of a static program.
    let compiler = cc::Build::new().get_compiler();
    let mut command = Command::new(compiler.path());
    command.args(["-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-s", "-o"]);
    command
        .arg(Path::new(&out).join(name).with_extension("so"))
        .args(sources.iter().map(|it| Path::new("preload").join(it)));
    let status = command.status().expect("the C compiler starts");
    assert!(status.success(), "{command:?} ended with {status}");
}
