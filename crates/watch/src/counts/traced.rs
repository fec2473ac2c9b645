//! [`Traced`]: the program in the kernel that counts.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::path::Path;

use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{Link, MapCore as _, MapFlags, ProgramMut};
use units::Bytes;

use super::counted::{Counted, OfClass, Protocols, Statuses};
use super::go;
use super::libraries::{Library, of_process};
use crate::Error;
use crate::addresses::{Addresses, MAX_PATH};
use crate::bpf::code::{self, Arguments, Binary};
use crate::bpf::layout::processors;
use crate::bpf::programs::{detach_at_once, peek, place, walk};
use crate::bpf::runs::{Kind, Runs};
use crate::connections::MAX_PORTS;
use crate::servers::Server;

program!("counts");

/// As in counts.bpf.c.
const MAX_CLASSES: usize = 16;
const STATUSES: usize = 6;

/// Calls that send what a program has in its memory, in the order of counts/unix.h.
const CALLS: [libc::c_long; 4] = [libc::SYS_write, libc::SYS_sendto, libc::SYS_writev, libc::SYS_sendmsg];

fn attach(program: &ProgramMut<'_>) -> Result<Link, Error> {
    program.attach_trace().map_err(Error::bpf("attaching the programs that count requests"))
}

const PENDING: &str = "looking at what connections are sending";

/// How it is seen what is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Since Linux 6.16.
    Tracepoint,
    /// Before that, on kernels that give programs a way to a function by its name.
    Function,
}

impl Way {
    const ALL: [Self; 2] = [Self::Tracepoint, Self::Function];
}

/// How it is seen what connections have taken and not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    /// Of those that are counted.
    Counted,
    /// Of all of this network namespace: there are kernels that allow no program over the others.
    All,
}

impl Pending {
    const ALL: [Self; 2] = [Self::Counted, Self::All];
}

/// How it is seen what was sent at unix sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtSockets {
    /// Since Linux 6.3.
    Tracepoint,
    /// Before that, and before Linux 6.5 files besides, on kernels that give programs a way to a function by its name.
    Functions { of_files: bool },
}

impl AtSockets {
    const ALL: [Self; 3] =
        [Self::Tracepoint, Self::Functions { of_files: true }, Self::Functions { of_files: false }];
}

/// All together, those that cost least first.
fn ways() -> impl Iterator<Item = (Way, Pending)> {
    Way::ALL.into_iter().flat_map(|way| Pending::ALL.map(|pending| (way, pending)))
}

/// As [`ways`], where there are unix sockets, and where there are none.
fn ways_at(has_sockets: bool) -> impl Iterator<Item = (Way, Pending, Option<AtSockets>)> {
    let at_sockets = if has_sockets { AtSockets::ALL.map(Some).to_vec() } else { vec![None] };
    ways().flat_map(move |(way, pending)| {
        at_sockets.clone().into_iter().map(move |at_sockets| (way, pending, at_sockets))
    })
}

/// Counts, from when it is made until it is dropped.
pub(crate) struct Traced {
    program: program::CountsSkel<'static>,
    classes: usize,
    processors: usize,
    /// Over the connections.
    walk: Link,
    way: Way,
    pending: Pending,
    /// None without unix sockets.
    at_sockets: Option<AtSockets>,
    has_ports: bool,
    /// None while nothing is counted.
    links: Vec<Link>,
    /// Files that processes of servers run, and the probes in those that are libraries of TLS.
    libraries: BTreeMap<Library, Probed>,
}

/// A file with probes.
#[derive(Default)]
struct Probed {
    links: Vec<Link>,
    /// One of them sees what is written.
    sees_writes: bool,
}

impl Traced {
    /// Loads and attaches the programs, for what listens at these addresses in a network namespace (0 for any), and classes with these bounds
    /// between them, which grow; and to the servers, where they can be.
    ///
    /// # Errors
    /// When the kernel does not take them.
    pub(crate) fn open(
        at: &Addresses,
        bounds: &[Bytes],
        namespace: u32,
        servers: &[Server],
    ) -> Result<Self, Error> {
        let mut refused = Error::Unknown("ways to count requests");
        for by in ways_at(!at.sockets.is_empty()) {
            let opened = Self::open_by(by, at, bounds, namespace);
            match opened.and_then(|mut traced| traced.attach(servers).map(|()| traced)) {
                Ok(traced) => return Ok(traced),
                Err(why) => refused = why,
            }
        }
        // The last of them asks for the least.
        Err(refused)
    }

    fn open_by(
        (way, pending, at_sockets): (Way, Pending, Option<AtSockets>),
        at: &Addresses,
        bounds: &[Bytes],
        namespace: u32,
    ) -> Result<Self, Error> {
        let mut open = program::CountsSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the programs that count requests"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.ports = at.ports.len().min(MAX_PORTS) as u32;
        for (place, port) in constants.wanted.iter_mut().zip(&at.ports) {
            *place = *port;
        }
        constants.namespace = namespace;
        let classes = (bounds.len() + 1).min(MAX_CLASSES);
        constants.classes = classes as u32;
        for (place, bound) in constants.bounds.iter_mut().zip(bounds) {
            *place = bound.0;
        }
        open.progs.hw_send_locked.set_autoload(way == Way::Tracepoint);
        open.progs.hw_tcp_sendmsg.set_autoload(way != Way::Tracepoint);
        open.progs.hw_map_pending.set_autoload(pending == Pending::Counted);
        open.progs.hw_tcp_pending.set_autoload(pending == Pending::All);
        constants.calls = CALLS.map(|call| call as u32);
        open.progs.hw_unix_length.set_autoload(at_sockets == Some(AtSockets::Tracepoint));
        open.progs.hw_unix_sent.set_autoload(matches!(at_sockets, Some(AtSockets::Functions { .. })));
        open.progs.hw_unix_page.set_autoload(at_sockets == Some(AtSockets::Functions { of_files: true }));
        if let Some(state) = open.maps.bss_data.as_deref_mut() {
            state.inside.fill(true);
        }
        let program = open.load().map_err(Error::bpf("loading the programs that count requests"))?;
        for socket in &at.sockets {
            // Of an abstract name the first byte is a zero.
            let name = socket.replacen('@', "\0", usize::from(socket.starts_with('@')));
            let mut path = [0; MAX_PATH];
            path.iter_mut().zip(name.bytes()).for_each(|(place, byte)| *place = byte);
            let added = program.maps.paths.update(&path, &[1], MapFlags::ANY);
            added.map_err(Error::bpf("saying which unix sockets are watched"))?;
        }
        let walk = match pending {
            Pending::Counted => program.progs.hw_map_pending.attach_iter(program.maps.sendings.as_fd()),
            Pending::All => program.progs.hw_tcp_pending.attach_trace(),
        };
        let walk = walk.map_err(Error::bpf(PENDING))?;
        let processors = processors()? as usize;
        let (links, libraries, has_ports) = (Vec::new(), BTreeMap::new(), !at.ports.is_empty());
        Ok(Self { program, classes, processors, walk, way, pending, at_sockets, has_ports, links, libraries })
    }

    /// Counts, from now on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn attach(&mut self, servers: &[Server]) -> Result<(), Error> {
        self.program.maps.bss_data.as_deref_mut().ok_or(Error::Unknown("variables"))?.epoch += 1;
        // What is given to TLS is known by the time that it is sent.
        self.look_inside(servers);
        let programs = &self.program.progs;
        let sends = match self.way {
            Way::Tracepoint => &programs.hw_send_locked,
            Way::Function => &programs.hw_tcp_sendmsg,
        };
        let mut all = self.sends_at_sockets();
        if self.has_ports {
            all.extend([&programs.hw_state_counts, sends]);
        }
        self.links = all.into_iter().map(attach).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// What sees what is sent at unix sockets.
    fn sends_at_sockets(&self) -> Vec<&ProgramMut<'static>> {
        let programs = &self.program.progs;
        match self.at_sockets {
            None => Vec::new(),
            Some(AtSockets::Tracepoint) => vec![&programs.hw_unix_length],
            Some(AtSockets::Functions { of_files: false }) => vec![&programs.hw_unix_sent],
            Some(AtSockets::Functions { of_files: true }) => {
                vec![&programs.hw_unix_sent, &programs.hw_unix_page]
            }
        }
    }

    /// Counts no more, until it is attached again. What has been counted is not lost.
    pub(crate) fn detach(&mut self) {
        let of_libraries = std::mem::take(&mut self.libraries).into_values().flat_map(|probed| probed.links);
        detach_at_once(self.links.drain(..).chain(of_libraries));
    }

    /// How often its programs have run and for how long, by name: those of the kernel, and those in binaries.
    pub(crate) fn runs(&self) -> BTreeMap<&'static str, (Kind, Runs)> {
        let programs = &self.program.progs;
        let mut all = vec![("state", Kind::Tracepoint, &programs.hw_state_counts)];
        all.push(match self.way {
            Way::Tracepoint => ("send", Kind::Tracepoint, &programs.hw_send_locked),
            Way::Function => ("send", Kind::Tracepoint, &programs.hw_tcp_sendmsg),
        });
        let at_sockets = ["unix_send", "unix_page"].into_iter().zip(self.sends_at_sockets());
        all.extend(at_sockets.map(|(name, program)| (name, Kind::Tracepoint, program)));
        if self.libraries.values().any(|probed| probed.sees_writes) {
            all.extend([
                ("write", Kind::Breakpoint, &programs.hw_uprobe_write),
                ("write_ex", Kind::Breakpoint, &programs.hw_uprobe_wr_ex),
                ("shake", Kind::Breakpoint, &programs.hw_uprobe_shake),
                ("begin", Kind::Breakpoint, &programs.hw_uprobe_begin),
                ("end", Kind::Breakpoint, &programs.hw_uprobe_end),
                ("client", Kind::Breakpoint, &programs.hw_uprobe_cl),
                ("go_write", Kind::Breakpoint, &programs.hw_uprobe_go_wr),
                ("go_begin", Kind::Breakpoint, &programs.hw_uprobe_go_in),
                ("go_client", Kind::Breakpoint, &programs.hw_uprobe_go_cl),
            ]);
        }
        all.into_iter().map(|(name, kind, program)| (name, (kind, Runs::of(program)))).collect()
    }

    /// Looks inside TLS where processes of these servers use a library that can be asked.
    pub(crate) fn look_inside(&mut self, servers: &[Server]) {
        let mut inside = [None; MAX_PORTS];
        let wanted = self.program.maps.rodata_data.map(|constants| constants.wanted).unwrap_or_default();
        // At a unix socket nothing is sent inside TLS.
        for server in servers.iter().filter(|server| !server.at.ports.is_empty()) {
            let mut is_seen = false;
            for (library, path) in of_process(server.process) {
                if !self.libraries.contains_key(&library) {
                    let Some(probed) = self.probe(&path) else { continue };
                    self.libraries.insert(library, probed);
                }
                is_seen |= self.libraries.get(&library).is_some_and(|probed| probed.sees_writes);
            }
            // Of several at one port some may use another library.
            for (place, _) in wanted.iter().enumerate().filter(|(_, port)| server.at.ports.contains(port)) {
                inside[place] = Some(is_seen || inside[place].unwrap_or(false));
            }
        }
        let asks = self.libraries.values().any(|probed| probed.sees_writes);
        let Some(state) = self.program.maps.bss_data.as_deref_mut() else { return };
        state.asks = asks;
        for (place, is_seen) in state.inside.iter_mut().zip(inside) {
            *place = is_seen.unwrap_or(*place);
        }
    }

    /// Attaches to the code that a process runs; to nothing where that gives nothing to TLS. None where it cannot be read.
    fn probe(&self, path: &Path) -> Option<Probed> {
        let bytes = code::read(path)?;
        let binary = Binary::parse(&*bytes).ok()?;
        let programs = &self.program.progs;
        let names = [
            "SSL_write",
            "SSL_write_ex",
            "SSL_set_accept_state",
            "SSL_do_handshake",
            "SSL_free",
            "SSL_set_connect_state",
        ];
        let [write, write_ex, accepts, shakes, free, connects] = code::functions(&binary, names);
        let mut functions = Vec::new();
        if write.is_some() || write_ex.is_some() {
            functions.extend([
                (&programs.hw_uprobe_write, write, Arguments::OfC, true),
                (&programs.hw_uprobe_wr_ex, write_ex, Arguments::OfC, true),
                (&programs.hw_uprobe_begin, accepts, Arguments::OfC, false),
                (&programs.hw_uprobe_shake, shakes, Arguments::OfC, false),
                (&programs.hw_uprobe_end, free, Arguments::OfC, false),
                (&programs.hw_uprobe_cl, connects, Arguments::OfC, false),
            ]);
        }
        if let Some(of_go) = go::of_binary(&binary) {
            functions.extend([
                (&programs.hw_uprobe_go_in, Some(of_go.handshake), Arguments::OfGo, false),
                (&programs.hw_uprobe_go_cl, Some(of_go.client_handshake), Arguments::OfGo, false),
                (&programs.hw_uprobe_go_wr, Some(of_go.write), Arguments::OfGo, true),
            ]);
        }
        let attach = |program: &ProgramMut<'_>, function: Option<u64>, arguments| {
            let place = code::place(&binary, function?, arguments)?;
            program.attach_uprobe(false, -1, path, place as usize).ok()
        };
        let mut probed = Probed::default();
        for (program, function, arguments, writes) in functions {
            let link = attach(program, function, arguments);
            probed.sees_writes |= writes && link.is_some();
            probed.links.extend(link);
        }
        Some(probed)
    }

    /// What has been counted so far.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub(crate) fn read(&mut self) -> Result<Counted, Error> {
        self.sum(true)
    }

    /// As [`Self::read`], by one who does so many times a second; without what connections have taken and not told where to look
    /// at these takes long.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub(crate) fn read_often(&mut self) -> Result<Counted, Error> {
        self.sum(self.pending == Pending::Counted)
    }

    fn sum(&mut self, with_pending: bool) -> Result<Counted, Error> {
        let state = self.program.maps.bss_data.as_deref_mut().ok_or(Error::Unknown("variables"))?;
        // What is found there while this is done is then told the next time.
        let counts = state.counts[..self.processors].to_vec();
        state.pending = program::types::counts::default();
        if with_pending {
            walk(&self.walk, PENDING)?;
        }
        let sum = |of: &dyn Fn(&program::types::counts) -> u64| {
            let all = counts.iter().chain([&state.pending]);
            all.map(of).fold(0_u64, u64::wrapping_add)
        };
        let class = |class: usize| {
            let by_status: [u64; STATUSES] =
                std::array::from_fn(|first| sum(&|one| peek(&one.statuses[class * STATUSES + first])));
            OfClass {
                requests: by_status.iter().fold(0, |sum, count| sum.wrapping_add(*count)),
                bytes: sum(&|one| peek(&one.bytes[class])),
                statuses: Statuses::of(by_status),
            }
        };
        let connections = |protocol: usize| sum(&|one| peek(&one.connections[protocol]));
        Ok(Counted {
            classes: (0..self.classes).map(class).collect(),
            protocols: Protocols {
                http1: connections(1),
                http2: connections(2),
                tls: connections(3),
                https1: connections(4),
                https2: connections(5),
                other: connections(6),
                strayed: peek(&state.strayed),
            },
            other_bytes: sum(&|one| peek(&one.other_bytes)),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests;
