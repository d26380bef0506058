//! The bench from its command line to its page, with small amounts and whatever tools are there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command fslab of the same build; `None` where only the bench was built.
fn fslab() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_BIN_EXE_fslab-bench")).with_file_name("fslab");
    path.exists().then_some(path)
}

/// The only page in the directory `out` of a bench that succeeded.
fn only_page(output: &Output, out: &Path) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let pages: Vec<_> = std::fs::read_dir(out).expect("results").flatten().collect();
    assert_eq!(pages.len(), 1);
    std::fs::read_to_string(pages[0].path()).expect("a page")
}

fn expect_only_results(folder: &Path) {
    let left: Vec<_> = std::fs::read_dir(folder).expect("lists").collect();
    assert_eq!(left.len(), 1, "only the results are left: {left:?}");
}

#[test]
fn a_quick_bench_measures_every_row_and_writes_its_page() {
    let Some(fslab) = fslab() else {
        eprintln!("skipped: the command fslab was not built");
        return;
    };
    let folder = tempfile::tempdir().expect("a directory");
    let out = folder.path().join("results");
    let output = Command::new(env!("CARGO_BIN_EXE_fslab-bench"))
        .args(["--quick", "--runs", "1", "--no-counts", "--places", "here"])
        .args(["--rows", "pread,backward,mmap,names,files,seeks"])
        .args(["--peer", "fs_mark=/bin/false"])
        .arg("--fslab")
        .arg(fslab)
        .arg("--out")
        .arg(&out)
        .current_dir(folder.path())
        .output()
        .expect("the bench starts");
    let page = only_page(&output, &out);
    for words in [
        "no figure means anything, and no target is judged",
        "names_loop DIR/files 500 0 create",
        "pread_loop DIR/data 8388608 4096 5000 backward",
        "| seek | fslab |",
        "fslab trial <<'EOF'",
        "names: fs_mark: ",
    ] {
        assert!(page.contains(words), "no '{words}' in {page}");
    }
    assert!(!page.contains("reached"), "a verdict in {page}");
    expect_only_results(folder.path());
}

#[test]
fn the_model_of_every_disk_is_measured_and_gets_its_page() {
    let Some(fslab) = fslab() else {
        eprintln!("skipped: the command fslab was not built");
        return;
    };
    let folder = tempfile::tempdir().expect("a directory");
    let out = folder.path().join("results");
    let output = Command::new(env!("CARGO_BIN_EXE_fslab-bench"))
        .args(["sim", "--quick", "--parts", "model", "--fslab"])
        .arg(fslab)
        .arg("--folder")
        .arg(folder.path())
        .arg("--out")
        .arg(&out)
        .output()
        .expect("the bench starts");
    let page = only_page(&output, &out);
    for words in [
        "| model of hdd-7200-ata100-2002, random reads of 4 KiB | at most 2000 ns a request |",
        "| sas-15k-raid10-2012 | random reads of 4 KiB | 32 |",
        "| ssd-nvme-2024 | random writes of 4 KiB | 1 |",
        "- fslab: fslab ",
    ] {
        assert!(page.contains(words), "no '{words}' in {page}");
    }
    expect_only_results(folder.path());
}

#[test]
fn a_wrong_row_is_refused_with_the_names_of_all() {
    let output = Command::new(env!("CARGO_BIN_EXE_fslab-bench"))
        .args(["--rows", "sleep"])
        .output()
        .expect("the bench starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("ring-direct"), "{said}");
}
