//! `environment.json`: the machine that a figure was measured on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::{Error, files};

/// Settings that decide how a server and its clients behave under overload.
const SYSCTLS: [&str; 16] = [
    "fs.file-max",
    "fs.nr_open",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "vm.swappiness",
];

/// The machine, and the server where the tool started one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// The host's name.
    pub host: String,
    /// The distribution, such as `Debian GNU/Linux 13 (trixie)`.
    pub system: String,
    /// The kernel's release, such as `6.12.0-amd64`.
    pub kernel: String,
    /// The processors.
    pub cpu: Processor,
    /// Memory in bytes.
    pub memory: u64,
    /// Load average over 1, 5 and 15 minutes before the run began.
    pub load_average: [f64; 3],
    /// Kernel settings by name; those that this kernel lacks are left out.
    pub sysctls: BTreeMap<String, String>,
    /// The server under test, where the tool started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerEnvironment>,
}

/// The processors of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Processor {
    /// As the manufacturer calls it.
    pub model: String,
    /// Logical processors online.
    pub count: u32,
    /// The architecture, such as `x86_64`.
    pub architecture: String,
}

/// The server under test and the configuration that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServerEnvironment {
    /// `origin`, `apache`, `nginx`, `node`, `command` or `url`.
    pub kind: String,
    /// As the server states it.
    pub version: String,
    /// The command line that started it.
    pub command: Vec<String>,
    /// Effective configuration files: name and text.
    pub configuration: BTreeMap<String, String>,
}

impl Environment {
    /// The file's name, wherever it is kept.
    pub const FILE: &str = "environment.json";

    /// Describes this machine now. What it does not tell stays empty.
    pub fn capture() -> Self {
        let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            host: line_of("/proc/sys/kernel/hostname"),
            system: field(&fs::read_to_string("/etc/os-release").unwrap_or_default(), "PRETTY_NAME", '=')
                .trim_matches('"')
                .to_owned(),
            kernel: line_of("/proc/sys/kernel/osrelease"),
            cpu: Processor {
                model: field(&cpu_info, "model name", ':'),
                count: u32::try_from(cpu_info.lines().filter(|line| line.starts_with("processor")).count())
                    .unwrap_or(u32::MAX),
                architecture: std::env::consts::ARCH.to_owned(),
            },
            memory: memory().0,
            load_average: load_average(),
            sysctls: SYSCTLS
                .iter()
                .map(|name| (String::from(*name), line_of(&format!("/proc/sys/{}", name.replace('.', "/")))))
                .filter(|(_, value)| !value.is_empty())
                .collect(),
            server: None,
        }
    }

    /// Writes it to a file, replacing it in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        files::write_json(path, self)
    }

    /// Reads it from a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(path: &Path) -> Result<Self, Error> {
        files::read_json(path)
    }
}

fn line_of(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of the first line `key <separator> value`.
fn field(text: &str, key: &str, separator: char) -> String {
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim().to_owned())
        .unwrap_or_default()
}

fn memory() -> Bytes {
    let total = field(&fs::read_to_string("/proc/meminfo").unwrap_or_default(), "MemTotal", ':');
    let kibibytes: u64 = total.trim_end_matches("kB").trim().parse().unwrap_or(0);
    Bytes(kibibytes * 1024)
}

fn load_average() -> [f64; 3] {
    let text = line_of("/proc/loadavg");
    let mut numbers = text.split(' ').map_while(|word| word.parse().ok());
    std::array::from_fn(|_| numbers.next().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_describes_itself() {
        let environment = Environment::capture();
        assert!(!environment.kernel.is_empty());
        assert!(environment.cpu.count >= 1);
        assert!(environment.memory > 1 << 20);
        assert!(environment.sysctls.contains_key("net.core.somaxconn"), "{:?}", environment.sysctls);
    }
}
