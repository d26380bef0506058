//! Times of files: granularity, range, and what a remount leaves of them.

use std::cmp::Ordering;
use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

use fslab_sys::os::MetadataExt;

use super::remembered::{recalled, remember};
use super::sheet::Sheet;
use crate::failure::ConformanceFailure;

/// Odd, and with every digit of a nanosecond.
const FINE: (i64, i64) = (1_000_000_001, 123_456_789);
/// Beyond the range of every file system.
const FAR: i64 = 1 << 40;
/// Odd seconds before and after the ends of common ranges: of 1904, 1970, 1980, 2038, 2040, 2106,
/// 2107 and 2446.
const TRIED: [i64; 11] = [
    -2_082_844_801,
    -1,
    1,
    315_532_801,
    2_147_483_649,
    2_212_122_497,
    4_294_967_293,
    4_294_967_297,
    4_354_819_201,
    8_589_934_593,
    15_032_385_537,
];
/// Whole units of 100 ns.
const FRACTION: i64 = 123_456_700;
/// The coarsest granularity of a time of modification, of FAT.
const COARSE_S: i64 = 2;
/// Changes that are listed in full.
const CHANGES_SHOWN: usize = 3;
const DAY_S: i64 = 86_400;

/// Sets the times whose fate [`recall`] looks at.
pub(super) fn probe(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    let folder = sheet.folder("times")?;
    let fine = folder.join("fine");
    sheet.synced_file(&fine, b"fine")?;
    set(sheet, &fine, FINE)?;
    let created = fs::metadata(&fine).and_then(|it| it.created());
    let created = if created.is_ok() { "kept" } else { "none" };
    sheet.state("time.created", created);
    for seconds in TRIED {
        let path = folder.join(format!("at{seconds}"));
        attempt(sheet, &path, (seconds, FRACTION))?;
    }
    for (name, seconds) in [("first", -FAR), ("last", FAR)] {
        attempt(sheet, &folder.join(name), (seconds, 0))?;
    }
    Ok(())
}

/// States the facts of times after a remount.
pub(super) fn recall(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    let folder = sheet.base.join("times");
    let fine = folder.join("fine");
    let metadata = sheet.checker.must("stat", &fine, fs::metadata(&fine))?;
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    let accessed = (metadata.atime(), metadata.atime_nsec());
    sheet.state("time.modified", granularity(modified));
    sheet.state("time.accessed", granularity(accessed));
    let mut fates = Vec::new();
    let names = TRIED.map(|seconds| (seconds, format!("at{seconds}")));
    let ends = [(-FAR, "first".to_owned()), (FAR, "last".to_owned())];
    for (asked, name) in names.into_iter().chain(ends) {
        let path = folder.join(&name);
        // First the times: reading changes them.
        let found = modified_at(sheet, &path)?;
        let seen = recalled(sheet, &path)?.parse().ok();
        fates.push(Fate { asked, seen, found });
    }
    fates.sort_by_key(|it| it.asked);
    sheet.state("time.first", end(&fates));
    let reversed: Vec<Fate> = fates.iter().rev().copied().collect();
    sheet.state("time.last", end(&reversed));
    sheet.state("time.changed", changes(&fates));
    Ok(())
}

/// What became of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fate {
    /// Seconds that were set.
    asked: i64,
    /// Seconds that the driver said before the remount: another number if it has no such time, and
    /// none if it refused it.
    seen: Option<i64>,
    /// Seconds and nanoseconds after it.
    found: (i64, i64),
}

impl Fate {
    /// Whether the remount left it, to the coarsest granularity, which is rounded down.
    fn is_kept(self) -> bool {
        let (seconds, nanoseconds) = self.found;
        let is_near = |seen: i64| (0..=COARSE_S).contains(&(seen - seconds));
        self.seen.is_some_and(is_near) && (0..1_000_000_000).contains(&nanoseconds)
    }
}

/// The outermost time of those that begin with the farthest: to which the driver moved it, or the
/// last that it lost and the first that it kept.
fn end(fates: &[Fate]) -> String {
    let kept = (0..fates.len()).position(|place| {
        let (fate, next) = (
            fates[place],
            fates[place + 1..].iter().find(|it| it.is_kept()),
        );
        // What a driver moves beyond a time nearer to today has overflowed.
        let is_in_order = next.is_none_or(|next| {
            let order = fate.found.0.cmp(&next.found.0);
            order == Ordering::Equal || order == fate.asked.cmp(&next.asked)
        });
        fate.is_kept() && is_in_order
    });
    match kept {
        None => "no time was kept".to_owned(),
        Some(0) => moment(fates[0].found.0),
        Some(place) => {
            let (lost, kept) = (fates[place - 1].asked, moment(fates[place].asked));
            match moment(lost) {
                _ if lost.abs() == FAR => format!("{kept} or beyond"),
                lost if lost == kept => kept,
                lost => format!("{kept}, not {lost}"),
            }
        }
    }
}

/// The times that a remount changed.
fn changes(fates: &[Fate]) -> String {
    let changed = fates.iter().filter(|it| !it.is_kept());
    let words = changed.filter_map(|it| Some(format!("{} s became {}", it.seen?, raw(it.found))));
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [] => "none".to_owned(),
        few if few.len() <= CHANGES_SHOWN => few.join("; "),
        [first, .., last] => format!("{first} ... {last} ({} of {})", words.len(), fates.len()),
        [one] => one.clone(),
    }
}

/// Creates `path`, sets its times, and remembers which the driver says that it has.
fn attempt(sheet: &mut Sheet<'_>, path: &Path, time: (i64, i64)) -> Result<(), ConformanceFailure> {
    remember(sheet, path, "")?;
    if !set(sheet, path, time)? {
        return remember(sheet, path, "refused");
    }
    let seen = modified_at(sheet, path)?.0;
    remember(sheet, path, &seen.to_string())?;
    set(sheet, path, time).map(drop)
}

/// Sets the times of a file; false if the driver refuses them.
fn set(sheet: &mut Sheet<'_>, path: &Path, time: (i64, i64)) -> Result<bool, ConformanceFailure> {
    let (seconds, nanoseconds) = time;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = match seconds {
        ..0 => SystemTime::UNIX_EPOCH.checked_sub(whole),
        _ => SystemTime::UNIX_EPOCH.checked_add(whole),
    };
    let fraction = Duration::from_nanos(nanoseconds.unsigned_abs());
    let Some(time) = whole.and_then(|it| it.checked_add(fraction)) else {
        return Ok(false);
    };
    let times = FileTimes::new().set_accessed(time).set_modified(time);
    let opened = File::options().write(true).open(path);
    let file = sheet.checker.must("open", path, opened)?;
    Ok(file.set_times(times).is_ok())
}

fn modified_at(sheet: &mut Sheet<'_>, path: &Path) -> Result<(i64, i64), ConformanceFailure> {
    let metadata = sheet.checker.must("stat", path, fs::metadata(path))?;
    Ok((metadata.mtime(), metadata.mtime_nsec()))
}

/// The coarsest unit that explains what became of [`FINE`].
fn granularity((seconds, nanoseconds): (i64, i64)) -> &'static str {
    let (set_seconds, set_nanoseconds) = FINE;
    if seconds == set_seconds {
        const UNITS: [(i64, &str); 6] = [
            (1, "1 ns"),
            (100, "100 ns"),
            (1_000, "1 \u{b5}s"),
            (1_000_000, "1 ms"),
            (10_000_000, "10 ms"),
            (1_000_000_000, "1 s"),
        ];
        let fits = |unit: i64| set_nanoseconds - set_nanoseconds % unit == nanoseconds;
        let unit = UNITS.iter().find(|(unit, _)| fits(*unit));
        return unit.map_or("another fraction", |(_, words)| *words);
    }
    match set_seconds - seconds {
        1 => "2 s",
        2..DAY_S => "1 day",
        _ => "not kept",
    }
}

/// Seconds, and nanoseconds if they are none.
fn raw((seconds, nanoseconds): (i64, i64)) -> String {
    match nanoseconds {
        0..1_000_000_000 => format!("{seconds} s"),
        _ => format!("{seconds} s and {nanoseconds} ns"),
    }
}

/// The date of a time in UTC, or its seconds where no calendar has it.
fn moment(seconds: i64) -> String {
    if seconds.abs() == FAR {
        return "no limit found".to_owned();
    }
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%F").to_string(),
        Err(_) => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn granularities_follow_from_what_is_left_of_a_time() {
        for (found, unit) in [
            ((1_000_000_001, 123_456_789), "1 ns"),
            ((1_000_000_001, 123_456_700), "100 ns"),
            ((1_000_000_001, 123_456_000), "1 \u{b5}s"),
            ((1_000_000_001, 120_000_000), "10 ms"),
            ((1_000_000_001, 0), "1 s"),
            ((1_000_000_000, 0), "2 s"),
            ((999_993_600, 0), "1 day"),
            ((1_000_000_001, 5), "another fraction"),
            ((1_700_000_000, 0), "not kept"),
        ] {
            assert_eq!(granularity(found), unit, "{found:?}");
        }
    }

    #[test]
    fn a_time_is_a_date_where_a_calendar_has_it() {
        assert_eq!(moment(2_147_483_647), "2038-01-19");
        assert_eq!(moment(-2_147_483_648), "1901-12-13");
        assert_eq!(moment(15_032_385_535), "2446-05-10");
        assert_eq!(moment(951_782_400), "2000-02-29");
        assert_eq!(moment(1 << 39), "549755813888 s");
        assert_eq!(moment(1 << 40), "no limit found");
    }

    fn fate(asked: i64, seen: i64, found: (i64, i64)) -> Fate {
        let seen = Some(seen);
        Fate { asked, seen, found }
    }

    #[test]
    fn a_range_ends_where_the_driver_moves_a_time_or_loses_it() {
        let moved = fate(-FAR, 0, (0, 0));
        let kept = fate(1, 1, (1, 0));
        assert_eq!(end(&[moved, kept]), "1970-01-01");
        // ext4: two times beyond its last one.
        let last = 15_032_385_535;
        let beyond = [FAR, 15_032_385_537].map(|asked| fate(asked, last, (last, 0)));
        assert_eq!(end(&[beyond[0], beyond[1], kept]), "2446-05-10");
        // HFS: what is before 1970 comes back in another century.
        let lost = [fate(-FAR, -FAR, (0, 0)), fate(-1, -1, (4_294_967_295, 0))];
        assert_eq!(end(&[lost[0], lost[1], kept]), "1970-01-01, not 1969-12-31");
        assert_eq!(end(&lost), "no time was kept");
        // ntfs-3g: the seconds overflow, and the driver says so before the remount already.
        let overflown = fate(-FAR, 745_162_779_594, (745_162_779_594, 0));
        let late = fate(15_032_385_537, 15_032_385_537, (15_032_385_537, 0));
        assert_eq!(end(&[overflown, kept]), "1970-01-01 or beyond");
        assert_eq!(end(&[fate(FAR, FAR, (0, 0)), late]), "2446-05-10 or beyond");
        let refused = Fate {
            seen: None,
            ..overflown
        };
        assert_eq!(end(&[refused, kept]), "1970-01-01 or beyond");
        assert_eq!(changes(&[refused, kept]), "none");
        assert_eq!(end(&[fate(FAR, FAR, (FAR, 0))]), "no limit found");
    }

    #[test]
    fn a_time_is_kept_to_two_seconds_and_with_a_true_fraction() {
        assert!(fate(5, 5, (4, 0)).is_kept());
        assert!(!fate(5, 5, (6, 0)).is_kept());
        assert!(!fate(-1, -1, (4_294_967_295, 0)).is_kept());
        let wrong = fate(-1, -1, (-1, 3_418_423_996));
        assert_eq!(
            changes(&[wrong, fate(5, 5, (5, 0))]),
            "-1 s became -1 s and 3418423996 ns"
        );
    }
}
