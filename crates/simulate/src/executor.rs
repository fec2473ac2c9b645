//! [`Local`]: hyper's tasks on the thread of the world.

/// Runs futures as tasks of this thread.
#[derive(Debug, Clone, Copy)]
pub struct Local;

impl<F: Future<Output: 'static> + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}
