//! [`Wanted`]: something to ask for, and [`ClassPlan`]: on behalf of whom.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use http::uri::PathAndQuery;
use traffic::model::Object;

use crate::client::logged::Logged;
use crate::client::request::Fields;
use crate::client::script::Scripted;
use crate::client::user::User;

#[derive(Debug)]
pub(crate) struct ClassPlan {
    pub(crate) name: Arc<str>,
    pub(crate) share: f64,
    pub(super) cookie: Option<(String, String)>,
    pub(crate) source: Option<IpAddr>,
    pub(super) fields: Fields,
    /// Whether its requests have the fields of every request and no others.
    pub(super) is_plain: bool,
}

/// Something to ask for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) url: Arc<str>,
    /// The request line of HTTP/1.
    pub(super) line: Bytes,
    /// The whole head for HTTP/1 of a request without cookies and fields of a class, on a
    /// connection that stays open, and on one that does not.
    pub(super) head: Bytes,
    pub(super) last_head: Bytes,
    /// For HTTP/2; `None` where `url` is not a path.
    pub(super) path: Option<PathAndQuery>,
    pub(super) method: Method,
    /// How long its content is, where that is known.
    pub(crate) length: Option<u64>,
    /// The content itself, where it is to be looked at.
    pub(crate) content: Option<Object>,
    /// Whether the response has no body whatever it announces (RFC 9110, section 9.3.2).
    pub(crate) is_head: bool,
    /// What is not the same each time, or as in all other requests.
    pub(crate) script: Option<Box<Scripted>>,
    /// What an access log says of it, besides its URL.
    pub(super) logged: Option<Box<Logged>>,
}

impl ClassPlan {
    /// The class of requests that have none.
    pub(super) fn only(fields: Fields) -> Self {
        Self { name: Arc::from("all"), share: 1.0, cookie: None, source: None, fields, is_plain: true }
    }
}

impl Wanted {
    /// Whether a request that was not answered may be sent again (RFC 9110, section 9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        self.method.is_idempotent()
    }

    pub(crate) fn method(&self) -> &Method {
        &self.method
    }

    /// The fields of a page of its own kind.
    pub(super) fn fields_of(&self, user: &User) -> Option<&Fields> {
        self.script.as_ref()?.fields(user.class)
    }
}
