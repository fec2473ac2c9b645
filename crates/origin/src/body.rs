//! [`Body`]: the part of a response's body that is still to be sent.

use std::io::{self, Write};
use std::os::fd::OwnedFd;

use bytes::{Buf, Bytes};
use rustix::fs::sendfile;
use rustix::io::{pread, retry_on_intr};
use socket2::Socket;

use crate::filler::Filler;

/// How much one call of sendfile(2) is asked for: Linux takes no more at once.
const SENDFILE_BYTES: u64 = 0x7fff_f000;

/// What is left of a body.
#[derive(Debug)]
pub(crate) enum Body {
    /// Text of any length.
    Filler(Filler),
    /// Bytes that are there.
    Memory(Bytes),
    /// A part of a file.
    File { file: OwnedFd, offset: u64, end: u64 },
}

impl Body {
    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::Memory(text.into())
    }

    pub(crate) fn file(file: OwnedFd, length: u64) -> Self {
        Self::File { file, offset: 0, end: length }
    }

    /// A body that is sent.
    pub(crate) fn empty() -> Self {
        Self::Memory(Bytes::new())
    }

    /// Bytes not yet sent.
    pub(crate) fn left(&self) -> u64 {
        match self {
            Self::Filler(filler) => filler.left(),
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { offset, end, .. } => end - offset,
        }
    }

    /// Appends the beginning to `output`, up to `limit` bytes, and counts it as sent.
    pub(crate) fn move_into(&mut self, output: &mut Vec<u8>, limit: usize) -> io::Result<()> {
        match self {
            Self::Filler(filler) => filler.move_into(output, limit),
            Self::Memory(bytes) => {
                let piece = bytes.split_to(limit.min(bytes.len()));
                output.extend_from_slice(&piece);
            }
            Self::File { file, offset, end } => {
                // It fits: it is no more than the limit.
                let mut left = (*end - *offset).min(limit as u64) as usize;
                while left > 0 {
                    let start = output.len();
                    output.resize(start + left, 0);
                    let room = output.get_mut(start..).unwrap_or_default();
                    let count = not_zero(retry_on_intr(|| pread(&*file, &mut *room, *offset))?)?;
                    output.truncate(start + count);
                    *offset += count as u64;
                    left -= count;
                }
            }
        }
        Ok(())
    }

    /// Sends once, up to `limit` bytes; fails with `WouldBlock` when the client is slower.
    pub(crate) fn send(&mut self, mut socket: &Socket, limit: u64) -> io::Result<()> {
        let cut = |bytes: &[u8]| usize::try_from(limit).map_or(bytes.len(), |limit| limit.min(bytes.len()));
        match self {
            Self::Filler(filler) => {
                let next = filler.next();
                let count = socket.write(next.get(..cut(next)).unwrap_or(next))?;
                filler.advance(count);
            }
            Self::Memory(bytes) => {
                let count = socket.write(bytes.get(..cut(bytes)).unwrap_or(bytes))?;
                bytes.advance(count);
            }
            Self::File { file, offset, end } => {
                // It fits: it is below 2 GiB.
                let count = (*end - *offset).min(limit).min(SENDFILE_BYTES) as usize;
                not_zero(sendfile(socket, &*file, Some(offset), count)?)?;
            }
        }
        Ok(())
    }
}

/// Nothing read where something was left: the file has become shorter, and the length that the
/// head has announced cannot be kept.
fn not_zero(count: usize) -> io::Result<usize> {
    if count == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(count) }
}
