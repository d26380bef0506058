//! Lists of file sizes, in bytes or as shares of the file system.

use fslab_engine::FileSizes;
use fslab_model::{Bytes, Size};

/// Default sizes: from 1/16 to 1/8192 of the file system, each half of the one before.
pub(crate) fn halving_sizes() -> Vec<Size> {
    (4..=13)
        .map(|power| Size::Written(format!("1/{}", 1_u64 << power)))
        .collect()
}

/// Limit of files, since the list has an entry for each.
const LISTED_FILES_MAX: u64 = 100_000;

/// Turns shares of `size` into bytes, and checks the limit for `each` files of every size.
pub(crate) fn resolve_sizes(sizes: &mut [Size], each: u64, size: Bytes) -> Result<(), String> {
    let files = each.saturating_mul(sizes.len() as u64);
    if files > LISTED_FILES_MAX {
        return Err(format!(
            "each = {each} and {} sizes; at most {LISTED_FILES_MAX} files together",
            sizes.len()
        ));
    }
    if sizes.is_empty() {
        return Err("sizes = []; there must be at least one".into());
    }
    for written in sizes {
        let bytes = written.resolve(size)?;
        if bytes == 0 {
            return Err(format!("a size of 0 bytes, which {written:?} is of {size}"));
        }
        *written = Size::Bytes(bytes);
    }
    Ok(())
}

/// `each` files of every size, the first size first.
pub(crate) fn series(sizes: &[Size], each: u64) -> FileSizes {
    let repeated = |size: &Size| {
        let bytes = size.bytes();
        (0..each).map(move |_| bytes)
    };
    FileSizes::Series(sizes.iter().flat_map(repeated).collect())
}
