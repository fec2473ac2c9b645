//! [`Breach`]: what is wrong with a request that is refused, and what its client is told.

use http::StatusCode;

use crate::chunks::Fault;

/// What is wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breach {
    /// CR or LF alone, where CRLF belongs (RFC 9112 section 2.2).
    LineEnd,
    /// Not method, target and version, one space between (section 3).
    RequestLine,
    /// Longer than any method there is.
    Method,
    /// A form that the method cannot have, or a character that no target has (section 3.2).
    Target,
    /// The target is longer than [`Limits::target`](super::Limits::target).
    TargetSize,
    /// A version other than HTTP/1.0 and HTTP/1.1.
    Version,
    /// Not `name: value` (section 5): white space before the colon, a folded line, a control
    /// character.
    Field,
    /// A header line is longer than [`Limits::field`](super::Limits::field).
    FieldSize,
    /// More header lines than [`Limits::fields`](super::Limits::fields).
    Fields,
    /// The head is longer than [`Limits::head`](super::Limits::head).
    HeadSize,
    /// None, several, no host's name, or not that of the target (section 3.2).
    Host,
    /// Several lengths, none that is a number, or one beside a transfer coding (section 6.3).
    Length,
    /// A transfer coding that does not end with `chunked`, or from HTTP/1.0 (sections 6.1, 6.3).
    Coding,
    /// One before `chunked`, which is the only one known (section 6.1).
    UnknownCoding,
    /// A field for the server is to be taken out on the way (RFC 9110 section 7.6.1).
    Connection,
    /// An underscore makes a name look to some servers like one that decides about the request.
    Alias,
    /// Not 100-continue (RFC 9110 section 10.1.1).
    Expectation,
    /// Not a chunk (RFC 9112 section 7.1).
    Chunk,
    /// The line before a chunk is longer than [`Limits::chunk_line`](super::Limits::chunk_line).
    ChunkLine,
    /// A trailer that belongs into the head (RFC 9110 section 6.5.1).
    Trailer,
    /// More trailers than [`Limits`](super::Limits) has room for.
    TrailerSize,
}

use Breach::*;

impl Breach {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 21] = [
        LineEnd,
        RequestLine,
        Method,
        Target,
        TargetSize,
        Version,
        Field,
        FieldSize,
        Fields,
        HeadSize,
        Host,
        Length,
        Coding,
        UnknownCoding,
        Connection,
        Alias,
        Expectation,
        Chunk,
        ChunkLine,
        Trailer,
        TrailerSize,
    ];

    /// The name in the metrics.
    pub const fn name(self) -> &'static str {
        match self {
            LineEnd => "line-end",
            RequestLine => "request-line",
            Method => "method",
            Target => "target",
            TargetSize => "target-size",
            Version => "version",
            Field => "field",
            FieldSize => "field-size",
            Fields => "fields",
            HeadSize => "head-size",
            Host => "host",
            Length => "length",
            Coding => "coding",
            UnknownCoding => "unknown-coding",
            Connection => "connection",
            Alias => "alias",
            Expectation => "expectation",
            Chunk => "chunk",
            ChunkLine => "chunk-line",
            Trailer => "trailer",
            TrailerSize => "trailer-size",
        }
    }

    /// RFC 9110 section 15.5, RFC 6585 section 5.
    pub const fn status(self) -> StatusCode {
        match self {
            TargetSize => StatusCode::URI_TOO_LONG,
            FieldSize | Fields | HeadSize | TrailerSize => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Method | UnknownCoding => StatusCode::NOT_IMPLEMENTED,
            Version => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
            Expectation => StatusCode::EXPECTATION_FAILED,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// What is wrong, as a line of text for the developer of the client.
    pub const fn why(self) -> &'static str {
        match self {
            LineEnd => "A line of the request does not end with CR and LF.\n",
            RequestLine => "The request does not begin with a method, a target and a version.\n",
            Method => "The request's method is too long to be one.\n",
            Target => "The request's target is malformed, or not one for its method.\n",
            TargetSize => "The request's target is too long.\n",
            Version => "HTTP/1.0 and HTTP/1.1 are spoken here.\n",
            Field => "A header line is malformed.\n",
            FieldSize => "A header line is too long.\n",
            Fields => "There are too many header lines.\n",
            HeadSize => "The request's head is too large.\n",
            Host => "A request needs one Host, and that of its target.\n",
            Length => "A request has one length: a number in Content-Length, or chunks.\n",
            Coding => "A transfer coding of a request ends with chunked, and needs HTTP/1.1.\n",
            UnknownCoding => "No transfer coding is known here but chunked.\n",
            Connection => "Connection names a header that is meant for the server.\n",
            Alias => "A header's name looks like another one; use hyphens.\n",
            Expectation => "No expectation is met here but 100-continue.\n",
            Chunk => "A chunk of the request's body is malformed.\n",
            ChunkLine => "A chunk's extensions are too long.\n",
            Trailer => "A trailer is malformed, or belongs into the head of the request.\n",
            TrailerSize => "The request's trailers are too large.\n",
        }
    }
}

impl From<Fault> for Breach {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Chunk => Chunk,
            Fault::LineSize => ChunkLine,
            Fault::Trailer => Trailer,
            Fault::TrailerSize => TrailerSize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_counted_in_its_place_and_has_a_name_of_its_own() {
        for (index, breach) in Breach::ALL.into_iter().enumerate() {
            assert_eq!(breach as usize, index);
            assert!(Breach::ALL[..index].iter().all(|other| other.name() != breach.name()));
            assert!(breach.status().is_client_error() || breach.status().is_server_error());
        }
    }
}
