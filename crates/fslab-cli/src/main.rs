//! The command `fslab`.
fn main() {}
