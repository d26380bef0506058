//! Builds the kernel directory of a PC's lab: kernel, initramfs and program.
//!
//! The signature at the end of a kernel module, which the kernel verifies when it loads the
//! module, is cut off: a digest of the entire file and an RSA signature, hundreds of millions of
//! instructions. Behind the module are the signature, a description of 12 bytes whose last four
//! are the signature's length (big-endian), and a line (the kernel's
//! `include/linux/module_signature.h` and Documentation/admin-guide/module-signing.rst).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::boot_file;
use super::debian_kernel::DebianKernel;
use super::driver::{self, Driver};
use super::facts::PcFacts;
use super::initramfs::{BASE_LIST, FILES, Initramfs, LISTS, PARAMETERS};
use super::modules::ModuleTree;
use super::pc_kernel::PcKernel;
use crate::build_dir::BuildDir;
use crate::builder::Built;
use crate::kernel::{BINARY, CONFIG, INITRAMFS, Kernel, KernelFacts, PROGRAM_FILE};
use crate::key::sha256_of;
use crate::lock::BuildLock;
use crate::padded::padded_bytes;
use crate::progress::{BuildStage, Progress};
use crate::source::Origin;
use crate::tools::{self, BuildTool, tool};
use crate::{BuildRequest, Cache, KernelKey, LabError, SourceRequest};

/// Programs that this build needs besides those of every build.
const TOOLS: [BuildTool; 1] = [tool("depmod", "kmod")];
/// What compiling a kernel for PCs needs besides: its tools read object files.
const ELF_HEADER: &str = "/usr/include/gelf.h";
const ELF_HEADERS: BuildTool = tool("libelf's headers", "libelf-dev");

/// Debian's source, whatever its version: a kernel of it is not built again for a newer one.
const DEBIAN_SOURCE: &str = "linux-source";

/// Modules of every guest: checksums, character sets, the root image and layers over it, FUSE. A
/// kernel that has one built in needs no module.
const BASE: [&str; 17] = [
    "crc32c_generic",
    "crc32c_intel",
    "crct10dif_pclmul",
    "crc32_pclmul",
    "crc32_generic",
    "xxhash_generic",
    "sha256_generic",
    "blake2b_generic",
    "nls_utf8",
    "nls_ascii",
    "nls_cp437",
    "nls_iso8859_1",
    "erofs",
    "overlay",
    "loop",
    "fuse",
    "mq_deadline",
];

/// Kernel parameters against work at boot that no measurement needs, and that takes seconds of real
/// time: tests of ciphers, calibrating the HPET, a check of all page tables, 64 MiB of buffers for
/// devices that cannot reach all memory, and rewriting the code of locks for one processor.
const BOOT_PARAMETERS: [&str; 5] = [
    "cryptomgr.notests",
    "hpet=disable",
    "rodata=off",
    "swiotlb=noforce",
    "noreplace-smp",
];
/// What lets a kernel find the local APIC without ACPI.
const MP_TABLES: &str = "CONFIG_X86_MPPARSE";
/// For such a kernel: against interpreting the firmware's ACPI tables.
const WITHOUT_ACPI: &str = "acpi=off";
/// For another one: against checking the ACPI timer beside another clock.
const WITHOUT_ACPI_TIMER: &str = "pmtmr=0";

/// The modules of client and server of each network file system, by the protocol's name: the
/// client of NFS asks for its version by the module's name, which is no alias of a file system. SMB
/// asks for ciphers when it connects, and no module is loaded then.
const NETWORK: [(&str, &[&str]); 3] = [
    ("nfs", &["nfsv4", "nfsd"]),
    (
        "smb",
        &[
            "aes_generic",
            "md5",
            "hmac",
            "sha256_generic",
            "sha512_generic",
            "cmac",
            "ecb",
            "ctr",
            "ccm",
            "ghash_generic",
            "gcm",
            "cifs",
            "ksmbd",
        ],
    ),
    ("9p", &["9p", "9pnet_fd"]),
];

/// Builds the kernel of `request`, and points its name to it. If only the program is another,
/// kernel and initramfs stay.
///
/// # Errors
/// [`LabError`]; the cache is then unchanged except for the log.
pub(crate) fn build_pc(
    cache: &Cache,
    request: &BuildRequest,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(Progress),
) -> Result<Built, LabError> {
    cache.prepare()?;
    let own = tools::guest_program()?;
    let own = sha256_of(&own).map_err(LabError::io("read", &own))?;
    let is_of_own = |kernel: &Kernel| {
        let pc = kernel.facts.pc.as_ref();
        pc.is_some_and(|pc| pc.fslab_sha256 == own)
    };
    let there = |kernel: Kernel| Built {
        kernel,
        was_there: true,
    };
    let by_request = match &request.source {
        SourceRequest::DebianKernel(version) => Some(format!("debian:{version}")),
        SourceRequest::Debian => Some(DEBIAN_SOURCE.to_owned()),
        // Known after it was read.
        SourceRequest::Tree(_) | SourceRequest::Tarball(_) => None,
    };
    let find = |requested: &str| known(cache, request, requested);
    if let Some(kernel) = by_request.as_deref().and_then(find).filter(is_of_own) {
        return Ok(there(kernel));
    }
    let _lock = BuildLock::take(cache.folder())?;
    tools::demand_none(&missing_tools(&request.source))?;
    let log = cache.log(&request.name);
    let mut build_dir = BuildDir::open(&cache.building(), &log, stop, listener)?;
    let origin = match by_request {
        Some(_) => None,
        None => Some(Origin::find(&request.source, &mut build_dir)?),
    };
    let identity = origin.as_ref().map(|origin| origin.identity.clone());
    let requested = by_request.or(identity).unwrap_or_default();
    let known = find(&requested);
    if let Some(kernel) = known.clone().filter(is_of_own) {
        return Ok(there(kernel));
    }
    let finished = build_dir.make_folder("finished")?;
    let program = make_program(&finished, &mut build_dir)?;
    let mut facts = match known {
        Some(kernel) => copy_parts(&kernel, &finished)?,
        None => {
            let kernel = provide(request, origin, &mut build_dir)?;
            make_parts(&kernel, request, &finished, &mut build_dir)?
        }
    };
    if let Some(pc) = &mut facts.pc {
        pc.requested = requested;
        pc.fslab_sha256 = own;
        pc.fslab = env!("CARGO_PKG_VERSION").to_owned();
        pc.program_sha256 = program.sha256;
        pc.program_bytes = program.bytes;
    }
    facts.key = key(&facts);
    facts.built_unix_s = fslab_sys::unix_seconds();
    facts.build_seconds = build_dir.reporter.elapsed().as_secs();
    facts.write(&finished)?;
    let kernel = cache.publish(&finished, &facts.key, &request.name)?;
    let _ = fs::remove_file(log);
    Ok(Built {
        kernel,
        was_there: false,
    })
}

/// The kernel of this name and recipe, if it is the requested one.
fn known(cache: &Cache, request: &BuildRequest, requested: &str) -> Option<Kernel> {
    // A damaged kernel is built again.
    let kernel = cache.find(request.name.as_str()).ok()?;
    let is_requested = kernel
        .facts
        .pc
        .as_ref()
        .is_some_and(|pc| pc.requested == requested);
    let is_alike = is_requested && kernel.facts.network == request.network;
    (is_alike && !kernel.is_stale() && !request.force).then_some(kernel)
}

/// What this build needs and this machine lacks.
fn missing_tools(source: &SourceRequest) -> Vec<BuildTool> {
    let mut missing = tools::missing_tools();
    missing.extend(tools::missing_of(&TOOLS));
    let is_compiled = !matches!(source, SourceRequest::DebianKernel(_));
    if is_compiled && !Path::new(ELF_HEADER).exists() {
        missing.push(ELF_HEADERS);
    }
    missing
}

/// Fetches a distribution's kernel, or compiles the source.
fn provide(
    request: &BuildRequest,
    origin: Option<Origin>,
    build_dir: &mut BuildDir<'_>,
) -> Result<PcKernel, LabError> {
    if let SourceRequest::DebianKernel(version) = &request.source {
        return DebianKernel::find(version, build_dir)?.provide(build_dir);
    }
    let origin = match origin {
        Some(origin) => origin,
        None => Origin::find(&request.source, build_dir)?,
    };
    PcKernel::compile(&origin, request.jobs, build_dir)
}

/// Identifies the parts; the release and the packages are in the source.
fn key(facts: &KernelFacts) -> KernelKey {
    let mut fingerprint = driver::fingerprint(facts.source_kind);
    fingerprint.add(&facts.source);
    if let Some(pc) = &facts.pc {
        fingerprint.add(&pc.initramfs_sha256);
        fingerprint.add(&pc.program_sha256);
    }
    fingerprint.finish()
}

struct Program {
    sha256: String,
    bytes: u64,
}

/// Puts the program of the trials into `finished`, without symbols, padded to a power of two.
fn make_program(finished: &Path, build_dir: &mut BuildDir<'_>) -> Result<Program, LabError> {
    let to = finished.join(PROGRAM_FILE);
    let from = tools::guest_program()?;
    let own = build_dir.path("fslab-guest");
    fs::copy(from, &own).map_err(LabError::io("write", &own))?;
    let mut strip = build_dir.command("strip");
    strip.arg("--strip-all").arg("-o").arg(&to).arg(&own);
    build_dir.run("strip the program of the trials", strip)?;
    let failed = || LabError::io("write", &to);
    let bytes = to.metadata().map_err(failed())?.len();
    let file = File::options().write(true).open(&to).map_err(failed())?;
    file.set_len(padded_bytes(bytes)).map_err(failed())?;
    let sha256 = sha256_of(&to).map_err(LabError::io("read", &to))?;
    Ok(Program { sha256, bytes })
}

/// Copies what does not depend on the program, and gives its description.
fn copy_parts(kernel: &Kernel, finished: &Path) -> Result<KernelFacts, LabError> {
    for name in [BINARY, CONFIG, INITRAMFS] {
        let (from, to) = (kernel.binary.with_file_name(name), finished.join(name));
        fs::copy(&from, &to).map_err(LabError::io("write", &to))?;
    }
    Ok(kernel.facts.clone())
}

fn make_parts(
    kernel: &PcKernel,
    request: &BuildRequest,
    finished: &Path,
    build_dir: &mut BuildDir<'_>,
) -> Result<KernelFacts, LabError> {
    let driver = Driver::build(&kernel.headers, build_dir)?;
    build_dir.reporter.enter(BuildStage::Storing);
    let tree = find_modules(kernel, &request.modules, build_dir)?;
    let binary = finished.join(BINARY);
    boot_file::write(&kernel.kernel, &binary, build_dir)?;
    let config = finished.join(CONFIG);
    fs::copy(&kernel.config, &config).map_err(LabError::io("write", &config))?;
    let initramfs = finished.join(INITRAMFS);
    let contents = Contents::of(&tree, request);
    let text = fs::read_to_string(&config).map_err(LabError::io("read", &config))?;
    contents.write(&tree, &driver, &boot_parameters(&text), &initramfs)?;
    let compiler = crate::fragment::text_value(&text, "CONFIG_CC_VERSION_TEXT");
    let about = binary.metadata().map_err(LabError::io("find", &binary))?;
    Ok(KernelFacts {
        key: driver::recipe_digest(kernel.kind),
        recipe: driver::recipe_digest(kernel.kind),
        release: kernel.release.clone(),
        source_kind: kernel.kind,
        source: kernel.source.clone(),
        config_ignored: kernel.config_ignored.clone(),
        edits_ignored: Vec::new(),
        patches: kernel.patches.clone(),
        maintenance: kernel.maintenance.clone(),
        simdisk: true,
        lab_devices: true,
        flush_errors: false,
        network: request.network,
        compiler: compiler.unwrap_or("unknown").to_owned(),
        binary_bytes: about.len(),
        objects: build_dir.reporter.objects_done(),
        built_unix_s: 0,
        build_seconds: 0,
        pc: Some(PcFacts {
            requested: String::new(),
            initramfs_sha256: sha256_of(&initramfs).map_err(LabError::io("read", &initramfs))?,
            program_sha256: String::new(),
            program_bytes: 0,
            fslab_sha256: String::new(),
            fslab: String::new(),
            timer: driver.has_timer()?,
            snapshot: true,
            file_systems: contents.available(),
            packages: kernel.packages.clone(),
        }),
    })
}

/// Adds the user's modules, and lets depmod(8) find out what needs what.
fn find_modules(
    kernel: &PcKernel,
    own: &[PathBuf],
    build_dir: &mut BuildDir<'_>,
) -> Result<ModuleTree, LabError> {
    if !own.is_empty() {
        let folder = kernel.modules.join("updates");
        fs::create_dir_all(&folder).map_err(LabError::io("make", &folder))?;
        for module in own {
            let to = folder.join(module.file_name().unwrap_or_default());
            fs::copy(module, &to).map_err(LabError::io("write", &to))?;
            if !is_compressed(&to) {
                // make(1) leaves symbols for debuggers in it, ten times the size of the rest.
                let mut strip = build_dir.command("strip");
                strip.arg("--strip-debug").arg(&to);
                build_dir.run("strip a module", strip)?;
            }
        }
    }
    let mut depmod = build_dir.command("depmod");
    depmod.arg("-b").arg(&kernel.folder).arg(&kernel.release);
    build_dir.run("list the kernel's modules", depmod)?;
    ModuleTree::read(&kernel.modules)
}

/// What the initramfs has: lists of files in load order.
struct Contents {
    base: Vec<String>,
    /// By file system, protocol or layer; empty if it is built in.
    file_systems: BTreeMap<String, Vec<String>>,
}

impl Contents {
    fn of(tree: &ModuleTree, request: &BuildRequest) -> Self {
        let lists = request.file_systems.iter().filter_map(|fs_type| {
            let module = tree.of_file_system(fs_type)?;
            Some((fs_type.clone(), tree.load_order(module)))
        });
        let network = NETWORK
            .into_iter()
            .filter(|_| request.network)
            .map(|(protocol, modules)| {
                (
                    protocol.to_owned(),
                    tree.load_order(modules.iter().copied()),
                )
            });
        let layers = request.layers.iter().map(|(layer, modules)| {
            let modules = tree.load_order(modules.iter().copied());
            ((*layer).to_owned(), modules)
        });
        Self {
            base: tree.load_order(BASE),
            file_systems: lists.chain(network).chain(layers).collect(),
        }
    }

    fn available(&self) -> std::collections::BTreeSet<String> {
        self.file_systems.keys().cloned().collect()
    }

    fn write(
        &self,
        tree: &ModuleTree,
        driver: &Driver,
        parameters: &str,
        to: &Path,
    ) -> Result<(), LabError> {
        let failed = || LabError::io("write", to);
        let read = |path: &Path| fs::read(path).map_err(LabError::io("read", path));
        let file = File::create_new(to).map_err(failed())?;
        let mut out = Initramfs::new(BufWriter::new(file));
        for folder in ["dev", "lab", LISTS, FILES] {
            out.folder(folder).map_err(failed())?;
        }
        out.console().map_err(failed())?;
        out.file("init", 0o755, &read(&driver.init)?)
            .map_err(failed())?;
        let mut files: Vec<_> = self
            .file_systems
            .values()
            .flatten()
            .chain(&self.base)
            .collect();
        files.sort();
        files.dedup();
        for name in files {
            let bytes = load_module(&tree.path(name))?;
            out.file(&place_of(name)[1..], 0o644, &bytes)
                .map_err(failed())?;
        }
        out.file(&place_of("fslab")[1..], 0o644, &read(&driver.module)?)
            .map_err(failed())?;
        let mut base = self.base.clone();
        base.push("fslab".to_owned());
        let list = |name: &str| format!("{LISTS}/{name}");
        out.file(&list(BASE_LIST), 0o644, lines(&base).as_bytes())
            .map_err(failed())?;
        for (name, files) in &self.file_systems {
            out.file(&list(name), 0o644, lines(files).as_bytes())
                .map_err(failed())?;
        }
        out.file(PARAMETERS, 0o644, parameters.as_bytes())
            .map_err(failed())?;
        out.finish().map_err(failed())
    }
}

/// The kernel parameters of a lab whose kernel has the configuration `config`, a line each.
fn boot_parameters(config: &str) -> String {
    let has_mp_tables = crate::fragment::text_value(config, MP_TABLES) == Some("y");
    let of_acpi = match has_mp_tables {
        true => WITHOUT_ACPI,
        false => WITHOUT_ACPI_TIMER,
    };
    let all = BOOT_PARAMETERS.iter().chain([&of_acpi]);
    all.map(|it| format!("{it}\n")).collect()
}

/// Path of a module in the initramfs.
fn place_of(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = name.split(".ko").next().unwrap_or(name);
    format!("/{FILES}/{name}.ko")
}

fn lines(files: &[String]) -> String {
    files.iter().map(|file| place_of(file) + "\n").collect()
}

fn is_compressed(module: &Path) -> bool {
    module.extension().is_some_and(|end| end == "xz")
}

/// The bytes of a module: the guest's first process decompresses nothing, and its kernel verifies
/// no signature.
fn load_module(path: &Path) -> Result<Vec<u8>, LabError> {
    let mut module = read_module(path)?;
    module.truncate(signature_start(&module));
    Ok(module)
}

fn read_module(path: &Path) -> Result<Vec<u8>, LabError> {
    if !is_compressed(path) {
        return fs::read(path).map_err(LabError::io("read", path));
    }
    let output = std::process::Command::new("xz")
        .args(["--decompress", "--stdout"])
        .arg(path)
        .env_clear()
        .env("PATH", tools::search_path())
        .output()
        .map_err(LabError::io("start", Path::new("xz")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(LabError::bad_program(path, reason.trim()))
}

/// The line at the end of a signed module.
const LINE: &[u8] = b"~Module signature appended~\n";
/// Bytes of the description.
const DESCRIPTION: usize = 12;

/// Where the signature of `module` starts; its length if it has none.
fn signature_start(module: &[u8]) -> usize {
    start_if_signed(module).unwrap_or(module.len())
}

fn start_if_signed(module: &[u8]) -> Option<usize> {
    let described = module.strip_suffix(LINE)?;
    let (_, length) = described.split_last_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    described
        .len()
        .checked_sub(DESCRIPTION)?
        .checked_sub(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_finds_its_apic_by_acpi_alone_has_acpi() {
        let with = boot_parameters("CONFIG_X86_MPPARSE=y\n");
        assert!(with.lines().any(|it| it == WITHOUT_ACPI), "{with}");
        let without = boot_parameters("# CONFIG_X86_MPPARSE is not set\nCONFIG_ACPI=y\n");
        assert!(!without.contains("acpi"), "{without}");
        assert!(without.lines().any(|it| it == WITHOUT_ACPI_TIMER));
    }

    fn module(signature_length: u32) -> Vec<u8> {
        let description = [1, 0, 2, 0, 0, 0, 0, 0];
        [
            b"code" as &[u8],
            b"RSA!!",
            &description,
            &signature_length.to_be_bytes(),
            LINE,
        ]
        .concat()
    }

    #[test]
    fn a_signature_ends_a_module() {
        assert_eq!(signature_start(&module(5)), 4);
        assert_eq!(signature_start(&module(9)), 0);
    }

    #[test]
    fn what_has_no_signature_is_a_module_to_its_end() {
        for unsigned in [b"code" as &[u8], b"", LINE, &module(10), &module(u32::MAX)] {
            assert_eq!(signature_start(unsigned), unsigned.len());
        }
    }
}
