//! Stage 9, guards that look at the process and the client instead of a queue
//! (Web2K section 3.4).

use hashbrown::HashMap;
use units::{ClassId, Ratio};

/// How many requests each client holds, and how many it may.
#[derive(Debug)]
pub(crate) struct Clients {
    held: HashMap<u64, u32>,
    most: u32,
}

impl Clients {
    /// Room for `clients` of them without allocating again; each may hold `share` of `places`,
    /// at least one, and any number when the share is all.
    pub(crate) fn new(clients: usize, share: Ratio, places: u32) -> Self {
        Self { held: HashMap::with_capacity(clients * 2), most: most(share, places) }
    }

    /// Another share; who holds more than it now gets nothing on top.
    pub(crate) fn set_share(&mut self, share: Ratio, places: u32) {
        self.most = most(share, places);
    }

    /// Room for so many clients without allocating again.
    pub(crate) fn make_room(&mut self, clients: usize) {
        self.held.reserve((clients * 2).saturating_sub(self.held.len()));
    }

    /// Takes a place for the client, unless it has its share already.
    pub(crate) fn take(&mut self, client: u64) -> bool {
        let held = self.held.entry(client).or_insert(0);
        let free = *held < self.most;
        *held += u32::from(free);
        free
    }

    /// A client has taken one, whatever its share.
    pub(crate) fn took(&mut self, client: u64) {
        *self.held.entry(client).or_insert(0) += 1;
    }

    pub(crate) fn give_back(&mut self, client: u64) {
        if let Some(held) = self.held.get_mut(&client) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&client);
            }
        }
    }
}

fn most(share: Ratio, places: u32) -> u32 {
    if share == Ratio::ONE { u32::MAX } else { ((share.as_f64() * f64::from(places)) as u32).max(1) }
}

/// How near the process is to its limits of descriptors and memory.
#[derive(Debug, Default)]
pub(crate) struct Pressure(Ratio);

impl Pressure {
    /// New sessions are refused first, the most important known ones last.
    const NEW_SESSIONS: f64 = 0.80;
    const LAST_CLASS: f64 = 0.88;
    const FIRST_CLASS: f64 = 0.97;

    pub(crate) fn set(&mut self, used: Ratio) {
        self.0 = used;
    }

    pub(crate) fn used(&self) -> Ratio {
        self.0
    }

    /// Whether a request with a known class (or none) must be refused; `last` is the least
    /// important class.
    pub(crate) fn refuses(&self, known: Option<ClassId>, last: ClassId) -> bool {
        let limit = match known {
            None => Self::NEW_SESSIONS,
            Some(class) if last.0 == 0 || class == last => Self::LAST_CLASS,
            Some(class) => {
                let steps_up = f64::from(last.0 - class.0) / f64::from(last.0);
                Self::LAST_CLASS + steps_up * (Self::FIRST_CLASS - Self::LAST_CLASS)
            }
        };
        self.0.as_f64() > limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn premium_is_refused_last() {
        let mut pressure = Pressure::default();
        let mut refused = |used: f64| {
            pressure.set(Ratio::clamped(used));
            [None, Some(ClassId(1)), Some(ClassId(0))].map(|known| pressure.refuses(known, ClassId(1)))
        };
        assert_eq!(refused(0.80), [false, false, false]);
        assert_eq!(refused(0.85), [true, false, false]);
        assert_eq!(refused(0.90), [true, true, false]);
        assert_eq!(refused(0.98), [true, true, true]);
    }

    #[test]
    fn a_client_cannot_pass_its_share() {
        let mut clients = Clients::new(4, Ratio::clamped(0.5), 4);
        assert_eq!(
            [clients.take(7), clients.take(7), clients.take(7), clients.take(8)],
            [true, true, false, true]
        );
        clients.give_back(7);
        assert!(clients.take(7));
    }
}
