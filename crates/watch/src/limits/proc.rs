//! [`Proc`]: samples from `/proc`, the files of control groups and netlink.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use procfs::process::{LimitValue, Process, Stat, all_processes};
use procfs::{CurrentSI as _, KernelStats};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use units::Span;

use super::control_groups::Hierarchies;
use super::descriptors::sockets_of;
use super::others::{Behind, Other, is_part};
use super::queues;
use super::sample::{Disk, Processor, Program, Sample};
use super::sockets::Looked;
use crate::clock::uptime;
use crate::error::Error;
use crate::names::kept;
use crate::netlink::Netlink;
use crate::processes::MAX_PROGRAMS;
use crate::processors::online;
use crate::profile::{Profile, Spent};
use crate::source::Source;

/// Reads `/proc`, the control groups' files and netlink.
pub struct Proc {
    names: Vec<String>,
    ports: Vec<u16>,
    hierarchies: Hierarchies,
    route: Option<Netlink>,
    diagnosis: Option<Netlink>,
    /// Where the programs have been seen to connect to: a connection may be over before it is found out whose it is.
    asked: BTreeSet<String>,
    behind: Behind,
    profile: Option<Profile>,
    /// Processes that are threads of the kernel, which stay so and are many.
    kernel: BTreeSet<i32>,
    /// Names of parts of the server that are none of the programs', and of what it asks, in the order in which they were
    /// first seen.
    parts: Vec<String>,
    asks: Vec<String>,
}

/// Processes at one moment.
struct Processes {
    programs: Vec<Program>,
    parts: BTreeMap<String, Program>,
    behind: BTreeMap<String, Spent>,
    others: BTreeMap<i32, Other>,
    /// The numbers of the programs' sockets; only if all are known.
    sockets: Option<BTreeSet<u64>>,
    /// Of the sockets that listen where the programs connect to, those of parts of the server.
    inner: BTreeSet<u64>,
}

impl Proc {
    /// For processes of these names, and those who are connected to these ports.
    pub fn open(names: &[impl AsRef<str>], ports: &[u16]) -> Self {
        let kept = |name: &str| String::from_utf8_lossy(kept(name)).into_owned();
        Self {
            names: names.iter().take(MAX_PROGRAMS).map(|name| kept(name.as_ref())).collect(),
            ports: ports.to_vec(),
            hierarchies: Hierarchies::find(),
            route: Netlink::route().ok(),
            diagnosis: Netlink::diagnosis().ok(),
            asked: BTreeSet::new(),
            behind: Behind::default(),
            profile: Profile::open(),
            kernel: BTreeSet::new(),
            parts: Vec::new(),
            asks: Vec::new(),
        }
    }

    /// What the programs have, and what others do; `behind` listen where the programs connect to, and are unix sockets or not.
    ///
    /// Of processes with the name of a program, those are meant that have a socket of `listeners`, and what they have started;
    /// all of that name where none of them has one.
    fn processes(
        &mut self,
        listeners: &BTreeSet<u64>,
        behind: &BTreeMap<u64, bool>,
    ) -> Result<Processes, Error> {
        let (mut ancestry, mut named, mut others) = (Ancestry::default(), Vec::new(), BTreeMap::new());
        let before = std::mem::take(&mut self.kernel);
        for process in all_processes()? {
            // It may end at any moment; what is not known of it is left out.
            let Ok(process) = process else { continue };
            // What the kernel's own threads do they do for somebody.
            if before.contains(&process.pid()) {
                self.kernel.insert(process.pid());
                continue;
            }
            let Ok(stat) = process.stat() else { continue };
            if stat.ppid == KERNEL || stat.pid == KERNEL {
                self.kernel.insert(stat.pid);
                continue;
            }
            ancestry.parents.insert(process.pid(), stat.ppid);
            match self.names.iter().position(|name| *name == stat.comm) {
                Some(at) => named.push((at, process.pid())),
                None => drop(others.insert(process.pid(), other(stat))),
            }
        }
        let sockets: BTreeMap<i32, _> = named.iter().map(|(_, pid)| (*pid, sockets_of(*pid))).collect();
        let listens = |pid: &i32| sockets[pid].iter().flatten().any(|inode| listeners.contains(inode));
        let at_ports: BTreeMap<i32, usize> =
            named.iter().filter(|(_, pid)| listens(pid)).map(|(at, pid)| (*pid, *at)).collect();
        let is_started = |pid: i32| ancestry.descends(pid, &|pid| at_ports.contains_key(&pid));
        let is_meant =
            |(at, pid): &&(usize, i32)| !at_ports.values().any(|holds| holds == at) || is_started(*pid);
        let meant: BTreeMap<i32, usize> =
            named.iter().filter(is_meant).map(|(at, pid)| (*pid, *at)).collect();
        // What they have started connects for them, whatever it is called.
        let started = ancestry.parents.keys().copied().filter(|pid| is_started(*pid));
        let mut all: BTreeSet<i32> = meant.keys().copied().chain(started).collect();
        let holders = self.behind.holders(&behind.keys().copied().collect(), others.keys().copied());
        // Who has started the programs may hold what they are asked at as well, such as PID 1, which has started all.
        let above = ancestry.above(&all);
        let holders = holders.iter().flat_map(|(inode, pids)| pids.iter().map(move |pid| (*inode, *pid)));
        let is_part = |(inode, pid): &(u64, i32)| {
            others.get(pid).is_some_and(|other| is_part(&other.name, behind.get(inode) == Some(&true)))
        };
        let (parts, asked): (Vec<_>, Vec<_>) =
            holders.filter(|(_, pid)| *pid != 1 && !above.contains(pid)).partition(is_part);
        let [of_parts, of_asked] =
            [&parts, &asked].map(|all| all.iter().map(|(_, pid)| *pid).collect::<BTreeSet<i32>>());
        let is_of = |pid: i32, holders: &BTreeSet<i32>| {
            !holders.is_empty() && ancestry.descends(pid, &|pid| holders.contains(&pid))
        };
        all.extend(others.keys().copied().filter(|pid| is_of(*pid, &of_parts)));
        let known = all.iter().map(|pid| sockets.get(pid).cloned().unwrap_or_else(|| sockets_of(*pid)));
        let own = known.collect::<Option<Vec<_>>>().filter(|_| !all.is_empty());
        let (of_server, mut others): (BTreeMap<i32, Other>, BTreeMap<i32, Other>) =
            others.into_iter().partition(|(pid, _)| all.contains(pid));
        for (pid, other) in &mut others {
            other.is_behind = is_of(*pid, &of_asked);
        }
        let inner = parts.into_iter().map(|(inode, _)| inode).collect();
        let sockets = own.map(|all| all.into_iter().flatten().collect());
        let behind: BTreeMap<i32, &str> = others
            .iter()
            .filter(|(_, other)| other.is_behind)
            .map(|(pid, other)| (*pid, &*other.name))
            .collect();
        let (programs, parts, behind) = self.programs(&meant, &of_server, &behind);
        Ok(Processes { programs, parts, behind, others, sockets, inner })
    }

    /// What the processes of the programs do, those of the other parts of the server, and those that are asked.
    fn programs(
        &mut self,
        meant: &BTreeMap<i32, usize>,
        of_server: &BTreeMap<i32, Other>,
        behind: &BTreeMap<i32, &str>,
    ) -> (Vec<Program>, BTreeMap<String, Program>, BTreeMap<String, Spent>) {
        let mut whose = meant.clone();
        for (pid, other) in of_server {
            whose.insert(*pid, self.names.len() + place(&mut self.parts, &other.name));
        }
        let asked: BTreeMap<i32, usize> =
            behind.iter().map(|(pid, name)| (*pid, BEHIND + place(&mut self.asks, name))).collect();
        let of = |pid| whose.get(&pid).or_else(|| asked.get(&pid)).copied();
        let spent = self.profile.as_mut().and_then(|profile| profile.look(of));
        let of_behind = |name: &String| {
            let at = self.asks.iter().position(|known| known == name)?;
            Some((name.clone(), spent.as_ref()?.get(&(BEHIND + at)).copied()?))
        };
        let behind = self.asks.iter().filter_map(of_behind).collect();
        let mut all = vec![Program::default(); self.names.len() + self.parts.len()];
        for (at, program) in all.iter_mut().enumerate() {
            program.spent = spent.as_ref().map(|spent| spent.get(&at).copied().unwrap_or_default());
        }
        for (pid, at) in &whose {
            let program = &mut all[*at];
            if program.processors.is_empty() {
                program.processors = may_run_on(*pid);
                program.group = self.hierarchies.of(*pid);
            }
            program.descriptors = program.descriptors.max(descriptors(*pid).unwrap_or(0.0));
            program.threads.add(*pid, &mut program.times);
        }
        let parts = self.parts.iter().cloned().zip(all.split_off(self.names.len()));
        (all, parts.filter(|(_, part)| !part.processors.is_empty()).collect(), behind)
    }
}

/// The places of programs that are asked begin here.
const BEHIND: usize = 1 << 16;

/// The place of a name, which it keeps.
fn place(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

/// Whose child each process is.
#[derive(Default)]
struct Ancestry {
    parents: BTreeMap<i32, i32>,
}

impl Ancestry {
    /// Whether this process, or one that it descends from, is such a one. A number may have been given to another process
    /// meanwhile, so that one seems to descend from itself.
    fn descends(&self, pid: i32, from: &dyn Fn(i32) -> bool) -> bool {
        let ancestors = std::iter::successors(Some(pid), |pid| self.parents.get(pid).copied());
        ancestors.take(self.parents.len() + 1).any(from)
    }

    /// These and all that they descend from.
    fn above(&self, all: &BTreeSet<i32>) -> BTreeSet<i32> {
        let mut above = BTreeSet::new();
        for pid in all {
            let mut next = Some(*pid);
            while let Some(pid) = next.filter(|pid| above.insert(*pid)) {
                next = self.parents.get(&pid).copied();
            }
        }
        above
    }
}

/// The process that has started all threads of the kernel (`kthreadd`, kernel/kthread.c).
const KERNEL: i32 = 2;

fn other(stat: Stat) -> Other {
    let ticks = (stat.utime + stat.stime) as f64;
    let used = Span::from_secs_f64(ticks / procfs::ticks_per_second() as f64);
    let processor = stat.processor.and_then(|number| usize::try_from(number).ok()).unwrap_or_default();
    // Where its other threads run the kernel does not tell with this.
    let processors = if stat.num_threads > 1 { may_run_on(stat.pid) } else { vec![processor] };
    let began = Span::from_secs_f64(stat.starttime as f64 / procfs::ticks_per_second() as f64);
    Other { name: stat.comm, used, began, processors, is_behind: false }
}

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let looked = Looked::read(self.diagnosis.as_mut(), &self.ports);
        let asked = looked.listeners_at(&self.asked);
        let Processes { programs, parts, behind, others, sockets, inner } =
            self.processes(looked.listeners(), &asked)?;
        Ok(Sample {
            uptime: uptime(),
            processors: processors()?,
            programs,
            parts,
            behind,
            others,
            disks: disks()?,
            queues: self.route.as_mut().map(queues::read).unwrap_or_default(),
            sockets: looked.of(sockets.as_ref(), &inner, &mut self.asked),
        })
    }
}

/// What each did since the machine was started. A processor that the hypervisor has taken does something.
fn processors() -> Result<BTreeMap<usize, Processor>, Error> {
    let second = procfs::ticks_per_second() as f64;
    let time = |ticks: u64| Span::from_secs_f64(ticks as f64 / second);
    let stat = KernelStats::current()?;
    let used = stat.cpu_time.iter().map(|cpu| {
        let optional = [cpu.irq, cpu.softirq, cpu.steal].into_iter().flatten().sum::<u64>();
        let busy = cpu.user + cpu.nice + cpu.system + optional;
        let all = time(busy + cpu.idle + cpu.iowait.unwrap_or(0));
        Processor { busy: time(busy), stolen: time(cpu.steal.unwrap_or(0)), all }
    });
    // The lines are those of the processors that are switched on, in the order of their numbers.
    let online = online();
    let number = |at: usize| online.get(at).copied().unwrap_or(at);
    Ok(used.enumerate().map(|(at, used)| (number(at), used)).collect())
}

fn may_run_on(pid: i32) -> Vec<usize> {
    let allowed = Pid::from_raw(pid).and_then(|pid| sched_getaffinity(Some(pid)).ok());
    allowed.map_or_else(Vec::new, |set| (0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number)).collect())
}

fn descriptors(pid: i32) -> Option<f64> {
    let process = Process::new(pid).ok()?;
    let open = process.fd_count().ok()? as f64;
    match process.limits().ok()?.max_open_files.soft_limit {
        LimitValue::Value(most) if most > 0 => Some(open / most as f64),
        _ => Some(0.0),
    }
}

/// Whole disks that were used: partitions are parts of them, and what is made of memory waits for nothing.
fn disks() -> Result<BTreeMap<String, Disk>, Error> {
    let is_disk = |name: &str| {
        let device = format!("/sys/block/{name}");
        fs::exists(&device).unwrap_or(false) && !name.starts_with("ram") && !name.starts_with("zram")
    };
    let used = |disk: &procfs::DiskStat| disk.reads + disk.writes > 0;
    let disks =
        procfs::diskstats()?.into_iter().filter(|disk| used(disk) && is_disk(&disk.name)).map(|disk| {
            let millis = |time: u64| Span::from_millis(time);
            let busy = millis(disk.time_in_progress);
            (disk.name, Disk { busy, waited: millis(disk.weighted_time_in_progress) })
        });
    Ok(disks.collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::Command;

    use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

    use super::*;

    /// This process may run somewhere, and all of that is switched on.
    #[test]
    fn a_process_may_run_on_processors_that_there_are() {
        let own = may_run_on(i32::try_from(std::process::id()).unwrap());
        let there_are = processors().unwrap();
        assert!(!own.is_empty() && own.iter().all(|number| there_are.contains_key(number)), "{own:?}");
        assert!(may_run_on(i32::MAX).is_empty());
    }

    /// Two processes of the same name, of which one has the socket that listens.
    #[test]
    fn of_processes_of_one_name_those_are_meant_that_listen_at_the_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sleep = || Command::new("sleep").arg("60").spawn().unwrap();
        let mut other = sleep();
        let flags = fcntl_getfd(&listener).unwrap();
        fcntl_setfd(&listener, FdFlags::empty()).unwrap();
        let mut server = sleep();
        fcntl_setfd(&listener, flags).unwrap();
        let found = |ports: &[u16]| {
            let sample = Proc::open(&["sleep"], ports).sample().unwrap();
            sample.programs[0].threads.sleep
        };
        let is_seen = || (found(&[]) >= 2 && found(&[port]) == 1).then_some(());
        testkit::poll_until(testkit::PATIENCE, "both to sleep, and one of them at the port", is_seen);
        for child in [&mut server, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
