//! [`Reloads`]: where the configuration can be read again, and how often that was done.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::process::credentials::Credentials;
use crate::runtime::log::say;
use gate_config::settings::root::Settings;

/// Reads the configuration; the error says why not, with file and line.
type Read = dyn Fn() -> Result<Settings, String> + Send + Sync;

/// Where the configuration comes from.
#[derive(Clone)]
pub(crate) struct Source(pub(super) Arc<Read>);

impl Source {
    pub(crate) fn new(read: impl Fn() -> Result<Settings, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Says so when the configuration cannot be read again as the user that the gate has become: it would be heard of
    /// months later, when a secret or a certificate is renewed.
    pub(crate) fn try_as(&self, user: &str) {
        let read =
            (self.0)().and_then(|settings| Credentials::open(&settings).map_err(|why| why.to_string()));
        if let Err(why) = read {
            say!("a reload would fail, because \"{user}\" cannot read what root can: {why}");
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

/// How often the configuration was read again.
#[derive(Debug, Default)]
pub(crate) struct Reloads {
    pub(super) source: Option<Source>,
    pub(super) one_at_a_time: Mutex<()>,
    pub(super) done: Cell<u64>,
    pub(super) refused: Cell<u64>,
}

impl Reloads {
    pub(crate) fn from(source: Option<Source>) -> Self {
        Self { source, ..Self::default() }
    }

    /// With success, and in vain.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.done.get(), self.refused.get())
    }
}
