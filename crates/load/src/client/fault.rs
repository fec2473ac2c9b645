//! [`Fault`]: how an exchange failed, and why.

use std::borrow::Cow;
use std::io;

use http1::chunks;
use http1::response::Malformed;

/// A reason in words, as short as it can be.
pub(crate) type Reason = Cow<'static, str>;

/// How an exchange, or the connection below it, failed, in terms that both versions of HTTP have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No connection came about.
    NoConnection(Reason),
    /// The server closed the connection in good order before the response was complete.
    Closed(Reason),
    /// The connection, or the stream, was reset.
    Broken(Reason),
    /// The server announced that it has not processed the request and will not (RFC 9113, sections 6.8 and 8.7; RFC
    /// 9112, section 9.6), or has never seen it.
    TurnedAway(Reason),
    /// What came is not the HTTP that was asked for.
    Malformed(Reason),
    /// More came than the response announced.
    Surplus,
    /// The response is whole, but not what was asked for.
    Unfit(Reason),
}

impl Fault {
    /// Why the server's response is not HTTP.
    pub(crate) fn malformed(why: &'static str) -> Self {
        Self::Malformed(Cow::Borrowed(why))
    }
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(match malformed {
            Malformed::Syntax(why) => format!("not HTTP: {why}").into(),
            other => other.to_string().into(),
        })
    }
}

impl From<chunks::Fault> for Fault {
    fn from(fault: chunks::Fault) -> Self {
        Self::Malformed(fault.to_string().into())
    }
}

/// What a socket, or TLS on it, says of its end.
pub(crate) fn of_io(error: &io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::ConnectionReset => "connection reset".into(),
        io::ErrorKind::BrokenPipe => "connection reset while the request was sent".into(),
        _ => error.to_string().into(),
    }
}
