//! TLS to servers, and [`Line`], a connection with or without it.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::settings::upstream::Http;

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
    /// Those in a file of PEM, and no others; without one those of the system.
    ///
    /// # Errors
    /// What is wrong with the file, in words.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        match file {
            None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
            Some(path) => {
                let read = CertificateDer::pem_file_iter(path).map_err(|why| why.to_string())?;
                for certificate in read {
                    let certificate = certificate.map_err(|why| why.to_string())?;
                    roots.add(certificate).map_err(|why| why.to_string())?;
                }
                if roots.is_empty() {
                    return Err("there is no certificate in it".to_owned());
                }
            }
        }
        let roots = Arc::new(roots);
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|why| why.to_string())?
            .with_root_certificates(Arc::clone(&roots))
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
        socket: TcpStream,
    ) -> io::Result<Line> {
        let connector = if http == Http::Two { &self.http2 } else { &self.http1 };
        let stream = connector.connect(name, socket).await?;
        if http == Http::Two && stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it does not speak HTTP/2 on this port"));
        }
        Ok(Line::Encrypted(Box::new(stream)))
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(crate) enum Line {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Calls a method of the stream, whichever it is.
macro_rules! of_line {
    ($line:ident.$method:ident($($argument:expr),*)) => {
        match $line.get_mut() {
            Line::Plain(stream) => Pin::new(stream).$method($($argument),*),
            Line::Encrypted(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for Line {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        of_line!(self.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Line {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        of_line!(self.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        of_line!(self.poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_line!(self.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_line!(self.poll_shutdown(cx))
    }
}
