//! [`Groups`]: which groups of figures are read, and how often.

use units::Span;

/// A group of figures: each can be switched off, and has its own interval (the paper's section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The kernel as a whole.
    Kernel,
    /// The programs' processes.
    Processes,
    /// The network interfaces.
    Network,
    /// The ports' connections and listen queues.
    Connections,
    /// What can run out, and what threads wait for; only where it is asked for, since a look takes longer than
    /// all the others together.
    Limits,
    /// Requests: how often they are told; they are followed all the time, or in windows.
    Requests,
}

impl Group {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] =
        [Self::Kernel, Self::Processes, Self::Network, Self::Connections, Self::Limits, Self::Requests];

    /// Its name in options, files and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Processes => "processes",
            Self::Network => "network",
            Self::Connections => "connections",
            Self::Limits => "limits",
            Self::Requests => "requests",
        }
    }
}

/// The interval of each group; none for those that are switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups([Option<Span>; Group::ALL.len()]);

impl Groups {
    /// All groups that are on unless switched off, that often.
    pub const fn every(interval: Span) -> Self {
        let mut groups = Self([Some(interval); Group::ALL.len()]);
        groups.set(Group::Limits, None);
        groups
    }

    /// Its interval; none when it is switched off.
    pub const fn interval(&self, group: Group) -> Option<Span> {
        self.0[group as usize]
    }

    /// Sets the interval of one of them, or switches it off.
    pub const fn set(&mut self, group: Group, interval: Option<Span>) {
        self.0[group as usize] = interval;
    }
}

/// When something is due that is done about once in each interval: things with equal intervals are due together.
///
/// It is a little later than a multiple of the interval, each time by another time: requests that come at equal distances
/// would be found at the same moment of their lives again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    interval: Span,
    due: Span,
}

impl Pace {
    /// For the first time after one interval.
    pub(crate) const fn every(interval: Span) -> Self {
        Self { interval, due: interval }
    }

    /// The interval.
    pub(crate) const fn interval(self) -> Span {
        self.interval
    }

    /// How long after the start it is due.
    pub(crate) const fn due(self) -> Span {
        self.due
    }

    /// Whether it is due, in which case it will be again in the next interval that is still to come: what was
    /// missed, because the machine was stopped for example, is not made up for.
    pub(crate) fn is_due(&mut self, age: Span) -> bool {
        if age < self.due {
            return false;
        }
        let interval = self.interval.as_nanos().max(1);
        let next = age.as_nanos() / interval * interval + interval;
        let most = (interval / 2).min(MOST_LATER.as_nanos());
        let later = ((spread(next) >> 32) * most) >> 32;
        self.due = Span::from_nanos(next + later);
        true
    }
}

/// So much later than a multiple at most, and no more than half of the interval.
const MOST_LATER: Span = Span::from_millis(100);

/// A number that says nothing of the one that it is made from (splitmix64: Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014).
const fn spread(of: u64) -> u64 {
    let mut mixed = of.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_intervals_keep_together_and_what_is_missed_is_not_made_up_for() {
        let [mut one, mut other] = [(); 2].map(|()| Pace::every(Span::from_millis(100)));
        assert!(!one.is_due(Span::from_millis(99)) && one.is_due(Span::from_millis(100)));
        assert!(other.is_due(Span::from_millis(110)));
        assert_eq!(one.due(), other.due());
        assert!((200..250).contains(&(one.due().as_nanos() / 1_000_000)), "{:?}", one.due());
        assert!(one.is_due(Span::from_millis(950)));
        assert!((1000..1050).contains(&(one.due().as_nanos() / 1_000_000)), "{:?}", one.due());
    }

    /// Requests every 10 ms are met at all moments of their lives, however long the interval.
    #[test]
    fn nothing_that_is_regular_is_met_at_one_moment_of_it_alone() {
        for interval in [Span::from_millis(200), Span::from_secs(1), Span::from_secs(60)] {
            let mut pace = Pace::every(interval);
            let mut met = [0; 5];
            for _ in 0..500 {
                assert!(pace.is_due(pace.due()));
                met[(pace.due().as_nanos() % 10_000_000 / 2_000_000) as usize] += 1;
            }
            assert!(met.iter().all(|met| (70..130).contains(met)), "{interval}: {met:?}");
        }
    }

    #[test]
    fn one_group_is_set_by_itself() {
        let mut groups = Groups::every(Span::from_secs(1));
        groups.set(Group::Network, None);
        groups.set(Group::Connections, Some(Span::from_secs(5)));
        let intervals = Group::ALL.map(|group| groups.interval(group).map(|interval| interval.as_nanos()));
        let (one, five) = (Some(1_000_000_000), Some(5_000_000_000));
        assert_eq!(intervals, [one, one, None, five, None, one]);
    }
}
