//! The model of a disk: computes when each request completes, and the background work.
//!
//! The model is in C (`kernel/simdisk/model`), since the guest kernel's driver uses it too; this
//! file owns the calls into it and its memory. Times are nanoseconds from an arbitrary origin and
//! never decrease; addresses are sectors of 512 bytes.

use std::ffi::{CStr, CString, c_char};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The time of no event, as in model.h.
const NEVER: u64 = u64::MAX;
/// The tag of background work.
const BACKGROUND: u64 = u64::MAX;
const FLAG_FUA: u32 = 1;
const FLAG_CACHED: u32 = 1 << 8;

/// `struct sd_model`, opaque to Rust.
#[repr(C)]
struct RawModel {
    _private: [u8; 0],
}

/// `struct sd_request`.
#[repr(C)]
struct RawRequest {
    tag: u64,
    sector: u64,
    sectors: u32,
    op: u32,
    flags: u32,
}

/// `struct sd_done`.
#[repr(C)]
#[derive(Default)]
struct RawDone {
    tag: u64,
    sector: u64,
    sectors: u32,
    op: u32,
    flags: u32,
    member: u32,
    submit_ns: u64,
    start_ns: u64,
    done_ns: u64,
    part_ns: [u64; 5],
}

// SAFETY: the declarations are those of model.h; build.rs compiles the code behind them.
unsafe extern "C" {
    fn sd_new(parameters: *const c_char, error: *mut *const c_char) -> *mut RawModel;
    fn sd_destroy(model: *mut RawModel);
    fn sd_capacity_sectors(model: *const RawModel) -> u64;
    fn sd_queue_depth(model: *const RawModel) -> u32;
    fn sd_has_room(model: *const RawModel) -> bool;
    fn sd_submit(model: *mut RawModel, now_ns: u64, request: *const RawRequest);
    fn sd_next_ns(model: *const RawModel) -> u64;
    fn sd_take(model: *mut RawModel, now_ns: u64, done: *mut RawDone) -> bool;
}

/// Held during `sd_new`, whose error message is one static buffer for all models.
static CREATION: Mutex<()> = Mutex::new(());

/// The operation of a request, or of background work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskOp {
    /// Read sectors.
    #[default]
    Read,
    /// Write sectors.
    Write,
    /// Write all data of earlier writes to the media. Has no address.
    Flush,
    /// Discard sectors.
    Discard,
    /// A background read of the media; never in a request.
    MediaRead,
    /// A background write of the media; never in a request.
    MediaWrite,
}

impl DiskOp {
    const ALL: [Self; 6] = [
        Self::Read,
        Self::Write,
        Self::Flush,
        Self::Discard,
        Self::MediaRead,
        Self::MediaWrite,
    ];

    /// The number in the model and in traces.
    pub fn code(self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Flush => 2,
            Self::Discard => 3,
            Self::MediaRead => 4,
            Self::MediaWrite => 5,
        }
    }

    /// Whether it is background work of the disk.
    pub fn is_background(self) -> bool {
        matches!(self, Self::MediaRead | Self::MediaWrite)
    }

    /// The operation with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.code() == code)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRequest {
    /// Identifies the completion; not `u64::MAX`.
    pub tag: u64,
    /// First sector; 0 for a flush.
    pub sector: u64,
    /// Number of sectors; 0 for a flush, and only then.
    pub sectors: u32,
    /// One of read, write, flush and discard.
    pub op: DiskOp,
    /// A FUA write: on the media when it completes.
    pub fua: bool,
}

/// The parts of a request's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskParts {
    /// Overhead of the interface and the controller.
    pub command_ns: u64,
    pub seek_ns: u64,
    /// Rotational delay.
    pub rotation_ns: u64,
    /// Transfer to or from the media.
    pub transfer_ns: u64,
    /// Transfer to or from the cache, and the wait for room in it.
    pub cache_ns: u64,
}

impl DiskParts {
    pub fn sum_ns(&self) -> u64 {
        self.command_ns + self.seek_ns + self.rotation_ns + self.transfer_ns + self.cache_ns
    }
}

/// A completed request, or completed background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskDone {
    /// The request's tag; `None` for background work.
    pub tag: Option<u64>,
    /// First sector; for background work of an array's member, the member's address.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// The operation.
    pub op: DiskOp,
    /// Whether it was a FUA write.
    pub fua: bool,
    /// Whether it was a read from the cache, or a write that completed in the cache.
    pub cached: bool,
    /// Member of an array; 0 for a single disk, 255 for several.
    pub member: u32,
    /// When it was submitted.
    pub submit_ns: u64,
    /// When the disk began to serve it.
    pub start_ns: u64,
    /// When it completed.
    pub done_ns: u64,
    /// Parts of the time from start to completion; the rest is waiting for other requests.
    pub parts: DiskParts,
}

/// A simulated disk.
pub struct DiskModel {
    model: NonNull<RawModel>,
    capacity_sectors: u64,
    /// The latest time passed to the model.
    now_ns: u64,
}

// SAFETY: a C model shares no state with others except the error message of sd_new, which CREATION
// guards; so any thread may use it, one at a time. It is not Sync.
unsafe impl Send for DiskModel {}

impl DiskModel {
    /// Creates a disk from parameters, lines of `name=value`.
    pub fn new(parameters: &str) -> Result<Self, String> {
        let text = CString::new(parameters)
            .map_err(|_| String::from("the parameters contain a NUL character"))?;
        let mut error: *const c_char = std::ptr::null();
        let guard = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: text is a C string that outlives the call, and error a valid place for a pointer.
        let created = unsafe { sd_new(text.as_ptr(), &raw mut error) };
        let Some(model) = NonNull::new(created) else {
            // SAFETY: if no model is created, error is a C string that stays valid until the next
            // call of sd_new, which the guard excludes.
            let message = unsafe { CStr::from_ptr(error) };
            return Err(message.to_string_lossy().into_owned());
        };
        drop(guard);
        // SAFETY: the model was just created.
        let capacity_sectors = unsafe { sd_capacity_sectors(model.as_ptr()) };
        Ok(Self {
            model,
            capacity_sectors,
            now_ns: 0,
        })
    }

    /// Capacity in sectors of 512 bytes.
    pub fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    /// The number of requests that the disk's queue holds.
    pub fn queue_depth(&self) -> u32 {
        // SAFETY: the model lives as long as self.
        unsafe { sd_queue_depth(self.model.as_ptr()) }
    }

    /// Whether one more request may be submitted now.
    pub fn has_room(&self) -> bool {
        // SAFETY: the model lives as long as self.
        unsafe { sd_has_room(self.model.as_ptr()) }
    }

    /// Submits a request at `now_ns`.
    ///
    /// # Panics
    /// If the request is not within the disk, the queue is full, or time decreases.
    pub fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        assert_ne!(
            request.tag, BACKGROUND,
            "this tag is reserved for background work"
        );
        assert!(
            request.op.code() <= DiskOp::Discard.code(),
            "{:?} is not an operation of a request",
            request.op
        );
        assert_eq!(
            request.sectors == 0,
            request.op == DiskOp::Flush,
            "sectors of {request:?}"
        );
        let end = request.sector.checked_add(u64::from(request.sectors));
        assert!(
            end.is_some_and(|end| end <= self.capacity_sectors),
            "{request:?} lies beyond {} sectors",
            self.capacity_sectors
        );
        assert!(self.has_room(), "the queue of the disk is full");
        self.advance(now_ns);
        let raw = RawRequest {
            tag: request.tag,
            sector: request.sector,
            sectors: request.sectors,
            op: request.op.code().into(),
            flags: if request.fua { FLAG_FUA } else { 0 },
        };
        // SAFETY: the model lives as long as self; the request was checked and is copied.
        unsafe { sd_submit(self.model.as_ptr(), now_ns, &raw const raw) }
    }

    /// The time of the next event, for [`DiskModel::take`]; `None` if there is none without a
    /// request.
    pub fn next_ns(&self) -> Option<u64> {
        // SAFETY: the model lives as long as self.
        let next_ns = unsafe { sd_next_ns(self.model.as_ptr()) };
        (next_ns != NEVER).then_some(next_ns)
    }

    /// Advances the disk to `now_ns` and returns the next completion up to then, in order of time.
    ///
    /// # Panics
    /// If time decreases.
    pub fn take(&mut self, now_ns: u64) -> Option<DiskDone> {
        self.advance(now_ns);
        let mut raw = RawDone::default();
        // SAFETY: the model lives as long as self, and raw a valid place for a completion.
        let is_done = unsafe { sd_take(self.model.as_ptr(), now_ns, &raw mut raw) };
        is_done.then(|| completion(&raw))
    }

    fn advance(&mut self, now_ns: u64) {
        assert!(
            now_ns >= self.now_ns,
            "time decreases from {} to {now_ns}",
            self.now_ns
        );
        self.now_ns = now_ns;
    }
}

impl Drop for DiskModel {
    fn drop(&mut self) {
        // SAFETY: the model was created by sd_new and is not used afterwards.
        unsafe { sd_destroy(self.model.as_ptr()) }
    }
}

impl std::fmt::Debug for DiskModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskModel")
            .field("capacity_sectors", &self.capacity_sectors)
            .field("now_ns", &self.now_ns)
            .finish_non_exhaustive()
    }
}

fn completion(raw: &RawDone) -> DiskDone {
    let [command_ns, seek_ns, rotation_ns, transfer_ns, cache_ns] = raw.part_ns;
    DiskDone {
        tag: (raw.tag != BACKGROUND).then_some(raw.tag),
        sector: raw.sector,
        sectors: raw.sectors,
        op: u8::try_from(raw.op)
            .ok()
            .and_then(DiskOp::from_code)
            .expect("the model returns known operations"),
        fua: raw.flags & FLAG_FUA != 0,
        cached: raw.flags & FLAG_CACHED != 0,
        member: raw.member,
        submit_ns: raw.submit_ns,
        start_ns: raw.start_ns,
        done_ns: raw.done_ns,
        parts: DiskParts {
            command_ns,
            seek_ns,
            rotation_ns,
            transfer_ns,
            cache_ns,
        },
    }
}
