//! What the binary writes about itself: the manual, and the completions of shells.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::targets::Build;
use crate::program::{make, output, read, run, write};

/// Where each shell looks for completions, below a prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/fslab"),
    ("zsh", "share/zsh/vendor-completions/_fslab"),
    ("fish", "share/fish/vendor_completions.d/fslab.fish"),
];

/// Adds the manual and the completions of the binary `fslab` to the tree.
pub(super) fn add(build: &Build, fslab: &Path, tree: &Path) -> Result<(), String> {
    let pages = tree.join("share/man/man1");
    make(&pages)?;
    run(build
        .start(fslab)
        .args(["man", "--quiet", "--no-config", "--out"])
        .arg(&pages))?;
    let entries = std::fs::read_dir(&pages).map_err(|error| format!("cannot list: {error}"))?;
    for entry in entries.flatten() {
        let page = entry.path();
        let packed = compressed(&read(&page)?)?;
        write(&page.with_extension("1.gz"), &packed)?;
        std::fs::remove_file(&page).map_err(|error| format!("cannot remove a page: {error}"))?;
    }
    for (shell, path) in COMPLETIONS {
        let mut write_script = build.start(fslab);
        let script = output(write_script.args(["completions", shell, "--no-config"]))?;
        write(&tree.join(path), &script)?;
    }
    Ok(())
}

/// The bytes, compressed by gzip without name and time.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot run gzip: {error}");
    let mut gzip = Command::new("gzip")
        .arg("-9n")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // A page is smaller than what a pipe takes, so that gzip may write when it is read.
    let mut input = gzip.stdin.take().ok_or("gzip has no input")?;
    input.write_all(bytes).map_err(failed)?;
    drop(input);
    let ended = gzip.wait_with_output().map_err(failed)?;
    match ended.status.success() {
        true => Ok(ended.stdout),
        false => Err(format!("gzip ended with {}", ended.status)),
    }
}
