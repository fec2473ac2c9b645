//! [`Proc`]: samples from `/proc`, the files of control groups and netlink.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, io};

use procfs::process::{LimitValue, Process, all_processes};
use procfs::{CurrentSI as _, KernelStats};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use units::Span;

use super::control_groups::Hierarchies;
use super::queues;
use super::sample::{Disk, Program, Sample};
use super::sockets::Looked;
use crate::clock::uptime;
use crate::error::Error;
use crate::names::kept;
use crate::netlink::Netlink;
use crate::processes::MAX_PROGRAMS;
use crate::source::Source;

/// Reads `/proc`, the control groups' files and netlink.
pub struct Proc {
    names: Vec<String>,
    ports: Vec<u16>,
    hierarchies: Hierarchies,
    route: Option<Netlink>,
    diagnosis: Option<Netlink>,
    /// Ports to which the programs have been seen to connect: a connection may be over before it is found out whose it is.
    asked: BTreeSet<u16>,
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
        }
    }

    /// What the programs have, and the numbers of their sockets; these only if all are known.
    ///
    /// Of processes with the name of a program, those are meant that have a socket of `listeners`, and what they have started;
    /// all of that name where none of them has one.
    fn programs(&self, listeners: &BTreeSet<u64>) -> Result<(Vec<Program>, Option<BTreeSet<u64>>), Error> {
        let (mut parents, mut named) = (BTreeMap::new(), Vec::new());
        for process in all_processes()? {
            // It may end at any moment; what is not known of it is left out.
            let Ok(process) = process else { continue };
            let Ok(stat) = process.stat() else { continue };
            parents.insert(process.pid(), stat.ppid);
            let at = self.names.iter().position(|name| *name == stat.comm);
            named.extend(at.map(|at| (at, process.pid())));
        }
        let sockets: BTreeMap<i32, _> = named.iter().map(|(_, pid)| (*pid, sockets_of(*pid))).collect();
        let listens = |pid: &i32| sockets[pid].iter().flatten().any(|inode| listeners.contains(inode));
        let at_ports: BTreeMap<i32, usize> =
            named.iter().filter(|(_, pid)| listens(pid)).map(|(at, pid)| (*pid, *at)).collect();
        // A number may have been given to another process meanwhile, so that one seems to descend from itself.
        let descends = |pid: i32| {
            let ancestors = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
            ancestors.take(parents.len() + 1).any(|pid| at_ports.contains_key(&pid))
        };
        let is_meant =
            |(at, pid): &&(usize, i32)| !at_ports.values().any(|holds| holds == at) || descends(*pid);
        let meant: Vec<(usize, i32)> = named.iter().filter(is_meant).copied().collect();
        let mut programs = vec![Program::default(); self.names.len()];
        for (at, pid) in &meant {
            let program = &mut programs[*at];
            if program.processors.is_empty() {
                program.processors = may_run_on(*pid);
                program.group = self.hierarchies.of(*pid);
            }
            program.descriptors = program.descriptors.max(descriptors(*pid).unwrap_or(0.0));
            program.threads.add(*pid);
        }
        // What they have started connects for them, whatever it is called.
        let started = parents.keys().copied().filter(|pid| descends(*pid));
        let all: BTreeSet<i32> = meant.into_iter().map(|(_, pid)| pid).chain(started).collect();
        let known = all.iter().map(|pid| sockets.get(pid).cloned().unwrap_or_else(|| sockets_of(*pid)));
        let own = known.collect::<Option<Vec<_>>>().filter(|_| !all.is_empty());
        Ok((programs, own.map(|all| all.into_iter().flatten().collect())))
    }
}

/// The numbers of the sockets that a process has (proc_pid_fd(5)), if it lets them be seen; none if it has ended.
fn sockets_of(pid: i32) -> Option<BTreeSet<u64>> {
    let is_gone = |why: &io::Error| {
        why.kind() == io::ErrorKind::NotFound || why.raw_os_error() == Some(Errno::SRCH.raw_os_error())
    };
    let open = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(open) => open,
        Err(why) => return is_gone(&why).then(BTreeSet::new),
    };
    let mut sockets = BTreeSet::new();
    for open in open.filter_map(Result::ok) {
        match fs::read_link(open.path()) {
            Ok(link) => sockets.extend(link.to_str().and_then(inode)),
            Err(why) if is_gone(&why) => {}
            Err(_) => return None,
        }
    }
    Some(sockets)
}

/// Of a link as in `socket:[4711]`.
pub(super) fn inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let looked = Looked::read(self.diagnosis.as_mut(), &self.ports);
        let (programs, own) = self.programs(looked.listeners())?;
        Ok(Sample {
            uptime: uptime(),
            processors: processors()?,
            programs,
            disks: disks()?,
            queues: self.route.as_mut().map(queues::read).unwrap_or_default(),
            sockets: looked.of(own.as_ref(), &mut self.asked),
        })
    }
}

/// What each did since the machine was started. A processor that the hypervisor has taken does something.
fn processors() -> Result<BTreeMap<usize, (Span, Span)>, Error> {
    let second = procfs::ticks_per_second() as f64;
    let time = |ticks: u64| Span::from_secs_f64(ticks as f64 / second);
    let stat = KernelStats::current()?;
    let used = stat.cpu_time.iter().map(|cpu| {
        let optional = [cpu.irq, cpu.softirq, cpu.steal].into_iter().flatten().sum::<u64>();
        let busy = cpu.user + cpu.nice + cpu.system + optional;
        (time(busy), time(busy + cpu.idle + cpu.iowait.unwrap_or(0)))
    });
    // The lines are those of the processors that are switched on, in the order of their numbers.
    let online = fs::read_to_string("/sys/devices/system/cpu/online").map(|text| numbers(&text));
    let online = online.unwrap_or_default();
    let number = |at: usize| online.get(at).copied().unwrap_or(at);
    Ok(used.enumerate().map(|(at, used)| (number(at), used)).collect())
}

/// The numbers in a list of ranges, such as "0-2,4" (cpuset(7), "List format").
fn numbers(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
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

    #[test]
    fn sockets_are_told_from_other_descriptors() {
        let links = ["socket:[4711]", "pipe:[4711]", "/dev/null", "socket:[]"].map(inode);
        assert_eq!(links, [Some(4711), None, None, None]);
        assert_eq!(sockets_of(i32::MAX), Some(BTreeSet::new()), "it has ended");
    }

    #[test]
    fn lists_of_ranges_are_read() {
        assert_eq!(numbers("0-2,4,6-7\n"), [0, 1, 2, 4, 6, 7]);
        assert_eq!((numbers("0\n"), numbers("")), (vec![0], vec![]));
    }

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
