//! What a mounted file system shows: its names, and the content of files.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::path::Path;

use fslab_crash::{Observed, ObservedEntry, ObservedFile};
use fslab_sys::NameDirectory;

/// Most names that are looked at.
const NAMES_MAX: usize = 100_000;
/// Most bytes that are read of a file, and of all files together: a damaged file may be endless.
const BYTES_MAX: u64 = 256 << 20;
/// Most directories within each other: a damaged tree may be endless.
const DEPTH_MAX: usize = 100;
/// Buffer of a listing.
const LISTING_BYTES: usize = 32 << 10;
/// The file that is written in each state.
const PROBE: &str = "fslabnew";

/// Writes and syncs a file, and removes it.
pub(crate) fn probe(root: &Path) -> io::Result<()> {
    let path = root.join(PROBE);
    let mut file = File::create(&path)?;
    file.write_all(&[7; 4096])?;
    file.sync_all()?;
    drop(file);
    fs::remove_file(&path)
}

/// Everything below `root`: the content of `folders`, and of others what cannot be read. True if
/// there was more than is looked at.
pub(crate) fn walk(root: &Path, folders: &[String]) -> (Observed, bool) {
    let mut walk = Walk {
        root,
        folders,
        found: Observed::new(),
        names_left: NAMES_MAX,
        bytes_left: BYTES_MAX,
        is_cut: false,
    };
    walk.folder("", 0);
    (walk.found, walk.is_cut)
}

struct Walk<'a> {
    root: &'a Path,
    folders: &'a [String],
    found: Observed,
    names_left: usize,
    bytes_left: u64,
    is_cut: bool,
}

impl Walk<'_> {
    fn folder(&mut self, name: &str, depth: usize) {
        let names = match list(&self.root.join(name), self.names_left) {
            Ok(names) => names,
            Err(error) => return self.add_unreadable(name, &error),
        };
        for child in names {
            if self.names_left == 0 {
                self.is_cut = true;
                return;
            }
            self.names_left -= 1;
            let path = match name {
                "" => child,
                name => format!("{name}/{child}"),
            };
            self.entry(&path, depth);
        }
    }

    fn entry(&mut self, name: &str, depth: usize) {
        let path = self.root.join(name);
        let kind = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return self.add_unreadable(name, &error),
        };
        if kind.is_dir() {
            self.add(name, ObservedEntry::Directory);
            match depth < DEPTH_MAX {
                true => self.folder(name, depth + 1),
                false => self.is_cut = true,
            }
        } else if kind.is_file() {
            let read = File::open(&path).and_then(|it| ObservedFile::read(it, self.bytes_left));
            match read {
                Ok(content) => {
                    self.bytes_left -= content.bytes.min(self.bytes_left);
                    self.is_cut |= self.bytes_left == 0;
                    self.add(name, ObservedEntry::File(content));
                }
                Err(error) => self.add_unreadable(name, &error),
            }
        } else {
            self.add(name, ObservedEntry::Other);
        }
    }

    fn add(&mut self, name: &str, entry: ObservedEntry) {
        let is_inside = |folder: &String| {
            let rest = name.strip_prefix(folder.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.folders.iter().any(is_inside) {
            self.found.insert(name.to_owned(), entry);
        }
    }

    fn add_unreadable(&mut self, name: &str, error: &io::Error) {
        let entry = ObservedEntry::Unreadable(error.to_string());
        self.found.insert(name.to_owned(), entry);
    }
}

/// The names of a directory in their order, at most `limit` and one more.
fn list(folder: &Path, limit: usize) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut buffer = vec![MaybeUninit::uninit(); LISTING_BYTES];
    let mut is_full = false;
    let listed = NameDirectory::open(folder)?.list(&mut buffer, &mut |entry| {
        add_once(&mut names, entry.name.to_string_lossy())?;
        is_full = names.len() > limit;
        // The listing ends at an error alone.
        if is_full {
            Err(io::ErrorKind::Other.into())
        } else {
            Ok(())
        }
    });
    if is_full {
        return Ok(names);
    }
    listed.map(|()| names)
}

/// Adds a name. One that was there is an error: the blocks of a damaged directory may refer to each
/// other, and it is listed without an end.
fn add_once(names: &mut BTreeSet<String>, name: Cow<'_, str>) -> io::Result<()> {
    if names.contains(&*name) {
        return Err(io::Error::other(format!("lists '{name}' twice")));
    }
    names.insert(name.into_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_lists_a_name_twice_is_not_read_to_its_end() {
        let mut names = BTreeSet::new();
        let error = (0..)
            .map(|number| add_once(&mut names, format!("a{}", number % 3).into()))
            .find_map(Result::err);
        assert_eq!(
            error.expect("it has no end").to_string(),
            "lists 'a0' twice"
        );
        assert_eq!(names.len(), 3);
    }

    #[test]
    fn no_more_names_are_listed_than_the_limit_and_one() {
        let folder = tempfile::tempdir().expect("a directory");
        for name in ["c", "a", "b", "d"] {
            fs::write(folder.path().join(name), "").expect("written");
        }
        assert_eq!(list(folder.path(), 2).expect("listed").len(), 3);
        let all = list(folder.path(), 9).expect("listed");
        assert_eq!(all.into_iter().collect::<String>(), "abcd");
        assert!(list(&folder.path().join("none"), 9).is_err());
    }

    #[test]
    fn a_walk_has_the_content_of_its_folders_and_no_other() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path();
        fs::create_dir_all(root.join("script/d")).expect("made");
        fs::create_dir_all(root.join("script-2")).expect("made");
        fs::write(root.join("script/d/a"), [0; 1024]).expect("written");
        fs::write(root.join("script-2/b"), [1; 512]).expect("written");
        fslab_sys::os::symlink("nowhere", root.join("script/l")).expect("linked");
        let (found, is_cut) = walk(root, &["script".to_owned()]);
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["script", "script/d", "script/d/a", "script/l"]);
        assert_eq!(found["script/l"], ObservedEntry::Other);
        let ObservedEntry::File(file) = &found["script/d/a"] else {
            panic!("a file")
        };
        assert_eq!((file.bytes, is_cut), (1024, false));
    }

    #[test]
    fn the_probe_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a directory");
        probe(folder.path()).expect("written");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
        assert!(probe(&folder.path().join("none")).is_err());
    }
}
