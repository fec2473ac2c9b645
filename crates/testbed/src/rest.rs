//! Whether the machine is at rest, and waiting until it is.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use procfs::process::all_processes;
use procfs::{CpuTime, CurrentSI, KernelStats};
use units::Span;

use crate::error::Error;
use crate::stop::Stop;
use crate::time_wait::in_time_wait;

/// Share of all processors that others may use before a test's figures are doubtful.
const MAX_BUSY: f64 = 0.10;
/// The share of the time for which a disk may be busy, and the Mbit/s that an interface may carry both ways.
const MAX_DISK: f64 = 0.25;
const MAX_NETWORK: f64 = 20.0;

/// Linux has 28k ephemeral ports by default; connections in TIME_WAIT hold one each.
const MAX_TIME_WAIT: u64 = 14_000;

/// One look at how busy the machine is.
const LOOK: Duration = Duration::from_millis(100);

/// Waits until processors, disks and network are idle and old connections are cleared up, at most `limit`.
/// Gives what was still amiss then, one sentence each.
///
/// # Errors
/// [`Error::Interrupted`] when an end is asked for.
pub fn settle(limit: Span, stop: &Stop) -> Result<Vec<String>, Error> {
    let deadline = Instant::now() + Duration::from(limit);
    loop {
        let in_use = InUse::look(stop)?;
        if in_use.too_much().is_empty() {
            return Ok(Vec::new());
        }
        if Instant::now() >= deadline {
            let busiest = if in_use.processors > MAX_BUSY { busiest(stop)? } else { None };
            let amiss = in_use.too_much().into_iter().chain(busiest);
            return Ok(amiss.map(|it| format!("before the test {it}")).collect());
        }
    }
}

/// What was used in the course of a [`LOOK`].
#[derive(Debug, Clone, Default, PartialEq)]
struct InUse {
    /// Share of all processors that programs and the kernel had, and that the hypervisor gave to others.
    processors: f64,
    stolen: f64,
    /// Share of the time by disk.
    disks: BTreeMap<String, f64>,
    /// Mbit/s both ways by network interface, loopback left out.
    interfaces: BTreeMap<String, f64>,
    /// Connections that there are.
    time_wait: u64,
}

impl InUse {
    fn look(stop: &Stop) -> Result<Self, Error> {
        let (began, before) = (Instant::now(), Counters::read());
        stop.pause(LOOK)?;
        Ok(Counters::read().since(&before, began.elapsed()))
    }

    /// In words.
    fn too_much(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.0} %", share.min(1.0) * 100.0);
        let mut amiss = Vec::new();
        if self.processors > MAX_BUSY {
            amiss.push(format!("other programs used {} of the processors", percent(self.processors)));
        }
        if self.stolen > MAX_BUSY {
            amiss.push(format!("the hypervisor gave {} of the processors to others", percent(self.stolen)));
        }
        let disks = self.disks.iter().filter(|(_, share)| **share > MAX_DISK);
        amiss.extend(
            disks.map(|(name, share)| format!("disk {name} was busy {} of the time", percent(*share))),
        );
        let interfaces = self.interfaces.iter().filter(|(_, megabits)| **megabits > MAX_NETWORK);
        amiss.extend(interfaces.map(|(name, megabits)| format!("{name} carried {megabits:.0} Mbit/s")));
        if self.time_wait > MAX_TIME_WAIT {
            amiss.push(format!(
                "{} connections that had ended were in TIME_WAIT, and held their ports",
                self.time_wait
            ));
        }
        amiss
    }
}

/// What was used since boot; what cannot be read counts as unused.
#[derive(Debug, Clone, Default, PartialEq)]
struct Counters {
    processors: Ticks,
    /// ms by disk.
    disks: BTreeMap<String, u64>,
    /// Bytes both ways by network interface, loopback left out.
    interfaces: BTreeMap<String, u64>,
    time_wait: u64,
}

/// Clock ticks of all processors (proc_stat(5)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    stolen: u64,
    all: u64,
}

impl Ticks {
    /// Who waits for a disk is idle. The time of guests is in user and nice already.
    fn of(time: &CpuTime) -> Self {
        let interrupts = time.irq.unwrap_or(0) + time.softirq.unwrap_or(0);
        let busy = time.user + time.nice + time.system + interrupts;
        let stolen = time.steal.unwrap_or(0);
        Self { busy, stolen, all: busy + stolen + time.idle + time.iowait.unwrap_or(0) }
    }
}

impl Counters {
    fn read() -> Self {
        // Partitions are parts of disks.
        let is_whole = |name: &str| std::fs::exists(format!("/sys/block/{name}")).unwrap_or(false);
        let disks = procfs::diskstats().unwrap_or_default().into_iter();
        let interfaces = procfs::net::dev_status().unwrap_or_default().into_iter();
        Self {
            processors: KernelStats::current().map(|stat| Ticks::of(&stat.total)).unwrap_or_default(),
            disks: disks
                .filter(|disk| is_whole(&disk.name))
                .map(|disk| (disk.name, disk.time_in_progress))
                .collect(),
            interfaces: interfaces
                .filter(|(name, _)| name != "lo")
                .map(|(name, device)| (name, device.recv_bytes + device.sent_bytes))
                .collect(),
            time_wait: in_time_wait(),
        }
    }

    fn since(&self, before: &Self, elapsed: Duration) -> InUse {
        let rates = |now: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>, per: f64| {
            let rate = |(name, count): (&String, &u64)| {
                let change = count.saturating_sub(*before.get(name).unwrap_or(count));
                (name.clone(), change as f64 / per / elapsed.as_secs_f64())
            };
            now.iter().map(rate).collect()
        };
        let (now, then) = (self.processors, before.processors);
        let all = now.all.saturating_sub(then.all).max(1) as f64;
        InUse {
            processors: now.busy.saturating_sub(then.busy) as f64 / all,
            stolen: now.stolen.saturating_sub(then.stolen) as f64 / all,
            disks: rates(&self.disks, &before.disks, 1e3),
            interfaces: rates(&self.interfaces, &before.interfaces, 1e6 / 8.0),
            time_wait: self.time_wait,
        }
    }
}

/// The program that uses most of the processors, in another look; nothing where none has half of what is used.
fn busiest(stop: &Stop) -> Result<Option<String>, Error> {
    let read = || -> BTreeMap<i32, (String, u64)> {
        let processes = all_processes().into_iter().flatten().flatten();
        // Some end while they are looked at.
        let stats = processes.filter_map(|process| process.stat().ok());
        stats.map(|stat| (stat.pid, (stat.comm, stat.utime + stat.stime))).collect()
    };
    let (before, counters) = (read(), Counters::read());
    stop.pause(LOOK)?;
    let (all, after) = (Counters::read().processors.busy - counters.processors.busy, read());
    let ourselves = std::process::id().cast_signed();
    let used = after.into_iter().filter(|(pid, _)| *pid != ourselves).map(|(pid, (name, ticks))| {
        // Who began in between has used all of it since.
        let since = ticks.saturating_sub(before.get(&pid).map_or(0, |(_, ticks)| *ticks));
        (since, pid, name)
    });
    let most = used.max().filter(|(since, ..)| *since > 0 && 2 * since >= all);
    Ok(most.map(|(_, pid, name)| format!("{name} (process {pid}) used most of them")))
}

#[cfg(test)]
mod tests {
    use procfs::FromBufReadSI;

    use super::*;

    fn counters(busy: u64, disk: u64, bytes: u64, time_wait: u64, ticks: u64) -> Counters {
        Counters {
            processors: Ticks { busy, stolen: ticks / 10, all: ticks },
            disks: [("vda".to_owned(), disk)].into(),
            interfaces: [("eth0".to_owned(), bytes)].into(),
            time_wait,
        }
    }

    #[test]
    fn what_others_use_is_named() {
        let before = counters(100, 50, 7_000, 0, 1000);
        let since = |counters: Counters, before: &Counters| counters.since(before, LOOK).too_much();
        assert_eq!(since(counters(109, 70, 200_000, 14_000, 1100), &before), [""; 0]);
        assert_eq!(
            since(counters(130, 90, 1_257_000, 14_001, 1100), &before),
            [
                "other programs used 30 % of the processors",
                "disk vda was busy 40 % of the time",
                "eth0 carried 100 Mbit/s",
                "14001 connections that had ended were in TIME_WAIT, and held their ports",
            ]
        );
        let stolen = InUse { stolen: 0.5, ..InUse::default() };
        assert_eq!(stolen.too_much(), ["the hypervisor gave 50 % of the processors to others"]);
        // What was not there before has used nothing.
        let none = Counters { disks: BTreeMap::new(), interfaces: BTreeMap::new(), ..before };
        assert_eq!(since(counters(100, 1_000_000, u64::MAX, 0, 1100), &none), [""; 0]);
    }

    #[test]
    fn idle_and_waiting_for_disks_are_not_busy() {
        let text = "cpu  100 1 50 1000 10 2 5 3 7 1\nctxt 1\nbtime 1\nprocesses 1\n";
        let stat = KernelStats::from_buf_read(text.as_bytes(), procfs::current_system_info()).unwrap();
        assert_eq!(Ticks::of(&stat.total), Ticks { busy: 158, stolen: 3, all: 1171 });
    }

    #[test]
    fn this_machine_can_be_read() {
        let counters = Counters::read();
        let Ticks { busy, all, .. } = counters.processors;
        assert!(all > busy && busy > 0, "{counters:?}");
    }
}
