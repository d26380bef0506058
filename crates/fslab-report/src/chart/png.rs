//! Grey images of sixteen shades as PNG (ISO/IEC 15948), small enough to stand in a page.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];

/// An image of `shades`, 0 to 15, row by row from the top.
///
/// # Panics
/// Where the shades are no whole rows.
pub(super) fn png(shades: &[u8], width: usize) -> Vec<u8> {
    assert!(
        width > 0 && shades.len().is_multiple_of(width),
        "whole rows"
    );
    let height = shades.len() / width;
    let mut header = Vec::new();
    for size in [width, height] {
        let size = u32::try_from(size).expect("pictures are of some hundred pixels");
        header.extend(size.to_be_bytes());
    }
    // Four bits a pixel, grey; the only compression, the only set of filters, not interlaced.
    header.extend([4, 0, 0, 0, 0]);
    let mut rows = Vec::with_capacity(shades.len());
    for row in shades.chunks(width) {
        // Each row names its filter: none.
        rows.push(0);
        for pair in row.chunks(2) {
            rows.push(pair[0] << 4 | pair.get(1).copied().unwrap_or(0));
        }
    }
    let mut deflated = ZlibEncoder::new(Vec::new(), Compression::best());
    let deflated = deflated
        .write_all(&rows)
        .and_then(|()| deflated.finish())
        .expect("writing to memory does not fail");
    let mut image = SIGNATURE.to_vec();
    for (name, data) in [
        (b"IHDR", header),
        (b"IDAT", deflated),
        (b"IEND", Vec::new()),
    ] {
        let length = u32::try_from(data.len()).expect("pictures are of some kilobytes");
        let mut sum = Crc::new();
        sum.update(name);
        sum.update(&data);
        image.extend(length.to_be_bytes());
        image.extend(name);
        image.extend(data);
        image.extend(sum.sum().to_be_bytes());
    }
    image
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    #[test]
    fn an_image_of_odd_width_holds_its_shades_four_bits_each() {
        let image = png(&[1, 2, 3, 15, 0, 7], 3);
        assert_eq!(image[..8], SIGNATURE);
        assert_eq!(
            image[8..29],
            *b"\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x04\0\0\0\0"
        );
        let length = usize::from(image[36]);
        assert_eq!(image[37..41], *b"IDAT");
        let mut rows = Vec::new();
        ZlibDecoder::new(&image[41..41 + length])
            .read_to_end(&mut rows)
            .expect("deflated");
        assert_eq!(rows, [0, 0x12, 0x30, 0, 0xf0, 0x70]);
        assert_eq!(image[image.len() - 12..], *b"\0\0\0\0IEND\xae\x42\x60\x82");
    }
}
