//! [`Search`]: looks for the smallest window that keeps the server busy.

use units::{Span, Time};

use super::observed::{Observation, Observed};
use super::posterior::{Posterior, Requests, log_ratio};
use super::trial::{Sample, Step, Trial};

/// A home, and from time to time a trial of another size between two of the home.
///
/// What the other size finishes, in work and relative to home just before and just after, changes the
/// [`Posterior`] in how throughput follows the size, by Bayes' rule, and home moves to where the next
/// place is worth its longer response times no more. (Response time tells nothing beyond that, by
/// Little's law, and of those that are inside at the end of a trial it is not known yet.)
///
/// The size to try is the one that is expected to tell most for what it costs: far from home as
/// long as little is known, the next ones when much is. Then home rests between trials, so that
/// trying costs one or two per cent.
///
/// A change of the work cannot make it collapse, as it does where response times are held against
/// an old baseline: only trials next to each other in time are compared, and where home itself
/// was not the same before and after, the comparison counts for less.
#[derive(Debug)]
pub(super) struct Search {
    home: u32,
    /// The size that is tried.
    probe: Option<u32>,
    min: u32,
    max: u32,
    posterior: Posterior,
    trial: Trial,
    observed: Observed,
    /// What was observed, how often.
    observations: u32,
    /// What the server needs by that.
    needed: Option<u32>,
    /// Home before more requests were there than it has places, and when they were that last.
    roomy: Option<u32>,
    crowded: Time,
    /// When all last found a place.
    found_room: Time,
    /// Home, when it was last tried, and what was tried since.
    before: Option<Sample>,
    probed: Option<Sample>,
    /// Comparisons since home moved.
    agreed: u32,
    /// Trials of home since the last of another size.
    rested: u32,
    /// The last smaller size told nothing: important requests, which are let in nevertheless, kept as
    /// many inside as at home. The next to be tried is a larger one.
    hindered: bool,
    /// Squared coefficient of variation of what a request costs, as far as throughput shows it.
    variation: f64,
    /// How long the last trial took.
    took: Span,
    /// For how long a request is inside at home, in seconds, as soon as it has been tried.
    response: Option<f64>,
    /// What requests are by that.
    requests: Requests,
    /// A size that was not filled when it was tried, and for how many more trials of home it is not tried again.
    unfilled: Option<(u32, u32)>,
}

impl Search {
    /// The elasticity of throughput at which a larger window begins to be worth its longer
    /// response times. The power of Kleinrock (1979), throughput over response time, is largest at
    /// one half, but leaves a server of random demands a fifth below what it can do; in overload
    /// that is what there is to share out.
    const WORTH: f64 = 0.2;
    /// The same where a request is inside for so short a time that longer is not felt either, and for how long that is, in seconds.
    const MIN_WORTH: f64 = 0.1;
    const NOT_FELT: f64 = 0.005;
    /// Requests that were found long are short from this part of it on.
    const SHORT: f64 = 0.7;
    /// How much a trial of home counts for in how long requests are inside.
    const LATEST: f64 = 0.25;
    /// Home stays where it is as long as it is right but for this factor of elasticity.
    const LATITUDE: f64 = 1.4;
    /// How much of what is known a comparison takes away, and a change of throughput.
    const FORGOTTEN: f64 = 0.01;
    const UPSET: f64 = 0.1;
    /// How far curves are from servers.
    const MISFIT: f64 = 0.003;
    /// How much the trial just over counts for in what is known of chance.
    const FRESH: f64 = 0.25;
    /// Even equal demands do not take equal times.
    const MIN_VARIATION: f64 = 0.05;
    /// Requests in a trial: so many for each unit of variation, and for each place.
    const MIN_REQUESTS: f64 = 48.0;
    const MAX_REQUESTS: f64 = 96.0;
    const PER_UNIT: f64 = 32.0;
    const PER_PLACE: u32 = 3;
    /// Requests inside, relative to home, from which on a smaller size was not tried in truth.
    const AS_MANY: f64 = 0.9;
    /// Requests inside, relative to the window, up to which there are places left.
    const FREE: f64 = 0.8;
    /// For how long more requests have to be there than find a place, and then fewer again: some come together at any load.
    const BURST: Span = Span::from_millis(100);
    const CALM: Span = Span::from_millis(500);
    /// Comparisons after which home is taken for found.
    const SURE: u32 = 3;
    /// What trying may cost in logarithms of power, and the longest rest, in trials of home.
    const BUDGET: f64 = 0.02;
    const MAX_REST: u32 = 32;

    pub(super) fn new(initial: u32, min: u32, max: u32) -> Self {
        Self {
            home: initial,
            probe: None,
            min,
            max,
            posterior: Posterior::around(initial, Self::WORTH, Requests::Long),
            trial: Trial::new(Time::ZERO, initial, Self::MIN_REQUESTS as u32),
            observed: Observed::new(),
            observations: 0,
            needed: None,
            roomy: None,
            crowded: Time::ZERO,
            found_room: Time::ZERO,
            before: None,
            probed: None,
            agreed: 0,
            rested: 0,
            hindered: false,
            variation: 1.0,
            took: Span::ZERO,
            response: None,
            requests: Requests::Long,
            unfilled: None,
        }
    }

    /// The size that it has come to.
    pub(super) fn found(&self) -> u32 {
        self.home
    }

    /// The size that requests are let in by now.
    pub(super) fn offered(&self) -> u32 {
        self.trial.offered()
    }

    /// Of important requests, how many may be inside: what was found, or is let in if that is more. A size
    /// that is only tried may be too small.
    pub(super) fn settled(&self) -> u32 {
        if self.trial.is_emptying() { self.offered() } else { self.home.max(self.offered()) }
    }

    /// Goes on from `size`, with `inside` requests that met another.
    pub(super) fn restart(&mut self, now: Time, size: u32, inside: u32) {
        self.home = size.clamp(self.min, self.max);
        (self.response, self.requests) = (None, Requests::Long);
        self.posterior = self.unknown();
        self.observed = Observed::new();
        (self.observations, self.needed, self.roomy) = (0, None, None);
        self.go_on(now, self.home, inside);
    }

    /// Accounts for the time since the last change with `inside` requests in the server.
    pub(super) fn advance(&mut self, now: Time, inside: u32) {
        self.trial.advance(now, inside);
    }

    /// Gives up a trial for which the server does not get empty enough: long downloads take more
    /// places than it has.
    pub(super) fn watch(&mut self, now: Time, inside: u32) {
        if self.trial.empties_since().is_some_and(|since| now.since(since) > self.took.mul_f64(2.0)) {
            self.agreed = Self::SURE;
            self.hindered = self.probe.is_some_and(|probe| probe < self.home);
            self.start_over(now, inside.min(self.home));
        }
    }

    /// A request that was inside for so long cost that much of the server, and is that `work`. As long as there are places
    /// left, it says how many the server needs.
    pub(super) fn observe(&mut self, took: Span, cost: f64, work: f64) {
        if self.min == self.max || took.as_secs_f64() > Self::FREE * f64::from(self.offered()) * cost {
            return;
        }
        let Some(Observation { few, many, difference, variance }) = self.observed.note(took, cost, work)
        else {
            return;
        };
        self.posterior.learn(difference, variance + Self::MISFIT, many, [few, few]);
        self.posterior.give_way(&self.unknown(), Self::FORGOTTEN);
        self.observations += 1;
        if self.observations >= Self::SURE {
            self.needed = Some(self.between(self.min, self.home));
        }
    }

    /// So many requests are `inside`, and `all` with those that wait. As long as all find a place, the server shares itself
    /// among them, and the short ones need not wait for the long ones. When they are more, home is what the server needs,
    /// as far as that was observed, until for a while they would find room again.
    pub(super) fn crowd(&mut self, now: Time, inside: u32, all: u32) {
        match (self.roomy, self.needed) {
            (None, Some(needed)) if all >= self.home && needed < self.home => {
                if now.since(self.found_room) >= Self::BURST {
                    (self.roomy, self.crowded) = (Some(self.home), now);
                    self.go_on(now, needed, inside);
                }
            }
            (None, _) => self.found_room = now,
            (Some(roomy), _) if all >= roomy => self.crowded = now,
            (Some(roomy), _) if now.since(self.crowded) > Self::CALM => {
                (self.roomy, self.needed) = (None, Some(self.home));
                self.found_room = now;
                self.go_on(now, roomy.max(self.home), inside);
            }
            (Some(_), _) => {}
        }
    }

    /// With another home, and what is known.
    fn go_on(&mut self, now: Time, home: u32, inside: u32) {
        (self.home, self.agreed, self.unfilled) = (home, 0, None);
        self.start_over(now, inside);
    }

    /// The elasticity from which on a window that is larger than that is worth it.
    fn worth(&self, size: u32) -> f64 {
        let Some(response) = self.response else { return Self::WORTH };
        let longer =
            f64::from(size) / f64::from(self.home) / libm::exp(self.posterior.gain(self.home, size).mean);
        (Self::WORTH * response * longer / Self::NOT_FELT).clamp(Self::MIN_WORTH, Self::WORTH)
    }

    /// That home is right, as far as is known.
    fn unknown(&self) -> Posterior {
        Posterior::around(self.home, Self::WORTH, self.requests)
    }

    /// Whether clients feel how long a request would be inside, at most.
    fn is_felt_at(&self, size: u32) -> bool {
        let longer = f64::from(size) / f64::from(self.home);
        self.response.is_none_or(|response| response * longer >= Self::NOT_FELT)
    }

    /// Learns for how long requests are inside, and whether clients feel it.
    fn time(&mut self, sample: Sample) {
        let response =
            self.response.map_or(sample.response, |known| known + Self::LATEST * (sample.response - known));
        self.response = Some(response);
        let found = if response >= Self::NOT_FELT {
            Requests::Long
        } else if response < Self::SHORT * Self::NOT_FELT {
            Requests::Short
        } else {
            self.requests
        };
        let was = core::mem::replace(&mut self.requests, found);
        if was != found {
            self.posterior.turn(was, found);
            self.agreed = 0;
        }
    }

    fn is_large(&self) -> bool {
        self.home > self.min
            && self.posterior.elasticity(self.home - 1) < self.worth(self.home) / Self::LATITUDE
    }

    /// A request that was let in at `dispatched` is done, which costs the server that `work`, and `inside` are left.
    pub(super) fn finished(&mut self, now: Time, dispatched: Time, inside: u32, work: f64) {
        if self.min == self.max {
            return;
        }
        match self.trial.finished(now, dispatched, inside, work) {
            None => {}
            Some(Step::Enough(sample)) if !sample.is_full => {
                if sample.size > self.home {
                    self.unfilled = Some((sample.size, Self::MAX_REST));
                }
                self.start_over(now, inside);
            }
            Some(Step::Enough(sample)) => {
                self.took = sample.length;
                self.variation += Self::FRESH * (sample.variation.max(Self::MIN_VARIATION) - self.variation);
                match self.probe {
                    Some(probe) if probe > self.home => self.trial.close(now, self.home),
                    Some(_) => self.come_home(now, sample, inside),
                    None => self.been_home(now, sample, inside),
                }
            }
            Some(Step::Closed(sample)) => self.come_home(now, sample, inside),
        }
    }

    /// Home, and nothing to compare it with.
    fn start_over(&mut self, now: Time, inside: u32) {
        (self.before, self.probed, self.probe, self.rested) = (None, None, None, 0);
        self.trial = Trial::after(now, self.home, self.wanted(self.home), inside);
    }

    fn come_home(&mut self, now: Time, probed: Sample, inside: u32) {
        let was_larger = self.probe.take().is_some_and(|probe| probe > self.home);
        self.probed = Some(probed);
        let wanted = self.wanted(self.home);
        self.trial = if was_larger {
            Trial::new(now, self.home, wanted)
        } else {
            Trial::after(now, self.home, wanted, inside)
        };
    }

    fn been_home(&mut self, now: Time, sample: Sample, inside: u32) {
        let home = self.home;
        self.time(sample);
        self.unfilled = self.unfilled.and_then(|(size, left)| Some((size, left.checked_sub(1)?)));
        match (self.before.replace(sample), self.probed.take()) {
            (Some(before), Some(probed)) => self.compare(before, probed, sample),
            (Some(before), None) => self.notice(before, sample),
            _ => {}
        }
        self.probe = if self.home == home { self.next_probe() } else { None };
        let size = self.probe.unwrap_or(self.home);
        let wanted = self.wanted(size);
        let is_even = self.home == home && size >= home;
        self.trial =
            if is_even { Trial::new(now, size, wanted) } else { Trial::after(now, size, wanted, inside) };
    }

    fn wanted(&self, size: u32) -> u32 {
        let by_chance = (Self::PER_UNIT * self.variation).clamp(Self::MIN_REQUESTS, Self::MAX_REQUESTS);
        (by_chance as u32).max(size.saturating_mul(Self::PER_PLACE))
    }

    /// Squared error of the logarithm of a rate: chance as it is known, or as this trial showed it.
    fn error(&self, sample: Sample) -> f64 {
        self.variation.max(sample.variation / 2.0) / sample.finished
    }

    fn compare(&mut self, before: Sample, probed: Sample, after: Sample) {
        let home = (before.inside + after.inside) / 2.0;
        self.hindered = probed.size < self.home && probed.inside > Self::AS_MANY * home;
        if self.hindered {
            return;
        }
        let difference = libm::log(probed.rate) - (libm::log(before.rate) + libm::log(after.rate)) / 2.0;
        let drift = libm::log(after.rate / before.rate) / 2.0;
        let chance = self.error(probed) + (self.error(before) + self.error(after)) / 4.0;
        let variance = chance + Self::MISFIT + drift * drift;
        self.posterior.learn(difference, variance, probed.inside, [before.inside, after.inside]);
        self.posterior.give_way(&self.unknown(), Self::FORGOTTEN);
        self.agreed = (self.agreed + 1).min(Self::SURE + 4);
        let is_small = self.home < self.max
            && self.posterior.elasticity(self.home) > self.worth(self.home) * Self::LATITUDE;
        if is_small || self.is_large() {
            self.move_home();
        }
    }

    /// To where the next place is just not worth it, but not beyond what has been tried.
    fn move_home(&mut self) {
        let nearest = self.home.div_ceil(4).max(self.min);
        let farthest = self.home.saturating_mul(2).min(self.max);
        let found = self.between(nearest, farthest);
        if found != self.home {
            if let Some(response) = &mut self.response {
                *response *= f64::from(found) / f64::from(self.home);
            }
            self.home = found;
            (self.before, self.agreed, self.rested) = (None, 0, 0);
        }
    }

    /// The first size from which on the next place is not worth it.
    fn between(&self, least: u32, most: u32) -> u32 {
        let (mut low, mut high) = (least, most);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.posterior.elasticity(middle) > self.worth(middle) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// Home does not finish what it did: server or work have changed.
    fn notice(&mut self, before: Sample, now: Sample) {
        let change = libm::log(now.rate / before.rate);
        if change * change > 9.0 * (self.error(before) + self.error(now)) + 0.01 {
            self.agreed = 0;
            self.posterior.give_way(&self.unknown(), Self::UPSET);
        }
    }

    /// The size to try now; none as long as home rests.
    fn next_probe(&mut self) -> Option<u32> {
        let Some((size, cost)) = self.best_probe() else {
            self.hindered = false;
            return None;
        };
        let rest = match self.agreed.checked_sub(Self::SURE) {
            None => 0,
            Some(longer) => {
                let affordable = cost * f64::from(size.max(self.home)) / f64::from(self.home) / Self::BUDGET;
                (affordable as u32).min(2 << longer).min(Self::MAX_REST)
            }
        };
        let is_due = self.rested >= rest;
        self.rested = if is_due { 0 } else { self.rested + 1 };
        is_due.then_some(size)
    }

    /// The size that tells most for what it costs, and what it costs in logarithms of power.
    fn best_probe(&self) -> Option<(u32, f64)> {
        /// What a trial costs that costs nothing else: time.
        const TIME: f64 = 0.1;
        let home = u64::from(self.home);
        // Quarters of the larger. A much larger window would be felt, and by those who wait inside it.
        let probes: &[(u64, bool)] = match (self.agreed < Self::SURE, self.requests) {
            (true, Requests::Short) => {
                &[(6, true), (6, false), (8, true), (8, false), (16, true), (16, false)]
            }
            (true, Requests::Long) => &[(6, true), (6, false), (8, true), (8, false), (16, false)],
            (false, Requests::Short) => &[(6, true), (6, false), (8, true), (8, false)],
            (false, Requests::Long) => &[(6, true), (6, false)],
        };
        let error = 1.5 * self.variation / f64::from(self.wanted(self.home)) + Self::MISFIT;
        let mut best = None;
        let mut most = 0.0;
        for &(quarters, is_above) in probes {
            let size = if is_above {
                (home * quarters / 4).max(home + 1)
            } else {
                (home * 4 / quarters).min(home - 1)
            };
            let size = size.clamp(u64::from(self.min), u64::from(self.max)) as u32;
            let is_unfilled = self.unfilled.is_some_and(|(unfilled, _)| size >= unfilled);
            let is_felt = quarters > 8 && is_above && self.is_felt_at(size);
            if size == self.home || is_unfilled || is_felt || (size < self.home && self.hindered) {
                continue;
            }
            let gain = self.posterior.gain(self.home, size);
            let cost = (self.worth(self.home) * log_ratio(self.home, size) - gain.mean).max(0.0);
            let length = f64::from(self.wanted(size)) + 2.0 * f64::from(size.max(self.home));
            let told = libm::log1p(gain.variance / error) / ((cost + TIME) * length);
            if told > most {
                (best, most) = (Some((size, cost)), told);
            }
        }
        best
    }
}
