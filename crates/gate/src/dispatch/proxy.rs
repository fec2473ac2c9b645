//! [`Proxy`]: what all requests share on their way.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use http::HeaderValue;
use policy::Visit;
use units::ClassId;

use crate::admission::control::AdmissionControl;
use crate::dispatch::active_config::ActiveConfig;
use crate::dispatch::dispatcher::Dispatcher;
use crate::observe::access_log::log::AccessLog;
use crate::runtime::clock::Clock;
use crate::runtime::log::say;
use crate::runtime::memory::Memory;
use crate::session::current::{CurrentSession, Raises};
use crate::session::overrides::Overrides;
use crate::strict::strictness::Strictness;
use crate::tunnel::tunnels::Tunnels;
use crate::upstream::failure::Failures;

/// What all requests share on their way.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) clock: Rc<Clock>,
    pub(crate) dispatcher: Rc<Dispatcher>,
    /// The classes' names, which stay as they are for as long as the gate runs.
    pub(crate) classes: Vec<String>,
    pub(crate) access_log: Rc<AccessLog>,
    pub(crate) strictness: Rc<Strictness>,
    config: RefCell<Rc<ActiveConfig>>,
    pub(crate) memory: Memory,
    pub(crate) tunnels: Rc<Tunnels>,
    pub(crate) failures: Failures,
    pub(crate) raises: Raises,
    /// Sessions whose class an operator has set.
    pub(crate) overrides: Overrides,
    /// Sessions that a server has raised whose clients have not been told, because the response had begun.
    pub(crate) raised: Overrides,
    /// Sessions that rules have found to be of a class that their clients have not been told of.
    pub(crate) found: Overrides,
    /// Streams that there was no room for.
    pub(crate) turned_away: Cell<u64>,
    /// Whether clients are to go elsewhere.
    draining: Cell<bool>,
    /// Classes named by the back-end that are not configured.
    unknown_classes: Cell<u64>,
}

impl Proxy {
    pub(crate) fn new(
        dispatcher: Dispatcher,
        access_log: &Rc<AccessLog>,
        strictness: &Rc<Strictness>,
        memory: &Memory,
        config: ActiveConfig,
    ) -> Self {
        Self {
            clock: Rc::clone(&dispatcher.admission.clock),
            dispatcher: Rc::new(dispatcher),
            classes: config.settings.classes.clone(),
            access_log: Rc::clone(access_log),
            strictness: Rc::clone(strictness),
            config: RefCell::new(Rc::new(config)),
            memory: Rc::clone(memory),
            tunnels: Rc::default(),
            failures: Failures::default(),
            raises: Raises::default(),
            overrides: Overrides::default(),
            raised: Overrides::default(),
            found: Overrides::default(),
            turned_away: Cell::new(0),
            draining: Cell::new(false),
            unknown_classes: Cell::new(0),
        }
    }

    pub(crate) fn admission(&self) -> &Rc<AdmissionControl> {
        &self.dispatcher.admission
    }

    /// What follows from the configuration as it is now; see [`ActiveConfig`] for how long to keep it.
    pub(crate) fn config(&self) -> Rc<ActiveConfig> {
        Rc::clone(&self.config.borrow())
    }

    /// Follows another configuration from now on; see `operate` for what comes before that.
    pub(crate) fn follow(&self, next: ActiveConfig) {
        self.config.replace(Rc::new(next));
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
    pub(crate) fn begin_session(&self, class: Option<ClassId>, visit: Option<Visit>) -> CurrentSession {
        let last = ClassId((self.classes.len() - 1) as u8);
        self.config.borrow().sessions.begin(class.unwrap_or(last), visit, self.clock.last())
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
