//! A protocol over which a guest serves a file system to itself.

use crate::ParseSubjectError;

/// A protocol of network file systems.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::IntoStaticStr,
    strum::VariantArray,
    strum::Display,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Protocol {
    /// NFS, version 4.
    Nfs,
    /// SMB, version 3.1.1.
    Smb,
    /// 9P, in the variant of Linux: 9P2000.L.
    #[strum(serialize = "9p")]
    NineP,
}

impl Protocol {
    /// All of them.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The word before the file system that it serves: `nfs` in `nfs:ext4`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The protocol of that word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == word)
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
