//! [`Answer`]: a response that was read whole.

use std::mem::MaybeUninit;

use http::StatusCode;
use http1::response::{Asked, Framing, Head, Strictness};

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

impl Answer {
    /// Takes the next response off `bytes`, which says how long it is; none when there is no whole one.
    pub fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut room = [const { MaybeUninit::uninit() }; 64];
        let head = Head::parse(bytes, &mut room, Strictness::Strict).ok()??;
        let Framing::Length(length) = head.framing(Asked::Other).ok()? else { return None };
        let end = head.length + usize::try_from(length).ok()?;
        let page = head.values("page").next().map(<[u8]>::to_vec);
        let (status, body) = (head.status, bytes.get(head.length..end)?.to_vec());
        *bytes = &bytes[end..];
        Some(Self { status, page, body })
    }
}
