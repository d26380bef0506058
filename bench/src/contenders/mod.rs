//! Who is measured: one file per program, with the commands it is given and the reader of what it
//! prints. A contender that cannot do some work is given no command for it, and a remark says why.

mod bonnie;
mod contender;
mod fio;
mod fslab;
mod reference;
mod sysbench;

pub(crate) use contender::{Contender, Invocation, Task};
pub(crate) use fslab::Fslab;
pub(crate) use reference::{Programs, Reference, value_of};
pub(crate) use {bonnie::Bonnie, fio::Fio, sysbench::Sysbench};
