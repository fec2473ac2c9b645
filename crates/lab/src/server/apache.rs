//! Debian's Apache with the prefork model: one process per connection, as in the papers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::burn::BURN;
use super::{Setup, content};
use crate::Error;
use crate::machine::program;
use crate::process;
use crate::spec::Server;

const PACKAGE: &str = "apache2-bin";
const MODULES: &str = "/usr/lib/apache2/modules";

pub(super) struct Installed {
    program: PathBuf,
    pub(super) version: String,
}

impl Installed {
    pub(super) fn find() -> Result<Self, Error> {
        Self::among(program("apache2"))
    }

    fn among(program: Option<PathBuf>) -> Result<Self, Error> {
        let missing = |program: &str| Error::Missing { program: program.to_owned(), package: PACKAGE };
        let program = program.ok_or_else(|| missing("apache2"))?;
        for module in ["mod_mpm_prefork.so", "mod_authz_core.so", "mod_lua.so"] {
            let file = Path::new(MODULES).join(module);
            if !file.is_file() {
                return Err(missing(&file.display().to_string()));
            }
        }
        let (text, _) = process::output("apache", Command::new(&program).arg("-v"))?;
        let version =
            text.lines().next().unwrap_or_default().trim_start_matches("Server version: ").to_owned();
        Ok(Self { program, version })
    }

    pub(super) fn setup(self, server: &Server, root: &Path, port: u16) -> Setup {
        let configuration = configuration(server, root, port, rustix::process::getuid().is_root());
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

/// All workers are there from the start: how fast prefork adds them is not what is compared.
fn configuration(server: &Server, root: &Path, port: u16, as_root: bool) -> String {
    let root = root.display();
    let (workers, backlog) = (server.workers, server.backlog);
    // Whole seconds, at least one: 0 would mean no keep-alive at all.
    let keep_alive = server.keep_alive.as_secs_f64().ceil().max(1.0);
    let user = if as_root { "User www-data\nGroup www-data\n" } else { "" };
    let content = content::DIRECTORY;
    format!(
        r#"ServerRoot "{root}"
ServerName localhost
Listen 127.0.0.1:{port}
ListenBacklog {backlog}
PidFile "{root}/httpd.pid"
DefaultRuntimeDir "{root}"
Mutex posixsem
ErrorLog /dev/stderr
LogLevel warn
{user}
LoadModule mpm_prefork_module {MODULES}/mod_mpm_prefork.so
LoadModule authz_core_module {MODULES}/mod_authz_core.so
LoadModule lua_module {MODULES}/mod_lua.so

ServerLimit {workers}
MaxRequestWorkers {workers}
StartServers {workers}
MinSpareServers 1
MaxSpareServers {workers}
MaxConnectionsPerChild 0
KeepAlive On
KeepAliveTimeout {keep_alive}
MaxKeepAliveRequests 0

DocumentRoot "{root}/{content}"
LuaScope thread
LuaCodeCache forever
LuaMapHandler ^/burn$ "{root}/burn.lua" handle
"#
    )
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
        let error = Installed::among(None).err().unwrap();
        assert!(!error.is_usage());
        assert_eq!(
            error.to_string(),
            "apache2 is not installed; install it with: apt-get install apache2-bin"
        );
    }

    #[test]
    fn only_root_names_another_user() {
        let server = Server {
            kind: crate::spec::Kind::Apache,
            workers: 64,
            backlog: 128,
            keep_alive: units::Span::from_millis(1500),
            cpus: crate::spec::Cpus::one(0),
        };
        let text = |as_root| configuration(&server, Path::new("/tmp/a"), 4711, as_root);
        for line in ["Listen 127.0.0.1:4711", "ListenBacklog 128", "ServerLimit 64", "KeepAliveTimeout 2"] {
            assert!(text(false).lines().any(|other| other == line), "{line}");
        }
        assert!(!text(false).contains("User"));
        assert!(text(true).contains("\nUser www-data\nGroup www-data\n"));
    }
}
