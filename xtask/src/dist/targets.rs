//! The targets of a release, and why some are not made.

/// One target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// Its name in the names of files.
    pub(super) name: &'static str,
    pub(super) state: State,
}

/// Whether a target is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// It is.
    Made(Build),
    /// It is not, for this reason.
    NotYet(&'static str),
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
    /// Whether guests run on it: User-Mode Linux is for x86 alone.
    pub(super) has_guest: bool,
}

pub(super) const TARGETS: [Target; 6] = [
    Target {
        name: "x86_64-linux",
        state: State::Made(Build {
            triple: "x86_64-unknown-linux-gnu",
            debian: "amd64",
            tools: "",
            has_guest: true,
        }),
    },
    not_yet("aarch64-linux", "it is not built yet"),
    not_yet("x86_64-windows", PORTS),
    not_yet("x86_64-macos", PORTS),
    not_yet("aarch64-macos", PORTS),
    not_yet("x86_64-freebsd", PORTS),
];

const PORTS: &str = "fslab-sys has system calls of Linux alone";

const fn not_yet(name: &'static str, reason: &'static str) -> Target {
    Target {
        name,
        state: State::NotYet(reason),
    }
}
