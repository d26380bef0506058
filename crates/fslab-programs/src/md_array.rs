//! An array of md by its files in sysfs (Documentation/admin-guide/md.rst).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fslab_model::{Failure, FailureKind};
use fslab_sys::ArrayMember;

const BLOCK: &str = "/sys/class/block";
/// Attempts to remove a member that requests are still on their way to.
const ATTEMPTS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct MdArray {
    /// The kernel's name: `md127`.
    name: String,
}

impl MdArray {
    /// The first array at or below the device of the file system of `path`.
    pub(crate) fn below(path: &Path) -> Option<Self> {
        let device = fslab_sys::device_below(path)?.kernel_name()?;
        let name = array_below(&device)?;
        Some(Self { name })
    }

    pub(crate) fn path(&self) -> String {
        format!("/dev/{}", self.name)
    }

    /// Takes out the member of the highest number, and returns the kernel's name of its disk.
    pub(crate) fn fail_last(&self) -> Result<String, Failure> {
        let members = self.members()?;
        let last = members.iter().max_by_key(|(_, slot)| *slot);
        let (disk, _) =
            last.ok_or_else(|| self.failed("find a member of", &io::Error::other("none")))?;
        let state = format!("dev-{disk}/state");
        self.write(&state, "faulty")?;
        let mut left = ATTEMPTS;
        loop {
            match self.write(&state, "remove") {
                Ok(()) => return Ok(disk.clone()),
                // EBUSY: requests to it have not ended yet.
                Err(failure) if failure.errno == Some(16) && left > 0 => {
                    left -= 1;
                    thread::sleep(PAUSE);
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// The device among `devices` that belongs to the array and is not in it; `None` if all are.
    pub(crate) fn missing(&self, devices: &[PathBuf]) -> Result<Option<PathBuf>, Failure> {
        let members = self.members()?;
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        let own = names
            .first()
            .and_then(|name| uuid_on(&Path::new("/dev").join(name)));
        let Some(own) = own else {
            return Err(self.failed("read the superblock of", &io::Error::other("none")));
        };
        let missing = devices.iter().find(|device| {
            let path = fs::canonicalize(device).unwrap_or_else(|_| device.to_path_buf());
            let name = path.file_name().and_then(|name| name.to_str());
            let is_member = name.is_some_and(|name| names.contains(&name));
            !is_member && uuid_on(&path) == Some(own)
        });
        Ok(missing.cloned())
    }

    /// True if no member is missing and nothing is synchronised.
    pub(crate) fn is_whole(&self) -> Result<bool, Failure> {
        Ok(self.read("degraded")? == "0" && self.is_idle()?)
    }

    /// True if nothing is synchronised or checked.
    pub(crate) fn is_idle(&self) -> Result<bool, Failure> {
        Ok(self.read("sync_action")? == "idle")
    }

    /// Starts to compare all data with its redundancy.
    pub(crate) fn start_check(&self) -> Result<(), Failure> {
        self.write("sync_action", "check")
    }

    /// The sectors that differed in the last check.
    pub(crate) fn mismatches(&self) -> Result<u64, Failure> {
        self.number("mismatch_cnt")
    }

    /// The bytes of each member that the array uses.
    pub(crate) fn member_bytes(&self) -> Result<u64, Failure> {
        Ok(self.number("component_size")? << 10)
    }

    /// The kernel's names of the members' devices, with their numbers in the array.
    fn members(&self) -> Result<Vec<(String, u32)>, Failure> {
        let folder = self.folder();
        let entries = fs::read_dir(&folder).map_err(|error| self.failed("list", &error))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut found: Vec<(String, u32)> = names
            .filter_map(|name| {
                let disk = name.to_str()?.strip_prefix("dev-")?.to_owned();
                let slot = self.read(&format!("dev-{disk}/slot")).ok()?;
                Some((disk, slot.parse().ok()?))
            })
            .collect();
        found.sort_by_key(|(_, slot)| *slot);
        Ok(found)
    }

    fn folder(&self) -> PathBuf {
        Path::new(BLOCK).join(&self.name).join("md")
    }

    fn read(&self, name: &str) -> Result<String, Failure> {
        let text = fs::read_to_string(self.folder().join(name));
        text.map(|text| text.trim().to_owned())
            .map_err(|error| self.failed(&format!("read {name} of"), &error))
    }

    fn number(&self, name: &str) -> Result<u64, Failure> {
        let text = self.read(name)?;
        text.parse().map_err(|_| {
            let error = io::Error::other(format!("'{text}' is no number"));
            self.failed(&format!("read {name} of"), &error)
        })
    }

    fn write(&self, name: &str, value: &str) -> Result<(), Failure> {
        fs::write(self.folder().join(name), value)
            .map_err(|error| self.failed(&format!("write {value} to {name} of"), &error))
    }

    fn failed(&self, doing: &str, error: &io::Error) -> Failure {
        let text = format!("cannot {doing} the array {}", self.name);
        Failure::new(FailureKind::Device, text).because(error)
    }
}

/// The array at `device`, or the first one below it.
fn array_below(device: &str) -> Option<String> {
    let folder = Path::new(BLOCK).join(device);
    if folder.join("md").exists() {
        return Some(device.to_owned());
    }
    let slaves = fs::read_dir(folder.join("slaves")).ok()?.flatten();
    let names = slaves.map(|slave| slave.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.iter().find_map(|name| array_below(name))
}

/// The UUID of the array that the device was made a member of.
fn uuid_on(device: &Path) -> Option<[u8; 16]> {
    Some(ArrayMember::on(device).ok()??.array)
}
