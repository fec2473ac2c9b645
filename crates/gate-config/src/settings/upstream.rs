//! `[upstream]`: the servers behind the gate, as they are written and what that comes to.

use std::path::Path;
use std::time::Duration;

use config::{Error, Place, Source, Spanned, quantity};
use http::uri::PathAndQuery;
use http::{HeaderValue, StatusCode};
use http1::response::Limits;
use rustls_pki_types::ServerName;
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Ratio, Span};

use crate::settings::listener::NamedFile;
use crate::settings::number::Time;
use crate::settings::number::{at_least_one, set, set_above_zero};
use crate::settings::strictness::{Size, size};
use crate::settings::text::TextOr;

/// The servers behind the gate; all do the same work.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// At least one, unless the gate is attached to its server.
    pub servers: Vec<Server>,
    /// For a connection to be made.
    pub connect_timeout: Duration,
    /// For the head of a response, and for the next piece of its body.
    pub timeout: Duration,
    /// A process-based server gives a whole process to an idle connection.
    pub idle_timeout: Duration,
    /// How often names are looked up again.
    pub look_up: Duration,
    /// Requests that ask servers how they are.
    pub check: Option<Check>,
    /// When a server that fails is left alone.
    pub ejection: Ejection,
    /// How many requests are sent once more.
    pub retry: Retry,
    /// Whose certificates are believed, in a file; the system's without it.
    pub ca_file: Option<NamedFile>,
    /// What the head of a response may have.
    pub limits: Limits,
}

/// A server's address is not one.
#[derive(Debug, thiserror::Error)]
#[error("upstream \"{address}\" {why}; {mend}")]
pub struct AddressError {
    /// As given.
    pub address: String,
    /// What is wrong with it.
    pub why: &'static str,
    /// What to give instead.
    pub mend: &'static str,
}

/// One server, or as many as its name has addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Host and port, not yet resolved.
    pub address: String,
    /// Where that is said.
    pub written: Place,
    /// Its share of the requests beside the others'.
    pub weight: u32,
    /// What it speaks.
    pub http: Http,
    /// With TLS, for whom its certificate is to be.
    pub tls: Option<ServerName<'static>>,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1.
    One,
    /// HTTP/2 from the first byte on ("prior knowledge", RFC 9113 section 3.3).
    Two,
}

/// Requests of the gate's own that find out whether a server works.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What is asked for.
    pub path: PathAndQuery,
    /// What `Host` says; the server's address if nothing else is given.
    pub host: Option<HeaderValue>,
    /// Between two of them.
    pub interval: Duration,
    /// For the answer.
    pub timeout: Duration,
    /// Successes in a row that make a server well.
    pub healthy: u32,
    /// Failures in a row that make a server ill.
    pub unhealthy: u32,
    /// Statuses that count as success, from and to.
    pub status: (u16, u16),
}

/// When a server that fails requests gets no more of them.
#[derive(Debug, Clone, Copy)]
pub struct Ejection {
    /// Failures in a row.
    pub failures: u32,
    /// The first time; each time after it is twice as long.
    pub time: Span,
    /// The longest.
    pub longest: Span,
    /// Of the servers, at most.
    pub share: Ratio,
}

/// How many requests may be sent once more.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// Of all requests.
    pub share: Ratio,
    /// Besides, per second.
    pub least: u32,
}

impl Upstream {
    /// One server, with the defaults.
    pub fn of(server: Server) -> Self {
        Self { servers: vec![server], ..Self::none() }
    }

    /// No server.
    pub fn none() -> Self {
        Self {
            ca_file: None,
            servers: Vec::new(),
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
            limits: Limits::default(),
        }
    }

    /// Whether there is a server that speaks TLS.
    pub fn speaks_tls(&self) -> bool {
        self.servers.iter().any(|server| server.tls.is_some())
    }

    /// What stands for all servers: the address of the first.
    pub fn name(&self) -> &str {
        self.servers.first().map_or("", |server| server.address.as_str())
    }
}

impl Server {
    /// Host and port as people copy them: `http://host:port/`, or `https:` for TLS. It is said to be from the command
    /// line.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let (secure, rest) = match text.strip_prefix("https://") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("http://").unwrap_or(text)),
        };
        let address = rest.strip_suffix('/').unwrap_or(rest);
        let host = address.rsplit_once(':').and_then(|(host, port)| {
            port.parse::<u16>().ok().filter(|port| *port > 0)?;
            (!host.is_empty() && !host.contains('/')).then_some(host)
        });
        let wrong = |why, mend| AddressError { address: text.to_owned(), why, mend };
        let host = host.ok_or_else(|| {
            wrong("is not a server's address", "give host and port, for example \"127.0.0.1:8000\"")
        })?;
        let tls = secure.then(|| {
            let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
            ServerName::try_from(name)
                .map_err(|_| wrong("has no name that a certificate could be for", "give the name in it"))
        });
        Ok(Self {
            address: address.to_owned(),
            written: Place::outside("--upstream"),
            weight: 1,
            http: Http::One,
            tls: tls.transpose()?,
        })
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

/// More than any server sends, and less than a few of them would fill memory with.
const MAX_HEAD_BYTES: usize = 1024 * 1024;
/// `http::HeaderMap` has room for more, but not for all that a head can hold.
const MAX_FIELDS: usize = 10_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UpstreamFile {
    /// The only server, as host:port or https://host:port.
    address: Option<Spanned<String>>,
    /// What the servers speak: 1 or 2.
    http: Option<Spanned<u32>>,
    /// Whose certificates are believed.
    ca_file: Option<Spanned<String>>,
    /// Bytes of a response's status line and header lines.
    max_head: Option<Spanned<Size>>,
    /// Header lines of a response.
    max_fields: Option<Spanned<Size>>,
    /// Several servers that do the same work.
    #[serde(default)]
    server: Vec<TextOr<ServerFile>>,
    /// For a connection to be made.
    connect_timeout: Option<Time>,
    /// For the head of a response, and for each further piece of it.
    timeout: Option<Time>,
    /// How long a connection is kept for reuse.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    idle_timeout: Option<Span>,
    /// How often names are looked up again.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    look_up: Option<Span>,
    /// Asks each server how it is.
    check: Option<CheckFile>,
    /// Leaves servers alone that fail.
    #[serde(default)]
    ejection: EjectionFile,
    /// Requests sent once more.
    #[serde(default)]
    retry: RetryFile,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ServerFile {
    /// As host:port.
    address: Spanned<String>,
    /// Its share beside the others'.
    weight: Option<Spanned<u32>>,
    /// What it speaks: 1 or 2.
    http: Option<Spanned<u32>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckFile {
    /// What is asked for.
    path: Option<Spanned<String>>,
    /// What `Host` says.
    host: Option<Spanned<String>>,
    /// How often.
    interval: Option<Time>,
    /// For the answer.
    timeout: Option<Time>,
    /// Successes in a row that make a server well.
    healthy: Option<Spanned<u32>>,
    /// Failures in a row that make it ill.
    unhealthy: Option<Spanned<u32>>,
    /// A status, or a range as in `200-399`.
    status: Option<Spanned<TextOr<u32>>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EjectionFile {
    /// Failures in a row.
    failures: Option<Spanned<u32>>,
    /// For how long at first.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    time: Option<Span>,
    /// For how long at most.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    longest: Option<Span>,
    /// Of the servers at most.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    share: Option<Ratio>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetryFile {
    /// Of all requests.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    share: Option<Ratio>,
    /// Per second besides.
    least: Option<u32>,
}

pub(super) fn resolve(
    source: &Source,
    directory: &Path,
    file: &TextOr<UpstreamFile>,
) -> Result<Upstream, Error> {
    let table = match file {
        TextOr::Text(text) => return Ok(Upstream::of(server(source, text)?)),
        TextOr::Other(table) => table,
    };
    let mut servers = servers(source, table)?;
    let mut upstream = Upstream::of(servers.remove(0));
    upstream.servers.append(&mut servers);
    upstream.ca_file = ca_file(source, directory, table, &upstream)?;
    set_above_zero(source, &mut upstream.connect_timeout, &table.connect_timeout, "connect-timeout")?;
    set_above_zero(source, &mut upstream.timeout, &table.timeout, "timeout")?;
    let Limits { head, fields } = &mut upstream.limits;
    *head = size(source, "max-head", &table.max_head, *head, 8 * 1024..=MAX_HEAD_BYTES)?;
    *fields = size(source, "max-fields", &table.max_fields, *fields, 10..=MAX_FIELDS)?;
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
        servers.push(Server { http: all, ..server(source, text)? });
    }
    for one in &file.server {
        let (text, weight, own) = match one {
            TextOr::Text(text) => (text, None, None),
            TextOr::Other(table) => (&table.address, table.weight.as_ref(), table.http.as_ref()),
        };
        let server = server(source, text)?;
        if servers.iter().any(|other| other.address == server.address) {
            let what = format!("server \"{}\" is named twice", server.address);
            return Err(source.error(text.span(), what).mend("give it a weight instead"));
        }
        let weight = weight.map_or(Ok(1), |weight| at_least_one(source, weight, "weight"))?;
        servers.push(Server { weight, http: http(source, own)?.unwrap_or(all), ..server });
    }
    if servers.is_empty() {
        let error = source.missing("upstream names no server");
        return Err(error.mend("add address = \"host:port\", or [[upstream.server]] for several"));
    }
    Ok(servers)
}

/// The file of those whose certificates are believed, if one is named.
fn ca_file(
    source: &Source,
    directory: &Path,
    file: &UpstreamFile,
    upstream: &Upstream,
) -> Result<Option<NamedFile>, Error> {
    let Some(name) = &file.ca_file else { return Ok(None) };
    if !upstream.speaks_tls() {
        return Err(source
            .error(name.span(), "ca-file is given, but no server speaks TLS")
            .mend("write \"https://host:port\" for those that do"));
    }
    Ok(Some(NamedFile { path: directory.join(name.get_ref()), place: source.place(name.span()) }))
}

fn server(source: &Source, text: &Spanned<String>) -> Result<Server, Error> {
    let server = Server::parse(text.get_ref()).map_err(|AddressError { address, why, mend }| {
        source.error(text.span(), format!("upstream \"{address}\" {why}")).mend(mend)
    })?;
    Ok(Server { written: source.place(text.span()), ..server })
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
    set_above_zero(source, &mut check.interval, &file.interval, "interval")?;
    set_above_zero(source, &mut check.timeout, &file.timeout, "timeout")?;
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
            "connect {}, response {}, idle {}",
            Span::from(self.connect_timeout),
            Span::from(self.timeout),
            Span::from(self.idle_timeout)
        );
        let mut lines: Vec<_> = self.servers.iter().map(|server| ("upstream", server.describe())).collect();
        lines.push(("upstream times", format!("{times}, look-up {}", Span::from(self.look_up))));
        if self.speaks_tls() {
            let believed = self.ca_file.as_ref();
            let believed = believed
                .map_or("the system's authorities".to_owned(), |file| file.path.display().to_string());
            lines.push(("believed", believed));
        }
        let Limits { head, fields } = self.limits;
        lines.push(("responses", format!("head {head}, fields {fields}")));
        let check = self.check.as_ref().map_or("none".to_owned(), |check| {
            let host = check.host.as_ref().map_or_else(String::new, |host| format!(" of {host:?}"));
            format!(
                "{}{host} every {}, timeout {}, status {}-{}, {} to be well, {} to be ill",
                check.path,
                Span::from(check.interval),
                Span::from(check.timeout),
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
        let tls = if self.tls.is_some() { " and TLS" } else { "" };
        format!("{}, {http}{tls}, weight {}", self.address, self.weight)
    }
}
