//! [`Keeper`]: who still has the connections that wait in a gate when that is killed.

extern crate std;

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, IntoRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::null_mut;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::net::{
    AddressFamily, RecvFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind,
    getpeername, getsockname, listen, recv, shutdown, socket_with,
};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use crate::channel;
use crate::memory::Memory;
use crate::message::{Address, LEFT, ToGate, ToServer, VERSION};

/// Descriptors with higher numbers are not kept.
const DESCRIPTORS: usize = 65_536;

/// What a descriptor of the gate is to the keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    None,
    /// A connection that waits; where it goes when the gate is gone.
    Waiting {
        /// The sending end of what all processes of the server's that it may go to receive from.
        to: RawFd,
    },
    /// A kept connection on which nothing is asked; as of one that waits.
    Idle {
        /// As of one that waits.
        to: RawFd,
    },
    /// A connection that is being given to a process.
    Given {
        /// As of one that waits.
        to: RawFd,
        /// Which of [`Memory::slots`] it is.
        slot: u16,
    },
    /// The receiving end of the inbox of a process, whose connections go to all when it has not taken them.
    Inbox {
        /// As of one that waits.
        to: RawFd,
    },
    /// The receiving end that belongs to a sending end.
    Left {
        /// That.
        to: RawFd,
        /// Of the listener that the connections came from.
        port: u16,
    },
    /// The sending end.
    Sends,
    /// A connection that is not to be passed on: a process has it, or the gate has read from it.
    Other,
    /// A channel to a process, by the end of which it learns that the gate is gone; where connections go that it has passed on and
    /// the gate has not received.
    Control {
        /// As of one that waits.
        to: RawFd,
    },
}

/// What each descriptor of the gate is: shared with the keeper.
struct Table {
    roles: [AtomicU64; DESCRIPTORS],
    /// Where a connection goes that is being accepted, and has no role yet, and one more; 0 at other times.
    accepting: AtomicU64,
}

/// A process that has the gate's descriptors (clone(2), `CLONE_FILES`) and does nothing but wait for the gate's end. When that was
/// killed, it sends the connections that waited in it to the server's processes, which no other would have any more.
pub struct Keeper {
    table: &'static Table,
}

impl core::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl Keeper {
    /// Starts it, for a gate that processes find at `socket`. It ends by itself after this process.
    ///
    /// # Errors
    /// When there is no memory, or no process, for it.
    pub fn start(memory: &'static Memory, socket: &Path) -> io::Result<Self> {
        let path = CString::new([socket.as_os_str().as_bytes(), LEFT.as_bytes()].concat())?;
        let gate = pidfd_open(getpid(), PidfdFlags::empty())?;
        #[allow(
            unsafe_code,
            reason = "memory that two processes change: it is atomic words only, and never unmapped"
        )]
        // SAFETY: a fresh mapping; zeros are a value of each word.
        let table = unsafe {
            let flags = ProtFlags::READ | ProtFlags::WRITE;
            &*mmap_anonymous(null_mut(), size_of::<Table>(), flags, MapFlags::SHARED)?.cast::<Table>()
        };
        let keeper = Self { table };
        if clone()? {
            keep(table, memory, gate.as_fd(), &path);
        }
        // It is the keeper's as well, at the same number, and stays open for it.
        core::mem::forget(gate);
        Ok(keeper)
    }

    /// A connection is about to be accepted that goes there, or has its role: what has none meanwhile is that.
    pub fn set_accepting(&self, to: Option<RawFd>) {
        let word = to.map_or(0, |to| u64::from(to.unsigned_abs()) + 1);
        self.table.accepting.store(word, Ordering::SeqCst);
    }

    /// From now on a descriptor is this.
    pub fn set(&self, fd: RawFd, role: Role) {
        if let Some(word) = self.table.word(fd) {
            word.store(role.to_word(), Ordering::Release);
        }
    }
}

impl Table {
    fn word(&self, fd: RawFd) -> Option<&AtomicU64> {
        self.roles.get(usize::try_from(fd).ok()?)
    }

    /// The connection that was being accepted, and has no role, with where it goes: the only one of its kind.
    fn accepted(&self) -> Option<(RawFd, RawFd)> {
        /// The kernel gives the lowest number that is free.
        const BEYOND: RawFd = 64;
        let to = RawFd::try_from(self.accepting.load(Ordering::SeqCst)).ok()?.checked_sub(1)?;
        let of_listener = |role: &Role| matches!(role, Role::Left { to: other, .. } if *other == to);
        let Role::Left { port, .. } = self.all().map(|(_, role)| role).find(of_listener)? else {
            return None;
        };
        let most = self.all().map(|(fd, _)| fd).max().unwrap_or(0) + BEYOND;
        let mut found = (0..most).filter(|fd| {
            let has_none = self.word(*fd).is_some_and(|word| word.load(Ordering::Acquire) == 0);
            has_none
                && matches!(getpeername(borrowed(*fd)), Ok(Some(_)))
                && port_of(borrowed(*fd)) == Some(port)
        });
        let first = found.next()?;
        found.next().is_none().then_some((first, to))
    }

    /// Ends the channels; passes on what processes have accepted, and the gate has not received.
    fn pass_on_accepted(&self) {
        for (control, role) in self.all() {
            let Role::Control { to } = role else { continue };
            let _ = shutdown(borrowed(control), Shutdown::Both);
            while let Ok(received) = channel::receive(borrowed(control)) {
                if received.bytes().is_empty() {
                    break;
                }
                match (ToGate::read(received.bytes()), received.into_beside()) {
                    // The server has done with it until something is asked on it.
                    (Some(ToGate::Kept { .. }), Some(connection)) => {
                        if let Some(word) = self.word(connection.into_raw_fd()) {
                            word.store(Role::Idle { to }.to_word(), Ordering::Relaxed);
                        }
                    }
                    (Some(ToGate::Accepted), Some(connection)) => {
                        if let Some(client) = client_of(connection.as_fd()) {
                            send(borrowed(to), client, connection.as_fd());
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Closes all that is not needed to pass connections on.
    fn close_others(&self) {
        let is_needed = |role: &Role| !matches!(role, Role::None | Role::Other | Role::Control { .. });
        let mut next = 0;
        for (fd, _) in self.all().filter(|(_, role)| is_needed(role)) {
            let fd = fd.unsigned_abs();
            if fd > next {
                close(next, fd - 1);
            }
            next = fd + 1;
        }
        close(next, u32::MAX);
    }

    /// What is received from, and the port of its listener.
    fn left(&self) -> impl Iterator<Item = (BorrowedFd<'static>, u16)> {
        self.all().filter_map(|(fd, role)| match role {
            Role::Left { port, .. } => Some((borrowed(fd), port)),
            _ => None,
        })
    }

    /// Those that are something, by their numbers.
    fn all(&self) -> impl Iterator<Item = (RawFd, Role)> {
        let roles = (0..).zip(&self.roles).map(|(fd, word)| (fd, Role::of(word.load(Ordering::Acquire))));
        roles.filter(|(_, role)| *role != Role::None)
    }
}

impl Role {
    fn to_word(self) -> u64 {
        let (kind, to, slot) = match self {
            Self::None => (0, 0, 0),
            Self::Waiting { to } => (1, to, 0),
            Self::Given { to, slot } => (2, to, slot),
            Self::Inbox { to } => (3, to, 0),
            Self::Control { to } => (4, to, 0),
            Self::Left { to, port } => (5, to, port),
            Self::Other => (6, 0, 0),
            Self::Sends => (7, 0, 0),
            Self::Idle { to } => (8, to, 0),
        };
        u64::from(to.unsigned_abs()) << 32 | u64::from(slot) << 8 | kind
    }

    fn of(word: u64) -> Self {
        let (to, slot) = ((word >> 32) as RawFd, (word >> 8) as u16);
        match word & 0xff {
            1 => Self::Waiting { to },
            2 => Self::Given { to, slot },
            3 => Self::Inbox { to },
            4 => Self::Control { to },
            5 => Self::Left { to, port: slot },
            6 => Self::Other,
            7 => Self::Sends,
            8 => Self::Idle { to },
            _ => Self::None,
        }
    }
}

/// A child that has this process's descriptors, not a copy of them; whether this is the child. It has all signals blocked.
fn clone() -> io::Result<bool> {
    #[allow(
        unsafe_code,
        reason = "clone(2) as fork(2) has no safe form: the child calls what is safe after it only"
    )]
    // SAFETY: as fork(2): the child has a copy of all memory, makes system calls only, and never returns from `keep`.
    // The signals that it has blocked, it was born with, so that none of them reaches it before.
    unsafe {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let pid = libc::syscall(libc::SYS_clone, libc::CLONE_FILES, 0, 0, 0, 0);
        if pid != 0 {
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
        }
        match pid {
            ..0 => Err(io::Error::last_os_error()),
            pid => Ok(pid == 0),
        }
    }
}

/// What the keeper does. There is one thread in it, and whatever lock another had when it began stays locked: it allocates nothing.
fn keep(table: &Table, memory: &Memory, gate: BorrowedFd<'_>, path: &CStr) -> ! {
    /// What a process has received, it has marked as its own by then.
    const MARKED: Duration = Duration::from_millis(20);
    let _ = rustix::thread::set_name(c"hw-keeper");
    while !matches!(poll(&mut [PollFd::new(&gate, PollFlags::IN)], None), Ok(1..)) {}
    if let Some((fd, to)) = table.accepted()
        && let Some(word) = table.word(fd)
    {
        word.store(Role::Waiting { to }.to_word(), Ordering::Relaxed);
    }
    // The server's processes do without the gate from here on, and there may be another.
    table.pass_on_accepted();
    table.close_others();
    for (inbox, role) in table.all() {
        let Role::Inbox { to } = role else { continue };
        while let Ok(received) = channel::receive(borrowed(inbox)) {
            if received.bytes().is_empty() {
                break;
            }
            if let Some(ToServer::Connection { slot, client, .. }) = ToServer::read(received.bytes())
                && let Some(connection) = received.into_beside()
            {
                let is_it =
                    |role| matches!(role, Role::Given { slot: other, .. } if u32::from(other) == slot);
                let given = table.all().find(|(_, role)| is_it(*role));
                if let Some(word) = given.and_then(|(fd, _)| table.word(fd)) {
                    word.store(Role::None.to_word(), Ordering::Relaxed);
                }
                send(borrowed(to), client, connection.as_fd());
            }
        }
    }
    for (fd, role) in table.all() {
        if let Role::Waiting { to } = role {
            pass_on(fd, to);
        }
    }
    let is_any_given = table.all().any(|(_, role)| matches!(role, Role::Given { .. }));
    if is_any_given {
        std::thread::sleep(MARKED);
    }
    for (fd, role) in table.all() {
        if let Role::Given { to, slot } = role
            && !memory.slots[usize::from(slot)].is_taken()
        {
            pass_on(fd, to);
        }
    }
    let _ = linger(table, path);
    #[allow(
        unsafe_code,
        reason = "what was to be done at the end of the gate's process is not this one's to do"
    )]
    // SAFETY: it does not return.
    unsafe {
        libc::_exit(0)
    }
}

/// Sends a connection to the server's processes.
fn pass_on(fd: RawFd, to: RawFd) {
    if let Some(client) = client_of(borrowed(fd)) {
        send(borrowed(to), client, borrowed(fd));
    }
}

/// Sends kept connections to the server's processes on which something is asked by now: a process that was given another would wait for that.
fn pass_on_what_stirs(table: &Table) {
    for (fd, role) in table.all() {
        if let Role::Idle { to } = role
            && is_readable(borrowed(fd), Duration::ZERO)
            && let Some(word) = table.word(fd)
        {
            word.store(Role::None.to_word(), Ordering::Relaxed);
            if matches!(recv(borrowed(fd), &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT), Ok((_, 1..)))
            {
                pass_on(fd, to);
            }
            close(fd.unsigned_abs(), fd.unsigned_abs());
        }
    }
}

/// Processes of the server that begin from now on are told where they find what is left, for as long as there is something.
fn linger(table: &Table, path: &CStr) -> rustix::io::Result<()> {
    /// What no process has taken by then is given up.
    const WHILE: Duration = Duration::from_secs(60);
    const LOOK: Duration = Duration::from_millis(20);
    may_be_ended();
    /// Kept connections on which nothing is asked are closed then, as servers close them after a while.
    const IDLE_WHILE: Duration = Duration::from_secs(5);
    let began = Instant::now();
    let is_any_left = || {
        let is_idle = |(_, role)| matches!(role, Role::Idle { .. });
        let may_stir = began.elapsed() < IDLE_WHILE && table.all().any(is_idle);
        may_stir || table.left().any(|(from, _)| is_readable(from, Duration::ZERO))
    };
    pass_on_what_stirs(table);
    if !is_any_left() {
        return Ok(());
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    // One that an earlier gate has left there is of no use any more.
    let _ = rustix::fs::unlink(path);
    bind(&listener, &SocketAddrUnix::new(path)?)?;
    rustix::fs::chmod(path, Mode::from_raw_mode(0o666))?;
    listen(&listener, 64)?;
    while is_any_left() && began.elapsed() < WHILE {
        if is_readable(listener.as_fd(), LOOK)
            && let Ok(process) = accept_with(&listener, SocketFlags::CLOEXEC)
        {
            tell(table, process.as_fd());
        }
        pass_on_what_stirs(table);
    }
    rustix::fs::unlink(path)
}

/// Gives a process of the server that says which listener it uses what its connections are received from.
fn tell(table: &Table, process: BorrowedFd<'_>) {
    const PATIENCE: Duration = Duration::from_millis(200);
    if !is_readable(process, PATIENCE) {
        return;
    }
    let Ok(received) = channel::receive(process) else { return };
    let is_known = ToGate::read(received.bytes()) == Some(ToGate::Hello { version: VERSION });
    let Some(listener) = received.into_beside() else { return };
    let is_listener = is_known && channel::is_listener_of_server(&listener);
    let port = port_of(listener.as_fd()).filter(|_| is_listener);
    let mut of_port = table.left().filter(|(_, of)| Some(*of) == port);
    // Of two addresses with one port it cannot be told which is meant.
    let found = of_port.next().filter(|_| of_port.next().is_none());
    if let Some((from, _)) = found {
        let _ = channel::send(process, &ToServer::Left.to_bytes(), &[from]);
    }
}

/// Whose a connection is.
fn client_of(connection: BorrowedFd<'_>) -> Option<Address> {
    let address = getpeername(connection).ok().flatten()?;
    core::net::SocketAddr::try_from(address).ok().map(Address::of)
}

/// Of a socket's own address.
fn port_of(socket: BorrowedFd<'_>) -> Option<u16> {
    let address = getsockname(socket).ok()?;
    Some(core::net::SocketAddr::try_from(address).ok()?.port())
}

fn is_readable(fd: BorrowedFd<'_>, within: Duration) -> bool {
    let within = Timespec { tv_sec: 0, tv_nsec: within.subsec_nanos().into() };
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&within)), Ok(1..)) && fds[0].revents().contains(PollFlags::IN)
}

/// Who ends it now takes nothing from those that have been passed on.
fn may_be_ended() {
    #[allow(unsafe_code, reason = "signals have no safe form here")]
    // SAFETY: there is one thread, and no handler of the gate's is left for the signal.
    unsafe {
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::signal(libc::SIGTERM, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), null_mut());
    }
}

/// A descriptor by its number.
fn borrowed(fd: RawFd) -> BorrowedFd<'static> {
    #[allow(unsafe_code, reason = "the table has numbers of descriptors, as the kernel has")]
    // SAFETY: it is only used in system calls, which fail where it is not open.
    unsafe {
        BorrowedFd::borrow_raw(fd)
    }
}

/// Closes descriptors from one to another, that included.
fn close(from: u32, to: u32) {
    #[allow(unsafe_code, reason = "the gate that they belonged to is gone")]
    // SAFETY: no other code of this process uses them.
    unsafe {
        libc::syscall(libc::SYS_close_range, from, to, 0);
    }
}

/// Sends a connection to whichever process takes it first; waits for a while where there is no room.
fn send(to: BorrowedFd<'_>, client: Address, connection: BorrowedFd<'_>) {
    /// In all: what no process takes by then is given up.
    const TRIES: u32 = 1000;
    const BETWEEN: Duration = Duration::from_millis(5);
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let message = ToServer::Connection { slot: 0, is_opaque: true, client }.to_bytes();
    while TRIED.load(Ordering::Relaxed) < TRIES {
        match channel::send(to, &message, &[connection]) {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::TOOMANYREFS) => {
                TRIED.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(BETWEEN);
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_as_they_were_written() {
        for role in [
            Role::None,
            Role::Waiting { to: 7 },
            Role::Idle { to: 9 },
            Role::Given { to: 70_000, slot: 65_535 },
            Role::Inbox { to: 3 },
            Role::Left { to: 4, port: 65_535 },
            Role::Other,
            Role::Sends,
            Role::Control { to: 12 },
        ] {
            assert_eq!(Role::of(role.to_word()), role);
        }
    }
}
