//! Debian's Apache: with prefork one process per connection, as in the papers, or with threads.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use testbed::{APACHE_MODULES, Apache, Mpm, Setup, Software};
use units::Span;

use super::burn::BURN;
use super::content;
use crate::error::Error;
use crate::spec::server::Server;

const PACKAGE: &str = "apache2-bin";

pub(super) struct Installed {
    program: PathBuf,
    mpm: Mpm,
    pub(super) version: String,
}

impl Installed {
    pub(super) fn find(mpm: Mpm) -> Result<Self, Error> {
        let program = Software::Apache.find(PACKAGE)?;
        for module in [mpm.module(), "mod_authz_core.so", "mod_lua.so", "mod_proxy_http.so"] {
            let file = Path::new(APACHE_MODULES).join(module);
            if !file.is_file() {
                let program = file.display().to_string();
                return Err(testbed::Error::Missing { program, package: PACKAGE }.into());
            }
        }
        let version = Software::Apache.version(&program)?;
        let version = version.trim_start_matches("Server version: ");
        Ok(Self { version: format!("{version}, {}", mpm.name()), program, mpm })
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
        let apache = Apache {
            mpm: self.mpm,
            workers: server.workers,
            listen: listen.into(),
            backlog: server.backlog,
            log_level: "warn",
            content: &root.join(content::DIRECTORY),
            more: &more(server, &pages),
        };
        Setup {
            name: "apache",
            program: self.program,
            arguments: Software::Apache.arguments(root, Path::new("httpd.conf")),
            files: BTreeMap::from([
                ("httpd.conf".to_owned(), apache.configuration(root)),
                ("burn.lua".to_owned(), format!("{BURN}{HANDLE}")),
            ]),
            version: self.version,
        }
    }
}

/// The pages are computed by Apache.
fn computed(root: &Path) -> String {
    let root = root.display();
    format!(
        r#"LoadModule lua_module {APACHE_MODULES}/mod_lua.so
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
        r#"LoadModule proxy_module {APACHE_MODULES}/mod_proxy.so
LoadModule proxy_http_module {APACHE_MODULES}/mod_proxy_http.so
ProxyPass /burn http://{behind}/burn disablereuse=On
ProxyPass /delay http://{behind}/delay disablereuse=On
"#
    )
}

/// What stands besides what each Apache has.
fn more(server: &Server, pages: &str) -> String {
    let directives: String =
        server.directives.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    format!("{}\n{pages}{directives}", keep_alive(server.keep_alive))
}

/// Whole seconds, since Apache knows no others; without any, a connection is for one request.
fn keep_alive(time: Span) -> String {
    if time.is_zero() {
        return "KeepAlive Off".to_owned();
    }
    format!("KeepAlive On\nKeepAliveTimeout {}", time.as_secs_f64().ceil())
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
    fn directives_and_the_time_of_idle_connections_are_told() {
        let server = Server {
            kind: crate::spec::server::Kind::Apache(Mpm::Prefork),
            workers: 64,
            backend_workers: None,
            backlog: 128,
            keep_alive: Span::from_millis(1500),
            cpus: testbed::Cpus::one(0),
            front_cpus: None,
            directives: vec![("HostnameLookups".to_owned(), "Off".to_owned())],
            descriptors: None,
            neighbour: Vec::new(),
        };
        assert_eq!(more(&server, ""), "KeepAlive On\nKeepAliveTimeout 2\nHostnameLookups Off\n");
        assert_eq!(keep_alive(Span::ZERO), "KeepAlive Off");
    }
}
