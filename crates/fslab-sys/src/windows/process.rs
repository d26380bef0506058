//! This process, others, and the machine.

use std::fmt::Write;
use std::io;
use std::process::Command;

use windows_sys::Win32::Foundation::{CloseHandle, FILETIME, HANDLE};
use windows_sys::Win32::Security::Cryptography::{
    BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom,
};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNameDnsHostname, GetComputerNameExW, GetTickCount64, GetVersionExW, OSVERSIONINFOW,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetExitCodeProcess, GetProcessTimes, GetThreadTimes,
    OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_TERMINATE, TerminateProcess,
};

use super::text::{check, narrow};
use crate::{ProcessIdentity, ResourceUse, Signal};

/// The search path of a trial's process.
pub const PLAIN_PATH: &str = "C:\\Windows\\System32;C:\\Windows";
/// Exit code of a process that was ended by fslab.
pub(super) const ENDED: u32 = 0xF51A;
/// `STILL_ACTIVE`.
const RUNNING: u32 = 259;

/// The system with its version.
pub fn kernel_release() -> String {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the structure outlives the call and has its own size.
    unsafe { GetVersionExW(&raw mut version) };
    let (major, minor) = (version.dwMajorVersion, version.dwMinorVersion);
    let text = format!("Windows {major}.{minor}.{}", version.dwBuildNumber);
    match wine_version() {
        Some(wine) => format!("{text}, Wine {wine}"),
        None => text,
    }
}

/// The version of Wine, where it stands in for Windows.
fn wine_version() -> Option<String> {
    use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
    // SAFETY: both names are C strings, and ntdll is loaded into every process.
    let ask = unsafe {
        let ntdll = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        GetProcAddress(ntdll, c"wine_get_version".as_ptr().cast())
    }?;
    // SAFETY: Wine's function takes nothing and returns a static C string.
    let version = unsafe {
        // SAFETY: the pointer is of a function with this signature.
        let ask: unsafe extern "C" fn() -> *const std::ffi::c_char = std::mem::transmute(ask);
        std::ffi::CStr::from_ptr(ask())
    };
    Some(version.to_string_lossy().into_owned())
}

/// Unbuffered reads are cold on Windows, which writes a file's cached pages back before them.
pub fn cold_without_buffering() -> Result<(), &'static str> {
    match wine_version() {
        None => Ok(()),
        Some(_) => Err("unbuffered reads are not cold under Wine: the system below it caches"),
    }
}

/// The machine's name.
pub fn host_name() -> String {
    let mut name = [0; 256];
    let mut length = name.len() as u32;
    // SAFETY: the buffer outlives the call, and its length is passed.
    unsafe { GetComputerNameExW(ComputerNameDnsHostname, name.as_mut_ptr(), &raw mut length) };
    narrow(&name)
}

/// False: nothing that fslab does on Windows needs an administrator.
pub fn is_superuser() -> bool {
    false
}

/// 0: users have no numbers.
pub fn effective_user() -> u32 {
    0
}

/// Without effect: the job object of [`super::ProcessGroup`] ends with its owner.
pub fn terminate_with_parent(_command: &mut Command) {}

/// Without effect, as [`terminate_with_parent`].
pub fn kill_with_parent(_command: &mut Command) {}

/// Without effect: locks of files are of one process.
pub fn let_child_inherit(_command: &mut Command, _file: &std::fs::File) {}

/// Without effect, as [`let_child_inherit`].
pub fn let_children_inherit(_file: &std::fs::File) -> io::Result<()> {
    Ok(())
}

/// The numbers of the processors that this process may use.
pub fn processors() -> io::Result<Vec<usize>> {
    Ok((0..std::thread::available_parallelism()?.get()).collect())
}

/// 16 random bytes.
pub fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    let (start, length) = (bytes.as_mut_ptr(), bytes.len() as u32);
    // SAFETY: the buffer outlives the call, and its length is passed.
    let status = unsafe {
        BCryptGenRandom(
            std::ptr::null_mut(),
            start,
            length,
            BCRYPT_USE_SYSTEM_PREFERRED_RNG,
        )
    };
    match status {
        0 => Ok(bytes),
        status => Err(io::Error::other(format!(
            "BCryptGenRandom: status {status:#x}"
        ))),
    }
}

/// 32 random hexadecimal digits.
pub fn random_name() -> io::Result<String> {
    let mut name = String::new();
    for byte in random_bytes()? {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}

/// `signal NUMBER`: Windows has none.
pub fn signal_name(number: i32) -> String {
    format!("signal {number}")
}

/// Milliseconds since boot, the unit of start times.
pub fn boot_ticks() -> u64 {
    // SAFETY: the call takes nothing.
    unsafe { GetTickCount64() }
}

/// A process that may be asked.
struct Open(HANDLE);

impl Open {
    fn process(pid: u32, access: u32) -> io::Result<Self> {
        // SAFETY: the call takes numbers.
        let handle = unsafe { OpenProcess(access, 0, pid) };
        match handle.is_null() {
            true => Err(io::Error::last_os_error()),
            false => Ok(Self(handle)),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used again.
        unsafe { CloseHandle(self.0) };
    }
}

/// Units of 100 ns.
fn units(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

/// Time of creation; in the kernel and in user mode.
fn times(process: HANDLE) -> Option<[u64; 3]> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the variables outlive the call.
    check(unsafe { GetProcessTimes(process, created, exited, kernel, user) }).ok()?;
    Some([units(times[0]), units(times[2]), units(times[3])])
}

impl ProcessIdentity {
    /// The process that has this PID now.
    pub fn of(pid: u32) -> Self {
        let start = || {
            let open = Open::process(pid, PROCESS_QUERY_LIMITED_INFORMATION).ok()?;
            let mut code = 0;
            // SAFETY: the handle is open, and the variable outlives the call.
            check(unsafe { GetExitCodeProcess(open.0, &raw mut code) }).ok()?;
            (code == RUNNING).then_some(times(open.0)?[0])
        };
        Self {
            pid,
            start_ticks: start(),
        }
    }

    /// True if it has not ended.
    pub fn is_alive(&self) -> bool {
        self.start_ticks.is_some() && *self == Self::of(self.pid)
    }

    /// False: its start has another unit.
    pub fn started_since(&self, _ticks: u64) -> bool {
        false
    }

    /// Ends it, whatever the signal; false if it has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        signal_if(self.pid, signal, || self.is_alive())
    }
}

/// Ends the process with the PID `pid` if `is_meant` returns true; the PID cannot be reused in
/// between.
pub fn signal_if(pid: u32, _signal: Signal, is_meant: impl FnOnce() -> bool) -> io::Result<bool> {
    let open = Open::process(pid, PROCESS_TERMINATE)?;
    if !is_meant() {
        return Ok(false);
    }
    // SAFETY: the handle is open.
    check(unsafe { TerminateProcess(open.0, ENDED) })?;
    Ok(true)
}

impl ResourceUse {
    /// Processor time of all threads of this process; switches are not counted.
    pub fn of_process() -> Self {
        // SAFETY: the call takes nothing.
        Self::from_times(times(unsafe { GetCurrentProcess() }))
    }

    /// Processor time of the calling thread; switches are not counted.
    pub fn of_thread() -> Self {
        let mut times = [FILETIME::default(); 4];
        let [created, exited, kernel, user] = &mut times;
        // SAFETY: the handle is of the calling thread, and the variables outlive the call.
        let status = unsafe { GetThreadTimes(GetCurrentThread(), created, exited, kernel, user) };
        let found = [units(times[0]), units(times[2]), units(times[3])];
        Self::from_times((status != 0).then_some(found))
    }

    pub(super) fn from_times(times: Option<[u64; 3]>) -> Self {
        let [_, kernel, user] = times.unwrap_or_default();
        Self {
            user_ns: user * 100,
            system_ns: kernel * 100,
            ..Self::default()
        }
    }

    /// Of a process with an open handle.
    pub(super) fn of_handle(process: HANDLE) -> Self {
        Self::from_times(times(process))
    }
}
