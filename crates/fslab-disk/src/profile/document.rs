//! Reads and writes a complete profile, in a file or in a plan.

use fslab_model::TomlError;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use toml::{Table, Value};

use super::group::{Keys, Written, missing};
use super::quantity::{Quantity, keyword};
use super::{
    Array, Cache, Controller, DataSheet, Device, EmptiedBy, Flash, HardDisk, Interface, Media,
    ReadAhead, Seek, WriteBack,
};

/// Version of the format of profiles.
pub const PROFILE_FORMAT: u32 = 1;

/// The parameters of a simulated disk, with their sources. Always valid: both files and plans are
/// read through one checked conversion.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Table")]
pub struct Profile {
    /// Short name.
    pub name: String,
    /// Title for lists, one line.
    pub title: String,
    /// Year in which such disks were sold.
    pub year: u32,
    /// Which disk it is and what it stands for, in a few sentences.
    pub description: String,
    /// The block device.
    pub device: Device,
    /// The host interface.
    pub interface: Interface,
    /// The buffer memory.
    pub cache: Cache,
    /// The storage medium.
    pub medium: Medium,
    /// The RAID array, if the disk is one.
    pub array: Option<Array>,
    /// The RAID controller, if it has a cache.
    pub controller: Option<Controller>,
    /// How the buffer is emptied before a cold phase, if it is.
    pub emptied_by: Option<EmptiedBy>,
    /// The figures that the model must reach.
    pub data_sheet: DataSheet,
}

/// The storage medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Rotating platters.
    HardDisk(HardDisk),
    /// Flash memory.
    Flash(Flash),
}

#[derive(Clone, Copy)]
enum Kind {
    HardDisk,
    Flash,
}

const KINDS: [(&str, Kind); 2] = [("hdd", Kind::HardDisk), ("flash", Kind::Flash)];

impl Kind {
    /// The keys and groups of a file of that kind.
    fn keys(self) -> Vec<&'static str> {
        let mut keys = vec!["format", "name", "title", "year", "kind", "description"];
        keys.extend([Device::GROUP, Interface::GROUP, Cache::GROUP]);
        match self {
            Self::HardDisk => keys.extend([
                Media::GROUP,
                Seek::GROUP,
                ReadAhead::GROUP,
                WriteBack::GROUP,
            ]),
            Self::Flash => keys.push(Flash::GROUP),
        }
        keys.extend([
            Array::GROUP,
            Controller::GROUP,
            EmptiedBy::GROUP,
            DataSheet::GROUP,
        ]);
        keys
    }
}

impl Quantity for Kind {
    fn read(value: &Value) -> Result<Self, String> {
        keyword(value, &KINDS)
    }

    fn write(&self) -> Option<Value> {
        None
    }
}

impl Profile {
    /// Reads a profile.
    pub fn from_toml(text: &str) -> Result<Self, TomlError> {
        let table: Table = fslab_model::from_toml(text)?;
        Self::try_from(table).map_err(|error| error.located(text))
    }

    /// The kind of disk as in a file: `hdd` or `flash`.
    pub fn kind(&self) -> &'static str {
        match self.medium {
            Medium::HardDisk(_) => "hdd",
            Medium::Flash(_) => "flash",
        }
    }

    /// The profile as a file, from which [`Profile::from_toml`] reads an equal one.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.head() {
            text.push_str(&format!("{name} = {}\n", toml_value(&value)));
        }
        for (group, keys) in self.groups() {
            text.push_str(&format!("\n[{group}]\n"));
            for (name, value) in keys {
                text.push_str(&format!("{name} = {}\n", toml_value(&value)));
            }
        }
        text
    }

    /// The keys before the groups.
    pub(super) fn head(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &str| Value::String(text.to_owned());
        let number = |number: u32| Value::Integer(i64::from(number));
        vec![
            ("format", number(PROFILE_FORMAT)),
            ("name", text(&self.name)),
            ("title", text(&self.title)),
            ("year", number(self.year)),
            ("kind", text(self.kind())),
            ("description", text(&self.description)),
        ]
    }

    /// Every group with its keys, in the order in which they are written.
    pub fn groups(&self) -> Vec<Written> {
        let mut groups = vec![
            self.device.write(),
            self.interface.write(),
            self.cache.write(),
        ];
        match &self.medium {
            Medium::HardDisk(disk) => groups.extend([
                disk.media.write(),
                disk.seek.write(),
                disk.read_ahead.write(),
                disk.write_back.write(),
            ]),
            Medium::Flash(flash) => groups.push(flash.write()),
        }
        groups.extend(self.array.as_ref().map(Array::write));
        groups.extend(self.controller.as_ref().map(Controller::write));
        groups.extend(self.emptied_by.as_ref().map(EmptiedBy::write));
        groups.push(self.data_sheet.write());
        groups
    }
}

/// A value in TOML; a text of several lines is a multi-line string.
fn toml_value(value: &Value) -> String {
    match value {
        Value::String(text) if is_written_in_lines(text) => {
            let text = text.replace('\\', "\\\\");
            format!("\"\"\"\n{text}\n\"\"\"")
        }
        other => other.to_string(),
    }
}

/// Whether a text has several lines, in which only backslashes must be escaped.
fn is_written_in_lines(text: &str) -> bool {
    let is_escaped = |c: char| c.is_control() && c != '\n' && c != '\t';
    text.contains('\n') && !text.contains("\"\"\"") && !text.contains(is_escaped)
}

impl TryFrom<Table> for Profile {
    type Error = TomlError;

    fn try_from(table: Table) -> Result<Self, TomlError> {
        let keys = Keys::new("", &table);
        let format: u32 = keys.take("format")?;
        fslab_model::check_format(format, PROFILE_FORMAT)?;
        let kind: Kind = keys.take("kind")?;
        keys.only(&kind.keys())?;
        let profile = Self {
            name: keys.take("name")?,
            title: keys.take("title")?,
            year: keys.take("year")?,
            description: keys.take("description")?,
            device: Device::read(required(&keys, Device::GROUP)?)?,
            interface: Interface::read(required(&keys, Interface::GROUP)?)?,
            cache: Cache::read(required(&keys, Cache::GROUP)?)?,
            medium: match kind {
                Kind::HardDisk => Medium::HardDisk(HardDisk {
                    media: Media::read(required(&keys, Media::GROUP)?)?,
                    seek: Seek::read(required(&keys, Seek::GROUP)?)?,
                    read_ahead: ReadAhead::read(required(&keys, ReadAhead::GROUP)?)?,
                    write_back: WriteBack::read(required(&keys, WriteBack::GROUP)?)?,
                }),
                Kind::Flash => Medium::Flash(Flash::read(required(&keys, Flash::GROUP)?)?),
            },
            array: keys.group(Array::GROUP)?.map(Array::read).transpose()?,
            controller: keys
                .group(Controller::GROUP)?
                .map(Controller::read)
                .transpose()?,
            emptied_by: keys
                .group(EmptiedBy::GROUP)?
                .map(EmptiedBy::read)
                .transpose()?,
            data_sheet: DataSheet::read(required(&keys, DataSheet::GROUP)?)?,
        };
        profile.check()?;
        Ok(profile)
    }
}

fn required<'a>(keys: &Keys<'a>, name: &'static str) -> Result<Keys<'a>, TomlError> {
    keys.group(name)?.ok_or_else(|| missing([name].into_iter()))
}

impl Serialize for Profile {
    /// As in a file, with units.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (head, groups) = (self.head(), self.groups());
        let mut map = serializer.serialize_map(Some(head.len() + groups.len()))?;
        for (name, value) in head {
            map.serialize_entry(name, &value)?;
        }
        for (name, keys) in groups {
            map.serialize_entry(name, &Group(keys))?;
        }
        map.end()
    }
}

struct Group(Vec<(&'static str, Value)>);

impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (*name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    const HARD_DISK: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../disks/hdd-7200-ata100-2002.toml"
    ));
    const FLASH: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../disks/usb-flash-16g-2015.toml"
    ));
    const ARRAY: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../disks/sas-15k-raid10-2012.toml"
    ));

    /// The fault of a profile with one change, without its position, and its hint.
    #[track_caller]
    fn fault(text: &str, from: &str, to: &str) -> (String, Option<String>) {
        assert!(text.contains(from), "{from:?} is in the profile");
        let changed = text.replacen(from, to, 1);
        let fault = Profile::from_toml(&changed).expect_err("refused");
        let fault = fault.without_position();
        (fault.to_string(), fault.hint)
    }

    #[test]
    fn a_key_that_is_misspelt_is_refused_with_the_nearest() {
        let (fault, hint) = fault(HARD_DISK, "average =", "avrage =");
        assert_eq!(fault, "seek.avrage: unknown key");
        assert_eq!(hint.as_deref(), Some("did you mean 'average'?"));
        let (fault, hint) = self::fault(HARD_DISK, "rpm = 7200", "rpm = 7200\nheds = 3");
        assert_eq!(fault, "media.heds: unknown key");
        assert_eq!(hint.as_deref(), Some("did you mean 'heads'?"));
    }

    #[test]
    fn faults_have_the_position_of_their_key() {
        let line_of = |key: &str| {
            1 + HARD_DISK[..HARD_DISK.find(key).expect(key)]
                .matches('\n')
                .count()
        };
        for (from, to) in [
            ("average =", "avrage ="),
            ("average = \"8.9 ms\"", "average = 8.9"),
        ] {
            let fault = Profile::from_toml(&HARD_DISK.replacen(from, to, 1)).expect_err("refused");
            let position = fault.position.expect("a position");
            assert_eq!((position.line, position.column), (line_of("average ="), 1));
        }
    }

    #[test]
    fn a_group_of_another_kind_is_refused() {
        let flash_in_hdd = format!("{HARD_DISK}\n[flash]\nchannels = 1\n");
        let fault = Profile::from_toml(&flash_in_hdd)
            .expect_err("refused")
            .without_position();
        assert_eq!(fault.to_string(), "flash: unknown key");
        let (fault, hint) = self::fault(HARD_DISK, "[seek]", "[sek]");
        assert_eq!(fault, "sek: unknown key");
        assert_eq!(hint.as_deref(), Some("did you mean 'seek'?"));
        let groups = HARD_DISK.find("[data_sheet]").expect("the last group");
        let fault = Profile::from_toml(&HARD_DISK[..groups])
            .expect_err("refused")
            .without_position();
        assert_eq!(fault.to_string(), "data_sheet: missing");
        let (fault, _) = self::fault(HARD_DISK, "kind = \"hdd\"", "kind = \"tape\"");
        assert_eq!(fault, "kind: 'tape': must be one of hdd, flash");
    }

    #[test]
    fn every_group_needs_a_source() {
        let (fault, hint) = fault(FLASH, "source = \"as sticks", "# source = \"as sticks");
        assert_eq!(fault, "cache.source: missing");
        assert!(hint.is_some_and(|hint| hint.contains("--toml")));
        let (fault, _) = self::fault(HARD_DISK, "title = \"", "title = \"\" #");
        assert_eq!(fault, "title: '': is empty");
    }

    #[test]
    fn a_value_without_its_unit_or_with_a_wrong_one_is_refused() {
        let (fault, _) = fault(HARD_DISK, "average = \"8.9 ms\"", "average = 8.9");
        assert_eq!(
            fault,
            "seek.average: '8.9': has no unit; write the number and its unit in quotes"
        );
        let (fault, _) = self::fault(HARD_DISK, "\"8.9 ms\"", "\"8.9 MB\"");
        assert!(
            fault.starts_with("seek.average: '8.9 MB': the unit 'MB' is not one of s, ms"),
            "{fault}"
        );
        let (fault, _) = self::fault(HARD_DISK, "rpm = 7200", "rpm = \"7200\"");
        assert_eq!(fault, "media.rpm: '7200': must be an integer, not a string");
    }

    /// Asserts that each change, of one text to another, is refused as impossible at that key.
    #[track_caller]
    fn impossible(text: &str, changes: &[(&str, &str, &str)]) {
        for (from, to, key) in changes {
            let (fault, _) = fault(text, from, to);
            assert!(
                fault.starts_with(&format!("{key}: impossible: ")),
                "{fault}"
            );
        }
    }

    #[test]
    fn values_that_no_hard_disk_has_are_refused_with_the_reason() {
        let changes = [
            ("rpm = 7200", "rpm = 0", "media.rpm"),
            ("\"25.6 MB/s\"", "\"60 MB/s\"", "media.inner"),
            ("\"8.9 ms\"", "\"22 ms\"", "seek.average"),
            ("\"30020272128 B\"", "\"1001 B\"", "device.capacity"),
            ("\"512 B\"", "\"520 B\"", "device.physical_block"),
            ("queue_depth = 1", "queue_depth = 0", "device.queue_depth"),
            ("\"512 KiB\"", "\"2 MiB\"", "write_back.share"),
            ("year = 2002", "year = 1900", "year"),
            ("name = \"hdd", "name = \"H D", "name"),
        ];
        impossible(HARD_DISK, &changes);
    }

    #[test]
    fn values_that_no_flash_and_no_array_has_are_refused_with_the_reason() {
        let changes = [
            ("open_blocks = 32", "", "flash.open_blocks"),
            ("\"100 %\"", "\"101 %\"", "flash.used"),
            ("\"8 KiB\"", "\"9 KiB\"", "flash.page"),
        ];
        impossible(&FLASH.replace("open_blocks = \"50 %\"\n", ""), &changes);
        let changes = [
            ("members = 10", "members = 9", "array.members"),
            ("\"64 KiB\"", "\"63 KiB\"", "array.chunk"),
        ];
        impossible(ARRAY, &changes);
    }

    // `fslab disk show` and --dry-run accepted these, since only the model checked ranges; the
    // guest's driver then refused them, overflowed, or used all memory.
    #[test]
    fn values_that_the_driver_would_refuse_are_refused_when_a_profile_is_read() {
        let changes = [
            ("rpm = 7200", "rpm = 999", "media.rpm"),
            ("rpm = 7200", "rpm = 60001", "media.rpm"),
            ("zones = 16", "zones = 65", "media.zones"),
            (
                "queue_depth = 1",
                "queue_depth = 1025",
                "device.queue_depth",
            ),
            ("\"128 KiB\"", "\"3584 B\"", "device.max_request"),
            ("\"128 KiB\"", "\"1073742336 B\"", "device.max_request"),
            ("rate = \"", "rate = \"9999 B/s\" #", "interface.rate"),
            ("rate = \"", "rate = \"17 GB/s\" #", "interface.rate"),
            (
                "command = \"",
                "command = \"1000000001 ns\" #",
                "interface.command",
            ),
            (
                "command = \"",
                "command = \"18446744073709551615 ns\" #",
                "interface.command",
            ),
            ("full = \"", "full = \"1000000001 ns\" #", "seek.full"),
            (
                "write_settle = \"",
                "write_settle = \"2 s\" #",
                "seek.write_settle",
            ),
            (
                "head_switch = \"",
                "head_switch = \"11 ms\" #",
                "seek.head_switch",
            ),
            ("idle = \"", "idle = \"3601 s\" #", "write_back.idle"),
            ("outer = \"", "outer = \"2001 MB/s\" #", "media.outer"),
        ];
        impossible(HARD_DISK, &changes);
    }

    #[test]
    fn values_of_flash_and_arrays_that_the_driver_would_refuse_are_refused() {
        let changes = [
            ("channels = ", "channels = 0 #", "flash.channels"),
            ("channels = ", "channels = 65 #", "flash.channels"),
            ("open_blocks = 32", "open_blocks = 257", "flash.open_blocks"),
            (
                "pages_per_block = ",
                "pages_per_block = 65537 #",
                "flash.pages_per_block",
            ),
            ("page = \"8 KiB\"", "page = \"128 KiB\"", "flash.page"),
            (
                "page_read = \"",
                "page_read = \"1001 ms\" #",
                "flash.page_read",
            ),
            (
                "block_erase = \"",
                "block_erase = \"11 s\" #",
                "flash.block_erase",
            ),
            (
                "channel_rate = \"",
                "channel_rate = \"1 B/s\" #",
                "flash.channel_rate",
            ),
            ("spare = \"", "spare = \"1001 %\" #", "flash.spare"),
        ];
        impossible(&FLASH.replace("open_blocks = \"50 %\"\n", ""), &changes);
        let changes = [
            ("members = 10", "members = 0", "array.members"),
            ("members = 10", "members = 2", "array.members"),
            ("members = 10", "members = 66", "array.members"),
            ("members = 10", "members = 1000000000", "array.members"),
            ("\"64 KiB\"", "\"16 GiB\"", "array.chunk"),
        ];
        impossible(ARRAY, &changes);
    }

    #[test]
    fn the_ends_of_a_range_are_accepted() {
        let changes = [
            ("zones = 16", "zones = 64"),
            ("queue_depth = 1", "queue_depth = 1024"),
            ("\"128 KiB\"", "\"4 KiB\""),
            ("\"128 KiB\"", "\"1 GiB\""),
            ("rate = \"", "rate = \"10 kB/s\" #"),
            ("rate = \"", "rate = \"16 GB/s\" #"),
            ("command = \"", "command = \"1 s\" #"),
            ("idle = \"", "idle = \"3600 s\" #"),
        ];
        for (from, to) in changes {
            assert!(HARD_DISK.contains(from), "{from:?} is in the profile");
            let changed = HARD_DISK.replacen(from, to, 1);
            let profile = Profile::from_toml(&changed);
            assert!(profile.is_ok(), "{to}: {profile:?}");
        }
    }

    // One page per block took 60 GB of memory for the mapping.
    #[test]
    fn a_disk_of_too_many_blocks_is_refused_before_it_takes_memory() {
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../disks/ssd-nvme-2024.toml"
        ));
        let small = text.replacen("pages_per_block = 512", "pages_per_block = 1", 1);
        let small = small.replacen("page = \"16 KiB\"", "page = \"512 B\"", 1);
        let small = small.replacen("dies_per_channel = 6", "dies_per_channel = 1", 1);
        let fault = Profile::from_toml(&small).expect_err("refused");
        assert!(fault.to_string().contains("pages_per_block"), "{fault}");
    }

    #[test]
    fn a_data_sheet_of_impossible_numbers_is_refused() {
        let changes = [
            (
                "random_read = \"",
                "random_read = \"0 ns\" #",
                "data_sheet.random_read",
            ),
            (
                "sequential_read = \"",
                "sequential_read = \"18446744073709551615 B/s\" #",
                "data_sheet.sequential_read",
            ),
        ];
        impossible(HARD_DISK, &changes);
    }

    #[test]
    fn a_newer_format_is_refused() {
        let (fault, _) = fault(HARD_DISK, "format = 1", "format = 99");
        assert_eq!(fault, "format: version 99, but this fslab reads version 1");
        let fault = Profile::from_toml("x").expect_err("refused");
        assert!(fault.path.is_empty() && fault.position.is_some(), "{fault}");
    }

    #[test]
    fn a_plan_has_quantities_with_their_units_and_reads_them_back() {
        let profile = registry::find("hdd-7200-ata100-2002").expect("built in");
        let json = serde_json::to_value(&profile).expect("serialises");
        assert_eq!(json["seek"]["average"], "8.9 ms");
        assert_eq!(json["device"]["capacity"], "30020272128 B");
        let broken = json.to_string().replace("8.9 ms", "8.9 MB");
        let error = serde_json::from_str::<Profile>(&broken).expect_err("refused");
        assert!(error.to_string().contains("seek.average"), "{error}");
    }

    #[test]
    fn the_digest_is_of_the_parameters_alone() {
        let profile = registry::find("hdd-7200-ata100-2002").expect("built in");
        let expected = "\
kind=hdd
sectors=58633344
queue_depth=1
interface_bytes_per_s=100000000
command_ns=300000
write_cache=1
buffer_bytes=2097152
physical_block_bytes=512
max_request_bytes=131072
rpm=7200
heads=3
zones=16
outer_bytes_per_s=42000000
inner_bytes_per_s=25600000
seek_track_ns=2000000
seek_average_ns=8900000
seek_full_ns=21000000
write_settle_ns=2000000
head_switch_ns=1400000
read_segments=12
read_segment_bytes=131072
write_buffer_bytes=524288
destage_idle_ns=20000000
array=none
";
        assert_eq!(profile.parameters(), expected);
        let digest = profile.digest();
        assert_eq!(digest.len(), 16);
        let mut other = profile.clone();
        other.title = "another title".into();
        assert_eq!(other.digest(), digest);
        other.device.queue_depth = 2;
        assert_ne!(other.digest(), digest);
    }
}
