//! The end of a program's output.

use std::collections::VecDeque;

/// The last bytes of an output, and how many there were.
#[derive(Debug)]
pub(crate) struct KeptOutput {
    kept: VecDeque<u8>,
    kept_max: usize,
    printed: u64,
}

impl KeptOutput {
    /// Nothing yet, and never more than `kept_max` bytes.
    pub(crate) fn new(kept_max: usize) -> Self {
        Self {
            kept: VecDeque::new(),
            kept_max,
            printed: 0,
        }
    }

    /// Appends, and drops what is too much from the begin.
    pub(crate) fn push(&mut self, part: &[u8]) {
        self.printed += part.len() as u64;
        self.kept.extend(part);
        let over = self.kept.len().saturating_sub(self.kept_max);
        self.kept.drain(..over);
    }

    /// Bytes that were appended.
    #[cfg(windows)]
    pub(crate) fn printed(&self) -> u64 {
        self.printed
    }

    /// Bytes that were dropped.
    pub(crate) fn cut_bytes(&self) -> u64 {
        self.printed - self.kept.len() as u64
    }

    /// The bytes that are kept, as text.
    pub(crate) fn text(&self) -> String {
        let (one, other) = self.kept.as_slices();
        String::from_utf8_lossy(&[one, other].concat()).into_owned()
    }
}
