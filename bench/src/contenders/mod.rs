//! Who is measured: one file per program, with the commands it is given and the reader of what it
//! prints. A contender that cannot do some work is given no command for it, and a remark says why.

mod bonnie;
mod contender;
mod elbencho;
mod fio;
mod fs_mark;
mod fslab;
mod mdtest;
mod peers;
mod reference;
mod sysbench;

pub(crate) use contender::{Contender, Invocation, Task};
pub(crate) use fslab::Fslab;
pub(crate) use peers::{PeerFile, peers};
pub(crate) use reference::{Programs, Reference, value_of};

use bonnie::Bonnie;
use elbencho::Elbencho;
use fio::Fio;
use fs_mark::FsMark;
use mdtest::Mdtest;
use sysbench::Sysbench;
