//! Names: their length, what a driver changes in them, their case, and the order of a listing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::Path;

use fslab_sys::os::{OsStrExt, OsStringExt};

use super::sheet::{Sheet, word};
use crate::failure::ConformanceFailure;

/// Bytes beyond which no name is tried: PATH_MAX of Linux.
const NAME_TRIED_MAX: usize = 4_000;

/// What became of a name.
#[derive(Debug, PartialEq, Eq)]
enum Kept {
    AsGiven,
    /// The file has another name.
    Changed(OsString),
    Refused(String),
}

impl Kept {
    fn words(&self) -> String {
        match self {
            Self::AsGiven => "kept".to_owned(),
            Self::Changed(_) => "changed".to_owned(),
            Self::Refused(error) => format!("refused ({error})"),
        }
    }
}

/// States the facts of names.
pub(super) fn probe(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    let folder = sheet.folder("names")?;
    let mut longest = |unit: &str| longest(sheet, &folder, unit);
    // One, three and four bytes of UTF-8; the last is two units of UTF-16.
    let counts = [longest("a")?, longest("\u{20ac}")?, longest("\u{1f600}")?];
    sheet.state("name.longest", length_words(counts));
    let beyond = OsString::from("a".repeat(counts[0] + 1));
    let beyond = match keep(sheet, &folder, &beyond)? {
        Kept::AsGiven => "taken".to_owned(),
        Kept::Changed(_) => "cut without an error".to_owned(),
        refused @ Kept::Refused(_) => refused.words(),
    };
    sheet.state("name.beyond", beyond);
    for (fact, name) in [
        ("name.invalid_utf8", &b"bad\xff\xfe"[..]),
        ("name.decomposed", "Ne\u{301}".as_bytes()),
        ("name.beyond_bmp", "\u{1f600}".as_bytes()),
        ("name.final_dot", b"end."),
        ("name.final_blank", b"end "),
        ("name.colon", b"a:b"),
    ] {
        let name = OsString::from_vec(name.to_vec());
        let kept = keep(sheet, &folder, &name)?;
        sheet.state(fact, kept.words());
    }
    let case = case(sheet, &folder)?;
    sheet.state("name.case", case);
    let order = order(sheet)?;
    sheet.state("directory.order", order);
    Ok(())
}

/// The most repetitions of `unit` that are kept as a name.
fn longest(sheet: &mut Sheet<'_>, folder: &Path, unit: &str) -> Result<usize, ConformanceFailure> {
    let (mut kept, mut beyond) = (0, NAME_TRIED_MAX / unit.len());
    while beyond - kept > 1 {
        let middle = kept + (beyond - kept) / 2;
        let name = OsString::from(unit.repeat(middle));
        match keep(sheet, folder, &name)? {
            Kept::AsGiven => kept = middle,
            _ => beyond = middle,
        }
    }
    Ok(kept)
}

/// The limit in its unit, from the most letters of one byte, of three bytes, and of four.
fn length_words([ascii, wide, astral]: [usize; 3]) -> String {
    if wide * 3 <= ascii {
        return format!("{ascii} bytes");
    }
    match astral {
        0 => format!("{ascii} letters of the basic plane"),
        astral if astral == wide / 2 => format!("{ascii} units of UTF-16"),
        _ => format!("{ascii} letters"),
    }
}

/// Creates a file of that name in the empty `folder`, and removes it.
fn keep(sheet: &mut Sheet<'_>, folder: &Path, name: &OsStr) -> Result<Kept, ConformanceFailure> {
    sheet.checker.check()?;
    let path = folder.join(name);
    if let Err(error) = File::create(&path) {
        return Ok(Kept::Refused(word(&error)));
    }
    let found = listed(sheet, folder)?;
    let kept = match found.as_slice() {
        [found] if found == name => Kept::AsGiven,
        found => Kept::Changed(found.first().cloned().unwrap_or_default()),
    };
    // By the name that was given: a driver finds what it made of it.
    let removed = fs::remove_file(&path).or_else(|_| match &kept {
        Kept::Changed(found) => fs::remove_file(folder.join(found)),
        _ => Ok(()),
    });
    sheet.checker.must("remove", &path, removed)?;
    Ok(kept)
}

/// The names in `folder`, in the order of readdir(3).
fn listed(sheet: &mut Sheet<'_>, folder: &Path) -> Result<Vec<OsString>, ConformanceFailure> {
    let entries = sheet.checker.must("list", folder, fs::read_dir(folder))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = sheet.checker.must("list", folder, entry)?;
        names.push(entry.file_name());
    }
    Ok(names)
}

/// Which letters are the same in either case.
fn case(sheet: &mut Sheet<'_>, folder: &Path) -> Result<&'static str, ConformanceFailure> {
    let mut is_one = |made: &str, asked: &str| {
        let path = folder.join(made);
        // A name that is refused is found in no case.
        if File::create(&path).is_err() {
            return Ok::<bool, ConformanceFailure>(false);
        }
        sheet.checker.check()?;
        let found = fs::symlink_metadata(folder.join(asked)).is_ok();
        sheet
            .checker
            .must("remove", &path, fs::remove_file(&path))?;
        Ok(found)
    };
    let ascii = is_one("CaseName", "casenAME")?;
    let accented = is_one("\u{c9}t\u{e9}", "\u{e9}T\u{c9}")?;
    Ok(match (ascii, accented) {
        (false, false) => "distinguished",
        (true, false) => "letters of ASCII are the same",
        (true, true) => "letters are the same",
        (false, true) => "letters beyond ASCII are the same",
    })
}

/// The order in which readdir(3) gives a few names.
fn order(sheet: &mut Sheet<'_>) -> Result<&'static str, ConformanceFailure> {
    const NAMES: [&str; 13] = [
        "m", "c", "z", "a", "q", "B", "t", "h", "x", "e", "K", "o", "g",
    ];
    let folder = sheet.folder("order")?;
    for name in NAMES {
        let path = folder.join(name);
        sheet
            .checker
            .must("create", &path, File::create(&path).map(drop))?;
    }
    let found = listed(sheet, &folder)?;
    let created: Vec<&[u8]> = NAMES.iter().map(|it| it.as_bytes()).collect();
    Ok(order_words(
        &created,
        &found.iter().map(|it| it.as_bytes()).collect::<Vec<_>>(),
    ))
}

fn order_words(created: &[&[u8]], found: &[&[u8]]) -> &'static str {
    let made: BTreeSet<_> = created.iter().collect();
    if found.iter().collect::<BTreeSet<_>>() != made {
        return "incomplete";
    }
    if found == created {
        return "as created";
    }
    if found.iter().rev().eq(created) {
        return "the last created first";
    }
    if found.is_sorted() {
        return "sorted by bytes";
    }
    if found.is_sorted_by_key(|name| name.to_ascii_uppercase()) {
        return "sorted, upper and lower case alike";
    }
    "another, as of a hash"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_a_limit_follows_from_wide_letters() {
        assert_eq!(length_words([255, 85, 63]), "255 bytes");
        assert_eq!(length_words([255, 255, 127]), "255 units of UTF-16");
        assert_eq!(
            length_words([255, 255, 0]),
            "255 letters of the basic plane"
        );
        assert_eq!(length_words([31, 0, 0]), "31 bytes");
        assert_eq!(length_words([255, 255, 255]), "255 letters");
    }

    #[test]
    fn orders_are_told_apart() {
        let of = |found: &[&str]| {
            let found: Vec<&[u8]> = found.iter().map(|it| it.as_bytes()).collect();
            order_words(&[b"m", b"B", b"a"], &found)
        };
        assert_eq!(of(&["m", "B", "a"]), "as created");
        assert_eq!(of(&["a", "B", "m"]), "the last created first");
        assert_eq!(of(&["B", "a", "m"]), "sorted by bytes");
        assert_eq!(of(&["a", "m", "B"]), "another, as of a hash");
        assert_eq!(of(&["a", "m"]), "incomplete");
    }
}
