//! [`Deferred`]: a listener whose connections come with their first bytes.

extern crate std;

use core::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

/// A listener of which the kernel gives connections when their clients have sent something (`TCP_DEFER_ACCEPT`, tcp(7)), or after a second
/// or two: who accepts them finds the first request there. As it was before when this is dropped.
#[derive(Debug)]
pub struct Deferred(OwnedFd);

impl Deferred {
    /// Nothing where the server has said so itself.
    ///
    /// # Errors
    /// Where it is not a listener of TCP.
    pub fn begin(listener: OwnedFd) -> io::Result<Option<Self>> {
        if get(&listener)? != 0 {
            return Ok(None);
        }
        set(&listener, 1)?;
        Ok(Some(Self(listener)))
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        // What cannot be undone does no harm: the server has its connections a little later.
        let _ = set(&self.0, 0);
    }
}

fn get(listener: &OwnedFd) -> io::Result<c_int> {
    let (mut value, mut length) = (0 as c_int, size_of::<c_int>() as libc::socklen_t);
    let into = (&raw mut value).cast::<c_void>();
    #[allow(unsafe_code, reason = "the option has no safe form")]
    // SAFETY: there is room for as much as is said.
    let result = unsafe {
        let listener = listener.as_raw_fd();
        libc::getsockopt(listener, libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, into, &raw mut length)
    };
    if result == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

fn set(listener: &OwnedFd, seconds: c_int) -> io::Result<()> {
    let length = size_of::<c_int>() as libc::socklen_t;
    let from = (&raw const seconds).cast::<c_void>();
    #[allow(unsafe_code, reason = "the option has no safe form")]
    // SAFETY: it is as long as is said.
    let result = unsafe {
        libc::setsockopt(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, from, length)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn a_listener_is_as_it_was_afterwards() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let same = || OwnedFd::from(listener.try_clone().unwrap());
        let deferred = Deferred::begin(same()).unwrap();
        assert!(deferred.is_some() && get(&same()).unwrap() > 0);
        assert!(Deferred::begin(same()).unwrap().is_none(), "it has been said already");
        drop(deferred);
        assert_eq!(get(&same()).unwrap(), 0);
        Deferred::begin(UdpSocket::bind("127.0.0.1:0").unwrap().into()).unwrap_err();
    }
}
