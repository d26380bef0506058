//! The programs that a build needs, and the requirements of guests.

use fslab_sys::os::PermissionsExt;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::Failure;
use schemars::JsonSchema;
use serde::Serialize;

/// A program and its Debian package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BuildTool {
    /// Its name.
    pub program: &'static str,
    /// The package.
    pub package: &'static str,
}

/// Programs that every build needs.
pub const BUILD_TOOLS: &[BuildTool] = &[
    tool("make", "make"),
    tool("gcc", "gcc"),
    tool("ld", "binutils"),
    tool("strip", "binutils"),
    tool("flex", "flex"),
    tool("bison", "bison"),
    tool("bc", "bc"),
    tool("patch", "patch"),
    tool("tar", "tar"),
    tool("xz", "xz-utils"),
];

/// Without it gcc cannot compile anything.
const HEADER: &str = "/usr/include/stdlib.h";
const HEADERS: BuildTool = tool("the C library's headers", "libc6-dev");

pub(crate) const fn tool(program: &'static str, package: &'static str) -> BuildTool {
    BuildTool { program, package }
}

/// The programs that a build needs and this machine lacks.
pub fn missing_tools() -> Vec<BuildTool> {
    let mut missing = missing_of(BUILD_TOOLS);
    if !Path::new(HEADER).exists() {
        missing.push(HEADERS);
    }
    missing
}

/// Those of `tools` that this machine lacks.
pub(crate) fn missing_of(tools: &[BuildTool]) -> Vec<BuildTool> {
    let path = search_path();
    let is_missing = |tool: &&BuildTool| locate(tool.program, &path).is_none();
    tools.iter().filter(is_missing).copied().collect()
}

/// `apt-get install` with the packages of `tools`, without duplicates.
pub fn install_hint(tools: &[BuildTool]) -> String {
    let mut packages: Vec<_> = tools.iter().map(|tool| tool.package).collect();
    packages.dedup();
    format!("apt-get install {}", packages.join(" "))
}

/// The failure if a build is to run without the programs in `missing`.
pub(crate) fn demand_none(missing: &[BuildTool]) -> Result<(), Failure> {
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = missing.iter().map(|tool| tool.program).collect();
    let text = format!("cannot build a kernel without {}", names.join(", "));
    Err(Failure::missing_tool(text).hint(install_hint(missing)))
}

/// The program that guests run.
pub fn guest_program() -> Result<PathBuf, Failure> {
    fslab_sys::guest_program().map_err(|error| {
        let failure = Failure::missing_tool("cannot find the program that guests run");
        failure.because(&error).hint(
            "if you copied fslab, copy fslab-guest to the same directory; a build from source has \
             it beside fslab, a release in lib/fslab",
        )
    })
}

/// Checks that a guest kernel can run on this machine.
pub fn runs_here() -> Result<(), String> {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    can_run(env::consts::ARCH, &scope.unwrap_or_default())
}

/// `ptrace_scope` is empty if the host's kernel does not restrict ptrace(2).
fn can_run(architecture: &str, ptrace_scope: &str) -> Result<(), String> {
    if architecture != "x86_64" {
        return Err(format!(
            "User-Mode Linux needs an x86-64 processor, but this one is {architecture}"
        ));
    }
    // Yama: 1 lets a process trace its children, as the guest does; 2 lets only root; 3 no process
    // until the next boot.
    match ptrace_scope.trim() {
        "3" => Err(
            "the host's kernel does not let processes trace others (yama/ptrace_scope is 3)".into(),
        ),
        "2" if !fslab_sys::is_superuser() => {
            Err("the host's kernel lets only root trace processes (yama/ptrace_scope is 2)".into())
        }
        _ => Ok(()),
    }
}

/// The user's PATH, which may have their own compiler, then the standard directories. Relative
/// directories are left out: a build has other working directories.
pub(crate) fn search_path() -> OsString {
    let own = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&own)
        .filter(|folder| folder.is_absolute())
        .chain(env::split_paths(fslab_sys::PLAIN_PATH));
    // No directory contains the separator: they come from a split at it.
    env::join_paths(folders).unwrap_or_else(|_| fslab_sys::PLAIN_PATH.into())
}

pub(crate) fn locate(program: &str, path: &OsString) -> Option<PathBuf> {
    let is_executable = |file: &PathBuf| {
        file.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(path)
        .map(|folder| folder.join(program))
        .find(is_executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_named_with_their_packages_each_once() {
        let tools = [
            tool("sh", "dash"),
            tool("no-such-program", "nothing"),
            tool("no-such-other", "nothing"),
        ];
        let missing = missing_of(&tools);
        assert_eq!(missing, tools[1..]);
        assert_eq!(install_hint(&missing), "apt-get install nothing");
    }

    #[test]
    fn a_guest_needs_an_x86_processor_and_children_that_may_be_traced() {
        assert_eq!(can_run("x86_64", ""), Ok(()));
        assert_eq!(can_run("x86_64", "1\n"), Ok(()));
        assert!(can_run("aarch64", "").is_err_and(|why| why.contains("aarch64")));
        assert!(can_run("x86_64", "3\n").is_err_and(|why| why.contains("let processes trace")));
        assert_eq!(can_run("x86_64", "2\n").is_ok(), fslab_sys::is_superuser());
    }
}
