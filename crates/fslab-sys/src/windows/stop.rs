//! Requests to stop: Ctrl-C, Ctrl-Break, and the end of the console or session.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;

use super::text::check;

type Call = Box<dyn Fn() + Send>;

/// What a request calls.
static CALLS: Mutex<Vec<Call>> = Mutex::new(Vec::new());

extern "system" fn handle(_kind: u32) -> i32 {
    let calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    calls.iter().for_each(|call| call());
    1
}

/// From now on, each request to stop calls `call`, in a thread of the system.
pub fn on_stop_signal(call: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_first = calls.is_empty();
    calls.push(Box::new(call));
    drop(calls);
    if !is_first {
        return Ok(());
    }
    // SAFETY: the handler is a function that lives as long as the process.
    check(unsafe { SetConsoleCtrlHandler(Some(handle), 1) })
}

/// From now on, each request to stop sets `flag`.
pub fn raise_on_stop_signals(flag: &Arc<AtomicBool>) -> io::Result<()> {
    let flag = Arc::clone(flag);
    on_stop_signal(move || flag.store(true, Ordering::SeqCst))
}

/// Without effect: Windows has no limit of file sizes that ends a process.
pub fn catch_file_size_limit() {}
