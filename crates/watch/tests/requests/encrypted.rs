//! Requests inside TLS and of HTTP/2 are counted as well, one by one.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::{Apache, Mpm, Nginx, Process, free_address, identity};
use watch::WatchOutcome;
use watch::requests::Budget;

use crate::counts::{EACH, check, watched};
use crate::is_able;
use crate::servers::{SIZES, address, documents};

/// With HTTP/1.1 or HTTP/2, each document on a connection of its own too.
const NODE: &str = "
const [directory, port, kind] = process.argv.slice(1);
const fs = require('fs');
const answer = (request, response) => {
  let body;
  try { body = fs.readFileSync(directory + request.url); } catch { response.writeHead(404); response.end('nothing'); return; }
  response.writeHead(200, { 'Content-Length': body.length });
  response.end(body);
};
const secret = { key: fs.readFileSync(directory + '/key'), cert: fs.readFileSync(directory + '/certificate') };
const made = {
  https: () => require('https').createServer(secret, answer),
  h2: () => require('http2').createSecureServer({ ...secret, allowHTTP1: true, maxSessionMemory: 1000 }, answer),
  h2c: () => require('http2').createServer({ maxSessionMemory: 1000 }, answer),
}[kind]();
made.listen(Number(port), '127.0.0.1');
";

/// Asks another server, each time on a connection of its own, and answers what that says.
const GATEWAY: &str = "
const [directory, port, behind] = process.argv.slice(1);
const https = require('https'), fs = require('fs');
const secret = { key: fs.readFileSync(directory + '/key'), cert: fs.readFileSync(directory + '/certificate') };
https.createServer(secret, (request, response) => {
  https.get(behind + request.url, { rejectUnauthorized: false, agent: false }, answer => {
    response.writeHead(answer.statusCode, { 'Content-Length': answer.headers['content-length'] });
    answer.pipe(response);
  });
}).listen(Number(port), '127.0.0.1');
";

const PYTHON: &str = "
import http.server, ssl, sys, os
directory, port = sys.argv[1:]
os.chdir(directory)
http.server.SimpleHTTPRequestHandler.protocol_version = 'HTTP/1.1'
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(port)), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('certificate', 'key')
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
";

/// Asks for each document and for one that is not there: on one connection, with many streams at once where there
/// are streams, and on one connection each.
fn visit(url: &str, version: &str) {
    let names = SIZES.map(|(name, _)| name).into_iter().chain(["missing"]);
    let urls: Vec<String> = names.map(|name| format!("{url}/{name}")).collect();
    if version == "h2c" {
        // curl mixes connections up when it is not to ask for HTTP/2 first (7.88).
        let mut h2load = Command::new("h2load");
        h2load.args(["-c", "4", "-m", "10", "-n", &(EACH * urls.len()).to_string()]).args(&urls);
        let done = h2load.output().expect("h2load, of the package nghttp2-client");
        assert!(done.status.success(), "{url}: {done:?}");
        return;
    }
    let each: String = urls.iter().map(|url| format!("url = \"{url}\"\noutput = \"/dev/null\"\n")).collect();
    let alone = if version == "--http1.1" { &["-H", "Connection: close"][..] } else { &[] };
    // Slowly, so that servers have to write again what was not taken.
    for how in [&["-Z", "--parallel-max", "20", "--limit-rate", "5M"], alone] {
        let mut curl = Command::new("curl");
        curl.args(["-sSk", "--no-progress-meter", "--max-time", "50", version]).args(how);
        let mut curl = curl.args(["-K", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        curl.stdin.take().unwrap().write_all(each.repeat(EACH / 2).as_bytes()).unwrap();
        assert!(curl.wait().unwrap().success(), "{url}, {version}");
    }
}

/// What was counted of a visit, and on which connections.
fn counted(url: &str, version: &'static str, protocol: fn(&WatchOutcome) -> u64, server: &str) {
    let port = url.rsplit(':').next().unwrap().parse().unwrap();
    let visited = url.to_owned();
    let outcome = watched(port, Budget::default(), move || visit(&visited, version));
    let server = format!("{server}, {version}");
    let protocols = outcome.seen.followed.unwrap().protocols;
    assert!(protocol(&outcome) > 0, "{server}: {protocols:?}");
    check(&outcome, &server);
}

fn https1(outcome: &WatchOutcome) -> u64 {
    outcome.seen.followed.unwrap().protocols.unwrap().https1
}

fn https2(outcome: &WatchOutcome) -> u64 {
    outcome.seen.followed.unwrap().protocols.unwrap().https2
}

fn http2(outcome: &WatchOutcome) -> u64 {
    outcome.seen.followed.unwrap().protocols.unwrap().http2
}

/// Documents, and a certificate with its key.
fn secret_documents() -> tempfile::TempDir {
    let place = documents();
    let (certificate, key) = identity();
    std::fs::write(place.path().join("certificate"), certificate).unwrap();
    std::fs::write(place.path().join("key"), key).unwrap();
    place
}

#[test]
fn of_nginx() {
    if !is_able() {
        return;
    }
    let place = documents();
    let Some(nginx) = Nginx::start(place.path(), "") else { return };
    counted(nginx.tls_url(), "--http1.1", https1, "nginx");
    counted(nginx.tls_url(), "--http2", https2, "nginx");
}

#[test]
fn of_apache() {
    if !is_able() {
        return;
    }
    let place = secret_documents();
    for mpm in [Mpm::Prefork, Mpm::Event] {
        let tls = free_address();
        let path = place.path().display();
        let extra = format!(
            "LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
             LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so
             Listen {tls}
             Protocols h2 h2c http/1.1
             <VirtualHost {tls}>
             SSLEngine on
             SSLCertificateFile {path}/certificate
             SSLCertificateKeyFile {path}/key
             </VirtualHost>"
        );
        let Some(apache) = Apache::start(mpm, place.path(), &extra) else { return };
        counted(&format!("https://{tls}"), "--http1.1", https1, &format!("apache, {mpm:?}"));
        // With processes it answers in HTTP/1.1 alone.
        if mpm == Mpm::Event {
            counted(&format!("https://{tls}"), "--http2", https2, "apache");
            counted(apache.url(), "h2c", http2, "apache");
        }
    }
}

/// A script in Node that is given a directory, its port and something else.
fn node(script: &str, directory: &Path, at: SocketAddr, argument: &str) -> Process {
    let mut command = Command::new("node");
    command.args(["-e", script, "--"]).arg(directory).arg(at.port().to_string()).arg(argument);
    Process::listening(&mut command, at)
}

#[test]
fn of_node() {
    if !is_able() {
        return;
    }
    let place = secret_documents();
    for (kind, scheme, visits) in [
        ("https", "https", &[("--http1.1", https1 as fn(&WatchOutcome) -> u64)][..]),
        ("h2", "https", &[("--http1.1", https1), ("--http2", https2)]),
        ("h2c", "http", &[("h2c", http2)]),
    ] {
        let at = free_address();
        let _node = node(NODE, place.path(), at, kind);
        for (version, protocol) in visits {
            counted(&format!("{scheme}://{at}"), version, *protocol, kind);
        }
    }
}

/// What a server asks others inside TLS is not of its responses, nor of its connections.
#[test]
fn of_a_server_that_is_a_client_as_well() {
    if !is_able() {
        return;
    }
    let place = secret_documents();
    let Some(nginx) = Nginx::start(place.path(), "") else { return };
    let at = free_address();
    let _node = node(GATEWAY, place.path(), at, nginx.tls_url());
    counted(&format!("https://{at}"), "--http1.1", https1, "a gateway");
}

#[test]
fn of_python() {
    if !is_able() {
        return;
    }
    let place = secret_documents();
    let at = free_address();
    let mut command = Command::new("python3");
    command.args(["-c", PYTHON]).arg(place.path()).arg(at.port().to_string()).stderr(Stdio::null());
    let _python = Process::listening(&mut command, at);
    counted(&format!("https://{at}"), "--http1.1", https1, "python");
}

/// In front of a server without TLS, which is not watched.
#[test]
fn of_haproxy() {
    if !is_able() {
        return;
    }
    let place = secret_documents();
    let Some(nginx) = Nginx::start(place.path(), "") else { return };
    let (behind, tls, plain) = (address(nginx.url()), free_address(), free_address());
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    let both = place.path().join("both.pem");
    std::fs::write(&both, read("certificate") + &read("key")).unwrap();
    let configuration = format!(
        "global\n nbthread 2\ndefaults\n mode http\n timeout connect 5s\n timeout client 30s\n timeout server 30s\n\
         frontend front\n bind {tls} ssl crt {} alpn h2,http/1.1\n bind {plain} proto h2\n default_backend back\n\
         backend back\n server one {behind}\n",
        both.display()
    );
    let file = place.path().join("haproxy.cfg");
    std::fs::write(&file, configuration).unwrap();
    let mut command = Command::new("haproxy");
    let _haproxy = Process::listening(command.arg("-f").arg(&file).stderr(Stdio::null()), tls);
    counted(&format!("https://{tls}"), "--http1.1", https1, "haproxy");
    counted(&format!("https://{tls}"), "--http2", https2, "haproxy");
    counted(&format!("http://{plain}"), "h2c", http2, "haproxy");
}

/// A server that is written in Go, without symbols.
#[test]
fn of_caddy() {
    if !is_able() {
        return;
    }
    let place = secret_documents();
    let tls = free_address();
    let path = place.path().display();
    let configuration = format!(
        "{{\n admin off\n auto_https off\n }}
         https://{tls} {{\n tls {path}/certificate {path}/key\n root * {path}\n file_server\n }}"
    );
    let file = place.path().join("Caddyfile");
    std::fs::write(&file, configuration).unwrap();
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&file);
    let _caddy = Process::listening(command.env("HOME", place.path()).stderr(Stdio::null()), tls);
    counted(&format!("https://{tls}"), "--http1.1", https1, "caddy");
    counted(&format!("https://{tls}"), "--http2", https2, "caddy");
}

/// What another port of the server sends is not counted.
#[test]
fn of_another_port_nothing() {
    if !is_able() {
        return;
    }
    let place = documents();
    let Some(nginx) = Nginx::start(place.path(), "") else { return };
    let (plain, other) = (address(nginx.url()).port(), nginx.tls_url().to_owned());
    for version in ["--http1.1", "--http2"] {
        let other = other.clone();
        let outcome = watched(plain, Budget::default(), move || visit(&other, version));
        assert!(outcome.seen.requests.is_empty(), "{version}: {:?}", outcome.seen.requests);
    }
}
