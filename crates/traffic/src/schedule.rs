//! [`Schedule`]: which class arrives when, over all classes.

use std::iter::Peekable;

use units::{ClassId, Time};

use crate::{Arrivals, Process, Profile};

/// Something that is to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When, from the start of the run.
    pub time: Time,
    /// A user of which class.
    pub class: ClassId,
}

/// The arrivals of all classes in order of time. Each class has a process of its own, so that
/// the arrivals of one do not tell anything about those of another.
#[derive(Debug, Clone)]
pub struct Schedule {
    classes: Vec<Peekable<Arrivals>>,
}

impl Schedule {
    /// Arrivals at the rate of `profile` in all, divided over the classes by their shares.
    pub fn new(process: Process, profile: &Profile, shares: &[f64], seed: u64) -> Self {
        let classes = shares.iter().zip(0..);
        Self {
            classes: classes
                .map(|(share, stream)| Arrivals::new(process, profile, *share, seed, stream).peekable())
                .collect(),
        }
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let (_, class, arrivals) = self
            .classes
            .iter_mut()
            .zip(0..)
            .filter_map(|(arrivals, class)| arrivals.peek().copied().map(|time| (time, class, arrivals)))
            .min_by_key(|(time, class, _)| (*time, *class))?;
        Some(Arrival { time: arrivals.next()?, class: ClassId(class) })
    }
}

#[cfg(test)]
mod tests {
    use units::Rate;

    use super::*;

    fn take(seed: u64) -> Vec<Arrival> {
        let profile = Profile::constant(Rate::per_second(50.0).unwrap());
        Schedule::new(Process::Poisson, &profile, &[0.2, 0.8], seed).take(10_000).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_run() {
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
    }

    #[test]
    fn arrivals_are_in_order_and_shared_out() {
        let arrivals = take(7);
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.time));
        let premium = arrivals.iter().filter(|arrival| arrival.class == ClassId(0)).count();
        assert!((1800..2200).contains(&premium), "{premium} of 10000 are premium");
        let seconds = arrivals.last().unwrap().time.as_nanos() as f64 / 1e9;
        assert!((190.0..210.0).contains(&seconds), "10000 arrivals at 50/s took {seconds} s");
    }

    #[test]
    fn a_class_that_never_comes_does_not_stop_the_others() {
        let profile = Profile::constant(Rate::per_second(1.0).unwrap());
        let classes: Vec<ClassId> =
            Schedule::new(Process::Constant, &profile, &[0.0, 1.0], 1).take(3).map(|a| a.class).collect();
        assert_eq!(classes, [ClassId(1); 3]);
    }
}
