//! Programs for making and checking file systems: packages, versions and paths.

use fslab_sys::os::PermissionsExt;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fslab_model::Failure;

/// Debian's directories of mkfs and fsck programs; an ordinary user's PATH lacks some of them, and
/// that of a guest's first process all.
const SYSTEM_DIRECTORIES: [&str; 5] = ["/usr/local/sbin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Prints the versions of installed packages on Debian.
const PACKAGE_QUERY: &str = "/usr/bin/dpkg-query";

/// A line of its output. The state of a removed package is another one.
const PACKAGE_FORMAT: &str = "${db:Status-Status} ${Package} ${Version}\n";
const INSTALLED: &str = "installed ";

/// The versions of packages in a guest, whose root has no dpkg: a line `NAME VERSION` each.
const GUEST_PACKAGES: &str = "/fslab/packages";

/// The stream on which a program prints its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// How to find the version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// It prints its version, and does nothing else, with this argument.
    Asked {
        argument: &'static str,
        stream: OutputStream,
    },
    /// By the version of its Debian package, because it does not print one.
    Package,
    /// By the version of its Debian package, or of this one, which has a program of the same name
    /// and cannot be installed beside it.
    PackageOr(&'static str),
    /// It is fslab itself.
    Fslab,
}

/// A program that a trial runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name, such as `mkfs.ext4`.
    pub program: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// How to find its version.
    pub version: VersionSource,
}

impl Tool {
    /// fslab itself: formatters that no one else ships are its subcommands.
    pub const FSLAB: Self = Self {
        program: "fslab",
        package: "fslab",
        version: VersionSource::Fslab,
    };

    /// The program's absolute path. For fslab it is that of the running program: another fslab in
    /// the search path might format differently.
    pub fn locate(self, search: &SearchPath) -> Result<PathBuf, Failure> {
        match self.version {
            VersionSource::Fslab => Some(fslab_sys::own_program()),
            VersionSource::Asked { .. } | VersionSource::Package | VersionSource::PackageOr(_) => {
                search.find(self.program)
            }
        }
        .ok_or_else(|| {
            let text = format!("cannot find the program {}", self.program);
            Failure::missing_tool(text).hint(self.install_hint())
        })
    }

    /// A command line of the program.
    pub(crate) fn line<'a>(self, arguments: impl IntoIterator<Item = &'a str>) -> CommandLine {
        CommandLine {
            tool: self,
            arguments: arguments.into_iter().map(str::to_owned).collect(),
        }
    }

    /// How to install the program.
    pub fn install_hint(self) -> String {
        format!("apt-get install {}", self.package)
    }

    /// The version line of `program`, such as `mke2fs 1.47.0 (5-Feb-2023)`, or its package's name
    /// and version.
    pub fn ask_version(self, program: &Path) -> Result<String, Failure> {
        let failed = || {
            let text = format!("cannot get the version of {}", program.display());
            Failure::missing_tool(text)
        };
        let version = match self.version {
            VersionSource::Fslab => Some(concat!("fslab ", env!("CARGO_PKG_VERSION")).to_owned()),
            VersionSource::Asked { argument, stream } => {
                let output =
                    output_of(program, &[argument]).map_err(|error| failed().because(&error))?;
                let printed = match stream {
                    OutputStream::Output => output.stdout,
                    OutputStream::Error => output.stderr,
                };
                first_line(&String::from_utf8_lossy(&printed))
            }
            VersionSource::Package | VersionSource::PackageOr(_) => {
                let packages = self.installed().map_err(|error| failed().because(&error))?;
                self.listed_version(&packages)
            }
        };
        version.ok_or_else(failed)
    }

    /// Those of its packages that are installed, in lines `NAME VERSION`: of the lab that it runs
    /// in, or of this machine.
    fn installed(self) -> io::Result<String> {
        if let Ok(listed) = std::fs::read_to_string(GUEST_PACKAGES) {
            return Ok(listed);
        }
        let mut query = vec!["-W", "-f", PACKAGE_FORMAT];
        query.extend(self.packages());
        let output = output_of(Path::new(PACKAGE_QUERY), &query)?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let installed = printed.lines().filter_map(|it| it.strip_prefix(INSTALLED));
        Ok(installed.map(|line| format!("{line}\n")).collect())
    }

    /// The Debian packages that may have it.
    fn packages(&self) -> impl Iterator<Item = &'static str> {
        let alternative = match self.version {
            VersionSource::PackageOr(alternative) => Some(alternative),
            _ => None,
        };
        [self.package].into_iter().chain(alternative)
    }

    /// The line of its package.
    fn listed_version(self, packages: &str) -> Option<String> {
        let mut lines = packages.lines();
        let is_its = |line: &&str| {
            let name = line.split_once(' ').map(|(name, _)| name);
            self.packages().any(|package| name == Some(package))
        };
        lines.find(is_its).map(str::to_owned)
    }
}

/// What `program` prints, in English.
fn output_of(program: &Path, arguments: &[&str]) -> io::Result<Output> {
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("LC_ALL", "C")
        .envs(fslab_sys::inherited_loading())
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
}

/// The first line that is not blank.
fn first_line(printed: &str) -> Option<String> {
    printed
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(str::to_owned)
}

/// The search path of programs, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// Only `directories`. Relative ones are left out, so that programs run as root do not depend
    /// on the current directory.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let absolute = |directory: &PathBuf| directory.is_absolute();
        Self(directories.into_iter().filter(absolute).collect())
    }

    /// PATH, followed by the directories of system programs.
    pub fn from_environment() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        Self::new(env::split_paths(&path).chain(SYSTEM_DIRECTORIES.map(PathBuf::from)))
    }

    /// The absolute path of the first executable file of that name.
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

/// A command of a trial.
///
/// It must be run by the absolute path that [`Tool::locate`] gives, in `/` and with `LC_ALL=C`: no
/// word of it depends on the current directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub tool: Tool,
    /// Its arguments, the device included.
    pub arguments: Vec<String>,
}

impl CommandLine {
    /// The program's name and its arguments, for plans and records.
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
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Error,
        },
    };

    fn script(directory: &Path, text: &str) -> PathBuf {
        let path = directory.join(TELLER.program);
        // By a separate process: otherwise a child that another test forks meanwhile could hold the
        // file open for writing, and execve would fail with ETXTBSY.
        let write = r#"printf %s "$1" > "$2" && chmod 755 "$2""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", write, "sh", text]).arg(&path);
        assert!(shell.status().expect("sh starts").success());
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
        assert_eq!(error.hint.as_deref(), Some("apt-get install tellers"));
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
        assert!(
            error.message.starts_with("cannot get the version of "),
            "{error}"
        );
        assert!(error.causes.is_empty(), "{error}");
    }

    #[test]
    fn in_a_guest_the_lab_lists_the_versions() {
        let listed = |packages, version| {
            let tool = Tool {
                package: "zfs-fuse",
                version,
                ..TELLER
            };
            tool.listed_version(packages)
        };
        let fuse = "zfs 2.1\nzfs-fuse 0.7.0-25\n";
        let kernel = "zfs-fuse-doc 0.7\nzfsutils-linux 2.3.2-2\n";
        let or_kernel = VersionSource::PackageOr("zfsutils-linux");
        assert_eq!(
            listed(fuse, VersionSource::Package).as_deref(),
            Some("zfs-fuse 0.7.0-25")
        );
        assert_eq!(
            listed(fuse, or_kernel).as_deref(),
            Some("zfs-fuse 0.7.0-25")
        );
        assert_eq!(
            listed(kernel, or_kernel).as_deref(),
            Some("zfsutils-linux 2.3.2-2")
        );
        assert_eq!(listed(kernel, VersionSource::Package), None);
    }

    #[test]
    fn fslab_is_the_running_program_and_never_missing() {
        let found = Tool::FSLAB.locate(&SearchPath::new([])).expect("it runs");
        let running = env::current_exe().expect("/proc is mounted");
        assert_eq!(found.canonicalize().expect("it is there"), running);
        let version = Tool::FSLAB.ask_version(&found).expect("is known");
        assert!(version.starts_with("fslab 0"), "{version}");
    }

    #[test]
    fn the_package_gives_the_version_of_a_program_that_prints_none() {
        let mute = Tool {
            package: "dpkg",
            version: VersionSource::Package,
            ..TELLER
        };
        if Path::new(PACKAGE_QUERY).exists() {
            let version = mute.ask_version(Path::new("/bin/true")).expect("installed");
            assert!(version.starts_with("dpkg 1."), "{version}");
        }
        let unknown = Tool {
            package: "no-such-package",
            ..mute
        };
        assert!(unknown.ask_version(Path::new("/bin/true")).is_err());
    }
}
