//! What was asked for most, and how that fared.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use record::{Quantiles, RequestRow, RunDirectory, Window};
use stats::Histogram;
use units::Time;

use super::latency::counts_as_latency;
use super::model::{UrlRow, Urls};

/// Rows of the table.
const SHOWN: usize = 20;

/// Different URLs that are counted. A trace may have any number; beyond this, those that come
/// late are not kept apart, and are unlikely to be among the most frequent.
const MAX_URLS: usize = 100_000;

/// The first reading: how often each URL was asked for. Histograms are kept only for the most
/// frequent, which are known when all have been counted.
#[derive(Debug)]
pub(super) struct Census {
    frequent: Vec<Arc<str>>,
    distinct: usize,
    complete: bool,
    /// The last moment at which something was due.
    pub(super) last: Time,
}

impl Census {
    pub(super) fn take(run: &RunDirectory, window: Window) -> Result<Self, record::Error> {
        let mut counts: HashMap<Arc<str>, u64> = HashMap::new();
        let (mut complete, mut last) = (true, Time::ZERO);
        for row in run.requested_urls()? {
            let row = row?;
            last = last.max(row.intended);
            if !window.contains(row.intended) {
                continue;
            }
            if let Some(count) = counts.get_mut(&row.url_class) {
                *count += 1;
            } else if counts.len() < MAX_URLS {
                counts.insert(row.url_class, 1);
            } else {
                complete = false;
            }
        }
        let distinct = counts.len();
        let mut counts: Vec<(Arc<str>, u64)> = counts.into_iter().collect();
        counts.sort_by(|(a, m), (b, n)| (Reverse(m), a).cmp(&(Reverse(n), b)));
        let frequent = counts.into_iter().take(SHOWN).map(|(url, _)| url).collect();
        Ok(Self { frequent, distinct, complete, last })
    }
}

/// The second reading: how the most frequent fared.
#[derive(Debug)]
pub(super) struct Collector {
    census: Census,
    tallies: HashMap<Arc<str>, UrlFigures>,
}

#[derive(Debug)]
struct UrlFigures {
    count: u64,
    failed: u64,
    responses: u64,
    bytes: u64,
    total: Histogram,
    connect: Histogram,
    processing: Histogram,
    transfer: Histogram,
}

impl Collector {
    pub(super) fn new(census: Census) -> Self {
        let tallies = census.frequent.iter().map(|url| (Arc::clone(url), UrlFigures::new())).collect();
        Self { census, tallies }
    }

    pub(super) fn request(&mut self, row: &RequestRow) {
        if let Some(tally) = self.tallies.get_mut(&row.url_class) {
            tally.request(row);
        }
    }

    pub(super) fn finish(self) -> Urls {
        let Census { frequent, distinct, complete, .. } = self.census;
        let row = |url: &Arc<str>| Some(self.tallies.get(url)?.finish(url));
        Urls { distinct, complete, rows: frequent.iter().filter_map(row).collect() }
    }
}

impl UrlFigures {
    fn new() -> Self {
        let [total, connect, processing, transfer] = std::array::from_fn(|_| Histogram::coarse());
        Self { count: 0, failed: 0, responses: 0, bytes: 0, total, connect, processing, transfer }
    }

    fn request(&mut self, row: &RequestRow) {
        self.count += 1;
        let refused = row.status.is_some_and(|status| status >= 400);
        self.failed += u64::from(row.error.is_some() || refused);
        if row.error.is_none() {
            self.responses += 1;
            self.bytes += row.bytes;
        }
        if !counts_as_latency(row) {
            return;
        }
        self.total.record(row.latency());
        if !row.reused {
            self.connect.record(row.connect_ns);
        }
        for (histogram, span) in
            [(&mut self.processing, row.processing_ns), (&mut self.transfer, row.transfer_ns)]
        {
            if let Some(span) = span {
                histogram.record(span);
            }
        }
    }

    fn finish(&self, url: &str) -> UrlRow {
        UrlRow {
            url: url.to_owned(),
            count: self.count,
            failed: self.failed,
            bytes: (self.responses > 0).then(|| self.bytes as f64 / self.responses as f64),
            total: Quantiles::of(&self.total),
            connect: Quantiles::of(&self.connect),
            processing: Quantiles::of(&self.processing),
            transfer: Quantiles::of(&self.transfer),
        }
    }
}
