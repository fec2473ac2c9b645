//! [`Schedule`]: which class arrives when, over all classes.

use std::iter::Peekable;

use rand::Rng;
use rand::rngs::StdRng;
use units::{ClassId, Time};

use crate::seed::random;
use crate::trace::{Repeat, Times};
use crate::{Arrivals, Mix, Process, Profile};

/// Something that is to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When, from the start of the run.
    pub time: Time,
    /// A user of which class.
    pub class: ClassId,
}

/// The arrivals of all classes in order of time.
#[derive(Debug, Clone)]
pub struct Schedule(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// Each class has a process of its own, so that the arrivals of one do not tell anything
    /// about those of another.
    Processes(Vec<Peekable<Arrivals>>),
    /// The arrivals of all classes are at equal distances, and dealt out.
    Constant { arrivals: Box<Arrivals>, mix: Mix },
    /// Each arrival is of a class drawn by chance.
    Trace { times: Repeat, shares: Vec<f64>, random: Box<StdRng> },
}

impl Schedule {
    /// Arrivals at the rate of `profile` in all, divided over the classes by their shares.
    pub fn new(process: Process, profile: &Profile, shares: &[f64], seed: u64) -> Self {
        if process == Process::Constant {
            let arrivals = Box::new(Arrivals::new(process, profile, shares.iter().sum(), seed, 0));
            return Self(Kind::Constant { arrivals, mix: Mix::new(shares.to_vec()) });
        }
        let arrivals =
            |(share, stream): (&f64, u64)| Arrivals::new(process, profile, *share, seed, stream).peekable();
        Self(Kind::Processes(shares.iter().zip(0..).map(arrivals).collect()))
    }

    /// Arrivals at the times of a trace, from its start again whenever it has ended. Shares sum
    /// to 1.
    pub fn replaying(times: &Times, shares: &[f64], seed: u64) -> Self {
        Self(Kind::Trace {
            times: times.arrivals(),
            shares: shares.to_vec(),
            random: Box::new(random(seed, 0, b"")),
        })
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        match &mut self.0 {
            Kind::Processes(classes) => {
                let (_, class, arrivals) = classes
                    .iter_mut()
                    .zip(0..)
                    .filter_map(|(arrivals, class)| {
                        arrivals.peek().copied().map(|time| (time, class, arrivals))
                    })
                    .min_by_key(|(time, class, _)| (*time, *class))?;
                Some(Arrival { time: arrivals.next()?, class: ClassId(class) })
            }
            Kind::Constant { arrivals, mix } => Some(Arrival { time: arrivals.next()?, class: mix.deal() }),
            Kind::Trace { times, shares, random } => {
                let class = draw(shares, random.random());
                Some(Arrival { time: times.next()?, class })
            }
        }
    }
}

/// The class that `chance`, from 0 to 1, falls to.
fn draw(shares: &[f64], mut chance: f64) -> ClassId {
    let mut last = ClassId(0);
    for (share, class) in shares.iter().zip(0..) {
        if *share > 0.0 {
            last = ClassId(class);
            chance -= share;
            if chance < 0.0 {
                break;
            }
        }
    }
    // Shares whose sum is a little less than 1 leave a little to the last.
    last
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

    #[test]
    fn constant_arrivals_of_all_classes_are_at_equal_distances_from_the_start_on() {
        for (rate, seconds) in [(10.0, 1), (7.0, 3), (0.5, 4), (333.0, 2), (1e6, 1)] {
            let profile = Profile::constant(Rate::per_second(rate).unwrap());
            let end = Time::ZERO + units::Span::from_secs(seconds);
            let arrivals: Vec<Arrival> = Schedule::new(Process::Constant, &profile, &[0.2, 0.8], 7)
                .take_while(|arrival| arrival.time < end)
                .collect();
            assert_eq!(arrivals.len(), (rate * seconds as f64) as usize, "{rate}/s for {seconds} s");
            assert_eq!(arrivals[0].time, Time::ZERO);
            let gaps = arrivals.windows(2).map(|pair| pair[1].time.since(pair[0].time).as_secs_f64());
            assert!(gaps.into_iter().all(|gap| (gap * rate - 1.0).abs() < 1e-2), "{rate}/s");
            let premium = arrivals.iter().filter(|arrival| arrival.class == ClassId(0)).count();
            assert!((premium as f64 - arrivals.len() as f64 / 5.0).abs() <= 1.0, "{premium}");
        }
    }

    #[test]
    fn arrivals_of_a_trace_are_shared_out_by_chance() {
        let text: String = (0..1000).map(|time| format!("{}.5\n", time * time)).collect();
        let (times, _) = Times::parse("times".as_ref(), text.as_bytes()).unwrap();
        let arrivals: Vec<Arrival> = Schedule::replaying(&times, &[0.2, 0.0, 0.8], 7).take(10_000).collect();
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.time));
        assert_eq!(arrivals[2].time, Time::from_nanos(4_000_000_000));
        let count = |class| arrivals.iter().filter(|arrival| arrival.class == ClassId(class)).count();
        assert!((1880..2120).contains(&count(0)), "{} of 10000 are premium", count(0));
        assert_eq!((count(1), count(0) + count(2)), (0, 10_000));
        let again: Vec<Arrival> = Schedule::replaying(&times, &[0.2, 0.0, 0.8], 7).take(10_000).collect();
        assert_eq!(arrivals, again);
        assert_eq!(draw(&[0.5, 0.4, 0.0], 0.99), ClassId(1));
    }
}
