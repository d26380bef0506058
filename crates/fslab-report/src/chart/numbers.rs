//! Numbers and widths in SVG.

/// The approximate width of a text in the size of labels.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.9
}

/// A coordinate to a tenth of a pixel.
pub(super) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}
