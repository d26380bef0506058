//! "Did you mean ...": the known name most similar to a mistyped one, and its wording.

use std::fmt::Display;

/// The candidate most similar to `name`; `None` if none is similar. A candidate that has `name` as
/// one of several words, as `ssd-nvme-2024` has `nvme`, is similar.
pub fn nearest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (likeness(&name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The hint "did you mean 'ext4'?".
pub fn did_you_mean(nearest: impl Display) -> String {
    format!("did you mean '{nearest}'?")
}

/// That hint as the end of a message, "; did you mean 'ext4'?"; empty without a name.
pub fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; {}", did_you_mean(name)))
}

/// Similarity from 0 to 1; a swap of neighbours counts as one error.
fn likeness(name: &str, candidate: &str) -> f64 {
    if candidate.contains('-') && candidate.split('-').any(|word| word == name) {
        return 0.9;
    }
    strsim::normalized_damerau_levenshtein(name, &candidate.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_name_and_noise_finds_none() {
        let names = ["ext2", "ext3", "ext4", "xfs", "btrfs"];
        assert_eq!(nearest_name("brtfs", names), Some("btrfs"));
        assert_eq!(nearest_name("XSF", names), Some("xfs"));
        assert_eq!(nearest_name("etx4", names), Some("ext4"));
        assert_eq!(nearest_name("qqqq", names), None);
        let meant = suggestion(nearest_name("brtfs", names));
        assert_eq!(meant, "; did you mean 'btrfs'?");
        assert_eq!(suggestion(nearest_name("qqqq", names)), "");
        assert_eq!(nearest_name("usb", ["quick", "home-usb"]), Some("home-usb"));
    }
}
