//! Reading the configuration again while requests wait and are served.
//!
//! Everything that can fail is done first; what then changes does so at once, between two turns
//! of the event loop.

use std::rc::Rc;

use policy::{Config, Knobs, Mode};
use serde_json::Value;

use crate::observe::changes::Change;
use crate::process::circle::refuse_circles;
use crate::process::credentials::Credentials;
use crate::process::error::Error;
use crate::process::gate::Gate;
use crate::process::systemd;
use crate::runtime::log::say;
use crate::upstream::endpoints::Found;
use crate::upstream::names;
use gate_config::settings::root::Settings;

/// Why everything stays as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("there is no configuration file to read again; start the gate with --config")]
    NoFile,
    #[error("{0}")]
    Wrong(String),
    #[error(
        "{} cannot change while the gate runs; start another gate with the new configuration, which takes over if \
         control is set",
        .0.join(", ")
    )]
    Fixed(Vec<&'static str>),
    #[error(transparent)]
    Gate(#[from] Error),
}

/// Reads the configuration again and goes on with it; gives the names of the settings that
/// changed. `by` is who asked, for the record.
///
/// # Errors
/// When the configuration is wrong or changes what cannot be changed. Nothing has changed then.
pub(crate) async fn reload(gate: &Rc<Gate>, by: &str) -> Result<Vec<String>, Refused> {
    let _alone = gate.reloads.one_at_a_time.lock().await;
    systemd::reloading();
    let result = try_reload(gate).await;
    let count = if result.is_ok() { &gate.reloads.done } else { &gate.reloads.refused };
    count.set(count.get() + 1);
    match &result {
        Ok(changed) if changed.is_empty() => {
            say!("configuration read again by {by}: nothing has changed")
        }
        Ok(changed) => say!("configuration read again by {by}: {} changed", changed.join(", ")),
        Err(why) => say!("configuration not changed by {by}: {why}"),
    }
    let (changed, error) = match &result {
        Ok(changed) => (changed.clone(), None),
        Err(why) => (Vec::new(), Some(why.to_string())),
    };
    let new = serde_json::json!({ "changed": changed, "error": error });
    let change = Change { event: "reload", who: by, what: "configuration", old: Value::Null, new };
    gate.changes.add(gate.clock.read(), change);
    gate.events.tell("reload", || serde_json::json!({ "who": by, "changed": changed, "error": error }));
    systemd::ready(if result.is_ok() { "configuration read again" } else { "configuration not changed" });
    result
}

/// A configuration that was read, and what goes with it.
struct Next {
    settings: Settings,
    credentials: Credentials,
    found: Found,
}

/// What would change: names of settings, each with what it is and what it would be.
///
/// # Errors
/// As [`reload`].
pub(crate) async fn difference(gate: &Rc<Gate>) -> Result<Vec<(String, String, String)>, Refused> {
    let _alone = gate.reloads.one_at_a_time.lock().await;
    let Next { settings, credentials, .. } = read(gate).await?;
    let (config, used) = (gate.config(), gate.credentials.borrow());
    used.may_be_followed_by(&credentials).map_err(Error::from)?;
    let names = changed(&used, &config.settings, &credentials, &settings);
    let (before, after) = (config.settings.lines(&used.shown()), settings.lines(&credentials.shown()));
    let mut changes: Vec<_> = names.into_iter().map(|name| values(name, &before, &after)).collect();
    changes.extend(moved_by_hand(gate, &config.settings, &settings));
    Ok(changes)
}

/// What an operator has set while the gate ran, which would be again as the file has it.
fn moved_by_hand(gate: &Gate, read: &Settings, next: &Settings) -> Vec<(String, String, String)> {
    let driver = gate.admission.driver.borrow();
    let shown = |config: &Config| {
        let mode = if config.mode == Mode::Shadow { "shadow" } else { "enforce" };
        let Knobs { differentiation, favour } = config.knobs;
        [
            ("differentiation", differentiation.as_f64().to_string()),
            ("favour", favour.as_f64().to_string()),
            ("mode", mode.to_owned()),
        ]
    };
    let (now, read, next) = (shown(driver.policy().config()), shown(&read.policy), shown(&next.policy));
    let all = now.into_iter().zip(read).zip(next);
    let moved = all.filter(|(((_, now), (_, read)), (_, next))| now != read && now != next);
    moved
        .map(|(((name, now), _), (_, next))| (name.to_owned(), format!("{now}, set by an operator"), next))
        .collect()
}

/// What is different in the lines of a setting.
fn values(name: String, before: &[(&str, String)], after: &[(&str, String)]) -> (String, String, String) {
    let only = |here: &[(&str, String)], there: &[(&str, String)]| {
        let lines = here.iter().filter(|line| line.0 == name && !there.contains(line));
        lines.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
    };
    let (old, new) = (only(before, after), only(after, before));
    (name, old, new)
}

/// Reads the configuration, and all that it names, and looks whether the gate can go on with it.
async fn read(gate: &Rc<Gate>) -> Result<Next, Refused> {
    let source = gate.reloads.source.clone().ok_or(Refused::NoFile)?;
    // Reading files and looking names up takes long enough for others to notice.
    let read = tokio::task::spawn_blocking(move || {
        let settings = (source.0)().map_err(Refused::Wrong)?;
        let found = names::find(&settings.upstream).map_err(Error::from)?;
        refuse_circles(&settings, &found, &settings.own_addresses()).map_err(Error::from)?;
        let credentials = Credentials::open(&settings).map_err(Error::from)?;
        Ok::<_, Refused>((settings, credentials, found))
    });
    let (settings, credentials, found) = read.await.map_err(|why| Refused::Wrong(why.to_string()))??;
    if !settings.admission.allows(settings.admin) {
        return Err(Error::Exposed { address: settings.admin }.into());
    }
    let fixed = gate.config().settings.fixed_differences(&settings);
    if !fixed.is_empty() {
        return Err(Refused::Fixed(fixed));
    }
    Ok(Next { settings, credentials, found })
}

async fn try_reload(gate: &Rc<Gate>) -> Result<Vec<String>, Refused> {
    let Next { settings, credentials, found } = read(gate).await?;
    let config = gate.config();
    let changed = changed(&gate.credentials.borrow(), &config.settings, &credentials, &settings);
    gate.credentials.borrow().may_be_followed_by(&credentials).map_err(Error::from)?;
    let next = config.next(settings.clone()).map_err(Error::System)?;
    let log = gate.access_log.open_log(settings.operation.access_log.as_ref()).map_err(Error::from)?;
    let collector = settings.telemetry.collector.as_ref();
    let exporter = gate.access_log.start_exporter(collector).map_err(Error::System)?;
    let now = gate.clock.read();
    let (policy, rules) = (settings.policy.clone(), settings.rules.clone());
    gate.admission.driver.borrow_mut().reconfigure(now, policy, rules).map_err(Error::from)?;
    gate.access_log.use_log(log);
    gate.access_log.use_exporter(exporter);
    gate.pool.change(settings.upstream.clone(), credentials.authorities.clone(), found);
    gate.admission.guard.reconfigure(&settings.client);
    gate.admission.driver.borrow_mut().set_connections(gate.admission.guard.connections());
    gate.credentials.borrow_mut().follow(credentials);
    gate.follow(next);
    gate.admission.turn.notify();
    Ok(changed)
}

/// Names of the settings that change.
fn changed(used: &Credentials, before: &Settings, next: &Credentials, settings: &Settings) -> Vec<String> {
    let mut changed = before.differences(settings, &used.shown(), &next.shown());
    changed.extend(used.differences(next));
    changed
}
