//! A round: a fresh server that is saturated from first to last, by turns watched and not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde::Serialize;

use super::segments::Look;
use super::subject::{SIZE, Subject};
use super::watcher::Watcher;
use crate::generators::ask::{Ask, Reuse};
use crate::generators::generator::{Generator, Programs};
use crate::servers::server::{SERVER_CPU, Server};
use crate::servers::site::Site;
use testbed::Process;

/// As many as keep the server busy, and fewer than Apache has processes.
const CONNECTIONS: u32 = 32;
/// Watchers are given so many seconds to begin, and ours to find out what may be counted; what was before is over
/// sooner.
const START_SECONDS: u32 = 6;
/// And so many to end, without which the generator would be done before them.
const END_SECONDS: u32 = 3;
const BREATH: Duration = Duration::from_millis(300);
const GRACE: Duration = Duration::from_secs(40);
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs one round at a time.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) site: Site,
    pub(super) programs: Programs,
    pub(super) seconds: u32,
    /// What watchers have to say.
    pub(super) complaints: PathBuf,
}

/// One turn as it is kept.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub(super) subject: Subject,
    pub(super) watcher: Watcher,
    pub(super) round: u32,
    /// Why there is no figure in it.
    pub(super) failure: Option<String>,
    /// Requests per second: the generator's, by the segments of the turn.
    pub(super) rate: Option<f64>,
    /// Those of the server without a monitor, just before and just after; their mean.
    pub(super) beside: Option<f64>,
    /// Processors that the monitor says that it uses.
    pub(super) account: Option<f64>,
}

/// What was seen in a turn: segments per second, and what the monitor said.
type Turn = anyhow::Result<(f64, Option<f64>)>;

impl Runner {
    /// Has each of them watch a server under load, which is not watched before and after. What fails, fails one turn: the
    /// others are worth having.
    pub(super) fn round(
        &self,
        subject: Subject,
        watchers: &[Watcher],
        round: u32,
    ) -> anyhow::Result<Vec<Run>> {
        let server = self.site.serve(subject.content(), SERVER_CPU)?;
        let order: Vec<Watcher> = watchers
            .iter()
            .flat_map(|watcher| [Watcher::Nobody, *watcher])
            .chain([Watcher::Nobody])
            .collect();
        let watched = START_SECONDS + self.seconds + END_SECONDS;
        let length = (watchers.len() as u32) * (watched + self.seconds + 1) + self.seconds + 2;
        let (turns, requests_per_segment) = std::thread::scope(|scope| {
            let load = scope.spawn(|| {
                let before = Look::at(server.id())?;
                let rate = self.load(&server, subject, length)?;
                let (segments, _) = Look::at(server.id())?.since(before);
                anyhow::Ok(rate * f64::from(length) / segments as f64)
            });
            std::thread::sleep(Duration::from_secs(1));
            let turns: Vec<Turn> = order
                .iter()
                .map(|watcher| {
                    let turn = self.turn(&server, subject, *watcher);
                    if load.is_finished() {
                        bail!("the generator was done before the watcher");
                    }
                    turn
                })
                .collect();
            let scale = load.join().map_err(|_| anyhow!("the generator's thread panicked"))??;
            anyhow::Ok((turns, scale))
        })?;
        let mut runs: Vec<Run> = order
            .into_iter()
            .zip(turns)
            .map(|(watcher, turn)| {
                let failure = turn.as_ref().err().map(|error| format!("{error:#}"));
                let (rate, account) = turn.ok().unzip();
                let rate = rate.map(|rate| rate * requests_per_segment);
                Run { subject, watcher, round, failure, rate, beside: None, account: account.flatten() }
            })
            .collect();
        let rates: Vec<_> = runs.iter().map(|run| run.rate).collect();
        for (run, at) in runs.iter_mut().zip(0..).filter(|(run, _)| run.watcher != Watcher::Nobody) {
            let rate = |at: usize| rates.get(at).copied().flatten();
            run.beside = rate(at - 1).zip(rate(at + 1)).map(|(before, after)| f64::midpoint(before, after));
        }
        Ok(runs)
    }

    /// Segments per second of one turn, and what the monitor said that it used.
    fn turn(&self, server: &Server, subject: Subject, watcher: Watcher) -> Turn {
        let headworks = Generator::Headworks.program(&self.programs);
        let said = self.complaints.with_extension("json");
        let watchers: Vec<_> = watcher
            .programs(&headworks, subject.content(), server.port())
            .into_iter()
            .map(|words| {
                self.watch(server, &words, if watcher.is_ours() { &said } else { Path::new("/dev/null") })
            })
            .collect::<anyhow::Result<_>>()?;
        std::thread::sleep(if watchers.is_empty() {
            BREATH
        } else {
            Duration::from_secs(START_SECONDS.into())
        });
        let before = Look::at(server.id())?;
        std::thread::sleep(Duration::from_secs(self.seconds.into()));
        let (_, rate) = Look::at(server.id())?.since(before);
        for mut watcher in watchers {
            watcher.end()?;
        }
        let account = watcher.is_ours().then(|| account(&said)).transpose()?;
        Ok((rate, account))
    }

    /// Keeps the server busy for so long; requests per second.
    fn load(&self, server: &Server, subject: Subject, seconds: u32) -> anyhow::Result<f64> {
        let url = subject.url(server);
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

/// What a watch said at its end that it has cost, in processors.
fn account(said: &Path) -> anyhow::Result<f64> {
    let said: serde_json::Value = serde_json::from_slice(&std::fs::read(said)?)?;
    said["overhead"]["cpu"].as_f64().context("it does not say what it cost")
}

/// A program that watches; ended when it is dropped before its end.
#[derive(Debug)]
struct Watching(Process);

impl Watching {
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
