//! What the simulator says of the server, beside what the server does: `headworks sim fit` finds in one run what requests
//! need, and `headworks sim` says what that means at other loads.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use record::prediction::{PointOutcome, PredictedPoint, Prediction};
use record::{RunDirectory, Summary};
use serde::Deserialize;
use stats::MeanEstimate;
use testbed::{Process, Stop, Testbed};
use toml::{Table, Value};
use units::{Rate, Span, Time};

use crate::error::Error;
use crate::load::generator::{self, Offer};
use crate::load::part::Part;
use crate::search::options::SearchOptions;
use crate::spec::prediction::Predicted;
use crate::spec::server::{Kind, Server};

/// Connections are opened and caches filled, and as many requests are under way as there will be.
const WARMUP: Span = Span::from_secs(2);
/// Between two loads, for what is left of the one before.
const PAUSE: Duration = Duration::from_secs(1);
/// The share of the latency that a late generator may be: the mean is hardly another for it.
const MAX_LATE: f64 = 0.02;
/// Fewer say hardly anything of what a request needs; a slow server takes longer for them than was asked for.
const ENOUGH_REQUESTS: f64 = 200.0;
const FIT: &str = "fit";
const FULL: &str = "full";
/// More would wait for nothing else.
const MAX_CLIENTS: u32 = 64;
/// Of a processor, used or waited for: a generator that has no more says nothing of the server.
const MAX_BUSY: f64 = 0.9;
/// How near the simulator's 95 % intervals are to be, and how long that may take.
const PRECISION: &str = "0.02";
const SIMULATION_TIMEOUT: Duration = Duration::from_secs(120);
/// 4: what it found is less precise than that.
const SAID: [i32; 2] = [0, 4];

/// What `headworks sim --json` says, of which this is needed.
#[derive(Deserialize)]
struct Simulated {
    rejected: Interval,
    latency: Latency,
}

#[derive(Deserialize)]
struct Latency {
    mean: Interval,
}

#[derive(Deserialize)]
struct Interval {
    mean: f64,
    ci: [f64; 2],
}

/// Offers the loads one after the other, and has each simulated.
pub(super) struct Predictor<'a> {
    pub(super) wanted: &'a Predicted,
    pub(super) server: &'a Server,
    pub(super) testbed: &'a Testbed<'a>,
    /// What is asked for, and how.
    pub(super) search: &'a SearchOptions,
    pub(super) out: &'a Path,
    /// Whether processors are what the server lacks at its end.
    pub(super) is_of_processors: bool,
    pub(super) stop: &'a Stop,
    pub(super) each: &'a dyn Fn(),
}

impl Predictor<'_> {
    /// Measures first, then simulates, and keeps both. What the simulator does not say is told with each load.
    pub(super) fn run(&self, capacity: f64) -> Result<(), Error> {
        let rate = |load: f64| {
            Rate::per_second(load * capacity)
                .ok_or_else(|| Error::Capacity(format!("{capacity} is not a rate")))
        };
        let mut why_not = self.offered(Offer::Rate(rate(self.wanted.fit)?), 0, FIT)?;
        let full = if self.is_of_processors { Some(self.filled()?) } else { None };
        let mut points = Vec::with_capacity(self.wanted.loads.len());
        for (number, load) in (1..).zip(&self.wanted.loads) {
            self.stop.pause(PAUSE)?;
            let directory = format!("load-{load}");
            let why = self.offered(Offer::Rate(rate(*load)?), number, &directory)?;
            let (rate, measured, _) = self.measure(&directory)?;
            points.push(PredictedPoint { load: *load, rate, measured, predicted: None, why, directory });
        }
        let rate_of_full = match full {
            Some(Ok(rate)) => Some(rate),
            Some(Err(why)) => {
                why_not.push(why);
                None
            }
            None => None,
        };
        let fitted = match self.fit(rate_of_full) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            fitted => fitted.map_err(|error| why_not.push(error.to_string())).ok(),
        };
        for point in &mut points {
            point.why.extend(why_not.iter().map(|why| format!("of the runs that it was fitted to: {why}")));
            let Some((_, besides)) = fitted else { continue };
            match self.simulated(&point.directory) {
                Ok(predicted) => point.predicted = Some(later(predicted, besides)),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => point.why.push(error.to_string()),
            }
        }
        let (demand, besides) = fitted.unwrap_or_default();
        let (server, fitted_at) = (options(self.server), self.wanted.fit);
        let is_of_full_server = rate_of_full.is_some();
        let prediction =
            Prediction { capacity, fitted_at, demand, besides, is_of_full_server, server, points };
        Ok(prediction.save(self.out)?)
    }

    /// What a server completes per second whose processors are never idle, or why that is not known.
    fn filled(&self) -> Result<Result<f64, String>, Error> {
        // Where threads are few, the next client has to wait already when one has been served.
        let threads = self.server.workers;
        let are_many = usize::try_from(threads).is_ok_and(|threads| threads >= 4 * processors(self.server));
        let clients = if are_many { threads.min(MAX_CLIENTS) } else { 2 * threads + 2 };
        let Summary { client, rate, .. } = self.offer(Offer::Closed(clients), 0, FULL)?;
        let is_known = client.cpu + client.waited <= MAX_BUSY && rate.achieved > 0.0;
        Ok(if is_known {
            Ok(rate.achieved)
        } else {
            Err("the generator could not fill the server".to_owned())
        })
    }

    /// Offers a load; gives why what was measured is the generator's rather than the server's. That single requests
    /// were late does not matter to a mean.
    fn offered(&self, offer: Offer, number: u64, directory: &str) -> Result<Vec<String>, Error> {
        let client = self.offer(offer, number, directory)?.client;
        let (_, _, late) = self.measure(directory)?;
        if late > MAX_LATE {
            return Ok(vec![format!(
                "{:.1} % of the latency was the generator's, which was late",
                late * 100.0
            )]);
        }
        let is_held_up = client.cpu + client.waited > MAX_BUSY || client.without_port > 0;
        Ok(if is_held_up { client.why_invalid } else { Vec::new() })
    }

    /// Requests per second, what they met, and the share of their latency that the generator was late.
    fn measure(&self, directory: &str) -> Result<(f64, PointOutcome, f64), Error> {
        let parts = Part::read(&self.out.join(directory))?;
        let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
        let (requests, good) = (sum(|part| part.requests as f64), sum(|part| part.good as f64));
        let late = sum(|part| part.late) / sum(|part| part.latency).max(f64::MIN_POSITIVE);
        let latency = MeanEstimate::of(parts.iter().filter_map(Part::mean_latency));
        let measured = PointOutcome {
            mean: if good > 0.0 { sum(|part| part.latency) / good } else { 0.0 },
            ci: latency.finite_ci(),
            lost: if requests > 0.0 { 1.0 - good / requests } else { 0.0 },
        };
        Ok((requests / sum(|part| part.length), measured, late))
    }

    fn offer(&self, offer: Offer, number: u64, directory: &str) -> Result<Summary, Error> {
        let out = self.out.join(directory);
        fs::create_dir_all(&out).map_err(Error::io("create", &out))?;
        let mut command = self.testbed.generator(&self.search.headworks);
        command.arg("load").arg(&self.search.url).args(&self.search.load);
        offer.tell(&mut command);
        if let Offer::Rate(_) = offer {
            command.args(["--arrivals", "poisson"]);
        }
        command.arg("--warmup").arg(WARMUP.to_string());
        let enough = match offer {
            Offer::Rate(rate) => Span::from_secs(1).mul_f64(ENOUGH_REQUESTS / rate.as_f64()),
            Offer::Closed(_) => Span::ZERO,
        };
        let duration = self.wanted.duration.max(enough);
        command.arg("--duration").arg(duration.to_string());
        command.arg("--seed").arg((self.search.seed.wrapping_add(number) & i64::MAX as u64).to_string());
        generator::to_record(&mut command, &out);
        let length = WARMUP + duration + Span::from_secs(30);
        let summary = generator::carry_out(command, &out, length, self.stop, self.each)?;
        self.stop.check()?;
        Ok(summary)
    }

    /// Gives what a request needs of a processor in the mean, and what it takes besides, s.
    fn fit(&self, rate_of_full: Option<f64>) -> Result<(f64, f64), Error> {
        let demand = self.fit_demand(rate_of_full)?;
        let (_, measured, _) = self.measure(FIT)?;
        Ok((demand, (measured.mean - self.simulated(FIT)?.mean).max(0.0)))
    }

    fn fit_demand(&self, rate_of_full: Option<f64>) -> Result<f64, Error> {
        let mut command = self.simulator();
        command.arg("fit").arg(self.out.join(FIT)).arg("--out").arg(self.model());
        command.arg("--processors").arg(processors(self.server).to_string());
        command.arg("--threads").arg(self.server.workers.to_string());
        self.said(command)?;
        let path = self.model();
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let mut model: Table = text.parse().map_err(not_a_model)?;
        let seen = mean_demand(&model)?;
        let Some(rate) = rate_of_full else { return Ok(seen) };
        // The utilisation law, where all processors are in use.
        let demand = processors(self.server) as f64 / rate;
        scale(&mut model, demand / seen)?;
        let text = toml::to_string(&model).map_err(not_a_model)?;
        fs::write(&path, text).map_err(Error::io("write", &path))?;
        Ok(demand)
    }

    /// With the arrivals of the run in `directory`: what is compared are not two draws.
    fn simulated(&self, directory: &str) -> Result<PointOutcome, Error> {
        let directory = self.out.join(directory);
        let arrivals = directory.join("arrivals.txt");
        fs::write(&arrivals, times(&directory)?).map_err(Error::io("write", &arrivals))?;
        let mut command = self.simulator();
        command.arg("--model").arg(self.model()).args(options(self.server));
        command.arg("--arrivals").arg(format!("trace:{}", arrivals.display()));
        command.args(["--precision", PRECISION, "--json", "--quiet"]);
        let said = self.said(command)?;
        let json = said.lines().find(|line| line.starts_with('{')).unwrap_or_default();
        let Simulated { rejected, latency } = serde_json::from_str(json)
            .map_err(|why| Error::Prediction(format!("headworks sim said {said:?}: {why}")))?;
        Ok(PointOutcome { mean: latency.mean.mean, ci: Some(latency.mean.ci), lost: rejected.mean })
    }

    fn simulator(&self) -> Command {
        let mut command = Command::new(&self.search.headworks);
        command.arg("sim");
        command
    }

    fn model(&self) -> std::path::PathBuf {
        self.out.join("model.toml")
    }

    /// What the simulator says.
    fn said(&self, command: Command) -> Result<String, Error> {
        let log = self.out.join("sim.log");
        let mut process = Process::start("sim", command, &log)?;
        let status = process.wait(SIMULATION_TIMEOUT, self.stop, self.each)?;
        if status.code().is_none_or(|code| !SAID.contains(&code)) {
            return Err(process.error(format!("failed ({status})")).into());
        }
        fs::read_to_string(&log).map_err(Error::io("read", &log))
    }
}

/// An outcome when everything takes longer by so much.
fn later(outcome: PointOutcome, by: f64) -> PointOutcome {
    PointOutcome { mean: outcome.mean + by, ci: outcome.ci.map(|ci| ci.map(|end| end + by)), ..outcome }
}

fn not_a_model(why: impl std::fmt::Display) -> Error {
    Error::Prediction(format!("the model that was fitted cannot be read: {why}"))
}

/// Over all classes of a model, s.
fn mean_demand(model: &Table) -> Result<f64, Error> {
    let classes =
        model.get("class").and_then(Value::as_array).ok_or_else(|| not_a_model("it has no classes"))?;
    let (mut shares, mut demands) = (0.0, 0.0);
    for class in classes {
        let share = class.get("share").map_or(1.0, number);
        shares += share;
        demands += share * demand(class)?.as_secs_f64();
    }
    Some(demands / shares).filter(|mean| *mean > 0.0).ok_or_else(|| not_a_model("its requests need nothing"))
}

fn demand(class: &Value) -> Result<Span, Error> {
    let text =
        class.get("demand").and_then(Value::as_str).ok_or_else(|| not_a_model("a class has no demand"))?;
    text.parse().map_err(not_a_model)
}

fn number(value: &Value) -> f64 {
    value.as_float().or(value.as_integer().map(|number| number as f64)).unwrap_or(f64::NAN)
}

/// Makes all demands so many times as large.
fn scale(model: &mut Table, times: f64) -> Result<(), Error> {
    for class in model.get_mut("class").and_then(Value::as_array_mut).into_iter().flatten() {
        let scaled = demand(class)?.as_secs_f64() * times * 1e3;
        if let Some(table) = class.as_table_mut() {
            table.insert("demand".to_owned(), Value::String(format!("{scaled}ms")));
        }
    }
    Ok(())
}

/// When requests were due, s, a line each, in order.
fn times(directory: &Path) -> Result<String, Error> {
    let requests = RunDirectory::open(directory)?.requests()?;
    let mut times: Vec<Time> = requests.map(|row| Ok(row?.intended)).collect::<Result<_, record::Error>>()?;
    times.sort_unstable();
    let line = |time: &Time| format!("{:.9}\n", time.since(Time::ZERO).as_secs_f64());
    Ok(times.iter().map(line).collect())
}

/// What the server is to the simulator. Its threads or processes share the processors; one that has an event loop
/// works on a request at a time, too, but takes all connections and lets them wait.
fn options(server: &Server) -> Vec<String> {
    let queue = match &server.kind {
        Kind::Nginx | Kind::Node => "none".to_owned(),
        _ => server.backlog.to_string(),
    };
    let words = [
        ("--processors", processors(server).to_string()),
        ("--threads", server.workers.to_string()),
        ("--queue", queue),
    ];
    words.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect()
}

/// Those that it can use.
fn processors(server: &Server) -> usize {
    let most = usize::try_from(server.workers).unwrap_or(usize::MAX);
    server.cpus.numbers().count().min(most).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_are_read_and_scaled_together() {
        let text = "[[class]]\nname = \"a\"\nshare = 3\ndemand = \"2ms\"\n[[class]]\nname = \"b\"\nshare = 1.0\ndemand = \"10ms\"\n";
        let mut model: Table = text.parse().unwrap();
        assert!((mean_demand(&model).unwrap() - 0.004).abs() < 1e-12);
        scale(&mut model, 0.5).unwrap();
        assert!((mean_demand(&model).unwrap() - 0.002).abs() < 1e-12);
        for broken in ["rate = 1", "[[class]]\nname = \"a\"\n", "[[class]]\ndemand = \"0ms\"\n"] {
            assert!(mean_demand(&broken.parse().unwrap()).is_err(), "{broken}");
        }
    }
}
