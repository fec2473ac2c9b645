//! [`Whose`]: which processes are meant, when a name does not say it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs};

use procfs::process::{Process, all_processes};
use units::{Span, Time};

use crate::addresses::Addresses;
use crate::clock;
use crate::error::Error;
use crate::names::kept;
use crate::servers::{Holder, holders};

/// Which processes are meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Whose {
    /// All that have the programs' names.
    #[default]
    Named,
    /// Those that listen at the addresses, and what they have started.
    Listening,
    /// Those of these origins, and what they have started.
    Of(Vec<Origin>),
}

/// Where processes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// One process.
    Process(u32),
    /// All of a control group and of those below it.
    ControlGroup(PathBuf),
}

/// Why there are no such processes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOrigin {
    /// There is no such process.
    #[error("there is no process {0}")]
    Process(u32),
    /// There is no such control group.
    #[error(
        "there is no control group {0}; give its directory below /sys/fs/cgroup, as `cat /proc/PID/cgroup` shows it"
    )]
    ControlGroup(String),
    /// It does not run, or systemd is not what runs here.
    #[error(
        "unit {0} has no control group: it does not run, or is not a service of systemd's on this machine"
    )]
    Unit(String),
    /// It does not run, or is called something else.
    #[error(
        "no control group is called after container {0}, and neither docker nor podman knows it; give the beginning of its \
         id (12 digits will do), or --pid with its first process"
    )]
    Container(String),
}

/// Where control groups are.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";
/// Where it is looked whether processes are still there.
const EVERY: Span = Span::from_secs(1);
/// Between two searches for those who listen.
const SEARCH: Span = Span::from_secs(3);

impl Origin {
    /// One process, with what it has started.
    ///
    /// # Errors
    /// When it is not there.
    pub fn process(number: u32) -> Result<Self, NoOrigin> {
        is_there(number).then_some(Self::Process(number)).ok_or(NoOrigin::Process(number))
    }

    /// A control group, by its directory or by its path in the hierarchy.
    ///
    /// # Errors
    /// When it is not there.
    pub fn control_group(path: &str) -> Result<Self, NoOrigin> {
        let within = path.trim_start_matches('/');
        let root = Path::new(CONTROL_GROUPS);
        // Of several hierarchies (cgroups(7), version 1) each has a directory.
        let hierarchies = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
        let mut below: Vec<PathBuf> = hierarchies.map(|hierarchy| hierarchy.path().join(within)).collect();
        below.sort_unstable();
        let all = [PathBuf::from(path), root.join(within)].into_iter().chain(below);
        let found = all.into_iter().find(|path| path.join("cgroup.procs").is_file());
        found.map(Self::ControlGroup).ok_or_else(|| NoOrigin::ControlGroup(path.to_owned()))
    }

    /// A unit of systemd's; a service where the name has no ending.
    ///
    /// # Errors
    /// When it does not run.
    pub fn unit(name: &str) -> Result<Self, NoOrigin> {
        let whole = if name.contains('.') { name.to_owned() } else { format!("{name}.service") };
        let found = control_group_called(&|directory| directory == whole);
        found.map(Self::ControlGroup).ok_or_else(|| NoOrigin::Unit(name.to_owned()))
    }

    /// A container, by its id, the beginning of it, or its name.
    ///
    /// # Errors
    /// When it does not run, or cannot be found.
    pub fn container(name: &str) -> Result<Self, NoOrigin> {
        let is_id = name.len() >= 12 && name.chars().all(|letter| letter.is_ascii_hexdigit());
        if let Some(found) = control_group_called(&|directory| is_container(directory, name, is_id)) {
            return Ok(Self::ControlGroup(found));
        }
        let asked = ["docker", "podman"].into_iter().find_map(|program| {
            let inspect = ["inspect", "--format", "{{.State.Pid}}", name];
            let said =
                Command::new(program).args(inspect).output().ok().filter(|said| said.status.success())?;
            String::from_utf8(said.stdout).ok()?.trim().parse().ok().filter(|number| *number > 0)
        });
        asked.map(Self::Process).ok_or_else(|| NoOrigin::Container(name.to_owned()))
    }

    fn processes(&self) -> Vec<u32> {
        match self {
            Self::Process(number) => vec![*number],
            Self::ControlGroup(path) => {
                let mut all = Vec::new();
                add_processes(path, &mut all);
                all
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(number) => write!(f, "process {number}"),
            Self::ControlGroup(path) => {
                let path = path.strip_prefix(CONTROL_GROUPS).unwrap_or(path);
                write!(f, "control group /{}", path.display())
            }
        }
    }
}

fn is_there(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).is_dir()
}

/// Whether a control group is a container's: docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope, crio-ID.scope, ID,
/// lxc.payload.NAME, machine-NAME.scope.
fn is_container(directory: &str, name: &str, is_id: bool) -> bool {
    let stem = directory.strip_suffix(".scope").unwrap_or(directory);
    if is_id {
        return stem.rsplit('-').next().is_some_and(|id| id.starts_with(name));
    }
    [format!("lxc.payload.{name}"), format!("machine-{name}")].iter().any(|whole| whole == stem)
}

/// The first directory of control groups that is called like this, nearest to the root.
fn control_group_called(is_it: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let mut level = vec![PathBuf::from(CONTROL_GROUPS)];
    while !level.is_empty() {
        let mut next = Vec::new();
        for directory in level {
            for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                let path = entry.path();
                if entry.file_name().to_str().is_some_and(is_it) && path.join("cgroup.procs").is_file() {
                    return Some(path);
                }
                next.push(path);
            }
        }
        level = next;
    }
    None
}

fn add_processes(path: &Path, all: &mut Vec<u32>) {
    let text = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    all.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
    for entry in fs::read_dir(path).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_processes(&entry.path(), all);
        }
    }
}

impl Whose {
    /// The processes of the origins and what they have started; none where names decide, or sockets.
    pub(crate) fn processes(&self) -> Option<BTreeSet<u32>> {
        let Self::Of(origins) = self else { return None };
        let mut all: BTreeSet<u32> = origins.iter().flat_map(Origin::processes).collect();
        let processes = all_processes().into_iter().flatten().filter_map(Result::ok);
        let stats = processes.filter_map(|process| process.stat().ok());
        let parents: BTreeMap<u32, u32> = stats.map(|stat| (stat.pid as u32, stat.ppid as u32)).collect();
        let descends = |process: u32| {
            let ancestors = std::iter::successors(Some(process), |process| parents.get(process).copied());
            ancestors.take(parents.len() + 1).any(|process| all.contains(&process))
        };
        let started: Vec<u32> = parents.keys().copied().filter(|process| descends(*process)).collect();
        all.extend(started);
        Some(all)
    }

    /// Their network namespace, by the number that the kernel gives it, and one of the processes in it; none where it is that
    /// of this process.
    pub(crate) fn elsewhere(&self) -> Option<(u32, u32)> {
        let own = namespace("self")?;
        let process = self.processes()?.into_iter().next()?;
        let its = namespace(&process.to_string())?;
        (its != own).then_some((its, process))
    }
}

/// The number of the network namespace of a process.
pub(crate) fn namespace(process: &str) -> Option<u32> {
    let link = fs::read_link(format!("/proc/{process}/ns/net")).ok()?;
    link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// The processes from which all descend that are meant, each with the place of its program.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    whose: Whose,
    names: Vec<String>,
    at: Addresses,
    all: BTreeMap<u32, usize>,
    looked: Option<Time>,
    searched: Option<Time>,
}

impl Roots {
    /// Of programs with these names that are meant, and where they listen.
    pub fn new(whose: Whose, names: &[String], at: &Addresses) -> Self {
        Self { whose, names: names.to_vec(), at: at.clone(), ..Self::default() }
    }

    /// Whether it is they who decide, and not names.
    pub(crate) fn decide(&self) -> bool {
        self.whose != Whose::Named
    }

    /// Those that there are now, as far as they are known to have changed since it was asked before.
    pub(crate) fn changed(&mut self) -> Option<&BTreeMap<u32, usize>> {
        let now = clock::monotonic();
        let is_soon = self.looked.is_some_and(|looked| now < looked + EVERY);
        if is_soon || !self.decide() {
            return None;
        }
        self.looked = Some(now);
        let found = match &self.whose {
            Whose::Named => return None,
            Whose::Of(origins) => {
                let all = origins.iter().flat_map(Origin::processes);
                all.map(|process| (process, self.place_of(&name_of(process)))).collect()
            }
            Whose::Listening => {
                let is_settled = !self.all.is_empty() && self.all.keys().all(|process| is_there(*process));
                if is_settled || self.searched.is_some_and(|searched| now < searched + SEARCH) {
                    return None;
                }
                self.searched = Some(now);
                self.listening()
            }
        };
        if found == self.all {
            return None;
        }
        self.all = found;
        Some(&self.all)
    }

    /// Those that have a socket that listens there, but for what opens sockets for others.
    fn listening(&self) -> BTreeMap<u32, usize> {
        // What cannot be seen is looked for again.
        let holders = holders(&self.at, None).unwrap_or_default();
        let serves = |holder: &&Holder| holder.name != "systemd" && holder.name != "init";
        let all = holders.iter().filter(serves);
        all.map(|holder| (holder.process, self.place_of(&holder.name))).collect()
    }

    /// The program of a process that is called so; the first, if it is another one.
    fn place_of(&self, name: &str) -> usize {
        self.names.iter().position(|known| kept(known) == name.as_bytes()).unwrap_or(0)
    }
}

/// What a process is called; nothing when it is gone.
pub(crate) fn name_of(process: u32) -> String {
    let stat = Process::new(process as i32).and_then(|process| process.stat());
    stat.map(|stat| stat.comm).unwrap_or_default()
}

/// The names of the processes that are meant and listen, or of all that are meant where none does; in the order of their
/// numbers.
///
/// # Errors
/// When `/proc` cannot be read.
pub(crate) fn names_of(whose: &Whose, at: &Addresses) -> Result<Vec<String>, Error> {
    let all = whose.processes().unwrap_or_default();
    let listen: Vec<String> = holders(at, Some(&all))?.into_iter().map(|holder| holder.name).collect();
    let named: Vec<String> = if listen.is_empty() {
        all.into_iter().map(name_of).filter(|name| !name.is_empty()).collect()
    } else {
        listen
    };
    let mut names: Vec<String> = Vec::new();
    for name in named {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn containers_are_known_by_the_ids_in_their_control_groups() {
        let id = "3f2a9c0d1e4b5a6978877665544332211000ffeeddccbbaa99887766554433aa";
        for directory in [format!("docker-{id}.scope"), id.to_owned(), format!("cri-containerd-{id}.scope")] {
            assert!(is_container(&directory, &id[..12], true), "{directory}");
            assert!(!is_container(&directory, "aaaaaaaaaaaa", true), "{directory}");
        }
        assert!(
            is_container("lxc.payload.web", "web", false) && is_container("machine-web.scope", "web", false)
        );
        assert!(!is_container("web", "web", false) && !is_container("webserver.scope", "web", false));
    }

    #[test]
    fn what_is_not_there_is_told() {
        assert_eq!(Origin::process(u32::MAX), Err(NoOrigin::Process(u32::MAX)));
        assert!(Origin::unit("no-such-unit-of-anything").is_err());
        assert!(Origin::control_group("no/such/group").is_err());
        assert!(Origin::container("no-such-container").is_err());
        assert!(Origin::process(std::process::id()).is_ok());
    }

    #[test]
    fn those_who_listen_are_roots_and_what_they_have_started_is_meant() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = name_of(std::process::id());
        let at = Addresses::at_port(port);
        let mut roots = Roots::new(Whose::Listening, &["other".to_owned(), own.clone()], &at);
        assert_eq!(roots.changed(), Some(&BTreeMap::from([(std::process::id(), 1)])));
        assert_eq!(roots.changed(), None, "nothing has changed");
        let whose = Whose::Of(vec![Origin::Process(std::process::id())]);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let all = whose.processes().unwrap();
        assert!(all.contains(&std::process::id()) && all.contains(&child.id()), "{all:?}");
        assert_eq!(names_of(&whose, &at).unwrap(), [own]);
        assert_eq!(whose.elsewhere(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
