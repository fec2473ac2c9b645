//! [`List`]: requests drawn from a fixed list of files with a share each.

use rand::Rng;
use rand::rngs::StdRng;

use super::law;

/// Draws from a list of files that may be there several times over, in directories that are all
/// asked for equally often.
#[derive(Debug, Clone)]
pub(super) struct List {
    /// Up to the end of each file of a directory: the sum of the weights so far.
    cumulative: Vec<f64>,
    directories: u32,
    random: StdRng,
}

impl List {
    /// Files with these weights, none below 0 and at least one above, in `directories`.
    pub(super) fn new(weights: impl IntoIterator<Item = f64>, directories: u32, seed: u64) -> Self {
        let cumulative = weights.into_iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { cumulative: cumulative.collect(), directories, random: law::random(seed, 0) }
    }

    /// The next file, counted through all directories.
    pub(super) fn request(&mut self) -> u32 {
        let files = self.cumulative.len() as u32;
        let total = self.cumulative.last().copied().unwrap_or_default();
        let drawn = self.random.random::<f64>() * total;
        let file = self.cumulative.partition_point(|sum| *sum <= drawn) as u32;
        self.random.random_range(0..self.directories) * files + file.min(files - 1)
    }
}
