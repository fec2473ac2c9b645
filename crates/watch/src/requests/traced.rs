//! [`Probes`]: the programs in the kernel that follow requests.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::rc::Rc;

use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{Link, ProgramMut, RingBuffer, RingBufferBuilder, UprobeOpts};
use procfs::process::Process;
use units::{Span, Time};

use super::finished::Finished;
use super::servers::Server;
use super::{MOST_PORTS, calls};
use crate::Error;
use crate::bpf::runs::Runs;
use crate::bpf::{self, Layout, peek};

program!("requests");

/// The programs, loaded; they cost nothing as long as they are not attached.
pub(super) struct Probes {
    program: program::RequestsSkel<'static>,
    links: Vec<Link>,
    /// Binaries, by device and inode, and whether there is a probe in them.
    attached: BTreeMap<(u64, u64), bool>,
    /// Of the states of connections, which is attached all of the time.
    _states: Link,
    ring: RingBuffer<'static>,
    finished: Rc<RefCell<Vec<Finished>>>,
}

/// What could not be told since the programs were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Losses {
    /// Requests for which there was no room on their way here.
    pub(super) requests: u64,
    /// Connections that were more than can be followed at once.
    pub(super) connections: u64,
}

/// Kinds of programs, by what it costs to get to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A breakpoint in the server.
    Breakpoint,
    /// Places in the kernel.
    Tracepoint,
    /// Changes of connections' states, which are watched between windows as well.
    State,
}

impl Probes {
    /// Loads the programs, for connections of these ports.
    ///
    /// # Errors
    /// When the kernel does not take them.
    pub(super) fn load(ports: &[u16]) -> Result<Self, Error> {
        // Says what is wrong more clearly than the loader does.
        Layout::read()?;
        let mut open = program::RequestsSkelBuilder::default()
            .open(bpf::place())
            .map_err(Error::bpf("opening the programs for requests"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.ports = ports.len().min(MOST_PORTS) as u32;
        for (place, port) in constants.wanted.iter_mut().zip(ports) {
            *place = *port;
        }
        calls::fill(&mut constants.calls);
        let program = open.load().map_err(Error::bpf("loading the programs for requests"))?;
        let finished = Rc::new(RefCell::new(Vec::new()));
        let told = Rc::clone(&finished);
        let mut ring = RingBufferBuilder::new();
        ring.add(&program.maps.ring, move |bytes| {
            told.borrow_mut().extend(Finished::read(bytes));
            0
        })
        .map_err(Error::bpf("opening the ring of finished requests"))?;
        let ring = ring.build().map_err(Error::bpf("opening the ring of finished requests"))?;
        let states = program.progs.state_changes.attach_trace();
        let states = states.map_err(Error::bpf("watching the states of connections"))?;
        let mut probes =
            Self { program, links: Vec::new(), attached: BTreeMap::new(), _states: states, ring, finished };
        probes.state()?.epoch = 1;
        Ok(probes)
    }

    /// Attaches them, and to the servers. No request is followed yet.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn attach(&mut self, servers: &[Server]) -> Result<(), Error> {
        let state = self.state()?;
        (state.opens, state.closes) = (u64::MAX, u64::MAX);
        // What was noted while the last of them were being detached has not gone on since.
        state.epoch += 1;
        let attached: Result<Vec<_>, _> = self
            .tracepoints()
            .into_iter()
            .map(|(program, what)| program.attach_trace().map_err(Error::bpf(what)))
            .collect();
        self.links = attached?;
        self.probe(servers)?;
        // What was noted while only some of them were attached is not continued.
        let state = self.state()?;
        state.epoch += 1;
        state.overcharged.fill(0);
        self.enroll(servers)
    }

    /// Attaches to servers that were found since.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn attach_to(&mut self, servers: &[Server]) -> Result<(), Error> {
        self.probe(servers)?;
        self.enroll(servers)
    }

    /// Watches the servers' threads.
    fn enroll(&mut self, servers: &[Server]) -> Result<(), Error> {
        for server in servers {
            self.state()?.server = server.process;
            bpf::run(&self.program.progs.enroll, "finding the server's threads")?;
        }
        Ok(())
    }

    /// Attaches to the servers' binaries, unless that has been done: those that it cannot attach to are
    /// followed by their system calls.
    fn probe(&mut self, servers: &[Server]) -> Result<(), Error> {
        for server in servers {
            let file = fs::metadata(&server.executable).map(|file| (file.dev(), file.ino()));
            let is_attached = match (server.symbol(), file) {
                (Some(symbol), Ok(file)) => *self.attached.entry(file).or_insert_with(|| {
                    let options = UprobeOpts { func_name: Some(symbol.to_owned()), ..UprobeOpts::default() };
                    let probe = &self.program.progs.header_parsed;
                    let link = probe.attach_uprobe_with_opts(-1, &server.executable, 0, options);
                    link.map(|link| self.links.push(link)).is_ok()
                }),
                _ => false,
            };
            let constants = self.program.maps.rodata_data;
            let wanted = constants.ok_or(Error::Unknown("constants"))?.wanted;
            let state = self.state()?;
            for (place, _) in wanted.iter().enumerate().filter(|(_, port)| server.ports.contains(port)) {
                state.probed[place] = is_attached;
            }
        }
        Ok(())
    }

    /// Attaches the probe for servers to a function of this process, at this address in memory.
    pub(super) fn attach_to_self(&mut self, address: usize) -> Result<(), Error> {
        let maps = Process::myself()?.maps()?;
        let address = address as u64;
        let map = maps.iter().find(|map| (map.address.0..map.address.1).contains(&address));
        let map = map.ok_or(Error::Unknown("this process's code"))?;
        let offset = address - map.address.0 + map.offset;
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let probe = &self.program.progs.header_parsed;
        let link = probe.attach_uprobe(false, own, "/proc/self/exe", offset as usize);
        self.links.push(link.map_err(Error::bpf("attaching to this process"))?);
        Ok(())
    }

    /// Requests that begin between these moments are followed.
    pub(super) fn open(&mut self, from: Time, to: Time) -> Result<(), Error> {
        let state = self.state()?;
        (state.closes, state.opens) = (to.as_nanos(), from.as_nanos());
        Ok(())
    }

    /// Follows none of the requests any more that are known now.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        self.open(Time::NEVER, Time::NEVER)?;
        self.state()?.epoch += 1;
        Ok(())
    }

    /// Tells the requests on which nothing has happened for so long; how many there are besides.
    pub(super) fn sweep(&mut self, quiet_for: Span) -> Result<u64, Error> {
        self.state()?.quiet_for = quiet_for.as_nanos();
        bpf::run(&self.program.progs.sweep, "looking at unfinished requests")?;
        Ok(peek(&self.state()?.unfinished))
    }

    /// The longest that a server was seen to pause within a response.
    pub(super) fn longest_pause(&mut self) -> Result<Span, Error> {
        Ok(Span::from_nanos(peek(&self.state()?.longest_pause)))
    }

    /// Detaches all but what is always attached.
    pub(super) fn detach(&mut self) {
        self.links.clear();
        self.attached.clear();
    }

    /// The requests that have been told since the last time.
    pub(super) fn take(&mut self) -> Result<Vec<Finished>, Error> {
        self.ring.consume().map_err(Error::bpf("reading finished requests"))?;
        Ok(self.finished.take())
    }

    pub(super) fn losses(&mut self) -> Result<Losses, Error> {
        let state = self.state()?;
        Ok(Losses { requests: peek(&state.lost), connections: peek(&state.crowded) })
    }

    /// How often programs of one kind have run while that was measured.
    pub(super) fn runs(&self, kind: Kind) -> Runs {
        let programs = &self.program.progs;
        let programs: Vec<&ProgramMut<'_>> = match kind {
            Kind::Breakpoint => vec![&programs.header_parsed],
            Kind::Tracepoint => self.tracepoints().map(|(program, _)| program).into(),
            Kind::State => vec![&programs.state_changes],
        };
        programs.into_iter().map(Runs::of).fold(Runs::default(), |sum, runs| Runs {
            count: sum.count + runs.count,
            time: sum.time + runs.time,
        })
    }

    /// What is attached in windows only, with what it does.
    fn tracepoints(&self) -> [(&ProgramMut<'static>, &'static str); 9] {
        let programs = &self.program.progs;
        [
            (&programs.exits, "watching the end of system calls"),
            (&programs.enters, "watching system calls"),
            (&programs.switches, "watching switches between tasks"),
            (&programs.soft_begins, "watching soft interrupts"),
            (&programs.soft_ends, "watching soft interrupts"),
            (&programs.is_born, "watching new threads"),
            (&programs.arrives, "watching what arrives on sockets"),
            (&programs.sends, "watching what is sent"),
            (&programs.receives, "watching what is received"),
        ]
    }

    /// The variables that both sides write.
    fn state(&mut self) -> Result<&mut program::types::bss, Error> {
        self.program.maps.bss_data.as_deref_mut().ok_or(Error::Unknown("variables"))
    }
}
