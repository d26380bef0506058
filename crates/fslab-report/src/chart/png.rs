//! Grey images of sixteen shades as PNG, small enough to embed in a page.

use png::{BitDepth, ColorType, Compression, Encoder, Filter};

/// An image of `shades`, 0 to 15, row by row from the top.
///
/// # Panics
/// If the shades do not fill their last row.
pub(super) fn png(shades: &[u8], width: usize) -> Vec<u8> {
    assert!(
        width > 0 && shades.len().is_multiple_of(width),
        "the last row is not full"
    );
    let pixels = |count: usize| u32::try_from(count).expect("pictures are of some hundred pixels");
    let packed = shades.chunks(width).flat_map(|row| row.chunks(2));
    let packed: Vec<u8> = packed
        .map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0))
        .collect();
    let mut image = Vec::new();
    let mut encoder = Encoder::new(&mut image, pixels(width), pixels(shades.len() / width));
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Four);
    encoder.set_compression(Compression::High);
    encoder.set_filter(Filter::NoFilter);
    let written = encoder.write_header();
    written
        .and_then(|mut writer| writer.write_image_data(&packed))
        .expect("writing to memory does not fail");
    image
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn an_image_of_odd_width_holds_its_shades_four_bits_each() {
        let image = png(&[1, 2, 3, 15, 0, 7], 3);
        let mut reader = png::Decoder::new(Cursor::new(image))
            .read_info()
            .expect("a header");
        let info = reader.info();
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(
            (info.color_type, info.bit_depth),
            (ColorType::Grayscale, BitDepth::Four)
        );
        let mut rows = [0; 4];
        reader.next_frame(&mut rows).expect("pixels");
        assert_eq!(rows, [0x12, 0x30, 0xf0, 0x70]);
    }
}
