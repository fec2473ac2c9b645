//! [`Gate`]: everything that the gate's tasks share.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use http::HeaderValue;
use policy::Policy;
use units::ClassId;

use crate::bell::Bell;
use crate::client::Registry;
use crate::clock::Clock;
use crate::core::Core;
use crate::error::Error;
use crate::guard::Guard;
use crate::refuse::Refusals;
use crate::sessions::Sessions;
use crate::settings::{Clients, Settings};
use crate::upstream::{Failures, Orphans, Pool};

/// Everything that the gate's tasks share; they all run on one thread.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) clock: Rc<Clock>,
    pub(crate) core: RefCell<Core>,
    /// Rung when the policy has something to process.
    pub(crate) turn: Bell,
    pub(crate) classes: Vec<String>,
    pub(crate) sessions: Sessions,
    pub(crate) refusals: Refusals,
    pub(crate) pool: Pool,
    pub(crate) failures: Failures,
    pub(crate) orphans: Orphans,
    pub(crate) clients: Registry,
    pub(crate) client_settings: Clients,
    pub(crate) guard: Guard,
    /// What HTTP/1.0 clients, who name no host, have asked for.
    pub(crate) authority: HeaderValue,
    /// Classes named by the back-end that are not configured.
    unknown_classes: Cell<u64>,
}

impl Gate {
    /// Sets everything up; `upstream` is where the upstream's name led to.
    pub(crate) fn new(settings: Settings, upstream: Vec<SocketAddr>) -> Result<Self, Error> {
        let clock = Rc::new(Clock::start());
        let policy = Policy::new(settings.policy)?;
        let sessions = Sessions::new(settings.session, &settings.classes)?;
        let authority = HeaderValue::from_str(&settings.upstream.address)
            .unwrap_or_else(|_| HeaderValue::from_static("localhost"));
        Ok(Self {
            core: RefCell::new(Core::new(policy, settings.rules)),
            turn: Bell::default(),
            sessions,
            classes: settings.classes,
            refusals: Refusals::new(settings.reject),
            pool: Pool::new(settings.upstream, upstream, Rc::clone(&clock)),
            failures: Failures::default(),
            orphans: Orphans::default(),
            clients: Registry::default(),
            guard: Guard::new(&settings.client),
            client_settings: settings.client,
            authority,
            unknown_classes: Cell::new(0),
            clock,
        })
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
            eprintln!("gate: the back-end asks for class {name:?}, which is not one of {classes}; ignored");
        }
    }
}
