//! Where a trial runs: prepares the device, starts the process, cleans up.
