//! How I/O is issued: engines, access patterns, latency recording.
