//! The figures of Iyengar, MacNair and Nguyen, "Web server performance under heavy loads".

use record::sweep::{Networks, PointRow};
use stats::Estimate;

use super::curves::{Quantity, curve, parameter};
use super::sweep::SweepData;
use crate::plot::{Axis, Curve, Figure, PlotPoint, Scale};
use crate::text::percent;
use crate::unit::Unit;

/// What is along the bottom of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Along {
    /// The sweep's parameter, a curve for each of the sweep's.
    Parameter,
    /// The variation of arrivals, a curve for some values of the parameter.
    Burst,
    /// The share of rejected requests, a curve for each of the sweep's.
    Rejected,
}

/// Shares of dynamic pages that have a curve where bursts are along the bottom.
const SHARES: [f64; 5] = [0.0, 0.1, 0.2, 0.5, 1.0];

/// Number, sweep, bottom, side and title.
type Entry = (u32, &'static str, Along, Quantity, &'static str);

const FIGURES: [Entry; 14] = [
    (2, "short-queues", Along::Parameter, Quantity::Mean, "Latency against dynamic pages, 5 % rejected"),
    (
        3,
        "short-queues",
        Along::Parameter,
        Quantity::P90,
        "90th percentile against dynamic pages, 5 % rejected",
    ),
    (4, "long-queues", Along::Parameter, Quantity::Mean, "Latency against dynamic pages, queue of 1000"),
    (
        5,
        "long-queues",
        Along::Parameter,
        Quantity::P90,
        "90th percentile against dynamic pages, queue of 1000",
    ),
    (6, "short-queues", Along::Burst, Quantity::Mean, "Latency against bursts, 5 % rejected"),
    (7, "short-queues", Along::Burst, Quantity::P90, "90th percentile against bursts, 5 % rejected"),
    (8, "long-queues", Along::Burst, Quantity::Mean, "Latency against bursts, queue of 1000"),
    (9, "long-queues", Along::Burst, Quantity::P90, "90th percentile against bursts, queue of 1000"),
    (10, "trade-off", Along::Rejected, Quantity::Mean, "Latency against rejections"),
    (11, "trade-off", Along::Rejected, Quantity::P90, "90th percentile against rejections"),
    (12, "trade-off-load", Along::Rejected, Quantity::Mean, "Latency against rejections at several loads"),
    (
        13,
        "trade-off-load",
        Along::Rejected,
        Quantity::P90,
        "90th percentile against rejections at several loads",
    ),
    (14, "cost", Along::Parameter, Quantity::Mean, "Latency against the cost of dynamic pages"),
    (15, "cost", Along::Parameter, Quantity::P90, "90th percentile against the cost of dynamic pages"),
];

/// All figures whose sweeps are known.
pub(super) fn figures(known: &[SweepData]) -> Vec<Figure> {
    let mut figures: Vec<Figure> =
        known.iter().filter_map(|one| one.sweep.networks.as_ref()).map(networks).collect();
    for (number, name, along, quantity, title) in FIGURES {
        let found = known.iter().find(|one| one.name == name).filter(|one| !one.rows.is_empty());
        figures.extend(found.map(|found| figure(found, number, along, quantity, title)));
    }
    let threads = known.iter().find(|one| one.name == "threads").filter(|one| !one.rows.is_empty());
    figures.extend(threads.map(|found| {
        let shown = figure(found, 0, Along::Parameter, Quantity::Rejected, "Rejections against threads");
        Figure { id: "threads".to_owned(), place: "Section 2".to_owned(), ..shown }
    }));
    figures
}

/// The variation of times between arrivals.
pub(super) fn variation(row: &PointRow) -> f64 {
    row.arrivals.split_once(':').map_or(1.0, |(_, cv)| cv.parse().unwrap_or(f64::NAN))
}

fn figure(known: &SweepData, number: u32, along: Along, quantity: Quantity, title: &str) -> Figure {
    let (x, caption) = match along {
        Along::Parameter => (parameter(&known.sweep.parameter), "Bands are 95 % confidence intervals."),
        Along::Burst => (parameter("cv"), "The same simulations, across the curves instead of along them."),
        Along::Rejected => (
            Quantity::Rejected.axis(Scale::Linear),
            "From right to left the queue grows from 0 to 1000 places. Bands are 95 % confidence intervals of latency.",
        ),
    };
    let x_of = |row: &PointRow| match along {
        Along::Parameter => row.x,
        Along::Burst => variation(row),
        Along::Rejected => row.rejected,
    };
    let curves = match along {
        Along::Burst => SHARES
            .into_iter()
            .map(|share| {
                let rows = known.rows.iter().filter(|row| (row.x - share).abs() < 1e-9);
                curve(&format!("{} dynamic", percent(share)), rows, x_of, quantity)
            })
            .collect(),
        _ => known.curves().map(|(name, rows)| curve(name, rows, x_of, quantity)).collect(),
    };
    Figure {
        id: format!("figure-{number}"),
        title: title.to_owned(),
        place: format!("Figure {number}"),
        caption: caption.to_owned(),
        x,
        y: quantity.axis(Scale::Linear),
        curves,
        marks: Vec::new(),
        overload: None,
    }
}

fn networks(networks: &Networks) -> Figure {
    let axis = |label: &str, unit| Axis { label: label.to_owned(), unit, logarithmic: true };
    let curves = networks.links.iter().map(|link| Curve {
        name: link.name.clone(),
        points: networks
            .sizes
            .iter()
            .zip(&link.rates)
            .map(|(size, rate)| PlotPoint {
                x: *size,
                y: Estimate { value: *rate, ci: None },
                note: String::new(),
            })
            .collect(),
    });
    Figure {
        id: "figure-1".to_owned(),
        title: "What networks carry".to_owned(),
        place: "Figure 1".to_owned(),
        caption: "Bandwidth over the size of a request with its response; nothing is simulated.".to_owned(),
        x: axis("Size", Unit::Bytes),
        y: axis("Requests carried", Unit::Rate),
        curves: curves.collect(),
        marks: Vec::new(),
        overload: None,
    }
}
