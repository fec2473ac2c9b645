//! `[upstream]`: the servers behind the gate, as they are written and what that comes to.

use std::time::Duration;

use config::{Error, Source, Spanned, quantity};
use http::uri::PathAndQuery;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use units::{Ratio, Span};

use super::file::TextOr;
use super::resolve::{at_least_one, set};

/// The servers behind the gate; all do the same work.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    /// At least one.
    pub(crate) servers: Vec<Server>,
    pub(crate) connect_timeout: Duration,
    /// For the head of a response, and for the next piece of its body.
    pub(crate) timeout: Duration,
    /// A process-based server gives a whole process to an idle connection.
    pub(crate) idle_timeout: Duration,
    /// How often names are looked up again.
    pub(crate) look_up: Duration,
    pub(crate) check: Option<Check>,
    pub(crate) ejection: Ejection,
    pub(crate) retry: Retry,
}

/// One server, or as many as its name has addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    /// Host and port, not yet resolved.
    pub(crate) address: String,
    /// Its share of the requests beside the others'.
    pub(crate) weight: u32,
    pub(crate) http: Http,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Http {
    /// HTTP/1.1.
    One,
    /// HTTP/2 from the first byte on ("prior knowledge", RFC 9113 section 3.3).
    Two,
}

/// Requests of the gate's own that find out whether a server works.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Check {
    pub(crate) path: PathAndQuery,
    /// What `Host` says; the server's address if nothing else is given.
    pub(crate) host: Option<HeaderValue>,
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
    /// Successes in a row that make a server well, failures that make it ill.
    pub(crate) healthy: u32,
    pub(crate) unhealthy: u32,
    /// Statuses that count as success, from and to.
    pub(crate) status: (u16, u16),
}

/// When a server that fails requests gets no more of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ejection {
    /// Failures in a row.
    pub(crate) failures: u32,
    /// The first time; each time after it is twice as long.
    pub(crate) time: Span,
    pub(crate) longest: Span,
    /// Of the servers, at most.
    pub(crate) share: Ratio,
}

/// How many requests may be sent once more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retry {
    /// Of all requests.
    pub(crate) share: Ratio,
    /// Besides, per second.
    pub(crate) least: u32,
}

impl Upstream {
    pub(crate) fn new(address: String) -> Self {
        Self {
            servers: vec![Server { address, weight: 1, http: Http::One }],
            connect_timeout: Duration::from_secs(2),
            timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(1),
            look_up: Duration::from_secs(30),
            check: None,
            ejection: Ejection {
                failures: 5,
                time: Span::from_secs(5),
                longest: Span::from_secs(300),
                share: Ratio::clamped(0.5),
            },
            retry: Retry { share: Ratio::clamped(0.1), least: 3 },
        }
    }

    /// What stands for all servers: the address of the first.
    pub(crate) fn name(&self) -> &str {
        self.servers.first().map_or("", |server| server.address.as_str())
    }
}

impl Default for Check {
    fn default() -> Self {
        Self {
            path: PathAndQuery::from_static("/"),
            host: None,
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(2),
            healthy: 2,
            unhealthy: 3,
            status: (200, 399),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UpstreamFile {
    address: Option<Spanned<String>>,
    http: Option<Spanned<u32>>,
    #[serde(default)]
    server: Vec<TextOr<ServerFile>>,
    #[serde(default, with = "quantity::optional")]
    connect_timeout: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    timeout: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    idle_timeout: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    look_up: Option<Span>,
    check: Option<CheckFile>,
    #[serde(default)]
    ejection: EjectionFile,
    #[serde(default)]
    retry: RetryFile,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerFile {
    address: Spanned<String>,
    weight: Option<Spanned<u32>>,
    http: Option<Spanned<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckFile {
    path: Option<Spanned<String>>,
    host: Option<Spanned<String>>,
    #[serde(default, with = "quantity::optional")]
    interval: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    timeout: Option<Span>,
    healthy: Option<Spanned<u32>>,
    unhealthy: Option<Spanned<u32>>,
    status: Option<Spanned<TextOr<u32>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EjectionFile {
    failures: Option<Spanned<u32>>,
    #[serde(default, with = "quantity::optional")]
    time: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    longest: Option<Span>,
    #[serde(default, with = "quantity::optional")]
    share: Option<Ratio>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RetryFile {
    #[serde(default, with = "quantity::optional")]
    share: Option<Ratio>,
    least: Option<u32>,
}

pub(super) fn resolve(source: &Source, file: &TextOr<UpstreamFile>) -> Result<Upstream, Error> {
    let table = match file {
        TextOr::Text(text) => return Ok(Upstream::new(address(source, text)?)),
        TextOr::Other(table) => table,
    };
    let mut upstream = Upstream::new(String::new());
    upstream.servers = servers(source, table)?;
    set(&mut upstream.connect_timeout, table.connect_timeout);
    set(&mut upstream.timeout, table.timeout);
    set(&mut upstream.idle_timeout, table.idle_timeout);
    set(&mut upstream.look_up, table.look_up);
    upstream.check = table.check.as_ref().map(|file| check(source, file)).transpose()?;
    let ejection = &mut upstream.ejection;
    if let Some(failures) = &table.ejection.failures {
        ejection.failures = at_least_one(source, failures, "failures")?;
    }
    ejection.time = table.ejection.time.unwrap_or(ejection.time);
    ejection.longest = table.ejection.longest.unwrap_or(ejection.longest).max(ejection.time);
    ejection.share = table.ejection.share.unwrap_or(ejection.share);
    let retry = &mut upstream.retry;
    retry.share = table.retry.share.unwrap_or(retry.share);
    retry.least = table.retry.least.unwrap_or(retry.least);
    Ok(upstream)
}

fn servers(source: &Source, file: &UpstreamFile) -> Result<Vec<Server>, Error> {
    let all = http(source, file.http.as_ref())?.unwrap_or(Http::One);
    let mut servers: Vec<Server> = Vec::new();
    if let Some(text) = &file.address {
        servers.push(Server { address: address(source, text)?, weight: 1, http: all });
    }
    for server in &file.server {
        let (text, weight, own) = match server {
            TextOr::Text(text) => (text, None, None),
            TextOr::Other(table) => (&table.address, table.weight.as_ref(), table.http.as_ref()),
        };
        let address = address(source, text)?;
        if servers.iter().any(|other| other.address == address) {
            let what = format!("server \"{address}\" is named twice");
            return Err(source.error(text.span(), what).mend("give it a weight instead"));
        }
        let weight = weight.map_or(Ok(1), |weight| at_least_one(source, weight, "weight"))?;
        servers.push(Server { address, weight, http: http(source, own)?.unwrap_or(all) });
    }
    if servers.is_empty() {
        let error = source.missing("upstream names no server");
        return Err(error.mend("add address = \"host:port\", or [[upstream.server]] for several"));
    }
    Ok(servers)
}

fn address(source: &Source, text: &Spanned<String>) -> Result<String, Error> {
    super::host_and_port(text.get_ref()).map_err(|error| match error {
        crate::Error::Address { address, why, mend } => {
            source.error(text.span(), format!("upstream \"{address}\" {why}")).mend(mend)
        }
        other => source.error(text.span(), other.to_string()),
    })
}

fn http(source: &Source, version: Option<&Spanned<u32>>) -> Result<Option<Http>, Error> {
    version
        .map(|version| match *version.get_ref() {
            1 => Ok(Http::One),
            2 => Ok(Http::Two),
            other => {
                let what = format!("HTTP version {other} is not spoken to servers");
                Err(source.error(version.span(), what).mend("give 1 or 2"))
            }
        })
        .transpose()
}

fn check(source: &Source, file: &CheckFile) -> Result<Check, Error> {
    let mut check = Check::default();
    if let Some(path) = &file.path {
        let text = path.get_ref();
        let path = text.starts_with('/').then(|| text.parse().ok()).flatten().ok_or_else(|| {
            source.error(path.span(), format!("\"{text}\" is no path")).mend("begin it with \"/\"")
        });
        check.path = path?;
    }
    if let Some(host) = &file.host {
        let value = HeaderValue::from_str(host.get_ref())
            .map_err(|_| source.error(host.span(), format!("\"{}\" is not a host name", host.get_ref())));
        check.host = Some(value?);
    }
    set(&mut check.interval, file.interval);
    set(&mut check.timeout, file.timeout);
    if let Some(healthy) = &file.healthy {
        check.healthy = at_least_one(source, healthy, "healthy")?;
    }
    if let Some(unhealthy) = &file.unhealthy {
        check.unhealthy = at_least_one(source, unhealthy, "unhealthy")?;
    }
    if let Some(status) = &file.status {
        check.status = statuses(status.get_ref()).ok_or_else(|| {
            source
                .error(status.span(), "status is not one of HTTP")
                .mend("give a status or a range, for example 200 or \"200-399\"")
        })?;
    }
    if check.interval.is_zero() {
        return Err(source
            .missing("the interval of checks is 0")
            .mend("it must be longer, for example \"5s\""));
    }
    Ok(check)
}

fn statuses(text: &TextOr<u32>) -> Option<(u16, u16)> {
    let one = |text: &str| Some(StatusCode::from_bytes(text.trim().as_bytes()).ok()?.as_u16());
    let (from, to) = match text {
        TextOr::Other(status) => (one(&status.to_string())?, one(&status.to_string())?),
        TextOr::Text(text) => match text.get_ref().split_once('-') {
            Some((from, to)) => (one(from)?, one(to)?),
            None => (one(text.get_ref())?, one(text.get_ref())?),
        },
    };
    (from <= to).then_some((from, to))
}

impl Upstream {
    /// One line per server and one for each thing that is done about them.
    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let times = format!(
            "connect {:?}, response {:?}, idle {:?}",
            self.connect_timeout, self.timeout, self.idle_timeout
        );
        let mut lines: Vec<_> = self.servers.iter().map(|server| ("upstream", server.describe())).collect();
        lines.push(("upstream times", format!("{times}, look-up {:?}", self.look_up)));
        let check = self.check.as_ref().map_or("none".to_owned(), |check| {
            format!(
                "{} every {:?}, timeout {:?}, status {}-{}, {} to be well, {} to be ill",
                check.path,
                check.interval,
                check.timeout,
                check.status.0,
                check.status.1,
                check.healthy,
                check.unhealthy
            )
        });
        lines.push(("checks", check));
        let Ejection { failures, time, longest, share } = self.ejection;
        lines.push(("ejection", format!("{failures} failures, {time} to {longest}, at most {share}")));
        lines.push(("retries", format!("{} of the requests and {}/s", self.retry.share, self.retry.least)));
        lines
    }
}

impl Server {
    fn describe(&self) -> String {
        let http = match self.http {
            Http::One => "HTTP/1.1",
            Http::Two => "HTTP/2",
        };
        format!("{}, {http}, weight {}", self.address, self.weight)
    }
}
