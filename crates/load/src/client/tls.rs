//! [`Tls`]: how connections are encrypted.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, crypto::ring,
};
use trust::Trusted;

use crate::engine::stream::Stream;
use crate::error::Error;
use crate::settings::options::{Http, Options, TlsVersion};

#[derive(Clone)]
pub(crate) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
    /// Whether the server must agree to speak HTTP/2.
    wants_h2: bool,
}

impl Tls {
    /// # Errors
    /// When the host is not a name that a certificate can be for, or certificates cannot be read.
    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        let host = options.target.server_name().to_owned();
        let name = ServerName::try_from(host.clone())
            .map_err(|_| Error::Tls(format!("{host} is not a name that a certificate can be for")))?;
        let provider = Arc::new(ring::default_provider());
        let versions = match options.protocol.tls {
            None => rustls::ALL_VERSIONS,
            Some(TlsVersion::Tls12) => &[&TLS12],
            Some(TlsVersion::Tls13) => &[&TLS13],
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|error| Error::Tls(error.to_string()))?;
        let builder = if options.protocol.insecure {
            let verifier = Arc::new(AnyCertificate(provider));
            builder.dangerous().with_custom_certificate_verifier(verifier)
        } else {
            let verifier = Arc::new(trusted(options, provider)?);
            builder.dangerous().with_custom_certificate_verifier(verifier)
        };
        let mut config = match &options.protocol.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = (certificates_in(&identity.certificate)?, key_in(&identity.key)?);
                builder.with_client_auth_cert(chain, key).map_err(|error| {
                    Error::Tls(format!("cannot use the key in {}: {error}", identity.key.display()))
                })?
            }
        };
        if !options.protocol.resumption {
            // Every connection is that of a new user, with a new user's costs.
            config.resumption = Resumption::disabled();
        }
        let wants_h2 = options.protocol.http == Http::Http2;
        config.alpn_protocols = vec![if wants_h2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), name, wants_h2 })
    }

    pub(crate) async fn handshake(&self, stream: Stream) -> io::Result<TlsStream<Stream>> {
        let stream = self.connector.connect(self.name.clone(), stream).await.map_err(explained)?;
        let agreed = stream.get_ref().1.alpn_protocol();
        if self.wants_h2 && agreed != Some(b"h2") {
            return Err(io::Error::other("the server does not speak HTTP/2 on this port"));
        }
        Ok(stream)
    }
}

/// The error, with what its user can do about it.
fn explained(error: io::Error) -> io::Error {
    let reason = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match reason {
        Some(rustls::Error::InvalidMessage(_)) => {
            io::Error::other(format!("the server does not seem to speak TLS on this port: {error}"))
        }
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::Other(_)) => io::Error::other(format!(
            "{error}; --cacert trusts its authority, --insecure takes any certificate"
        )),
        _ => error,
    }
}

/// Believes the authorities of the system, and what the user names.
fn trusted(options: &Options, provider: Arc<CryptoProvider>) -> Result<Trusted, Error> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(system.certs);
    let mut named = Vec::new();
    if let Some(path) = &options.protocol.authorities {
        named = certificates_in(path)?;
        for certificate in &named {
            roots.add(certificate.clone()).map_err(|error| unreadable(path, &error))?;
        }
    }
    Trusted::new(Arc::new(roots), named, provider).map_err(|_| {
        Error::Tls(
            "this machine has no CA certificates to check the server's own against; install them (Debian has them in ca-certificates), or name them with --cacert".to_owned(),
        )
    })
}

/// At least one.
fn certificates_in(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_reader_iter(BufReader::new(file)).collect();
    match all {
        Ok(all) if all.is_empty() => Err(unreadable(path, &"it has no certificate; it must be PEM")),
        Ok(all) => Ok(all),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, why: &dyn Display) -> Error {
    Error::Tls(format!("cannot read certificates from {}: {why}", path.display()))
}

fn key_in(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_file(path)
        .map_err(|error| Error::Tls(format!("cannot read a key from {}: {error}", path.display())))
}

/// Takes every certificate, as its user asked.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
