//! [`Served`]: connections that were handed over, by their slots.

use std::net::SocketAddr;

use handoff::memory::SLOTS;
use http::StatusCode;
use tokio::task::AbortHandle;

use crate::admission::decision::Caller;
use crate::admission::permit::Permit;
use crate::observe::access_log::account::Account;
use crate::session::current::CurrentSession;

/// A connection that was handed over.
#[derive(Debug)]
pub(super) struct Served {
    /// None while it waits for one that wants it.
    pub(super) process: Option<u16>,
    pub(super) peer: SocketAddr,
    /// Whose the last request was that said so.
    pub(super) caller: Caller,
    /// The request that is in the server.
    pub(super) inside: Option<Inside>,
    /// What decides about the one that waits.
    pub(super) parked: Option<AbortHandle>,
    /// Of a slot that no connection has yet.
    pub(super) prepared: Option<Prepared>,
    /// When its last request was over, counted in such; 0 where it does not matter.
    pub(super) idle_since: u64,
    /// The gate has the connection again, and only waits for what was told of it before.
    pub(super) is_given_back: bool,
    /// All that was told of it has been read, and only the connection has not come yet.
    pub(super) is_gone: bool,
}

impl Served {
    /// A connection of this client's.
    pub(super) fn new(peer: SocketAddr, caller: Caller, inside: Option<Inside>) -> Self {
        Self {
            process: None,
            peer,
            caller,
            inside,
            parked: None,
            prepared: None,
            idle_since: 0,
            is_given_back: false,
            is_gone: false,
        }
    }
}

/// What is prepared for a connection that a process accepts itself: the session that its client is told of if it has none.
#[derive(Debug)]
pub(super) struct Prepared(pub(super) Option<CurrentSession>);

/// A request that is in the server; over when this is dropped.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) permit: Permit,
    pub(super) account: Account,
    /// Rules that raise its session if its response has the status that they ask for, counted from 0.
    pub(super) raises: Vec<usize>,
}

impl Inside {
    /// Its response has ended with this status, after so many bytes; 0 where it had none.
    pub(super) fn end(mut self, status: u16, bytes: u64) {
        if let Ok(status) = StatusCode::from_u16(status) {
            self.account.answered(None);
            self.account.status(status);
            self.account.sent(usize::try_from(bytes).unwrap_or(usize::MAX));
            self.account.complete();
        }
        // The place is given back.
        drop(self.permit);
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Slots {
    all: Vec<Option<Served>>,
    free: Vec<u32>,
}

impl Slots {
    /// Takes one; gives it back where there is no slot.
    pub(super) fn add(&mut self, served: Served) -> Result<u32, Box<Served>> {
        if let Some(slot) = self.free.pop() {
            self.all[slot as usize] = Some(served);
            return Ok(slot);
        }
        if self.all.len() == SLOTS {
            return Err(Box::new(served));
        }
        self.all.push(Some(served));
        Ok((self.all.len() - 1) as u32)
    }

    pub(super) fn get(&mut self, slot: u32) -> Option<&mut Served> {
        self.all.get_mut(slot as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, slot: u32) -> Option<Served> {
        let served = self.all.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(served)
    }

    /// Those that are taken.
    pub(super) fn all(&self) -> Vec<u32> {
        let taken = (0..).zip(&self.all).filter(|(_, served)| served.is_some());
        taken.map(|(slot, _)| slot).collect()
    }

    /// Those that a process has.
    pub(super) fn given(&self) -> Vec<u32> {
        let all = (0..).zip(&self.all);
        let is_given = |served: &Served| served.process.is_some();
        all.filter(|(_, served)| served.as_ref().is_some_and(is_given)).map(|(slot, _)| slot).collect()
    }

    /// Those of a process.
    pub(super) fn of(&self, process: u16) -> Vec<u32> {
        let all = (0..).zip(&self.all);
        let of_process = |served: &Served| served.process == Some(process);
        all.filter(|(_, served)| served.as_ref().is_some_and(of_process)).map(|(slot, _)| slot).collect()
    }
}
