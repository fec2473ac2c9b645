//! [`Apache`]: a process or a thread per connection.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Signal, getuid};

use super::daemon::{self, Daemon};
use super::{ATTEMPTS, LogLine, installed};
use crate::machine::free_address;

const MODULES: &str = "/usr/lib/apache2/modules";

/// Apache's processing models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processing {
    /// A process per connection, as in Apache 1.3.
    Prefork,
    /// A thread per connection.
    Worker,
    /// A thread per request, and one thread that keeps idle connections.
    Event,
}

/// Apache httpd on a port of its own.
#[derive(Debug)]
pub struct Apache {
    daemon: Daemon,
    url: String,
}

impl Apache {
    /// Serves the files of `content`. `extra` goes to the end of the configuration, so that it can
    /// set anew what is set before: `KeepAlive Off`, `MaxRequestWorkers 2`.
    ///
    /// Apache refuses to serve as root. Started by root it serves as `www-data`, and `content` is
    /// opened to others; so must its parents be.
    ///
    /// `None`, with the reason on standard error, when Apache is not installed; a panic then where
    /// the environment says `CI`.
    #[track_caller]
    pub fn start(processing: Processing, content: &Path, extra: &str) -> Option<Self> {
        let program = installed("apache2", "apache2-bin")?;
        if getuid().is_root() {
            fs::set_permissions(content, fs::Permissions::from_mode(0o755)).expect("a directory of ours");
        }
        (0..ATTEMPTS)
            .find_map(|_| Self::start_once(&program, processing, content, extra))
            .or_else(|| panic!("no port was left free for Apache {ATTEMPTS} times"))
    }

    fn start_once(program: &Path, processing: Processing, content: &Path, extra: &str) -> Option<Self> {
        let address = free_address();
        let root = daemon::root();
        let text = configuration(root.path(), processing, content, address.port(), extra);
        daemon::write(&root, "httpd.conf", &text);
        let mut command = Command::new(program);
        command.arg("-d").arg(root.path()).args(["-f", "httpd.conf", "-DFOREGROUND"]);
        let daemon = Daemon::start(&mut command, root)?;
        Some(Self { daemon, url: format!("http://{address}") })
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The process that started the others.
    pub fn pid(&self) -> u32 {
        self.daemon.pid()
    }

    /// Holds the workers for `span` by SIGSTOP; the kernel still completes handshakes meanwhile.
    pub fn stop_for(&self, span: Duration) {
        self.daemon.stop_for(span);
    }

    /// Stops after the requests under way and gives what was logged.
    #[track_caller]
    pub fn stop(self) -> Vec<LogLine> {
        let mut lines = self.daemon.stop(Signal::WINCH);
        for line in &mut lines {
            // Apache counts the requests after the first.
            line.connection_requests += 1;
        }
        lines
    }
}

const THREADS: &str = "ServerLimit 2\nStartServers 2\nThreadsPerChild 50\nMinSpareThreads 1\nMaxSpareThreads 100\nMaxRequestWorkers 100";

/// All workers are there from the start: one that is added while a test runs adds its start to a
/// response time. What has not ended five seconds after the signal is cut off.
fn configuration(root: &Path, processing: Processing, content: &Path, port: u16, extra: &str) -> String {
    let (root, content) = (root.display(), content.display());
    let user = if getuid().is_root() { "User www-data\nGroup www-data" } else { "" };
    let (module, workers) = match processing {
        Processing::Prefork => (
            "prefork",
            "ServerLimit 100\nStartServers 100\nMinSpareServers 1\nMaxSpareServers 100\nMaxRequestWorkers 100",
        ),
        Processing::Worker => ("worker", THREADS),
        Processing::Event => ("event", THREADS),
    };
    format!(
        r#"ServerRoot "{root}"
ServerName localhost
Listen 127.0.0.1:{port}
ListenBacklog 4096
PidFile "{root}/server.pid"
DefaultRuntimeDir "{root}"
Mutex posixsem
ErrorLog /dev/stderr
LogLevel warn
{user}
LoadModule mpm_{module}_module {MODULES}/mod_mpm_{module}.so
LoadModule authz_core_module {MODULES}/mod_authz_core.so
{workers}
MaxConnectionsPerChild 0
MaxKeepAliveRequests 0
GracefulShutdownTimeout 5
LogFormat "%{{end:sec}}t.%{{end:usec_frac}}t %>s %B %I %{{remote}}p %k \"%r\"" phases
CustomLog "{root}/access.log" phases
DocumentRoot "{content}"
{extra}
"#
    )
}
