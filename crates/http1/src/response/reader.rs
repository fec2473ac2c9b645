//! [`Reader`]: finds the response that is asked for.

use bytes::BytesMut;
use http::{Method, Response};

use super::limits::Limits;
use super::malformed::Malformed;
use super::message::{Message, Read, take};

/// Interim responses before the one that is asked for; more are taken to have no end.
pub const MAX_INTERIM: usize = 16;

/// How far the way to a response's head was read.
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    /// Bytes that hold no end of a head.
    looked_at: usize,
    /// Interim responses that have passed.
    interim: usize,
}

/// A response that has come.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the large one is the usual one")]
pub enum Next {
    /// One that is followed by another (RFC 9110 section 15.2).
    Interim(Response<()>),
    /// The one that is asked for.
    Final(Message),
}

impl Reader {
    /// Reads the way to one response.
    pub fn new(limits: Limits) -> Self {
        Self { limits, looked_at: 0, interim: 0 }
    }

    /// The next response to a request of that method, once all of its head is in `buffer`. Until then,
    /// `buffer` keeps what is to be brought again with what follows it.
    ///
    /// # Errors
    /// When what has come is not the beginning of a response, or is more of one than the limits allow.
    pub fn read(&mut self, buffer: &mut BytesMut, method: &Method) -> Result<Option<Next>, Malformed> {
        if may_be_whole(buffer, self.looked_at) {
            match take(buffer, method, &self.limits)? {
                Read::Final(message) => return Ok(Some(Next::Final(message))),
                Read::Interim(response) => {
                    (self.looked_at, self.interim) = (0, self.interim + 1);
                    let endless = self.interim > MAX_INTERIM;
                    return if endless { Err(Malformed::Interim) } else { Ok(Some(Next::Interim(response))) };
                }
                Read::Partial => {}
            }
        }
        self.looked_at = buffer.len();
        if self.looked_at > self.limits.head { Err(Malformed::Size) } else { Ok(None) }
    }
}

/// Whether the end of a head may be among the bytes; those before `looked_at` have been looked at
/// before. A server that sends byte by byte does not make all be read again for each.
fn may_be_whole(bytes: &[u8], looked_at: usize) -> bool {
    let fresh = &bytes[looked_at.saturating_sub(3)..];
    looked_at == 0 && !fresh.is_empty() || fresh.windows(2).any(|pair| pair == b"\n\n" || pair == b"\n\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_in_pieces_waits_for_its_end() {
        let text = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n";
        for cut in 1..text.len() {
            assert!(
                Reader::new(Limits::default())
                    .read(&mut BytesMut::from(&text[..cut]), &Method::GET)
                    .unwrap()
                    .is_none(),
                "{cut}"
            );
            for looked_at in 1..=cut {
                assert!(may_be_whole(text.as_bytes(), looked_at), "{looked_at}");
            }
        }
        assert!(!may_be_whole(b"", 0) && !may_be_whole(b"HTTP/1.1 200 OK\r\na: b", 5));
    }
}
