//! [`Lease`]: a connection to a server for one request, kept from before or opened for it.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::upstream::bound::Owner;
use crate::upstream::http1::exclusive::Exclusive;
use crate::upstream::http2::{Answering, Stream};
use crate::upstream::server::{Load, Server};
use crate::upstream::tls::Transport;

/// A connection in use by one request, or the request's part of it.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) channel: Channel,
    pub(crate) load: Load,
    /// Whose the connection is when the request is over.
    pub(crate) owner: Owner,
}

#[derive(Debug)]
pub(crate) enum Channel {
    /// HTTP/1.1: the whole connection.
    Whole(Box<Exclusive>),
    /// HTTP/2.
    Part(Stream, Box<Answering>),
}

impl Lease {
    /// A connection that is anybody's when the request is over.
    pub(crate) fn new(channel: Channel, load: Load) -> Self {
        Self { channel, load, owner: Owner::All }
    }

    /// The server that has the request.
    pub(crate) fn server(&self) -> &Rc<Server> {
        self.load.server()
    }

    /// The next piece of the response's body.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut self.channel {
            Channel::Whole(connection) => connection.poll_frame(cx),
            Channel::Part(_, answering) => answering.poll_frame(cx),
        }
    }

    /// The connection for another protocol, and what has come after the head of the response.
    pub(crate) fn into_transport(self) -> Option<(Transport, Bytes)> {
        match self.channel {
            Channel::Whole(connection) => connection.into_transport(),
            Channel::Part(..) => None,
        }
    }

    /// Whether the response's body is over, as far as that is known without reading on.
    pub(crate) fn is_end_stream(&self) -> bool {
        match &self.channel {
            Channel::Whole(connection) => connection.is_end_stream(),
            Channel::Part(_, answering) => answering.is_end_stream(),
        }
    }

    /// Whether all that is to come of the response's body has been read, but for what is passed on next.
    pub(crate) fn is_at_hand(&self) -> bool {
        match &self.channel {
            Channel::Whole(connection) => connection.is_at_hand(),
            Channel::Part(..) => false,
        }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        match &self.channel {
            Channel::Whole(connection) => connection.size_hint(),
            Channel::Part(_, answering) => answering.size_hint(),
        }
    }
}
