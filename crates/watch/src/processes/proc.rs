//! [`Proc`]: from `/proc`.

use std::collections::{BTreeMap, BTreeSet};

use procfs::process::{Process, Stat, all_processes};
use units::Span;

use super::sample::{MAX_PROGRAMS, Program, Sample};
use crate::clock::uptime;
use crate::names::kept;
use crate::whose::Roots;
use crate::{Error, Source};

/// Reads `/proc/PID/stat` of every process. What a process has used after the last sample that it is seen in is
/// not known.
#[derive(Debug)]
pub struct Proc {
    names: Vec<String>,
    roots: Roots,
    /// By the number of a process, the place of its program.
    known: BTreeMap<i32, usize>,
    /// Of those that are there: program, ticks and major faults.
    seen: BTreeMap<i32, (usize, u64, u64)>,
    /// Of those that are not any more.
    ended: Vec<(u64, u64)>,
}

impl Proc {
    /// For processes of these names; of more than [`MAX_PROGRAMS`] the first.
    pub fn open(names: &[impl AsRef<str>]) -> Self {
        Self::open_for(names, Roots::default())
    }

    /// For programs of these names, whose processes are those that descend from these if it is they who decide.
    pub fn open_for(names: &[impl AsRef<str>], roots: Roots) -> Self {
        let kept = |name: &str| String::from_utf8_lossy(kept(name)).into_owned();
        let names: Vec<_> = names.iter().take(MAX_PROGRAMS).map(|name| kept(name.as_ref())).collect();
        let ended = vec![(0, 0); names.len()];
        Self { names, roots, known: BTreeMap::new(), seen: BTreeMap::new(), ended }
    }
}

impl Proc {
    /// Which of the programs a process is of.
    fn program_of(&self, stat: &Stat, parents: &BTreeMap<i32, i32>) -> Option<usize> {
        if !self.roots.decide() {
            return self.names.iter().position(|name| *name == stat.comm);
        }
        // A number may have been given to another process meanwhile, so that one seems to descend from itself.
        let mut ancestors = std::iter::successors(Some(stat.pid), |pid| parents.get(pid).copied());
        let at = ancestors.by_ref().take(parents.len() + 1).find_map(|pid| self.known.get(&pid).copied());
        at.filter(|at| *at < self.names.len())
    }
}

/// What all processes are called, as far as the kernel keeps it.
///
/// # Errors
/// When `/proc` cannot be read.
pub(crate) fn names_of_processes() -> Result<BTreeSet<Vec<u8>>, Error> {
    let stats = all_processes()?.filter_map(|process| process.and_then(|process| process.stat()).ok());
    Ok(stats.map(|stat| stat.comm.into_bytes()).collect())
}

impl Source for Proc {
    type Sample = Sample;

    fn sample(&mut self) -> Result<Sample, Error> {
        let (ticks, page) = (procfs::ticks_per_second(), procfs::page_size());
        let mut programs = vec![Program::default(); self.names.len()];
        let mut sums = self.ended.clone();
        let before = std::mem::take(&mut self.seen);
        if let Some(roots) = self.roots.changed() {
            self.known = roots.iter().map(|(process, at)| (*process as i32, *at)).collect();
        }
        // They may have ended since the directory was read.
        let stats = all_processes()?.filter_map(|process| process.and_then(|process| process.stat()).ok());
        let stats: Vec<_> = stats.collect();
        let parents: BTreeMap<i32, i32> = stats.iter().map(|stat| (stat.pid, stat.ppid)).collect();
        for stat in stats {
            let Some(at) = self.program_of(&stat, &parents) else { continue };
            let (used, faults) = (stat.utime + stat.stime, stat.majflt);
            self.seen.insert(stat.pid, (at, used, faults));
            sums[at].0 += used;
            sums[at].1 += faults;
            let program = &mut programs[at];
            program.resident += stat.rss * page;
            program.processes += 1;
            program.threads += stat.num_threads as u32;
            program.running += running_threads(&stat, stat.pid);
        }
        for (pid, (at, used, faults)) in before {
            if !self.seen.contains_key(&pid) {
                self.ended[at].0 += used;
                self.ended[at].1 += faults;
                sums[at].0 += used;
                sums[at].1 += faults;
            }
        }
        for (program, (used, faults)) in programs.iter_mut().zip(sums) {
            program.cpu = Span::from_secs_f64(used as f64 / ticks as f64);
            program.major_faults = faults;
        }
        Ok(Sample { uptime: uptime(), programs })
    }
}

/// Threads that run or wait for a processor.
fn running_threads(stat: &Stat, pid: i32) -> u32 {
    if stat.num_threads == 1 {
        return u32::from(stat.state == 'R');
    }
    let tasks = Process::new(pid).and_then(|process| process.tasks());
    let tasks = tasks.into_iter().flatten().filter_map(Result::ok);
    tasks.filter_map(|task| task.stat().ok()).filter(|stat| stat.state == 'R').count() as u32
}
