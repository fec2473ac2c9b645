//! `POST /api/v1/foresight` and `GET /api/v1/outcome`: what other knobs would do to the load of the last minutes, and what came of it.
//!
//! What follows from the load, [`Foresight`](crate::observe::foresight::Foresight) says: on a thread of its own, one question at a time.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use policy::{Config, Knobs, Policy, Window};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{OwnedMutexGuard, oneshot};
use units::{Ratio, Span, Time};

use crate::admin::query::pairs;
use crate::observe::foresight::{Inquiry, Outcome, Prediction, Recent};
use crate::process::gate::Gate;

/// Settings to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// From 1 to 12 settings of the knobs. Without them some over both knobs are tried, and one is suggested.
    knobs: Option<Vec<Setting>>,
}

/// A setting of the knobs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Setting {
    /// 0 all classes alike to 1 strict priority.
    differentiation: f64,
    /// 0 fastest responses to 1 most sessions.
    favour: f64,
}

/// From then on what is known of each setting is enough.
const ENOUGH: Duration = Duration::from_secs(2);
/// Who asks waits no longer, and then has the settings that are known. Beside a server that is overloaded the simulation
/// has a fifth of a processor.
const LONGEST: Duration = Duration::from_secs(25);
const MOST: usize = 12;
const NONE: &str = "this gate has no simulator; start it with `headworks gate`";

/// When a computation is to end; it does when its caller waits no longer.
#[derive(Default)]
struct Until {
    enough: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Drop for Until {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What those settings would do. The outer error is the asker's, the inner one says why it cannot be known.
pub(super) async fn predict(gate: &Rc<Gate>, body: &[u8]) -> Result<Result<Prediction, String>, String> {
    let example = "{\"knobs\": [{\"differentiation\": 0.9, \"favour\": 0.5}]}";
    let asked: Asked =
        serde_json::from_slice(body).map_err(|why| format!("{why}; send for example {example}"))?;
    let number = asked.knobs.as_ref().map(Vec::len);
    if let Some(number) = number.filter(|number| !(1..=MOST).contains(number)) {
        return Err(format!("{number} settings; ask for 1 to {MOST}, or without \"knobs\" for a suggestion"));
    }
    let knobs = asked.knobs.iter().flatten().map(Setting::read).collect::<Result<Vec<_>, _>>()?;
    let Some(foresight) = gate.foresight.clone() else { return Ok(Err(NONE.to_owned())) };
    // The simulation of a caller who has gone ends first: two would take more from the server's processors.
    let turn = Arc::clone(&gate.foreseeing).lock_owned().await;
    let until = Until::default();
    let (enough, stop) = (Arc::clone(&until.enough), Arc::clone(&until.stop));
    let inquiry = Inquiry { recent: recent(gate), knobs, enough, stop };
    let answer = elsewhere(turn, move || (foresight.predict)(&inquiry));
    let mut answer = std::pin::pin!(answer);
    for (time, flag) in [(ENOUGH, &until.enough), (LONGEST.saturating_sub(ENOUGH), &until.stop)] {
        if let Ok(answer) = tokio::time::timeout(time, &mut answer).await {
            return Ok(answer.and_then(|answer| answer));
        }
        flag.store(true, Ordering::Relaxed);
    }
    Ok(answer.await.and_then(|answer| answer))
}

/// What came of the sessions that began since `?since=`.
pub(super) async fn outcome(gate: &Rc<Gate>, query: &str) -> Result<Result<Outcome, String>, String> {
    let mut since = Time::ZERO;
    for (name, value) in pairs(query) {
        if name != "since" {
            return Err(format!("\"{name}\" is not known; there is since"));
        }
        let seconds = value.parse().ok().filter(|seconds: &f64| (0.0..1e10).contains(seconds));
        let seconds = seconds.ok_or_else(|| format!("since is \"{value}\"; give seconds since 1970"))?;
        since = Time::ZERO + Span::from_secs_f64(seconds);
    }
    let Some(foresight) = gate.foresight.clone() else { return Ok(Err(NONE.to_owned())) };
    let turn = Arc::clone(&gate.looking_back).lock_owned().await;
    let recent = recent(gate);
    Ok(elsewhere(turn, move || (foresight.look)(&recent, since)).await)
}

/// Runs it on a thread of its own: it may take seconds, and the event loop's threads for files have other work.
async fn elsewhere<T: Send + 'static>(
    turn: OwnedMutexGuard<()>,
    compute: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let (done, answer) = oneshot::channel();
    let run = move || {
        let _ = done.send(compute());
        drop(turn);
    };
    std::thread::Builder::new()
        .name("hw-foresight".to_owned())
        .spawn(run)
        .map_err(|why| format!("no thread for the simulation: {why}"))?;
    answer.await.map_err(|_| "the simulation has failed; the log says more".to_owned())
}

fn recent(gate: &Gate) -> Recent {
    let config = gate.config();
    let now = gate.clock.read();
    let driver = gate.admission.driver.borrow();
    let (since, requests) = driver.lately().all(now);
    Recent {
        now,
        since,
        requests,
        classes: gate.classes().to_vec(),
        policy: as_it_is(driver.policy()),
        limits: config.settings.session.limits,
        longest_retry_after: Span::from_secs(config.settings.reject.retry_after.1.into()),
        steady_since: gate.changes.latest().unwrap_or(gate.started),
    }
}

/// The configuration of a policy, with the window where it has come to.
fn as_it_is(policy: &Policy) -> Config {
    let mut config = policy.config().clone();
    if let Window::Adaptive { initial, min, max } = &mut config.window {
        *initial = policy.window().clamp(*min, *max);
    }
    config
}

impl Setting {
    fn read(&self) -> Result<Knobs, String> {
        let knob =
            |name, value| Ratio::new(value).ok_or_else(|| format!("{name} is {value}; it goes from 0 to 1"));
        Ok(Knobs {
            differentiation: knob("differentiation", self.differentiation)?,
            favour: knob("favour", self.favour)?,
        })
    }
}
