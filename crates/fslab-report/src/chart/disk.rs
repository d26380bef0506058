//! The picture of a disk: addresses from bottom to top, time from left to right.
//!
//! Each layer is a grey image used as a mask for the layer's colour, so that the colours follow the
//! page: light, dark or paper.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fslab_model::{
    Bytes, DeviceInsight, PICTURE_LEVEL_MAX, Picture, PictureError, PictureLayer, Unit,
};

use super::WIDTH;
use super::drawing::Drawing;
use super::png::png;
use super::scale::{AxisUnit, Scale};
use super::svg::{Anchor, Svg};

const HEIGHT: f64 = 240.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = HEIGHT - 36.0;
const SECTOR_BYTES: f64 = 512.0;
/// The brightest of sixteen shades.
const SHADE_MAX: u8 = 15;
/// Added to the level of a pixel with requests, less one, so that single blocks are visible.
const SHADE_MIN: u8 = 6;

/// Draws the picture. `id` must be unique on the page, because masks have names.
pub(crate) fn disk(id: &str, insight: &DeviceInsight) -> Result<Drawing, PictureError> {
    let mut svg = Svg::new(HEIGHT);
    let length_ns = insight.window.length_ns().max(1) as f64;
    let x = Scale::from_zero(length_ns, LEFT, RIGHT);
    let capacity = insight.capacity_sectors as f64 * SECTOR_BYTES;
    svg.rectangle("field", (LEFT, TOP), (RIGHT, BOTTOM));
    let picture = &insight.picture;
    // The last slice may extend beyond the end; the field clips it.
    let width = picture.columns as f64 * picture.slice_ns as f64 / length_ns * (RIGHT - LEFT);
    for layer in PictureLayer::ALL
        .into_iter()
        .filter(|layer| !picture.is_blank(*layer))
    {
        let image = STANDARD.encode(png(&shades(picture, layer)?, picture.columns));
        svg.stencil(
            &format!("{id}-{}", class(layer)),
            class(layer),
            [(LEFT, TOP), (RIGHT, BOTTOM)],
            (width, &image),
        );
    }
    axes(&mut svg, (x, length_ns), capacity);
    Ok(svg.into_drawing(&description(insight)))
}

/// The class of a layer, which selects its colour on the page.
pub(crate) const fn class(layer: PictureLayer) -> &'static str {
    match layer {
        PictureLayer::Read => "data-read",
        PictureLayer::ReadMetadata => "meta-read",
        PictureLayer::Written => "data-written",
        PictureLayer::WrittenMetadata => "meta-written",
    }
}

/// A layer's shades from the top of the disk to its beginning. Each pixel is drawn two bands high
/// and two slices wide, so that a journal's single block is visible.
fn shades(picture: &Picture, layer: PictureLayer) -> Result<Vec<u8>, PictureError> {
    let shade = |level: u8| match level {
        0 => 0,
        // Small requests are faint but visible; the shade saturates below the highest level.
        level => (level.min(PICTURE_LEVEL_MAX) + SHADE_MIN - 1).min(SHADE_MAX),
    };
    let (levels, columns) = (picture.levels(layer)?, picture.columns);
    let at = |row: usize, column: usize| levels[row * columns + column];
    let mut shades = Vec::with_capacity(levels.len());
    for row in (0..picture.rows).rev() {
        for column in 0..columns {
            let (below, before) = (row.saturating_sub(1), column.saturating_sub(1));
            let near = [at(below, column), at(row, before), at(below, before)];
            let level = match at(row, column) {
                0 => near.into_iter().max().unwrap_or(0),
                level => level,
            };
            shades.push(shade(level));
        }
    }
    Ok(shades)
}

fn axes(svg: &mut Svg, (x, length_ns): (Scale, f64), capacity: f64) {
    const UNITS: [(f64, &str); 4] = [
        ((1_u64 << 40) as f64, "TiB"),
        ((1_u64 << 30) as f64, "GiB"),
        ((1_u64 << 20) as f64, "MiB"),
        ((1_u64 << 10) as f64, "KiB"),
    ];
    let found = UNITS.iter().find(|(size, _)| capacity >= 2.0 * size);
    let (size, unit) = found.unwrap_or(&UNITS[3]);
    let y = Scale::from_zero(capacity / size, BOTTOM, TOP);
    for tick in y.ticks(4) {
        let at = y.at(tick);
        svg.line("grid over", (LEFT - 3.0, at), (LEFT, at));
        svg.text(
            "tick",
            Anchor::End,
            (LEFT - 5.0, at + 3.5),
            &tick.to_string(),
        );
    }
    let time = AxisUnit::of(Unit::Nanoseconds, length_ns);
    for tick in x.ticks(5) {
        let at = x.at(tick);
        svg.line("grid over", (at, BOTTOM), (at, BOTTOM + 3.0));
        let label = time.label(tick);
        svg.text("tick", Anchor::Middle, (at, BOTTOM + 14.0), &label);
    }
    svg.text(
        "axis",
        Anchor::Start,
        (2.0, 10.0),
        &format!("{unit} of the disk"),
    );
    let title = format!("{} of device time", time.name);
    svg.text("axis", Anchor::End, (RIGHT + 6.0, BOTTOM + 30.0), &title);
}

fn description(insight: &DeviceInsight) -> String {
    let moved = |what: &str, kind: &fslab_model::KindInsight| {
        format!(
            "{what} {} in {} requests, {} of it metadata.",
            Bytes(kind.all.bytes),
            kind.all.requests,
            Bytes(kind.metadata.bytes)
        )
    };
    let (reads, writes) = (&insight.reads, &insight.writes);
    format!("{} {}", moved("Read", reads), moved("Written", writes))
}
