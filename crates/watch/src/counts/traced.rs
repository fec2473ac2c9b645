//! [`Traced`]: the program in the kernel that counts.

use std::collections::BTreeMap;
use std::path::Path;

use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{Link, ProgramMut, UprobeOpts};
use units::Bytes;

use super::counted::{Counted, OfClass, Protocols, Statuses};
use super::go;
use super::libraries::{Library, of_process};
use crate::Error;
use crate::bpf::layout::processors;
use crate::bpf::programs::{peek, place};
use crate::connections::MAX_PORTS;

program!("counts");

/// As in counts.bpf.c.
const MAX_CLASSES: usize = 16;
const STATUSES: usize = 6;

/// How it is seen what is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Since Linux 6.16.
    Tracepoint,
    /// On kernels that give programs a way to a function by its name, since Linux 6.3.
    Function,
    /// On such kernels before that, to its end as well.
    FunctionEnds,
}

impl Way {
    const ALL: [Self; 3] = [Self::Tracepoint, Self::Function, Self::FunctionEnds];
}

/// Counts, from when it is made until it is dropped.
pub(crate) struct Traced {
    program: program::CountsSkel<'static>,
    classes: usize,
    processors: usize,
    _links: Vec<Link>,
    /// Files that processes of servers run, and the probes in those that are libraries of TLS.
    libraries: BTreeMap<Library, Vec<Link>>,
}

impl Traced {
    /// Loads and attaches the programs, for these ports in a network namespace (0 for any), and classes with these bounds between them, which grow.
    ///
    /// # Errors
    /// When the kernel does not take them.
    pub(crate) fn open(ports: &[u16], bounds: &[Bytes], namespace: u32) -> Result<Self, Error> {
        let mut refused = Error::Unknown("ways to count requests");
        for way in Way::ALL {
            match Self::open_by(way, ports, bounds, namespace) {
                Ok(traced) => return Ok(traced),
                Err(why) => refused = why,
            }
        }
        // The last of them asks for the least.
        Err(refused)
    }

    fn open_by(way: Way, ports: &[u16], bounds: &[Bytes], namespace: u32) -> Result<Self, Error> {
        let mut open = program::CountsSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the programs that count requests"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.ports = ports.len().min(MAX_PORTS) as u32;
        for (place, port) in constants.wanted.iter_mut().zip(ports) {
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
        open.progs.hw_send_counted.set_autoload(way != Way::FunctionEnds);
        open.progs.hw_tcp_sent.set_autoload(way == Way::FunctionEnds);
        open.progs.hw_tcp_sendpage.set_autoload(way == Way::FunctionEnds);
        if let Some(state) = open.maps.bss_data.as_deref_mut() {
            state.inside.fill(true);
        }
        let program = open.load().map_err(Error::bpf("loading the programs that count requests"))?;
        let begins = match way {
            Way::Tracepoint => &program.progs.hw_send_locked,
            Way::Function | Way::FunctionEnds => &program.progs.hw_tcp_sendmsg,
        };
        let ends = match way {
            Way::Tracepoint | Way::Function => vec![&program.progs.hw_send_counted],
            Way::FunctionEnds => vec![&program.progs.hw_tcp_sent, &program.progs.hw_tcp_sendpage],
        };
        let attach = |program: &ProgramMut<'_>| {
            program.attach_trace().map_err(Error::bpf("attaching the programs that count requests"))
        };
        let links = ends.into_iter().chain([begins]).map(attach).collect::<Result<_, _>>()?;
        let processors = processors()? as usize;
        Ok(Self { program, classes, processors, _links: links, libraries: BTreeMap::new() })
    }

    /// Looks inside TLS where these processes, which listen on these ports, use a library that can be asked.
    pub(crate) fn look_inside<'a>(&mut self, servers: impl Iterator<Item = (u32, &'a [u16])>) {
        for (process, ports) in servers {
            let mut is_seen = false;
            for (library, path) in of_process(process) {
                let program = &self.program;
                let links = self.libraries.entry(library).or_insert_with(|| Self::probe(program, &path));
                is_seen |= !links.is_empty();
            }
            let wanted = self.program.maps.rodata_data.map(|constants| constants.wanted);
            let (Some(wanted), Some(state)) = (wanted, self.program.maps.bss_data.as_deref_mut()) else {
                return;
            };
            for (place, _) in wanted.iter().enumerate().filter(|(_, port)| ports.contains(port)) {
                state.inside[place] = is_seen;
            }
        }
    }

    /// Attaches to the code that a process runs; to nothing where that gives nothing to TLS.
    fn probe(program: &program::CountsSkel<'static>, path: &Path) -> Vec<Link> {
        let programs = &program.progs;
        let attach = |program: &ProgramMut<'_>, function: &str| {
            let options = UprobeOpts { func_name: Some(function.to_owned()), ..UprobeOpts::default() };
            program.attach_uprobe_with_opts(-1, path, 0, options).ok()
        };
        let writes = [(&programs.hw_uprobe_write, "SSL_write"), (&programs.hw_uprobe_wr_ex, "SSL_write_ex")];
        let mut links: Vec<Link> =
            writes.into_iter().filter_map(|(program, function)| attach(program, function)).collect();
        if !links.is_empty() {
            links.extend(attach(&programs.hw_uprobe_begin, "SSL_set_accept_state"));
            links.extend(attach(&programs.hw_uprobe_shake, "SSL_do_handshake"));
            for end in ["SSL_free", "SSL_set_connect_state"] {
                links.extend(attach(&programs.hw_uprobe_end, end));
            }
        }
        if let Some(functions) = go::of_file(path) {
            let of_go = [
                (&programs.hw_uprobe_go_in, functions.handshake),
                (&programs.hw_uprobe_go_cl, functions.client_handshake),
                (&programs.hw_uprobe_go_wr, functions.write),
            ];
            let attach = |(program, at): (&ProgramMut<'_>, u64)| {
                program.attach_uprobe(false, -1, path, at as usize).ok()
            };
            links.extend(of_go.into_iter().filter_map(attach));
        }
        links
    }

    /// What has been counted so far.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub(crate) fn read(&self) -> Result<Counted, Error> {
        let state = self.program.maps.bss_data.as_deref().ok_or(Error::Unknown("variables"))?;
        let sum = |of: &dyn Fn(&program::types::counts) -> u64| {
            state.counts.iter().take(self.processors).map(of).fold(0_u64, u64::wrapping_add)
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
