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

/// When something is due that is done at multiples of an interval: things with equal intervals are due
/// together.
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

    /// Whether it is due, in which case it will be again at the next multiple that is still to come: what was
    /// missed, because the machine was stopped for example, is not made up for.
    pub(crate) fn is_due(&mut self, age: Span) -> bool {
        if age < self.due {
            return false;
        }
        let interval = self.interval.as_nanos().max(1);
        self.due = Span::from_nanos(age.as_nanos() / interval * interval + interval);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_intervals_keep_together_and_what_is_missed_is_not_made_up_for() {
        let (mut often, mut seldom) =
            (Pace::every(Span::from_millis(100)), Pace::every(Span::from_millis(300)));
        let mut both = Vec::new();
        for age in [0, 99, 103, 201, 305, 306, 950, 1000] {
            let age = Span::from_millis(age);
            both.push((often.is_due(age), seldom.is_due(age)));
        }
        let (no, one, two) = ((false, false), (true, false), (true, true));
        assert_eq!(both, [no, no, one, one, two, no, two, one]);
        assert_eq!(often.due(), Span::from_millis(1100));
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
