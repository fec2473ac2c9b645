//! [`Responder`]: from an answer to the bytes of a response.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use httpdate::HttpDate;
use units::Span;

use crate::answer::{Answer, Then};
use crate::body::Body;
use crate::delay::Pace;
use crate::request::Version;
use crate::status::Status;

/// How much of a body goes into the same write as the head.
const INLINE_BYTES: u64 = 16 * 1024;

/// Writes responses.
#[derive(Debug)]
pub(crate) struct Responder {
    date: String,
    date_second: u64,
}

/// A response whose beginning is in the output.
#[derive(Debug)]
pub(crate) struct Sending {
    /// The part of the body that is not in the output.
    pub(crate) body: Body,
    /// The length of the whole body.
    pub(crate) length: u64,
    pub(crate) pace: Pace,
    /// What becomes of the connection.
    pub(crate) then: Then,
}

/// How much of a body is still to be sent when the part `piece`, counted from 0, is over.
pub(crate) fn left_after(length: u64, pace: Pace, piece: u64) -> u64 {
    // Does not overflow: a body that comes in parts has at most 2^30 bytes and 10^4 of them.
    length - length * (piece + 1) / pace.pieces
}

impl Responder {
    pub(crate) fn new() -> Self {
        Self { date: String::new(), date_second: u64::MAX }
    }

    /// Appends the head and the beginning of the body to `output`. `waited` is how long the
    /// response was held back on purpose, which the head tells.
    ///
    /// Fails when the file behind the body cannot be read; then the response cannot be given.
    pub(crate) fn write(
        &mut self,
        answer: Answer,
        waited: Option<Span>,
        now: SystemTime,
        output: &mut Vec<u8>,
    ) -> io::Result<Sending> {
        self.head(&answer, waited, now, output);
        let Answer { mut body, pace, then, .. } = answer;
        if answer.head_only {
            return Ok(Sending { body: Body::empty(), length: 0, pace: Pace::AT_ONCE, then });
        }
        let length = body.left();
        let first = length - left_after(length, pace, 0);
        // It fits: it is no more than the limit.
        body.move_into(output, first.min(INLINE_BYTES) as usize)?;
        Ok(Sending { body, length, pace, then })
    }

    fn head(&mut self, answer: &Answer, waited: Option<Span>, now: SystemTime, output: &mut Vec<u8>) {
        self.keep_date(now);
        // Writing to a Vec does not fail.
        let _ = write!(
            output,
            "HTTP/1.1 {}\r\nServer: headworks-origin\r\nDate: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
            answer.status.line(),
            self.date,
            answer.media_type,
            answer.body.left(),
        );
        if answer.status == Status::MethodNotAllowed {
            output.extend_from_slice(b"Allow: GET, HEAD, POST\r\n");
        }
        if let Some(waited) = waited {
            // Milliseconds, as the W3C's Server Timing has it.
            let _ = write!(output, "Server-Timing: before;dur={:.3}\r\n", waited.as_secs_f64() * 1e3);
        }
        let connection = match (answer.then, answer.version) {
            (Then::KeepOpen, Version::Http11) => "",
            (Then::KeepOpen, Version::Http10) => "Connection: keep-alive\r\n",
            _ => "Connection: close\r\n",
        };
        let _ = write!(output, "{connection}\r\n");
    }

    /// Formats the date once a second: it is the dearest line of a response.
    fn keep_date(&mut self, now: SystemTime) {
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if second != self.date_second {
            self.date_second = second;
            self.date = HttpDate::from(now).to_string();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equal_and_make_the_whole() {
        for (length, pieces) in [(10_000, 5), (10, 3), (0, 1), (7, 7), (1 << 30, 9_999)] {
            let pace = Pace { pieces, between: Span::ZERO };
            let mut left = length;
            for piece in 0..pieces {
                let after = left_after(length, pace, piece);
                let part = left - after;
                assert!(part == length / pieces || part == length / pieces + 1, "{part} of {length}");
                left = after;
            }
            assert_eq!(left, 0);
        }
    }
}
