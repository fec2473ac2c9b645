//! [`ControlGroup`]: a share of the machine (cgroups(7), version 1 or 2).

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::leftovers;
use crate::mounts::mounted;
use crate::resources::Limits;

/// The period over which a quota of processor time holds, us: the kernel's default.
const PERIOD: f64 = 100_000.0;

/// A control group; what is in it ends, and it goes, when this is dropped.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    /// One, or in version 1 one for each controller.
    directories: Vec<PathBuf>,
}

impl ControlGroup {
    /// Nothing where nothing is limited.
    pub(crate) fn create(limits: &Limits, name: &str) -> Option<Result<Self, Error>> {
        (!limits.is_empty()).then(|| Self::with(limits, &format!("{}{name}", leftovers::mine())))
    }

    fn with(limits: &Limits, name: &str) -> Result<Self, Error> {
        let mut group = Self { directories: Vec::new() };
        for (controller, files) in settings(limits)? {
            let Some((root, version)) = hierarchy(controller.v1) else {
                let what = controller.v1;
                return Err(Error::Unavailable(format!("this kernel has no control groups for \"{what}\"")));
            };
            let directory = root.join(name);
            if version == Version::Two {
                give_to_children(&root, controller.v2)?;
            }
            if !group.directories.contains(&directory) {
                let why_not = |why: std::io::Error| {
                    Error::Unavailable(format!(
                        "cannot make the control group {}: {why}{}",
                        directory.display(),
                        privilege(&why)
                    ))
                };
                fs::create_dir(&directory).map_err(why_not)?;
                group.directories.push(directory.clone());
            }
            for file in files {
                let (file, value) = if version == Version::One { file.v1 } else { file.v2 };
                let file = directory.join(file);
                fs::write(&file, &value).map_err(|why| {
                    Error::Unavailable(format!("cannot write \"{value}\" to {}: {why}", file.display()))
                })?;
            }
        }
        Ok(group)
    }

    /// Files that a process writes 0 to, to become a member.
    pub(crate) fn members(&self) -> impl Iterator<Item = PathBuf> {
        self.directories.iter().map(|directory| directory.join("cgroup.procs"))
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        self.directories.iter().for_each(|directory| leftovers::remove_group(directory));
    }
}

fn privilege(why: &std::io::Error) -> &'static str {
    if why.kind() == std::io::ErrorKind::PermissionDenied { "; it needs root" } else { "" }
}

/// Gives the children of a group this controller, which then stays theirs.
fn give_to_children(root: &Path, controller: &str) -> Result<(), Error> {
    let file = root.join("cgroup.subtree_control");
    let given = fs::read_to_string(&file).unwrap_or_default();
    if given.split_whitespace().any(|it| it == controller) {
        return Ok(());
    }
    fs::write(&file, format!("+{controller}")).map_err(|why| {
        Error::Unavailable(format!(
            "control groups below {} cannot have \"{controller}\": {why}; it needs root, and in a container a group of its own",
            root.display()
        ))
    })
}

/// What a controller is called in either version.
struct Controller {
    v1: &'static str,
    v2: &'static str,
}

/// A file and what is written to it, in either version.
struct Setting {
    v1: (&'static str, String),
    v2: (&'static str, String),
}

fn settings(limits: &Limits) -> Result<Vec<(Controller, Vec<Setting>)>, Error> {
    let mut settings = Vec::new();
    if let Some(processors) = limits.cpu {
        let quota = (processors * PERIOD).round();
        let of = Setting {
            v1: ("cpu.cfs_quota_us", quota.to_string()),
            v2: ("cpu.max", format!("{quota} {PERIOD}")),
        };
        settings.push((Controller { v1: "cpu", v2: "cpu" }, vec![of]));
    }
    if let Some(bytes) = limits.memory {
        let of = Setting {
            v1: ("memory.limit_in_bytes", bytes.0.to_string()),
            v2: ("memory.max", bytes.0.to_string()),
        };
        settings.push((Controller { v1: "memory", v2: "memory" }, vec![of]));
    }
    let rates = [
        ("blkio.throttle.read_bps_device", "rbps", limits.read_bytes.map(|bytes| bytes.0)),
        ("blkio.throttle.write_bps_device", "wbps", limits.write_bytes.map(|bytes| bytes.0)),
        ("blkio.throttle.read_iops_device", "riops", limits.reads),
        ("blkio.throttle.write_iops_device", "wiops", limits.writes),
    ];
    if rates.iter().any(|(.., rate)| rate.is_some()) {
        let disk = disk(&std::env::temp_dir())?;
        let of = |(v1, key, rate): (&'static str, &str, Option<u64>)| {
            let rate = rate?;
            Some(Setting {
                v1: (v1, format!("{disk} {rate}")),
                v2: ("io.max", format!("{disk} {key}={rate}")),
            })
        };
        settings.push((Controller { v1: "blkio", v2: "io" }, rates.into_iter().filter_map(of).collect()));
    }
    Ok(settings)
}

/// Major and minor number of the disk that a directory is on: limits are those of whole disks.
fn disk(directory: &Path) -> Result<String, Error> {
    let none = || {
        Error::Unavailable(format!(
            "{} is not on a disk that could be limited; set TMPDIR to a directory that is",
            directory.display()
        ))
    };
    let device = fs::metadata(directory).map_err(Error::io("look at", directory))?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let entry = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).map_err(|_| none())?;
    let whole = if entry.join("partition").exists() { entry.parent().unwrap_or(&entry) } else { &entry };
    let text = fs::read_to_string(whole.join("dev")).map_err(|_| none())?;
    Ok(text.trim().to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Where the control groups are that have this controller, by its name in version 1.
fn hierarchy(controller: &str) -> Option<(PathBuf, Version)> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let of_version_1 =
        mounted(&mounts, "cgroup").find(|(_, options)| options.split(',').any(|it| it == controller));
    if let Some((root, _)) = of_version_1 {
        return Some((root, Version::One));
    }
    let name = if controller == "blkio" { "io" } else { controller };
    let has_it = |root: &Path| {
        let text = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
        text.split_whitespace().any(|it| it == name)
    };
    mounted(&mounts, "cgroup2")
        .map(|(root, _)| root)
        .find(|root| has_it(root))
        .map(|root| (root, Version::Two))
}
