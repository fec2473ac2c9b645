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

use telemetry::otlp::Collector;
use telemetry::{CONTENT_TYPE, Endpoint, Page};
use tui::{End, Viewer, ask_to_end, give_way};

use self::export::Exporter;
pub use self::glance::{Glance, Setting, Totals};

/// Whoever looks at a watch. Dropping it gives the terminal back; [`end`](Self::end) sends the last of the
/// metrics as well.
#[derive(Debug)]
pub struct Show {
    viewer: Option<Viewer<Arc<Glance>>>,
    board: Board,
    endpoint: Option<Endpoint>,
    exporter: Option<Exporter>,
    /// Why there is no exporter although one was asked for.
    untold: Option<String>,
}

/// A look, and what those who read histograms are told.
#[derive(Debug, Clone)]
struct Look {
    glance: Arc<Glance>,
    totals: Option<Arc<Totals>>,
}

/// The last look, for whoever asks.
type Board = Arc<Mutex<Option<Look>>>;

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
                let look = board.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let gather = |look: Look| metrics::gather(&look.glance, look.totals.as_deref());
                let text = look.map(gather).unwrap_or_default().text();
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
        let exporter = collector.map(Exporter::start).transpose();
        let untold = exporter.as_ref().err().map(|why| format!("nothing is sent: {why}"));
        Self { viewer, board, endpoint, exporter: exporter.unwrap_or(None), untold }
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

    /// Whether anybody reads histograms, so that copying them is worth its while.
    pub fn wants_totals(&self) -> bool {
        self.endpoint.is_some() || self.exporter.is_some()
    }

    /// Gives a look away. Never waits.
    pub fn see(&mut self, mut glance: Glance, totals: Option<Totals>) {
        glance.untold = self.exporter.as_ref().map_or_else(|| self.untold.clone(), Exporter::trouble);
        let glance = Arc::new(glance);
        if let Some(viewer) = &self.viewer {
            viewer.see(Arc::clone(&glance));
        }
        let look = Look { glance, totals: totals.map(Arc::new) };
        if let Some(exporter) = &mut self.exporter {
            exporter.see(look.clone());
        }
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = Some(look);
    }

    /// Gives the terminal back; whether it had been taken over.
    pub fn close(&mut self) -> bool {
        self.viewer.take().is_some()
    }

    /// Ends all views; why not everything was told to the collector, if it was not.
    pub fn end(mut self) -> Option<String> {
        self.close();
        self.exporter.take().map_or(self.untold.take(), Exporter::end)
    }
}
