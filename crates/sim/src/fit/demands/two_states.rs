//! [`TwoStates`]: when requests came of which only the number in each second is known.

use rand::Rng;
use traffic::{Gaps, Process};

use crate::draw::{Arrivals, Mmpp, Random};

/// By the state before, and that after.
type Matrix = [[f64; 2]; 2];

/// An arrival process whose rate depends on one of two states: a Markovian arrival process (Lucantoni, "New results on
/// the single server queue with a batch Markovian arrival process", 1991).
#[derive(Debug, Clone, Copy)]
pub(super) struct TwoStates {
    /// Changes per second without an arrival; on the diagonal less all that ends the state.
    silent: Matrix,
    /// Changes per second with one.
    arriving: Matrix,
}

/// With more requests in a second, what is within it follows from their number.
const MOST: usize = 300;

/// In the shortest intervals something happens so rarely.
const RARELY: f64 = 0.1;
const MAX_DEPTH: u32 = 14;

/// Arrivals in one of the shortest intervals, at most.
const FEW: usize = 8;

impl TwoStates {
    /// The process, where it is one of two states.
    pub(super) fn of(arrivals: &Arrivals, rate: f64) -> Option<Self> {
        match *arrivals {
            Arrivals::Renewal(Process::Hyperexponential { cv, .. }) if cv > 1.0 => {
                let chances = Gaps::balanced(cv);
                let rates = chances.map(|chance| 2.0 * chance * rate);
                Some(Self {
                    silent: [[-rates[0], 0.0], [0.0, -rates[1]]],
                    arriving: rates.map(|rate| chances.map(|chance| rate * chance)),
                })
            }
            Arrivals::Mmpp(Mmpp { ratio, busy, quiet, .. }) => {
                let (busy, quiet) = (busy.as_secs_f64(), quiet.as_secs_f64());
                let share = busy / (busy + quiet);
                let low = rate / (share * ratio + 1.0 - share);
                let (rates, ends) = ([ratio * low, low], [busy.recip(), quiet.recip()]);
                Some(Self {
                    silent: [[-rates[0] - ends[0], ends[0]], [ends[1], -rates[1] - ends[1]]],
                    arriving: [[rates[0], 0.0], [0.0, rates[1]]],
                })
            }
            _ => None,
        }
    }

    /// How likely each state is at any time.
    fn stationary(&self) -> [f64; 2] {
        let leaves = |from: usize, to: usize| self.silent[from][to] + self.arriving[from][to];
        let (out, back) = (leaves(0, 1), leaves(1, 0));
        [back / (out + back), out / (out + back)]
    }

    /// The chance of each number of arrivals in an interval so short that few come, by uniformization.
    fn in_short(&self, length: f64) -> Vec<Matrix> {
        let fastest = -self.silent[0][0].min(self.silent[1][1]);
        let scaled = |matrix: Matrix| matrix.map(|row| row.map(|rate| rate / fastest));
        let (mut stays, comes) = (scaled(self.silent), scaled(self.arriving));
        stays[0][0] += 1.0;
        stays[1][1] += 1.0;
        let mut steps = vec![[[0.0; 2]; 2]; FEW + 1];
        steps[0] = [[1.0, 0.0], [0.0, 1.0]];
        let mut found = vec![[[0.0; 2]; 2]; FEW + 1];
        let mut chance = (-fastest * length).exp();
        for step in 0..=FEW {
            for (sum, matrix) in found.iter_mut().zip(&steps) {
                *sum = added(*sum, scaled_by(*matrix, chance));
            }
            chance *= fastest * length / (step + 1) as f64;
            for count in (0..=FEW).rev() {
                let before = if count == 0 { [[0.0; 2]; 2] } else { steps[count - 1] };
                steps[count] = added(product(steps[count], stays), product(before, comes));
            }
        }
        found
    }

    /// Where in its second each of the requests came, given how many there were in each: drawn from the process.
    pub(super) fn place(&self, counts: &[usize], random: &mut Random) -> Vec<Vec<f64>> {
        let most = counts.iter().copied().filter(|count| *count <= MOST).max().unwrap_or_default();
        let chances = Chances::new(self, most);
        let mut likely = vec![self.stationary()];
        for count in counts {
            let before = likely.last().copied().unwrap_or([0.5; 2]);
            let row =
                |to: usize| (0..2).map(|from| before[from] * chances.of(0, *count)[from][to]).sum::<f64>();
            let (one, other) = (row(0), row(1));
            let sum = one + other;
            likely.push(if sum > 0.0 { [one / sum, other / sum] } else { before });
        }
        let mut state = usize::from(random.random::<f64>() >= likely.last().map_or(0.5, |last| last[0]));
        let mut placed = vec![Vec::new(); counts.len()];
        for (second, count) in counts.iter().enumerate().rev() {
            let matrix = chances.of(0, *count);
            let weights = [0, 1].map(|from| likely[second][from] * matrix[from][state]);
            let from = usize::from(random.random::<f64>() * (weights[0] + weights[1]) >= weights[0]);
            let mut times = Vec::with_capacity(*count);
            if *count > MOST || weights[0] + weights[1] <= 0.0 {
                times.extend((0..*count).map(|_| random.random::<f64>()));
            } else {
                chances.divide(0, *count, [from, state], 0.0, random, &mut times);
            }
            times.sort_by(f64::total_cmp);
            placed[second] = times;
            state = from;
        }
        placed
    }
}

/// The chance of each number of arrivals, by the states before and after, in intervals of a second, half of one, and so on.
struct Chances(Vec<Vec<Matrix>>);

impl Chances {
    fn new(process: &TwoStates, most: usize) -> Self {
        let fastest = -process.silent[0][0].min(process.silent[1][1]);
        let depth = ((fastest / RARELY).log2().ceil().max(1.0) as u32).min(MAX_DEPTH);
        let mut levels = vec![process.in_short(0.5_f64.powi(depth.cast_signed()))];
        for _ in 0..depth {
            let half = &levels[levels.len() - 1];
            levels.push(twice(half, most));
        }
        levels.reverse();
        Self(levels)
    }

    fn of(&self, level: usize, count: usize) -> Matrix {
        self.0.get(level).and_then(|counts| counts.get(count)).copied().unwrap_or_default()
    }

    /// Puts so many arrivals into an interval that begins `at` a share of the second, by dividing it in two.
    fn divide(
        &self,
        level: usize,
        count: usize,
        states: [usize; 2],
        at: f64,
        random: &mut Random,
        times: &mut Vec<f64>,
    ) {
        let length = 0.5_f64.powi(level as i32);
        if count == 0 {
            return;
        }
        if level + 1 == self.0.len() {
            times.extend((0..count).map(|_| at + length * random.random::<f64>()));
            return;
        }
        let [from, to] = states;
        let ways = || (0..=count).flat_map(|first| [(first, 0), (first, 1)]);
        let weight = |(first, between): (usize, usize)| {
            self.of(level + 1, first)[from][between] * self.of(level + 1, count - first)[between][to]
        };
        let mut left = ways().map(weight).sum::<f64>() * random.random::<f64>();
        let chosen = ways().find(|way| {
            left -= weight(*way);
            left < 0.0
        });
        let (first, between) = chosen.unwrap_or((count / 2, from));
        self.divide(level + 1, first, [from, between], at, random, times);
        self.divide(level + 1, count - first, [between, to], at + length / 2.0, random, times);
    }
}

/// In an interval of twice the length.
fn twice(half: &[Matrix], most: usize) -> Vec<Matrix> {
    let longest = (2 * (half.len() - 1)).min(most);
    let count = |count: usize| {
        let firsts = count.saturating_sub(half.len() - 1)..=count.min(half.len() - 1);
        firsts.fold([[0.0; 2]; 2], |sum, first| added(sum, product(half[first], half[count - first])))
    };
    (0..=longest).map(count).collect()
}

fn product(one: Matrix, other: Matrix) -> Matrix {
    [0, 1].map(|row| [0, 1].map(|column| one[row][0] * other[0][column] + one[row][1] * other[1][column]))
}

fn added(one: Matrix, other: Matrix) -> Matrix {
    [0, 1].map(|row| [0, 1].map(|column| one[row][column] + other[row][column]))
}

fn scaled_by(matrix: Matrix, factor: f64) -> Matrix {
    matrix.map(|row| row.map(|value| value * factor))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Points in time of a process, and of one that knows only how many there are in each second.
    fn both(process: &str, rate: f64, seconds: usize) -> [Vec<f64>; 2] {
        let arrivals: Arrivals = process.parse().unwrap();
        let mut gaps = crate::draw::Gaps::new(&arrivals, rate.recip(), Random::seed_from_u64(7));
        let mut now = 0.0;
        let times: Vec<f64> = std::iter::from_fn(|| {
            now += gaps.draw();
            (now < seconds as f64).then_some(now)
        })
        .collect();
        let mut counts = vec![0; seconds];
        times.iter().for_each(|at| counts[*at as usize] += 1);
        let placed = TwoStates::of(&arrivals, rate).unwrap().place(&counts, &mut Random::seed_from_u64(8));
        let placed = placed.into_iter().zip(0..);
        let placed =
            placed.flat_map(|(times, second)| times.into_iter().map(move |at| at + f64::from(second)));
        [times, placed.collect()]
    }

    fn cv_of_gaps(times: &[f64]) -> f64 {
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        stats::Deviations::of(&gaps).cv()
    }

    #[test]
    fn gaps_within_seconds_are_those_of_the_process() {
        for (process, rate) in [("h2:3", 10.0), ("h2:1.5", 40.0), ("mmpp:20:2s:8s", 10.0)] {
            let [times, placed] = both(process, rate, 20_000);
            assert_eq!(times.len(), placed.len(), "{process}");
            assert!(placed.is_sorted(), "{process}");
            let (known, found) = (cv_of_gaps(&times), cv_of_gaps(&placed));
            assert!((found / known - 1.0).abs() < 0.04, "{process}: {found} of {known}");
            let short =
                |times: &[f64]| times.windows(2).filter(|pair| pair[1] - pair[0] < 0.2 / rate).count() as f64;
            assert!((short(&placed) / short(&times) - 1.0).abs() < 0.04, "{process}");
        }
    }

    #[test]
    fn each_second_keeps_its_number() {
        let process = TwoStates::of(&"h2:2".parse().unwrap(), 3.0).unwrap();
        let counts = [0, 5, 0, 0, 100, MOST + 1, 1];
        let placed = process.place(&counts, &mut Random::seed_from_u64(1));
        assert_eq!(placed.iter().map(Vec::len).collect::<Vec<_>>(), counts);
        assert!(placed.iter().flatten().all(|at| (0.0..1.0).contains(at)));
    }
}
