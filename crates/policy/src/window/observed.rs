//! [`Observed`]: what requests took of a server that was not full, by how many were inside.

use units::Span;

/// While few requests come their number inside changes by itself, and each tells how much of the server it had beside
/// the others: its cost is the integral of one over their number. Where those that were beside many cost as much as
/// those that were alone, the server does no more with many (Little 1961); where it is less, it does.
///
/// So it is known what window the server needs when overload begins, and the important do not wait inside the server until trials have
/// found it.
#[derive(Debug)]
pub(super) struct Observed {
    /// By half octaves of the number inside.
    sums: [Sums; Self::KEPT],
    /// Requests so far.
    noted: f64,
}

/// Of the requests that were beside about as many: sums of what they cost and of the work that they are.
#[derive(Debug, Clone, Copy)]
struct Sums {
    inside: f64,
    cost: f64,
    work: f64,
    costs: f64,
    works: f64,
    products: f64,
    /// Of their places in the order of all.
    order: f64,
    count: f64,
}

/// What it says of two numbers inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    pub(super) few: f64,
    pub(super) many: f64,
    /// Logarithm of what is finished with many over what is with few.
    pub(super) difference: f64,
    /// Its squared error.
    pub(super) variance: f64,
}

impl Observed {
    /// Up to 64 inside.
    const KEPT: usize = 12;
    /// So many requests as large as the largest are enough to say something.
    const ENOUGH: f64 = 32.0;
    /// It is looked at after so many more.
    const EVERY: f64 = 16.0;
    /// How far apart they may be, as a part of all: a server that was fast and then is slow has few inside first, and then many.
    const APART: f64 = 0.2;
    /// If so much less seems to be finished with many, as a logarithm, the server has become slower meanwhile.
    const SLOWER: f64 = -0.35;

    pub(super) const fn new() -> Self {
        Self { sums: [Sums::NONE; Self::KEPT], noted: 0.0 }
    }

    /// A request that was inside for so long cost that much, and is that `work`. What there is to say now.
    pub(super) fn note(&mut self, took: Span, cost: f64, work: f64) -> Option<Observation> {
        if !(cost > 0.0 && work > 0.0) {
            return None;
        }
        let inside = (took.as_secs_f64() / cost).max(1.0);
        let sums = self.sums.get_mut((2.0 * libm::log2(inside) + 0.5) as usize)?;
        self.noted += 1.0;
        sums.order += self.noted;
        sums.count += 1.0;
        sums.inside += inside * work;
        sums.cost += cost;
        sums.work += work;
        sums.costs += cost * cost;
        sums.works += work * work;
        sums.products += cost * work;
        if self.noted % Self::EVERY == 0.0 { self.compare() } else { None }
    }

    /// What there is to say of the fewest and the most that enough is known of. It is said once, and of no time before that.
    fn compare(&mut self) -> Option<Observation> {
        let known = |sums: &&mut Sums| sums.work * sums.work > Self::ENOUGH * sums.works;
        let mut all = self.sums.iter_mut().filter(known);
        let few = all.next()?;
        let many = all.next_back()?;
        let observation = Observation {
            few: few.mean_inside(),
            many: many.mean_inside(),
            difference: libm::log(many.throughput() / few.throughput()),
            variance: few.error() + many.error(),
        };
        let apart = (few.order / few.count - many.order / many.count) / self.noted;
        *self = Self::new();
        let is_even = (-Self::APART..Self::APART).contains(&apart);
        (is_even && observation.difference > Self::SLOWER - libm::sqrt(observation.variance))
            .then_some(observation)
    }
}

impl Sums {
    const NONE: Self = Self {
        inside: 0.0,
        cost: 0.0,
        work: 0.0,
        costs: 0.0,
        works: 0.0,
        products: 0.0,
        order: 0.0,
        count: 0.0,
    };

    fn mean_inside(&self) -> f64 {
        self.inside / self.work
    }

    /// Work for each second of the whole server.
    fn throughput(&self) -> f64 {
        self.work / self.cost
    }

    /// Squared error of the logarithm of that, as of a ratio of means.
    fn error(&self) -> f64 {
        let each = self.cost / self.work;
        let squares = self.costs - 2.0 * each * self.products + each * each * self.works;
        squares.max(0.0) / (self.cost * self.cost)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use fastrand::Rng;

    use super::*;

    /// What is said of a server of so many processors, with one to four requests of 10 ms inside.
    fn said(processors: f64, seed: u64) -> Vec<Observation> {
        let (mut observed, mut rng) = (Observed::new(), Rng::with_seed(seed));
        let mut said = Vec::new();
        for _ in 0..2000 {
            let inside = f64::from(rng.u32(1..=4));
            let demand = -0.01 * (1.0 - rng.f64()).ln();
            let took = demand * (inside / processors).max(1.0);
            said.extend(observed.note(Span::from_secs_f64(took), took / inside, 0.01));
        }
        said
    }

    #[test]
    fn what_a_server_does_with_more_is_seen_while_there_are_few() {
        for (processors, gains) in [(1.0, 0.0), (8.0, 1.0)] {
            let said: Vec<Observation> = (0..20).flat_map(|seed| said(processors, seed)).collect();
            let number = said.len() as f64;
            assert!(number > 100.0, "{number}");
            let off = |said: &Observation| said.difference - gains * (said.many / said.few).ln();
            let mean = said.iter().map(off).sum::<f64>() / number;
            assert!(mean.abs() < 0.1, "{processors}: {mean}");
            // Errors are about as large as is said.
            let found = said.iter().map(|said| off(said).powi(2)).sum::<f64>() / number;
            let expected = said.iter().map(|said| said.variance).sum::<f64>() / number;
            assert!((0.5..2.0).contains(&(found / expected)), "{found} instead of {expected}");
            assert!(said.iter().all(|said| said.few < said.many), "{said:?}");
        }
    }

    #[test]
    fn who_had_few_beside_it_when_the_server_was_fast_is_not_compared_with_who_has_many_now() {
        let mut observed = Observed::new();
        for (inside, took) in [(1.0, 10), (4.0, 40)] {
            for _ in 0..100 {
                let took = Span::from_millis(took);
                assert!(observed.note(took, took.as_secs_f64() / inside, 1.0).is_none());
            }
        }
    }

    #[test]
    fn nothing_is_said_of_one_number_or_of_nothing() {
        let mut observed = Observed::new();
        for _ in 0..100 {
            assert!(observed.note(Span::from_millis(10), 0.01, 1.0).is_none());
            assert!(observed.note(Span::ZERO, 0.0, 1.0).is_none());
        }
    }
}
