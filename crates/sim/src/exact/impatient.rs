//! Clients that give up and come back: a Markov chain of requests whose clients wait, requests whose clients have given
//! up, and clients that will come back.
//!
//! Under processor sharing between all that are present, with exponential needs and patience, it does not matter which
//! of them is whose. The chain is solved by Gauss and Seidel's iteration with aggregation and disaggregation by how many
//! clients will come back, without which a server that is now overloaded and now not, for a long time each, does not settle
//! (Stewart, "Introduction to the Numerical Solution of Markov Chains", 1994, sections 3.2.3 and 6.3.1); the number of
//! clients that will come back is bounded where there hardly ever are so many.

use std::cmp::Ordering;

use super::error::ExactError;
use super::solution::{Method, Solution};
use crate::draw::Service;
use crate::model::{Class, Discipline, Model, Patience, Retries};

/// Clients that come back so often are taken to do so for ever.
pub(super) const ENDLESS: u32 = 1000;

/// States at most: some seconds for each.
const MAX_STATES: usize = 400_000;

/// The chance that more clients are to come back than are counted is below this, and a sweep changes nothing by more.
const NEGLIGIBLE: f64 = 1e-10;
const MAX_SWEEPS: usize = 200_000;

/// Flows that are to be equal differ by less than this share; smaller ones are not told from rounding.
const BALANCE: f64 = 1e-7;
const SMALLEST_FLOW: f64 = 1e-280;
/// Sweeps from one aggregation to the next.
const SWEEPS: usize = 10;

/// The chain of a model, if it is one of these.
pub(super) fn solve(model: &Model, rate: f64) -> Option<Result<Solution, ExactError>> {
    let [class] = model.classes.as_slice() else { return None };
    let chain = Chain::of(model, class, rate)?;
    Some(chain.solve(class))
}

struct Chain {
    arrivals: f64,
    /// Completions per second and processor.
    speed: f64,
    processors: f64,
    threads: usize,
    /// Of one client.
    gives_up: f64,
    comes_back: f64,
    /// The share that does.
    share: f64,
}

/// Requests whose clients wait, those whose clients do not, and clients that will come back.
#[derive(Clone, Copy)]
struct State {
    wait: usize,
    left: usize,
    away: usize,
}

/// A way from some number of clients that are away to one more or one fewer.
#[derive(Clone, Copy)]
struct Crossing {
    from: usize,
    rate: f64,
    /// The smaller of the two numbers.
    below: usize,
    up: bool,
}

impl State {
    /// Requests in the server.
    fn present(self) -> usize {
        self.wait + self.left
    }
}

impl Chain {
    fn of(model: &Model, class: &Class, rate: f64) -> Option<Self> {
        let exponential = |law| matches!(law, Service::Exponential | Service::Erlang { stages: 1 });
        let is_its_kind = model.discipline == Discipline::Sharing
            && model.queue == Some(0)
            && !model.drops
            && exponential(model.law(class))
            && model.patience.is_none_or(|patience| exponential(patience.law));
        let gives_up = model.patience.map_or(0.0, |Patience { mean, .. }| mean.recip());
        let retries = model.retries.unwrap_or(Retries::NONE);
        let forgets = retries.anew || model.patience.is_none();
        let is_memoryless = retries.most == 0
            || (forgets
                && retries.most >= ENDLESS
                && retries.backoff == 1.0
                && retries.delay > 0.0
                && retries.share < 1.0);
        (is_its_kind && is_memoryless).then(|| Self {
            arrivals: rate,
            speed: class.demand.recip(),
            processors: f64::from(model.processors),
            threads: model.threads as usize,
            gives_up,
            comes_back: if retries.most > 0 { retries.delay.recip() } else { 0.0 },
            share: if retries.most > 0 { retries.share } else { 0.0 },
        })
    }

    /// Requests in the server, by how many clients wait for them and how many have left.
    fn present(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..=self.threads).flat_map(|all| {
            let left = if self.gives_up > 0.0 { all } else { 0 };
            (0..=left).map(move |left| (all - left, left))
        })
    }

    fn index(&self, state: State) -> usize {
        let all = state.present();
        let within = if self.gives_up > 0.0 { all * (all + 1) / 2 + state.left } else { all };
        state.away * self.states_present() + within
    }

    fn states_present(&self) -> usize {
        if self.gives_up > 0.0 { (self.threads + 1) * (self.threads + 2) / 2 } else { self.threads + 1 }
    }

    /// Completions per second of all that are present.
    fn completions(&self, all: usize) -> f64 {
        self.speed * self.processors.min(all as f64)
    }

    /// Where it goes from a state, and how fast; a state that would have more clients away than `most` loses them.
    fn from(&self, state: State, most: usize) -> Vec<(State, f64)> {
        let State { wait, left, away } = state;
        let all = state.present();
        let more_away = |state: State, rate: f64| {
            let next = State { away: (state.away + 1).min(most), ..state };
            [(next, rate * self.share), (state, rate * (1.0 - self.share))]
        };
        let mut next = Vec::with_capacity(8);
        let (new, returns) = (self.arrivals, self.comes_back * away as f64);
        let back = State { away: away.saturating_sub(1), ..state };
        if all < self.threads {
            next.push((State { wait: wait + 1, ..state }, new));
            next.push((State { wait: wait + 1, ..back }, returns));
        } else {
            next.extend(more_away(state, new));
            next.extend(more_away(back, returns));
        }
        let each = self.completions(all) / (all.max(1) as f64);
        if wait > 0 {
            let one_less = State { wait: wait - 1, ..state };
            next.push((one_less, each * wait as f64));
            next.extend(more_away(State { left: left + 1, ..one_less }, self.gives_up * wait as f64));
        }
        if left > 0 {
            next.push((State { left: left - 1, ..state }, each * left as f64));
        }
        next.retain(|(to, rate)| *rate > 0.0 && self.index(*to) != self.index(state));
        next
    }

    fn states(&self, most: usize) -> impl Iterator<Item = State> + '_ {
        (0..=most).flat_map(|away| self.present().map(move |(wait, left)| State { wait, left, away }))
    }

    fn solve(&self, class: &Class) -> Result<Solution, ExactError> {
        let mut most = if self.share > 0.0 { 32 } else { 0 };
        loop {
            let states = (most + 1) * self.states_present();
            if states > MAX_STATES {
                let (away, states) = (most as u64 / 2, self.states_present() as u64);
                return Err(ExactError::TooManyAway { away, states });
            }
            let chances = self.stationary(most)?;
            let last: f64 = chances[most * self.states_present()..].iter().sum();
            if most == 0 || last < NEGLIGIBLE {
                return Ok(self.solution(class, most, &chances));
            }
            most *= 2;
        }
    }

    /// The chance of each state, in their order.
    fn stationary(&self, most: usize) -> Result<Vec<f64>, ExactError> {
        let count = (most + 1) * self.states_present();
        let mut into: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
        let mut out = vec![0.0; count];
        let mut crossings = Vec::new();
        for state in self.states(most) {
            let from = self.index(state);
            for (to, rate) in self.from(state, most) {
                out[from] += rate;
                into[self.index(to)].push((from, rate));
                if to.away != state.away {
                    crossings.push(Crossing {
                        from,
                        rate,
                        below: to.away.min(state.away),
                        up: to.away > state.away,
                    });
                }
            }
        }
        let mut chances = vec![1.0 / count as f64; count];
        for _ in 0..MAX_SWEEPS / SWEEPS {
            let mut change = 0.0_f64;
            for _ in 0..SWEEPS {
                change = 0.0;
                for state in 0..count {
                    let flow: f64 = into[state].iter().map(|(from, rate)| chances[*from] * rate).sum();
                    let chance = flow / out[state];
                    change = change.max((chance - chances[state]).abs());
                    chances[state] = chance;
                }
            }
            let unbalanced = self.balance(most, &crossings, &mut chances);
            if unbalanced == f64::INFINITY {
                break;
            }
            if change < NEGLIGIBLE * 1e-2 && unbalanced < BALANCE && self.is_balanced(most, &chances) {
                return Ok(chances);
            }
        }
        Err(ExactError::NotSettled(MAX_SWEEPS))
    }

    /// Gives each number of clients that are away the chance with which as many leave it for the next as come from there,
    /// its states remaining as they are to one another. Says by what share a flow was off at most.
    fn balance(&self, most: usize, crossings: &[Crossing], chances: &mut [f64]) -> f64 {
        let mut flows = vec![[0.0; 2]; most + 1];
        for crossing in crossings {
            flows[crossing.below][usize::from(crossing.up)] += chances[crossing.from] * crossing.rate;
        }
        // As logarithms: where a thousand are away none ever is not, but for a number that is as good as zero.
        let (mut unbalanced, mut scale) = (0.0_f64, 0.0);
        let mut scales = Vec::with_capacity(flows.len());
        for [down, up] in flows {
            scales.push(scale);
            if down > SMALLEST_FLOW && up > SMALLEST_FLOW {
                unbalanced = unbalanced.max((up / down - 1.0).abs());
                scale += (up / down).ln();
            }
        }
        let largest = scales.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (level, scale) in chances.chunks_mut(self.states_present()).zip(scales) {
            let scale = (scale - largest).exp();
            level.iter_mut().for_each(|chance| *chance *= scale);
        }
        let sum: f64 = chances.iter().sum();
        chances.iter_mut().for_each(|chance| *chance /= sum);
        if sum.is_finite() { unbalanced } else { f64::INFINITY }
    }

    /// As many requests begin as end.
    fn is_balanced(&self, most: usize, chances: &[f64]) -> bool {
        let [mut begun, mut ended] = [0.0; 2];
        for (state, chance) in self.states(most).zip(chances) {
            for (to, rate) in self.from(state, most) {
                match to.present().cmp(&state.present()) {
                    Ordering::Greater => begun += chance * rate,
                    Ordering::Less => ended += chance * rate,
                    Ordering::Equal => {}
                }
            }
        }
        (begun - ended).abs() <= BALANCE * f64::max(begun, ended)
    }

    fn solution(&self, class: &Class, most: usize, chances: &[f64]) -> Solution {
        let mean = |value: &dyn Fn(State) -> f64| -> f64 {
            self.states(most).zip(chances).map(|(state, chance)| value(state) * chance).sum()
        };
        let coming = |state: State| self.arrivals + self.comes_back * state.away as f64;
        let attempts = mean(&coming);
        let rejected = mean(&|state| if state.present() == self.threads { coming(state) } else { 0.0 });
        let given_up = self.gives_up * mean(&|state| state.wait as f64);
        let share = |state: State| state.wait as f64 / state.present().max(1) as f64;
        let throughput = mean(&|state| self.completions(state.present()) * share(state));
        // Of requests that come back it is the time since they first came, which the chain does not know.
        let latency = if self.share > 0.0 { f64::NAN } else { self.latency(chances) };
        Solution {
            method: Method::Impatient,
            rejected: rejected / attempts,
            given_up: (self.gives_up > 0.0).then_some(given_up / attempts),
            lost: Some(1.0 - throughput / self.arrivals),
            latency,
            latency_by_class: vec![latency],
            utilization: mean(&|state| self.completions(state.present())) / self.processors * class.demand,
            throughput,
            present: mean(&|state| state.present() as f64),
        }
    }

    /// The mean time of requests that are answered before their client gives up: of one that comes, from each state
    /// that it may find, the chance of that and the mean of the time where it is, by the states that follow.
    fn latency(&self, chances: &[f64]) -> f64 {
        let count = self.states_present();
        let (mut answered, mut time) = (vec![0.0; count], vec![0.0; count]);
        let states: Vec<State> = self.states(0).filter(|state| state.wait > 0).collect();
        for _ in 0..MAX_SWEEPS {
            let mut change = 0.0_f64;
            for state in states.iter().rev() {
                let (at, others) = (self.index(*state), state.wait as f64 - 1.0);
                let each = self.completions(state.present()) / state.present() as f64;
                let (mut out, mut chance, mut sum) = (each + self.gives_up, each, 0.0);
                for (to, rate) in self.from(*state, 0) {
                    // One of those that wait is the one that is followed.
                    let rate = if to.wait < state.wait { rate * others / state.wait as f64 } else { rate };
                    out += rate;
                    chance += rate * answered[self.index(to)];
                    sum += rate * time[self.index(to)];
                }
                let (chance, sum) = (chance / out, (sum + chance / out) / out);
                change = change.max((chance - answered[at]).abs() + (sum - time[at]).abs() * self.speed);
                (answered[at], time[at]) = (chance, sum);
            }
            if change < NEGLIGIBLE {
                break;
            }
        }
        let found = self.states(0).zip(chances).filter(|(state, _)| state.present() < self.threads);
        let (served, waited) = found.fold((0.0, 0.0), |(served, waited), (state, chance)| {
            let with = self.index(State { wait: state.wait + 1, ..state });
            (served + chance * answered[with], waited + chance * time[with])
        });
        waited / served
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// By elimination, which takes as long for any chain.
    fn eliminated(chain: &Chain, most: usize) -> Vec<f64> {
        let count = (most + 1) * chain.states_present();
        let mut balance = DMatrix::zeros(count, count);
        for state in chain.states(most) {
            let from = chain.index(state);
            for (to, rate) in chain.from(state, most) {
                balance[(from, from)] -= rate;
                balance[(chain.index(to), from)] += rate;
            }
        }
        // One of the equations follows from the others; in its place all chances are 1 together.
        balance.row_mut(0).fill(1.0);
        let mut sums = DVector::zeros(count);
        sums[0] = 1.0;
        balance.lu().solve(&sums).unwrap().iter().copied().collect()
    }

    #[test]
    fn a_server_that_is_now_overloaded_and_now_not_settles() {
        let base = Chain {
            arrivals: 0.5,
            speed: 1.0,
            processors: 1.0,
            threads: 6,
            gives_up: 0.5,
            comes_back: 0.02,
            share: 0.97,
        };
        let few = Chain { arrivals: 0.35, gives_up: 1.0, comes_back: 0.1, share: 0.99, ..base };
        let rejecting = Chain { gives_up: 0.0, threads: 20, arrivals: 0.9, comes_back: 0.001, ..base };
        for chain in [base, few, rejecting] {
            let (found, exact) = (chain.stationary(32).unwrap(), eliminated(&chain, 32));
            let off: f64 = found.iter().zip(&exact).map(|(one, other)| (one - other).abs()).sum();
            assert!(off < 1e-7, "{off}");
        }
    }

    #[test]
    fn thousands_may_be_away() {
        let class = Class::new("all", 1.0, 0.02);
        let chain = Chain {
            arrivals: 100.0,
            speed: 50.0,
            processors: 1.0,
            threads: 1,
            gives_up: 0.0,
            comes_back: 0.1,
            share: 0.9,
        };
        let found = chain.solve(&class).unwrap();
        // Of 100 a second 50 can be served at most: attempts that find it busy come back or do not.
        let attempts = found.throughput / (1.0 - found.rejected);
        assert!((0.9..1.0).contains(&found.utilization), "{found:?}");
        assert!((100.0 - found.throughput - 0.1 * found.rejected * attempts).abs() < 1e-3, "{found:?}");
    }
}
