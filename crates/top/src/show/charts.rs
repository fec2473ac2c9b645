//! The last minutes: what was served and refused, and what waited.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tui::{Series, draw_chart, points_in};

use super::model::Model;
use crate::api::history::Sample;

/// A line of a chart: its style, and what it reads from a sample.
type Curve<'a> = (Style, &'a dyn Fn(&Sample) -> f64);

/// From here on there are two, side by side.
const WIDE: u16 = 80;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.height == 0 {
        return;
    }
    if area.width < WIDE {
        return rates(frame, area, model);
    }
    let [left, right] = Layout::horizontal([Constraint::Fill(1); 2]).spacing(2).areas(area);
    rates(frame, left, model);
    places(frame, right, model);
}

fn rates(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let theme = model.theme;
    let title = Line::from(vec![
        Span::styled(" served", theme.good),
        Span::styled("  refused", theme.bad),
        Span::styled("  offered /s ", theme.label),
    ]);
    let refused = |sample: &Sample| sample.sum(|class| class.refused) + sample.unclassified;
    let offered = |sample: &Sample| sample.sum(|class| class.offered) + sample.unclassified;
    let curves: [Curve<'_>; 3] = [
        (theme.label, &offered),
        (theme.bad, &refused),
        (theme.good, &|sample| sample.sum(|class| class.served)),
    ];
    chart(frame, area, model, title, &curves);
}

fn places(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let theme = model.theme;
    let title = Line::from(vec![
        Span::styled(" waiting", theme.bad),
        Span::styled("  in service", theme.good),
        Span::styled("  window ", theme.label),
    ]);
    let curves: [Curve<'_>; 3] = [
        (theme.label, &|sample| sample.window),
        (theme.bad, &|sample| sample.waiting),
        (theme.good, &|sample| sample.in_service),
    ];
    chart(frame, area, model, title, &curves);
}

fn chart(frame: &mut Frame<'_>, area: Rect, model: &Model, title: Line<'_>, curves: &[Curve<'_>]) {
    let most = points_in(area);
    let samples = model.samples.iter().skip(model.samples.len().saturating_sub(most));
    let samples: Vec<&Sample> = samples.collect();
    let now = model.newest().map_or(0.0, |sample| sample.at);
    let first = samples.first().map_or(now, |sample| sample.at);
    let series: Vec<Series> = curves
        .iter()
        .map(|(style, read)| {
            let points = samples.iter().map(|sample| (sample.at - now, read(sample)));
            (*style, points.collect())
        })
        .collect();
    // A single sample has a width, too.
    draw_chart(frame, area, model.theme, title, &series, (now - first).max(1.0), 1.0);
}
