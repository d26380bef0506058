//! For tests: reads an image back with separate arithmetic.

use std::ops::{Deref, Range};

use crate::formatters::image::{CREATED_UNIX_S, Image, plain};
use crate::{FormatOptions, Formatter};

/// The creation date of the images on the Macintosh's clock: 66 years, 17 of them leap years,
/// later.
pub(in crate::formatters) const CREATED_MAC_S: u32 =
    CREATED_UNIX_S as u32 + (66 * 365 + 17) * 86_400;
/// The identifier in both formats of the images' identity.
pub(in crate::formatters) const IDENTIFIER: u64 = 0x0808_5351_5751_5351;

/// A formatted image, whose numbers are big-endian.
pub(in crate::formatters) struct MacImage(Image);

impl Deref for MacImage {
    type Target = Image;

    fn deref(&self) -> &Image {
        &self.0
    }
}

impl MacImage {
    pub(in crate::formatters) fn new(
        formatter: &dyn Formatter,
        size: u64,
        label: Option<&str>,
        block_bytes: Option<u32>,
    ) -> Self {
        let options = FormatOptions {
            label: label.map(str::to_owned),
            block_bytes,
            ..plain()
        };
        Self(Image::new(formatter, size, &options).unwrap())
    }

    /// On a volume with every bit set.
    pub(in crate::formatters) fn over_ones(formatter: &dyn Formatter, size: u64) -> Self {
        let ones = vec![0xff; size as usize];
        Self(Image::over(formatter, size, &plain(), &[(0, ones)]).unwrap())
    }

    pub(in crate::formatters) fn be(&self, offset: u64, length: u64) -> u64 {
        let bytes = self.bytes(offset, length as usize);
        bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// The set bits of the first `count` at `offset`; checks that none is set after them up to
    /// `length` bytes.
    pub(in crate::formatters) fn bits(&self, offset: u64, length: u64, count: u64) -> Vec<u64> {
        let bytes = self.bytes(offset, length as usize);
        let marked = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
        let set: Vec<u64> = marked
            .flat_map(|(at, byte)| {
                let bits = (0..8_u64).filter(move |bit| byte & 0x80 >> bit != 0);
                bits.map(move |bit| at as u64 * 8 + bit)
            })
            .collect();
        assert!(
            set.iter().all(|bit| *bit < count),
            "a bit beyond {count} is set"
        );
        set
    }

    /// Checks a B-tree file and returns the records of its leaf, if any.
    pub(in crate::formatters) fn tree(&self, at: u64, length: u64, node: u64) -> Vec<Vec<u8>> {
        assert_eq!(
            self.be(at + 8, 4),
            0x0100_0003,
            "kind, height and records of the header"
        );
        assert_eq!(self.be(at + 32, 2), node);
        assert_eq!(length % node, 0);
        let (total, free) = (self.be(at + 36, 4), self.be(at + 40, 4));
        assert_eq!(total, length / node);
        let ends = self.record_offsets(at, node, 4);
        assert_eq!(ends[..3], [14, 120, 248]);
        let mut map = self.part(at + ends[2]..at + ends[3]);
        let mut next = self.be(at, 4);
        let mut in_use = 1;
        while next != 0 {
            let start = at + next * node;
            assert_eq!(
                self.be(start + 8, 4),
                0x0200_0001,
                "kind, height, records of a map"
            );
            let ends = self.record_offsets(start, node, 2);
            map.extend(self.part(start + ends[0]..start + ends[1]));
            next = self.be(start, 4);
            in_use += 1;
        }
        assert!(map.len() as u64 * 8 >= total, "the maps are long enough");
        let root = self.be(at + 16, 4);
        assert_eq!(self.be(at + 14, 2), u64::from(root != 0), "depth");
        assert_eq!(
            self.be(at + 24, 8),
            root << 32 | root,
            "first and last leaf"
        );
        let records = if root == 0 {
            0
        } else {
            self.be(at + root * node + 10, 2)
        };
        assert_eq!(self.be(at + 20, 4), records);
        in_use += u64::from(root != 0);
        let bits = map
            .iter()
            .map(|byte| u64::from(byte.count_ones()))
            .sum::<u64>();
        assert_eq!((bits, total - free), (in_use, in_use));
        let rest = at + in_use * node;
        let rest = self.part(rest..(at + length).min(rest + (1 << 20)));
        assert!(rest.iter().all(|byte| *byte == 0), "free nodes are zero");
        if root == 0 {
            return Vec::new();
        }
        let start = at + root * node;
        assert_eq!(self.be(start + 8, 2), 0xff01, "kind and height of the leaf");
        let ends = self.record_offsets(start, node, records + 1);
        assert_eq!(ends[0], 14);
        ends.windows(2)
            .map(|pair| self.part(start + pair[0]..start + pair[1]))
            .collect()
    }

    /// The first `count` of a node's record offsets, which are at its end.
    fn record_offsets(&self, start: u64, node: u64, count: u64) -> Vec<u64> {
        (1..=count)
            .map(|index| self.be(start + node - 2 * index, 2))
            .collect()
    }

    fn part(&self, range: Range<u64>) -> Vec<u8> {
        self.bytes(range.start, (range.end - range.start) as usize)
    }
}
