//! Generates the list of the files of `workloads/`: the program finds a new one by its file.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the directory of workloads")
        .map(|entry| entry.expect("an entry of workloads").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort_by_key(|file| file.file_stem().map(ToOwned::to_owned));
    let mut table = String::from("[\n");
    for file in files {
        let name = file
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy();
        let path = fs::canonicalize(&file).expect("a file of workloads");
        writeln!(table, "({name:?}, include_str!({path:?})),").expect("a string takes all");
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("workloads.rs"), table).expect("the table is written");
}
