//! Parameters of the tests' disks.

/// Parameters that can be changed.
#[derive(Clone, Debug)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn of(lines: &[(&str, u64)]) -> Self {
        let mut parameters = Self(Vec::new());
        for &(name, value) in lines {
            parameters.0.push((name.to_owned(), value.to_string()));
        }
        parameters
    }

    /// The same with one changed or added.
    pub(crate) fn with(mut self, name: &str, value: impl ToString + Copy) -> Self {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// The same without one.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    /// The number of that name.
    pub(crate) fn number(&self, name: &str) -> u64 {
        let line = self.0.iter().find(|(known, _)| known == name);
        line.expect("the parameter is there")
            .1
            .parse()
            .expect("it is a number")
    }

    /// The text that the model reads.
    pub(crate) fn text(&self) -> String {
        self.0
            .iter()
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect()
    }
}

/// A hard disk simple enough to compute by hand: a revolution of 10 ms, two heads, ten sectors per
/// track, 11 cylinders; no cache, and an interface faster than the media.
pub(crate) fn tiny_disk() -> Parameters {
    Parameters::of(&[
        ("sectors", 220),
        ("queue_depth", 1),
        ("interface_bytes_per_s", 1_000_000_000),
        ("command_ns", 100_000),
        ("write_cache", 0),
        ("buffer_bytes", 0),
        ("physical_block_bytes", 512),
        ("rpm", 6000),
        ("heads", 2),
        ("zones", 1),
        // 20 sectors in the 23 ms of a cylinder: two revolutions and two switches.
        ("outer_bytes_per_s", 20 * 512 * 1000 / 23),
        ("inner_bytes_per_s", 20 * 512 * 1000 / 23),
        ("head_switch_ns", 1_000_000),
        ("seek_track_ns", 2_000_000),
        ("seek_average_ns", 5_000_000),
        ("seek_full_ns", 11_000_000),
        ("write_settle_ns", 500_000),
        ("read_segments", 0),
    ])
    .with("kind", "hdd")
}

/// A desktop disk with 4 surfaces, without caches.
pub(crate) fn bare_disk() -> Parameters {
    Parameters::of(&[
        ("sectors", 976_773_168),
        ("queue_depth", 32),
        ("interface_bytes_per_s", 300_000_000),
        ("command_ns", 150_000),
        ("write_cache", 0),
        ("buffer_bytes", 16 << 20),
        ("physical_block_bytes", 512),
        ("rpm", 7200),
        ("heads", 4),
        ("zones", 16),
        ("outer_bytes_per_s", 125_000_000),
        ("inner_bytes_per_s", 60_000_000),
        ("head_switch_ns", 800_000),
        ("seek_track_ns", 1_000_000),
        ("seek_average_ns", 8_500_000),
        ("seek_full_ns", 18_000_000),
        ("write_settle_ns", 700_000),
        ("read_segments", 0),
    ])
    .with("kind", "hdd")
}

/// The same with read segments and a write cache, as sold.
pub(crate) fn desktop_disk() -> Parameters {
    bare_disk()
        .with("read_segments", 16)
        .with("read_segment_bytes", 512 << 10)
        .with("write_cache", 1)
        .with("write_buffer_bytes", 4 << 20)
        .with("destage_idle_ns", 50_000_000)
}
