//! SIGINT and SIGTERM: how the commands that run until somebody ends them are ended; and SIGUSR1, which asks for something else.

use std::thread;

use anyhow::Context;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Both signals, watched from the moment this exists.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Watches; has to be called inside of a runtime.
    pub(crate) fn watch() -> anyhow::Result<Self> {
        let watch = |kind| signal(kind).context("cannot watch for SIGINT and SIGTERM");
        Ok(Self { interrupt: watch(SignalKind::interrupt())?, terminate: watch(SignalKind::terminate())? })
    }

    /// The number of the next one.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
        }
    }
}

/// A runtime that does no more than watch.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    Builder::new_current_thread().enable_io().build().context("cannot watch for signals")
}

/// Calls `act` with the number of each, on a thread of its own.
pub(crate) fn on_each(act: impl Fn(u8) + Send + 'static) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::watch()?
    };
    thread::spawn(move || {
        loop {
            act(runtime.block_on(signals.next()));
        }
    });
    Ok(())
}

/// Calls `act` at each SIGUSR1, on a thread of its own.
pub(crate) fn on_user_signal(act: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let mut signals = {
        let _inside = runtime.enter();
        signal(SignalKind::user_defined1()).context("cannot watch for SIGUSR1")?
    };
    thread::spawn(move || {
        while runtime.block_on(signals.recv()).is_some() {
            act();
        }
    });
    Ok(())
}
