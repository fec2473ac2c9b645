//! Responses as a client reads them.
//!
//! [`Head`] is what the bytes of a head say, read where they are and without allocation. [`Reader`]
//! finds the one response that is asked for, past those of interim responses, as a [`Message`] of
//! `http`'s types; [`Body`] decodes what follows it.

mod body;
mod head;
mod limits;
mod malformed;
mod message;
mod reader;

pub use body::{Body, Piece};
pub use head::{Asked, Framing, Head, Strictness};
pub use limits::Limits;
pub use malformed::Malformed;
pub use message::Message;
pub use reader::{MAX_INTERIM, Next, Reader};
