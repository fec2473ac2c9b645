//! One certificate with its key: read from files, and checked before anybody is shown it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls;
use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{CertificateError, InconsistentKeys, RootCertStore};

use gate_config::settings::listener::CertificateFiles;

/// Why a certificate cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}; {mend}", file = .file.display())]
pub struct Unusable {
    /// The certificate or its key.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub mend: &'static str,
}

/// A certificate that can be used.
#[derive(Debug, Clone)]
pub(crate) struct Certificate {
    /// In lower case; may begin with `*.`.
    pub(crate) names: Vec<String>,
    pub(crate) key: Arc<CertifiedKey>,
    /// What is to be told of it although it can be used.
    pub(crate) doubt: Option<Doubt>,
}

/// What is to be told of a certificate.
#[derive(Debug, Clone)]
pub(crate) struct Doubt {
    pub(crate) what: Unusable,
    /// Whether clients object to it already.
    pub(crate) grave: bool,
}

/// When only this much is left, its operator is told. Some certificates are made for six days.
const SOON: Duration = Duration::from_secs(3 * 24 * 3600);

/// Reads and checks both. An expired certificate is one with a doubt: at the start of a gate it
/// is better than none.
pub(crate) fn read(files: &CertificateFiles, now: UnixTime) -> Result<Certificate, Unusable> {
    let unusable = |what: String, mend| Unusable { file: files.cert.path.clone(), what, mend };
    let chain = CertificateDer::pem_file_iter(&files.cert.path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|why| unreadable(&files.cert.path, why, "certificate"))?;
    let Some(first) = chain.first() else {
        return Err(unreadable(&files.cert.path, pem::Error::NoItemsFound, "certificate"));
    };
    let names = names(first).map_err(|why| {
        unusable(format!("the first certificate cannot be understood: {why}"), "the server's own comes first")
    })?;
    let key = PrivateKeyDer::from_pem_file(&files.key.path)
        .map_err(|why| unreadable(&files.key.path, why, "private key"))?;
    let provider = ring::default_provider();
    let grave = objection(first, &provider, now);
    let soon = || expiry(first, &provider, now);
    let doubt = match grave {
        Some((what, mend)) => Some(Doubt { what: unusable(what, mend), grave: true }),
        None => soon().map(|what| Doubt { what: unusable(what, RENEW), grave: false }),
    };
    let key = CertifiedKey::from_der(chain, key, &provider).map_err(|why| match why {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => unusable(
            format!("the key in {} is not that of the first certificate", files.key.path.display()),
            "the server's own certificate comes first, then those of its issuers; give the key it was made for",
        ),
        why => Unusable {
            file: files.key.path.clone(),
            what: format!("this key cannot be used: {why}"),
            mend: "RSA of 2048 bits or more, ECDSA P-256 or P-384 and Ed25519 can",
        },
    })?;
    Ok(Certificate { names, key: Arc::new(key), doubt })
}

fn unreadable(file: &Path, why: pem::Error, kind: &str) -> Unusable {
    let (what, mend) = match why {
        pem::Error::Io(why) => (format!("cannot be read: {why}"), "check the path and who may read it"),
        pem::Error::NoItemsFound => {
            (format!("holds no {kind}"), "give a PEM file, which has lines like -----BEGIN CERTIFICATE-----")
        }
        why => (format!("is not PEM: {why}"), "openssl x509 and openssl pkey write PEM"),
    };
    Unusable { file: file.to_owned(), what, mend }
}

fn names(certificate: &CertificateDer<'_>) -> Result<Vec<String>, webpki::Error> {
    let parsed = webpki::EndEntityCert::try_from(certificate)?;
    Ok(parsed.valid_dns_names().map(str::to_ascii_lowercase).collect())
}

const RENEW: &str = "renew it, then let the gate read its certificates again";

fn days(seconds: u64) -> u64 {
    seconds / (24 * 3600)
}

/// Without a root nothing can be trusted; what is wrong with the certificate itself is found before
/// that matters.
fn verify(
    certificate: &CertificateDer<'_>,
    provider: &CryptoProvider,
    at: UnixTime,
) -> Result<(), rustls::Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let algorithms = provider.signature_verification_algorithms.all;
    verify_server_cert_signed_by_trust_anchor(&parsed, &RootCertStore::empty(), &[], at, algorithms)
}

/// What clients object to, whatever authorities they trust.
fn objection(
    certificate: &CertificateDer<'_>,
    provider: &CryptoProvider,
    now: UnixTime,
) -> Option<(String, &'static str)> {
    let Err(rustls::Error::InvalidCertificate(why)) = verify(certificate, provider, now) else { return None };
    let now = now.as_secs();
    match why {
        CertificateError::ExpiredContext { not_after, .. } => {
            let ago = days(now.saturating_sub(not_after.as_secs()));
            Some((format!("the certificate expired {ago} days ago"), RENEW))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            let ahead = days(not_before.as_secs().saturating_sub(now));
            Some((
                format!("the certificate is valid in {ahead} days only"),
                "check the clock of this machine",
            ))
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            Some(("the certificate is not one for servers".to_owned(), "ask for one with serverAuth"))
        }
        _ => None,
    }
}

/// That it expires soon.
fn expiry(certificate: &CertificateDer<'_>, provider: &CryptoProvider, now: UnixTime) -> Option<String> {
    let now = now.as_secs();
    let soon = UnixTime::since_unix_epoch(Duration::from_secs(now) + SOON);
    match verify(certificate, provider, soon) {
        Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            let left = days(not_after.as_secs().saturating_sub(now));
            Some(format!("the certificate expires in {left} days"))
        }
        _ => None,
    }
}
