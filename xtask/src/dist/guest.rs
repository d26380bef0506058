//! The guest: the lab, where the source of each of its programs is, and their copyright.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::debian::{DebianPackage, sources_table};
use super::notices::COMMON;
use super::sbom;
use crate::program::{output, run, text, write};

/// Where the lab is, below a prefix; fslab looks there.
const LAB: &str = "share/fslab/lab.tar";
const DOCUMENTS: &str = "share/doc/fslab-guest";
/// What Debian's policy wants to have in this place.
const COPYRIGHT: &str = "The guest kernel is Linux, under GPL-2.0, with the files in kernel/.\n\
The programs of the root image are Debian's, unchanged: copyrights/ has the copyright file of each\n\
package, licences/ the texts that they refer to, and SOURCES.md says where the sources are.\n\
Linux and most of the programs are under the GPL: /usr/share/common-licenses/GPL-2 and GPL-3.\n";
/// Directories of the image whose files are fslab's, not a package's.
const OURS: [&str; 2] = ["/etc/", "/fslab/"];
/// The end of the path of fslab's table of character sets, among the C library's files.
const OUR_TABLE: &str = "/gconv/gconv-modules";

/// Adds the default lab of this user, which is built if it is missing, and its documents.
///
/// # Errors
/// A program of the lab that is not one of this machine's packages in this version, or that cannot
/// be shipped.
pub(super) fn add(root: &Path, fslab: &Path, tree: &Path) -> Result<(), String> {
    let lab = tree.join(LAB);
    let folder = tree.join("share/fslab");
    crate::program::make(&folder)?;
    run(Command::new(fslab).args(["lab", "build", "--no-config"]))?;
    run(Command::new(fslab)
        .args(["lab", "export", "--no-config"])
        .arg(&lab))?;
    let description = |member: &str| -> Result<Value, String> {
        let text = output(Command::new("tar").arg("-xOf").arg(&lab).arg(member))?;
        serde_json::from_slice(&text).map_err(|error| format!("cannot read {member}: {error}"))
    };
    let (about, kernel, image) = (
        description("lab.json")?,
        description("kernel/kernel.json")?,
        description("root/root.json")?,
    );
    let digest = about["digest"].as_str().unwrap_or_default();
    let kernel = kernel["source"].as_str().unwrap_or_default();
    let packages = packages(&image)?;
    let at = |name: &str| tree.join(DOCUMENTS).join(name);
    for package in &packages {
        package.ensure_free()?;
        write(
            &at(&format!("copyrights/{}", package.name)),
            &package.copyright()?,
        )?;
    }
    write(
        &at("SOURCES.md"),
        sources(digest, kernel, &packages).as_bytes(),
    )?;
    write(&at("copyright"), COPYRIGHT.as_bytes())?;
    let document = sbom::of_guest(digest, kernel, &packages);
    let document = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    write(&at("guest.cdx.json"), document.as_bytes())?;
    let copies = [
        (Path::new(COMMON), "licences"),
        (&root.join("kernel"), "kernel"),
    ];
    for (from, to) in copies {
        run(Command::new("cp")
            .args(["-rL", "--no-preserve=mode"])
            .arg(from)
            .arg(at(to)))?;
    }
    run(Command::new("cp")
        .args(["-r"])
        .arg(root.join("lab"))
        .arg(at("root-image")))
}

/// The packages of all files of the root image, each compared with the file that is installed.
fn packages(image: &Value) -> Result<Vec<DebianPackage>, String> {
    let files = image["files"]
        .as_array()
        .ok_or("the image lists no files")?;
    let mut wanted = Vec::new();
    for file in files {
        let (path, sha256) = (file["path"].as_str(), file["sha256"].as_str());
        let (path, sha256) = path
            .zip(sha256)
            .ok_or("a file of the image has no digest")?;
        let is_ours = OURS.iter().any(|folder| path.starts_with(folder));
        if !is_ours && !path.ends_with(OUR_TABLE) {
            wanted.push((path, sha256));
        }
    }
    let here = installed(&wanted)?;
    Ok(DebianPackage::of_files(&here)?.into_iter().collect())
}

/// The files of this machine with the contents of the image's, given by path and SHA-256.
fn installed(wanted: &[(&str, &str)]) -> Result<Vec<PathBuf>, String> {
    let places: Vec<PathBuf> = wanted
        .iter()
        .flat_map(|(path, _)| candidates(path))
        .filter(|it| it.is_file())
        .collect();
    let digests = digests(&places)?;
    let find = |(path, sha256): &(&str, &str)| {
        let has = |it: &PathBuf| digests.get(it).is_some_and(|digest| digest == sha256);
        candidates(path).find(has).ok_or_else(|| {
            format!(
                "{path} of the root image is not what this machine has, so that its version is \
                 unknown; rebuild it: fslab lab build --new-root"
            )
        })
    };
    wanted.iter().map(find).collect()
}

/// Where a file of the image may be on this machine.
fn candidates(path: &str) -> impl Iterator<Item = PathBuf> {
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(Path::new);
    let name = Path::new(path).file_name().unwrap_or_default();
    let elsewhere = folders.map(|folder| folder.join(name));
    let short = path.strip_prefix("/usr").map(PathBuf::from);
    std::iter::once(PathBuf::from(path))
        .chain(short)
        .chain(elsewhere)
}

/// SHA-256 of files, by one call of sha256sum.
fn digests(files: &[PathBuf]) -> Result<BTreeMap<PathBuf, String>, String> {
    if files.is_empty() {
        return Ok(BTreeMap::new());
    }
    // Names in lines that end with NUL are not escaped.
    let sums = text(Command::new("sha256sum").args(["-z", "--"]).args(files))?;
    let lines = sums.split('\0').filter_map(|line| line.split_once("  "));
    Ok(lines
        .map(|(digest, path)| (PathBuf::from(path), digest.to_owned()))
        .collect())
}

fn sources(digest: &str, kernel: &str, packages: &[DebianPackage]) -> String {
    let licences: BTreeMap<&str, &str> = BTreeMap::from([
        (
            "copyrights/",
            "the copyright of each package, as Debian ships it",
        ),
        ("licences/", "the licences that they refer to"),
        (
            "kernel/",
            "configuration, drivers and patches of the kernel",
        ),
        ("root-image/", "the configuration in the root image"),
        ("guest.cdx.json", "the same list for programs (CycloneDX)"),
    ]);
    let rows: String = licences
        .iter()
        .map(|(path, what)| format!("- `{path}`: {what}\n"))
        .collect();
    format!(
        "# Sources of the guest {digest}\n\n\
         `lab.tar` holds a Linux kernel and a read-only image with programs of Debian, unchanged. \
         Most are under the GPL, and all are of Debian's main part, which may be distributed. \
         Who distributes the guest must offer these sources with it.\n\n\
         The kernel is Linux (GPL-2.0), built from {kernel}, with the files in `kernel/`, by \
         `fslab lab build`. Its source is in that package, at that version.\n\n\
         The programs and libraries, with the packages that have their sources:\n\n{}\n\
         Each is had by `apt-get source SOURCE=VERSION` from a machine whose sources list has \
         `deb-src`; earlier versions are in Debian's archive of snapshots.\n\n\
         Beside this file:\n\n{rows}",
        sources_table(packages)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_content_also_in_another_folder() {
        let here = PathBuf::from("/usr/bin/sha256sum");
        let digest = digests(std::slice::from_ref(&here)).expect("a digest");
        let digest = digest.get(&here).expect("of the file").as_str();
        // The image has all programs in one directory.
        let found = installed(&[("/usr/sbin/sha256sum", digest)]).expect("found");
        assert_eq!(found, [here]);
        let other = "0".repeat(64);
        let refused = installed(&[("/usr/bin/sha256sum", other.as_str())]).expect_err("other");
        assert!(refused.contains("/usr/bin/sha256sum"), "{refused}");
        assert!(refused.contains("--new-root"), "{refused}");
    }
}
