//! [`Requests`]: following requests as time goes on.

use std::collections::BTreeMap;

use units::{Ratio, Span, Time};

use super::calibration::UnitCosts;
use super::metrics::demands;
use super::tally::{Sums, Tally};
use super::traced::{Kind, Losses, Probes};
use super::windows::{PATIENCE, Spent, Windows};
use super::{Budget, Classes, Demands, Finished, Server, find};
use crate::bpf::runs::Measuring;
use crate::{Error, clock};

/// How requests are to be followed.
#[derive(Debug, Clone)]
pub struct Following {
    /// The server's ports.
    pub ports: Vec<u16>,
    /// The classes.
    pub classes: Classes,
    /// What it may cost.
    pub budget: Budget,
    /// Of the random places of windows.
    pub seed: u64,
}

/// Follows requests. It does something only when it is told to take its [turn](Self::turn).
pub struct Requests {
    following: Following,
    probes: Probes,
    servers: Vec<Server>,
    phase: Phase,
    windows: Option<Windows>,
    unit_costs: UnitCosts,
    /// Since the last look, and since the beginning.
    recent: Tally,
    whole: Tally,
    /// By class, in each interval or window.
    parts: Vec<Vec<Sums>>,
    /// Of the window that is open.
    part: Vec<Sums>,
    losses: Losses,
    /// By closed windows, besides what this process used.
    spent: Span,
}

#[derive(Debug)]
enum Phase {
    Closed,
    Open(Opened),
    /// No more requests are begun with.
    Draining {
        opened: Opened,
        since: Time,
    },
}

#[derive(Debug)]
struct Opened {
    at: Time,
    /// What it took to open it, and what this process has used since.
    fixed: Span,
    own: Span,
    runs: [(Kind, crate::bpf::runs::Runs); 2],
    _measuring: Option<Measuring>,
    /// Until when its time has been added to the tally.
    counted_to: Time,
}

/// The ring has room for what a fast server does in as long.
const TURN: Span = Span::from_millis(20);

impl Requests {
    /// Loads the programs and measures what they cost. Nothing is followed until the first turn.
    ///
    /// # Errors
    /// When the kernel does not take them.
    pub fn open(following: Following) -> Result<Self, Error> {
        let mut probes = Probes::load(&following.ports)?;
        let unit_costs = {
            let _measuring = Measuring::begin();
            UnitCosts::measure(&mut probes)?
        };
        let servers = find(&[], &following.ports)?;
        let classes = following.classes.count();
        let windows = match following.budget {
            Budget::Unlimited => None,
            Budget::Share(share) => Some(Windows::new(share, following.seed, clock::monotonic())),
        };
        Ok(Self {
            probes,
            servers,
            phase: Phase::Closed,
            windows,
            unit_costs,
            recent: Tally::new(classes),
            whole: Tally::new(classes),
            parts: vec![Vec::new(); classes],
            part: vec![Sums::default(); classes],
            losses: Losses::default(),
            spent: Span::ZERO,
            following,
        })
    }

    /// Who listens on the ports, as far as is known.
    pub fn servers(&self) -> &[Server] {
        &self.servers
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
            Phase::Closed => {
                if let Some(Err(later)) = self.windows.as_mut().map(|windows| windows.opens(now)) {
                    return Ok(later);
                }
                self.open_window()?;
            }
            Phase::Open(opened) => {
                let length = self.windows.as_ref().map(Windows::length);
                if length.is_some_and(|length| now >= opened.at + length) {
                    self.stop_beginning(now)?;
                }
            }
            Phase::Draining { since, .. } => {
                let since = *since;
                let unfinished = self.probes.sweep()?;
                if unfinished == 0 || now >= since + PATIENCE {
                    self.recent.counts.unfinished += unfinished;
                    self.take(&mut each)?;
                    self.close_window()?;
                    return Ok(now + TURN);
                }
            }
        }
        self.take(&mut each)?;
        Ok(now + TURN)
    }

    /// The server used so many processors of late, which the budget is a share of.
    pub fn note_busy(&mut self, processors: f64) {
        if let Some(windows) = &mut self.windows {
            windows.note_busy(processors, clock::monotonic());
        }
    }

    fn open_window(&mut self) -> Result<(), Error> {
        let before = clock::thread();
        if self.servers.is_empty() || !self.servers.iter().all(Server::is_there) {
            self.servers = find(&[], &self.following.ports)?;
        }
        let measuring = self.windows.as_ref().and_then(|_| Measuring::begin());
        self.probes.attach(&self.servers)?;
        let runs = [Kind::Breakpoint, Kind::Tracepoint].map(|kind| (kind, self.probes.runs(kind)));
        let at = clock::monotonic();
        let fixed = clock::thread().saturating_sub(before);
        self.phase =
            Phase::Open(Opened { at, fixed, own: Span::ZERO, runs, _measuring: measuring, counted_to: at });
        Ok(())
    }

    fn stop_beginning(&mut self, now: Time) -> Result<(), Error> {
        self.probes.set_open(false)?;
        let Phase::Open(mut opened) = std::mem::replace(&mut self.phase, Phase::Closed) else {
            return Ok(());
        };
        self.recent.watched += now.since(opened.counted_to);
        opened.counted_to = now;
        self.phase = Phase::Draining { opened, since: now };
        Ok(())
    }

    fn close_window(&mut self) -> Result<(), Error> {
        let Phase::Draining { opened, .. } = std::mem::replace(&mut self.phase, Phase::Closed) else {
            return Ok(());
        };
        let before = clock::thread();
        let length = clock::monotonic().since(opened.at);
        let mut others = Span::ZERO;
        for (kind, earlier) in opened.runs {
            let runs = self.probes.runs(kind).since(earlier);
            others += runs.time + self.unit_costs.of(kind, runs.count);
        }
        self.probes.detach()?;
        let fixed = opened.fixed + clock::thread().saturating_sub(before);
        let open = opened.own + others;
        self.spent += others;
        self.end_part();
        if let Some(windows) = &mut self.windows {
            windows.closed(Spent { fixed, open, length }, clock::monotonic());
        }
        Ok(())
    }

    fn end_part(&mut self) {
        for (parts, part) in self.parts.iter_mut().zip(&mut self.part) {
            parts.push(std::mem::take(part));
        }
    }

    /// Counts the requests that have ended.
    fn take(&mut self, each: &mut impl FnMut(&Finished)) -> Result<(), Error> {
        for request in self.probes.take()? {
            each(&request);
            self.recent.count(&request, &self.following.classes);
            if request.parsed.is_some() && request.sent.is_some() {
                let class = self.following.classes.of(units::Bytes(request.bytes_sent));
                let part = &mut self.part[class];
                part.requests += 1;
                part.bytes_sent += request.bytes_sent;
                request.used.iter().for_each(|used| part.used += *used);
            }
        }
        Ok(())
    }

    /// What was seen since the last look.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn look(&mut self) -> Result<Tally, Error> {
        let now = clock::monotonic();
        if let Phase::Open(opened) = &mut self.phase {
            self.recent.watched += now.since(opened.counted_to);
            opened.counted_to = now;
            if self.windows.is_none() {
                self.end_part();
            }
        }
        let losses = self.probes.losses()?;
        self.recent.counts.lost += losses.requests - self.losses.requests;
        self.recent.counts.crowded += losses.connections - self.losses.connections;
        self.losses = losses;
        let empty = Tally::new(self.following.classes.count());
        let seen = std::mem::replace(&mut self.recent, empty);
        self.whole.add(&seen);
        Ok(seen)
    }

    /// Ends the window that is open: requests that have ended are told, for others there is no more time.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn end(&mut self, mut each: impl FnMut(&Finished)) -> Result<(), Error> {
        if let Phase::Open(_) = self.phase {
            self.stop_beginning(clock::monotonic())?;
        }
        if let Phase::Draining { .. } = self.phase {
            self.recent.counts.unfinished += self.probes.sweep()?;
            self.take(&mut each)?;
            self.close_window()?;
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
        let seen = names.into_iter().zip(&self.parts);
        let seen = seen.filter(|(_, parts)| parts.iter().any(|sums| sums.requests > 0));
        seen.map(|(name, parts)| (name, demands(parts))).collect()
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
