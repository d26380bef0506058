//! Compiles the model of a disk: the same C files as the guest kernel's driver.

use std::path::{Path, PathBuf};

fn main() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/simdisk/model");
    println!("cargo::rerun-if-changed={}", model.display());
    let mut sources: Vec<PathBuf> = model
        .read_dir()
        .expect("the model's directory is a part of the source tree")
        .map(|entry| entry.expect("the directory stays readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    // Directory order depends on the file system.
    sources.sort();
    let mut build = cc::Build::new();
    // The library of macOS declares functions of POSIX also where C alone is included, among them
    // one with a name of the model's.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos") {
        build.define("_ANSI_SOURCE", None);
    }
    build
        .files(sources)
        .std("gnu11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .compile("simdisk_model");
}
