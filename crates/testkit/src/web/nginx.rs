//! [`Nginx`]: one process per event loop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Signal, getuid};
use testbed::Software;

use super::LogLine;
use super::daemon::{Attempt, Daemon};
use crate::machine::free_addresses;

const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";
const SOCKET: &str = "nginx.sock";

/// nginx with one worker, on a port of its own in the clear, on another with TLS (HTTP/1.1 and
/// HTTP/2), and on a Unix socket.
#[derive(Debug)]
pub struct Nginx {
    daemon: Daemon,
    url: String,
    tls_url: String,
    certificate: String,
}

impl Nginx {
    /// Serves the files of `content`. `extra` goes into the `server` block: `limit_rate 10k;`,
    /// `location /a { return 503; }`. What is not set there is nginx's default: a connection ends
    /// after `keepalive_requests 1000;`.
    ///
    /// `None`, with the reason on standard error, when nginx is not installed; a panic then where
    /// the environment says `CI`.
    #[track_caller]
    pub fn start(content: &Path, extra: &str) -> Option<Self> {
        Self::start_with(content, "", extra)
    }

    /// As [`Nginx::start`], with `http` in the `http` block before the server, such as a `log_format`.
    #[track_caller]
    pub fn start_with(content: &Path, http: &str, extra: &str) -> Option<Self> {
        let (daemon, (urls, certificate)) = Daemon::start(Software::Nginx, |root| {
            let [plain, tls] = free_addresses();
            let (certificate, key) = identity();
            let configuration = configuration(root, content, [plain.port(), tls.port()], http, extra);
            let files =
                BTreeMap::from([(CERTIFICATE.to_owned(), certificate.clone()), (KEY.to_owned(), key)]);
            let urls = [format!("http://{plain}"), format!("https://localhost:{}", tls.port())];
            (Attempt { configuration, files }, (urls, certificate))
        })?;
        let [url, tls_url] = urls;
        Some(Self { daemon, url, tls_url, certificate })
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> &str {
        &self.url
    }

    /// `https://localhost:PORT`: the certificate is for `localhost` and 127.0.0.1.
    pub fn tls_url(&self) -> &str {
        &self.tls_url
    }

    /// The server's certificate, signed by itself: what a client has to trust, as PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// The certificate as a file.
    pub fn certificate_file(&self) -> PathBuf {
        self.daemon.root().join(CERTIFICATE)
    }

    /// Where it listens on a Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.daemon.root().join(SOCKET)
    }

    /// The master process.
    pub fn pid(&self) -> u32 {
        self.daemon.pid()
    }

    /// Holds the worker for `span` by SIGSTOP; the kernel still completes handshakes meanwhile.
    pub fn stop_for(&self, span: Duration) {
        self.daemon.stop_for(span);
    }

    /// Stops after the requests under way and gives what was logged.
    #[track_caller]
    pub fn stop(self) -> Vec<LogLine> {
        self.daemon.stop(Signal::QUIT)
    }
}

/// A certificate for `localhost` and 127.0.0.1, signed by itself, and its key, as PEM.
///
/// # Panics
/// When none can be made.
pub fn identity() -> (String, String) {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let identity = rcgen::generate_simple_self_signed(names).expect("names that a certificate can hold");
    (identity.cert.pem(), identity.signing_key.serialize_pem())
}

/// The log is not buffered unless `buffer=` is given. What has not ended five seconds after the
/// signal is cut off, and logged.
fn configuration(root: &Path, content: &Path, [plain, tls]: [u16; 2], before: &str, extra: &str) -> String {
    // Without it, a server that root starts serves as a user that cannot read what tests wrote.
    let user = if getuid().is_root() { "user root;\n" } else { "" };
    let main = format!("{user}worker_rlimit_nofile 20000;\nworker_shutdown_timeout 5s;\n");
    let (place, content) = (root.display(), content.display());
    let http = format!(
        r#"  log_format phases '$msec $status $body_bytes_sent $request_length $connection $connection_requests "$request"';
  access_log {place}/access.log phases;
  {before}
  server {{
    listen 127.0.0.1:{plain} backlog=4096;
    listen 127.0.0.1:{tls} ssl http2 backlog=4096;
    listen unix:{place}/{SOCKET};
    ssl_certificate {place}/{CERTIFICATE};
    ssl_certificate_key {place}/{KEY};
    root {content};
    {extra}
  }}
"#
    );
    let events = "  worker_connections 16384;\n";
    testbed::Nginx { workers: 1, log_level: "warn", main: &main, events, http: &http }.configuration(root)
}
