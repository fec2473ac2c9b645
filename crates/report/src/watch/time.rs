//! Figures over time: lines of classes, programs and states, and of each watch where there are several.

use super::watched::Watched;
use crate::plot::TimeFigure;
use crate::plot::{TimeChart, TimeSeries};
use crate::text::rounded;
use crate::unit::Unit;
use catalogue::Metric;
use catalogue::watch::{connections, kernel, processes, requests};

/// Colours and dashes that a figure has.
const MAX_LINES: usize = 5;

/// All moments at which something was looked at, in milliseconds' precision so that groups with equal
/// intervals share them.
pub(super) fn looks(watches: &[Watched]) -> Vec<f64> {
    let metrics =
        [kernel::CPU_IDLE, processes::CPU, requests::RATE, connections::CONNECTIONS, connections::WAITING];
    let mut looks: Vec<f64> = watches
        .iter()
        .flat_map(|watched| metrics.iter().flat_map(|metric| watched.looks(*metric)))
        .map(at)
        .collect();
    looks.sort_by(f64::total_cmp);
    looks.dedup();
    looks
}

fn at(time: f64) -> f64 {
    (time * 1e3).round() / 1e3
}

/// All figures that there is something for.
pub(super) fn figures(watches: &[Watched], looks: &[f64]) -> Vec<TimeFigure> {
    let sources = Sources { watches, looks };
    let figures = [
        sources.requests(),
        sources.processors(),
        sources.programs(),
        sources.states(),
        sources.queues(),
        sources.scheduler(),
    ];
    figures.into_iter().filter(|figure| !figure.charts.is_empty()).collect()
}

/// What figures are drawn from.
struct Sources<'a> {
    watches: &'a [Watched],
    looks: &'a [f64],
}

impl Sources<'_> {
    fn requests(&self) -> TimeFigure {
        let time = |title, metric| chart(title, "Time", Unit::Seconds, self.by_label(metric));
        figure(
            "rates",
            "Requests over time",
            "With a budget a point is a window that was closed by then, and stands for the time since the one before.",
            vec![
                chart("(a) requests", "Requests per second", Unit::Rate, self.by_label(requests::RATE)),
                time("(b) processor time of one, in the kernel", requests::CPU_KERNEL),
                time("(c) processor time of one, in user mode", requests::CPU_USER),
            ],
        )
    }

    fn processors(&self) -> TimeFigure {
        let lines = self.whole(&[
            (kernel::CPU_SYSTEM, "kernel"),
            (kernel::CPU_USER, "user mode"),
            (kernel::CPU_SOFT_INTERRUPT, "soft interrupts"),
            (kernel::CPU_IDLE, "idle"),
        ]);
        figure(
            "processors",
            self.alone_or_compared("Processors over time", "Processors in the kernel over time"),
            "Shares of all processors, soft interrupts apart.",
            vec![chart("all processors", "Share", Unit::Percent, lines)],
        )
    }

    fn programs(&self) -> TimeFigure {
        let lines = self.by_label(processes::CPU);
        let charts = vec![chart("programs", "Processors in use", Unit::Plain, lines)];
        figure("programs", "Programs over time", "In processors: 1 is one processor all of the time.", charts)
    }

    fn states(&self) -> TimeFigure {
        let charts =
            vec![chart("by state", "Connections", Unit::Plain, self.by_label(connections::CONNECTIONS))];
        let caption = "Where there are many states, those with the most connections.";
        figure("states", "Connections over time", caption, charts)
    }

    fn queues(&self) -> TimeFigure {
        let title = "connections that wait to be accepted";
        let lines = self.by_label(connections::WAITING);
        let charts = vec![chart(title, "Connections", Unit::Plain, lines)];
        figure("queues", "Listen queues over time", "", charts)
    }

    fn scheduler(&self) -> TimeFigure {
        let lines =
            self.whole(&[(kernel::CONTEXT_SWITCHES, "context switches"), (kernel::INTERRUPTS, "interrupts")]);
        let title = self.alone_or_compared("both", "context switches");
        figure(
            "scheduler",
            self.alone_or_compared("Context switches and interrupts over time", "Context switches over time"),
            "",
            vec![chart(title, "Per second", Unit::Rate, lines)],
        )
    }

    /// A line for each label of a metric.
    fn by_label(&self, metric: Metric) -> Vec<TimeSeries> {
        lines(self.watches, self.looks, metric, None)
    }

    /// A line for each metric. Where watches are compared, the first of them is what there is room for.
    fn whole(&self, metrics: &[(Metric, &str)]) -> Vec<TimeSeries> {
        let metrics = metrics.iter().take(self.alone_or_compared(MAX_LINES, 1));
        metrics.flat_map(|(metric, name)| lines(self.watches, self.looks, *metric, Some(name))).collect()
    }

    fn alone_or_compared<T>(&self, alone: T, compared: T) -> T {
        if self.watches.len() > 1 { compared } else { alone }
    }
}

fn chart(title: &str, label: &str, unit: Unit, lines: Vec<TimeSeries>) -> TimeChart {
    TimeChart { title: title.to_owned(), label: label.to_owned(), unit, lines }
}

fn figure(id: &str, title: &str, caption: &str, charts: Vec<TimeChart>) -> TimeFigure {
    TimeFigure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        charts: distinct(charts),
    }
}

/// The charts that have lines. Of many names in a figure those whose lines reach highest in its first chart:
/// more could not be told apart.
fn distinct(mut charts: Vec<TimeChart>) -> Vec<TimeChart> {
    let top = |line: &TimeSeries| line.values.iter().flatten().copied().fold(0.0, f64::max);
    let mut names: Vec<String> = Vec::new();
    for chart in &charts {
        let mut lines: Vec<&TimeSeries> = chart.lines.iter().collect();
        lines.sort_by(|one, other| top(other).total_cmp(&top(one)));
        let new = lines.into_iter().filter(|line| !names.contains(&line.name)).map(|line| line.name.clone());
        let new: Vec<_> = new.collect();
        names.extend(new);
    }
    names.truncate(MAX_LINES);
    charts.iter_mut().for_each(|chart| chart.lines.retain(|line| names.contains(&line.name)));
    charts.retain(|chart| !chart.lines.is_empty());
    charts
}

/// A line for each label of a metric and each watch; a name stands for a label that is empty.
fn lines(watches: &[Watched], looks: &[f64], metric: Metric, name: Option<&str>) -> Vec<TimeSeries> {
    let several = watches.len() > 1;
    let mut lines = Vec::new();
    for watched in watches {
        for label in watched.labels(metric) {
            let name = name.unwrap_or(label);
            let name = if several { format!("{} · {name}", watched.name) } else { name.to_owned() };
            let mut values = vec![None; looks.len()];
            for (time, value) in watched.samples(metric, label) {
                if let Ok(place) = looks.binary_search_by(|look| look.total_cmp(&at(*time))) {
                    values[place] = Some(rounded(*value));
                }
            }
            lines.push(TimeSeries { name, values, ranges: Vec::new() });
        }
    }
    lines
}
