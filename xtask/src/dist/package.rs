//! Packages of a tree: a tarball, packages of Debian, and checksums. The same tree gives the same
//! bytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{run, text, write};

/// A package of Debian.
pub(super) struct Deb<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) architecture: &'a str,
    /// What is useful beside it.
    pub(super) recommends: &'a str,
    /// One line, and a paragraph.
    pub(super) about: (&'a str, &'a str),
}

/// Writes `folder` as a tarball, with `name` as its only directory.
pub(super) fn tarball(folder: &Path, name: &str, to: &Path, epoch: u64) -> Result<(), String> {
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--format=gnu",
    ])
    .arg(format!("--mtime=@{epoch}"))
    .arg("--mode=u=rwX,go=rX")
    .arg("--use-compress-program=gzip -9n")
    .arg("-cf")
    .arg(to)
    .arg("-C")
    .arg(folder)
    .arg(name);
    run(&mut tar)
}

/// Writes the package with the files of `tree`, which has `usr`.
pub(super) fn deb(deb: &Deb<'_>, tree: &Path, to: &Path, epoch: u64) -> Result<(), String> {
    let size = text(
        Command::new("du")
            .args(["-sk", "--apparent-size"])
            .arg(tree),
    )?;
    let kib = size.split_whitespace().next().unwrap_or("0");
    let Deb {
        name,
        version,
        architecture,
        recommends,
        about: (title, paragraph),
    } = deb;
    let control = format!(
        "Package: {name}\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: The contributors of fslab\nInstalled-Size: {kib}\nSection: admin\n\
         Priority: optional\nRecommends: {recommends}\nDescription: {title}\n {paragraph}\n"
    );
    write(&tree.join("DEBIAN/control"), control.as_bytes())?;
    run(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(tree))?;
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "-Zxz", "--build"])
        .args([tree, to]);
    run(pack.env("SOURCE_DATE_EPOCH", epoch.to_string()))
}

/// Writes `SHA256SUMS` of the files in `folder`.
pub(super) fn checksums(folder: &Path) -> Result<(), String> {
    const NAME: &str = "SHA256SUMS";
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    let mut names: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.path().is_file() && entry.file_name() != NAME)
        .map(|entry| PathBuf::from(entry.file_name()))
        .collect();
    names.sort();
    let mut sums = Command::new("sha256sum");
    let sums = text(sums.current_dir(folder).args(names))?;
    write(&folder.join(NAME), (sums + "\n").as_bytes())
}
