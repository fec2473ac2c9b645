//! A round: a fresh server that is saturated again and again, by turns watched and not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde::Serialize;

use super::moments::{self, Part};
use super::subject::{SIZE, Subject};
use super::watcher::Watcher;
use crate::generators::ask::{Ask, Reuse};
use crate::generators::generator::{Generator, Programs};
use crate::harness::cell::Repeated;
use crate::servers::server::{SERVER_CPU, Server};
use crate::servers::site::Site;
use testbed::Process;

/// As many as keep the server busy, and fewer than Apache has processes.
const CONNECTIONS: u32 = 32;
/// Watchers are given so long to begin; what was before is over sooner.
const START_TIME: Duration = Duration::from_secs(2);
const BREATH: Duration = Duration::from_millis(300);
/// The generator begins before the watcher and ends after it, in seconds.
const LEAD: u32 = 7;
const GRACE: Duration = Duration::from_secs(40);
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs one at a time.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) site: Site,
    pub(super) programs: Programs,
    pub(super) seconds: u32,
    /// What watchers have to say.
    pub(super) complaints: PathBuf,
}

/// One run as it is kept.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub(super) subject: Subject,
    pub(super) watcher: Watcher,
    pub(super) round: u32,
    /// Why there is no figure in it.
    pub(super) failure: Option<String>,
    /// Requests per second.
    pub(super) rate: Option<f64>,
    /// Those of the server without a monitor, just before and just after; their mean.
    pub(super) beside: Option<f64>,
}

impl Repeated for Run {
    fn round(&self) -> u32 {
        self.round
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

impl Runner {
    /// Has each of them watch a server, which is not watched before and after. What fails, fails one run: the others are
    /// worth having.
    pub(super) fn round(
        &self,
        subject: Subject,
        watchers: &[Watcher],
        round: u32,
    ) -> anyhow::Result<Vec<Run>> {
        let server = self.site.serve(subject.content(), SERVER_CPU)?;
        let run = |watcher| {
            let measured = self.measure(&server, subject, watcher);
            let failure = measured.as_ref().err().map(|error| format!("{error:#}"));
            Run { subject, watcher, round, failure, rate: measured.ok(), beside: None }
        };
        let mut before = run(Watcher::Nobody);
        let mut runs = Vec::new();
        for watcher in watchers {
            let mut watched = run(*watcher);
            let after = run(Watcher::Nobody);
            watched.beside = before.rate.zip(after.rate).map(|(before, after)| f64::midpoint(before, after));
            runs.extend([before, watched]);
            before = after;
        }
        runs.push(before);
        Ok(runs)
    }

    fn measure(&self, server: &Server, subject: Subject, watcher: Watcher) -> anyhow::Result<f64> {
        let headworks = Generator::Headworks.program(&self.programs);
        let watchers: Vec<_> = watcher
            .programs(&headworks, subject.content(), server.port())
            .into_iter()
            .map(|words| self.watch(server, &words, Path::new("/dev/null")))
            .collect::<anyhow::Result<_>>()?;
        std::thread::sleep(if watchers.is_empty() { BREATH } else { START_TIME });
        let told = self.load(server, self.seconds);
        for mut watcher in watchers {
            watcher.end()?;
        }
        told
    }

    /// One long run with the default: what it costs in each moment, and what it says that it costs, as a share of
    /// a processor.
    pub(super) fn moments(&self, subject: Subject, seconds: u32) -> anyhow::Result<(Vec<Part>, f64)> {
        let server = self.site.serve(subject.content(), SERVER_CPU)?;
        let headworks = Generator::Headworks.program(&self.programs);
        let said = self.complaints.with_extension("json");
        let mut words = Watcher::Default.programs(&headworks, subject.content(), server.port()).concat();
        words.push("--json".to_owned());
        let looks = std::thread::scope(|scope| {
            let load = scope.spawn(|| self.load(&server, seconds + LEAD));
            std::thread::sleep(START_TIME);
            let mut watching = self.watch(&server, &words, &said)?;
            std::thread::sleep(START_TIME);
            let looks = moments::look(server.id(), watching.id(), seconds.into());
            watching.end()?;
            load.join().map_err(|_| anyhow!("the generator's thread panicked"))??;
            looks
        })?;
        let said: serde_json::Value = serde_json::from_slice(&std::fs::read(&said)?)?;
        let account = said["overhead"]["cpu"].as_f64().context("it does not say what it cost")?;
        let parts = moments::parts(subject, &looks);
        if parts.iter().any(|part| !part.lost().is_finite()) {
            bail!("the server did nothing for 10 s, or the monitor something all of the time");
        }
        Ok((parts, account))
    }

    /// Keeps the server busy for so long; requests per second.
    fn load(&self, server: &Server, seconds: u32) -> anyhow::Result<f64> {
        let url = server.url(SIZE);
        let ask = Ask {
            url: &url,
            reuse: Reuse::KeepAlive,
            connections: CONNECTIONS,
            seconds,
            record: &self.complaints,
        };
        let mut generator = server.client("wrk");
        generator.args(Generator::Wrk.arguments(&ask));
        let ended = testbed::run(&mut generator, Duration::from_secs(seconds.into()) + GRACE)?;
        let told = Generator::Wrk.read(&ended.stdout)?;
        match told.failure(SIZE) {
            Some(failure) => bail!(failure),
            None => Ok(told.rate),
        }
    }

    /// On the server's processor: on a machine whose processors are all in use, it is the server that pays.
    fn watch(&self, server: &Server, words: &[String], said: &Path) -> anyhow::Result<Watching> {
        let (program, arguments) = words.split_first().context("no program to start")?;
        let mut command = server.companion(SERVER_CPU, program);
        command.args(arguments);
        Ok(Watching(Process::with_output("the watcher", command, said, &self.complaints)?))
    }
}

/// A program that watches; ended when it is dropped before its end.
#[derive(Debug)]
struct Watching(Process);

impl Watching {
    fn id(&self) -> u32 {
        self.0.id()
    }

    /// Ends it; an error if it had ended before, for then the server was not watched.
    fn end(&mut self) -> anyhow::Result<()> {
        if let Some(status) = self.0.ended() {
            return Err(self.0.error(format!("ended while it should have watched: {status}")).into());
        }
        match self.0.interrupt(END_TIMEOUT) {
            Some(_) => Ok(()),
            None => Err(self.0.error("did not end in time".to_owned()).into()),
        }
    }
}
