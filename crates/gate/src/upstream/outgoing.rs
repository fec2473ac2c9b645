//! A request as it goes to a server.

use http::Request;

use crate::upstream::body::Body;

/// A request as it goes to a server.
pub(crate) type Outgoing = Request<Body>;
