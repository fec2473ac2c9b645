//! [`Intake`]: from what a connection brings to answers, one after the other: sans-IO, so that both
//! modes answer alike.

use crate::answer::{Answer, Site};
use crate::request::{self, Head};
use crate::upload::Upload;

/// What asks a client to send the body it has announced.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A connection's requests.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    /// The answer to a request whose body is still coming.
    waiting: Option<(Answer, Upload)>,
}

/// What the input was.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Nothing that is complete.
    Partial,
    /// A head whose client wants to read [`CONTINUE`] before it goes on.
    Continue,
    /// A request, and what is to be answered.
    Request(Answer),
}

impl Intake {
    /// Takes the next of `input`; also gives how many bytes that was.
    pub(crate) fn take(&mut self, site: &Site, input: &[u8]) -> (usize, Taken) {
        if self.waiting.is_some() {
            return self.take_body(input);
        }
        let (request, length) = match request::read(input) {
            Head::Partial => return (0, Taken::Partial),
            Head::Bad(status) => return (input.len(), Taken::Request(Answer::refusal(status))),
            Head::Whole(request, length) => (request, length),
        };
        let body = input.get(length..).unwrap_or_default();
        match Upload::new(request.framing) {
            Err(status) => (input.len(), Taken::Request(Answer::refusal(status))),
            Ok(upload) if upload.is_over() => (length, Taken::Request(site.answer(&request))),
            Ok(upload) => {
                self.waiting = Some((site.answer(&request), upload));
                // RFC 9110, section 10.1.1: no need to say so to a client that has gone on already.
                if request.expects_continue && body.is_empty() {
                    return (length, Taken::Continue);
                }
                let (used, taken) = self.take_body(body);
                (length + used, taken)
            }
        }
    }

    /// Whether the body of a request is coming.
    pub(crate) fn is_amid_body(&self) -> bool {
        self.waiting.is_some()
    }

    fn take_body(&mut self, input: &[u8]) -> (usize, Taken) {
        let Some((answer, mut upload)) = self.waiting.take() else { return (0, Taken::Partial) };
        match upload.discard(input) {
            Err(status) => (input.len(), Taken::Request(Answer::refusal(status))),
            Ok(used) if upload.is_over() => (used, Taken::Request(answer)),
            Ok(used) => {
                self.waiting = Some((answer, upload));
                (used, Taken::Partial)
            }
        }
    }
}
