//! Accumulates the picture of the disk: sectors by address band and time slice.

use fslab_model::{PICTURE_COLUMNS, PICTURE_ROWS, Picture, PictureLayer, Window};

/// The first slice length of a picture whose end is not known.
const SLICE_MIN_NS: u64 = 1 << 10;

/// Sectors by row and column, for each layer.
pub(super) struct Canvas {
    begin_ns: u64,
    slice_ns: u64,
    columns: usize,
    /// Whether slices are joined in pairs when the columns run out.
    grows: bool,
    last_ns: u64,
    band_sectors: u64,
    layers: [Option<Vec<u64>>; 4],
}

impl Canvas {
    /// For a window, with as many slices as a picture may have.
    pub(super) fn of(window: Window, capacity_sectors: u64) -> Self {
        let length_ns = window.length_ns().max(1);
        let slice_ns = length_ns.div_ceil(PICTURE_COLUMNS as u64);
        let columns = length_ns.div_ceil(slice_ns) as usize;
        Self {
            begin_ns: window.begin_ns,
            slice_ns,
            columns,
            grows: false,
            last_ns: window.end_ns,
            band_sectors: capacity_sectors.div_ceil(PICTURE_ROWS as u64).max(1),
            layers: [None, None, None, None],
        }
    }

    /// For all records from `begin_ns` on.
    pub(super) fn open_ended(begin_ns: u64, capacity_sectors: u64) -> Self {
        let end_ns = begin_ns.saturating_add(SLICE_MIN_NS * PICTURE_COLUMNS as u64);
        Self {
            grows: true,
            last_ns: begin_ns,
            ..Self::of(Window { begin_ns, end_ns }, capacity_sectors)
        }
    }

    /// Counts `sectors` from `sector` on, at `at_ns`.
    pub(super) fn paint(&mut self, layer: PictureLayer, at_ns: u64, sector: u64, sectors: u32) {
        // A slice includes its end and not its beginning, as a window does.
        let since_ns = at_ns.saturating_sub(self.begin_ns).saturating_sub(1);
        if self.grows {
            self.last_ns = at_ns;
            while since_ns / self.slice_ns >= self.columns as u64 {
                self.join_slices();
            }
        }
        let column = (since_ns / self.slice_ns).min(self.columns as u64 - 1) as usize;
        let pixels =
            self.layers[layer as usize].get_or_insert_with(|| vec![0; self.columns * PICTURE_ROWS]);
        let (mut from, end) = (sector, sector + u64::from(sectors));
        while from < end {
            let band = from / self.band_sectors;
            let to = end.min((band + 1) * self.band_sectors);
            let row = band.min(PICTURE_ROWS as u64 - 1) as usize;
            pixels[row * self.columns + column] += to - from;
            from = to;
        }
    }

    fn join_slices(&mut self) {
        self.slice_ns *= 2;
        for row in self
            .layers
            .iter_mut()
            .flatten()
            .flat_map(|pixels| pixels.chunks_mut(self.columns))
        {
            for column in 0..row.len() {
                let pair = row.get(2 * column..).unwrap_or_default();
                row[column] = pair.iter().take(2).sum();
            }
        }
    }

    /// The picture, up to the last record or the window's end.
    pub(super) fn finish(self) -> Picture {
        let used_ns = self.last_ns.saturating_sub(self.begin_ns).max(1);
        let columns = (used_ns.div_ceil(self.slice_ns) as usize).min(self.columns);
        let mut picture = Picture::new(columns, self.slice_ns);
        for layer in PictureLayer::ALL {
            if let Some(pixels) = &self.layers[layer as usize] {
                let rows = pixels.chunks(self.columns);
                let cut: Vec<u64> = rows.flat_map(|row| &row[..columns]).copied().collect();
                picture.set(layer, &cut);
            }
        }
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row, column and level of all pixels that are set.
    fn pixels(picture: &Picture, layer: PictureLayer) -> Vec<(usize, usize, u8)> {
        let levels = picture.levels(layer).expect("a picture");
        let set = levels.iter().enumerate().filter(|(_, level)| **level > 0);
        set.map(|(at, level)| (at / picture.columns, at % picture.columns, *level))
            .collect()
    }

    #[test]
    fn sectors_are_shared_among_the_bands_that_they_lie_in() {
        let window = Window {
            begin_ns: 1_000,
            end_ns: 1_000 + 240 * 10,
        };
        let mut canvas = Canvas::of(window, 96 * 100);
        canvas.paint(PictureLayer::Read, 1_001, 0, 1);
        canvas.paint(PictureLayer::Read, 1_010, 99, 102);
        canvas.paint(PictureLayer::Read, 1_011, 9_599, 1);
        canvas.paint(PictureLayer::Written, window.end_ns, 9_500, 100);
        let picture = canvas.finish();
        assert_eq!((picture.columns, picture.slice_ns), (240, 10));
        let read = pixels(&picture, PictureLayer::Read);
        assert_eq!(read, [(0, 0, 2), (1, 0, 7), (2, 0, 1), (95, 1, 1)]);
        assert_eq!(pixels(&picture, PictureLayer::Written), [(95, 239, 7)]);
        assert!(picture.is_blank(PictureLayer::ReadMetadata));
    }

    #[test]
    fn a_short_window_has_slices_of_a_nanosecond_and_an_empty_one_has_one() {
        let of = |length: u64| {
            let window = Window {
                begin_ns: 7,
                end_ns: 7 + length,
            };
            let picture = Canvas::of(window, 1_000).finish();
            (picture.columns, picture.slice_ns)
        };
        assert_eq!([of(0), of(5), of(241)], [(1, 1), (5, 1), (121, 2)]);
    }

    #[test]
    fn an_open_ended_picture_joins_its_slices_and_loses_nothing() {
        let mut canvas = Canvas::open_ended(500, 96);
        for at in 1..=10_000_u64 {
            canvas.paint(PictureLayer::Written, 500 + at * 1_000, 95, 1);
        }
        let picture = canvas.finish();
        assert!(picture.columns > PICTURE_COLUMNS / 2, "{}", picture.columns);
        let end = picture.slice_ns * picture.columns as u64;
        assert!((10_000_000..10_000_000 + picture.slice_ns).contains(&end));
        let written = pixels(&picture, PictureLayer::Written);
        assert_eq!(written.len(), picture.columns);
        // Slices of 65,536 ns with a sector per 1,000 ns have 65 or 66 sectors.
        assert!(written.iter().all(|(row, _, _)| *row == 95));
        let full = &written[..written.len() - 1];
        assert!(full.iter().all(|(_, _, level)| *level == 7), "{full:?}");
    }
}
