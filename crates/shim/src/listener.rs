//! [`Listener`]: a listener of this process, from the time on when it is first used.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering,
};

use handoff::memory::{Memory, Process};
use handoff::message::ToGate;
use libc::{epoll_event, pollfd};

use crate::channel;
use crate::next;

/// Listeners of a process at most: as many as there are bits for them in what is known of an epoll instance.
const LISTENERS: usize = 64;
/// Own descriptors are out of the way of a server that counts on the lowest ones.
const HIGH: c_int = 900;
/// What an epoll instance of the server's says when it is the gate that has sent something.
pub(crate) const FROM_GATE: u64 = 0x6877_6174_7461_6368;

/// The server does not wait for it with epoll, as far as is known.
pub(crate) const NOWHERE: c_int = -1;
/// It does so in several instances.
pub(crate) const SEVERAL: c_int = -2;

/// An adopted listener.
pub(crate) struct Listener {
    pub(crate) is_used: AtomicBool,
    /// Its number in the server.
    pub(crate) number: AtomicI32,
    /// The real listener.
    pub(crate) real: AtomicI32,
    /// What is at its number: an epoll instance with all that can bring a connection, but for the real one where the server waits for that itself.
    pub(crate) inner: AtomicI32,
    /// Messages in both directions; -1 without a gate.
    pub(crate) control: AtomicI32,
    /// Where a gate was asked that has not answered yet; -1 without.
    pub(crate) asked: AtomicI32,
    /// Connections from the gate.
    pub(crate) inbox: AtomicI32,
    /// Connections that waited in the gate when it was killed, for all processes.
    pub(crate) left: AtomicI32,
    /// Those of the gate before.
    pub(crate) left_before: AtomicI32,
    /// Says when a gate may be there again; -1 while there is one.
    pub(crate) notify: AtomicI32,
    pub(crate) process: AtomicU16,
    pub(crate) memory: AtomicPtr<Memory>,
    pub(crate) tried: AtomicI64,
    /// Connections that were accepted without a gate.
    pub(crate) accepted: AtomicU32,
    /// Whether the server waits in accept(2).
    pub(crate) blocks: AtomicBool,
    /// Whether it accepts connections itself, though there is a gate.
    pub(crate) is_calm: AtomicBool,
    /// Where the server waits for it: an epoll instance of its own, or [`NOWHERE`], or [`SEVERAL`]; and how.
    pub(crate) outer: AtomicI32,
    pub(crate) outer_events: AtomicU32,
    pub(crate) outer_data: AtomicU64,
    /// The epoll instance that has the real one now; -1 without.
    pub(crate) has_real: AtomicI32,
    /// Of the connections that the gate knows of, those that are open.
    pub(crate) connections: AtomicI32,
    pub(crate) owner: AtomicI32,
    /// Another one with each gate that it is attached to, and each time that it is let go.
    pub(crate) generation: AtomicU32,
}

pub(crate) static LISTENERS_OF_PROCESS: [Listener; LISTENERS] = [const {
    Listener {
        is_used: AtomicBool::new(false),
        number: AtomicI32::new(-1),
        real: AtomicI32::new(-1),
        inner: AtomicI32::new(-1),
        control: AtomicI32::new(-1),
        asked: AtomicI32::new(-1),
        inbox: AtomicI32::new(-1),
        left: AtomicI32::new(-1),
        left_before: AtomicI32::new(-1),
        notify: AtomicI32::new(-1),
        process: AtomicU16::new(0),
        memory: AtomicPtr::new(null_mut()),
        tried: AtomicI64::new(0),
        accepted: AtomicU32::new(0),
        blocks: AtomicBool::new(false),
        is_calm: AtomicBool::new(false),
        outer: AtomicI32::new(NOWHERE),
        outer_events: AtomicU32::new(0),
        outer_data: AtomicU64::new(0),
        has_real: AtomicI32::new(-1),
        connections: AtomicI32::new(0),
        owner: AtomicI32::new(0),
        generation: AtomicU32::new(0),
    }
}; LISTENERS];

/// Only while a listener is adopted or let go, or who accepts its connections, or where the server waits for them, is another: the thread
/// that does it, 0 without one.
pub(crate) static CHANGING: AtomicI32 = AtomicI32::new(0);

pub(crate) struct Changing {
    /// Whether it goes on inside what a signal has interrupted.
    is_inner: bool,
}

impl Changing {
    /// Waits for another thread's. A signal's handler goes on in the middle of what it has interrupted, which would not end otherwise.
    pub(crate) fn begin() -> Self {
        let own = thread();
        loop {
            match CHANGING.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Self { is_inner: false },
                Err(holder) if holder == own => return Self { is_inner: true },
                // SAFETY: it asks for nothing.
                Err(_) => unsafe {
                    libc::sched_yield();
                },
            }
        }
    }

    /// Nothing while another does, which may be what a signal has interrupted.
    pub(crate) fn try_begin() -> Option<Self> {
        let begins = CHANGING.compare_exchange(0, thread(), Ordering::Acquire, Ordering::Relaxed).is_ok();
        begins.then_some(Self { is_inner: false })
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        if !self.is_inner {
            CHANGING.store(0, Ordering::Release);
        }
    }
}

/// Of the calling thread (gettid(2)).
fn thread() -> c_int {
    // SAFETY: it asks for nothing but a number.
    unsafe { libc::syscall(libc::SYS_gettid) as c_int }
}

/// By its place.
pub(crate) fn at(index: usize) -> Option<&'static Listener> {
    LISTENERS_OF_PROCESS.get(index).filter(|listener| listener.is_used.load(Ordering::Acquire))
}

/// All of the process.
pub(crate) fn all() -> impl Iterator<Item = &'static Listener> {
    LISTENERS_OF_PROCESS.iter().filter(|listener| listener.is_used.load(Ordering::Acquire))
}

/// Those whose bits are set, as in what is known of an epoll instance.
pub(crate) fn of_bits(bits: u64) -> impl Iterator<Item = &'static Listener> {
    let left = |bits: u64| (bits != 0).then_some(bits);
    core::iter::successors(left(bits), move |bits| left(bits & (bits - 1)))
        .filter_map(|bits| at(bits.trailing_zeros() as usize))
}

/// A copy of a descriptor with a high number, closed by exec.
pub(crate) fn high(fd: c_int) -> c_int {
    // SAFETY: numbers only.
    unsafe {
        let copy = next::fcntl(fd, libc::F_DUPFD_CLOEXEC, HIGH.into());
        if copy >= 0 { copy } else { next::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) }
    }
}

impl Listener {
    /// What is at its number says when there is something to read here.
    pub(crate) fn register(&self, fd: c_int) {
        let mut event = epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        // SAFETY: both are this library's own.
        unsafe {
            next::epoll_ctl(self.inner.load(Ordering::Acquire), libc::EPOLL_CTL_ADD, fd, &raw mut event)
        };
    }

    /// Closes what was registered. Other processes may have it as well, so that it would go on to say something here.
    pub(crate) fn drop_channel(&self, fd: c_int) {
        let errno = next::errno();
        // SAFETY: both are this library's own.
        unsafe {
            next::epoll_ctl(self.inner.load(Ordering::Acquire), libc::EPOLL_CTL_DEL, fd, null_mut());
            next::close(fd);
        }
        next::set_errno(errno);
    }

    /// Whether the server accepts for itself.
    pub(crate) fn is_open(&self) -> bool {
        self.control.load(Ordering::Acquire) < 0
    }

    /// What is shared with the gate; nothing without a gate.
    pub(crate) fn memory(&self) -> Option<&'static Memory> {
        self.mapped().filter(|_| !self.is_open())
    }

    /// What is shared with the gate, or was with the last one.
    pub(crate) fn mapped(&self) -> Option<&'static Memory> {
        let memory = self.memory.load(Ordering::Acquire);
        // SAFETY: it was mapped whole, is never unmapped, and has atomic words only.
        (!memory.is_null()).then(|| unsafe { &*memory })
    }

    pub(crate) fn of_process(&self) -> Option<&'static Process> {
        self.memory()?.processes.get(usize::from(self.process.load(Ordering::Acquire)))
    }

    /// Its number in the server.
    pub(crate) fn number(&self) -> c_int {
        self.number.load(Ordering::Acquire)
    }

    /// The real listener.
    pub(crate) fn real(&self) -> c_int {
        self.real.load(Ordering::Acquire)
    }

    /// Its place.
    pub(crate) fn index(&self) -> usize {
        LISTENERS_OF_PROCESS.iter().position(|other| core::ptr::eq(self, other)).unwrap_or_default()
    }

    /// The server waits for a connection.
    pub(crate) fn want(&self) {
        let Some(memory) = self.memory() else { return };
        let Some(process) = self.of_process() else { return };
        let is_new = process.want(self.connections.load(Ordering::Relaxed) > 0);
        if (is_new || process.queued() == 0) && memory.places.must_tell_wanted() {
            self.tell(memory);
        }
        self.follow_calm(memory, process);
    }

    /// It does not wait for one any more.
    pub(crate) fn stop_wanting(&self) {
        if let Some(process) = self.of_process() {
            process.stop_wanting();
        }
    }

    /// It does not wait with this epoll instance, which says from now on when the gate has sent something.
    pub(crate) fn stop_wanting_in(&self, epoll: c_int) {
        self.stop_wanting();
        self.stops_waiting_in(epoll);
        self.listen_with(epoll, self.index());
    }

    pub(crate) fn tell(&self, memory: &Memory) {
        if memory.places.must_tell() {
            channel::send(self.control.load(Ordering::Acquire), ToGate::Wake, -1);
        }
    }

    /// The gate is to look at what has happened, if it asks to be told.
    pub(crate) fn wake(&self, memory: &Memory) {
        if memory.places.must_wake() {
            self.tell(memory);
        }
    }

    /// A request on a connection has to wait; whether the gate was told.
    pub(crate) fn park(&self, slot: u32, fd: c_int) -> bool {
        channel::send(self.control.load(Ordering::Acquire), ToGate::Park { slot }, fd)
    }

    /// Whether the gate has gone while this process did not look.
    pub(crate) fn is_deserted(&self) -> bool {
        let mut fds = pollfd { fd: self.control.load(Ordering::Acquire), events: 0, revents: 0 };
        // SAFETY: it is one.
        fds.fd < 0 || unsafe { next::poll(&raw mut fds, 1, 0) } > 0 && fds.revents != 0
    }

    /// Has an epoll instance of the server's say when the gate has sent something, whether or not it has the listener.
    pub(crate) fn listen_with(&self, epoll: c_int, index: usize) {
        let events = (libc::EPOLLIN | libc::EPOLLET) as u32;
        let mut event = epoll_event { events, u64: FROM_GATE + index as u64 };
        let errno = next::errno();
        // SAFETY: numbers only; it may be there already.
        unsafe {
            next::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, self.control.load(Ordering::Acquire), &raw mut event)
        };
        next::set_errno(errno);
    }

    /// The server closes it.
    pub(crate) fn let_go(&self) {
        let _changing = Changing::begin();
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.is_used.store(false, Ordering::Release);
        self.close_own();
    }

    /// Closes all that this library has opened for it.
    pub(crate) fn close_own(&self) {
        self.take_out_real();
        let channels = [&self.control, &self.asked, &self.inbox, &self.left, &self.left_before];
        for fd in channels.into_iter().chain([&self.notify, &self.real, &self.inner]) {
            let fd = fd.swap(-1, Ordering::AcqRel);
            if fd >= 0 {
                // SAFETY: it is this library's own.
                unsafe { next::close(fd) };
            }
        }
    }
}
