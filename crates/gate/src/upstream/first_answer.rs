//! [`FirstAnswer`]: the wait for the first answer on a new connection.

use std::rc::Rc;

use crate::upstream::server::Server;

/// The wait for the first answer on a connection, which is over when this is dropped.
#[derive(Debug)]
pub(super) struct FirstAnswer {
    server: Rc<Server>,
    id: u64,
}

impl FirstAnswer {
    /// The first request on a new connection is about to be sent.
    pub(super) fn of(server: &Rc<Server>) -> Self {
        let id = server.unanswered.begin(server.outstanding());
        Self { server: Rc::clone(server), id }
    }
}

impl Drop for FirstAnswer {
    fn drop(&mut self) {
        self.server.unanswered.end(self.id);
    }
}
