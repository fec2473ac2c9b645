//! What the subcommands of `headworks lab` that measure have in common.

use std::path::PathBuf;

use anyhow::Context;

use crate::exit::{Exit, Failure, tell};
use crate::process::command_line;
use crate::signals;

pub(super) fn options(
    spec: PathBuf,
    settings: Vec<String>,
    seed: Option<u64>,
) -> anyhow::Result<lab::Options> {
    Ok(lab::Options {
        spec,
        settings,
        out: None,
        seed,
        headworks: std::env::current_exe().context("cannot find this program's own file")?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command_line(),
        quiet: false,
    })
}

/// How a command ends that an error of the lab ended.
pub(super) fn broken_off(error: lab::Error) -> Result<Exit, Failure> {
    if matches!(error, lab::Error::NotTheServers(_)) {
        tell(error);
        return Ok(Exit::NotValid);
    }
    Err(Failure::new(error.is_usage(), error))
}

/// Turns SIGINT and SIGTERM into the wish to end. The second one ends at once: the kernel then ends
/// the programs that the lab has started.
pub(super) fn stop_on_signals(stop: &lab::Stop) -> anyhow::Result<()> {
    let stop = stop.clone();
    signals::on_each(move |signal| {
        if stop.signal().is_some() {
            std::process::exit(128 + i32::from(signal));
        }
        stop.because_of(signal);
    })
}
