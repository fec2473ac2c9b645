//! A time series as rows of `samples.parquet`.

use std::sync::Arc;

use catalogue::Metric;
use catalogue::sim as metrics;
use record::SampleRow;
use units::{Span, Time};

use super::intervals::{Interval, TimeSeries};

/// The host of what never happened on one.
const HOST: &str = "simulated";

const BEGINNING: &str = "beginning";

/// Metric, label and value.
type Quantity<'a> = (Metric, &'a str, f64);

impl TimeSeries {
    /// Its quantities as samples. Each is of the interval that ends at its time and begins at the
    /// end of the interval before; what was not observed in an interval has none. The metrics are those of
    /// [`catalogue::sim`].
    pub fn samples(&self) -> impl Iterator<Item = SampleRow> {
        self.rows(|interval| {
            let mut quantities = levels(interval);
            quantities.extend(others(interval));
            quantities
        })
    }

    /// The levels alone, labelled `beginning`: of a course that shows the beginning of another in
    /// more detail.
    pub fn samples_of_beginning(&self) -> impl Iterator<Item = SampleRow> {
        self.rows(|interval| {
            levels(interval).into_iter().map(|(metric, _, value)| (metric, BEGINNING, value)).collect()
        })
    }

    fn rows(&self, of: impl Fn(&Interval) -> Vec<Quantity<'_>>) -> impl Iterator<Item = SampleRow> {
        let host: Arc<str> = HOST.into();
        self.intervals.iter().flat_map(move |interval| {
            let time = Time::ZERO + Span::from_secs_f64(interval.ended);
            let row = |(metric, label, value): Quantity<'_>| {
                SampleRow::of(metric, label.into(), time, Arc::clone(&host), value)
            };
            let known = of(interval).into_iter().filter(|(.., value)| value.is_finite());
            known.map(row).collect::<Vec<SampleRow>>()
        })
    }
}

fn levels(interval: &Interval) -> Vec<Quantity<'_>> {
    let Interval { waiting, in_service, .. } = interval;
    vec![
        (metrics::WAITING, "", waiting.mean),
        (metrics::WAITING_MIN, "", waiting.least as f64),
        (metrics::WAITING_MAX, "", waiting.most as f64),
        (metrics::IN_SERVICE, "", in_service.mean),
        (metrics::IN_SERVICE_MIN, "", in_service.least as f64),
        (metrics::IN_SERVICE_MAX, "", in_service.most as f64),
    ]
}

fn others(interval: &Interval) -> impl Iterator<Item = Quantity<'_>> {
    let arrived = interval.arrived as f64;
    let all = [
        (metrics::CPU, "", interval.utilization),
        (metrics::ARRIVALS, "", arrived / interval.elapsed()),
        (metrics::REJECTED, "", interval.rejected as f64 / arrived),
        (metrics::LATENCY, "", interval.latency()),
    ];
    let classes = interval.classes.iter().map(|class| (metrics::LATENCY, &*class.name, class.latency));
    all.into_iter().chain(classes)
}
