//! [`Requests`]: following requests as time goes on.

use std::collections::BTreeMap;

use units::{Ratio, Span, Time};

use super::calibration::{Crossings, OFTEN, SELDOM, UnitCosts};
use super::counting::{Busy, Counting, CountingRuns};
use super::metrics::Needs;
use super::tally::Tally;
use super::traced::{Losses, Probes};
use super::windows::{FOLLOW_TIMEOUT, MIN_LENGTH, Spent, Windows};
use super::{Budget, Classes, Demands, Finished};
use crate::addresses::Addresses;
use crate::bpf::runs::{Kind, Measuring, Runs};
use crate::counts::Counted;
use crate::servers::{Server, find};
use crate::whose::{Whose, namespace};
use crate::{Error, clock};

/// How requests are to be followed.
#[derive(Debug, Clone)]
pub struct Following {
    /// Where the server listens.
    pub at: Addresses,
    /// The classes.
    pub classes: Classes,
    /// What it may cost.
    pub budget: Budget,
    /// Whether every request is counted, also where that costs more.
    pub counts_all: bool,
    /// Of the random times of windows.
    pub seed: u64,
    /// Which processes are meant, if not all that listen at the ports.
    pub whose: Whose,
}

impl Following {
    /// Who listens.
    fn servers(&self) -> Result<Vec<Server>, Error> {
        find(&[], &self.at, self.whose.processes().as_ref())
    }

    /// The number of the network namespace in which ports are meant; 0 where it is not known.
    fn namespace(&self) -> u32 {
        let elsewhere = self.whose.elsewhere().map(|(namespace, _)| namespace);
        elsewhere.or_else(|| namespace("self")).unwrap_or(0)
    }
}

/// Follows requests. It does something only when it is told to take its [turn](Self::turn).
pub struct Requests {
    following: Following,
    probes: Probes,
    counting: Counting,
    servers: Servers,
    phase: Phase,
    windows: Option<Windows>,
    unit_costs: UnitCosts,
    crossings: Crossings,
    /// Of the window that is open, or since the last look where all of the time is one window.
    window: Tally,
    /// Of windows that have been closed since the last look.
    recent: Tally,
    whole: Tally,
    needs: Vec<Needs>,
    losses: Losses,
    /// By closed windows, besides what this process used.
    spent: Span,
    /// Up to when windows stand for the time.
    stood_for_to: Time,
    /// When it was last [tended](Self::tend).
    tended: Time,
}

/// Who listens, as far as is known.
#[derive(Debug)]
struct Servers {
    all: Vec<Server>,
    searched: Time,
}

#[derive(Debug)]
enum Phase {
    Closed,
    Open(Opened),
    /// Requests that have begun are waited for.
    Draining {
        opened: Opened,
        since: Time,
    },
}

/// Which requests are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sweep {
    /// Those on which nothing happens any more.
    Quiet,
    All,
}

#[derive(Debug)]
struct Opened {
    at: Time,
    /// When requests are not begun with any more.
    to: Time,
    /// What it took to open it, and what this process has used since.
    fixed: Span,
    own: Span,
    runs: [(Kind, Runs); 2],
    /// Of those that count.
    counting: CountingRuns,
    _measuring: Option<Measuring>,
}

/// The ring has room for what a fast server does in as long.
const TURN: Span = Span::from_millis(20);
/// When a window has been closed to requests, those of a fast server have ended so soon.
const SOON: Span = Span::from_millis(5);
/// A client may have its response before the server's thread has come to its end, if others run instead.
const LAST: Span = Span::from_millis(100);
/// Servers and responses are looked after so often where all of the time is one window.
const TEND: Span = Span::from_secs(1);
/// A saturated server loses two to four times the throughput that the programs' own time would explain: whatever
/// else runs meanwhile finds less of what it needs in the caches. They count for more, so that the budget is kept
/// (docs/benchmarks/watch.md).
const HIDDEN: f64 = 4.0;
/// And those that count.
const HIDDEN_COUNTING: f64 = 2.0;
/// Between two looks at a port without a listener.
const SEARCH: Span = Span::from_secs(3);
/// Bounds on how long nothing has to happen on a connection for its response to be taken as whole.
const MIN_QUIET: Span = Span::from_millis(20);
const MAX_QUIET: Span = Span::from_millis(500);

impl Requests {
    /// Loads the programs and measures what they cost. Nothing is followed until the first turn.
    ///
    /// # Errors
    /// When the kernel does not take them, or does not measure them and a budget is to be kept.
    pub fn open(following: Following) -> Result<Self, Error> {
        let namespace = following.namespace();
        let look_every = if following.budget == Budget::Unlimited { OFTEN } else { SELDOM };
        let mut probes = Probes::load(&following.at.ports, namespace, look_every)?;
        let now = clock::monotonic();
        let (windows, unit_costs, crossings) = match following.budget {
            Budget::Unlimited => (None, UnitCosts::default(), Crossings::measure(&mut probes)?),
            Budget::Share(share) => {
                let _measuring = Measuring::begin()?;
                let unit_costs = UnitCosts::measure(&mut probes)?;
                let windows = Windows::new(share, following.seed, now);
                (Some(windows), unit_costs, Crossings::measure(&mut probes)?)
            }
        };
        let servers = Servers { all: following.servers()?, searched: now };
        let classes = following.classes.count();
        let share = match following.budget {
            // What counting costs at unix sockets is not measured.
            Budget::Share(share) if !following.counts_all && !following.at.ports.is_empty() => Some(share),
            _ => None,
        };
        let mut counting = Counting::begin(&following.at, &following.classes, namespace, &servers.all, share);
        counting.start()?;
        Ok(Self {
            probes,
            counting,
            servers,
            phase: Phase::Closed,
            windows,
            unit_costs,
            crossings,
            window: Tally::new(classes),
            recent: Tally::new(classes),
            whole: Tally::new(classes),
            needs: vec![Needs::default(); classes],
            losses: Losses::default(),
            spent: Span::ZERO,
            stood_for_to: now,
            tended: now,
            following,
        })
    }

    /// Why requests are not counted, if so.
    pub(crate) fn why_not_counted(&self) -> Option<&Error> {
        self.counting.traced.as_ref().err()
    }

    /// Every request so far; none while they are not counted. Looks are not changed by it.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub(crate) fn counted(&mut self) -> Result<Option<Counted>, Error> {
        self.counting.read_often()
    }

    /// Who listens on the ports, as far as is known.
    pub fn servers(&self) -> &[Server] {
        &self.servers.all
    }

    /// Does what is due, and says when there will be something to do again. Requests that have ended go to
    /// `each`.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn turn(&mut self, each: impl FnMut(&Finished)) -> Result<Time, Error> {
        let (before, is_closed) = (clock::thread(), matches!(self.phase, Phase::Closed));
        let due = self.step(each);
        // What it took to open it is known already.
        if !is_closed && let Phase::Open(opened) | Phase::Draining { opened, .. } = &mut self.phase {
            opened.own += clock::thread().saturating_sub(before);
        }
        due
    }

    fn step(&mut self, mut each: impl FnMut(&Finished)) -> Result<Time, Error> {
        let now = clock::monotonic();
        match &self.phase {
            // Only what comes to ports can be followed.
            Phase::Closed if self.following.at.ports.is_empty() => {
                if self.servers.refresh(&self.following)? {
                    self.counting.look_inside(&self.servers.all);
                }
                return Ok(now + TEND);
            }
            Phase::Closed => {
                if let Some(Err(later)) = self.windows.as_mut().map(|windows| windows.opens(now)) {
                    return Ok(later);
                }
                self.open_window()?;
            }
            Phase::Open(opened) => {
                if now >= opened.to {
                    self.stop_beginning(now);
                    self.take(&mut each)?;
                    return Ok(now + SOON);
                }
                if self.windows.is_none() && now >= self.tended + TEND {
                    self.tend(now)?;
                }
            }
            Phase::Draining { since, .. } => {
                let is_last = now >= *since + FOLLOW_TIMEOUT;
                let unfinished = self.sweep(if is_last { Sweep::All } else { Sweep::Quiet })?;
                if unfinished == 0 || is_last {
                    self.end_draining(unfinished, &mut each)?;
                    // When the next one opens is found out at once.
                    return Ok(now);
                }
            }
        }
        self.take(&mut each)?;
        let next = now + TURN;
        Ok(if let Phase::Open(opened) = &self.phase { next.min(opened.to) } else { next })
    }

    /// What is known better the longer it goes on.
    fn learn(&mut self) -> Result<(), Error> {
        let times = self.crossings.correct(&mut self.probes)?;
        if self.windows.is_some() {
            // Between windows it costs nothing, and a window stands for that time, too.
            self.unit_costs.leave_out(times, &mut self.probes)?;
        }
        self.probes.learn_jiffy()
    }

    /// What has to be done from time to time where all of the time is one window, however rarely it is told:
    /// servers come and go.
    fn tend(&mut self, now: Time) -> Result<(), Error> {
        self.tended = now;
        if self.servers.refresh(&self.following)? {
            self.counting.look_inside(&self.servers.all);
            self.probes.attach_to(&self.servers.all)?;
        }
        self.learn()
    }

    /// What the budget is a share of, and what is part of it besides.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn note_busy(&mut self, busy: Busy) -> Result<(), Error> {
        self.counting.note_busy(busy);
        // A window that is open ends with all of its time counted, or none.
        if matches!(self.phase, Phase::Closed) {
            self.counting.weigh(&self.servers.all)?;
        }
        let besides = busy.besides + self.counting.cost();
        if let Some(windows) = &mut self.windows {
            windows.note_busy(busy.server, besides, clock::monotonic());
        }
        Ok(())
    }

    fn open_window(&mut self) -> Result<(), Error> {
        let before = clock::thread();
        if self.servers.refresh(&self.following)? {
            self.counting.look_inside(&self.servers.all);
        }
        let length = self.windows.as_ref().map(Windows::length);
        let measuring = length.map(|_| Measuring::begin()).transpose()?;
        let runs = [Kind::Breakpoint, Kind::Tracepoint].map(|kind| (kind, self.probes.runs(kind)));
        self.probes.attach(&self.servers.all)?;
        self.learn()?;
        let counting = self.counting.runs();
        let fixed = clock::thread().saturating_sub(before);
        let at = clock::monotonic();
        let to = length.map_or(Time::NEVER, |length| at + length);
        self.probes.open(at, to)?;
        self.window.watched_from = at;
        if length.is_none() {
            self.stood_for_to = at;
        }
        self.phase =
            Phase::Open(Opened { at, to, fixed, own: Span::ZERO, runs, counting, _measuring: measuring });
        Ok(())
    }

    fn stop_beginning(&mut self, now: Time) {
        let Phase::Open(opened) = std::mem::replace(&mut self.phase, Phase::Closed) else { return };
        self.window.watch_to(opened.to.min(now));
        self.phase = Phase::Draining { opened, since: now };
    }

    /// Tells requests on which nothing happens any more, or all of them; how many there are besides.
    fn sweep(&mut self, which: Sweep) -> Result<u64, Error> {
        let pause = self.probes.longest_pause()?;
        let quiet = match which {
            Sweep::Quiet => (pause + pause).clamp(MIN_QUIET, MAX_QUIET),
            Sweep::All => Span::ZERO,
        };
        self.probes.sweep(quiet)
    }

    /// No request is waited for any longer.
    fn end_draining(&mut self, unfinished: u64, each: &mut impl FnMut(&Finished)) -> Result<(), Error> {
        self.window.counts.unfinished += unfinished;
        self.probes.close()?;
        self.take(each)?;
        self.close_window()
    }

    fn close_window(&mut self) -> Result<(), Error> {
        let Phase::Draining { opened, .. } = std::mem::replace(&mut self.phase, Phase::Closed) else {
            return Ok(());
        };
        let before = clock::thread();
        let now = clock::monotonic();
        let length = now.since(opened.at);
        // Of as long, and while what is watched is as it was.
        let counting = self.counting.spent_since(&opened.counting, &self.unit_costs);
        let detaching = self.probes.detach()?;
        let mut others = Span::ZERO;
        for (kind, earlier) in opened.runs {
            let runs = self.probes.runs(kind).since(earlier);
            others += runs.time + self.unit_costs.of(kind, runs.count);
        }
        let rate = self.window.requests() as f64 / self.window.watched.as_secs_f64().max(1e-9);
        self.end_window(now);
        if self.windows.is_some() {
            let cost = counting.mul_f64(HIDDEN_COUNTING).as_secs_f64() / length.as_secs_f64().max(1e-9);
            self.counting.learn(cost, rate);
            self.counting.weigh(&self.servers.all)?;
        }
        let fixed = opened.fixed + detaching + clock::thread().saturating_sub(before);
        if let Some(windows) = &mut self.windows {
            self.spent += others;
            windows.closed(Spent { fixed, open: opened.own + others.mul_f64(HIDDEN), length }, now);
        }
        Ok(())
    }

    /// What the window has shown stands for the time since the one before.
    fn end_window(&mut self, now: Time) {
        let whole = if self.windows.is_some() { now.since(self.stood_for_to) } else { self.window.watched };
        // One that was cut short says nothing of a time that is much longer.
        let is_short = self.window.watched < MIN_LENGTH.mul_f64(0.5);
        let uncounted = if is_short { Span::ZERO } else { self.counting.take_uncounted(now).min(whole) };
        let weight = self.window.stand_for(whole, uncounted);
        self.stood_for_to = now;
        for (needs, class) in self.needs.iter_mut().zip(&self.window.classes) {
            needs.add(&class.sums, weight);
        }
        let empty = Tally::new(self.following.classes.count());
        self.recent.add(&std::mem::replace(&mut self.window, empty));
    }

    /// Counts the requests that have ended.
    fn take(&mut self, each: &mut impl FnMut(&Finished)) -> Result<(), Error> {
        for request in self.probes.take()? {
            each(&request);
            self.window.count(&request, &self.following.classes);
        }
        Ok(())
    }

    /// What was seen since the last look: by windows that have been closed since, or at all where there are
    /// none. Requests that have ended go to `each`.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn look(&mut self, each: impl FnMut(&Finished)) -> Result<Tally, Error> {
        if self.windows.is_none() && matches!(self.phase, Phase::Open(_)) {
            self.look_on(each)?;
        }
        let losses = self.probes.losses()?;
        self.recent.counts.lost += losses.requests - self.losses.requests;
        self.recent.counts.crowded += losses.connections - self.losses.connections;
        self.losses = losses;
        let empty = Tally::new(self.following.classes.count());
        let mut seen = std::mem::replace(&mut self.recent, empty);
        seen.counted = self.counting.look()?;
        let [lately, in_all] = self.counting.tell_uncounted(clock::monotonic());
        seen.unseen_for = lately;
        seen.is_beyond_windows = self.counting.is_beyond_windows();
        seen.has_no_windows = self.following.at.ports.is_empty();
        self.whole.add(&seen);
        self.whole.unseen_for = in_all;
        Ok(seen)
    }

    /// A look where all of the time is one window.
    fn look_on(&mut self, mut each: impl FnMut(&Finished)) -> Result<(), Error> {
        self.take(&mut each)?;
        let now = clock::monotonic();
        self.window.watch_to(now);
        self.end_window(now);
        self.window.watched_from = now;
        Ok(())
    }

    /// Ends the window that is open: requests that have ended are told, or are about to; for others there is no
    /// more time.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn end(&mut self, mut each: impl FnMut(&Finished)) -> Result<(), Error> {
        if let Phase::Open(_) = self.phase {
            let now = clock::monotonic();
            self.probes.open(Time::NEVER, Time::NEVER)?;
            self.stop_beginning(now);
        }
        if let Phase::Draining { .. } = self.phase {
            let patience = clock::monotonic() + LAST;
            let unfinished = loop {
                let is_last = clock::monotonic() >= patience;
                let unfinished = self.sweep(if is_last { Sweep::All } else { Sweep::Quiet })?;
                if unfinished == 0 || is_last {
                    break unfinished;
                }
                self.take(&mut each)?;
                std::thread::sleep(SOON.into());
            };
            self.end_draining(unfinished, &mut each)?;
        }
        Ok(())
    }

    /// What was seen since the beginning, up to the last look.
    pub fn whole(&self) -> &Tally {
        &self.whole
    }

    /// What requests need, by the names of their classes; classes without requests are left out.
    pub fn demands(&self) -> BTreeMap<String, Demands> {
        let names = self.following.classes.names();
        let seen = names.into_iter().zip(&self.needs).zip(&self.whole.classes);
        let seen = seen.filter(|(_, class)| class.sums.requests > 0);
        seen.map(|((name, needs), _)| (name, needs.demands())).collect()
    }

    /// The classes.
    pub fn classes(&self) -> &Classes {
        &self.following.classes
    }

    /// Processor time that closed windows have cost the server and all others besides this process; nothing
    /// when every request is followed, for then it is not measured.
    pub fn spent_by_others(&self) -> Span {
        self.spent
    }

    /// The share of so much time in which requests that began were followed.
    pub fn duty(&self, whole: Span) -> Ratio {
        Ratio::clamped(self.whole.watched.as_secs_f64() / whole.as_secs_f64())
    }
}

impl Servers {
    /// Looks for them again if one is not there any more, or a port has none. Whether it has looked.
    fn refresh(&mut self, following: &Following) -> Result<bool, Error> {
        let (now, Addresses { ports, sockets }) = (clock::monotonic(), &following.at);
        let there = || self.all.iter().filter(|server| server.is_there());
        let has_port = |port| there().any(|server| server.at.ports.contains(port));
        let has_socket = |path| there().any(|server| server.at.sockets.contains(path));
        if ports.iter().all(has_port) && sockets.iter().all(has_socket) || now < self.searched + SEARCH {
            return Ok(false);
        }
        *self = Self { all: following.servers()?, searched: now };
        Ok(true)
    }
}
