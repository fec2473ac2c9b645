//! [`Stop`]: how the caller ends an experiment before its time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;

/// A request to end, shared between a signal handler and what waits.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<(Mutex<Option<u8>>, Condvar)>);

impl Stop {
    /// Asks for an end because of a signal.
    pub fn because_of(&self, signal: u8) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(signal);
        self.0.1.notify_all();
    }

    /// The signal because of which to end.
    pub fn signal(&self) -> Option<u8> {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass.
    ///
    /// # Errors
    /// [`Error::Interrupted`] as soon as an end is asked for.
    pub fn pause(&self, length: Duration) -> Result<(), Error> {
        let asked = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.1.wait_timeout_while(asked, length, |asked| asked.is_none());
        match *waited.unwrap_or_else(PoisonError::into_inner).0 {
            Some(_) => Err(Error::Interrupted),
            None => Ok(()),
        }
    }

    /// Goes on unless an end was asked for.
    ///
    /// # Errors
    /// [`Error::Interrupted`] then.
    pub fn check(&self) -> Result<(), Error> {
        self.pause(Duration::ZERO)
    }
}
