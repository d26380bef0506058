//! A user's kernel tree: validity, cleanliness, and identity.

use fslab_sys::os::MetadataExt;
use fslab_sys::os::OsStrExt;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_model::Failure;

use super::origin::{Origin, SourceKind, Supply};
use crate::build_dir::BuildDir;
use crate::key::{self, Fingerprint};
use crate::{KernelKey, LabError};

/// The copy's directory in that of a build.
pub(crate) const COPY: &str = "tree";

/// Files by which the kernel's Makefile detects a build inside the tree.
const BUILT: [&str; 4] = [
    ".config",
    "include/config",
    "arch/um/include/generated",
    "arch/x86/include/generated",
];

const TASK: &str = "ask git about the source";

/// Identifies a user's tree.
pub(super) fn find(path: &Path, build_dir: &mut BuildDir<'_>) -> Result<Origin, LabError> {
    if !is_kernel(path) {
        let reason = "it lacks a Makefile, Kconfig or arch/um";
        return Err(LabError::bad_source(path, reason));
    }
    if BUILT.iter().any(|name| path.join(name).exists()) {
        let tree = path.display();
        let text =
            format!("cannot build a kernel from {tree}: it holds the files of another build");
        let hint = format!("clean it: make -C {tree} mrproper; make -C {tree} ARCH=um mrproper");
        return Err(Failure::bad_input(text).hint(hint).into());
    }
    let (identity, version) = if is_git_root(path, build_dir)? {
        git_identity(path, build_dir)?
    } else {
        let key = files_identity(path).map_err(LabError::io("read", path))?;
        (format!("files {key}"), format!("files {key}"))
    };
    Ok(Origin {
        kind: SourceKind::Tree,
        identity,
        description: format!("{} ({version})", path.display()),
        supply: Supply::Tree(path.to_owned()),
    })
}

/// Copies the tree at `path` as symbolic links, without `.git`: additions leave the original
/// unchanged. A copy that is there from an earlier build is made equal.
pub(super) fn link(path: &Path, build_dir: &BuildDir<'_>) -> Result<PathBuf, LabError> {
    let copy = build_dir.path(COPY);
    link_folder(path, &copy).map_err(LabError::io("link the tree to", &copy))?;
    Ok(copy)
}

fn link_folder(original: &Path, copy: &Path) -> io::Result<()> {
    let mut there = entries_of(copy)?;
    for entry in fs::read_dir(original)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if name == ".git" {
            continue;
        }
        let (target, kind) = (copy.join(&name), there.remove(&name));
        if entry.file_type()?.is_dir() {
            if kind.is_some_and(|kind| !kind.is_dir()) {
                fs::remove_file(&target)?;
            }
            link_folder(&path, &target)?;
        } else if kind.is_none_or(|kind| !kind.is_symlink()) || fs::read_link(&target)? != path {
            remove(&target, kind)?;
            fslab_sys::os::symlink(path, target)?;
        }
    }
    for (name, kind) in there {
        remove(&copy.join(name), Some(kind))?;
    }
    Ok(())
}

/// What is in a directory, which is made if there is none.
fn entries_of(folder: &Path) -> io::Result<BTreeMap<OsString, FileType>> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made.map(|()| BTreeMap::new()),
    }
    let kind_of = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?))
    };
    fs::read_dir(folder)?.map(kind_of).collect()
}

fn remove(path: &Path, kind: Option<FileType>) -> io::Result<()> {
    match kind {
        None => Ok(()),
        Some(kind) if kind.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
    }
}

/// True if `path` is the root of a kernel tree that supports User-Mode Linux.
pub(super) fn is_kernel(path: &Path) -> bool {
    ["Makefile", "Kconfig", "arch/um"]
        .iter()
        .all(|name| path.join(name).exists())
}

fn git(tree: &Path, build_dir: &BuildDir<'_>, arguments: &[&str]) -> Command {
    let mut git = build_dir.command("git");
    // Git refuses trees of other users, which root usually has here, since their configuration may
    // start programs; the build runs the tree's Makefile anyway.
    git.args(["-c", "safe.directory=*", "-c", "core.quotePath=false", "-C"]);
    git.arg(tree).args(arguments);
    git
}

/// True if `tree` is the root of a work tree. An unpacked tarball may lie inside another
/// repository, whose commit says nothing about it.
fn is_git_root(tree: &Path, build_dir: &mut BuildDir<'_>) -> Result<bool, LabError> {
    if !tree.join(".git").exists() {
        return Ok(false);
    }
    let command = git(tree, build_dir, &["rev-parse", "--verify", "HEAD"]);
    match build_dir.ask(TASK, command) {
        Err(stopped) if stopped.is_interruption() => Err(stopped),
        answer => Ok(answer.is_ok()),
    }
}

/// The commit, and a digest of the differences from it.
fn git_identity(tree: &Path, build_dir: &mut BuildDir<'_>) -> Result<(String, String), LabError> {
    let mut ask = |arguments: &[&str]| {
        let command = git(tree, build_dir, arguments);
        build_dir.ask(TASK, command)
    };
    let commit = String::from_utf8_lossy(&ask(&["rev-parse", "HEAD"])?)
        .trim()
        .to_owned();
    // The user's settings for diffs must not change the key.
    let diff = ask(&[
        "diff",
        "HEAD",
        "--binary",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
    ])?;
    let new = ask(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    if diff.is_empty() && new.is_empty() {
        let short = commit.get(..KEY_OF_COMMIT).unwrap_or(&commit);
        return Ok((format!("git {commit}"), format!("git {short}")));
    }
    let mut changes = Fingerprint::default();
    changes.add(diff);
    for name in new.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        changes.add(name);
        changes.add(content_key(&tree.join(OsStr::from_bytes(name)))?);
    }
    let changes = changes.finish();
    let short = commit.get(..KEY_OF_COMMIT).unwrap_or(&commit);
    Ok((
        format!("git {commit} changes {changes}"),
        format!("git {short}, with changes {changes}"),
    ))
}

/// Digits of a commit that are shown, as in the kernel project.
const KEY_OF_COMMIT: usize = 12;

/// Digest of an untracked file's contents; a link's target.
fn content_key(path: &Path) -> Result<String, LabError> {
    let failed = |error| LabError::io("read", path)(error);
    let kind = path.symlink_metadata().map_err(failed)?.file_type();
    if kind.is_file() {
        return Ok(key::of_file(path).map_err(failed)?.to_string());
    }
    if kind.is_symlink() {
        let target = fs::read_link(path).map_err(failed)?;
        return Ok(format!("link {}", target.display()));
    }
    Ok("other".to_owned())
}

/// Digest of paths, sizes and modification times: reading 1.6 GB would take too long.
fn files_identity(tree: &Path) -> io::Result<KernelKey> {
    let mut files = Vec::new();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if !about.is_dir() {
                files.push((
                    entry.path(),
                    about.size(),
                    about.mtime(),
                    about.mtime_nsec(),
                ));
            } else if entry.file_name() != ".git" {
                folders.push(entry.path());
            }
        }
    }
    files.sort();
    let mut fingerprint = Fingerprint::default();
    for (path, size, seconds, nanoseconds) in &files {
        let below: PathBuf = path.strip_prefix(tree).unwrap_or(path).to_owned();
        fingerprint.add(below.as_os_str().as_bytes());
        fingerprint.add(size.to_le_bytes());
        fingerprint.add(seconds.to_le_bytes());
        fingerprint.add(nanoseconds.to_le_bytes());
    }
    Ok(fingerprint.finish())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn kernel(folder: &Path) {
        fs::create_dir_all(folder.join("arch/um")).expect("made");
        fs::write(folder.join("Makefile"), "all:\n").expect("written");
        fs::write(folder.join("Kconfig"), "").expect("written");
    }

    fn origin(tree: &Path) -> Result<Origin, LabError> {
        let place = tempfile::tempdir().expect("a directory");
        let stop = AtomicBool::new(false);
        let mut listener = |_| {};
        let (folder, log) = (place.path().join("building"), place.path().join("log"));
        let mut build_dir = BuildDir::open(&folder, &log, &stop, &mut listener).expect("opened");
        find(tree, &mut build_dir)
    }

    fn identity(tree: &Path) -> String {
        origin(tree).expect("a tree").identity
    }

    #[test]
    fn a_copy_of_an_earlier_build_becomes_equal_to_its_tree() {
        let folder = tempfile::tempdir().expect("a directory");
        let (tree, copy) = (folder.path().join("tree"), folder.path().join("copy"));
        kernel(&tree);
        fs::write(tree.join("a.c"), "int a;").expect("written");
        link_folder(&tree, &copy).expect("linked");
        // An edit and an addition of the build; a file and a directory of the tree that are no
        // more.
        fs::remove_file(copy.join("Kconfig")).expect("removed");
        fs::write(copy.join("Kconfig"), "edited").expect("written");
        fs::create_dir(copy.join("arch/um/added")).expect("made");
        fs::remove_file(tree.join("a.c")).expect("removed");
        fs::create_dir(tree.join("a.c")).expect("made");
        fs::write(tree.join("a.c/b.c"), "int b;").expect("written");
        link_folder(&tree, &copy).expect("linked again");
        assert_eq!(fs::read(copy.join("Kconfig")).expect("read"), b"");
        assert_eq!(fs::read(copy.join("a.c/b.c")).expect("read"), b"int b;");
        assert!(copy.join("Kconfig").is_symlink() && !copy.join("arch/um/added").exists());
    }

    fn git_in(tree: &Path, arguments: &[&str]) {
        let user = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let mut git = Command::new("git");
        git.arg("-C").arg(tree).args(user).args(arguments);
        assert!(
            git.output().expect("git runs").status.success(),
            "{arguments:?}"
        );
    }

    #[test]
    fn a_folder_that_is_no_kernel_is_refused() {
        let folder = tempfile::tempdir().expect("a directory");
        let refused = origin(folder.path()).expect_err("refused");
        assert!(
            refused.to_string().contains("it lacks a Makefile"),
            "{refused}"
        );
    }

    #[test]
    fn a_tree_that_was_built_in_is_refused_with_the_command_that_cleans_it() {
        let folder = tempfile::tempdir().expect("a directory");
        kernel(folder.path());
        fs::write(folder.path().join(".config"), "").expect("written");
        let refused = origin(folder.path()).expect_err("not clean");
        let hint = Failure::from(refused).hint.expect("a hint");
        assert!(hint.contains("mrproper"), "{hint}");
    }

    #[test]
    fn without_git_a_changed_file_changes_the_identity() {
        let folder = tempfile::tempdir().expect("a directory");
        kernel(folder.path());
        let before = identity(folder.path());
        assert!(before.starts_with("files "), "{before}");
        assert_eq!(identity(folder.path()), before);
        fs::write(folder.path().join("Kconfig"), "# one\n").expect("written");
        assert_ne!(identity(folder.path()), before);
    }

    #[test]
    fn with_git_the_identity_is_the_commit_and_every_change_to_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let tree = folder.path();
        kernel(tree);
        git_in(tree, &["init", "-q"]);
        assert!(
            identity(tree).starts_with("files "),
            "there is no commit yet"
        );
        git_in(tree, &["add", "."]);
        git_in(tree, &["commit", "-q", "-m", "one"]);
        let committed = identity(tree);
        assert!(committed.starts_with("git "), "{committed}");
        fs::write(tree.join("Kconfig"), "# one\n").expect("written");
        let edited = identity(tree);
        assert!(edited.starts_with(&committed) && edited != committed);
        fs::write(tree.join("new.c"), "int a;\n").expect("written");
        let with_new = identity(tree);
        fs::write(tree.join("new.c"), "int b;\n").expect("written");
        let with_other = identity(tree);
        assert!(with_new != edited && with_other != with_new);
        fs::remove_file(tree.join("new.c")).expect("removed");
        git_in(tree, &["checkout", "-q", "Kconfig"]);
        assert_eq!(identity(tree), committed);
    }

    #[test]
    fn a_tree_inside_another_repository_is_not_identified_by_its_commit() {
        let folder = tempfile::tempdir().expect("a directory");
        git_in(folder.path(), &["init", "-q"]);
        git_in(
            folder.path(),
            &["commit", "-q", "--allow-empty", "-m", "one"],
        );
        let tree = folder.path().join("linux");
        kernel(&tree);
        assert!(identity(&tree).starts_with("files "));
    }
}
