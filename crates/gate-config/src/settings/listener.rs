//! `[[listener]]`: where clients connect, and what is spoken there.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::{Error, Place, Source, Spanned};
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::listen_address::ListenAddress;
use crate::settings::text::Texts;
use crate::settings::words::{is_token, networks};

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

/// HTTP/2 as clients name it in the TLS handshake (RFC 9113 section 3.2).
pub const H2: &str = "h2";

/// Which HTTP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocols {
    /// HTTP/1.1.
    pub http1: bool,
    /// HTTP/2.
    pub http2: bool,
}

/// The files of one certificate, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate and those between it and the root.
    pub cert: NamedFile,
    /// The private key.
    pub key: NamedFile,
}

/// A file that the configuration names, and where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// With the directory of the configuration, if it is relative.
    pub path: PathBuf,
    /// Where the configuration names it.
    pub place: Place,
}

/// TLS on a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerTls {
    /// At least one; the first is for clients that name none, or none that is known.
    pub certificates: Vec<CertificateFiles>,
    /// Whether clients are turned away that ask for an unknown name.
    pub strict_names: bool,
}

/// What is known of a listener's certificates once they have been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownCertificates {
    /// Whom they are for.
    pub names: String,
    /// What their operator should know of.
    pub doubts: Vec<String>,
}

/// A listener.
#[derive(Debug, Clone)]
pub struct Listener {
    /// By which systemd and the next gate know its socket.
    pub name: String,
    /// Where it stands.
    pub place: ListenAddress,
    /// Where that is said.
    pub written: Place,
    /// What clients may speak.
    pub protocols: Protocols,
    /// Who must say with the PROXY protocol for whom they connect.
    pub proxies: Vec<IpNet>,
    /// With TLS, or without.
    pub tls: Option<ListenerTls>,
}

impl Protocols {
    /// HTTP/1.1 and HTTP/2.
    pub const BOTH: Self = Self { http1: true, http2: true };

    /// As they are named in the TLS handshake, the best first.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [(self.http2, H2), (self.http1, "http/1.1")]
            .into_iter()
            .filter(|(spoken, _)| *spoken)
            .map(|(_, name)| name)
    }
}

impl Listener {
    /// What `listen` stands for: one without TLS.
    pub fn plain(address: SocketAddr, written: Place) -> Self {
        let (name, place) = (Self::PLAIN.to_owned(), ListenAddress::Tcp(address));
        Self { name, place, written, protocols: Protocols::BOTH, proxies: Vec::new(), tls: None }
    }

    /// The name of what `listen` stands for.
    pub(super) const PLAIN: &str = "listen";

    pub(super) fn stands_like(&self, other: &Self) -> bool {
        let Self { name, place, written: _, protocols, proxies, tls } = self;
        let same = *name == other.name && *place == other.place && *protocols == other.protocols;
        same && *proxies == other.proxies && tls.is_some() == other.tls.is_some()
    }

    /// What clients connect to.
    pub fn url(&self, place: &ListenAddress) -> String {
        match (place, &self.tls) {
            (ListenAddress::Unix(_), _) => place.to_string(),
            (ListenAddress::Tcp(address), Some(_)) => format!("https://{address}"),
            (ListenAddress::Tcp(address), None) => format!("http://{address}"),
        }
    }

    /// One line for `gate check`; `certificates` is what is known of those that were read.
    pub(super) fn describe(&self, certificates: Option<&ShownCertificates>) -> String {
        let protocols: Vec<&str> = self.protocols.names().collect();
        let mut line = format!("{}, {}", self.url(&self.place), protocols.join(" and "));
        if let Some(tls) = &self.tls {
            line += ", TLS";
            if let Some(shown) = certificates {
                line += &format!(" for {}", shown.names);
            }
            line += if tls.strict_names { ", no others" } else { ", the first for all others" };
            for doubt in certificates.iter().flat_map(|shown| &shown.doubts) {
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

/// Adds the listeners of the tables.
pub(super) fn listeners(
    source: &Source,
    directory: &Path,
    tables: &[ListenerTable],
    listeners: &mut Vec<Listener>,
) -> Result<(), Error> {
    for (index, table) in tables.iter().enumerate() {
        let name = match &table.name {
            Some(name) if is_token(name.get_ref()) => name.get_ref().clone(),
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
        Some(path) => ListenAddress::Unix(directory.join(path)),
        None => ListenAddress::Tcp(text.parse().map_err(|_| {
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
    let named = |file: &Spanned<String>| NamedFile {
        path: directory.join(file.get_ref()),
        place: source.place(file.span()),
    };
    let files =
        |table: &CertificateTable| CertificateFiles { cert: named(&table.cert), key: named(&table.key) };
    let tls = (!table.certificate.is_empty()).then(|| ListenerTls {
        certificates: table.certificate.iter().map(files).collect(),
        strict_names: strict.is_some_and(|strict| *strict.get_ref()),
    });
    Ok(Listener {
        name,
        place,
        written: source.place(table.address.span()),
        protocols: protocols.unwrap_or(Protocols::BOTH),
        proxies: proxies.unwrap_or_default(),
        tls,
    })
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
