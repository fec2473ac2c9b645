//! Servers that speak TLS: nginx, over both versions of HTTP.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use crate::common::{CLASSES, Gate};
use testkit::Nginx;

fn nginx() -> Option<(tempfile::TempDir, Nginx)> {
    let content = tempfile::tempdir().unwrap();
    std::fs::write(content.path().join("page"), "from nginx").unwrap();
    let nginx =
        Nginx::start(content.path(), "add_header x-seen $scheme-$server_protocol-$http_host always;")?;
    Some((content, nginx))
}

#[test]
fn requests_go_over_tls_to_a_server_whose_certificate_is_believed() {
    let Some((_content, nginx)) = nginx() else { return };
    for (http, protocol) in [(1, "HTTP/1.1"), (2, "HTTP/2.0")] {
        let upstream = format!(
            "address = '{}', http = {http}, ca-file = '{}', check = {{ path = '/page', interval = '50ms' }}",
            nginx.tls_url(),
            nginx.certificate_file().display()
        );
        let gate = Gate::before(&upstream, "");
        let mut client = gate.connect();
        for _ in 0..3 {
            let response = client.get("/page").response();
            assert_eq!((response.status, response.text()), (200, "from nginx"));
            let seen = response.header("x-seen").unwrap();
            assert!(seen.starts_with(&format!("https-{protocol}-")), "{seen}");
        }
        gate.wait_for("the check to pass", |_| {
            let metrics = gate.connect_admin().get("/metrics").response();
            metrics.text().lines().any(|line| {
                line.starts_with("headworks_gate_server_checks_total")
                    && line.contains("passed")
                    && !line.ends_with(" 0")
            })
        });
    }
}

#[test]
fn nothing_is_sent_to_a_server_whose_certificate_is_not_believed() {
    let Some((_content, nginx)) = nginx() else { return };
    let gate = Gate::before(&format!("address = '{}'", nginx.tls_url()), "");
    assert_eq!(gate.get("/page", "").status, 502);
    // One that is believed, but for another name.
    let elsewhere = nginx.tls_url().replace("localhost", "127.0.0.2");
    let upstream = format!("address = '{elsewhere}', ca-file = '{}'", nginx.certificate_file().display());
    let gate = Gate::before(&upstream, "");
    assert_eq!(gate.get("/page", "").status, 502);
    assert_eq!(nginx.stop(), []);
}

#[test]
fn what_is_wrong_with_the_authorities_is_named() {
    let read = |upstream: &str| {
        let text = format!("listen = '127.0.0.1:0'\nupstream = {{ {upstream} }}\n{CLASSES}");
        let source = config::Source::new("gate.toml", text);
        let settings = gate::Settings::from_source(&source, std::path::Path::new("."));
        settings
            .and_then(|settings| gate::check(&settings, gate::Names::NotLookedUp).map(drop))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        read("address = 'a:1', ca-file = 'ca.pem'"),
        "gate.toml:2: ca-file is given, but no server speaks TLS; write \"https://host:port\" for those that do"
    );
    let missing = read("address = 'https://a:1', ca-file = '/nowhere/ca.pem'");
    assert!(missing.starts_with("gate.toml:2: cannot use /nowhere/ca.pem: "), "{missing}");
}
