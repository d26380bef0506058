//! The engines of fio: those that fslab has, and why it has no others.

use super::settings::{FioEngine, FioSettings};
use crate::problem::shown;

impl FioSettings {
    pub(crate) fn set_engine(&mut self, text: &str) -> Result<(), String> {
        self.engine = match text.trim() {
            "sync" => FioEngine::Moving,
            "psync" | "vsync" | "pvsync" | "pvsync2" => FioEngine::Positioned,
            "libaio" => FioEngine::Libaio,
            "posixaio" => FioEngine::PosixAio,
            "io_uring" => FioEngine::Uring,
            "mmap" => FioEngine::Mmap,
            "filecreate" => FioEngine::Names("create"),
            "filestat" => FioEngine::Names("stat"),
            "filedelete" => FioEngine::Names("unlink"),
            "dircreate" => FioEngine::Names("mkdir"),
            "dirdelete" => FioEngine::Names("rmdir"),
            other => return Err(refused_engine(other)),
        };
        Ok(())
    }
}

/// Why there is no engine of this name.
fn refused_engine(engine: &str) -> String {
    let reason = match engine {
        "null" | "cpuio" | "page_fault" | "cpp_null" => "it does no I/O on files",
        "exec" => "it would run a command, and a job file starts no program",
        "net" | "netsplice" | "rdma" | "http" | "nbd" | "nfs" | "libiscsi" => {
            "it works over a network, not on a file system"
        }
        "rados" | "rbd" | "gfapi" | "gfapi_async" | "libhdfs" | "dfs" => {
            "it works on a service by its library, not on a mounted file system"
        }
        "sg" | "mtd" | "io_uring_cmd" | "libzbc" | "libblkio" | "xnvme" => {
            "it works on a device, not on a file system"
        }
        "dev-dax" | "libpmem" | "libcufile" | "libhipfile" => {
            "it needs hardware and a library that fslab does not use"
        }
        "falloc" | "ftruncate" => "fslab has no job that reserves or truncates parts of a file",
        "e4defrag" => "it is of one file system only, ext4",
        "splice" => "fslab does not splice",
        "windowsaio" | "solarisaio" => "it is of another system; use io_uring or psync",
        "external" => "it would load a library, and a job file runs no code",
        "dirstat" => "fslab stats files, not directories; use filestat",
        _ if engine.starts_with("external:") => {
            "it would load a library, and a job file runs no code"
        }
        _ if engine.starts_with("ime_") => "it works on a service by its library",
        _ => {
            return format!(
                "fslab has no engine '{}'; it has sync, psync, vsync, pvsync, pvsync2, libaio, \
                 posixaio, io_uring, mmap, filecreate, filestat, filedelete, dircreate and \
                 dirdelete",
                shown(engine)
            );
        }
    };
    format!("fslab has no engine {}: {reason}", shown(engine))
}
