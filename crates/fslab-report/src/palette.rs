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
    "m0-4a4 4 0 11-.1 0z",
    "m-3.5-3.5h7v7h-7z",
    "m0-5l5 5-5 5-5-5z",
    "m0-5l5 8h-10z",
    "m0 5l5-8h-10z",
    "m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "m-4.5 0l2-4h5l2 4-2 4h-5z",
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
