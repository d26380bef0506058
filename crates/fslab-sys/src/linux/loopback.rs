//! The loopback interface, which is down after boot.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::status::check;

/// Interface name.
const NAME: &[u8] = b"lo\0";

/// Brings the loopback interface up, if it is down.
///
/// # Errors
/// That of socket(2) or ioctl(2): EPERM if it is down and this process may not change that.
pub fn bring_up_loopback() -> io::Result<()> {
    // SAFETY: the call takes numbers and returns a descriptor.
    let descriptor =
        unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just opened and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
    // SAFETY: ifreq consists of integers and a union of such, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (into, byte) in request.ifr_name.iter_mut().zip(NAME) {
        *into = libc::c_char::from_ne_bytes([*byte]);
    }
    // SAFETY: the request names an interface and outlives the call, which writes its flags.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) };
    check(status)?;
    let up = libc::c_short::try_from(libc::IFF_UP).map_err(io::Error::other)?;
    // SAFETY: the call above has written this member of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    if flags & up != 0 {
        return Ok(());
    }
    request.ifr_ifru.ifru_flags = flags | up;
    // SAFETY: as above; the call reads the flags.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    check(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_that_is_up_stays_up_and_accepts_connections() {
        match bring_up_loopback() {
            Ok(()) => {
                let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
                let address = listener.local_addr().expect("has one");
                std::net::TcpStream::connect(address).expect("connects");
            }
            // A sandbox may have it down and prevent a change.
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
