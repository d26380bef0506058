//! Signals as the kernel of a Unix knows them.

use crate::Signal;

impl From<Signal> for rustix::process::Signal {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Terminate => Self::TERM,
            Signal::Kill => Self::KILL,
        }
    }
}
