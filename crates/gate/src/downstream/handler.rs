//! [`Handler`]: what answers the requests of clients.

use std::io;
use std::rc::Rc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;

use crate::clients::client::Client;
use crate::clients::incoming::Incoming;

/// What answers the requests of clients. Connections are served by it without knowing what it does.
pub(crate) trait Handler: 'static {
    /// The body of a response.
    type Body: Body<Data = Bytes, Error = io::Error> + Unpin + 'static;

    /// Answers one request of a connection, or of a stream of one.
    fn answer(
        self: Rc<Self>,
        client: Rc<Client>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Self::Body>> + 'static;
}
