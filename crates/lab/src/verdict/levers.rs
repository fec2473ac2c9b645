//! [`Lever`]: what of a spec can be changed so that there is more of a resource, or less is asked of it.

use record::search::Resource;
use toml::{Table, Value};

/// What is to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lever {
    /// As `--set` takes them.
    pub(crate) settings: Vec<String>,
    /// In words.
    pub(crate) said: String,
}

/// So many times as much of what is counted.
const TIMES: f64 = 2.0;
/// And of a queue, which is filled by bursts.
const TIMES_OF_QUEUES: f64 = 4.0;

/// What relieves a resource of the server of this spec; nothing where the lab can change nothing of it.
pub(crate) fn lever(resource: Resource, spec: &Table) -> Option<Lever> {
    // Of a server that the lab did not start it can change nothing.
    if text(spec, "server.kind").is_some_and(|kind| kind == "url") {
        return None;
    }
    let more = |paths: &[&str]| times(spec, paths, TIMES);
    match resource {
        Resource::ServerCpu | Resource::EventLoop => more_processors(spec),
        Resource::CpuQuota => more(&["cgroup.cpu"]),
        Resource::Memory => more(&["cgroup.memory"]),
        Resource::Disk => more(&["cgroup.reads", "cgroup.writes", "cgroup.read-bytes", "cgroup.write-bytes"]),
        Resource::Network => more(&["link.rate"]),
        Resource::PacketLoss => {
            text(spec, "link.loss")?;
            // The least that can be set.
            Some(lever_of("link.loss", "0.01%", "a link that loses hardly anything"))
        }
        Resource::FdLimit => more(&["server.descriptors"]),
        Resource::WorkerLimit => {
            more(&["server.directives.worker_connections"]).or_else(|| more_workers(spec))
        }
        Resource::BackEnd => more(&["server.backend-workers"]).or_else(|| more_workers(spec)),
        Resource::KeptConnections => {
            let is_own = matches!(text(spec, "server.kind")?.as_str(), "apache" | "nginx");
            is_own.then(|| lever_of("server.keep-alive", "0s", "connections that are for one request each"))
        }
        Resource::AcceptQueue => queue(spec, &["net.core.somaxconn"]),
        Resource::SynQueue => queue(spec, &["net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"]),
        Resource::Client => more(&["client.cpu"]),
        Resource::EphemeralPorts => {
            text(spec, "client.ports")?;
            Some(lever_of("client.ports", "10000-60000", "fifty thousand local ports"))
        }
        Resource::OtherProgram => {
            get(spec, "server.neighbour")?;
            Some(lever_of("server.neighbour", "[]", "the other program left out"))
        }
        Resource::None
        | Resource::Alternating
        | Resource::Serialization
        | Resource::ApplicationLock
        | Resource::ApplicationPool
        | Resource::NameLookup
        | Resource::Tls
        | Resource::GarbageCollection
        | Resource::Steal
        | Resource::RateLimit => None,
    }
}

fn get<'a>(spec: &'a Table, path: &str) -> Option<&'a Value> {
    let (parents, last) = path.rsplit_once('.').map_or((None, path), |(parents, last)| (Some(parents), last));
    let mut table = spec;
    for parent in parents.into_iter().flat_map(|parents| parents.split('.')) {
        table = table.get(parent)?.as_table()?;
    }
    table.get(last)
}

fn text(spec: &Table, path: &str) -> Option<String> {
    Some(match get(spec, path)? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

fn lever_of(path: &str, value: &str, said: &str) -> Lever {
    Lever { settings: vec![format!("{path}={value}")], said: said.to_owned() }
}

/// So many times as much of all of these that are given.
fn times(spec: &Table, paths: &[&str], times: f64) -> Option<Lever> {
    let changed = paths.iter().filter_map(|path| {
        let before = text(spec, path)?;
        let after = multiplied(&before, times)?;
        Some((format!("{path}={after}"), format!("{path} of {after} instead of {before}")))
    });
    let (settings, said): (Vec<String>, Vec<String>) = changed.unzip();
    (!settings.is_empty()).then(|| Lever { settings, said: said.join(", ") })
}

/// A number with whatever unit stands behind it.
fn multiplied(text: &str, times: f64) -> Option<String> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    Some(format!("{}{unit}", number.parse::<f64>().ok()? * times))
}

/// Whether the server learns of this: a program of its own has to have it in the words of its command.
fn is_told(spec: &Table, what: &str) -> bool {
    if text(spec, "server.kind").is_none_or(|kind| kind != "command") {
        return true;
    }
    let words = get(spec, "server.command").and_then(Value::as_array);
    words.is_some_and(|words| words.iter().any(|word| word.as_str().is_some_and(|it| it.contains(what))))
}

/// Twice as many workers, where a spec says how many; Debian's number otherwise.
fn more_workers(spec: &Table) -> Option<Lever> {
    const APACHES: u32 = 150;
    let kind = text(spec, "server.kind").filter(|_| is_told(spec, "{workers}"))?;
    times(spec, &["server.workers"], TIMES).or_else(|| {
        let is_threaded = matches!(kind.as_str(), "apache" | "origin");
        let more = (TIMES * f64::from(APACHES)).to_string();
        is_threaded.then(|| {
            lever_of("server.workers", &more, &format!("server.workers of {more} instead of {APACHES}"))
        })
    })
}

/// All processors of this machine, and a process for each where processes have one thread.
fn more_processors(spec: &Table) -> Option<Lever> {
    // Of a program of its own it is not known whether it would use them.
    let kind = text(spec, "server.kind").filter(|_| is_told(spec, "{workers}"))?;
    let before = text(spec, "server.cpus").unwrap_or_else(|| "0".to_owned());
    let there_are = std::thread::available_parallelism().ok()?.get();
    let all: Vec<String> = (0..there_are).map(|number| number.to_string()).collect();
    let all = all.join(",");
    let mut settings = Vec::new();
    let mut said = Vec::new();
    if there_are > 1 && before != all && before != format!("0-{}", there_are - 1) {
        settings.push(format!("server.cpus={all}"));
        said.push(format!("processors {all} instead of {before}"));
    }
    let is_of_one_thread = matches!(kind.as_str(), "node" | "nginx" | "command");
    let workers = text(spec, "server.workers").and_then(|workers| workers.parse::<usize>().ok());
    if is_of_one_thread && workers.unwrap_or(1) < there_are {
        settings.push(format!("server.workers={there_are}"));
        said.push(format!("{there_are} processes"));
    }
    (!settings.is_empty()).then(|| Lever { settings, said: said.join(" and ") })
}

fn queue(spec: &Table, sysctls: &[&str]) -> Option<Lever> {
    const DEFAULT: &str = "511";
    if !is_told(spec, "{backlog}") {
        return None;
    }
    let before = text(spec, "server.backlog").unwrap_or_else(|| DEFAULT.to_owned());
    let after = multiplied(&before, TIMES_OF_QUEUES)?;
    let mut settings = vec![format!("server.backlog={after}")];
    // A network of its own has settings of its own.
    if text(spec, "testbed.kind").is_some_and(|kind| kind == "namespaces") {
        settings.extend(sysctls.iter().map(|name| format!("sysctl.{name}={after}")));
    }
    Some(Lever { settings, said: format!("a listen queue of {after} instead of {before}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(resource: Resource, spec: &str) -> Option<Vec<String>> {
        lever(resource, &spec.parse().unwrap()).map(|lever| lever.settings)
    }

    fn is(resource: Resource, spec: &str, expected: &[&str]) {
        let expected: Vec<String> = expected.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(settings(resource, spec), Some(expected), "{spec}");
    }

    #[test]
    fn what_is_limited_is_doubled() {
        is(Resource::CpuQuota, "[cgroup]\ncpu = 0.33", &["cgroup.cpu=0.66"]);
        is(Resource::Network, "[link]\nrate = \"20M\"", &["link.rate=40M"]);
        is(
            Resource::Disk,
            "[cgroup]\nreads = 100\nwrite-bytes = \"1MB\"",
            &["cgroup.reads=200", "cgroup.write-bytes=2MB"],
        );
        is(Resource::WorkerLimit, "[server]\nkind = \"origin\"\nworkers = 4", &["server.workers=8"]);
        is(Resource::WorkerLimit, "[server]\nkind = \"apache\"", &["server.workers=300"]);
        let connections = "[server]\nkind = \"nginx\"\n[server.directives]\nworker_connections = 32";
        is(Resource::WorkerLimit, connections, &["server.directives.worker_connections=64"]);
        is(Resource::AcceptQueue, "[server]\nbacklog = 4", &["server.backlog=16"]);
        is(Resource::PacketLoss, "[link]\nloss = \"3%\"", &["link.loss=0.01%"]);
    }

    #[test]
    fn where_nothing_can_be_changed_there_is_no_lever() {
        assert_eq!(settings(Resource::CpuQuota, "[server]\nkind = \"apache\""), None);
        assert_eq!(settings(Resource::ApplicationLock, "[server]\nkind = \"node\""), None);
        // It is not told how many it has.
        let own = "[server]\nkind = \"command\"\nworkers = 4\ncommand = [\"site\", \"{port}\"]";
        assert_eq!(settings(Resource::WorkerLimit, own), None);
        let told = "[server]\nkind = \"command\"\nworkers = 4\ncommand = [\"site\", \"-w\", \"{workers}\"]";
        is(Resource::WorkerLimit, told, &["server.workers=8"]);
        let deaf = "[server]\nkind = \"command\"\ncommand = [\"site\", \"{port}\"]";
        assert_eq!([Resource::AcceptQueue, Resource::ServerCpu].map(|it| settings(it, deaf)), [None, None]);
        let elsewhere = "[server]\nkind = \"url\"\nurl = \"http://127.0.0.1:1\"";
        assert_eq!(
            [Resource::AcceptQueue, Resource::ServerCpu].map(|it| settings(it, elsewhere)),
            [None, None]
        );
    }
}
