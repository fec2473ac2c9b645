//! [`Credentials`]: what is read from the files of certificates that the settings name.

use std::sync::Arc;

use crate::downstream::certificate::Unusable;
use crate::downstream::certificates::Certificates;
use crate::upstream::tls::Authorities;
use gate_config::settings::listener::{Listener, ListenerTls, ShownCertificates};
use gate_config::settings::root::Settings;

/// Certificates that clients are shown, and those that servers' are checked against. Each file is opened
/// once: at the start, and when the configuration is read again.
#[derive(Debug)]
pub(crate) struct Credentials {
    /// Of each listener.
    pub(crate) certificates: Vec<Option<Arc<Certificates>>>,
    /// None where no server speaks TLS.
    pub(crate) authorities: Option<Authorities>,
}

impl Credentials {
    /// Opens all files.
    ///
    /// # Errors
    /// What is wrong with one of them, with the line that names it.
    pub(crate) fn open(settings: &Settings) -> Result<Self, config::Error> {
        let listener = |listener: &Listener| listener.tls.as_ref().map(certificates).transpose();
        let certificates = settings.listeners.iter().map(listener).collect::<Result<_, _>>()?;
        let upstream = &settings.upstream;
        let authorities = upstream.speaks_tls().then(|| Authorities::read(upstream)).transpose()?;
        Ok(Self { certificates, authorities })
    }

    /// What `gate check` says of each listener's certificates.
    pub(crate) fn shown(&self) -> Vec<Option<ShownCertificates>> {
        self.certificates.iter().map(|all| all.as_ref().map(|all| all.shown())).collect()
    }

    /// Names of what is different in `next`.
    pub(crate) fn differences(&self, next: &Self) -> impl Iterator<Item = String> + use<> {
        let certificates = self.pairs(next).all(|(mine, theirs)| mine.same(theirs));
        let different =
            [("certificates", certificates), ("authorities", self.authorities == next.authorities)];
        different.into_iter().filter(|(_, same)| !same).map(|(name, _)| name.to_owned())
    }

    /// Whether the certificates of `next` can take the place of these.
    ///
    /// # Errors
    /// When clients object to one of them, and to none of these.
    pub(crate) fn may_be_followed_by(&self, next: &Self) -> Result<(), Unusable> {
        self.pairs(next).try_for_each(|(used, next)| used.may_follow(next))
    }

    /// Goes on with `next`, from the next handshake on.
    pub(crate) fn follow(&mut self, next: Self) {
        self.pairs(&next).for_each(|(used, next)| used.follow(next));
        self.authorities = next.authorities;
    }

    fn pairs<'a>(
        &'a self,
        next: &'a Self,
    ) -> impl Iterator<Item = (&'a Arc<Certificates>, &'a Arc<Certificates>)> {
        let both = self.certificates.iter().zip(&next.certificates);
        both.filter_map(|(mine, theirs)| mine.as_ref().zip(theirs.as_ref()))
    }
}

fn certificates(tls: &ListenerTls) -> Result<Arc<Certificates>, config::Error> {
    Certificates::read(tls).map(Arc::new).map_err(|Unusable { file, what, mend }| {
        let mut named = tls.certificates.iter().flat_map(|files| [&files.cert, &files.key]);
        let what = format!("{}: {what}", file.display());
        let place = named.find(|named| named.path == file).map(|named| &named.place);
        place
            .map_or_else(|| config::Place::outside("gate").error(&what), |place| place.error(&what))
            .mend(mend)
    })
}
