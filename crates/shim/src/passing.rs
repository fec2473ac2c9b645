//! Descriptors that the server passes to other processes (unix(7), `SCM_RIGHTS`).

use core::ffi::{c_int, c_void};
use core::mem::size_of;
use core::ptr::{copy_nonoverlapping, read_unaligned, write_unaligned};

use libc::msghdr;

use crate::adoption::real;
use crate::channel;
use crate::connections;
use crate::table;
use crate::table::{Entry, Kind};

/// What goes beside a message at most, for its listeners to be seen: the kernel's own limit of 253 descriptors.
const ROOM: usize = 1088;

/// What goes beside a message, where it is changed.
#[repr(C, align(8))]
pub(crate) struct Beside([u8; ROOM]);

impl Beside {
    pub(crate) const NOTHING: Self = Self([0; ROOM]);
}

/// A message as it is sent: with listeners that are the real ones, of which other processes can do what they like. That
/// connections go with it is told to the gate, which knows nothing of what becomes of them there.
///
/// # Safety
/// As of sendmsg(2).
pub(crate) unsafe fn passed(message: *const msghdr, beside: &mut Beside) -> msghdr {
    // SAFETY: as the caller says; what goes beside it is as long as it says, and is looked at piece by piece.
    unsafe {
        let mut sent = *message;
        let length = sent.msg_controllen;
        if !channel::is_wanted() || sent.msg_control.is_null() || length == 0 || length > ROOM {
            return sent;
        }
        copy_nonoverlapping(sent.msg_control.cast::<u8>(), beside.0.as_mut_ptr(), length);
        let before = sent.msg_control;
        sent.msg_control = beside.0.as_mut_ptr().cast::<c_void>();
        let (mut is_changed, mut piece) = (false, libc::CMSG_FIRSTHDR(&raw const sent));
        while !piece.is_null() {
            let (at, size) = (piece as usize - sent.msg_control as usize, (*piece).cmsg_len);
            if size < libc::CMSG_LEN(0) as usize || size > length - at {
                // The kernel says what it says of it.
                return *message;
            }
            if (*piece).cmsg_level == libc::SOL_SOCKET && (*piece).cmsg_type == libc::SCM_RIGHTS {
                let room = (*piece).cmsg_len - libc::CMSG_LEN(0) as usize;
                let descriptors = libc::CMSG_DATA(piece).cast::<c_int>();
                for at in 0..room / size_of::<c_int>() {
                    let fd = read_unaligned(descriptors.add(at));
                    match table::entry(fd).map(Entry::kind) {
                        Some(Kind::Listener) => {
                            write_unaligned(descriptors.add(at), real(fd));
                            is_changed = true;
                        }
                        Some(Kind::Client) => {
                            table::client(fd).iter().for_each(|entry| connections::passed_on(entry))
                        }
                        _ => {}
                    }
                }
            }
            piece = libc::CMSG_NXTHDR(&raw const sent, piece);
        }
        if !is_changed {
            sent.msg_control = before;
        }
        sent
    }
}
