//! [`Times`]: when requests came, without what they were.

use std::sync::Arc;

use units::{Rate, Span, Time};

use super::error::Error;
use super::resolution::Resolution;

const SECOND: Span = Span::from_secs(1);

/// Points in time that arrivals can be taken from.
///
/// ```
/// use traffic::trace::Times;
/// use units::Rate;
///
/// let (times, skipped) = Times::parse("times.txt".as_ref(), &b"17.5\n18.25\n18.5\n"[..])?;
/// assert_eq!((times.len(), skipped.broken()), (3, 0));
/// assert_eq!(times.rate().map(Rate::as_f64), Some(2.0));
/// // 17.5 s is where it begins. One mean gap after the last it begins anew.
/// let seconds: Vec<f64> = times.arrivals().take(4).map(|time| time.as_nanos() as f64 / 1e9).collect();
/// assert_eq!(seconds, [0.0, 0.75, 1.0, 1.5]);
/// # Ok::<(), traffic::trace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// From the first of them, in order; at least one.
    at: Arc<[Span]>,
    duration: Span,
}

impl Times {
    pub(super) const fn new(at: Arc<[Span]>, duration: Span) -> Self {
        Self { at, duration }
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// How long they take until they can begin anew, as in [`Trace`](super::Trace).
    pub const fn duration(&self) -> Span {
        self.duration
    }

    /// Arrivals per second over the whole of it; `None` when all came at once.
    pub fn rate(&self) -> Option<Rate> {
        rate(self.at.len(), self.duration)
    }

    /// The same arrivals over `factor` times the time: at half the rate when it is 2.
    ///
    /// # Errors
    /// [`Error::Factor`] unless the factor is a number above 0.
    pub fn scaled_time(self, factor: f64) -> Result<Self, Error> {
        check_factor(factor)?;
        let at = self.at.iter().map(|at| at.mul_f64(factor)).collect();
        Ok(Self::new(at, self.duration.mul_f64(factor)))
    }

    /// The same arrivals, faster or slower, so that their mean rate is `rate`.
    ///
    /// # Errors
    /// [`Error::NoRate`] when all came at once, [`Error::Factor`] for a rate of 0.
    pub fn at_rate(self, rate: Rate) -> Result<Self, Error> {
        let factor = factor(self.rate(), rate)?;
        self.scaled_time(factor)
    }

    /// The arrivals, from the start again whenever all have come.
    pub fn arrivals(&self) -> Repeat {
        Repeat { times: self.clone(), next: 0, began: Time::ZERO }
    }
}

/// The arrivals of a trace. After the last it begins anew, one [`Trace::duration`] later than
/// before, so that the rate stays what it is; it ends only if all requests came at once.
///
/// [`Trace::duration`]: super::Trace::duration
#[derive(Debug, Clone)]
pub struct Repeat {
    times: Times,
    next: usize,
    /// When the present pass began.
    began: Time,
}

impl Iterator for Repeat {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        if self.next == self.times.at.len() {
            if self.times.duration.is_zero() {
                return None;
            }
            self.next = 0;
            self.began += self.times.duration;
        }
        let at = self.times.at.get(self.next)?;
        self.next += 1;
        Some(self.began + *at)
    }
}

/// Something that has its time.
pub(super) trait Timed {
    fn at(&self) -> Span;
    fn set(&mut self, at: Span);
}

impl Timed for Span {
    fn at(&self) -> Span {
        *self
    }

    fn set(&mut self, at: Span) {
        *self = at;
    }
}

/// Sorts by time, spreads what came in the same second where no more than that is known, and
/// makes times count from the first. Returns how long it all takes until it can begin anew.
pub(super) fn put_in_order<T: Timed>(items: &mut [T], resolution: Resolution, keep_seconds: bool) -> Span {
    // Stable: what came at the same time stays in the order of the file.
    items.sort_by_key(Timed::at);
    if resolution == Resolution::Seconds && !keep_seconds {
        for second in items.chunk_by_mut(|a, b| second(a.at()) == second(b.at())) {
            spread(second);
        }
    }
    let (first, last) = match (items.first(), items.last()) {
        (Some(first), Some(last)) => (first.at(), last.at()),
        _ => return Span::ZERO,
    };
    for item in items.iter_mut() {
        item.set(item.at().saturating_sub(first));
    }
    let span = last.saturating_sub(first);
    match (resolution, items.len() as u64) {
        (Resolution::Seconds, _) => SECOND * (second(last) - second(first) + 1),
        (_, 1) => Span::ZERO,
        (_, count) => span + span / (count - 1),
    }
}

fn second(at: Span) -> u64 {
    at.as_nanos() / SECOND.as_nanos()
}

fn spread<T: Timed>(same_second: &mut [T]) {
    let count = same_second.len() as u64;
    for (item, index) in same_second.iter_mut().zip(0..) {
        item.set(SECOND * second(item.at()) + SECOND * index / count);
    }
}

pub(super) fn rate(count: usize, duration: Span) -> Option<Rate> {
    (!duration.is_zero()).then(|| Rate::of(count as u64, duration))
}

fn check_factor(factor: f64) -> Result<(), Error> {
    if factor.is_finite() && factor > 0.0 { Ok(()) } else { Err(Error::Factor(factor)) }
}

/// What to multiply times by to get from one rate to another.
fn factor(rate: Option<Rate>, wanted: Rate) -> Result<f64, Error> {
    Ok(rate.ok_or(Error::NoRate)?.as_f64() / wanted.as_f64())
}
