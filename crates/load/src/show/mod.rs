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

pub(crate) mod glance;
mod live;
mod plain;
mod prometheus;
#[cfg(test)]
mod samples;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use telemetry::Endpoint;
use tui::{End, Viewer, ask_to_end};

use self::glance::{Glance, Setting};
use self::plain::Lines;
use self::prometheus::Metrics;

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
    viewer: Option<Viewer<Arc<Glance>>>,
    metrics: Option<Metrics>,
}

impl Show {
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

    /// Whether anybody looks, so that making a [`Glance`] is worth its while.
    pub(crate) fn is_watched(&self) -> bool {
        self.viewer.is_some() || self.metrics.is_some()
    }

    /// Gives a look away. Never waits.
    pub(crate) fn see(&self, glance: Glance) {
        let glance = Arc::new(glance);
        if let Some(metrics) = &self.metrics {
            metrics.see(Arc::clone(&glance));
        }
        if let Some(viewer) = &self.viewer {
            viewer.see(glance);
        }
    }
}

fn show(setting: Setting, view: View, metrics: Option<SocketAddr>, looks: &Receiver<Arc<Glance>>) {
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
    use super::*;

    #[test]
    fn looks_may_be_given_to_nobody() {
        let nobody = Show::start(samples::setting(), View::Nothing, None);
        assert!(!nobody.is_watched());
        nobody.see(Glance::default());
    }
}
