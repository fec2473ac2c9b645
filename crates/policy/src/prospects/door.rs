//! [`Door`]: when the next session of a class may begin.

use units::{Span, Time};

/// Lets sessions begin at the pace at which they can be finished, whether a place is free just then or not.
///
/// Who begins now brings the work of some seconds later. Were new sessions let in only where a place would stay
/// empty, all that wait would come in at such a moment, for a first page costs little; the server would be idle
/// while all of them read, and most would be lost to those who came first. So it is known how many requests the
/// class can have served, and how many a session has (Little 1961: of those inside, no more than can be served in
/// the time that they are). Some more begin, because some of them leave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Door {
    /// How many times as many begin as can be finished.
    margin: f64,
    /// Sessions per second.
    pace: f64,
    /// Sessions per period.
    lot: f64,
    /// Whether anything is known of these.
    is_known: bool,
    /// Sessions that may begin by `at`.
    credit: f64,
    at: Time,
}

impl Default for Door {
    fn default() -> Self {
        Self { margin: Self::MIN_MARGIN, pace: 0.0, lot: 0.0, is_known: false, credit: 0.0, at: Time::ZERO }
    }
}

impl Door {
    const MIN_MARGIN: f64 = 1.0;
    /// However short sessions have become, an idle server gets enough of them.
    const MAX_MARGIN: f64 = 1e4;
    /// The part of its places that a busy server leaves empty between two requests.
    const IDLE: f64 = 0.02;
    /// How much faster sessions begin after a period in which the server did nothing, and what is left of that after one
    /// in which it had enough.
    const FASTER: f64 = 0.2;
    const KEPT: f64 = 0.97;
    /// What is left of a session when its credit is rounded.
    const ROUNDING: f64 = 1e-6;

    /// A `period` is over in which that part of the places was `empty` while sessions waited to begin. In each, `reach` requests of
    /// the class are served on average, or could be; sessions have `requests`, if that is known. Of those who have begun, `crowding` times as
    /// many wait as should: with twice as many none begins by its pace.
    pub(crate) fn end_period(
        &mut self,
        now: Time,
        period: Span,
        reach: f64,
        empty: f64,
        requests: Option<f64>,
        crowding: f64,
    ) {
        // While many wait inside it is not for want of sessions.
        if empty > Self::IDLE && crowding <= 1.0 {
            self.margin = (self.margin * (1.0 + Self::FASTER * empty)).min(Self::MAX_MARGIN);
        } else {
            self.margin = Self::MIN_MARGIN + (self.margin - Self::MIN_MARGIN) * Self::KEPT;
        }
        self.credit = self.credit(now);
        self.at = now;
        let whole = requests.map_or(0.0, |requests| self.margin * reach / requests.max(1.0));
        self.is_known = whole > 0.0;
        self.lot = whole * (2.0 - crowding).clamp(0.0, 1.0);
        self.pace = self.lot / period.as_secs_f64();
        self.credit = self.credit.max(-self.loan());
    }

    /// How many begin in a period, if it is known how long sessions are.
    pub(crate) fn lot(&self) -> Option<f64> {
        self.is_known.then_some(self.lot)
    }

    /// What was not used in a period is not saved up.
    fn credit(&self, now: Time) -> f64 {
        (self.credit + self.pace * now.since(self.at).as_secs_f64()).min(self.lot.max(1.0))
    }

    /// What may be borrowed while the server has nothing else to do.
    fn loan(&self) -> f64 {
        (2.0 * self.lot).max(1.0)
    }

    /// Whether the next session may begin, also while requests of others wait.
    pub(crate) fn is_open(&self, now: Time) -> bool {
        self.credit(now) >= 1.0 - Self::ROUNDING
    }

    /// Whether it may where nothing else waits.
    pub(crate) fn is_open_for_idle(&self, now: Time) -> bool {
        self.credit(now) >= 1.0 - self.loan() - Self::ROUNDING
    }

    /// When [`Door::is_open`] will be so.
    pub(crate) fn opens(&self) -> Time {
        self.opens_at(1.0)
    }

    /// When [`Door::is_open_for_idle`] will.
    pub(crate) fn opens_for_idle(&self) -> Time {
        self.opens_at(1.0 - self.loan())
    }

    fn opens_at(&self, credit: f64) -> Time {
        let missing = (credit - self.credit).max(0.0);
        if self.pace <= 0.0 {
            return Time::NEVER;
        }
        self.at + Span::from_secs_f64(missing / self.pace) + Span::from_nanos(1)
    }

    /// A session begins.
    pub(crate) fn pass(&mut self, now: Time) {
        self.credit = (self.credit(now) - 1.0).max(-self.loan());
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::mean::Mean;
    use super::super::spare::Spare;
    use super::*;

    const PERIOD: Span = Span::from_millis(250);

    /// Of a server that was always busy.
    fn busy() -> Door {
        let mut door = Door::default();
        (0..200).for_each(|_| door.end_period(Time::ZERO, PERIOD, 50.0, 0.0, None, 0.0));
        door
    }

    /// A server that can do 50 requests in a period, sessions of ten requests, and crowds at the door; gives how many begin in a
    /// second and how much of the server was used in the end. Each session that began brings its requests in the next periods.
    fn begun(door: &mut Door, from: u64, periods: u64, requests: f64) -> (f64, f64) {
        let (mut spare, mut reach) = (Spare::default(), Mean::default());
        (0..200).for_each(|_| spare.end_period(50.0, 1.0));
        (0..200).for_each(|_| _ = reach.learn(50.0));
        let (mut now, mut backlog, mut begun, mut used) = (Time::ZERO + PERIOD * from, 0.0_f64, 0, 0.0);
        for _ in 0..periods {
            let (mut in_time, served) = (now, backlog.min(50.0));
            for _ in 0..50 {
                in_time += PERIOD / 50;
                while door.is_open(in_time) || (backlog <= served && door.is_open_for_idle(in_time)) {
                    door.pass(in_time);
                    begun += 1;
                    backlog += 10.0;
                }
            }
            backlog -= served;
            now += PERIOD;
            used = served / 50.0;
            spare.end_period(served, used);
            reach.learn(served + spare.requests());
            door.end_period(now, PERIOD, reach.get(), 1.0 - used, Some(requests), 0.0);
        }
        (f64::from(begun) / (PERIOD * periods).as_secs_f64(), used)
    }

    #[test]
    fn as_many_begin_as_can_be_finished_and_a_few_more() {
        let mut door = busy();
        begun(&mut door, 0, 200, 10.0);
        let (rate, used) = begun(&mut door, 200, 200, 10.0);
        assert!((20.0..26.0).contains(&rate), "{rate} of 20 in a second");
        assert!(used > 0.99, "{used}");
    }

    #[test]
    fn sessions_that_are_shorter_than_they_were_leave_the_server_idle_for_seconds_only() {
        let mut door = busy();
        begun(&mut door, 0, 200, 10.0);
        let (_, used) = begun(&mut door, 200, 60, 50.0);
        assert!(used > 0.9, "{used}");
    }

    #[test]
    fn nothing_is_saved_up_and_nothing_owed_for_long() {
        let mut door = Door::default();
        for period in 1..=200 {
            door.end_period(Time::ZERO + PERIOD * period, PERIOD, 50.0, 0.0, Some(10.0), 0.0);
        }
        let passing = |door: &mut Door, now| {
            (0..1000).filter(|_| door.is_open(now).then(|| door.pass(now)).is_some()).count()
        };
        let later = Time::ZERO + Span::from_secs(100);
        assert!((4..=5).contains(&passing(&mut door, later)), "those of a period");
        (0..1000).for_each(|_| door.pass(later));
        assert!(!door.is_open_for_idle(later));
        let opens = door.opens_for_idle();
        assert!(opens > later && opens < later + PERIOD, "{opens:?}");
        assert!(door.is_open_for_idle(opens) && !door.is_open(opens));
        assert!(door.is_open(later + PERIOD * 4));
    }

    #[test]
    fn fewer_begin_while_more_wait_inside_than_should() {
        let pace = |crowding| {
            let mut door = Door::default();
            door.end_period(Time::ZERO, PERIOD, 50.0, 0.0, Some(10.0), crowding);
            door.lot()
        };
        assert_eq!(
            [0.0, 1.0, 1.5, 2.0, 9.0].map(pace),
            [Some(5.0), Some(5.0), Some(2.5), Some(0.0), Some(0.0)]
        );
    }

    #[test]
    fn it_is_shut_as_long_as_nothing_is_known() {
        let door = Door::default();
        assert!(!door.is_open(Time::ZERO + Span::from_secs(5)));
        assert_eq!(door.opens_for_idle(), Time::NEVER);
    }
}
