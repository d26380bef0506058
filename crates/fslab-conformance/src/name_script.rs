//! The names of the conformance tree: many, deep, long and unusual ones; renames, removals, links,
//! metadata.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fslab_model::CaseRule;
use fslab_sys::is_superuser;

use super::abilities::Abilities;
use super::executor::Executor;
use super::failure::ConformanceFailure;
use super::scale::Scale;
use super::tree::Owner;
use fslab_stats::CounterRandom;

/// Most bytes of most small files.
const SMALL_BYTES: u64 = 4_000;

/// The part of the script on names.
pub(crate) struct NameScript<'s, 'd> {
    pub(crate) executor: &'s mut Executor<'d>,
    pub(crate) abilities: &'s Abilities,
    pub(crate) scale: Scale,
    pub(crate) draw: CounterRandom,
}

impl NameScript<'_, '_> {
    /// Runs it.
    pub(crate) fn play(&mut self) -> Result<(), ConformanceFailure> {
        self.many().map_err(|it| it.during("many files"))?;
        self.deep().map_err(|it| it.during("deep directories"))?;
        self.unusual().map_err(|it| it.during("unusual names"))?;
        self.moves().map_err(|it| it.during("renames"))?;
        self.symlinks().map_err(|it| it.during("symbolic links"))?;
        self.hard_links().map_err(|it| it.during("hard links"))?;
        self.metadata().map_err(|it| it.during("permissions"))?;
        self.attributes()
            .map_err(|it| it.during("extended attributes"))?;
        self.times().map_err(|it| it.during("times"))
    }

    /// Many files in one directory, of which some are removed, renamed or replaced.
    fn many(&mut self) -> Result<(), ConformanceFailure> {
        let many = Path::new("many");
        self.executor.make_directory(many)?;
        let name = |number: u64| many.join(format!("file-{number:06}"));
        for number in 0..self.scale.files {
            let length = match number % 8 {
                0 => 0,
                1 => self.draw.within(SMALL_BYTES..4 * SMALL_BYTES),
                _ => self.draw.below(SMALL_BYTES),
            };
            self.executor.write_file(&name(number), length)?;
        }
        for number in 0..self.scale.files {
            match number % 10 {
                3 => self.executor.unlink(&name(number))?,
                5 => {
                    let new = many.join(format!("renamed-{number:06}.ext"));
                    self.executor.rename(&name(number), &new)?;
                }
                // Over the file with the number before it.
                7 => self.executor.rename(&name(number), &name(number - 1))?,
                _ => {}
            }
        }
        for number in (3..self.scale.files).step_by(20) {
            self.executor.write_file(&name(number), 100)?;
        }
        Ok(())
    }

    /// Nested directories, with a file in some of them and in the last.
    fn deep(&mut self) -> Result<(), ConformanceFailure> {
        let mut path = PathBuf::from("deep");
        self.executor.make_directory(&path)?;
        for level in 0..self.scale.depth {
            path.push(format!("d{level}"));
            self.executor.make_directory(&path)?;
            if level % 8 == 3 || level + 1 == self.scale.depth {
                self.executor.write_file(&path.join("file"), 777)?;
            }
        }
        Ok(())
    }

    fn unusual(&mut self) -> Result<(), ConformanceFailure> {
        let directory = Path::new("names");
        self.executor.make_directory(directory)?;
        let mut names: Vec<OsString> = [
            "a",
            "two words",
            "a.b.c.d",
            ".hidden",
            "~tilde~",
            "plus+comma,",
            "semi;colon",
            "[brackets]",
            "{braces}",
            "(parens)",
            "equals=",
            "at@hash#",
            "dollar$percent%",
            "quote'back`",
            "caret^under_",
            "amp&bang!",
            "-dash",
            "0",
            "README.TXT",
        ]
        .map(OsString::from)
        .into();
        names.extend(self.long_names());
        if self.abilities.case == CaseRule::Sensitive {
            names.extend(["Case", "case", "CASE"].map(OsString::from));
        }
        if self.abilities.wide_names {
            let wide = [
                "naïve-café",
                "Ελληνικά",
                "кириллица",
                "日本語の名前",
                "עברית",
            ];
            names.extend(wide.map(OsString::from));
            names.push(filled_with('ж', self.abilities.name_bytes));
        }
        names.extend(self.abilities.odd_names.iter().cloned());
        names.retain(|name| name.len() <= self.abilities.name_bytes as usize);
        if self.abilities.case == CaseRule::Folding {
            names.retain(|name| name.to_ascii_lowercase() == *name);
        }
        for name in self.thinned(&names) {
            let length = self.draw.below(100);
            self.executor.write_file(&directory.join(name), length)?;
        }
        // A directory with a long name and a file.
        let long = directory.join("d".repeat(self.abilities.name_bytes as usize));
        self.executor.make_directory(&long)?;
        self.executor.write_file(&long.join("inside"), 50)?;
        Ok(())
    }

    /// All of `items`, or one of four if space is short.
    fn thinned<'i, T>(&self, items: &'i [T]) -> impl Iterator<Item = &'i T> + use<'i, T> {
        items.iter().step_by(if self.scale.thin { 4 } else { 1 })
    }

    /// Names of lengths around those at which a format needs another entry, slot or node.
    fn long_names(&self) -> Vec<OsString> {
        let most = self.abilities.name_bytes;
        let mut lengths = vec![8, 11, 12, 13, 14, 26, 27, 30, 31, 63, 64, 127, 128, 250];
        lengths.extend([most.saturating_sub(1), most]);
        lengths.sort_unstable();
        lengths.dedup();
        lengths.retain(|length| *length <= most);
        let named = |length: u32| filled_with(char::from(b'e' + (length % 20) as u8), length);
        lengths.into_iter().map(named).collect()
    }

    /// Renames to other names, into other directories, over other files.
    fn moves(&mut self) -> Result<(), ConformanceFailure> {
        let executor = &mut *self.executor;
        for directory in [
            "moves",
            "moves/from",
            "moves/to",
            "moves/from/sub",
            "moves/old",
        ] {
            executor.make_directory(Path::new(directory))?;
        }
        for (file, length) in [
            ("moves/from/one", 5_000),
            ("moves/from/two", 100),
            ("moves/from/sub/inner", 2_345),
            ("moves/to/target", 9_000),
            ("moves/old/gone", 12),
        ] {
            executor.write_file(Path::new(file), length)?;
        }
        for (from, to) in [
            ("moves/from/one", "moves/to/one"),
            ("moves/from/two", "moves/to/target"),
            ("moves/from/sub", "moves/to/sub"),
            ("moves/to/sub/inner", "moves/to/sub/a-much-longer-name"),
            ("moves/from", "moves/emptied"),
            ("moves/to", "moves/emptied/nested"),
            ("moves/emptied/nested/one", "moves/back"),
        ] {
            executor.rename(Path::new(from), Path::new(to))?;
        }
        executor.unlink(Path::new("moves/old/gone"))?;
        executor.remove_directory(Path::new("moves/old"))?;
        // The name of a removed directory becomes a file, and the reverse.
        executor.write_file(Path::new("moves/old"), 321)?;
        executor.rename(Path::new("moves/back"), Path::new("moves/moved"))?;
        executor.make_directory(Path::new("moves/back"))
    }

    fn symlinks(&mut self) -> Result<(), ConformanceFailure> {
        if !self.abilities.symlinks {
            return Ok(());
        }
        let directory = Path::new("symlinks");
        self.executor.make_directory(directory)?;
        self.executor.write_file(&directory.join("target"), 1_234)?;
        // Some formats store each component of a target separately, with little space in total.
        let part = format!("{}/", "p".repeat(29));
        let long = |bytes: usize| part.repeat(bytes / 30 + 1)[..bytes].to_owned();
        for (name, target) in [
            ("to-file", "target".to_owned()),
            ("to-nothing", "no-such-place".to_owned()),
            ("short", "x".to_owned()),
            ("of-59", long(59)),
            ("of-60", long(60)),
            ("of-61", long(61)),
            ("of-250", long(250)),
        ] {
            self.executor
                .symlink(Path::new(&target), &directory.join(name))?;
        }
        if self.abilities.verbatim_links {
            for (name, target) in [("to-parent", "../many"), ("to-root", "/no/such/place")] {
                self.executor
                    .symlink(Path::new(target), &directory.join(name))?;
            }
        }
        self.executor
            .rename(&directory.join("short"), &directory.join("shorter"))
    }

    fn hard_links(&mut self) -> Result<(), ConformanceFailure> {
        if !self.abilities.hard_links {
            return Ok(());
        }
        let executor = &mut *self.executor;
        for directory in ["links", "links/other"] {
            executor.make_directory(Path::new(directory))?;
        }
        executor.write_file(Path::new("links/first"), 6_000)?;
        for name in ["links/second", "links/other/third", "links/other/fourth"] {
            executor.link(Path::new("links/first"), Path::new(name))?;
        }
        executor.unlink(Path::new("links/first"))?;
        if self.abilities.renames_links {
            executor.rename(Path::new("links/second"), Path::new("links/renamed"))?;
        }
        executor.write_file(Path::new("links/alone"), 60)?;
        executor.link(Path::new("links/alone"), Path::new("links/pair"))?;
        executor.unlink(Path::new("links/pair"))
    }

    fn metadata(&mut self) -> Result<(), ConformanceFailure> {
        if !self.abilities.permissions {
            return Ok(());
        }
        let directory = Path::new("modes");
        self.executor.make_directory(directory)?;
        for mode in self.thinned(&[0o644, 0o600, 0o755, 0o777, 0o651, 0o4755, 0o400, 0o2755]) {
            let path = directory.join(format!("mode-{mode:o}"));
            self.executor.write_file(&path, 10)?;
            self.executor.set_mode(&path, *mode)?;
        }
        for mode in [0o700, 0o1777] {
            let path = directory.join(format!("directory-{mode:o}"));
            self.executor.make_directory(&path)?;
            self.executor.set_mode(&path, mode)?;
        }
        if is_superuser() {
            for (user, group) in [(0, 5), (1_000, 100), (54_321, 60_000)] {
                let path = directory.join(format!("owner-{user}-{group}"));
                self.executor.write_file(&path, 10)?;
                self.executor.set_owner(&path, Owner { user, group })?;
            }
        }
        Ok(())
    }

    fn attributes(&mut self) -> Result<(), ConformanceFailure> {
        if !self.abilities.attributes {
            return Ok(());
        }
        let directory = Path::new("attributes");
        self.executor.make_directory(directory)?;
        for number in 0..5 {
            let path = directory.join(format!("file-{number}"));
            self.executor.write_file(&path, 100)?;
            let value = vec![b'a' + number; usize::from(number) * 40 + 1];
            self.executor.set_attribute(&path, c"user.first", b"one")?;
            self.executor.set_attribute(&path, c"user.second", &value)?;
            self.executor
                .set_attribute(&path, c"user.first", b"another")?;
            if number == 3 {
                self.executor.remove_attribute(&path, c"user.second")?;
            }
        }
        self.executor
            .set_attribute(directory, c"user.directory", b"has one too")
    }

    /// Times that every format can store: even seconds, because of FAT.
    fn times(&mut self) -> Result<(), ConformanceFailure> {
        let directory = Path::new("times");
        self.executor.make_directory(directory)?;
        for seconds in [500_000_000, 1_000_000_000, 1_234_567_890, 2_000_000_000] {
            let path = directory.join(format!("at-{seconds}"));
            self.executor.write_file(&path, 10)?;
            self.executor.set_modified(&path, seconds)?;
        }
        Ok(())
    }
}

/// A name of `bytes` bytes: `letter` repeated, padded with `x`.
fn filled_with(letter: char, bytes: u32) -> OsString {
    let (bytes, each) = (bytes as usize, letter.len_utf8());
    let mut name = letter.to_string().repeat(bytes / each);
    name.push_str(&"x".repeat(bytes % each));
    OsStr::new(&name).to_owned()
}
