//! Debian's Apache: with prefork one process per connection, as in the papers, or with threads.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::Command;

use units::Span;

use super::burn::BURN;
use super::{Setup, content};
use crate::Error;
use crate::machine::program;
use crate::process;
use crate::spec::{Mpm, Server, THREADS};

const PACKAGE: &str = "apache2-bin";
const MODULES: &str = "/usr/lib/apache2/modules";

pub(super) struct Installed {
    program: PathBuf,
    mpm: Mpm,
    pub(super) version: String,
}

impl Installed {
    pub(super) fn find(mpm: Mpm) -> Result<Self, Error> {
        Self::among(program("apache2"), mpm)
    }

    fn among(program: Option<PathBuf>, mpm: Mpm) -> Result<Self, Error> {
        let missing = |program: &str| Error::Missing { program: program.to_owned(), package: PACKAGE };
        let program = program.ok_or_else(|| missing("apache2"))?;
        for module in [mpm.module(), "mod_authz_core.so", "mod_lua.so", "mod_proxy_http.so"] {
            let file = Path::new(MODULES).join(module);
            if !file.is_file() {
                return Err(missing(&file.display().to_string()));
            }
        }
        let (text, _) = process::output("apache", Command::new(&program).arg("-v"))?;
        let version = text.lines().next().unwrap_or_default().trim_start_matches("Server version: ");
        Ok(Self { program, mpm, version: format!("{version}, {}", mpm.name()) })
    }

    /// `behind` is host and port of what computes the pages, if not Apache itself.
    pub(super) fn setup(
        self,
        server: &Server,
        behind: Option<&str>,
        root: &Path,
        listen: SocketAddrV4,
    ) -> Setup {
        let pages = behind.map_or_else(|| computed(root), passed_on);
        let as_root = rustix::process::getuid().is_root();
        let configuration = configuration(server, self.mpm, &pages, root, listen, as_root);
        let arguments = ["-d", &root.display().to_string(), "-f", "httpd.conf", "-DFOREGROUND"];
        Setup {
            name: "apache",
            program: self.program,
            arguments: arguments.map(str::to_owned).into(),
            files: BTreeMap::from([
                ("httpd.conf".to_owned(), configuration),
                ("burn.lua".to_owned(), format!("{BURN}{HANDLE}")),
            ]),
            version: self.version,
        }
    }
}

impl Mpm {
    const fn name(self) -> &'static str {
        match self {
            Self::Prefork => "prefork",
            Self::Worker => "worker",
            Self::Event => "event",
        }
    }

    const fn module(self) -> &'static str {
        match self {
            Self::Prefork => "mod_mpm_prefork.so",
            Self::Worker => "mod_mpm_worker.so",
            Self::Event => "mod_mpm_event.so",
        }
    }

    /// All workers are there from the start: how fast they are added is not what is compared.
    fn workers(self, workers: u32) -> String {
        let (servers, most, spare) = match self {
            Self::Prefork => (workers, workers, format!("MinSpareServers 1\nMaxSpareServers {workers}")),
            Self::Worker | Self::Event => {
                let threads = workers.min(THREADS);
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

/// The pages are computed by Apache.
fn computed(root: &Path) -> String {
    let root = root.display();
    format!(
        r#"LoadModule lua_module {MODULES}/mod_lua.so
LuaScope thread
LuaCodeCache forever
LuaMapHandler ^/burn$ "{root}/burn.lua" handle
"#
    )
}

/// The pages are computed by workers of another server, which belong to a connection until it ends: each
/// request has one of its own, as with FastCGI.
fn passed_on(behind: &str) -> String {
    format!(
        r#"LoadModule proxy_module {MODULES}/mod_proxy.so
LoadModule proxy_http_module {MODULES}/mod_proxy_http.so
ProxyPass /burn http://{behind}/burn disablereuse=On
ProxyPass /delay http://{behind}/delay disablereuse=On
"#
    )
}

fn configuration(
    server: &Server,
    mpm: Mpm,
    pages: &str,
    root: &Path,
    listen: SocketAddrV4,
    as_root: bool,
) -> String {
    let root = root.display();
    let (workers, backlog, name, module) =
        (mpm.workers(server.workers), server.backlog, mpm.name(), mpm.module());
    let keep_alive = keep_alive(server.keep_alive);
    let user = if as_root { "User www-data\nGroup www-data\n" } else { "" };
    let content = content::DIRECTORY;
    let directives: String =
        server.directives.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    format!(
        r#"ServerRoot "{root}"
ServerName localhost
Listen {listen}
ListenBacklog {backlog}
PidFile "{root}/httpd.pid"
DefaultRuntimeDir "{root}"
Mutex posixsem
ErrorLog /dev/stderr
LogLevel warn
{user}
LoadModule mpm_{name}_module {MODULES}/{module}
LoadModule authz_core_module {MODULES}/mod_authz_core.so

{workers}
MaxConnectionsPerChild 0
{keep_alive}

DocumentRoot "{root}/{content}"
{pages}{directives}"#
    )
}

/// Whole seconds, since Apache knows no others; without any, a connection is for one request.
fn keep_alive(time: Span) -> String {
    if time.is_zero() {
        return "KeepAlive Off".to_owned();
    }
    format!("KeepAlive On\nKeepAliveTimeout {}\nMaxKeepAliveRequests 0", time.as_secs_f64().ceil())
}

/// Answers with what `burn` gives.
const HANDLE: &str = r#"
function handle(r)
  local page, why = burn(r.args)
  if page then r.content_type = "text/html" else r.status = 400 end
  r:puts(page or why, "\n")
  return apache2.OK
end
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_apache_is_named_with_its_package() {
        let error = Installed::among(None, Mpm::Prefork).err().unwrap();
        assert!(!error.is_usage());
        assert_eq!(
            error.to_string(),
            "apache2 is not installed; install it with: apt-get install apache2-bin"
        );
    }

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
    fn only_root_names_another_user() {
        let server = Server {
            kind: crate::spec::Kind::Apache(Mpm::Prefork),
            workers: 64,
            backend_workers: None,
            backlog: 128,
            keep_alive: Span::from_millis(1500),
            cpus: crate::spec::Cpus::one(0),
            directives: vec![("HostnameLookups".to_owned(), "Off".to_owned())],
            descriptors: None,
        };
        let listen = "127.0.0.1:4711".parse().unwrap();
        let text = |as_root| configuration(&server, Mpm::Prefork, "", Path::new("/tmp/a"), listen, as_root);
        assert!(text(false).ends_with("\nHostnameLookups Off\n"));
        for line in ["Listen 127.0.0.1:4711", "ListenBacklog 128", "ServerLimit 64", "KeepAliveTimeout 2"] {
            assert!(text(false).lines().any(|other| other == line), "{line}");
        }
        assert!(!text(false).contains("User"));
        assert_eq!(keep_alive(Span::ZERO), "KeepAlive Off");
        assert!(text(true).contains("\nUser www-data\nGroup www-data\n"));
    }
}
