//! hey: Go's HTTP client.

use anyhow::Context;

use super::ask::{Ask, Reuse};
use super::told::{Told, between};

pub(super) fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let (connections, seconds) = (ask.connections.to_string(), format!("{}s", ask.seconds));
    let mut arguments: Vec<_> = ["-cpus", "1", "-c", &connections, "-z", &seconds].map(str::to_owned).into();
    if ask.reuse == Reuse::Close {
        arguments.push("-disable-keepalive".to_owned());
    }
    arguments.push(ask.url.to_owned());
    arguments
}

pub(super) fn read(stdout: &str) -> anyhow::Result<Told> {
    let rate: f64 = between(stdout, "Requests/sec:", "\n").context("hey gave no result")?.parse()?;
    let bytes = match stdout.contains("Total data:") {
        true => between(stdout, "Total data:", " bytes")?.parse()?,
        false => 0.0,
    };
    let (mut requests, mut errors) = (0, std::collections::BTreeMap::new());
    for (status, count) in list(stdout, "Status code distribution:") {
        match status {
            "200" => requests = count.trim_end_matches(" responses").parse()?,
            _ => {
                errors.insert(format!("status {status}"), count.trim_end_matches(" responses").parse()?);
            }
        }
    }
    for (count, what) in list(stdout, "Error distribution:") {
        errors.insert(what.to_owned(), count.parse()?);
    }
    Ok(Told { requests, rate, bytes, errors })
}

/// hey does not state its version; Debian does.
pub(super) fn version() -> anyhow::Result<String> {
    let version = testbed::succeeds("dpkg-query", &["-W", "-f", "${Version}", "hey"]).unwrap_or_default();
    testbed::says("hey", &[]).context("hey is missing")?;
    Ok(format!("hey {version}").trim().to_owned())
}

/// Lines of a key in brackets and a value, below a heading.
fn list<'a>(text: &'a str, heading: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let below = text.split_once(heading).map_or("", |(_, below)| below);
    let lines = below.lines().skip(1).map(str::trim).take_while(|line| line.starts_with('['));
    lines
        .filter_map(|line| line.trim_start_matches('[').split_once(']'))
        .map(|(key, value)| (key, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
Summary:
  Total:	1.0141 secs
  Slowest:	0.0800 secs
  Requests/sec:	5405.9037
  
  Total data:	5613568 bytes
  Size/request:	1024 bytes

Latency distribution:
  10% in 0.0054 secs

Status code distribution:
  [200]	5482 responses



";

    #[test]
    fn a_clean_run_has_requests_and_no_errors() {
        let told = read(OUTPUT).unwrap();
        assert_eq!((told.requests, told.rate, told.bytes), (5482, 5405.9037, 5_613_568.0));
        assert!(told.errors.is_empty());
        assert!(read("").is_err());
    }

    #[test]
    fn errors_and_other_statuses_are_counted() {
        let output = OUTPUT.replace(
            "responses\n",
            "responses\n  [404]	6 responses\n\nError distribution:\n  [64]	Get \"http://127.0.0.1:1/\": connection refused\n",
        );
        let errors = read(&output).unwrap().errors;
        assert_eq!(errors.get("status 404"), Some(&6));
        assert_eq!(errors.get("Get \"http://127.0.0.1:1/\": connection refused"), Some(&64));
    }
}
