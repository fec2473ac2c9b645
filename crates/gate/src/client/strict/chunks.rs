//! [`Chunks`]: following a body of chunks to its end (RFC 9112 section 7.1).

use super::breach::Breach;
use super::bytes::{TEXT, TOKEN, class};
use super::{Limits, names};

/// Where in a body of chunks one is.
#[derive(Debug)]
pub(super) struct Chunks {
    state: State,
    /// Of the chunk: its length while that is read, then what is left of it.
    left: u64,
    /// Bytes of this chunk's line, or of all trailers.
    line: usize,
    trailers: usize,
    /// The name of the trailer that is being read, as far as it fits.
    name: [u8; LONGEST_NAME],
    named: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first digit.
    Start,
    Size,
    /// After the semicolon, before the extension's name.
    Extension,
    Extensions,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    /// At the beginning of a line after the last chunk.
    Trailer,
    Name,
    Value,
    ValueEnd,
    LastEnd,
    Over,
}

/// Longer than any name that matters.
const LONGEST_NAME: usize = 32;
/// 2^60 bytes are more than anybody sends.
const LONGEST_SIZE: usize = 15;

impl Chunks {
    pub(super) fn new() -> Self {
        Self { state: State::Start, left: 0, line: 0, trailers: 0, name: [0; LONGEST_NAME], named: 0 }
    }

    /// Reads on. Gives how many of `bytes` belong to the body and are well-formed, and whether it
    /// is over.
    pub(super) fn read(&mut self, bytes: &[u8], limits: &Limits) -> (usize, Result<bool, Breach>) {
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Data {
                let rest = (bytes.len() - at) as u64;
                let taken = self.left.min(rest);
                self.left -= taken;
                at += taken as usize;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                continue;
            }
            match self.next(bytes[at], limits) {
                Ok(state) => self.state = state,
                Err(breach) => return (at, Err(breach)),
            }
            at += 1;
            if self.state == State::Over {
                return (at, Ok(true));
            }
        }
        (at, Ok(false))
    }

    fn next(&mut self, byte: u8, limits: &Limits) -> Result<State, Breach> {
        match self.state {
            State::Start | State::Size | State::Extension | State::Extensions => self.size(byte, limits),
            State::SizeEnd if byte == b'\n' => {
                self.line = 0;
                Ok(if self.left == 0 { State::Trailer } else { State::Data })
            }
            State::DataCr if byte == b'\r' => Ok(State::DataLf),
            State::DataLf if byte == b'\n' => Ok(State::Start),
            State::SizeEnd | State::DataCr | State::DataLf | State::Data | State::Over => Err(Breach::Chunk),
            State::Trailer | State::Name | State::Value | State::ValueEnd | State::LastEnd => {
                self.trailer(byte, limits)
            }
        }
    }

    /// The line before a chunk. Its extensions are well-formed or refused, and go no further.
    fn size(&mut self, byte: u8, limits: &Limits) -> Result<State, Breach> {
        self.line += 1;
        if self.line > limits.chunk_line {
            return Err(Breach::ChunkLine);
        }
        match (self.state, byte) {
            (State::Start | State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if self.line > LONGEST_SIZE {
                    return Err(Breach::Chunk);
                }
                let digit = (byte as char).to_digit(16).unwrap_or_default();
                self.left = self.left << 4 | u64::from(digit);
                Ok(State::Size)
            }
            (State::Size | State::Extensions, b'\r') => Ok(State::SizeEnd),
            (State::Size | State::Extensions, b';') => Ok(State::Extension),
            (State::Extension, _) if class(byte) & TOKEN != 0 => Ok(State::Extensions),
            (State::Extensions, _) if class(byte) & TEXT != 0 => Ok(State::Extensions),
            _ => Err(Breach::Chunk),
        }
    }

    fn trailer(&mut self, byte: u8, limits: &Limits) -> Result<State, Breach> {
        self.line += 1;
        if self.line > limits.trailers + 2 {
            return Err(Breach::TrailerSize);
        }
        match (self.state, byte) {
            (State::Trailer, b'\r') => Ok(State::LastEnd),
            (State::LastEnd, b'\n') => Ok(State::Over),
            (State::Trailer, _) if class(byte) & TOKEN != 0 => {
                self.trailers += 1;
                self.named = 0;
                self.keep(byte);
                if self.trailers > limits.fields { Err(Breach::TrailerSize) } else { Ok(State::Name) }
            }
            (State::Name, b':') => {
                let name = self.name.get(..self.named).unwrap_or_default();
                if names::is_no_trailer(name) || (name.contains(&b'_') && names::is_alias(name)) {
                    return Err(Breach::Trailer);
                }
                Ok(State::Value)
            }
            (State::Name, _) if class(byte) & TOKEN != 0 => {
                self.keep(byte);
                Ok(State::Name)
            }
            (State::Value, b'\r') => Ok(State::ValueEnd),
            (State::Value, _) if class(byte) & TEXT != 0 => Ok(State::Value),
            (State::ValueEnd, b'\n') => Ok(State::Trailer),
            _ => Err(Breach::Trailer),
        }
    }

    fn keep(&mut self, byte: u8) {
        if let Some(place) = self.name.get_mut(self.named) {
            *place = byte;
        }
        self.named += 1;
    }
}
