//! [`Monitor`]: all groups together, and what went on between two looks at them.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use units::Span;

use crate::requests::{Classes, Tally};
use crate::{
    Chosen, Error, Mechanism, Source as _, clock, connections, kernel, network, processes, requests,
};

/// All groups.
pub struct Monitor {
    programs: Vec<String>,
    kernel: Chosen<kernel::Sample>,
    processes: Chosen<processes::Sample>,
    ports: Vec<u16>,
    connections: Chosen<connections::Sample>,
    /// The share of the time that looks at connections may take, and when the next one is due.
    share_for_connections: Option<f64>,
    connections_due: Span,
    last_connections: connections::Sample,
}

/// What was seen at one moment.
#[derive(Debug, Clone)]
pub struct Look {
    /// The kernel as a whole.
    pub kernel: kernel::Sample,
    /// The programs.
    pub processes: processes::Sample,
    /// The network interfaces.
    pub network: network::Sample,
    /// Connections.
    pub connections: connections::Sample,
    /// How long it took to look.
    pub took: Span,
}

/// What went on between two looks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The kernel as a whole.
    pub kernel: kernel::Rates,
    /// By program.
    pub processes: BTreeMap<String, processes::Rates>,
    /// By interface.
    pub network: BTreeMap<String, network::Rates>,
    /// Connections of all the ports by state, at the second look.
    pub connections: BTreeMap<String, u64>,
    /// By port, what waits to be accepted.
    pub listen_queues: BTreeMap<u16, connections::ListenQueue>,
    /// Requests that ended, by class.
    pub requests: BTreeMap<String, requests::Rates>,
    /// How long connections and requests waited for the server; not there when requests are not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<requests::Waits>,
    /// What of the requests was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed: Option<requests::Followed>,
}

impl Summary {
    /// Adds what was seen of requests.
    pub(crate) fn add_requests(&mut self, tally: &Tally, classes: &Classes) {
        self.requests = tally.rates(&classes.names());
        self.waits = tally.waits();
        self.followed = Some(tally.followed());
    }
}

impl Monitor {
    /// Makes ready to look at the kernel, at all processes of these programs and at these ports' connections:
    /// at the latter so rarely that it takes this share of the time, if one is given, since a walk over all
    /// connections of a machine may be long.
    pub fn open(programs: &[String], ports: &[u16], share_for_connections: Option<f64>) -> Self {
        Self {
            programs: programs.to_vec(),
            kernel: Chosen::of(kernel::Traced::open(), kernel::Proc::default),
            processes: Chosen::of(processes::Traced::open(programs), || processes::Proc::open(programs)),
            ports: ports.to_vec(),
            connections: Chosen::of(connections::Traced::open(ports), || connections::Proc::open(ports)),
            share_for_connections,
            connections_due: Span::ZERO,
            last_connections: connections::Sample::default(),
        }
    }

    /// By what mechanism each group is looked at, and why not by a better one.
    pub fn mechanisms(&self) -> [(&'static str, Mechanism, Option<&Error>); 3] {
        [
            ("kernel", self.kernel.mechanism(), self.kernel.refused()),
            ("processes", self.processes.mechanism(), self.processes.refused()),
            ("connections", self.connections.mechanism(), self.connections.refused()),
        ]
    }

    /// Looks at everything.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn look(&mut self) -> Result<Look, Error> {
        let began = Instant::now();
        let (kernel, processes) = (self.kernel.sample()?, self.processes.sample()?);
        let network = network::Proc.sample()?;
        // A walk over all connections of the machine for none of them is no use.
        if !self.ports.is_empty() && kernel.uptime >= self.connections_due {
            let before = clock::thread();
            self.last_connections = self.connections.sample()?;
            let took = clock::thread().saturating_sub(before);
            let pause = self.share_for_connections.map_or(Span::ZERO, |share| took.mul_f64(1.0 / share));
            // Looks are not quite as far apart as they ought to be.
            self.connections_due = kernel.uptime + pause.mul_f64(0.99);
        }
        let connections = self.last_connections.clone();
        Ok(Look { kernel, processes, network, connections, took: Span::from(began.elapsed()) })
    }

    /// What went on between two looks.
    pub fn between(&self, before: &Look, after: &Look) -> Summary {
        let rates = processes::rates(&before.processes, &after.processes);
        let queues = connections::listen_queues(&before.connections, &after.connections);
        Summary {
            kernel: kernel::rates(&before.kernel, &after.kernel),
            processes: self.programs.iter().cloned().zip(rates).collect(),
            network: network::rates(&before.network, &after.network).collect(),
            connections: connections::by_state(&after.connections),
            listen_queues: self.ports.iter().copied().zip(queues).collect(),
            requests: BTreeMap::new(),
            waits: None,
            followed: None,
        }
    }
}
