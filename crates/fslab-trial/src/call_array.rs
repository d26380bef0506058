//! Arrays of system calls, which the kernel of fslab's guests executes.

use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind};

/// The driver; other kernels have none.
const DRIVER: &str = "/dev/fslab-calls";
/// The fact of a trial in real time whose small operations such arrays make faster.
pub(crate) const FACT: &str = "system_calls";
pub(crate) const FACT_TEXT: &str = "in arrays, where none depends on another's result";

/// Makes this process use the driver, if there is one.
pub(crate) fn open() -> Result<(), Failure> {
    match fslab_sys::open_call_array(Path::new(DRIVER)) {
        Err(error) if !has_none(&error) => {
            let text = format!("cannot use {DRIVER}, which executes arrays of system calls");
            Err(Failure::new(FailureKind::Device, text).because(&error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// True where there is no such driver: on a system that is not fslab's guest, and in guests of
/// earlier labs, in which each call is made by itself.
fn has_none(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_the_driver_makes_each_call_by_itself() {
        open().expect("no failure");
        assert!(!fslab_sys::has_call_array());
    }
}
