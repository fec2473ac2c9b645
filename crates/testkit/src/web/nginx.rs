//! [`Nginx`]: one process per event loop.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Signal, getuid};
use tempfile::TempDir;

use super::daemon::{self, Daemon};
use super::{ATTEMPTS, LogLine, installed};
use crate::machine::free_addresses;

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
        let program = installed("nginx", "nginx-light")?;
        (0..ATTEMPTS)
            .find_map(|_| Self::start_once(&program, content, extra))
            .or_else(|| panic!("no port was left free for nginx {ATTEMPTS} times"))
    }

    fn start_once(program: &Path, content: &Path, extra: &str) -> Option<Self> {
        let [plain, tls] = free_addresses();
        let root = daemon::root();
        let certificate = identify(&root);
        let text = configuration(root.path(), content, [plain.port(), tls.port()], extra);
        daemon::write(&root, "nginx.conf", &text);
        let mut command = Command::new(program);
        command.arg("-p").arg(root.path()).arg("-c").arg(root.path().join("nginx.conf"));
        let daemon = Daemon::start(command.args(["-e", "stderr"]), root)?;
        Some(Self {
            daemon,
            url: format!("http://{plain}"),
            tls_url: format!("https://localhost:{}", tls.port()),
            certificate,
        })
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

    /// The same, as a file.
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

const CERTIFICATE: &str = "certificate.pem";
const SOCKET: &str = "nginx.sock";

/// Makes a key and a certificate for it, and gives the certificate.
fn identify(root: &TempDir) -> String {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let identity = rcgen::generate_simple_self_signed(names).expect("names that a certificate can hold");
    let certificate = identity.cert.pem();
    daemon::write(root, CERTIFICATE, &certificate);
    daemon::write(root, "key.pem", &identity.signing_key.serialize_pem());
    certificate
}

/// The log is not buffered unless `buffer=` is given. What has not ended five seconds after the
/// signal is cut off, and logged.
fn configuration(root: &Path, content: &Path, [plain, tls]: [u16; 2], extra: &str) -> String {
    // Without it, a server that root starts serves as `nobody` and cannot read what tests wrote.
    let user = if getuid().is_root() { "user root;" } else { "" };
    let (root, content) = (root.display(), content.display());
    format!(
        r#"{user}
daemon off;
pid {root}/server.pid;
error_log stderr warn;
worker_processes 1;
worker_rlimit_nofile 20000;
worker_shutdown_timeout 5s;
events {{ worker_connections 16384; }}
http {{
  log_format phases '$msec $status $body_bytes_sent $request_length $connection $connection_requests "$request"';
  access_log {root}/access.log phases;
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
  server {{
    listen 127.0.0.1:{plain} backlog=4096;
    listen 127.0.0.1:{tls} ssl http2 backlog=4096;
    listen unix:{root}/{SOCKET};
    ssl_certificate {root}/{CERTIFICATE};
    ssl_certificate_key {root}/key.pem;
    root {content};
    {extra}
  }}
}}
"#
    )
}
