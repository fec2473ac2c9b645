//! [`Exchange`]: a request and its response.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use config::{Error, Source};
use jiff::Timestamp;

use super::super::place;
use super::super::text::form;
use super::file::{Content, Entry, Pair, PostData};

const NOT_RECORDED: &str = "is not in the recording";

/// A request and its response, as recorded.
pub(super) struct Exchange {
    /// When it began and ended, in milliseconds.
    pub(super) begin: i64,
    pub(super) end: i64,
    /// The page that it belongs to, by its identifier.
    pub(super) page: Option<String>,
    /// What Chrome says that it is for.
    pub(super) kind: String,
    pub(super) is_from_cache: bool,
    pub(super) is_websocket: bool,
    pub(super) method: String,
    pub(super) url: Url,
    /// Where redirects ended.
    pub(super) landed: Url,
    pub(super) headers: Vec<Pair>,
    pub(super) body: Body,
    pub(super) response: Response,
    /// How many redirects led from the request to the response.
    pub(super) redirects: usize,
}

/// What was answered.
pub(super) struct Response {
    /// 0 where nothing was.
    pub(super) status: u16,
    pub(super) headers: Vec<Pair>,
    /// In lower case, without parameters.
    pub(super) mime: String,
    pub(super) text: Option<String>,
    /// Where a redirect leads.
    pub(super) location: Option<String>,
}

/// What was sent behind the head.
pub(super) enum Body {
    Nothing,
    /// With its type, where the recording has it.
    Text(String, String),
    /// What a workload cannot hold, and why.
    Other(&'static str),
}

/// A URL in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// In lower case.
    pub(super) scheme: String,
    /// Host and port, in lower case, without the usual port.
    pub(super) authority: String,
    /// Path and query, without the fragment.
    pub(super) path: String,
}

impl Url {
    pub(super) fn parse(text: &str) -> Self {
        let text = text.split_once('#').map_or(text, |(before, _)| before);
        let Some((scheme, rest)) = text.split_once("://") else {
            let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
            return Self {
                scheme: scheme.to_ascii_lowercase(),
                authority: String::new(),
                path: text.to_owned(),
            };
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
        let scheme = scheme.to_ascii_lowercase();
        let usual = if matches!(scheme.as_str(), "https" | "wss") { ":443" } else { ":80" };
        let authority = authority.strip_suffix(usual).unwrap_or(&authority).to_owned();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Self { scheme, authority, path }
    }

    /// What a reference stands for in a response from this URL (RFC 3986, section 5.2, without dots).
    pub(super) fn join(&self, reference: &str) -> Self {
        let reference = reference.split_once('#').map_or(reference, |(before, _)| before);
        if reference.contains("://") {
            return Self::parse(reference);
        }
        if reference.starts_with("//") {
            return Self::parse(&format!("{}:{reference}", self.scheme));
        }
        let own = self.path.split_once('?').map_or(self.path.as_str(), |(path, _)| path);
        let path = match reference.chars().next() {
            None => self.path.clone(),
            Some('/') => reference.to_owned(),
            Some('?') => format!("{own}{reference}"),
            Some(_) => format!("{}{reference}", &own[..=own.rfind('/').unwrap_or(0)]),
        };
        Self { path, ..self.clone() }
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }
}

impl Exchange {
    /// Whether a user comes to a document by it. One in a frame is not told from others where the browser does not say so.
    pub(super) fn is_document(&self) -> bool {
        match (field(&self.headers, "sec-fetch-dest"), self.kind.as_str()) {
            (Some(destination), _) => destination == "document",
            (None, "") => self.response.mime == "text/html",
            (None, kind) => kind == "document",
        }
    }

    /// All exchanges of the file, in the order in which they began.
    pub(super) fn all(source: &Source, entries: Vec<Entry>) -> Result<Vec<Self>, Error> {
        let mut last = 0;
        let mut all = Vec::with_capacity(entries.len());
        for (number, entry) in entries.into_iter().enumerate() {
            let begin = match &entry.started_date_time {
                None => last,
                Some(time) => time.parse::<Timestamp>().map(|time| time.as_millisecond()).map_err(|_| {
                    let what = format!("startedDateTime of entries[{number}] is \"{time}\"");
                    let error = place::of_text(source, &format!("\"{time}\""), what);
                    error.mend("write a time with an offset, such as 2026-01-31T12:00:00.000Z")
                })?,
            };
            last = begin;
            all.push(Self::of(entry, begin));
        }
        all.sort_by_key(|exchange| exchange.begin);
        Ok(all)
    }

    fn of(entry: Entry, begin: i64) -> Self {
        let took = entry.time.filter(|time| time.is_finite()).unwrap_or(0.0).max(0.0);
        let url = Url::parse(&entry.request.url);
        let (answer, headers) = (entry.response, entry.request.headers);
        let location = field(&answer.headers, "location").map(str::to_owned);
        let location = location.or(Some(answer.redirect_url)).filter(|location| !location.is_empty());
        let mime = if answer.content.mime_type.is_empty() {
            field(&answer.headers, "content-type").unwrap_or_default().to_owned()
        } else {
            answer.content.mime_type.clone()
        };
        let status = u16::try_from(answer.status).ok().filter(|status| (100..1000).contains(status));
        let response = Response {
            status: status.unwrap_or(0),
            mime: mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
            text: text(answer.content),
            headers: answer.headers,
            location,
        };
        // Files that are sent do not stand in what browsers write.
        let length = field(&headers, "content-length").and_then(|length| length.trim().parse::<u64>().ok());
        let is_lost = length.is_some_and(|length| length > 0) || entry.request.body_size > 0.0;
        let is_upgrade = response.status == 101 || matches!(url.scheme.as_str(), "ws" | "wss");
        Self {
            begin,
            end: begin.saturating_add(took.round() as i64),
            page: entry.pageref,
            is_from_cache: entry
                .from_cache
                .is_some_and(|cache| !matches!(cache, serde_json::Value::Bool(false))),
            is_websocket: is_upgrade || entry.messages.is_some(),
            kind: entry.kind.unwrap_or_default().to_ascii_lowercase(),
            method: entry.request.method.to_ascii_uppercase(),
            landed: url.clone(),
            url,
            body: match entry.request.post_data {
                Some(data) => body(data),
                None if is_lost => Body::Other(NOT_RECORDED),
                None => Body::Nothing,
            },
            headers,
            response,
            redirects: 0,
        }
    }
}

/// The value of a header field.
pub(super) fn field<'h>(headers: &'h [Pair], name: &str) -> Option<&'h str> {
    headers.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value.as_str())
}

fn text(content: Content) -> Option<String> {
    let text = content.text?;
    match content.encoding.as_deref() {
        Some("base64") => String::from_utf8(STANDARD.decode(text).ok()?).ok(),
        _ => Some(text),
    }
}

fn body(data: PostData) -> Body {
    let is_form = data.mime_type.starts_with("application/x-www-form-urlencoded");
    let text = match (data.text, data.encoding.as_deref()) {
        (Some(text), Some("base64")) => match STANDARD.decode(text).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            _ => return Body::Other("is not text"),
        },
        (Some(text), _) if !text.is_empty() || data.params.is_empty() => text,
        _ if data.params.is_empty() => String::new(),
        _ if is_form || data.mime_type.is_empty() => {
            form(data.params.iter().map(|pair| (pair.name.as_str(), pair.value.as_str())))
        }
        _ => return Body::Other(NOT_RECORDED),
    };
    // Programs that record write this character for bytes that are not text.
    if text.contains('\u{fffd}') {
        return Body::Other("is not text");
    }
    if text.starts_with('@') {
        return Body::Other("begins with @, which names a file in a workload");
    }
    if text.is_empty() { Body::Nothing } else { Body::Text(text, data.mime_type) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved() {
        let base = Url::parse("HTTPS://Shop.example:443/a/b?c#d");
        assert_eq!((base.origin().as_str(), base.path.as_str()), ("https://shop.example", "/a/b?c"));
        for (reference, expected) in [
            ("/x?y#z", "https://shop.example/x?y"),
            ("x", "https://shop.example/a/x"),
            ("?x", "https://shop.example/a/b?x"),
            ("//cdn.example/x", "https://cdn.example/x"),
            ("http://shop.example", "http://shop.example/"),
        ] {
            let url = base.join(reference);
            assert_eq!(format!("{}{}", url.origin(), url.path), expected, "{reference}");
        }
    }
}
