//! [`Seconds`]: how long requests took that ended since this was last asked.

use policy::Waits;
use units::{ClassId, Span};

/// Of each class, how long requests took that ended since this was last asked.
#[derive(Debug)]
pub(crate) struct Seconds(Vec<Second>);

/// Of one class.
#[derive(Debug, Clone, Default)]
pub(crate) struct Second {
    /// Requests that were served.
    pub(crate) served: u64,
    /// Sums, in seconds: in the four queues, in the order of [`Waits`], and in the server.
    pub(crate) waits: [f64; 5],
    /// Sum from their arrival to the end of their responses, in seconds.
    pub(crate) response: f64,
    /// Some of these times, each with the same chance.
    sample: Vec<f32>,
}

impl Second {
    /// So many tell the 95th percentile to within a few of a hundred.
    const SAMPLE: usize = 512;

    /// A request was served.
    fn add(&mut self, waits: &Waits, total: Span, in_server: Span) {
        self.served += 1;
        let total = total.as_secs_f64();
        let spans = [waits.acceptor, waits.pending, waits.discard, waits.class, in_server];
        self.waits.iter_mut().zip(spans).for_each(|(sum, span)| *sum += span.as_secs_f64());
        self.response += total;
        if self.sample.len() < Self::SAMPLE {
            self.sample.push(total as f32);
            return;
        }
        // Reservoir sampling (Vitter 1985, algorithm R).
        let place = fastrand::u64(..self.served) as usize;
        if let Some(there) = self.sample.get_mut(place) {
            *there = total as f32;
        }
    }

    /// The 95th percentile of response times, in seconds.
    pub(crate) fn p95(&self) -> Option<f32> {
        p95(&[self])
    }
}

/// The 95th percentile of response times in several of them, in seconds.
pub(crate) fn p95(seconds: &[&Second]) -> Option<f32> {
    // Of a second with many requests each that was kept stands for several.
    let weighted = |second: &&Second| {
        let weight = second.served as f64 / second.sample.len().max(1) as f64;
        second.sample.iter().map(move |time| (*time, weight)).collect::<Vec<_>>()
    };
    let mut all: Vec<(f32, f64)> = seconds.iter().flat_map(weighted).collect();
    all.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut above = 0.05 * all.iter().map(|(_, weight)| weight).sum::<f64>();
    all.into_iter()
        .rev()
        .find(|(_, weight)| {
            above -= weight;
            above < 0.0
        })
        .map(|(time, _)| time)
}

impl Seconds {
    pub(crate) fn new(classes: usize) -> Self {
        Self(vec![Second::default(); classes])
    }

    /// A request of a class was served.
    pub(crate) fn served(&mut self, class: ClassId, waits: &Waits, total: Span, in_server: Span) {
        if let Some(second) = self.0.get_mut(class.index()) {
            second.add(waits, total, in_server);
        }
    }

    /// What was seen since this was last asked, by class.
    pub(crate) fn take(&mut self) -> Vec<Second> {
        let none = vec![Second::default(); self.0.len()];
        std::mem::replace(&mut self.0, none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_how_long_most_took() {
        let mut seconds = Seconds::new(2);
        for millis in 1..=10_000 {
            let total = Span::from_millis(millis);
            seconds.served(ClassId(1), &Waits::ZERO, total, total);
        }
        let seen = seconds.take();
        assert_eq!((seen[0].served, seen[0].p95()), (0, None));
        assert_eq!(seen[1].served, 10_000);
        let p95 = seen[1].p95().unwrap();
        assert!((9.0..10.0).contains(&p95), "{p95}");
        assert!((seen[1].response / 10_000.0 - 5.0).abs() < 0.01);
        assert_eq!(seconds.take()[1].served, 0, "it was asked for");
    }

    #[test]
    fn of_several_seconds_each_counts_by_what_was_in_it() {
        let second = |requests: u64, millis: u64| {
            let mut seconds = Seconds::new(1);
            let total = Span::from_millis(millis);
            (0..requests).for_each(|_| seconds.served(ClassId(0), &Waits::ZERO, total, total));
            seconds.take().remove(0)
        };
        let (busy, slow) = (second(9000, 10), second(40, 500));
        assert_eq!(p95(&[&busy, &slow]), Some(0.01), "one slow request in 225");
        assert_eq!(p95(&[&busy, &second(600, 500)]), Some(0.5), "one in 16");
        assert_eq!(p95(&[]), None);
    }
}
