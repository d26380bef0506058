//! Removes a directory written by a guest: of any depth, with any modes.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, chmodat, openat, renameat, unlinkat};
use rustix::io::Errno;

/// Removes the directory `path` with its contents, without following links.
///
/// Deeper directories are moved up to the top before they are removed, so that a tree of thousands
/// of levels needs two descriptors and no long path; directories without permissions get them. No
/// other process may use the directory meanwhile.
///
/// # Errors
/// Those of open(2), rename(2) and unlink(2); `NotFound` if it does not exist.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let top = open_folder(rustix::fs::CWD, path)?;
    let mut number = 0_u64;
    loop {
        let names = names_in(&top)?;
        if names.is_empty() {
            return Ok(rustix::fs::rmdir(path)?);
        }
        for name in names {
            if remove_file(&top, &name)? {
                continue;
            }
            chmodat(&top, &name, Mode::RWXU, AtFlags::empty())?;
            let inner = open_folder(&top, &name)?;
            for deeper in names_in(&inner)? {
                if !remove_file(&inner, &deeper)? {
                    lift(&inner, &deeper, &top, &mut number)?;
                }
            }
            unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Moves a directory up, under an unused name.
fn lift(from: &OwnedFd, name: &CStr, to: &OwnedFd, number: &mut u64) -> io::Result<()> {
    // Its `..` entry changes, for which it must be writable.
    chmodat(from, name, Mode::RWXU, AtFlags::empty())?;
    loop {
        let free = CString::new(format!(".{number}")).map_err(io::Error::other)?;
        *number += 1;
        match renameat(from, name, to, &free) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            moved => return Ok(moved?),
        }
    }
}

/// Removes a file; false if it is a directory.
fn remove_file(folder: &OwnedFd, name: &CStr) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        removed => Ok(removed.map(|()| true)?),
    }
}

fn open_folder(at: impl rustix::fd::AsFd, path: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, path, flags, Mode::empty())?)
}

/// The names in a directory, without `.` and `..`.
pub(crate) fn names_in(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    // fs::remove_dir_all keeps a descriptor open per level and failed at some thousand, and could
    // not read a directory without permissions. Both stayed, for `fslab clean` too.
    #[test]
    fn a_deep_tree_with_closed_folders_is_removed_and_links_are_not_followed() {
        let place = std::env::temp_dir().join(format!("fslab-tree-{}", std::process::id()));
        let (tree, outside) = (place.join("tree"), place.join("outside"));
        fs::create_dir_all(&tree).expect("made");
        fs::create_dir(&outside).expect("made");
        fs::write(outside.join("kept"), "").expect("written");
        symlink(&outside, tree.join("link")).expect("linked");
        fs::write(tree.join(".0"), "in the way").expect("written");
        fs::create_dir_all(tree.join(".1/full")).expect("in the way");
        let deep = tree.join("d/".repeat(1500));
        fs::create_dir_all(&deep).expect("made");
        symlink(&outside, deep.join("link")).expect("linked");
        fs::create_dir_all(tree.join("closed/inner/file")).expect("made");
        for closed in ["closed/inner", "closed"] {
            let none = fs::Permissions::from_mode(0o000);
            fs::set_permissions(tree.join(closed), none).expect("closed");
        }
        remove_tree(&tree).expect("removed");
        assert!(!tree.exists() && outside.join("kept").exists());
        fs::remove_dir_all(&place).expect("removed");
    }
}
