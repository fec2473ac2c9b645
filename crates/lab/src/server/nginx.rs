//! Debian's nginx: one process per event loop. A page that burns CPU blocks its loop, unless a server behind it
//! computes it.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use testbed::{Nginx, Setup, Software};

use super::burn::BURN;
use super::content;
use crate::error::Error;
use crate::spec::server::Server;

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
        let program = Software::Nginx.find(PACKAGE)?;
        let modules = PLACES
            .into_iter()
            .find(|place| MODULES.iter().all(|module| Path::new(place).join(module).is_file()))
            .ok_or(testbed::Error::Missing { program: MODULES[1].to_owned(), package: PACKAGE })?;
        let version = Software::Nginx.version(&program)?.trim_start_matches("nginx version: ").to_owned();
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
        let configuration = configuration(server, &pages, self.modules, root, listen);
        Setup {
            name: "nginx",
            program: self.program,
            arguments: Software::Nginx.arguments(root, &root.join("nginx.conf")),
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

fn configuration(server: &Server, pages: &str, modules: &str, root: &Path, listen: SocketAddrV4) -> String {
    let [kit, lua] = MODULES;
    let directives = |level| directives(&server.directives, level);
    let descriptors = server.descriptors.unwrap_or(8192);
    let main = format!(
        "load_module {modules}/{kit};\nload_module {modules}/{lua};\n{}worker_rlimit_nofile {descriptors};\n{}",
        Software::Nginx.user(),
        directives(Level::Main)
    );
    let (backlog, keep_alive) = (server.backlog, server.keep_alive.as_secs_f64().ceil());
    let (root_of_files, own) = (root.join(content::DIRECTORY), directives(Level::Server));
    let http = format!(
        r#"  access_log off;
  keepalive_timeout {keep_alive}s;
  keepalive_requests 1000000;
{}  server {{
    listen {listen} backlog={backlog};
    root {};
{pages}{own}  }}
"#,
        directives(Level::Http),
        root_of_files.display()
    );
    let nginx = Nginx {
        workers: server.workers,
        log_level: "warn",
        main: &main,
        events: &directives(Level::Events),
        http: &http,
    };
    nginx.configuration(root)
}

/// Where in the configuration a directive has its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Main,
    Events,
    Http,
    Server,
}

/// Directives of a level, line by line.
fn directives(all: &[(String, String)], level: Level) -> String {
    let of = |name: &str| match name {
        "worker_connections" | "multi_accept" | "accept_mutex" | "accept_mutex_delay" | "use" => {
            Level::Events
        }
        "pcre_jit" | "thread_pool" | "timer_resolution" | "lock_file" => Level::Main,
        name if name.starts_with("worker_") => Level::Main,
        // What servers share.
        "limit_req_zone"
        | "limit_conn_zone"
        | "proxy_cache_path"
        | "log_format"
        | "geo"
        | "map_hash_bucket_size" => Level::Http,
        _ => Level::Server,
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
