//! One trial on this kernel: format, mount, phases, unmount, check.
