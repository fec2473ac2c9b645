//! [`Runtime`]: runs the tasks of a thread, in turn with its reactor.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::rc::Rc;

use futures_executor::{LocalPool, LocalSpawner};
use futures_util::task::LocalSpawnExt;

use crate::engine::reactor::Reactor;

pub(crate) struct Runtime {
    // Tasks first: their sockets are closed through the reactor.
    pool: LocalPool,
    reactor: Rc<Reactor>,
}

impl Runtime {
    pub(crate) fn new(reactor: Rc<Reactor>) -> Self {
        Self { pool: LocalPool::new(), reactor }
    }

    pub(crate) fn spawner(&self) -> Spawner {
        Spawner(self.pool.spawner())
    }

    /// Runs all tasks until `main` is done or `stop` says so, and drops them.
    ///
    /// # Errors
    /// When the kernel refuses to be waited for.
    pub(crate) fn run(
        mut self,
        main: impl Future<Output = ()> + 'static,
        stop: impl Fn() -> bool,
    ) -> io::Result<()> {
        let done = Rc::new(Cell::new(false));
        let tell = Rc::clone(&done);
        self.spawner().spawn(async move {
            main.await;
            tell.set(true);
        });
        loop {
            self.pool.run_until_stalled();
            if done.get() || stop() {
                return Ok(());
            }
            self.reactor.turn()?;
        }
    }
}

/// Begins tasks.
#[derive(Debug, Clone)]
pub(crate) struct Spawner(LocalSpawner);

impl Spawner {
    /// Begins a task; nothing when the runtime is at its end.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let _ = self.0.spawn_local(task);
    }
}
