//! [`Publisher`]: the metrics of a run while it lasts, for scrapers that ask and a collector that is sent to.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::otlp::{Collector, Exporter, Origin};
use crate::{Endpoint, Format, Metrics};

/// Where metrics come from, and how they are told.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// What the collector knows it by.
    pub origin: Origin,
    /// What scrapers get.
    pub format: Format,
    /// Done first on each thread that tells.
    pub prepare: fn(),
}

/// Tells of a run what its snapshots say: a scraper that of the last one, a collector one every ten seconds and the
/// last.
pub struct Publisher<S> {
    /// The last snapshot.
    board: Arc<Mutex<Option<S>>>,
    endpoint: Option<Endpoint>,
    exporter: Option<Exporter<S>>,
    /// Why there is no exporter although one was asked for.
    failure: Option<String>,
}

impl<S: Clone + Send + 'static> Publisher<S> {
    /// Begins to serve and to send. `gather` turns a snapshot into metrics; it gets none when a scraper comes before
    /// the first of them.
    pub fn start(
        source: Source,
        endpoint: Option<Endpoint>,
        collector: Option<Collector>,
        gather: impl Fn(Option<&S>) -> Metrics + Send + Sync + 'static,
    ) -> Self {
        let Source { origin, format, prepare } = source;
        let (board, gather) = (Arc::<Mutex<Option<S>>>::default(), Arc::new(gather));
        let endpoint = endpoint.map(|endpoint| {
            let (board, gather) = (Arc::clone(&board), Arc::clone(&gather));
            endpoint.serve(format, prepare, move || {
                let last = board.lock().unwrap_or_else(PoisonError::into_inner).clone();
                gather(last.as_ref())
            })
        });
        let exporter = collector.map(|collector| {
            Exporter::start(collector, origin, prepare, move |snapshot| gather(Some(snapshot)))
        });
        let exporter = exporter.transpose();
        let failure = exporter.as_ref().err().map(|why| format!("nothing is sent: {why}"));
        Self { board, endpoint, exporter: exporter.unwrap_or(None), failure }
    }

    /// Whether there is a scraper or a collector to tell, so that making a snapshot is worth its while.
    pub fn is_used(&self) -> bool {
        self.endpoint.is_some() || self.exporter.is_some()
    }

    /// Where scrapers find the metrics.
    pub fn address(&self) -> Option<SocketAddr> {
        self.endpoint.as_ref().map(Endpoint::address)
    }

    /// Takes the snapshot of a run of this age. Never waits.
    pub fn see(&mut self, age: Duration, snapshot: S) {
        if let Some(exporter) = &mut self.exporter {
            exporter.see(age, snapshot.clone());
        }
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot);
    }

    /// What the collector did not get so far, and why.
    pub fn trouble(&self) -> Option<String> {
        self.exporter.as_ref().map_or_else(|| self.failure.clone(), Exporter::trouble)
    }

    /// Sends what is left, and ends; what the collector did not get, and why.
    pub fn end(mut self) -> Option<String> {
        self.exporter.take().map_or(self.failure.take(), Exporter::end)
    }
}

impl<S> fmt::Debug for Publisher<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
