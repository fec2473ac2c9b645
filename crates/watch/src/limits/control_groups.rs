//! [`ControlGroup`]: what a control group allows a process, of both versions (cgroups(7)).

use std::fs;
use std::path::{Path, PathBuf};

use units::Span;

/// The limits of a process, each of the nearest group that has one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ControlGroup {
    /// Of processor time.
    pub cpu: Option<CpuLimit>,
    /// Of memory.
    pub memory: Option<MemoryLimit>,
    /// Of disks.
    pub io: Vec<IoLimit>,
}

/// A quota of processor time (`cpu.max`, or `cpu.cfs_quota_us` of version 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuLimit {
    /// Processors that it is worth.
    pub processors: f64,
    /// Periods in which something ran, since the group is there.
    pub periods: u64,
    /// And those in which it had to stop.
    pub throttled: u64,
}

/// A limit of memory (`memory.max`, or `memory.limit_in_bytes`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    /// In use, pages of files included.
    pub used_bytes: u64,
    /// At most.
    pub limit_bytes: u64,
    /// Pages that were taken from it and needed again, since the group is there.
    pub refaults: u64,
}

/// A limit of what a disk does for a group (`io.max`, or `blkio.throttle`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoLimit {
    /// Numbers of the device and what is limited: `8:0 rbps`.
    pub what: String,
    /// At most, per second.
    pub per_second: u64,
    /// Done, since the group is there.
    pub done: u64,
}

/// Where the groups of each controller are.
#[derive(Debug, Clone, Default)]
pub(super) struct Hierarchies {
    /// Controllers, and where their groups are mounted; version 2 has no controllers of its own.
    mounted: Vec<(Vec<String>, PathBuf)>,
}

/// Names of what is limited: version 2's in `io.max` and in `io.stat`; version 1's file of limits, file of what
/// was done, and word in the latter.
const IO: [(&str, &str, &str, &str, &str); 4] = [
    ("rbps", "rbytes", "read_bps_device", "io_service_bytes", "Read"),
    ("wbps", "wbytes", "write_bps_device", "io_service_bytes", "Write"),
    ("riops", "rios", "read_iops_device", "io_serviced", "Read"),
    ("wiops", "wios", "write_iops_device", "io_serviced", "Write"),
];
/// What version 1 says when there is no limit: the largest multiple of a page.
const NO_LIMIT: u64 = 1 << 60;

impl Hierarchies {
    /// Those that are mounted.
    pub(super) fn find() -> Self {
        Self::parse(&fs::read_to_string("/proc/mounts").unwrap_or_default())
    }

    fn parse(mounts: &str) -> Self {
        let mounted = mounts.lines().filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                [_, place, "cgroup2", ..] => Some((Vec::new(), place.into())),
                [_, place, "cgroup", options, ..] => {
                    Some((options.split(',').map(str::to_owned).collect(), place.into()))
                }
                _ => None,
            }
        });
        Self { mounted: mounted.collect() }
    }

    /// The limits of a process; none that cannot be read.
    pub(super) fn of(&self, pid: i32) -> ControlGroup {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        ControlGroup {
            cpu: self.nearest("cpu", &groups, cpu),
            memory: self.nearest("memory", &groups, memory),
            io: self.nearest("blkio", &groups, io).unwrap_or_default(),
        }
    }

    /// What `read` finds in the process's group or in the nearest above it; of version 1 where the controller
    /// is there, else of version 2.
    fn nearest<T>(&self, controller: &str, groups: &str, read: impl Fn(&Path) -> Option<T>) -> Option<T> {
        let is_of = |controllers: &str| controllers.split(',').any(|name| name == controller);
        let group = |wanted: &dyn Fn(&str) -> bool| {
            groups.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let controllers = parts.next()?;
                parts.next().filter(|_| wanted(controllers))
            })
        };
        let of_1 = self.mounted.iter().find(|(names, _)| names.iter().any(|name| name == controller));
        let of_2 = self.mounted.iter().find(|(names, _)| names.is_empty());
        let (mounted, group) = match of_1 {
            Some((_, place)) => (place, group(&is_of)?),
            None => (&of_2?.1, group(&str::is_empty)?),
        };
        let own = mounted.join(group.trim_start_matches('/'));
        own.ancestors().take_while(|place| place.starts_with(mounted)).find_map(read)
    }
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The value of a name in a file with a name and a value in each line.
fn value(text: &str, name: &str) -> Option<u64> {
    let mut values = text.lines().filter_map(|line| line.split_once(' '));
    values.find(|(this, _)| *this == name)?.1.trim().parse().ok()
}

fn cpu(group: &Path) -> Option<CpuLimit> {
    let processors = match fs::read_to_string(group.join("cpu.max")) {
        Ok(text) => {
            let (quota, period) = text.trim().split_once(' ')?;
            quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?
        }
        // Below zero when there is no quota.
        Err(_) => {
            number(&group.join("cpu.cfs_quota_us"))? as f64 / number(&group.join("cpu.cfs_period_us"))? as f64
        }
    };
    let stat = fs::read_to_string(group.join("cpu.stat")).ok()?;
    Some(CpuLimit {
        processors,
        periods: value(&stat, "nr_periods")?,
        throttled: value(&stat, "nr_throttled")?,
    })
}

fn memory(group: &Path) -> Option<MemoryLimit> {
    let stat = || fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let either = |names: [&str; 2]| names.into_iter().find_map(|name| number(&group.join(name)));
    let limit_bytes = either(["memory.max", "memory.limit_in_bytes"]).filter(|limit| *limit < NO_LIMIT)?;
    let refaults = ["total_workingset_refault_file", "workingset_refault_file"];
    Some(MemoryLimit {
        used_bytes: either(["memory.current", "memory.usage_in_bytes"])?,
        limit_bytes,
        refaults: refaults.into_iter().find_map(|name| value(&stat(), name)).unwrap_or(0),
    })
}

fn io(group: &Path) -> Option<Vec<IoLimit>> {
    let read = |name: String| fs::read_to_string(group.join(name)).unwrap_or_default();
    let limits = if group.join("io.max").exists() {
        io_2(&read("io.max".to_owned()), &read("io.stat".to_owned()))
    } else {
        io_1(|name| read(format!("blkio.throttle.{name}")))
    };
    (!limits.is_empty()).then_some(limits)
}

/// `8:0 rbps=1048576 wbps=max riops=max wiops=max` beside `8:0 rbytes=4096 wbytes=0 rios=1 wios=0 ..`.
fn io_2(max: &str, stat: &str) -> Vec<IoLimit> {
    let of_device = |text: &str, device: &str, name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(device)?.strip_prefix(' '))?;
        line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    };
    let devices = max.lines().filter_map(|line| line.split_once(' ')).map(|(device, _)| device);
    let limits = devices.flat_map(|device| {
        IO.iter().filter_map(move |(limit, done, ..)| {
            Some(IoLimit {
                what: format!("{device} {limit}"),
                per_second: of_device(max, device, limit)?,
                done: of_device(stat, device, done).unwrap_or(0),
            })
        })
    });
    limits.collect()
}

/// `8:0 1048576` in a file for each limit, beside `8:0 Read 4096`.
fn io_1(file: impl Fn(&str) -> String) -> Vec<IoLimit> {
    let mut limits = Vec::new();
    for (name, _, limit, done, word) in IO {
        let done = file(done);
        for (device, most) in file(limit).lines().filter_map(|line| line.split_once(' ')) {
            let Ok(per_second) = most.trim().parse() else { continue };
            let counted = done.lines().find_map(|line| {
                line.strip_prefix(device)?.strip_prefix(' ')?.strip_prefix(word)?.trim().parse().ok()
            });
            limits.push(IoLimit { what: format!("{device} {name}"), per_second, done: counted.unwrap_or(0) });
        }
    }
    limits
}

/// How much of a limit was used between two moments: 1 is all of it; nothing where it is another limit.
pub(super) fn io_used(before: &[IoLimit], after: &[IoLimit], length: Span) -> Option<f64> {
    let used = after.iter().filter_map(|after| {
        let before = before.iter().find(|before| before.what == after.what)?;
        let done = after.done.saturating_sub(before.done) as f64;
        Some(done / (after.per_second as f64 * length.as_secs_f64()))
    });
    used.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups as files of a directory; a process in `/a/b` of both versions.
    fn groups(files: &[(&str, &str)], mounts: &str) -> ControlGroup {
        let place = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = place.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let mounts = mounts.replace("ROOT", place.path().to_str().unwrap());
        let hierarchies = Hierarchies::parse(&mounts);
        let text = "4:memory:/a/b\n3:cpu,cpuacct:/a/b\n2:blkio:/a/b\n0::/a/b\n";
        ControlGroup {
            cpu: hierarchies.nearest("cpu", text, cpu),
            memory: hierarchies.nearest("memory", text, memory),
            io: hierarchies.nearest("blkio", text, io).unwrap_or_default(),
        }
    }

    #[test]
    fn limits_of_version_2() {
        let group = groups(
            &[
                ("a/cpu.max", "50000 100000\n"),
                ("a/cpu.stat", "usage_usec 5\nnr_periods 40\nnr_throttled 30\n"),
                ("a/b/cpu.max", "max 100000\n"),
                ("a/b/memory.max", "1000\n"),
                ("a/b/memory.current", "900\n"),
                ("a/b/memory.stat", "anon 1\nworkingset_refault_file 7\n"),
                ("a/b/io.max", "8:0 rbps=2000 wbps=max riops=max wiops=5\n"),
                ("a/b/io.stat", "8:0 rbytes=300 wbytes=0 rios=1 wios=2 dbytes=0 dios=0\n"),
            ],
            "none ROOT cgroup2 rw 0 0\n",
        );
        check(&group);
        assert_eq!(group.io[1], IoLimit { what: "8:0 wiops".to_owned(), per_second: 5, done: 2 });
    }

    #[test]
    fn limits_of_version_1() {
        let group = groups(
            &[
                ("c/a/b/cpu.cfs_quota_us", "-1\n"),
                ("c/a/b/cpu.cfs_period_us", "100000\n"),
                ("c/a/cpu.cfs_quota_us", "50000\n"),
                ("c/a/cpu.cfs_period_us", "100000\n"),
                ("c/a/cpu.stat", "nr_periods 40\nnr_throttled 30\nthrottled_time 1\n"),
                ("m/a/memory.limit_in_bytes", "1000\n"),
                ("m/a/memory.usage_in_bytes", "900\n"),
                ("m/a/memory.stat", "workingset_refault_file 1\ntotal_workingset_refault_file 7\n"),
                ("m/a/b/memory.limit_in_bytes", "9223372036854771712\n"),
                ("i/a/b/blkio.throttle.read_bps_device", "8:0 2000\n"),
                ("i/a/b/blkio.throttle.io_service_bytes", "8:0 Read 300\n8:0 Write 5\nTotal 305\n"),
            ],
            "c ROOT/c cgroup rw,cpu,cpuacct 0 0\nm ROOT/m cgroup rw,memory 0 0\ni ROOT/i cgroup rw,blkio 0 0\nu ROOT/u cgroup2 rw 0 0\n",
        );
        check(&group);
    }

    #[track_caller]
    fn check(group: &ControlGroup) {
        assert_eq!(group.cpu, Some(CpuLimit { processors: 0.5, periods: 40, throttled: 30 }));
        let memory = MemoryLimit { used_bytes: 900, limit_bytes: 1000, refaults: 7 };
        assert_eq!(group.memory, Some(memory));
        assert_eq!(group.io[0], IoLimit { what: "8:0 rbps".to_owned(), per_second: 2000, done: 300 });
        let later = [IoLimit { done: 2300, ..group.io[0].clone() }];
        assert_eq!(io_used(&group.io, &later, Span::from_secs(2)), Some(0.5));
        assert_eq!(io_used(&[], &later, Span::from_secs(2)), None);
    }

    #[test]
    fn no_limits() {
        assert_eq!(
            groups(&[("a/b/cpu.max", "max 100000\n")], "n ROOT cgroup2 rw 0 0\n"),
            ControlGroup::default()
        );
        assert_eq!(groups(&[], ""), ControlGroup::default());
    }
}
