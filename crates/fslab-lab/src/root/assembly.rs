//! Assembles a root image's tree from this machine's files: the listed programs, their libraries,
//! and fslab's configuration.
//!
//! The tree depends on the contents of the files alone: guest paths come from the list, independent
//! of the paths on this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::facts::{MissingProgram, RootProgram};
use super::list::{
    DATA, DEVICES, FOLDERS, LIBRARIES, LINKS, LOADER, LOADER_NAME, Listed, NETWORK_LINKS,
    NETWORK_PROGRAMS, OWN_LIBRARIES, PACKAGES, PROGRAM, PROGRAM_BYTES, PROGRAMS, TEXTS,
};
use super::{Elf, FileSource, Node, Tree, find_library, loader_cache};
use crate::LabError;
use crate::packages::Packages;

/// Directories of this machine that are searched for programs; the PATH of a guest.
const PROGRAM_FOLDERS: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// A tree that is ready to be written.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) tree: Tree,
    pub(crate) programs: Vec<RootProgram>,
    pub(crate) missing: Vec<MissingProgram>,
    /// Version of the C library.
    pub(crate) glibc: (u32, u32),
    /// Whether its list has the servers of network file systems.
    pub(crate) network: bool,
}

impl Assembly {
    /// Assembles the complete list; with the servers of network file systems if `network`.
    pub(crate) fn of_this_machine(network: bool) -> Result<Self, LabError> {
        let (servers, links) = match network {
            true => (NETWORK_PROGRAMS, NETWORK_LINKS),
            false => (&[][..], &[][..]),
        };
        let list: Vec<_> = PROGRAMS.iter().chain(servers).copied().collect();
        let mut assembly = Self::of(&list, &PROGRAM_FOLDERS.map(PathBuf::from))?;
        assembly.network = network;
        for (path, target) in links {
            let target = (*target).into();
            assembly.tree.add(Path::new(path), Node::Link { target })?;
        }
        Ok(assembly)
    }

    fn of(list: &[Listed], folders: &[PathBuf]) -> Result<Self, LabError> {
        let mut building = Building::default();
        building.add_frame()?;
        for name in OWN_LIBRARIES {
            let demanded = building.demand(name);
            demanded.map_err(|reason| {
                LabError::bad_program(&Path::new(LIBRARIES).join(name), reason)
            })?;
        }
        let packages = Packages::read()?;
        let mut found = Vec::new();
        for listed in list {
            let alternative = listed.alternative.and_then(|it| packages.version(it));
            for (path, names) in listed.programs {
                match building.take_program(Path::new(path), folders) {
                    Ok(host) => found.push((listed, *path, *names, host)),
                    // The other package does without it.
                    Err(_) if alternative.is_some() => {}
                    Err(reason) => building.missing.push(MissingProgram {
                        name: file_name(path),
                        other_names: names.iter().map(|&name| name.to_owned()).collect(),
                        package: listed.package.to_owned(),
                        reason,
                    }),
                }
            }
        }
        let hosts = found.iter().map(|(.., host)| host.clone()).collect();
        let owners = packages.owners(&hosts)?;
        for (listed, path, names, host) in found {
            let owner = owners.get(&host).map(String::as_str);
            let possible = [Some(listed.package), listed.alternative];
            let owner = possible.into_iter().flatten().find(|&it| owner == Some(it));
            let version = owner.and_then(|it| packages.version(it));
            let package = owner.unwrap_or(listed.package);
            building.add_program(package, version.map(str::to_owned), (path, names), host)?;
        }
        building.finish()
    }
}

#[derive(Default)]
struct Building {
    tree: Tree,
    /// Files of this machine by the library name that programs request.
    libraries: BTreeMap<String, PathBuf>,
    programs: Vec<RootProgram>,
    missing: Vec<MissingProgram>,
}

impl Building {
    /// Adds everything except the machine's programs and libraries.
    fn add_frame(&mut self) -> Result<(), LabError> {
        for (path, mode) in FOLDERS {
            self.tree.add(Path::new(path), Node::folder(*mode))?;
        }
        for (path, target) in LINKS {
            self.add_link(path, target)?;
        }
        for &(path, mode, major, minor) in DEVICES {
            let device = Node::Device { mode, major, minor };
            self.tree.add(Path::new(path), device)?;
        }
        for (path, text) in TEXTS {
            let source = FileSource::Bytes((*text).into());
            self.add_file(path, source, 0o644)?;
        }
        for (path, hosts) in DATA {
            if let Some(host) = hosts.iter().find_map(|host| fs::canonicalize(host).ok()) {
                self.add_file(path, FileSource::Host(host), 0o644)?;
            }
        }
        self.add_file(PROGRAM, FileSource::Appended(PROGRAM_BYTES), 0o755)
    }

    /// Finds the file of a program and adds its libraries; an error if any is missing.
    fn take_program(&mut self, path: &Path, folders: &[PathBuf]) -> Result<PathBuf, String> {
        let name = path.file_name().unwrap_or_default();
        let mut paths = folders.iter().map(|folder| folder.join(name));
        let host = paths
            .find_map(|path| fs::canonicalize(path).ok().filter(|it| it.is_file()))
            .ok_or("it is not installed")?;
        let elf = Elf::read(&host).map_err(|error| error.to_string())?;
        let elf = elf.ok_or("it is not a program for x86-64")?;
        let is_other = |loader: &PathBuf| loader != Path::new(LOADER);
        if let Some(loader) = elf.interpreter.filter(is_other) {
            return Err(format!("its loader is {}", loader.display()));
        }
        elf.needed.iter().try_for_each(|name| self.demand(name))?;
        Ok(host)
    }

    /// Adds a library with all its dependencies; on error, none of them.
    fn demand(&mut self, name: &str) -> Result<(), String> {
        let mut fresh = BTreeMap::new();
        let mut wanted = vec![name.to_owned()];
        while let Some(name) = wanted.pop() {
            if self.libraries.contains_key(&name) || fresh.contains_key(&name) {
                continue;
            }
            let path = find_library(&name).ok_or(format!("its library {name} is missing"))?;
            let path = fs::canonicalize(&path).map_err(|error| format!("{name}: {error}"))?;
            let elf = Elf::read(&path).map_err(|error| error.to_string())?;
            wanted.extend(elf.unwrap_or_default().needed);
            fresh.insert(name, path);
        }
        self.libraries.extend(fresh);
        Ok(())
    }

    fn add_program(
        &mut self,
        package: &str,
        version: Option<String>,
        (path, names): (&str, &[&str]),
        host: PathBuf,
    ) -> Result<(), LabError> {
        self.add_file(path, FileSource::Host(host), 0o755)?;
        let name = file_name(path);
        for other in names {
            let link = Path::new(path).with_file_name(other);
            self.add_link(&link.to_string_lossy(), &name)?;
        }
        self.programs.push(RootProgram {
            name,
            other_names: names.iter().map(|&name| name.to_owned()).collect(),
            path: path.into(),
            package: package.to_owned(),
            version,
        });
        Ok(())
    }

    fn finish(mut self) -> Result<Assembly, LabError> {
        let folder = Path::new(LIBRARIES);
        let mut cached = BTreeMap::new();
        let mut glibc = None;
        for (name, host) in std::mem::take(&mut self.libraries) {
            let path = folder.join(&name).to_string_lossy().into_owned();
            let mode = if name == LOADER_NAME { 0o755 } else { 0o644 };
            if name == "libc.so.6" {
                glibc = Elf::read(&host)?.and_then(|elf| elf.glibc);
            }
            self.add_file(&path, FileSource::Host(host), mode)?;
            cached.insert(name, path);
        }
        let cache = FileSource::Bytes(loader_cache(&cached));
        self.add_file("/etc/ld.so.cache", cache, 0o644)?;
        let packages: BTreeSet<_> = self.programs.iter().filter_map(package_line).collect();
        let packages: String = packages.into_iter().collect();
        self.add_file(PACKAGES, FileSource::Bytes(packages.into()), 0o644)?;
        let glibc = glibc.ok_or_else(|| {
            let path = folder.join("libc.so.6");
            LabError::bad_program(&path, "it names no version of glibc")
        })?;
        Ok(Assembly {
            tree: self.tree,
            programs: self.programs,
            missing: self.missing,
            glibc,
            network: false,
        })
    }

    fn add_file(&mut self, path: &str, source: FileSource, mode: u16) -> Result<(), LabError> {
        self.tree.add(Path::new(path), Node::File { source, mode })
    }

    fn add_link(&mut self, path: &str, target: &str) -> Result<(), LabError> {
        let target = target.into();
        self.tree.add(Path::new(path), Node::Link { target })
    }
}

fn package_line(program: &RootProgram) -> Option<String> {
    let version = program.version.as_ref()?;
    Some(format!("{} {version}\n", program.package))
}

fn file_name(path: &str) -> String {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[Listed] = &[Listed {
        package: "coreutils",
        alternative: None,
        programs: &[
            ("/usr/bin/true", &["yes-indeed"]),
            ("/usr/bin/no-such-program", &["alias"]),
            ("/usr/bin/script", &[]),
        ],
    }];

    #[test]
    fn a_root_has_installed_programs_and_lists_missing_ones() {
        let folder = tempfile::tempdir().expect("a directory");
        fs::write(folder.path().join("script"), "#!/bin/sh\n").expect("written");
        let folders = [folder.path().to_owned(), "/usr/bin".into(), "/bin".into()];
        let assembly = Assembly::of(LIST, &folders).expect("assembled");
        let names: Vec<_> = assembly
            .programs
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(names, ["true"]);
        let missing: Vec<_> = assembly
            .missing
            .iter()
            .map(|it| it.reason.as_str())
            .collect();
        assert_eq!(
            missing,
            ["it is not installed", "it is not a program for x86-64"]
        );
        let tree = &assembly.tree;
        let link = Node::Link {
            target: "true".into(),
        };
        assert_eq!(tree.get(Path::new("/usr/bin/yes-indeed")), Some(&link));
        for path in ["libc.so.6", "libm.so.6", "libgcc_s.so.1", LOADER_NAME] {
            assert!(
                tree.get(&Path::new(LIBRARIES).join(path)).is_some(),
                "{path}"
            );
        }
        assert!(assembly.glibc > (2, 17), "{:?}", assembly.glibc);
    }

    /// As zfs-fuse, whose daemon OpenZFS does without.
    #[test]
    fn a_root_may_have_the_programs_of_the_package_that_is_installed_instead() {
        let listed = Listed {
            package: "no-such-package",
            alternative: Some("coreutils"),
            programs: &[("/usr/bin/true", &[]), ("/usr/bin/no-such-program", &[])],
        };
        if Packages::read().is_ok_and(|packages| packages.version("coreutils").is_none()) {
            return;
        }
        let folders = ["/usr/bin".into(), "/bin".into()];
        let assembly = Assembly::of(&[listed], &folders).expect("assembled");
        assert_eq!(assembly.missing, []);
        let [program] = &assembly.programs[..] else {
            panic!("{:?}", assembly.programs);
        };
        assert_eq!(program.package, "coreutils");
        assert!(program.version.is_some());
    }

    #[test]
    fn the_list_names_each_path_once_and_packages_in_one_place() {
        let mut paths = BTreeSet::new();
        let mut packages = BTreeSet::new();
        for listed in PROGRAMS.iter().chain(NETWORK_PROGRAMS) {
            assert!(packages.insert(listed.package), "{}", listed.package);
            for (path, names) in listed.programs {
                let folder = Path::new(path).parent().expect("a directory");
                assert!(["/usr/bin", "/usr/sbin"].map(Path::new).contains(&folder));
                for name in names.iter().map(|name| folder.join(name)) {
                    assert!(paths.insert(name.clone()), "{}", name.display());
                }
                assert!(paths.insert(path.into()), "{path}");
            }
        }
    }
}
