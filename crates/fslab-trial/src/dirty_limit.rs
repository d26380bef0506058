//! The limit of the guest's memory that waits to be written.

use std::fs;

use fslab_model::{Bytes, Failure, FailureKind};

/// Where writers wait, and where writing back begins: at half of it, as in Linux by default.
const LIMITS: [(&str, u64); 2] = [
    ("/proc/sys/vm/dirty_bytes", 1),
    ("/proc/sys/vm/dirty_background_bytes", 2),
];

/// Lets at most `limit` of the page cache wait to be written; `None`: the guest's own limits stay.
pub(crate) fn limit_dirty_memory(limit: Option<Bytes>) -> Result<(), Failure> {
    let Some(limit) = limit else {
        return Ok(());
    };
    for (file, part) in LIMITS {
        fs::write(file, (limit.0 / part).to_string()).map_err(|error| {
            let text = format!("cannot limit the memory that waits to be written by {file}");
            Failure::new(FailureKind::Device, text)
                .because(&error)
                .hint("only a guest's limits are changed; run without --dirty-limit elsewhere")
        })?;
    }
    Ok(())
}
