//! Arrays of system calls, which only the kernel of fslab's guests executes: there is none here.

use std::cell::Cell;
use std::ffi::CStr;
use std::io;
use std::path::Path;

use super::lacks;
use crate::{CallFile, DoneOperation, NameDirectory, STAMP_BYTES, StoppedOperation};

/// An array: never made.
#[derive(Debug)]
pub enum CallArray {}

/// An array that a thread uses: never made.
pub type TakenCallArray = Box<CallArray>;

/// An array that is being filled: never made, since it refers to one.
#[derive(Debug)]
pub struct CallBatch<'b>(&'b CallArray);

/// The call that opens a file: never made.
#[derive(Clone, Copy, Debug)]
pub struct OpenedByCall(());

/// Refused.
pub fn open_call_array(_device: &Path) -> io::Result<()> {
    Err(lacks("a guest's arrays of system calls"))
}

/// False.
pub fn has_call_array() -> bool {
    false
}

impl CallArray {
    /// None.
    pub fn take() -> Option<TakenCallArray> {
        None
    }

    pub fn batch(&mut self) -> CallBatch<'_> {
        CallBatch(self)
    }

    pub fn done(&self) -> impl Iterator<Item = DoneOperation> {
        std::iter::empty()
    }

    pub fn stopped(&mut self) -> Option<StoppedOperation> {
        match *self {}
    }
}

/// Methods that are never called.
macro_rules! never {
    ($($name:ident($($argument:ty),*) $(-> $returned:ty)?;)*) => {
        impl<'b> CallBatch<'b> {$(
            pub fn $name(&mut self $(, _: $argument)*) $(-> $returned)? {
                match *self.0 {}
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
    pub fn run(self, _until_ns: u64) -> io::Result<()> {
        match *self.0 {}
    }
}
