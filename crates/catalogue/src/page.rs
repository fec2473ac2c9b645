//! The page of the manual that lists the catalogue: `docs/metrics.md`.

use std::fmt::Write as _;

use crate::{Metric, gate, load, sim, watch};

const HEAD: &str = "\
# Metrics

Every metric that Headworks records or exposes. This page is generated from the crate `catalogue` by
`cargo run --package catalogue --example page > docs/metrics.md`.

- *In the record* is the name in the column `metric` of `samples.parquet`, and *viewpoint* the value of its column of
  that name; the column `label` has the value of the one label that a recorded metric has.
- *Exposed as* is the name for Prometheus, and for OpenTelemetry where no other is given. Counters are totals.
- A unit that is left out is a number of what the metric is of.
";

/// A section of the page: its heading, a sentence, and its metrics.
type Section = (&'static str, &'static str, &'static [&'static [Metric]]);

const SECTIONS: [Section; 9] = [
    (
        "Load generator",
        "Exposed by `headworks load --prometheus` and `--otlp` ([live view](live.md)), recorded once a second.",
        &[load::ALL, load::recorded::ALL],
    ),
    (
        "Gate",
        "Exposed by the gate's admin interface and sent to a collector ([gate](gate.md)); experiments record some.",
        &[gate::ALL],
    ),
    (
        "Monitor: kernel",
        "What `headworks watch` ([monitor](watch.md)) sees of the kernel as a whole, in shares of the time of all processors.",
        &[watch::kernel::ALL],
    ),
    ("Monitor: processes", "All processes of a program together.", &[watch::processes::ALL]),
    ("Monitor: network", "Interfaces, per second.", &[watch::network::ALL]),
    (
        "Monitor: connections",
        "Connections of the watched ports, and their listen queues.",
        &[watch::connections::ALL],
    ),
    (
        "Monitor: limits",
        "How near what can run out is to its end, and what threads wait for.",
        &[watch::limits::ALL],
    ),
    (
        "Monitor: requests",
        "Requests of the watched ports, by class of size, and what the monitor itself costs.",
        &[watch::requests::ALL, watch::own::ALL],
    ),
    (
        "Simulator",
        "Recorded by `headworks sim` ([simulator](sim.md)): each is of the interval that ends at the time of its sample.",
        &[sim::ALL],
    ),
];

/// All metrics.
pub fn all() -> impl Iterator<Item = Metric> {
    SECTIONS.into_iter().flat_map(|(.., lists)| lists).copied().flatten().copied()
}

/// The page, in Markdown.
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    for (heading, about, lists) in SECTIONS {
        // Writing to a String cannot fail.
        let _ = write!(
            page,
            "\n## {heading}\n\n{about}\n\n| in the record | exposed as | kind | unit | viewpoint | labels | says |\n| --- | --- | --- | --- | --- | --- | --- |\n"
        );
        for metric in lists.iter().copied().flatten() {
            page += &row(*metric);
        }
    }
    page
}

fn kinds(metric: Metric) -> String {
    let (recorded, exposed) = (metric.kind().name(), metric.exposed_kind().name());
    if recorded == exposed { recorded.to_owned() } else { format!("{recorded}, exposed as a {exposed}") }
}

fn row(metric: Metric) -> String {
    let code = |name: &str| format!("`{name}`");
    let sampled = metric.sampled().map(code).unwrap_or_default();
    let mut exposed = metric.exposed().map(|name| code(&name)).unwrap_or_default();
    if let Some(name) = metric.convention() {
        exposed += &format!(", OpenTelemetry `{name}`");
    }
    let labels: Vec<String> = metric.labels().iter().map(|label| code(label)).collect();
    let cells = [
        sampled,
        exposed,
        kinds(metric),
        metric.unit().name().to_owned(),
        metric.viewpoint().name().to_owned(),
        labels.join(", "),
        metric.help().to_owned(),
    ];
    let row: String = cells
        .iter()
        .map(|cell| if cell.is_empty() { " |".to_owned() } else { format!(" {cell} |") })
        .collect();
    format!("|{row}\n")
}
