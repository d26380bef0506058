//! The table of all file systems, and parsing of subjects.

use std::borrow::Cow;

use fslab_model::{Failure, ParseSubjectError, Protocol, Subject, did_you_mean, nearest_name};

use crate::FileSystem;
use crate::catalogue::{
    AFFS, BCACHEFS, BTRFS, EXFAT, EXT2, EXT3, EXT4, F2FS, FAKE, FAT16, FAT32, HFS, HFS_PLUS, HFSX,
    HPFS, JFS, NILFS2, NTFS, NTFS_3G, NTFS3, REISER4, REISERFS_3_5, REISERFS_3_6, TMPFS, UDF,
    UFS_SOFT_UPDATES, UFS1, UFS2, XFS, ZFS,
};
use crate::layer::{LIST_HINT, nearest_layer};

/// Sorted by name.
static ENTRIES: &[&FileSystem] = &[
    &AFFS,
    &BCACHEFS,
    &BTRFS,
    &EXFAT,
    &EXT2,
    &EXT3,
    &EXT4,
    &F2FS,
    &FAKE,
    &FAT16,
    &FAT32,
    &HFS,
    &HFS_PLUS,
    &HFSX,
    &HPFS,
    &JFS,
    &NILFS2,
    &NTFS,
    &NTFS_3G,
    &NTFS3,
    &REISER4,
    &REISERFS_3_5,
    &REISERFS_3_6,
    &TMPFS,
    &UDF,
    &UFS_SOFT_UPDATES,
    &UFS1,
    &UFS2,
    &XFS,
    &ZFS,
];

/// Names by which the kernel, mkfs and mount know file systems of the catalogue.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("fuseblk", "ntfs-3g"),
    ("hfsplus", "hfs+"),
    ("msdos", "fat16"),
    ("nilfs", "nilfs2"),
    ("reiserfs", "reiserfs-3.6"),
    ("ufs", "ufs2"),
    ("vfat", "fat32"),
];

/// Selects every entry that has a driver.
const ALL_WORD: &str = "all";

/// Every entry, sorted by name.
pub fn all() -> &'static [&'static FileSystem] {
    ENTRIES
}

/// The entry of that name.
///
/// # Errors
/// Bad input, with the most similar name as hint.
pub fn find(name: &str) -> Result<&'static FileSystem, Failure> {
    let names = || ENTRIES.iter().map(|entry| entry.name);
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
    ENTRIES
        .iter()
        .copied()
        .find(|entry| entry.name == name)
        .ok_or_else(|| {
            let other = other.map(|(_, known)| *known);
            let nearest = other.or_else(|| nearest_name(name, names()));
            Failure::bad_input(format!("the catalogue has no file system '{name}'"))
                .hint(hint_for_unknown(name, nearest))
        })
}

fn hint_for_unknown(name: &str, nearest: Option<&str>) -> String {
    if let Some((fs, layer)) = name.split_once('/').filter(|(fs, _)| find(fs).is_ok()) {
        let layer = layer.split('/').next().unwrap_or_default();
        return match nearest_layer(layer) {
            Some(kind) => {
                let meant = did_you_mean(format!("{fs}/{kind}"));
                format!("'{layer}' is no layer; {meant}")
            }
            None => format!("'{layer}' is no layer; {LIST_HINT}"),
        };
    }
    if name.starts_with("/dev/") {
        return format!(
            "to make file systems on this device, which destroys what is on it: fslab compare ext4 \
             xfs --destroy {name}; to measure the mounted one: fslab compare --dir MOUNTPOINT"
        );
    }
    if name.starts_with(['/', '.', '~']) {
        return format!(
            "measure a mounted directory with `fslab compare --dir {name}`, several with one --dir \
             for each"
        );
    }
    if Protocol::of(name).is_some() {
        return format!(
            "name what it serves after a colon, for example {name}:ext4; measure a directory of a \
             mounted one with --dir"
        );
    }
    nearest.map_or_else(|| "list them with fslab fs list".to_owned(), did_you_mean)
}

/// The title of the file system `name`; `None` if the catalogue has none of that name.
pub fn title_of(name: &str) -> Option<String> {
    find(name).ok().map(|entry| entry.title.to_owned())
}

/// Parses one subject and checks it against the catalogue.
pub fn parse_subject(text: &str) -> Result<Subject, Failure> {
    let parsed = in_lower_case(text).parse();
    let subject: Subject = parsed.map_err(|error: ParseSubjectError| {
        Failure::bad_input("cannot read a subject").because(&error)
    })?;
    if let Some(directory) = subject.directory() {
        let failure = Failure::bad_input(format!("the subject '{subject}' names a directory"));
        return Err(failure.hint(format!("measure it with `fslab compare --dir {directory}`")));
    }
    find(subject.fs())?.validate(&subject)?;
    Ok(subject)
}

/// The text with the name in lower case, if only that is in the catalogue: `EXT4:noatime`.
fn in_lower_case(text: &str) -> Cow<'_, str> {
    let (name, rest) = text.split_at(text.find([':', '@', '/']).unwrap_or(text.len()));
    let lower = name.to_ascii_lowercase();
    match find(name).is_err() && find(&lower).is_ok() {
        true => Cow::Owned(lower + rest),
        false => Cow::Borrowed(text),
    }
}

/// True if a word stands for every entry: `all`, or `all@mine` in the guest kernel `mine`.
pub fn selects_all(word: &str) -> bool {
    after_all(word).is_some()
}

/// What follows `all` in a word for every entry: nothing, the kernel with its `@`, or layers.
fn after_all(word: &str) -> Option<&str> {
    let kernel = word.strip_prefix(ALL_WORD)?;
    (kernel.is_empty() || kernel.starts_with(['@', '/'])).then_some(kernel)
}

/// Parses subjects in order; `all` selects every entry that has a driver. Commas separate subjects,
/// too.
pub fn parse_subjects<S: AsRef<str>>(texts: &[S]) -> Result<Vec<Subject>, Failure> {
    let mut subjects: Vec<Subject> = Vec::new();
    let separated = texts.iter().flat_map(|text| separated(text.as_ref()));
    for text in separated {
        let Some(kernel) = after_all(text) else {
            subjects.push(parse_subject(text)?);
            continue;
        };
        for entry in ENTRIES.iter().filter(|entry| entry.driver.is_mountable()) {
            let subject = parse_subject(&format!("{}{kernel}", entry.name));
            // What lies on no device has no layers.
            if kernel.contains('/') && !entry.is_on_device() {
                continue;
            }
            subjects.push(subject?);
        }
    }
    for (at, subject) in subjects.iter().enumerate() {
        if subjects[..at].contains(subject) {
            let failure = Failure::bad_input(format!("the subject '{subject}' is named twice"));
            return Err(failure.hint("name it once; use --repeats to measure it more often"));
        }
    }
    Ok(subjects)
}

/// Subjects between commas. One of an option separates nothing: it stands behind a colon and before
/// a word that is no file system.
fn separated(text: &str) -> Vec<&str> {
    let mut subjects = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(',') {
        let rest = &text[at + 1..];
        let next = rest.split([',', ':', '@', '/']).next().unwrap_or_default();
        let is_protocol = Protocol::of(next).is_some() && rest[next.len()..].starts_with(':');
        let is_subject = is_protocol || find(next).is_ok() || next == ALL_WORD;
        if !text[start..at].contains(':') || is_subject {
            subjects.push(&text[start..at]);
            start = at + 1;
        }
    }
    subjects.push(&text[start..]);
    subjects
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<String> {
        let subjects = parse_subjects(words).expect("subjects");
        subjects.iter().map(Subject::to_string).collect()
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = find("brtfs").expect_err("a slip");
        assert_eq!(
            error.to_string(),
            "the catalogue has no file system 'brtfs'"
        );
        assert_eq!(error.hint.as_deref(), Some("did you mean 'btrfs'?"));
        let error = find("qqqqqqq").expect_err("noise");
        assert_eq!(error.hint.as_deref(), Some("list them with fslab fs list"));
    }

    #[test]
    fn subjects_are_separated_by_spaces_and_commas_alike() {
        assert_eq!(names(&["ext4,xfs", "jfs"]), ["ext4", "xfs", "jfs"]);
        assert_eq!(
            names(&["ext4:noatime,data=journal,xfs:mkfs=-m reflink=0,crc=1,btrfs"]),
            [
                "ext4:mount=noatime,data=journal",
                "xfs:mkfs=-m reflink=0,crc=1",
                "btrfs"
            ]
        );
        assert_eq!(
            names(&["ext4@6.1,xfs@mine:noatime,ext4@mine"]),
            ["ext4@6.1", "xfs@mine:mount=noatime", "ext4@mine"]
        );
        assert!(
            parse_subjects(&["ext4,xsf"])
                .expect_err("a slip")
                .to_string()
                .contains("'xsf'")
        );
    }

    #[test]
    fn names_of_the_kernel_lead_to_those_of_the_catalogue() {
        for (other, known) in OTHER_NAMES {
            let hint = find(other).expect_err("no entry").hint;
            assert_eq!(hint, Some(format!("did you mean '{known}'?")));
            assert!(find(known).is_ok(), "{known}");
        }
    }

    #[test]
    fn all_is_every_file_system_that_something_mounts() {
        let mounted = names(&["all"]);
        for name in ["ext4", "hfs+", "ntfs-3g", "tmpfs", "zfs"] {
            assert!(mounted.iter().any(|it| it == name), "{name}");
        }
        assert!(!mounted.iter().any(|it| it == "fake" || it == "reiser4"));
        assert_eq!(mounted.len(), ENTRIES.len() - 3, "{mounted:?}");
        let mine = names(&["all@mine"]);
        assert!(
            mine.iter()
                .zip(&mounted)
                .all(|(a, b)| *a == format!("{b}@mine"))
        );
        assert_eq!(mine.len(), mounted.len());
        assert!(selects_all("all@mine") && selects_all("all") && !selects_all("allot"));
        assert_eq!(names(&["fake"]), ["fake"]);
    }

    #[test]
    fn subjects_keep_their_order_and_their_options() {
        assert_eq!(
            names(&["xfs:mkfs=-m reflink=0", "ext4:data=journal", "ext4"]),
            ["xfs:mkfs=-m reflink=0", "ext4:mount=data=journal", "ext4"]
        );
    }

    #[test]
    fn stacks_are_separated_and_selected_as_file_systems_are() {
        assert_eq!(
            names(&["ext4/luks:sector=4096,xfs/lvm", "EXT4/raid1x2"]),
            ["ext4/luks:sector=4096", "xfs/lvm", "ext4/raid1x2"]
        );
        let encrypted = names(&["all/luks"]);
        assert!(encrypted.iter().any(|it| it == "xfs/luks"), "{encrypted:?}");
        assert!(
            !encrypted.iter().any(|it| it == "tmpfs/luks"),
            "{encrypted:?}"
        );
        let refused = parse_subject("tmpfs/luks").expect_err("no device").message;
        assert!(refused.contains("tmpfs lies on no device"), "{refused}");
        let hint = find("ext4/lucks")
            .expect_err("a slip")
            .hint
            .expect("a hint");
        assert!(hint.contains("did you mean 'ext4/luks'"), "{hint}");
    }

    #[test]
    fn twins_are_refused() {
        for words in [["ext4:noatime", "ext4:mount=noatime"], ["all", "xfs"]] {
            let error = parse_subjects(&words).expect_err("twins");
            assert!(error.message.ends_with(" is named twice"), "{error}");
        }
    }

    #[test]
    fn a_bad_option_is_refused_while_it_is_read() {
        for text in [
            "ext4:mkfs=-n",
            "btrfs:mkfs=-f sdb",
            "xfs:loop",
            "fake:noatime",
        ] {
            let error = parse_subject(text).expect_err(text);
            assert!(error.message.contains(" option '"), "{error}");
        }
        let error = parse_subject("ext4:").expect_err("empty option");
        assert_eq!(error.message, "cannot read a subject");
        let error = parse_subject("ext4:/mnt/a").expect_err("a directory");
        let hint = error.hint.expect("a hint");
        assert!(hint.contains("fslab compare --dir /mnt/a"), "{hint}");
    }
}
