//! Debian's nginx: one process per event loop. A page that burns CPU blocks its loop, unless a server behind it
//! computes it.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::burn::BURN;
use super::{Setup, content};
use crate::Error;
use crate::machine::program;
use crate::process;
use crate::spec::Server;

const PACKAGE: &str = "nginx-light libnginx-mod-http-lua";
const MODULES: [&str; 2] = ["ndk_http_module.so", "ngx_http_lua_module.so"];
const PLACES: [&str; 2] = ["/usr/lib/nginx/modules", "/usr/share/nginx/modules"];

pub(super) struct Installed {
    program: PathBuf,
    modules: &'static str,
    pub(super) version: String,
}

impl Installed {
    pub(super) fn find() -> Result<Self, Error> {
        let missing = |program: &str| Error::Missing { program: program.to_owned(), package: PACKAGE };
        let program = program("nginx").ok_or_else(|| missing("nginx"))?;
        let modules = PLACES
            .into_iter()
            .find(|place| MODULES.iter().all(|module| Path::new(place).join(module).is_file()))
            .ok_or_else(|| missing(MODULES[1]))?;
        let (text, _) = process::output("nginx", Command::new(&program).arg("-v"))?;
        let version = text.trim_start_matches("nginx version: ").to_owned();
        Ok(Self { program, modules, version })
    }

    /// `behind` is host and port of what computes the pages, if not nginx itself.
    pub(super) fn setup(
        self,
        server: &Server,
        behind: Option<&str>,
        root: &Path,
        listen: SocketAddrV4,
    ) -> Setup {
        let pages = match behind {
            None => location("burn", &computed()),
            Some(behind) => ["burn", "delay"].map(|page| location(page, &passed_on(behind))).concat(),
        };
        let as_root = rustix::process::getuid().is_root();
        let configuration = configuration(server, &pages, self.modules, root, listen, as_root);
        let place = root.display().to_string();
        let file = root.join("nginx.conf").display().to_string();
        Setup {
            name: "nginx",
            program: self.program,
            arguments: ["-p", &place, "-c", &file, "-e", "stderr"].map(str::to_owned).into(),
            files: BTreeMap::from([("nginx.conf".to_owned(), configuration)]),
            version: self.version,
        }
    }
}

fn location(page: &str, how: &str) -> String {
    format!("    location = /{page} {{\n{how}    }}\n")
}

/// The pages are computed by nginx.
fn computed() -> String {
    format!("      default_type text/html;\n      content_by_lua_block {{\n{BURN}{HANDLE}      }}\n")
}

/// The pages are computed by workers of another server, which belong to a connection until it ends: each
/// request has one of its own, as with FastCGI.
fn passed_on(behind: &str) -> String {
    format!("      proxy_pass http://{behind};\n")
}

fn configuration(
    server: &Server,
    pages: &str,
    modules: &str,
    root: &Path,
    listen: SocketAddrV4,
    as_root: bool,
) -> String {
    let root = root.display();
    let (workers, backlog) = (server.workers, server.backlog);
    let keep_alive = server.keep_alive.as_secs_f64().ceil();
    let user = if as_root { "user www-data;" } else { "" };
    let [kit, lua] = MODULES;
    let content = content::DIRECTORY;
    let descriptors = server.descriptors.unwrap_or(8192);
    let directives = |level| directives(&server.directives, level);
    let (main, events, http) = (directives(Level::Main), directives(Level::Events), directives(Level::Http));
    format!(
        r#"load_module {modules}/{kit};
load_module {modules}/{lua};
{user}
daemon off;
pid {root}/nginx.pid;
error_log stderr warn;
worker_processes {workers};
worker_rlimit_nofile {descriptors};
{main}events {{
{events}}}
http {{
  access_log off;
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
  keepalive_timeout {keep_alive}s;
  keepalive_requests 1000000;
  server {{
    listen {listen} backlog={backlog};
    root {root}/{content};
{pages}{http}  }}
}}
"#
    )
}

/// Where in the configuration a directive has its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Main,
    Events,
    Http,
}

/// Directives of a level, line by line.
fn directives(all: &[(String, String)], level: Level) -> String {
    let of = |name: &str| match name {
        "worker_connections" | "multi_accept" | "accept_mutex" | "accept_mutex_delay" | "use" => {
            Level::Events
        }
        "pcre_jit" | "thread_pool" | "timer_resolution" | "lock_file" => Level::Main,
        name if name.starts_with("worker_") => Level::Main,
        _ => Level::Http,
    };
    let mut lines: Vec<String> = all
        .iter()
        .filter(|(name, _)| of(name) == level)
        .map(|(name, value)| format!("    {name} {value};\n"))
        .collect();
    if level == Level::Events && !all.iter().any(|(name, _)| name == "worker_connections") {
        lines.push("    worker_connections 4096;\n".to_owned());
    }
    lines.concat()
}

/// Answers with what `burn` gives.
const HANDLE: &str = r#"
local page, why = burn(ngx.var.args)
if not page then ngx.status = 400 end
ngx.say(page or why)
"#;
