//! An io_uring on one file, with one buffer per operation in flight.
//!
//! The ring owns the file and the buffers, and lends a buffer out only while the kernel does not
//! use it: safe code cannot touch memory that the kernel is writing.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd};

use io_uring::{IoUring, opcode, squeue, types};

use crate::{DataFile, PageBuffer, RingCompletion, RingOptions, RingSync, RingTransfer};

/// An io_uring with its file and buffers.
pub struct Ring {
    ring: IoUring,
    pub(crate) options: RingOptions,
    /// `None` only after closing.
    file: Option<DataFile>,
    /// The file, or its index in the ring's table.
    descriptor: types::Fd,
    /// The flag that selects which of the two.
    flags: squeue::Flags,
    /// Leaked if the kernel might still write to them.
    pub(crate) buffers: ManuallyDrop<PageBuffer>,
    pub(crate) stride: usize,
    pub(crate) busy: Box<[bool]>,
    in_flight: u32,
    /// Slot and result of the completions taken last.
    taken: Vec<(u32, i32)>,
}

impl Ring {
    /// Sets up a ring for use by the calling thread alone.
    ///
    /// # Errors
    /// That of io_uring_setup(2) or io_uring_register(2): ENOSYS or EPERM if the kernel has no
    /// io_uring or an administrator has disabled it, EINVAL before Linux 6.1.
    pub fn new(file: DataFile, options: RingOptions) -> io::Result<Self> {
        let mut builder = IoUring::builder();
        builder.dontfork().setup_single_issuer();
        match options.submission_poll_ms {
            Some(idle_ms) => builder.setup_sqpoll(idle_ms),
            // Completions run when this thread waits for them, instead of interrupting it:
            // otherwise buffered reads take two to three times as long.
            None => builder.setup_defer_taskrun(),
        };
        if options.completion_poll {
            builder.setup_iopoll();
        }
        let ring = builder.build(options.depth)?;
        let (descriptor, flags) = if options.registered_file {
            (types::Fd(0), squeue::Flags::FIXED_FILE)
        } else {
            let descriptor = types::Fd(file.as_fd().as_raw_fd());
            (descriptor, squeue::Flags::empty())
        };
        let stride = options.buffer_bytes.next_multiple_of(4096);
        let mut buffers = PageBuffer::zeroed(stride * options.depth as usize);
        if options.registered_file {
            ring.submitter()
                .register_files(&[file.as_fd().as_raw_fd()])?;
        }
        if options.registered_buffers {
            let parts: Vec<libc::iovec> = buffers
                .chunks_exact_mut(stride)
                .map(|part| libc::iovec {
                    iov_base: part.as_mut_ptr().cast(),
                    iov_len: part.len(),
                })
                .collect();
            // SAFETY: the buffers outlive the ring, and are lent out only while the kernel does not
            // use them.
            unsafe { ring.submitter().register_buffers(&parts) }?;
        }
        Ok(Self {
            ring,
            options,
            file: Some(file),
            descriptor,
            flags,
            buffers: ManuallyDrop::new(buffers),
            stride,
            busy: vec![false; options.depth as usize].into(),
            in_flight: 0,
            taken: Vec::with_capacity(2 * options.depth as usize),
        })
    }

    /// Queues a read or write for the next submission.
    ///
    /// # Panics
    /// If the buffer is in use, or the transfer exceeds it.
    #[inline(always)]
    pub fn queue(&mut self, transfer: RingTransfer) {
        let from = self.start_of(transfer.slot) + transfer.within;
        let fits = transfer.within.checked_add(transfer.length);
        assert!(
            fits.is_some_and(|end| end <= self.options.buffer_bytes),
            "a transfer leaves its buffer"
        );
        let (start, length) = (self.buffers[from..].as_mut_ptr(), transfer.length as u32);
        let RingTransfer { offset, slot, .. } = transfer;
        let (file, index) = (self.descriptor, slot as u16);
        let entry = match (transfer.reads, self.options.registered_buffers) {
            (true, true) => opcode::ReadFixed::new(file, start, length, index)
                .offset(offset)
                .build(),
            (false, true) => opcode::WriteFixed::new(file, start, length, index)
                .offset(offset)
                .build(),
            (true, false) => opcode::Read::new(file, start, length)
                .offset(offset)
                .build(),
            (false, false) => opcode::Write::new(file, start, length)
                .offset(offset)
                .build(),
        };
        self.push(entry, slot);
    }

    /// Queues a sync in `slot`, whose buffer is not used.
    ///
    /// # Panics
    /// If the slot is in use.
    pub fn queue_sync(&mut self, call: RingSync, slot: u32) {
        assert!(
            !self.busy[slot as usize],
            "a buffer in flight was asked for"
        );
        let file = self.descriptor;
        let entry = match call {
            RingSync::Fsync => opcode::Fsync::new(file).build(),
            RingSync::Fdatasync => opcode::Fsync::new(file)
                .flags(types::FsyncFlags::DATASYNC)
                .build(),
            RingSync::Range => opcode::SyncFileRange::new(file, 0)
                .flags(
                    libc::SYNC_FILE_RANGE_WAIT_BEFORE
                        | libc::SYNC_FILE_RANGE_WRITE
                        | libc::SYNC_FILE_RANGE_WAIT_AFTER,
                )
                .build(),
        };
        self.push(entry, slot);
    }

    /// Submits the queue and waits until `want` operations are complete, at most those in flight.
    #[inline]
    pub fn submit_and_wait(&mut self, want: u32) -> io::Result<()> {
        let want = want.min(self.in_flight) as usize;
        loop {
            match self.ring.submit_and_wait(want) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Submits the queue and processes completions without waiting.
    pub fn submit_and_poll(&mut self) -> io::Result<()> {
        /// IORING_ENTER_GETEVENTS: without it, completions deferred to this thread stay pending.
        const GET_EVENTS: u32 = 1;
        if self.options.submission_poll_ms.is_some() {
            return self.ring.submit().map(drop);
        }
        let queued = self.ring.submission().len() as u32;
        // SAFETY: no argument is passed, and queued entries refer to memory that the ring owns.
        let entered = unsafe {
            let submitter = self.ring.submitter();
            submitter.enter::<libc::sigset_t>(queued, 0, GET_EVENTS, None)
        };
        match entered {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes all completions; returns their number.
    #[inline]
    pub fn take_completions(&mut self) -> usize {
        self.taken.clear();
        for entry in self.ring.completion() {
            let slot = entry.user_data() as u32;
            self.busy[slot as usize] = false;
            self.taken.push((slot, entry.result()));
        }
        self.in_flight -= self.taken.len() as u32;
        self.taken.len()
    }

    /// The `index`-th completion of those taken last.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn completion(&self, index: usize) -> RingCompletion {
        let (slot, result) = self.taken[index];
        let result = if result >= 0 {
            Ok(result.cast_unsigned())
        } else {
            Err(io::Error::from_raw_os_error(-result))
        };
        RingCompletion { slot, result }
    }

    /// Operations queued or in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Waits for the operations in flight and closes the file, with the result of close(2).
    pub fn close(mut self) -> io::Result<()> {
        while self.in_flight > 0 {
            self.submit_and_wait(1)?;
            self.take_completions();
        }
        if self.options.registered_file {
            self.ring.submitter().unregister_files()?;
        }
        self.file.take().map_or(Ok(()), DataFile::close)
    }

    #[inline(always)]
    fn push(&mut self, entry: squeue::Entry, slot: u32) {
        let entry = entry.flags(self.flags).user_data(u64::from(slot));
        // SAFETY: the file and the buffer live as long as the ring, and the buffer is not lent out
        // until its completion is taken.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the queue has room for one entry per slot");
        self.busy[slot as usize] = true;
        self.in_flight += 1;
    }
}

impl Drop for Ring {
    /// Waits for the operations in flight: the kernel must not write to freed memory.
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit_and_wait(1).is_err() {
                return;
            }
            self.take_completions();
        }
        // SAFETY: nothing is in flight, and the buffers are not used again.
        unsafe { ManuallyDrop::drop(&mut self.buffers) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(registered: bool) -> Option<Ring> {
        let file = DataFile::scratch(&format!("ring-{registered}"));
        let options = RingOptions {
            depth: 4,
            buffer_bytes: 100,
            registered_buffers: registered,
            registered_file: registered,
            submission_poll_ms: None,
            completion_poll: false,
        };
        Ring::new(file, options)
            .inspect_err(|error| eprintln!("skipped: no io_uring here: {error}"))
            .ok()
    }

    #[test]
    fn data_written_through_a_ring_is_read_back() {
        for mut ring in [true, false].into_iter().filter_map(ring) {
            let transfer = RingTransfer {
                slot: 0,
                within: 0,
                length: 100,
                offset: 0,
                reads: false,
            };
            for slot in 0..4 {
                ring.buffer_mut(slot).fill(slot as u8);
                let offset = u64::from(slot) * 100;
                ring.queue(RingTransfer {
                    slot,
                    offset,
                    ..transfer
                });
            }
            ring.submit_and_wait(4).expect("submits");
            assert_eq!(ring.take_completions(), 4);
            for index in 0..4 {
                assert_eq!(ring.completion(index).result.expect("written"), 100);
            }
            for call in [RingSync::Fsync, RingSync::Fdatasync, RingSync::Range] {
                ring.queue_sync(call, 0);
                ring.submit_and_wait(1).expect("submits");
                assert_eq!(ring.take_completions(), 1);
                let done = ring.completion(0);
                done.result.expect("synchronised");
            }
            ring.queue(RingTransfer {
                slot: 1,
                within: 10,
                length: 50,
                offset: 280,
                reads: true,
            });
            ring.submit_and_wait(1).expect("submits");
            assert_eq!(ring.take_completions(), 1);
            let done = ring.completion(0);
            assert_eq!((done.slot, done.result.expect("read")), (1, 50));
            assert!(ring.buffer(1)[10..30].iter().all(|byte| *byte == 2));
            assert!(ring.buffer(1)[30..60].iter().all(|byte| *byte == 3));
            assert_eq!(ring.in_flight(), 0);
        }
    }

    #[test]
    #[should_panic(expected = "in flight")]
    fn a_buffer_in_flight_is_not_lent_out() {
        let mut ring = ring(false).expect("in flight: io_uring is missing");
        let transfer = RingTransfer {
            slot: 2,
            within: 0,
            length: 1,
            offset: 0,
            reads: true,
        };
        ring.queue(transfer);
        let _ = ring.buffer(2);
    }
}
