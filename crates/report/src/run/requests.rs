//! The requests of a run, read once, row by row, into everything that is made of them.

use record::{Quantiles, RequestRow, RunInfo, SessionRow};
use stats::Histogram;
use units::Span;

use super::latency::counts_as_latency;
use super::model::{Distribution, PhaseName, SizeField, Steps, Timeline, Urls};
use super::urls::Census;
use super::{sizes, steps, timeline, urls};
use crate::text::rounded;

/// Points of a distribution's curve for each tenfold step towards its end.
const POINTS_PER_NINE: u32 = 12;

#[derive(Debug)]
pub(super) struct Requests {
    info: RunInfo,
    /// Due in the measuring window.
    pub(super) due: u64,
    phases: [(PhaseName, Histogram); 9],
    timeline: timeline::Collector,
    steps: steps::Collector,
    sizes: sizes::Collector,
    urls: urls::Collector,
}

/// What is made of them.
pub(super) struct Derived {
    pub(super) distributions: Vec<Distribution>,
    pub(super) timeline: Timeline,
    pub(super) steps: Steps,
    pub(super) sizes: Vec<SizeField>,
    pub(super) urls: Urls,
}

impl Requests {
    /// `otherwise` is the level of load, with its unit, of a run that was no ramp.
    pub(super) fn new(info: &RunInfo, census: Census, otherwise: (f64, &str)) -> Self {
        let steps_end = info.steps.iter().map(|step| step.to_ns).max().unwrap_or(0);
        let lasted = info.ended.map_or(0, |ended| nanos_between(info.started, ended));
        let length = census.last.as_nanos().max(info.window.to_ns).max(steps_end).max(lasted);
        use PhaseName::{Connect, Dns, Processing, Queued, Sending, Server, Tls, Total, Transfer};
        Self {
            info: info.clone(),
            due: 0,
            phases: [Total, Queued, Dns, Connect, Tls, Sending, Processing, Transfer, Server]
                .map(|phase| (phase, Histogram::new())),
            timeline: timeline::Collector::new(Span::from_nanos(length)),
            steps: steps::Collector::new(info, otherwise),
            sizes: sizes::Collector::default(),
            urls: urls::Collector::new(census),
        }
    }

    pub(super) fn request(&mut self, row: &RequestRow) {
        self.timeline.request(row);
        self.steps.request(row);
        if !self.info.window.contains(row.intended) {
            return;
        }
        self.due += 1;
        self.sizes.request(row);
        self.urls.request(row);
        if counts_as_latency(row) {
            let opening = |span: Span| (!row.reused).then_some(span);
            let taken = |span: Span| opening(span).filter(|span| !span.is_zero());
            let spans = [
                Some(row.latency()),
                row.queued_ns,
                taken(row.dns_ns),
                opening(row.connect_ns),
                taken(row.tls_ns),
                row.sending_ns,
                row.processing_ns,
                row.transfer_ns,
                row.server_ns,
            ];
            for ((_, histogram), span) in self.phases.iter_mut().zip(spans) {
                if let Some(span) = span {
                    histogram.record(span);
                }
            }
        }
    }

    pub(super) fn session(&mut self, row: &SessionRow) {
        self.steps.session(row);
    }

    pub(super) fn sample(&mut self, row: &record::SampleRow) {
        self.timeline.sample(row);
    }

    pub(super) fn finish(self) -> Derived {
        let distributions = self.phases.iter().filter(|(phase, histogram)| is_told(*phase, histogram));
        Derived {
            distributions: distributions.map(|(phase, histogram)| distribution(*phase, histogram)).collect(),
            timeline: self.timeline.finish(),
            steps: self.steps.finish(),
            sizes: self.sizes.finish(),
            urls: self.urls.finish(),
        }
    }
}

/// Waits that are shorter are the generator's own.
const LEAST_QUEUED: Span = Span::from_millis(1);

fn is_told(phase: PhaseName, histogram: &Histogram) -> bool {
    match phase {
        PhaseName::Queued => histogram.max() >= LEAST_QUEUED,
        _ => histogram.count() > 0,
    }
}

fn nanos_between(from: record::Timestamp, to: record::Timestamp) -> u64 {
    u64::try_from(to.as_nanosecond() - from.as_nanosecond()).unwrap_or(0)
}

fn distribution(phase: PhaseName, histogram: &Histogram) -> Distribution {
    let end = (histogram.count() as f64).log10();
    let step = f64::from(POINTS_PER_NINE).recip();
    let point = |nines: f64| {
        let latency = histogram.quantile(1.0 - 10f64.powf(-nines));
        [rounded(nines), rounded(latency.as_secs_f64())]
    };
    let mut curve: Vec<[f64; 2]> =
        (0..).map(|i| f64::from(i) * step).take_while(|nines| *nines < end).map(point).collect();
    curve.push([rounded(end), histogram.max().as_secs_f64()]);
    Distribution { phase, quantiles: Quantiles::of(histogram), curve }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_from_the_shortest_to_the_longest() {
        let mut histogram = Histogram::new();
        for millis in 1..=1000 {
            histogram.record(Span::from_millis(millis));
        }
        let Distribution { curve, .. } = distribution(PhaseName::Total, &histogram);
        let at = |nines: f64| {
            curve.iter().find(|[x, _]| (x - nines).abs() < 1e-3).map(|[_, seconds]| *seconds).unwrap()
        };
        for (nines, seconds) in [(0.0, 0.001), (1.0, 0.9), (2.0, 0.99), (3.0, 1.0)] {
            assert!((at(nines) / seconds - 1.0).abs() < 2e-3, "{} at {nines}", at(nines));
        }
        assert_eq!(curve.last(), Some(&[3.0, 1.0]));
        assert_eq!(curve.len(), 37);
    }
}
