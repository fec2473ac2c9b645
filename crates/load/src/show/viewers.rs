//! [`Viewers`]: everything that looks at a run while it lasts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use telemetry::Endpoint;
use tui::{End, Viewer, ask_to_end};

use super::live;
use super::plain::Lines;
use super::prometheus::Metrics;
use super::snapshot::{Setting, Snapshot};
use crate::settings::view::View;

/// The views and the endpoint of a run. Snapshots are given with [`Viewers::see`]; dropping it gives the terminal back.
#[derive(Debug)]
pub(crate) struct Viewers {
    viewer: Option<Viewer<Arc<Snapshot>>>,
    metrics: Option<Metrics>,
}

impl Viewers {
    /// Begins to show. Where a view cannot be had the run goes on without it.
    ///
    /// A user who wants the end sends SIGINT to this process, so signals have to be handled before.
    pub(crate) fn start(setting: Setting, view: View, endpoint: Option<Endpoint>) -> Self {
        let metrics = endpoint.map(|endpoint| Metrics::serve(setting.clone(), endpoint));
        let address = metrics.as_ref().map(Metrics::address);
        let start = || Viewer::start(move |looks| show(setting, view, address, looks));
        let viewer = (view != View::Nothing).then(start).flatten();
        Self { viewer, metrics }
    }

    /// Whether anybody looks, so that making a [`Snapshot`] is worth its while.
    pub(crate) fn is_watched(&self) -> bool {
        self.viewer.is_some() || self.metrics.is_some()
    }

    /// Gives a look away. Never waits.
    pub(crate) fn see(&self, glance: Snapshot) {
        let glance = Arc::new(glance);
        if let Some(metrics) = &self.metrics {
            metrics.see(Arc::clone(&glance));
        }
        if let Some(viewer) = &self.viewer {
            viewer.see(glance);
        }
    }
}

fn show(setting: Setting, view: View, metrics: Option<SocketAddr>, looks: &Receiver<Arc<Snapshot>>) {
    if view == View::Auto
        && let Some(screen) = live::open()
        && live::run(screen, setting.clone(), metrics, looks, ask_to_end) == End::Closed
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

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn snapshots_may_be_given_to_no_viewer() {
        let unwatched = Viewers::start(samples::setting(), View::Nothing, None);
        assert!(!unwatched.is_watched());
        unwatched.see(Snapshot::default());
    }
}
