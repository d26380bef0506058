//! System calls and probes: the only crate with unsafe code.
