//! [`Viewers`]: everything that looks at a watch while it lasts.

use std::net::SocketAddr;
use std::sync::Arc;

use telemetry::otlp::{Collector, Origin};
use telemetry::{Endpoint, Format, Metrics, Publisher, Source};
use tui::{End, Viewer, ask_to_end, give_way};

use super::live::view;
use super::metrics::Told;
use crate::snapshot::{Setting, Snapshot, Totals};

/// What the monitor is called at a collector, and how scrapers are answered.
const SOURCE: Source = Source {
    origin: Origin { service: "headworks-watch", scope: "headworks.watch" },
    format: Format::Prometheus,
    prepare: give_way,
};

/// The views of a watch, its endpoint for scrapers and what sends to a collector. Dropping it gives the terminal
/// back; [`end`](Self::end) sends the last of the metrics as well.
#[derive(Debug)]
pub struct Viewers {
    viewer: Option<Viewer<Arc<Snapshot>>>,
    publisher: Publisher<Arc<Metrics>>,
    told: Told,
}

impl Viewers {
    /// Begins to show: on the terminal of standard error, if `live`, to scrapers, and to a collector.
    ///
    /// A user who wants the end sends SIGINT to this process, so signals have to be handled before.
    pub fn start(
        mut setting: Setting,
        live: bool,
        endpoint: Option<Endpoint>,
        collector: Option<Collector>,
    ) -> Self {
        setting.metrics = endpoint.as_ref().map(Endpoint::address);
        setting.collector = collector.as_ref().map(Collector::to_string);
        let publisher = Publisher::start(SOURCE, endpoint, collector, |told: Option<&Arc<Metrics>>| {
            told.map(|told| Metrics::clone(told)).unwrap_or_default()
        });
        let told = Told::of(&setting);
        // A terminal that cannot be had is found out here, so that there are lines instead.
        let screen = live.then(view::open).flatten();
        let viewer = screen.and_then(|screen| {
            Viewer::start(move |snapshots| {
                // When the terminal is lost the watch goes on.
                let (End::Closed | End::TerminalLost) = view::run(screen, setting, snapshots, ask_to_end);
                snapshots.iter().for_each(drop);
            })
        });
        Self { viewer, publisher, told }
    }

    /// Whether the terminal has been taken over, so that nothing else may be written to it.
    pub fn is_live(&self) -> bool {
        self.viewer.is_some()
    }

    /// Whether there is a view, a scraper or a collector, so that making a [`Snapshot`] is worth its while.
    pub fn is_watched(&self) -> bool {
        self.viewer.is_some() || self.publisher.is_used()
    }

    /// Where scrapers find the figures.
    pub fn address(&self) -> Option<SocketAddr> {
        self.publisher.address()
    }

    /// Whether scrapers or a collector get histograms, so that copying them is worth its while.
    pub fn wants_totals(&self) -> bool {
        self.publisher.is_used()
    }

    /// Takes a snapshot. Never waits.
    pub fn see(&mut self, mut snapshot: Snapshot, totals: Option<Totals>) {
        snapshot.untold = self.publisher.trouble();
        let snapshot = Arc::new(snapshot);
        if let Some(viewer) = &self.viewer {
            viewer.see(Arc::clone(&snapshot));
        }
        if self.publisher.is_used() {
            let metrics = self.told.take(&snapshot, totals.as_ref());
            self.publisher.see(snapshot.age.into(), metrics);
        }
    }

    /// Gives the terminal back; whether it had been taken over.
    pub fn close(&mut self) -> bool {
        self.viewer.take().is_some()
    }

    /// Ends all views; what the collector did not get, and why.
    pub fn end(mut self) -> Option<String> {
        self.close();
        self.publisher.end()
    }
}
