//! A request as it goes to a server.

use http::Request;

use crate::upstream::body::Body;

/// A request as it goes to a server.
pub(crate) type Outgoing = Request<Body>;

/// Why there is no response, and the request again if none of it was sent.
pub(crate) type Unsent = (hyper::Error, Option<Outgoing>);
