//! Formats an image by hand: `format NAME IMAGE [SIZE_BYTES] [LABEL] [BLOCK_BYTES]`.

use std::error::Error;
use std::path::Path;

use fslab_format::{FormatOptions, Volume, find, format};
use fslab_model::Bytes;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize| arguments.get(index).filter(|text| !text.is_empty());
    let formatter = find(argument(0).ok_or("no NAME")?)?;
    let path = Path::new(argument(1).ok_or("no IMAGE")?);
    let volume = match argument(2) {
        Some(size) => Volume::create(path, Bytes(size.parse()?))?,
        None => Volume::open(path)?,
    };
    let options = FormatOptions {
        label: argument(3).cloned(),
        block_bytes: argument(4).map(|block| block.parse()).transpose()?,
        identity: *b"fslab trial case",
        created_unix_s: 1_700_000_000,
    };
    format(formatter, &volume, &options)?;
    Ok(())
}
