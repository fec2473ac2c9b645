//! Which of several servers gets a request: the one with the fewest outstanding requests for its
//! weight.
//!
//! How many requests are inside all servers together is the policy's decision; here they are only
//! spread. Where several servers are equally busy, above all when there is little to do, they
//! take turns by weight, as in start-time fair queueing with a request's cost of one.

use std::cell::Cell;
use std::rc::Rc;

use units::Time;

use crate::upstream::health::Standing;
use crate::upstream::server::{Load, Server};

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    /// The turn of the server chosen last: others may not have saved up turns from before it.
    now: Cell<u64>,
    /// Requests sent although no server was up.
    last_resort: Cell<u64>,
}

/// What a turn of a server of weight 1 is long; the largest weight that makes a difference.
const TURN: u64 = 1 << 20;

impl Balance {
    /// Chooses a server other than `except`. A server on trial is chosen at once for a request
    /// that does no harm if it fails (`safe`).
    ///
    /// When none is up, all are tried: of a gate whose checks ask for the wrong page, or whose
    /// servers are all in trouble, no client has anything if it tries none, and the window bounds
    /// what trying costs (Envoy calls it panic mode).
    pub(crate) fn choose(
        &self,
        servers: &[Rc<Server>],
        except: Option<&Rc<Server>>,
        safe: bool,
        now: Time,
    ) -> Option<Load> {
        let mut best: Option<&Rc<Server>> = None;
        let others =
            || servers.iter().filter(|server| !except.is_some_and(|except| Rc::ptr_eq(server, except)));
        for server in others() {
            match server.health.standing(now) {
                Standing::Up => {}
                Standing::Trial if safe => return Some(Load::new(Rc::clone(server), true)),
                Standing::Trial | Standing::Down => continue,
            }
            if best.is_none_or(|best| self.before(server, best)) {
                best = Some(server);
            }
        }
        let best = best.or_else(|| {
            let least =
                others().reduce(|best, server| if self.before(server, best) { server } else { best })?;
            self.last_resort.set(self.last_resort.get() + 1);
            Some(least)
        })?;
        let turn = best.turn.get().max(self.now.get());
        self.now.set(turn);
        best.turn.set(turn + TURN / u64::from(best.endpoint.weight));
        Some(Load::new(Rc::clone(best), false))
    }

    #[inline]
    fn before(&self, one: &Server, other: &Server) -> bool {
        let load = |of: &Server, by: &Server| u64::from(of.outstanding()) * u64::from(by.endpoint.weight);
        let turn = |of: &Server| of.turn.get().max(self.now.get());
        (load(one, other), turn(one)) < (load(other, one), turn(other))
    }

    /// Requests sent although no server was up.
    pub(crate) fn last_resort(&self) -> u64 {
        self.last_resort.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::server::Endpoint;
    use gate_config::settings::upstream::{Check, Http};
    use units::Time;

    fn servers(weights: &[u32]) -> Vec<Rc<Server>> {
        let endpoint = |(port, weight): (u16, &u32)| Endpoint {
            name: "test".to_owned(),
            addresses: vec![([127, 0, 0, 1], port).into()],
            weight: *weight,
            http: Http::One,
            tls: None,
        };
        (1..).zip(weights).map(endpoint).map(Server::new).collect()
    }

    fn choose(balance: &Balance, servers: &[Rc<Server>], safe: bool) -> (usize, Load) {
        let load = balance.choose(servers, None, safe, Time::ZERO).unwrap();
        (servers.iter().position(|server| Rc::ptr_eq(server, load.server())).unwrap(), load)
    }

    #[test]
    fn the_least_busy_for_its_weight_gets_it() {
        let (balance, servers) = (Balance::default(), servers(&[1, 2, 1]));
        let held: Vec<_> = (0..400).map(|_| choose(&balance, &servers, true)).collect();
        let outstanding: Vec<_> = servers.iter().map(|server| server.outstanding()).collect();
        assert_eq!(outstanding, [100, 200, 100]);
        let (last, rest): (Vec<_>, Vec<_>) = held.into_iter().partition(|(index, _)| *index == 2);
        drop(last);
        for _ in 0..50 {
            let (index, load) = choose(&balance, &servers, true);
            assert_eq!(index, 2);
            drop(load);
        }
        drop(rest);
    }

    #[test]
    fn those_equally_busy_take_turns_by_weight() {
        let (balance, servers) = (Balance::default(), servers(&[3, 1]));
        let mut taken = [0; 2];
        for _ in 0..400 {
            taken[choose(&balance, &servers, true).0] += 1;
        }
        assert_eq!(taken, [300, 100]);
    }

    #[test]
    fn a_newcomer_does_not_get_everything() {
        let balance = Balance::default();
        let mut servers = servers(&[1, 1]);
        let late = servers.pop().unwrap();
        for _ in 0..1000 {
            choose(&balance, &servers, true);
        }
        servers.push(late);
        let mut taken = [0; 2];
        for _ in 0..10 {
            taken[choose(&balance, &servers, true).0] += 1;
        }
        assert_eq!(taken, [5, 5]);
    }

    #[test]
    fn the_ill_get_nothing_unless_all_are() {
        let (balance, servers) = (Balance::default(), servers(&[1, 1]));
        let rules = Check { unhealthy: 1, ..Check::default() };
        servers[0].health.checked(false, &rules);
        for _ in 0..10 {
            assert_eq!(choose(&balance, &servers, true).0, 1);
        }
        assert_eq!(balance.last_resort(), 0);
        servers[1].health.checked(false, &rules);
        let tried: Vec<_> = (0..4).map(|_| choose(&balance, &servers, true).0).collect();
        assert!(tried.contains(&0) && tried.contains(&1), "{tried:?}");
        assert_eq!(balance.last_resort(), 4);
        assert!(balance.choose(&servers[..1], Some(&servers[0]), true, Time::ZERO).is_none());
    }

    #[test]
    fn one_safe_request_at_a_time_is_the_trial() {
        let (balance, servers) = (Balance::default(), servers(&[1, 1]));
        let rules = gate_config::settings::upstream::Ejection {
            failures: 1,
            time: units::Span::ZERO,
            longest: units::Span::ZERO,
            share: units::Ratio::ONE,
        };
        servers[0].health.failed(Time::ZERO, &rules, true);
        assert_eq!(choose(&balance, &servers, false).0, 1, "not with a request that may do harm");
        let (index, trial) = choose(&balance, &servers, true);
        assert_eq!(index, 0);
        assert_eq!(choose(&balance, &servers, true).0, 1, "one at a time");
        drop(trial);
        assert_eq!(choose(&balance, &servers, true).0, 0);
    }
}
