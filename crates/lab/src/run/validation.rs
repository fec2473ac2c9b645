//! What the generator can do: the reference server answers it from memory, in place of the one that is tested, on the
//! same processors and over the same link ("Understanding Web server configuration issues", section 4.4.2, has a
//! faster server for that).

use std::fs;
use std::path::Path;

use record::experiment::Validation;
use testbed::{Limits, Link, Pinning, Resources, Stop, Testbed};
use units::Span;

use super::directory::empty;
use crate::error::Error;
use crate::load::generator::{self, Offer};
use crate::progress::{Event, Progress};
use crate::server::origin::start_reference;
use crate::server::running::LOG;
use crate::spec::experiment::Spec;
use crate::spec::workload::What;

const DIRECTORY: &str = "validation";
/// What of its run stays in the record.
const KEPT: [&str; 2] = ["run.toml", "summary.json"];
const CLIENTS: u32 = 32;
const WARMUP: Span = Span::from_millis(300);
const LENGTH: Span = Span::from_secs(1);
/// Of a response, where the workload has no single size.
const BYTES: u64 = 1000;
/// From this share of what the generator does on, what is found may be the testbed's.
const NEAR: f64 = 0.8;

/// Finds it, on the network and the processors of the experiment; its record goes into the experiment's.
pub(super) fn generators_best(
    spec: &Spec,
    pinning: &Pinning,
    headworks: &Path,
    record: &Path,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Validation, Error> {
    let kept = record.join(DIRECTORY);
    empty(&kept)?;
    let place = testbed::directory()?;
    let out = place.path().join(DIRECTORY);
    empty(&out)?;
    let resources = without_limits(&spec.resources);
    let testbed = Testbed::build(&resources, pinning, &spec.server.cpus, &spec.client_cpus, stop)?;
    let (authority, _server) = start_reference(&testbed, headworks, &out.join(LOG), stop)?;
    let bytes = match &spec.asked.what {
        Some(What::Url(path)) => bytes(path),
        _ => BYTES,
    };
    let mut command = testbed.generator(headworks);
    command.arg("load").arg(format!("http://{authority}/bytes/{bytes}")).args(&spec.asked.options);
    Offer::Closed(CLIENTS).tell(&mut command);
    command.arg("--warmup").arg(WARMUP.to_string()).arg("--duration").arg(LENGTH.to_string());
    generator::to_record(&mut command, &out);
    let summary = generator::carry_out(command, &out, WARMUP + LENGTH, stop, || progress.tell(Event::Tick))?;
    stop.check()?;
    // Rows of requests as fast as they can be made would be most of many a record.
    for name in KEPT {
        fs::copy(out.join(name), kept.join(name)).map_err(Error::io("write", &kept.join(name)))?;
    }
    let rate = summary.responses as f64 / summary.duration;
    Ok(Validation { rate, clients: CLIENTS, bytes, directory: DIRECTORY.to_owned() })
}

/// That so many requests per second are nearly all that the generator gets from any server here, of which `best` is
/// what it gets from the reference server.
pub(super) fn is_near_generators(rate: f64, best: Option<f64>) -> Option<String> {
    let best = best?;
    (rate > NEAR * best).then(|| {
        format!(
            "{rate:.0} requests/s are {:.0} % of what the generator gets from the reference server in place of this one ({best:.0}/s): what limits may be the testbed",
            rate / best * 100.0
        )
    })
}

/// Network and generator as they are for the tests; what holds up the server alone is left out.
fn without_limits(resources: &Resources) -> Resources {
    let network = resources.network.as_ref().map(|link| Link { sysctls: Vec::new(), ..link.clone() });
    Resources { network, server: Limits::default(), descriptors: None, ..resources.clone() }
}

/// How long the response to a path of the reference server is.
fn bytes(path: &str) -> u64 {
    let (page, query) = path.split_once('?').unwrap_or((path, ""));
    let of_query = || query.split('&').find_map(|pair| pair.strip_prefix("bytes="));
    page.strip_prefix("/bytes/").or_else(of_query).and_then(|bytes| bytes.parse().ok()).unwrap_or(BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_as_long_as_those_of_the_workload() {
        let lengths =
            ["/bytes/1048576", "/delay?before=20ms&bytes=100", "/burn?cpu=2ms", "/a.html"].map(bytes);
        assert_eq!(lengths, [1_048_576, 100, BYTES, BYTES]);
    }
}
