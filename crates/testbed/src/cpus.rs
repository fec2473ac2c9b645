//! [`Cpus`]: a list of processors as `taskset -c` takes it.

use std::fmt;
use std::str::FromStr;

/// Processors by number, such as `0`, `0,2` or `1-3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus(Vec<(usize, usize)>);

impl Cpus {
    /// One processor.
    pub fn one(number: usize) -> Self {
        Self(vec![(number, number)])
    }

    /// The numbers, in the order given.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }

    /// Whether any of them is one of the others.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.numbers().any(|number| other.numbers().any(|one| one == number))
    }
}

/// What cannot be read as a list of processors.
#[derive(Debug, thiserror::Error)]
#[error("processors are written as \"0\", \"0,2\" or \"1-3\"")]
pub struct NoCpus;

impl FromStr for Cpus {
    type Err = NoCpus;

    fn from_str(text: &str) -> Result<Self, NoCpus> {
        /// More than Linux supports on any machine; keeps a typing error from becoming a long loop.
        const MAX_NUMBER: usize = 8192;
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last && last < MAX_NUMBER).then_some((first, last))
        };
        text.split(',').map(range).collect::<Option<_>>().map(Self).ok_or(NoCpus)
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}
