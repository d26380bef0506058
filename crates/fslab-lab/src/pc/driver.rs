//! The sources of the module and of the first process, embedded; and how both are compiled.

use std::fs;
use std::path::{Path, PathBuf};

use crate::additions::DRIVERS;
use crate::build_dir::BuildDir;
use crate::key::Fingerprint;
use crate::progress::BuildStage;
use crate::recipe::Recipe;
use crate::{KernelKey, LabError, SourceKind};

macro_rules! pc {
    ($($name:literal),* $(,)?) => {
        /// Files of the module besides those of the simulated disk: the path, and the text.
        const PC_FILES: &[(&str, &str)] = &[
            $((
                concat!("pc/", $name),
                include_str!(concat!("../../../../kernel/simdisk/pc/", $name)),
            )),*
        ];
    };
}

pc![
    "Kbuild",
    "boot.h",
    "boot_kern.c",
    "clock.h",
    "clock_kern.c",
    "disk.h",
    "init.c",
    "init.h",
    "memory_kern.c",
    "module.c",
    "module.h",
    "regions.c",
    "regions.h",
    "timer_kern.c",
];

/// What `timer_kern.c` needs of a kernel.
const TIMER_VECTOR: &[u8] = b"kvm_set_posted_intr_wakeup_handler\0";

/// Version of how the parts of a PC's lab are made.
const VERSION: &str = "4";

/// Identifies what a kernel of this kind is built with, independent of its source.
pub(crate) fn recipe_digest(kind: SourceKind) -> KernelKey {
    fingerprint(kind).finish()
}

pub(super) fn fingerprint(kind: SourceKind) -> Fingerprint {
    let mut fingerprint = Fingerprint::default();
    if kind != SourceKind::DebianKernel {
        Recipe::pc().add_to(&mut fingerprint);
    }
    fingerprint.add("pc");
    fingerprint.add(VERSION);
    for (path, text) in DRIVERS.iter().chain(PC_FILES) {
        fingerprint.add(path);
        fingerprint.add(text);
    }
    fingerprint
}

/// Options of newer compilers, each with the symbol that has a kernel's headers use it.
const NEWER_OPTIONS: [(&str, &str); 1] = [(
    "-fmin-function-alignment=16",
    "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT",
)];

/// Arguments of make that unset the symbols whose option the compiler of this machine lacks.
fn lacking_symbols(build_dir: &mut BuildDir<'_>) -> Result<Vec<String>, LabError> {
    let mut unset = Vec::new();
    for (option, symbol) in NEWER_OPTIONS {
        let mut compile = build_dir.command("gcc");
        compile.args([option, "-x", "c", "-E", "/dev/null"]);
        match build_dir.ask("ask the compiler for its options", compile) {
            Err(stopped) if stopped.is_interruption() => return Err(stopped),
            Err(_) => unset.push(format!("{symbol}=")),
            Ok(_) => {}
        }
    }
    Ok(unset)
}

/// The compiled parts, without what depends on where they were compiled.
pub(super) struct Driver {
    pub(super) module: PathBuf,
    pub(super) init: PathBuf,
}

impl Driver {
    /// Compiles the module against `headers`, and the first process.
    pub(super) fn build(headers: &Path, build_dir: &mut BuildDir<'_>) -> Result<Self, LabError> {
        build_dir.reporter.enter(BuildStage::Compiling);
        let sources = build_dir.make_folder("simdisk")?;
        for (path, text) in DRIVERS.iter().chain(PC_FILES) {
            let path = sources.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(LabError::io("make", folder))?;
            }
            fs::write(&path, text).map_err(LabError::io("write", &path))?;
        }
        let pc = sources.join("pc");
        let mut make = build_dir.command("make");
        make.arg("-C")
            .arg(headers)
            .arg(format!("M={}", pc.display()));
        // The compiler of this machine, whose version need not be that of the distribution; no type
        // information for tracers, which needs pahole.
        make.args(["CC=gcc", "CONFIG_DEBUG_INFO_BTF_MODULES="]);
        make.args(lacking_symbols(build_dir)?);
        make.arg("modules");
        build_dir.run("compile fslab's module", make)?;
        let module = sources.join("fslab.ko");
        let mut strip = build_dir.command("strip");
        // The identifier of a build depends on its directory.
        strip.args(["--strip-debug", "--remove-section=.note.gnu.build-id", "-o"]);
        strip.arg(&module).arg(pc.join("fslab.ko"));
        build_dir.run("strip fslab's module", strip)?;
        let init = sources.join("first-process");
        let mut compile = build_dir.command("gcc");
        compile.args(["-O2", "-static", "-s", "-Wl,--build-id=none", "-o"]);
        compile.arg(&init).arg("init.c").current_dir(&pc);
        build_dir.run("compile the guest's first process", compile)?;
        Ok(Self { module, init })
    }

    /// Whether the kernel has what the module's timer needs; the module uses it where it is there.
    pub(super) fn has_timer(&self) -> Result<bool, LabError> {
        let module = fs::read(&self.module).map_err(LabError::io("read", &self.module))?;
        Ok(module
            .windows(TIMER_VECTOR.len())
            .any(|window| window == TIMER_VECTOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_module_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/simdisk/pc");
        let listed = fs::read_dir(folder).expect("the module's source");
        let names = listed.map(|entry| entry.expect("read").file_name());
        let mut found: Vec<_> = names
            .map(|name| format!("pc/{}", name.to_string_lossy()))
            .collect();
        found.sort();
        let embedded: Vec<_> = PC_FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(embedded, found);
    }
}
