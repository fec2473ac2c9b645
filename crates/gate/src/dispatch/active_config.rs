//! [`ActiveConfig`]: the configuration in force and what follows from it, replaced as a whole when it is read again.

use std::io;

use http::HeaderValue;

use crate::dispatch::refusal::Refusals;
use crate::session::cookies::{Secret, Sessions};
use gate_config::settings::root::Settings;

/// What follows from the configuration. A request keeps the one it began with, so that it never
/// sees half of a change; what has a state of its own (the policy, the pool, the guard) is told of
/// the change by [`reload`](mod@crate::process::reload) instead.
#[derive(Debug)]
pub(crate) struct ActiveConfig {
    pub(crate) settings: Settings,
    pub(crate) sessions: Sessions,
    pub(crate) refusals: Refusals,
    /// What HTTP/1.0 clients, who name no host, have asked for.
    pub(crate) authority: HeaderValue,
}

impl ActiveConfig {
    /// `left` is the secret that the gate before this one had made up.
    pub(crate) fn new(settings: Settings, left: Option<Secret>) -> io::Result<Self> {
        let sessions = Sessions::new(settings.session.clone(), &settings.classes, left)?;
        Ok(Self::with(settings, sessions))
    }

    /// The one to follow this one. Sessions that began under this one go on.
    pub(crate) fn next(&self, settings: Settings) -> io::Result<Self> {
        let sessions = self.sessions.next(settings.session.clone(), &settings.classes)?;
        Ok(Self::with(settings, sessions))
    }

    fn with(settings: Settings, sessions: Sessions) -> Self {
        let authority = HeaderValue::from_str(settings.upstream.name())
            .unwrap_or_else(|_| HeaderValue::from_static("localhost"));
        Self {
            sessions,
            refusals: Refusals::new(settings.reject.clone(), settings.pages.clone()),
            authority,
            settings,
        }
    }
}
