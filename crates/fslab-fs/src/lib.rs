//! The catalogue of file systems: one file per file system, and their registry.
