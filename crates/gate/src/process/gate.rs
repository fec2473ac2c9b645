//! [`Gate`]: everything that the gate's tasks share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use http::HeaderValue;
use policy::Policy;
use units::ClassId;

use crate::admission::driver::Core;
use crate::admission::guard::Guard;
use crate::client::strict::Strictness;
use crate::clients::registry::Registry;
use crate::dispatch::snapshot::Live;
use crate::downstream::handshakes::Handshakes;
use crate::downstream::unsent::Unsent;
use crate::error::Error;
use crate::observe::access_log::journal::Journal;
use crate::observe::events::Events;
use crate::process::heritage::Heritage;
use crate::process::reload::Reloads;
use crate::runtime::clock::Clock;
use crate::runtime::log::say;
use crate::runtime::notify::Bell;
use crate::session::overrides::Overrides;
use crate::session::visit::{Raises, Visit};
use crate::settings::Settings;
use crate::settings::operation::LogTo;
use crate::tunnel::tunnels::Tunnels;
use crate::upstream::abandoned::Orphans;
use crate::upstream::body::Ahead;
use crate::upstream::failure::Failures;
use crate::upstream::names::Found;
use crate::upstream::pool::Pool;

/// Everything that the gate's tasks share; they all run on one thread.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) clock: Rc<Clock>,
    pub(crate) core: RefCell<Core>,
    /// Rung when the policy has something to process.
    pub(crate) turn: Bell,
    /// The classes' names, which stay as they are for as long as the gate runs.
    pub(crate) classes: Vec<String>,
    live: RefCell<Rc<Live>>,
    pub(crate) pool: Pool,
    pub(crate) failures: Failures,
    pub(crate) orphans: Orphans,
    pub(crate) ahead: Rc<Ahead>,
    pub(crate) tunnels: Tunnels,
    pub(crate) clients: Registry,
    pub(crate) strictness: Rc<Strictness>,
    pub(crate) unsent: Rc<Unsent>,
    pub(crate) handshakes: Rc<Handshakes>,
    pub(crate) guard: Guard,
    pub(crate) events: Events,
    pub(crate) raises: Raises,
    /// Sessions whose class an operator has set.
    pub(crate) overrides: Overrides,
    pub(crate) journal: Rc<Journal>,
    pub(crate) reloads: Reloads,
    /// Whether clients are to go elsewhere.
    draining: Cell<bool>,
    /// Classes named by the back-end that are not configured.
    unknown_classes: Cell<u64>,
}

impl Gate {
    /// Sets everything up; `upstream` is where the upstream's name led to.
    pub(crate) fn new(settings: Settings, upstream: Found, heritage: Heritage) -> Result<Self, Error> {
        let clock = Rc::new(Clock::start());
        let policy = Policy::new(settings.policy.clone())?;
        Ok(Self {
            core: RefCell::new(Core::new(policy, settings.rules.clone())),
            turn: Bell::default(),
            classes: settings.classes.clone(),
            pool: Pool::new(settings.upstream.clone(), upstream, Rc::clone(&clock)),
            failures: Failures::default(),
            orphans: Orphans::default(),
            ahead: Rc::default(),
            tunnels: Tunnels::default(),
            clients: Registry::default(),
            strictness: Rc::default(),
            unsent: Rc::default(),
            handshakes: Rc::default(),
            guard: Guard::new(&settings.client),
            events: Events::default(),
            raises: Raises::default(),
            overrides: Overrides::default(),
            journal: Rc::new(Journal::new(Rc::clone(&clock), &settings.classes)),
            reloads: Reloads::from(heritage.source),
            draining: Cell::new(false),
            live: RefCell::new(Rc::new(Live::new(settings, heritage.secret)?)),
            unknown_classes: Cell::new(0),
            clock,
        })
    }

    /// What follows from the configuration as it is now; see [`Live`] for how long to keep it.
    pub(crate) fn live(&self) -> Rc<Live> {
        Rc::clone(&self.live.borrow())
    }

    /// Follows another configuration from now on; see `operate` for what comes before that.
    pub(crate) fn follow(&self, next: Live) {
        self.live.replace(Rc::new(next));
    }

    /// Begins the access log and sending to a collector, if there are to be any.
    pub(crate) fn start_log(&self, to: Option<&LogTo>) -> Result<(), Error> {
        let unopened = |why| Error::Log { to: to.map(LogTo::to_string).unwrap_or_default(), why };
        self.journal.use_log(self.journal.open_log(to).map_err(unopened)?);
        let collector = self.live().settings.telemetry.collector.clone();
        let exporter = self.journal.start_exporter(collector.as_ref()).map_err(Error::System)?;
        self.journal.use_exporter(exporter);
        Ok(())
    }

    /// Whether clients are to go elsewhere: each response is the last on its connection, and
    /// `/readyz` says so.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.get()
    }

    pub(crate) fn set_draining(&self, draining: bool) {
        self.draining.set(draining);
    }

    /// A session that begins with a request of that class, or of the last if it was not looked for.
    pub(crate) fn begin_session(&self, class: Option<ClassId>) -> Visit {
        let last = ClassId((self.classes.len() - 1) as u8);
        self.live.borrow().sessions.begin(class.unwrap_or(last), self.clock.last())
    }

    /// The class of that name.
    pub(crate) fn class(&self, name: &[u8]) -> Option<ClassId> {
        let index = self.classes.iter().position(|class| class.as_bytes() == name)?;
        u8::try_from(index).ok().map(ClassId)
    }

    /// The back-end named a class that is not configured; it is told once.
    pub(crate) fn unknown_class(&self, name: &HeaderValue) {
        if self.unknown_classes.replace(self.unknown_classes.get() + 1) == 0 {
            let classes = self.classes.join(", ");
            say!("the back-end asks for class {name:?}, which is not one of {classes}; ignored");
        }
    }
}
