//! From request to response: sans-IO, so that both modes answer alike.

use std::borrow::Cow;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use httpdate::HttpDate;
use units::Span;

use crate::filler::Filler;
use crate::options::Mode;
use crate::page::{NoPage, Page};
use crate::request::{self, Head, Method, Request, Version};

/// How much of a body goes into the same write as the head.
const INLINE_BYTES: usize = 16 * 1024;

/// The statuses this server gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    HeadTooLarge,
    VersionNotSupported,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
        }
    }
}

/// What is to be done about one request, besides sending the output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Bytes of input that it was made of.
    pub(crate) consumed: usize,
    /// CPU time to burn before the response is sent.
    pub(crate) burn: Span,
    /// The part of the body that is not in the output.
    pub(crate) filler: Filler,
    /// What becomes of the connection.
    pub(crate) then: Then,
}

/// What becomes of a connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    KeepOpen,
    Close,
    /// Close, but read on for a while: the client may still be sending, and closing a socket with
    /// unread input resets the connection before the client has read why (RFC 9112, section 9.6).
    CloseGently,
}

/// Answers requests, one after the other.
#[derive(Debug)]
pub(crate) struct Responder {
    mode: Mode,
    date: String,
    date_second: u64,
}

struct Content {
    status: Status,
    media_type: &'static str,
    body: Body,
    burn: Span,
}

enum Body {
    Text(Cow<'static, str>),
    Filler(u64),
}

impl Responder {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, date: String::new(), date_second: u64::MAX }
    }

    /// Answers the request at the beginning of `input` by appending to `output`; `None` when the
    /// request is not complete.
    pub(crate) fn answer(&mut self, input: &[u8], now: SystemTime, output: &mut Vec<u8>) -> Option<Reply> {
        let (request, consumed) = match request::read(input) {
            Head::Partial => return None,
            Head::Whole(request, length) => (request, length),
            Head::Bad(status) => {
                let content = Content::text(status, format!("{}\n", status.line()));
                self.head(output, &content, Some("close"), now);
                return Some(Reply {
                    consumed: input.len(),
                    burn: Span::ZERO,
                    filler: content.body.append(output),
                    then: Then::CloseGently,
                });
            }
        };
        let content = self.content(&request);
        let then = match (request.has_body, request.keep_alive) {
            (true, _) => Then::CloseGently,
            (false, true) => Then::KeepOpen,
            (false, false) => Then::Close,
        };
        let connection = match (then, request.version) {
            (Then::KeepOpen, Version::Http11) => None,
            (Then::KeepOpen, Version::Http10) => Some("keep-alive"),
            _ => Some("close"),
        };
        self.head(output, &content, connection, now);
        let filler =
            if request.method == Method::Head { Filler::default() } else { content.body.append(output) };
        Some(Reply { consumed, burn: content.burn, filler, then })
    }

    fn content(&self, request: &Request<'_>) -> Content {
        if request.method == Method::Other {
            return Content::text(Status::MethodNotAllowed, "only GET and HEAD\n");
        }
        match Page::at(request.target) {
            Ok(Page::Burn(_)) if self.mode == Mode::Static => Content::text(
                Status::NotFound,
                "static mode has no pages that burn CPU; start with --mode workers\n",
            ),
            Ok(page) => Content::of(page),
            Err(NoPage::NotFound) => Content::text(Status::NotFound, "not found; / names what there is\n"),
            Err(NoPage::Malformed(expected)) => Content::text(Status::BadRequest, expected),
        }
    }

    fn head(&mut self, output: &mut Vec<u8>, content: &Content, connection: Option<&str>, now: SystemTime) {
        self.keep_date(now);
        let Content { status, media_type, body, .. } = content;
        // Writing to a Vec does not fail.
        let _ = write!(
            output,
            "HTTP/1.1 {}\r\nServer: headworks-origin\r\nDate: {}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n",
            status.line(),
            self.date,
            body.length(),
        );
        if *status == Status::MethodNotAllowed {
            output.extend_from_slice(b"Allow: GET, HEAD\r\n");
        }
        if let Some(connection) = connection {
            let _ = write!(output, "Connection: {connection}\r\n");
        }
        output.extend_from_slice(b"\r\n");
    }

    /// Formats the date once a second: it is the dearest line of a response.
    fn keep_date(&mut self, now: SystemTime) {
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if second != self.date_second {
            self.date_second = second;
            self.date = HttpDate::from(now).to_string();
        }
    }
}

impl Content {
    fn of(page: Page) -> Self {
        let (media_type, body, burn) = match page {
            Page::Home => (HTML, Body::Text(HOME.into()), Span::ZERO),
            Page::Health => (TEXT, Body::Text("ok\n".into()), Span::ZERO),
            Page::Bytes(length) => (TEXT, Body::Filler(length), Span::ZERO),
            Page::Burn(cost) => {
                let page =
                    format!("<!doctype html>\n<title>Burnt</title>\n<p>This page cost {cost} of CPU time.\n");
                (HTML, Body::Text(page.into()), cost)
            }
        };
        Self { status: Status::Ok, media_type, body, burn }
    }

    fn text(status: Status, body: impl Into<Cow<'static, str>>) -> Self {
        Self { status, media_type: TEXT, body: Body::Text(body.into()), burn: Span::ZERO }
    }
}

impl Body {
    fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Filler(length) => *length,
        }
    }

    /// Appends the body, or its beginning; gives the rest.
    fn append(&self, output: &mut Vec<u8>) -> Filler {
        match self {
            Self::Text(text) => {
                output.extend_from_slice(text.as_bytes());
                Filler::default()
            }
            Self::Filler(length) => {
                let mut filler = Filler::new(*length);
                filler.move_into(output, INLINE_BYTES);
                filler
            }
        }
    }
}

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

const HOME: &str = "<!doctype html>
<html lang=\"en\">
<title>Headworks origin</title>
<h1>Headworks origin</h1>
<p>A web server to measure against.
<ul>
<li><a href=\"/bytes/1024\">/bytes/N</a>: N bytes from memory
<li><a href=\"/burn?cpu=25ms\">/burn?cpu=25ms</a>: a page that costs the server 25 ms of CPU time
<li><a href=\"/healthz\">/healthz</a>: whether the server answers
</ul>
";
