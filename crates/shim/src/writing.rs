//! Writing to connections: where a response ends, and what is inserted into it.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use handoff::response::Response;
use handoff::slot::{MAX_LINE, Slot};
use libc::{iovec, msghdr, size_t, ssize_t};

use crate::connections;
use crate::editing;
use crate::editing::Edit;
use crate::next;
use crate::table::{Entry, Phase};

/// Pieces of a write that can have a line inserted; more are written as they are.
const PIECES: usize = 64;
/// So many more there are of pieces that are changed.
const MORE: usize = 4;

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
    if entry.phase() == Phase::GivenBack {
        return at_end();
    }
    if entry.phase() != Phase::Busy {
        // SAFETY: as the caller says.
        return unsafe { plain(fd, pieces, how) };
    }
    // SAFETY: who writes a response is the one who does.
    let is_in_head = unsafe { entry.response() }.is_in_head();
    let slot = connections::of(entry).map(|(.., slot)| slot).filter(|_| is_in_head);
    // SAFETY: as the caller says.
    let written = unsafe {
        match slot {
            Some(slot) => edited(fd, entry, slot, pieces, how),
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

/// The server has nothing to say on a connection that the gate has again, and is at its end for it.
pub(crate) fn at_end() -> ssize_t {
    next::set_errno(libc::EPIPE);
    -1
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
        connections::over(entry, response, false);
    } else if response.is_until_close() && response.status() == SWITCHING_PROTOCOLS {
        // From here on another protocol is spoken.
        connections::over(entry, response, true);
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
        connections::over(entry, response, false);
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

/// Writes what is of a head, with the line of a session behind the status line, and without that by which the server names a
/// class; gives how many of the server's own bytes went.
///
/// # Safety
/// As of writev(2).
unsafe fn edited(fd: c_int, entry: &Entry, slot: &Slot, pieces: &[iovec], how: &How<'_>) -> ssize_t {
    // SAFETY: each piece is as long; who writes a response is the one who follows it.
    let (each, response) =
        unsafe { (|| pieces.iter().map(|piece| bytes(piece, piece.iov_len)), entry.response()) };
    let is_too_much = pieces.len() + MORE > PIECES;
    let class = if is_too_much || !response.is_at_line_start() { None } else { editing::class_line(each()) };
    let mut line = [0u8; MAX_LINE];
    let sent = usize::from(entry.line_sent.load(Ordering::Relaxed));
    let inserted = if is_too_much {
        None
    } else {
        place_of_line(slot, response, each().next(), (sent, class.is_some()))
    };
    if inserted.is_none() && class.is_none() {
        // SAFETY: as the caller says.
        return unsafe { plain(fd, pieces, how) };
    }
    let length = if inserted.is_some() { slot.copy_line(&mut line) } else { 0 };
    let rest = &line[sent.min(length)..length];
    let edit = Edit { at: inserted.unwrap_or(0), inserted: rest.len(), cut: class.clone().unwrap_or(0..0) };
    let mut all = [iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; PIECES];
    let (mut count, mut start) = (0, 0);
    for (index, piece) in each().enumerate() {
        for part in edit.parts(start, piece.len(), index + 1 == pieces.len()) {
            let part = part.map_or(rest, |part| &piece[part]);
            if !part.is_empty() && count < PIECES {
                all[count] =
                    iovec { iov_base: part.as_ptr().cast_mut().cast::<c_void>(), iov_len: part.len() };
                count += 1;
            }
        }
        start += piece.len();
    }
    let (flags, message) = match how {
        How::Write => (0, None),
        How::Send(flags, message) => (*flags, *message),
    };
    // SAFETY: all pieces are there; a connection takes messages like writes.
    let written = unsafe { send(fd, &all[..count], flags, message) };
    let Ok(written) = size_t::try_from(written) else { return written };
    let went = edit.went(written);
    if inserted.is_some() {
        let is_whole = went.inserted == rest.len();
        if is_whole {
            slot.drop_line();
        }
        entry.line_sent.store(if is_whole { 0 } else { (sent + went.inserted) as u16 }, Ordering::Relaxed);
    }
    if let Some(class) = class.filter(|class| went.own >= class.end) {
        let piece = each().scan(0, |start, piece| {
            let of_it = *start;
            *start += piece.len();
            Some((of_it, piece))
        });
        let within = |(start, piece): (usize, &'static [u8])| {
            piece.get(class.start.checked_sub(start)?..class.end.checked_sub(start)?)
        };
        if let Some(name) = piece.filter_map(within).next().and_then(editing::named) {
            connections::names_class(entry, name);
        }
    }
    if went.own == 0 && went.inserted > 0 {
        // None of the server's bytes went, and to say so would be to say that the connection is at its end.
        next::set_errno(libc::EAGAIN);
        return -1;
    }
    went.own as ssize_t
}

/// Before which byte of what is written the line of a session goes, if it does.
fn place_of_line(
    slot: &Slot,
    response: &Response,
    first: Option<&[u8]>,
    (sent, names_class): (usize, bool),
) -> Option<usize> {
    if !slot.has_line() {
        return None;
    }
    let first = first.unwrap_or_default();
    if sent > 0 {
        // What a short write left of it goes first.
        return Some(0);
    }
    let is_first = response.is_at_status_line() && first.starts_with(b"HTTP/1.");
    // By a class that it names, a server says that the response is one client's own.
    if !is_first || is_for_all(first) && !names_class {
        slot.drop_line();
        return None;
    }
    // An interim response is not the one.
    let is_interim = first.starts_with(b"HTTP/1.1 1");
    first.iter().position(|byte| *byte == b'\n').map(|at| at + 1).filter(|_| !is_interim)
}
