//! Options that set one field.

use super::settings::FioSettings;
use super::units::{KbBase, bytes, number, number_up_to, size, time_ns, truth};

const SECOND_NS: u64 = 1_000_000_000;
const MICROSECOND_NS: u64 = 1_000;
/// Limit of the copies of a job.
const COPIES_MAX: u64 = 1_024;

/// Sets what an option means.
pub(crate) type Setter = fn(&mut FioSettings, &str) -> Result<(), String>;

/// A setter of one field, and how its value is read.
macro_rules! setter {
    ($field:ident = $read:expr) => {{
        fn set(settings: &mut FioSettings, text: &str) -> Result<(), String> {
            let read: fn(&str, KbBase) -> Result<_, String> = $read;
            settings.$field = read(text, settings.base)?;
            Ok(())
        }
        set as Setter
    }};
}

pub(crate) const SIZE: Setter = setter!(size = |text, base| size(text, base).map(Some));
pub(crate) const IO_SIZE: Setter = setter!(io_size = |text, base| size(text, base).map(Some));
pub(crate) const FILE_SIZE: Setter = setter!(
    file_size = |text, base| {
        match text.contains('-') {
            true => Err("sizes that differ from file to file".into()),
            false => bytes(text, base).map(Some),
        }
    }
);
pub(crate) const OFFSET: Setter = setter!(offset = bytes);
pub(crate) const OFFSET_INCREMENT: Setter = setter!(offset_increment = bytes);
pub(crate) const ALIGNMENT: Setter =
    setter!(alignment = |text, base| bytes(text.split(',').next().unwrap_or(text), base).map(Some));
pub(crate) const OPERATIONS: Setter = setter!(operations = |text, _| number(text).map(Some));
pub(crate) const LOOPS: Setter = setter!(loops = |text, _| number(text).map(|it| it.max(1)));
pub(crate) const FILES: Setter =
    setter!(files = |text, _| { number_up_to(text, 1_000_000).map(|it| it.max(1)) });
pub(crate) const COPIES: Setter =
    setter!(copies = |text, _| { number_up_to(text, COPIES_MAX).map(|it| it.max(1)) });
pub(crate) const DEPTH: Setter =
    setter!(depth = |text, _| { number_up_to(text, 4_096).map(|it| it.max(1)) });
pub(crate) const BATCH: Setter =
    setter!(batch = |text, _| { number_up_to(text, 4_096).map(|it| it.max(1)) });
pub(crate) const DIRECT: Setter = setter!(direct = |text, _| truth(text));
pub(crate) const BUFFERED: Setter = setter!(direct = |text, _| truth(text).map(|it| !it));
pub(crate) const FSYNC: Setter = setter!(fsync = |text, _| number(text));
pub(crate) const FDATASYNC: Setter = setter!(fdatasync = |text, _| number(text));
pub(crate) const END_FSYNC: Setter = setter!(end_fsync = |text, _| truth(text));
pub(crate) const RUNTIME: Setter = setter!(runtime_ns = |text, _| time_ns(text, SECOND_NS));
pub(crate) const TIME_BASED: Setter = setter!(time_based = |text, _| truth(text));
pub(crate) const RAMP: Setter = setter!(ramp_ns = |text, _| time_ns(text, SECOND_NS));
pub(crate) const THINK: Setter = setter!(think_ns = |text, _| time_ns(text, MICROSECOND_NS));
pub(crate) const THINK_BLOCKS: Setter =
    setter!(think_operations = |text, _| { number(text).map(|it| it.max(1)) });
pub(crate) const NO_MAP: Setter = setter!(each_once = |text, _| truth(text).map(|it| !it));
pub(crate) const OVERWRITE: Setter = setter!(overwrite = |text, _| truth(text));
pub(crate) const CREATE_ON_OPEN: Setter = setter!(create_on_open = |text, _| truth(text));
pub(crate) const INVALIDATE: Setter = setter!(invalidate = |text, _| truth(text));
pub(crate) const PRE_READ: Setter = setter!(pre_read = |text, _| truth(text));
pub(crate) const STONEWALL: Setter = setter!(stonewall = |text, _| truth(text));
pub(crate) const WAIT_FOR: Setter = setter!(wait_for = |text, _| Ok(Some(text.to_owned())));
pub(crate) const EXITALL: Setter = setter!(exitall = |text, _| truth(text));
pub(crate) const THREAD: Setter = setter!(is_thread = |text, _| truth(text));
pub(crate) const COMPRESS: Setter =
    setter!(compressible_percent = |text, _| { number_up_to(text, 100) });
pub(crate) const ZERO: Setter =
    setter!(compressible_percent = |text, _| { truth(text).map(|it| if it { 100 } else { 0 }) });
pub(crate) const DEDUPE: Setter = setter!(duplicate_percent = |text, _| number_up_to(text, 100));
pub(crate) const DO_VERIFY: Setter = setter!(do_verify = |text, _| truth(text));
pub(crate) const MIX_READ: Setter = setter!(read_percent = |text, _| number_up_to(text, 100));
pub(crate) const MIX_WRITE: Setter =
    setter!(read_percent = |text, _| { number_up_to(text, 100).map(|it| 100 - it) });
pub(crate) const POLLS: Setter = setter!(polls = |text, _| truth(text));
pub(crate) const FIXED_BUFFERS: Setter = setter!(registered_buffers = |text, _| truth(text));
pub(crate) const REGISTER_FILES: Setter = setter!(registered_file = |text, _| truth(text));
pub(crate) const SUBMISSION_POLL: Setter = setter!(submission_poll = |text, _| truth(text));
