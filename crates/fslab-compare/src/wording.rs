//! Names, lists and shares in messages.

use fslab_model::RunRecord;

/// A phase's name in a sentence: `random-read-4k` becomes "random read 4k".
pub fn phase(name: &str) -> String {
    name.replace(['-', '_'], " ")
}

/// A phase's name as a heading: `random-read-4k` becomes "Random read 4k".
pub fn heading(name: &str) -> String {
    let words = phase(name);
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// "a, b and c".
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

pub fn run_names(runs: &[RunRecord]) -> Vec<String> {
    runs.iter().map(|run| run.header.run.to_string()).collect()
}

/// A share as "12.3 %", or "< 0.1 %" where rounding would hide it.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        "< 0.1 %".to_owned()
    } else if percent == 0.0 || percent >= 99.95 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}
