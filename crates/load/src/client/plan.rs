//! [`Plan`]: the script, made ready to be sent.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use http::uri::{PathAndQuery, Scheme};
use traffic::model::Object;
use traffic::{Think, Workload};
use units::Span;

use crate::client::cookies::Jar;
use crate::client::request::Fields;
use crate::error::Error;
use crate::measure::finished::Names;
use crate::settings::options::{Http, Options, Request, Script};

/// For a plain URL; the patience of the clients in the web2k paper, section 4.3.
const DEFAULT_TIMEOUT: Span = Span::from_secs(20);

/// Streams at once on a connection of HTTP/2 in an open loop, and no less than any server allows
/// (RFC 9113, section 6.5.2).
const DEFAULT_STREAMS: u32 = 100;

const KEEP_ALIVE: &str = "Connection: keep-alive\r\n";
const CLOSE: &str = "Connection: close\r\n";

/// What the requests of a run look like.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) classes: Vec<ClassPlan>,
    /// Everything that may be asked for.
    pub(crate) objects: Vec<Wanted>,
    /// The pages of a session.
    pub(crate) pages: Vec<PagePlan>,
    /// Of the pauses between them.
    pub(crate) seed: u64,
    /// Whether users are followed from page to page, or requests stand alone.
    pub(crate) has_sessions: bool,
    pub(crate) timeout: Span,
    /// Parallel connections of one user.
    pub(crate) connections: usize,
    /// The header line that asks the server to keep a connection, where that must be said.
    keep: &'static str,
    /// Whether a request that was not answered may be sent again (RFC 9110, section 9.2.2).
    pub(crate) is_idempotent: bool,
    pub(crate) is_http2: bool,
    /// Streams at once on a connection of HTTP/2.
    pub(crate) streams: u32,
    scheme: Scheme,
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
    fields: Fields,
    /// Whether its requests have the fields of every request and no others.
    is_plain: bool,
}

/// What becomes of a connection of HTTP/1 after a request (RFC 9112, section 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Persistence {
    Keep,
    /// No other request follows.
    Close,
}

/// Numbers are those of objects.
#[derive(Debug)]
pub(crate) struct PagePlan {
    pub(crate) page: u32,
    pub(crate) embedded: Vec<u32>,
    pub(crate) think: Think,
}

/// Something to ask for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) url: Arc<str>,
    /// The request line of HTTP/1.
    line: Bytes,
    /// The whole head for HTTP/1 of a request without cookies and fields of a class, on a
    /// connection that stays open, and on one that does not.
    head: Bytes,
    last_head: Bytes,
    /// For HTTP/2; `None` where `url` is not a path.
    path: Option<PathAndQuery>,
    method: Method,
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
            classes: vec![ClassPlan::only(catalogue.fields.clone())],
            objects: Vec::new(),
            pages: Vec::new(),
            seed: options.seed,
            has_sessions: options.has_sessions(),
            timeout: options.timeout.unwrap_or(DEFAULT_TIMEOUT),
            connections: 1,
            keep: catalogue.keep,
            is_idempotent: matches!(options.request.method(), "GET" | "HEAD"),
            is_http2: options.protocol.http == Http::Http2,
            streams: options.protocol.pipeline.map_or(DEFAULT_STREAMS, NonZeroU32::get),
            scheme: if options.target.is_tls() { Scheme::HTTPS } else { Scheme::HTTP },
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
                fields: catalogue.fields.with(&class.headers),
                is_plain: class.headers.is_empty(),
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

    /// The head of a request for HTTP/1.
    pub(crate) fn http1_head(
        &self,
        wanted: &Wanted,
        class: usize,
        jar: &Jar,
        persistence: Persistence,
    ) -> Bytes {
        match self.classes.get(class) {
            Some(class) if !class.is_plain || !jar.is_empty() => {
                let connection = match persistence {
                    Persistence::Keep => self.keep,
                    Persistence::Close => CLOSE,
                };
                class.fields.http1_head(&wanted.line, connection.as_bytes(), jar)
            }
            _ => match persistence {
                Persistence::Keep => wanted.head.clone(),
                Persistence::Close => wanted.last_head.clone(),
            },
        }
    }

    /// The head of a request for HTTP/2; `None` where HTTP/2 cannot say it.
    pub(crate) fn http2_head(&self, wanted: &Wanted, class: usize, jar: &Jar) -> Option<http::Request<()>> {
        let fields = &self.classes.get(class)?.fields;
        fields.http2_head(&wanted.method, &self.scheme, wanted.path.as_ref(), jar)
    }

    /// What rows of the record call what was asked for, and classes.
    pub(crate) fn names(&self) -> Names {
        Names {
            objects: self.objects.iter().map(|wanted| Arc::clone(&wanted.url)).collect(),
            classes: self.classes.iter().map(|class| Arc::clone(&class.name)).collect(),
        }
    }

    /// The longest that a session, or a request that stands alone, can take.
    pub(crate) fn longest(&self) -> Span {
        let rounds = |page: &PagePlan| 1 + page.embedded.len().div_ceil(self.connections) as u64;
        let pages: Span =
            self.pages.iter().map(|page| page.think.longest() + self.timeout * rounds(page)).sum();
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
    fn only(fields: Fields) -> Self {
        Self { name: Arc::from("all"), share: 1.0, cookie: None, source: None, fields, is_plain: true }
    }
}

/// Gathers what may be asked for, each thing once.
struct Catalogue<'a> {
    request: &'a Request,
    /// Of every request.
    fields: Fields,
    version: &'static str,
    /// What asks the server to keep the connection, where that must be said.
    keep: &'static str,
    numbers: HashMap<(String, Arc<str>), u32>,
    objects: Vec<Wanted>,
}

impl<'a> Catalogue<'a> {
    fn new(options: &'a Options) -> Self {
        let (version, keep) = match options.protocol.http {
            Http::Http10 => ("1.0", KEEP_ALIVE),
            Http::Http11 | Http::Http2 => ("1.1", ""),
        };
        Self {
            request: &options.request,
            fields: Fields::of(&options.request, &options.target),
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
        let line = format!("{method} {url} HTTP/{}\r\n", self.version);
        let head = |connection: &str| {
            self.fields.http1_head(line.as_bytes(), connection.as_bytes(), &Jar::default())
        };
        let (head, last_head) = (head(self.keep), head(CLOSE));
        self.objects.push(Wanted {
            url: Arc::clone(url),
            head,
            last_head,
            line: line.into(),
            path: url.parse().ok(),
            method: method.parse().unwrap_or(Method::GET),
            length: length_in(url),
            content: None,
            is_head: method == "HEAD",
        });
        number
    }
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
