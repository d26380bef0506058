//! The trait of formatters, and their common part: size limits, option checks, old signatures.

use fslab_model::{Bytes, Failure};

use crate::Volume;

/// Cleared at both ends, where other file systems have their signatures.
const SIGNATURES_BYTES: u64 = 1 << 20;

/// The user's options, and the inputs that would otherwise differ from run to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// The volume's name; `None` is the format's default.
    pub label: Option<String>,
    /// Block size in bytes (in HFS and HFS+: the allocation block); chosen by size if `None`.
    pub block_bytes: Option<u32>,
    /// The source of the UUID, serial number or other identifier of this volume.
    pub identity: [u8; 16],
    /// Creation time in seconds since 1970.
    pub created_unix_s: u64,
}

/// A formatter of one file system.
pub trait Formatter: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// The file system's name in prose.
    fn title(&self) -> &'static str;
    /// The block sizes supported, in ascending order; empty if there is no choice.
    fn block_sizes(&self) -> &'static [u32];
    /// The rule for labels, as a fragment: `1 to 27 characters, no '/' and ':'`.
    fn label_rule(&self) -> &'static str;
    /// True if `label` is valid.
    fn accepts_label(&self, label: &str) -> bool;
    /// The smallest and the largest volume with this block size, or with the default one.
    fn limits(&self, block_bytes: Option<u32>) -> (Bytes, Bytes);
    /// Writes the empty file system. Size and options are valid, and everything within 1 MiB of
    /// both ends reads as zeros.
    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure>;
}

/// Formats `volume`: checks size and options, clears old signatures, writes, syncs.
///
/// # Errors
/// For bad input, nothing has been written.
pub fn format(
    formatter: &dyn Formatter,
    volume: &Volume,
    options: &FormatOptions,
) -> Result<(), Failure> {
    validate(formatter, volume.size(), options)?;
    let size = volume.size().0;
    let head = size.min(SIGNATURES_BYTES);
    let tail = size.saturating_sub(SIGNATURES_BYTES).max(head);
    volume.zero(0, head)?;
    volume.zero(tail, size - tail)?;
    formatter.write(volume, options)?;
    volume.sync()
}

fn validate(
    formatter: &dyn Formatter,
    size: Bytes,
    options: &FormatOptions,
) -> Result<(), Failure> {
    let format = formatter.name();
    if let Some(label) = options
        .label
        .as_ref()
        .filter(|l| !formatter.accepts_label(l))
    {
        return Err(Failure::bad_input(format!(
            "cannot use the label '{label}' with {format}: it must be {}",
            formatter.label_rule()
        )));
    }
    let sizes = formatter.block_sizes();
    if let Some(block) = options.block_bytes.filter(|block| !sizes.contains(block)) {
        let sizes: Vec<_> = sizes.iter().map(u32::to_string).collect();
        let reason = match sizes.as_slice() {
            [] => "it has none to choose from".to_owned(),
            sizes => format!("it must be one of {} bytes", sizes.join(", ")),
        };
        let text = format!("cannot use the block size '{block}' with {format}: {reason}");
        return Err(Failure::bad_input(text));
    }
    let (minimum, maximum) = formatter.limits(options.block_bytes);
    if size < minimum {
        let text = format!("{size} is too small for {format}, which needs {minimum}");
        let hint = format!("use --size {} or more", minimum.to_argument());
        return Err(Failure::bad_input(text).hint(hint));
    }
    if size > maximum {
        let text = format!("{size} is too large for {format}, which ends at {maximum}");
        let hint = format!("use --size {} or less", maximum.to_argument());
        return Err(Failure::bad_input(text).hint(hint));
    }
    Ok(())
}

/// Parses an identity: 32 hexadecimal digits, with or without dashes.
pub fn parse_identity(text: &str) -> Result<[u8; 16], String> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    if digits.len() != 32 {
        return Err("it must have 32 hexadecimal digits".into());
    }
    u128::from_str_radix(&digits, 16)
        .map(u128::to_be_bytes)
        .map_err(|error| error.to_string())
}
