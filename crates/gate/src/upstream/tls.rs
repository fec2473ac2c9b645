//! TLS to servers, and [`Transport`], a connection with or without it.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use config::Place;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use trust::Trusted;

use crate::runtime::stream::Stream;
use gate_config::settings::listener::NamedFile;
use gate_config::settings::upstream::{Http, Upstream};

/// Whose certificates are believed.
#[derive(Clone)]
pub(crate) struct Authorities {
    roots: Arc<RootCertStore>,
    http1: TlsConnector,
    http2: TlsConnector,
}

impl std::fmt::Debug for Authorities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorities").finish_non_exhaustive()
    }
}

impl PartialEq for Authorities {
    fn eq(&self, other: &Self) -> bool {
        self.roots.roots == other.roots.roots
    }
}

impl Authorities {
    /// Those that are configured, or those of the system.
    ///
    /// # Errors
    /// When the file cannot be used, or the system has none: no server could be believed then.
    pub(crate) fn read(settings: &Upstream) -> Result<Self, config::Error> {
        let Some(NamedFile { path, place }) = &settings.ca_file else {
            return Self::believing(of_system(), Vec::new()).map_err(|_| no_system(settings));
        };
        let unusable = |why| place.error(format!("cannot use {}: {why}", path.display()));
        let (roots, named) = of_file(path).map_err(unusable)?;
        Self::believing(roots, named).map_err(unusable)
    }

    fn believing(roots: RootCertStore, own: Vec<CertificateDer<'static>>) -> Result<Self, String> {
        let (roots, provider) = (Arc::new(roots), Arc::new(ring::default_provider()));
        let trusted = Trusted::new(Arc::clone(&roots), own, Arc::clone(&provider))
            .map_err(|_| "there is no certificate in it")?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|why| why.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trusted))
            .with_no_client_auth();
        let speaking = |protocol: &str| {
            let mut config = config.clone();
            config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
            TlsConnector::from(Arc::new(config))
        };
        Ok(Self { roots, http1: speaking("http/1.1"), http2: speaking("h2") })
    }

    /// Agrees on TLS with the server of that name.
    pub(super) async fn greet(
        &self,
        name: ServerName<'static>,
        http: Http,
        socket: Stream,
    ) -> io::Result<Transport> {
        let connector = if http == Http::Two { &self.http2 } else { &self.http1 };
        let stream = connector.connect(name, socket).await?;
        if http == Http::Two && stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it does not speak HTTP/2 on this port"));
        }
        Ok(Transport::Tls(Box::new(stream)))
    }
}

/// As roots, and as they are.
fn of_file(path: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let (mut roots, mut own) = (RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_file_iter(path).map_err(|why| why.to_string())? {
        let certificate = certificate.map_err(|why| why.to_string())?;
        roots.add(certificate.clone()).map_err(|why| why.to_string())?;
        own.push(certificate);
    }
    Ok((roots, own))
}

fn of_system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// Without them every server would be taken for a stranger, one request after the other.
fn no_system(settings: &Upstream) -> config::Error {
    let secure = settings.servers.iter().find(|server| server.tls.is_some());
    let place = secure.map_or_else(|| Place::outside("gate"), |server| server.written.clone());
    place
        .error("a server speaks TLS, and this machine has no CA certificates to check its own against")
        .mend("install them (Debian has them in ca-certificates), or name a file with ca-file in [upstream]")
}

/// A connection to a server.
#[derive(Debug)]
pub(crate) enum Transport {
    Plain(Stream),
    Tls(Box<TlsStream<Stream>>),
}

/// Calls a method of the plain or encrypted stream.
macro_rules! of_transport {
    ($transport:ident.$method:ident($($argument:expr),*)) => {
        match $transport.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).$method($($argument),*),
            Transport::Tls(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        of_transport!(self.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        of_transport!(self.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        of_transport!(self.poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_transport!(self.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_transport!(self.poll_shutdown(cx))
    }
}
