//! Compiles the model of a disk: the same C files as the guest kernel's driver.

use std::path::{Path, PathBuf};

fn main() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/simdisk/model");
    println!("cargo::rerun-if-changed={}", model.display());
    let mut sources: Vec<PathBuf> = model
        .read_dir()
        .expect("the model's folder is a part of the source tree")
        .map(|entry| entry.expect("the folder stays readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    // Directory order depends on the file system.
    sources.sort();
    cc::Build::new()
        .files(sources)
        .std("gnu11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .compile("simdisk_model");
}
