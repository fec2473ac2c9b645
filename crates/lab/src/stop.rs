//! [`Stop`]: how whoever started an experiment ends it before its time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::Error;

/// A wish to end, shared between a signal handler and the lab.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<(Mutex<Option<u8>>, Condvar)>);

impl Stop {
    /// Asks the lab to end because of a signal; what was measured is kept.
    pub fn because_of(&self, signal: u8) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(signal);
        self.0.1.notify_all();
    }

    /// The signal because of which to end.
    pub fn signal(&self) -> Option<u8> {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass, less when the wish comes.
    pub(crate) fn pause(&self, length: Duration) -> Result<(), Error> {
        let asked = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.1.wait_timeout_while(asked, length, |asked| asked.is_none());
        match *waited.unwrap_or_else(PoisonError::into_inner).0 {
            Some(_) => Err(Error::Interrupted),
            None => Ok(()),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.pause(Duration::ZERO)
    }
}
