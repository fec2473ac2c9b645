//! Messages to and from the gate, and the descriptors that go beside them.

use core::ffi::{c_int, c_void};
use core::mem::zeroed;
use core::ptr::{null_mut, write_unaligned};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use handoff::message::{MAX_LENGTH, ToGate, ToServer};
use libc::{iovec, msghdr, sockaddr_un};

use crate::next;

/// Descriptors beside a message at most.
pub(crate) const BESIDE: usize = 3;

const ROOM: usize = 64;
#[repr(C, align(8))]
struct Ancillary([u8; ROOM]);

/// Where the gate listens, as it was when the server began: servers write over their environment.
static PATH: Path =
    Path { bytes: [const { core::sync::atomic::AtomicU8::new(0) }; 108], length: AtomicUsize::new(0) };
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

struct Path {
    bytes: [core::sync::atomic::AtomicU8; 108],
    length: AtomicUsize,
}

/// The variable of the environment that says where the gate listens.
const VARIABLE: &core::ffi::CStr = c"HEADWORKS_ATTACH";

/// Keeps where the gate listens.
pub(crate) fn remember() {
    // SAFETY: no other thread runs yet.
    let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    if value.is_null() {
        return;
    }
    // SAFETY: it ends with a zero.
    let length = unsafe { libc::strlen(value) };
    if length == 0 || length >= PATH.bytes.len() {
        return;
    }
    for (at, place) in PATH.bytes.iter().enumerate().take(length) {
        // SAFETY: it is as long.
        place.store(unsafe { *value.add(at) } as u8, Ordering::Relaxed);
    }
    PATH.length.store(length, Ordering::Relaxed);
    IS_KNOWN.store(true, Ordering::Release);
}

/// Whether there is a gate to ask for.
pub(crate) fn is_wanted() -> bool {
    IS_KNOWN.load(Ordering::Relaxed)
}

/// The address of the gate's socket, or with something behind its path, and how long it is.
fn address(behind: &str) -> (sockaddr_un, libc::socklen_t) {
    // SAFETY: as zeros it is an address without a path.
    let mut address: sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let length = PATH.length.load(Ordering::Relaxed);
    let path = PATH.bytes.iter().take(length).map(|byte| byte.load(Ordering::Relaxed)).chain(behind.bytes());
    // There is a zero behind it: who knows of a path that is cut finds nothing there.
    let places = address.sun_path.iter_mut().take(PATH.bytes.len() - 1).zip(path);
    places.for_each(|(place, byte)| *place = byte as libc::c_char);
    (address, size_of::<sockaddr_un>() as libc::socklen_t)
}

/// Copies the path of the directory that the gate's socket is in.
pub(crate) fn directory(into: &mut [u8; 108]) {
    let length = PATH.length.load(Ordering::Relaxed);
    into.fill(0);
    let bytes = PATH.bytes.iter().take(length);
    into.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte.load(Ordering::Relaxed));
    let end = into[..length].iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    into[end.max(1)..].fill(0);
    if end == 0 && into[0] != b'/' {
        into[0] = b'.';
    }
}

/// A connection to the gate, or to what listens with this behind its path; -1 without one.
pub(crate) fn connect(behind: &str) -> c_int {
    let (address, length) = address(behind);
    // SAFETY: the address is as long as is said.
    unsafe {
        let fd = libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0);
        // A gate that does not accept is as one that is not there.
        let patience = libc::timeval { tv_sec: 0, tv_usec: 200_000 };
        let size = size_of::<libc::timeval>() as libc::socklen_t;
        next::setsockopt(fd, libc::SOL_SOCKET, libc::SO_SNDTIMEO, (&raw const patience).cast(), size);
        if fd >= 0 && libc::connect(fd, (&raw const address).cast(), length) != 0 {
            next::close(fd);
            return -1;
        }
        fd
    }
}

/// Sends a message, with a descriptor beside it if that is not -1; whether it went.
pub(crate) fn send(channel: c_int, message: ToGate, fd: c_int) -> bool {
    let mut bytes = message.to_bytes();
    let mut piece = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut ancillary = Ancillary([0; ROOM]);
    // SAFETY: all that it points to is there until it is sent, and there is room for one descriptor.
    unsafe {
        let mut header: msghdr = zeroed();
        header.msg_iov = &raw mut piece;
        header.msg_iovlen = 1;
        if fd >= 0 {
            header.msg_control = ancillary.0.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as _;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as _;
            write_unaligned(libc::CMSG_DATA(first).cast::<c_int>(), fd);
        }
        next::sendmsg(channel, &raw const header, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) >= 0
    }
}

/// What came of receiving.
pub(crate) enum Received {
    /// A message with the descriptors beside it, -1 where there are fewer.
    Message(ToServer, [c_int; BESIDE]),
    /// What was sent is not understood; descriptors beside it were closed.
    Unknown,
    /// There is nothing now.
    Nothing,
    /// The other side is gone.
    Closed,
}

/// Receives a message, with flags of recvmsg(2).
pub(crate) fn receive(channel: c_int, flags: c_int) -> Received {
    let mut bytes = [0u8; MAX_LENGTH];
    let mut piece = iovec { iov_base: bytes.as_mut_ptr().cast::<c_void>(), iov_len: bytes.len() };
    let mut ancillary = Ancillary([0; ROOM]);
    let mut beside = [-1; BESIDE];
    // SAFETY: all that it points to is there until it is received, and descriptors are read only where some are said to be.
    let length = unsafe {
        let mut header: msghdr = zeroed();
        header.msg_iov = &raw mut piece;
        header.msg_iovlen = 1;
        header.msg_control = ancillary.0.as_mut_ptr().cast();
        header.msg_controllen = ROOM as _;
        let length = next::recvmsg(channel, &raw mut header, flags);
        let first = if length > 0 { libc::CMSG_FIRSTHDR(&raw const header) } else { null_mut() };
        if !first.is_null() && (*first).cmsg_type == libc::SCM_RIGHTS {
            let size = (*first).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
            let data = libc::CMSG_DATA(first).cast::<c_int>();
            let places = beside.iter_mut().enumerate().take(size / size_of::<c_int>());
            places.for_each(|(at, place)| *place = data.add(at).read_unaligned());
        }
        length
    };
    if length < 0 {
        let is_empty = matches!(next::errno(), libc::EAGAIN | libc::EINTR);
        return if is_empty { Received::Nothing } else { Received::Closed };
    }
    if length == 0 {
        return Received::Closed;
    }
    match ToServer::read(&bytes[..length as usize]) {
        Some(message) => Received::Message(message, beside),
        None => {
            // SAFETY: they came beside the message, and the server does not know of them.
            beside.iter().filter(|fd| **fd >= 0).for_each(|fd| unsafe {
                next::close(*fd);
            });
            Received::Unknown
        }
    }
}
