//! What users see of a watch while it lasts: [`Show`].
//!
//! A [`Glance`] is made at every look and given away; views run on threads of their own, at the lowest
//! priority, and nothing that happens to them, a terminal that nobody reads or a scraper that hangs, reaches
//! the watch or the server.
//!
//! | file | idea |
//! | --- | --- |
//! | `glance` | what a look leaves behind |
//! | `live` | the picture on a terminal, tab by tab |
//! | `metrics` | what Prometheus and OpenTelemetry are told |
//! | `export` | the thread that sends to a collector |

mod export;
mod glance;
mod live;
mod metrics;
#[cfg(test)]
mod samples;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use console::{End, Viewer, ask_to_end, give_way};
use telemetry::otlp::Collector;
use telemetry::{CONTENT_TYPE, Endpoint, Page};

use self::export::Exporter;
pub use self::glance::{Glance, Setting};

/// Whoever looks at a watch. Dropping it gives the terminal back, and sends the last of the metrics.
#[derive(Debug)]
pub struct Show {
    viewer: Option<Viewer<Arc<Glance>>>,
    board: Board,
    endpoint: Option<Endpoint>,
    exporter: Option<Exporter>,
}

/// The last look, for whoever asks.
type Board = Arc<Mutex<Option<Arc<Glance>>>>;

impl Show {
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
        let board = Board::default();
        let endpoint = endpoint.map(|endpoint| {
            let board = Arc::clone(&board);
            endpoint.serve(give_way, move || {
                let glance = board.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let text = glance.map_or_else(String::new, |glance| metrics::gather(&glance).text());
                Ok(Page { content_type: CONTENT_TYPE, text })
            })
        });
        // A terminal that cannot be had is found out here, so that there are lines instead.
        let screen = live.then(live::open).flatten();
        let viewer = screen.and_then(|screen| {
            Viewer::start(move |looks| {
                // What is lost is lost: the watch goes on.
                let (End::Closed | End::TerminalLost) = live::run(screen, setting, looks, ask_to_end);
                looks.iter().for_each(drop);
            })
        });
        Self { viewer, board, endpoint, exporter: collector.and_then(Exporter::start) }
    }

    /// Whether the terminal has been taken over, so that nothing else may be written to it.
    pub fn is_live(&self) -> bool {
        self.viewer.is_some()
    }

    /// Whether anybody looks, so that making a [`Glance`] is worth its while.
    pub fn is_watched(&self) -> bool {
        self.viewer.is_some() || self.endpoint.is_some() || self.exporter.is_some()
    }

    /// Where scrapers find the figures.
    pub fn address(&self) -> Option<SocketAddr> {
        self.endpoint.as_ref().map(Endpoint::address)
    }

    /// Gives a look away. Never waits.
    pub fn see(&mut self, mut glance: Glance) {
        if let Some(exporter) = &mut self.exporter {
            exporter.see(&glance);
            glance.untold = exporter.trouble();
        }
        let glance = Arc::new(glance);
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&glance));
        if let Some(viewer) = &self.viewer {
            viewer.see(glance);
        }
    }

    /// Ends all views; why not everything was told to the collector, if it was not.
    pub fn end(mut self) -> Option<String> {
        self.viewer = None;
        self.exporter.take().and_then(Exporter::end)
    }
}
