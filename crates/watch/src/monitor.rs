//! [`Monitor`]: the groups that are samples of sums, read together.

use std::collections::BTreeMap;

use units::Span;

use crate::addresses::Addresses;
use crate::groups::{Group, Groups, Pace};
use crate::summary::Summary;
use crate::whose::{Roots, Whose};
use crate::{Chosen, Error, Mechanism, Source as _, clock, connections, kernel, limits, network, processes};

/// Looks at the kernel, at programs and at connections, and turns what it sees into rates.
pub struct Monitor {
    programs: Vec<String>,
    ports: Vec<u16>,
    kernel: Sampled<kernel::Sample>,
    processes: Sampled<processes::Sample>,
    network: Sampled<network::Sample>,
    connections: Sampled<connections::Sample>,
    limits: Sampled<limits::Sample>,
    /// The share of the time that looks at connections may take, and when the next one may be.
    share_for_connections: Option<f64>,
    connections_not_before: Span,
    /// What is told again meanwhile.
    last_queues: BTreeMap<u16, connections::ListenQueue>,
}

/// A group that is looked at from time to time.
struct Sampled<S> {
    source: Option<(Chosen<S>, Pace)>,
    first: Option<S>,
    last: Option<S>,
    /// When the last one was taken, so long after the start; none for the first.
    taken: Option<Span>,
}

impl<S: Clone> Sampled<S> {
    fn open(interval: Option<Span>, source: impl FnOnce() -> Chosen<S>) -> Self {
        let source = interval.map(|interval| (source(), Pace::every(interval)));
        Self { source, first: None, last: None, taken: None }
    }

    fn begin(&mut self) -> Result<(), Error> {
        if let Some((source, _)) = &mut self.source {
            self.first = Some(source.sample()?);
            self.last = self.first.clone();
        }
        Ok(())
    }

    /// Whether it is time for another sample.
    fn is_due(&mut self, age: Span) -> bool {
        self.source.as_mut().is_some_and(|(_, pace)| pace.is_due(age))
    }

    /// Takes a sample; the one before it and itself. One that comes so soon after another that its rates would
    /// be those of single ticks is only there for the whole.
    fn sample(&mut self, age: Span) -> Result<Option<(S, &S)>, Error> {
        let Some((source, pace)) = &mut self.source else { return Ok(None) };
        let Some(before) = self.last.replace(source.sample()?) else { return Ok(None) };
        let since = self.taken.replace(age).map(|taken| age.saturating_sub(taken));
        let is_worth_telling = since.is_none_or(|since| since + since >= pace.interval());
        Ok(self.last.as_ref().filter(|_| is_worth_telling).map(|last| (before, last)))
    }

    fn whole(&self) -> Option<(&S, &S)> {
        self.first.as_ref().zip(self.last.as_ref())
    }

    fn due(&self) -> Option<Span> {
        self.source.as_ref().map(|(_, pace)| pace.due())
    }

    /// Another sample, which is nothing to the rates that are told.
    fn sums(&mut self) -> Result<Option<S>, Error> {
        self.source.as_mut().map(|(source, _)| source.sample()).transpose()
    }

    fn mechanism(&self) -> Option<(Mechanism, Option<&Error>)> {
        self.source.as_ref().map(|(source, _)| (source.mechanism(), source.refused()))
    }
}

impl Monitor {
    /// Makes ready to look at the kernel, at the processes that are meant of these programs and at the connections of ports where they listen:
    /// at the latter so rarely that it takes this share of the time, if one is given, since a walk over all
    /// connections of a machine may be long.
    pub fn open(
        programs: &[String],
        at: &Addresses,
        whose: &Whose,
        groups: &Groups,
        share_for_connections: Option<f64>,
    ) -> Self {
        let roots = || Roots::new(whose.clone(), programs, at);
        let ports = &at.ports[..];
        // In another network namespace there is only `/proc`.
        let elsewhere = whose.elsewhere().map(|(_, process)| process);
        // Without ports a walk over all connections of the machine would find nothing.
        let of_connections = groups.interval(Group::Connections).filter(|_| !ports.is_empty());
        Self {
            programs: programs.to_vec(),
            ports: ports.to_vec(),
            kernel: Sampled::open(groups.interval(Group::Kernel), || {
                Chosen::of(kernel::Traced::open(), kernel::Proc::default)
            }),
            processes: Sampled::open(groups.interval(Group::Processes), || {
                Chosen::of(processes::Traced::open_for(programs, roots()), || {
                    processes::Proc::open_for(programs, roots())
                })
            }),
            network: Sampled::open(groups.interval(Group::Network), || {
                Chosen::only(network::Proc { of: elsewhere })
            }),
            connections: Sampled::open(of_connections, || {
                if elsewhere.is_some() {
                    Chosen::only(connections::Proc::open_at(ports, elsewhere))
                } else {
                    Chosen::of(connections::Traced::open(ports), || connections::Proc::open(ports))
                }
            }),
            limits: Sampled::open(groups.interval(Group::Limits).filter(|_| elsewhere.is_none()), || {
                Chosen::only(limits::Proc::open(programs, ports))
            }),
            share_for_connections,
            connections_not_before: Span::ZERO,
            last_queues: BTreeMap::new(),
        }
    }

    /// Takes the first look, from which on everything is counted.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn begin(&mut self) -> Result<(), Error> {
        self.kernel.begin()?;
        self.processes.begin()?;
        self.network.begin()?;
        self.limits.begin()?;
        let started = clock::thread();
        self.connections.begin()?;
        self.rest_from_connections(Span::ZERO, started);
        Ok(())
    }

    /// By what mechanism each group is looked at, and why not by a better one. That interfaces and limits are in
    /// `/proc` alone goes without saying.
    pub fn mechanisms(&self) -> Vec<(&'static str, Mechanism, Option<&Error>)> {
        let groups = [
            (Group::Kernel, self.kernel.mechanism()),
            (Group::Processes, self.processes.mechanism()),
            (Group::Connections, self.connections.mechanism()),
        ];
        let used = groups.into_iter().filter_map(|(group, mechanism)| Some((group.name(), mechanism?)));
        used.map(|(name, (mechanism, refused))| (name, mechanism, refused)).collect()
    }

    /// When something is due, so long after the start; never if all groups are switched off.
    pub fn due(&self) -> Option<Span> {
        let due = [
            self.kernel.due(),
            self.processes.due(),
            self.network.due(),
            self.connections.due(),
            self.limits.due(),
        ];
        due.into_iter().flatten().min()
    }

    /// What the kernel and the programs have done so far; looks are not changed by it.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub(crate) fn sums(&mut self) -> Result<(Option<kernel::Sample>, Option<processes::Sample>), Error> {
        Ok((self.kernel.sums()?, self.processes.sums()?))
    }

    /// Looks at what is due so long after the start, or at everything: what went on since each was looked at
    /// before.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn look(&mut self, age: Span, everything: bool) -> Result<Summary, Error> {
        let mut seen = Summary::default();
        if self.kernel.is_due(age) | everything
            && let Some((before, after)) = self.kernel.sample(age)?
        {
            seen.kernel = Some(kernel::rates(&before, after));
        }
        if self.processes.is_due(age) | everything
            && let Some((before, after)) = self.processes.sample(age)?
        {
            seen.processes = by_program(&self.programs, &before, after);
        }
        if self.network.is_due(age) | everything
            && let Some((before, after)) = self.network.sample(age)?
        {
            seen.network = network::rates(&before, after).collect();
        }
        if self.limits.is_due(age) | everything
            && let Some((before, after)) = self.limits.sample(age)?
        {
            seen.limits = Some(limits::rates(&self.programs, &before, after));
        }
        if self.connections.is_due(age) | everything {
            self.look_at_connections(age, &mut seen)?;
        }
        Ok(seen)
    }

    /// Where there is no time for another walk yet, the last one is told again.
    fn look_at_connections(&mut self, age: Span, seen: &mut Summary) -> Result<(), Error> {
        let started = clock::thread();
        if age < self.connections_not_before {
            if let Some(last) = &self.connections.last {
                if self.last_queues.is_empty() {
                    self.last_queues = by_port(&self.ports, last, last);
                }
                seen.connections = connections::by_state(last);
                seen.listen_queues.clone_from(&self.last_queues);
            }
            return Ok(());
        }
        if let Some((before, after)) = self.connections.sample(age)? {
            seen.connections = connections::by_state(after);
            self.last_queues = by_port(&self.ports, &before, after);
            seen.listen_queues.clone_from(&self.last_queues);
        }
        self.rest_from_connections(age, started);
        Ok(())
    }

    fn rest_from_connections(&mut self, age: Span, started: Span) {
        let took = clock::thread().saturating_sub(started);
        let pause = self.share_for_connections.map_or(Span::ZERO, |share| took.mul_f64(1.0 / share));
        // Looks are not quite as far apart as they ought to be.
        self.connections_not_before = age + pause.mul_f64(0.99);
    }

    /// What went on between the first look and the last.
    pub fn whole(&self) -> Summary {
        let connections = self.connections.whole();
        Summary {
            kernel: self.kernel.whole().map(|(first, last)| kernel::rates(first, last)),
            processes: self
                .processes
                .whole()
                .map(|(first, last)| by_program(&self.programs, first, last))
                .unwrap_or_default(),
            network: self
                .network
                .whole()
                .map(|(first, last)| network::rates(first, last).collect())
                .unwrap_or_default(),
            connections: connections.map(|(_, last)| connections::by_state(last)).unwrap_or_default(),
            listen_queues: connections
                .map(|(first, last)| by_port(&self.ports, first, last))
                .unwrap_or_default(),
            limits: self.limits.whole().map(|(first, last)| limits::rates(&self.programs, first, last)),
            ..Summary::default()
        }
    }
}

fn by_program(
    programs: &[String],
    before: &processes::Sample,
    after: &processes::Sample,
) -> BTreeMap<String, processes::Rates> {
    programs.iter().cloned().zip(processes::rates(before, after)).collect()
}

fn by_port(
    ports: &[u16],
    before: &connections::Sample,
    after: &connections::Sample,
) -> BTreeMap<u16, connections::ListenQueue> {
    ports.iter().copied().zip(connections::listen_queues(before, after)).collect()
}
