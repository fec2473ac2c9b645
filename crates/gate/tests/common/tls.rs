//! Certificates for a gate, and clients of TLS and HTTP/2.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use rustls_pki_types::{CertificateDer, ServerName};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A certificate in files, signed by itself.
pub(crate) struct Identity {
    directory: TempDir,
    pub(crate) certificate: CertificateDer<'static>,
}

impl Identity {
    pub(crate) fn new(names: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let certificate = write(&directory, names, |_| {});
        Self { directory, certificate }
    }

    /// Puts another certificate into the files.
    pub(crate) fn renew(&mut self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) {
        self.certificate = write(&self.directory, names, change);
    }

    pub(crate) fn cert(&self) -> PathBuf {
        self.directory.path().join("cert.pem")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.directory.path().join("key.pem")
    }

    /// The certificate as an inline table.
    pub(crate) fn table(&self) -> String {
        format!("{{ cert = '{}', key = '{}' }}", self.cert().display(), self.key().display())
    }

    /// A listener with this certificate alone.
    pub(crate) fn listener(&self) -> String {
        format!("[[listener]]\naddress = '127.0.0.1:0'\ncertificate = [{}]\n", self.table())
    }
}

fn write(
    directory: &TempDir,
    names: &[&str],
    change: impl FnOnce(&mut CertificateParams),
) -> CertificateDer<'static> {
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    change(&mut params);
    let certificate = params.self_signed(&key).unwrap();
    std::fs::write(directory.path().join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(directory.path().join("key.pem"), key.serialize_pem()).unwrap();
    certificate.der().clone()
}

/// A thread that runs what clients do while the test looks elsewhere.
static CLIENTS: LazyLock<Handle> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
});

/// Runs a client to its end.
#[track_caller]
pub(crate) fn run<T>(client: impl Future<Output = T>) -> T {
    let ended = CLIENTS.block_on(async { tokio::time::timeout(testkit::PATIENCE, client).await });
    ended.unwrap_or_else(|_| panic!("a client did not end in time"))
}

/// Starts a client.
pub(crate) fn start<T: Send + 'static>(client: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    CLIENTS.spawn(client)
}

/// How a client does TLS: it trusts only `trusted`, and names `protocols`.
pub(crate) fn client(trusted: &CertificateDer<'static>, protocols: &[&str]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

pub(crate) async fn connect(
    to: SocketAddr,
    name: &str,
    config: &Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    over(TcpStream::connect(to).await?, name, config).await
}

/// TLS over a connection.
pub(crate) async fn over(
    socket: TcpStream,
    name: &str,
    config: &Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::clone(config)).connect(name, socket).await
}

pub(crate) type Body = Full<Bytes>;

/// HTTP/2 over a connection.
pub(crate) async fn h2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> http2::SendRequest<Body> {
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// HTTP/1.1 over a connection.
pub(crate) async fn h1(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> http1::SendRequest<Body> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// A request without a body.
pub(crate) fn get(url: &str) -> Request<Body> {
    Request::get(url).body(Body::default()).unwrap()
}

/// The whole body as text.
pub(crate) async fn text(response: Response<Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

/// A client of HTTP/2 that sees its frames; its windows are of that size, and never opened again unless the test does so.
pub(crate) fn framed(address: SocketAddr, window: u32) -> h2::client::SendRequest<Bytes> {
    run(async move {
        let socket = TcpStream::connect(address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        let (client, connection) =
            builder.initial_window_size(window).handshake::<_, Bytes>(socket).await.unwrap();
        start(connection);
        client
    })
}
