//! Programs that file systems are made and checked with: their packages, versions and places.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::CatalogueError;

/// Where Debian keeps mkfs and fsck programs; an ordinary user's PATH lacks them.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The stream on which a program prints its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// A program that is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name, such as `mkfs.ext4`.
    pub program: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// The argument that makes it tell its version and do nothing else.
    pub version_argument: &'static str,
    /// Where it tells it.
    pub version_stream: OutputStream,
}

impl Tool {
    /// The program's absolute path.
    ///
    /// # Errors
    /// [`CatalogueError::MissingTool`].
    pub fn locate(self, search: &SearchPath) -> Result<PathBuf, CatalogueError> {
        search
            .find(self.program)
            .ok_or(CatalogueError::MissingTool(self))
    }

    /// How to get the program.
    #[must_use]
    pub fn install_hint(self) -> String {
        format!("apt-get install {}", self.package)
    }

    /// Runs `program` for the line with which it tells its version, such as
    /// `mke2fs 1.47.0 (5-Feb-2023)`.
    ///
    /// # Errors
    /// [`CatalogueError::Version`].
    pub fn ask_version(self, program: &Path) -> Result<String, CatalogueError> {
        let failed = |source| CatalogueError::Version {
            program: program.to_owned(),
            source,
        };
        let output = Command::new(program)
            .arg(self.version_argument)
            .env_clear()
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| failed(Some(error)))?;
        let printed = match self.version_stream {
            OutputStream::Output => output.stdout,
            OutputStream::Error => output.stderr,
        };
        first_line(&String::from_utf8_lossy(&printed)).ok_or_else(|| failed(None))
    }
}

/// The first line that is not blank.
fn first_line(printed: &str) -> Option<String> {
    printed
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(str::to_owned)
}

/// The directories in which programs are looked for, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// Only `directories`. Relative ones are left out: what runs as root does not depend on the
    /// current directory.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let absolute = |directory: &PathBuf| directory.is_absolute();
        Self(directories.into_iter().filter(absolute).collect())
    }

    /// PATH, and behind it the directories of system programs.
    #[must_use]
    pub fn from_environment() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        Self::new(env::split_paths(&path).chain(SYSTEM_DIRECTORIES.map(PathBuf::from)))
    }

    /// The absolute path of the first executable file of that name.
    #[must_use]
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let executable = |path: &PathBuf| {
            path.metadata()
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        self.0
            .iter()
            .map(|directory| directory.join(program))
            .find(executable)
    }
}

/// A command that a trial is to run.
///
/// It is meant to be run by the absolute path that [`Tool::locate`] gives, in `/` and with
/// `LC_ALL=C`: no word of it depends on the current directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub tool: Tool,
    /// Its arguments, the device included.
    pub arguments: Vec<String>,
}

impl CommandLine {
    /// The program's name and its arguments, for plans and records.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        [self.tool.program.to_owned()]
            .into_iter()
            .chain(self.arguments.iter().cloned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const TELLER: Tool = Tool {
        program: "teller",
        package: "tellers",
        version_argument: "-V",
        version_stream: OutputStream::Error,
    };

    fn script(directory: &Path, text: &str) -> PathBuf {
        let path = directory.join(TELLER.program);
        fs::write(&path, text).expect("writes");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
        path
    }

    #[test]
    fn a_program_is_found_in_the_first_directory_where_it_can_be_executed() {
        let (first, second) = (tempfile::tempdir(), tempfile::tempdir());
        let (first, second) = (first.expect("tempdir"), second.expect("tempdir"));
        fs::write(first.path().join(TELLER.program), "data").expect("writes");
        let expected = script(second.path(), "");
        let search = SearchPath::new([first.path().to_owned(), second.path().to_owned()]);
        assert_eq!(TELLER.locate(&search).expect("found"), expected);
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let error = TELLER.locate(&SearchPath::new([])).expect_err("nowhere");
        assert_eq!(error.to_string(), "cannot find the program teller");
        assert_eq!(error.hint().as_deref(), Some("apt-get install tellers"));
    }

    #[test]
    fn relative_directories_are_never_searched() {
        let search = SearchPath::new(["".into(), "bin".into(), "/bin".into()]);
        assert_eq!(search, SearchPath(vec!["/bin".into()]));
    }

    #[test]
    fn system_directories_are_searched_whatever_path_says() {
        let SearchPath(directories) = SearchPath::from_environment();
        assert!(SYSTEM_DIRECTORIES.iter().all(|system| {
            directories
                .iter()
                .any(|directory| directory == Path::new(system))
        }));
    }

    #[test]
    fn the_version_is_the_first_line_of_the_stream_that_has_it() {
        let directory = tempfile::tempdir().expect("tempdir");
        let path = script(
            directory.path(),
            "#!/bin/sh\necho noise\necho >&2\necho teller $1 2.0 >&2\necho more >&2\n",
        );
        assert_eq!(TELLER.ask_version(&path).expect("answers"), "teller -V 2.0");
        let mute = script(directory.path(), "#!/bin/sh\n");
        let error = TELLER.ask_version(&mute).expect_err("says nothing");
        assert!(matches!(
            error,
            CatalogueError::Version { source: None, .. }
        ));
    }
}
