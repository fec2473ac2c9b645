//! Figures over time: lines of classes, programs and states, and of each watch where there are several.

use super::model::TimeFigure;
use super::read::Watched;
use crate::text::rounded;
use crate::{CourseChart, CourseLine, Unit};

/// Colours and dashes that a figure has.
const MOST_LINES: usize = 5;

/// All moments at which something was looked at, in milliseconds' precision so that groups with equal
/// intervals share them.
pub(super) fn looks(watches: &[Watched]) -> Vec<f64> {
    let metrics =
        ["kernel.cpu_idle", "processes.cpu", "requests.rate", "connections", "listen_queue.waiting"];
    let mut looks: Vec<f64> = watches
        .iter()
        .flat_map(|watched| metrics.iter().flat_map(|metric| watched.looks(metric)))
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
    let chart = |title: &str, label: &str, unit, lines| CourseChart {
        title: title.to_owned(),
        label: label.to_owned(),
        unit,
        lines,
    };
    let by_label = |metric: &str| lines(watches, looks, metric, None);
    // Where watches are compared, the first of them is what there is room for.
    let whole = |metrics: &[(&str, &str)]| {
        let metrics = metrics.iter().take(if watches.len() > 1 { 1 } else { MOST_LINES });
        let lines = metrics.flat_map(|(metric, name)| lines(watches, looks, metric, Some(name)));
        lines.collect::<Vec<_>>()
    };
    let alone =
        |alone: &'static str, compared: &'static str| if watches.len() > 1 { compared } else { alone };
    let figure = |id: &str, title: &str, caption: &str, charts: Vec<CourseChart>| TimeFigure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        charts: distinct(charts),
    };
    let figures = [
        figure(
            "rates",
            "Requests over time",
            "With a budget a point is a window that was closed by then, and stands for the time since the one before.",
            vec![
                chart("(a) requests", "Requests per second", Unit::Rate, by_label("requests.rate")),
                chart(
                    "(b) processor time of one, in the kernel",
                    "Time",
                    Unit::Seconds,
                    by_label("requests.cpu_kernel"),
                ),
                chart(
                    "(c) processor time of one, in user mode",
                    "Time",
                    Unit::Seconds,
                    by_label("requests.cpu_user"),
                ),
            ],
        ),
        figure(
            "processors",
            alone("Processors over time", "Processors in the kernel over time"),
            "Shares of all processors, soft interrupts apart.",
            vec![chart(
                "all processors",
                "Share",
                Unit::Percent,
                whole(&[
                    ("kernel.cpu_system", "kernel"),
                    ("kernel.cpu_user", "user mode"),
                    ("kernel.cpu_soft_interrupt", "soft interrupts"),
                    ("kernel.cpu_idle", "idle"),
                ]),
            )],
        ),
        figure(
            "programs",
            "Programs over time",
            "In processors: 1 is one processor all of the time.",
            vec![chart("programs", "Processors in use", Unit::Plain, by_label("processes.cpu"))],
        ),
        figure(
            "states",
            "Connections over time",
            "Where there are many states, those with the most connections.",
            vec![chart("by state", "Connections", Unit::Plain, by_label("connections"))],
        ),
        figure(
            "queues",
            "Listen queues over time",
            "",
            vec![chart(
                "connections that wait to be accepted",
                "Connections",
                Unit::Plain,
                by_label("listen_queue.waiting"),
            )],
        ),
        figure(
            "scheduler",
            alone("Context switches and interrupts over time", "Context switches over time"),
            "",
            vec![chart(
                alone("both", "context switches"),
                "Per second",
                Unit::Rate,
                whole(&[
                    ("kernel.context_switches", "context switches"),
                    ("kernel.interrupts", "interrupts"),
                ]),
            )],
        ),
    ];
    figures.into_iter().filter(|figure| !figure.charts.is_empty()).collect()
}

/// The charts that have lines. Of many names in a figure those whose lines reach highest in its first chart:
/// more could not be told apart.
fn distinct(mut charts: Vec<CourseChart>) -> Vec<CourseChart> {
    let top = |line: &CourseLine| line.values.iter().flatten().copied().fold(0.0, f64::max);
    let mut names: Vec<String> = Vec::new();
    for chart in &charts {
        let mut lines: Vec<&CourseLine> = chart.lines.iter().collect();
        lines.sort_by(|one, other| top(other).total_cmp(&top(one)));
        let new = lines.into_iter().filter(|line| !names.contains(&line.name)).map(|line| line.name.clone());
        let new: Vec<_> = new.collect();
        names.extend(new);
    }
    names.truncate(MOST_LINES);
    charts.iter_mut().for_each(|chart| chart.lines.retain(|line| names.contains(&line.name)));
    charts.retain(|chart| !chart.lines.is_empty());
    charts
}

/// A line for each label of a metric and each watch; a name stands for a label that is empty.
fn lines(watches: &[Watched], looks: &[f64], metric: &str, name: Option<&str>) -> Vec<CourseLine> {
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
            lines.push(CourseLine { name, values, ranges: Vec::new() });
        }
    }
    lines
}
