//! [`Plan`]: the script, made ready to be sent.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Uri};
use traffic::Workload;
use traffic::model::Object;
use units::Span;

use crate::error::Error;
use crate::settings::options::{Http, Options, Request, Script};
use crate::settings::target::Target;

/// For a plain URL; the patience of the clients in the web2k paper, section 4.3.
const DEFAULT_TIMEOUT: Span = Span::from_secs(20);

/// Streams at once on a connection of HTTP/2 in an open loop, and no less than any server allows
/// (RFC 9113, section 6.5.2).
const DEFAULT_STREAMS: u32 = 100;

/// What the requests of a run look like.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) classes: Vec<ClassPlan>,
    /// Everything that may be asked for.
    pub(crate) objects: Vec<Wanted>,
    /// The pages of a session.
    pub(crate) pages: Vec<PagePlan>,
    /// Whether users are followed from page to page, or requests stand alone.
    pub(crate) has_sessions: bool,
    pub(crate) timeout: Span,
    /// Parallel connections of one user.
    pub(crate) connections: usize,
    /// The header line that asks the server to keep a connection, where that must be said.
    pub(crate) keep: &'static str,
    /// Whether a request that was not answered may be sent again (RFC 9110, section 9.2.2).
    repeatable: bool,
    pub(crate) is_http2: bool,
    /// Streams at once on a connection of HTTP/2.
    pub(crate) streams: u32,
    /// Header fields of every request, for HTTP/2.
    pub(crate) headers: HeaderMap,
    /// Sent after the head of every request.
    pub(crate) body: Option<Bytes>,
    /// What an access log asks for, in its order.
    pub(crate) sequence: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct ClassPlan {
    pub(crate) name: Arc<str>,
    pub(crate) share: f64,
    pub(crate) cookie: Option<(String, String)>,
    pub(crate) source: Option<IpAddr>,
    pub(crate) header_map: HeaderMap,
    /// The same as lines.
    pub(crate) lines: Vec<u8>,
}

/// Numbers are those of objects.
#[derive(Debug)]
pub(crate) struct PagePlan {
    pub(crate) page: u32,
    pub(crate) embedded: Vec<u32>,
    pub(crate) think: Span,
}

/// Something to ask for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) url: Arc<str>,
    /// Request line and header lines of HTTP/1, as far as they are always the same.
    pub(crate) lines: Bytes,
    /// The whole head, on a connection that stays open, and on one that does not.
    pub(crate) head: Bytes,
    pub(crate) last_head: Bytes,
    /// The same for HTTP/2; `None` where it is no URL.
    pub(crate) uri: Option<Uri>,
    pub(crate) method: Method,
    /// How long its content is, where that is known.
    pub(crate) length: Option<u64>,
    /// The content itself, where it is to be looked at.
    pub(crate) content: Option<Object>,
    /// Whether the response has no body whatever it announces (RFC 9110, section 9.3.2).
    pub(crate) is_head: bool,
}

impl Plan {
    /// The classes that sessions are told apart by; none where requests stand alone.
    pub(crate) fn session_classes(&self) -> &[ClassPlan] {
        if self.has_sessions { &self.classes } else { &[] }
    }

    pub(crate) fn new(options: &Options) -> Self {
        let mut catalogue = Catalogue::new(options);
        let mut plan = Self {
            classes: vec![ClassPlan::only()],
            objects: Vec::new(),
            pages: Vec::new(),
            has_sessions: options.has_sessions(),
            timeout: options.timeout.unwrap_or(DEFAULT_TIMEOUT),
            connections: 1,
            keep: catalogue.keep,
            repeatable: matches!(options.request.method(), "GET" | "HEAD"),
            is_http2: options.protocol.http == Http::Http2,
            streams: options.protocol.pipeline.map_or(DEFAULT_STREAMS, NonZeroU32::get),
            headers: header_map(options.request.fields(&options.target)),
            body: options.request.body.clone(),
            sequence: Vec::new(),
        };
        match &options.script {
            Script::Url => {
                catalogue.add(&Arc::from(options.target.path()), None);
            }
            Script::Sessions { workload, .. } => plan.add_sessions(workload, options, &mut catalogue),
            Script::Model(model) => {
                for object in model.objects() {
                    let number = catalogue.add(&object.url, Some(object.length));
                    if let Some(wanted) = catalogue.objects.get_mut(number as usize) {
                        wanted.content = options.checks.content.then(|| object.clone());
                    }
                }
            }
            Script::Trace(trace) => {
                for object in &trace.objects {
                    catalogue.add_as(object.method.as_str(), &object.url);
                }
                plan.sequence = trace.requests.iter().map(|request| request.object).collect();
            }
        }
        plan.objects = catalogue.objects;
        plan
    }

    fn add_sessions(&mut self, workload: &Workload, options: &Options, catalogue: &mut Catalogue<'_>) {
        self.timeout = options.timeout.unwrap_or(workload.timeout);
        self.connections = workload.connections;
        self.classes = workload
            .classes
            .iter()
            .map(|class| ClassPlan {
                name: Arc::clone(&class.name),
                share: class.share,
                cookie: class.cookie.clone(),
                source: class.address,
                header_map: header_map(class.headers.clone()),
                lines: header_lines(&class.headers).into_bytes(),
            })
            .collect();
        self.pages = workload
            .pages
            .iter()
            .map(|page| PagePlan {
                page: catalogue.add(&page.url, None),
                embedded: page.embedded.iter().map(|url| catalogue.add(url, None)).collect(),
                think: page.think,
            })
            .collect();
    }

    pub(crate) fn may_repeat(&self) -> bool {
        self.repeatable
    }

    /// The longest that a session, or a request that stands alone, can take.
    pub(crate) fn longest(&self) -> Span {
        let rounds = |page: &PagePlan| 1 + page.embedded.len().div_ceil(self.connections) as u64;
        let pages: Span = self.pages.iter().map(|page| page.think + self.timeout * rounds(page)).sum();
        pages.max(self.timeout)
    }

    /// Refuses source addresses from which the target cannot be reached.
    pub(crate) fn check_sources(&self, target: SocketAddr) -> Result<(), Error> {
        for class in &self.classes {
            if let Some(source) = class.source.filter(|source| source.is_ipv4() != target.is_ipv4()) {
                return Err(Error::SourceAddress {
                    class: class.name.to_string(),
                    source_address: source,
                    target,
                });
            }
        }
        Ok(())
    }
}

impl ClassPlan {
    /// The class of requests that have none.
    fn only() -> Self {
        Self {
            name: Arc::from("all"),
            share: 1.0,
            cookie: None,
            source: None,
            header_map: HeaderMap::new(),
            lines: Vec::new(),
        }
    }
}

/// Gathers what may be asked for, each thing once.
struct Catalogue<'a> {
    request: &'a Request,
    target: &'a Target,
    version: &'static str,
    /// What asks the server to keep the connection, where that must be said.
    keep: &'static str,
    numbers: HashMap<(String, Arc<str>), u32>,
    objects: Vec<Wanted>,
}

impl<'a> Catalogue<'a> {
    fn new(options: &'a Options) -> Self {
        let (version, keep) = match options.protocol.http {
            Http::Http10 => ("1.0", "Connection: keep-alive\r\n"),
            Http::Http11 | Http::Http2 => ("1.1", ""),
        };
        Self {
            request: &options.request,
            target: &options.target,
            version,
            keep,
            numbers: HashMap::new(),
            objects: Vec::new(),
        }
    }

    fn add(&mut self, url: &Arc<str>, length: Option<u64>) -> u32 {
        let number = self.add_as(self.request.method(), url);
        if let Some(wanted) = self.objects.get_mut(number as usize) {
            wanted.length = length.or(wanted.length);
        }
        number
    }

    fn add_as(&mut self, method: &str, url: &Arc<str>) -> u32 {
        let key = (method.to_owned(), Arc::clone(url));
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        self.numbers.insert(key, number);
        let lines = self.lines(method, url);
        self.objects.push(Wanted {
            url: Arc::clone(url),
            head: format!("{lines}{}\r\n", self.keep).into(),
            last_head: format!("{lines}Connection: close\r\n\r\n").into(),
            lines: lines.into(),
            uri: self.uri(url),
            method: method.parse().unwrap_or(Method::GET),
            length: length_in(url),
            content: None,
            is_head: method == "HEAD",
        });
        number
    }

    fn uri(&self, url: &str) -> Option<Uri> {
        let scheme = if self.target.is_tls() { "https" } else { "http" };
        let uri = Uri::builder().scheme(scheme).authority(self.target.authority()).path_and_query(url);
        uri.build().ok()
    }

    fn lines(&self, method: &str, url: &str) -> String {
        let mut lines = format!("{method} {url} HTTP/{}\r\n", self.version);
        for (name, value) in self.request.fields(self.target) {
            lines += &format!("{name}: {value}\r\n");
        }
        lines
    }
}

impl Request {
    /// The header fields of every request; what the user gave takes the place of the usual.
    pub(crate) fn fields(&self, target: &Target) -> Vec<(String, String)> {
        let agent = concat!("headworks/", env!("CARGO_PKG_VERSION"));
        let mut usual = vec![
            ("Host", target.authority()),
            ("User-Agent", agent.to_owned()),
            ("Accept", "*/*".to_owned()),
        ];
        if let Some(credentials) = target.basic_credentials() {
            usual.push(("Authorization", credentials));
        }
        if let Some(body) = &self.body {
            usual.push(("Content-Length", body.len().to_string()));
        }
        let given = |name: &str| self.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let usual = usual.into_iter().filter(|(name, _)| !given(name));
        usual.map(|(name, value)| (name.to_owned(), value)).chain(self.headers.iter().cloned()).collect()
    }
}

/// Header fields for HTTP/2, which has its own for the host.
fn header_map(fields: Vec<(String, String)>) -> HeaderMap {
    let fields = fields.into_iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host"));
    fields
        .filter_map(|(name, value)| Some((name.parse::<HeaderName>().ok()?, value.try_into().ok()?)))
        .collect()
}

fn header_lines(headers: &[(String, String)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

/// `/bytes/N` names content of N bytes on every server.
fn length_in(url: &str) -> Option<u64> {
    url.strip_prefix("/bytes/")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_say_how_long_its_content_is() {
        assert_eq!(length_in("/bytes/2000"), Some(2000));
        assert_eq!(length_in("/bytes/x"), None);
        assert_eq!(length_in("/burn?cpu=25ms"), None);
    }
}
