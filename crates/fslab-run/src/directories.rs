//! The subjects of the venue `dir`: what is mounted at the user's directories.

use std::path::{Path, PathBuf};

use fslab_fs::{Recognised, network_mount, recognise};
use fslab_model::{Failure, FailureKind, Subject, SubjectPlan};

/// The subjects of the directories, in their order, with a notice if two are on one file system.
/// `named` are the study's subjects, which are not measured; if the user named them (`are_named`),
/// they must be what is mounted.
pub(crate) fn subjects(
    dirs: &[PathBuf],
    named: &[Subject],
    are_named: bool,
    notices: &mut Vec<String>,
) -> Result<Vec<SubjectPlan>, Failure> {
    if let Some(subject) = named.iter().find(|subject| !subject.stages().is_empty()) {
        let text = format!(
            "the subject '{subject}' cannot run in the venue 'dir', where nothing is formatted"
        );
        let hint = "leave out age= and fill=, or use another venue";
        return Err(Failure::bad_input(text).hint(hint));
    }
    let found = dirs.iter().map(|dir| Directory::at(dir));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    if are_named {
        ensure_mounted(&found, named)?;
    }
    for (place, other) in found.iter().enumerate() {
        for first in &found[..place] {
            ensure_distinct(first, other)?;
            notices.extend(shared(first, other));
        }
    }
    let is_alone = found.len() == 1;
    Ok(found.iter().map(|it| it.planned(is_alone)).collect())
}

/// Directories are input of the user, also if one cannot be read.
fn as_bad_input(failure: Failure) -> Failure {
    Failure {
        kind: FailureKind::BadInput,
        ..failure
    }
}

/// A directory with what is mounted there.
struct Directory<'a> {
    path: &'a Path,
    mount: Recognised,
}

impl<'a> Directory<'a> {
    fn at(path: &'a Path) -> Result<Self, Failure> {
        let mount = recognise(path).map_err(as_bad_input)?;
        Ok(Self { path, mount })
    }

    /// Its subject: the file system, and if there are others the path.
    fn planned(&self, is_alone: bool) -> SubjectPlan {
        let fs = &self.mount.fs_type;
        SubjectPlan {
            title: fslab_fs::title_of(fs),
            network_mount: network_mount(&self.mount),
            ..SubjectPlan::existing(match is_alone {
                true => Subject::plain(fs),
                false => Subject::mounted_at(fs, self.path.display().to_string()),
            })
        }
    }
}

/// Refuses a named subject that is mounted at none of the directories, and a directory with another
/// file system than those named.
fn ensure_mounted(found: &[Directory], named: &[Subject]) -> Result<(), Failure> {
    let is_at = |subject: &Subject, dir: &Directory| *subject == Subject::plain(&dir.mount.fs_type);
    let elsewhere = named
        .iter()
        .filter(|it| !found.iter().any(|dir| is_at(it, dir)));
    let elsewhere: Vec<_> = elsewhere.collect();
    let other = found
        .iter()
        .find(|dir| !named.iter().any(|it| is_at(it, dir)));
    let (subjects, dirs) = match (elsewhere.is_empty(), other) {
        (false, _) => (elsewhere, found.iter().collect()),
        (true, Some(other)) => (named.iter().collect(), vec![other]),
        (true, None) => return Ok(()),
    };
    let mut mounted: Vec<&str> = dirs.iter().map(|it| it.mount.fs_type.as_str()).collect();
    mounted.dedup();
    let (subjects, mounted) = (joined(subjects), mounted.join(", "));
    let dirs = joined(dirs.iter().map(|it| it.path.display()));
    let text = format!("cannot measure {subjects} in {dirs}, where {mounted} is mounted");
    Err(Failure::unsupported(text).hint(format!(
        "to measure {mounted}, name no subject; to format the subjects, use the venue loop, guest \
         or sim"
    )))
}

fn joined(words: impl IntoIterator<Item = impl ToString>) -> String {
    let words: Vec<_> = words.into_iter().map(|it| it.to_string()).collect();
    words.join(", ")
}

/// Refuses a directory that is known already, also if it is mounted a second time.
fn ensure_distinct(first: &Directory, other: &Directory) -> Result<(), Failure> {
    let number = |dir: &Directory| {
        fslab_sys::file_identity(dir.path)
            .map_err(fslab_fs::unreadable(dir.path))
            .map_err(as_bad_input)
    };
    if first.path != other.path && number(first)? != number(other)? {
        return Ok(());
    }
    let (first, other) = (first.path.display(), other.path.display());
    let failure = Failure::bad_input(format!("{other} and {first} are the same directory"));
    Err(failure.hint("name it once; use --repeats to measure it more often"))
}

/// A notice that two directories are on one file system.
fn shared(first: &Directory, other: &Directory) -> Option<String> {
    if first.mount.device_number != other.mount.device_number {
        return None;
    }
    let below = [(first, other), (other, first)].into_iter();
    let mut below = below.filter(|(inner, outer)| inner.path.starts_with(outer.path));
    let (first, second) = (first.path.display(), other.path.display());
    let what = match below.next() {
        Some((inner, outer)) => {
            let (inner, outer) = (inner.path.display(), outer.path.display());
            format!("{inner} is below {outer}, on the same file system")
        }
        None => format!("{first} and {second} are on the same file system"),
    };
    Some(format!(
        "{what}: they share its space, and differ only in settings per directory, for example \
         quotas, tiers or compression"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Directories on this machine: two on the disk, one of them below the other, and one in
    /// memory.
    struct Places {
        outer: tempfile::TempDir,
        memory: tempfile::TempDir,
    }

    impl Places {
        fn new() -> Self {
            let places = Self {
                outer: tempfile::tempdir_in("/var/tmp").expect("a directory"),
                memory: tempfile::tempdir_in("/dev/shm").expect("a directory in memory"),
            };
            fs::create_dir(places.inner()).expect("a directory");
            places
        }

        fn inner(&self) -> PathBuf {
            self.outer.path().join("inner")
        }

        fn apart(&self) -> Vec<PathBuf> {
            vec![self.outer.path().into(), self.memory.path().into()]
        }
    }

    fn subject(text: &str) -> Subject {
        text.parse().expect("a subject")
    }

    #[test]
    fn one_directory_has_the_name_of_its_file_system_and_several_have_their_paths_too() {
        let places = Places::new();
        let dirs = places.apart();
        let mut notices = Vec::new();
        let mut names = |dirs: &[PathBuf]| -> Vec<String> {
            let planned = subjects(dirs, &[], false, &mut notices).expect("planned");
            planned.iter().map(|it| it.subject.to_string()).collect()
        };
        let disk = recognise(&dirs[0]).expect("mounted").fs_type;
        assert_eq!(names(&dirs[..1]), std::slice::from_ref(&disk));
        let expected = [
            format!("{disk}:{}", dirs[0].display()),
            format!("tmpfs:{}", dirs[1].display()),
        ];
        assert_eq!(names(&dirs), expected);
        assert_eq!(notices, Vec::<String>::new());
    }

    #[test]
    fn the_same_directory_is_refused_also_by_another_path() {
        let places = Places::new();
        let twice = |other: PathBuf| {
            let dirs = [places.outer.path().into(), other];
            let refused = subjects(&dirs, &[], false, &mut Vec::new());
            refused.expect_err("the same").to_string()
        };
        let inner_again = twice(places.inner().join(".."));
        assert!(
            inner_again.contains("are the same directory"),
            "{inner_again}"
        );
        assert!(twice(places.outer.path().into()).contains("are the same directory"));
    }

    #[test]
    fn two_directories_on_one_file_system_are_measured_with_a_notice() {
        let places = Places::new();
        let notice = |dirs: [PathBuf; 2]| {
            let mut notices = Vec::new();
            let planned = subjects(&dirs, &[], false, &mut notices).expect("planned");
            assert_eq!(planned.len(), 2);
            let [notice] = notices.as_slice() else {
                panic!("one notice: {notices:?}")
            };
            notice.clone()
        };
        let outer = PathBuf::from(places.outer.path());
        for dirs in [
            [outer.clone(), places.inner()],
            [places.inner(), outer.clone()],
        ] {
            let inner = places.inner();
            let expected = format!("{} is below {}", inner.display(), outer.display());
            assert!(notice(dirs).starts_with(&expected));
        }
        let beside = tempfile::tempdir_in("/var/tmp").expect("a directory");
        let text = notice([outer, beside.path().into()]);
        assert!(text.contains("are on the same file system"), "{text}");
    }

    #[test]
    fn subjects_that_are_named_must_be_what_is_mounted() {
        let places = Places::new();
        let dirs = places.apart();
        let disk = subject(&recognise(&dirs[0]).expect("mounted").fs_type);
        let memory = subject("tmpfs");
        let named = |named: &[Subject]| {
            let planned = subjects(&dirs, named, true, &mut Vec::new());
            planned
                .map(|it| it.len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(named(&[memory.clone(), disk.clone()]), Ok(2));
        let missing = named(std::slice::from_ref(&disk)).expect_err("the tmpfs is not named");
        let at_memory = format!("in {}, where tmpfs is mounted", dirs[1].display());
        assert!(missing.ends_with(&at_memory), "{missing}");
        let unknown = named(&[disk, memory, subject("qnx6")]).expect_err("not mounted");
        assert!(unknown.starts_with("cannot measure qnx6 in "), "{unknown}");
        // Those of a study only say what it is about.
        let planned = subjects(&dirs, &[subject("qnx6")], false, &mut Vec::new());
        assert_eq!(planned.expect("planned").len(), 2);
    }
}
