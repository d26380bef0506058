//! The program `fslab` of each rank, which must be one and the same.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// What a rank says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) host: String,
    /// As `fslab --version` prints it.
    pub(crate) fslab: String,
    /// SHA-256 of the file and of the program of its guests: builds of one version may differ.
    pub(crate) digest: String,
    /// Why this rank cannot run trials; empty if it can.
    pub(crate) error: String,
}

impl Hello {
    /// That of this process.
    pub(crate) fn here() -> Self {
        let (fslab, digest, error) = match examine(&program()) {
            Ok((fslab, digest)) => (fslab, digest, String::new()),
            Err(error) => (String::new(), String::new(), error),
        };
        Self {
            host: host(),
            fslab,
            digest,
            error,
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let parts = [&self.host, &self.fslab, &self.digest, &self.error];
        parts.map(|part| part.replace('\n', " ")).join("\n")
    }

    /// `None` for another format: another version of this program.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let [host, fslab, digest, error] = text.split('\n').collect::<Vec<_>>().try_into().ok()?;
        let [host, fslab, digest, error] = [host, fslab, digest, error].map(str::to_owned);
        Some(Self {
            host,
            fslab,
            digest,
            error,
        })
    }

    /// Whether a rank with `other` runs the trials of this one.
    pub(crate) fn ensure_same(&self, rank: i32, other: &Self) -> Result<(), String> {
        let Self {
            host,
            fslab,
            digest,
            error,
        } = other;
        if !error.is_empty() {
            return Err(format!("rank {rank} on {host}: {error}"));
        }
        if *fslab != self.fslab {
            return Err(format!(
                "rank {rank} on {host} has {fslab}, rank 0 has {}",
                self.fslab
            ));
        }
        if *digest != self.digest {
            return Err(format!(
                "rank {rank} on {host} has a different build of {fslab} than rank 0: sha256 {:.12} \
                 and {:.12}",
                digest, self.digest
            ));
        }
        Ok(())
    }
}

/// The program `fslab`: beside this one, else the first in PATH.
pub(crate) fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let beside = own.with_file_name("fslab");
    if beside.is_file() {
        beside
    } else {
        "fslab".into()
    }
}

fn examine(program: &Path) -> Result<(String, String), String> {
    let failed = |error: io::Error| format!("cannot start {}: {error}", program.display());
    let output = Command::new(program)
        .arg("--version")
        .output()
        .map_err(failed)?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || version.is_empty() {
        return Err(format!("{} prints no version", program.display()));
    }
    let path = found(program);
    let mut sha = Sha256::new();
    for file in [&path].into_iter().chain(&guest_program(&path)) {
        add(file, &mut sha).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    }
    let mut digest = String::new();
    for byte in sha.finalize() {
        let _ = write!(digest, "{byte:02x}");
    }
    Ok((version, digest))
}

/// The file of a program that may be a name alone.
fn found(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.to_owned();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(program));
    files
        .find(|file| file.is_file())
        .unwrap_or_else(|| program.to_owned())
}

/// The program that guests of this fslab run, where it is installed.
fn guest_program(fslab: &Path) -> Option<PathBuf> {
    let fslab = std::fs::canonicalize(fslab).ok()?;
    let places = ["fslab-guest", "../lib/fslab/fslab-guest"].into_iter();
    places
        .map(|place| fslab.with_file_name(place))
        .find(|program| program.is_file())
}

fn add(path: &Path, sha: &mut Sha256) -> io::Result<()> {
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 16]);
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(()),
            length => sha.update(&buffer[..length]),
        }
    }
}

fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(fslab: &str, digest: &str) -> Hello {
        let (fslab, digest) = (fslab.to_owned(), digest.to_owned());
        Hello {
            host: "node7".into(),
            fslab,
            digest,
            error: String::new(),
        }
    }

    #[test]
    fn a_rank_with_another_version_or_build_is_named() {
        let own = hello("fslab 0.1.0", "aaaa");
        assert_eq!(own.ensure_same(3, &own), Ok(()));
        let version = own
            .ensure_same(3, &hello("fslab 0.2.0", "aaaa"))
            .unwrap_err();
        assert_eq!(
            version,
            "rank 3 on node7 has fslab 0.2.0, rank 0 has fslab 0.1.0"
        );
        let build = own
            .ensure_same(3, &hello("fslab 0.1.0", "bbbb"))
            .unwrap_err();
        assert!(
            build.contains("rank 3 on node7") && build.contains("bbbb"),
            "{build}"
        );
        let missing = Hello {
            error: "cannot start fslab".into(),
            ..own.clone()
        };
        let missing = own.ensure_same(3, &missing).unwrap_err();
        assert_eq!(missing, "rank 3 on node7: cannot start fslab");
    }

    #[test]
    fn a_hello_is_read_as_it_was_written() {
        let hello = hello("fslab 0.1.0", "aaaa");
        assert_eq!(Hello::of_text(&hello.to_text()), Some(hello));
        assert_eq!(Hello::of_text("of another time"), None);
    }
}
