//! [`Lengths`]: how many requests sessions have, learnt from those that end.

use alloc::vec;
use alloc::vec::Vec;

use units::{ClassId, SessionId, Span, Time};

use super::beginnings::Beginnings;
use super::mean::Mean;
use super::outcomes::Outcomes;
use super::progress::Progress;
use super::prospect::Prospect;
use super::silence::Silence;
use crate::table::spread;

/// Sessions that are followed to their ends: with more of them those that find a place free.
const FOLLOWED: usize = 512;
/// Looked at with each request, for one that has ended.
const LOOKED_AT: usize = 4;
/// Of so many in a place of their lives the older ones count half: what users do changes.
const REMEMBERED: f32 = 256.0;
/// Who begins comes back within this, or within what a silence may last; who is back after longer began before the gate did.
const MAX_PAUSE: Span = Span::from_secs(60);
/// So many have to end before anything is made of it, and then so many more.
const ENOUGH: f32 = 8.0;
const NEWS: u32 = 4;

/// A session that is followed.
#[derive(Debug, Clone, Copy)]
struct Followed {
    id: SessionId,
    class: ClassId,
    /// When it last asked for something, or had the last that it asked for.
    seen: Time,
    /// Requests that have come and are not settled.
    open: u16,
    progress: Progress,
    /// How many were served.
    served: u32,
    /// What became of the last: if it does not come back that is why.
    fate: Fate,
}

/// What becomes of a request of a session, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Served,
    /// Its client left while it was served, or it was more than its session may have.
    Left,
    /// It was refused, or its client gave up because it waited.
    Lost,
}

/// Sessions that were at one [`Progress`].
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    went_on: f32,
    ended: f32,
}

impl Stretch {
    /// The share that ended, a little less the fewer there were.
    fn hazard(self) -> f32 {
        const PRIOR: f32 = 8.0;
        self.ended / (self.went_on + self.ended + PRIOR)
    }

    fn fade(&mut self) {
        if self.went_on + self.ended > REMEMBERED {
            self.went_on /= 2.0;
            self.ended /= 2.0;
        }
    }
}

/// What is known of the sessions of a class.
#[derive(Debug, Clone)]
struct OfClass {
    silence: Silence,
    stretches: [Stretch; Progress::COUNT],
    beginnings: Beginnings,
    outcomes: Outcomes,
    /// Requests of sessions that were sent to the server, in this period and on average.
    sent: u32,
    outflow: Mean,
    prospects: [Prospect; Progress::COUNT],
    /// Sessions that have ended since something was made of it.
    ends: u32,
    /// How many a session has, on average.
    requests: Option<f32>,
    is_known: bool,
}

impl OfClass {
    /// The mean number of requests of those that ended, as far as any went.
    fn mean(&self) -> f32 {
        let (mut there, mut requests) = (1.0, 1.0);
        for (progress, stretch) in self.stretches.iter().enumerate() {
            let gone_on = match progress {
                0 => 1.0 - self.beginnings.hazard(),
                _ if stretch.went_on + stretch.ended < 1.0 => 0.0,
                _ => stretch.went_on / (stretch.went_on + stretch.ended),
            };
            there *= gone_on;
            requests += there * Progress::requests_at(progress + 1) as f32;
        }
        requests
    }
}

/// How lengths of sessions are distributed, class by class.
#[derive(Debug)]
pub(crate) struct Lengths {
    followed: Vec<Option<Followed>>,
    /// The place that is looked at next.
    hand: usize,
    classes: Vec<OfClass>,
}

impl Lengths {
    /// Of so many classes.
    pub(crate) fn new(classes: usize) -> Self {
        let unknown = OfClass {
            silence: Silence::UNKNOWN,
            stretches: [Stretch::default(); Progress::COUNT],
            beginnings: Beginnings::default(),
            outcomes: Outcomes::default(),
            sent: 0,
            outflow: Mean::default(),
            prospects: [Prospect::NONE; Progress::COUNT],
            ends: 0,
            requests: None,
            is_known: false,
        };
        Self { followed: vec![None; FOLLOWED], hand: 0, classes: vec![unknown; classes] }
    }

    /// A request was answered that belongs to no session yet.
    pub(crate) fn began(&mut self, class: ClassId) {
        self.classes[class.index()].beginnings.began();
    }

    /// A request of a session was sent to the server.
    pub(crate) fn sent(&mut self, class: ClassId) {
        self.classes[class.index()].sent += 1;
    }

    /// A request of a session has come, which is so far by it, and had been silent for `first_pause` if nothing was known of it. Gives
    /// whether it has to be [`Lengths::settled`].
    pub(crate) fn came(
        &mut self,
        now: Time,
        class: ClassId,
        id: SessionId,
        progress: Progress,
        first_pause: Option<Span>,
    ) -> bool {
        let of = &mut self.classes[class.index()];
        let longest = of.silence.of_the_end().map_or(MAX_PAUSE, |end| end.max(MAX_PAUSE));
        if first_pause.is_some_and(|pause| pause < longest) {
            of.beginnings.came_back();
        }
        let place = &mut self.followed[spread(id.0) as usize % FOLLOWED];
        match place {
            Some(followed) if followed.id == id => {
                let of = &mut self.classes[followed.class.index()];
                if followed.open == 0 {
                    of.silence.learn(now.since(followed.seen));
                }
                if followed.progress != progress {
                    let at = &mut of.stretches[followed.progress.index()];
                    at.went_on += 1.0;
                    at.fade();
                }
                let open = followed.open.saturating_add(1);
                *followed = Followed { class, seen: now, open, progress, fate: Fate::Served, ..*followed };
                true
            }
            None if first_pause.is_some() => {
                // One has been served, or it would not be known.
                *place =
                    Some(Followed { id, class, seen: now, open: 1, progress, served: 1, fate: Fate::Served });
                true
            }
            _ => false,
        }
    }

    /// A request of a session has come that is more than it may have ahead of others: how far it has come does not change. Gives whether
    /// it has to be [`Lengths::settled`].
    pub(crate) fn came_beside(&mut self, now: Time, id: SessionId) -> bool {
        let Some(followed) = self.following(id) else { return false };
        followed.open = followed.open.saturating_add(1);
        (followed.seen, followed.fate) = (now, Fate::Served);
        true
    }

    /// A request of a session that had come needs nothing more.
    pub(crate) fn settled(&mut self, now: Time, id: SessionId, fate: Fate) {
        if let Some(followed) = self.following(id) {
            followed.open = followed.open.saturating_sub(1);
            followed.seen = now;
            if fate == Fate::Served {
                followed.served = followed.served.saturating_add(1);
            } else {
                followed.fate = followed.fate.max(fate);
            }
        }
    }

    /// A request of a session was refused before it could wait.
    pub(crate) fn lost(&mut self, id: SessionId) {
        if let Some(followed) = self.following(id) {
            followed.fate = Fate::Lost;
        }
    }

    fn following(&mut self, id: SessionId) -> Option<&mut Followed> {
        self.followed[spread(id.0) as usize % FOLLOWED].as_mut().filter(|followed| followed.id == id)
    }

    /// Looks at a few of those that are followed: who waits for nothing and is silent for longer than any that comes back has ended.
    pub(crate) fn look(&mut self, now: Time) {
        for _ in 0..LOOKED_AT {
            self.hand = (self.hand + 1) % FOLLOWED;
            let place = &mut self.followed[self.hand];
            let Some(followed) = *place else { continue };
            let of = &mut self.classes[followed.class.index()];
            let end = of.silence.of_the_end();
            if followed.open > 0 || end.is_none_or(|end| now.since(followed.seen) <= end) {
                continue;
            }
            *place = None;
            if followed.fate != Fate::Left {
                of.outcomes.learn(followed.served, followed.fate == Fate::Lost, of.requests);
            }
            if followed.fate == Fate::Served {
                let at = &mut of.stretches[followed.progress.index()];
                at.ended += 1.0;
                at.fade();
                of.ends += 1;
            }
        }
    }

    /// A period is over: makes something of what was learnt of a class, from time to time.
    pub(crate) fn conclude(&mut self, now: Time, class: ClassId) {
        let of = &mut self.classes[class.index()];
        let Some(end) = of.silence.of_the_end() else { return };
        of.beginnings.advance(now, end);
        if of.ends < NEWS {
            return;
        }
        of.ends = 0;
        let ended: f32 = of.stretches.iter().map(|stretch| stretch.ended).sum();
        of.is_known = ended >= ENOUGH;
        if of.is_known {
            let mut hazards = of.stretches.map(Stretch::hazard);
            hazards[0] = of.beginnings.hazard();
            of.prospects = Prospect::of(&hazards);
            of.requests = Some(of.mean());
            of.is_known = of.prospects.iter().any(|prospect| *prospect > Prospect::NONE);
        }
    }

    /// How many requests a session of a class has, on average, as soon as that is known.
    pub(crate) fn requests(&self, class: ClassId) -> Option<f64> {
        self.classes[class.index()].requests.map(f64::from)
    }

    /// A period is over in which the server worked.
    pub(crate) fn end_period(&mut self, class: ClassId) {
        let of = &mut self.classes[class.index()];
        of.outflow.learn(f64::from(core::mem::take(&mut of.sent)));
    }

    /// Requests of a class that are served in a period for sessions that are lost, on average.
    pub(crate) fn wasted(&self, class: ClassId) -> f64 {
        let of = &self.classes[class.index()];
        of.outflow.get() * of.outcomes.lost()
    }

    /// Periods are `longer` times as long from now on.
    pub(crate) fn rescale(&mut self, longer: f64) {
        self.classes.iter_mut().for_each(|of| of.outflow.rescale(longer));
    }

    /// Whether lengths of a class tell its sessions apart.
    pub(crate) fn are_known(&self, class: ClassId) -> bool {
        self.classes[class.index()].is_known
    }

    /// What is to be expected of a session that is so far.
    pub(crate) fn prospect(&self, class: ClassId, progress: Progress) -> Prospect {
        let of = &self.classes[class.index()];
        if of.is_known { of.prospects[progress.index()] } else { Prospect::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: ClassId = ClassId(0);

    fn first_pause(request: u32) -> Option<Span> {
        (request == 1).then_some(Span::ZERO)
    }

    /// Sessions of so many requests one after the other, four of which begin in a second; each tenth ends with a refusal.
    fn learnt(lengths: impl Fn(u64) -> u32) -> Lengths {
        let mut learnt = Lengths::new(1);
        for id in 0..4000 {
            let began = Time::ZERO + Span::from_millis(250) * id;
            learnt.began(CLASS);
            for request in 1..lengths(id) {
                let at = began + Span::from_millis(100) * u64::from(request);
                learnt.came(at, CLASS, SessionId(id), Progress::after(request), first_pause(request));
                let is_lost = id / 10 % 10 == 0 && request + 1 == lengths(id);
                learnt.settled(at, SessionId(id), if is_lost { Fate::Lost } else { Fate::Served });
            }
            for _ in 0..8 {
                learnt.look(began);
            }
            learnt.conclude(began, CLASS);
        }
        learnt
    }

    fn prospects(learnt: &Lengths, requests: impl Iterator<Item = u32>) -> Vec<Prospect> {
        requests.map(|requests| learnt.prospect(CLASS, Progress::after(requests))).collect()
    }

    #[test]
    fn who_is_near_the_end_has_more_prospect_than_who_begins() {
        let all = prospects(&learnt(|_| 6), 0..6);
        assert!(all.is_sorted() && all[5] > all[3] && all[3] > all[0], "{all:?}");
        assert_eq!(all[0], Prospect::NONE);
    }

    #[test]
    fn how_many_requests_they_have_is_known_on_average() {
        for (requests, lengths) in [(6.0, [6, 6]), (2.0, [1, 3]), (25.0, [10, 40])] {
            let learnt = learnt(|id| lengths[id as usize % 2]);
            let found = learnt.requests(CLASS).unwrap_or_default();
            assert!((0.8 * requests..1.25 * requests).contains(&found), "{found} instead of {requests}");
        }
    }

    #[test]
    fn who_has_gone_on_beyond_the_others_has_no_more_than_who_begins() {
        let learnt = learnt(|id| if id % 5 == 0 { 2000 } else { 6 });
        let all = prospects(&learnt, [0, 4, 5, 7, 100, 1900].into_iter());
        assert!(all[2] > all[1], "{all:?}");
        for beyond in [3, 4] {
            assert_eq!(all[beyond], Prospect::NONE, "{all:?}");
        }
    }

    #[test]
    fn of_sessions_without_an_end_nothing_is_known() {
        assert!(!Lengths::new(1).are_known(CLASS));
        let mut endless = Lengths::new(1);
        for second in 0..1000 {
            let now = Time::ZERO + Span::from_secs(second);
            for id in 0..50 {
                let request = second as u32 + 1;
                endless.came(now, CLASS, SessionId(id), Progress::after(request), first_pause(request));
                endless.settled(now, SessionId(id), Fate::Served);
                endless.look(now);
            }
            endless.conclude(now, CLASS);
        }
        assert!(!endless.are_known(CLASS));
    }

    #[test]
    fn where_most_ask_once_those_who_go_on_are_worth_more() {
        let learnt = learnt(|id| if id % 10 == 0 { 40 } else { 1 });
        let found = prospects(&learnt, [1, 8, 20].into_iter());
        assert!(found.is_sorted() && found[0] > Prospect::NONE, "{found:?}");
    }

    #[test]
    fn who_waits_has_not_ended() {
        let mut learnt = Lengths::new(1);
        for id in 0..400 {
            let mut now = Time::ZERO + Span::from_secs(1) * id;
            learnt.began(CLASS);
            // The last of six is waited for as long as fifty pauses are, and then given up.
            for request in 1..6 {
                learnt.came(now, CLASS, SessionId(id), Progress::after(request), first_pause(request));
                let wait = Span::from_millis(if request == 5 && id % 2 == 0 { 5000 } else { 10 });
                for _ in 0..200 {
                    now += wait / 200;
                    learnt.look(now);
                }
                let is_lost = request == 5 && id % 2 == 0;
                learnt.settled(now, SessionId(id), if is_lost { Fate::Lost } else { Fate::Served });
                now += Span::from_millis(100);
            }
            (0..200).for_each(|_| learnt.look(now + Span::from_secs(10)));
            learnt.conclude(now, CLASS);
        }
        let requests = learnt.requests(CLASS).unwrap_or_default();
        assert!((5.5..6.5).contains(&requests), "{requests} of six");
        // Of eleven that were served five were of a session that was lost, and eight are taken to be finished besides.
        let of = &learnt.classes[0];
        let lost = of.outcomes.lost() * (1.0 + 8.0 / 64.0);
        assert!((0.42..0.49).contains(&lost), "{lost} and not 5/11");
    }

    #[test]
    fn what_becomes_of_the_last_requests_decides_and_the_worst_of_them() {
        let lost = |fates: &[Fate]| {
            let mut learnt = Lengths::new(1);
            for id in 0..100 {
                let mut now = Time::ZERO + Span::from_secs(2) * id;
                for request in 1..4 {
                    learnt.came(now, CLASS, SessionId(id), Progress::after(request), first_pause(request));
                    learnt.settled(now, SessionId(id), Fate::Served);
                    now += Span::from_millis(100);
                }
                for (number, _) in fates.iter().enumerate() {
                    learnt.came(now, CLASS, SessionId(id), Progress::after(4 + number as u32), None);
                }
                for fate in fates {
                    learnt.settled(now, SessionId(id), *fate);
                }
                (0..600).for_each(|_| learnt.look(now + Span::from_secs(1)));
                learnt.conclude(now, CLASS);
            }
            (learnt.classes[0].outcomes.lost(), learnt.classes[0].stretches.iter().any(|at| at.ended > 0.0))
        };
        assert_eq!(lost(&[Fate::Served]), (0.0, true));
        assert!(!lost(&[Fate::Lost, Fate::Served]).1);
        assert!(lost(&[Fate::Lost, Fate::Left]).0 > 0.9, "{:?}", lost(&[Fate::Lost, Fate::Left]));
        assert_eq!(lost(&[Fate::Left, Fate::Served]), (0.0, false));
    }

    #[test]
    fn what_a_session_has_besides_keeps_it_open_and_brings_it_no_farther() {
        let mut learnt = Lengths::new(1);
        let (now, id) = (Time::ZERO, SessionId(7));
        assert!(!learnt.came_beside(now, id), "nothing is known of it");
        assert!(learnt.came(now, CLASS, id, Progress::after(1), Some(Span::ZERO)));
        assert!(learnt.came_beside(now, id));
        learnt.settled(now, id, Fate::Served);
        let followed =
            learnt.following(id).map(|followed| (followed.open, followed.progress, followed.served));
        assert_eq!(followed, Some((1, Progress::after(1), 2)));
    }

    #[test]
    fn who_reads_for_longer_than_a_minute_comes_back_and_who_was_there_before_the_gate_does_not() {
        let hazard = |pause: Span, between: Span| {
            let mut learnt = Lengths::new(1);
            for id in 0..200 {
                let now = Time::ZERO + Span::from_secs(10) * id;
                learnt.began(CLASS);
                learnt.came(now, CLASS, SessionId(id), Progress::after(1), Some(pause));
                learnt.settled(now, SessionId(id), Fate::Served);
                learnt.came(now + between, CLASS, SessionId(id), Progress::after(2), None);
                learnt.settled(now + between, SessionId(id), Fate::Served);
                (0..200).for_each(|_| learnt.look(now));
                learnt.conclude(now, CLASS);
            }
            learnt.classes[0].beginnings.hazard()
        };
        let [long, short] = [Span::from_secs(90), Span::from_millis(100)];
        assert!(hazard(long, long) < 0.5, "{}", hazard(long, long));
        assert!(hazard(long, short) > 0.9, "{}", hazard(long, short));
    }
}
