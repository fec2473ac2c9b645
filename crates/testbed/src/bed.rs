//! [`Testbed`]: what server and generator run on, each for itself: processors, a network, a share of the machine.
//!
//! All of it belongs to one test. Networks vanish with their last process, and each process ends with the one that
//! started it; what a process that was killed left all the same is removed by the next one
//! ([`sweep`](crate::sweep)).

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::Command;

use crate::control_group::ControlGroup;
use crate::cpus::Cpus;
use crate::error::Error;
use crate::network::link::{self, Network, Side};
use crate::pinning::Pinning;
use crate::resources::Resources;
use crate::stop::Stop;

/// Where programs of a test are started.
#[derive(Debug)]
pub struct Testbed<'a> {
    pinning: &'a Pinning,
    server: &'a Cpus,
    /// Of what stands in front of the server.
    front: &'a Cpus,
    generator: &'a Cpus,
    // In this order: control groups are empty when what ran in them is gone.
    network: Option<Network>,
    server_group: Option<ControlGroup>,
    generator_group: Option<ControlGroup>,
    /// The most descriptors that a process of the server may have open.
    descriptors: Option<u64>,
}

impl<'a> Testbed<'a> {
    /// The machine as it is.
    pub const fn host(pinning: &'a Pinning, server: &'a Cpus, generator: &'a Cpus) -> Self {
        Self {
            pinning,
            server,
            front: server,
            generator,
            network: None,
            server_group: None,
            generator_group: None,
            descriptors: None,
        }
    }

    /// With these resources.
    ///
    /// # Errors
    /// When this user may not have it, or the kernel cannot do it.
    pub fn build(
        resources: &Resources,
        pinning: &'a Pinning,
        server: &'a Cpus,
        generator: &'a Cpus,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let group = |limits: &_, name| ControlGroup::create(limits, name).transpose();
        Ok(Self {
            network: resources.network.as_ref().map(|network| Network::build(network, stop)).transpose()?,
            server_group: group(&resources.server, "server")?,
            generator_group: group(&resources.generator, "generator")?,
            descriptors: resources.descriptors,
            ..Self::host(pinning, server, generator)
        })
    }

    /// With processors of its own for what stands in front of the server, which has the server's otherwise.
    #[must_use]
    pub fn with_front(self, front: Option<&'a Cpus>) -> Self {
        Self { front: front.unwrap_or(self.server), ..self }
    }

    /// What the server listens on.
    pub fn address(&self) -> Ipv4Addr {
        self.network.as_ref().map_or(Ipv4Addr::LOCALHOST, |_| link::SERVER)
    }

    /// Whether a server with this address runs here: only addresses of this machine can be bound to.
    pub fn has(&self, address: IpAddr) -> bool {
        match &self.network {
            Some(_) => address == self.address(),
            None => UdpSocket::bind((address, 0)).is_ok(),
        }
    }

    /// A command that runs what stands in front of the server: in its network, and without its limits.
    pub fn in_front(&self, program: &Path) -> Command {
        self.at_server(program, self.front)
    }

    /// A command that runs what stands behind the server: on its processors, in its network, and without its limits.
    pub fn beside(&self, program: &Path) -> Command {
        self.at_server(program, self.server)
    }

    /// A command that runs the server.
    pub fn server(&self, program: &Path) -> Command {
        let mut words = self.inside(Side::Server, self.server_group.as_ref(), self.descriptors);
        words.push(program.into());
        command(words, |first| self.pinning.command(self.server, first))
    }

    /// A command that runs the generator.
    pub fn generator(&self, program: &Path) -> Command {
        let mut words = self.inside(Side::Generator, self.generator_group.as_ref(), None);
        words.push(program.into());
        // A quota does not hold what has a real-time priority.
        match &self.generator_group {
            Some(_) => command(words, |first| self.pinning.command(self.generator, first)),
            None => command(words, |first| self.pinning.punctual_command(self.generator, first)),
        }
    }

    /// A command that looks at the server, from its network, on the generator's processors.
    pub fn observer(&self, program: &Path) -> Command {
        self.at_server(program, self.generator)
    }

    /// In the server's network, without its limits, on these processors.
    fn at_server(&self, program: &Path, cpus: &Cpus) -> Command {
        let mut words = self.inside(Side::Server, None, None);
        words.push(program.into());
        command(words, |first| self.pinning.command(cpus, first))
    }

    /// Does what connects to `authority`: to the server as the generator would, to what listens on the loopback
    /// interface as the server would.
    pub fn reach<T: Send>(&self, authority: &str, ask: impl FnOnce() -> Option<T> + Send) -> Option<T> {
        match &self.network {
            None => ask(),
            Some(network) => network.reach(authority, ask),
        }
    }

    /// Words that put what follows them into its place.
    fn inside(&self, side: Side, group: Option<&ControlGroup>, descriptors: Option<u64>) -> Vec<OsString> {
        let mut words = self.network.as_ref().map(|network| network.enter(side)).unwrap_or_default();
        let join = group.into_iter().flat_map(ControlGroup::members);
        let join = join.map(|file| format!("echo 0 >'{}'", file.display()));
        let steps: Vec<String> = join.chain(descriptors.map(|most| format!("ulimit -n {most}"))).collect();
        if !steps.is_empty() {
            let script = format!("{} && exec \"$@\"", steps.join(" && "));
            words.extend(["sh".into(), "-c".into(), script.into(), "sh".into()]);
        }
        words
    }
}

/// The first of `words` as a program, however it is started, and the others as its arguments.
fn command(words: Vec<OsString>, start: impl Fn(&Path) -> Command) -> Command {
    let mut words = words.into_iter();
    let mut command = start(Path::new(&words.next().unwrap_or_default()));
    command.args(words);
    command
}

#[cfg(test)]
mod tests;
