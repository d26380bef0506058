//! The identity of a device: its properties when a run began, and differences to another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Facts;

/// Properties that survive a reboot, by which a run is resumed.
const LASTING: [&str; 9] = [
    "size_bytes",
    "wwid",
    "serial",
    "model",
    "mapping",
    "array",
    "card",
    "partition_start",
    "partition_uuid",
];
/// Most differences named.
const NAMED_MAX: usize = 4;

/// The properties of a device by name; empty if it is not to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DeviceIdentity(Facts);

impl DeviceIdentity {
    /// The identity with these properties.
    pub fn new<'a>(properties: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        Self(properties.into_iter().map(owned).collect())
    }

    /// True if there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The differences of the device present `now`, with both values; `None` if it is the same.
    pub fn difference(&self, now: &Self) -> Option<String> {
        difference(&self.0, &now.0)
    }

    /// The lasting properties as facts of a trial, such as `device.serial`.
    pub fn facts(&self) -> Facts {
        let lasting = |(name, value): (&String, &String)| {
            let lasts = LASTING.contains(&name.as_str());
            lasts.then(|| (format!("device.{name}"), value.clone()))
        };
        self.0.iter().filter_map(lasting).collect()
    }

    /// The differences from the device in an earlier trial's facts; `None` if those have no device,
    /// as in older records.
    pub fn difference_from_facts(&self, before: &Facts) -> Option<String> {
        let names = LASTING.map(|name| format!("device.{name}"));
        let before = before.iter().filter(|(name, _)| names.contains(name));
        let before: Facts = before.map(|(n, v)| (n.clone(), v.clone())).collect();
        if before.is_empty() {
            return None;
        }
        difference(&before, &self.facts())
    }
}

fn difference(before: &Facts, now: &Facts) -> Option<String> {
    let names = before
        .keys()
        .chain(now.keys().filter(|name| !before.contains_key(*name)));
    let shown =
        |facts: &Facts, name: &str| facts.get(name).map_or("none", String::as_str).to_owned();
    let differs = |name: &&String| before.get(*name) != now.get(*name);
    let differences: Vec<_> = names
        .filter(differs)
        .map(|name| {
            let plain = name
                .strip_prefix("device.")
                .unwrap_or(name)
                .replace('_', " ");
            format!(
                "its {plain} was {}, and is now {}",
                shown(before, name),
                shown(now, name)
            )
        })
        .take(NAMED_MAX)
        .collect();
    (!differences.is_empty()).then(|| differences.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(sequence: &str, serial: &str) -> DeviceIdentity {
        let properties = [
            ("sequence", sequence),
            ("serial", serial),
            ("size_bytes", "512"),
        ];
        DeviceIdentity::new(properties.map(|(name, value)| (name, value.to_owned())))
    }

    #[test]
    fn another_device_is_named_with_the_one_before_and_the_same_one_is_not() {
        assert_eq!(disk("1", "A").difference(&disk("1", "A")), None);
        let found = disk("1", "A").difference(&disk("2", "B")).expect("another");
        assert_eq!(
            found,
            "its sequence was 1, and is now 2; its serial was A, and is now B"
        );
        let none = DeviceIdentity::default();
        assert!(
            disk("1", "A")
                .difference(&none)
                .expect("gone")
                .contains("and is now none")
        );
    }

    #[test]
    fn after_a_start_anew_the_serial_is_compared_and_the_sequence_is_not() {
        let facts = disk("1", "A").facts();
        assert_eq!(facts.len(), 2, "{facts:?}");
        assert_eq!(disk("9", "A").difference_from_facts(&facts), None);
        let found = disk("1", "B").difference_from_facts(&facts);
        assert_eq!(found.as_deref(), Some("its serial was A, and is now B"));
        let older = [("kernel".to_owned(), "6.1".to_owned())].into();
        assert_eq!(disk("1", "B").difference_from_facts(&older), None);
    }
}
