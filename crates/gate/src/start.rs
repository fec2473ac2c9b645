//! [`Bound`]: a gate that has its ports and waits to be run.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions};
use tokio::task::JoinHandle;

use crate::admin::push_metrics::push_metrics;
use crate::admin::{local, server, watch};
use crate::admission::cycle;
use crate::attach;
use crate::downstream::door::Door;
use crate::downstream::listener::{Accepting, Listening};
use crate::downstream::{accept, listener};
use crate::observe::console::Console;
use crate::observe::foresight::Foresight;
use crate::process::circle::refuse_circles;
use crate::process::credentials::Credentials;
use crate::process::drain::Ended;
use crate::process::error::Error;
use crate::process::gate::Gate;
use crate::process::handover::{Control, Predecessor};
use crate::process::heritage::{Heritage, Listeners};
use crate::process::reloads::Source;
use crate::process::signals::Signals;
use crate::process::{drain, heritage, housekeeping, privileges, systemd};
use crate::runtime::clock::Clock;
use crate::runtime::connector::Connector;
use crate::runtime::log;
use crate::runtime::log::say;
use crate::runtime::net::{self, ListenError};
use crate::upstream::{check, endpoints, names};
use gate_config::settings::listen_address::ListenAddress;
use gate_config::settings::listener::Listener;
use gate_config::settings::root::Settings;

/// A gate that listens, so clients can connect, and serves them when it is run.
#[derive(Debug)]
pub struct Bound {
    settings: Settings,
    credentials: Credentials,
    upstream: endpoints::Found,
    listeners: Vec<Listening>,
    places: Vec<ListenAddress>,
    admin: TcpListener,
    admin_socket: Option<UnixListener>,
    admin_address: SocketAddr,
    attach: Option<OwnedFd>,
    control: Option<Control>,
    predecessor: Option<Predecessor>,
    source: Option<Source>,
    foresight: Option<Foresight>,
    console: Option<Console>,
}

/// How long the end waits for what other threads still do for the event loop: reading files and
/// looking names up, whose results are not needed by then.
const THREADS_TIMEOUT: Duration = Duration::from_millis(200);

/// Connections that wait for the admin interface.
const ADMIN_BACKLOG: u32 = 64;

impl Bound {
    /// Finds the upstream and takes the ports: from the gate that listens on the control socket,
    /// from systemd, or for itself.
    ///
    /// # Errors
    /// When a file of certificates cannot be used, the upstream's name leads nowhere or to the gate itself, or a port
    /// cannot be had.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        if !settings.admission.allows(settings.admin) {
            return Err(Error::Exposed { address: settings.admin });
        }
        let credentials = Credentials::open(&settings)?;
        settings.has_distinct_addresses()?;
        let upstream = names::find(&settings.upstream)?;
        let mut own = settings.own_addresses();
        refuse_circles(&settings, &upstream, &own)?;
        let (predecessor, mut sockets) = heritage::passed_on(&settings.operation)?;
        let mut listeners = Vec::new();
        let mut places = Vec::new();
        for Listener { name, place, .. } in &settings.listeners {
            let only_v6 = settings.listeners.iter().any(|other| place.leaves_v4_to(&other.place));
            let listening = Listening::open(&mut sockets, name, place, settings.backlog, only_v6)?;
            places.push(listening.place(place)?);
            listeners.push(listening);
        }
        let admin = net::listen(&mut sockets, "admin", settings.admin, ADMIN_BACKLOG, false)?;
        let unknown = |why| ListenError::Address { place: settings.admin.to_string(), why };
        let admin_address = admin.local_addr().map_err(unknown)?;
        // Sockets that were passed on by name may be anywhere.
        let taken = places.iter().cloned().chain([ListenAddress::Tcp(admin_address)]);
        own.iter_mut().zip(taken).for_each(|(own, place)| own.address = place);
        refuse_circles(&settings, &upstream, &own)?;
        let admin_socket = settings.admission.socket.as_ref().map(|file| &file.path);
        let admin_socket = admin_socket.map(|path| local::listen_locally(&mut sockets, path)).transpose()?;
        let control = settings.operation.control.as_ref().map(|file| &file.path);
        let control = control.map(|path| Control::listen(path, &mut sockets)).transpose()?;
        let attach = settings.attach.as_deref().map(|path| {
            let why = |why| ListenError::Address { place: path.display().to_string(), why };
            attach::serve::listen(path, predecessor.is_some()).map_err(why)
        });
        let attach = attach.transpose()?;
        for name in sockets.left() {
            say!("socket \"{name}\" was passed on, but nothing is configured to listen there");
        }
        Ok(Self {
            credentials,
            upstream,
            listeners,
            places,
            admin,
            admin_socket,
            admin_address,
            attach,
            control,
            predecessor,
            source: None,
            foresight: None,
            console: None,
            settings,
        })
    }

    /// Reads its configuration again by `read` when it is told to (SIGHUP, or the admin interface);
    /// the error says what is wrong, with file and line.
    #[must_use]
    pub fn reading_again(self, read: impl Fn() -> Result<Settings, String> + Send + Sync + 'static) -> Self {
        Self { source: Some(Source::new(read)), ..self }
    }

    /// Asks it what other knobs would do.
    #[must_use]
    pub fn foreseeing(self, foresight: Foresight) -> Self {
        Self { foresight: Some(foresight), ..self }
    }

    /// Shows operators this page.
    #[must_use]
    pub fn showing(self, console: Console) -> Self {
        Self { console: Some(console), ..self }
    }

    /// Where clients connect: of the first listener that has a port; port 0 without one.
    pub fn address(&self) -> SocketAddr {
        let port = self.places.iter().find_map(|place| match place {
            ListenAddress::Tcp(address) => Some(*address),
            ListenAddress::Unix(_) => None,
        });
        port.unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// Where clients connect: `http://..`, `https://..` or `unix:..` of each listener.
    pub fn urls(&self) -> Vec<String> {
        let listeners = self.settings.listeners.iter().zip(&self.places);
        listeners.map(|(listener, place)| listener.url(place)).collect()
    }

    /// Where operators and Prometheus connect.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin_address
    }

    /// Serves clients until `stop` is over or another gate takes over; then those in hand may
    /// finish, for as long as the drain timeout allows. Gives up root's rights first, if a user is
    /// configured.
    ///
    /// # Errors
    /// When the event loop cannot be set up, the user does not exist or the access log cannot be opened.
    pub fn run(mut self, stop: impl Future<Output = ()>) -> Result<Ended, Error> {
        privileges::give_up(&self.settings.operation)?;
        if let (Some(user), Some(source)) = (&self.settings.operation.user, &self.source) {
            source.try_as(user);
        }
        let _saying = log::start().map_err(Error::System)?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build_local(LocalOptions::default())
            .map_err(Error::System)?;
        if self.settings.session.secrets.is_empty() {
            say!("no session secret is set, so sessions end when the gate does");
        }
        let secret = self.predecessor.as_mut().and_then(|predecessor| predecessor.secret.take());
        let (foresight, console) = (self.foresight, self.console);
        let heritage =
            Heritage { source: self.source, secret, connector: Connector::Kernel, foresight, console };
        let to = self.settings.operation.access_log.clone();
        let gate =
            Rc::new(Gate::new(self.settings, self.credentials, self.upstream, heritage, Clock::start())?);
        gate.start_log(to.as_ref())?;
        let listening = Listen {
            clients: self.listeners,
            admin: self.admin,
            admin_socket: self.admin_socket,
            attach: self.attach,
        };
        let handover = Handover { control: self.control, predecessor: self.predecessor };
        let ended = runtime.block_on(serve(Rc::clone(&gate), listening, handover, stop));
        // With the event loop go the requests that it still had, and each of them has a last line.
        runtime.shutdown_timeout(THREADS_TIMEOUT);
        gate.access_log.close();
        if let Ok(Ended::Replaced { by }) = ended {
            say!("process {by} has taken over");
        }
        ended
    }
}

/// The sockets that a gate listens on.
struct Listen {
    clients: Vec<Listening>,
    admin: TcpListener,
    admin_socket: Option<UnixListener>,
    /// For processes of the server that the gate is attached to.
    attach: Option<OwnedFd>,
}

/// What a gate needs to take over from another, and to be taken over from.
struct Handover {
    control: Option<Control>,
    predecessor: Option<Predecessor>,
}

impl Listen {
    /// Copies of the sockets for the gate that takes over, with their names.
    fn passed_on(&self, gate: &Gate) -> Result<Listeners, Error> {
        let mut passed: Listeners = Vec::new();
        for (settings, listening) in gate.config().settings.listeners.iter().zip(&self.clients) {
            passed.push((settings.name.clone(), listening.passed_on().map_err(Error::System)?));
        }
        passed.push(("admin".to_owned(), self.admin.try_clone().map_err(Error::System)?.into()));
        if let Some(listener) = &self.admin_socket {
            passed.push((local::SOCKET.to_owned(), listener.try_clone().map_err(Error::System)?.into()));
        }
        Ok(passed)
    }
}

async fn serve(
    gate: Rc<Gate>,
    listen: Listen,
    Handover { control, predecessor }: Handover,
    stop: impl Future<Output = ()>,
) -> Result<Ended, Error> {
    let passed = if control.is_some() { listen.passed_on(&gate)? } else { Vec::new() };
    let Listen { clients, admin, admin_socket, attach } = listen;
    let mut under_server = None;
    if let Some(listener) = attach {
        let serving = attach::serve::Serving::begin(&gate, listener)?;
        under_server = Some(serving.ending());
        tokio::task::spawn_local(serving.run());
    }
    let doors = doors(&gate, clients)?;
    let admin = tokio::net::TcpListener::from_std(admin).map_err(Error::System)?;
    begin_housekeeping(&gate)?;
    let mut admins = vec![tokio::task::spawn_local(server::serve(Rc::clone(&gate), admin))];
    if let Some(listener) = admin_socket {
        let listener = tokio::net::UnixListener::from_std(listener).map_err(Error::System)?;
        admins.push(tokio::task::spawn_local(server::serve_locally(Rc::clone(&gate), listener)));
    }
    tokio::task::spawn_local(watch::watch(Rc::clone(&gate)));
    let abandoned = tokio::task::spawn_local({
        let gate = Rc::clone(&gate);
        async move { gate.proxy.dispatcher.abandoned.run().await }
    });
    let accept = |(door, accepting)| {
        tokio::task::spawn_local(accept::accept(
            Rc::clone(&gate.downstream),
            Rc::clone(&gate.proxy),
            door,
            accepting,
        ))
    };
    let acceptors: Vec<_> = doors.into_iter().map(accept).collect();
    systemd::ready("serving");
    if let Some(predecessor) = predecessor {
        predecessor.replace();
    }
    let ended = drain::end(
        &gate,
        stop,
        heritage::successor(control.as_ref(), &passed, || gate.config().sessions.own_secret()),
    )
    .await;
    match ended {
        Ended::Stopped => {
            control.iter().for_each(Control::remove);
            if let Some(socket) = &gate.config().settings.attach {
                // If it stays, the next gate finds that there is no process behind it.
                let _ = std::fs::remove_file(socket);
            }
            gate.config().settings.listeners.iter().for_each(|listener| listener::remove(&listener.place));
        }
        Ended::Replaced { .. } => admins.iter().for_each(JoinHandle::abort),
    }
    acceptors.iter().for_each(JoinHandle::abort);
    // The listener is closed with the task: if no other process has it, new clients are refused by the
    // kernel at once.
    for acceptor in acceptors {
        let _ = acceptor.await;
    }
    drop((passed, control));
    if let Some(ending) = under_server {
        leave(&gate, ending, ended).await;
        return Ok(ended);
    }
    drain::drain(&gate, ended).await;
    abandoned.abort();
    Ok(ended)
}

/// The end of a gate under a server. Requests inside are the server's own, and nothing passes through the gate: what waits is all
/// that would be lost.
async fn leave(gate: &Rc<Gate>, ending: attach::serve::Ending, ended: Ended) {
    if !ending.has_keeper() {
        drain::drain(gate, ended).await;
    }
    ending.leave();
}

/// Begins what a gate does beside serving.
fn begin_housekeeping(gate: &Rc<Gate>) -> Result<(), Error> {
    tokio::task::spawn_local(cycle::turns(Rc::clone(&gate.admission)));
    tokio::task::spawn_local(housekeeping::keep_house(Rc::clone(gate)));
    tokio::task::spawn_local(names::follow(Rc::clone(&gate.pool)));
    tokio::task::spawn_local(check::check(Rc::clone(&gate.pool)));
    let signals = Signals::watch().map_err(Error::System)?;
    tokio::task::spawn_local(signals.obey(Rc::clone(gate)));
    tokio::task::spawn_local(systemd::watch());
    tokio::task::spawn_local(push_metrics(Rc::clone(gate)));
    Ok(())
}

/// How connections of each listener are taken in.
fn doors(gate: &Gate, listeners: Vec<Listening>) -> Result<Vec<(Rc<Door>, Accepting)>, Error> {
    let (config, credentials) = (gate.config(), gate.credentials.borrow());
    let configured = config.settings.listeners.iter().zip(&credentials.certificates);
    let door = |((listener, certificates), listening): ((&Listener, &Option<_>), Listening)| {
        let door = Door::new(listener, certificates.as_ref(), &gate.downstream.handshakes)?;
        Ok((Rc::new(door), listening.accepting().map_err(Error::System)?))
    };
    configured.zip(listeners).map(door).collect()
}
