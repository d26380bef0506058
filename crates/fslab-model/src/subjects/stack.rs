//! What lies between a file system and its disks: the layers of a stack, and the disks that a file
//! system itself spreads over.

use std::fmt;
use std::str::FromStr;

use super::subject_error::ParseSubjectError;

/// The most disks of a subject.
const DISKS_MAX: u32 = 16;
/// Between the name of an array and the number of its members: `raid5x4`.
const TIMES: char = 'x';

/// A kind of layer. Its entry in the catalogue has its commands and options.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum LayerKind {
    /// A device-mapper target that passes everything on.
    Linear,
    /// LUKS on dm-crypt.
    Luks,
    /// A logical volume of LVM.
    Lvm,
    /// A thin volume of LVM.
    Thin,
    /// Checksums of sectors, by dm-integrity.
    Integrity,
    /// An array of md: striped.
    Raid0,
    /// Mirrored.
    Raid1,
    /// With rotating parity.
    Raid5,
    /// With two rotating parities.
    Raid6,
    /// Striped mirrors.
    Raid10,
}

impl LayerKind {
    /// Every kind, in the order of the catalogue.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The fewest members of an array; `None` for a layer on one device.
    pub fn members_min(self) -> Option<u32> {
        match self {
            Self::Linear | Self::Luks | Self::Lvm | Self::Thin | Self::Integrity => None,
            Self::Raid0 | Self::Raid1 | Self::Raid10 => Some(2),
            Self::Raid5 => Some(3),
            Self::Raid6 => Some(4),
        }
    }
}

/// A layer of a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackLayer {
    /// What it is.
    pub kind: LayerKind,
    /// The devices that it lies on: 1 unless it is an array.
    pub members: u32,
    /// Its options: `key=value`, or a key.
    pub options: Vec<String>,
}

impl StackLayer {
    /// Its name with the number of its members, without options: `raid5x4`.
    pub fn word(&self) -> String {
        match self.kind.members_min() {
            None => self.kind.to_string(),
            Some(_) => format!("{}{TIMES}{}", self.kind, self.members),
        }
    }

    /// The layer in `text`, a part of the subject `subject`.
    fn parse(subject: &str, text: &str) -> Result<Self, ParseSubjectError> {
        let (word, options) = text.split_once(':').unwrap_or((text, ""));
        let (kind, members) = kind_of(word).ok_or_else(|| ParseSubjectError::Layer {
            subject: subject.to_owned(),
            layer: word.to_owned(),
            known: LayerKind::ALL
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        if text.ends_with(':') {
            return Err(ParseSubjectError::EmptyOption(subject.to_owned()));
        }
        let refused = |problem: String| ParseSubjectError::Members {
            subject: subject.to_owned(),
            problem,
        };
        let members = match (kind.members_min(), members) {
            (None, None) => 1,
            (None, Some(_)) => {
                return Err(refused(format!(
                    "{kind} lies on one device, without a number"
                )));
            }
            (Some(fewest), None) => {
                return Err(refused(format!(
                    "{kind} needs the number of its members, for example {kind}{TIMES}{fewest}"
                )));
            }
            (Some(fewest), Some(members)) if members < fewest => {
                return Err(refused(format!("{kind} needs at least {fewest} members")));
            }
            (Some(_), Some(members)) => members,
        };
        let options = options.split(',').filter(|it| !it.is_empty());
        Ok(Self {
            kind,
            members,
            options: options.map(|it| it.trim().to_owned()).collect(),
        })
    }
}

impl fmt::Display for StackLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())?;
        if !self.options.is_empty() {
            write!(f, ":{}", self.options.join(","))?;
        }
        Ok(())
    }
}

/// The kind that `word` names, and the number behind it.
fn kind_of(word: &str) -> Option<(LayerKind, Option<u32>)> {
    if let Ok(kind) = LayerKind::from_str(word) {
        return Some((kind, None));
    }
    let (name, members) = word.rsplit_once(TIMES)?;
    Some((LayerKind::from_str(name).ok()?, Some(members.parse().ok()?)))
}

/// The file system of a subject with its options, and the text of each layer below it. A slash
/// begins a layer only before the name of one: options may contain others.
pub(super) fn split_layers(text: &str) -> (&str, impl Iterator<Item = &str>) {
    let begins_layer = |at: &usize| {
        let word = text[at + 1..].split(['/', ':']).next().unwrap_or_default();
        kind_of(word).is_some()
    };
    let mut slashes = text.match_indices('/').map(|(at, _)| at);
    let begin = slashes.find(begins_layer);
    let (head, layers) = begin.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    (
        head,
        layers.into_iter().flat_map(|layers| layers.split('/')),
    )
}

/// The layers of a stack, the one below the file system first.
pub(super) fn parse_layers<'a>(
    subject: &str,
    layers: impl Iterator<Item = &'a str>,
) -> Result<Vec<StackLayer>, ParseSubjectError> {
    layers
        .map(|layer| StackLayer::parse(subject, layer))
        .collect()
}

/// The disks that a file system itself spreads over: `raid1x2` in `btrfs:raid1x2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DiskSpread {
    /// How data and metadata are spread, in the file system's words: `raid1`, `raidz1`,
    /// `replicas=2`; empty for its default.
    pub profile: String,
    /// How many devices it has.
    pub devices: u32,
}

impl DiskSpread {
    /// The spread in the first word of `part`, with the rest of the part.
    pub(super) fn split(part: &str) -> Option<(Self, &str)> {
        let (word, rest) = part.split_once(',').unwrap_or((part, ""));
        let (profile, devices) = word.trim().rsplit_once(TIMES)?;
        let is_number = !devices.is_empty() && devices.bytes().all(|it| it.is_ascii_digit());
        let words = profile.strip_prefix("replicas=").unwrap_or(profile);
        let is_profile = words.bytes().all(|it| it.is_ascii_alphanumeric());
        // The value of an option may be a hexadecimal number: 0x10.
        let devices = devices
            .parse()
            .ok()
            .filter(|_| is_number && is_profile && words != "0")?;
        let profile = profile.to_owned();
        Some((Self { profile, devices }, rest))
    }
}

impl fmt::Display for DiskSpread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{TIMES}{}", self.profile, self.devices)
    }
}

/// The disks of a subject: the product of the members of all layers and of the devices of the file
/// system; `None` beyond any number.
pub(super) fn disks_of(spread: Option<&DiskSpread>, layers: &[StackLayer]) -> Option<u32> {
    let members = layers.iter().map(|layer| layer.members);
    let mut factors = members.chain(spread.map(|spread| spread.devices));
    factors.try_fold(1, u32::checked_mul)
}

/// Refuses as many disks as no subject has.
pub(super) fn ensure_disks(subject: &str, disks: Option<u32>) -> Result<(), ParseSubjectError> {
    let refused = |problem: String| ParseSubjectError::Members {
        subject: subject.to_owned(),
        problem,
    };
    match disks {
        Some(0) => Err(refused("a file system has at least one disk".to_owned())),
        Some(1..=DISKS_MAX) => Ok(()),
        _ => Err(refused(format!("a subject has at most {DISKS_MAX} disks"))),
    }
}
