//! Arrays of system calls, which only the kernel of fslab's guests executes: there is none here.

use std::cell::Cell;
use std::ffi::CStr;
use std::io;
use std::marker::PhantomData;
use std::path::Path;

use super::lacks;
use crate::{DataFile, NameDirectory};

/// The most bytes that [`CallBatch::copy`] copies.
pub const STAMP_BYTES: usize = 32;

/// An array: never made.
#[derive(Debug)]
pub enum CallArray {}

/// An array that a thread uses: never made.
pub type TakenCallArray = Box<CallArray>;

/// An array that is being filled: never made.
#[derive(Debug)]
pub enum CallBatch<'b> {
    /// It has no value.
    Never(CallArray, PhantomData<&'b ()>),
}

/// The call that opens a file: never made.
#[derive(Clone, Copy, Debug)]
pub enum OpenedByCall {}

/// A file that calls use.
#[derive(Clone, Copy, Debug)]
pub enum CallFile<'b> {
    /// One that is open.
    Open(&'b DataFile),
    /// One that a call of the same operation opens.
    Opened(OpenedByCall),
}

impl<'b> From<&'b DataFile> for CallFile<'b> {
    fn from(file: &'b DataFile) -> Self {
        Self::Open(file)
    }
}

/// An operation that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoneOperation {
    /// The time before its first call.
    pub start_ns: u64,
    /// The time after its last call.
    pub end_ns: u64,
    /// What it counts.
    pub count: u64,
}

/// An operation that a call without the expected result has ended.
#[derive(Debug)]
pub struct StoppedOperation {
    /// The time before its first call.
    pub start_ns: u64,
    /// The file that it has opened and not closed.
    pub file: Option<DataFile>,
    /// Bytes that it has read or written.
    pub moved: u64,
    /// The unexpected result: the bytes of a read or write.
    pub result: io::Result<u64>,
}

/// Refused.
///
/// # Errors
/// `Unsupported`.
pub fn open_call_array(_device: &Path) -> io::Result<()> {
    Err(lacks("a guest's arrays of system calls"))
}

/// False.
#[must_use]
pub fn has_call_array() -> bool {
    false
}

impl CallArray {
    /// None.
    #[must_use]
    pub fn take() -> Option<TakenCallArray> {
        None
    }

    /// Never called.
    pub fn batch(&mut self) -> CallBatch<'_> {
        match *self {}
    }

    /// Never called.
    pub fn done(&self) -> impl Iterator<Item = DoneOperation> {
        std::iter::empty()
    }

    /// Never called.
    pub fn stopped(&mut self) -> Option<StoppedOperation> {
        match *self {}
    }
}

/// Methods that are never called.
macro_rules! never {
    ($($name:ident($($argument:ty),*) $(-> $returned:ty)?;)*) => {
        impl<'b> CallBatch<'b> {$(
            /// Never called.
            pub fn $name(&mut self $(, _: $argument)*) $(-> $returned)? {
                let Self::Never(never, _) = self;
                match *never {}
            }
        )*}
    };
}

never! {
    operations() -> usize;
    begin(usize, usize) -> bool;
    end(u64);
    copy(&'b [Cell<u8>; STAMP_BYTES], [u8; STAMP_BYTES]);
    pread(CallFile<'b>, &'b [Cell<u8>], u64, usize);
    pwrite(CallFile<'b>, &'b [Cell<u8>], u64);
    create_file(&'b NameDirectory, &CStr) -> OpenedByCall;
    open_file(&'b NameDirectory, &CStr) -> OpenedByCall;
    close(OpenedByCall);
    stat(&'b NameDirectory, &CStr, bool);
    unlink(&'b NameDirectory, &CStr);
    rename(&'b NameDirectory, &CStr, &CStr);
    link(&'b NameDirectory, &CStr, &CStr);
    symlink(&'b NameDirectory, &CStr, &CStr);
    change_mode(&'b NameDirectory, &CStr, u32);
    touch(&'b NameDirectory, &CStr);
}

impl CallBatch<'_> {
    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn run(self, _until_ns: u64) -> io::Result<()> {
        let Self::Never(never, _) = self;
        match never {}
    }
}
