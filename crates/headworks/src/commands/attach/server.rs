//! The server that is attached to: started, told what the command is told, and waited for.

use std::process::ExitStatus;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::library::Place;
use crate::signals::Signals;

/// Runs the server to its end; passes on what is to end it.
pub(super) async fn server(command: &[String], place: &Place) -> anyhow::Result<ExitStatus> {
    let Some((program, arguments)) = command.split_first() else { anyhow::bail!("there is no command") };
    let mut signals = Signals::watch()?;
    let before = std::env::var("LD_PRELOAD").map(|before| format!(" {before}")).unwrap_or_default();
    let mut server = Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", format!("{}{before}", place.library().display()))
        .env("HEADWORKS_ATTACH", place.socket())
        // Some end all of their group with themselves.
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let others =
        [SignalKind::hangup(), SignalKind::user_defined1(), SignalKind::user_defined2(), SignalKind::quit()];
    let [mut hangup, mut first, mut second, mut quit] = others.map(signal);
    loop {
        let passed_on = tokio::select! {
            ended = server.wait() => return ended.context("the server is lost"),
            signal = signals.next() => if signal == 2 { Signal::INT } else { Signal::TERM },
            () = received(&mut hangup) => Signal::HUP,
            () = received(&mut first) => Signal::USR1,
            () = received(&mut second) => Signal::USR2,
            () = received(&mut quit) => Signal::QUIT,
        };
        let pid = server.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(pid) = pid {
            // One that has just ended needs no signal.
            let _ = kill_process(pid, passed_on);
        }
    }
}

/// Waits for the next of a kind of signal; for ever where it cannot be watched.
async fn received(signal: &mut std::io::Result<tokio::signal::unix::Signal>) {
    match signal {
        Ok(signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
