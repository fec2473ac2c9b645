//! Listening for processes of the server, and accepting for them.

use std::fs::{self, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use handoff::channel;
use handoff::deferring::Deferred;
use handoff::keeper::Keeper;
use handoff::memory::PROCESSES;
use handoff::message::{ToGate, ToServer, VERSION};
use handoff::shared::Shared;
use handoff::slot::State;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_cookie, socket_peercred};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, acceptfrom_with, getpeername, socket_with,
};
use tokio::io::Interest;
use tokio::net::{TcpStream, UnixDatagram, UnixListener};
use tokio::time::timeout;

use super::attached::Attached;
use super::connection::{connection, kept, parked};
use super::group::{Accepting, Group};
use super::process::{Left, Process};
use super::socket::{Socket, leave_to_keeper};
use crate::process::error::Error;
use crate::process::gate::Gate;
use crate::runtime::log::say;

/// A socket for processes of the server; `replaces` that of the gate that this one takes over from. A process that connects has to have a listener of the server's to be attached.
///
/// # Errors
/// When it cannot be had at this path.
pub(crate) fn listen(path: &Path, replaces: bool) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    // One that is there is another gate's; what a gate has left that is gone is in the way.
    let mut other = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    let is_socket = fs::symlink_metadata(path).map(|file| file.file_type().is_socket());
    let mut found = rustix::net::connect(&other, &SocketAddrUnix::new(path)?);
    // What keeps the connections of one that was killed lets go of its socket in a moment.
    for _ in 0..10 {
        if replaces || found.is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(30));
        other = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        found = rustix::net::connect(&other, &SocketAddrUnix::new(path)?);
    }
    match (is_socket, found) {
        (Err(why), _) if why.kind() == io::ErrorKind::NotFound => {}
        (Err(why), _) => return Err(why),
        (Ok(false), _) => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "something else is there"));
        }
        // It has ended meanwhile.
        (Ok(true), Err(Errno::NOENT)) => {}
        (Ok(true), Err(Errno::CONNREFUSED)) => fs::remove_file(path)?,
        (Ok(true), _) if replaces => fs::remove_file(path)?,
        (Ok(true), _) => return Err(io::Error::new(io::ErrorKind::AddrInUse, "another gate is there")),
    }
    rustix::net::bind(&listener, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&listener, BACKLOG)?;
    // Processes that wait for a gate are told by this that there is one.
    fs::set_permissions(path, Permissions::from_mode(0o666))?;
    Ok(listener)
}

/// The gate under a server.
#[derive(Debug)]
pub(crate) struct Serving {
    attached: Rc<Attached>,
    listener: UnixListener,
}

impl Serving {
    /// Begins to share memory with the server's processes.
    ///
    /// # Errors
    /// When there is no memory left.
    pub(crate) fn begin(gate: &Gate, listener: OwnedFd) -> Result<Self, Error> {
        let shared = Shared::make().map_err(Error::System)?;
        let listener = UnixListener::from_std(listener.into()).map_err(Error::System)?;
        let address = listener.local_addr().map_err(Error::System)?;
        let path = address.as_pathname().unwrap_or(Path::new(""));
        let keeper = match Keeper::start(shared.memory(), path) {
            Ok(keeper) => Some(&*Box::leak(Box::new(keeper))),
            Err(why) => {
                say!(
                    "there is no process beside the gate ({why}): first requests that wait in it are lost when it is killed"
                );
                None
            }
        };
        let attached = Rc::new(Attached::new(&gate.proxy, &gate.downstream, (shared, keeper), path));
        Ok(Self { attached, listener })
    }

    /// What is to be done with it when it ends.
    pub(crate) fn ending(&self) -> Ending {
        Ending(Rc::clone(&self.attached))
    }

    /// Serves processes of the server that connect, for as long as it is polled.
    pub(crate) async fn run(self) {
        tokio::task::spawn_local(look(Rc::clone(&self.attached)));
        tokio::task::spawn_local(recount(Rc::clone(&self.attached)));
        tokio::task::spawn_local(keep_calm(Rc::clone(&self.attached)));
        tokio::task::spawn_local(see_that_it_is_taken(Rc::clone(&self.attached)));
        tokio::task::spawn_local(say_if_none_comes(Rc::clone(&self.attached)));
        loop {
            match self.listener.accept().await {
                Ok((control, _)) => {
                    if let Ok(control) = control.into_std() {
                        tokio::task::spawn_local(meet(Rc::clone(&self.attached), control.into()));
                    }
                }
                Err(why) => self.attached.proxy.admission().guard.accept_failed(&why).await,
            }
        }
    }
}

/// The end of a gate under a server.
pub(crate) struct Ending(Rc<Attached>);

impl Ending {
    /// Whether what waits can be left to anybody.
    pub(crate) fn has_keeper(&self) -> bool {
        self.0.keeper.is_some()
    }

    /// The server serves by itself from now on. What waits in the gate the keeper passes on to it, when this process has ended.
    pub(crate) fn leave(self) {
        leave_to_keeper();
        self.0.groups.borrow().iter().for_each(|group| group.stop_accepting());
        self.0.processes.borrow().values().for_each(|process| process.let_go());
        // The keeper needs what the connections go by.
        std::mem::forget(self.0);
    }
}

/// Processes that connect at once, such as those of a server that begins.
const BACKLOG: i32 = 1024;

/// Reads what has happened, when it is said that something has, and now and then.
async fn look(attached: Rc<Attached>) {
    /// While requests begin and end without anybody waiting.
    const BUSY: Duration = Duration::from_millis(10);
    loop {
        let has_read = attached.read();
        let waits = attached.memory().places.is_waited_for();
        if has_read && !waits {
            let _ = timeout(BUSY, attached.woken.notified()).await;
            continue;
        }
        attached.memory().places.set_asleep(true);
        // What came in between has woken no task.
        if !attached.read() {
            let _ = timeout(Duration::from_secs(1), attached.woken.notified()).await;
        }
    }
}

/// Looks whether processes take what they were given, for as long as there is something that they have not.
async fn see_that_it_is_taken(attached: Rc<Attached>) {
    const BETWEEN: Duration = Duration::from_millis(20);
    loop {
        attached.has_given.notified().await;
        while {
            tokio::time::sleep(BETWEEN).await;
            attached.take_back();
            attached.has_queued()
        } {}
    }
}

/// Counts anew, once a second.
async fn recount(attached: Rc<Attached>) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        attached.memory().places.set_looking();
        attached.recount();
        attached.recount_calm();
        attached.look();
    }
}

/// Looks whether the server may accept connections itself.
async fn keep_calm(attached: Rc<Attached>) {
    attached.recount_calm();
    loop {
        tokio::time::sleep(Attached::LOOK).await;
        attached.weigh_calm();
    }
}

/// Says so when no process of a server has come for a while.
async fn say_if_none_comes(attached: Rc<Attached>) {
    const WHILE: Duration = Duration::from_secs(10);
    tokio::time::sleep(WHILE).await;
    if !attached.has_met_any.get() {
        say!(
            "no process of a server has attached itself in 10 s: is it one that uses the C library, and may it read the library and reach the socket?"
        );
    }
}

/// A process that connects says which listener it uses.
async fn meet(attached: Rc<Attached>, control: OwnedFd) {
    const PATIENCE: Duration = Duration::from_secs(1);
    // Messages are kept whole on it, as datagrams are.
    let Ok(control) = UnixDatagram::from_std(control.into()) else { return };
    let said = control.async_io(Interest::READABLE, || channel::receive(&control));
    let Ok(Ok(said)) = timeout(PATIENCE, said).await else { return };
    let (Some(ToGate::Hello { version }), Some(listener)) = (ToGate::read(said.bytes()), said.into_beside())
    else {
        return;
    };
    let pid = socket_peercred(&control).map_or(0, |peer| peer.pid.as_raw_nonzero().get());
    if version != VERSION {
        say!(
            "process {pid} has another version of the library that is loaded into servers; it serves without the gate"
        );
        let _ = channel::send(&control, &ToServer::NotYours.to_bytes(), &[]);
        return;
    }
    let Some((group, process)) = admit(&attached, control, listener, pid) else { return };
    while let Some((said, beside)) = process.says().await {
        match said {
            Some(ToGate::Wake) => {
                attached.memory().places.set_looking();
                attached.woken.notify_one();
                attached.look();
                if attached.memory().places.are_calm() {
                    attached.prepare();
                }
                attached.turn();
            }
            Some(ToGate::Accepted) => {
                match beside {
                    Some(socket) => take_over(&attached, &group, process.listener, socket),
                    // There was no descriptor left for it.
                    None => attached.calm.ends(),
                }
            }
            Some(ToGate::Waker { number }) => {
                if let Some(waker) = beside {
                    process.has_waker(number, waker);
                }
            }
            Some(ToGate::Kept { slot }) => keep(&attached, &group, &process, (slot, beside)),
            Some(ToGate::Park { slot }) => {
                if let Some(socket) = beside {
                    park(&attached, &process, slot, socket);
                }
            }
            Some(ToGate::Hello { .. }) | None => {}
        }
    }
    attached.lost(&group, &process);
}

/// Takes a process in, and its listener.
fn admit(
    attached: &Rc<Attached>,
    control: UnixDatagram,
    listener: OwnedFd,
    pid: i32,
) -> Option<(Rc<Group>, Rc<Process>)> {
    let refuse = |control: &UnixDatagram| {
        let _ = channel::send(control, &ToServer::NotYours.to_bytes(), &[]);
    };
    if let Some(owner) = channel::stranger(&listener) {
        say!("process {pid} has a listener of user {owner}; the gate serves root's and its own user's alone");
    }
    let is_listener = channel::is_listener_of_server(&listener);
    let cookie = socket_cookie(&listener).ok();
    let listener = TcpListener::from(listener);
    let address = listener.local_addr().ok();
    let (true, Some(cookie), Some(address)) = (is_listener, cookie, address) else {
        refuse(&control);
        return None;
    };
    let Some(number) = attached.free_number() else {
        if !attached.are_many_said.replace(true) {
            say!(
                "process {pid} is one more than {PROCESSES}, each counted once for each listener that it uses: it serves without the gate, as do others that come now, until some have ended"
            );
        }
        return None;
    };
    let words = &attached.memory().processes[usize::from(number)];
    let found = attached.groups.borrow().iter().find(|group| group.address == address).cloned();
    let group = found.map_or_else(|| Group::new(address, attached.keeper).map(Rc::new), Ok);
    let attaching = group.and_then(|group| {
        let shared = (attached.shared.file(), &group.left);
        let process = Process::attach(control, (number, pid, cookie), words, shared, attached.keeper)?;
        Ok((group, Rc::new(process)))
    });
    let (group, process) = match attaching {
        Ok(both) => both,
        Err(why) => {
            say!("cannot attach to process {pid}: {why}; it serves without the gate until it asks again");
            attached.gave_up.set(true);
            return None;
        }
    };
    let is_new = !attached.groups.borrow().iter().any(|other| Rc::ptr_eq(other, &group));
    if is_new {
        attached.groups.borrow_mut().push(Rc::clone(&group));
    }
    if group.number_of_processes() == 0 {
        say!("attached to process {pid} at {address}");
    }
    if !attached.has_met_any.replace(true) {
        // Not before: a server that this process has started would do as it does. Without, it only costs more.
        let _ = handoff::scheduling::do_not_interrupt();
    }
    attached.processes.borrow_mut().insert(number, Rc::clone(&process));
    process.words().set_crowd(group.crowd.number());
    group.join(Rc::clone(&process));
    if !group.has_listener(cookie) {
        listener.set_nonblocking(true).ok()?;
        // Without it the first look at a connection finds nothing there, most of the time.
        let deferred = listener.try_clone().and_then(|listener| Deferred::begin(listener.into()));
        let accepting = accept(Rc::clone(attached), Rc::clone(&group), listener, cookie);
        let task = tokio::task::spawn_local(accepting);
        group.add_listener(Accepting { cookie, task, _deferred: deferred.ok().flatten() });
    }
    Some((group, process))
}

/// Accepts connections, but for those that the server accepts itself.
async fn accept(attached: Rc<Attached>, group: Rc<Group>, listener: TcpListener, cookie: u64) {
    loop {
        attached.while_left_to_server(&group, listener.as_fd(), cookie).await;
        // To the reactor it is a socket that is readable when there is one to accept. Only for as long as it is the gate that
        // accepts: each that comes would wake it.
        let socket = listener.try_clone().map(|socket| std::net::TcpStream::from(OwnedFd::from(socket)));
        match socket.and_then(TcpStream::from_std) {
            Ok(socket) => accept_until_left(&attached, &group, &socket, cookie).await,
            Err(why) => {
                say!("cannot accept at {}: {why}", group.address);
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Until they are left to the server.
async fn accept_until_left(attached: &Rc<Attached>, group: &Rc<Group>, listener: &TcpStream, cookie: u64) {
    let admission = Rc::clone(attached.proxy.admission());
    let mut accepted = 0;
    loop {
        admission.guard.room().await;
        if attached.is_left_to_server(group, cookie) {
            return;
        }
        let accept = || accept_one(listener, attached.keeper, &group.left);
        let next = tokio::select! {
            biased;
            next = listener.async_io(Interest::READABLE, accept) => next,
            () = group.turned.notified() => continue,
        };
        match next {
            Ok(Some((socket, peer))) => {
                let (attached, group) = (Rc::clone(attached), Rc::clone(group));
                tokio::task::spawn_local(connection(attached, group, socket, peer));
            }
            Ok(None) => {}
            Err(why) => admission.guard.accept_failed(&why).await,
        }
        accepted += 1;
        if accepted >= admission.driver.borrow().policy().burst() {
            // The paper's n: after so many, the policy has its cycle.
            accepted = 0;
            admission.turn.notify();
            tokio::task::yield_now().await;
        }
    }
}

/// A connection that a process has accepted, and whose first request it could not begin.
fn take_over(attached: &Rc<Attached>, group: &Rc<Group>, listener: u64, socket: OwnedFd) {
    attached.calm.passed_on(listener);
    let peer = getpeername(&socket).ok().flatten().and_then(|peer| SocketAddr::try_from(peer).ok());
    if let (Some(peer), Ok(())) = (peer, do_not_wait(&socket)) {
        let socket = Socket::kept(socket, attached.keeper, &group.left);
        tokio::task::spawn_local(connection(Rc::clone(attached), Rc::clone(group), socket, peer));
    }
}

/// A kept connection that a process has given back.
fn keep(
    attached: &Rc<Attached>,
    group: &Rc<Group>,
    process: &Process,
    (slot, socket): (u32, Option<OwnedFd>),
) {
    let socket = socket.filter(|socket| do_not_wait(socket).is_ok());
    let socket = socket.map(|socket| Socket::idle(socket, attached.keeper, &group.left));
    // Whose it is may have been said just before.
    attached.read();
    // Without a descriptor left for it, it is closed.
    if let (Some(whose), Some(socket)) = (attached.gave_back(process, slot), socket) {
        tokio::task::spawn_local(kept(Rc::clone(attached), Rc::clone(group), socket, whose));
    }
}

fn do_not_wait(socket: impl AsFd) -> rustix::io::Result<()> {
    fcntl_setfl(&socket, fcntl_getfl(&socket)? | OFlags::NONBLOCK)
}

/// A connection and whose it is; nothing of one that has gone already.
fn accept_one(
    listener: impl AsFd,
    keeper: Option<&'static Keeper>,
    left: &Left,
) -> io::Result<Option<(Socket, SocketAddr)>> {
    // The server's processes have it as well, and may have said that it waits.
    let said = fcntl_getfl(&listener)?;
    if !said.contains(OFlags::NONBLOCK) {
        fcntl_setfl(&listener, said | OFlags::NONBLOCK)?;
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let is_accepting = |to| keeper.iter().for_each(|keeper| keeper.set_accepting(to));
    is_accepting(Some(left.to.as_raw_fd()));
    let accepted =
        acceptfrom_with(listener, flags).map(|(socket, peer)| (Socket::kept(socket, keeper, left), peer));
    is_accepting(None);
    let (socket, peer) = accepted?;
    Ok(peer.and_then(|peer| SocketAddr::try_from(peer).ok()).map(|peer| (socket, peer)))
}

/// Decides about a request on a kept connection, if the connection is one of this process.
fn park(attached: &Rc<Attached>, process: &Process, slot: u32, socket: OwnedFd) {
    // What it has said of the request before comes first.
    attached.read();
    let mut slots = attached.slots.borrow_mut();
    let Some(served) = slots.get(slot).filter(|served| served.process == Some(process.number)) else {
        drop(slots);
        say!("process {} asks about connection {slot}, which the gate does not know to be its", process.pid);
        attached.resume(slot, State::Refused);
        process.go(slot);
        return;
    };
    drop(served.inside.take());
    let socket = Socket::of_process(socket, attached.keeper);
    let deciding = tokio::task::spawn_local(parked(Rc::clone(attached), slot, socket));
    if let Some(before) = served.parked.replace(deciding.abort_handle()) {
        before.abort();
    }
}
