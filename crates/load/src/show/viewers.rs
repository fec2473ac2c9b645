//! [`Viewers`]: everything that looks at a run while it lasts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use telemetry::otlp::Collector;
use telemetry::{Endpoint, Publisher};
use tui::{End, Viewer, ask_to_end};
use units::Time;

use super::live::screen;
use super::metrics;
use super::plain::Lines;
use super::snapshot::{Setting, Snapshot};
use crate::settings::view::View;

/// The views of a run, its endpoint for scrapers and what sends to a collector. Snapshots are given with
/// [`Viewers::see`]; dropping it gives the terminal back, [`end`](Self::end) sends the last of the metrics as well.
#[derive(Debug)]
pub(crate) struct Viewers {
    viewer: Option<Viewer<Arc<Snapshot>>>,
    publisher: Publisher<Arc<Snapshot>>,
}

impl Viewers {
    /// Begins to show. Where a view cannot be had the run goes on without it.
    ///
    /// A user who wants the end sends SIGINT to this process, so signals have to be handled before.
    pub(crate) fn start(
        setting: Setting,
        view: View,
        endpoint: Option<Endpoint>,
        collector: Option<Collector>,
    ) -> Self {
        let publisher = metrics::publish(setting.clone(), endpoint, collector);
        let address = publisher.address();
        let start = || Viewer::start(move |snapshots| show(setting, view, address, snapshots));
        let viewer = (view != View::Nothing).then(start).flatten();
        Self { viewer, publisher }
    }

    /// Whether anybody snapshots, so that making a [`Snapshot`] is worth its while.
    pub(crate) fn is_watched(&self) -> bool {
        self.viewer.is_some() || self.publisher.is_used()
    }

    /// Gives a snapshot away. Never waits.
    pub(crate) fn see(&mut self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        self.publisher.see(snapshot.now.since(Time::ZERO).into(), Arc::clone(&snapshot));
        if let Some(viewer) = &self.viewer {
            viewer.see(snapshot);
        }
    }

    /// Gives the terminal back.
    pub(crate) fn close(&mut self) {
        self.viewer = None;
    }

    /// Sends the last of the metrics, and ends; what the collector did not get, and why.
    pub(crate) fn end(self) -> Option<String> {
        self.publisher.end()
    }
}

fn show(setting: Setting, view: View, metrics: Option<SocketAddr>, snapshots: &Receiver<Arc<Snapshot>>) {
    if view == View::Auto
        && let Some(terminal) = screen::open()
        && screen::run(terminal, setting.clone(), metrics, snapshots, ask_to_end) == End::Closed
    {
        return;
    }
    let lines = Lines::new();
    if let Some(address) = metrics {
        lines.say(&format!("metrics on http://{address}/metrics"));
    }
    while let Ok(snapshot) = snapshots.recv() {
        lines.show(&setting, &snapshot);
    }
    lines.clear();
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn snapshots_may_be_given_to_no_viewer() {
        let mut unwatched = Viewers::start(samples::setting(), View::Nothing, None, None);
        assert!(!unwatched.is_watched());
        unwatched.see(Snapshot::default());
    }
}
