//! The look of a subject: a colour and a shape, unique in a report.
//!
//! The colours are variations of the palette of Okabe and Ito ("Color Universal Design", 2008),
//! which people with common colour-vision deficiencies can distinguish; the shapes distinguish
//! subjects without colour.

use std::fmt::Write;

/// Colours for light and for dark pages.
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

/// Shapes in a box of ten by ten around their start, as SVG paths of relative steps.
pub(crate) const SHAPES: [&str; 7] = [
    "m-4 0a4 4 0 108 0 4 4 0 10-8 0z",
    "m-3.6-3.6h7.2v7.2h-7.2z",
    "m0-4.9l4.9 4.9-4.9 4.9-4.9-4.9z",
    "m0-4.6l4.6 8.3h-9.2z",
    "m0 4.6l4.6-8.3h-9.2z",
    "m-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z",
    "m-4.6 0l2.3-4h4.6l2.3 4-2.3 4h-4.6z",
];

/// The class of everything about the subject of that number.
pub(crate) fn class(subject: usize) -> String {
    format!("s{subject}")
}

/// The path of the subject's mark.
pub(crate) fn shape(subject: usize) -> &'static str {
    SHAPES[subject % SHAPES.len()]
}

/// Style rules: each subject's colour and mark, fading of the others while one is selected, and
/// hiding. The selectors use the bar's controls, so no script is needed; they start at the bar and
/// not at the body, because otherwise each element added to the page would recompute all styles.
pub(crate) fn rules(subjects: usize) -> String {
    let mut rules = String::new();
    for subject in 0..subjects {
        let (light, dark) = COLOURS[subject % COLOURS.len()];
        let (class, shape) = (class(subject), shape(subject));
        // A mark is a box of twelve pixels, with its shape around the centre.
        writeln!(
            rules,
            ".{class}{{--c:light-dark({light},{dark});--m:path(\"M6 6{shape}\")}}\n\
             .bar:has(#only-{class}:checked)~main .{class}.of{{opacity:1}}\n\
             .bar:has(#show-{class}:not(:checked))~main .{class}.of,\
             .bar:has(#show-{class}:not(:checked)) .chip.{class}{{display:none}}"
        )
        .expect("writes to memory");
    }
    rules
}

/// The same colours for a drawing in a separate file, light and dark.
pub(crate) fn fixed_rules(looks: impl Iterator<Item = usize> + Clone) -> String {
    let dark = looks.clone();
    let dark: String = dark
        .map(|look| rule(look, COLOURS[look % COLOURS.len()].1))
        .collect();
    format!(
        "{}@media (prefers-color-scheme: dark) {{\n{dark}}}\n",
        light_rules(looks)
    )
}

/// The colours for light pages.
pub(crate) fn light_rules(looks: impl Iterator<Item = usize>) -> String {
    looks
        .map(|look| rule(look, COLOURS[look % COLOURS.len()].0))
        .collect()
}

fn rule(look: usize, colour: &str) -> String {
    let class = class(look);
    format!(
        ".{class} .key,.{class} .dot,.{class} .bar{{fill:{colour}}}\n\
         .{class} .curve,.{class} .course,.{class} .cap,.{class} .interval,\
         .{class} .mean{{stroke:{colour}}}\n"
    )
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
