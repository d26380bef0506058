//! The facts of a machine that a study requires.

use std::collections::BTreeMap;

use fslab_model::Facts;
use fslab_sys::Ability;

/// Begin of the facts that Linux reports of a device. Another platform has other settings, which
/// are part of what is measured there.
const OF_DEVICE: &str = "device.";

/// The first fact that the study requires and this machine lacks, in words.
pub(crate) fn missing(required: &BTreeMap<String, String>, found: &Facts) -> Option<String> {
    let differs = |(name, demanded): (&String, &String)| match found.get(name) {
        Some(value) if value == demanded => None,
        Some(value) => Some(format!(
            "the study demands {name} = {demanded}, not {value}{}",
            remedy(name, demanded)
        )),
        None if name.starts_with(OF_DEVICE) && Ability::Disturbances.demand().is_err() => None,
        None => Some(format!(
            "the study demands {name} = {demanded}, but it is not known here"
        )),
    };
    required.iter().find_map(differs)
}

/// How a fact is changed, where a command of util-linux does.
fn remedy(name: &str, demanded: &str) -> String {
    match (name, demanded.parse::<u64>()) {
        // It counts sectors of 512 bytes.
        ("device.read_ahead_kb", Ok(kib)) => {
            format!(
                "; set it with blockdev --setra {} DEVICE",
                kib.saturating_mul(2)
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_read_ahead_comes_with_the_command_that_sets_it() {
        let found = [("device.read_ahead_kb".to_owned(), "4096".to_owned())].into();
        let required = [("device.read_ahead_kb".into(), "128".into())].into();
        let reason = missing(&required, &found).expect("differs");
        assert!(reason.ends_with("blockdev --setra 256 DEVICE"), "{reason}");
    }
}
