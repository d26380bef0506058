//! The block sizes to choose from.

/// In bytes. The default of HFS may be any multiple of a sector.
pub(in crate::formatters) const BLOCK_SIZES: [u32; 12] = [
    512,
    1 << 10,
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 17,
    1 << 18,
    1 << 19,
    1 << 20,
];
