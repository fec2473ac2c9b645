//! [`Site`]: files, and servers that serve them from memory.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use testbed::{Apache, Cpus, Isolation, Mpm, Nginx, Software};

use crate::servers::certificate::certificate;
use crate::servers::server::Server;

const PORT: u16 = 8080;

/// What serves the files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// Debian's.
    Nginx,
    /// Debian's, over TLS.
    NginxTls,
    /// Debian's, with a process for each connection.
    Apache,
    /// Debian's, with a thread for each request, and as many of them as Debian has by default.
    ApacheEvent,
    /// `headworks origin` of this program, as fast as it can.
    Origin(&'a str),
    /// The same with so many workers, each tied to a connection.
    Workers(&'a str, u32),
}

/// What is loaded into a server for a gate to be attached to.
#[derive(Debug)]
pub(crate) struct Preloaded {
    pub(crate) library: PathBuf,
    /// Where the gate listens.
    pub(crate) socket: PathBuf,
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
    pub(crate) fn serve(&self, content: Content<'_>, cpu: usize) -> anyhow::Result<Server> {
        self.serve_preloaded(content, cpu, None)
    }

    /// The same with a library in it, if one is given.
    pub(crate) fn serve_preloaded(
        &self,
        content: Content<'_>,
        cpu: usize,
        preloaded: Option<&Preloaded>,
    ) -> anyhow::Result<Server> {
        self.isolation.drain(|sentence| eprintln!("{sentence}"));
        let port = self.isolation.port(PORT)?;
        let (files, address) = (self.root.join("content"), format!("127.0.0.1:{port}"));
        let (program, arguments) = match content {
            Content::Nginx => {
                self.configured(Software::Nginx, &nginx(&self.root, port, false, self.isolation))?
            }
            Content::NginxTls => {
                certificate(&self.root)?;
                self.configured(Software::Nginx, &nginx(&self.root, port, true, self.isolation))?
            }
            Content::Apache => {
                self.configured(Software::Apache, &apache(&self.root, port, (Mpm::Prefork, 64))?)?
            }
            Content::ApacheEvent => {
                self.configured(Software::Apache, &apache(&self.root, port, (Mpm::Event, 150))?)?
            }
            Content::Origin(program) => {
                let origin =
                    ["origin", "--mode", "static", "--workers", "1", "--backlog", "4096", "--content"];
                let mut arguments: Vec<OsString> = origin.map(Into::into).into();
                arguments.extend([files.into(), "--listen".into(), address.into()]);
                (program.into(), arguments)
            }
            Content::Workers(program, number) => {
                let words = ["origin", "--workers", &number.to_string(), "--listen", &address];
                (program.into(), words.map(Into::into).into())
            }
        };
        let mut command = self.isolation.serve(&Cpus::one(cpu), &program);
        command.args(arguments);
        if let Some(Preloaded { library, socket }) = preloaded {
            command.env("LD_PRELOAD", library).env("HEADWORKS_ATTACH", socket);
        }
        Server::start(command, &self.root.join("stderr"), port, self.isolation)
    }

    /// Writes its configuration; gives the program and its arguments.
    fn configured(&self, software: Software, text: &str) -> anyhow::Result<(PathBuf, Vec<OsString>)> {
        let file = self.root.join("server.conf");
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok((software.find(software.package())?, software.arguments(&self.root, &file)))
    }
}

/// The version of nginx as it states it, such as `nginx/1.22.1`.
pub(crate) fn version() -> anyhow::Result<String> {
    let program = Software::Nginx.find(Software::Nginx.package())?;
    Ok(Software::Nginx.version(&program)?.trim_start_matches("nginx version: ").to_owned())
}

// One process rather than master and worker: the one that is started is the one that is measured.
fn nginx(root: &Path, port: u16, is_encrypted: bool, isolation: Isolation) -> String {
    let user = if isolation.as_root() { "user root;\n" } else { "" };
    let place = root.display();
    let (tls, certificate) = if is_encrypted {
        let files = format!(
            "\n    ssl_certificate {place}/certificate.pem;\n    ssl_certificate_key {place}/key.pem;"
        );
        (" ssl", files)
    } else {
        ("", String::new())
    };
    let http = format!(
        r#"  access_log off;
  sendfile on;
  open_file_cache max=16;
  keepalive_timeout 600s;
  keepalive_requests 1000000000;
  server {{
    listen 127.0.0.1:{port}{tls} backlog=4096;
    root {place}/content;{certificate}
  }}
"#
    );
    let main = format!("{user}master_process off;\n");
    let events = "  worker_connections 20000;\n";
    Nginx { workers: 1, log_level: "crit", main: &main, events, http: &http }.configuration(root)
}

/// All processes are there from the start.
fn apache(root: &Path, port: u16, (mpm, workers): (Mpm, u32)) -> anyhow::Result<String> {
    let apache = Apache {
        mpm,
        workers,
        listen: format!("127.0.0.1:{port}").parse()?,
        backlog: 4096,
        log_level: "crit",
        content: &root.join("content"),
        more: "KeepAliveTimeout 600\n",
    };
    Ok(apache.configuration(root))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::servers::server::SERVER_CPU;

    #[test]
    fn a_client_reaches_servers_and_their_cost_is_accounted() {
        let place = tempfile::tempdir().unwrap();
        let isolation = Isolation::find();
        let site = Site::create(place.path(), &[1024], isolation).unwrap();
        let server = site.serve(Content::Nginx, SERVER_CPU).unwrap();
        let port = isolation.port(8081).unwrap();
        let nginx = nginx(&site.root, port, false, isolation);
        let file = place.path().join("other.conf");
        fs::write(&file, nginx.replace("server.pid", "other.pid")).unwrap();
        let words = ["nginx", "-c", file.to_str().unwrap(), "-e", "stderr"];
        let other = server.beside(SERVER_CPU, &words, &place.path().join("other"), port).unwrap();
        for server in [&server, &other] {
            let mut client = server.client("sh");
            let port = server.port();
            client.args(["-c", &format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; printf \"GET /1024 HTTP/1.0\\r\\n\\r\\n\" >&3; wc -c <&3'")]);
            let ended = testbed::run(&mut client, Duration::from_secs(10)).unwrap();
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
