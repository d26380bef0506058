//! Targets of other systems: the program, licences and a bill of materials, as a .zip for Windows
//! and a tarball for the others. No manual: it is of Linux, and their programs do not run here.

use std::path::Path;
use std::process::Command;

use super::debian::{DebianPackage, sources_table};
use super::dependencies::linked;
use super::package::tarball;
use super::{needed, notices, sbom};
use crate::cross::Variant;
use crate::program::{make, read, run, text, write};
use crate::zig;

/// Static libraries of gcc for Windows that are linked into a program.
const MINGW_LIBRARIES: [&str; 3] = ["libmingw32.a", "libgcc.a", "libgcc_eh.a"];
/// The copyright of the compiler's library, as Debian ships it.
const LIBRARY_COPYRIGHT: &str = "/usr/share/doc/rustc-web/copyright";

/// Its name in a package.
const LIBRARY_NOTICE: &str = "RUST-LIBRARY-COPYRIGHT.txt";

/// A system that is not Linux.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    /// The compiler's name of it.
    pub(super) triple: &'static str,
    pub(super) is_windows: bool,
}

/// Where it is packed, and from what.
pub(super) struct Packing<'a> {
    pub(super) root: &'a Path,
    pub(super) out: &'a Path,
    pub(super) version: &'a str,
    pub(super) epoch: u64,
}

/// Builds and packs the target `target`.
pub(super) fn make_port(packing: &Packing, target: &str, port: Port) -> Result<(), String> {
    let Packing { root, out, .. } = packing;
    let name = format!("fslab-{}-{target}", packing.version);
    let tree = out.join("tree").join(&name);
    println!("dist: building {target}");
    let program = crate::cross::build(root, target, Variant::Release)?;
    let bytes = read(&program)?;
    println!("dist: {target}: {} bytes", bytes.len());
    make(&tree)?;
    let file = program.file_name().unwrap_or_default();
    let packed = tree.join(file);
    run(Command::new("install")
        .arg("-m755")
        .args([&program, &packed]))?;
    let loaded = needed::of_system(&packed, port.triple)?;
    println!("dist: {target} loads {}", loaded.join(", "));
    let libraries = match port.is_windows {
        true => mingw_libraries()?,
        false => Vec::new(),
    };
    let crates = linked(root, port.triple)?;
    let mut document = notices::write(root, &crates, &libraries, LIBRARY_NOTICE)?;
    let zig = match port.is_windows {
        true => None,
        false => Some(zig::runtime(root)?),
    };
    for (name, licence) in zig.iter().flat_map(|it| &it.licences) {
        document += &notices::titled(name, licence);
    }
    write(&tree.join("THIRD-PARTY-LICENSES.txt"), document.as_bytes())?;
    let of_rust = read(Path::new(LIBRARY_COPYRIGHT))?;
    write(&tree.join(LIBRARY_NOTICE), &of_rust)?;
    for copied in [
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "CHANGELOG.md",
        "docs/platforms.md",
    ] {
        let to = Path::new(copied).file_name().unwrap_or_default();
        write(&tree.join(to), &read(&root.join(copied))?)?;
    }
    let mut document = sbom::of_binary(packing.version, &crates, &libraries);
    if let (Some(zig), Some(parts)) = (&zig, document["components"].as_array_mut()) {
        parts.push(sbom::of_zig(&zig.version));
    }
    let document = serde_json::to_string_pretty(&document).map_err(|it| it.to_string())? + "\n";
    write(&tree.join("fslab.cdx.json"), document.as_bytes())?;
    write(&out.join(format!("{name}.cdx.json")), document.as_bytes())?;
    if !port.is_windows {
        let to = out.join(format!("{name}.tar.gz"));
        return tarball(&out.join("tree"), &name, &to, packing.epoch);
    }
    let to = out.join(format!("{name}.zip"));
    zip(&out.join("tree"), &name, &to, packing.epoch)
}

/// The packages with the static libraries of gcc for Windows.
fn mingw_libraries() -> Result<Vec<DebianPackage>, String> {
    let mut files = Vec::new();
    for library in MINGW_LIBRARIES {
        let mut ask = Command::new("x86_64-w64-mingw32-gcc");
        files.push(text(ask.arg(format!("-print-file-name={library}")))?.into());
    }
    let found: Vec<_> = DebianPackage::of_files(&files)?.into_iter().collect();
    println!("dist: linked statically:\n{}", sources_table(&found));
    Ok(found)
}

/// Packs `folder/name` as a .zip; the same tree gives the same bytes.
fn zip(folder: &Path, name: &str, to: &Path, epoch: u64) -> Result<(), String> {
    let mut find = Command::new("find");
    find.arg(folder.join(name))
        .args(["-exec", "touch", "-h", "-d"]);
    run(find.arg(format!("@{epoch}")).args(["{}", "+"]))?;
    let mut list = Command::new("find");
    let names = text(list.current_dir(folder).arg(name).args(["-type", "f"]))?;
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    let mut zip = Command::new("zip");
    zip.current_dir(folder)
        .env("TZ", "UTC")
        .args(["-q", "-X", "-9"]);
    run(zip.arg(to).args(names))
}
