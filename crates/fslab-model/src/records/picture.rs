//! A picture of a disk over time: sectors read and written per band of addresses and slice of time.
//!
//! Each layer is stored as a short text: levels on a logarithmic scale, in the arithmetic code of
//! Rissanen and Langdon (IBM J. Res. Dev. 23, 1979) with a binary decision per bit, predicted by
//! the level to the left and the one below. A phase of random reads over the entire disk takes some
//! 2 KB, one with little activity some 100 bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::is_default;

/// Most slices of time in a picture.
pub const PICTURE_COLUMNS: usize = 240;
/// The number of bands of addresses.
pub const PICTURE_ROWS: usize = 96;
/// The highest level.
pub const PICTURE_LEVEL_MAX: u8 = 15;

/// A layer of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureLayer {
    /// File data read.
    Read,
    /// Metadata read.
    ReadMetadata,
    /// File data written.
    Written,
    /// Metadata written.
    WrittenMetadata,
}

impl PictureLayer {
    /// All layers, in drawing order.
    pub const ALL: [Self; 4] = [
        Self::Read,
        Self::Written,
        Self::ReadMetadata,
        Self::WrittenMetadata,
    ];
}

/// Reads and writes of a disk by address and time. Row 0 is the beginning of the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// Slices of time.
    pub columns: usize,
    /// Bands of addresses, of equal size, from the first sector to the last.
    pub rows: usize,
    /// Length of a slice; the last may extend beyond the end.
    pub slice_ns: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    read: String,
    #[serde(default, skip_serializing_if = "is_default")]
    read_metadata: String,
    #[serde(default, skip_serializing_if = "is_default")]
    written: String,
    #[serde(default, skip_serializing_if = "is_default")]
    written_metadata: String,
}

/// A damaged stored picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a picture of a disk: {0}")]
pub struct PictureError(String);

impl Picture {
    /// An empty picture of so many slices of time.
    pub fn new(columns: usize, slice_ns: u64) -> Self {
        Self {
            columns,
            rows: PICTURE_ROWS,
            slice_ns,
            ..Self::default()
        }
    }

    /// Sets a layer to `sectors`, row by row.
    ///
    /// # Panics
    /// If there are not `columns` times `rows` of them.
    pub fn set(&mut self, layer: PictureLayer, sectors: &[u64]) {
        assert_eq!(sectors.len(), self.columns * self.rows, "a complete layer");
        let levels: Vec<u8> = sectors.iter().copied().map(level).collect();
        let code = if levels.iter().all(|level| *level == 0) {
            String::new()
        } else {
            STANDARD.encode(encode(&levels, self.columns))
        };
        *match layer {
            PictureLayer::Read => &mut self.read,
            PictureLayer::ReadMetadata => &mut self.read_metadata,
            PictureLayer::Written => &mut self.written,
            PictureLayer::WrittenMetadata => &mut self.written_metadata,
        } = code;
    }

    fn code(&self, layer: PictureLayer) -> &str {
        match layer {
            PictureLayer::Read => &self.read,
            PictureLayer::ReadMetadata => &self.read_metadata,
            PictureLayer::Written => &self.written,
            PictureLayer::WrittenMetadata => &self.written_metadata,
        }
    }

    /// True if the layer has no reads or writes.
    pub fn is_blank(&self, layer: PictureLayer) -> bool {
        self.code(layer).is_empty()
    }

    /// The levels of a layer, row by row: 0 for none, else the number of binary digits of the
    /// sectors moved, up to [`PICTURE_LEVEL_MAX`].
    ///
    /// # Errors
    /// If the stored text is not one that [`Picture::set`] makes.
    pub fn levels(&self, layer: PictureLayer) -> Result<Vec<u8>, PictureError> {
        let fault = |reason: &str| PictureError(reason.to_owned());
        if self.columns > PICTURE_COLUMNS || self.rows > PICTURE_ROWS {
            return Err(fault("it is too large"));
        }
        let pixels = self.columns * self.rows;
        if self.is_blank(layer) {
            return Ok(vec![0; pixels]);
        }
        let code = STANDARD
            .decode(self.code(layer))
            .map_err(|error| PictureError(error.to_string()))?;
        let levels = decode(&code, self.columns, pixels);
        // Any bytes decode to something, so the result must encode to the same bytes.
        if encode(&levels, self.columns) != code {
            return Err(fault("its code is damaged"));
        }
        Ok(levels)
    }
}

/// The level of a pixel in which so many sectors were moved.
fn level(sectors: u64) -> u8 {
    let digits = u64::BITS - sectors.leading_zeros();
    digits.min(u32::from(PICTURE_LEVEL_MAX)) as u8
}

/// Bits of a level.
const LEVEL_BITS: u32 = 4;
const LEVEL_FIRST_BIT: u8 = 1 << (LEVEL_BITS - 1);
/// Probabilities are in units of 1 / 2^16.
const PROBABILITY_BITS: u32 = 16;
/// Adaptation rate of a probability: 1 / 2^4 of the difference.
const INERTIA: u32 = 4;

/// Adaptive probabilities of the next bit, by context.
struct BitModel {
    /// The probability of a 0, by context and the bits of the level so far.
    zero: Vec<u16>,
}

impl BitModel {
    fn new() -> Self {
        Self {
            zero: vec![1 << (PROBABILITY_BITS - 1); 9 << LEVEL_BITS],
        }
    }

    /// The index of the first probability of the next level.
    fn context(levels: &[u8], columns: usize) -> usize {
        let coarse = |level: u8| match level {
            0 => 0,
            1..=4 => 1,
            _ => 2,
        };
        let before = |back: usize| match levels.len() < back {
            true => 0,
            false => coarse(levels[levels.len() - back]),
        };
        (before(1) * 3 + before(columns)) << LEVEL_BITS
    }

    fn learn(&mut self, place: usize, bit: bool) {
        let zero = &mut self.zero[place];
        if bit {
            *zero -= *zero >> INERTIA;
        } else {
            *zero += (u16::MAX - *zero) >> INERTIA;
        }
    }
}

/// The interval of the arithmetic coder; a 0 is its lower part, a 1 its upper.
struct Span {
    low: u32,
    high: u32,
}

impl Span {
    const FULL: Self = Self {
        low: 0,
        high: u32::MAX,
    };

    /// The last number that means 0.
    fn middle(&self, zero: u16) -> u32 {
        let share = u64::from(self.high - self.low) * u64::from(zero);
        self.low + (share >> PROBABILITY_BITS) as u32
    }

    fn narrow(&mut self, middle: u32, bit: bool) {
        if bit {
            self.low = middle + 1;
        } else {
            self.high = middle;
        }
    }

    /// The first byte if all numbers of the interval share it; the interval is then shifted by it.
    fn settled(&mut self) -> Option<u8> {
        let byte = self.low >> 24;
        (byte == self.high >> 24).then(|| {
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
            byte as u8
        })
    }
}

fn encode(levels: &[u8], columns: usize) -> Vec<u8> {
    let (mut expected, mut span, mut code) = (BitModel::new(), Span::FULL, Vec::new());
    for (index, level) in levels.iter().enumerate() {
        let context = BitModel::context(&levels[..index], columns);
        // The bits so far, with a 1 before them.
        let mut bits = 1_usize;
        while bits < 1 << LEVEL_BITS {
            let bit = level << bits.ilog2() & LEVEL_FIRST_BIT != 0;
            let place = context | bits;
            let middle = span.middle(expected.zero[place]);
            span.narrow(middle, bit);
            expected.learn(place, bit);
            bits = bits << 1 | usize::from(bit);
            while let Some(byte) = span.settled() {
                code.push(byte);
            }
        }
    }
    // One more byte identifies a number in the interval, because the decoder reads zeros after it.
    if span.low > 0 {
        code.push((span.low >> 24) as u8 + 1);
    }
    code
}

fn decode(code: &[u8], columns: usize, pixels: usize) -> Vec<u8> {
    let (mut expected, mut span) = (BitModel::new(), Span::FULL);
    let mut bytes = code.iter().copied().chain(std::iter::repeat(0));
    let mut next = |number: u32| number << 8 | u32::from(bytes.next().unwrap_or(0));
    let mut number = (0..4).fold(0, |number, _| next(number));
    let mut levels = Vec::with_capacity(pixels);
    while levels.len() < pixels {
        let context = BitModel::context(&levels, columns);
        let mut bits = 1_usize;
        while bits < 1 << LEVEL_BITS {
            let place = context | bits;
            let middle = span.middle(expected.zero[place]);
            let bit = number > middle;
            span.narrow(middle, bit);
            expected.learn(place, bit);
            bits = bits << 1 | usize::from(bit);
            while span.settled().is_some() {
                number = next(number);
            }
        }
        levels.push((bits & 0xf) as u8);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers (Marsaglia's xorshift, 2003).
    fn noise(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    fn picture(layer: PictureLayer, sectors: &[u64], columns: usize) -> Picture {
        let mut picture = Picture::new(columns, 1);
        picture.set(layer, sectors);
        picture
    }

    fn expected(sectors: &[u64]) -> Vec<u8> {
        let digits = |sectors: u64| format!("{sectors:b}").len().min(15) as u8;
        let level = |sectors: &u64| if *sectors == 0 { 0 } else { digits(*sectors) };
        sectors.iter().map(level).collect()
    }

    #[test]
    fn any_layer_reads_back_as_its_levels() {
        let mut state = 88_172_645_463_325_252;
        for density in [0, 1, 7, 40, 99, 100] {
            for columns in [1, 2, 3, 17, 239, 240] {
                let sectors: Vec<u64> = (0..columns * PICTURE_ROWS)
                    .map(|_| {
                        let hit = noise(&mut state) % 100 < density;
                        let size = noise(&mut state) >> (noise(&mut state) % 64);
                        if hit { size } else { 0 }
                    })
                    .collect();
                for layer in PictureLayer::ALL {
                    let picture = picture(layer, &sectors, columns);
                    assert_eq!(picture.levels(layer), Ok(expected(&sectors)));
                    let others = PictureLayer::ALL.iter().filter(|other| **other != layer);
                    assert!(others.clone().all(|other| picture.is_blank(*other)));
                    let json = serde_json::to_string(&picture).expect("serialises");
                    assert_eq!(serde_json::from_str::<Picture>(&json).ok(), Some(picture));
                }
            }
        }
    }

    #[test]
    fn random_reads_over_a_quarter_of_the_disk_take_2_kb_and_a_sequential_write_less_than_1() {
        let mut state = 2_463_534_242;
        let mut sectors = vec![0; PICTURE_COLUMNS * PICTURE_ROWS];
        for _ in 0..8_000 {
            let row = (noise(&mut state) % (PICTURE_ROWS as u64 / 4)) as usize;
            let column = (noise(&mut state) % PICTURE_COLUMNS as u64) as usize;
            sectors[row * PICTURE_COLUMNS + column] += 8;
        }
        let random = picture(PictureLayer::Read, &sectors, PICTURE_COLUMNS)
            .read
            .len();
        assert!((1_000..3_000).contains(&random), "{random}");
        let mut sectors = vec![0; PICTURE_COLUMNS * PICTURE_ROWS];
        for column in 0..PICTURE_COLUMNS {
            sectors[column / 5 * PICTURE_COLUMNS + column] = 40_000;
        }
        let stream = picture(PictureLayer::Written, &sectors, PICTURE_COLUMNS).written;
        assert!(stream.len() < 900, "{}", stream.len());
    }

    #[test]
    fn a_damaged_code_is_no_picture() {
        let mut sectors = vec![0; PICTURE_COLUMNS * PICTURE_ROWS];
        (0..4_000).for_each(|index| sectors[index * 5] = index as u64);
        let mut torn = picture(PictureLayer::Read, &sectors, PICTURE_COLUMNS);
        torn.read.truncate(torn.read.len() / 8 * 4);
        assert!(torn.levels(PictureLayer::Read).is_err());
        torn.read = "?".into();
        assert!(torn.levels(PictureLayer::Read).is_err());
        torn.columns = usize::MAX;
        assert!(torn.levels(PictureLayer::Written).is_err());
    }
}
