//! shb, from crates.io: io_uring.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use super::ask::{Ask, Reuse};
use super::told::{Told, counted};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    bytes_received: f64,
    requests: Requests,
    requests_per_sec: f64,
    status_codes: BTreeMap<u16, u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Requests {
    connect_errors: u64,
    errors: u64,
}

pub(super) fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let (connections, seconds) = (ask.connections.to_string(), format!("{}s", ask.seconds));
    let mut arguments: Vec<_> =
        ["-t", "1", "-j", "-c", &connections, "-z", &seconds].map(str::to_owned).into();
    if ask.reuse == Reuse::Close {
        arguments.push("--disable-keepalive".to_owned());
    }
    arguments.push(ask.url.to_owned());
    arguments
}

pub(super) fn read(stdout: &str) -> anyhow::Result<Told> {
    let report: Report =
        serde_json::from_str(stdout).with_context(|| format!("cannot read the report: {}", stdout.trim()))?;
    let requests = report.status_codes.get(&200).copied().unwrap_or(0);
    let errors = counted([
        ("connect errors", report.requests.connect_errors),
        ("errors", report.requests.errors),
        ("other statuses", report.status_codes.values().sum::<u64>() - requests),
    ]);
    Ok(Told { requests, rate: report.requests_per_sec, bytes: report.bytes_received, errors })
}

/// shb does not state its version; cargo keeps it beside what it installed.
pub(super) fn version(program: &Path) -> anyhow::Result<String> {
    testbed::says(&program.display().to_string(), &["--help"])
        .with_context(|| format!("{} is missing; tools/need shb builds it", program.display()))?;
    let list = program.parent().and_then(Path::parent).map(|root| root.join(".crates.toml"));
    let text = list.and_then(|list| std::fs::read_to_string(list).ok()).unwrap_or_default();
    Ok(installed(&text).unwrap_or("shb, version unknown").to_owned())
}

fn installed(list: &str) -> Option<&str> {
    let line = list.lines().find(|line| line.starts_with("\"shb "))?;
    line.trim_start_matches('"').split(" (").next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"bytesReceived": 9149153, "bytesSent": 443287, "connections": 64,
        "durationSeconds": 1.013343947, "protocol": "HTTP/1.1",
        "requests": {"connectErrors": 0, "errors": 0, "ok": 7267, "total": 7267},
        "requestsPerSec": 7171.306466589078, "statusCodes": {"200": 7267}, "threads": 1}"#;

    #[test]
    fn a_clean_run_has_requests_and_no_errors() {
        let told = read(REPORT).unwrap();
        assert_eq!((told.requests, told.rate, told.bytes), (7267, 7171.306466589078, 9_149_153.0));
        assert!(told.errors.is_empty());
        assert!(read("Error: refused").is_err());
    }

    #[test]
    fn errors_and_other_statuses_are_counted() {
        let report = REPORT
            .replace(r#""errors": 0"#, r#""errors": 8"#)
            .replace(r#"{"200": 7267}"#, r#"{"200": 7260, "404": 7}"#);
        let told = read(&report).unwrap();
        assert_eq!(told.requests, 7260);
        assert_eq!(told.errors, BTreeMap::from([("errors".to_owned(), 8), ("other statuses".to_owned(), 7)]));
    }

    #[test]
    fn the_version_is_cargos() {
        let list = "[v1]\n\"cargo-deny 0.20.2 (registry+https://x)\" = [\"cargo-deny\"]\n\"shb 0.6.0 (registry+https://x)\" = [\"shb\"]\n";
        assert_eq!(installed(list), Some("shb 0.6.0"));
        assert_eq!(installed("[v1]\n"), None);
    }
}
