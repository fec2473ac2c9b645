//! [`Plan`]: the script, made ready to be sent.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use traffic::Workload;
use units::Span;

use crate::{Error, Options, Script};

/// For a plain URL; the patience of the clients in the web2k paper, section 4.3.
const DEFAULT_TIMEOUT: Span = Span::from_secs(20);

/// What the requests of a run look like.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) classes: Vec<ClassPlan>,
    pub(crate) pages: Vec<PagePlan>,
    /// Whether users are followed from page to page, or requests stand alone.
    pub(crate) has_sessions: bool,
    pub(crate) timeout: Span,
    /// Parallel connections of one user.
    pub(crate) connections: usize,
}

#[derive(Debug)]
pub(crate) struct ClassPlan {
    pub(crate) name: Arc<str>,
    pub(crate) share: f64,
    pub(crate) cookie: Option<(String, String)>,
    pub(crate) source: Option<IpAddr>,
    /// Header lines of the class.
    pub(crate) lines: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct PagePlan {
    pub(crate) page: Wanted,
    pub(crate) embedded: Vec<Wanted>,
    pub(crate) think: Span,
}

/// Something to ask for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) url: Arc<str>,
    /// Request line and the header lines that are always the same.
    pub(crate) lines: Vec<u8>,
    /// How long its content is, where that is known.
    pub(crate) length: Option<u64>,
}

impl Plan {
    /// The classes that sessions are told apart by; none where requests stand alone.
    pub(crate) fn session_classes(&self) -> &[ClassPlan] {
        if self.has_sessions { &self.classes } else { &[] }
    }

    pub(crate) fn new(options: &Options) -> Self {
        let authority = options.target.authority();
        match &options.script {
            Script::Url => Self {
                classes: vec![ClassPlan {
                    name: Arc::from("all"),
                    share: 1.0,
                    cookie: None,
                    source: None,
                    lines: Vec::new(),
                }],
                pages: vec![PagePlan {
                    page: Wanted::new(&Arc::from(options.target.path()), &authority),
                    embedded: Vec::new(),
                    think: Span::ZERO,
                }],
                has_sessions: false,
                timeout: options.timeout.unwrap_or(DEFAULT_TIMEOUT),
                connections: 1,
            },
            Script::Sessions { workload, .. } => Self::of_sessions(workload, &authority, options.timeout),
        }
    }

    fn of_sessions(workload: &Workload, authority: &str, timeout: Option<Span>) -> Self {
        let classes = workload.classes.iter().map(|class| ClassPlan {
            name: Arc::clone(&class.name),
            share: class.share,
            cookie: class.cookie.clone(),
            source: class.address,
            lines: class
                .headers
                .iter()
                .flat_map(|(name, value)| format!("{name}: {value}\r\n").into_bytes())
                .collect(),
        });
        let pages = workload.pages.iter().map(|page| PagePlan {
            page: Wanted::new(&page.url, authority),
            embedded: page.embedded.iter().map(|url| Wanted::new(url, authority)).collect(),
            think: page.think,
        });
        Self {
            classes: classes.collect(),
            pages: pages.collect(),
            has_sessions: true,
            timeout: timeout.unwrap_or(workload.timeout),
            connections: workload.connections,
        }
    }

    /// The longest that a session, or a request that stands alone, can take.
    pub(crate) fn longest(&self) -> Span {
        let rounds = |page: &PagePlan| 1 + page.embedded.len().div_ceil(self.connections) as u64;
        self.pages.iter().map(|page| page.think + self.timeout * rounds(page)).sum()
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

impl Wanted {
    fn new(url: &Arc<str>, authority: &str) -> Self {
        let agent = concat!("headworks/", env!("CARGO_PKG_VERSION"));
        let lines =
            format!("GET {url} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {agent}\r\nAccept: */*\r\n");
        Self { url: Arc::clone(url), lines: lines.into_bytes(), length: length_in(url) }
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

    #[test]
    fn the_longest_session_is_all_pauses_and_timeouts() {
        let text = "kind='sessions'\ntimeout='2s'\nconnections=2\n[[page]]\nurl='/'\nthink='1s'\nembedded=['/a','/b','/c']";
        let workload = Workload::parse(&config::Source::new("w", text)).unwrap();
        assert_eq!(Plan::of_sessions(&workload, "x", None).longest(), Span::from_secs(1 + 2 * 3));
    }
}
