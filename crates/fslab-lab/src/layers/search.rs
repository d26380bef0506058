//! Finds the files that a program needs: those of its package and the packages it depends on; for a
//! program of no package, the file, its libraries and its interpreter.

use fslab_sys::os::OsStrExt;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use fslab_model::{Failure, ProgramNeed};

use crate::LabError;
use crate::packages::Packages;
use crate::root::{Elf, find_library};

/// Limit of successive symbolic links, from path_resolution(7).
const LINKS_MAX: usize = 40;
/// Longest first line of a script.
const SCRIPT_LINE_MAX: u64 = 256;
/// Directory of the links by which Debian selects among alternative programs.
const ALTERNATIVES: &str = "/etc/alternatives";
/// Directories of the names that point to these links.
const NAMES_OF_ALTERNATIVES: [&str; 2] = ["/usr/bin", "/usr/sbin"];

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Path of each program, by its name.
    pub(super) programs: BTreeMap<String, PathBuf>,
    /// Packages with their versions.
    pub(super) packages: BTreeMap<String, String>,
    /// Files, links and directories of this machine.
    pub(super) paths: BTreeSet<PathBuf>,
}

/// Finds everything that `programs` need; `layer` is the name in errors.
pub(super) fn search(
    layer: &str,
    programs: &BTreeMap<String, ProgramNeed>,
    packages: &Packages,
) -> Result<Found, LabError> {
    let found = locate_all(layer, programs)?;
    let mut first: BTreeSet<String> = found
        .keys()
        .filter_map(|it| packages.undeclared_dependency(it))
        .collect();
    let mut paths = BTreeSet::new();
    let mut open: BTreeSet<PathBuf> = found.values().cloned().collect();
    while !open.is_empty() {
        let chains: Vec<_> = open.iter().map(|path| chain(path)).collect();
        let steps: BTreeSet<PathBuf> = chains.iter().flatten().cloned().collect();
        let owners = packages.owners(&steps)?;
        first.extend(owners.values().cloned());
        let mut next = BTreeSet::new();
        for end in chains.iter().filter_map(|chain| chain.last()) {
            if !owners.contains_key(end) && !paths.contains(end) {
                next.extend(needs_of(end)?);
            }
        }
        paths.extend(steps);
        open = next.into_iter().filter(|it| !paths.contains(it)).collect();
    }
    let closure = packages.closure(&first);
    paths.extend(packages.files(closure.keys())?);
    add_alternatives(&mut paths);
    Ok(Found {
        programs: found,
        packages: closure,
        paths,
    })
}

/// Paths of the programs. Optional programs that are not installed are left out.
fn locate_all(
    layer: &str,
    programs: &BTreeMap<String, ProgramNeed>,
) -> Result<BTreeMap<String, PathBuf>, LabError> {
    let mut found = BTreeMap::new();
    let mut missing = Vec::new();
    for (name, need) in programs {
        match locate(name) {
            Some(path) => {
                found.insert(name.clone(), path);
            }
            None if need.is_required => missing.push((name.clone(), need.package.clone())),
            None => {}
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    Err(lacks(layer, &missing).into())
}

/// The failure for programs that are not installed: their names, with packages if known.
fn lacks(layer: &str, missing: &[(String, Option<String>)]) -> Failure {
    let each = missing.iter().map(|(name, package)| match package {
        Some(package) => format!("{name} (package {package})"),
        None => name.clone(),
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let text = format!("this machine lacks programs that '{layer}' brings into a guest: {each}");
    let packages = missing.iter().filter_map(|(_, package)| package.as_deref());
    let packages: Vec<_> = packages.collect();
    Failure::missing_tool(text).hint(match packages.as_slice() {
        [] => format!("programs are searched for in {}", fslab_sys::PLAIN_PATH),
        packages => format!("on Debian, run apt install {}", packages.join(" ")),
    })
}

/// The program of that name in PATH, or at that absolute path.
fn locate(name: &str) -> Option<PathBuf> {
    use fslab_sys::os::PermissionsExt;
    let is_program = |path: &PathBuf| {
        let found = path.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|it| it.is_absolute() && is_program(it));
    }
    let mut folders = fslab_sys::PLAIN_PATH.split(':');
    folders.find_map(|folder| Some(Path::new(folder).join(name)).filter(is_program))
}

/// `path` and the target of each successive link; the last is no link.
fn chain(path: &Path) -> Vec<PathBuf> {
    let mut steps = vec![path.to_owned()];
    let mut at = path.to_owned();
    while let Ok(target) = std::fs::read_link(&at) {
        let folder = at.parent().unwrap_or(Path::new("/"));
        // A relative target starts from the directory that really contains the link.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        at = without_dots(&folder.join(target));
        steps.push(at.clone());
        if steps.len() > LINKS_MAX {
            break;
        }
    }
    steps
}

fn without_dots(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// What a file of no package needs: a script its interpreter; a program its loader and libraries.
fn needs_of(path: &Path) -> Result<Vec<PathBuf>, LabError> {
    let failed = |error| LabError::io("read", path)(error);
    let mut line = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(SCRIPT_LINE_MAX)
        .read_to_end(&mut line)
        .map_err(failed)?;
    if let Some(rest) = line.strip_prefix(b"#!") {
        let rest = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        return Ok(interpreters(rest));
    }
    let Some(elf) = Elf::read(path)? else {
        return Ok(Vec::new());
    };
    let mut needs: Vec<_> = elf.interpreter.into_iter().collect();
    for name in &elf.needed {
        let library = find_library(name).ok_or_else(|| {
            let reason =
                format!("it needs {name}, which is not in a directory where the loader looks");
            let failure = LabError::bad_input(path, reason);
            failure.hint("install what it needs as a package, or link it statically")
        })?;
        needs.push(library);
    }
    Ok(needs)
}

/// The interpreter of a script, and the program that env(1) starts.
fn interpreters(line: &[u8]) -> Vec<PathBuf> {
    let words = line.split(u8::is_ascii_whitespace);
    let mut words = words.filter(|word| !word.is_empty());
    let Some(first) = words.next() else {
        return Vec::new();
    };
    let first = PathBuf::from(OsStr::from_bytes(first));
    let is_env = first.file_name() == Some(OsStr::new("env"));
    let mut behind = words.skip_while(|word| word.starts_with(b"-"));
    let second = behind.next().filter(|_| is_env);
    let second = second.and_then(|word| locate(std::str::from_utf8(word).ok()?));
    [Some(first), second].into_iter().flatten().collect()
}

/// Adds the alternatives that point to files of `paths`, such as cc for gcc and awk for mawk.
fn add_alternatives(paths: &mut BTreeSet<PathBuf>) {
    let entries = std::fs::read_dir(ALTERNATIVES).into_iter().flatten();
    for entry in entries.flatten() {
        let choice = entry.path();
        let Ok(chosen) = std::fs::read_link(&choice) else {
            continue;
        };
        for folder in NAMES_OF_ALTERNATIVES {
            let name = Path::new(folder).join(entry.file_name());
            let leads_here = std::fs::read_link(&name).is_ok_and(|target| target == choice);
            if leads_here && is_among(&chosen, paths) {
                paths.insert(choice.clone());
                paths.insert(name);
            }
        }
    }
}

/// Packages may have registered a path of /usr by either name.
fn is_among(path: &Path, paths: &BTreeSet<PathBuf>) -> bool {
    let short = path
        .strip_prefix("/usr")
        .map(|rest| Path::new("/").join(rest));
    paths.contains(path) || short.is_ok_and(|short| paths.contains(&short))
}

#[cfg(test)]
mod tests {
    use fslab_model::FailureKind;

    use super::*;

    #[test]
    fn a_script_needs_its_interpreter_and_what_env_starts() {
        let names = |line: &str| interpreters(line.as_bytes());
        assert_eq!(names("/bin/sh -e"), [Path::new("/bin/sh")]);
        let by_env = names(" /usr/bin/env -S sh");
        assert_eq!(by_env[0], Path::new("/usr/bin/env"));
        assert!(by_env[1].ends_with("sh"), "{by_env:?}");
        assert!(names("").is_empty());
    }

    #[test]
    fn every_link_to_a_program_is_a_step() {
        let folder = tempfile::tempdir().expect("a directory");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("d")).expect("made");
        std::fs::write(at("program"), "").expect("written");
        fslab_sys::os::symlink("../program", at("d/second")).expect("linked");
        fslab_sys::os::symlink("d/second", at("first")).expect("linked");
        assert_eq!(
            chain(&at("first")),
            [at("first"), at("d/second"), at("program")]
        );
        // A cycle of links ends, too.
        fslab_sys::os::symlink("circle", at("circle")).expect("linked");
        assert!(chain(&at("circle")).len() <= LINKS_MAX + 1);
    }

    #[test]
    fn what_is_missing_is_an_error_only_where_it_is_required() {
        let packages = Packages::default();
        let mut wanted = BTreeMap::from([("no-such-program".to_owned(), ProgramNeed::default())]);
        let found = search("l", &wanted, &packages).expect("is helpful alone");
        assert!(found.paths.is_empty());
        wanted.values_mut().for_each(|need| need.is_required = true);
        let error = search("l", &wanted, &packages).expect_err("is required");
        assert!(error.to_string().contains("no-such-program"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let missing = [("cc".into(), Some("gcc".into())), ("no-such".into(), None)];
        let failure = lacks("compile", &missing);
        assert_eq!(failure.kind, FailureKind::MissingTool);
        let text = failure.to_string();
        assert!(text.contains("cc (package gcc), no-such"), "{text}");
        assert_eq!(
            failure.hint.as_deref(),
            Some("on Debian, run apt install gcc")
        );
    }

    #[test]
    fn a_program_of_no_package_has_its_libraries_and_their_loader() {
        let running = std::env::current_exe().expect("it runs");
        let name = running.to_str().expect("text").to_owned();
        let wanted = BTreeMap::from([(name, ProgramNeed::default())]);
        let found = search("l", &wanted, &Packages::default()).expect("found");
        assert!(found.paths.contains(&running));
        let has = |name: &str| found.paths.iter().any(|path| path.ends_with(name));
        assert!(
            has("libc.so.6") && has("ld-linux-x86-64.so.2"),
            "{:?}",
            found.paths
        );
    }
}
