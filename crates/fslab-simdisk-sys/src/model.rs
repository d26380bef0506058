//! The model of a disk: what a simulated disk does with requests, and when.
//!
//! The model itself is C (`kernel/simdisk/model`), since the guest kernel's driver has it too; this
//! file owns the calls into it, and the memory behind them. Times are nanoseconds since any moment
//! and never go back; addresses are sectors of 512 bytes.

use std::ffi::{CStr, CString, c_char};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The time of an event that never comes, as in model.h.
const NEVER: u64 = u64::MAX;
/// The tag of what the disk does on its own account.
const BACKGROUND: u64 = u64::MAX;
const FLAG_FUA: u32 = 1;
const FLAG_CACHED: u32 = 1 << 8;

/// `struct sd_model`, which only the C code knows.
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

/// The sentence about an error is one place in memory for all models.
static MAKING: Mutex<()> = Mutex::new(());

/// What a request asks for, or what the disk did on its own account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskOp {
    /// Read sectors.
    #[default]
    Read,
    /// Write sectors.
    Write,
    /// Bring all that was written before it to the media. Has no address.
    Flush,
    /// Forget sectors.
    Discard,
    /// Only in answers: the media was read on the disk's own account.
    MediaRead,
    /// Only in answers: the media was written on the disk's own account.
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

    /// Its number in the model and in traces.
    #[must_use]
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

    /// Whether it is background work of the disk, not a request.
    #[must_use]
    pub fn is_background(self) -> bool {
        matches!(self, Self::MediaRead | Self::MediaWrite)
    }

    /// The operation with this number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.code() == code)
    }
}

/// A request to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRequest {
    /// Comes back in the answer; not `u64::MAX`.
    pub tag: u64,
    /// The first sector; 0 for a flush.
    pub sector: u64,
    /// How many; 0 for a flush, and for nothing else.
    pub sectors: u32,
    /// One of read, write, flush and discard.
    pub op: DiskOp,
    /// A write that is on the media when it ends.
    pub fua: bool,
}

/// Where the time of a request went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskParts {
    /// The interface's and the controller's overhead.
    pub command_ns: u64,
    /// Moving the arm.
    pub seek_ns: u64,
    /// Waiting for the sector to come round.
    pub rotation_ns: u64,
    /// To or from the media.
    pub transfer_ns: u64,
    /// To or from the cache, and waiting for room in it.
    pub cache_ns: u64,
}

impl DiskParts {
    /// All parts together.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.command_ns + self.seek_ns + self.rotation_ns + self.transfer_ns + self.cache_ns
    }
}

/// Something that a disk has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskDone {
    /// The request's; `None` for what the disk did on its own account.
    pub tag: Option<u64>,
    /// The first sector: the request's, or the member's own where the disk did it by itself.
    pub sector: u64,
    /// How many.
    pub sectors: u32,
    /// What was done.
    pub op: DiskOp,
    /// It was a write that had to be on the media.
    pub fua: bool,
    /// A read that the cache answered, or a write that ended in the cache.
    pub cached: bool,
    /// Which member of an array; 0 where there is none.
    pub member: u32,
    /// When it arrived.
    pub submit_ns: u64,
    /// When the disk turned to it.
    pub start_ns: u64,
    /// When it ended.
    pub done_ns: u64,
    /// Where the time between start and end went; the rest is waiting for another request.
    pub parts: DiskParts,
}

/// A simulated disk.
pub struct DiskModel {
    model: NonNull<RawModel>,
    capacity_sectors: u64,
    /// The latest time that the model was given; it never goes back.
    now_ns: u64,
}

// SAFETY: the C model has no state outside of itself but the sentence of sd_new, which MAKING
// guards; so it may be used by any thread, one at a time. It is not Sync.
unsafe impl Send for DiskModel {}

impl DiskModel {
    /// Makes a disk of parameters, lines of `name=value`.
    ///
    /// # Errors
    /// A sentence that says which parameter is wrong, and how.
    pub fn new(parameters: &str) -> Result<Self, String> {
        let text = CString::new(parameters)
            .map_err(|_| String::from("the parameters contain a character of value 0"))?;
        let mut error: *const c_char = std::ptr::null();
        let guard = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: text is a C string that outlives the call, and error a place for a pointer.
        let made = unsafe { sd_new(text.as_ptr(), &raw mut error) };
        let Some(model) = NonNull::new(made) else {
            // SAFETY: where no model is made, error is a C string that stays until the next call
            // of sd_new, which the guard holds off.
            let sentence = unsafe { CStr::from_ptr(error) };
            return Err(sentence.to_string_lossy().into_owned());
        };
        drop(guard);
        // SAFETY: the model was just made.
        let capacity_sectors = unsafe { sd_capacity_sectors(model.as_ptr()) };
        Ok(Self {
            model,
            capacity_sectors,
            now_ns: 0,
        })
    }

    /// The disk's size in sectors of 512 bytes.
    #[must_use]
    pub fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    /// How many requests the disk takes at once.
    #[must_use]
    pub fn queue_depth(&self) -> u32 {
        // SAFETY: the model lives as long as self.
        unsafe { sd_queue_depth(self.model.as_ptr()) }
    }

    /// Whether one more request may be submitted now.
    #[must_use]
    pub fn has_room(&self) -> bool {
        // SAFETY: the model lives as long as self.
        unsafe { sd_has_room(self.model.as_ptr()) }
    }

    /// Gives the disk a request at `now_ns`.
    ///
    /// # Panics
    /// Where the request does not lie within the disk, the disk has no room for it, or time goes
    /// back.
    pub fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        assert_ne!(request.tag, BACKGROUND, "this tag is the disk's own");
        assert!(
            request.op.code() <= DiskOp::Discard.code(),
            "a request asks for {:?}",
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
        self.go_to(now_ns);
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

    /// When to call [`DiskModel::take`] again; `None` while nothing will happen by itself.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        // SAFETY: the model lives as long as self.
        let next_ns = unsafe { sd_next_ns(self.model.as_ptr()) };
        (next_ns != NEVER).then_some(next_ns)
    }

    /// Lets the disk work until `now_ns` and gives the next thing that is done by then, in the
    /// order of their ends.
    ///
    /// # Panics
    /// Where time goes back.
    pub fn take(&mut self, now_ns: u64) -> Option<DiskDone> {
        self.go_to(now_ns);
        let mut raw = RawDone::default();
        // SAFETY: the model lives as long as self, and raw is a place for an answer.
        let is_done = unsafe { sd_take(self.model.as_ptr(), now_ns, &raw mut raw) };
        is_done.then(|| answer(&raw))
    }

    fn go_to(&mut self, now_ns: u64) {
        assert!(
            now_ns >= self.now_ns,
            "time goes back from {} to {now_ns}",
            self.now_ns
        );
        self.now_ns = now_ns;
    }
}

impl Drop for DiskModel {
    fn drop(&mut self) {
        // SAFETY: the model was made by sd_new, and is not used any more.
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

fn answer(raw: &RawDone) -> DiskDone {
    let [command_ns, seek_ns, rotation_ns, transfer_ns, cache_ns] = raw.part_ns;
    DiskDone {
        tag: (raw.tag != BACKGROUND).then_some(raw.tag),
        sector: raw.sector,
        sectors: raw.sectors,
        op: u8::try_from(raw.op)
            .ok()
            .and_then(DiskOp::from_code)
            .expect("the model answers with its own operations"),
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
