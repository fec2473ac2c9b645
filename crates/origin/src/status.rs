//! [`Status`]: the statuses this server gives.

use http1::request::Breach;

/// The statuses this server gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    ContentTooLarge,
    HeadTooLarge,
    InternalError,
    NotImplemented,
    VersionNotSupported,
}

impl Status {
    /// Code and phrase.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::ContentTooLarge => "413 Content Too Large",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::InternalError => "500 Internal Server Error",
            Self::NotImplemented => "501 Not Implemented",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
        }
    }
}

impl From<Breach> for Status {
    fn from(breach: Breach) -> Self {
        match breach.status().as_u16() {
            431 => Self::HeadTooLarge,
            501 => Self::NotImplemented,
            505 => Self::VersionNotSupported,
            _ => Self::BadRequest,
        }
    }
}
