//! `bench soak`: whether `headworks gate` holds more and more while it is overloaded for long.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use super::table::Results;
use super::time_series::{Sample, TimeSeries};
use crate::results::machine::{self, Host};
use crate::results::page;
use crate::results::raw::{Places, Setting};
use testbed::{Isolation, Process, Stop};

use crate::servers::certificate::certificate;
use crate::servers::server::{GENERATOR_CPU, SERVER_CPU, Server};
use crate::servers::site::{Content, Site};

const PAGE: &str = "docs/benchmarks/soak.md";
const PLACES: Places =
    Places { page: PAGE, raw: "docs/benchmarks/raw/soak.json", passing: "target/bench/soak.json" };
const PLACE: &str = "target/bench";

/// Each serves one connection at a time: 40 sessions per second, of four pages of 50 ms each.
const WORKERS: u32 = 8;
/// Sessions per second over HTTP/1.1, and requests of 50 ms per second over HTTP/2 and TLS: together twice
/// what the workers can do.
const SESSIONS: &str = "70";
const REQUESTS: &str = "40";
/// As many as the clients that can be about at once, and room.
const DESCRIPTORS: u64 = 4_096;
const INTERVAL: Duration = Duration::from_secs(5);
/// A generator follows what it has begun to the end, some seconds after the load's end.
const GRACE: Duration = Duration::from_secs(60);

/// Memory and descriptors of `headworks gate` at twice what its server can carry.
///
/// The exit code is 1 when they grew. A run of at least half an hour writes docs/benchmarks/soak.md and raw/soak.json beside it; a shorter one is only printed, and its samples go below target/bench.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long the load lasts.
    #[arg(long, value_name = "N", default_value = "30", value_parser = clap::value_parser!(u32).range(1..=1440))]
    minutes: u32,
    /// The gate that is watched, the server behind and the generator.
    #[arg(long, value_name = "FILE", default_value = "target/release/headworks")]
    headworks: PathBuf,
}

const OF_RECORD: u32 = 30;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    page::must_be_here(PAGE)?;
    machine::raise_descriptors(DESCRIPTORS)?;
    let version = testbed::says(&args.headworks.display().to_string(), &["--version"])?;
    // What grows does so on a busy machine too.
    let setting = Setting::find(Host::describe(), vec![version.trim().to_owned()], true)?;
    let results = Soak::create(args)?.run(setting)?;
    let of_record = args.minutes >= OF_RECORD;
    PLACES.keep(of_record, &results.to_markdown(), &results.about_all(), &results.series.0)?;
    match results.fault() {
        Some(fault) => bail!(fault),
        None => Ok(()),
    }
}

/// Server, gate and where their files are.
#[derive(Debug)]
struct Soak {
    server: Server,
    gate: Server,
    program: String,
    place: PathBuf,
    /// Ports of the gate, without TLS and with it.
    ports: [u16; 2],
    minutes: u32,
}

impl Soak {
    fn create(args: &Args) -> anyhow::Result<Self> {
        let isolation = Isolation::find();
        let place = Path::new(PLACE).join("soak");
        fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
        let place = place.canonicalize()?;
        certificate(&place)?;
        let program = args.headworks.display().to_string();
        let site = Site::create(Path::new(PLACE), &[], isolation)?;
        let server = site.serve(Content::Workers(&program, WORKERS), SERVER_CPU)?;
        let [port, secure, admin] = [8081, 8443, 9090].map(|port| isolation.port(port));
        let (port, secure, admin) = (port?, secure?, admin?);
        let settings = include_str!("gate.toml")
            .replace("{port}", &port.to_string())
            .replace("{secure}", &secure.to_string())
            .replace("{admin}", &admin.to_string())
            .replace("{upstream}", &server.port().to_string())
            .replace("{place}", &place.display().to_string());
        let file = place.join("gate.toml");
        fs::write(&file, settings).with_context(|| format!("cannot write {}", file.display()))?;
        fs::write(place.join("sessions.toml"), include_str!("sessions.toml"))?;
        let words = [&*program, "gate", "--config", &file.display().to_string()];
        let gate = server.beside(GENERATOR_CPU, &words, &place.join("gate.log"), secure)?;
        Ok(Self { server, gate, program, place, ports: [port, secure], minutes: args.minutes })
    }

    fn run(&self, setting: Setting) -> anyhow::Result<Results> {
        let began = Instant::now();
        let duration = format!("{}m", self.minutes);
        let sessions = self.place.join("sessions.toml").display().to_string();
        let [plain, secure] = self.ports;
        let mut generators = [
            self.generate(
                "sessions",
                &[
                    &["--rate", SESSIONS, "--workload", &sessions][..],
                    &[&format!("http://127.0.0.1:{plain}")],
                ]
                .concat(),
                &duration,
            )?,
            self.generate(
                "requests",
                &[
                    &["--rate", REQUESTS, "--http", "2", "--insecure", "--timeout", "1s"][..],
                    &[&format!("https://127.0.0.1:{secure}/delay?before=50ms&bytes=2000")],
                ]
                .concat(),
                &duration,
            )?,
        ];
        let series = self.watch(began)?;
        let deadline = began + Duration::from_secs(u64::from(self.minutes) * 60) + GRACE;
        for generator in &mut generators {
            generator.end(deadline)?;
        }
        let [sessions, requests] = generators;
        Ok(Results {
            setting,
            minutes: self.minutes,
            series,
            sessions: sessions.summary()?,
            requests: requests.summary()?,
            server_cpu: self.server.cpu()?,
            gate_cpu: self.gate.cpu()?,
        })
    }

    /// Starts a generator beside server and gate.
    fn generate(&self, name: &str, load: &[&str], duration: &str) -> anyhow::Result<Generator> {
        let file = self.place.join(format!("{name}.json"));
        let mut command = self.server.client(&self.program);
        command.args(["load", "--json", "--quiet", "--duration", duration]).args(load);
        let log = self.place.join(format!("{name}.log"));
        Ok(Generator { process: Process::with_output("the generator", command, &file, &log)?, file })
    }

    /// Looks at the gate until the load's end.
    fn watch(&self, began: Instant) -> anyhow::Result<TimeSeries> {
        let mut samples = Vec::new();
        let end = Duration::from_secs(u64::from(self.minutes) * 60);
        while began.elapsed() < end {
            std::thread::sleep(INTERVAL);
            let sample = Sample {
                seconds: began.elapsed().as_secs_f64(),
                resident_bytes: self.gate.resident().context("the gate has ended")?,
                descriptors: self.gate.descriptors()?,
            };
            if samples.len() % 12 == 0 {
                let Sample { seconds, resident_bytes, descriptors } = sample;
                eprintln!("{seconds:6.0} s  {:6} KiB  {descriptors:5} descriptors", resident_bytes >> 10);
            }
            samples.push(sample);
        }
        Ok(TimeSeries(samples))
    }
}

/// A generator that runs; ended when it is dropped before its end.
#[derive(Debug)]
struct Generator {
    process: Process,
    file: PathBuf,
}

impl Generator {
    fn end(&mut self, deadline: Instant) -> anyhow::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        self.process.wait(left, &Stop::default(), || ())?;
        Ok(())
    }

    /// The JSON that it printed.
    fn summary(&self) -> anyhow::Result<Value> {
        let text = fs::read_to_string(&self.file)?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a summary", self.file.display()))
    }
}
