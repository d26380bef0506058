//! Whether a target was reached, in words.

/// A verdict; `None` where it cannot be said.
pub(crate) fn verdict(reached: Option<bool>) -> &'static str {
    match reached {
        Some(true) => "reached",
        Some(false) => "NOT reached",
        None => "not measured",
    }
}

/// The number of verdicts of each kind, as a sentence.
pub(crate) fn summary(reached: impl Iterator<Item = Option<bool>>, rounds: u32) -> String {
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for it in reached {
        *match it {
            Some(true) => &mut yes,
            Some(false) => &mut no,
            None => &mut unknown,
        } += 1;
    }
    format!("{yes} targets reached, {no} not reached, {unknown} not measured; {rounds} rounds.")
}
