//! filebench's personalities.

mod reading;

pub(crate) use reading::read;
