//! h2load, with HTTP/1.1 or HTTP/2.

use anyhow::Context;

use super::ask::Ask;
use super::told::{Told, between, counted};

pub(super) fn arguments(ask: &Ask<'_>) -> Vec<String> {
    let (connections, seconds) = (format!("-c{}", ask.connections), format!("-D{}", ask.seconds));
    ["--h1", "-t1", &connections, &seconds, ask.url].map(str::to_owned).into()
}

/// The arguments that ask for HTTP/2, one request at a time on each connection: as many are under
/// way then as with HTTP/1.1.
pub(crate) fn multiplexed(ask: &Ask<'_>) -> Vec<String> {
    let (connections, seconds) = (format!("-c{}", ask.connections), format!("-D{}", ask.seconds));
    ["-t1", &connections, "-m1", &seconds, ask.url].map(str::to_owned).into()
}

pub(super) fn read(stdout: &str) -> anyhow::Result<Told> {
    let (_, result) = stdout.split_once("finished in ").context("h2load gave no result")?;
    let rate: f64 = between(result, "s, ", " req/s")?.parse()?;
    let of = |before: &str, after: &str| Ok::<u64, anyhow::Error>(between(result, before, after)?.parse()?);
    let errors = counted([
        ("failed", of("succeeded, ", " failed")?),
        ("timeouts", of("errored, ", " timeout")?),
        ("other statuses", of(" 2xx, ", " 3xx")? + of(" 3xx, ", " 4xx")? + of(" 4xx, ", " 5xx")?),
    ]);
    let bytes: f64 = between(between(result, "headers (space", " data")?, "B (", ")")?.parse()?;
    Ok(Told { requests: of("status codes: ", " 2xx")?, rate, bytes, errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "starting benchmark...
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 1.00s, 67503.00 req/s, 81.37MB/s
requests: 67503 total, 67567 started, 67503 done, 67503 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 67503 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 81.37MB (85323792) total, 12.17MB (12766194) headers (space savings 0.00%), 65.96MB (69167104) data
                     min         max         mean         sd        +/- sd
time for request:      436us      3.58ms       947us       206us    75.12%
";

    #[test]
    fn a_clean_run_has_requests_and_no_errors() {
        let told = read(OUTPUT).unwrap();
        assert_eq!((told.requests, told.rate, told.bytes), (67503, 67503.0, 69_167_104.0));
        assert!(told.errors.is_empty());
        assert!(read("starting benchmark...\n").is_err());
    }

    #[test]
    fn failures_and_other_statuses_are_counted() {
        let output = OUTPUT.replace("0 failed", "7 failed").replace("0 3xx, 0 4xx", "0 3xx, 5 4xx");
        let errors: Vec<_> = read(&output).unwrap().errors.into_iter().collect();
        assert_eq!(errors, [("failed".to_owned(), 7), ("other statuses".to_owned(), 5)]);
    }
}
