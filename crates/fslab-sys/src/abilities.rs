//! What each platform can do: one table, which `fslab platform` prints and the documents repeat.

/// Something that not every platform has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// The venue `dir`: data and metadata workloads in a directory.
    Directories,
    /// Reads and writes without the page cache.
    Unbuffered,
    /// Writes that return when the device has them.
    WriteThrough,
    /// A queue of operations in flight.
    Queue,
    /// Memory mappings and streams of the C library.
    MappingsAndStreams,
    /// A sync that reaches the medium.
    FullSync,
    /// A sync of the data alone.
    DataSync,
    /// A sync that orders writes and leaves them in the drive's cache.
    Barrier,
    /// A sync that leaves data in the drive's cache, in any order.
    DriveSync,
    /// Evicting a file's pages, and seeing that they are gone.
    Eviction,
    /// Workers that are processes.
    Forks,
    /// Numbers, links, owners and modes of files.
    Inodes,
    /// Extended attributes.
    Attributes,
    /// Programs as workloads, with their children.
    Programs,
    /// Traces that are replayed call by call.
    Replay,
    /// Phases with another root, which no link leaves.
    Confinement,
    /// Counters of the device, the kernel's log, other processes.
    Disturbances,
    /// Formatting, mounting, loop devices, block devices.
    Volumes,
    /// Guests, virtual time, labs.
    Guests,
    /// Time limits for calls that hang in the kernel.
    HangLimits,
}

/// A platform that fslab is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    Linux,
    /// Windows 10 and later.
    Windows,
    /// macOS.
    MacOs,
    /// FreeBSD.
    FreeBsd,
}

/// A row of the table: how each platform does it, or why it does not.
#[derive(Clone, Copy, Debug)]
pub struct AbilityRow {
    /// What it is.
    pub ability: Ability,
    pub name: &'static str,
    on: [Result<&'static str, &'static str>; 4],
}

const fn row(
    ability: Ability,
    name: &'static str,
    on: [Result<&'static str, &'static str>; 4],
) -> AbilityRow {
    AbilityRow { ability, name, on }
}

/// Linux, Windows, macOS, FreeBSD: `Ok` with the way, `Err` with the reason.
const TABLE: [AbilityRow; 20] = [
    row(
        Ability::Directories,
        "venue dir",
        [Ok("yes"), Ok("yes"), Ok("yes"), Ok("yes")],
    ),
    row(
        Ability::Unbuffered,
        "unbuffered",
        [
            Ok("O_DIRECT"),
            Ok("FILE_FLAG_NO_BUFFERING"),
            Ok("F_NOCACHE"),
            Ok("O_DIRECT"),
        ],
    ),
    row(
        Ability::WriteThrough,
        "write-through",
        [
            Ok("O_DSYNC, O_SYNC"),
            Ok("FILE_FLAG_WRITE_THROUGH, for O_DSYNC"),
            Ok("O_DSYNC, O_SYNC"),
            Ok("O_DSYNC, O_SYNC"),
        ],
    ),
    row(
        Ability::Queue,
        "queueing engine",
        [
            Ok("io_uring"),
            Ok("overlapped I/O with a completion port"),
            Err("io_uring exists only on Linux"),
            Err("io_uring exists only on Linux"),
        ],
    ),
    row(
        Ability::MappingsAndStreams,
        "engines mmap, stdio",
        [Ok("yes"), Ok("yes"), Ok("yes"), Ok("yes")],
    ),
    row(
        Ability::FullSync,
        "fsync",
        [
            Ok("fsync: full"),
            Ok("FlushFileBuffers: full"),
            Ok("F_FULLFSYNC: full"),
            Ok("fsync: full"),
        ],
    ),
    row(
        Ability::DataSync,
        "fdatasync",
        [
            Ok("fdatasync"),
            Ok("FlushFileBuffers: full"),
            Ok("F_FULLFSYNC: full"),
            Ok("fdatasync"),
        ],
    ),
    row(
        Ability::Barrier,
        "barrier",
        [
            Err("no call orders writes in the drive's cache"),
            Err("no call orders writes in the drive's cache"),
            Ok("F_BARRIERFSYNC: order only"),
            Err("no call orders writes in the drive's cache"),
        ],
    ),
    row(
        Ability::DriveSync,
        "sync to the drive",
        [
            Err("fsync reaches the medium"),
            Err("FlushFileBuffers reaches the medium"),
            Ok("fsync: up to the drive's cache"),
            Err("fsync reaches the medium"),
        ],
    ),
    row(
        Ability::Eviction,
        "cold reads by eviction",
        [
            Ok("posix_fadvise, seen by mincore"),
            Err("what is cached is not known; unbuffered reads are cold"),
            Err("what is cached is not dropped by file; unbuffered reads are cold"),
            Err("what is cached is not examined; unbuffered reads are cold"),
        ],
    ),
    row(
        Ability::Forks,
        "workers as processes",
        [
            Ok("fork"),
            Err("no fork"),
            Err("tested only on Linux"),
            Err("tested only on Linux"),
        ],
    ),
    row(
        Ability::Inodes,
        "conformance, survey, probes",
        [
            Ok("yes"),
            Err("files have no inodes, owners and modes"),
            Err("tested only on Linux"),
            Err("tested only on Linux"),
        ],
    ),
    row(
        Ability::Attributes,
        "setxattr, getxattr",
        [
            Ok("user attributes"),
            Err("no extended attributes"),
            Ok("setxattr"),
            Ok("extattr, of the namespace user"),
        ],
    ),
    row(
        Ability::Programs,
        "programs",
        [
            Ok("process groups, whose orphans are reaped"),
            Ok("job objects"),
            Ok("process groups, whose orphans are not counted"),
            Ok("process groups, whose orphans are reaped"),
        ],
    ),
    row(
        Ability::Replay,
        "replay",
        [
            Ok("yes"),
            Err("traces consist of Linux system calls"),
            Err("traces consist of Linux system calls"),
            Err("traces consist of Linux system calls"),
        ],
    ),
    row(
        Ability::Confinement,
        "a separate root for phases",
        [
            Ok("chroot of a thread"),
            Err("threads have no root"),
            Err("all threads have one root"),
            Err("all threads have one root"),
        ],
    ),
    row(
        Ability::Disturbances,
        "device counters, kernel log",
        [
            Ok("sysfs, /dev/kmsg, /proc"),
            Err("no sysfs, /dev/kmsg and /proc"),
            Err("no sysfs, /dev/kmsg and /proc"),
            Err("no sysfs, /dev/kmsg and /proc"),
        ],
    ),
    row(
        Ability::Volumes,
        "venues loop, block; mkfs",
        [
            Ok("yes"),
            Err("loop devices and mount(2) exist only on Linux"),
            Err("loop devices and mount(2) exist only on Linux"),
            Err("loop devices and mount(2) exist only on Linux"),
        ],
    ),
    row(
        Ability::Guests,
        "venues guest, sim; labs",
        [
            Ok("User-Mode Linux, QEMU"),
            Err("the guest kernel is a Linux program"),
            Err("the guest kernel is a Linux program"),
            Err("the guest kernel is a Linux program"),
        ],
    ),
    row(
        Ability::HangLimits,
        "limits for hanging calls",
        [
            Ok("a process that is abandoned"),
            Err("no fork: a call that hangs is waited for"),
            Err("a call that hangs is waited for"),
            Err("a call that hangs is waited for"),
        ],
    ),
];

impl Platform {
    /// All, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Windows, Self::MacOs, Self::FreeBsd];

    /// The one that this program is built for.
    pub const fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(target_os = "freebsd") {
            Self::FreeBsd
        } else {
            Self::Linux
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Windows => "Windows",
            Self::MacOs => "macOS",
            Self::FreeBsd => "FreeBSD",
        }
    }
}

impl AbilityRow {
    /// How `platform` does it.
    pub const fn on(&self, platform: Platform) -> Result<&'static str, &'static str> {
        self.on[platform as usize]
    }
}

/// The table.
pub const fn abilities() -> &'static [AbilityRow] {
    &TABLE
}

/// The clock that measures.
pub const CLOCK_NAME: &str = if cfg!(windows) {
    "QueryPerformanceCounter"
} else {
    "CLOCK_MONOTONIC"
};

/// Whether the platform counts a thread's context switches.
pub const COUNTS_SWITCHES: bool = cfg!(target_os = "linux");

/// The queueing engine's name.
pub const QUEUE_ENGINE: &str = if cfg!(windows) { "iocp" } else { "uring" };

/// Whether the queueing engine registers buffers and files by default.
pub const QUEUE_REGISTERS: bool = cfg!(target_os = "linux");

/// What a record says of the platform: its name, and which calls stand for the states of caches and
/// the strengths of a sync. Empty on Linux, whose words those are.
pub fn platform_facts() -> Vec<(String, String)> {
    let platform = Platform::here();
    if platform == Platform::Linux {
        return Vec::new();
    }
    let calls = [
        Ability::Unbuffered,
        Ability::WriteThrough,
        Ability::FullSync,
        Ability::DataSync,
        Ability::Barrier,
        Ability::DriveSync,
    ];
    let rows = TABLE.iter().filter(|row| calls.contains(&row.ability));
    let mut facts: Vec<_> = rows
        .filter_map(|row| {
            Some((
                format!("calls.{}", row.name),
                row.on(platform).ok()?.to_owned(),
            ))
        })
        .collect();
    facts.push(("platform".to_owned(), platform.name().to_owned()));
    facts
}

impl Ability {
    /// Refuses what this platform lacks.
    pub fn demand(self) -> Result<(), String> {
        let row = TABLE.iter().find(|row| row.ability == self);
        let Some((row, Err(reason))) = row.map(|row| (row, row.on(Platform::here()))) else {
            return Ok(());
        };
        let has = |platform: &Platform| row.on(*platform).is_ok();
        let others = Platform::ALL.iter().filter(|it| has(it));
        let others: Vec<_> = others.map(|platform| platform.name()).collect();
        let here = Platform::here().name();
        let others = others.join(", ");
        Err(format!("needs {others}: {} ({here}: {reason})", row.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_has_one_row_and_linux_has_all_but_weak_syncs() {
        for (place, row) in TABLE.iter().enumerate() {
            let is_same = |other: &&AbilityRow| other.ability == row.ability;
            assert_eq!(TABLE.iter().filter(is_same).count(), 1, "{}", row.name);
            assert_eq!(row.ability as usize, place, "{}", row.name);
            let is_weak = [Ability::Barrier, Ability::DriveSync].contains(&row.ability);
            assert_eq!(row.on(Platform::Linux).is_err(), is_weak, "{}", row.name);
            assert!(Platform::ALL.iter().any(|it| row.on(*it).is_ok()));
        }
    }

    #[test]
    fn a_platform_refuses_what_its_row_lacks() {
        for row in &TABLE {
            let refused = row.ability.demand();
            assert_eq!(refused.is_ok(), row.on(Platform::here()).is_ok());
        }
    }
}
