//! A queue of operations: never made.

use std::io;

use super::lacks;
use crate::{DataFile, RingCompletion, RingOptions, RingSync, RingTransfer};

/// A queue: never made.
pub enum Ring {}

impl Ring {
    /// Refused.
    pub fn new(_file: DataFile, _options: RingOptions) -> io::Result<Self> {
        Err(lacks("io_uring"))
    }

    pub fn buffer(&self, _slot: u32) -> &[u8] {
        match *self {}
    }

    pub fn buffer_mut(&mut self, _slot: u32) -> &mut [u8] {
        match *self {}
    }

    pub fn queue(&mut self, _transfer: RingTransfer) {
        match *self {}
    }

    pub fn queue_sync(&mut self, _call: RingSync, _slot: u32) {
        match *self {}
    }

    pub fn submit_and_wait(&mut self, _want: u32) -> io::Result<()> {
        match *self {}
    }

    pub fn submit_and_poll(&mut self) -> io::Result<()> {
        match *self {}
    }

    pub fn take_completions(&mut self) -> usize {
        match *self {}
    }

    pub fn completion(&self, _index: usize) -> RingCompletion {
        match *self {}
    }

    pub fn in_flight(&self) -> u32 {
        match *self {}
    }

    pub fn close(self) -> io::Result<()> {
        match self {}
    }
}
