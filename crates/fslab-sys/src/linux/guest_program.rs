//! The program that guests run.
//!
//! Its mappings, and with them the memory of a guest, depend on how it is linked. So a release,
//! whose `bin/fslab` is linked statically, has it in `lib/fslab`, linked as in a build from source:
//! both give the same records.
//!
//! A process uses one file as long as it runs, even if that is replaced.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The running program, even if its file was replaced.
const OWN: &str = "/proc/self/exe";
const NAME: &str = "fslab-guest";
/// Where it is, from the directory of the running program: in a build, and in a release.
const FOLDERS: [&str; 2] = [".", "../lib/fslab"];

/// The open file, and its path as long as this process runs.
static OPENED: OnceLock<(File, PathBuf)> = OnceLock::new();

/// The program to copy into guests: a path for this process and its children.
///
/// # Errors
/// `NotFound`, with the directories in which it was looked for; others of opening it.
pub fn guest_program() -> io::Result<PathBuf> {
    if let Some((_, path)) = OPENED.get() {
        return Ok(path.clone());
    }
    let own = std::fs::read_link(OWN)?;
    let file = File::open(beside(own.parent().unwrap_or(Path::new("/")))?)?;
    // A child that has closed all files opens it by its parent.
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok(OPENED.get_or_init(|| (file, path.into())).1.clone())
}

fn beside(folder: &Path) -> io::Result<PathBuf> {
    let mut places = FOLDERS.map(|it| folder.join(it).join(NAME)).into_iter();
    places.find(|place| place.is_file()).ok_or_else(|| {
        let folder = folder.display();
        let text = format!(
            "there is no {NAME}, which guests run, in {folder} or {folder}/{}",
            FOLDERS[1]
        );
        io::Error::new(io::ErrorKind::NotFound, text)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_beside_fslab_or_in_the_libraries_of_a_release() {
        let folder = tempfile::tempdir().expect("a directory");
        let bin = folder.path().join("bin");
        let missing = beside(&bin).expect_err("there is none").to_string();
        assert!(missing.contains("bin or ") && missing.contains("/bin/../lib/fslab"));
        for name in ["bin", "lib/fslab"] {
            fs::create_dir_all(folder.path().join(name)).expect("a directory");
        }
        let release = folder.path().join("lib/fslab/fslab-guest");
        fs::write(&release, "").expect("a file");
        let found = beside(&bin).and_then(fs::canonicalize).expect("is there");
        assert_eq!(found, fs::canonicalize(&release).expect("is there"));
        let build = bin.join("fslab-guest");
        fs::write(&build, "").expect("a file");
        let found = beside(&bin).and_then(fs::canonicalize).expect("is there");
        assert_eq!(found, fs::canonicalize(&build).expect("is there"));
    }
}
