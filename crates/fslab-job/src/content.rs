//! Content of files as a function of a key and the offset: words of a mixed counter, so that any
//! range can be generated, two files share no block, and nothing compresses.

use fslab_stats::mix;

/// Fills `into` with the data of `key` from `offset` on.
pub fn generate_content(key: u64, offset: u64, into: &mut [u8]) {
    let skipped = usize::try_from(offset % 8).expect("below 8");
    let mut index = offset / 8;
    let (head, rest) = into.split_at_mut(((8 - skipped) % 8).min(into.len()));
    if !head.is_empty() {
        let word = mix(key, index).to_le_bytes();
        head.copy_from_slice(&word[skipped..skipped + head.len()]);
        index += 1;
    }
    let (words, tail) = rest.as_chunks_mut::<8>();
    for word in words {
        *word = mix(key, index).to_le_bytes();
        index += 1;
    }
    let last = mix(key, index).to_le_bytes();
    tail.copy_from_slice(&last[..tail.len()]);
}
