//! An array of system calls that are executed one after the other, by one call of a guest's kernel
//! or, in tests, one by one here.
//!
//! In User-Mode Linux each system call costs its host 20 us. The driver in
//! `kernel/simdisk/lab/calls_kern.c` executes an array of them with one; its `calls.h` has the
//! structures of this file. What the calls do, in which order, and the times that are noted before
//! and after them are the same.
//!
//! All memory of the array is allocated once, by [`open_call_array`]: in a guest in virtual time,
//! before the measured memory opens.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::call_batch::CallBatch;
use super::clock::{CallClock, CallClockKind, monotonic_ns};
use crate::{DoneOperation, STAMP_BYTES, StoppedOperation};

/// Calls of an array.
pub(super) const CALLS_MAX: usize = 512;
/// Operations of an array.
pub(super) const OPERATIONS_MAX: usize = 256;
/// Bytes of names of an array.
pub(super) const NAME_BYTES: usize = 32 << 10;
/// Calls before a call whose results it can refer to.
pub(super) const RESULTS: usize = 64;
const ARGUMENTS: usize = 6;

/// Instead of a system call's number: copies bytes of this process's memory.
pub(super) const COPY: u32 = u32::MAX;
/// Flags of a call: read the clock before it, after it; end the array unless the result is the
/// expected one.
pub(super) const BEFORE: u32 = 1;
pub(super) const AFTER: u32 = 2;
pub(super) const EXPECTS: u32 = 4;

/// `struct lab_call`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Call {
    pub(super) number: u32,
    pub(super) flags: u32,
    pub(super) arguments: [u64; ARGUMENTS],
    /// For each argument 0, or how many calls before is the one whose result it is.
    pub(super) from: [u8; 8],
    pub(super) expected: i64,
    pub(super) result: i64,
    pub(super) before: u64,
    pub(super) after: u64,
}

/// `struct lab_calls`.
#[repr(C)]
struct Request {
    calls: u64,
    count: u32,
    clock: u32,
    until: u64,
    last: u64,
    same: u32,
    same_max: u32,
}

/// `_IOWR('F', 1, struct lab_calls)`.
const RUN_CALLS: libc::Ioctl =
    ((3 << 30) | (size_of::<Request>() << 16) | ((b'F' as usize) << 8) | 1) as libc::Ioctl;

/// An operation: the calls from `first` to before `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) first: usize,
    pub(super) end: usize,
    /// What it counts.
    pub(super) count: u64,
}

/// The array of this process while no one uses it.
static ARRAY: Mutex<Option<CallArray>> = Mutex::new(None);

/// Arrays that were made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// An array, with what its calls refer to.
pub struct CallArray {
    /// The driver; without one, the calls are made one by one.
    driver: Option<OwnedFd>,
    pub(super) calls: Vec<Call>,
    pub(super) operations: Vec<Operation>,
    pub(super) names: Box<[Cell<u8>]>,
    pub(super) names_used: usize,
    /// What each stat writes and no one reads.
    pub(super) stat: Box<Cell<libc::stat>>,
    pub(super) stamps: Box<[Cell<[u8; STAMP_BYTES]>]>,
    pub(super) stamps_used: usize,
    /// Calls that were made.
    done: usize,
}

/// The array of this process, given back when dropped.
pub struct TakenCallArray(Option<CallArray>);

impl Drop for TakenCallArray {
    fn drop(&mut self) {
        *lock() = self.0.take();
    }
}

impl Deref for TakenCallArray {
    type Target = CallArray;

    fn deref(&self) -> &CallArray {
        self.0.as_ref().expect("is given back when dropped")
    }
}

impl DerefMut for TakenCallArray {
    fn deref_mut(&mut self) -> &mut CallArray {
        self.0.as_mut().expect("is given back when dropped")
    }
}

/// Makes the driver at `device` execute arrays of calls for the rest of the process.
///
/// # Errors
/// Those of open(2): ENOENT if the kernel has none.
pub fn open_call_array(device: &Path) -> io::Result<()> {
    let driver = File::options().read(true).write(true).open(device)?;
    *lock() = Some(CallArray::new(Some(driver.into())));
    Ok(())
}

/// Gives this process an array whose calls it makes one by one: for tests.
pub fn use_call_array_without_driver() {
    *lock() = Some(CallArray::without_driver());
}

/// Arrays of calls that this process has made: for tests.
pub fn call_arrays_made() -> u64 {
    MADE.load(Ordering::Relaxed)
}

/// True if this process uses such a driver.
pub fn has_call_array() -> bool {
    lock().is_some()
}

fn lock() -> std::sync::MutexGuard<'static, Option<CallArray>> {
    ARRAY
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl CallArray {
    /// The array of this process; `None` if it has none, another thread has it, or its driver
    /// cannot read the clock.
    pub fn take() -> Option<TakenCallArray> {
        CallClock::now()?;
        let array = lock().take()?;
        Some(TakenCallArray(Some(array)))
    }

    /// An array whose calls this process makes one by one.
    fn without_driver() -> Self {
        Self::new(None)
    }

    fn new(driver: Option<OwnedFd>) -> Self {
        // SAFETY: a stat of zeros is valid.
        let empty: libc::stat = unsafe { std::mem::zeroed() };
        Self {
            driver,
            calls: Vec::with_capacity(CALLS_MAX),
            operations: Vec::with_capacity(OPERATIONS_MAX),
            names: vec![Cell::new(0); NAME_BYTES].into(),
            names_used: 0,
            stat: Box::new(Cell::new(empty)),
            stamps: vec![Cell::new([0; STAMP_BYTES]); CALLS_MAX].into(),
            stamps_used: 0,
            done: 0,
        }
    }

    /// Empties the array and begins to fill it.
    pub fn batch(&mut self) -> CallBatch<'_> {
        self.calls.clear();
        self.operations.clear();
        (self.names_used, self.stamps_used, self.done) = (0, 0, 0);
        CallBatch::new(self)
    }

    /// Makes the calls until one fails, has an unexpected result, or ends at `until_ns` or later.
    ///
    /// # Safety
    /// The memory and descriptors that the calls refer to must be valid.
    pub(super) unsafe fn run(&mut self, until_ns: u64) -> io::Result<()> {
        let Some(clock) = CallClock::now() else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        MADE.fetch_add(1, Ordering::Relaxed);
        let Some(driver) = &self.driver else {
            // SAFETY: as promised by the caller.
            self.done = unsafe { run_one_by_one(&mut self.calls, until_ns) };
            return Ok(());
        };
        let mut request = Request {
            calls: self.calls.as_mut_ptr().expose_provenance() as u64,
            count: self.calls.len() as u32,
            clock: match clock.kind {
                CallClockKind::Monotonic => 0,
                CallClockKind::Page => 1,
                CallClockKind::Counter => 2,
            },
            until: CallClock::reading_at(until_ns),
            last: clock.last_ns,
            same: clock.same,
            same_max: clock.same_max,
        };
        // SAFETY: the request and its calls outlive the call, and what they refer to is valid.
        let done = unsafe { libc::ioctl(driver.as_raw_fd(), RUN_CALLS, &raw mut request) };
        let done = usize::try_from(done).map_err(|_| io::Error::last_os_error())?;
        assert!(done <= self.calls.len(), "more calls than there are");
        self.done = done;
        let clock = CallClock {
            last_ns: request.last,
            same: request.same,
            ..clock
        };
        clock.go_on();
        for call in &mut self.calls[..done] {
            call.before = CallClock::ns_of(call.before);
            call.after = CallClock::ns_of(call.after);
        }
        Ok(())
    }

    /// The operations that were done, in order.
    pub fn done(&self) -> impl Iterator<Item = DoneOperation> {
        let complete = |it: &&Operation| it.end <= self.done && !self.stops(it);
        let done = self.operations.iter().take_while(complete);
        done.map(|it| DoneOperation {
            start_ns: self.start_ns(it),
            end_ns: self.calls[it.end - 1].after,
            count: it.count,
        })
    }

    /// The operation after those done, if one of its calls has ended the array. One that a signal
    /// has ended at its first call has not begun.
    pub fn stopped(&mut self) -> Option<StoppedOperation> {
        let index = self.done().count();
        let operation = *self.operations.get(index)?;
        let made = &self.calls[operation.first..self.done.min(operation.end)];
        let (last, before) = made.split_last()?;
        let is_first = before.iter().all(|call| call.number == COPY);
        let interrupted = is_first && last.result == -i64::from(libc::EINTR);
        if interrupted || !last.is_unexpected() {
            return None;
        }
        let opened = |call: &&Call| i64::from(call.number) == libc::SYS_openat && call.result >= 0;
        let closes = |call: &Call| i64::from(call.number) == libc::SYS_close;
        let open = made
            .iter()
            .find(opened)
            .filter(|_| !made.iter().any(closes));
        let moved = made.iter().filter(|call| call.moves_data());
        let moved = moved.map(|call| call.result.max(0)).sum::<i64>();
        Some(StoppedOperation {
            start_ns: self.start_ns(&operation),
            // SAFETY: the call has just opened it, and no one else knows it.
            file: open.map(|call| unsafe { OwnedFd::from_raw_fd(call.result as i32) }.into()),
            moved: moved.cast_unsigned(),
            result: match u64::try_from(last.result) {
                Ok(count) => Ok(count),
                Err(_) => Err(io::Error::from_raw_os_error(-last.result as i32)),
            },
        })
    }

    fn start_ns(&self, operation: &Operation) -> u64 {
        let calls = &self.calls[operation.first..operation.end];
        let first = calls.iter().find(|call| call.flags & BEFORE != 0);
        first.map_or(0, |call| call.before)
    }

    /// True if a call of `operation` has ended the array.
    fn stops(&self, operation: &Operation) -> bool {
        self.calls[operation.first..operation.end]
            .iter()
            .any(Call::is_unexpected)
    }
}

impl Call {
    fn is_unexpected(&self) -> bool {
        self.result < 0 || self.flags & EXPECTS != 0 && self.result != self.expected
    }

    fn moves_data(&self) -> bool {
        [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_pread64,
            libc::SYS_pwrite64,
        ]
        .contains(&i64::from(self.number))
    }
}

/// Makes `calls` as the driver does; returns how many it has made.
///
/// # Safety
/// The memory and descriptors that the calls refer to must be valid.
unsafe fn run_one_by_one(calls: &mut [Call], until_ns: u64) -> usize {
    for at in 0..calls.len() {
        let mut call = calls[at];
        for (argument, from) in call.arguments.iter_mut().zip(call.from) {
            if from > 0 {
                *argument = calls[at - usize::from(from)].result.cast_unsigned();
            }
        }
        if call.flags & BEFORE != 0 {
            call.before = monotonic_ns();
        }
        // SAFETY: as promised by the caller.
        call.result = unsafe { make(&call) };
        if call.flags & AFTER != 0 {
            call.after = monotonic_ns();
        }
        calls[at] = call;
        if call.is_unexpected() || call.flags & AFTER != 0 && call.after >= until_ns {
            return at + 1;
        }
    }
    calls.len()
}

/// Makes one call; returns its result, or the negated errno.
///
/// # Safety
/// As for [`run_one_by_one`].
unsafe fn make(call: &Call) -> i64 {
    let [a, b, c, d, e, f] = call.arguments;
    if call.number == COPY {
        let to = std::ptr::with_exposed_provenance_mut::<u8>(a as usize);
        let from = std::ptr::with_exposed_provenance::<u8>(b as usize);
        // SAFETY: as promised by the caller; both are memory of the batch.
        unsafe { std::ptr::copy(from, to, c as usize) };
        return 0;
    }
    // SAFETY: as promised by the caller.
    let result = unsafe { libc::syscall(call.number.into(), a, b, c, d, e, f) };
    match result {
        -1 => -i64::from(
            io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EIO),
        ),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;
    use crate::NameDirectory;

    const LATE: u64 = u64::MAX;

    fn folder() -> (tempfile::TempDir, NameDirectory) {
        let place = tempfile::tempdir().expect("a directory");
        let directory = NameDirectory::open(place.path()).expect("opens");
        (place, directory)
    }

    fn cells(bytes: &mut [u8]) -> &[Cell<u8>] {
        Cell::from_mut(bytes).as_slice_of_cells()
    }

    fn create<'b>(
        batch: &mut CallBatch<'b>,
        directory: &'b NameDirectory,
        name: &CStr,
        data: &'b [Cell<u8>],
    ) {
        assert!(batch.begin(3, 16));
        let file = batch.create_file(directory, name);
        batch.pwrite(crate::CallFile::Opened(file), data, 0);
        batch.close(file);
        batch.end(data.len() as u64);
    }

    #[test]
    fn the_structures_are_those_of_the_driver() {
        let header = include_str!("../../../../kernel/simdisk/lab/calls.h");
        let defined = |name: &str| {
            let line = header.lines().find_map(|line| {
                let rest = line.strip_prefix("#define ")?.strip_prefix(name)?;
                rest.strip_prefix(' ').map(str::trim)
            });
            line.expect("a definition").to_owned()
        };
        assert_eq!(defined("LAB_CALL_COPY"), format!("{COPY:#x}"));
        assert_eq!(defined("LAB_RESULTS"), RESULTS.to_string());
        assert!(defined("LAB_COPY_MAX").parse::<usize>().expect("a number") >= STAMP_BYTES);
        for (name, flag) in [
            ("LAB_CALL_BEFORE", BEFORE),
            ("LAB_CALL_AFTER", AFTER),
            ("LAB_CALL_EXPECTS", EXPECTS),
        ] {
            assert_eq!(defined(name), format!("(1 << {})", flag.trailing_zeros()));
        }
        // As the driver asserts.
        assert_eq!((size_of::<Call>(), size_of::<Request>()), (96, 40));
        assert_eq!(std::mem::offset_of!(Call, result), 72);
    }

    #[test]
    fn files_are_made_in_order_and_each_operation_has_its_times() {
        let (place, directory) = folder();
        let mut array = CallArray::without_driver();
        let mut data = *b"abcdef";
        let before_ns = monotonic_ns();
        {
            let data = cells(&mut data);
            let mut batch = array.batch();
            create(&mut batch, &directory, c"a", &data[..2]);
            create(&mut batch, &directory, c"b", data);
            batch.run(LATE).expect("no driver is needed");
        }
        let read = |name: &str| std::fs::read(place.path().join(name)).expect("made");
        assert_eq!((read("a"), read("b")), (b"ab".to_vec(), b"abcdef".to_vec()));
        let done: Vec<_> = array.done().collect();
        assert_eq!(done.iter().map(|it| it.count).collect::<Vec<_>>(), [2, 6]);
        let times = done.iter().flat_map(|it| [it.start_ns, it.end_ns]);
        let times: Vec<_> = std::iter::once(before_ns).chain(times).collect();
        assert!(times.is_sorted(), "{times:?}");
        assert!(array.stopped().is_none());
    }

    #[test]
    fn an_error_ends_the_array_and_is_told_with_the_file_that_is_open() {
        let (place, directory) = folder();
        std::fs::write(place.path().join("b"), "b").expect("written");
        let mut array = CallArray::without_driver();
        let mut data = *b"abcdef";
        {
            let data = cells(&mut data);
            let mut batch = array.batch();
            for name in [c"a", c"b", c"c"] {
                create(&mut batch, &directory, name, data);
            }
            batch.run(LATE).expect("runs");
        }
        assert_eq!(array.done().count(), 1);
        let stopped = array.stopped().expect("b exists");
        let error = stopped.result.expect_err("b exists");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(stopped.file.is_none());
        assert!(!place.path().join("c").exists());
    }

    #[test]
    fn a_short_read_ends_the_array_and_its_file_stays_open() {
        let (place, directory) = folder();
        std::fs::write(place.path().join("a"), "abc").expect("written");
        let mut array = CallArray::without_driver();
        let mut buffer = [0; 4];
        {
            let buffer = cells(&mut buffer);
            let mut batch = array.batch();
            assert!(batch.begin(3, 16));
            let file = batch.open_file(&directory, c"a");
            batch.pread(crate::CallFile::Opened(file), buffer, 0, 4);
            batch.close(file);
            batch.end(4);
            batch.run(LATE).expect("runs");
        }
        assert_eq!(array.done().count(), 0);
        let stopped = array.stopped().expect("three bytes, not four");
        assert_eq!((stopped.moved, stopped.result.ok()), (3, Some(3)));
        let file = stopped.file.expect("is open");
        assert_eq!(file.length().expect("is open"), 3);
        assert_eq!(&buffer, b"abc\0");
    }

    #[test]
    fn what_two_writes_share_is_changed_between_them() {
        let (place, directory) = folder();
        let file = directory.create_file(c"a").expect("made");
        let mut array = CallArray::without_driver();
        let mut block = [7; STAMP_BYTES];
        {
            let block = cells(&mut block);
            let mut batch = array.batch();
            for turn in 0..3_u8 {
                assert!(batch.begin(2, 0));
                let head = block.first_chunk().expect("as long");
                batch.copy(head, [turn; STAMP_BYTES]);
                let offset = u64::from(turn) * STAMP_BYTES as u64;
                batch.pwrite((&file).into(), block, offset);
                batch.end(STAMP_BYTES as u64);
            }
            batch.run(LATE).expect("runs");
        }
        let written = std::fs::read(place.path().join("a")).expect("made");
        let expected: Vec<u8> = (0..3).flat_map(|turn| [turn; STAMP_BYTES]).collect();
        assert_eq!(written, expected);
    }

    #[test]
    fn no_operation_begins_after_the_deadline() {
        let (place, directory) = folder();
        std::fs::write(place.path().join("a"), "").expect("written");
        let mut array = CallArray::without_driver();
        {
            let mut batch = array.batch();
            for _ in 0..3 {
                assert!(batch.begin(1, 8));
                batch.stat(&directory, c"a", true);
                batch.end(0);
            }
            batch.run(monotonic_ns()).expect("runs");
        }
        assert_eq!(array.done().count(), 1);
        assert!(array.stopped().is_none());
        drop(place);
    }

    #[test]
    fn every_call_on_names_is_that_of_its_method() {
        let (place, directory) = folder();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("a"), "abc").expect("written");
        let mut array = CallArray::without_driver();
        let mut batch = array.batch();
        macro_rules! one {
            ($call:ident($($argument:expr),*)) => {
                assert!(batch.begin(1, 8));
                batch.$call(&directory, $($argument),*);
                batch.end(0);
            };
        }
        one!(rename(c"a", c"b"));
        one!(link(c"b", c"c"));
        one!(symlink(c"b", c"d"));
        one!(change_mode(c"b", 0o640));
        one!(touch(c"b"));
        one!(stat(c"d", true));
        one!(unlink(c"b"));
        one!(stat(c"d", false));
        one!(stat(c"d", true));
        batch.run(LATE).expect("runs");
        assert_eq!(array.done().count(), 8);
        let error = array.stopped().expect("a dangling link").result;
        assert_eq!(error.expect_err("none").kind(), io::ErrorKind::NotFound);
        assert!(!at("a").exists() && !at("b").exists());
        let mode = std::os::unix::fs::MetadataExt::mode(&at("c").metadata().expect("linked"));
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(std::fs::read_link(at("d")).expect("a link"), Path::new("b"));
    }

    #[test]
    fn a_full_array_takes_no_operation() {
        let (_place, directory) = folder();
        let mut array = CallArray::without_driver();
        let mut batch = array.batch();
        let mut count = 0;
        while batch.begin(1, 8) {
            batch.stat(&directory, c"a", true);
            batch.end(0);
            count += 1;
        }
        assert_eq!(count, OPERATIONS_MAX);
        assert!(!array.batch().begin(RESULTS + 1, 0));
    }
}
