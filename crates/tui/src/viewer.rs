//! [`Viewer`]: the thread that shows, and the looks it is given.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use crate::give_way;

/// Looks that wait for a view that is slow; the next are not shown.
const MAX_WAITING: usize = 4;
/// How long the end of a run waits for its view to give the terminal back.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// A thread that shows looks at a run, at the lowest priority. Dropping it ends the view and gives the
/// terminal back.
#[derive(Debug)]
pub struct Viewer<L> {
    looks: Option<SyncSender<L>>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl<L: Send + 'static> Viewer<L> {
    /// Begins; `show` runs until there will be no more looks. None when the system gives no thread: a run
    /// goes on without its view.
    pub fn start(show: impl FnOnce(&Receiver<L>) + Send + 'static) -> Option<Self> {
        let (looks, given) = sync_channel(MAX_WAITING);
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name("view".to_owned()).spawn(move || {
            give_way();
            show(&given);
            drop(end);
        });
        Some(Self { looks: Some(looks), ended, thread: Some(thread.ok()?) })
    }
}

impl<L> Viewer<L> {
    /// Gives a look away. Never waits: a view that is not ready misses it.
    pub fn see(&self, look: L) {
        if let Some(looks) = &self.looks {
            let _ = looks.try_send(look);
        }
    }
}

impl<L> Drop for Viewer<L> {
    fn drop(&mut self) {
        self.looks = None;
        // One that hangs in a terminal which takes nothing is left behind.
        if let Err(RecvTimeoutError::Disconnected) = self.ended.recv_timeout(END_TIMEOUT)
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// Ends the run as if the user had pressed Ctrl-C on a terminal that is not taken over, so that there is one
/// way for a run to be interrupted.
pub fn ask_to_end() {
    let _ = kill_process(getpid(), Signal::INT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_may_be_given_to_somebody_slow() {
        let (looks, given) = sync_channel(MAX_WAITING);
        let (end, ended) = channel();
        let viewer = Viewer { looks: Some(looks), ended, thread: None };
        for look in 0..MAX_WAITING + 10 {
            viewer.see(look);
        }
        drop(end);
        drop(viewer);
        assert_eq!(given.iter().count(), MAX_WAITING);
    }

    #[test]
    fn a_view_has_shown_all_that_it_took_when_it_has_ended() {
        let (said, heard) = channel();
        let viewer = Viewer::start(move |looks: &Receiver<u32>| {
            looks.iter().for_each(|look| said.send(look).unwrap());
        });
        viewer.iter().for_each(|viewer| (0..3).for_each(|look| viewer.see(look)));
        drop(viewer);
        assert_eq!(heard.iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
