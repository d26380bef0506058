//! What a subject looks like: a colour and a shape that are its own everywhere in a report.
//!
//! The colours are darkened and lightened relatives of the palette of Okabe and Ito ("Color
//! Universal Design", 2008), which people with the common colour-vision deficiencies tell apart;
//! the shape tells subjects apart without any colour.

use std::fmt::Write;

/// Colours on light and on dark paper.
const COLOURS: [(&str, &str); 8] = [
    ("#0b6aa8", "#62b4ee"),
    ("#c24a06", "#f58b54"),
    ("#067a5b", "#3fc79e"),
    ("#a03f7d", "#e79bc9"),
    ("#8a6200", "#e2b53e"),
    ("#5b4bb0", "#ab9df2"),
    ("#3d7f93", "#8fd3e6"),
    ("#5a564f", "#c9c4ba"),
];

/// Shapes in a box of ten by ten around the origin, as SVG paths.
const SHAPES: [&str; 7] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.9L4.9 0L0 4.9L-4.9 0z",
    "M0-4.6L4.6 3.7h-9.2z",
    "M0 4.6L4.6-3.7h-9.2z",
    "M-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z",
    "M-4.6 0L-2.3-4h4.6L4.6 0L2.3 4h-4.6z",
];

/// The class of everything that shows the subject of that number.
pub(crate) fn class(subject: usize) -> String {
    format!("s{subject}")
}

/// The path of the subject's mark.
pub(crate) fn shape(subject: usize) -> &'static str {
    SHAPES[subject % SHAPES.len()]
}

/// Style rules: each subject's colour, and how the others fade while one is chosen.
pub(crate) fn rules(subjects: usize) -> String {
    let mut rules = String::new();
    for subject in 0..subjects {
        let (light, dark) = COLOURS[subject % COLOURS.len()];
        let class = class(subject);
        writeln!(rules, ".{class}{{--c:light-dark({light},{dark})}}").expect("writes to memory");
        writeln!(
            rules,
            "body:has(#only-{class}:checked) .of:not(.{class}){{opacity:.16}}"
        )
        .expect("writes to memory");
    }
    rules
}

/// The same colours where a page gives none: a drawing in a file of its own, by day and by night.
pub(crate) fn fixed_rules(looks: impl Iterator<Item = usize> + Clone) -> String {
    let of = |look: usize, colour: &str| {
        let class = class(look);
        format!(
            ".{class} .key,.{class} .dot,.{class} .bar{{fill:{colour}}}\n\
             .{class} .curve,.{class} .cap,.{class} .median{{stroke:{colour}}}\n"
        )
    };
    let light = |look: usize| of(look, COLOURS[look % COLOURS.len()].0);
    let dark = |look: usize| of(look, COLOURS[look % COLOURS.len()].1);
    let (light, dark): (String, String) = (
        looks.clone().map(light).collect(),
        looks.map(dark).collect(),
    );
    format!("{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_subjects_have_each_their_own_look() {
        let look = |subject: usize| (COLOURS[subject % COLOURS.len()], shape(subject));
        for subject in 0..25 {
            for other in 0..subject {
                assert_ne!(look(subject), look(other), "{subject} and {other}");
            }
        }
    }
}
