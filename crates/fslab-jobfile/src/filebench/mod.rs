//! filebench's personalities, in its Workload Model Language.

mod database;
mod loops;
mod reading;
mod script;
mod statements;
mod streams;
mod words;

pub(crate) use reading::read;
