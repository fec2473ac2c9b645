//! [`Apache`]: Debian's Apache, with prefork a process per connection, or with threads.

use std::net::SocketAddr;
use std::path::Path;

use super::kind::Software;

/// Where Debian's modules are.
pub const APACHE_MODULES: &str = "/usr/lib/apache2/modules";

/// How Apache ties requests to processes and threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mpm {
    /// A process for each connection, as in Apache 1.3.
    #[default]
    Prefork,
    /// A thread for each connection.
    Worker,
    /// A thread for each request, and one that keeps idle connections.
    Event,
}

impl Mpm {
    /// The most threads of a process, if it has any: Debian's default.
    pub const MAX_THREADS: u32 = 25;

    /// As the configuration has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefork => "prefork",
            Self::Worker => "worker",
            Self::Event => "event",
        }
    }

    /// The file of its module.
    pub const fn module(self) -> &'static str {
        match self {
            Self::Prefork => "mod_mpm_prefork.so",
            Self::Worker => "mod_mpm_worker.so",
            Self::Event => "mod_mpm_event.so",
        }
    }

    /// All workers are there from the start: how fast they are added is not what is measured.
    fn workers(self, workers: u32) -> String {
        let (servers, most, spare) = match self {
            Self::Prefork => (workers, workers, format!("MinSpareServers 1\nMaxSpareServers {workers}")),
            Self::Worker | Self::Event => {
                let threads = workers.min(Self::MAX_THREADS);
                let spare =
                    format!("ThreadsPerChild {threads}\nMinSpareThreads 1\nMaxSpareThreads {workers}");
                let servers = workers / threads;
                // Processes that still end keep their places.
                (servers, 2 * servers, spare)
            }
        };
        format!("ServerLimit {most}\nMaxRequestWorkers {workers}\nStartServers {servers}\n{spare}")
    }
}

/// An Apache that serves files.
#[derive(Debug, Clone, Copy)]
pub struct Apache<'a> {
    /// Processes or threads.
    pub mpm: Mpm,
    /// Requests served at once.
    pub workers: u32,
    /// Address and port.
    pub listen: SocketAddr,
    /// Length of the listen queue.
    pub backlog: u16,
    /// The least severe messages that are logged, such as `warn`.
    pub log_level: &'a str,
    /// The files.
    pub content: &'a Path,
    /// Further directives, which may set anew what is set before.
    pub more: &'a str,
}

impl Apache<'_> {
    /// The text of its configuration, with its own files in `root`.
    pub fn configuration(&self, root: &Path) -> String {
        let Self { mpm, listen, backlog, log_level, more, .. } = self;
        let (root, content) = (root.display(), self.content.display());
        let (name, module, workers) = (mpm.name(), mpm.module(), mpm.workers(self.workers));
        let user = Software::Apache.user();
        format!(
            r#"ServerRoot "{root}"
ServerName localhost
Listen {listen}
ListenBacklog {backlog}
PidFile "{root}/server.pid"
DefaultRuntimeDir "{root}"
Mutex posixsem
ErrorLog /dev/stderr
LogLevel {log_level}
{user}
LoadModule mpm_{name}_module {APACHE_MODULES}/{module}
LoadModule authz_core_module {APACHE_MODULES}/mod_authz_core.so

{workers}
MaxConnectionsPerChild 0
MaxKeepAliveRequests 0

DocumentRoot "{content}"
{more}"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_as_many_as_workers() {
        for (workers, threads, servers) in [(150, 25, 6), (1000, 25, 40), (25, 25, 1), (3, 3, 1)] {
            let text = Mpm::Worker.workers(workers);
            let has = |line: String| assert!(text.lines().any(|other| other == line), "{line}: {text}");
            has(format!("MaxRequestWorkers {workers}"));
            has(format!("ThreadsPerChild {threads}"));
            has(format!("StartServers {servers}"));
        }
    }

    #[test]
    fn the_configuration_says_what_was_asked_for() {
        let apache = Apache {
            mpm: Mpm::Prefork,
            workers: 64,
            listen: "127.0.0.1:4711".parse().unwrap(),
            backlog: 128,
            log_level: "warn",
            content: Path::new("/tmp/a/site"),
            more: "HostnameLookups Off\n",
        };
        let text = apache.configuration(Path::new("/tmp/a"));
        assert!(text.ends_with("\nHostnameLookups Off\n"));
        for line in ["Listen 127.0.0.1:4711", "ListenBacklog 128", "ServerLimit 64", "ServerRoot \"/tmp/a\""]
        {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
    }
}
