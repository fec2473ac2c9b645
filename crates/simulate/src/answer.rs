//! [`Answer`]: a response that was read whole, without a library that knows about connections.

use http::StatusCode;

/// A response.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// What the server says it answers.
    pub page: Option<Vec<u8>>,
    /// Its body.
    pub body: Vec<u8>,
}

/// Takes the next response off `bytes`; none when there is no whole one.
pub fn next(bytes: &mut &[u8]) -> Option<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = head.parse(bytes).ok()? else { return None };
    let named = |name: &str| {
        head.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.to_vec())
    };
    let status = StatusCode::from_u16(head.code?).ok()?;
    let (page, length_of_body) = (named("page"), named("content-length"));
    *bytes = &bytes[length..];
    let length: usize = std::str::from_utf8(&length_of_body?).ok()?.parse().ok()?;
    let body = bytes.get(..length)?.to_vec();
    *bytes = &bytes[length..];
    Some(Answer { status, page, body })
}
