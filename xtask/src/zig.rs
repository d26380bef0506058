//! Zig as C compiler and linker for macOS and FreeBSD: it has what their systems declare, but for
//! some libraries, for which stubs are written.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries of FreeBSD that a crate names, with the names that the system finds them by. fslab
/// uses nothing of them, so that the linker leaves them out.
const FREEBSD_LIBRARIES: [(&str, &str); 7] = [
    ("devstat", "libdevstat.so.7"),
    ("execinfo", "libexecinfo.so.1"),
    ("kvm", "libkvm.so.7"),
    ("memstat", "libmemstat.so.3"),
    ("procstat", "libprocstat.so.1"),
    ("rt", "librt.so.1"),
    ("util", "libutil.so.9"),
];

/// The directory of macOS' frameworks.
const MACOS_FRAMEWORKS: &str = "Frameworks";

/// A library of macOS that a crate names, and what is used of it.
struct MacLibrary {
    /// Its stub, in the directory of libraries.
    stub: &'static str,
    install_name: &'static str,
    current_version: u32,
    compatibility_version: u32,
    symbols: &'static [&'static str],
}

const MACOS_LIBRARIES: [MacLibrary; 2] = [
    MacLibrary {
        stub: "libiconv.tbd",
        install_name: "/usr/lib/libiconv.2.dylib",
        current_version: 7,
        compatibility_version: 7,
        symbols: &["_iconv", "_iconv_close", "_iconv_open"],
    },
    // For the time zone.
    MacLibrary {
        stub: "Frameworks/CoreFoundation.framework/CoreFoundation.tbd",
        install_name: "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/\
                       CoreFoundation",
        current_version: 1775,
        compatibility_version: 150,
        symbols: &[
            "_CFRelease",
            "_CFStringGetBytes",
            "_CFStringGetCStringPtr",
            "_CFStringGetLength",
            "_CFTimeZoneCopySystem",
            "_CFTimeZoneGetName",
            "_CFTimeZoneResetSystem",
        ],
    },
];

impl MacLibrary {
    /// The stub, in the format of the system's own.
    fn text(&self) -> String {
        let Self {
            install_name,
            current_version,
            compatibility_version,
            ..
        } = self;
        let symbols = self.symbols.join(", ");
        format!(
            "--- !tapi-tbd\n\
             tbd-version: 4\n\
             targets: [ x86_64-macos, arm64-macos ]\n\
             install-name: '{install_name}'\n\
             current-version: {current_version}\n\
             compatibility-version: {compatibility_version}\n\
             exports:\n  \
               - targets: [ x86_64-macos, arm64-macos ]\n    \
                 symbols: [ {symbols} ]\n\
             ...\n"
        )
    }
}

/// The programs of a platform.
pub(crate) struct Tools {
    /// The C compiler, which also links.
    pub(crate) compiler: PathBuf,
    pub(crate) archiver: PathBuf,
    /// What is given to programs that ask for a system's files.
    pub(crate) libraries: PathBuf,
}

/// The command of zig: ZIG, that of `scripts/setup cross`, or that of the `python3` in PATH.
pub(crate) fn command(root: &Path) -> String {
    if let Ok(zig) = std::env::var("ZIG") {
        return zig;
    }
    let installed = root.join("target/zig/bin/python");
    let python = match installed.exists() {
        true => format!("'{}'", installed.display()),
        false => "python3".to_owned(),
    };
    format!("{python} -m ziglang")
}

/// What of zig is linked into a program.
pub(crate) struct Runtime {
    pub(crate) version: String,
    /// The licences of its parts, with their names.
    pub(crate) licences: Vec<(&'static str, String)>,
}

/// Version and licences of the libraries that zig links into a program.
pub(crate) fn runtime(root: &Path) -> Result<Runtime, String> {
    let mut ask = Command::new("sh");
    ask.arg("-c").arg(format!("{} env", command(root)));
    let asked = ask.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&asked.stdout).into_owned();
    let value = |key: &str| {
        let begin = format!(".{key} = \"");
        let line = text
            .lines()
            .find_map(|line| line.trim().strip_prefix(&begin));
        line.and_then(|line| line.split('"').next().map(str::to_owned))
            .ok_or_else(|| format!("`zig env` does not report its {key}"))
    };
    let program = PathBuf::from(value("zig_exe")?);
    let folder = program.parent().unwrap_or(root);
    let licence = |path: &str| {
        let path = folder.join(path);
        std::fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    Ok(Runtime {
        version: value("version")?,
        licences: vec![
            ("compiler_rt of zig", licence("LICENSE")?),
            ("libunwind of LLVM", licence("lib/libunwind/LICENSE.TXT")?),
        ],
    })
}

/// Writes the programs for `platform`, by zig's name of it, to `folder`.
pub(crate) fn tools(root: &Path, folder: &Path, platform: &str) -> Result<Tools, String> {
    let zig = command(root);
    let tools = Tools {
        compiler: folder.join(format!("cc-{platform}")),
        archiver: folder.join(format!("ar-{platform}")),
        libraries: folder.join(format!("libraries-{platform}")),
    };
    std::fs::create_dir_all(&tools.libraries)
        .map_err(|error| format!("cannot make {}: {error}", tools.libraries.display()))?;
    let is_macos = !platform.ends_with("freebsd");
    let frameworks = match is_macos {
        true => format!(" -F'{}'", tools.libraries.join(MACOS_FRAMEWORKS).display()),
        false => String::new(),
    };
    // Others name the platform by Rust's words, which zig does not know, and a directory of the
    // system's files, of which zig has its own.
    let script = format!(
        "#!/bin/sh\n\
         left=$#\n\
         while [ $left -gt 0 ]; do\n    \
             word=$1; shift; left=$((left - 1))\n    \
             case \"$word\" in\n    \
             --target=* | -arch=*) ;;\n    \
             -arch | -isysroot | --sysroot) shift; left=$((left - 1)) ;;\n    \
             *) set -- \"$@\" \"$word\" ;;\n    \
             esac\n\
         done\n\
         exec {zig} cc -target {platform} -L'{libraries}'{frameworks} \"$@\"\n",
        libraries = tools.libraries.display()
    );
    write_program(&tools.compiler, &script)?;
    let script = format!("#!/bin/sh\nexec {zig} ar \"$@\"\n");
    write_program(&tools.archiver, &script)?;
    match is_macos {
        true => write_macos_stubs(&tools)?,
        false => write_freebsd_stubs(&tools)?,
    }
    Ok(tools)
}

fn write_macos_stubs(tools: &Tools) -> Result<(), String> {
    for library in &MACOS_LIBRARIES {
        let stub = tools.libraries.join(library.stub);
        let folder = stub.parent().unwrap_or(&tools.libraries);
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        write(&stub, &library.text())?;
    }
    Ok(())
}

fn write_freebsd_stubs(tools: &Tools) -> Result<(), String> {
    let nothing = tools.libraries.join("nothing.c");
    write(&nothing, "\n")?;
    for (library, name) in FREEBSD_LIBRARIES {
        let to = tools.libraries.join(format!("lib{library}.so"));
        let mut link = Command::new(&tools.compiler);
        link.arg("-shared").arg(format!("-Wl,-soname,{name}"));
        let ended = link.arg("-o").args([&to, &nothing]).status();
        if !ended.is_ok_and(|it| it.success()) {
            return Err(format!("zig cannot link {}", to.display()));
        }
    }
    Ok(())
}

fn write(to: &Path, text: &str) -> Result<(), String> {
    std::fs::write(to, text).map_err(|error| format!("cannot write {}: {error}", to.display()))
}

fn write_program(to: &Path, script: &str) -> Result<(), String> {
    write(to, script)?;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("cannot write {}: {error}", to.display()))
}
