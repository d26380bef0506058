//! The workloads, one a file.

mod append;
mod chmod;
mod create;
mod exercise;
mod files;
mod fill;
mod io;
mod list;
mod random_read;
mod random_write;
mod read;
mod read_files;
mod rewrite;
mod stat;
mod strided_read;
mod unlink;
mod verify;
mod write;

pub(crate) use append::Append;
pub(crate) use chmod::Chmod;
pub(crate) use create::Create;
pub(crate) use exercise::Exercise;
pub(crate) use files::Files;
pub(crate) use fill::Fill;
pub(crate) use io::Io;
pub(crate) use list::List;
pub(crate) use random_read::RandomRead;
pub(crate) use random_write::RandomWrite;
pub(crate) use read::Read;
pub(crate) use read_files::ReadFiles;
pub(crate) use rewrite::Rewrite;
pub(crate) use stat::Stat;
pub(crate) use strided_read::StridedRead;
pub(crate) use unlink::Unlink;
pub(crate) use verify::Verify;
pub(crate) use write::Write;
