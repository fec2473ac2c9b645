//! Listeners, TLS, HTTP/2 and the proxies in front.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use config::{Error, Source, Spanned, quantity};
use http1::headers::forwarded::Forwarding;
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Bytes, Span};

use crate::downstream::certificate::Files;
use crate::downstream::certificates::Certificates;
use crate::downstream::door::Protocols;
use crate::downstream::place::Place;
use crate::settings::file::{Style, Texts};
use crate::settings::{Settings, pattern};

/// A listener as people write it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ListenerTable {
    /// An address and a port, or `unix:` and a path.
    address: Spanned<String>,
    /// By which systemd knows its socket.
    name: Option<Spanned<String>>,
    /// `h2`, `http/1.1`.
    protocols: Option<Texts>,
    /// Networks that must say with the PROXY protocol for whom they connect.
    proxy_protocol: Option<Texts>,
    /// With TLS; the first is for unknown names.
    #[serde(default)]
    certificate: Vec<CertificateTable>,
    /// Turns clients away that ask for an unknown name.
    strict_names: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CertificateTable {
    /// A PEM file of the certificate and those above it.
    cert: Spanned<String>,
    /// A PEM file of its key.
    key: Spanned<String>,
}

/// `[http2]` as people write it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Http2Table {
    /// Requests at once on one connection.
    streams: Option<Spanned<u32>>,
    /// Of a request's body.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Bytes>>")]
    stream_window: Option<Bytes>,
    /// The same, of all streams of a connection.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Bytes>>")]
    connection_window: Option<Bytes>,
    /// How often a quiet client is asked whether it is there.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    ping_interval: Option<Span>,
}

/// A listener.
#[derive(Debug, Clone)]
pub(crate) struct Listener {
    /// By which systemd and the next gate know its socket.
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) protocols: Protocols,
    /// Who must say with the PROXY protocol for whom they connect.
    pub(crate) proxies: Vec<IpNet>,
    /// With TLS, if there are any.
    pub(crate) certificates: Option<Arc<Certificates>>,
}

/// Connections of HTTP/2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Http2 {
    /// Requests at once on one connection.
    pub(crate) streams: u32,
    /// Bytes of a request's body that may be on their way before the gate asks for more.
    pub(crate) stream_window: u32,
    /// The same of all streams of a connection.
    pub(crate) connection_window: u32,
    /// How often a client is asked whether it is still there, if at all.
    pub(crate) ping_interval: Option<Duration>,
}

impl Default for Http2 {
    fn default() -> Self {
        Self {
            streams: 100,
            stream_window: 256 * 1024,
            connection_window: 1024 * 1024,
            ping_interval: Some(Duration::from_secs(30)),
        }
    }
}

impl Listener {
    /// What `listen` stands for: one without TLS.
    pub(crate) fn plain(address: SocketAddr) -> Self {
        let (name, place) = (Self::PLAIN.to_owned(), Place::Tcp(address));
        Self { name, place, protocols: Protocols::BOTH, proxies: Vec::new(), certificates: None }
    }

    /// The name of what `listen` stands for.
    pub(super) const PLAIN: &str = "listen";

    fn stands_like(&self, other: &Self) -> bool {
        let Self { name, place, protocols, proxies, certificates } = self;
        let same = *name == other.name && *place == other.place && *protocols == other.protocols;
        same && *proxies == other.proxies && certificates.is_some() == other.certificates.is_some()
    }

    /// What clients connect to.
    pub(crate) fn url(&self, place: &Place) -> String {
        match (place, &self.certificates) {
            (Place::Unix(_), _) => place.to_string(),
            (Place::Tcp(address), Some(_)) => format!("https://{address}"),
            (Place::Tcp(address), None) => format!("http://{address}"),
        }
    }

    /// One line for `gate check`.
    pub(super) fn describe(&self) -> String {
        let protocols: Vec<&str> = self.protocols.names().collect();
        let mut line = format!("{}, {}", self.url(&self.place), protocols.join(" and "));
        if let Some(certificates) = &self.certificates {
            let names = certificates.names().into_iter().map(|names| match names.is_empty() {
                true => "a certificate without a name".to_owned(),
                false => names.join(" "),
            });
            line += &format!(", TLS for {}", names.collect::<Vec<_>>().join("; "));
            line += if certificates.strict() { ", no others" } else { ", the first for all others" };
            for doubt in certificates.doubts() {
                line += &format!(" (note: {doubt})");
            }
        }
        if !self.proxies.is_empty() {
            let proxies: Vec<String> = self.proxies.iter().map(IpNet::to_string).collect();
            line += &format!(", PROXY protocol from {}", proxies.join(", "));
        }
        line
    }
}

impl Http2 {
    /// One line for `gate check`.
    pub(super) fn describe(&self) -> String {
        let Self { streams, stream_window, connection_window, ping_interval } = self;
        let pings =
            ping_interval.map_or("no pings".to_owned(), |interval| format!("ping every {interval:?}"));
        format!("{streams} streams, windows of {stream_window} and {connection_window} bytes, {pings}")
    }
}

/// Certificates that are to take the place of those in use.
pub(crate) struct Renewal(Vec<(Arc<Certificates>, Arc<Certificates>)>);

impl Renewal {
    /// From the next handshake on.
    pub(crate) fn apply(self) {
        for (used, next) in self.0 {
            used.follow(&next);
        }
    }
}

impl Settings {
    /// Whether `next` has the same listeners, but for their certificates.
    pub(super) fn stands_like(&self, next: &Self) -> bool {
        let pairs = || self.listeners.iter().zip(&next.listeners);
        self.listeners.len() == next.listeners.len() && pairs().all(|(mine, theirs)| mine.stands_like(theirs))
    }

    /// Keeps the listeners of the settings before, which have the same; gives what their
    /// certificates are to become.
    ///
    /// # Errors
    /// When clients object to one of the next certificates and to none of those in use.
    pub(crate) fn go_on_with_listeners_of(
        &mut self,
        before: &Self,
    ) -> Result<Renewal, crate::process::error::Error> {
        let mut renewals = Vec::new();
        for (mine, theirs) in self.listeners.iter_mut().zip(&before.listeners) {
            if let (Some(next), Some(used)) = (&mut mine.certificates, &theirs.certificates) {
                used.may_follow(next)?;
                renewals.push((Arc::clone(used), std::mem::replace(next, Arc::clone(used))));
            }
        }
        Ok(Renewal(renewals))
    }
}

/// Adds the listeners of the tables.
pub(super) fn listeners(
    source: &Source,
    directory: &Path,
    tables: &[ListenerTable],
    listeners: &mut Vec<Listener>,
) -> Result<(), Error> {
    for (index, table) in tables.iter().enumerate() {
        let name = match &table.name {
            Some(name) if pattern::is_token(name.get_ref()) => name.get_ref().clone(),
            Some(name) => {
                let what = format!("\"{}\" cannot name a listener", name.get_ref());
                return Err(source.error(name.span(), what).mend("use letters, digits, - and _"));
            }
            None => format!("listener-{}", index + 1),
        };
        let listener = listener(source, directory, table, name)?;
        let span = table.name.as_ref().unwrap_or(&table.address).span();
        if listeners.iter().any(|other| other.name == listener.name) || listener.name == "admin" {
            return Err(source.error(span, format!("two listeners have the name {}", listener.name)));
        }
        let same = |other: &Listener| other.place == listener.place && !listener.place.is_free_port();
        if listeners.iter().any(same) {
            let what = format!("two listeners stand at {}", listener.place);
            return Err(source.error(table.address.span(), what).mend("give each a port of its own"));
        }
        listeners.push(listener);
    }
    Ok(())
}

fn listener(
    source: &Source,
    directory: &Path,
    table: &ListenerTable,
    name: String,
) -> Result<Listener, Error> {
    let text = table.address.get_ref();
    let place = match text.strip_prefix("unix:") {
        Some(path) => Place::Unix(directory.join(path)),
        None => Place::Tcp(text.parse().map_err(|_| {
            source.error(table.address.span(), format!("\"{text}\" is not an address to listen on")).mend(
                "give an IP address and a port or a path, for example \"0.0.0.0:443\", \"[::]:443\" or \"unix:/run/gate.sock\"",
            )
        })?),
    };
    let protocols = table.protocols.as_ref().map(|names| protocols(source, names)).transpose()?;
    let proxies = table.proxy_protocol.as_ref().map(|nets| networks(source, nets)).transpose()?;
    let strict = table.strict_names.as_ref();
    if let (Some(strict), true) = (strict, table.certificate.is_empty()) {
        return Err(source
            .error(strict.span(), "strict-names is for listeners with certificates")
            .mend("add a [[listener.certificate]] with cert and key, or leave it out"));
    }
    let certificates = match &table.certificate[..] {
        [] => None,
        tables => {
            Some(certificates(source, directory, tables, strict.is_some_and(|strict| *strict.get_ref()))?)
        }
    };
    Ok(Listener {
        name,
        place,
        protocols: protocols.unwrap_or(Protocols::BOTH),
        proxies: proxies.unwrap_or_default(),
        certificates,
    })
}

fn certificates(
    source: &Source,
    directory: &Path,
    tables: &[CertificateTable],
    strict: bool,
) -> Result<Arc<Certificates>, Error> {
    let files = tables.iter().map(|table| Files {
        cert: directory.join(table.cert.get_ref()),
        key: directory.join(table.key.get_ref()),
    });
    let certificates = Certificates::read(&files.collect::<Vec<_>>(), strict).map_err(|unusable| {
        // The line that names the file.
        let names = |place: &&Spanned<String>| directory.join(place.get_ref()) == unusable.file;
        let place = tables.iter().flat_map(|table| [&table.cert, &table.key]).find(names);
        let what = format!("{}: {}", unusable.file.display(), unusable.what);
        let error = match place {
            Some(place) => source.error(place.span(), what),
            None => source.missing(what),
        };
        error.mend(unusable.mend)
    })?;
    Ok(Arc::new(certificates))
}

fn protocols(source: &Source, names: &Texts) -> Result<Protocols, Error> {
    let mut protocols = Protocols { http1: false, http2: false };
    for name in &names.0 {
        match name.get_ref().as_str() {
            "h2" => protocols.http2 = true,
            "http/1.1" => protocols.http1 = true,
            other => {
                return Err(source
                    .error(name.span(), format!("\"{other}\" is not a protocol that the gate speaks"))
                    .mend("give \"h2\", \"http/1.1\" or both"));
            }
        }
    }
    if protocols.http1 || protocols.http2 { Ok(protocols) } else { Ok(Protocols::BOTH) }
}

fn networks(source: &Source, texts: &Texts) -> Result<Vec<IpNet>, Error> {
    texts.0.iter().map(|text| pattern::network(source, text)).collect()
}

pub(super) fn http2(source: &Source, table: &Http2Table) -> Result<Http2, Error> {
    let defaults = Http2::default();
    // RFC 9113 section 6.9.1.
    const LARGEST: u64 = (1 << 31) - 1;
    let window = |given: Option<Bytes>, default: u32| match given {
        Some(Bytes(bytes)) => u32::try_from(bytes.min(LARGEST)).unwrap_or(u32::MAX >> 1),
        None => default,
    };
    let streams = match &table.streams {
        Some(streams) => crate::settings::resolve::at_least_one(source, streams, "streams")?,
        None => defaults.streams,
    };
    Ok(Http2 {
        streams,
        stream_window: window(table.stream_window, defaults.stream_window).max(1),
        connection_window: window(table.connection_window, defaults.connection_window).max(65_535),
        ping_interval: match table.ping_interval.map(Duration::from) {
            Some(Duration::ZERO) => None,
            given => given.or(defaults.ping_interval),
        },
    })
}

pub(super) fn forwarding(
    source: &Source,
    style: Option<Style>,
    trusted: Option<&Texts>,
) -> Result<Forwarding, Error> {
    let trusted = trusted.map(|nets| networks(source, nets)).transpose()?.unwrap_or_default();
    Ok(Forwarding { style: style.unwrap_or_default().into(), trusted })
}
