//! One fault of a disk, and its form as text.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What accesses a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    Read,
    Write,
    /// A flush of the disk's cache.
    Flush,
    /// A discard, which does not fail.
    Discard,
}

/// What goes wrong.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DiskFaultKind {
    /// A read ends with an error.
    ReadError,
    /// A read gives inverted bits, without an error.
    ReadCorruption,
    /// A write ends with an error, and nothing of it is written.
    WriteError,
    /// A write stores inverted bits.
    WriteCorruption,
    /// A write succeeds, and nothing is written.
    LostWrite,
    /// A write succeeds, and is written elsewhere.
    MisdirectedWrite,
    /// A write succeeds, and only its first sectors are written.
    ShornWrite,
    /// A flush ends with an error. What the disk has stored stays.
    FlushError,
}

impl DiskFaultKind {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What it happens to.
    pub fn access(self) -> AccessKind {
        match self {
            Self::ReadError | Self::ReadCorruption => AccessKind::Read,
            Self::FlushError => AccessKind::Flush,
            _ => AccessKind::Write,
        }
    }

    /// Its number in a plan.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::ReadError => 1,
            Self::WriteError => 2,
            Self::ReadCorruption => 3,
            Self::WriteCorruption => 4,
            Self::LostWrite => 5,
            Self::MisdirectedWrite => 6,
            Self::ShornWrite => 7,
            Self::FlushError => 8,
        }
    }
}

/// A fault of a disk: which accesses fail, and how.
///
/// As text: `KIND@SECTOR+SECTORS#AFTER`, with `/ARGUMENT` where the kind has one, and `!` at the
/// end if all further accesses fail, too. A flush error is `flush-error#AFTER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DiskFault {
    /// What goes wrong.
    pub kind: DiskFaultKind,
    /// First sector; 0 for flushes.
    pub sector: u64,
    /// Number of sectors; 0 for flushes.
    pub sectors: u64,
    /// Accesses before the one that fails.
    pub after: u64,
    /// True if all further accesses fail, too.
    pub is_permanent: bool,
    /// Sectors: how far a misdirected write goes, how many a shorn one keeps.
    pub argument: i64,
}

/// The text of no fault.
#[derive(Debug, thiserror::Error)]
#[error("invalid disk fault '{text}', expected KIND@SECTOR+SECTORS#AFTER[/ARGUMENT][!]")]
pub struct ParseFaultError {
    text: String,
}

impl DiskFaultKind {
    fn has_argument(self) -> bool {
        matches!(self, Self::MisdirectedWrite | Self::ShornWrite)
    }
}

impl FromStr for DiskFaultKind {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let found = Self::ALL.iter().copied().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| ParseFaultError {
            text: text.to_owned(),
        })
    }
}

impl Display for DiskFault {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        write!(out, "{}", self.kind.as_str())?;
        if self.kind != DiskFaultKind::FlushError {
            write!(out, "@{}+{}", self.sector, self.sectors)?;
        }
        write!(out, "#{}", self.after)?;
        if self.kind.has_argument() {
            write!(out, "/{}", self.argument)?;
        }
        write!(out, "{}", if self.is_permanent { "!" } else { "" })
    }
}

impl FromStr for DiskFault {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        parse(text).ok_or_else(|| ParseFaultError {
            text: text.to_owned(),
        })
    }
}

fn parse(text: &str) -> Option<DiskFault> {
    let (text, is_permanent) = match text.strip_suffix('!') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (place, rest) = text.split_once('#')?;
    let (after, argument) = match rest.split_once('/') {
        Some((after, argument)) => (after, Some(argument.parse().ok()?)),
        None => (rest, None),
    };
    let (kind, sectors) = match place.split_once('@') {
        Some((kind, range)) => (kind, Some(range.split_once('+')?)),
        None => (place, None),
    };
    let kind: DiskFaultKind = kind.parse().ok()?;
    if sectors.is_none() != (kind == DiskFaultKind::FlushError)
        || argument.is_some() != kind.has_argument()
    {
        return None;
    }
    let (sector, sectors) = sectors.unwrap_or(("0", "0"));
    Some(DiskFault {
        kind,
        sector: sector.parse().ok()?,
        sectors: sectors.parse().ok()?,
        after: after.parse().ok()?,
        is_permanent,
        argument: argument.unwrap_or(0),
    })
}

impl DiskFault {
    /// Checks that it is within a disk of `sectors`, a misdirected write at both of its places.
    pub fn ensure_within(&self, sectors: u64) -> Result<(), String> {
        if self.kind == DiskFaultKind::FlushError {
            return Ok(());
        }
        let end = self.sector.checked_add(self.sectors);
        let is_inside = self.sectors > 0 && end.is_some_and(|end| end <= sectors);
        let shift = match self.kind {
            DiskFaultKind::MisdirectedWrite => self.argument,
            _ => 0,
        };
        let begins = self.sector.checked_add_signed(shift);
        let ends = end.and_then(|end| end.checked_add_signed(shift));
        let goes_inside = begins.is_some() && ends.is_some_and(|end| end <= sectors);
        let is_kept = self.kind != DiskFaultKind::ShornWrite || self.argument >= 0;
        match is_inside && goes_inside && is_kept {
            true => Ok(()),
            false => Err(format!("{self} is not within the disk's {sectors} sectors")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_written() {
        for text in [
            "read-error@8+8#0",
            "write-error@2048+8#3!",
            "misdirected-write@16+8#0/-8",
            "shorn-write@16+8#1/1!",
            "flush-error#2",
        ] {
            let fault: DiskFault = text.parse().expect("a fault");
            assert_eq!(fault.to_string(), text);
            assert_eq!(fault.ensure_within(4096), Ok(()));
        }
    }

    #[test]
    fn what_is_no_fault_or_beyond_the_disk_is_refused() {
        for text in [
            "",
            "read-error",
            "read-error#0",
            "read-error@8#0",
            "read-error@8+8#0/1",
            "shorn-write@8+8#0",
            "flush-error@8+8#0",
            "burning@8+8#0",
        ] {
            assert!(text.parse::<DiskFault>().is_err(), "{text}");
        }
        for text in [
            "read-error@96+8#0",
            "read-error@18446744073709551615+8#0",
            "read-error@8+0#0",
            "misdirected-write@0+8#0/-8",
            "misdirected-write@80+8#0/99",
            "shorn-write@8+8#0/-1",
        ] {
            let fault: DiskFault = text.parse().expect("a fault");
            assert!(fault.ensure_within(100).is_err(), "{text}");
        }
    }
}
