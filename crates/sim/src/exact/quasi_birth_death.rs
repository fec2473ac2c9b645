//! The paper's model with exponential classes as a finite, level-dependent quasi-birth-death process.
//!
//! Its level is the number of requests present; within a level, the state is the phase of the
//! gap until the next arrival, and how many of those that have a thread are of the second class.
//! Those that wait are of either class with the same chance as all. Levels are eliminated from the highest down
//! (Gaver, Jacobs and Latouche, "Finite birth-and-death models in randomly changing
//! environments", 1984).

use nalgebra::{DMatrix, DVector};
use traffic::Process;

use super::error::ExactError;
use super::solution::{Method, Solution};
use crate::draw::Arrivals;
use crate::model::Model;

/// What is kept of each level is a matrix; all of them have half a gigabyte.
const MAX_NUMBERS: f64 = 64e6;

/// A level of 52 states takes about a millisecond, and one of twice as many eight times as long: a minute or
/// two for all.
const MAX_STEPS: f64 = 1e10;

/// Solves a model with processor sharing, exponential classes and a finite queue.
///
/// # Errors
/// When the chain is too large, or its rates are too far apart to be solved.
pub(super) fn solve(model: &Model, rate: f64, queue: u32) -> Result<Solution, ExactError> {
    let chain = Chain::of(model, rate, queue);
    let (states, levels) = (chain.size(chain.threads), chain.last + 1);
    let numbers = levels as f64 * (states as f64).powi(2);
    if numbers > MAX_NUMBERS || numbers * states as f64 > MAX_STEPS {
        return Err(ExactError::TooLarge { levels: levels as u64, states: states as u64 });
    }
    let levels = chain.stationary()?;
    Ok(chain.solution(model, &levels))
}

struct Chain {
    /// Rate and share of each phase of the gaps between arrivals.
    phases: Vec<(f64, f64)>,
    /// The share of the second class.
    second: f64,
    /// How fast a processor completes requests of each class, per second.
    speeds: [f64; 2],
    threads: usize,
    last: usize,
    processors: f64,
}

impl Chain {
    fn of(model: &Model, rate: f64, queue: u32) -> Self {
        let phases = match &model.arrivals {
            Arrivals::Renewal(Process::Hyperexponential { cv, .. }) if *cv > 1.0 => {
                let [short, long] = traffic::Gaps::balanced(*cv);
                vec![(2.0 * short * rate, short), (2.0 * long * rate, long)]
            }
            _ => vec![(rate, 1.0)],
        };
        let total: f64 = model.classes.iter().map(|class| class.share).sum();
        let demand = |index: usize| model.classes.get(index).map_or(1.0, |class| class.demand);
        Self {
            phases,
            second: model.classes.get(1).map_or(0.0, |class| class.share / total),
            speeds: [demand(0).recip(), demand(1).recip()],
            threads: model.threads as usize,
            last: model.threads as usize + queue as usize,
            processors: f64::from(model.processors),
        }
    }

    /// How many of the second class may be among those with a thread, and one.
    fn mixes(&self, level: usize) -> usize {
        if self.second > 0.0 { level.min(self.threads) + 1 } else { 1 }
    }

    fn size(&self, level: usize) -> usize {
        self.mixes(level) * self.phases.len()
    }

    fn state(&self, mix: usize, phase: usize) -> usize {
        mix * self.phases.len() + phase
    }

    fn states(&self, level: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.mixes(level)).flat_map(|mix| (0..self.phases.len()).map(move |phase| (mix, phase)))
    }

    /// Chances that a request is of the first and of the second class.
    fn kinds(&self) -> [(usize, f64); 2] {
        [(0, 1.0 - self.second), (usize::from(self.second > 0.0), self.second)]
    }

    /// Rates from `level` to the one above.
    fn up(&self, level: usize) -> DMatrix<f64> {
        let mut rates = DMatrix::zeros(self.size(level), self.size(level + 1));
        for (mix, phase) in self.states(level) {
            let from = self.state(mix, phase);
            for (next, (_, chance)) in self.phases.iter().enumerate() {
                let rate = self.phases[phase].0 * chance;
                if level < self.threads {
                    for (more, share) in self.kinds() {
                        rates[(from, self.state(mix + more, next))] += rate * share;
                    }
                } else {
                    rates[(from, self.state(mix, next))] += rate;
                }
            }
        }
        rates
    }

    /// Rates at which requests of each class are completed.
    fn completions(&self, level: usize, mix: usize) -> [f64; 2] {
        let served = level.min(self.threads) as f64;
        let each = self.processors.min(served) / served.max(1.0);
        [(served - mix as f64) * each * self.speeds[0], mix as f64 * each * self.speeds[1]]
    }

    /// Rates from `level` to the one below.
    fn down(&self, level: usize) -> DMatrix<f64> {
        let mut rates = DMatrix::zeros(self.size(level), self.size(level - 1));
        for (mix, phase) in self.states(level) {
            let from = self.state(mix, phase);
            for (class, rate) in self.completions(level, mix).into_iter().enumerate() {
                if rate <= 0.0 {
                    continue;
                }
                if level > self.threads {
                    for (more, share) in self.kinds() {
                        rates[(from, self.state(mix - class + more, phase))] += rate * share;
                    }
                } else {
                    rates[(from, self.state(mix - class, phase))] += rate;
                }
            }
        }
        rates
    }

    /// Rates within `level`, with what leaves a state on the diagonal.
    fn within(&self, level: usize) -> DMatrix<f64> {
        let mut rates = DMatrix::zeros(self.size(level), self.size(level));
        for (mix, phase) in self.states(level) {
            let from = self.state(mix, phase);
            let [first, second] = self.completions(level, mix);
            rates[(from, from)] -= self.phases[phase].0 + first + second;
            if level == self.last {
                for (next, (_, chance)) in self.phases.iter().enumerate() {
                    rates[(from, self.state(mix, next))] += self.phases[phase].0 * chance;
                }
            }
        }
        rates
    }

    /// The probabilities of all states, level by level.
    fn stationary(&self) -> Result<Vec<DVector<f64>>, ExactError> {
        // What is in a level is what is in the one below times its factor, transposed.
        let mut factors: Vec<DMatrix<f64>> = Vec::with_capacity(self.last);
        let mut inside = self.within(self.last);
        for level in (1..=self.last).rev() {
            let factor = (-inside.transpose()).lu().solve(&self.up(level - 1).transpose());
            // All states of a level can be left, so that it has an inverse as far as numbers can tell.
            let factor = factor.ok_or(ExactError::Singular { level })?;
            inside = self.within(level - 1) + factor.transpose() * self.down(level);
            factors.push(factor);
        }
        let mut levels = vec![kernel(&inside).ok_or(ExactError::Singular { level: 0 })?];
        for factor in factors.iter().rev() {
            let next = levels.last().map(|level| factor * level);
            levels.extend(next);
        }
        let sum: f64 = levels.iter().map(DVector::sum).sum();
        levels.iter_mut().for_each(|level| *level /= sum);
        Ok(levels)
    }

    fn solution(&self, model: &Model, levels: &[DVector<f64>]) -> Solution {
        let (mut present, mut busy, mut waiting) = (0.0, 0.0, 0.0);
        let (mut offered, mut rejected, mut second) = (0.0, 0.0, 0.0);
        for (level, chances) in levels.iter().enumerate() {
            for (mix, phase) in self.states(level) {
                let chance = chances[self.state(mix, phase)];
                let served = level.min(self.threads);
                present += chance * level as f64;
                waiting += chance * (level - served) as f64;
                second += chance * mix as f64;
                busy += chance * self.processors.min(served as f64);
                offered += chance * self.phases[phase].0;
                rejected += if level == self.last { chance * self.phases[phase].0 } else { 0.0 };
            }
        }
        let rejected = rejected / offered;
        let throughput = offered * (1.0 - rejected);
        // Waiting does not depend on the class.
        let wait = waiting / throughput;
        let first = present - waiting - second;
        let by_class = [first / (throughput * (1.0 - self.second)), second / (throughput * self.second)];
        Solution {
            method: Method::QuasiBirthDeath,
            rejected,
            given_up: None,
            lost: None,
            latency: present / throughput,
            latency_by_class: by_class.iter().take(model.classes.len()).map(|time| wait + time).collect(),
            utilization: busy / self.processors,
            throughput,
            present,
        }
    }
}

/// The vector that a generator, applied from the left, takes to zero; its first element is 1.
fn kernel(generator: &DMatrix<f64>) -> Option<DVector<f64>> {
    let size = generator.nrows();
    let mut equations = generator.transpose();
    let mut right = DVector::zeros(size);
    // One equation follows from the others.
    equations.row_mut(0).fill(0.0);
    equations[(0, 0)] = 1.0;
    right[0] = 1.0;
    equations.lu().solve(&right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::solve;
    use crate::{Offered, Service};

    fn paper(cv: f64, queue: u32) -> Model {
        let process = Process::hyperexponential(cv).unwrap();
        Model {
            arrivals: process.into(),
            queue: Some(queue),
            service: Service::Exponential,
            ..Model::default()
        }
    }

    #[test]
    fn table_1_with_exponential_classes() {
        for (cv, queue, expected) in [(1.0, 0, 3.846), (2.0, 24, 4.102), (3.0, 66, 4.416), (4.0, 120, 4.743)]
        {
            let solution = solve(&paper(cv, queue)).unwrap();
            assert!((solution.rejected * 100.0 - expected).abs() < 5e-4, "c_v {cv}: {}", solution.rejected);
        }
    }

    #[test]
    fn classes_that_are_alike_are_one() {
        // M/M/1/K with K = 25 + 10 at 0.9, by two classes of the same cost.
        let model = Model {
            classes: Model::paper_classes(0.3, 1.0, 0.01),
            offered: Offered::Load(0.9),
            ..paper(1.0, 10)
        };
        let solution = solve(&model).unwrap();
        let expected = 0.1 * 0.9_f64.powi(35) / (1.0 - 0.9_f64.powi(36));
        assert_eq!(solution.method, Method::QuasiBirthDeath);
        assert!((solution.rejected / expected - 1.0).abs() < 1e-9);
        assert!((solution.latency_by_class[0] / solution.latency_by_class[1] - 1.0).abs() < 1e-9);
        assert!((solution.throughput * model.mean_demand() / solution.utilization - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_takes_too_long_is_refused() {
        let many = Model { threads: 5000, ..paper(2.0, 0) };
        assert_eq!(solve(&many), Err(ExactError::TooLarge { levels: 5001, states: 10_002 }));
        let long = paper(2.0, 1_000_000);
        assert_eq!(solve(&long), Err(ExactError::TooLarge { levels: 1_000_026, states: 52 }));
    }

    #[test]
    fn a_level_that_cannot_be_left_is_an_error() {
        let still = Chain { phases: vec![(0.0, 1.0)], speeds: [0.0; 2], ..Chain::of(&paper(1.0, 3), 1.0, 3) };
        assert_eq!(still.stationary(), Err(ExactError::Singular { level: 28 }));
    }
}
