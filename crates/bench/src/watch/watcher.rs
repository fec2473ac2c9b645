//! [`Watcher`]: what watches a server while it is loaded.

use serde::Serialize;

use crate::harness::rounds;
use crate::servers::site::Content;

/// What watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Watcher {
    /// The server is not watched.
    Nobody,
    /// `headworks watch` as it is by default: every request counted, phases in windows, for at most 1 %.
    Default,
    /// `headworks watch --budget none`: every request.
    Every,
    /// A bpftrace script that knows about as much of requests.
    Bpftrace,
    /// sar and pidstat, each second: the kernel and the processes, nothing of requests.
    Sysstat,
}

impl Watcher {
    pub(super) const ALL: [Self; 5] =
        [Self::Nobody, Self::Default, Self::Every, Self::Bpftrace, Self::Sysstat];

    /// Those of a round: the default between each two, since of it a hundredth is to be seen.
    pub(super) fn turns(round: u32) -> Vec<Self> {
        let others = rounds::order(&[Self::Every, Self::Bpftrace, Self::Sysstat], round);
        let turns = others.into_iter().flat_map(|other| [Self::Default, other]);
        turns.chain([Self::Default]).collect()
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nobody => "no monitor",
            Self::Default => "headworks watch",
            Self::Every => "headworks watch --budget none",
            Self::Bpftrace => "bpftrace",
            Self::Sysstat => "sar and pidstat",
        }
    }

    /// Whether it says at its end what it has cost.
    pub(super) fn is_ours(self) -> bool {
        matches!(self, Self::Default | Self::Every)
    }

    /// Its programs with their arguments.
    pub(super) fn programs(self, headworks: &str, software: Content<'_>, port: u16) -> Vec<Vec<String>> {
        let port = port.to_string();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Self::Nobody => Vec::new(),
            Self::Default => vec![words(&[headworks, "watch", "--port", &port, "--json"])],
            Self::Every => vec![words(&[headworks, "watch", "--port", &port, "--json", "--budget", "none"])],
            // It needs tracefs, which not every machine has mounted; for it alone it leaves nothing behind.
            Self::Bpftrace => {
                let mounted = "mount -t tracefs tracefs /sys/kernel/tracing; exec bpftrace -e \"$0\"";
                vec![words(&["unshare", "--mount", "sh", "-c", mounted, &script(software)])]
            }
            Self::Sysstat => {
                vec![
                    words(&["sar", "-A", "1"]),
                    words(&["pidstat", "-u", "-r", "-d", "-w", "-p", "ALL", "1"]),
                ]
            }
        }
    }
}

/// Requests, their time from the first read to the last write, their bytes, and the server's processor time
/// in the kernel and in all.
fn script(software: Content<'_>) -> String {
    let (name, probe) = match software {
        Content::Apache => ("apache2", "/usr/sbin/apache2:ap_process_async_request"),
        _ => ("nginx", "/usr/sbin/nginx:ngx_http_process_request"),
    };
    include_str!("requests.bt").replace("{name}", name).replace("{probe}", probe)
}
