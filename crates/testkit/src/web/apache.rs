//! [`Apache`]: a process or a thread per connection.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Signal, getuid};
use testbed::{Mpm, Software};

use super::LogLine;
use super::daemon::{Attempt, Daemon};
use crate::machine::free_address;

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
    pub fn start(mpm: Mpm, content: &Path, extra: &str) -> Option<Self> {
        if getuid().is_root() {
            fs::set_permissions(content, fs::Permissions::from_mode(0o755)).expect("a directory of ours");
        }
        let (daemon, url) = Daemon::start(Software::Apache, |root| {
            let listen = free_address();
            let configuration = testbed::Apache {
                mpm,
                workers: 100,
                listen,
                backlog: 4096,
                log_level: "warn",
                content,
                more: &more(root, extra),
            }
            .configuration(root);
            (Attempt { configuration, files: BTreeMap::new() }, format!("http://{listen}"))
        })?;
        Some(Self { daemon, url })
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

/// What has not ended five seconds after the signal is cut off.
fn more(root: &Path, extra: &str) -> String {
    let root = root.display();
    format!(
        r#"GracefulShutdownTimeout 5
LogFormat "%{{end:sec}}t.%{{end:usec_frac}}t %>s %B %I %{{remote}}p %k \"%r\"" phases
CustomLog "{root}/access.log" phases
{extra}
"#
    )
}
