//! What the generator can do: the reference server answers it from memory, in place of the one that is tested, on the
//! same processors and over the same link ("Understanding Web server configuration issues", section 4.4.2, has a
//! faster server for that).

use std::fs;

use record::experiment::Validation;
use units::Span;

use crate::load::{self, Offer};
use crate::run::Lab;
use crate::spec::What;
use crate::{Error, server, test};
use testbed::{Limits, Link, Resources, Testbed};

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

impl Lab<'_> {
    /// Finds it, unless it is known from before. Where that cannot be done, the tests are done all the same.
    pub(crate) fn validate(&mut self) -> Result<(), Error> {
        if self.experiment.generator.is_some() {
            return Ok(());
        }
        match self.generators_best() {
            Ok(validation) => self.experiment.generator = Some(validation),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => self.view.note(&format!("the generator was not validated: {error}")),
        }
        Ok(())
    }

    fn generators_best(&self) -> Result<Validation, Error> {
        let (spec, stop, headworks) = (self.spec, self.stop, &*self.options.headworks);
        let kept = self.directory.join(DIRECTORY);
        test::empty(&kept)?;
        let place = testbed::directory()?;
        let out = place.path().join(DIRECTORY);
        test::empty(&out)?;
        let resources = without_limits(&spec.resources);
        let testbed = Testbed::build(&resources, self.pinning, &spec.server.cpus, &spec.client_cpus, stop)?;
        let (authority, _server) =
            server::start_reference(&testbed, headworks, &out.join(server::LOG), stop)?;
        let bytes = match &spec.asked.what {
            Some(What::Url(path)) => bytes(path),
            _ => BYTES,
        };
        let mut command = testbed.generator(headworks);
        command.arg("load").arg(format!("http://{authority}/bytes/{bytes}")).args(&spec.asked.options);
        Offer::Closed(CLIENTS).tell(&mut command);
        command.arg("--warmup").arg(WARMUP.to_string()).arg("--duration").arg(LENGTH.to_string());
        load::to_record(&mut command, &out);
        let summary = load::carry_out(command, &out, WARMUP + LENGTH, stop, || self.view.tick())?;
        stop.check()?;
        // Rows of requests as fast as they can be made would be most of many a record.
        for name in KEPT {
            fs::copy(out.join(name), kept.join(name)).map_err(Error::io("write", &kept.join(name)))?;
        }
        let rate = summary.responses as f64 / summary.duration;
        Ok(Validation { rate, clients: CLIENTS, bytes, directory: DIRECTORY.to_owned() })
    }

    /// That so many requests per second are nearly all that the generator gets from any server here.
    pub(crate) fn is_near_generators(&self, rate: f64) -> Option<String> {
        let best = self.experiment.generator.as_ref()?.rate;
        (rate > NEAR * best).then(|| {
            format!(
                "{rate:.0} requests/s are {:.0} % of what the generator gets from the reference server in place of this one ({best:.0}/s): what limits may be the testbed",
                rate / best * 100.0
            )
        })
    }
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
