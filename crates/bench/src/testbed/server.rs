//! A server with one event loop, serving two files from memory.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::{GENERATOR_CPU, Isolation, SERVER_CPU};
use crate::process;

const START: Duration = Duration::from_secs(10);
const END: Duration = Duration::from_secs(5);
/// A namespace has all ports to itself.
const PORT: u16 = 8080;

/// What serves the files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Software<'a> {
    /// Debian's.
    Nginx,
    /// `headworks origin` of this program.
    Origin(&'a str),
}

/// The files served and nginx's own place, below a directory that it may fill.
#[derive(Debug)]
pub(crate) struct Site {
    root: PathBuf,
    isolation: Isolation,
}

impl Site {
    /// Writes the files; `sizes` are their lengths in bytes, and their names.
    pub(crate) fn create(root: &Path, sizes: &[usize], isolation: Isolation) -> anyhow::Result<Self> {
        let root = root.join("nginx");
        let content = root.join("content");
        fs::create_dir_all(&content).with_context(|| format!("cannot make {}", content.display()))?;
        let root = root.canonicalize()?;
        for size in sizes {
            fs::write(content.join(size.to_string()), vec![b'x'; *size])?;
        }
        Ok(Self { root, isolation })
    }

    /// Starts a server and waits until it listens.
    pub(crate) fn serve(&self, software: Software<'_>) -> anyhow::Result<Server> {
        self.isolation.drain()?;
        let port = match self.isolation {
            Isolation::Namespace { .. } => PORT,
            Isolation::Host => TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port(),
        };
        let file = self.root.join("nginx.conf");
        fs::write(&file, configuration(&self.root, port, self.isolation.as_root()))?;
        let (root, file) = (self.root.display().to_string(), file.display().to_string());
        let (content, address) = (format!("{root}/content"), format!("127.0.0.1:{port}"));
        let words = match software {
            Software::Nginx => vec!["nginx", "-p", &root, "-c", &file, "-e", "stderr"],
            Software::Origin(program) => {
                let origin = [program, "origin", "--mode", "static", "--workers", "1"];
                let place = ["--backlog", "4096", "--content", &content, "--listen", &address];
                [&origin[..], &place].concat()
            }
        };
        let complaints = self.root.join("stderr");
        let mut command = self.isolation.serve(SERVER_CPU, &words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&complaints)?);
        let child = command.spawn().with_context(|| format!("cannot start {}", process::show(&command)))?;
        let server = Server { child, port, isolation: self.isolation };
        server.wait_until_it_listens().with_context(|| {
            format!("it said: {}", fs::read_to_string(&complaints).unwrap_or_default().trim())
        })?;
        Ok(server)
    }
}

/// A running server; ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    port: u16,
    isolation: Isolation,
}

impl Server {
    /// Where the file of this size is.
    pub(crate) fn url(&self, size: usize) -> String {
        format!("http://127.0.0.1:{}/{size}", self.port)
    }

    /// A program that can reach this server, on the generator's processor.
    pub(crate) fn client(&self, program: &str) -> Command {
        self.isolation.join(self.child.id(), GENERATOR_CPU, program)
    }

    /// CPU time that its threads have used so far. The scheduler's own account, in nanoseconds: `stat` has
    /// ticks of 10 ms.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let mut sum = Duration::ZERO;
        for task in fs::read_dir(&tasks).with_context(|| format!("cannot read {tasks}"))? {
            let file = task?.path().join("schedstat");
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
            sum += Duration::from_nanos(ns.with_context(|| format!("cannot understand {}", file.display()))?);
        }
        Ok(sum)
    }

    // Nobody outside can connect into a namespace; its table of sockets can be read.
    fn wait_until_it_listens(&self) -> anyhow::Result<()> {
        let table = format!("/proc/{}/net/tcp", self.child.id());
        let deadline = Instant::now() + START;
        loop {
            if fs::read_to_string(&table).is_ok_and(|table| listens(&table, self.port)) {
                return Ok(());
            }
            if process::ends_within(&self.child, Duration::from_millis(10))? {
                bail!("the server ended before it listened");
            }
            if Instant::now() > deadline {
                bail!("the server does not listen after {} s", START.as_secs());
            }
        }
    }
}

impl Drop for Server {
    // Nothing can be done about an error here, and the system ends the server with us.
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        if !matches!(process::ends_within(&self.child, END), Ok(true)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// As nginx states it, such as `nginx/1.22.1`.
pub(crate) fn version() -> anyhow::Result<String> {
    let text = process::says("nginx", &["-v"])?;
    Ok(text.trim().trim_start_matches("nginx version: ").to_owned())
}

/// State 0A is LISTEN (`include/net/tcp_states.h`).
fn listens(table: &str, port: u16) -> bool {
    let address = format!("0100007F:{port:04X}");
    table.lines().any(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        words.get(1) == Some(&address.as_str()) && words.get(3) == Some(&"0A")
    })
}

// One process rather than master and worker: the one that is started is the one that is measured.
fn configuration(root: &Path, port: u16, as_root: bool) -> String {
    let root = root.display();
    let user = if as_root { "user root;" } else { "" };
    format!(
        r#"{user}
daemon off;
master_process off;
worker_processes 1;
pid {root}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 20000; }}
http {{
  access_log off;
  sendfile on;
  open_file_cache max=16;
  keepalive_timeout 600s;
  keepalive_requests 1000000000;
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {root}/content;
  }}
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_told_from_a_connection() {
        let listening =
            "  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n";
        assert!(listens(listening, 8080));
        assert!(!listens(listening, 8081));
        assert!(!listens(&listening.replace(" 0A ", " 01 "), 8080));
    }

    #[test]
    fn a_client_reaches_the_server_and_its_cost_is_accounted() {
        let place = tempfile::tempdir().unwrap();
        let isolation = Isolation::find();
        let site = Site::create(place.path(), &[1024], isolation).unwrap();
        let server = site.serve(Software::Nginx).unwrap();
        let mut client = server.client("sh");
        let port = server.port;
        client.args(["-c", &format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; printf \"GET /1024 HTTP/1.0\\r\\n\\r\\n\" >&3; wc -c <&3'")]);
        let ended = process::run(&mut client, Duration::from_secs(10)).unwrap();
        let bytes: usize = ended.stdout.trim().parse().unwrap();
        assert!(bytes > 1024, "{ended:?}");
        assert!(server.cpu().unwrap() > Duration::ZERO);
        let pid = server.child.id();
        drop(server);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
}
