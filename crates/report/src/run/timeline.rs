//! The run over time: counts and histograms for each stretch of it.

use std::iter::repeat_with;

use catalogue::{Viewpoint, load as metrics};
use record::{RequestError, RequestRow, SampleRow};
use stats::Histogram;
use units::{Span, Time};

use super::latency::counts_as_latency;
use super::model::{Percentiles, Timeline};
use crate::text::rounded;

/// Below a second, so many stretches at most; seconds are wanted of every run that is shorter
/// than twenty minutes; and no run has more than so many.
const MAX_BELOW_A_SECOND: f64 = 100.0;
const MAX_STRETCHES: f64 = 1200.0;
const WIDTHS_SECONDS: [f64; 12] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0];

#[derive(Debug)]
pub(super) struct Collector {
    length: Span,
    width: Span,
    stretches: Vec<Stretch>,
}

#[derive(Debug)]
struct Stretch {
    due: u64,
    begun: u64,
    answered: u64,
    errors: u64,
    opened: u64,
    syn_retransmits: u64,
    connect_timeouts: u64,
    total: Histogram,
    connect: Histogram,
    processing: Histogram,
    transfer: Histogram,
    lag: Histogram,
    cpu: Option<f64>,
    running: Option<f64>,
}

impl Stretch {
    fn new() -> Self {
        Self {
            due: 0,
            begun: 0,
            answered: 0,
            errors: 0,
            opened: 0,
            syn_retransmits: 0,
            connect_timeouts: 0,
            total: Histogram::coarse(),
            connect: Histogram::coarse(),
            processing: Histogram::coarse(),
            transfer: Histogram::coarse(),
            lag: Histogram::coarse(),
            cpu: None,
            running: None,
        }
    }
}

impl Collector {
    /// For a run of this length.
    pub(super) fn new(length: Span) -> Self {
        let seconds = length.as_secs_f64();
        let most = |width: f64| if width < 1.0 { MAX_BELOW_A_SECOND } else { MAX_STRETCHES };
        let width = WIDTHS_SECONDS.into_iter().find(|&width| seconds / width <= most(width));
        let width = width.unwrap_or((seconds / MAX_STRETCHES).ceil());
        let number = (seconds / width).ceil().max(1.0) as usize;
        Self {
            length,
            width: Span::from_secs_f64(width),
            stretches: repeat_with(Stretch::new).take(number).collect(),
        }
    }

    pub(super) fn request(&mut self, row: &RequestRow) {
        let due = self.at(row.intended);
        due.due += 1;
        due.lag.record(row.started.since(row.intended));
        if counts_as_latency(row) {
            due.total.record(row.latency());
            if !row.reused {
                due.connect.record(row.connect_ns);
            }
            if let Some(processing) = row.processing_ns {
                due.processing.record(processing);
            }
            if let Some(transfer) = row.transfer_ns {
                due.transfer.record(transfer);
            }
        }
        self.at(row.started).begun += 1;
        if !row.reused {
            let connected = self.at(row.started + row.dns_ns + row.connect_ns);
            connected.opened += u64::from(row.is_connected());
            connected.syn_retransmits += u64::from(row.syn_retransmits);
        }
        let ended = self.at(row.ended());
        match row.error {
            None => ended.answered += 1,
            Some(RequestError::Censored) => {}
            Some(error) => {
                ended.errors += 1;
                let connecting = !row.is_connected();
                ended.connect_timeouts += u64::from(connecting && error == RequestError::Timeout);
            }
        }
    }

    /// Where several values fall into one stretch, or threads differ, the highest is shown.
    pub(super) fn sample(&mut self, row: &SampleRow) {
        if row.viewpoint != Viewpoint::Client {
            return;
        }
        let stretch = self.at(row.time);
        let value = if row.metric == metrics::CPU {
            &mut stretch.cpu
        } else if row.metric == metrics::RUNNING {
            &mut stretch.running
        } else {
            return;
        };
        *value = Some(value.map_or(row.value, |before| before.max(row.value)));
    }

    /// What lies beyond the end belongs to the last stretch.
    fn at(&mut self, time: Time) -> &mut Stretch {
        let last = self.stretches.len() - 1;
        let index = usize::try_from(time.as_nanos() / self.width.as_nanos().max(1)).unwrap_or(last);
        &mut self.stretches[index.min(last)]
    }

    pub(super) fn finish(self) -> Timeline {
        let width = self.width.as_secs_f64();
        let stretches = &self.stretches;
        // The run need not end with a whole stretch.
        let last = stretches.len() - 1;
        let lasted = |i: usize| {
            let rest = self.length.as_secs_f64() - i as f64 * width;
            if i == last && rest > 0.0 { rest } else { width }
        };
        let rate = |count: fn(&Stretch) -> u64| {
            let rate = |(i, stretch)| rounded(count(stretch) as f64 / lasted(i));
            stretches.iter().enumerate().map(rate).collect()
        };
        let percentiles = |of: fn(&Stretch) -> &Histogram| {
            let at = |quantile: f64| {
                let seconds = |histogram: &Histogram| rounded(histogram.quantile(quantile).as_secs_f64());
                stretches.iter().map(of).map(|h| (h.count() > 0).then(|| seconds(h))).collect()
            };
            Percentiles { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
        };
        Timeline {
            width,
            due: rate(|stretch| stretch.due),
            begun: rate(|stretch| stretch.begun),
            answered: rate(|stretch| stretch.answered),
            errors: rate(|stretch| stretch.errors),
            opened: rate(|stretch| stretch.opened),
            syn_retransmits: rate(|stretch| stretch.syn_retransmits),
            connect_timeouts: rate(|stretch| stretch.connect_timeouts),
            total: percentiles(|stretch| &stretch.total),
            connect: percentiles(|stretch| &stretch.connect),
            processing: percentiles(|stretch| &stretch.processing),
            transfer: percentiles(|stretch| &stretch.transfer),
            lag: percentiles(|stretch| &stretch.lag),
            cpu: stretches.iter().map(|stretch| stretch.cpu.map(rounded)).collect(),
            running: stretches.iter().map(|stretch| stretch.running).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(seconds: u64) -> (f64, usize) {
        let collector = Collector::new(Span::from_secs(seconds));
        (collector.width.as_secs_f64(), collector.stretches.len())
    }

    #[test]
    fn a_run_has_stretches_of_a_second_or_less_and_never_too_many() {
        assert_eq!(widths(0), (0.1, 1));
        assert_eq!(widths(10), (0.1, 100));
        assert_eq!(widths(40), (0.5, 80));
        assert_eq!(widths(1200), (1.0, 1200));
        assert_eq!(widths(4 * 3600), (20.0, 720));
        let (_, number) = widths(30 * 24 * 3600);
        assert!(number <= MAX_STRETCHES as usize, "{number}");
    }
}
