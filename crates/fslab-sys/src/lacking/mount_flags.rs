//! Flags of mount(2), for the text of a catalogue that is the same everywhere.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// Flags by their numbers on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountFlags(u32);

macro_rules! flags {
    ($($name:ident = $bits:literal,)*) => {
        impl MountFlags {
            $(
                #[doc = concat!("`MS_", stringify!($name), "`.")]
                pub const $name: Self = Self($bits);
            )*
        }
    };
}

flags! {
    RDONLY = 1,
    NOSUID = 2,
    NODEV = 4,
    NOEXEC = 8,
    SYNCHRONOUS = 16,
    DIRSYNC = 128,
    NOATIME = 1024,
    NODIRATIME = 2048,
    SILENT = 32768,
    RELATIME = 0x20_0000,
    STRICTATIME = 0x100_0000,
    LAZYTIME = 0x200_0000,
}

impl MountFlags {
    /// None.
    pub const fn empty() -> Self {
        Self(0)
    }

    pub const fn from_bits_retain(bits: u32) -> Self {
        Self(bits)
    }

    /// Both.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Adds those of `other`.
    pub fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Removes those of `other`.
    pub fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    /// True if it has all of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for MountFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl BitOrAssign for MountFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.insert(other);
    }
}

impl BitAnd for MountFlags {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for MountFlags {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}
