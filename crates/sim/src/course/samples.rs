//! A course as rows of `samples.parquet`.

use std::sync::Arc;

use record::{SampleRow, Viewpoint};
use units::{Span, Time};

use super::{Course, Interval, Range};

/// The host of what never happened on one.
const HOST: &str = "simulated";

impl Course {
    /// Its quantities as samples. Each is of the interval that ends at its time and begins at the
    /// time of the interval before; what was not observed in an interval has none.
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
        let (host, all): (Arc<str>, Arc<str>) = (HOST.into(), "".into());
        self.intervals.iter().flat_map(move |interval| {
            let time = Time::ZERO + Span::from_secs_f64(interval.ended);
            let (host, all) = (Arc::clone(&host), Arc::clone(&all));
            quantities(interval).into_iter().filter(|(.., value)| value.is_finite()).map(
                move |(metric, label, value)| SampleRow {
                    time,
                    host: Arc::clone(&host),
                    viewpoint: Viewpoint::Server,
                    metric: metric.into(),
                    label: label.map_or_else(|| Arc::clone(&all), Arc::from),
                    value,
                },
            )
        })
    }
}

/// Metric, label and value.
fn quantities(interval: &Interval) -> Vec<(&'static str, Option<&str>, f64)> {
    let arrived = interval.arrived as f64;
    let Range { mean: waiting, least, most } = interval.waiting;
    let in_service = interval.in_service;
    let mut quantities = vec![
        ("waiting", None, waiting),
        ("waiting_min", None, least as f64),
        ("waiting_max", None, most as f64),
        ("in_service", None, in_service.mean),
        ("in_service_min", None, in_service.least as f64),
        ("in_service_max", None, in_service.most as f64),
        ("cpu_ratio", None, interval.utilization),
        ("arrivals_per_s", None, arrived / interval.elapsed()),
        ("rejected_ratio", None, interval.rejected as f64 / arrived),
        ("latency_s", None, interval.latency()),
    ];
    quantities.extend(interval.classes.iter().map(|class| ("latency_s", Some(&*class.name), class.latency)));
    quantities
}
