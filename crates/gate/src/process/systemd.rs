//! Telling systemd how the gate is (sd_notify(3)). Without systemd, nothing happens.

use std::time::Duration;

use sd_notify::NotifyState;

/// It accepts clients.
pub(crate) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// It reads its configuration again; to be followed by [`ready`].
pub(crate) fn reloading() {
    // `Type=notify-reload` takes the answer only with the time, or it would count an older one.
    let Ok(since) = NotifyState::monotonic_usec_now() else { return };
    tell(&[NotifyState::Reloading, since]);
}

/// It accepts no more clients and ends soon.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("draining")]);
}

/// Another process does its work from now on.
pub(crate) fn replaced(by: i32) {
    if let Ok(pid) = u32::try_from(by) {
        tell(&[NotifyState::MainPid(pid)]);
    }
}

/// Says for as long as it is polled that the event loop turns, if systemd wants to hear it.
pub(crate) async fn watch() {
    let Some(longest) = sd_notify::watchdog_enabled() else { return };
    // Twice as often as it must be, as sd_watchdog_enabled(3) recommends.
    let pause = (longest / 2).max(Duration::from_millis(1));
    loop {
        tell(&[NotifyState::Watchdog]);
        tokio::time::sleep(pause).await;
    }
}

fn tell(states: &[NotifyState<'_>]) {
    // Who does not listen does not mind.
    let _ = sd_notify::notify(states);
}
