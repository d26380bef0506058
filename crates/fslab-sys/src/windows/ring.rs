//! A queue of overlapped reads and writes, whose completions a completion port returns.
//!
//! Each operation is one ReadFile or WriteFile: nothing is submitted in a batch. A sync is a
//! FlushFileBuffers, which has no overlapped form and completes when it is queued.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_HANDLE_EOF, ERROR_IO_PENDING, HANDLE, INVALID_HANDLE_VALUE, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{
    CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
};
use windows_sys::Win32::System::Threading::INFINITE;

use crate::{DataFile, PageBuffer, RingCompletion, RingOptions, RingSync, RingTransfer};

/// STATUS_END_OF_FILE: a read at the end, which has 0 bytes.
const END_OF_FILE: u32 = 0xC000_0011;

/// An operation, by address known to the system.
#[repr(C)]
struct Operation {
    /// First: its address is that of the operation.
    overlapped: OVERLAPPED,
    slot: u32,
}

/// A completion port with its file and buffers.
pub struct Ring {
    port: HANDLE,
    /// `None` only after closing.
    file: Option<File>,
    pub(crate) options: RingOptions,
    /// Leaked, as the operations, if the system might still write to them.
    pub(crate) buffers: ManuallyDrop<PageBuffer>,
    operations: ManuallyDrop<Box<[Operation]>>,
    pub(crate) stride: usize,
    pub(crate) busy: Box<[bool]>,
    in_flight: u32,
    /// Results that are complete and not yet taken.
    complete: Vec<(u32, Result<u32, i32>)>,
    /// Results taken last.
    taken: Vec<(u32, Result<u32, i32>)>,
    entries: Vec<OVERLAPPED_ENTRY>,
}

// SAFETY: the port, its file and its buffers have one owner and are not bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Opens the file again for overlapped operations, with a completion port.
    ///
    /// # Errors
    /// Those of CreateFile and CreateIoCompletionPort; `Unsupported` for options of io_uring.
    pub fn new(file: DataFile, options: RingOptions) -> io::Result<Self> {
        let of_uring = options.registered_buffers
            || options.registered_file
            || options.completion_poll
            || options.submission_poll_ms.is_some();
        if of_uring {
            return Err(crate::lacking::lacks(
                "registered buffers and files, and polling, of io_uring",
            ));
        }
        let overlapped = file.reopen_overlapped()?;
        file.close()?;
        // SAFETY: the handle is open; the port is new.
        let port = unsafe {
            CreateIoCompletionPort(overlapped.as_raw_handle(), std::ptr::null_mut(), 0, 1)
        };
        if port.is_null() {
            return Err(io::Error::last_os_error());
        }
        let depth = options.depth as usize;
        let stride = options.buffer_bytes.next_multiple_of(4096);
        let operations = (0..options.depth).map(|slot| Operation {
            overlapped: OVERLAPPED::default(),
            slot,
        });
        Ok(Self {
            port,
            file: Some(overlapped),
            options,
            buffers: ManuallyDrop::new(PageBuffer::zeroed(stride * depth)),
            operations: ManuallyDrop::new(operations.collect()),
            stride,
            busy: vec![false; depth].into(),
            in_flight: 0,
            complete: Vec::with_capacity(2 * depth),
            taken: Vec::with_capacity(2 * depth),
            entries: vec![OVERLAPPED_ENTRY::default(); depth],
        })
    }

    /// Starts a read or write.
    ///
    /// # Panics
    /// If the slot is in use, or the transfer is outside its buffer.
    pub fn queue(&mut self, transfer: RingTransfer) {
        let RingTransfer {
            slot,
            within,
            length,
            offset,
            reads,
        } = transfer;
        assert!(
            within + length <= self.options.buffer_bytes,
            "a transfer is inside of its buffer"
        );
        let start = self.start_of(slot) + within;
        let length = u32::try_from(length).expect("a buffer is smaller than 4 GiB");
        let handle = self
            .file
            .as_ref()
            .map_or(INVALID_HANDLE_VALUE, AsRawHandle::as_raw_handle);
        let buffer = self.buffers[start..].as_mut_ptr();
        let operation = &mut self.operations[slot as usize];
        operation.overlapped = OVERLAPPED::default();
        operation.overlapped.Anonymous.Anonymous.Offset = (offset & 0xffff_ffff) as u32;
        operation.overlapped.Anonymous.Anonymous.OffsetHigh = (offset >> 32) as u32;
        let overlapped = (&raw mut *operation).cast::<OVERLAPPED>();
        // SAFETY: the file is open for overlapped operations; the buffer and the operation live as
        // long as the ring, and are not lent out until the completion is taken.
        let done = unsafe {
            match reads {
                true => ReadFile(handle, buffer, length, std::ptr::null_mut(), overlapped),
                false => WriteFile(handle, buffer, length, std::ptr::null_mut(), overlapped),
            }
        };
        self.busy[slot as usize] = true;
        self.in_flight += 1;
        if done != 0 {
            // Also an operation that is done at once has a completion at the port.
            return;
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error().map(i32::cast_unsigned) {
            Some(ERROR_IO_PENDING) => {}
            Some(ERROR_HANDLE_EOF) => self.complete.push((slot, Ok(0))),
            code => {
                let code = code.map_or(1, u32::cast_signed);
                self.complete.push((slot, Err(code)));
            }
        }
    }

    /// Does a sync at once; its completion is taken as the others.
    ///
    /// # Panics
    /// If the slot is in use.
    pub fn queue_sync(&mut self, call: RingSync, slot: u32) {
        let _ = self.start_of(slot);
        let code = |error: io::Error| error.raw_os_error().unwrap_or(1);
        let done = match (call, &self.file) {
            // ERROR_NOT_SUPPORTED.
            (RingSync::Range, _) | (_, None) => Err(50),
            (RingSync::Fsync | RingSync::Fdatasync, Some(file)) => file.sync_all().map_err(code),
        };
        self.busy[slot as usize] = true;
        self.in_flight += 1;
        self.complete.push((slot, done.map(|()| 0)));
    }

    /// Waits until `want` operations are complete, at most those in flight.
    pub fn submit_and_wait(&mut self, want: u32) -> io::Result<()> {
        let want = want.min(self.in_flight) as usize;
        self.collect(0)?;
        while self.complete.len() < want {
            self.collect(INFINITE)?;
        }
        Ok(())
    }

    /// Looks for completions without waiting.
    pub fn submit_and_poll(&mut self) -> io::Result<()> {
        self.collect(0)
    }

    /// Gets completions from the port, waiting at most `limit_ms` for the first.
    fn collect(&mut self, limit_ms: u32) -> io::Result<()> {
        if self.in_flight as usize == self.complete.len() {
            return Ok(());
        }
        let mut count = 0;
        let room = self.entries.len() as u32;
        let entries = self.entries.as_mut_ptr();
        // SAFETY: the port is open, and `entries` has room for as many as are asked for.
        let found = unsafe {
            GetQueuedCompletionStatusEx(self.port, entries, room, &raw mut count, limit_ms, 0)
        };
        if found == 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error().map(i32::cast_unsigned) {
                Some(WAIT_TIMEOUT) => Ok(()),
                _ => Err(error),
            };
        }
        for entry in &self.entries[..count as usize] {
            // SAFETY: each completion is of an operation of this ring, which lives as long as it.
            let operation = unsafe { &*entry.lpOverlapped.cast::<Operation>() };
            let status = operation.overlapped.Internal as u32;
            let result = match status {
                END_OF_FILE => Ok(0),
                // Success and information.
                0..0x8000_0000 => Ok(entry.dwNumberOfBytesTransferred),
                status => Err(code_of(status)),
            };
            self.complete.push((operation.slot, result));
        }
        Ok(())
    }

    /// Takes all completions; returns their number.
    pub fn take_completions(&mut self) -> usize {
        self.taken.clear();
        self.taken.append(&mut self.complete);
        for (slot, _) in &self.taken {
            self.busy[*slot as usize] = false;
        }
        self.in_flight -= self.taken.len() as u32;
        self.taken.len()
    }

    /// The `index`-th completion of those taken last.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn completion(&self, index: usize) -> RingCompletion {
        let (slot, result) = self.taken[index];
        let result = result.map_err(io::Error::from_raw_os_error);
        RingCompletion { slot, result }
    }

    /// Operations in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Waits for the operations in flight and closes the file.
    pub fn close(mut self) -> io::Result<()> {
        while self.in_flight > 0 {
            self.submit_and_wait(1)?;
            self.take_completions();
        }
        self.file = None;
        Ok(())
    }
}

/// The error code of a status.
fn code_of(status: u32) -> i32 {
    #[link(name = "ntdll")]
    // SAFETY: the function of ntdll has this signature.
    unsafe extern "system" {
        fn RtlNtStatusToDosError(status: i32) -> u32;
    }
    // SAFETY: the call takes a number and returns one.
    unsafe { RtlNtStatusToDosError(status.cast_signed()) }.cast_signed()
}

impl Drop for Ring {
    /// Waits for the operations in flight: the system must not write to freed memory.
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit_and_wait(1).is_err() {
                return;
            }
            self.take_completions();
        }
        self.file = None;
        // SAFETY: nothing is in flight, and neither the port nor the memory is used again.
        unsafe {
            CloseHandle(self.port);
            ManuallyDrop::drop(&mut self.buffers);
            ManuallyDrop::drop(&mut self.operations);
        }
    }
}
