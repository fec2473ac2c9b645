//! Signals that do not end the gate: SIGHUP reads the configuration again, SIGUSR1 opens the
//! access log again. The caller of the gate sees to those that end it.

use std::io;
use std::rc::Rc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::process::gate::Gate;
use crate::process::reload::reload;

/// Both signals, watched from the moment this exists: before that, they would end the process.
#[derive(Debug)]
pub(crate) struct Signals {
    hangup: Signal,
    user: Signal,
}

impl Signals {
    /// Watches; has to be called inside of a runtime.
    ///
    /// # Errors
    /// When the system does not let it.
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self { hangup: signal(SignalKind::hangup())?, user: signal(SignalKind::user_defined1())? })
    }

    /// Obeys them for as long as it is polled.
    pub(crate) async fn obey(mut self, gate: Rc<Gate>) {
        loop {
            tokio::select! {
                _ = self.hangup.recv() => {
                    gate.access_log.reopen();
                    // Why not, if it does not, it says itself.
                    let _ = reload(&gate, "SIGHUP").await;
                }
                _ = self.user.recv() => gate.access_log.reopen(),
            }
        }
    }
}
