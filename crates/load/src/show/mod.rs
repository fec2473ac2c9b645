//! What users see while a run lasts: [`Show`].
//!
//! A [`Glance`] is made about once a second and given away; views run on threads of their own, at
//! the lowest priority, and nothing that happens to them, a terminal that nobody reads or a scraper
//! that hangs, reaches the measurement.
//!
//! | file | idea |
//! | --- | --- |
//! | `glance` | one look at a run |
//! | `plain` | lines |
//! | `live` | the picture on a terminal |
//! | `prometheus` | the endpoint for scrapers |
//! | `figures`, `theme` | numbers and colours |

pub(crate) mod figures;
pub(crate) mod glance;
mod live;
mod plain;
mod prometheus;
#[cfg(test)]
mod samples;
mod theme;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use self::glance::{Glance, Setting};
use self::plain::Lines;
pub(crate) use self::prometheus::Endpoint;
pub use self::prometheus::{EndpointError, MetricsAddress, MetricsAddressError};
use crate::priority::give_way;

/// Looks that wait for a view that is slow; the next are not shown.
const MOST_WAITING: usize = 4;

/// How long the end of a run waits for its view to give the terminal back.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is shown on standard error while a run lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// The live view on a terminal that it fits on, else lines.
    #[default]
    Auto,
    /// Lines.
    Lines,
    /// Nothing.
    Nothing,
}

/// Whoever looks at a run. Looks are given with [`Show::see`]; dropping it gives the terminal back.
#[derive(Debug)]
pub(crate) struct Show {
    viewer: Option<Viewer>,
    endpoint: Option<Endpoint>,
}

#[derive(Debug)]
struct Viewer {
    looks: Option<SyncSender<Arc<Glance>>>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Show {
    /// Begins to show. Where a view cannot be had the run goes on without it.
    ///
    /// A user who wants the end sends SIGINT to this process, so signals have to be handled before.
    pub(crate) fn start(setting: Setting, view: View, endpoint: Option<Endpoint>) -> Self {
        let metrics = endpoint.as_ref().map(Endpoint::address);
        let viewer = (view != View::Nothing).then(|| Viewer::start(setting.clone(), view, metrics)).flatten();
        let endpoint = endpoint.map(|endpoint| endpoint.serve(setting));
        Self { viewer, endpoint }
    }

    /// Whether anybody looks, so that making a [`Glance`] is worth its while.
    pub(crate) fn is_watched(&self) -> bool {
        self.viewer.is_some() || self.endpoint.is_some()
    }

    /// Gives a look away. Never waits.
    pub(crate) fn see(&self, glance: Glance) {
        let glance = Arc::new(glance);
        if let Some(endpoint) = &self.endpoint {
            endpoint.see(Arc::clone(&glance));
        }
        if let Some(looks) = self.viewer.as_ref().and_then(|viewer| viewer.looks.as_ref()) {
            // A view that is not ready misses a look.
            let _ = looks.try_send(glance);
        }
    }
}

impl Viewer {
    fn start(setting: Setting, view: View, metrics: Option<SocketAddr>) -> Option<Self> {
        let (looks, given) = sync_channel(MOST_WAITING);
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name("view".to_owned()).spawn(move || {
            show(setting, view, metrics, &given);
            drop(end);
        });
        Some(Self { looks: Some(looks), ended, thread: Some(thread.ok()?) })
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.looks = None;
        // One that hangs in a terminal which takes nothing is left behind.
        if let Err(RecvTimeoutError::Disconnected) = self.ended.recv_timeout(PATIENCE)
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn show(setting: Setting, view: View, metrics: Option<SocketAddr>, looks: &Receiver<Arc<Glance>>) {
    give_way();
    if view == View::Auto
        && let Some(screen) = live::open()
        && live::run(screen, setting.clone(), metrics, looks, ask_to_end) == live::End::Closed
    {
        return;
    }
    let lines = Lines::new();
    if let Some(address) = metrics {
        lines.say(&format!("metrics on http://{address}/metrics"));
    }
    while let Ok(glance) = looks.recv() {
        lines.show(&setting, &glance);
    }
    lines.clear();
}

/// As if it came from the terminal, so that there is one way for a run to be interrupted.
fn ask_to_end() {
    let _ = kill_process(getpid(), Signal::INT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_may_be_given_to_nobody_and_to_somebody_slow() {
        let nobody = Show::start(samples::setting(), View::Nothing, None);
        assert!(!nobody.is_watched());
        nobody.see(Glance::default());

        let (looks, given) = sync_channel(MOST_WAITING);
        let (end, ended) = channel();
        let viewer = Viewer { looks: Some(looks), ended, thread: None };
        let show = Show { viewer: Some(viewer), endpoint: None };
        assert!(show.is_watched());
        for _ in 0..MOST_WAITING + 10 {
            show.see(Glance::default());
        }
        drop(end);
        drop(show);
        assert_eq!(given.iter().count(), MOST_WAITING);
    }
}
