//! The steps of a release, from the build to the checksums.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::dependencies::linked;
use super::package::{Deb, checksums, deb, tarball};
use super::port::{Packing, make_port};
use super::targets::{Build, State, TARGETS, Target};
use super::{binary, debian, documents, guest, notices, sbom};
use crate::program::{make, read, run as start, text, write};

/// How `cargo xtask dist` is used.
pub(crate) const USAGE: &str = "usage: cargo xtask dist [--target NAME] [--no-guest]

Writes the release to dist/: for each target a tarball and packages, licences, a bill of materials,
symbols, and SHA256SUMS.

  --target NAME      Build only this target [default: all]
  --no-guest         Leave out the lab, which is otherwise built if it is missing
";

/// What Debian's policy wants to have in this place.
const COPYRIGHT: &str = "fslab is under the MIT licence (LICENSE-MIT) or the Apache License 2.0\n\
(LICENSE-APACHE, also /usr/share/common-licenses/Apache-2.0), as you like.\n\
Copyright: the contributors of fslab.\n\
THIRD-PARTY-LICENSES.txt has the licence and the copyright of everything else in the binary.\n";

/// What was asked for.
struct Request {
    target: Option<String>,
    with_guest: bool,
}

/// A release under way.
struct Release<'a> {
    root: &'a Path,
    /// `dist/`.
    out: PathBuf,
    version: String,
    /// The time of all files: of the last commit.
    epoch: u64,
}

pub(crate) fn run(root: &Path, words: &[&str]) -> ExitCode {
    let Some(request) = Request::parse(words) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match release(root, &request) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

impl Request {
    fn parse(words: &[&str]) -> Option<Self> {
        let mut request = Self {
            target: None,
            with_guest: true,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--no-guest" => request.with_guest = false,
                "--target" => request.target = Some((*words.next()?).to_owned()),
                _ => return None,
            }
        }
        Some(request)
    }

    /// The targets that are asked for.
    fn targets(&self) -> Result<Vec<Target>, String> {
        let is_asked = |target: &&Target| self.target.as_deref().is_none_or(|it| it == target.name);
        let found: Vec<_> = TARGETS.iter().filter(is_asked).copied().collect();
        if found.is_empty() {
            let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            return Err(format!(
                "there is no such target; the targets are {}",
                known.join(", ")
            ));
        }
        Ok(found)
    }
}

fn release(root: &Path, request: &Request) -> Result<(), String> {
    let release = Release {
        root,
        out: root.join("dist"),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        epoch: epoch(root)?,
    };
    // What an earlier release left would be among the checksums.
    let _ = std::fs::remove_dir_all(&release.out);
    make(&release.out)?;
    let mut made = 0;
    let targets = request.targets()?;
    for target in &targets {
        if let State::Made(build) = target.state {
            build.ensure_possible(target.name)?;
        }
    }
    for target in targets {
        match target.state {
            State::Ported(port) => {
                let missing = crate::cross::missing(root, target.name);
                if let Some(reason) = missing.filter(|_| request.target.is_none()) {
                    println!("dist: {} is not made: {reason}", target.name);
                    continue;
                }
                let packing = Packing {
                    root,
                    out: &release.out,
                    version: &release.version,
                    epoch: release.epoch,
                };
                make_port(&packing, target.name, port)?;
                made += 1;
            }
            State::Made(build) => {
                release.make(target.name, &build, request.with_guest)?;
                made += 1;
            }
        }
    }
    if made == 0 {
        return Err("nothing was made".to_owned());
    }
    std::fs::remove_dir_all(release.out.join("tree"))
        .map_err(|error| format!("cannot remove the trees: {error}"))?;
    checksums(&release.out)?;
    println!(
        "dist: {}",
        text(Command::new("ls").arg("-sh1").arg(&release.out))?
    );
    Ok(())
}

/// SOURCE_DATE_EPOCH, or the time of the last commit.
fn epoch(root: &Path) -> Result<u64, String> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds,
        Err(_) => {
            let mut git = Command::new("git");
            text(git.arg("-C").arg(root).args(["log", "-1", "--format=%ct"]))
                .map_err(|error| format!("{error}; set SOURCE_DATE_EPOCH"))?
        }
    };
    seconds
        .trim()
        .parse()
        .map_err(|_| format!("'{seconds}' is no number of seconds"))
}

impl Release<'_> {
    fn make(&self, target: &str, build: &Build, with_guest: bool) -> Result<(), String> {
        let began = Instant::now();
        let name = format!("fslab-{}-{target}", self.version);
        let tree = self.out.join("tree").join(&name);
        let fslab = tree.join("bin/fslab");
        println!("dist: building {target}");
        let symbols = self.out.join(format!("{name}.debug"));
        let bytes = binary::build(self.root, build, &fslab, &symbols)?;
        println!(
            "dist: {target}: {bytes} bytes, {} s",
            began.elapsed().as_secs()
        );
        self.describe(build, &fslab, &tree, &name)?;
        if build.has_guest {
            let program = tree.join("lib/fslab").join(binary::GUEST_PROGRAM);
            binary::build_for_guests(self.root, build, &program)?;
        }
        let guest = self.out.join("tree/guest");
        if with_guest && build.has_guest {
            guest::add(self.root, &fslab, &guest)?;
            self.deb("fslab-guest", build, &guest)?;
        }
        self.deb("fslab", build, &tree)?;
        if guest.exists() {
            start(Command::new("cp").arg("-rT").args([&guest, &tree]))?;
        }
        let file = self.out.join(format!("{name}.tar.gz"));
        tarball(&self.out.join("tree"), &name, &file, self.epoch)?;
        println!("dist: {}, {} s", file.display(), began.elapsed().as_secs());
        Ok(())
    }

    /// Manual, completions, licences, and the bill of materials, which is beside the tarball, too.
    fn describe(&self, build: &Build, fslab: &Path, tree: &Path, name: &str) -> Result<(), String> {
        let linked = linked(self.root, build.triple)?;
        let libraries = debian::static_libraries(&format!("{}gcc", build.tools))?;
        documents::add(build, fslab, tree)?;
        let at = |name: &str| tree.join("share/doc/fslab").join(name);
        let text = notices::write(self.root, &linked, &libraries, notices::STANDARD_LIBRARY)?;
        write(&at("copyright"), COPYRIGHT.as_bytes())?;
        write(&at("THIRD-PARTY-LICENSES.txt"), text.as_bytes())?;
        let of_rust = notices::of_standard_library()?;
        write(&at(notices::STANDARD_LIBRARY), &of_rust)?;
        for copied in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "README.md"] {
            write(&at(copied), &read(&self.root.join(copied))?)?;
        }
        let document = sbom::of_binary(&self.version, &linked, &libraries);
        let document =
            serde_json::to_string_pretty(&document).map_err(|error| error.to_string())? + "\n";
        write(&at("fslab.cdx.json"), document.as_bytes())?;
        write(
            &self.out.join(format!("{name}.cdx.json")),
            document.as_bytes(),
        )?;
        Ok(())
    }

    fn deb(&self, package: &str, build: &Build, tree: &Path) -> Result<(), String> {
        let about = match package {
            "fslab" => (
                "measures and compares file systems",
                "Formats, mounts, measures, unmounts and checks file systems repeatedly, and \
                 reports which is faster, with confidence intervals.",
            ),
            _ => (
                "guest kernel and root image of fslab",
                "A User-Mode Linux kernel with the file systems of fslab's catalogue, and an \
                 image with their programs, for measurements in virtual time.",
            ),
        };
        let recommends = match package {
            "fslab" => "fslab-guest, e2fsprogs, xfsprogs, btrfs-progs",
            _ => "fslab",
        };
        let stage = self.out.join("tree").join(format!("{package}.deb"));
        make(&stage)?;
        start(
            Command::new("cp")
                .arg("-r")
                .arg(tree)
                .arg(stage.join("usr")),
        )?;
        let (version, architecture) = (self.version.as_str(), build.debian);
        let file = self
            .out
            .join(format!("{package}_{version}_{architecture}.deb"));
        let described = Deb {
            name: package,
            version,
            architecture,
            recommends,
            about,
        };
        deb(&described, &stage, &file, self.epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_asked_for_by_name() {
        let request = Request::parse(&[]).expect("a request");
        let targets = request.targets().expect("targets");
        assert_eq!(targets.len(), 6);
        for target in targets {
            if let State::Ported(port) = target.state {
                let is_windows = target.name.ends_with("-windows");
                assert_eq!(port.is_windows, is_windows, "{}", target.name);
            }
        }
        let one = Request::parse(&["--target", "x86_64-linux", "--no-guest"]).expect("a request");
        assert_eq!(one.targets().expect("one").len(), 1);
        assert!(!one.with_guest);
        let other = Request::parse(&["--target", "vax"]).expect("a request");
        assert!(
            other
                .targets()
                .expect_err("unknown")
                .contains("aarch64-linux")
        );
        assert!(Request::parse(&["--targte"]).is_none());
    }
}
