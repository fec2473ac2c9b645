//! Charts of a sweep: quantities against the swept parameter, and latency against rejection.

use record::sweep::PointRow;
use stats::Estimate;

use super::sweep::SweepData;
use crate::plot::{Axis, Curve, Figure, PlotPoint, Scale};
use crate::text::{percent, seconds};
use crate::unit::Unit;

/// The greatest value over the least from which an axis is logarithmic.
const WIDE: f64 = 20.0;

/// What is up the side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Rejected,
    Mean,
    P90,
}

impl Quantity {
    pub(super) fn of(self, row: &PointRow) -> Estimate {
        let (value, low, high) = match self {
            Self::Rejected => (row.rejected, row.rejected_low, row.rejected_high),
            Self::Mean => (row.latency, row.latency_low, row.latency_high),
            Self::P90 => (row.p90, row.p90_low, row.p90_high),
        };
        Estimate { value, ci: (low.is_finite() && high.is_finite()).then_some([low.max(0.0), high]) }
    }

    pub(super) fn axis(self, scale: Scale) -> Axis {
        let (label, unit) = match self {
            Self::Rejected => ("Requests rejected", Unit::Percent),
            Self::Mean => ("Mean latency", Unit::Seconds),
            Self::P90 => ("90th percentile of latency", Unit::Seconds),
        };
        Axis { label: label.to_owned(), unit, logarithmic: scale == Scale::Logarithmic }
    }
}

/// What a reader should know of a point besides the quantity shown.
pub(super) fn note(row: &PointRow) -> String {
    let queue = row.queue.map_or("no limit".to_owned(), |queue| queue.to_string());
    format!(
        "queue {queue}; {} rejected; mean {}, 90th percentile {}",
        percent(row.rejected),
        seconds(row.latency),
        seconds(row.p90)
    )
}

pub(super) fn curve<'a>(
    name: &str,
    rows: impl IntoIterator<Item = &'a PointRow>,
    x: impl Fn(&PointRow) -> f64,
    quantity: Quantity,
) -> Curve {
    let places = rows.into_iter().map(|row| PlotPoint { x: x(row), y: quantity.of(row), note: note(row) });
    let mut points: Vec<PlotPoint> = places.filter(|place| place.y.value.is_finite()).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    Curve { name: name.to_owned(), points }
}

/// What the parameters of specs are on an axis.
pub(super) fn parameter(name: &str) -> Axis {
    let (label, unit) = match name {
        "dynamic" => ("Share of dynamic pages", Unit::Percent),
        "dynamic-cost" => ("Cost of a dynamic page over that of a static one", Unit::Plain),
        "cv" => ("Coefficient of variation of times between arrivals", Unit::Plain),
        "load" => ("Load", Unit::Plain),
        "rate" => ("Requests per second", Unit::Plain),
        "static-time" => ("Processor time of a static page", Unit::Seconds),
        "queue" => ("Length of the queue", Unit::Plain),
        "threads" => ("Threads", Unit::Plain),
        other => (other, Unit::Plain),
    };
    Axis { label: label.to_owned(), unit, logarithmic: false }
}

/// Whether values spread so far that only a logarithmic axis shows the small ones. Not where one of
/// them is 0, which has no place on it.
pub(super) fn wide(values: impl Iterator<Item = f64>) -> bool {
    let (low, high) =
        values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    low > 0.0 && high / low > WIDE
}

/// With axes that show all of its points.
fn fitted(mut figure: Figure) -> Figure {
    let points = || figure.curves.iter().flat_map(|curve| &curve.points);
    let (x, y) = (wide(points().map(|place| place.x)), wide(points().map(|place| place.y.value)));
    (figure.x.logarithmic, figure.y.logarithmic) = (x, y);
    figure
}

/// A chart of each quantity along the curves, and the trade-off between the two that matter.
pub(super) fn of_sweep(known: &SweepData) -> Vec<Figure> {
    if known.rows.is_empty() {
        return Vec::new();
    }
    let name = |name: &str| if name.is_empty() { known.sweep.title.clone() } else { name.to_owned() };
    let along = |quantity: Quantity, id: &str, title: &str| Figure {
        id: format!("{}-{id}", known.name),
        title: title.to_owned(),
        place: String::new(),
        caption: "Bands are 95 % confidence intervals.".to_owned(),
        x: parameter(&known.sweep.parameter),
        y: quantity.axis(Scale::Linear),
        curves: known
            .curves()
            .map(|(curve_name, rows)| curve(&name(curve_name), rows, |row| row.x, quantity))
            .collect(),
        marks: Vec::new(),
        overload: None,
    };
    let trade_off = Figure {
        id: format!("{}-trade-off", known.name),
        title: "What do rejections buy?".to_owned(),
        place: String::new(),
        caption: "Each point is one of the sweep: what share of the requests is rejected there, and how long the others take.".to_owned(),
        x: Quantity::Rejected.axis(Scale::Linear),
        y: Quantity::Mean.axis(Scale::Linear),
        curves: known
            .curves()
            .map(|(curve_name, rows)| curve(&name(curve_name), rows, |row| row.rejected, Quantity::Mean))
            .collect(),
        marks: Vec::new(),
        overload: None,
    };
    let figures = [
        along(Quantity::Rejected, "rejected", "How many requests are rejected?"),
        along(Quantity::Mean, "latency", "How long do the others take?"),
        along(Quantity::P90, "p90", "How long do nine of ten take at most?"),
        trade_off,
    ];
    figures.into_iter().map(fitted).collect()
}
