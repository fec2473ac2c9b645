//! Of what the figures of a class are made: what was counted, and what windows say of the time besides.

use stats::RatioSums;
use units::Span;

use super::tally::{ALL, Estimated, Sums, Tally};
use crate::counts::{self, Counted};

/// Of what the figures of a class are made: requests that were counted, in so long a time, and those of the time besides.
pub(crate) struct Parts<'tally> {
    pub(super) counted: Option<counts::OfClass>,
    time: Span,
    /// That windows stand for so far.
    besides: &'tally Estimated,
    /// How long that time is, also where none stands for it yet.
    not_counted_for: Span,
    /// What is known of requests per second in it, from windows that stand for so long.
    pub(super) sample: &'tally Estimated,
    sample_of: Span,
    /// How much windows have shown, in so long a time.
    seen: Sums,
    watched: Span,
}

impl Parts<'_> {
    /// Between which the rate of requests is that windows have shown, as their number alone says, with 95 % confidence:
    /// of few windows, or few requests, the windows do not differ as much as they might. Anscombe's root of a Poisson
    /// number, whose standard deviation is a half. Where all of the time was watched, it is the number itself.
    fn by_number(&self) -> [f64; 2] {
        let (seen, watched) = (self.seen.requests as f64, self.watched.as_secs_f64());
        if watched > ALL * self.sample_of.as_secs_f64() {
            return [f64::INFINITY, f64::NEG_INFINITY];
        }
        [((seen.sqrt() - 0.98).max(0.0)).powi(2), ((seen + 1.0).sqrt() + 0.98).powi(2)]
            .map(|number| number / watched)
    }

    /// Requests and bytes that were counted.
    pub(super) fn counted(&self) -> [u64; 2] {
        self.counted.unwrap_or_default().seen()
    }

    /// Requests and bytes in all.
    pub(crate) fn totals(&self) -> [f64; 2] {
        let [requests, bytes] = self.counted().map(|sum| sum as f64);
        [requests + self.besides.requests, bytes + self.besides.bytes]
    }

    /// Per second, and where that is, of something of which so much was counted, and the sample has so much. A request
    /// has so much of it.
    pub(super) fn rate(
        &self,
        counted: u64,
        sampled: f64,
        by_window: &RatioSums,
        each: f64,
    ) -> (f64, [f64; 2]) {
        let (counted, seconds) = (counted as f64, self.time.as_secs_f64());
        let per_second = |sum: f64, seconds: f64| if seconds > 0.0 { sum / seconds } else { 0.0 };
        let (besides, sample_of) = (self.not_counted_for.as_secs_f64(), self.sample_of.as_secs_f64());
        let with = |rate: f64| per_second(counted + rate.max(0.0) * besides, seconds + besides);
        if besides <= 0.0 {
            (with(0.0), [with(0.0); 2])
        } else if sample_of > 0.0 {
            let [low, high] = by_window.estimate().ci;
            let [least, most] = self.by_number().map(|rate| rate * each);
            (with(sampled / sample_of), [with(low.min(least)), with(high.max(most))])
        } else {
            // Any number of them may have come.
            (per_second(counted, seconds), [with(0.0), f64::INFINITY])
        }
    }
}

impl Tally {
    /// Of what the figures of each class are made.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Parts<'_>> {
        let counted = self.counted_in_full();
        let is_counted = counted.is_some();
        // What windows have shown of other time says something of that in which none was.
        let shows_the_rest = is_counted && self.uncounted_for > Span::ZERO;
        let sample_of = match self.uncounted_for {
            _ if is_counted && self.is_beyond_windows => Span::ZERO,
            uncounted if shows_the_rest => uncounted,
            _ => self.stood_for,
        };
        self.classes.iter().enumerate().map(move |(at, class)| Parts {
            counted: counted.map(|(all, _)| all.classes.get(at).copied().unwrap_or_default()),
            time: counted.map_or(Span::ZERO, |(_, time)| time),
            besides: if is_counted { &class.uncounted } else { &class.estimated },
            not_counted_for: if is_counted { self.not_counted_for() } else { self.stood_for },
            sample: if shows_the_rest { &class.uncounted } else { &class.estimated },
            sample_of,
            seen: class.sums,
            watched: self.watched,
        })
    }

    /// In which requests might have been counted, and were not.
    pub(super) fn not_counted_for(&self) -> Span {
        self.uncounted_for + self.unseen_for
    }

    /// All requests of the time in which they were counted, if every one was, or windows know nothing of the others; not of the time besides, if
    /// [there was some](Self::uncounted_for).
    pub(crate) fn counted_in_full(&self) -> Option<(&Counted, Span)> {
        let (counted, time) = self.counted.as_ref()?;
        ((counted.is_whole() || self.has_no_windows) && *time > Span::ZERO).then_some((counted, *time))
    }
}
