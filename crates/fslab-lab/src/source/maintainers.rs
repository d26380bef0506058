//! Who maintains the drivers of file systems, by the file MAINTAINERS of a kernel's source.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::LabError;

/// The status of each directory below `fs/` of the source in `tree`, by its name, such as
/// "Odd Fixes"; "no entry" for a directory that the file does not list. Empty if the source has no
/// such file.
pub(crate) fn maintenance_in(tree: &Path) -> Result<BTreeMap<String, String>, LabError> {
    let path = tree.join("MAINTAINERS");
    let text = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        read => read.map_err(LabError::io("read", &path))?,
    };
    let mut found = statuses(&String::from_utf8_lossy(&text));
    let folder = tree.join("fs");
    let listed = fs::read_dir(&folder).map_err(LabError::io("read", &folder))?;
    for entry in listed.flatten() {
        if entry.path().is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.entry(name).or_insert_with(|| "no entry".to_owned());
        }
    }
    Ok(found)
}

/// The status of each directory below `fs/` that an entry lists as a whole.
fn statuses(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in text.split("\n\n") {
        let value = |prefix: &'static str| {
            let lines = entry.lines();
            lines.filter_map(move |line| Some(line.strip_prefix(prefix)?.trim()))
        };
        let Some(status) = value("S:").next() else {
            continue;
        };
        for path in value("F:") {
            let name = path.strip_prefix("fs/").and_then(|it| it.strip_suffix('/'));
            if let Some(name) = name.filter(|name| !name.contains(['/', '*'])) {
                found.insert(name.to_owned(), status.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "List of maintainers\n\n\
        AFFS FILE SYSTEM\nM:\tA Name <a@example.org>\nS:\tOdd Fixes\n\
        F:\tDocumentation/filesystems/affs.rst\nF:\tfs/affs/\n\n\
        FILESYSTEMS (VFS)\nS:\tMaintained\nF:\tfs/*\nF:\tfs/btrfs/tests/\n\n\
        HFS FILESYSTEM\nS:\tOrphan\nF:\tfs/hfs/\n";

    #[test]
    fn a_directory_has_the_status_of_the_entry_that_lists_it() {
        let place = tempfile::tempdir().expect("a directory");
        for name in ["affs", "hfs", "ufs", "btrfs"] {
            fs::create_dir_all(place.path().join("fs").join(name)).expect("made");
        }
        assert!(maintenance_in(place.path()).expect("none").is_empty());
        fs::write(place.path().join("MAINTAINERS"), TEXT).expect("written");
        let found = maintenance_in(place.path()).expect("read");
        let of = |name: &str| found.get(name).map(String::as_str);
        assert_eq!(of("affs"), Some("Odd Fixes"));
        assert_eq!(of("hfs"), Some("Orphan"));
        assert_eq!([of("ufs"), of("btrfs")], [Some("no entry"); 2]);
    }
}
