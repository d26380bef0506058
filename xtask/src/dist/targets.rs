//! The targets of a release, and what each needs on this machine.

use std::path::Path;
use std::process::Command;

use super::port::Port;
use crate::program::text;

#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// Its name in the names of files.
    pub(super) name: &'static str,
    pub(super) state: State,
}

/// How a target is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// It is.
    Made(Build),
    /// It is, with another compiler: for a system that is not Linux.
    Ported(Port),
}

/// How a target is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build {
    /// The compiler's name of it.
    pub(super) triple: &'static str,
    /// Debian's name of the architecture.
    pub(super) debian: &'static str,
    /// Begin of the names of its compiler, linker and binutils; empty for the machine's own.
    pub(super) tools: &'static str,
    /// What runs its binary on this machine, to write the manual; `None` if the machine does.
    pub(super) emulator: Option<&'static str>,
    /// Whether guests run on it: User-Mode Linux is for x86 alone.
    pub(super) has_guest: bool,
}

impl Build {
    /// The command that starts the target's `binary` on this machine.
    pub(super) fn start(&self, binary: &Path) -> Command {
        match self.emulator {
            None => Command::new(binary),
            Some(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(binary);
                command
            }
        }
    }

    /// Refuses a target for which this machine lacks a program or Rust's standard library, before
    /// anything is built.
    pub(super) fn ensure_possible(&self, name: &str) -> Result<(), String> {
        let tools = ["gcc", "objcopy", "readelf"].map(|tool| format!("{}{tool}", self.tools));
        let emulator = self.emulator.map(str::to_owned);
        for program in tools.into_iter().chain(emulator) {
            let mut version = Command::new(&program);
            text(version.arg("--version")).map_err(|error| {
                format!("{name} needs {program}: {error}; scripts/setup dist installs it")
            })?;
        }
        let mut ask = Command::new("rustc");
        let libraries = text(ask.args(["--print", "target-libdir", "--target", self.triple]))?;
        if Path::new(&libraries).exists() {
            return Ok(());
        }
        Err(format!(
            "{name} needs Rust's standard library for {triple}, and {libraries} does not exist; \
             rustup target add {triple}",
            triple = self.triple
        ))
    }
}

pub(super) const TARGETS: [Target; 6] = [
    Target {
        name: "x86_64-linux",
        state: State::Made(Build {
            triple: "x86_64-unknown-linux-gnu",
            debian: "amd64",
            tools: "",
            emulator: None,
            has_guest: true,
        }),
    },
    Target {
        name: "aarch64-linux",
        state: State::Made(Build {
            triple: "aarch64-unknown-linux-gnu",
            debian: "arm64",
            tools: "aarch64-linux-gnu-",
            emulator: Some("qemu-aarch64"),
            has_guest: false,
        }),
    },
    port("x86_64-windows", "x86_64-pc-windows-gnu", true),
    port("x86_64-macos", "x86_64-apple-darwin", false),
    port("aarch64-macos", "aarch64-apple-darwin", false),
    port("x86_64-freebsd", "x86_64-unknown-freebsd", false),
];

const fn port(name: &'static str, triple: &'static str, is_windows: bool) -> Target {
    Target {
        name,
        state: State::Ported(Port { triple, is_windows }),
    }
}
