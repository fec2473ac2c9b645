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
use testkit::{Process, free_address};

/// A server with a page that comes at once, and one that takes [`Server::SLOW_FOR`] seconds.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) command: Vec<String>,
    /// Whether it serves another request on a connection.
    pub(crate) keeps: bool,
    /// What it needs besides, such as what answers slowly.
    pub(crate) _beside: Option<Process>,
    pub(crate) directory: TempDir,
}

impl Server {
    pub(crate) const FAST: &str = "/fast";
    pub(crate) const SLOW: &str = "/slow";
    pub(crate) const SLOW_FOR: f64 = 0.3;

    fn new(address: SocketAddr, directory: TempDir, command: &[&str]) -> Self {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Self { address, command, keeps: true, _beside: None, directory }
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
        let (directory, (beside, behind)) = (Self::directory(), Self::behind());
        let address = free_address();
        let place = directory.path().display();
        let text = format!(
            "daemon off; worker_processes {workers}; pid {place}/pid; error_log {place}/log;
            events {{ worker_connections 256; {events} }}
            http {{ access_log off; client_body_temp_path {place}/1; proxy_temp_path {place}/2; fastcgi_temp_path {place}/3;
              uwsgi_temp_path {place}/4; scgi_temp_path {place}/5;
              server {{ listen {address}; root {place}/www;
                location /slow {{ proxy_pass http://{behind}/delay?before=300ms&bytes=5; }} }} }}"
        );
        let file = directory.path().join("nginx.conf");
        fs::write(&file, text).unwrap();
        let command = ["nginx", "-c", file.to_str().unwrap()];
        let server = Self::new(address, directory, &[]);
        Self { _beside: Some(beside), command: command.map(str::to_owned).to_vec(), ..server }
    }

    pub(crate) fn apache(mpm: &str) -> Self {
        let (directory, (beside, behind)) = (Self::directory(), Self::behind());
        let address = free_address();
        let place = directory.path().display();
        let module =
            |name: &str| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n");
        let modules: String =
            [&format!("mpm_{mpm}"), "authz_core", "proxy", "proxy_http", "rewrite"].map(module).concat();
        let text = format!(
            "ServerRoot {place}\nServerName localhost\nPidFile {place}/pid\nErrorLog {place}/log\nListen {address}\n{modules}\
            User www-data\nGroup www-data\nDocumentRoot {place}/www\nKeepAliveTimeout 30\nMaxKeepAliveRequests 0\n\
            RewriteEngine On\nRewriteRule ^/slow$ http://{behind}/delay?before=300ms&bytes=5 [P]\n\
            <Directory />\nRequire all granted\n</Directory>\n"
        );
        let file = directory.path().join("apache.conf");
        fs::write(&file, text).unwrap();
        let command =
            ["apache2", "-D", "FOREGROUND", "-f", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { _beside: Some(beside), command, ..Self::new(address, directory, &[]) }
    }

    pub(crate) fn lighttpd() -> Self {
        let (directory, (beside, behind)) = (Self::directory(), Self::behind());
        let (address, place) = (free_address(), directory.path().display());
        let text = format!(
            "server.modules = (\"mod_proxy\", \"mod_rewrite\")
            server.document-root = \"{place}/www\"\nserver.bind = \"127.0.0.1\"\nserver.port = {}
            url.rewrite-once = (\"^/slow$\" => \"/delay?before=300ms&bytes=5\")
            $HTTP[\"url\"] =~ \"^/delay\" {{ proxy.server = (\"\" => ((\"host\" => \"127.0.0.1\", \"port\" => {}))) }}",
            address.port(),
            behind.port()
        );
        let file = directory.path().join("lighttpd.conf");
        fs::write(&file, text).unwrap();
        let command = ["lighttpd", "-D", "-f", file.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { _beside: Some(beside), command, ..Self::new(address, directory, &[]) }
    }

    /// What `tools/need gunicorn` installs.
    fn of_python(name: &str) -> String {
        format!("{}/../../.tools/predictions/bin/{name}", env!("CARGO_MANIFEST_DIR"))
    }

    pub(crate) fn gunicorn(workers: &str) -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let text = "import time
def application(environ, start_response):
    if environ['PATH_INFO'] == '/slow':
        time.sleep(0.3)
    start_response('200 OK', [('Content-Length', '5')])
    return [b'done\\n']
";
        fs::write(directory.path().join("pages.py"), text).unwrap();
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

    pub(crate) fn uvicorn() -> Self {
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

    pub(crate) fn node() -> Self {
        let (directory, address) = (Self::directory(), free_address());
        let text = format!(
            "const answer = (response, text) => {{ response.setHeader('Content-Length', text.length); response.end(text); }};
            require('http').createServer((request, response) => request.url == '/slow'
              ? setTimeout(() => answer(response, 'slow\\n'), 300) : answer(response, 'fast\\n'))
              .listen({}, '127.0.0.1');",
            address.port()
        );
        let file = directory.path().join("server.js");
        fs::write(&file, text).unwrap();
        let command = ["node", file.to_str().unwrap()].map(str::to_owned).to_vec();
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
