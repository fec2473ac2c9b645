//! A course as rows of `samples.parquet`.

use std::sync::Arc;

use record::{SampleRow, Viewpoint};
use units::{Span, Time};

use super::{Course, Interval};

/// The host of what never happened on one.
const HOST: &str = "simulated";

const BEGINNING: &str = "beginning";

/// Metric, label and value.
type Quantity<'a> = (&'static str, &'a str, f64);

impl Course {
    /// Its quantities as samples. Each is of the interval that ends at its time and begins at the
    /// end of the interval before; what was not observed in an interval has none.
    ///
    /// | metric | what |
    /// | --- | --- |
    /// | `waiting`, `waiting_min`, `waiting_max` | requests that waited for a thread: mean, least, greatest |
    /// | `in_service`, `in_service_min`, `in_service_max` | requests that had one |
    /// | `cpu_ratio` | share of the processors' time in which they worked |
    /// | `arrivals_per_s` | requests that came |
    /// | `rejected_ratio` | share of these that were turned away |
    /// | `latency_s` | mean latency of what was completed, in all and with the class as label |
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
            let row = |(metric, label, value): Quantity<'_>| SampleRow {
                time: Time::ZERO + Span::from_secs_f64(interval.ended),
                host: Arc::clone(&host),
                viewpoint: Viewpoint::Server,
                metric: metric.into(),
                label: label.into(),
                value,
            };
            let known = of(interval).into_iter().filter(|(.., value)| value.is_finite());
            known.map(row).collect::<Vec<SampleRow>>()
        })
    }
}

fn levels(interval: &Interval) -> Vec<Quantity<'_>> {
    let Interval { waiting, in_service, .. } = interval;
    vec![
        ("waiting", "", waiting.mean),
        ("waiting_min", "", waiting.least as f64),
        ("waiting_max", "", waiting.most as f64),
        ("in_service", "", in_service.mean),
        ("in_service_min", "", in_service.least as f64),
        ("in_service_max", "", in_service.most as f64),
    ]
}

fn others(interval: &Interval) -> impl Iterator<Item = Quantity<'_>> {
    let arrived = interval.arrived as f64;
    let all = [
        ("cpu_ratio", "", interval.utilization),
        ("arrivals_per_s", "", arrived / interval.elapsed()),
        ("rejected_ratio", "", interval.rejected as f64 / arrived),
        ("latency_s", "", interval.latency()),
    ];
    let classes = interval.classes.iter().map(|class| ("latency_s", &*class.name, class.latency));
    all.into_iter().chain(classes)
}
