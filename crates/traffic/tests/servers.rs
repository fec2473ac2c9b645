//! Logs as nginx and Apache write them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use testkit::{Apache, Mpm, Nginx, Process};
use traffic::trace::{AccessLog, LineFormat, Reason, Resolution, Trace};

/// What clients send, and what becomes of it in a trace.
const REQUESTS: [(&[u8], Option<&str>); 10] = [
    (b"GET /index.html?first HTTP/1.1", Some("/index.html?first")),
    (b"HEAD /index.html HTTP/1.1", Some("/index.html")),
    (b"GET /missing HTTP/1.0", Some("/missing")),
    (b"GET http://localhost/absolute?x=1 HTTP/1.1", Some("/absolute?x=1")),
    (b"GET /q\"uo\\te HTTP/1.1", Some("/q%22uo%5Cte")),
    (b"GET /caf\xc3\xa9 HTTP/1.1", Some("/caf%C3%A9")),
    (b"GET /%41?a[]=1&b={2} HTTP/1.1", Some("/%41?a[]=1&b=%7B2%7D")),
    (b"POST /form HTTP/1.1", None),
    (b"OPTIONS * HTTP/1.1", None),
    (b"\x80\xff garbage", None),
];

/// Sends all requests, one after the other.
fn talk(url: &str) {
    for (request, _) in REQUESTS {
        let mut connection = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        let fields = "\r\nHost: localhost\r\nUser-Agent: a \"quoted\" agent \\\r\nConnection: close\r\n\r\n";
        connection.write_all(&[request, fields.as_bytes()].concat()).unwrap();
        // A server that refuses a request may reset the connection.
        let _ = connection.read_to_end(&mut Vec::new());
    }
}

#[track_caller]
fn check(log: &Path) -> Trace {
    check_read(&AccessLog::default(), log)
}

#[track_caller]
fn check_read(reader: &AccessLog, log: &Path) -> Trace {
    let trace = reader.read(log).unwrap();
    let urls: Vec<&str> = trace.objects.iter().map(|object| &*object.url).collect();
    let expected: Vec<&str> = REQUESTS.iter().filter_map(|(_, url)| *url).collect();
    assert_eq!(urls, expected, "{}", trace.skipped);
    assert_eq!((trace.skipped.lines, trace.skipped.other_methods()), (10, 2), "{}", trace.skipped);
    assert_eq!(trace.skipped.reasons().collect::<Vec<_>>(), [(Reason::BadRequest, 1)]);
    let statuses: Vec<Option<u16>> = trace.requests.iter().take(3).map(|request| request.status).collect();
    assert_eq!(statuses, [Some(200), Some(200), Some(404)]);
    trace
}

fn site() -> tempfile::TempDir {
    let site = tempfile::tempdir().unwrap();
    std::fs::set_permissions(site.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::write(site.path().join("index.html"), "hello").unwrap();
    site
}

#[test]
fn the_combined_log_of_nginx() {
    let (site, logs) = (site(), tempfile::tempdir().unwrap());
    let log = logs.path().join("access.log");
    let Some(nginx) = Nginx::start(site.path(), &format!("access_log {} combined;", log.display())) else {
        return;
    };
    talk(nginx.url());
    nginx.stop();
    let trace = check(&log);
    assert_eq!(trace.resolution, Resolution::Seconds);
    assert_eq!(trace.requests[0].bytes, Some(5));
}

#[test]
fn logs_of_apache() {
    let (site, logs) = (site(), tempfile::tempdir().unwrap());
    let log = |name: &str| logs.path().join(name);
    let formats = format!(
        r#"
        LogFormat "%h %l %u %t \"%r\" %>s %b" common
        LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{{Referer}}i\" \"%{{User-Agent}}i\"" vhost_combined
        LogFormat "%h %l %u [%{{%d/%b/%Y:%T}}t.%{{usec_frac}}t %{{%z}}t] \"%r\" %>s %b" usec
        LogFormat "%{{usec}}t %h \"%r\" %>s %b %D" epoch
        CustomLog {0}/common common
        CustomLog {0}/vhost_combined vhost_combined
        CustomLog {0}/usec usec
        CustomLog {0}/epoch epoch
        "#,
        logs.path().display()
    );
    let Some(apache) = Apache::start(Mpm::Event, site.path(), &formats) else { return };
    talk(apache.url());
    apache.stop();
    assert_eq!(check(&log("common")).resolution, Resolution::Seconds);
    assert_eq!(check(&log("vhost_combined")).resolution, Resolution::Seconds);
    let (usec, epoch) = (check(&log("usec")), check(&log("epoch")));
    assert_eq!(usec.resolution, Resolution::Micros);
    assert_eq!(usec.requests, epoch.requests, "the same requests, to the microsecond");
}

#[test]
fn formats_of_nginx_recognised_and_given() {
    let (site, logs) = (site(), tempfile::tempdir().unwrap());
    let log = |name: &str| logs.path().join(name);
    let given = r#"$remote_addr ~ $msec ~ $request_time "$request" $status $body_bytes_sent $host"#;
    let http = format!(
        r#"log_format json escape=json '{{"when":{{"msec":$msec}},"request":"$request","status":$status,'
             '"body_bytes_sent":$body_bytes_sent,"request_time":$request_time,"http_host":"$http_host"}}';
           log_format unescaped '{{"time_iso8601":"$time_iso8601","request":"$request","status":$status}}';
           log_format given '{given}';"#
    );
    let (json, unescaped) = (log("json"), log("unescaped"));
    let server = format!(
        "access_log {} json; access_log {} unescaped; access_log {} given;",
        json.display(),
        unescaped.display(),
        log("given").display()
    );
    let Some(nginx) = Nginx::start_with(site.path(), &http, &server) else { return };
    talk(nginx.url());
    nginx.stop();
    let json = check(&json);
    assert_eq!((json.resolution, json.requests[0].bytes), (Resolution::Millis, Some(5)));
    assert_eq!(json.hosts().into_iter().collect::<Vec<_>>(), ["localhost"]);
    check(&unescaped);
    let given = check_read(&AccessLog::default().with_format(given.parse().unwrap()), &log("given"));
    assert_eq!(given.requests, json.requests, "the same requests at the same times");
}

#[test]
fn a_format_of_apache_that_is_given() {
    let (site, logs) = (site(), tempfile::tempdir().unwrap());
    let log = logs.path().join("log");
    let given = r#"%a %{Host}i %>s [%{begin:usec}t] %D \"%r\" %B %{User-Agent}i"#;
    let formats = format!("LogFormat \"{given}\" given\nCustomLog {} given", log.display());
    let Some(apache) = Apache::start(Mpm::Event, site.path(), &formats) else { return };
    talk(apache.url());
    apache.stop();
    let trace = check_read(&AccessLog::default().with_format(given.parse().unwrap()), &log);
    assert_eq!((trace.resolution, trace.requests[0].bytes), (Resolution::Micros, Some(5)));
    assert_eq!(trace.hosts().into_iter().collect::<Vec<_>>(), ["localhost"]);
}

#[test]
fn the_log_of_haproxy() {
    let program = Path::new("/usr/sbin/haproxy");
    if !program.exists() {
        testkit::skip(&"haproxy is not installed");
        return;
    }
    let (folder, address) = (tempfile::tempdir().unwrap(), testkit::free_address());
    let file = folder.path().join("haproxy.cfg");
    let configuration = format!(
        "global\n log stderr format raw local0\ndefaults\n mode http\n log global\n option httplog\n \
         timeout client 5s\n timeout server 5s\n timeout connect 5s\nfrontend web\n bind {address}\n \
         http-request return status 200 content-type text/plain string hello if {{ path_beg /index }}\n \
         http-request return status 404\n"
    );
    std::fs::write(&file, configuration).unwrap();
    let mut haproxy = Process::listening(Command::new(program).arg("-db").arg("-f").arg(&file), address);
    talk(&format!("http://{address}"));
    haproxy.terminate();
    let log = haproxy.rest_of_stderr();
    let lines: String = log.split_inclusive('\n').filter(|line| line.contains(" web ")).collect();
    let trace = AccessLog::default().parse(Path::new("log"), lines.as_bytes()).unwrap();
    assert_eq!(trace.formats.keys().collect::<Vec<_>>(), [&LineFormat::Haproxy], "{lines}");
    let urls: Vec<&str> =
        trace.requests.iter().map(|request| &*trace.objects[request.object as usize].url).collect();
    assert_eq!(
        urls.first_chunk(),
        Some(&["/index.html?first", "/index.html", "/missing", "/absolute?x=1"]),
        "{lines}"
    );
    let statuses: Vec<Option<u16>> = trace.requests.iter().take(3).map(|request| request.status).collect();
    assert_eq!(statuses, [Some(200), Some(200), Some(404)]);
    assert_eq!(trace.resolution, Resolution::Millis);
}
