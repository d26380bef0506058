//! One file or folder a file system.
