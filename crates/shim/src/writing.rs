//! Writing to connections: where a response ends, and what is inserted into it.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use handoff::slot::{MAX_LINE, Slot};
use libc::{iovec, msghdr, size_t, ssize_t};

use crate::connections;
use crate::next;
use crate::table::{Entry, Phase};

/// Pieces of a write that can have a line inserted; more are written as they are.
const PIECES: usize = 64;

const SWITCHING_PROTOCOLS: u16 = 101;

/// How something is written.
pub(crate) enum How<'a> {
    /// writev(2), or write(2).
    Write,
    /// sendmsg(2) with these flags, or send(2); what else belongs to the message.
    Send(c_int, Option<&'a msghdr>),
}

/// Writes these pieces, and follows the response in them.
///
/// # Safety
/// As of writev(2).
pub(crate) unsafe fn write(fd: c_int, entry: &Entry, pieces: &[iovec], how: &How<'_>) -> ssize_t {
    if entry.phase() != Phase::Busy {
        // SAFETY: as the caller says.
        return unsafe { plain(fd, pieces, how) };
    }
    let slot = connections::of(entry).map(|(.., slot)| slot).filter(|slot| slot.has_line());
    // SAFETY: as the caller says.
    let written = unsafe {
        match slot {
            Some(slot) => with_line(fd, entry, slot, pieces, how),
            None => plain(fd, pieces, how),
        }
    };
    if let Ok(mut left) = usize::try_from(written) {
        for piece in pieces {
            let of_it = left.min(piece.iov_len);
            left -= of_it;
            if of_it > 0 {
                // SAFETY: so much of the piece was written.
                follow(entry, unsafe { bytes(piece, of_it) });
            }
        }
    }
    written
}

/// # Safety
/// The piece has to be as long.
unsafe fn bytes<'a>(piece: &iovec, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { core::slice::from_raw_parts(piece.iov_base.cast::<u8>(), length) }
}

fn follow(entry: &Entry, bytes: &[u8]) {
    // SAFETY: who writes a response is the one who does.
    let response = unsafe { entry.response() };
    if response.wrote(bytes).is_some() {
        connections::over(entry, response);
    } else if response.is_until_close() && response.status() == SWITCHING_PROTOCOLS {
        // From here on another protocol is spoken.
        connections::over(entry, response);
        entry.set_phase(Phase::Ended);
    }
}

/// So many bytes went to a connection that were not seen.
pub(crate) fn wrote_unseen(entry: &Entry, written: ssize_t) {
    if entry.phase() != Phase::Busy || written <= 0 {
        return;
    }
    // SAFETY: who writes a response is the one who does.
    let response = unsafe { entry.response() };
    if response.wrote_unseen(written as u64) {
        connections::over(entry, response);
    }
}

/// # Safety
/// As of writev(2).
unsafe fn plain(fd: c_int, pieces: &[iovec], how: &How<'_>) -> ssize_t {
    // SAFETY: as the caller says.
    unsafe {
        match how {
            How::Write => match pieces {
                [one] => next::write(fd, one.iov_base, one.iov_len),
                _ => next::writev(fd, pieces.as_ptr(), pieces.len() as c_int),
            },
            How::Send(flags, None) if pieces.len() == 1 => {
                next::send(fd, pieces[0].iov_base, pieces[0].iov_len, *flags)
            }
            How::Send(flags, message) => send(fd, pieces, *flags, *message),
        }
    }
}

/// # Safety
/// As of sendmsg(2).
unsafe fn send(fd: c_int, pieces: &[iovec], flags: c_int, message: Option<&msghdr>) -> ssize_t {
    // SAFETY: as the caller says; as zeros it is a message without anything.
    unsafe {
        let mut sent: msghdr = message.map_or_else(|| core::mem::zeroed(), |message| *message);
        sent.msg_iov = pieces.as_ptr().cast_mut();
        sent.msg_iovlen = pieces.len() as _;
        next::sendmsg(fd, &raw const sent, flags)
    }
}

/// Whether shared caches may keep the response, and give it to others (RFC 9111 section 5.2.2): nothing of one client's goes in.
fn is_for_all(head: &[u8]) -> bool {
    const NAME: &[u8] = b"cache-control:";
    let lines = head.split(|byte| *byte == b'\n').take_while(|line| !matches!(line, [] | [b'\r']));
    let mut values =
        lines.filter(|line| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)));
    values.any(|line| has(line, b"public") || has(line, b"s-maxage"))
}

fn has(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Writes with a line behind the status line; gives how many of the server's own bytes went.
///
/// # Safety
/// As of writev(2).
unsafe fn with_line(fd: c_int, entry: &Entry, slot: &Slot, pieces: &[iovec], how: &How<'_>) -> ssize_t {
    let sent = usize::from(entry.line_sent.load(Ordering::Relaxed));
    // SAFETY: the piece is as long.
    let first = pieces.first().map_or(&[][..], |piece| unsafe { bytes(piece, piece.iov_len) });
    // What a short write left of it goes first.
    let before =
        if sent > 0 { Some(0) } else { first.iter().position(|byte| *byte == b'\n').map(|at| at + 1) };
    // An interim response is not the one.
    let is_interim = sent == 0 && first.starts_with(b"HTTP/1.1 1");
    // SAFETY: who writes a response is the one who does.
    let is_at_status_line = unsafe { entry.response() }.is_at_status_line();
    let is_http = first.starts_with(b"HTTP/1.");
    if sent == 0 && (!is_at_status_line || !is_http || is_for_all(first)) {
        slot.drop_line();
    }
    let is_left_out = pieces.len() + 2 > PIECES || is_interim || !slot.has_line();
    let (Some(before), false) = (before, is_left_out) else {
        // SAFETY: as the caller says.
        return unsafe { plain(fd, pieces, how) };
    };
    let mut line = [0u8; MAX_LINE];
    let length = slot.copy_line(&mut line);
    let rest = length.saturating_sub(sent);
    let piece =
        |bytes: &[u8]| iovec { iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(), iov_len: bytes.len() };
    let mut all = [iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; PIECES];
    all[0] = piece(&first[..before]);
    all[1] = piece(&line[sent.min(length)..length]);
    all[2] = piece(&first[before..]);
    all[3..].iter_mut().zip(pieces.iter().skip(1)).for_each(|(place, piece)| *place = *piece);
    let count = pieces.len() + 2;
    let (flags, message) = match how {
        How::Write => (0, None),
        How::Send(flags, message) => (*flags, *message),
    };
    // SAFETY: all pieces are there; a connection takes messages like writes.
    let written = unsafe { send(fd, &all[..count], flags, message) };
    let Ok(written) = size_t::try_from(written) else { return written };
    let of_line = written.saturating_sub(before).min(rest);
    if of_line == rest {
        slot.drop_line();
        entry.line_sent.store(0, Ordering::Relaxed);
    } else {
        entry.line_sent.store((sent + of_line) as u16, Ordering::Relaxed);
    }
    let own = written - of_line;
    if own == 0 && of_line > 0 {
        // None of the server's bytes went, and to say so would be to say that the connection is at its end.
        next::set_errno(libc::EAGAIN);
        return -1;
    }
    own as ssize_t
}
