//! A server with one event loop, serving two files from memory.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{Isolation, Server};
use crate::process;

const PORT: u16 = 8080;

/// What serves the files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Software<'a> {
    /// Debian's.
    Nginx,
    /// Debian's, with a process for each connection.
    Apache,
    /// `headworks origin` of this program, as fast as it can.
    Origin(&'a str),
    /// The same with so many workers, each tied to a connection.
    Workers(&'a str, u32),
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

    /// Starts a server on this processor and waits until it listens.
    pub(crate) fn serve(&self, software: Software<'_>, cpu: &str) -> anyhow::Result<Server> {
        self.isolation.drain()?;
        let port = self.isolation.port(PORT)?;
        let file = self.root.join("nginx.conf");
        fs::write(&file, configuration(&self.root, port, self.isolation.as_root()))?;
        let (root, file) = (self.root.display().to_string(), file.display().to_string());
        let (content, address) = (format!("{root}/content"), format!("127.0.0.1:{port}"));
        let workers;
        let words = match software {
            Software::Nginx => vec!["nginx", "-p", &root, "-c", &file, "-e", "stderr"],
            Software::Apache => {
                fs::write(&file, apache(&self.root, port))?;
                vec!["apache2", "-d", &root, "-f", &file, "-DFOREGROUND"]
            }
            Software::Origin(program) => {
                let origin = [program, "origin", "--mode", "static", "--workers", "1"];
                let place = ["--backlog", "4096", "--content", &content, "--listen", &address];
                [&origin[..], &place].concat()
            }
            Software::Workers(program, number) => {
                workers = number.to_string();
                vec![program, "origin", "--workers", &workers, "--listen", &address]
            }
        };
        Server::start(self.isolation.serve(cpu, &words), &self.root.join("stderr"), port, self.isolation)
    }
}

/// As nginx states it, such as `nginx/1.22.1`.
pub(crate) fn version() -> anyhow::Result<String> {
    let text = process::says("nginx", &["-v"])?;
    Ok(text.trim().trim_start_matches("nginx version: ").to_owned())
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

/// All processes are there from the start.
fn apache(root: &Path, port: u16) -> String {
    let root = root.display();
    format!(
        r#"ServerRoot "{root}"
ServerName localhost
Listen 127.0.0.1:{port}
ListenBacklog 4096
PidFile "{root}/apache.pid"
DefaultRuntimeDir "{root}"
ErrorLog /dev/stderr
LogLevel crit
User www-data
Group www-data
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
StartServers 64
MinSpareServers 1
MaxSpareServers 64
MaxRequestWorkers 64
MaxKeepAliveRequests 0
KeepAliveTimeout 600
DocumentRoot "{root}/content"
"#
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testbed::SERVER_CPU;

    #[test]
    fn a_client_reaches_servers_and_their_cost_is_accounted() {
        let place = tempfile::tempdir().unwrap();
        let isolation = Isolation::find();
        let site = Site::create(place.path(), &[1024], isolation).unwrap();
        let server = site.serve(Software::Nginx, SERVER_CPU).unwrap();
        let port = isolation.port(8081).unwrap();
        let nginx = configuration(&site.root, port, isolation.as_root());
        let file = place.path().join("other.conf");
        fs::write(&file, nginx.replace("nginx.pid", "other.pid")).unwrap();
        let words = ["nginx", "-c", file.to_str().unwrap(), "-e", "stderr"];
        let other = server.beside(SERVER_CPU, &words, &place.path().join("other"), port).unwrap();
        for server in [&server, &other] {
            let mut client = server.client("sh");
            let port = server.port();
            client.args(["-c", &format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; printf \"GET /1024 HTTP/1.0\\r\\n\\r\\n\" >&3; wc -c <&3'")]);
            let ended = process::run(&mut client, Duration::from_secs(10)).unwrap();
            let bytes: usize = ended.stdout.trim().parse().unwrap();
            assert!(bytes > 1024, "{ended:?}");
            assert!(server.cpu().unwrap() > Duration::ZERO);
            assert!(server.ticks().is_ok() && server.resident().unwrap() > 1 << 20);
        }
        let pids = [&server, &other].map(Server::id);
        drop((other, server));
        assert!(pids.into_iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()));
    }
}
