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
use super::others::{Behind, Other};
use super::queues;
use super::sample::{Disk, Processor, Program, Sample};
use super::sockets::Looked;
use crate::clock::uptime;
use crate::error::Error;
use crate::names::kept;
use crate::netlink::Netlink;
use crate::processes::MAX_PROGRAMS;
use crate::processors::online;
use crate::profile::Profile;
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
}

/// Processes at one moment.
struct Processes {
    programs: Vec<Program>,
    others: BTreeMap<i32, Other>,
    /// The numbers of the programs' sockets; only if all are known.
    sockets: Option<BTreeSet<u64>>,
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
        }
    }

    /// What the programs have, and what others do; `behind` listen where the programs connect to.
    ///
    /// Of processes with the name of a program, those are meant that have a socket of `listeners`, and what they have started;
    /// all of that name where none of them has one.
    fn processes(&mut self, listeners: &BTreeSet<u64>, behind: &BTreeSet<u64>) -> Result<Processes, Error> {
        let (mut parents, mut named, mut others) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        for process in all_processes()? {
            // It may end at any moment; what is not known of it is left out.
            let Ok(process) = process else { continue };
            let Ok(stat) = process.stat() else { continue };
            parents.insert(process.pid(), stat.ppid);
            match self.names.iter().position(|name| *name == stat.comm) {
                Some(at) => named.push((at, process.pid())),
                // What the kernel's own threads do they do for somebody.
                None if stat.ppid == KERNEL || stat.pid == KERNEL => {}
                None => drop(others.insert(process.pid(), other(stat))),
            }
        }
        let sockets: BTreeMap<i32, _> = named.iter().map(|(_, pid)| (*pid, sockets_of(*pid))).collect();
        let listens = |pid: &i32| sockets[pid].iter().flatten().any(|inode| listeners.contains(inode));
        let at_ports: BTreeMap<i32, usize> =
            named.iter().filter(|(_, pid)| listens(pid)).map(|(at, pid)| (*pid, *at)).collect();
        // A number may have been given to another process meanwhile, so that one seems to descend from itself.
        let descends = |pid: i32, from: &dyn Fn(&i32) -> bool| {
            let ancestors = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
            ancestors.take(parents.len() + 1).any(|pid| from(&pid))
        };
        let is_started = |pid: i32| descends(pid, &|pid| at_ports.contains_key(pid));
        let is_meant =
            |(at, pid): &&(usize, i32)| !at_ports.values().any(|holds| holds == at) || is_started(*pid);
        let meant: Vec<(usize, i32)> = named.iter().filter(is_meant).copied().collect();
        let mut programs = vec![Program::default(); self.names.len()];
        let whose: BTreeMap<i32, usize> = meant.iter().map(|(at, pid)| (*pid, *at)).collect();
        let spent = self.profile.as_mut().and_then(|profile| profile.look(|pid| whose.get(&pid).copied()));
        for (at, program) in programs.iter_mut().enumerate() {
            program.spent = spent.as_ref().map(|spent| spent.get(&at).copied().unwrap_or_default());
        }
        for (at, pid) in &meant {
            let program = &mut programs[*at];
            if program.processors.is_empty() {
                program.processors = may_run_on(*pid);
                program.group = self.hierarchies.of(*pid);
            }
            program.descriptors = program.descriptors.max(descriptors(*pid).unwrap_or(0.0));
            program.threads.add(*pid, &mut program.times);
        }
        // What they have started connects for them, whatever it is called.
        let started = parents.keys().copied().filter(|pid| is_started(*pid));
        let all: BTreeSet<i32> = meant.into_iter().map(|(_, pid)| pid).chain(started).collect();
        let known = all.iter().map(|pid| sockets.get(pid).cloned().unwrap_or_else(|| sockets_of(*pid)));
        let own = known.collect::<Option<Vec<_>>>().filter(|_| !all.is_empty());
        others.retain(|pid, _| !all.contains(pid));
        let mut holders = self.behind.holders(behind, others.keys().copied());
        // Who has started the programs may hold what they are asked at as well, such as PID 1, which has started all.
        holders.retain(|holder| *holder != 1 && !all.iter().any(|pid| descends(*pid, &|pid| pid == holder)));
        for (pid, other) in &mut others {
            other.is_behind = !holders.is_empty() && descends(*pid, &|pid| holders.contains(pid));
        }
        let sockets = own.map(|all| all.into_iter().flatten().collect());
        Ok(Processes { programs, others, sockets })
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
        let behind = looked.listeners_at(&self.asked);
        let Processes { programs, others, sockets } = self.processes(looked.listeners(), &behind)?;
        Ok(Sample {
            uptime: uptime(),
            processors: processors()?,
            programs,
            others,
            disks: disks()?,
            queues: self.route.as_mut().map(queues::read).unwrap_or_default(),
            sockets: looked.of(sockets.as_ref(), &mut self.asked),
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
