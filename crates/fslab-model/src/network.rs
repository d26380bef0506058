//! A protocol over which a guest serves a file system to itself.

use std::fmt;

use crate::ParseSubjectError;

/// A protocol of network file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// NFS, version 4.
    Nfs,
    /// SMB, version 3.1.1.
    Smb,
    /// 9P, in the variant of Linux: 9P2000.L.
    NineP,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: [Self; 3] = [Self::Nfs, Self::Smb, Self::NineP];

    /// The word before the file system that it serves: `nfs` in `nfs:ext4`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nfs => "nfs",
            Self::Smb => "smb",
            Self::NineP => "9p",
        }
    }

    /// The protocol of that word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a subject is served and mounted again: the protocol, and the options of either side.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    /// The protocol.
    pub protocol: Protocol,
    /// Mount options of the client, one word each.
    pub client: Vec<String>,
    /// Options of the export, one word each.
    pub export: Vec<String>,
}

impl Network {
    /// A protocol without options.
    #[must_use]
    pub fn plain(protocol: Protocol) -> Self {
        Self {
            protocol,
            client: Vec::new(),
            export: Vec::new(),
        }
    }

    /// The protocol before the first colon of a subject's text, with the text behind it.
    pub(crate) fn split(text: &str) -> Result<Option<(Protocol, &str)>, ParseSubjectError> {
        let Some((word, rest)) = text.split_once(':') else {
            return Ok(None);
        };
        match Protocol::of(word) {
            Some(_) if rest.trim().is_empty() => {
                Err(ParseSubjectError::NoFileSystem(text.to_owned()))
            }
            protocol => Ok(protocol.map(|protocol| (protocol, rest))),
        }
    }
}
