//! [`Runtime`]: runs the tasks of a thread, in turn with its reactor.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::rc::Rc;

use futures_executor::{LocalPool, LocalSpawner};
use futures_util::task::LocalSpawnExt;

use super::Reactor;

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

    /// Runs all tasks until `main` is done or `stop` says so, and drops them; gives what `main`
    /// gave.
    ///
    /// # Errors
    /// When the kernel refuses to be waited for.
    pub(crate) fn run<T: 'static>(
        mut self,
        main: impl Future<Output = T> + 'static,
        stop: impl Fn() -> bool,
    ) -> io::Result<Option<T>> {
        let result = Rc::new(RefCell::new(None));
        let place = Rc::clone(&result);
        self.spawner().spawn(async move {
            let done = main.await;
            *place.borrow_mut() = Some(done);
        });
        loop {
            self.pool.run_until_stalled();
            let done = result.borrow_mut().take();
            if done.is_some() || stop() {
                return Ok(done);
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
