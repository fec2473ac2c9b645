//! [`Wait`]: the command line waits for a simulation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use sim::{Control, Plan, Precision};

use super::view::View;
use crate::exit::{Exit, Failure};
use crate::signals;

/// Shows how far a simulation is, and ends it on SIGINT and SIGTERM: what is known then is its outcome.
pub(super) struct Wait {
    stop: Arc<Stop>,
    view: View,
    /// Replications at most.
    all: u32,
}

#[derive(Debug, Default)]
struct Stop {
    flag: AtomicBool,
    /// Its number; 0 while there was none.
    signal: AtomicU8,
}

impl Wait {
    /// Shows nothing when `quiet`. A second signal ends the process at once.
    pub(super) fn new(plan: &Plan, quiet: bool) -> Result<Self, Failure> {
        let what = if plan.ends_early() { "replications at most" } else { "replications" };
        let (stop, view) = (Arc::new(Stop::default()), View::new(what, quiet));
        let (shared, bar) = (Arc::clone(&stop), view.bar());
        let act = move |signal| {
            if shared.flag.swap(true, Ordering::Relaxed) {
                bar.abandon();
                std::process::exit(128 + i32::from(signal));
            }
            shared.signal.store(signal, Ordering::Relaxed);
        };
        signals::on_each(act).map_err(Failure::Failed)?;
        Ok(Self { stop, view, all: plan.replications })
    }

    /// Simulates.
    pub(super) fn during<T, E: Into<anyhow::Error>>(
        &self,
        simulate: impl FnOnce(Control<'_>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let tell = |done: u32| self.view.tell(done as usize, self.all as usize);
        let outcome = simulate(Control { stop: &self.stop.flag, tell: &tell });
        self.view.end();
        outcome.map_err(|why| Failure::Usage(why.into()))
    }

    /// How a command ends that was ended early.
    pub(super) fn interrupted(&self) -> Option<Exit> {
        match self.stop.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(Exit::Interrupted { signal }),
        }
    }

    /// How a command ends whose outcome is as precise as that.
    pub(super) fn exit(&self, precision: Precision) -> Exit {
        let verdict = if precision.is_enough() { Exit::Ok } else { Exit::NotValid };
        self.interrupted().unwrap_or(verdict)
    }
}
