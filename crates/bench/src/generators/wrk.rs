//! wrk: closes a connection when it asks the server to.

use anyhow::{Context, bail};

use super::ask::{Ask, Reuse};
use super::told::{Told, between, counted};

pub(super) fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let mut arguments =
        vec!["-t1".to_owned(), format!("-c{}", ask.connections), format!("-d{}s", ask.seconds)];
    // Its default of 2 s would count as an error what others wait for.
    arguments.extend(["--timeout", "20s"].map(str::to_owned));
    if ask.reuse == Reuse::Close {
        arguments.extend(["-H", "Connection: close"].map(str::to_owned));
    }
    arguments.push(ask.url.to_owned());
    arguments
}

pub(super) fn read(stdout: &str) -> anyhow::Result<Told> {
    let line = stdout.lines().find(|line| line.contains(" requests in ")).context("wrk gave no result")?;
    let all: u64 = between(&format!("^{line}"), "^", " requests in ")?.parse()?;
    let bytes = bytes(between(line, ", ", " read")?)?;
    let rate: f64 = between(stdout, "Requests/sec:", "\n")?.parse()?;
    let other: u64 = count(stdout, "Non-2xx or 3xx responses: ")?;
    let [connect, read, write, timeout] = match stdout.lines().find(|line| line.contains("Socket errors:")) {
        None => [0; 4],
        Some(line) => {
            let line = line.replace(',', "\n");
            let of = |what: &str| count(&line, &format!(" {what} "));
            [of("connect")?, of("read")?, of("write")?, of("timeout")?]
        }
    };
    let errors = counted([
        ("connect errors", connect),
        ("read errors", read),
        ("write errors", write),
        ("timeouts", timeout),
        (Told::OTHER_STATUSES, other),
    ]);
    Ok(Told { requests: all.saturating_sub(other), rate, bytes, errors })
}

pub(super) fn version(text: &str) -> anyhow::Result<String> {
    Ok(text.split(" Copyright").next().context("wrk has no version")?.trim().to_owned())
}

/// The number after a text at which it stands, 0 if it does not.
fn count(text: &str, before: &str) -> anyhow::Result<u64> {
    let Some((_, rest)) = text.split_once(before) else { return Ok(0) };
    let number = rest.lines().next().unwrap_or_default().trim();
    number.parse().with_context(|| format!("{number:?} after {before:?} is not a number"))
}

/// `91.61MB`: its units are powers of 1024.
fn bytes(text: &str) -> anyhow::Result<f64> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let power = match unit {
        "B" => 0,
        "KB" => 1,
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        _ => bail!("{text:?} is not a number of bytes"),
    };
    Ok(text.trim_end_matches(unit).parse::<f64>()? * 1024_f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::ask::ask;

    const OUTPUT: &str = "Running 1s test @ http://127.0.0.1:8080/1k
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.30ms  726.99us   7.35ms   67.58%
    Req/Sec    20.40k     1.67k   22.29k    72.73%
  22289 requests in 1.10s, 26.76MB read
Requests/sec:  20228.87
Transfer/sec:     24.29MB
";

    #[test]
    fn a_clean_run_has_requests_and_no_errors() {
        let told = read(OUTPUT).unwrap();
        assert_eq!((told.requests, told.rate, told.errors.len()), (22289, 20228.87, 0));
        assert!((told.bytes - 26.76 * 1_048_576.0).abs() < 1.0);
        assert!(read("unable to connect to 127.0.0.1:1 Connection refused\n").is_err());
    }

    #[test]
    fn errors_and_other_statuses_are_counted() {
        let output = OUTPUT.replace(
            "Requests/sec",
            "  Socket errors: connect 1, read 12, write 0, timeout 3\n  Non-2xx or 3xx responses: 289\nRequests/sec",
        );
        let told = read(&output).unwrap();
        assert_eq!(told.requests, 22000);
        let errors: Vec<_> = told.errors.into_iter().collect();
        let named = |name: &str, count| (name.to_owned(), count);
        assert_eq!(
            errors,
            [
                named("connect errors", 1),
                named("other statuses", 289),
                named("read errors", 12),
                named("timeouts", 3)
            ]
        );
    }

    #[test]
    fn the_version_is_what_stands_before_the_copyright() {
        let text =
            "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk <options> <url>\n";
        assert_eq!(version(text).unwrap(), "wrk debian/4.1.0-3+b2 [epoll]");
    }

    #[test]
    fn closing_is_asked_for_by_a_header() {
        assert!(arguments(&ask(Reuse::Close)).contains(&"Connection: close".to_owned()));
        assert!(!arguments(&ask(Reuse::KeepAlive)).contains(&"Connection: close".to_owned()));
    }
}
