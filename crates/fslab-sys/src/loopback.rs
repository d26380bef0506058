//! The loopback interface, which a freshly booted kernel has down.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The interface's name in a request.
const NAME: &[u8] = b"lo\0";

/// Sees to it that the loopback interface is up. Where it is, nothing is done.
///
/// # Errors
/// That of socket(2) or ioctl(2): EPERM where it is down and this process may not change that.
pub fn bring_up_loopback() -> io::Result<()> {
    // SAFETY: the call takes numbers and gives a descriptor.
    let descriptor =
        unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was opened just now, and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
    // SAFETY: ifreq is made of integers and a union of such, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (into, byte) in request.ifr_name.iter_mut().zip(NAME) {
        *into = (*byte).cast_signed();
    }
    // SAFETY: the request names an interface and outlives the call, which fills in its flags.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    let up = libc::c_short::try_from(libc::IFF_UP).map_err(io::Error::other)?;
    // SAFETY: the call before has filled in this member of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    if flags & up != 0 {
        return Ok(());
    }
    request.ifr_ifru.ifru_flags = flags | up;
    // SAFETY: as before; the flags are what it reads.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if status < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_that_is_up_stays_so_and_takes_connections() {
        match bring_up_loopback() {
            Ok(()) => {
                let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
                let address = listener.local_addr().expect("has one");
                std::net::TcpStream::connect(address).expect("connects");
            }
            // A sandbox may have it down, and may keep us from changing that.
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
