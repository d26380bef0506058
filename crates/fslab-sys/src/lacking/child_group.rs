//! A measured process and its children: never made.

use std::io;
use std::process::Command;
use std::time::Duration;

use super::lacks;
use crate::GroupEnd;

/// A measured process and its children: never made.
#[derive(Debug)]
pub enum ChildGroup {}

impl ChildGroup {
    /// Refused.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn start(_command: Command, _kept_bytes: usize) -> io::Result<Self> {
        Err(lacks("measured programs, whose children are reaped"))
    }

    /// Never called.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        match *self {}
    }

    /// Never called.
    #[must_use]
    pub fn id(&self) -> u32 {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn wait_for_leader(&mut self, _gives_up: impl FnMut() -> bool) -> io::Result<bool> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn poll_output(&mut self, _timeout: Duration) -> io::Result<bool> {
        match *self {}
    }

    /// Never called.
    #[must_use]
    pub fn output(&self) -> String {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn terminate(&self) -> io::Result<()> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn reap(self) -> io::Result<GroupEnd> {
        match self {}
    }
}
