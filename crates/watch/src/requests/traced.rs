//! [`Probes`]: the programs in the kernel that follow requests.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::rc::Rc;

use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{Link, ProgramMut, RingBuffer, RingBufferBuilder};
use procfs::process::Process;
use units::{Span, Time};

use super::finished::Finished;
use super::{MAX_PORTS, calls};
use crate::Error;
use crate::bpf::clock;
use crate::bpf::code;
use crate::bpf::layout::Layout;
use crate::bpf::programs::{detach_at_once, peek, place, run, walk};
use crate::bpf::runs::{Kind, Runs};
use crate::servers::Server;

program!("requests");

/// A file, by its device, its inode, and when it was changed.
type File = (u64, u64, (i64, i64));

/// The programs, loaded; they cost nothing as long as they are not attached.
pub(super) struct Probes {
    program: program::RequestsSkel<'static>,
    way: Way,
    /// What calls a program for each task, where it cannot walk over them by itself.
    walk: Option<Link>,
    links: Vec<Link>,
    /// Binaries with a probe in them, or without.
    attached: BTreeMap<File, bool>,
    /// Where a probe goes in a binary, if anywhere, once that is known.
    places: BTreeMap<File, Option<u64>>,
    /// Both of the kernel's clocks at the beginning.
    clocks: Clocks,
    /// How often it is looked at what runs, in stretches that count as user mode.
    look_every: Span,
    ring: RingBuffer<'static>,
    finished: Rc<RefCell<Vec<Finished>>>,
}

/// What the kernel has for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Since Linux 6.7.
    Best,
    /// Since Linux 6.3: programs cannot walk over tasks by themselves.
    Called,
    /// Before that: there are no tracepoints for what is received and sent, but a way to functions by their names.
    Functions,
}

impl Way {
    const ALL: [Self; 3] = [Self::Best, Self::Called, Self::Functions];
}

/// What could not be told since the programs were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Losses {
    /// Requests for which there was no room on their way here.
    pub(super) requests: u64,
    /// Connections that were more than can be followed at once.
    pub(super) connections: u64,
}

/// Of the stretches between two times that programs were told of the server's threads, in which these count as
/// being in user mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stretches {
    /// How long they were in all.
    pub(super) time: Span,
    /// Those that ended with a system call.
    pub(super) calls: u64,
    /// Those that ended with a breakpoint.
    pub(super) probes: u64,
    /// How often they were looked at.
    pub(super) looks: u64,
    /// And it was the kernel that ran.
    pub(super) crossings: u64,
}

/// The kernel's clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Clocks {
    time: Time,
    jiffies: u64,
}

impl Clocks {
    /// How long a jiffy is (`CONFIG_HZ`), by an earlier moment; nothing when that is too near.
    fn jiffy_since(self, earlier: Self) -> Span {
        let (time, jiffies) = (self.time.since(earlier.time), self.jiffies - earlier.jiffies);
        let found = |hertz: u64| Span::from_nanos(1_000_000_000 / hertz);
        let distance = |hertz: &u64| found(*hertz).as_nanos().abs_diff(time.as_nanos() / jiffies.max(1));
        // One more or less does not make it another.
        let nearest = [100, 250, 300, 1000].into_iter().min_by_key(distance).filter(|_| jiffies >= 20);
        nearest.map(found).unwrap_or_default()
    }
}

const FINDING: &str = "finding the server's threads";

impl Probes {
    /// Loads the programs, for connections of these ports in a network namespace (0 for any), with so much time from one
    /// look to the next.
    ///
    /// # Errors
    /// When the kernel does not take them.
    pub(super) fn load(ports: &[u16], namespace: u32, look_every: Span) -> Result<Self, Error> {
        // Says what is wrong more clearly than the loader does.
        Layout::read()?;
        let mut refused = Error::Unknown("ways to follow requests");
        for way in Way::ALL {
            match Self::load_by(way, ports, namespace, look_every) {
                Ok(probes) => return Ok(probes),
                Err(why) => refused = why,
            }
        }
        // The last of them asks for the least.
        Err(refused)
    }

    fn load_by(way: Way, ports: &[u16], namespace: u32, look_every: Span) -> Result<Self, Error> {
        let mut open = program::RequestsSkelBuilder::default()
            .open(place())
            .map_err(Error::bpf("opening the programs for requests"))?;
        let constants = open.maps.rodata_data.as_deref_mut().ok_or(Error::Unknown("constants"))?;
        constants.ports = ports.len().min(MAX_PORTS) as u32;
        for (place, port) in constants.wanted.iter_mut().zip(ports) {
            *place = *port;
        }
        constants.namespace = namespace;
        calls::fill(&mut constants.calls);
        let programs = &mut open.progs;
        programs.hw_syscall_join.set_autoload(way == Way::Best);
        programs.hw_task_join.set_autoload(way != Way::Best);
        for program in
            [&mut programs.hw_data_ready, &mut programs.hw_recv_length, &mut programs.hw_send_length]
        {
            program.set_autoload(way != Way::Functions);
        }
        for program in [
            &mut programs.hw_readable,
            &mut programs.hw_tcp_recvmsg,
            &mut programs.hw_sendmsg_out,
            &mut programs.hw_sendpage_out,
        ] {
            program.set_autoload(way == Way::Functions);
        }
        let program = open.load().map_err(Error::bpf("loading the programs for requests"))?;
        let walk = match way {
            Way::Best => None,
            Way::Called | Way::Functions => {
                Some(program.progs.hw_task_join.attach().map_err(Error::bpf(FINDING))?)
            }
        };
        let finished = Rc::new(RefCell::new(Vec::new()));
        let told = Rc::clone(&finished);
        let mut ring = RingBufferBuilder::new();
        ring.add(&program.maps.ring, move |bytes| {
            told.borrow_mut().extend(Finished::read(bytes));
            0
        })
        .map_err(Error::bpf("opening the ring of finished requests"))?;
        let ring = ring.build().map_err(Error::bpf("opening the ring of finished requests"))?;
        let clocks = Clocks::default();
        let mut probes = Self {
            program,
            way,
            walk,
            links: Vec::new(),
            attached: BTreeMap::new(),
            places: BTreeMap::new(),
            clocks,
            look_every,
            ring,
            finished,
        };
        probes.state()?.epoch = 1;
        probes.clocks = probes.read_clocks()?;
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
        // Everybody pays for tracepoints and clocks as long as they are there: they come last and go first. Where
        // others use a binary, the kernel takes tens of milliseconds to put a probe into it, or to take it out.
        self.probe(servers)?;
        let attached: Result<Vec<_>, _> = self
            .tracepoints()
            .into_iter()
            .map(|(program, what)| program.attach_trace().map_err(Error::bpf(what)))
            .collect();
        match attached {
            Ok(links) => self.links.extend(links),
            Err(why) => {
                self.detach()?;
                return Err(why);
            }
        }
        // Where there is no such clock, crossings are known less well.
        let looks = |clock: OwnedFd| clock::attach(&self.program.progs.hw_perf_event, clock).ok();
        self.links.extend(clock::open(self.look_every).filter_map(looks));
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
            let Some(over_tasks) = &self.walk else {
                run(&self.program.progs.hw_syscall_join, FINDING)?;
                continue;
            };
            for finds_server in [true, false] {
                let state = self.program.maps.bss_data.as_deref_mut().ok_or(Error::Unknown("variables"))?;
                state.finds_server = finds_server;
                walk(over_tasks, FINDING)?;
            }
        }
        Ok(())
    }

    /// Attaches to the servers' binaries, unless that has been done: those that it cannot attach to are
    /// followed by their system calls.
    fn probe(&mut self, servers: &[Server]) -> Result<(), Error> {
        for server in servers {
            let file = fs::metadata(&server.executable)
                .map(|file| (file.dev(), file.ino(), (file.mtime(), file.mtime_nsec())));
            let is_attached = match (server.symbol(), file) {
                (Some(symbol), Ok(file)) => *self.attached.entry(file).or_insert_with(|| {
                    let probe = &self.program.progs.hw_uprobe_head;
                    let find = || code::place_in(&server.executable, symbol);
                    let place = *self.places.entry(file).or_insert_with(find);
                    let link = place.and_then(|place| {
                        probe.attach_uprobe(false, -1, &server.executable, place as usize).ok()
                    });
                    let is_attached = link.is_some();
                    self.links.extend(link);
                    is_attached
                }),
                _ => false,
            };
            let constants = self.program.maps.rodata_data;
            let wanted = constants.ok_or(Error::Unknown("constants"))?.wanted;
            let state = self.state()?;
            for (place, _) in wanted.iter().enumerate().filter(|(_, port)| server.at.ports.contains(port)) {
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
        let probe = &self.program.progs.hw_uprobe_head;
        let link = probe.attach_uprobe(false, own, "/proc/self/exe", offset as usize);
        self.links.push(link.map_err(Error::bpf("attaching to this process"))?);
        Ok(())
    }

    /// How much time in user mode this thread has used since it asked before, as it would count if it were
    /// one of a server's. The probes must be attached.
    pub(super) fn ask(&mut self) -> Result<Span, Error> {
        run(&self.program.progs.hw_syscall_ask, "asking for this thread's time")?;
        Ok(Span::from_nanos(peek(&self.state()?.own_user)))
    }

    /// What following costs requests is left out: what programs take, and so much besides to get to each, at
    /// places in the kernel and at a breakpoint.
    pub(super) fn leave_out(&mut self, call: Span, probe: Span) -> Result<(), Error> {
        let state = self.state()?;
        (state.call_cost, state.probe_cost) = (call.as_nanos(), probe.as_nanos());
        Ok(())
    }

    /// What has been seen of stretches since the programs were loaded.
    pub(super) fn stretches(&mut self) -> Result<Stretches, Error> {
        let processors = &self.state()?.stretches;
        let sum =
            |of: fn(&program::types::stretches) -> &u64| processors.iter().map(|one| peek(of(one))).sum();
        Ok(Stretches {
            time: Span::from_nanos(sum(|one| &one.time)),
            calls: sum(|one| &one.calls),
            probes: sum(|one| &one.probes),
            looks: sum(|one| &one.looks),
            crossings: sum(|one| &one.crossings),
        })
    }

    /// What has been seen of them so far was of this process.
    pub(super) fn forget_stretches(&mut self) -> Result<(), Error> {
        self.state()?.stretches.fill(program::types::stretches::default());
        Ok(())
    }

    /// So much of what would count as user mode is the kernel's, before each call and each breakpoint.
    pub(super) fn correct_by(&mut self, call: Span, probe: Span) -> Result<(), Error> {
        let state = self.state()?;
        (state.call_crossing, state.probe_crossing) = (call.as_nanos(), probe.as_nanos());
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
        run(&self.program.progs.hw_syscall_scan, "looking at unfinished requests")?;
        Ok(peek(&self.state()?.unfinished))
    }

    /// The longest that a server was seen to pause within a response.
    pub(super) fn longest_pause(&mut self) -> Result<Span, Error> {
        Ok(Span::from_nanos(peek(&self.state()?.longest_pause)))
    }

    /// Detaches them. What was known of connections is forgotten: their ends will not be seen. What of the processor's
    /// time that took in other threads.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn detach(&mut self) -> Result<Span, Error> {
        // While the last probes are still there, they find no thread that they would follow.
        let in_binaries = self.attached.values().filter(|is_attached| **is_attached).count();
        let mut used = detach_at_once(self.links.drain(in_binaries.min(self.links.len())..));
        self.state()?.epoch += 1;
        used += detach_at_once(self.links.drain(..));
        self.attached.clear();
        run(&self.program.progs.hw_syscall_drop, "forgetting connections")?;
        Ok(used)
    }

    /// Finds out how long a jiffy is, unless that is known, or it is too soon to tell.
    pub(super) fn learn_jiffy(&mut self) -> Result<(), Error> {
        if self.state()?.jiffy == 0 {
            self.state()?.jiffy = self.read_clocks()?.jiffy_since(self.clocks).as_nanos();
        }
        Ok(())
    }

    fn read_clocks(&mut self) -> Result<Clocks, Error> {
        run(&self.program.progs.hw_syscall_time, "reading the kernel's clocks")?;
        let state = self.state()?;
        Ok(Clocks { time: Time::from_nanos(peek(&state.clock_ns)), jiffies: peek(&state.clock_jiffies) })
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
            // A clock interrupts the thread that runs, as a breakpoint does.
            Kind::Breakpoint => vec![&programs.hw_uprobe_head, &programs.hw_perf_event],
            Kind::Tracepoint => self.tracepoints().into_iter().map(|(program, _)| program).collect(),
        };
        Runs::of_all(&programs)
    }

    /// Those at places in the kernel, with what they do.
    fn tracepoints(&self) -> Vec<(&ProgramMut<'static>, &'static str)> {
        let programs = &self.program.progs;
        let mut all = vec![
            (&programs.hw_sys_exit, "watching the end of system calls"),
            (&programs.hw_sys_enter, "watching system calls"),
            (&programs.hw_sched_switch, "watching switches between tasks"),
            (&programs.hw_softirq_in, "watching soft interrupts"),
            (&programs.hw_softirq_out, "watching soft interrupts"),
            (&programs.hw_task_newtask, "watching new threads"),
            (&programs.hw_sock_state, "watching the states of connections"),
        ];
        all.extend(match self.way {
            Way::Best | Way::Called => vec![
                (&programs.hw_data_ready, "watching what arrives on sockets"),
                (&programs.hw_send_length, "watching what is sent"),
                (&programs.hw_recv_length, "watching what is received"),
            ],
            Way::Functions => vec![
                (&programs.hw_readable, "watching what arrives on sockets"),
                (&programs.hw_sendmsg_out, "watching what is sent"),
                (&programs.hw_sendpage_out, "watching files that are sent"),
                (&programs.hw_tcp_recvmsg, "watching what is received"),
            ],
        });
        all
    }

    /// The variables that both sides write.
    fn state(&mut self) -> Result<&mut program::types::bss, Error> {
        self.program.maps.bss_data.as_deref_mut().ok_or(Error::Unknown("variables"))
    }
}
