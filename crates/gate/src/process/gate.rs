//! [`Gate`]: everything that the gate's tasks share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use policy::Policy;
use tokio::sync::Mutex;
use units::{ClassId, Time};

use crate::admission::control::AdmissionControl;
use crate::admission::driver::AdmissionDriver;
use crate::admission::guard::Guard;
use crate::clients::registry::Registry;
use crate::dispatch::abandoned::AbandonedRequests;
use crate::dispatch::active_config::ActiveConfig;
use crate::dispatch::dispatcher::Dispatcher;
use crate::dispatch::proxy::Proxy;
use crate::downstream::context::{Conduct, Downstream};
use crate::observe::access_log::log::AccessLog;
use crate::observe::changes::{Change, Changes};
use crate::observe::console::Console;
use crate::observe::events::Events;
use crate::observe::foresight::Foresight;
use crate::observe::history::History;
use crate::observe::tallies::Tallies;
use crate::process::credentials::Credentials;
use crate::process::error::Error;
use crate::process::heritage::Heritage;
use crate::process::reloads::Reloads;
use crate::runtime::clock::Clock;
use crate::runtime::log::say;
use crate::strict::strictness::Strictness;
use crate::upstream::endpoints::Found;
use crate::upstream::pool::Pool;
use gate_config::settings::operation::LogTo;
use gate_config::settings::root::Settings;

/// Everything that the gate's tasks share; they all run on one thread. What serves clients and requests
/// gets the part of it that it needs; only what operators do and the process's own tasks see all.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) clock: Rc<Clock>,
    pub(crate) admission: Rc<AdmissionControl>,
    pub(crate) pool: Rc<Pool>,
    pub(crate) clients: Rc<Registry>,
    pub(crate) strictness: Rc<Strictness>,
    pub(crate) downstream: Rc<Downstream>,
    pub(crate) proxy: Rc<Proxy>,
    pub(crate) events: Events,
    pub(crate) history: RefCell<History>,
    pub(crate) tallies: RefCell<Tallies>,
    pub(crate) changes: Changes,
    /// Who says what other knobs would do, if anybody can.
    pub(crate) foresight: Option<Foresight>,
    /// Held while a simulation runs, and while what came of sessions is looked up.
    pub(crate) foreseeing: Arc<Mutex<()>>,
    pub(crate) looking_back: Arc<Mutex<()>>,
    pub(crate) console: Option<Console>,
    /// When it began.
    pub(crate) started: Time,
    pub(crate) access_log: Rc<AccessLog>,
    pub(crate) reloads: Reloads,
    pub(crate) credentials: RefCell<Credentials>,
}

impl Gate {
    /// Sets everything up; `upstream` is where the upstream's name led to.
    pub(crate) fn new(
        settings: Settings,
        credentials: Credentials,
        upstream: Found,
        heritage: Heritage,
        clock: Clock,
    ) -> Result<Self, Error> {
        let clock = Rc::new(clock);
        let policy = Policy::new(settings.policy.clone())?;
        let mut driver = AdmissionDriver::new(policy, settings.rules.clone(), clock.read());
        let authorities = credentials.authorities.clone();
        let pool = Rc::new(Pool::new(
            settings.upstream.clone(),
            authorities,
            upstream,
            Rc::clone(&clock),
            heritage.connector,
        ));
        let clients = Rc::<Registry>::default();
        let guard = Guard::new(&settings.client, &clock, &clients, &pool);
        driver.set_connections(guard.connections());
        let admission = Rc::new(AdmissionControl::new(Rc::clone(&clock), driver, guard));
        let access_log = Rc::new(AccessLog::new(Rc::clone(&clock), &settings.classes));
        let strictness = Rc::<Strictness>::default();
        let downstream =
            Downstream::new(&admission, &clients, &access_log, &strictness, Conduct::of(&settings));
        let dispatcher = Dispatcher {
            admission: Rc::clone(&admission),
            pool: Rc::clone(&pool),
            abandoned: AbandonedRequests::default(),
        };
        let config = ActiveConfig::new(settings, heritage.secret).map_err(Error::System)?;
        let proxy = Proxy::new(dispatcher, &access_log, &strictness, &clients.memory, config);
        let started = clock.read();
        Ok(Self {
            clock,
            admission,
            pool,
            clients,
            strictness,
            downstream: Rc::new(downstream),
            proxy: Rc::new(proxy),
            events: Events::default(),
            history: RefCell::default(),
            tallies: RefCell::default(),
            changes: Changes::default(),
            foresight: heritage.foresight,
            foreseeing: Arc::default(),
            looking_back: Arc::default(),
            console: heritage.console,
            started,
            access_log,
            reloads: Reloads::from(heritage.source),
            credentials: RefCell::new(credentials),
        })
    }

    /// What follows from the configuration as it is now; see [`ActiveConfig`] for how long to keep it.
    pub(crate) fn config(&self) -> Rc<ActiveConfig> {
        self.proxy.config()
    }

    /// Follows another configuration from now on; see `reload` for what comes before that.
    pub(crate) fn follow(&self, next: ActiveConfig) {
        self.downstream.conduct.set(Conduct::of(&next.settings));
        self.proxy.follow(next);
    }

    /// Begins the access log and sending to a collector, if there are to be any.
    pub(crate) fn start_log(&self, to: Option<&LogTo>) -> Result<(), Error> {
        self.access_log.use_log(self.access_log.open_log(to)?);
        let collector = self.config().settings.telemetry.collector.clone();
        let exporter = self.access_log.start_exporter(collector.as_ref()).map_err(Error::System)?;
        self.access_log.use_exporter(exporter);
        Ok(())
    }

    /// Records a change: in the log, as an event, and among the last ones.
    pub(crate) fn record(&self, change: Change<'_>) {
        let Change { event, who, what, old, new } = &change;
        say!("{who}: {what} {old} -> {new}");
        self.events.tell(event, || serde_json::json!({ "who": who, "what": what, "old": old, "new": new }));
        self.changes.add(self.clock.read(), change);
    }

    /// The class of that name.
    pub(crate) fn class(&self, name: &[u8]) -> Option<ClassId> {
        self.proxy.class(name)
    }

    /// The classes' names.
    pub(crate) fn classes(&self) -> &[String] {
        &self.proxy.classes
    }
}
