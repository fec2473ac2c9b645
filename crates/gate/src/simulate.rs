//! The gate without a kernel: its tasks on the caller's runtime, its connections on a simulated network.
//!
//! Everything between accepting a connection and the server's last byte is the code that serves
//! real clients. Left out is what belongs to a process: signals, hand-over, the admin interface, the access
//! log's thread, names that are looked up.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use gate_config::settings::listen_address::ListenAddress;
use gate_config::settings::root::Settings;
use policy::connections::Share;
use units::Time;

use crate::admission::cycle;
use crate::downstream::accept;
use crate::downstream::door::Door;
use crate::downstream::listener::Accepting;
use crate::process::credentials::Credentials;
use crate::process::gate::Gate;
use crate::process::heritage::Heritage;
use crate::process::housekeeping;
use crate::runtime::clock::Clock;
use crate::runtime::connector::Connector;
pub use crate::runtime::simulated::{Faults, Made, Network, SimulatedListener, SimulatedStream};
use crate::upstream::{check, names};

/// Tokens of sessions have a time; a simulation begins at this one, an hour and some after 1970.
const BEGINNING: Time = Time::from_nanos(5_000_000_000_000);

/// A gate on a simulated network. It serves until the runtime ends.
#[derive(Debug, Clone)]
pub struct SimulatedGate(Rc<Gate>);

/// What a gate has in hand at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspection {
    /// Requests that wait for a decision.
    pub waiting: u32,
    /// Requests inside the server.
    pub in_service: u32,
    /// Requests that the server has and that hold no place.
    pub streaming: u32,
    /// Of those inside, requests that took a place whether one was free or not.
    pub resumed: u32,
    /// How many may be, of any class.
    pub window: u32,
    /// Places on top that only the more important classes may take.
    pub express: u32,
    /// Requests that were let through so far.
    pub dispatched: u64,
    /// Of these, those that the server is done with.
    pub finished: u64,
    /// Connections of clients.
    pub clients: u64,
    /// Streams of HTTP/2.
    pub streams: u64,
    /// Connections to servers that carry a request or wait for one.
    pub upstream_connections: u64,
    /// Bytes of requests' bodies that were read ahead.
    pub ahead_bytes: u64,
    /// Bytes of responses that their clients have not taken.
    pub unsent_bytes: u64,
}

impl SimulatedGate {
    /// Starts a gate from the text of a configuration, which is called `name` in errors. It listens on `network`
    /// at the addresses of its listeners. Needs a local runtime with time.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn start(name: &str, text: &str, network: &Arc<Network>) -> Result<Self, String> {
        let source = config::Source::new(name, text);
        let settings = Settings::from_source(&source, Path::new(".")).map_err(|why| why.to_string())?;
        let found = names::find(&settings.upstream).map_err(|why| why.to_string())?;
        let backlog = settings.backlog as usize;
        let credentials = Credentials::open(&settings).map_err(|why| why.to_string())?;
        let heritage =
            Heritage { connector: Connector::Simulated(Arc::clone(network)), ..Heritage::default() };
        let gate = Gate::new(settings, credentials, found, heritage, Clock::starting_at(BEGINNING));
        let gate = Rc::new(gate.map_err(|why| why.to_string())?);
        // Numbers that the system makes up are others in each run, and so would tokens and heads be.
        gate.config().sessions.number_from(1);
        tokio::task::spawn_local(cycle::turns(Rc::clone(&gate.admission)));
        tokio::task::spawn_local(housekeeping::keep_house(Rc::clone(&gate)));
        tokio::task::spawn_local(check::check(Rc::clone(&gate.pool)));
        let dispatcher = Rc::clone(&gate.proxy.dispatcher);
        tokio::task::spawn_local(async move { dispatcher.abandoned.run().await });
        let (config, credentials) = (gate.config(), gate.credentials.borrow());
        for (listener, certificates) in config.settings.listeners.iter().zip(&credentials.certificates) {
            let ListenAddress::Tcp(address) = listener.place else { continue };
            let door = Door::new(listener, certificates.as_ref(), &gate.downstream.handshakes)
                .map_err(|why| why.to_string())?;
            let accepting = Accepting::Simulated(network.listen(address, backlog));
            let (downstream, proxy) = (Rc::clone(&gate.downstream), Rc::clone(&gate.proxy));
            tokio::task::spawn_local(accept::accept(downstream, proxy, Rc::new(door), accepting));
        }
        drop((config, credentials));
        Ok(Self(gate))
    }

    /// What it has in hand now.
    pub fn inspect(&self) -> Inspection {
        let gate = &self.0;
        let driver = gate.admission.driver.borrow();
        let now = driver.policy().snapshot();
        let count = |of: fn(&policy::Counters) -> u64| {
            driver.policy().class_snapshots().map(|class| of(&class.counters)).sum()
        };
        let lengths = now.lengths;
        Inspection {
            waiting: lengths.acceptor + lengths.pending + lengths.discard + lengths.class,
            in_service: now.in_service,
            streaming: now.streaming,
            resumed: now.resumed,
            window: now.window,
            express: now.express,
            dispatched: count(|counters| counters.dispatched),
            finished: count(|counters| counters.finished),
            clients: gate.clients.open() as u64,
            streams: gate.clients.streams() as u64,
            upstream_connections: gate.pool.open() as u64,
            ahead_bytes: gate.proxy.memory.borrow().taken(Share::Ahead),
            unsent_bytes: gate.proxy.memory.borrow().taken(Share::Unsent),
        }
    }
}
