//! [`Trusted`]: whose certificates are believed. Authorities are, and servers whose own certificate is at hand.
//!
//! `openssl req -x509` makes, unless it is told otherwise, a certificate that says to be one of an authority. Those who
//! try something give it to a server and to its clients, and most clients (OpenSSL's, Go's) take it: who has the very
//! certificate at hand needs no authority to vouch for it. RFC 5280 section 4.2.1.9 is about who may sign others, which it need
//! not; webpki refuses it nevertheless. What else it says of its use (extended key usage) is not looked at then.

use std::fmt;
use std::sync::Arc;

use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

/// Believes the chains of some authorities, and some certificates as they are.
#[derive(Debug)]
pub struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    /// Those that are believed as they are.
    own: Vec<CertificateDer<'static>>,
}

/// A certificate says to be one of an authority, and is not among those at hand.
#[derive(Debug)]
struct OfAuthority;

impl fmt::Display for OfAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the server shows the certificate of an authority (CA:TRUE), which is believed only where it is at hand itself",
        )
    }
}

impl std::error::Error for OfAuthority {}

impl Trusted {
    /// Believes what `roots` vouch for, and those of `own`, which are among the roots, as they are.
    ///
    /// # Errors
    /// When there is no root.
    pub fn new(
        roots: Arc<RootCertStore>,
        own: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let chains = WebPkiServerVerifier::builder_with_provider(roots, provider).build()?;
        Ok(Self { chains, own })
    }
}

/// Whether this alone is wrong: it is one of an authority. That it is valid now has been looked at before.
fn is_of_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(why))) = error else { return false };
    matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.chains.verify_server_cert(shown, between, name, ocsp, now) {
            Err(error) if is_of_authority(&error) => {}
            verified => return verified,
        }
        if !self.own.contains(shown) {
            // As one of rustls' own about certificates it would be shown as Rust writes it.
            return Err(Error::Other(OtherError(Arc::new(OfAuthority))));
        }
        verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
    use std::time::Duration;
    use tokio_rustls::rustls::crypto::ring;

    /// Days since 1970 of the years that certificates are made for here.
    const IN_2030: Duration = Duration::from_secs(60 * 365 * 86_400);
    const IN_2050: Duration = Duration::from_secs(80 * 365 * 86_400 + 30 * 86_400);

    /// As `openssl req -x509` makes one.
    fn own(name: &str, is_ca: IsCa) -> CertificateDer<'static> {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.is_ca = is_ca;
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2040, 1, 1));
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().into()
    }

    fn trusting(own: &CertificateDer<'static>) -> Trusted {
        let mut roots = RootCertStore::empty();
        roots.add(own.clone()).unwrap();
        Trusted::new(Arc::new(roots), vec![own.clone()], Arc::new(ring::default_provider())).unwrap()
    }

    fn verify(trusted: &Trusted, shown: &CertificateDer<'_>, name: &str, now: Duration) -> Result<(), Error> {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        trusted.verify_server_cert(shown, &[], &name, &[], UnixTime::since_unix_epoch(now)).map(drop)
    }

    #[test]
    fn the_very_certificate_is_believed_whatever_it_says_of_authorities() {
        for is_ca in [IsCa::Ca(BasicConstraints::Unconstrained), IsCa::ExplicitNoCa, IsCa::NoCa] {
            let shown = own("shop.test", is_ca);
            let trusted = trusting(&shown);
            verify(&trusted, &shown, "shop.test", IN_2030).unwrap();
            let other = verify(&trusted, &shown, "other.test", IN_2030).unwrap_err();
            assert!(other.to_string().contains("other.test"), "{other}");
            let late = verify(&trusted, &shown, "shop.test", IN_2050).unwrap_err();
            assert!(late.to_string().contains("expired"), "{late}");
        }
    }

    #[test]
    fn another_that_says_the_same_is_not() {
        let authority = || own("shop.test", IsCa::Ca(BasicConstraints::Unconstrained));
        let error = verify(&trusting(&authority()), &authority(), "shop.test", IN_2030).unwrap_err();
        assert!(error.to_string().contains("certificate of an authority (CA:TRUE)"), "{error}");
    }

    #[test]
    fn without_any_root_nothing_can_be_believed() {
        let none = Arc::new(RootCertStore::empty());
        assert!(Trusted::new(none, Vec::new(), Arc::new(ring::default_provider())).is_err());
    }
}
