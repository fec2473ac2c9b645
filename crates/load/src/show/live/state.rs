//! [`State`]: what the live view knows, whatever the terminal looks like.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use record::LatencySummary;
use tui::{Controls, Theme};
use units::Time;

use super::super::snapshot::{Setting, Snapshot};

/// Snapshots that the chart remembers; more than the widest terminal has points for.
const MAX_POINTS: usize = 1000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) setting: Setting,
    pub(super) theme: Theme,
    /// Where scrapers find the figures.
    pub(super) metrics: Option<SocketAddr>,
    points: VecDeque<Point>,
    latest: Option<Latest>,
    /// What came while the view was paused.
    waiting: Option<Latest>,
    pub(super) controls: Controls,
}

/// A snapshot, with the figures that take time to find.
#[derive(Debug)]
pub(super) struct Latest {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) recent: LatencySummary,
    pub(super) whole: LatencySummary,
}

/// One snapshot in the chart, per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) at: Time,
    pub(super) responses: f64,
    pub(super) errors: f64,
}

impl State {
    pub(super) fn new(setting: Setting, metrics: Option<SocketAddr>, theme: Theme) -> Self {
        Self {
            setting,
            theme,
            metrics,
            points: VecDeque::new(),
            latest: None,
            waiting: None,
            controls: Controls::default(),
        }
    }

    pub(super) fn see(&mut self, snapshot: Arc<Snapshot>) {
        if self.points.len() == MAX_POINTS {
            self.points.pop_front();
        }
        self.points.push_back(Point {
            at: snapshot.now,
            responses: snapshot.rate(snapshot.recent.responses),
            errors: snapshot.rate(snapshot.recent.errors.total()),
        });
        let whole = snapshot.whole.latency.summary();
        let latest = Latest { recent: snapshot.recent.latency.summary(), whole, snapshot };
        *(if self.controls.paused { &mut self.waiting } else { &mut self.latest }) = Some(latest);
    }

    pub(super) fn toggle_pause(&mut self) {
        self.controls.paused = !self.controls.paused;
        if let Some(waiting) = self.waiting.take() {
            self.latest = Some(waiting);
        }
    }

    /// What is on the screen.
    pub(super) fn shown(&self) -> Option<&Latest> {
        self.latest.as_ref()
    }

    /// The last snapshots up to the one that is on the screen, `most` at most.
    pub(super) fn points(&self, most: usize) -> Vec<Point> {
        let until = self.latest.as_ref().map_or(Time::ZERO, |latest| latest.snapshot.now);
        let mut points: Vec<Point> =
            self.points.iter().rev().skip_while(|point| point.at > until).take(most).copied().collect();
        points.reverse();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use super::*;

    #[test]
    fn a_paused_view_stands_still_and_catches_up() {
        let mut state = State::new(samples::setting(), None, Theme::new(false));
        let shown = |state: &State| {
            let points = state.points(usize::MAX);
            (state.shown().map(|latest| latest.snapshot.now), points.last().map(|point| point.at))
        };
        let at = |second| Some(samples::snapshot(second).now);
        state.see(Arc::new(samples::snapshot(1)));
        state.toggle_pause();
        state.see(Arc::new(samples::snapshot(2)));
        assert_eq!(shown(&state), (at(1), at(1)));
        state.toggle_pause();
        assert_eq!(shown(&state), (at(2), at(2)));
        state.toggle_pause();
        state.toggle_pause();
        assert_eq!(shown(&state), (at(2), at(2)));
    }

    #[test]
    fn the_chart_forgets_what_is_long_past() {
        let mut state = State::new(samples::setting(), None, Theme::new(false));
        let snapshot = Arc::new(Snapshot::default());
        (0..MAX_POINTS + 5).for_each(|_| state.see(Arc::clone(&snapshot)));
        assert_eq!(state.points(usize::MAX).len(), MAX_POINTS);
        assert_eq!(state.points(3).len(), 3);
    }
}
