//! [`Certificates`]: which certificate a client is shown, and reading them again.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rustls_pki_types::UnixTime;
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use crate::downstream::certificate::{self, Certificate, Doubt, Unusable};
use gate_config::settings::listener::{ListenerTls, ShownCertificates};

/// The certificates of one listener. They can be replaced while connections are accepted.
#[derive(Debug)]
pub(crate) struct Certificates(RwLock<Arc<Store>>);

#[derive(Debug)]
struct Store {
    /// Whether clients are turned away that ask for a name which no certificate has, or for none.
    strict: bool,
    certificates: Vec<Certificate>,
    /// Positions in `certificates`: a name may have one of RSA and one of ECDSA.
    by_name: HashMap<String, Vec<usize>>,
}

impl Certificates {
    /// Reads them all; the first is for clients that name none, or none that is known.
    pub(crate) fn read(tls: &ListenerTls) -> Result<Self, Unusable> {
        Ok(Self(RwLock::new(Arc::new(Store::read(tls)?))))
    }

    /// Whether others can take their place.
    ///
    /// # Errors
    /// When clients object to one of them, and to none of these.
    pub(crate) fn may_follow(&self, next: &Self) -> Result<(), Unusable> {
        let grave = |store: &Store| store.doubts().find(|doubt| doubt.grave).cloned();
        match (grave(&next.store()), grave(&self.store())) {
            (Some(doubt), None) => Err(doubt.what),
            _ => Ok(()),
        }
    }

    /// Takes over others, for all handshakes from now on.
    pub(crate) fn follow(&self, next: &Self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = next.store();
    }

    /// Whether clients are shown the chains of `other`.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.store(), other.store());
        let chains = |store: &Arc<Store>| store.certificates.iter().map(|one| one.key.cert.clone()).collect();
        let [mine, theirs]: [Vec<_>; 2] = [chains(&mine), chains(&theirs)];
        mine == theirs
    }

    /// What `gate check` says of them.
    pub(crate) fn shown(&self) -> ShownCertificates {
        let store = self.store();
        let names = store.certificates.iter().map(|certificate| match certificate.names.is_empty() {
            true => "a certificate without a name".to_owned(),
            false => certificate.names.join(" "),
        });
        ShownCertificates {
            names: names.collect::<Vec<_>>().join("; "),
            doubts: store.doubts().map(|doubt| doubt.what.to_string()).collect(),
        }
    }

    fn store(&self) -> Arc<Store> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Store {
    fn read(tls: &ListenerTls) -> Result<Self, Unusable> {
        let now = UnixTime::now();
        let certificates: Vec<Certificate> =
            tls.certificates.iter().map(|files| certificate::read(files, now)).collect::<Result<_, _>>()?;
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, certificate) in certificates.iter().enumerate() {
            for name in &certificate.names {
                by_name.entry(name.clone()).or_default().push(position);
            }
        }
        Ok(Self { strict: tls.strict_names, certificates, by_name })
    }

    fn doubts(&self) -> impl Iterator<Item = &Doubt> {
        self.certificates.iter().filter_map(|certificate| certificate.doubt.as_ref())
    }

    /// Certificates for a name: its own, else those of the domain's `*` (RFC 9525 section 6.3).
    fn named(&self, name: &str) -> Option<&Vec<usize>> {
        let name = name.to_ascii_lowercase();
        self.by_name.get(&name).or_else(|| {
            let (_, domain) = name.split_once('.')?;
            self.by_name.get(&format!("*.{domain}"))
        })
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let store = self.store();
        let named = hello.server_name().and_then(|name| store.named(name));
        if named.is_none() && store.strict {
            return None;
        }
        let usable = |certificate: &&Certificate| {
            certificate.key.key.choose_scheme(hello.signature_schemes()).is_some()
        };
        let found = match named {
            Some(positions) => {
                let mut candidates =
                    positions.iter().filter_map(|position| store.certificates.get(*position));
                candidates.clone().find(usable).or_else(|| candidates.next())
            }
            None => store.certificates.iter().find(usable),
        };
        found.or(store.certificates.first()).map(|certificate| Arc::clone(&certificate.key))
    }
}
